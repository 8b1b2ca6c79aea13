/// A web address, reduced to the parts that identify an account.
package struct ActorAddress: Equatable {
    private static let maximumBytes = 2_048
    /// The first parts of paths whose second part is a user's name.
    private static let folders: Set<String> = ["users", "user", "u", "accounts", "profile"]

    /// The host in lower case, with its port if there is one.
    package var host: String
    /// The name in a path such as `/users/name/statuses/1` or `/@name`, in lower case; nil in other
    /// paths.
    package var user: String?

    /// Nil if `text` is not a web address.
    package init?(_ text: String) {
        guard Self.isOneWord(text), let schemeEnd = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<schemeEnd.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        let hostAndPath = text[schemeEnd.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let parts = hostAndPath.split(
            separator: "/", maxSplits: 4, omittingEmptySubsequences: false
        ).map {
            $0.lowercased()
        }
        guard let host = parts.first, Self.isHost(host) else { return nil }
        self.host = host
        if parts.count > 1, parts[1].hasPrefix("@") {
            user = Self.localName(parts[1].dropFirst())
        } else if parts.count > 2, Self.folders.contains(parts[1]) {
            user = Self.localName(parts[2])
        }
    }

    /// Splits an account name, with or without a leading `@`, into user and host, both in lower
    /// case.
    ///
    /// - Returns: Nil if `text` is not an account name; the host is `nil` for `user` alone.
    package static func name(_ text: String) -> (user: String, host: String?)? {
        guard isOneWord(text) else { return nil }
        let name = text.drop { $0 == "@" }.lowercased()
        let parts = name.split(separator: "@", omittingEmptySubsequences: false)
        guard let first = parts.first, let user = localName(first) else { return nil }
        switch parts.count {
        case 1: return (user, nil)
        case 2: return isHost(String(parts[1])) ? (user, String(parts[1])) : nil
        default: return nil
        }
    }

    /// Whether `text` can be the address of a post: at most 2,048 bytes without white space or
    /// control characters.
    package static func isOneWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumBytes
            && text.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && !$0.properties.isWhitespace
            }
    }

    private static func localName(_ text: some StringProtocol) -> String? {
        text.isEmpty || text.contains { "/@:?#".contains($0) } ? nil : String(text)
    }

    package static func isHost(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix(".") && !text.contains { "/@?#\\<>\"%".contains($0) }
            && isOneWord(text)
    }
}
