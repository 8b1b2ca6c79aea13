/// The worldwide identity of a post.
///
/// An ActivityPub `uri`, a Bluesky at-uri or an X post id. The id that one
/// server uses for the same post is an address for calls to that server and
/// never stands here.
package struct PostID: Hashable, Codable, Sendable {
    package var network: NetworkName
    package var value: String

    package init(network: NetworkName, value: String) {
        self.network = network
        self.value = value
    }
}

/// The worldwide identity of a person or bot.
///
/// Lower-case `user@host` on Mastodon-compatible servers, a DID on Bluesky, a
/// numeric user id on X. Two ids are the same person only if they are equal;
/// across networks people match only where an operator linked them.
package struct AccountID: Hashable, Codable, Sendable {
    package var network: NetworkName
    package var value: String

    package init(network: NetworkName, value: String) {
        self.network = network
        self.value = value
    }

    /// The identity of `name` on a Mastodon-compatible server.
    ///
    /// A local name is completed with `localHost`; case does not count.
    ///
    /// - Parameters:
    ///   - name: `user` or `user@host`, with or without a leading `@`.
    ///   - localHost: The host that local names belong to.
    /// - Returns: `user@host` in lower case.
    package static func mastodon(_ name: some StringProtocol, localHost: String) -> AccountID {
        let bare = name.drop { $0 == "@" }.lowercased()
        let full = bare.contains("@") ? bare : "\(bare)@\(localHost.lowercased())"
        return AccountID(network: .mastodon, value: full)
    }
}
