/// A Mastodon-compatible server, as a word about everybody on it: `*@host`.
///
/// The host is the one in people's names, in its ``HostName`` form. As domain blocks of Mastodon
/// do, the name stands for the servers below the host too: `*@example.com` covers
/// `ann@example.com`, `ann@social.example.com` and `ann@example.com:8443`, but not
/// `ann@badexample.com`. With a port it stands for that port alone.
package struct ServerName: Hashable, Codable, Sendable {
    /// The canonical host, with a port if the name has one.
    package let host: String

    /// The server that a person names.
    ///
    /// Nil for a text that names one account, several or none.
    ///
    /// - Parameter text: `*@host` in the spellings that `AccountID(reference:localHost:)` takes for
    ///   `user@host`.
    package init?(reference text: String) {
        guard text.contains("*@"), let account = AccountID(reference: text, localHost: nil) else {
            return nil
        }
        self.init(account)
    }

    /// The server that stands under the identity of an account; nil for an account.
    package init?(_ id: AccountID) {
        guard id.network == .usual, id.value.hasPrefix("*@") else { return nil }
        host = String(id.value.dropFirst(2))
        let (name, port) = Self.parts(host)
        let isNumber =
            port.map { $0.utf8.count <= 5 && (1...65_535).contains(Int($0) ?? 0) } ?? true
        guard isNumber, host.utf8.count <= 260 else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isHost = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy {
                    $0.isASCIIDigit || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F
                }
        }
        guard isHost else { return nil }
    }

    /// The identity under which the server stands where people are stored; no account is called so.
    package var id: AccountID { AccountID(network: .usual, value: reference) }

    /// The server's name as a person types it.
    package var reference: String { "*@\(host)" }

    /// The server's name as people read it, with the letters that the host's name has.
    package var shown: String { "*@\(HostName.shown(host))" }

    /// Whether an account is on this server or on one below it.
    package func covers(_ account: AccountID) -> Bool { Self.covering(account).contains(self) }

    /// Whether everybody whom the other server covers is covered by this one.
    package func covers(_ other: ServerName) -> Bool { Self.covering(other.host).contains(self) }

    /// The names of servers that cover an account, the narrowest first; empty where accounts have
    /// no hosts.
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
        return ((port.map { port in hosts.map { "\($0):\(port)" } } ?? []) + hosts).compactMap {
            ServerName(AccountID(network: .usual, value: "*@\($0)"))
        }
    }

    /// A host and its port.
    private static func parts(_ host: String) -> (name: Substring, port: Substring?) {
        guard let colon = host.lastIndex(of: ":") else { return (host[...], nil) }
        return (host[..<colon], host[host.index(after: colon)...])
    }
}
