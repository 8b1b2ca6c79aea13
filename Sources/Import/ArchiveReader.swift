package import Foundation
import Localization
import NetworkNames
package import Posts

/// Reads a downloaded archive of any supported kind.
///
/// The file may be an archive of X or of the Mastodon family, packed or extracted, X's table
/// `tweets.csv`, a file of mastodon-archive, an export of Misskey or Pixelfed, a repository of
/// Bluesky (CAR) or its records as JSON, or JSON Lines. `docs/archives.md` has the formats.
///
/// The memory use does not depend on the size of the archive. Nothing is written, except that a
/// stream other than JSON Lines is copied to an unnamed temporary file.
package struct ArchiveReader: Sendable {
    /// The kinds of archives made of files, in the order in which they are tried.
    private static let formats: [any ArchiveFormat.Type] = [
        XArchive.self, MastodonArchive.self, SavedStatuses.self, MisskeyNotes.self,
    ]

    private var request: ImportRequest
    /// The purpose for which JSON Lines are read; other archives are read the same for storing and
    /// examining posts.
    private let purpose: ImportPurpose

    /// - Parameters:
    ///   - path: The zip, the tar, the folder or the file; `-` reads a file from standard input.
    ///   - network: The network of the ids and names in JSON Lines; other archives imply it.
    ///   - localHost: The host of names without one in JSON Lines. In an archive of the Mastodon
    ///     family, the host of the owner's name if the server has another host: for example,
    ///     `example.org` for the server `social.example.org`.
    ///   - owner: The assumed owner of an archive that does not name one, such as a part of an
    ///     archive or an export of Misskey.
    ///   - includesCommunities: Whether to read posts that the human made in communities of X.
    ///   - now: The present, the latest possible time of a post.
    ///   - wantsPictures: Whether to read the picture files of a post; nil to read none.
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
            examinesOnly: purpose == .texts, now: now)
    }

    /// Reads all items for the purpose, in the order of the archive; blocks the calling thread.
    ///
    /// An archive that is not safe to read is refused before any item is passed. Only damage inside
    /// a zip's data is noticed later; the items before it are valid, and reading an undamaged copy
    /// afterwards does no harm.
    ///
    /// - Parameter body: Called with each item; an error that it throws ends the reading.
    /// - Throws: ``ImportError``, or what `body` throws.
    package func read(_ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        switch try FileReader.kind(of: request.path) {
        case .folder:
            try readMembers(try FolderSource(path: request.path, limits: request.limits), body)
        case .stream: try readStream(body)
        case .file(let size):
            try readFile(
                size: size,
                head: try FileReader.head(of: request.path, count: FileContents.headBytes),
                body)
        }
    }

    private func readStream(_ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        let stream = try FileReader(path: request.path)
        let head = try stream.next(FileContents.headBytes)
        switch FileContents(head: head) {
        case .lines: return try lines.read(stream, after: head, body)
        // Whatever follows, such a stream cannot be read. The error is thrown before the stream is
        // copied.
        case .empty where head.count == FileContents.headBytes, .unknown, .foreign, .partOfX:
            return try readFile(size: head.count, head: head, body)
        default: break
        }
        let copy = try StreamCopy(of: stream, after: head, atMost: request.limits.totalBytes)
        var reader = self
        reader.request.path = copy.path
        do {
            var summary = try reader.readFile(size: copy.size, head: head, body)
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
        size: Int, head: [UInt8], _ body: (ArchiveItem) throws -> Void
    ) throws -> ImportSummary {
        switch FileContents(head: head) {
        case .packed(let packing):
            let source = PackedSource(
                path: request.path, packing: packing, size: size, limits: request.limits)
            return try readMembers(source, body)
        case .mastodonList:
            return try readMembers(
                single(
                    MastodonArchive.list(for: request.purpose), besides: MastodonArchive.actorFile),
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
                localized(
                    "a single file of an archive of X; give the folder that holds its data folder"))
        case .foreign(let problem): throw notAnArchive(problem)
        case .empty: throw ImportError(.nothingToRead, path: request.path, localized("it is empty"))
        case .unknown:
            throw notAnArchive(
                localized(
                    """
                    expected an archive of X or Mastodon (zip, tar.gz or folder), X's tweets.csv, a file of \
                    mastodon-archive, an export of Misskey or Pixelfed, a repository of Bluesky (CAR), its records as \
                    JSON, or JSON Lines, one object on each line
                    """))
        }
    }

    private var lines: JSONLinesReader {
        JSONLinesReader(
            path: request.path, purpose: purpose, network: request.network,
            localHost: request.localHost,
            limits: request.limits, now: request.now)
    }

    /// Returns a source with this one file, under the name that it has in an archive.
    ///
    /// The source also has the file `neighbour` of the same folder, which names the owner, if it
    /// exists.
    private func single(_ name: String, besides neighbour: String? = nil) -> FileSource {
        var files = [(name: name, path: request.path)]
        if let neighbour {
            let path = URL(fileURLWithPath: request.path).deletingLastPathComponent()
                .appendingPathComponent(neighbour)
            // The `try?` is nil for a neighbour that does not exist, which is left out.
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
                    ? localized(
                        "it holds zips; unpack all of them into one folder, and give that folder")
                    : localized(
                        """
                        no archive is in it; expected the zip that X made, the folder with data/tweets.js in it, the \
                        archive of a Mastodon server with outbox.json in it, or a file of mastodon-archive, Misskey or \
                        Pixelfed
                        """))
        }
        guard Set(parts).count == parts.count else {
            throw notAnArchive(
                localized(
                    "several archives are in it; unpack it, and give the folder of one of them"))
        }
        var summary = try format.init(request, parts: parts).read(source, body)
        // For a single file, no list of files is reported.
        if !(files is FileSource) { source.addFiles(to: &summary) }
        return summary
    }

    private func notAnArchive(_ reason: String) -> ImportError {
        ImportError(.notAnArchive, path: request.path, reason)
    }
}

