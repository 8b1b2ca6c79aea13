import Foundation

/// The worldwide identity of a post.
///
/// An ActivityPub `uri`, a Bluesky at-uri or an X post id. The id that a server uses for the post
/// is an address for calls to that server, and is not stored here.
package struct PostID: Hashable, Codable, Sendable {
    package var network: NetworkName
    package var value: String

    package init(network: NetworkName, value: String) {
        self.network = network
        self.value = value
    }
}

extension PostID {
    /// The web page of the post; nil if it cannot be derived from the identity.
    package var webAddress: String? { network.traits.postPage(value) }

    /// The author of the post; `nil` if it cannot be derived from the identity: only
    /// Bluesky's identities contain the author.
    package var author: AccountID? {
        network.traits.author(value).map { AccountID(network: network, value: $0) }
    }
}

/// The worldwide identity of a person or bot.
///
/// `user@host` on Mastodon-compatible servers, in lower case and with the host as ``HostName``
/// writes it; a DID on Bluesky, a numeric user id on X. Two ids are the same person only if they
/// are equal; on different networks people are the same only if an operator linked them.
package struct AccountID: Hashable, Codable, Sendable {
    package var network: NetworkName
    package var value: String

    package init(network: NetworkName, value: String) {
        self.network = network
        self.value = value
    }

    /// The identity in its canonical form, for comparing and storing.
    package var canonical: AccountID {
        guard network.traits.namesAreIdentities, let at = value.lastIndex(of: "@") else {
            return self
        }
        let host = HostName.canonical(value[value.index(after: at)...])
        return AccountID(network: network, value: value[...at].lowercased() + host)
    }

    /// The host in the name; nil on networks whose names have no hosts.
    package var addressHost: String? {
        guard network.traits.namesAreIdentities else { return nil }
        return value.split(separator: "@").dropFirst().first.map(String.init)
    }

    /// Parses an account as a person writes it, in any spelling that mirror-bot or a network
    /// prints.
    ///
    /// - Parameters:
    ///   - text: `user@host`, `@user@host`, `acct:user@host`, `https://host/@user`,
    ///     `https://host/users/user`, `x:…`, `bluesky:…`, `mastodon:…` or a DID; hosts in either
    ///     form.
    ///   - localHost: The host to add to a Mastodon name that has none.
    package init?(reference text: String, localHost: String?) {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        let isPlain = trimmed.unicodeScalars.allSatisfy { scalar in
            !scalar.properties.isWhitespace
                && ![.control, .format].contains(scalar.properties.generalCategory)
        }
        guard (1...300).contains(trimmed.utf8.count), isPlain else { return nil }
        if let network = Self.network(ofIdentifier: trimmed) {
            self.init(network: network, value: trimmed)
            return
        }
        if let page = Self.nameOnPage(trimmed) {
            self.init(address: page, localHost: "")
            return
        }
        let parts = trimmed.split(separator: ":", maxSplits: 1).map(String.init)
        let prefix = parts.count == 2 ? parts[0].lowercased() : ""
        let namedNetwork = prefix == "acct" ? nil : NetworkName(rawValue: prefix)
        if let network = namedNetwork, !network.traits.namesAreIdentities {
            let name = String(parts[1].drop { $0 == "@" })
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            self.init(network: network, value: name)
            return
        }
        let hasPrefix = namedNetwork != nil || prefix == "acct"
        let withoutPrefix = hasPrefix ? parts[1] : trimmed
        let name = withoutPrefix.hasPrefix("@") ? withoutPrefix.dropFirst() : withoutPrefix[...]
        let userAndHost = name.split(separator: "@", omittingEmptySubsequences: false)
        guard let user = userAndHost.first, !user.isEmpty, userAndHost.count <= 2,
            userAndHost.last?.isEmpty == false,
            !user.contains(where: { ":/?#%".contains($0) }), !name.contains("/"),
            !Self.withoutPort(name).contains(":"), userAndHost.count == 2 || localHost != nil
        else { return nil }
        self.init(address: name, localHost: localHost ?? "", network: namedNetwork ?? .usual)
    }

    /// The identity of `name`, or of `name@localHost` for a name without a host, in canonical form.
    package init(
        address name: some StringProtocol, localHost: String, network: NetworkName = .usual
    ) {
        let withoutSign = String(name.drop { $0 == "@" })
        let address = withoutSign.contains("@") ? withoutSign : "\(withoutSign)@\(localHost)"
        self = AccountID(network: network, value: address).canonical
    }

    /// The account of a network with a name or an identity.
    ///
    /// - Parameters:
    ///   - name: The account's name or identity, with or without a leading `@`.
    ///   - localHost: The host of local names, on networks whose names have hosts.
    ///   - network: The account's network.
    package init(name: String, localHost: String, on network: NetworkName) {
        if network.traits.namesAreIdentities {
            self.init(address: name, localHost: localHost, network: network)
        } else {
            self.init(network: network, value: name)
        }
    }

    /// The author of the post with this identity on any network known to this process; nil if it
    /// cannot be derived.
    package init?(authorOf post: String) {
        let authors = NetworkName.known.lazy.compactMap { PostID(network: $0, value: post).author }
        guard let author = authors.first else { return nil }
        self = author
    }

    /// The network whose identities begin like this text; nil for none.
    private static func network(ofIdentifier text: String) -> NetworkName? {
        NetworkName.known.first { network in
            guard case .identifier = network.traits.accountForm else { return false }
            return network.traits.isIdentity(text)
        }
    }

    /// `user@host` from the address of a profile; nil for any other text.
    private static func nameOnPage(_ text: String) -> String? {
        for scheme in ["https://", "http://"] where text.lowercased().hasPrefix(scheme) {
            let parts = text.dropFirst(scheme.count).split(separator: "/").map(String.init)
            guard let host = parts.first, !host.contains("@") else { return nil }
            if parts.count == 2, parts[1].hasPrefix("@"), parts[1].count > 1 {
                let name = parts[1].dropFirst()
                return name.contains("@") ? String(name) : "\(name)@\(host)"
            }
            if parts.count == 3, ["users", "u", "profile"].contains(parts[1]) {
                return "\(parts[2])@\(host)"
            }
            return nil
        }
        return nil
    }

    /// The name without its port: `user@host` for `user@host:8443`.
    private static func withoutPort(_ name: Substring) -> Substring {
        guard let atSign = name.firstIndex(of: "@"), let colon = name.lastIndex(of: ":"),
            atSign < colon
        else { return name }
        let digits = name[name.index(after: colon)...]
        let isPort = digits.utf8.count <= 5 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isPort && (1...65_535).contains(Int(digits) ?? 0) ? name[..<colon] : name
    }

    /// The identity in the form that is shown to people: ``reference`` with the non-ASCII letters
    /// of the host.
    package var shown: String {
        var readable = self
        readable.value = valueWithUnicodeHost
        return readable.reference
    }

    /// The identity with the non-ASCII letters of its host.
    private var valueWithUnicodeHost: String {
        guard network.traits.namesAreIdentities, let atSign = value.lastIndex(of: "@") else {
            return value
        }
        return value[...atSign] + HostName.shown(String(value[value.index(after: atSign)...]))
    }

    /// The identity in the form that people type: `user@host`, `x:12345`, `did:plc:…`.
    package var reference: String {
        switch network.traits.accountForm {
        case .address: network == .usual ? value : "\(network):\(value)"
        case .identifier: value
        case .number: "\(network):\(value)"
        }
    }
}

