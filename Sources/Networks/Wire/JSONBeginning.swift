/// Single values of a JSON text that was cut off.
package struct JSONBeginning: Sendable {
    private enum Frame {
        /// A list, and the index of its current element.
        case list(index: Int)
        /// An object, and the key of its current value.
        case object(key: String?)
    }

    /// The nesting depth of the values that are kept; deeper ones are read and dropped.
    private static let maximumDepth = 4
    /// The nesting depth beyond which reading ends.
    private static let maximumReadableDepth = 64

    /// Strings and whole numbers, by the path of keys and indexes that leads to them.
    ///
    /// If a path occurs twice, its first value is kept.
    package private(set) var values: [[String]: String] = [:]
    /// The number of complete objects and lists that are elements of the text's outermost list.
    package private(set) var wholeElements = 0

    private let bytes: [UInt8]
    private var index = 0
    private var frames: [Frame] = []

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        while index < bytes.count, readToken() {}
    }

    /// Reads the next token; returns false at the end of the readable part.
    private mutating func readToken() -> Bool {
        switch bytes[index] {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard frames.count < Self.maximumReadableDepth else { return false }
            frames.append(bytes[index] == UInt8(ascii: "[") ? .list(index: 0) : .object(key: nil))
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return endValue()
        case UInt8(ascii: ","): beginNextElement()
        case UInt8(ascii: "\""): return readText()
        case UInt8(ascii: ":"), UInt8(ascii: " "), 0x09, 0x0A, 0x0D: break
        default: return readWord()
        }
        index += 1
        return true
    }

    /// Ends the innermost list or object.
    private mutating func endValue() -> Bool {
        guard frames.popLast() != nil else { return false }
        let listCount = frames.count { if case .list = $0 { true } else { false } }
        if case .list? = frames.last, listCount == 1 { wholeElements += 1 }
        index += 1
        return true
    }

    /// Handles a comma: the next element of the list, or the next key of the object, begins.
    private mutating func beginNextElement() {
        switch frames.popLast() {
        case .list(let elementIndex): frames.append(.list(index: elementIndex + 1))
        case .object: frames.append(.object(key: nil))
        case nil: break
        }
    }

    private mutating func readText() -> Bool {
        var end = index + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < bytes.count else { return false }
        let text = JSONBody.decoded(String.self, Array(bytes[index...end])) ?? ""
        index = end + 1
        // The first text after a comma or a brace is a key, the next one its value.
        if case .object(key: nil)? = frames.last {
            frames[frames.count - 1] = .object(key: text)
        } else {
            keep(text)
        }
        return true
    }

    /// Reads a number or a name such as `true`; ends at a word at the end of the bytes, which may
    /// be cut off.
    private mutating func readWord() -> Bool {
        let word = bytes[index...].prefix { !",]} \t\r\n".utf8.contains($0) }
        guard !word.isEmpty, word.endIndex < bytes.count else { return false }
        if word.allSatisfy({ (0x30...0x39).contains($0) }) {
            keep(String(decoding: word, as: UTF8.self))
        }
        index = word.endIndex
        return true
    }

    private mutating func keep(_ value: String) {
        guard frames.count <= Self.maximumDepth else { return }
        var path: [String] = []
        for frame in frames {
            switch frame {
            case .list(let elementIndex): path.append(String(elementIndex))
            case .object(let key): path.append(key ?? "")
            }
        }
        if values[path] == nil { values[path] = value }
    }
}
