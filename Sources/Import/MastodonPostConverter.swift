import Formats
import Foundation
import Localization
import NetworkNames
import Posts

/// Converts entries of a Mastodon-compatible outbox to posts.
struct MastodonPostConverter {
    /// The owner of the outbox; `nil` while unknown.
    var owner: MastodonOwner?
    /// The host of the owner's name, for an archive whose `actor.json` does not contain it.
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

    /// Returns the created post; nil for a post that not everybody may read.
    mutating func post(_ note: WireNote, in activity: WireActivity) throws(ItemFault) -> Post? {
        guard let id = FediversePost.identity(among: [note.id, note.url]) else {
            throw ItemFault(localized("id is missing"))
        }
        guard note.isContentReadable else {
            throw ItemFault(localized("content has the wrong type"))
        }
        let owner = try author(of: note, in: activity)
        var wire = FediversePost(identities: [id], author: owner.account)
        if ownPosts.count < maximumOwnPosts { ownPosts.insert(id.hashValue) }
        wire.audience = note.declaredAudience
        let audiences = [note.audience, activity.audience].filter { !$0.isEmpty }
        // A post without addresses is for the mentioned people only, whatever other fields contain.
        if audiences.isEmpty { wire.audience.narrow(to: .direct) }
        for audience in audiences {
            wire.audience.narrow(to: audience.to, cc: audience.cc, followers: owner.followers)
        }
        guard wire.audience.isOpen else { return nil }
        wire.written = note.published ?? activity.published
        wire.updated = note.updated.flatMap { Date(rfc3339: $0) }
        wire.content = note.content ?? ""
        wire.contentByLanguage = note.contentMap
        wire.warning = note.summary ?? ""
        wire.isSensitive = note.isSensitive
        wire.replyTo = replyTarget(of: note, by: owner)
        wire.mentions = note.mentions.compactMap { mention in
            owner.person(mention).map { person in
                FediversePost.Mention(
                    account: person, name: Self.fullName(of: mention, person: person),
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
            throw ItemFault(localized("nothing tells who made it; is actor.json missing?"))
        }
        guard authors.isEmpty || authors.contains(owner.actor) else {
            throw ItemFault(localized("somebody else made it"))
        }
        return owner
    }

    /// Returns `user@host`, with the user name in its written case.
    private static func fullName(of mention: WireMention, person: AccountID) -> String {
        let writtenName = (mention.name ?? "").drop { $0 == "@" }.prefix { $0 != "@" }
        let userName = person.value.prefix { $0 != "@" }
        return writtenName.lowercased() == userName
            ? String(writtenName + person.value.dropFirst(userName.count)) : person.value
    }

    // MARK: Reply

    private func replyTarget(of note: WireNote, by owner: MastodonOwner) -> ReplyTarget? {
        guard note.isReply else { return nil }
        guard
            let answeredAddress = note.inReplyTo.flatMap({ ActorAddress.isOneWord($0) ? $0 : nil })
        else {
            return ReplyTarget(author: note.mentions.first.flatMap(owner.person))
        }
        let post = PostID(network: .mastodon, value: answeredAddress)
        if answeredAddress.hasPrefix(owner.actor + "/")
            || ownPosts.contains(answeredAddress.hashValue)
        {
            return ReplyTarget(author: owner.account, post: post)
        }
        return ReplyTarget(
            author: person(answeredAt: answeredAddress, among: note.mentions, by: owner), post: post
        )
    }

    /// Returns the mentioned person whose post is answered.
    ///
    /// The address of a post usually begins with the address of its author. If no mentioned person
    /// has such an address, the result is the person with the user name in the address, else one on
    /// the same server, else the first mentioned person.
    private func person(
        answeredAt postAddress: String, among mentions: [WireMention], by owner: MastodonOwner
    ) -> AccountID? {
        if let mention = mentions.first(where: { mention in
            guard let href = mention.href else { return false }
            return postAddress.hasPrefix(href + "/")
        }) {
            return owner.person(mention)
        }
        let address = ActorAddress(postAddress)
        if let address, let user = address.user {
            if address.host == owner.actorHost, ActorAddress(owner.actor)?.user == user {
                return owner.account
            }
            let sameUser = mentions.first { mention in
                guard let mentioned = mention.href.flatMap(ActorAddress.init),
                    mentioned.host == address.host
                else {
                    return false
                }
                return mentioned.user == user
                    || mention.name.flatMap(ActorAddress.name)?.user == user
            }
            if let sameUser { return owner.person(sameUser) }
        }
        let sameHost = mentions.first {
            $0.href.flatMap(ActorAddress.init)?.host == address?.host && address != nil
        }
        return (sameHost ?? mentions.first).flatMap(owner.person)
    }
}

/// An activity of an outbox of the Mastodon family.
///
/// Nearly every field may be missing; a field with a value of another type counts as missing.
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
    /// The audience according to all fields except ``audience``.
    let declaredAudience: PostAudience
    let inReplyTo: String?
    /// Whether the post is a reply, even to a post without an address.
    let isReply: Bool
    let content: String?
    /// Whether the content is text or missing; false for content of another type.
    let isContentReadable: Bool
    let contentMap: [String: String]
    /// The content warning.
    let summary: String?
    let isSensitive: Bool
    let attachments: [WireAttachment]
    let isPoll: Bool
    let mentions: [WireMention]
    /// The addresses of the post's hashtags.
    let hashtags: [String]
    /// Whether the post names a quoted post.
    let isQuote: Bool

    /// The fields for the address of a quoted post, in this order: that of FEP-044f, of Fedibird,
    /// of Pleroma and Akkoma, and of Misskey.
    private static let quoteFields: [StaticString] = [
        "quote", "quoteUri", "quoteUrl", "_misskey_quote",
    ]

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
        declaredAudience = PostAudience(note: fields)
        inReplyTo = fields.address("inReplyTo")
        isReply = fields["inReplyTo"]?.text != nil || fields.holdsReference("inReplyTo")
        let contentField = fields["content"]
        content = contentField?.text ?? contentField?.integer.map(String.init)
        let isContentMissing = contentField == nil || contentField?.isNull == true
        isContentReadable = content != nil || isContentMissing
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
            || choices.contains { name in
                fields[name]?.isList == true || fields[name]?.isObject == true
            }
        let tags = fields.entries("tag")
        mentions = tags.compactMap(WireMention.init)
        hashtags = tags.compactMap { $0.is("Hashtag") ? $0["href"]?.nonEmptyText : nil }
        isQuote =
            Self.quoteFields.contains { fields.holdsReference($0) }
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

/// A person whom a post mentions.
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
    fileprivate func holdsReference(_ key: StaticString) -> Bool {
        entries(key).contains { $0.nonEmptyText != nil || $0.isObject }
    }

    /// Whether the object has this type, alone or among others.
    fileprivate func `is`(_ type: String) -> Bool { entries("type").contains { $0.text == type } }

    /// Whether the value is `true`, 1, `"true"` or `"1"`, as for flags in answers of the client
    /// API.
    fileprivate func flag(_ key: StaticString) -> Bool {
        guard let value = self[key] else { return false }
        if let truth = value.truth { return truth }
        if let number = value.integer { return number == 1 }
        return ["1", "true"].contains(value.text)
    }
}
