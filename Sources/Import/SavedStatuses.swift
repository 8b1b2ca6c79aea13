import Foundation
import Posts

/// Posts that were saved as the API of a server of the Mastodon family gives them.
///
/// The Python program mastodon-archive keeps `HOST.user.NAME.json`: an object with the lists `statuses` and `favourites`
/// (of others, with their texts), and older ones in `HOST.user.NAME.0.json` and so on. Pixelfed exports the account's own
/// posts as one list, `pixelfed-statuses.json`.
struct SavedStatuses: ArchiveFormat {
    /// The keys of the lists in a file of mastodon-archive that are read.
    static let lists = [ownList, favoriteList]
    private static let ownList = "statuses"
    private static let favoriteList = "favourites"

    /// Names for single files, whatever they are called.
    static let backupName = "mastodon.user.json"
    static let listName = "statuses.json"

    private let request: ImportRequest
    private let parts: [String]

    static func isPart(_ name: String) -> Bool {
        isBackup(name) || [listName, "pixelfed-statuses.json"].contains(name)
    }

    static func recognizes(_ parts: [String]) -> Bool { parts.contains(where: isPart) }

    /// Whether a file of this name is one of mastodon-archive, with lists of posts and of favorites.
    private static func isBackup(_ name: String) -> Bool {
        !name.contains("/") && name.contains(".user.") && name.hasSuffix(".json")
    }

    /// Whether `wire` is a post as the API gives it.
    static func isStatus(_ wire: JSON) -> Bool {
        wire["account"]?.isObject == true && wire["content"] != nil && wire["visibility"] != nil
            && (wire["uri"] != nil || wire["url"] != nil)
    }

    init(_ request: ImportRequest, parts: [String]) {
        self.request = request
        self.parts = parts
    }

    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        let isPosts = request.purpose == .scheduler
        guard isPosts || parts.contains(where: Self.isBackup) else {
            throw nothing("it holds no favorites; Pixelfed exports none, so train the classifier from the account")
        }
        // The sinks live only during this call, but the compiler cannot see that.
        return try withoutActuallyEscaping(body) { body in
            let run = SavedStatusesRun(request, isBackup: parts.contains(where: Self.isBackup), body: body)
            if isPosts {
                try source.read { name in
                    guard Self.isPart(name) else { return nil }
                    return run.postSink(name, list: Self.isBackup(name) ? Self.ownList : nil)
                }
            } else {
                // Favorites do not tell whose they are; the posts beside them do.
                try source.read { Self.isBackup($0) ? run.ownerSink($0, list: Self.ownList) : nil }
                try source.read { Self.isBackup($0) ? run.favoriteSink($0, list: Self.favoriteList) : nil }
            }
            guard run.summary.items > 0 || run.seen > 0 else { throw nothing(run.summary.causeOfNothing) }
            return run.summary
        }
    }

    private func nothing(_ reason: String) -> ImportError { ImportError(.nothingToRead, path: request.path, reason) }
}

/// The reading of saved posts: whose they are, and the counts.
private final class SavedStatusesRun {
    private let request: ImportRequest
    private let body: (ArchiveItem) throws -> Void
    private var converter: MastodonStatusConverter
    private var counts: ImportSummary
    /// Entries that were read, whether or not they were handed over.
    private(set) var seen = 0

    init(_ request: ImportRequest, isBackup: Bool, body: @escaping (ArchiveItem) throws -> Void) {
        self.request = request
        self.body = body
        counts = ImportSummary(format: isBackup ? "mastodon-archive backup" : "saved Mastodon posts")
        converter = MastodonStatusConverter(localHost: request.localHost, now: request.now)
    }

    var summary: ImportSummary {
        var summary = counts
        summary.owner = converter.owner?.account
        summary.ownerName = converter.owner?.account.value
        return summary
    }

    func postSink(_ name: String, list: String?) -> any MemberSink {
        sink(name, list: list) { [self] wire in
            guard !MastodonStatusConverter.isRepost(wire) else {
                seen += 1
                counts.reposts += 1
                return
            }
            let post = try converter.post(try wire.object())
            seen += 1
            guard let post else {
                counts.notOpen += 1
                return
            }
            counts.posts += 1
            try body(.post(post))
        }
    }

    func ownerSink(_ name: String, list: String) -> any MemberSink {
        sink(name, list: list) { [self] wire in converter.learnOwner(from: wire) }
    }

    func favoriteSink(_ name: String, list: String) -> any MemberSink {
        sink(name, list: list) { [self] wire in
            let favorite = try converter.favorite(try wire.object())
            seen += 1
            switch favorite {
            case .example(let example):
                counts.favorites += 1
                try body(.favorite(example))
            case .own: counts.own += 1
            case .notOpen: counts.notOpen += 1
            case .withoutText: counts.withoutText += 1
            }
        }
    }

