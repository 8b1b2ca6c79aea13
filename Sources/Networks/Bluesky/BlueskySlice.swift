import Foundation
import Posts

/// A page of a feed as a server sent it.
struct BlueskySlice: Sendable {
    /// One item.
    struct Entry: Sendable {
        var mark: BlueskyMark
        var content: Content
        /// Tells an item that cannot be read from others.
        var digest = ""

        init(mark: BlueskyMark, content: Content) {
            (self.mark, self.content) = (mark, content)
        }
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
        /// What calls name the post by, where it tells; and why it cannot be read.
        case unreadable(address: String?, cause: String)
    }

    var entries: [Entry]
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
        content =
            listed.value.map { .record(listed.reference, $0) }
            ?? .unreadable(address: listed.reference.text, cause: "its record is not as posts are")
    }

    /// Nil for a record of another account.
    init?(_ listed: BlueskyListedRecord<BlueskyLikeRecord>, of did: String) {
        let address = listed.reference.address
        guard address.repository == did, address.collection == RecordAddress.likeCollection else { return nil }
        mark = BlueskyMark(address.key, order: address.key)
        guard let subject = listed.value?.subject else {
            content = .unreadable(address: nil, cause: "the favorite does not tell of what")
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
            content = .unreadable(
                address: notification.reference.address.isPost ? notification.reference.text : nil,
                cause: notification.author == nil ? "its author cannot be told" : "its record is not as posts are")
            return
        }
        content = .notification(notification, author, record)
    }
}

extension BlueskySlice {
    /// - Parameters:
    ///   - list: What a server sent.
    ///   - body: The same as it came.
    ///   - rateLimit: What the server said with it.
    ///   - entry: Makes an entry of an element; nil for what does not belong there.
    init<Element>(
        _ list: BlueskyList<Element>, in body: [UInt8], rateLimit: RateLimit?, _ entry: (Element) -> Entry?
    ) {
        let known = list.elements.map { $0.value.flatMap(entry) }
        self.init(entries: [], place: list.cursor, rateLimit: rateLimit)
        let isWhole = known.allSatisfy { $0?.isReadable == true }
        let digests = isWhole ? [] : JSONBody.digests(of: body, under: list.name)
        // What does not tell its place stands where its neighbors do.
        var order = known.lazy.compactMap { $0?.mark.order }.first ?? ""
        for (index, element) in list.elements.enumerated() {
            let digest = digests.indices.contains(index) ? digests[index] : ""
            let address = element.reference?.address
            var new =
                known[index]
                ?? Entry(
                    mark: BlueskyMark(address?.uri ?? digest, order: order),
                    content: .unreadable(
                        address: address?.isPost == true ? element.reference?.text : nil,
                        cause: "it is not as the feed's items are"))
            if !new.isReadable { new.digest = digest }
            order = new.mark.order
            entries.append(new)
        }
    }

    /// The one item of a page that is too large to be read; nil if the beginning does not tell where the feed goes on.
    ///
    /// - Parameters:
    ///   - body: The beginning of the page.
    ///   - rateLimit: What the server said with it.
    init?(beginning body: [UInt8], rateLimit: RateLimit?) {
        let values = JSONBeginning(body).values
        let paths = [["records", "0"], ["notifications", "0"], ["feed", "0", "post"]]
        let reference = paths.lazy
            .compactMap { RecordReference(uri: values[$0 + ["uri"]], cid: values[$0 + ["cid"]]) }.first
        let record = values[["records", "0", "uri"]].flatMap { RecordAddress($0) }
        // The place below a record is called as the record is.
        guard let place = values[["cursor"]] ?? record?.key, (1...BlueskyCursor.maximumPlace).contains(place.utf8.count)
        else { return nil }
        var entry = Entry(
            mark: BlueskyMark(reference?.address.uri ?? place, order: record?.key ?? ""),
            content: .unreadable(
                address: reference?.address.isPost == true ? reference?.text : nil,
                cause: "it is larger than an answer may be"))
        entry.digest = JSONBody.digest((reference?.text ?? place).utf8)
        self.init(entries: [entry], place: place, rateLimit: rateLimit)
    }
}

extension BlueskySlice.Entry {
    fileprivate var isReadable: Bool {
        if case .unreadable = content { false } else { true }
    }
}

/// A list as the wire has it, whatever it is called.
struct BlueskyList<Element: Decodable & Sendable>: Decodable {
    /// One element.
    struct Item: Decodable {
        /// Nil for what is not an element.
        let value: Element?
        /// What the element is about, even where the rest cannot be read.
        let reference: RecordReference?

        private enum CodingKeys: CodingKey {
            case post
        }

        init(from decoder: any Decoder) throws {
            value = try? Element(from: decoder)
            guard value == nil else {
                reference = nil
                return
            }
            let container = try? decoder.container(keyedBy: CodingKeys.self)
            reference = container?.value(RecordReference.self, .post) ?? (try? RecordReference(from: decoder))
        }
    }

    let elements: [Item]
    /// What the list is called.
    let name: String
    let cursor: String?

    private enum CodingKeys: CodingKey {
        case records, feed, notifications, cursor
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let names: [CodingKeys] = [.records, .feed, .notifications]
        guard let name = names.first(where: container.isPresent) else { throw BlueskyShapeError() }
        elements = try container.decode([Item].self, forKey: name)
        self.name = name.stringValue
        cursor = container.text(.cursor).flatMap { (1...BlueskyCursor.maximumPlace).contains($0.utf8.count) ? $0 : nil }
    }
}
