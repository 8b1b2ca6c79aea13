import Formats
import Foundation
import NetworkNames
import Posts

/// Converts entries of a Mastodon-compatible outbox to posts.
struct MastodonPostConverter {
    /// The owner of the outbox; `nil` while unknown.
    var owner: MastodonOwner?
    /// The host of the owner's name, if no actor gives it.
    let localHost: String?
    /// The number of the owner's posts that are remembered, to recognize replies to them.
    let maximumOwnPosts: Int
    private let now: Date
    private var ownPosts: Set<Int> = []

    /// - Parameter now: The present, the latest possible time of a post.
    init(localHost: String?, maximumOwnPosts: Int, now: Date) {
        self.localHost = localHost
        self.maximumOwnPosts = maximumOwnPosts
        self.now = now
    }

    /// Returns the created post; nil for one that not everybody may read.
    mutating func post(_ note: WireNote, in activity: WireActivity) throws(ItemFault) -> Post? {
        guard let id = FediversePost.identity(among: [note.id, note.url]) else {
            throw ItemFault("id is missing")
        }
        guard note.isContentReadable else { throw ItemFault("content has the wrong type") }
        let owner = try author(of: note, in: activity)
        var wire = FediversePost(identities: [id], author: owner.account)
        if ownPosts.count < maximumOwnPosts { ownPosts.insert(id.hashValue) }
        wire.audience = note.fields
        let places = [note.audience, activity.audience].filter { !$0.isEmpty }
        // Without addresses it is for the mentioned people only, whatever other fields say.
        if places.isEmpty { wire.audience.narrow(to: .direct) }
        for place in places {
            wire.audience.narrow(to: place.to, cc: place.cc, followers: owner.followers)
        }
        guard wire.audience.isOpen else { return nil }
        wire.written = note.published ?? activity.published
        wire.updated = note.updated.flatMap { Date(rfc3339: $0) }
        wire.content = note.content ?? ""
        wire.contentByLanguage = note.contentMap
        wire.warning = note.summary ?? ""
        wire.isSensitive = note.isSensitive
        wire.replyTo = replyTarget(note, owner)
        wire.mentions = note.mentions.compactMap { mention in
            owner.person(mention).map { person in
                FediversePost.Mention(
                    account: person, name: Self.fullName(mention, person),
                    addresses: [mention.href].compactMap(\.self))
            }
        }
        wire.hashtags = note.hashtags
        wire.isQuote = note.isQuote
        wire.attachments = note.attachments.map(\.picture)
        wire.hasPoll = note.isPoll
        let post = wire.post(now: now)
        return post?.isOpen == true ? post : nil
    }

    // MARK: Author

    private mutating func author(of note: WireNote, in activity: WireActivity) throws(ItemFault)
        -> MastodonOwner
    {
        let authors =
            note.attributedTo.isEmpty ? [activity.actor].compactMap(\.self) : note.attributedTo
        if owner == nil {
            owner = authors.first.flatMap { MastodonOwner(actor: $0, localHost: localHost) }
        }
        guard let owner else {
            throw ItemFault("nothing tells who made it; is actor.json missing?")
        }
        guard authors.isEmpty || authors.contains(owner.actor) else {
            throw ItemFault("somebody else made it")
        }
        return owner
    }

    /// `user@host` with the case in which the name is written.
    private static func fullName(_ mention: WireMention, _ person: AccountID) -> String {
        let written = (mention.name ?? "").drop { $0 == "@" }.prefix { $0 != "@" }
        let userName = person.value.prefix { $0 != "@" }
        return written.lowercased() == userName
            ? String(written + person.value.dropFirst(userName.count)) : person.value
    }

    // MARK: Reply

