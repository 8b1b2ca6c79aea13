package import Posts

/// The names of the built-in networks, for code that is written for one of them.
extension NetworkName {
    /// Any server that speaks Mastodon's client API.
    package static let mastodon = builtIn("mastodon")
    package static let x = builtIn("x")
    package static let bluesky = builtIn("bluesky")

    private static func builtIn(_ name: String) -> NetworkName {
        guard let network = NetworkName(rawValue: name) else {
            preconditionFailure("no network is called \(name)")
        }
        return network
    }
}

extension PublishingLimits {
    /// The limits of a Mastodon server that does not publish its own.
    package static let mastodon = usual(of: .mastodon)
    /// The limits of X for accounts without a subscription.
    package static let x = usual(of: .x)
    /// The limits of a Bluesky post record.
    package static let bluesky = usual(of: .bluesky)
}

extension AccountID {
    /// The identity of `name` on a Mastodon-compatible server.
    ///
    /// A local name is completed with `localHost`. Names that differ only in case, or in the
    /// spelling of the host, give the same identity.
    ///
    /// - Parameters:
    ///   - name: `user` or `user@host`, with or without a leading `@`.
    ///   - localHost: The host of local names.
    /// - Returns: `user@host` in its canonical form.
    package static func mastodon(_ name: some StringProtocol, localHost: String) -> AccountID {
        AccountID(address: name, localHost: localHost, network: .mastodon)
    }
}
