import Foundation
import Localization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Reads a file, a pipe or standard input from the start to the end.
final class FileReader {
    /// The kind of file at a path.
    enum Kind { case file(size: Int), folder, stream }

    let path: String
    private let descriptor: Int32
    private let closesDescriptor: Bool

    /// Opens a path; `-` is standard input.
    ///
    /// - Throws: ``ImportError`` `.notFound` or `.unreadable`.
    init(path: String) throws {
        self.path = path
        closesDescriptor = path != "-"
        descriptor = closesDescriptor ? open(path, O_RDONLY | O_CLOEXEC) : 0
        guard descriptor >= 0 else { throw Self.error(path, number: errno) }
    }

    deinit { if closesDescriptor { close(descriptor) } }

    /// Returns the kind of file at `path`; follows links.
    static func kind(of path: String) throws -> Kind {
        guard path != "-" else { return .stream }
        var information = stat()
        guard stat(path, &information) == 0 else { throw error(path, number: errno) }
        switch information.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: return .file(size: Int(information.st_size))
        default: return .stream
        }
    }

    /// The first bytes of a regular file.
    static func head(of path: String, count: Int) throws -> [UInt8] {
        try FileReader(path: path).next(count)
    }

    /// Opens a text, and reads its first bytes.
    ///
    /// - Parameters:
    ///   - path: A path, or `-` for standard input.
    ///   - noun: The expected format, such as `JSON Lines`.
    /// - Returns: The reader of the remaining text, and the first bytes.
    /// - Throws: ``ImportError``; `.notAnArchive` if it is not text.
    static func text(at path: String, expecting noun: String) throws -> (
        stream: FileReader, head: [UInt8]
    ) {
        let stream = try FileReader(path: path)
        let head = try stream.next(FileContents.headBytes)
        if let problem = FileContents(head: head).problem(expecting: noun) {
            throw ImportError(.notAnArchive, path: path, problem)
        }
        return (stream, head)
    }

    /// Reads the next bytes, fewer only at the end.
    func next(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var readCount = 0
        while readCount < count {
            let newCount = bytes[readCount...].withUnsafeMutableBytes { buffer in
                Self.readRetrying(descriptor, buffer)
            }
            guard newCount >= 0 else { throw Self.error(path, number: errno) }
            guard newCount > 0 else { break }
            readCount += newCount
        }
        return Array(bytes.prefix(readCount))
    }

    /// Passes on the remaining bytes, in order, until the end or until `body` returns false.
    func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = buffer.withUnsafeMutableBytes { Self.readRetrying(descriptor, $0) }
            guard count >= 0 else { throw Self.error(path, number: errno) }
            guard count > 0 else { return }
            let wantsMore = try buffer.withUnsafeBytes {
                try body(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            guard wantsMore else { return }
        }
    }

    /// Passes on bytes that were read before, and then the remaining ones, until `body` returns
    /// false.
    func forEachChunk(after head: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        if try head.withUnsafeBytes(body) { try forEachChunk(body) }
    }

    private static func readRetrying(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer)
        -> Int
    {
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    private static func error(_ path: String, number: Int32) -> ImportError {
        guard number != ENOENT, number != ENOTDIR else {
            return ImportError(.notFound, path: path, localized("there is no such file or folder"))
        }
        let reason = String(cString: strerror(number)).lowercased()
        return ImportError(
            .unreadable, path: path,
            number == EACCES
                ? localized(
                    "\(reason); let this user (number \(geteuid())) read it with chown or chmod")
                : reason)
    }
}

/// The format of a file or stream, recognized by its first bytes and not by its name.
enum FileContents: Equatable {
    case packed(Packing)
    /// A list of an archive of the Mastodon family.
    case mastodonList
    /// Posts in the form of Mastodon's API: a file of mastodon-archive with several lists, or one
    /// list.
    case statuses(isBackup: Bool)
    case misskeyNotes
    /// The table of posts of an old archive of X.
    case xTable
    case blueskyRecords
    /// A complete Bluesky repository, as a CAR file.
    case blueskyRepository
    /// A file from inside an archive of X.
    case partOfX
    /// An unsupported packing or encoding, and how to convert it.
    case foreign(String)
    case empty
    /// One object on each line, as far as the first bytes show.
    case lines
    case unknown

    /// The number of bytes at the start of a file by which its format is recognized.
    static let headBytes = 1 << 16

    init(head: [UInt8]) {
        // The signatures of zip, of gzip, and of tar, which is at byte 257.
        if head.starts(with: [0x50, 0x4B]) {
            self = .packed(.zip)
        } else if head.starts(with: [0x1F, 0x8B])
            || head.dropFirst(257).starts(with: Array("ustar".utf8))
        {
            self = .packed(.tar)
        } else if Self.isRepository(head) {
            self = .blueskyRepository
        } else if let foreign = Self.foreignStarts.first(where: { head.starts(with: $0.start) }) {
            self = .foreign(foreign.problem.description)
        } else {
            let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
            let isPartOfX = ["window.YTD", "Grailbird"].contains {
                text.starts(with: Array($0.utf8))
            }
            self =
                if isPartOfX {
                    .partOfX
                } else if XTable.begins(text) {
                    .xTable
                } else {
                    Self.documents(text)
                }
        }
    }

    /// The reason why the first bytes are not text, and the remedy; nil if they may be text.
    ///
    /// - Parameter noun: The expected format, such as `JSON Lines`.
    func problem(expecting noun: String) -> String? {
        switch self {
        case .packed(let packing):
            localized(
                "it is a \(packing.noun); unpack it, and give the file with \(noun) that is in it")
        case .blueskyRepository:
            localized("it is a repository of Bluesky (CAR); expected \(noun)")
        case .foreign(let problem): problem
        default: nil
        }
    }

