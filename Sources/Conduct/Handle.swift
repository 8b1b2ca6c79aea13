import Foundation
package import Posts

/// An account's handle, checked before it is put into a text.
///
/// Handles come from the network and may be hostile: one with a space or a
/// second `@` in it would let its owner write the bot's post.
package struct Handle: Hashable, Sendable, CustomStringConvertible {
    /// The handle without the leading `@`: `user`, `user@host` or `user.host`.
    package let text: String

    package var description: String { "@\(text)" }

    /// Nil unless `text` has the form of the network's handles: one name, or one name and one host, which may have a
    /// port, on Mastodon; 1 to 15 letters, digits and underscores on X; a domain name on Bluesky.
    ///
    /// - Parameters:
    ///   - text: The handle without the leading `@`.
    ///   - network: Whose handle.
    package init?(_ text: String, on network: NetworkName = .mastodon) {
        let isHandle =
            switch network {
            case .mastodon: Self.isAddress(text)
            case .x: (1...15).contains(text.utf8.count) && text.unicodeScalars.allSatisfy(Self.isEdge)
            case .bluesky: Self.isDomain(text)
            }
        guard isHandle else { return nil }
        self.text = text
    }

    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false).map { Array($0.unicodeScalars) }
        guard let name = parts.first, parts.count <= 2, text.utf8.count <= 320 else { return false }
        return isName(name) && (parts.count == 1 || isHost(parts[1]))
    }

    /// A host name in ASCII, as the AT protocol wants it; `handle.invalid` stands for a handle that is no longer one.
    private static func isDomain(_ text: String) -> Bool {
        let labels = text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, text.utf8.count <= 253, text.lowercased() != "handle.invalid",
            let top = labels.last?.first, !("0"..."9").contains(top)
        else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != "-" && label.last != "-"
                && label.allSatisfy { $0.isASCIIAlphanumeric || $0 == "-" }
        }
    }

    private static func isEdge(_ scalar: Unicode.Scalar) -> Bool { scalar.isASCIIAlphanumeric || scalar == "_" }

    private static func isName(_ name: [Unicode.Scalar]) -> Bool {
        guard let first = name.first, let last = name.last, isEdge(first), isEdge(last) else { return false }
        return name.allSatisfy { isEdge($0) || $0 == "." || $0 == "-" }
    }

    /// Labels of letters, digits and hyphens with dots between them, letters of any script; perhaps a port.
    private static func isHost(_ address: [Unicode.Scalar]) -> Bool {
        let parts = address.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count == 1 || isPort(parts[1]) else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            guard let first = label.first, let last = label.last, first != "-", last != "-" else { return false }
            return label.allSatisfy { $0.isWord && $0 != "_" && !$0.isInvisible || $0 == "-" }
        }
    }

    private static func isPort(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        (1...5).contains(text.count) && text.allSatisfy { ("0"..."9").contains($0) }
    }
}
