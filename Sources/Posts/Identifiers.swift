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

extension PostID {
    /// Where a browser shows the post; nil if its identity does not tell.
    package var webAddress: String? {
        switch network {
        case .mastodon: return value.hasPrefix("https://") || value.hasPrefix("http://") ? value : nil
        case .x: return value.utf8.allSatisfy(\.isASCIIDigit) ? "https://x.com/i/status/\(value)" : nil
        case .bluesky:
            let parts = value.split(separator: "/")
            guard parts.count == 4, parts[0] == "at:" else { return nil }
            return "https://bsky.app/profile/\(parts[1])/post/\(parts[3])"
        }
    }

    /// Who wrote the post; nil if its identity does not tell, which only that of Bluesky does.
    package var author: AccountID? {
        let parts = value.split(separator: "/")
        guard network == .bluesky, parts.count == 4, parts[0] == "at:", parts[1].hasPrefix("did:") else { return nil }
        return AccountID(network: network, value: String(parts[1]))
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

    /// What a person types for the account: `user@host`, `x:12345`, `did:plc:…`.
    package var reference: String {
        switch network {
        case .mastodon, .bluesky: value
        case .x: "x:\(value)"
        }
    }
}

/// A kind of social network that mirror-bot can read from and publish to.
///
/// The raw value is what the `NETWORK` variables and the database use.
package enum NetworkName: String, CaseIterable, Codable, Sendable {
    /// Any server that speaks Mastodon's client API.
    case mastodon
    case x
    case bluesky

    /// What people call the network.
    package var displayName: String {
        switch self {
        case .mastodon: "Mastodon"
        case .x: "X"
        case .bluesky: "Bluesky"
        }
    }
}

/// What a network says about a person or bot.
package struct Account: Equatable, Sendable {
    package var id: AccountID
    /// The name people type after `@`, without it: `user@host` (also for local accounts), or a screen name or handle.
    package var handle: String
    package var displayName: String
    /// The account says of itself that it is automated.
    package var isBot: Bool
    /// The profile text as plain text, in which people opt out of bots.
    package var bio: String
    /// What the network calls this account in its own paths.
    package var address: String

    package init(
        id: AccountID, handle: String, displayName: String = "", isBot: Bool = false, bio: String = "",
        address: String = ""
    ) {
        self.id = id
        self.handle = handle
        self.displayName = displayName
        self.isBot = isBot
        self.bio = bio
        self.address = address
    }
}

// MARK: - What is forgotten

extension PostID {
    /// What tells a post that was forgotten when it comes again; nothing leads back from it to the post.
    package var forgottenDigest: String {
        StableHash.digest(of: "forgotten/1", "post", network.rawValue, value).prefix(16).hexadecimal
    }
}

extension AccountID {
    /// What tells somebody who was forgotten when they come again.
    package var forgottenDigest: String {
        StableHash.digest(of: "forgotten/1", "person", network.rawValue, value).prefix(16).hexadecimal
    }

    /// The name under which it stands that somebody was forgotten: no account of any network is called so.
    package var forgotten: AccountID { AccountID(network: network, value: "#" + forgottenDigest) }
}
