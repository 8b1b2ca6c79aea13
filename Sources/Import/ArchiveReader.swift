package import Foundation
package import Posts

/// Reads what a person downloaded, whatever it is.
///
/// That is an archive of X or of the Mastodon family, packed or extracted, X's table `tweets.csv`,
/// what mastodon-archive saved, an export of Misskey or Pixelfed, a repository of Bluesky (CAR) or
/// its records as JSON, or JSON Lines. `docs/archives.md` has the formats.
///
/// Memory stays flat however large the archive is. Nothing is written anywhere, but for a stream
/// that is no JSON Lines, which is kept in a file without a name while it is read.
package struct ArchiveReader: Sendable {
    /// The kinds of archives made of files, in the order in which they are tried.
    private static let formats: [any ArchiveFormat.Type] = [
        XArchive.self, MastodonArchive.self, SavedStatuses.self, MisskeyNotes.self,
    ]

    private var request: ImportRequest
    /// The purpose for which JSON Lines are read; an archive is the same whether its posts are kept
    /// or looked at.
    private let purpose: ImportPurpose

    /// - Parameters:
    ///   - path: The zip, the tar, the folder or the file; `-` is any of the files on standard
    ///     input.
    ///   - network: Where the ids and names of JSON Lines belong; an archive knows itself.
    ///   - localHost: Completes names without a host in JSON Lines. In an archive of the Mastodon
    ///     family it is the host of the owner's name where the server answers below that host, as
    ///     `social.example.org` for `example.org`.
    ///   - owner: Whose archive it is taken for where it does not say so, as a part of one and an
    ///     export of Misskey do not.
    ///   - includesCommunities: Whether posts that the human made in communities of X are read as
    ///     well.
    ///   - now: The present: nothing was made later.
    ///   - wantsPictures: Whether the files of the pictures of a post are read as well; nil to read
    ///     none.
    package init(
        path: String, purpose: ImportPurpose, network: NetworkName = .mastodon,
        localHost: String? = nil,
        owner: AccountID? = nil, includesCommunities: Bool = false,
        limits: ImportLimits = ImportLimits(),
        now: Date = Date(), wantsPictures: (@Sendable (Post) -> Bool)? = nil
    ) {
        self.purpose = purpose
        request = ImportRequest(
            path: path, purpose: purpose == .texts ? .scheduler : purpose, network: network,
            localHost: localHost,
            limits: limits, wantsPictures: wantsPictures, owner: owner,
            includesCommunities: includesCommunities,
            isLookedAt: purpose == .texts, now: now)
    }

    /// Reads everything that serves the purpose, in the order of the archive; blocks the thread
    /// while it does.
    ///
    /// An archive that is not safe to read is refused before anything is handed over. Only damage
    /// inside a zip's data shows later; what was handed over before it is good, and reading a
    /// better copy again does no harm.
    ///
    /// - Parameter body: Gets each item; an error that it throws ends the reading.
    /// - Throws: ``ImportError``, or what `body` throws.
    package func read(_ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        switch try FileReader.kind(of: request.path) {
        case .folder:
            try readMembers(try FolderSource(path: request.path, limits: request.limits), body)
        case .stream: try readStream(body)
        case .file(let size):
            try readFile(
                size: size, try FileReader.head(of: request.path, count: FileContents.headBytes),
                body)
        }
    }

    private func readStream(_ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        let stream = try FileReader(path: request.path)
        let head = try stream.next(FileContents.headBytes)
        switch FileContents(head: head) {
        case .lines: return try lines.read(stream, after: head, body)
        // Nothing that follows would make it readable.
        case .empty where head.count == FileContents.headBytes, .unknown, .foreign, .partOfX:
            return try readFile(size: head.count, head, body)
        default: break
        }
        let copy = try StreamCopy(of: stream, after: head, atMost: request.limits.totalBytes)
        var reader = self
        reader.request.path = copy.path
        do {
            var summary = try reader.readFile(size: copy.size, head, body)
            for index in summary.problems.indices where summary.problems[index].file == copy.path {
                summary.problems[index].file = request.path
            }
            return summary
        } catch var error as ImportError where error.path == copy.path {
            error.path = request.path
            error.reason = error.reason.replacing(copy.path, with: request.path)
            throw error
        }
    }

    /// - Parameter head: The first bytes of the file.
    private func readFile(
        size: Int, _ head: [UInt8], _ body: (ArchiveItem) throws -> Void
    ) throws -> ImportSummary {
        switch FileContents(head: head) {
        case .packed(let packing):
            let source = PackedSource(
                path: request.path, packing: packing, size: size, limits: request.limits)
            return try readMembers(source, body)
        case .mastodonList:
            return try readMembers(
                single(MastodonArchive.list(for: request.purpose), besides: MastodonArchive.actor),
                body)
        case .statuses(let isBackup):
            return try readMembers(
                single(isBackup ? SavedStatuses.backupName : SavedStatuses.listName), body)
        case .misskeyNotes: return try readMembers(single(MisskeyNotes.name), body)
        case .xTable:
            return try readMembers(single(XTable.name, besides: "data/js/user_details.js"), body)
        case .blueskyRecords: return try BlueskyRecords(request).read(body)
        case .lines: return try lines.read(body)
        case .blueskyRepository:
            return try BlueskyRepository(request).read(size: size, body)
        case .partOfX:
            throw notAnArchive(
                "a single file of an archive of X; give the folder that holds its data folder")
        case .foreign(let problem): throw notAnArchive(problem)
        case .empty: throw ImportError(.nothingToRead, path: request.path, "it is empty")
        case .unknown:
            throw notAnArchive(
                "expected an archive of X or Mastodon (zip, tar.gz or folder), X's tweets.csv, a file of "
                    + "mastodon-archive, an export of Misskey or Pixelfed, a repository of Bluesky (CAR), its records as "
                    + "JSON, or JSON Lines, one object on each line")
        }
    }

    private var lines: JSONLinesReader {
        JSONLinesReader(
            path: request.path, purpose: purpose, network: request.network,
            localHost: request.localHost,
            limits: request.limits, now: request.now)
    }

    /// One file of an archive under the name that it has there, with what tells whose it is where
    /// that stands beside it.
    private func single(_ name: String, besides neighbour: String? = nil) -> FileSource {
        var files = [(name: name, path: request.path)]
        if let neighbour {
            let path = URL(fileURLWithPath: request.path).deletingLastPathComponent()
                .appendingPathComponent(neighbour)
            // A file that is not there tells nothing.
            if case .file? = try? FileReader.kind(of: path.path) {
                files.insert((neighbour, path.path), at: 0)
            }
        }
        return FileSource(files: files)
    }

    private func readMembers(
        _ files: any MemberSource, _ body: (ArchiveItem) throws -> Void
    ) throws -> ImportSummary {
        let source = WatchedSource(files)
        let parts = try source.names { name in Self.formats.contains { $0.isPart(name) } }
        guard let format = Self.formats.first(where: { $0.recognizes(parts) }) else {
            throw notAnArchive(
                source.holdsArchives
                    ? "it holds zips; unpack all of them into one folder, and give that folder"
                    : "no archive is in it; expected the zip that X made, the folder with data/tweets.js in it, the "
                        + "archive of a Mastodon server with outbox.json in it, or a file of mastodon-archive, Misskey or "
                        + "Pixelfed")
        }
        guard Set(parts).count == parts.count else {
            throw notAnArchive(
                "several archives are in it; unpack it, and give the folder of one of them")
        }
        var summary = try format.init(request, parts: parts).read(source, body)
        if !(files is FileSource) { source.tell(&summary) }
        return summary
    }

    private func notAnArchive(_ reason: String) -> ImportError {
        ImportError(.notAnArchive, path: request.path, reason)
    }
}

