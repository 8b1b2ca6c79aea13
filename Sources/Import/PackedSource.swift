internal import CArchive
import Localization

/// The packing of an archive's files.
enum Packing {
    case zip
    /// A tar, compressed with gzip or not.
    case tar

    /// The usual name of the format.
    var noun: String { self == .zip ? "zip" : "tar" }
}

/// The files of a zip or a tar.
///
/// The names of the files in a zip are read from the list at its end, so that a download that was
/// cut off is noticed before any file is read. A tar has no such list and can only be read
/// sequentially; listing its files unpacks it once, so that a tar that was cut off is noticed too.
struct PackedSource: MemberSource {
    private let path: String
    private let packing: Packing
    private let limits: ImportLimits
    private let size: Int

    /// - Parameters:
    ///   - path: The path of a regular file.
    ///   - limits: The limits of the unpacked size.
    init(path: String, packing: Packing, size: Int, limits: ImportLimits) {
        self.path = path
        self.packing = packing
        self.size = size
        self.limits = limits
    }

    func names(where isWanted: (String) -> Bool) throws -> [String] {
        var names: [String] = []
        var declaredBytes = 0
        try forEachFile { name, isRegular, reader in
            guard isWanted(name) else { return }
            guard isRegular else { throw unsafe(name) }
            let (sum, overflow) = declaredBytes.addingReportingOverflow(reader.declaredSize)
            declaredBytes = sum
            if overflow || declaredBytes > allowedBytes { throw bomb(allowedBytes) }
            names.append(name)
        }
        return names
    }

