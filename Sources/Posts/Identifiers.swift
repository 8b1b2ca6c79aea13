import Foundation

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
        guard network == .bluesky else { return nil }
        let parts = value.split(separator: "/")
        guard parts.count == 4, parts[0] == "at:", parts[1].hasPrefix("did:") else { return nil }
        return AccountID(network: network, value: String(parts[1]))
    }
}

/// The worldwide identity of a person or bot.
///
/// `user@host` on Mastodon-compatible servers, in lower case and with the host as ``HostName`` writes it; a DID on
/// Bluesky, a numeric user id on X. Two ids are the same person only if they are equal;
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
    /// A local name is completed with `localHost`; neither case nor the spelling of the host counts.
    ///
    /// - Parameters:
    ///   - name: `user` or `user@host`, with or without a leading `@`.
    ///   - localHost: The host that local names belong to.
    /// - Returns: `user@host` in its canonical form.
    package static func mastodon(_ name: some StringProtocol, localHost: String) -> AccountID {
        let bare = String(name.drop { $0 == "@" })
        return AccountID(network: .mastodon, value: bare.contains("@") ? bare : "\(bare)@\(localHost)").canonical
    }

    /// The identity in the one form in which it is compared and stored.
    package var canonical: AccountID {
        guard network == .mastodon, let at = value.lastIndex(of: "@") else { return self }
        let host = HostName.canonical(value[value.index(after: at)...])
        return AccountID(network: network, value: value[...at].lowercased() + host)
    }

    /// The account that a person names, in any spelling that mirror-bot or a network prints.
    ///
    /// - Parameters:
    ///   - text: `user@host`, `@user@host`, `acct:user@host`, `https://host/@user`, `https://host/users/user`, `x:…`,
    ///     `bluesky:…`, `mastodon:…` or a DID; hosts in either form.
    ///   - localHost: Completes a Mastodon name without a host.
    package init?(reference text: String, localHost: String?) {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        let isPlain = trimmed.unicodeScalars.allSatisfy { scalar in
            !scalar.properties.isWhitespace && ![.control, .format].contains(scalar.properties.generalCategory)
        }
        guard (1...300).contains(trimmed.utf8.count), isPlain else { return nil }
        if trimmed.hasPrefix("did:") {
            self.init(network: .bluesky, value: trimmed)
            return
        }
        if let page = Self.nameOnPage(trimmed) {
            self = .mastodon(page, localHost: "")
            return
        }
        let parts = trimmed.split(separator: ":", maxSplits: 1).map(String.init)
        let prefix = parts.count == 2 ? parts[0].lowercased() : ""
        if let network = NetworkName(rawValue: prefix), network != .mastodon {
            let name = String(parts[1].drop { $0 == "@" })
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            self.init(network: network, value: name)
            return
        }
        let written = ["mastodon", "acct"].contains(prefix) ? parts[1] : trimmed
        let name = written.hasPrefix("@") ? written.dropFirst() : written[...]
        let halves = name.split(separator: "@", omittingEmptySubsequences: false)
        guard let user = halves.first, !user.isEmpty, halves.count <= 2, halves.last?.isEmpty == false,
            !user.contains(where: { ":/?#%".contains($0) }), !name.contains("/"),
            !Self.withoutPort(name).contains(":"), halves.count == 2 || localHost != nil
        else { return nil }
        self = .mastodon(name, localHost: localHost ?? "")
    }

    /// `user@host` of the address of a profile; nil for another text.
    private static func nameOnPage(_ text: String) -> String? {
        for scheme in ["https://", "http://"] where text.lowercased().hasPrefix(scheme) {
            let parts = text.dropFirst(scheme.count).split(separator: "/").map(String.init)
            guard let host = parts.first, !host.contains("@") else { return nil }
            if parts.count == 2, parts[1].hasPrefix("@"), parts[1].count > 1 {
                let name = parts[1].dropFirst()
                return name.contains("@") ? String(name) : "\(name)@\(host)"
            }
            if parts.count == 3, ["users", "u", "profile"].contains(parts[1]) { return "\(parts[2])@\(host)" }
            return nil
        }
        return nil
    }

    /// `user@host` of `user@host:8443`.
    private static func withoutPort(_ name: Substring) -> Substring {
        guard let at = name.firstIndex(of: "@"), let colon = name.lastIndex(of: ":"), at < colon else { return name }
        let digits = name[name.index(after: colon)...]
        let isPort = digits.utf8.count <= 5 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isPort && (1...65_535).contains(Int(digits) ?? 0) ? name[..<colon] : name
    }

    /// What people read: as ``reference``, with the letters that the host's name has.
    package var shown: String {
        guard network == .mastodon, let at = value.lastIndex(of: "@") else { return reference }
        return value[...at] + HostName.shown(String(value[value.index(after: at)...]))
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
    ///
    /// Made from the form with the host's own letters: in that one servers told the name before there was one form.
    package var forgottenDigest: String {
        StableHash.digest(of: "forgotten/1", "person", network.rawValue, network == .mastodon ? shown : value).prefix(
            16
        ).hexadecimal
    }

    /// The name under which it stands that somebody was forgotten: no account of any network is called so.
    package var forgotten: AccountID { AccountID(network: network, value: "#" + forgottenDigest) }
}