    /// Reads one list of a file, or the file if that is a list.
    private func sink(_ name: String, list: String?, _ body: @escaping (JSON) throws -> Void) -> any MemberSink {
        let splitter = DocumentSplitter(
            lists: list.map { [$0] } ?? [], isForListsAlone: list != nil, limits: request.limits)
        return ListSink(
            file: MemberName.shown(name), splitter: splitter,
            report: { [self] in counts.report($0, limit: request.limits.problems) }, body: body)
    }
}

/// Makes posts of what the API of a server of the Mastodon family calls a status.
///
/// Its fields are those of docs.joinmastodon.org/entities/Status. Nearly every field may be missing; one of another kind
/// counts as missing. Numbers stand in place of ids where an old program saved them.
struct MastodonStatusConverter {
    /// Whose posts they are.
    struct Owner {
        /// The number that the server knows the account by.
        var id: String?
        var account: AccountID
    }

    /// What came of a post that somebody favorited.
    enum Favorite {
        case example(ImportedExample)
        /// The human's own post.
        case own
        /// Not everybody may read it.
        case notOpen
        case withoutText
    }

    /// The host of the server's names, where the caller knows it.
    let localHost: String?
    /// The author of the first post; nil before that.
    private(set) var owner: Owner?

    private let now: Date

    /// - Parameter now: The present: nothing was made later.
    init(localHost: String?, now: Date) {
        self.localHost = localHost
        self.now = now
    }

    /// Whether the human repeated somebody else's post.
    static func isRepost(_ wire: JSON) -> Bool {
        wire["reblog"]?.isObject == true || wire["pf_type"]?.text == "share"
    }

    /// Takes the author of one of the human's own posts, who is asked for only once.
    mutating func learnOwner(from wire: JSON) {
        guard owner == nil, let account = wire["account"], let person = person(account) else { return }
        owner = Owner(id: account.identifier("id"), account: person)
    }

    /// The post; nil for one that not everybody may read.
    ///
    /// - Throws: ``ItemFault`` for what is no post, and for one of somebody else.
    mutating func post(_ wire: JSON) throws(ItemFault) -> Post? {
        let id = try Self.id(of: wire)
        learnOwner(from: wire)
        guard let owner, let author = wire["account"].flatMap(person) else {
            throw ItemFault("its account has no name")
        }
        guard author == owner.account else { throw ItemFault("somebody else made it") }
        let text = text(of: wire)
        let audience = Self.audience(of: wire, saying: text)
        guard audience.isOpen else { return nil }
        let time = PostTime(
            wire["created_at"]?.name, keyed: PostTime.keyed(mastodon: id.value), noticedAt: now)
        let attachments = wire["media_attachments"]?.list ?? []
        let hasOther =
            ["poll", "quote", "quote_id"].contains { wire.isPresent($0) }
            || wire["pleroma"]?.isPresent("quote_id") == true
        let warning = PlainText.cleaned(wire["spoiler_text"]?.text ?? "")
        return Post(
            id: id, author: owner.account, text: text, createdAt: time.date, isTimeTrusted: time.isTrusted,
            replyTo: replyTarget(of: wire, owner), visibility: audience.visibility,
            language: wire["language"]?.name.flatMap(LanguageTag.naming),
            hasMedia: !attachments.isEmpty || hasOther,
            isSensitive: wire["sensitive"]?.truth ?? false || !warning.isEmpty,
            mentions: mentions(of: wire).compactMap(person), warning: warning.isEmpty ? nil : warning,
            client: wire["application"]?["name"]?.name.map { String(PlainText.cleaned($0).prefix(200)) },
            pictures: Picture.all(attachments.map(Self.picture), besides: hasOther))
    }

    /// What a post that the human favorited teaches.
    ///
    /// - Throws: ``ItemFault`` for what is no post.
    func favorite(_ status: JSON) throws(ItemFault) -> Favorite {
        let wire = status["reblog"].flatMap { $0.isObject ? $0 : nil } ?? status
        let id = try Self.id(of: wire)
        guard let account = wire["account"], let author = person(account) else {
            throw ItemFault("its account has no name")
        }
        guard author != owner?.account else { return .own }
        let text = text(of: wire)
        guard Self.audience(of: wire, saying: text).isOpen else { return .notOpen }
        guard !text.isEmpty else { return .withoutText }
        let time = PostTime(wire["created_at"]?.name, keyed: PostTime.keyed(mastodon: id.value), noticedAt: now)
        return .example(
            ImportedExample(
                id: id, author: author.value, text: text, createdAt: time.date, isSeen: false,
                authorID: author, authorBio: Self.bio(account)))
    }