/// The profile of a person or bot.
package struct Account: Equatable, Sendable {
    package var id: AccountID
    /// The name that people type after `@`: `user@host` (also for local accounts), or a screen name
    /// or handle.
    package var handle: String
    package var displayName: String
    /// Whether the account is marked as automated.
    package var isBot: Bool
    /// The profile text as plain text, in which people opt out of bots.
    package var bio: String
    /// The identifier of the account in the network's own paths.
    package var address: String

    package init(
        id: AccountID, handle: String, displayName: String = "", isBot: Bool = false,
        bio: String = "",
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

// MARK: - Forgotten posts and people

extension PostID {
    /// The digest by which a forgotten post is recognised when it is read again; the post cannot be
    /// derived from it.
    package var forgottenDigest: String {
        StableHash.digest(of: "forgotten/1", "post", network.rawValue, value).prefix(16).hexadecimal
    }
}

extension AccountID {
    /// The digest by which a forgotten person is recognised when they are seen again.
    ///
    /// Computed from the form with non-ASCII letters of the host: older versions stored digests of
    /// that form, before there was a canonical one.
    package var forgottenDigest: String {
        StableHash.digest(of: "forgotten/1", "person", network.rawValue, valueWithUnicodeHost)
            .prefix(16)
            .hexadecimal
    }

    /// The identity under which a forgotten person is stored; no account of any network has it.
    package var forgottenID: AccountID { AccountID(network: network, value: "#" + forgottenDigest) }

    /// Whether the identity is a ``forgottenID``.
    package var isForgotten: Bool { value.hasPrefix("#") }
}