    private func replyTarget(_ note: WireNote, _ owner: MastodonOwner) -> ReplyTarget? {
        guard note.isReply else { return nil }
        guard let answered = note.inReplyTo.flatMap({ ActorAddress.isOneWord($0) ? $0 : nil })
        else {
            return ReplyTarget(author: note.mentions.first.flatMap(owner.person))
        }
        let post = PostID(network: .mastodon, value: answered)
        if answered.hasPrefix(owner.actor + "/") || ownPosts.contains(answered.hashValue) {
            return ReplyTarget(author: owner.account, post: post)
        }
        return ReplyTarget(
            author: person(behind: answered, among: note.mentions, owner), post: post)
    }

    /// The mentioned person whose post is answered: usually the address of a post begins like its
    /// author's.
    private func person(
        behind answered: String, among mentions: [WireMention], _ owner: MastodonOwner
    ) -> AccountID? {
        if let mention = mentions.first(where: {
            $0.href.map { answered.hasPrefix($0 + "/") } ?? false
        }) {
            return owner.person(mention)
        }
        let address = ActorAddress(answered)
        if let address, let user = address.user {
            if address.host == owner.actorHost, ActorAddress(owner.actor)?.user == user {
                return owner.account
            }
            let same = mentions.first { mention in
                guard let other = mention.href.flatMap(ActorAddress.init),
                    other.host == address.host
                else {
                    return false
                }
                return other.user == user || mention.name.flatMap(ActorAddress.name)?.user == user
            }
            if let same { return owner.person(same) }
        }
        let neighbour = mentions.first {
            $0.href.flatMap(ActorAddress.init)?.host == address?.host && address != nil
        }
        return (neighbour ?? mentions.first).flatMap(owner.person)
    }
}

/// An activity of an outbox of the Mastodon family.
///
/// Nearly every field may be missing; a field of another kind counts as missing.
struct WireActivity {
    let type: String?
    let actor: String?
    let published: String?
    let audience: WireAudience
    /// The post of the activity; `nil` if only its address is given.
    let note: WireNote?

    init(_ wire: JSON) throws(ItemFault) {
        let fields = try wire.object()
        type = fields["type"]?.nonEmptyText
        actor = fields.address("actor")
        published = fields["published"]?.nonEmptyText
        audience = WireAudience(fields)
        // Some servers list the post itself instead of its creation.
        let isPostItself = fields["object"] == nil && WireNote.isPost(type)
        note = isPostItself ? WireNote(fields) : fields["object"].flatMap(WireNote.init)
    }
}

/// The recipients of an activity or a post.
struct WireAudience {
    let to: [String]
    let cc: [String]

    var isEmpty: Bool { to.isEmpty && cc.isEmpty }

    init(_ fields: JSON) {
        to = fields.addresses("to")
        cc = fields.addresses("cc")
    }
}

/// A post in the form of ActivityPub.
struct WireNote {
    let id: String?
    let url: String?
    let type: String?
    let attributedTo: [String]
    let published: String?
    let updated: String?
    let audience: WireAudience
    /// The audience by all fields except the addresses.
    let fields: PostAudience
    let inReplyTo: String?
    /// Whether it is a reply, even to a post without an address.
    let isReply: Bool
    let content: String?
    /// Whether the content, if present, is text: unreadable content is not the same as none.
    let isContentReadable: Bool
    let contentMap: [String: String]
    /// The content warning.
    let summary: String?
    let isSensitive: Bool
    let attachments: [WireAttachment]
    let isPoll: Bool
    let mentions: [WireMention]
    /// The addresses of its hashtags.
    let hashtags: [String]
    /// Whether it names a quoted post.
    let isQuote: Bool

    /// The fields for the address of a quoted post: FEP-044f; Fedibird; Pleroma and Akkoma;
    /// Misskey.
    private static let quotes: [StaticString] = ["quote", "quoteUri", "quoteUrl", "_misskey_quote"]

