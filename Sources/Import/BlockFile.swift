import Cryptography
import Formats
import Foundation
import Localization

/// The blocks of a CAR file (version 1), by their content ids.
///
/// One pass records the position of each block; contents are read on demand and verified by their
/// hash. If a file is cut off, the blocks before the cut are used.
final class BlockFile {
    /// The position of a block's contents.
    struct Place {
        var offset: UInt64
        var count: Int
    }

    /// The largest block that is read: a record, or a part of the tree, has at most a megabyte.
    static let largestBlock = 2 << 20
    /// The largest header: a map with a version and some links.
    private static let largestHeader: UInt64 = 65_536
    /// The maximum size, in bytes, of the prefix of a block: its length, and its CID with four
    /// numbers and a hash.
    ///
    /// Each of these numbers takes at most 10 bytes.
    private static let prefixBytes = 10 + 4 * 10 + 128

    private let path: String
    private let handle: FileHandle
    private let size: UInt64
    private let limits: ImportLimits
    private var places: [[UInt8]: Place] = [:]
    /// The bytes of blocks read until now; limited, because a file whose links all lead to one
    /// block would be read without end.
    private var bytesRead = 0
    /// The root blocks, as the header names them.
    private(set) var roots: [ContentID] = []
    /// The reason why the rest of the file could not be read; nil if it was read to its end.
    private(set) var fault: ItemFault?

    /// Reads the header and notes the blocks.
    ///
    /// - Throws: ``ImportError`` if the file is not a CAR file, or exceeds the limits.
    init(path: String, size: Int, limits: ImportLimits) throws {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw ImportError(.unreadable, path: path, localized("it cannot be opened"))
        }
        self.path = path
        self.handle = handle
        self.limits = limits
        self.size = UInt64(max(0, size))
        guard size <= limits.totalBytes else {
            throw ImportError(
                .bomb, path: path,
                localized("it holds more than \(limits.totalBytes >> 20) MiB to read"))
        }
        let begin: UInt64
        do {
            begin = try readHeader()
        } catch let fault as ItemFault {
            throw ImportError(
                .damaged, path: path,
                localized(
                    "its header as a CAR file cannot be read: \(fault.reason); download it again"))
        }
        do {
            try noteBlocks(from: begin)
        } catch let fault as ItemFault {
            self.fault = fault
        }
    }

    /// The verified contents of a block.
    ///
    /// - Throws: ``ItemFault`` for a block that is missing, too large or has another hash;
    ///   ``ImportError`` if the file cannot be read.
    func block(_ name: ContentID) throws -> [UInt8] {
        guard let digest = name.digest, let place = places[digest] else {
            throw ItemFault(localized("its block is missing"))
        }
        guard place.count <= Self.largestBlock else {
            throw ItemFault(localized("its block is too large"))
        }
        bytesRead += place.count
        guard bytesRead <= max(limits.ratioFreeBytes, 4 * Int(size)) else {
            throw ImportError(
                .bomb, path: path,
                localized("its records are said to be far more than the file holds"))
        }
        let bytes = try read(at: place.offset, count: place.count)
        guard bytes.count == place.count, HashFunction.sha256.digest(of: bytes) == digest else {
            throw ItemFault(localized("its block is not what its name says"))
        }
        return bytes
    }

    /// The position of a block in the file, for a message.
    func offset(of name: ContentID) -> Int {
        name.digest.flatMap { places[$0] }.map { Int($0.offset) } ?? 0
    }

    /// Reads the header and returns the position of the first block.
    private func readHeader() throws -> UInt64 {
        let start = try read(at: 0, count: 10)
        var reader = ByteReader(start[...])
        let length = try reader.variableNumber()
        guard (1...Self.largestHeader).contains(length) else {
            throw ItemFault(localized("it has no sensible length"))
        }
        let begin = UInt64(start.count - reader.rest.count)
        let bytes = try read(at: begin, count: Int(length))
        guard bytes.count == Int(length) else { throw ItemFault(localized("it ends early")) }
        let header = try DAGCBOR(bytes, nesting: limits.nesting)
        guard header["version"]?.integer == 1 else {
            throw ItemFault(localized("it is not of version 1"))
        }
        roots = (header["roots"]?.list ?? []).compactMap(\.link)
        guard !roots.isEmpty else { throw ItemFault(localized("it names no root")) }
        return begin + length
    }

    /// Records the position of each block.
    private func noteBlocks(from begin: UInt64) throws {
        var offset = begin
        while offset < size {
            let head = try read(at: offset, count: Self.prefixBytes)
            var reader = ByteReader(head[...])
            let length = try reader.variableNumber()
            let start = offset + UInt64(head.count - reader.rest.count)
            guard length > 0, length <= size - min(start, size) else {
                throw ItemFault(localized("it ends early"))
            }
            let name = try ContentID(&reader)
            let contents = offset + UInt64(head.count - reader.rest.count)
            guard contents <= start + length else {
                throw ItemFault(localized("a block is smaller than its name"))
            }
            if let digest = name.digest, places[digest] == nil {
                places[digest] = Place(offset: contents, count: Int(start + length - contents))
            }
            offset = start + length
        }
    }

    // MARK: The file

    /// A cache of the bytes that were read last; the next block is often among them.
    private var window: (offset: UInt64, bytes: [UInt8]) = (0, [])
    private static let windowBytes = 1 << 18

    /// Reads this many bytes, fewer at the end of the file.
    private func read(at offset: UInt64, count: Int) throws -> [UInt8] {
        if offset >= window.offset,
            offset - window.offset + UInt64(count) <= UInt64(window.bytes.count)
        {
            let first = Int(offset - window.offset)
            return Array(window.bytes[first..<first + count])
        }
        do {
            try handle.seek(toOffset: offset)
            let bytes = Array(try handle.read(upToCount: max(count, Self.windowBytes)) ?? Data())
            window = (offset, bytes)
            return Array(bytes.prefix(count))
        } catch {
            throw ImportError(
                .unreadable, path: path, localized("it cannot be read at byte \(offset)"))
        }
    }
}
