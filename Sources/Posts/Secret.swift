/// A token, password or key that must never be shown.
///
/// Printing, interpolating, reflecting and dumping it give `<redacted>`; it is
/// not `Codable` and not `Equatable`. The value leaves only through
/// ``reveal()``, so that a search for that word finds every use.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let value: String

    package init(_ value: String) {
        self.value = value
    }

    /// The value itself, for the one place that must send it.
    package func reveal() -> String { value }

    /// Whether there is nothing to keep secret.
    package var isEmpty: Bool { value.isEmpty }

    /// `text` without anything that tells the secret.
    ///
    /// For messages that come from outside, such as a server's error text that
    /// repeats the request, perhaps shortened, in other case or encoded: eight
    /// characters in a row of the secret, or of its Base64, hexadecimal or URL
    /// form, are taken out. A secret of fewer characters is only found whole.
    package func redacted(from text: String) -> String { Self.redacted([self], from: text) }

    /// `text` without anything that tells one of the secrets.
    package static func redacted(_ secrets: some Sequence<Secret>, from text: String) -> String {
        let bytes = Array(text.utf8)
        var isTold = [Bool](repeating: false, count: bytes.count)
        // All before anything is taken out: a part of one may stand in another.
        for secret in secrets { SecretPieces(of: secret.value).mark(bytes, in: &isTold) }
        guard isTold.contains(true) else { return text }
        return SecretPieces.text(bytes, without: isTold, leaving: mark)
    }

    private static let mark = "<redacted>"

    package var description: String { Self.mark }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
