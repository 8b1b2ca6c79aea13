import Formats
import Foundation
import Localization
import NetworkNames
import Posts

/// Converts entries of an X archive to posts.
///
/// Nearly every field may be missing; a field with a value of another type counts as missing.
struct XPostConverter {
    /// The account that the archive belongs to.
    var owner: AccountID
    var notes: XNoteTexts

    /// Converts a post, with its full text if it is a long one.
    ///
    /// - Parameter wire: `{"tweet":{…}}`, or the bare object.
    /// - Throws: ``ItemFault`` if it is no post.
    func post(_ wire: JSON) throws(ItemFault) -> Post {
        let fields = try Self.fields(wire)
        let id = try Self.id(fields)
        guard let text = fields["full_text"]?.text ?? fields["text"]?.text else {
            throw ItemFault(localized("full_text is missing"))
        }
        let time = try Self.time(id: id, written: fields["created_at"]?.nonEmptyText)
        let note = notes.text(of: text, createdAt: time.date)
        let isRepost = fields["retweeted_status"] != nil || Self.isRepost(text)
        let entities = fields["entities"]
        let mentions = entities?["user_mentions"]?.list ?? []
        let media = Self.media(fields)
        let links = Self.links(entities?["urls"]) + Self.links(media, areMedia: true)
        let quoted = Self.quoted(by: text, links: links, of: id)
        let replacements = XLinkEntity.replacements(
            of: links, quoting: Set([quoted].compactMap(\.self)))
        let replyTo = isRepost ? nil : Self.replyTarget(fields, text: text, mentions: mentions)
        var mentionedIDs: Set<String> = []
        return Post(
            id: PostID(network: .x, value: String(id)), author: owner,
            // The names at the start of a reply are kept, because an archive contains the answered
            // person's name nowhere else.
            text: note ?? PlainText.fromX(text, links: replacements),
            createdAt: time.date, isTimeTrusted: time.isTrusted, replyTo: replyTo,
            isRepost: isRepost,
            visibility: Self.visibility(fields),
            language: XText.language(fields["lang"]?.nonEmptyText),
            hasMedia: links.contains(where: \.isMedia),
            isSensitive: fields.flag("possibly_sensitive") ?? false,
            mentions: mentions.compactMap(Self.idText).filter { mentionedIDs.insert($0).inserted }
                .map { AccountID(network: .x, value: $0) },
            // On X a post is requested by its id, so posts from an archive can be requested too.
            address: String(id), client: Self.client(fields["source"]?.text),
            pictures: XArchivePictures.pictures(media), isQuote: quoted != nil)
    }

    /// The id of the quoted post, from the last link of the text that does not lead to media; nil
    /// if that link does not lead to another post.
    static func quoted(by text: String, links: [XLinkEntity], of id: UInt64) -> String? {
        var words = text.split(whereSeparator: \.isWhitespace)[...]
        while let last = words.last, links.contains(where: { $0.isMedia && $0.short == last }) {
            words.removeLast()
        }
        guard let last = words.last, let link = links.first(where: { $0.short == last }),
            let linkedID = link.expanded.flatMap(XLinkEntity.postID)
        else { return nil }
        // A shortened text ends with its own address.
        return linkedID == String(id) ? nil : linkedID
    }

    /// Returns the audience of a post, from its field `scopes`.
    ///
    /// The field has been seen only in advertisements, with the value false for `followers`. If
    /// `followers` is missing, the audience counts as direct.
    private static func visibility(_ fields: JSON) -> Visibility {
        guard let scopes = fields["scopes"], !scopes.isNull else { return .public }
        switch scopes["followers"]?.truth {
        case false: return .public
        case true: return .private
        case nil: return .direct
        }
    }

    /// The names under which the files of a post's pictures may be.
    static func pictureFiles(_ wire: JSON) throws(ItemFault) -> [[String]] {
        let fields = try fields(wire)
        return XArchivePictures.files(media(fields), of: try id(fields))
    }

    private static func media(_ fields: JSON) -> [JSON] {
        [fields["extended_entities"], fields["entities"]].flatMap { $0?["media"]?.list ?? [] }
            .filter(\.isObject)
    }

    /// The author's client program, whose name is inside a link in the archive.
    static func client(_ source: String?) -> String? {
        var name = [UInt8]()
        var isTag = false
        for byte in (source ?? "").utf8.prefix(1_000) {
            if byte == UInt8(ascii: "<") { isTag = true }
            if !isTag { name.append(byte) }
            if byte == UInt8(ascii: ">") { isTag = false }
        }
        let text = PlainText.fromX(String(decoding: name.prefix(200), as: UTF8.self))
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? nil : text
    }

    private static func fields(_ wire: JSON) throws(ItemFault) -> JSON {
        wire["tweet"] == nil ? try wire.object() : try wire.object("tweet")
    }

