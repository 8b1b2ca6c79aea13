import Foundation
package import Posts

/// Reads what a person downloaded, whatever it is: an archive of X as a zip or an extracted folder, or JSON Lines.
///
/// Memory stays flat however large the archive is. Nothing is written anywhere.
package struct ArchiveReader: Sendable {
    /// The kinds of archives made of files, in the order in which they are tried.
    private static let formats: [any ArchiveFormat.Type] = [XArchive.self, MastodonArchive.self]
    /// How far the first line of JSON Lines is looked for.
    private static let headBytes = 1 << 16

    private let path: String
    private let purpose: ImportPurpose
    private let network: NetworkName
    private let localHost: String?
    private let limits: ImportLimits

    /// - Parameters:
    ///   - path: The zip, the folder or the file; `-` is JSON Lines from standard input.
    ///   - purpose: What the archive is read for.
    ///   - network: Where the ids and names of JSON Lines belong; the archive of X knows itself.
    ///   - localHost: Completes names without a host in JSON Lines.
    ///   - limits: How much the archive may ask of the machine.
    package init(
        path: String, purpose: ImportPurpose, network: NetworkName = .mastodon, localHost: String? = nil,
        limits: ImportLimits = ImportLimits()
    ) {
        self.path = path
        self.purpose = purpose
        self.network = network
        self.localHost = localHost
        self.limits = limits
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
        switch try FileReader.kind(of: path) {
        case .folder: return try readMembers(try FolderSource(path: path, limits: limits), body)
        case .stream: return try lines.read(body)
        case .file(let size):
            let head = try FileReader.head(of: path, count: Self.headBytes)
            if head.starts(with: [0x50, 0x4B]) {
                return try readMembers(ZipSource(path: path, size: size, limits: limits), body)
            }
            try checkLines(head)
            return try lines.read(body)
        }
    }

    private var lines: JSONLinesReader {
        JSONLinesReader(path: path, purpose: purpose, network: network, localHost: localHost, limits: limits)
    }

    private func readMembers(
        _ source: any MemberSource, _ body: (ArchiveItem) throws -> Void
    ) throws -> ImportSummary {
        let parts = try source.names { name in Self.formats.contains { $0.isPart(name) } }
        guard let format = Self.formats.first(where: { $0.recognizes(parts) }) else {
            throw ImportError(
                .notAnArchive, path: path,
                "no archive of X is in it; expected the zip that X made, or the folder with data/tweets.js in it")
        }
        return try format.init(path: path, purpose: purpose, limits: limits, parts: parts).read(source, body)
    }

    /// Tells the files that people give by mistake from JSON Lines with some bad lines.
    private func checkLines(_ head: [UInt8]) throws {
        if head.starts(with: [0x1F, 0x8B]) {
            throw ImportError(
                .unsupported, path: path, "packed with gzip, which cannot be read yet; unpack it and give the folder")
        }
        let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
        if text.starts(with: Array("window.YTD".utf8)) {
            throw ImportError(
                .notAnArchive, path: path,
                "a single file of an archive of X; give the folder that holds its data folder")
        }
        let beginnings = text.split(separator: Byte.lineFeed).compactMap { line in
            line.first { !Byte.isWhitespace($0) }
        }
        guard !beginnings.isEmpty else { throw ImportError(.nothingToRead, path: path, "it is empty") }
        guard beginnings.contains(Byte.openBrace) else {
            throw ImportError(
                .notAnArchive, path: path,
                "expected an archive of X (zip or folder) or JSON Lines, one object on each line")
        }
    }
}