    /// Nil if it is not an object.
    init?(_ fields: JSON) {
        guard fields.isObject else { return nil }
        id = fields["id"]?.nonEmptyText
        url = fields["url"]?.nonEmptyText
        type = fields["type"]?.nonEmptyText
        attributedTo = fields.addresses("attributedTo")
        published = fields["published"]?.nonEmptyText
        updated = fields["updated"]?.nonEmptyText
        audience = WireAudience(fields)
        self.fields = PostAudience(note: fields)
        inReplyTo = fields.address("inReplyTo")
        isReply = fields["inReplyTo"]?.text != nil || fields.namesSomething("inReplyTo")
        let written = fields["content"]
        content = written?.text ?? written?.integer.map(String.init)
        isContentReadable = content != nil || written?.isNull ?? true
        let versions = fields["contentMap"]?.members.compactMap { key, value in
            value.text.map { (key, $0) }
        }
        contentMap = Dictionary(versions ?? []) { first, _ in first }
        summary = fields["summary"]?.nonEmptyText
        isSensitive = fields.flag("sensitive")
        attachments = fields.entries("attachment").filter(\.isObject).map(WireAttachment.init)
            .filter { !$0.isCard }
        let choices: [StaticString] = ["oneOf", "anyOf"]
        isPoll =
            type == "Question"
            || choices.contains { fields[$0].map { $0.isList || $0.isObject } ?? false }
        let tags = fields.entries("tag")
        mentions = tags.compactMap(WireMention.init)
        hashtags = tags.compactMap { $0.is("Hashtag") ? $0["href"]?.nonEmptyText : nil }
        isQuote =
            Self.quotes.contains { fields.namesSomething($0) }
            || tags.contains(where: Self.isPostLink)
    }

    /// Whether a tag is a link to another post by FEP-e232, by its media type or its relation.
    private static func isPostLink(_ tag: JSON) -> Bool {
        guard tag.is("Link"), tag["href"]?.nonEmptyText != nil else { return false }
        let type = (tag["mediaType"]?.text ?? "").lowercased()
        let isPost =
            type.hasPrefix("application/activity+json")
            || type.hasPrefix("application/ld+json")
                && type.contains("https://www.w3.org/ns/activitystreams")
        return isPost || tag.entries("rel").contains { $0.text?.contains("quote") == true }
    }

    /// Whether an object of this type is a post.
    static func isPost(_ type: String?) -> Bool {
        ["Note", "Question", "Article", "Page"].contains { $0 == type }
    }
}

/// Somebody named in a post.
struct WireMention {
    /// The address of the person's actor.
    let href: String?
    /// `@user@host`, or `@user` for a person on the author's server.
    let name: String?

    /// Nil for a tag of another kind.
    init?(_ fields: JSON) {
        guard fields.is("Mention") else { return nil }
        href = fields["href"]?.nonEmptyText
        name = fields["name"]?.nonEmptyText
    }
}

extension JSON {
    /// The entries of a list, or a single value as a list of one.
    fileprivate func entries(_ key: StaticString) -> [JSON] {
        guard let value = self[key], !value.isNull else { return [] }
        return value.isList ? value.list : [value]
    }

    /// Addresses, each given directly or as the `id` of an object.
    fileprivate func addresses(_ key: StaticString) -> [String] {
        entries(key).compactMap { $0.text ?? $0["id"]?.text }
    }

    fileprivate func address(_ key: StaticString) -> String? {
        self[key].flatMap { $0.nonEmptyText ?? $0["id"]?.nonEmptyText }
    }

    /// Whether the value is an address, an object, or a list that contains one.
    fileprivate func namesSomething(_ key: StaticString) -> Bool {
        entries(key).contains { $0.nonEmptyText != nil || $0.isObject }
    }

    /// Whether the object has this type, alone or among others.
    fileprivate func `is`(_ type: String) -> Bool { entries("type").contains { $0.text == type } }

    /// `true`, 1, `"true"` or `"1"`, as the client API's flags are read.
    fileprivate func flag(_ key: StaticString) -> Bool {
        guard let value = self[key] else { return false }
        return value.truth ?? (value.integer.map { $0 == 1 } ?? ["1", "true"].contains(value.text))
    }
}
