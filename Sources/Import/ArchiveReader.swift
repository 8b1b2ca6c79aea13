import Foundation
package import Posts

/// Reads what a person downloaded, whatever it is: an archive of X or of the Mastodon family, packed or extracted,
/// a repository of Bluesky (CAR) or its records as JSON, or JSON Lines.
///
/// Memory stays flat however large the archive is. Nothing is written anywhere.
package struct ArchiveReader: Sendable {
    /// The kinds of archives made of files, in the order in which they are tried.
    private static let formats: [any ArchiveFormat.Type] = [XArchive.self, MastodonArchive.self]

    private let request: ImportRequest
    /// What JSON Lines are read for; an archive is the same whether its posts are kept or looked at.
    private let purpose: ImportPurpose

    /// - Parameters:
    ///   - path: The zip, the tar, the folder or the file; `-` is JSON Lines from standard input.
    ///   - purpose: What the archive is read for.
    ///   - network: Where the ids and names of JSON Lines belong; an archive knows itself.
    ///   - localHost: Completes names without a host in JSON Lines. In an archive of the Mastodon family it is the host
    ///     of the owner's name where the server answers below that host, as `social.example.org` for `example.org`.
    ///   - limits: How much the archive may ask of the machine.
    ///   - wantsPictures: Whether the files of the pictures of a post are read as well; nil to read none.
    package init(
        path: String, purpose: ImportPurpose, network: NetworkName = .mastodon, localHost: String? = nil,
        limits: ImportLimits = ImportLimits(), wantsPictures: (@Sendable (Post) -> Bool)? = nil
    ) {
        self.purpose = purpose
        request = ImportRequest(
            path: path, purpose: purpose == .texts ? .scheduler : purpose, network: network, localHost: localHost,
            limits: limits, wantsPictures: wantsPictures)
    }

    /// Reads everything that serves the purpose, in the order of the archive; blocks the thread while it does.
    ///
    /// An archive that is not safe to read is refused before anything is handed over. Only damage inside a zip's data
    /// shows later; what was handed over before it is good, and reading a better copy again does no harm.
    ///
    /// - Parameter body: Gets each item; an error that it throws ends the reading.
    /// - Returns: What was read and what was not.
    /// - Throws: ``ImportError``, or what `body` throws.
    package func read(_ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        switch try FileReader.kind(of: request.path) {
        case .folder: try readMembers(try FolderSource(path: request.path, limits: request.limits), body)
        case .stream: try lines.read(body)
        case .file(let size): try readFile(size: size, body)
        }
    }

    private func readFile(size: Int, _ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        let head = try FileReader.head(of: request.path, count: FileContents.headBytes)
        switch FileContents(head: head) {
        case .packed(let packing):
            let source = PackedSource(path: request.path, packing: packing, size: size, limits: request.limits)
            return try readMembers(source, body)
        case .mastodonList: return try readMembers(single, body)
        case .blueskyRecords: return try BlueskyRecords(request).read(body)
        case .lines: return try lines.read(body)
        case .blueskyRepository:
            return try BlueskyRepository(request).read(size: size, body)
        case .partOfX:
            throw notAnArchive("a single file of an archive of X; give the folder that holds its data folder")
        case .empty: throw ImportError(.nothingToRead, path: request.path, "it is empty")
        case .unknown:
            throw notAnArchive(
                "expected an archive of X or Mastodon (zip, tar.gz or folder), a repository of Bluesky (CAR), its "
                    + "records as JSON, or JSON Lines, one object on each line")
        }
    }

    private var lines: JSONLinesReader {
        JSONLinesReader(
            path: request.path, purpose: purpose, network: request.network, localHost: request.localHost,
            limits: request.limits)
    }

    /// One list of an archive of the Mastodon family, with what tells whose it is where that stands beside it.
    private var single: FileSource {
        let actor = URL(fileURLWithPath: request.path).deletingLastPathComponent()
            .appendingPathComponent(MastodonArchive.actor).path
        var files = [(name: MastodonArchive.list(for: request.purpose), path: request.path)]
        if case .file? = try? FileReader.kind(of: actor) { files.insert((MastodonArchive.actor, actor), at: 0) }
        return FileSource(files: files)
    }

    private func readMembers(
        _ source: any MemberSource, _ body: (ArchiveItem) throws -> Void
    ) throws -> ImportSummary {
        let parts = try source.names { name in Self.formats.contains { $0.isPart(name) } }
        guard let format = Self.formats.first(where: { $0.recognizes(parts) }) else {
            throw notAnArchive(
                "no archive is in it; expected the zip that X made, the folder with data/tweets.js in it, "
                    + "or the archive of a Mastodon server with outbox.json in it")
        }
        return try format.init(request, parts: parts).read(source, body)
    }

    private func notAnArchive(_ reason: String) -> ImportError {
        ImportError(.notAnArchive, path: request.path, reason)
    }
}

/// How much an archive may ask of the machine.
package struct ImportLimits: Equatable, Sendable {
    /// Bytes that one pass over an archive may unpack or read; JSON Lines, which are not packed, have no such limit.
    package var totalBytes = 16 << 30
    /// How many times larger than the zip or tar its content may be, once it exceeds `ratioFreeBytes`.
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
    /// Posts of an archive of the Mastodon family that are remembered, to know an answer to one of them.
    package var ownPosts = 1_000_000

    package init() {}
}

/// What is asked of a reader.
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
    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws -> ImportSummary
}
