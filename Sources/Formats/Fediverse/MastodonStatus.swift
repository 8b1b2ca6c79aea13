package import Foundation
package import Posts

/// An account in the form of Mastodon's API.
package struct MastodonAccount: Sendable {
    package let id: String
    /// `user` for accounts of the server itself, `user@host` for others.
    package let acct: String
    package let displayName: String
    /// The profile's text as HTML.
    package let note: String
    package let fields: [Field]
    package let isBot: Bool
    /// The addresses of the profile and of the actor.
    package let addresses: [String]

    /// A row of the profile's table.
    package struct Field: Sendable {
        package let name: String
        /// The content of the row as HTML.
        package let value: String
    }

    /// Nil if the id or the name is missing.
    package init?(_ wire: some WireFields) {
        guard let id = wire.identifier("id"),
            let acct = wire.identifier("acct") ?? wire.identifier("username"), Self.isName(acct)
        else { return nil }
        self.id = id
        self.acct = acct
        displayName = wire.text("display_name") ?? ""
        note = wire.text("note") ?? ""
        fields = wire.children("fields").map { row in
            Field(name: row.text("name") ?? "", value: row.text("value") ?? "")
        }
        // A group account publishes automatically.
        isBot = wire.flag("bot") == true || wire.flag("group") == true
        addresses = [wire.nonEmptyText("url"), wire.nonEmptyText("uri")].compactMap(\.self)
    }

    /// The profile's text and table, in which people opt out of bots.
    package var bio: String {
        let rows = fields.map { "\(PlainText.cleaned($0.name)): \(PlainText.fromHTML($0.value))" }
        return PlainText.cleaned(([PlainText.fromHTML(note)] + rows).joined(separator: "\n"))
    }

    /// Whether `acct` is `user` or `user@host`.
    package static func isName(_ acct: String) -> Bool {
        let parts = acct.split(separator: "@", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty }
    }
}

/// A person named in a post.
package struct MastodonMention: Sendable {
    package let id: String?
    package let acct: String
    package let url: String?

    /// Nil if the name is missing.
    init?(_ wire: some WireFields) {
        guard let acct = wire.identifier("acct") ?? wire.identifier("username"),
            MastodonAccount.isName(acct)
        else { return nil }
        self.acct = acct
        id = wire.identifier("id")
        url = wire.nonEmptyText("url")
    }
}

