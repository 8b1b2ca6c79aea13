/// An account's handle, checked before it is put into a text.
///
/// Handles come from the network and may be hostile: one with a space or a
/// second `@` in it would let its owner write the bot's post.
package struct Handle: Hashable, Sendable, CustomStringConvertible {
    /// The handle without the leading `@`: `user`, `user@host` or `user.host`.
    package let text: String

    package var description: String { "@\(text)" }

    /// Nil unless `text` is one name, or one name and one host.
    ///
    /// - Parameter text: The handle without the leading `@`.
    package init?(_ text: String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false).map { Array($0.unicodeScalars) }
        guard let name = parts.first, parts.count <= 2, text.utf8.count <= 320 else { return nil }
        guard Self.isName(name), parts.count == 1 || Self.isHost(parts[1]) else { return nil }
        self.text = text
    }

    private static func isName(_ name: [Unicode.Scalar]) -> Bool {
        let isEdge = { (scalar: Unicode.Scalar) in scalar.isASCIIAlphanumeric || scalar == "_" }
        guard let first = name.first, let last = name.last, isEdge(first), isEdge(last) else { return false }
        return name.allSatisfy { isEdge($0) || $0 == "." || $0 == "-" }
    }

    /// Labels of letters, digits and hyphens with dots between them; letters of any script.
    private static func isHost(_ host: [Unicode.Scalar]) -> Bool {
        host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            guard let first = label.first, let last = label.last, first != "-", last != "-" else { return false }
            return label.allSatisfy { $0.isWord && $0 != "_" && !$0.isInvisible || $0 == "-" }
        }
    }
}
