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

    /// `text` without any occurrence of the secret.
    ///
    /// For messages that come from outside, such as a server's error text that repeats the request.
    package func redacted(from text: String) -> String {
        guard !value.isEmpty else { return text }
        return text.split(separator: value, omittingEmptySubsequences: false).joined(separator: description)
    }

    package var description: String { "<redacted>" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
