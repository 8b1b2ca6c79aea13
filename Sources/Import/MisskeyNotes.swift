import Formats
import Foundation
import Localization
import NetworkNames
import Posts

/// The export of an account's notes from Misskey, Sharkey, Firefish and other descendants.
///
/// `notes-2023-01-31-12-00-00.json` is one list, from the oldest note to the newest. It names
/// neither the owner nor the server, so the caller must provide both.
struct MisskeyNotes: ArchiveFormat {
    /// The name under which a single file is read, whatever its own name.
    static let name = "notes-.json"

    private let request: ImportRequest
    private let parts: [String]

    static func isPart(_ name: String) -> Bool {
        !name.contains("/") && name.hasPrefix("notes-") && name.hasSuffix(".json")
    }

    static func recognizes(_ parts: [String]) -> Bool { parts.contains(where: isPart) }

    /// Whether `wire` is a note of an export.
    static func isNote(_ wire: JSON) -> Bool {
        wire["createdAt"] != nil && wire["visibility"] != nil && wire["replyId"] != nil
            && wire["renoteId"] != nil
    }

    init(_ request: ImportRequest, parts: [String]) {
        self.request = request
        self.parts = parts
    }

    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws
        -> ImportSummary
    {
        guard request.purpose == .scheduler else {
            throw nothingToRead(
                localized("it holds no favorites; train the classifier from the account"))
        }
        guard let owner = try owner() else {
            throw ImportError(
                .unsupported, path: request.path,
                localized(
                    """
                    notes of Misskey do not say at which server they were made; log the human in before \
                    (mirror-bot login mastodon --as human)
                    """))
        }
        // The sinks live only during this call, but the compiler cannot see that.
        return try withoutActuallyEscaping(body) { body in
            let run = MisskeyRun(request, owner: owner, body: body)
            try source.read { Self.isPart($0) ? run.sink($0) : nil }
            guard run.summary.items > 0 || run.readCount > 0 else {
                throw nothingToRead(run.summary.causeOfNothing)
            }
            return run.summary
        }
    }

    /// Returns the assumed author; `nil` if the server is unknown.
    private func owner() throws -> AccountID? {
        if let owner = request.owner, owner.network == .mastodon { return owner }
        let host = request.localHost ?? (request.examinesOnly ? "unknown.invalid" : nil)
        return host.map { .mastodon("unknown", localHost: $0) }
    }

    private func nothingToRead(_ reason: String) -> ImportError {
        ImportError(.nothingToRead, path: request.path, reason)
    }
}

/// The state of reading one export, and the counts.
private final class MisskeyRun {
    private let request: ImportRequest
    private let body: (ArchiveItem) throws -> Void
    private var converter: MisskeyNoteConverter
    private(set) var summary = ImportSummary(format: "Misskey notes")
    /// The number of notes that were read, whether or not they were passed on.
    private(set) var readCount = 0

    init(_ request: ImportRequest, owner: AccountID, body: @escaping (ArchiveItem) throws -> Void) {
        self.request = request
        self.body = body
        converter = MisskeyNoteConverter(
            owner: owner, maximumOwnPosts: request.limits.ownPosts, now: request.now)
        if request.owner == owner {
            summary.owner = owner
            summary.ownerName = owner.value
        }
    }

    func sink(_ name: String) -> any MemberSink {
        ListSink(
            file: MemberName.shown(name),
            splitter: DocumentSplitter(lists: [], limits: request.limits),
            report: { [self] in summary.report($0, limit: request.limits.problems) },
            body: { [self] wire in try take(try wire.object()) })
    }

    private func take(_ wire: JSON) throws {
        guard !MisskeyNoteConverter.isRepost(wire) else {
            readCount += 1
            summary.reposts += 1
            return
        }
        let post = try converter.post(wire)
        readCount += 1
        guard let post else {
            summary.notOpen += 1
            return
        }
        summary.posts += 1
        try body(.post(post))
    }
}

/// Converts notes to posts.
///
/// The fields are those that `ExportNotesProcessorService` of Misskey writes. Nearly every field
/// may be missing; a field with a value of another type counts as missing.
struct MisskeyNoteConverter {
    let owner: AccountID
    /// The number of the owner's notes that are remembered, to recognize replies to them.
    let maximumOwnPosts: Int
    private let now: Date
    private let host: String
    private var ownPosts: Set<Int> = []

