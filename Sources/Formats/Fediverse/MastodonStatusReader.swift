import NetworkNames
package import Posts

/// Reads statuses of one server.
package struct MastodonStatusReader: Sendable {
    /// The host of local names; `nil` if it must be derived from the addresses of profiles.
    private let domain: String?
    /// The host of the server itself, which some answers complete local names with.
    private let serverHost: String?
    /// Whether ``domain`` applies to all local accounts, whatever the address of their profile.
    private let isCertain: Bool
    /// Whether ids in posts identify the answered and mentioned people; some programs use other
    /// numbers there.
    private let idsIdentifyPeople: Bool

    /// Creates a reader for a server whose host of names is known.
    package init(domain: String, serverHost: String, idsIdentifyPeople: Bool) {
        self.domain = domain
        self.serverHost = serverHost
        self.idsIdentifyPeople = idsIdentifyPeople
        isCertain = true
    }

    /// Creates a reader for saved statuses, which do not contain the host of local names.
    ///
    /// - Parameter localHost: The host of local names, if the caller knows it. It is used for
    ///   profiles at this host or a subdomain.
    package init(guessingFrom localHost: String?) {
        domain = localHost?.lowercased()
        serverHost = nil
        idsIdentifyPeople = true
        isCertain = false
    }

    // MARK: People

    /// `user@host`, with the case as the owner writes the name.
    ///
    /// - Returns: Nil for a local name with an unknown host.
    package func fullName(_ acct: String, at address: String?) -> String? {
        let parts = acct.split(separator: "@", maxSplits: 1)
        let written = parts.count == 2 ? parts[1].lowercased() : nil
        guard let host = written ?? localHost(at: address) else { return nil }
        // An account has the same name whether an answer contains the host or not.
        return "\(parts.first ?? "")@\(host == serverHost ? domain ?? host : host)"
    }

    package func person(_ acct: String, at address: String?) -> AccountID? {
        fullName(acct, at: address).map { .mastodon($0, localHost: domain ?? "") }
    }

    package func person(_ account: MastodonAccount) -> AccountID? {
        person(account.acct, at: account.addresses.first)
    }

    /// The host of local names at the server of a profile.
    private func localHost(at address: String?) -> String? {
        guard !isCertain, let host = address.flatMap({ ActorAddress($0)?.host }) else {
            return domain
        }
        guard let domain, host.hasSuffix("." + domain) else { return host }
        return domain
    }

    package func mentions(of wire: MastodonStatus) -> [FediversePost.Mention] {
        wire.mentions.compactMap { mention in
            guard let name = fullName(mention.acct, at: mention.url) else { return nil }
            return FediversePost.Mention(
                account: .mastodon(name, localHost: domain ?? ""), name: name,
                addresses: [mention.url].compactMap(\.self))
        }
    }

    // MARK: Posts

    /// Returns the post's global identity; `nil` if no candidate can be one.
    package static func identity(of wire: MastodonStatus) -> String? {
        FediversePost.identity(among: [wire.uri, wire.url])
    }

    /// Converts a status to a post.
    ///
    /// - Returns: `nil` if the wire form does not tell the author.
    package func read(_ wire: MastodonStatus) -> FediversePost? {
        guard let account = wire.account, let author = person(account) else { return nil }
        var read = FediversePost(identities: [wire.uri, wire.url], author: author)
        read.content = wire.content
        read.caption = wire.caption
        read.language = wire.language
        read.warning = wire.spoilerText
        read.isSensitive = wire.isSensitive
        read.audience = wire.audience
        read.written = wire.written
        read.updated = wire.editedAt
        read.replyTo = replyTarget(of: wire, by: account, author)
        read.isRepost = wire.isReblog
        read.mentions = mentions(of: wire)
        read.mentionsAreLoose = !idsIdentifyPeople
        read.hashtags = wire.hashtags
        read.isQuote = wire.isQuote
        read.attachments = wire.attachments
        read.hasPoll = wire.hasPoll
        read.client = wire.client
        return read
    }

    /// A reply to an unknown person is still a reply.
    ///
    /// If the person's number cannot be used, the included answered post identifies the person,
    /// unless it contradicts the reply.
    private func replyTarget(
        of wire: MastodonStatus, by account: MastodonAccount, _ author: AccountID
    ) -> ReplyTarget? {
        guard wire.inReplyToID != nil || wire.inReplyToAccountID != nil else { return nil }
        if let answered = wire.inReplyTo {
            let isMeant = answered.id == wire.inReplyToID
            return ReplyTarget(author: isMeant ? person(answered.account) : nil)
        }
        let authorByName = wire.inReplyToAccountName.flatMap { name in
            MastodonAccount.isName(name) ? person(name, at: account.addresses.first) : nil
        }
        guard idsIdentifyPeople, let id = wire.inReplyToAccountID else {
            return ReplyTarget(author: authorByName)
        }
        guard id != account.id else {
            return ReplyTarget(author: author, post: Self.neighbour(of: wire))
        }
        let named = wire.mentions.first { $0.id == id }.flatMap { person($0.acct, at: $0.url) }
        return ReplyTarget(author: named ?? authorByName)
    }

    /// The answered post, if it has the same author: the addresses of their posts differ in the id
    /// at the end.
    private static func neighbour(of wire: MastodonStatus) -> PostID? {
        guard let answered = wire.inReplyToID, let address = identity(of: wire),
            address.hasSuffix("/\(wire.id)")
        else { return nil }
        return PostID(network: .mastodon, value: address.dropLast(wire.id.count) + answered)
    }
}
