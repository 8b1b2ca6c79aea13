import Formats
import Localization
import Posts

/// The archive that servers of the Mastodon family offer for download.
///
/// The posts are in one list that may be hundreds of megabytes long. The owner is named in another
/// file, which in old archives comes after the posts: then a first pass reads the owner. Of likes,
/// the archive contains only the addresses.
struct MastodonArchive: ArchiveFormat {
    static let actorFile = "actor.json"
    private static let outbox = "outbox.json"
    private static let likes = "likes.json"
    /// The keys of the lists in these files; `items` is used for unordered ones.
    static let lists = ["orderedItems", "items"]

    private let request: ImportRequest
    private let parts: [String]

    /// The file with the items for a purpose.
    static func list(for purpose: ImportPurpose) -> String {
        purpose == .scheduler ? outbox : likes
    }

    static func isPart(_ name: String) -> Bool { [actorFile, outbox, likes].contains(name) }

    static func recognizes(_ parts: [String]) -> Bool {
        parts.contains(outbox) || parts.contains(likes)
    }

    init(_ request: ImportRequest, parts: [String]) {
        self.request = request
        self.parts = parts
    }

    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws
        -> ImportSummary
    {
        let listName = Self.list(for: request.purpose)
        guard let listIndex = parts.firstIndex(of: listName) else {
            throw nothingToRead(
                request.purpose == .scheduler
                    ? localized("it holds no posts (\(listName))")
                    : localized("it holds no likes (\(listName))"))
        }
        // The sinks live only during this call, but the compiler cannot see that.
        return try withoutActuallyEscaping(body) { body in
            let pictures = ArchivePictures(request.wantsPictures)
            let run = MastodonArchiveRun(request, pictures: pictures, body: body)
            if let actorIndex = parts.firstIndex(of: Self.actorFile), actorIndex > listIndex {
                try source.read { $0 == Self.actorFile ? run.actorSink() : nil }
            }
            try source.read { name in
                switch name {
                case Self.actorFile: run.knowsOwner ? nil : run.actorSink()
                case listName:
                    request.purpose == .scheduler ? run.postSink(name) : run.likeSink(name)
                default: nil
                }
            }
            try pictures.read(source, body)
            let summary = run.finished()
            guard summary.items > 0 || run.readCount > 0 else {
                throw nothingToRead(summary.causeOfNothing)
            }
            return summary
        }
    }

    private func nothingToRead(_ reason: String) -> ImportError {
        ImportError(.nothingToRead, path: request.path, reason)
    }
}

/// The state of reading one archive: its owner, and the counts.
private final class MastodonArchiveRun {
    private let request: ImportRequest
    private let pictures: ArchivePictures
    private let body: (ArchiveItem) throws -> Void
    private var converter: MastodonPostConverter
    private var summary = ImportSummary(format: "Mastodon archive")
    /// The number of entries that were read, whether or not they were passed on.
    private(set) var readCount = 0

    init(
        _ request: ImportRequest, pictures: ArchivePictures,
        body: @escaping (ArchiveItem) throws -> Void
    ) {
        self.request = request
        self.pictures = pictures
        self.body = body
        converter = MastodonPostConverter(
            localHost: request.localHost, maximumOwnPosts: request.limits.ownPosts, now: request.now
        )
    }

    var knowsOwner: Bool { converter.owner != nil }

    /// Returns the summary of the archive, with its owner.
    func finished() -> ImportSummary {
        var summary = summary
        summary.owner = converter.owner?.account
        summary.ownerName = converter.owner.map { $0.name.lowercased() }
        return summary
    }

    func actorSink() -> any MemberSink {
        ObjectSink(limit: request.limits.elementBytes) { [self] wire in
            converter.owner = converter.owner ?? MastodonOwner(wire, localHost: request.localHost)
        }
    }

    func postSink(_ name: String) -> any MemberSink {
        list(name) { [self] wire in try take(try WireActivity(wire)) }
    }

    func likeSink(_ name: String) -> any MemberSink {
        list(name) { [self] wire in
            guard let address = wire.text, ActorAddress.isOneWord(address) else {
                throw ItemFault(localized("not the address of a post"))
            }
            readCount += 1
            summary.likesWithoutPost += 1
        }
    }

    private func take(_ wire: WireActivity) throws {
        guard wire.type != "Announce" else {
            readCount += 1
            summary.reposts += 1
            return
        }
        guard wire.type == "Create" || WireNote.isPost(wire.type) else {
            guard wire.type != nil else { throw ItemFault(localized("type is missing")) }
            readCount += 1
            summary.unrelated += 1
            return
        }
        guard let note = wire.note else {
            throw ItemFault(localized("the post is not in it, only its address"))
        }
        guard WireNote.isPost(note.type) else {
            readCount += 1
            summary.unrelated += 1
            return
        }
        let post = try converter.post(note, in: wire)
        readCount += 1
        guard let post else {
            summary.notOpen += 1
            return
        }
        summary.posts += 1
        pictures.noteFiles(note.attachments.map(\.files), of: post)
        try body(.post(post))
    }

    private func list(_ name: String, _ body: @escaping (JSON) throws -> Void) -> any MemberSink {
        ListSink(
            file: name,
            splitter: DocumentSplitter(lists: MastodonArchive.lists, limits: request.limits),
            report: { [self] in summary.report($0, limit: request.limits.problems) }, body: body)
    }
}
