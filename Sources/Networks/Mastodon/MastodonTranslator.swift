import Foundation
import Posts

/// Makes posts and accounts of ours from what a server sent.
struct MastodonTranslator {
    /// Longer addresses of posts are not in use, in bytes.
    private static let maximumIdentity = 2_048

    /// The host of local names.
    let domain: String
    /// The host of the server itself, which some answers complete local names with where `domain` is another.
    let serverHost: String
    /// The token's account; nil before it is known.
    let own: MastodonOwnAccount?
    /// Whether ids tell whom a post answers and names; see ``MastodonSoftware/tellsPeopleByNumber``.
    let tellsPeopleByNumber: Bool
    let now: @Sendable () -> Date

    func account(_ wire: MastodonAccount) -> Account {
        // People opt out of bots in the profile's table too.
        let fields = wire.fields.map { "\(PlainText.cleaned($0.name)): \(PlainText.fromHTML($0.value))" }
        let bio = ([PlainText.fromHTML(wire.note)] + fields).joined(separator: "\n")
        return Account(
            id: person(wire.acct), handle: fullName(wire.acct),
            displayName: PlainText.cleaned(wire.displayName), isBot: wire.isBot,
            bio: PlainText.cleaned(bio), address: wire.id)
    }

    /// Whether ``post(_:noticedAt:)`` can make something of a post.
    static func canRead(_ wire: MastodonStatus) -> Bool { identity(of: wire) != nil && wire.account != nil }

    /// The post that `wire` stands for.
    ///
    /// - Parameters:
    ///   - wire: What the server sent.
    ///   - noticedAt: When the server told of it, for posts that lack their time.
    /// - Returns: Nil for a post without an identity or an author.
    func post(_ wire: MastodonStatus, noticedAt: Date? = nil) -> ObservedPost? {
        guard let identity = Self.identity(of: wire), let account = wire.account else { return nil }
        let author = self.account(account)
        let warning = PlainText.cleaned(wire.spoilerText)
        let post = Post(
            id: PostID(network: .mastodon, value: identity), author: author.id, text: text(of: wire),
            createdAt: wire.createdAt ?? noticedAt ?? now(), isTimeTrusted: wire.createdAt != nil,
            replyTo: replyTarget(of: wire, author: author.id, authorAddress: account.id), isRepost: wire.isReblog,
            visibility: Visibility(rawValue: wire.visibility) ?? .private, language: language(of: wire),
            hasMedia: wire.hasMedia, isSensitive: wire.isSensitive || !warning.isEmpty,
            mentions: named(in: wire), address: wire.id,
            warning: warning.isEmpty ? nil : warning, pictures: wire.pictures)
        return ObservedPost(
            post: post, author: author, address: wire.id, replyToAddress: wire.inReplyToID, editedAt: wire.editedAt,
            isFavorited: wire.isFavourited, replyNeedsApproval: needsApproval(wire.interactionPolicy?.reply, wire),
            favoriteNeedsApproval: needsApproval(wire.interactionPolicy?.favourite, wire))
    }

    /// Replies whose parent is at hand get their parent's identity, which servers do not tell, and, where no number tells
    /// it, the parent's author.
    ///
    /// - Parameters:
    ///   - posts: The posts of a page.
    ///   - parents: Posts that they answer, besides those of the page.
    /// - Returns: The posts.
    func connected(_ posts: [ObservedPost], with parents: [ObservedPost] = []) -> [ObservedPost] {
        let known = Dictionary((posts + parents).map { ($0.address, $0) }, uniquingKeysWith: { first, _ in first })
        return posts.map { observed in
            guard let address = observed.replyToAddress, let parent = known[address] else { return observed }
            var observed = observed
            observed.post.replyTo?.post = parent.post.id
            if !tellsPeopleByNumber, observed.post.replyTo?.author == nil {
                observed.post.replyTo?.author = parent.author.id
            }
            return observed
        }
    }

