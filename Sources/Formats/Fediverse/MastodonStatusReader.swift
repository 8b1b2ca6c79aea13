import NetworkNames
package import Posts

/// Reads statuses of one server.
package struct MastodonStatusReader: Sendable {
    /// The host of local names; `nil` if it must be derived from the addresses of profiles.
    private let domain: String?
    /// The server's own host; some answers complete local names with it.
    private let serverHost: String?
    /// Whether ``domain`` is the host in the names of all local accounts, whatever the addresses of
    /// their profiles.
    private let isDomainCertain: Bool
    /// Whether account ids in posts identify the answered and mentioned people; some programs write
    /// other numbers there.
    private let idsIdentifyPeople: Bool

    /// Creates a reader for a server whose host of names is known.
    package init(domain: String, serverHost: String, idsIdentifyPeople: Bool) {
        self.domain = domain
        self.serverHost = serverHost
        self.idsIdentifyPeople = idsIdentifyPeople
        isDomainCertain = true
    }

    /// Creates a reader for saved statuses, which do not contain the host of local names.
    ///
    /// - Parameter localHost: The host of local names, if the caller knows it. It is used for
    ///   profiles at this host or a subdomain.
    package init(guessingFrom localHost: String?) {
        domain = localHost?.lowercased()
        serverHost = nil
        idsIdentifyPeople = true
        isDomainCertain = false
    }

    // MARK: People

    /// The account's name as `user@host`; the user is in the owner's spelling.
    ///
    /// - Returns: Nil for a local name with an unknown host.
    package func fullName(_ acct: String, at address: String?) -> String? {
        let parts = acct.split(separator: "@", maxSplits: 1)
        let hostInName = parts.count == 2 ? parts[1].lowercased() : nil
        guard let host = hostInName ?? localHost(at: address) else { return nil }
        // The server's own host is replaced, so that an account has one name in all answers.
        let nameHost = host == serverHost ? domain ?? host : host
        return "\(parts.first ?? "")@\(nameHost)"
    }

    package func person(_ acct: String, at address: String?) -> AccountID? {
        fullName(acct, at: address).map { .mastodon($0, localHost: domain ?? "") }
    }

    package func person(_ account: MastodonAccount) -> AccountID? {
        person(account.acct, at: account.addresses.first)
    }

    /// The host of local names at the server of a profile.
    private func localHost(at address: String?) -> String? {
        guard !isDomainCertain, let host = address.flatMap({ ActorAddress($0)?.host }) else {
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
        var post = FediversePost(identities: [wire.uri, wire.url], author: author)
        post.content = wire.content
        post.caption = wire.caption
        post.language = wire.language
        post.warning = wire.spoilerText
        post.isSensitive = wire.isSensitive
        post.audience = wire.audience
        post.written = wire.written
        post.updated = wire.editedAt
        post.replyTo = replyTarget(of: wire, by: account, author)
        post.isRepost = wire.isReblog
        post.mentions = mentions(of: wire)
        post.mayListUnmentionedPeople = !idsIdentifyPeople
        post.hashtags = wire.hashtags
        post.isQuote = wire.isQuote
        post.attachments = wire.attachments
        post.hasPoll = wire.hasPoll
        post.client = wire.client
        return post
    }

    /// The answered post and its author, as far as they are known; `nil` only if the status is not
    /// a reply.
    ///
    /// An answered post that the status includes identifies its author, unless its id differs from
    /// the one that the reply names.
    private func replyTarget(
        of wire: MastodonStatus, by account: MastodonAccount, _ author: AccountID
    ) -> ReplyTarget? {
        guard wire.inReplyToID != nil || wire.inReplyToAccountID != nil else { return nil }
        if let answered = wire.inReplyTo {
            let isAnsweredPost = answered.id == wire.inReplyToID
            return ReplyTarget(author: isAnsweredPost ? person(answered.account) : nil)
        }
        let authorByName = wire.inReplyToAccountName.flatMap { name in
            MastodonAccount.isName(name) ? person(name, at: account.addresses.first) : nil
        }
        guard idsIdentifyPeople, let id = wire.inReplyToAccountID else {
            return ReplyTarget(author: authorByName)
        }
        guard id != account.id else {
            return ReplyTarget(author: author, post: Self.answeredOwnPost(of: wire))
        }
        let mentionedAuthor = wire.mentions.first { $0.id == id }.flatMap { mention in
            person(mention.acct, at: mention.url)
        }
        return ReplyTarget(author: mentionedAuthor ?? authorByName)
    }

    /// The identity of the answered post, for a reply to a post of the same author: it differs from
    /// the reply's identity only in the id at the end.
    private static func answeredOwnPost(of wire: MastodonStatus) -> PostID? {
        guard let answered = wire.inReplyToID, let address = identity(of: wire),
            address.hasSuffix("/\(wire.id)")
        else { return nil }
        return PostID(network: .mastodon, value: address.dropLast(wire.id.count) + answered)
    }
}