    /// - Parameter now: The present, the latest possible time of a post.
    init(owner: AccountID, maximumOwnPosts: Int, now: Date) {
        self.owner = owner
        self.now = now
        self.maximumOwnPosts = maximumOwnPosts
        host = String(owner.value.drop { $0 != "@" }.dropFirst())
    }

    /// Whether the note is a repost without a comment.
    static func isRepost(_ wire: JSON) -> Bool {
        wire["renoteId"]?.nonEmptyText != nil && wire["text"]?.nonEmptyText == nil
            && wire["cw"]?.nonEmptyText == nil
            && wire["poll"]?.isObject != true && (wire["fileIds"]?.list ?? []).isEmpty
    }

    /// The post; nil for a note that not everybody may read.
    ///
    /// - Throws: ``ItemFault`` if it is no note.
    mutating func post(_ wire: JSON) throws(ItemFault) -> Post? {
        guard let id = wire["id"]?.nonEmptyText, id.utf8.allSatisfy(\.isASCIIAlphanumeric) else {
            throw ItemFault(localized("id is missing or not one word"))
        }
        if ownPosts.count < maximumOwnPosts { ownPosts.insert(id.hashValue) }
        let audience = PostAudience(status: wire)
        guard audience.isOpen else { return nil }
        let time = PostTime(
            wire["createdAt"]?.nonEmptyText, keyed: PostTime.keyed(misskey: id), noticedAt: now)
        let converted = MisskeyMarkup.read(wire["text"]?.text ?? "")
        let names = MisskeyNames(in: converted.text, on: host)
        let warning = PlainText.cleaned(wire["cw"]?.text ?? "")
        let files = wire["files"]?.list ?? []
        let hasPoll = wire.child("poll") != nil
        let hasUnknownFiles = (wire["fileIds"]?.list ?? []).count > files.count
        var post = Post(
            id: address(of: id), author: owner, text: names.text, createdAt: time.date,
            isTimeTrusted: time.isTrusted, replyTo: replyTarget(of: wire, text: names.text),
            visibility: audience.visibility, hasMedia: hasPoll || hasUnknownFiles || !files.isEmpty,
            isSensitive: !warning.isEmpty || files.contains { $0.flag("isSensitive") == true },
            mentions: names.people, warning: warning.isEmpty ? nil : warning,
            pictures: Picture.all(files.map(Self.picture), besides: hasPoll || hasUnknownFiles),
            isQuote: wire["renoteId"]?.nonEmptyText != nil)
        post.linkWords = converted.linkWords.map { MisskeyNames(in: $0, on: host).text }
        return post
    }

    /// The address by which other servers know a note.
    private func address(of id: String) -> PostID {
        PostID(network: .mastodon, value: "https://\(host)/notes/\(id)")
    }

    /// The answered note and its author.
    ///
    /// The export has only the note's id; the author is the person whose name the reply begins
    /// with.
    private func replyTarget(of wire: JSON, text: String) -> ReplyTarget? {
        guard let answeredID = wire["replyId"]?.nonEmptyText else { return nil }
        if ownPosts.contains(answeredID.hashValue) {
            return ReplyTarget(author: owner, post: address(of: answeredID))
        }
        guard text.hasPrefix("@") else { return ReplyTarget(author: nil) }
        let firstWord = text.prefix { !$0.isWhitespace }
        return ReplyTarget(
            author: ActorAddress.name(String(firstWord)).map {
                .mastodon($0.user, localHost: $0.host ?? host)
            })
    }

    private static func picture(_ wire: JSON) -> Picture? {
        guard ["image/jpeg", "image/png", "image/webp"].contains(wire["type"]?.text ?? "") else {
            return nil
        }
        let size = wire["properties"]
        let picture = Picture(
            url: wire["url"]?.nonEmptyText, alt: wire["comment"]?.text ?? "",
            width: size?["width"]?.integer,
            height: size?["height"]?.integer
        ).cleaned
        return picture.url == nil ? nil : picture
    }
}
