/// Header fields in the order they were received or will be sent.
///
/// Names compare without regard to ASCII case. Values may be secret (tokens), so printing shows the names only.
package struct HTTPHeaders: Sendable, CustomStringConvertible, CustomReflectable {
    /// The fields in order, names as written.
    package private(set) var pairs: [(name: String, value: String)]

    package init(_ pairs: [(String, String)] = []) {
        self.pairs = pairs.map { (name: $0.0, value: $0.1) }
    }

    /// The first value of a field; setting replaces all of them, nil removes them.
    package subscript(name: String) -> String? {
        get { pairs.first { Self.areEqual($0.name, name) }?.value }
        set {
            pairs.removeAll { Self.areEqual($0.name, name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// Every value of a field, in order.
    package func all(_ name: String) -> [String] {
        pairs.filter { Self.areEqual($0.name, name) }.map(\.value)
    }

    package mutating func append(_ name: String, _ value: String) {
        pairs.append((name: name, value: value))
    }

    /// Adds a continuation line to the last value (the obsolete folding of RFC 9112, section 5.2).
    mutating func extendLast(_ text: String) {
        guard let last = pairs.indices.last else { return }
        pairs[last].value += " " + text
    }

    package var description: String { "[" + pairs.map(\.name).joined(separator: ", ") + "]" }

    package var customMirror: Mirror { Mirror(self, children: ["names": pairs.map(\.name)]) }

    private static func areEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