/// How much an archive may ask of the machine.
package struct ImportLimits: Equatable, Sendable {
    /// Bytes that one pass over an archive may unpack or read; JSON Lines, which are not packed,
    /// have no such limit.
    package var totalBytes = 16 << 30
    /// How many times larger than the zip or tar its content may be, once it exceeds
    /// `ratioFreeBytes`.
    ///
    /// Posts as JSON shrink to a tenth or a twentieth; a bomb to less than a five-hundredth.
    package var ratio = 200
    /// Content up to this size is never called a bomb.
    package var ratioFreeBytes = 64 << 20
    /// The largest post, like or other item of a list, and the largest small file.
    package var elementBytes = 1 << 20
    /// The largest line of JSON Lines.
    package var lineBytes = 1 << 20
    /// How deeply an item may be nested.
    package var nesting = 64
    /// How many problems are kept in detail; the rest are counted.
    package var problems = 100
    /// Full texts of long posts, which wait in memory for their posts.
    package var noteBytes = 32 << 20
    /// Ids of deleted posts, which are remembered while posts are read.
    package var deletedPosts = 1_000_000
    /// Posts of an archive of the Mastodon family that are remembered, to know an answer to one of
    /// them.
    package var ownPosts = 1_000_000

    package init() {}
}

/// A request to a reader.
struct ImportRequest: Sendable {
    /// The path as it was given, or `-`.
    var path: String
    var purpose: ImportPurpose
    /// Where the ids and names of JSON Lines belong.
    var network: NetworkName
    /// The host that names without one belong to, where the caller knows it.
    var localHost: String?
    var limits: ImportLimits
    /// Whether the files of a post's pictures are read; nil to read none.
    var wantsPictures: (@Sendable (Post) -> Bool)?
    /// The account taken for the archive's owner where it does not name one.
    var owner: AccountID?
    /// Whether posts in communities of X are read.
    var includesCommunities = false
    /// Whether nothing is kept of what is read.
    var isLookedAt = false
    /// The present: nothing was made later.
    var now = Date()
}

/// A kind of archive that is made of files.
///
/// Another kind is another type with this protocol, listed in ``ArchiveReader``.
protocol ArchiveFormat: Sendable {
    /// Whether a file of this name may be opened. Every other file stays closed.
    static func isPart(_ name: String) -> Bool

    /// Whether an archive with these parts is of this kind.
    static func recognizes(_ parts: [String]) -> Bool

    /// Prepares the reading of an archive in which `parts` are there, in this order.
    init(_ request: ImportRequest, parts: [String])

    /// Hands over everything in the archive that serves the purpose.
    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws
        -> ImportSummary
}
