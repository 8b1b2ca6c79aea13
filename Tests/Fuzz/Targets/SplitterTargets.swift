import Formats

@testable import Import

/// Cutting files into items, whatever pieces they arrive in.
extension FuzzTarget {
    static let splitters = [elementSplitter, documentSplitter, lineSplitter, json]

    /// Small, so that short inputs come to the limits.
    static let smallLimits: ImportLimits = {
        var limits = ImportLimits()
        limits.ratioFreeBytes = 1 << 20
        limits.totalBytes = 2 << 20
        limits.elementBytes = 4_096
        limits.lineBytes = 1_024
        limits.nesting = 8
        limits.problems = 4
        limits.noteBytes = 4_096
        limits.deletedPosts = 4
        limits.ownPosts = 4
        return limits
    }()

    private static let elementSplitter = FuzzTarget(
        "element-splitter",
        texts: [
            #"window.YTD.tweets.part0 = [ {"tweet":{"id":"1","a":[1,{"b":"]}"}]}}, {"tweet" : {}} ]"#,
            #"[{"tweet":{"x":"unclosed}, {"tweet":{"id":"2"}}]"#, #"x=[1,2,"a\"b",]{"tweet":{}}"#,
            "[[[[[[[[[[[[1]]]]]]]]]]]]",
        ],
        words: ["[", "]", "{\"tweet\":", "}", "\\\"", ",", "\n", "window.YTD.tweets.part0 = ["]
    ) { text in
        for wrapper in ["tweet", ""] {
            try holdSplitting(Array(text.utf8)) {
                ElementSplitter(wrapper: wrapper, limits: smallLimits)
            }
        }
    }

    private static let documentSplitter = FuzzTarget(
        "document-splitter",
        texts: [
            #"{"records":[{"uri":"at://x"},{"uri":"at://y"}],"cursor":"c"}"#,
            "{\"a\":1}\n{\"b\":2}\n",
            #"[{"a":1},2,"x"]"#,
            #"{"orderedItems":["a","b"#, "{\"a\":\n{\"records\":[1]}}",
            #"{"records":[],"records":[1]}]]}}"#,
        ],
        words: [
            "\"orderedItems\":[", "\"items\":[", "\"records\":[", "{\"", "\n{\"", "]}", "\\",
            "\u{FEFF}", "null",
        ]
    ) { text in
        try holdSplitting(Array(text.utf8)) {
            DocumentSplitter(lists: ["orderedItems", "items", "records"], limits: smallLimits)
        }
    }

    private static let lineSplitter = FuzzTarget(
        "line-splitter",
        texts: ["a\nb\r\n\r\nc", "\n\n\n", String(repeating: "long", count: 300) + "\nx"],
        words: ["\n", "\r\n", "\r"]
    ) { text in
        func lines(of size: Int) -> [String] {
            var lines: [String] = []
            var splitter = LineSplitter(maximumBytes: smallLimits.lineBytes)
            func take(_ line: SplitLine) {
                lines.append("\(line.number) \(Shown(line.content))")
            }
            for chunk in Array(text.utf8).chunks(of: size) {
                chunk.withUnsafeBytes { splitter.feed($0, take) }
            }
            splitter.finish(take)
            return lines
        }
        let whole = lines(of: .max)
        for size in [1, 7] {
            try hold(lines(of: size) == whole, "the pieces that lines arrive in do not matter")
        }
        try hold(whole.count <= text.utf8.count { $0 == 0x0A } + 1, "a line ends at a line break")
    }

    private static let json = FuzzTarget(
        "json",
        texts: [
            #"{"a":1,"b":{"a":2},"a":3}"#, #"{"a":1,"\u0061":2}"#, #"{"a\"#,
            #"[{"x":1,"x":[true,null]}]"#, "{\"\\",
            #"{"e":"\ud83d\ude83 \n\"","n":-1.5e3,}"#,
        ],
        words: ["{\"", "\":", ",\"", "\\u0061", "\\\"", "}", "[", "null", "-0"]
    ) { text in
        guard let whole = try? JSON(Array(text.utf8)) else { return }
        var rest = [whole]
        var count = 0
        while let value = rest.popLast() {
            count += 1
            let kinds = [
                value.isNull, value.isObject, value.isList, value.truth != nil, value.text != nil,
            ]
            try hold(kinds.count { $0 } <= 1, "a value is of one kind")
            try hold(
                (value.text ?? "").utf8.count <= text.utf8.count, "a string is part of the text")
            rest += value.list + value.members.map(\.value)
        }
        try hold(count <= text.utf8.count, "each value has a byte of its own")
    }
}

/// What a splitter gave, in a form that can be compared.
private struct Shown: Equatable, CustomStringConvertible {
    let description: String

    init(_ content: Result<[UInt8], ItemFault>) {
        switch content {
        case .success(let bytes): description = "\(bytes)"
        // Of several faults the first that is noticed is told, which depends on the pieces.
        case .failure: description = "fault"
        }
    }
}

/// Fails unless a splitter gives the same items in the same places for every way to cut its file
/// into pieces.
private func holdSplitting(_ file: [UInt8], _ splitter: () -> any ItemSplitter) throws {
    func items(of size: Int) throws -> (items: [String], bytes: Int) {
        var items: [String] = []
        var bytes = 0
        var last = -1
        var splitter = splitter()
        func take(_ element: SplitElement) throws {
            try hold(element.index == items.count, "items are counted")
            try hold(
                element.offset > last && element.offset < file.count, "items follow each other")
            last = element.offset
            bytes += (try? element.content.get().count) ?? 0
            items.append("\(element.offset) \(Shown(element.content))")
        }
        for chunk in file.chunks(of: size) {
            try chunk.withUnsafeBytes { try splitter.feed($0, take) }
        }
        if let fault = try splitter.finish(take) { items.append(fault.reason) }
        return (items, bytes)
    }
    let whole = try items(of: .max)
    // Where an item begins anew, its opening is written as it should have been.
    try hold(whole.bytes <= file.count * 2, "the items are no longer than their file")
    for size in [1, 7] {
        let items = try items(of: size).items
        try hold(
            items == whole.items,
            "the pieces that a file arrives in do not matter: \(items) and \(whole.items)")
    }
}

extension [UInt8] {
    /// The bytes in pieces of at most `size`.
    func chunks(of size: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: count, by: Swift.min(size, Swift.max(count, 1))).map { start in
            self[start..<Swift.min(count, start + Swift.min(size, count - start))]
        }
    }
}
