import Foundation
import Posts

/// Makes posts of what the outbox of a server of the Mastodon family holds.
struct MastodonPostConverter {
    /// The names of the audience that is everybody.
    private static let everybody: Set<String> = ["https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public"]
    /// From the widest to the narrowest.
    private static let visibilities: [Visibility] = [.public, .unlisted, .private, .direct]
    /// A post names no more people than this in earnest.
    private static let maximumMentions = 100

    /// Whose outbox it is; nil while nothing has told.
    var owner: MastodonOwner?
    /// Completes the owner's name where no actor does.
    let localHost: String?
    /// How many of the owner's posts are remembered, to know an answer to one of them.
    let maximumOwnPosts: Int
    private var ownPosts: Set<Int> = []

    init(localHost: String?, maximumOwnPosts: Int) {
        self.localHost = localHost
        self.maximumOwnPosts = maximumOwnPosts
    }

    /// The post that was made; nil for one that not everybody may read.
    mutating func post(_ note: WireNote, in activity: WireActivity) throws(ItemFault) -> Post? {
        guard let id = [note.id, note.url].compactMap(\.self).first(where: ActorAddress.isOneWord) else {
            throw ItemFault("id is missing")
        }
        let owner = try author(of: note, in: activity)
        if ownPosts.count < maximumOwnPosts { ownPosts.insert(id.hashValue) }
        let visibility = self.visibility(note, in: activity, followers: owner.followers)
        guard visibility.isOpen else { return nil }
        guard let createdAt = (note.published ?? activity.published).flatMap({ Date(rfc3339: $0) }) else {
            throw ItemFault("published is missing or not a time")
        }
        let mentions = note.mentions.prefix(Self.maximumMentions)
        let content = Self.content(note)
        let warning = PlainText.cleaned(note.summary ?? "")
        return Post(
            id: PostID(network: .mastodon, value: id), author: owner.account,
            text: PlainText.fromHTML(content.html, mentions: Self.links(mentions, owner)), createdAt: createdAt,
            replyTo: replyTarget(note, owner), visibility: visibility, language: content.language,
            hasMedia: note.hasAttachments || note.isPoll,
            isSensitive: note.isSensitive || !warning.isEmpty, mentions: mentions.compactMap(owner.person),
            warning: warning.isEmpty ? nil : warning,
            pictures: Picture.all(note.attachments.map(\.picture), besides: note.isPoll))
    }

    // MARK: Author

    private mutating func author(of note: WireNote, in activity: WireActivity) throws(ItemFault) -> MastodonOwner {
        let authors = note.attributedTo.isEmpty ? [activity.actor].compactMap(\.self) : note.attributedTo
        if owner == nil { owner = authors.first.flatMap { MastodonOwner(actor: $0, localHost: localHost) } }
        guard let owner else { throw ItemFault("nothing tells who made it; is actor.json missing?") }
        guard authors.isEmpty || authors.contains(owner.actor) else { throw ItemFault("somebody else made it") }
        return owner
    }

    // MARK: Visibility

    /// The narrower of what the post and its sending say.
    private func visibility(_ note: WireNote, in activity: WireActivity, followers: String?) -> Visibility {
        let audiences = [note.audience, activity.audience].filter { !$0.isEmpty }
        let ranks = audiences.map { audience in
            Self.visibilities.firstIndex(of: Self.visibility(audience, followers: followers)) ?? 3
        }
        return ranks.max().map { Self.visibilities[$0] } ?? .direct
    }

    private static func visibility(_ audience: WireAudience, followers: String?) -> Visibility {
        if audience.to.contains(where: everybody.contains) { return .public }
        if audience.cc.contains(where: everybody.contains) { return .unlisted }
        let isForFollowers = (audience.to + audience.cc).contains { $0 == followers || $0.hasSuffix("/followers") }
        return isForFollowers ? .private : .direct
    }

    // MARK: Text

    /// The HTML, and the language if the post names just one for it.
    private static func content(_ note: WireNote) -> (html: String, language: String?) {
        let versions = note.contentMap.sorted { $0.key < $1.key }
        let same = versions.filter { $0.value == note.content }
        let chosen = same.count == 1 ? same.first : versions.count == 1 ? versions.first : nil
        return (note.content ?? versions.first?.value ?? "", chosen.flatMap { LanguageTag.naming($0.key) })
    }

    /// What stands for the links to the people named in the text.
    ///
    /// A post names people by the address of their actor, but its text links to their profile. Servers put that at one
    /// of a few places.
    private static func links(_ mentions: some Sequence<WireMention>, _ owner: MastodonOwner) -> [String: String] {
        var links: [String: String] = [:]
        for mention in mentions {
            guard let href = mention.href, let person = owner.person(mention) else { continue }
            let name = fullName(mention, person)
            links[href] = name
            guard let address = ActorAddress(href) else { continue }
            for user in Set([name, person.value, address.user ?? ""].map { $0.prefix { $0 != "@" } })
            where !user.isEmpty {
                for path in ["@\(user)", "users/\(user)", "\(user)"] {
                    let link = "https://\(address.host)/\(path)"
                    if links[link] == nil { links[link] = name }
                }
            }
        }
        return links
    }

    /// `user@host` with the case in which the name is written.
    private static func fullName(_ mention: WireMention, _ person: AccountID) -> String {
        let written = (mention.name ?? "").drop { $0 == "@" }.prefix { $0 != "@" }
        let known = person.value.prefix { $0 != "@" }
        return written.lowercased() == known ? String(written + person.value.dropFirst(known.count)) : person.value
    }

