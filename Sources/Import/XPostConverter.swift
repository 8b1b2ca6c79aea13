import Foundation
import Posts

/// Makes posts of what an archive of X holds.
struct XPostConverter {
    /// The account that the archive belongs to.
    var owner: AccountID
    var notes: XNoteTexts

    /// The post, and whether its text was completed from the long texts.
    func post(_ wire: XWirePost) throws(ItemFault) -> (post: Post, isCompleted: Bool) {
        let id = try Self.id(wire.id, field: "id_str")
        guard let text = wire.text else { throw ItemFault("full_text is missing") }
        let time = try Self.time(id: id, written: wire.createdAt)
        let note = notes.text(of: text, createdAt: time.date)
        let isRepost = wire.isRepost || Self.isRepost(text)
        let post = Post(
            id: PostID(network: .x, value: String(id)), author: owner,
            text: note ?? PlainText.fromX(text, links: Self.links(wire)),
            createdAt: time.date, isTimeTrusted: time.isTrusted,
            replyTo: isRepost ? nil : Self.replyTarget(wire, text: text), isRepost: isRepost, visibility: .public,
            language: Self.language(wire.language), hasMedia: !wire.media.isEmpty, isSensitive: wire.isSensitive,
            mentions: wire.mentions.compactMap(\.id).map { AccountID(network: .x, value: $0) },
            // X calls a post by its identity, so one from an archive can be asked for too.
            address: String(id))
        return (post, note != nil)
    }

    /// A decimal id as a number, so that one post has one spelling.
    static func id(_ text: String?, field: String) throws(ItemFault) -> UInt64 {
        guard let text else { throw ItemFault("\(field) is missing") }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let id = UInt64(text) else {
            throw ItemFault("\(field) is not a number")
        }
        return id
    }

    // MARK: Time

    /// The first id that carries its own time; the ids before it counted up.
    private static let firstTimedID: UInt64 = 29_700_859_247
    /// 2010-11-04T01:42:54.657Z, at which the times in ids begin.
    private static let epochMilliseconds: Int64 = 1_288_834_974_657

    /// When the post was made.
    ///
    /// The id knows better than `created_at`, which is off by up to a day in some archives. Before November 2010 ids
    /// hold no time, and some archives write midnight for every post of those years.
    static func time(id: UInt64, written: String?) throws(ItemFault) -> (date: Date, isTrusted: Bool) {
        if id >= firstTimedID {
            return (Date(milliseconds: Int64(id >> 22) + epochMilliseconds), true)
        }
        guard let written else { throw ItemFault("created_at is missing") }
        guard let date = Date(xTimestamp: written) else { throw ItemFault("created_at is not a date") }
        return (date, date.milliseconds % 86_400_000 != 0)
    }

    // MARK: Text

    /// The archive marks reposts in no other way: its field `retweeted` is always false.
    static func isRepost(_ text: String) -> Bool {
        guard text.hasPrefix("RT @") else { return false }
        let name = text.utf8.dropFirst(4).prefix { $0 == UInt8(ascii: "_") || isAlphanumeric($0) }
        return !name.isEmpty && text.utf8[name.endIndex...].first == Byte.colon
    }

    /// What stands for each shortened address: nothing for those that only point to the post's own pictures.
    private static func links(_ wire: XWirePost) -> [String: String] {
        var links = self.links(wire.links)
        for medium in wire.media {
            if let short = medium.short { links[short] = "" }
        }
        return links
    }

    static func links(_ wire: [XWireLink]) -> [String: String] {
        var links: [String: String] = [:]
        for link in wire {
            if let short = link.short, let expanded = link.expanded { links[short] = expanded }
        }
        return links
    }

    // MARK: Fields

    private static func replyTarget(_ wire: XWirePost, text: String) -> ReplyTarget? {
        let post = wire.replyToPost.map { PostID(network: .x, value: $0) }
        if let user = wire.replyToUser {
            return ReplyTarget(author: AccountID(network: .x, value: user), post: post)
        }
        if post != nil || wire.replyToName != nil { return ReplyTarget(author: nil, post: post) }
        // The fields are gone when the answered post or account is; the leading name tells it all the same.
        guard text.hasPrefix("@"), let next = text.utf8.dropFirst().first, isAlphanumeric(next) || next == 0x5F else {
            return nil
        }
        let first = wire.mentions.first { $0.start == "0" }?.id
        return ReplyTarget(author: first.map { AccountID(network: .x, value: $0) })
    }

    /// The language, unless X did not know it.
    private static func language(_ tag: String?) -> String? {
        // `qam` to `qst` say why there is no language, as `und` and `zxx` do.
        guard let tag, !(tag.count == 3 && tag.hasPrefix("q")) else { return nil }
        return LanguageTag.naming(tag == "in" ? "id" : tag == "iw" ? "he" : tag)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
