import Foundation

/// What a file holds, judged by its first bytes; names are not asked.
enum FileContents: Equatable {
    case packed(Packing)
    /// One list of an archive of the Mastodon family.
    case mastodonList
    case blueskyRecords
    /// The whole of a Bluesky repository, in the packing of its own that Bluesky gives people to download.
    case blueskyRepository
    /// A file from inside an archive of X.
    case partOfX
    case empty
    /// One object on each line, as far as the beginning tells.
    case lines
    case unknown

    /// How many of the first bytes are asked for.
    static let headBytes = 1 << 16

    init(head: [UInt8]) {
        if head.starts(with: [0x50, 0x4B]) {
            self = .packed(.zip)
        } else if head.starts(with: [0x1F, 0x8B]) || head.dropFirst(257).starts(with: Array("ustar".utf8)) {
            self = .packed(.tar)
        } else if Self.isRepository(head) {
            self = .blueskyRepository
        } else {
            let text = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
            self = text.starts(with: Array("window.YTD".utf8)) ? .partOfX : Self.documents(text)
        }
    }

    private static func documents(_ text: ArraySlice<UInt8>) -> FileContents {
        guard let first = text.first(where: { !Byte.isWhitespace($0) }) else { return .empty }
        if first == Byte.openBrace || first == Byte.openBracket, let kind = kindOfDocuments(text) { return kind }
        let beginnings = text.split(separator: Byte.lineFeed).compactMap { line in
            line.first { !Byte.isWhitespace($0) }
        }
        return beginnings.contains(Byte.openBrace) ? .lines : .unknown
    }

    /// Looks at the first item; nil if it is nothing that we know.
    private static func kindOfDocuments(_ text: ArraySlice<UInt8>) -> FileContents? {
        var splitter = DocumentSplitter(
            lists: MastodonArchive.lists + [BlueskyRecords.list], limits: ImportLimits())
        var item: [UInt8]?
        func take(_ element: SplitElement) throws {
            item = try? element.content.get()
            throw FirstItem()
        }
        do {
            try text.withUnsafeBytes { try splitter.feed($0, take) }
            // Whatever is cut off here is not cut off in the file.
        } catch is FirstItem {
        } catch {
            return nil
        }
        guard let list = splitter.list else { return item.map(isRecord) == true ? .blueskyRecords : nil }
        guard list == BlueskyRecords.list else { return .mastodonList }
        return item.map(isRecord) ?? true ? .blueskyRecords : nil
    }

    private static func isRecord(_ item: [UInt8]) -> Bool {
        let record = try? JSONDecoder().decode(BlueskyWireRecord.self, from: Data(item))
        return record?.uri?.hasPrefix("at://") ?? false
    }

    /// Whether the file begins with the header of a CAR, a small map with the keys `roots` and `version`.
    private static func isRepository(_ head: [UInt8]) -> Bool {
        let header = head.prefix(128)
        return header.first.map { $0 != Byte.openBrace } == true
            && header.firstRange(of: [0x65] + Array("roots".utf8)) != nil
            && header.firstRange(of: [0x67] + Array("version".utf8)) != nil
    }

    /// Ends the looking.
    private struct FirstItem: Error {}
}
