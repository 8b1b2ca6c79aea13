package import Foundation
import NetworkNames
package import Posts

/// The record of a post on Bluesky, from a server, a saved page or a repository.
///
/// Its fields are those of the lexicon `app.bsky.feed.post`.
package struct BlueskyPostRecord: Sendable {
    package let text: String
    /// The time of writing, as text in the record.
    package let written: String?
    /// A BCP 47 language tag.
    package let language: String?
    package let facets: [Facet]
    package let isReply: Bool
    /// The references that a reply to this conversation needs; `nil` if the record has none.
    package let reply: Reply?
    /// The answered post, if the record names it.
    package let answered: RecordAddress?
    package let hasMedia: Bool
    /// Whether it quotes somebody's post.
    package let isQuote: Bool
    /// The attached images, `nil` for each that cannot be read; empty if the attachment has no
    /// images.
    package let images: [BlueskyImage?]
    /// The labels with which the author warns of the content, separated by spaces; nil if there are
    /// none.
    package let warning: String?
    /// Everybody, unless the author's labels say otherwise.
    package let audience: PostAudience

    /// A part of the text that is a link, a mention or a tag.
    package struct Facet: Sendable {
        package let start: Int
        package let end: Int
        package let link: String?
        /// The DIDs of the accounts that it names.
        package let mentions: [String]

        /// Nil if its position is missing.
        init?(_ wire: some WireFields) {
            let index = wire.child("index")
            guard let start = index?.number("byteStart"), let end = index?.number("byteEnd") else {
                return nil
            }
            self.start = start
            self.end = end
            let features = wire.children("features")
            func targets(_ kind: String, _ name: StaticString) -> [String] {
                features.filter { $0.text("$type") == "app.bsky.richtext.facet#\(kind)" }
                    .compactMap { $0.text(name) }
            }
            link = targets("link", "uri").first
            mentions = targets("mention", "did").filter { BlueskyName.isDID($0) }
        }
    }

    /// The posts that a reply refers to.
    package struct Reply: Hashable, Sendable {
        /// The first post of the conversation.
        package let root: RecordReference
        package let parent: RecordReference

        package init(root: RecordReference, parent: RecordReference) {
            self.root = root
            self.parent = parent
        }

        /// `nil` if the record names neither post; if it names only one, that is used for both.
        init?(_ wire: some WireFields) {
            let root = wire.child("root").flatMap { RecordReference($0) }
            let parent = wire.child("parent").flatMap { RecordReference($0) }
            guard let parent = parent ?? root else { return nil }
            self.init(root: root ?? parent, parent: parent)
        }
    }

    /// The kinds of embeds that are not needed to understand the text: link cards, but not quoted
    /// posts, which the text is about.
    private static let plainEmbeds: Set<String> = ["app.bsky.embed.external"]
    /// Labels that are not warnings.
    private static let harmlessLabels: Set<String> = ["", "bot", "!no-unauthenticated"]

    /// - Throws: ``ItemFault`` if the text cannot be read.
    package init(_ wire: some WireFields) throws(ItemFault) {
        let text = wire.text("text")
        // A text of another type is a fault, unlike a missing text.
        guard text != nil || !wire.isPresent("text") else {
            throw ItemFault("text has the wrong type")
        }
        self.text = text ?? ""
        written = wire.text("createdAt")
        language = wire.texts("langs")?.first(where: LanguageTag.namesLanguage)
        facets = wire.children("facets").compactMap { Facet($0) }
        isReply = wire.isPresent("reply")
        let reply = wire.child("reply")
        self.reply = reply.flatMap { Reply($0) }
        answered = reply?.child("parent")?.text("uri").flatMap { RecordAddress($0) }
        let embed = wire.child("embed")
        let kind = embed?.text("$type")
        images = BlueskyImage.all(in: embed)
        isQuote = kind?.hasPrefix("app.bsky.embed.record") ?? false
        // An unknown embed counts as media: without it the text may make no sense.
        hasMedia = wire.isPresent("embed") && !Self.plainEmbeds.contains(kind ?? "")
        // A numeric value is not a label.
        let labels = (wire.child("labels")?.children("values") ?? []).compactMap {
            $0.string("val")
        }
        var audience = PostAudience()
        audience.narrow(to: .public)
        audience.narrow(byLabels: labels)
        self.audience = audience
        let warnings = labels.filter { !Self.harmlessLabels.contains($0) }
        warning = warnings.isEmpty ? nil : warnings.joined(separator: " ")
    }

    /// The time of writing; nil if it is missing or has no zone.
    package var createdAt: Date? { written.flatMap { Date(rfc3339: $0) } }

    /// Converts the record to a post of the common model.
    ///
    /// - Parameters:
    ///   - address: The address of the record.
    ///   - noticedAt: The time at which a server first saw the post; nil if it is unknown.
    ///   - now: The present, the latest possible time of a post.
    ///   - visibility: The visibility of the author's posts.
    package func post(
        at address: RecordAddress, by author: AccountID, noticedAt: Date? = nil, now: Date,
        visibility: Visibility = .public
    ) -> Post {
        // A server's time is more reliable than the time in the key, which the author's program
        // chooses.
        let timeInKey = noticedAt == nil ? TimestampID(address.key)?.date : nil
        let time = PostTime(written, keyed: timeInKey, noticedAt: min(noticedAt ?? now, now))
        let plainText = PlainText.read(
            text,
            facets: facets.map { TextFacet(byteStart: $0.start, byteEnd: $0.end, link: $0.link) })
        var distinctMentions: Set<String> = []
        let mentions = facets.flatMap(\.mentions).filter { distinctMentions.insert($0).inserted }
        var audience = audience
        audience.narrow(to: visibility)
        var post = Post(
            id: PostID(network: .bluesky, value: address.uri), author: author, text: plainText.text,
            createdAt: time.date, isTimeTrusted: time.isTrusted, replyTo: replyTarget,
            visibility: audience.visibility, language: language, hasMedia: hasMedia,
            isSensitive: warning != nil,
            mentions: mentions.map { AccountID(network: .bluesky, value: $0) }, warning: warning,
            utcOffset: time.isTrusted ? written.flatMap { Date.utcOffset(rfc3339: $0) } : nil,
            isQuote: isQuote)
        post.linkWords = plainText.linkWords
        return post
    }

    /// The answered post and its author, as far as they are known; `nil` only if the post is not a
    /// reply.
    private var replyTarget: ReplyTarget? {
        guard isReply else { return nil }
        return ReplyTarget(
            author: answered.map { AccountID(network: .bluesky, value: $0.repository) },
            post: answered.map { PostID(network: .bluesky, value: $0.uri) })
    }
}

/// A file that a record refers to.
package struct BlueskyBlob: Sendable, Equatable {
    /// The digest by which the file is identified.
    package let cid: String

    /// Nil if `cid` cannot be a digest.
    package init?(cid: String?) {
        guard let cid, BlueskyName.isDigest(cid) else { return nil }
        self.cid = cid
    }
}

/// A picture in a record.
package struct BlueskyImage: Sendable, Equatable {
    package let blob: BlueskyBlob
    package let alt: String
    package let width: Int?
    package let height: Int?

    /// Nil if the object names no file.
    private init?(_ wire: some WireFields) {
        let reference = wire.child("image")?.child("ref")
        guard let blob = BlueskyBlob(cid: reference?.string("$link")) else { return nil }
        self.blob = blob
        alt = wire.text("alt") ?? ""
        width = wire.child("aspectRatio")?.number("width")
        height = wire.child("aspectRatio")?.number("height")
    }

    /// Returns the images in a post's embed; none for an embed of another kind.
    static func all(in embed: (some WireFields)?) -> [BlueskyImage?] {
        guard let embed, embed.text("$type") == "app.bsky.embed.images" else { return [] }
        return embed.children("images").map { BlueskyImage($0) }
    }
}