    // MARK: Fields

    /// What the post is called everywhere.
    private static func id(of wire: JSON) throws(ItemFault) -> PostID {
        let address = [wire["uri"]?.name, wire["url"]?.name].compactMap(\.self).first(where: ActorAddress.isOneWord)
        guard let address else { throw ItemFault("uri is missing") }
        return PostID(network: .mastodon, value: address)
    }

    private static func audience(of wire: JSON, saying text: String) -> PostAudience {
        var audience = PostAudience(status: wire)
        audience.narrow(byEndOf: text)
        return audience
    }

    private func text(of wire: JSON) -> String {
        let content = wire["content"]?.text ?? ""
        // Pixelfed gives a caption that it never made HTML of in both places.
        if let caption = wire["content_text"]?.name, caption == content { return PlainText.cleaned(caption) }
        let names = mentions(of: wire).compactMap { mention -> (String, String)? in
            guard let url = mention["url"]?.name, let person = person(mention) else { return nil }
            return (url, Self.writtenName(of: mention, person))
        }
        return PlainText.fromHTML(content, mentions: Dictionary(names) { first, _ in first })
    }

    /// `user@host` with the case in which the name is written.
    private static func writtenName(of wire: JSON, _ person: AccountID) -> String {
        let written = (wire["acct"]?.text ?? "").drop { $0 == "@" }.prefix { $0 != "@" }
        let known = person.value.prefix { $0 != "@" }
        return written.lowercased() == known ? String(written + person.value.dropFirst(known.count)) : person.value
    }

    private func mentions(of wire: JSON) -> [JSON] { Array((wire["mentions"]?.list ?? []).prefix(100)) }

    /// An account, or a person named in a post.
    private func person(_ wire: JSON) -> AccountID? {
        guard let written = wire["acct"]?.name ?? wire["username"]?.name, let name = ActorAddress.name(written),
            let host = name.host ?? home(of: wire["url"]?.name ?? wire["uri"]?.name)
        else { return nil }
        return .mastodon(name.user, localHost: host)
    }

    /// The host of the names at the server that a profile is at.
    private func home(of profile: String?) -> String? {
        let local = localHost?.lowercased()
        guard let host = profile.flatMap(ActorAddress.init)?.host else { return local }
        guard let local, host.hasSuffix("." + local) else { return host }
        return local
    }

    private func replyTarget(of wire: JSON, _ owner: Owner) -> ReplyTarget? {
        let answered = wire.identifier("in_reply_to_id")
        let person = wire.identifier("in_reply_to_account_id")
        guard answered != nil || person != nil else { return nil }
        guard let person, person == owner.id else {
            let named = person.flatMap { id in mentions(of: wire).first { $0.identifier("id") == id } }
            return ReplyTarget(author: named.flatMap(self.person))
        }
        return ReplyTarget(author: owner.account, post: answered.flatMap { Self.neighbour(of: wire, id: $0) })
    }

    /// Another post of the same author: the addresses of their posts differ in the id at the end.
    private static func neighbour(of wire: JSON, id: String) -> PostID? {
        guard let own = wire.identifier("id"), let address = try? Self.id(of: wire), address.value.hasSuffix("/\(own)")
        else { return nil }
        return PostID(network: .mastodon, value: address.value.dropLast(own.count) + id)
    }

    private static func picture(_ wire: JSON) -> Picture? {
        guard wire["type"]?.text == "image", let url = wire["url"]?.name else { return nil }
        let size = wire["meta"]?["original"]
        let picture = Picture(
            url: url, alt: wire["description"]?.text ?? "", width: size?["width"]?.integer,
            height: size?["height"]?.integer
        ).cleaned
        return picture.url == nil ? nil : picture
    }

    /// The profile's text and table, in which people opt out of bots.
    private static func bio(_ account: JSON) -> String {
        let fields = (account["fields"]?.list ?? []).map { field in
            "\(field["name"]?.text ?? ""): \(PlainText.fromHTML(field["value"]?.text ?? ""))"
        }
        return ([PlainText.fromHTML(account["note"]?.text ?? "")] + fields).joined(separator: "\n")
    }
}

extension JSON {
    /// An id, which may be written as a number.
    fileprivate func identifier(_ key: StaticString) -> String? {
        self[key].flatMap { $0.name ?? $0.integer.map(String.init) }
    }

    /// Whether a key has a value other than null.
    fileprivate func isPresent(_ key: StaticString) -> Bool { self[key]?.isNull == false }
}
