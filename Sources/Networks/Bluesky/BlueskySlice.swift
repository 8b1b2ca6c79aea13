import Foundation
import Posts

/// A page of a feed as a server sent it.
struct BlueskySlice: Sendable {
    /// One item.
    struct Entry: Sendable {
        var mark: BlueskyMark
        var content: Content
    }

    /// What an item is.
    enum Content: Sendable {
        /// A post of the account itself.
        case record(RecordReference, BlueskyPostRecord)
        /// A post with all that the server knows about it.
        case view(BlueskyPostView, isRepost: Bool)
        case notification(BlueskyNotification, BlueskyProfile, BlueskyPostRecord)
        /// The post that a favorite is about.
        case favorite(RecordReference)
        /// Something that the feed is not about.
        case other
        case unreadable
    }

    var entries: [Entry]
    /// Items that do not even tell what they are called.
    var nameless = 0
    /// Where the server goes on; nil at the end.
    var place: String?
    var rateLimit: RateLimit?
}

extension BlueskySlice.Entry {
    /// Nil for a record of another account.
    init?(_ listed: BlueskyListedRecord<BlueskyPostRecord>, of did: String) {
        let address = listed.reference.address
        guard address.repository == did, address.isPost else { return nil }
        mark = BlueskyMark(address.key, order: address.key)
        content = listed.value.map { .record(listed.reference, $0) } ?? .unreadable
    }

    /// Nil for a record of another account.
    init?(_ listed: BlueskyListedRecord<BlueskyLikeRecord>, of did: String) {
        let address = listed.reference.address
        guard address.repository == did, address.collection == RecordAddress.likeCollection else { return nil }
        mark = BlueskyMark(address.key, order: address.key)
        guard let subject = listed.value?.subject else {
            content = .unreadable
            return
        }
        // People like lists and feeds too.
        content = subject.address.isPost ? .favorite(subject) : .other
    }

    /// A server puts an item where its author dates it, but not into the future.
    init(_ item: BlueskyFeedItem, seenAt now: Date) {
        let uri = item.post.reference.address.uri
        let indexed = item.post.indexedAt ?? now
        let time = min(item.post.record.createdAt ?? indexed, indexed)
        switch item.reason {
        case .repost(let person, let at):
            mark = BlueskyMark("\(uri) by \(person ?? "")", at: at ?? time)
            content = .view(item.post, isRepost: true)
        case .pin:
            mark = BlueskyMark("\(uri) on top", at: time)
            content = .other
        case .other, nil:
            mark = BlueskyMark(uri, at: time)
            content = .view(item.post, isRepost: false)
        }
    }

    /// A reply to one of the account's posts is how people answer it; what they say to each other below is theirs.
    init(_ notification: BlueskyNotification, to did: String, seenAt now: Date) {
        mark = BlueskyMark(notification.reference.address.uri, at: notification.indexedAt ?? now)
        let parent = notification.record?.reply?.parent.address.repository
        let isWanted = notification.reason == "mention" || notification.reason == "reply" && parent == did
        guard isWanted || notification.reason == "reply" && notification.record == nil else {
            content = .other
            return
        }
        guard let author = notification.author, let record = notification.record,
            notification.reference.address.isPost
        else {
            content = .unreadable
            return
        }
        content = .notification(notification, author, record)
    }
}

/// A list as the wire has it, whatever it is called.
struct BlueskyList<Element: Decodable & Sendable>: Decodable {
    /// Nil for what is not an element.
    let elements: [Element?]
    let cursor: String?

    private enum CodingKeys: CodingKey {
        case records, feed, notifications, cursor
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let names: [CodingKeys] = [.records, .feed, .notifications]
        guard let name = names.first(where: container.isPresent) else { throw BlueskyShapeError() }
        elements = try container.decode([LenientElement<Element>].self, forKey: name).map(\.value)
        cursor = container.text(.cursor).flatMap { (1...BlueskyCursor.maximumPlace).contains($0.utf8.count) ? $0 : nil }
    }
}