    /// `user@host`, with the case of the name as its owner writes it.
    private func fullName(_ acct: String) -> String {
        let parts = acct.split(separator: "@", maxSplits: 1)
        let host = parts.count == 2 ? parts[1].lowercased() : domain
        // The same account, whether an answer names it with a host or without.
        return "\(parts.first ?? "")@\(host == serverHost ? domain : host)"
    }

    private func person(_ acct: String) -> AccountID {
        .mastodon(fullName(acct), localHost: domain)
    }

    /// What the post is called everywhere; nil if the server sent nothing that could be that.
    static func identity(of wire: MastodonStatus) -> String? {
        [wire.uri, wire.url].compactMap(\.self).first { candidate in
            !candidate.isEmpty && candidate.utf8.count <= maximumIdentity
                && candidate.unicodeScalars.allSatisfy {
                    $0.properties.generalCategory != .control && !$0.properties.isWhitespace
                }
        }
    }

    private func text(of wire: MastodonStatus) -> String {
        let names = wire.mentions.compactMap { mention in mention.url.map { ($0, fullName(mention.acct)) } }
        return PlainText.fromHTML(wire.content, mentions: Dictionary(names, uniquingKeysWith: { first, _ in first }))
    }

    /// Whom a post names.
    ///
    /// Where a server names people of its own accord, those count whose name or address its text holds.
    private func named(in wire: MastodonStatus) -> [AccountID] {
        var seen: Set<AccountID> = []
        var mentions = wire.mentions
        if !tellsPeopleByNumber, !mentions.isEmpty {
            let text = PlainText.fromHTML(wire.content).lowercased()
            mentions.removeAll { mention in
                if let url = mention.url, !url.isEmpty, wire.content.contains(url) { return false }
                let user = mention.acct.prefix { $0 != "@" }
                return !text.contains("@\(user)".lowercased())
            }
        }
        return mentions.map { person($0.acct) }.filter { seen.insert($0).inserted }
    }

    /// Who the token's account is; nil before it is known.
    var ownID: AccountID? { own.map { person($0.acct) } }

    /// Whether a post names the token's own account.
    func namesOwn(_ wire: MastodonStatus) -> Bool {
        guard let own else { return false }
        if tellsPeopleByNumber { return wire.mentions.contains { $0.id == own.id } }
        return named(in: wire).contains(person(own.acct))
    }

    /// A reply whose person cannot be told is a reply still.
    ///
    /// Where the number of the answered person means something else, the answered post itself tells, see
    /// ``connected(_:)``; one that contradicts the post's own word tells nothing.
    private func replyTarget(of wire: MastodonStatus, author: AccountID, authorAddress: String) -> ReplyTarget? {
        guard wire.inReplyToID != nil || wire.inReplyToAccountID != nil else { return nil }
        if let answered = wire.inReplyTo {
            return ReplyTarget(author: answered.id == wire.inReplyToID ? person(answered.account.acct) : nil)
        }
        let told = wire.inReplyToAccountName.flatMap { MastodonAccount.isName($0) ? $0 : nil }
        guard tellsPeopleByNumber else { return ReplyTarget(author: told.map(person)) }
        if wire.inReplyToAccountID == authorAddress { return ReplyTarget(author: author) }
        let named = wire.inReplyToAccountID.flatMap { id in wire.mentions.first { $0.id == id }?.acct }
        return ReplyTarget(author: (named ?? told).map(person))
    }

    private func language(of wire: MastodonStatus) -> String? {
        wire.language.flatMap { LanguageTag.isWellFormed($0) ? $0 : nil }
    }

    /// Whether an action waits for the author: `rule` names who may act at once.
    private func needsApproval(_ rule: [String]?, _ wire: MastodonStatus) -> Bool {
        guard let rule else { return false }
        if let own, wire.account?.id == own.id { return false }
        let isMentioned = namesOwn(wire)
        return !rule.contains { $0 == "public" || $0 == "me" || ($0 == "mentioned" && isMentioned) }
    }
}