/// A post in the form of Mastodon's API, requested or saved.
///
/// Its fields are those of docs.joinmastodon.org/entities/Status, and fields that other programs
/// add.
package struct MastodonStatus: Sendable {
    package let id: String
    package let uri: String?
    package let url: String?
    /// The time of publication, as text in the answer.
    package let written: String?
    package let editedAt: Date?
    package let account: MastodonAccount?
    /// The content as HTML.
    package let content: String
    /// The text without HTML, which Pixelfed returns for some captions.
    package let caption: String?
    package let spoilerText: String
    package let audience: PostAudience
    package let language: String?
    package let inReplyToID: String?
    package let inReplyToAccountID: String?
    /// The account name of the answered person; sent by Pleroma and its descendants.
    package let inReplyToAccountName: String?
    /// The answered post and its author, sent by Friendica.
    package let inReplyTo: Answered?
    package let mentions: [MastodonMention]
    /// The addresses of its hashtags.
    package let hashtags: [String]
    /// The attached pictures, `nil` for each attachment that is not a still picture.
    package let attachments: [Picture?]
    package let hasPoll: Bool
    /// Whether it contains a post that it quotes.
    package let isQuote: Bool
    package let isSensitive: Bool
    package let isReblog: Bool
    package let isFavourited: Bool
    /// The author's client program.
    package let client: String?
    package let interactionPolicy: MastodonInteractionPolicy?

    /// The answered post, if a server includes it.
    package struct Answered: Sendable {
        package let id: String
        package let account: MastodonAccount

        init?(_ wire: some WireFields) {
            guard let id = wire.identifier("id"),
                let account = wire.child("account").flatMap({ MastodonAccount($0) })
            else { return nil }
            self.id = id
            self.account = account
        }
    }

    /// - Throws: ``ItemFault`` if the id is missing, or the text cannot be read.
    package init(_ wire: some WireFields) throws(ItemFault) {
        guard let id = wire.identifier("id") else { throw ItemFault("id is missing") }
        self.id = id
        uri = wire.text("uri")
        url = wire.text("url")
        written = wire.text("created_at")
        editedAt = wire.text("edited_at").flatMap { Date(rfc3339: $0) }
        account = wire.child("account").flatMap { MastodonAccount($0) }
        let content = wire.text("content")
        // A text of another type is a fault, unlike a missing text.
        guard content != nil || !wire.isPresent("content") else {
            throw ItemFault("content has the wrong type")
        }
        self.content = content ?? ""
        caption = wire.nonEmptyText("content_text").flatMap { $0 == content ? $0 : nil }
        spoilerText = wire.text("spoiler_text") ?? ""
        audience = PostAudience(status: wire)
        language = wire.text("language")
        inReplyToID = wire.identifier("in_reply_to_id")
        inReplyToAccountID = wire.identifier("in_reply_to_account_id")
        inReplyToAccountName = wire.child("pleroma")?.identifier("in_reply_to_account_acct")
        inReplyTo = wire.child("in_reply_to_status").flatMap { Answered($0) }
        mentions = wire.children("mentions").compactMap { MastodonMention($0) }
        hashtags = wire.children("tags").compactMap { $0.text("url") }
        // Entries that are no objects are skipped.
        attachments = wire.children("media_attachments").map { Self.picture($0) }
        hasPoll = wire.child("poll") != nil
        isQuote = Self.isQuote(wire)
        isSensitive = wire.flag("sensitive") ?? false
        // Pixelfed's export of a repost does not contain the post.
        isReblog = wire.child("reblog") != nil || wire.text("pf_type") == "share"
        isFavourited = wire.flag("favourited") ?? false
        client = wire.child("application")?.nonEmptyText("name").map {
            String(PlainText.cleaned($0).prefix(200))
        }
        interactionPolicy = wire.child("interaction_policy").map { MastodonInteractionPolicy($0) }
    }

    /// Whether a status quotes a post.
    ///
    /// Mastodon, Sharkey and Friendica include the quoted post. Akkoma, Fedibird and Iceshrimp
    /// include its id too, and Pleroma has both in the object `pleroma`. Of a quoted post that is
    /// gone or hidden there may be only the id or the address.
    private static func isQuote<Fields: WireFields>(_ wire: Fields) -> Bool {
        let objects = [wire, wire.child("pleroma"), wire.child("akkoma")].compactMap(\.self)
        return objects.contains { (object: Fields) in
            object.child("quote") != nil || object.identifier("quote_id") != nil
                || object.nonEmptyText("quote_url") != nil
                || object.nonEmptyText("quote_uri") != nil
        }
    }

    /// The picture of an attachment; nil unless it is a still image.
    private static func picture(_ wire: some WireFields) -> Picture? {
        // Pleroma's type of every picture is `image`, including animations, so its media type
        // decides.
        if let mediaType = wire.child("pleroma")?.text("mime_type") {
            let isStill = PictureFormat.allCases.contains { $0.mediaType == mediaType }
            guard isStill else { return nil }
        }
        guard wire.text("type") == "image" else { return nil }
        let size = wire.child("meta")?.child("original")
        let picture = Picture(
            url: wire.text("url"), alt: wire.text("description") ?? "",
            width: size?.number("width"), height: size?.number("height")
        ).cleaned
        return picture.url == nil ? nil : picture
    }
}

/// The groups of people who may answer or favorite a post without the author's approval; sent by
/// GoToSocial.
package struct MastodonInteractionPolicy: Sendable {
    package let favourite: [String]?
    package let reply: [String]?

    init(_ wire: some WireFields) {
        favourite = Self.rule(wire.child("can_favourite"))
        reply = Self.rule(wire.child("can_reply"))
    }

    private static func rule(_ rules: (some WireFields)?) -> [String]? {
        rules?.texts("automatic_approval") ?? rules?.texts("always")
    }
}

/// The ids that a Mastodon-compatible server gives to posts and notifications.
///
/// They are opaque text, but those of the common servers can be ordered by time.
package enum MastodonID {
    /// Longer than every id in use, in bytes.
    private static let maximumLength = 256

    /// Whether `text` is safe as a part of a path and in a database.
    package static func isUsable(_ text: String) -> Bool {
        text.utf8.count <= maximumLength && text != "." && text != ".."
            && ActorAddress.isOneWord(text)
    }
}

extension WireFields {
    /// A text that is a valid id.
    package func identifier(_ name: StaticString) -> String? {
        text(name).flatMap { MastodonID.isUsable($0) ? $0 : nil }
    }
}
