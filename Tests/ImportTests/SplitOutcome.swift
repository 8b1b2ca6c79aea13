import Formats

@testable import Import

/// What a splitter made of a text.
struct SplitOutcome: Equatable {
    var items: [String] = []
    var faults: [String] = []
    var offsets: [Int] = []
    /// What is wrong with the file as a whole.
    var whole: String?
    /// The key of the list that was found last; nil where a splitter looks for none.
    var list: String?

    /// Gives `text` to a splitter in chunks of `size` bytes.
    init(_ text: String, size: Int, splitter: inout some ItemSplitter) throws {
        let bytes = Array(text.utf8)
        var rest = bytes[...]
        while !rest.isEmpty {
            try rest.prefix(size).withUnsafeBytes { try splitter.feed($0) { take($0) } }
            rest = rest.dropFirst(size)
        }
        whole = try splitter.finish { take($0) }?.reason
    }

    private mutating func take(_ element: SplitElement) {
        offsets.append(element.offset)
        switch element.content {
        case .success(let bytes): items.append(String(decoding: bytes, as: UTF8.self))
        case .failure(let fault): faults.append(fault.reason)
        }
    }
}
