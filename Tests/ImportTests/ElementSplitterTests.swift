import Expectations
import Foundation
import Testing

@testable import Import

@Suite struct ElementSplitterTests {
    /// Splits `text`, given in chunks of `size` bytes.
    private func split(
        _ text: String, size: Int = .max, wrapper: String = "tweet",
        limits: ImportLimits = ImportLimits()
    ) throws -> SplitOutcome {
        var splitter = ElementSplitter(wrapper: wrapper, limits: limits)
        return try SplitOutcome(text, size: size, splitter: &splitter)
    }

    @Test(arguments: [
        #"x = [{"a":1},{"b":[1,{"c":"]}"}]} , {"d":"\"}{"}]"#,
        #"x = [ {"tweet": {"a": "{\"tweet\": {"}}, {"tweet" : {"b": "…🚃"}} ];"#,
        "x = [{\"tweet\": {\"a\": \"un\nclosed }}, {\"tweet\":{\"b\":1}}, 7, \"s,\", {\"tweet\":{}} ] rest",
        #"x = [{"tweet": {"a": 1, {"tweet": {"b": 2}}]"#,
        #"x = [{"tweet": {"a": 1}}}, ] {"tweet": {"b": 2}}"#,
    ])
    func doesNotDependOnTheSizeOfChunks(text: String) throws {
        let whole = try split(text)
        #expect(!whole.offsets.isEmpty)
        for size in [1, 2, 3, 5, 7, 16] { try expect(split(text, size: size), equals: whole) }
    }

    @Test func cutsAtTheOutermostLevel() throws {
        let outcome = try split(#"x = [{"a":1},{"b":[1,{"c":"]}"}]} , {"d":"\"}{"}]"#)
        #expect(outcome.items == [#"{"a":1}"#, #"{"b":[1,{"c":"]}"}]}"#, #"{"d":"\"}{"}"#])
        #expect(outcome.offsets == [5, 13, 36])
        #expect(outcome.whole == nil)
    }

    @Test func endsAnUnclosedItemWhereTheNextBegins() throws {
        let outcome = try split(#"[{"tweet": {"a": "b, {"tweet": {"b": 2}},{"tweet":{"c":3}}]"#)
        #expect(outcome.faults == ["is not closed before the next one begins"])
        #expect(outcome.items == [#"{"tweet": {"b": 2}}"#, #"{"tweet":{"c":3}}"#])
    }

    @Test func goesOnBehindAStrayEndOfTheList() throws {
        let outcome = try split(#"[{"tweet": {"a": 1}} ], {"tweet": {"b": 2}}]"#)
        #expect(outcome.items == [#"{"tweet": {"a": 1}}"#, #"{"tweet": {"b": 2}}"#])
    }

    @Test func goesOnBehindALineBreakInAString() throws {
        let outcome = try split(
            "[{\"tweet\": {\"a\": \"b\n\"}}, {\"a\": \"c}\n}, {\"ok\": 1}]", wrapper: "")
        #expect(outcome.faults.first == "a string is not closed")
        #expect(outcome.items.last == #"{"ok": 1}"# || outcome.faults.count == 2)
    }

    @Test func passesOverItemsThatAreTooLargeOrTooDeep() throws {
        var limits = ImportLimits()
        limits.elementBytes = 40
        limits.nesting = 4
        let large = "{\"tweet\": \"\(String(repeating: "x", count: 100))\"}"
        let deep = "{\"tweet\": [[[[1]]]]}"
        for size in [1, 9, 1_000] {
            let outcome = try split(
                "[\(large), {\"tweet\":1}, \(deep), {\"tweet\":2}]", size: size, limits: limits)
            #expect(outcome.faults == ["is larger than 40 bytes", "is nested too deeply"])
            #expect(outcome.items == ["{\"tweet\":1}", "{\"tweet\":2}"])
        }
    }

    @Test(arguments: [
        ("x = [{\"a\":1}", "the list is not closed; the file may have been cut off"),
        ("", "holds no list"),
        ("x = 5;", "holds no list"), (String(repeating: " ", count: 5_000) + "[]", "holds no list"),
    ])
    func saysWhatIsWrongWithTheWholeFile(text: String, fault: String) throws {
        try expect(split(text).whole, equals: fault)
    }

    @Test func reportsAnItemThatTheFileEndsIn() throws {
        let outcome = try split(#"x = [{"a":1},{"b":"#)
        #expect(outcome.items == [#"{"a":1}"#])
        #expect(outcome.faults == ["the file ends inside it"])
    }
}
