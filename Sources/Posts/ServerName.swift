/// The name `*@host`, which stands for all people on a Mastodon-compatible server.
///
/// The host is the part after `@` in people's names, in its ``HostName`` form. As in Mastodon's
/// domain blocks, subdomains are included: `*@example.com` covers `ann@example.com`,
/// `ann@social.example.com` and `ann@example.com:8443`, but not `ann@badexample.com`. A name with a
/// port covers only that port.
package struct ServerName: Hashable, Codable, Sendable {
    /// The canonical host, with a port if the name has one.
    package let host: String

    /// Parses a server as a person writes it.
    ///
    /// Nil for any other text, such as the name of an account.
    ///
    /// - Parameter text: `*@host` in the spellings that `AccountID(reference:localHost:)` accepts
    ///   for `user@host`.
    package init?(reference text: String) {
        guard text.contains("*@"), let account = AccountID(reference: text, localHost: nil) else {
            return nil
        }
        self.init(account)
    }

    /// The server that is stored under the identity of an account; nil for a real account.
    package init?(_ id: AccountID) {
        guard id.network == .usual, id.value.hasPrefix("*@") else { return nil }
        host = String(id.value.dropFirst(2))
        let (name, port) = Self.parts(host)
        if let port, !Self.isPort(port) { return nil }
        guard host.utf8.count <= 260 else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isHost = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy {
                    $0.isASCIIDigit || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F
                }
        }
        guard isHost else { return nil }
    }

    /// The identity under which the server is stored among people; no account has it.
    package var id: AccountID { AccountID(network: .usual, value: reference) }

    /// The server's name in the form that people type.
    package var reference: String { "*@\(host)" }

    /// The server's name for people, with the non-ASCII letters of the host.
    package var shown: String { "*@\(HostName.shown(host))" }

    /// Whether an account is on this server or on a subdomain.
    package func covers(_ account: AccountID) -> Bool { Self.covering(account).contains(self) }

    /// Whether this name covers all people of another server.
    package func covers(_ other: ServerName) -> Bool { Self.covering(other.host).contains(self) }

    /// The names of servers that include an account, the narrowest first; empty for accounts
    /// without hosts.
    package static func covering(_ account: AccountID) -> [ServerName] {
        guard account.network.traits.namesAreIdentities, let at = account.value.lastIndex(of: "@"),
            !account.value.hasPrefix("*@")
        else { return [] }
        return covering(HostName.canonical(account.value[account.value.index(after: at)...]))
    }

    private static func covering(_ host: String) -> [ServerName] {
        let (name, port) = parts(host)
        let labels = name.split(separator: ".")
        let hosts = labels.indices.map { labels[$0...].joined(separator: ".") }
        let hostsWithPort = port.map { port in hosts.map { "\($0):\(port)" } } ?? []
        return (hostsWithPort + hosts).compactMap {
            ServerName(AccountID(network: .usual, value: "*@\($0)"))
        }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.count <= 5 && (1...65_535).contains(Int(text) ?? 0)
    }

    /// Divides a host from its port.
    private static func parts(_ host: String) -> (name: Substring, port: Substring?) {
        guard let colon = host.lastIndex(of: ":") else { return (host[...], nil) }
        return (host[..<colon], host[host.index(after: colon)...])
    }
}