    /// The ids of all versions of a post that the archive names: on X each edit makes a new post.
    ///
    /// The first version has them in `edit_info.initial.editTweetIds`, the others in
    /// `edit_info.edit.editControlInitial.editTweetIds`.
    static func versions(_ wire: JSON) throws(ItemFault) -> [UInt64] {
        let info = try fields(wire)["edit_info"]
        let lists = [info?["initial"], info?["edit"]?["editControlInitial"]].compactMap {
            $0?["editTweetIds"]?.list
        }
        return lists.joined().compactMap { id in id.text.flatMap { UInt64($0) } }
    }

    /// The id of a post or of an entry of the list of deleted posts.
    static func id(ofPost wire: JSON) throws(ItemFault) -> UInt64 { try id(try fields(wire)) }

    private static func id(_ fields: JSON) throws(ItemFault) -> UInt64 {
        try id(idText(fields), field: "id_str")
    }

    private static func idText(_ fields: JSON) -> String? {
        fields["id_str"]?.nonEmptyText ?? fields["id"]?.nonEmptyText
    }

    /// A decimal id as a number, which has only one spelling.
    static func id(_ text: String?, field: String) throws(ItemFault) -> UInt64 {
        guard let text else { throw ItemFault(localized("\(field) is missing")) }
        guard text.utf8.allSatisfy(\.isASCIIDigit), let id = UInt64(text) else {
            throw ItemFault(localized("\(field) is not a number"))
        }
        return id
    }

    // MARK: Time

    /// The time of a post, and whether its time of day is reliable.
    ///
    /// The id is more reliable than `created_at`, which is off by up to a day in some archives.
    /// Before November 2010 ids contain no time, and some archives have the time 00:00 for every
    /// post of those years.
    static func time(
        id: UInt64, written: String?, field: StaticString = "created_at"
    ) throws(ItemFault) -> (date: Date, isTrusted: Bool) {
        if let date = XID.time(of: String(id)) { return (date: date, isTrusted: true) }
        guard let written else { throw ItemFault(localized("\(field) is missing")) }
        if let date = Date(xTimestamp: written) {
            let isMidnight = date.milliseconds % 86_400_000 == 0
            return (date: date, isTrusted: !isMidnight)
        }
        // A time without a zone is read as UTC, which is wrong by at most about a day.
        guard let date = Date(xTimestamp: written + " +0000") else {
            throw ItemFault(localized("\(field) is not a date"))
        }
        return (date: date, isTrusted: false)
    }

    // MARK: Text

    /// Whether a text is that of a repost.
    ///
    /// The archive marks reposts only in this way: its field `retweeted` is always false.
    static func isRepost(_ text: String) -> Bool {
        guard text.hasPrefix("RT @") else { return false }
        let name = text.utf8.dropFirst(4).prefix {
            $0 == UInt8(ascii: "_") || $0.isASCIIAlphanumeric
        }
        return !name.isEmpty && text.utf8[name.endIndex...].first == Byte.colon
    }

    /// The shortened addresses of a text, in either spelling of their fields.
    static func links(_ wire: JSON?) -> [XLinkEntity] { links(wire?.list ?? [], areMedia: false) }

    private static func links(_ wire: [JSON], areMedia: Bool) -> [XLinkEntity] {
        wire.compactMap { link in
            (link["url"]?.nonEmptyText ?? link["shortUrl"]?.nonEmptyText).map { short in
                let expanded =
                    link["expanded_url"]?.nonEmptyText ?? link["expandedUrl"]?.nonEmptyText
                return XLinkEntity(short: short, expanded: expanded, isMedia: areMedia)
            }
        }
    }

    // MARK: Fields

    private static func replyTarget(_ fields: JSON, text: String, mentions: [JSON])
        -> ReplyTarget?
    {
        let post = fields["in_reply_to_status_id_str"]?.nonEmptyText.map {
            PostID(network: .x, value: $0)
        }
        if let user = fields["in_reply_to_user_id_str"]?.nonEmptyText {
            return ReplyTarget(author: AccountID(network: .x, value: user), post: post)
        }
        if post != nil || fields["in_reply_to_screen_name"]?.nonEmptyText != nil {
            return ReplyTarget(author: nil, post: post)
        }
        // The fields are missing if the answered post or account is gone; the leading name still
        // shows that it is a reply.
        guard beginsWithName(text) else { return nil }
        // Archives of X have positions as strings, other files of the same form as numbers.
        let first = mentions.first { mention in
            guard let start = mention["indices"]?.list.first else { return false }
            return start.text == "0" || start.integer == 0
        }
        return ReplyTarget(author: first.flatMap(idText).map { AccountID(network: .x, value: $0) })
    }

    /// Whether the first word of a text is a mention.
    static func beginsWithName(_ text: String) -> Bool {
        guard text.hasPrefix("@"), let next = text.utf8.dropFirst().first else { return false }
        return next.isASCIIAlphanumeric || next == UInt8(ascii: "_")
    }
}
