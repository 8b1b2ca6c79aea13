import Foundation
package import Posts

/// Reads what a person downloaded, whatever it is: an archive of X or of the Mastodon family, packed or extracted,
/// records of Bluesky as JSON, or JSON Lines.
///
/// Memory stays flat however large the archive is. Nothing is written anywhere.
package struct ArchiveReader: Sendable {
    /// The kinds of archives made of files, in the order in which they are tried.
    private static let formats: [any ArchiveFormat.Type] = [XArchive.self, MastodonArchive.self]

    private let request: ImportRequest

    /// - Parameters:
    ///   - path: The zip, the tar, the folder or the file; `-` is JSON Lines from standard input.
    ///   - purpose: What the archive is read for.
    ///   - network: Where the ids and names of JSON Lines belong; an archive knows itself.
    ///   - localHost: Completes names without a host in JSON Lines. In an archive of the Mastodon family it is the host
    ///     of the owner's name where the server answers below that host, as `social.example.org` for `example.org`.
    ///   - limits: How much the archive may ask of the machine.
    package init(
        path: String, purpose: ImportPurpose, network: NetworkName = .mastodon, localHost: String? = nil,
        limits: ImportLimits = ImportLimits()
    ) {
        request = ImportRequest(
            path: path, purpose: purpose, network: network, localHost: localHost, limits: limits)
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
            throw ImportError(
                .unsupported, path: request.path,
                "a repository of Bluesky as a CAR file, which cannot be read; save the answers of "
                    + "com.atproto.repo.listRecords as JSON and give that file")
        case .partOfX:
            throw notAnArchive("a single file of an archive of X; give the folder that holds its data folder")
        case .empty: throw ImportError(.nothingToRead, path: request.path, "it is empty")
        case .unknown:
            throw notAnArchive(
                "expected an archive of X or Mastodon (zip, tar.gz or folder), records of Bluesky as JSON, "
                    + "or JSON Lines, one object on each line")
        }
    }

    private var lines: JSONLinesReader {
        JSONLinesReader(
            path: request.path, purpose: request.purpose, network: request.network, localHost: request.localHost,
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
