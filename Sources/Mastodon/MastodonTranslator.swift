import Formats
import Foundation
import NetworkNames
import Networks
import Posts

/// Translates posts and accounts of a server into the common model.
struct MastodonTranslator {
    /// The host of local names.
    let domain: String
    /// The server's own host; some answers complete local names with it even if `domain` differs.
    let serverHost: String
    /// The token's account; nil before it is known.
    let ownAccount: MastodonOwnAccount?
    /// Whether account ids identify the answered and mentioned people; see
    /// ``MastodonProgram/idsIdentifyPeople``.
    let idsIdentifyPeople: Bool
    let now: @Sendable () -> Date

    private var reader: MastodonStatusReader {
        MastodonStatusReader(
            domain: domain, serverHost: serverHost, idsIdentifyPeople: idsIdentifyPeople)
    }

    func account(_ wire: MastodonAccount) -> Account {
        Account(
            id: person(wire.acct), handle: fullName(wire.acct),
            displayName: PlainText.cleaned(wire.displayName),
            isBot: wire.isBot, bio: wire.bio, address: wire.id)
    }

    /// Whether ``post(_:noticedAt:)`` can translate a post.
    static func canRead(_ wire: MastodonStatus) -> Bool {
        MastodonStatusReader.identity(of: wire) != nil && wire.account != nil
    }

    /// The post of `wire`.
    ///
    /// - Parameters:
    ///   - noticedAt: The time at which the server reported the post, for posts without a time.
    /// - Returns: Nil for a post without an identity or an author.
    func post(_ wire: MastodonStatus, noticedAt: Date? = nil) -> ObservedPost? {
        guard let account = wire.account, var parsed = reader.read(wire) else { return nil }
        let author = self.account(account)
        parsed.mentions = mentions(of: wire)
        guard var post = parsed.post(noticedAt: noticedAt, now: now()) else { return nil }
        post.address = wire.id
        return ObservedPost(
            post: post, author: author, address: wire.id, replyToAddress: wire.inReplyToID,
            editedAt: parsed.editedAt,
            mentionAddedAt: Self.mentionAddition(editedAt: parsed.editedAt, noticedAt: noticedAt),
            isFavorited: wire.isFavourited,
            replyNeedsApproval: needsApproval(wire.interactionPolicy?.reply, wire),
            favoriteNeedsApproval: needsApproval(wire.interactionPolicy?.favourite, wire))
    }

    /// Seconds by which a change may be dated after its notification, because clocks of servers
    /// differ.
    private static let clockMargin: TimeInterval = 60

    /// The time at which an edit may have added the mention: the time of the last change, if that
    /// was before the notification of the post.
    ///
    /// Nil if the post was not changed, or was changed after the notification.
    private static func mentionAddition(editedAt: Date?, noticedAt: Date?) -> Date? {
        guard let editedAt, let noticedAt, editedAt <= noticedAt + clockMargin else { return nil }
        return min(editedAt, noticedAt)
    }

    /// The accounts in a post's list of mentions, and the token's own account if the text names it.
    ///
    /// snac leaves the requesting account out of its lists.
    private func mentions(of wire: MastodonStatus) -> [FediversePost.Mention] {
        let listed = reader.mentions(of: wire)
        guard !idsIdentifyPeople, let ownAccount, wire.account?.id != ownAccount.id else {
            return listed
        }
        let mention = FediversePost.Mention(
            account: person(ownAccount.acct), name: fullName(ownAccount.acct),
            addresses: ownAccount.addresses)
        let isListed = listed.contains { listedMention in
            listedMention.account == mention.account
                || listedMention.addresses.contains(where: mention.addresses.contains)
        }
        guard !isListed, mention.isNamed(in: wire.content) else { return listed }
        // The token's own account comes first, because the list is truncated.
        return [mention] + listed
    }

    /// Adds to each reply the identity of its parent, which servers do not return, and the parent's
    /// author if ids do not identify people.
    ///
    /// Replies whose parent is neither in `posts` nor in `parents` remain unchanged.
    ///
    /// - Parameters:
    ///   - parents: Answered posts that are not in the page.
    func connected(_ posts: [ObservedPost], with parents: [ObservedPost] = []) -> [ObservedPost] {
        let postsByAddress = Dictionary(
            (posts + parents).map { ($0.address, $0) }, uniquingKeysWith: { first, _ in first })
        return posts.map { observed in
            guard let address = observed.replyToAddress, let parent = postsByAddress[address] else {
                return observed
            }
            var observed = observed
            observed.post.replyTo?.post = parent.post.id
            if !idsIdentifyPeople, observed.post.replyTo?.author == nil {
                observed.post.replyTo?.author = parent.author.id
            }
            return observed
        }
    }

    /// The account's name as `user@host`; the user is in the owner's spelling.
    private func fullName(_ acct: String) -> String { reader.fullName(acct, at: nil) ?? acct }

    private func person(_ acct: String) -> AccountID {
        .mastodon(fullName(acct), localHost: domain)
    }

    /// The id of the token's account; `nil` before it is known.
    var ownID: AccountID? { ownAccount.map { person($0.acct) } }

    /// Whether a post names the token's own account.
    func mentionsOwnAccount(_ wire: MastodonStatus) -> Bool {
        guard let ownAccount else { return false }
        if idsIdentifyPeople { return wire.mentions.contains { $0.id == ownAccount.id } }
        var parsed = FediversePost(identities: [], author: person(ownAccount.acct))
        parsed.content = wire.content
        parsed.mentions = mentions(of: wire)
        parsed.mayListUnmentionedPeople = true
        return parsed.namedMentions.contains { $0.account == parsed.author }
    }

    /// Whether an action waits for the author's approval.
    ///
    /// - Parameter rule: The groups of people who need no approval; nil if there is no such rule.
    private func needsApproval(_ rule: [String]?, _ wire: MastodonStatus) -> Bool {
        guard let rule else { return false }
        if let ownAccount, wire.account?.id == ownAccount.id { return false }
        let isMentioned = mentionsOwnAccount(wire)
        return !rule.contains { $0 == "public" || $0 == "me" || ($0 == "mentioned" && isMentioned) }
    }
}
