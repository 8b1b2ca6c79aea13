import Formats
import Foundation
import NetworkNames
import Networks
import Posts

/// Translates posts and accounts of X into the common model.
struct XTranslator {
    /// The account of the credentials.
    let ownAccount: Account
    /// Whether only followers see that account's posts; nil if unknown.
    let isOwnProtected: Bool?
    /// The accounts that came with the posts, by id.
    let users: [String: XUser]
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - own: The account of the credentials.
    ///   - isOwnProtected: Whether only followers see that account's posts; nil if unknown.
    init(own: Account, isOwnProtected: Bool?, users: [XUser], now: @escaping @Sendable () -> Date) {
        ownAccount = own
        self.isOwnProtected = isOwnProtected
        self.users = Dictionary(users.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.now = now
    }

    /// Translates an account.
    ///
    /// No account counts as automated, because X's interface does not mark such accounts.
    static func account(_ wire: XUser) -> Account {
        Account(
            id: AccountID(network: .x, value: wire.id), handle: wire.username,
            displayName: PlainText.fromX(wire.name),
            bio: PlainText.fromX(wire.description, links: links(wire)),
            address: wire.id)
    }

    /// The post of `wire`.
    ///
    /// - Parameters:
    ///   - feed: The feed that contained it; nil for a post that was requested by itself.
    ///   - reader: The reader that requested it.
    /// - Returns: Nil for a post without a text or an author.
    func post(_ wire: XPost, in feed: Feed? = nil, for reader: XReader) -> ObservedPost? {
        guard let text = text(of: wire), let author = author(of: wire, for: reader) else {
            return nil
        }
        let createdAt = createdAt(wire)
        let post = Post(
            id: PostID(network: .x, value: wire.identity), author: author.account.id, text: text,
            createdAt: createdAt ?? now(), isTimeTrusted: createdAt != nil,
            replyTo: wire.isRepost ? nil : replyTarget(of: wire), isRepost: wire.isRepost,
            // Posts of a protected author must not be learned; an author counts as protected unless
            // X says otherwise.
            visibility: author.isProtected == false ? .public : .private,
            language: XText.language(wire.language),
            hasMedia: wire.hasMedia || links(of: wire).contains(where: \.isMedia),
            isSensitive: wire.isSensitive,
            mentions: mentions(of: wire), address: wire.id, isQuote: !wire.quotedIDs.isEmpty)
        return ObservedPost(
            post: post, author: author.account, address: wire.id, replyToAddress: wire.replyToID,
            isFavorited: feed == .favorites, conversation: wire.conversationID,
            replyNeedsApproval: refusesReplies(wire))
    }

    /// The author, and whether only followers see the author's posts.
    private func author(of wire: XPost, for reader: XReader) -> (
        account: Account, isProtected: Bool?
    )? {
        // In the newer spelling an own post has no field with its author's id.
        guard let id = wire.authorID ?? (reader == .own ? ownAccount.address : nil) else {
            return nil
        }
        if let user = users[id] { return (Self.account(user), user.isProtected) }
        if id == ownAccount.address { return (ownAccount, isOwnProtected) }
        guard reader == .learned else { return nil }
        // Only the id of a favorite's author is bought, so whether the account is protected is
        // unknown; it counts as public.
        let account = Account(id: AccountID(network: .x, value: id), handle: id, address: id)
        return (account, false)
    }

    // MARK: Text

    private func text(of wire: XPost) -> String? {
        guard let raw = wire.note?.text ?? wire.text else { return nil }
        let links = XLinkEntity.replacements(of: links(of: wire), quoting: wire.quotedIDs)
        let text = PlainText.fromX(raw, links: links)
        return wire.replyToID == nil ? text : XText.withoutLeadingMentions(text)
    }

    private func links(of wire: XPost) -> [XLinkEntity] {
        (wire.entities?.links ?? []) + (wire.note?.entities?.links ?? [])
    }

    private static func links(_ wire: XUser) -> [String: String] {
        let pairs = wire.descriptionLinks.compactMap { link in
            link.expanded.map { (link.short, $0) }
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Fields

    /// The time at which the post was first created, before any edit.
    private func createdAt(_ wire: XPost) -> Date? {
        guard let createdAt = wire.createdAt else { return XID.time(of: wire.identity) }
        guard wire.identity != wire.id, let firstTime = XID.time(of: wire.identity) else {
            return createdAt
        }
        return min(firstTime, createdAt)
    }

    private func replyTarget(of wire: XPost) -> ReplyTarget? {
        guard wire.replyToID != nil || wire.replyToAuthorID != nil else { return nil }
        return ReplyTarget(
            author: wire.replyToAuthorID.map { AccountID(network: .x, value: $0) },
            post: wire.replyToID.map { PostID(network: .x, value: $0) })
    }

    private func mentions(of wire: XPost) -> [AccountID] {
        var includedIDs: Set<String> = []
        let ids = (wire.entities?.mentionedIDs ?? []) + (wire.note?.entities?.mentionedIDs ?? [])
        return ids.filter { includedIDs.insert($0).inserted }.map {
            AccountID(network: .x, value: $0)
        }
    }

    /// Whether the author lets only some people answer, and the account of the credentials is not
    /// one of them.
    private func refusesReplies(_ wire: XPost) -> Bool {
        guard let settings = wire.replySettings, settings != "everyone",
            wire.authorID != ownAccount.address
        else {
            return false
        }
        return !mentions(of: wire).contains(ownAccount.id)
    }
}
