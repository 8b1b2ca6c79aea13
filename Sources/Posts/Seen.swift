/// A digest of an item in the form that a person was shown.
///
/// A report contains it beside the item. A request for a change may include it: the transaction of
/// the change computes the digest of the stored item, and changes nothing if the two differ. So a
/// person cannot change an item that has become different since they saw it.
package struct Seen: Codable, Hashable, Sendable, CustomStringConvertible {
    /// Sixteen hexadecimal digits.
    private let digest: String

    /// The digest of the parts that a person is shown.
    ///
    /// - Parameter parts: The parts in a fixed order; nil differs from an empty text.
    package init(of parts: String?...) { self.init(of: parts) }

    /// The digest of an array of parts.
    package init(of parts: [String?]) {
        // The lengths distinguish `ab`, `c` from `a`, `bc`.
        let withLengths = parts.map { part in part.map { "\($0.utf8.count):\($0)" } ?? "-" }
        digest = StableHash.digest(of: withLengths).prefix(8).hexadecimal
    }

    /// The digest of several items that are shown together; for a single item, the item's own
    /// digest.
    package init(ofAll all: some Sequence<Seen>) {
        let all = Array(all)
        self = all.count == 1 ? all[0] : Seen(of: all.map(\.digest))
    }

    /// Parses a digest from user input or a form; nil if it is invalid.
    package init?(_ text: String) {
        guard text.utf8.count == 16, text.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
        else { return nil }
        digest = text
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let seen = Seen(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected 16 hexadecimal digits")
        }
        self = seen
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(digest)
    }

    package var description: String { digest }
}

extension Seen? {
    /// Throws if an item differs from the one that was shown; does nothing if this is nil.
    ///
    /// To be called in the transaction that makes the change, which is isolated from others.
    ///
    /// - Parameter current: The digest of the stored item.
    /// - Throws: ``SeenChanged``.
    package func require(_ current: Seen) throws {
        if let self, self != current { throw SeenChanged() }
    }
}

/// The error thrown when an item to be changed is no longer as the person saw it; nothing was
/// changed.
package struct SeenChanged: Error, Equatable { package init() {} }
