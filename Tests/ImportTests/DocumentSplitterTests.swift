import Expectations
import Foundation
import Testing

@testable import Import

@Suite struct DocumentSplitterTests {
    /// Splits `text`, given in chunks of `size` bytes.
    private func split(
        _ text: String, size: Int = .max, limits: ImportLimits = ImportLimits()
    ) throws -> SplitOutcome {
        var splitter = DocumentSplitter(lists: ["list", "items"], limits: limits)
        var outcome = try SplitOutcome(text, size: size, splitter: &splitter)
        outcome.list = splitter.list
        return outcome
    }

    @Test(arguments: [
        #"{"a":[1,{"list":[9]}],"list":[{"x":1},{"y":["list",{"]":"}"}]}],"b":{"c":[{}]}}"#,
        "{\"a\":1}\n{\"b\":\"\\\"\"}\n[{\"c\":1},2,\"three\",[4]]{\"items\":[]}{\"list\" : [ {\"d\":1} ] , \"e\":2}",
        "{\"a\":\"cut\n{\"b\":1}\n{\"list\":[{\"c\":1},{\"d\":\n{\"e\":1}", "]}, ] 7 {\"a\":1",
        #"{"list":{"list":[1]},"list":[2],"items":[3]} "x"#,
        #"[{"list":[1,2]},{"list":[3]},{"other":4}]"#,
        #"{"l\u0069st":[1]}{"list":"[1]"}{"a":"list","b":[1]}"#,
    ])
    func doesNotDependOnTheSizeOfChunks(text: String) throws {
        let whole = try split(text)
        #expect(!whole.offsets.isEmpty)
        for size in [1, 2, 3, 5, 7, 16] { try expect(split(text, size: size), equals: whole) }
    }

    @Test func findsTheListOfADocumentOnly() throws {
        let outcome = try split(
            #"{"a":[1,{"list":[9]}],"list":[{"x":1},{"y":["list",{"]":"}"}]}],"b":{"c":[{}]}}"#)
        #expect(outcome.items == [#"{"x":1}"#, #"{"y":["list",{"]":"}"}]}"#])
        #expect(outcome.offsets == [30, 38])
        #expect(outcome.whole == nil)
        #expect(outcome.list == "list")
    }

    @Test(arguments: [
        (#"{"list":"[1]"}"#, [#"{"list":"[1]"}"#]),
        (#"{"a":"list","b":[1]}"#, [#"{"a":"list","b":[1]}"#]),
        (#"{"list":{"list":[1]}}"#, [#"{"list":{"list":[1]}}"#]),
        (#"["list",[1]]"#, [#""list""#, "[1]"]),
        (#"{"listed":[1]}"#, [#"{"listed":[1]}"#]), (#"{"a":[1]}"#, [#"{"a":[1]}"#]),
        (#"{"list":[1,"a,]",null,{}]}"#, ["1", #""a,]""#, "null", "{}"]),
        (#"{"list":[1],"items":[2]}"#, ["1", "2"]),
        (#"{"list":[ 1 , 2 ]}"#, ["1", "2"]), ("{}{}", ["{}", "{}"]),
        (#"{"list":[]}{"a":1}"#, [#"{"a":1}"#]),
    ])
    func tellsListsFromWhatLooksLikeThem(text: String, expected: [String]) throws {
        let outcome = try split(text)
        #expect(outcome.items == expected)
        #expect(outcome.whole == nil)
    }

    @Test func endsAnUnclosedItemAtTheNextLine() throws {
        let outcome = try split("{\"a\":{\"b\":\"cut\n{\"c\":1}\n{\"d\":[\n{\"e\":1}\n")
        #expect(outcome.items == [#"{"c":1}"#, #"{"e":1}"#])
        #expect(
            outcome.faults == [
                "a string is not closed", "is not closed before the next one begins",
            ])
    }

    @Test func saysWhatIsMissing() throws {
        try expect(split("").whole, equals: "holds no list")
        try expect(
            split(#"{"list":[{"a":1}"#).whole,
            equals: "the list is not closed; the file may have been cut off")
        try expect(
            split(#"{"list":[{"a":1}]"#).whole,
            equals: "the list is not closed; the file may have been cut off")
        try expect(
            split(#"[{"a":1}"#).whole,
            equals: "the list is not closed; the file may have been cut off")
        try expect(split(#"{"list":["#).items) { $0.isEmpty }
    }

    @Test func holdsNoMoreThanTheLimit() throws {
        var limits = ImportLimits()
        limits.elementBytes = 20
        limits.nesting = 3
        let long = String(repeating: "x", count: 100)
        let outcome = try split(
            #"{"a":"\#(long)","list":[{"b":1},{"c":"\#(long)"},[[[[]]]],{"d":1}]}"#, limits: limits)
        #expect(outcome.items == [#"{"b":1}"#, #"{"d":1}"#])
        #expect(outcome.faults == ["is larger than 20 bytes", "is nested too deeply"])
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func survivesRandomBytes(seed: UInt64) throws {
        let pieces = [
            "{", "}", "[", "]", "\"", "\\", ",", ":", "\n", "list", "\"list\":[", "{\"", " ", "1",
            "猫", "\n{\"",
        ]
        var state = seed &+ 1
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        for _ in 0..<100 {
            let text = (0..<random(40)).map { _ in pieces[random(pieces.count)] }.joined()
            let whole = try split(text)
            try expect(split(text, size: 1 + random(9)), equals: whole)
            #expect(whole.offsets == whole.offsets.sorted())
        }
    }
}