    private static let foreignStarts: [(start: [UInt8], problem: LocalizedText)] = [
        (
            [0x37, 0x7A, 0xBC, 0xAF],
            LocalizedText("it is packed with 7z; unpack it, and give what comes out")
        ),
        (
            Array("Rar!".utf8),
            LocalizedText("it is packed with rar; unpack it, and give what comes out")
        ),
        (
            [0xFD, 0x37, 0x7A, 0x58],
            LocalizedText("it is packed with xz; unpack it with xz -d, and give what comes out")
        ),
        (
            Array("BZh".utf8),
            LocalizedText(
                "it is packed with bzip2; unpack it with bunzip2, and give what comes out")
        ),
        (
            [0x28, 0xB5, 0x2F, 0xFD],
            LocalizedText("it is packed with zstd; unpack it with zstd -d, and give what comes out")
        ),
        ([0xFF, 0xFE], LocalizedText("it is written as UTF-16; save it as UTF-8")),
        ([0xFE, 0xFF], LocalizedText("it is written as UTF-16; save it as UTF-8")),
        (
            Array("SQLite format 3".utf8),
            LocalizedText(
                "it is a database of SQLite and no archive; mirror-bot move takes a mirror to another database"
            )
        ),
        (Array("%PDF".utf8), LocalizedText("it is a PDF; download the posts as an archive")),
        (
            Array("<!DOCTYPE".utf8),
            LocalizedText("it is a page of the web; download the archive itself")
        ),
        (
            Array("<html".utf8),
            LocalizedText("it is a page of the web; download the archive itself")
        ),
    ]

    private static func documents(_ text: ArraySlice<UInt8>) -> FileContents {
        guard let first = text.first(where: { !Byte.isWhitespace($0) }) else { return .empty }
        if first == Byte.openBrace || first == Byte.openBracket, let kind = kindOfDocuments(text) {
            return kind
        }
        let lines = text.split(separator: Byte.lineFeed).filter {
            !$0.allSatisfy(Byte.isWhitespace)
        }
        let beginnings = lines.compactMap { line in line.first { !Byte.isWhitespace($0) } }
        if first == Byte.openBracket {
            return .foreign(
                localized(
                    "it is one JSON list that is no known archive, and no JSON Lines; write each post as an object on a line of its own, as docs/archives.md shows"
                ))
        }
        guard beginnings.contains(Byte.openBrace) else { return .unknown }
        return first == Byte.openBrace && isOneObject(lines: lines, beginnings: beginnings)
            ? .foreign(
                localized(
                    "it is one JSON object that is no known archive, and no JSON Lines; write each post as an object on a line of its own, as docs/archives.md shows"
                )) : .lines
    }

    /// Whether the text is one object instead of JSON Lines: the object spans several lines, or it
    /// is the only line and contains lists of objects instead of a post.
    private static func isOneObject(
        lines: [ArraySlice<UInt8>], beginnings: [UInt8]
    ) -> Bool {
        // The `try?` is nil if the first line is no JSON: it may be the beginning of an object on
        // several lines.
        let firstObject = try? JSON(Array(lines[0]))
        guard let firstObject else {
            return beginnings.count > 1 && beginnings[1] != Byte.openBrace
        }
        guard lines.count == 1, firstObject["text"] == nil else { return false }
        return firstObject.members.contains { $0.value.list.first?.isObject == true }
    }

    /// Returns the format of the documents, by the key of their list and their first item; nil if
    /// it is unknown.
    private static func kindOfDocuments(_ text: ArraySlice<UInt8>) -> FileContents? {
        var splitter = DocumentSplitter(
            lists: MastodonArchive.lists + [BlueskyRecords.list] + SavedStatuses.lists,
            limits: ImportLimits())
        var item: [UInt8]?
        func take(_ element: SplitElement) throws {
            // The `try?` is nil for an item that is too long, whose kind stays unknown.
            item = try? element.content.get()
            throw FirstItemFound()
        }
        do {
            try text.withUnsafeBytes { try splitter.feed($0, take) }
            // Without a complete item, the search ends here: only the first bytes of the file were
            // read.
        } catch is FirstItemFound {
        } catch {
            return nil
        }
        // The `try?` is nil for an item that is no JSON, whose kind stays unknown.
        let first = item.flatMap { try? JSON($0) }
        guard let list = splitter.list else {
            guard let first else { return nil }
            if isRecord(first) { return .blueskyRecords }
            if SavedStatuses.isStatus(first) { return .statuses(isBackup: false) }
            return MisskeyNotes.isNote(first) ? .misskeyNotes : nil
        }
        if SavedStatuses.lists.contains(list) { return .statuses(isBackup: true) }
        guard list == BlueskyRecords.list else { return .mastodonList }
        // Without a complete item, the key of the list decides.
        return item == nil || first.map(isRecord) == true ? .blueskyRecords : nil
    }

    private static func isRecord(_ item: JSON) -> Bool {
        item["uri"]?.text?.hasPrefix("at://") == true
    }

    /// Whether the file begins with the header of a CAR, a small map with the keys `roots` and
    /// `version`.
    private static func isRepository(_ head: [UInt8]) -> Bool {
        let header = head.prefix(128)
        return header.first.map { $0 != Byte.openBrace } == true
            // In CBOR, a text of five letters begins with 0x65, and one of seven with 0x67.
            && header.firstRange(of: [0x65] + Array("roots".utf8)) != nil
            && header.firstRange(of: [0x67] + Array("version".utf8)) != nil
    }

    /// Thrown at the first item, to end the search.
    private struct FirstItemFound: Error {}
}