    func read(_ open: (String) throws -> (any MemberSink)?) throws {
        var unpackedBytes = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        try forEachFile { name, isRegular, reader in
            guard let sink = try open(name) else { return }
            guard isRegular else { throw unsafe(name) }
            while true {
                let count = try reader.readData(into: &buffer, of: name)
                guard count > 0 else { break }
                unpackedBytes += count
                guard unpackedBytes <= allowedBytes else { throw bomb(allowedBytes) }
                try buffer.withUnsafeBytes {
                    try sink.feed(UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
            }
            try sink.finish()
        }
    }

    /// The maximum number of bytes that are read.
    private var allowedBytes: Int { min(limits.totalBytes, allowedUnpackedBytes) }

    /// The maximum number of bytes that are unpacked, whether they are read or skipped.
    ///
    /// It is proportional to the size of the file, but at least ``ImportLimits/ratioFreeBytes``.
    private var allowedUnpackedBytes: Int {
        let (proportional, overflow) = size.multipliedReportingOverflow(by: limits.ratio)
        return max(limits.ratioFreeBytes, overflow ? .max : proportional)
    }

    private func bomb(_ allowed: Int) -> ImportError {
        ImportError(
            .bomb, path: path,
            localized(
                "it would unpack to more than \(allowed >> 20) MiB, which no archive of this size does"
            ))
    }

    private func unsafe(_ name: String) -> ImportError {
        ImportError(
            .unsafePath, path: path,
            localized("the name \(MemberName.shown(name)) leads out of the archive"))
    }

    private func forEachFile(
        _ body: (_ name: String, _ isRegular: Bool, _ reader: PackedReader) throws -> Void
    ) throws {
        let reader = try PackedReader(path: path, packing: packing)
        while try reader.next() {
            guard !reader.isEncrypted else {
                throw ImportError(
                    .encrypted, path: path,
                    localized(
                        "the zip is encrypted; unpack it with its password and give the folder"))
            }
            let name = reader.name
            if let name {
                guard !MemberName.isUnsafe(name) else { throw unsafe(name) }
                if !reader.isFolder, let unwrapped = MemberName.unwrapped(name) {
                    try body(unwrapped, reader.isRegularFile, reader)
                }
            }
            if packing == .tar { try skipData(of: reader, name: name ?? "") }
        }
    }

    /// Skips the remaining data of a tar's entry block by block, so that a bomb is noticed before
    /// the end of the entry.
    private func skipData(of reader: PackedReader, name: String) throws {
        func check() throws {
            if reader.unpackedBytes > allowedUnpackedBytes { throw bomb(allowedUnpackedBytes) }
        }
        try check()
        try reader.skipData(of: name, checkingWith: check)
    }
}

/// Reads a zip or a tar with libarchive; owns its `struct archive`.
final class PackedReader {
    private static let typeMask: UInt32 = 0o170000
    private static let typeRegular: UInt32 = 0o100000
    private static let typeFolder: UInt32 = 0o040000

    private let path: String
    private let packing: Packing
    private let handle: OpaquePointer
    private var entry: OpaquePointer?
    private var hasBegun = false

    init(path: String, packing: Packing) throws {
        guard let handle = archive_read_new() else {
            throw ImportError(.unreadable, path: path, localized("out of memory"))
        }
        self.handle = handle
        self.path = path
        self.packing = packing
        switch packing {
        case .zip: archive_read_support_format_zip_seekable(handle)
        case .tar:
            archive_read_support_format_tar(handle)
            archive_read_support_filter_gzip(handle)
        }
        guard archive_read_open_filename(handle, path, 1 << 18) == ARCHIVE_OK else {
            throw incompleteError
        }
    }

    deinit { archive_read_free(handle) }

    /// Moves to the next entry; false at the end.
    ///
    /// In a zip the data of the previous entry is skipped without being unpacked.
    func next() throws -> Bool {
        let status = archive_read_next_header(handle, &entry)
        defer { hasBegun = true }
        switch status {
        // A warning means only that a name is in another character set.
        case ARCHIVE_OK, ARCHIVE_WARN: return true
        case ARCHIVE_EOF: return false
        default: throw incompleteError
        }
    }

    private var incompleteError: ImportError {
        // No format was recognized before the first entry, so the packed content is no tar, or was
        // cut off.
        if packing == .tar, !hasBegun, archive_format(handle) & ARCHIVE_FORMAT_BASE_MASK == 0 {
            return ImportError(
                .notAnArchive, path: path,
                localized(
                    """
                    what is packed in it is no archive, or was cut off; \
                    unpack it and give what comes out, or download it again
                    """))
        }
        return ImportError(
            .damaged, path: path,
            localized(
                "the \(packing.noun) is incomplete or damaged: its list of files cannot be read; download it again"
            )
        )
    }

    var name: String? {
        entry.flatMap { archive_entry_pathname($0) ?? archive_entry_pathname_utf8($0) }.map {
            String(cString: $0)
        }
    }

    var isEncrypted: Bool { entry.map { archive_entry_is_encrypted($0) != 0 } ?? false }
    var isFolder: Bool { type == Self.typeFolder }
    /// Whether the entry is a file and not a link.
    var isRegularFile: Bool {
        type == Self.typeRegular && entry.map { archive_entry_hardlink($0) == nil } ?? false
    }
    /// The size in bytes that the archive declares; the real one is counted while reading.
    var declaredSize: Int { entry.map { Int(max(0, archive_entry_size($0))) } ?? 0 }
    /// The number of bytes unpacked so far; meaningful for a tar, which is unpacked sequentially.
    var unpackedBytes: Int { Int(max(0, archive_filter_bytes(handle, 0))) }

    private var type: UInt32 {
        entry.map { UInt32(archive_entry_filetype($0)) & Self.typeMask } ?? 0
    }

    /// Reads the next bytes of the entry; 0 at its end.
    func readData(into buffer: inout [UInt8], of name: String) throws -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes {
                archive_read_data(handle, $0.baseAddress, $0.count)
            }
            if count >= 0 { return count }
            if count == Int(ARCHIVE_RETRY) { continue }
            throw damaged(name)
        }
    }

    /// Skips the remaining data of the entry.
    ///
    /// - Parameters:
    ///   - name: The entry's name, for the error.
    ///   - check: Called after each block.
    /// - Throws: ``ImportError`` for damaged data, or what `check` throws.
    func skipData(of name: String, checkingWith check: () throws -> Void) throws {
        var block: UnsafeRawPointer?
        var count = 0
        var offset: Int64 = 0
        while true {
            switch archive_read_data_block(handle, &block, &count, &offset) {
            case ARCHIVE_EOF: return
            case ARCHIVE_OK, ARCHIVE_WARN, ARCHIVE_RETRY: try check()
            default: throw damaged(name)
            }
        }
    }

    private func damaged(_ name: String) -> ImportError {
        ImportError(
            .damaged, path: path,
            localized(
                "the \(packing.noun) is damaged: \(MemberName.shown(name)) cannot be unpacked; download it again"
            )
        )
    }
}
