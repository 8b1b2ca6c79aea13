/// A digest of something as a person was shown it.
///
/// A report gives it out beside what it shows. Who asks for a change may hand it back: the
/// transaction that makes the change computes the digest of what is stored then, and changes
/// nothing where the two differ. So nobody decides about something else than they saw, however long
/// the page stood open.
package struct Seen: Codable, Hashable, Sendable, CustomStringConvertible {
    /// Sixteen hexadecimal digits.
    private let digest: String

    /// The digest of what a person is shown, part by part.
    ///
    /// - Parameter parts: In a fixed order; what is missing differs from an empty text.
    package init(of parts: String?...) { self.init(of: parts) }

    /// The same of a number of parts that is known only when it runs.
    package init(of parts: [String?]) {
        // The lengths keep `ab`, `c` apart from `a`, `bc`.
        let marked = parts.map { part in part.map { "\($0.utf8.count):\($0)" } ?? "-" }
        digest = StableHash.digest(of: marked).prefix(8).hexadecimal
    }

    /// The digest of several things that are shown together.
    package init(ofAll all: some Sequence<Seen>) { self.init(of: all.map(\.digest)) }

    /// The digest that a person typed or a form held; nil for what cannot be one.
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
    /// Fails if something is not any more as it was shown; without a digest nothing is compared.
    ///
    /// To be called in the transaction that makes the change: that one sees what it changes as if
    /// no other ran meanwhile.
    ///
    /// - Parameter current: The digest of what is stored.
    /// - Throws: ``SeenChanged``.
    package func require(_ current: Seen) throws {
        if let self, self != current { throw SeenChanged() }
    }
}

/// The error thrown when an item to be changed is no longer as the person saw it; nothing was
/// changed.
package struct SeenChanged: Error, Equatable { package init() {} }
