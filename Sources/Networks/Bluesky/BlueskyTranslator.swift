import Foundation
import Posts

/// Makes posts and accounts of ours from what a server sent.
struct BlueskyTranslator {
    /// How far a date may be ahead of the clock and still be believed, in seconds.
    private static let clockMargin: TimeInterval = 600

    let now: Date

    /// The account that `wire` stands for; `bio` is its profile text, where `wire` does not hold that.
    func account(_ wire: BlueskyProfile, bio: String? = nil) -> Account {
        Account(
            id: AccountID(network: .bluesky, value: wire.did), handle: wire.handle,
            displayName: PlainText.cleaned(wire.displayName), isBot: wire.isBot,
            bio: PlainText.cleaned(wire.description ?? bio ?? ""), address: wire.did)
    }

    /// A post that a server shows.
    ///
    /// Who asks to be shown only to people who are logged in gets posts that are ``Visibility/private``, so that they
    /// are neither learned nor repeated.
    func post(_ view: BlueskyPostView, isRepost: Bool = false, bio: String? = nil) -> ObservedPost {
        var observed = post(
            view.reference, view.record, by: account(view.author, bio: bio), noticedAt: view.indexedAt,
            visibility: view.author.hidesFromStrangers ? .private : .public)
        observed.post.isRepost = isRepost
        observed.post.isSensitive = observed.post.isSensitive || view.isSensitive
        observed.isFavorited = view.isFavorited ?? false
        observed.replyNeedsApproval = view.isReplyDisabled || view.author.isBlocked
        observed.favoriteNeedsApproval = view.author.isBlocked
        return observed
    }

    /// The post that a record stands for.
    ///
    /// - Parameters:
    ///   - reference: What the record is called.
    ///   - record: The record.
    ///   - author: Who wrote it.
    ///   - noticedAt: When a server first saw it; nil where only the record is known.
    ///   - visibility: Everything is public; what its author wants to keep from strangers is private for us.
    /// - Returns: The post, as far as the record tells.
    func post(
        _ reference: RecordReference, _ record: BlueskyPostRecord, by author: Account, noticedAt: Date?,
        visibility: Visibility = .public
    ) -> ObservedPost {
        let address = reference.address
        let time = time(of: record, address, noticedAt: noticedAt)
        var named: Set<String> = []
        let mentions = record.facets.flatMap(\.mentions).filter { named.insert($0).inserted }
        let post = Post(
            id: PostID(network: .bluesky, value: address.uri), author: author.id, text: text(of: record),
            createdAt: time.date, isTimeTrusted: time.isTrusted,
            replyTo: replyTarget(of: record),
            visibility: visibility, language: record.languages.first(where: LanguageTag.isWellFormed),
            hasMedia: record.hasMedia, isSensitive: record.isSensitive,
            mentions: mentions.map { AccountID(network: .bluesky, value: $0) }, address: reference.text)
        return ObservedPost(
            post: post, author: author, address: reference.text, replyToAddress: record.reply?.parent.text,
            conversation: record.isReply ? record.reply?.root.address.uri : address.uri)
    }

    /// A reply whose person cannot be told is a reply still.
    private func replyTarget(of record: BlueskyPostRecord) -> ReplyTarget? {
        guard record.isReply else { return nil }
        let parent = record.reply?.parent.address
        return ReplyTarget(
            author: parent.map { AccountID(network: .bluesky, value: $0.repository) },
            post: parent.map { PostID(network: .bluesky, value: $0.uri) })
    }

    private func text(of record: BlueskyPostRecord) -> String {
        PlainText.fromBluesky(
            record.text,
            facets: record.facets.map { BlueskyFacet(byteStart: $0.start, byteEnd: $0.end, link: $0.links.first) })
    }

    /// When a post was written: its author says so, but it cannot have been after a server saw it.
    private func time(
        of record: BlueskyPostRecord, _ address: RecordAddress, noticedAt: Date?
    ) -> (date: Date, isTrusted: Bool) {
        let latest = min(noticedAt ?? now, now)
        guard let date = record.createdAt else {
            let keyed = noticedAt == nil ? TimestampID(address.key)?.date : nil
            return (min(keyed ?? latest, latest), false)
        }
        return (min(date, latest), date <= latest + Self.clockMargin)
    }
}