    // MARK: Reply

    private func replyTarget(_ note: WireNote, _ owner: MastodonOwner) -> ReplyTarget? {
        guard note.isReply else { return nil }
        guard let answered = note.inReplyTo.flatMap({ ActorAddress.isOneWord($0) ? $0 : nil }) else {
            return ReplyTarget(author: note.mentions.first.flatMap(owner.person))
        }
        let post = PostID(network: .mastodon, value: answered)
        if answered.hasPrefix(owner.actor + "/") || ownPosts.contains(answered.hashValue) {
            return ReplyTarget(author: owner.account, post: post)
        }
        return ReplyTarget(author: person(behind: answered, among: note.mentions, owner), post: post)
    }

    /// The mentioned person whose post is answered: the address of a post mostly begins like its author's.
    private func person(behind answered: String, among mentions: [WireMention], _ owner: MastodonOwner) -> AccountID? {
        if let mention = mentions.first(where: { $0.href.map { answered.hasPrefix($0 + "/") } ?? false }) {
            return owner.person(mention)
        }
        let address = ActorAddress(answered)
        if let address, let user = address.user {
            if address.host == owner.actorHost, ActorAddress(owner.actor)?.user == user { return owner.account }
            let same = mentions.first { mention in
                guard let other = mention.href.flatMap(ActorAddress.init), other.host == address.host else {
                    return false
                }
                return other.user == user || mention.name.flatMap(ActorAddress.name)?.user == user
            }
            if let same { return owner.person(same) }
        }
        let neighbour = mentions.first { $0.href.flatMap(ActorAddress.init)?.host == address?.host && address != nil }
        return (neighbour ?? mentions.first).flatMap(owner.person)
    }
}

/// One thing that somebody did, as the outbox of a server of the Mastodon family lists it.
///
/// Nearly every field may be missing; a field of another kind counts as missing.
struct WireActivity {
    let type: String?
    let actor: String?
    let published: String?
    let audience: WireAudience
    /// What was done it to; nil where only its address is given.
    let note: WireNote?

    init(_ wire: JSON) throws(ItemFault) {
        let fields = try wire.object()
        type = fields["type"]?.name
        actor = fields.address("actor")
        published = fields["published"]?.name
        audience = WireAudience(fields)
        // Some servers list the post itself and not that it was made.
        let isBare = fields["object"] == nil && WireNote.isPost(type)
        note = isBare ? WireNote(fields) : fields["object"].flatMap(WireNote.init)
    }
}

/// Whom something was sent to.
struct WireAudience {
    let to: [String]
    let cc: [String]

    var isEmpty: Bool { to.isEmpty && cc.isEmpty }

    init(_ fields: JSON) {
        to = fields.addresses("to")
        cc = fields.addresses("cc")
    }
}

/// A post as ActivityPub writes it.
struct WireNote {
    let id: String?
    let url: String?
    let type: String?
    let attributedTo: [String]
    let published: String?
    let audience: WireAudience
    let inReplyTo: String?
    /// Whether it answers something, even if that has no address.
    let isReply: Bool
    let content: String?
    let contentMap: [String: String]
    /// The content warning.
    let summary: String?
    let isSensitive: Bool
    var hasAttachments: Bool { !attachments.isEmpty }
    let attachments: [WireAttachment]
    let isPoll: Bool
    let mentions: [WireMention]

    /// Nil for what is no object.
    init?(_ fields: JSON) {
        guard fields.isObject else { return nil }
        id = fields["id"]?.name
        url = fields["url"]?.name
        type = fields["type"]?.name
        attributedTo = fields.addresses("attributedTo")
        published = fields["published"]?.name
        audience = WireAudience(fields)
        inReplyTo = fields.address("inReplyTo")
        isReply = fields["inReplyTo"]?.isNull == false
        content = fields["content"]?.name
        let versions = fields["contentMap"]?.members.compactMap { key, value in value.text.map { (key, $0) } }
        contentMap = Dictionary(versions ?? []) { first, _ in first }
        summary = fields["summary"]?.name
        isSensitive = fields["sensitive"]?.truth ?? false
        attachments = fields.entries("attachment").filter { !$0.isNull }.map(WireAttachment.init)
        isPoll = type == "Question" || fields["oneOf"] != nil || fields["anyOf"] != nil
        mentions = fields.entries("tag").compactMap(WireMention.init)
    }

    /// Whether a thing of this type is a post.
    static func isPost(_ type: String?) -> Bool {
        ["Note", "Question", "Article", "Page"].contains { $0 == type }
    }
}

/// Somebody named in a post.
struct WireMention {
    /// The address of the person's actor.
    let href: String?
    /// `@user@host`, or `@user` for somebody on the author's own server.
    let name: String?

    /// Nil for a tag of another kind.
    init?(_ fields: JSON) {
        guard fields["type"]?.text == "Mention" else { return nil }
        href = fields["href"]?.name
        name = fields["name"]?.name
    }
}

extension JSON {
    /// The entries of a list, or the one value that stands in place of a list of one.
    fileprivate func entries(_ key: StaticString) -> [JSON] {
        guard let value = self[key], !value.isNull else { return [] }
        return value.isList ? value.list : [value]
    }

    /// Addresses, each written alone or as the `id` of an object.
    fileprivate func addresses(_ key: StaticString) -> [String] {
        entries(key).compactMap { $0.text ?? $0["id"]?.text }
    }

    fileprivate func address(_ key: StaticString) -> String? {
        self[key].flatMap { $0.name ?? $0["id"]?.name }
    }
}