/// The limits of the resources that an archive may use.
package struct ImportLimits: Equatable, Sendable {
    /// Bytes that one pass over an archive may unpack or read; JSON Lines, which are not packed,
    /// have no such limit.
    package var totalBytes = 16 << 30
    /// The maximum ratio of the size of the content to the size of the zip or tar, for content
    /// larger than `ratioFreeBytes`.
    ///
    /// Posts as JSON are compressed by a factor of 10 or 20, a zip bomb by more than 500.
    package var ratio = 200
    /// Content up to this size is never treated as a bomb.
    package var ratioFreeBytes = 64 << 20
    /// The largest item of a list, such as a post or a like, and the largest file with a single
    /// object, in bytes.
    package var elementBytes = 1 << 20
    /// The largest line of JSON Lines, in bytes.
    package var lineBytes = 1 << 20
    /// The maximum depth of lists and objects in an item.
    package var nesting = 64
    /// The number of problems that are kept in detail; further ones are only counted.
    package var problems = 100
    /// The bytes of memory for the full texts of long posts, which are kept until their posts are
    /// read.
    package var noteBytes = 32 << 20
    /// The number of ids of deleted posts that are remembered while posts are read.
    package var deletedPosts = 1_000_000
    /// The number of posts of an archive of the Mastodon family that are remembered, to recognize
    /// replies to them.
    package var ownPosts = 1_000_000

    package init() {}
}

/// The parameters of one reading of an archive.
struct ImportRequest: Sendable {
    /// The path as it was given, or `-`.
    var path: String
    var purpose: ImportPurpose
    /// The network of the ids and names in JSON Lines.
    var network: NetworkName
    /// The host of names without one, if the caller knows it.
    var localHost: String?
    var limits: ImportLimits
    /// Whether to read the picture files of a post; nil to read none.
    var wantsPictures: (@Sendable (Post) -> Bool)?
    /// The assumed owner of an archive that does not name one.
    var owner: AccountID?
    /// Whether posts in communities of X are read.
    var includesCommunities = false
    /// Whether the posts are examined and not stored.
    var examinesOnly = false
    /// The present, the latest possible time of a post.
    var now = Date()
}

/// A kind of archive that is made of files.
///
/// Each kind is a type that conforms to this protocol and is listed in ``ArchiveReader``.
protocol ArchiveFormat: Sendable {
    /// Whether a file of this name may be opened. All other files stay closed.
    static func isPart(_ name: String) -> Bool

    /// Whether an archive with these parts is of this kind.
    static func recognizes(_ parts: [String]) -> Bool

    /// Prepares to read an archive with these `parts`, in this order.
    init(_ request: ImportRequest, parts: [String])

    /// Passes all items for the purpose to `body`.
    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws
        -> ImportSummary
}
