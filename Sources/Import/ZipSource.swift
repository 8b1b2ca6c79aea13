internal import CArchive
import Foundation

/// The files of a zip.
///
/// Only the list at the end of a zip is trusted to say what is in it, so that a
/// download that was cut off is noticed before anything is read.
struct ZipSource: MemberSource {
    private let path: String
    private let limits: ImportLimits
    private let size: Int

    /// - Parameters:
    ///   - path: The path of a regular file.
    ///   - size: The size of that file.
    ///   - limits: How much it may unpack to.
    init(path: String, size: Int, limits: ImportLimits) {
        self.path = path
        self.size = size
        self.limits = limits
    }

    func names(where isWanted: (String) -> Bool) throws -> [String] {
        var names: [String] = []
        var declared = 0
        try forEachFile { name, _, reader in
            guard isWanted(name) else { return }
            let (sum, overflow) = declared.addingReportingOverflow(reader.declaredSize)
            declared = sum
            if overflow || declared > allowedBytes { throw bomb }
            names.append(name)
        }
        return names
    }

    func read(_ open: (String) throws -> (any MemberSink)?) throws {
        var unpacked = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        try forEachFile { name, isRegular, reader in
            guard let sink = try open(name) else { return }
            guard isRegular else { throw unsafe(name) }
            while true {
                let count = try reader.readData(into: &buffer, of: name)
                guard count > 0 else { break }
                unpacked += count
                guard unpacked <= allowedBytes else { throw bomb }
                try buffer.withUnsafeBytes { try sink.feed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            }
            try sink.finish()
        }
    }

    /// Never more than `limits.totalBytes`; proportional to the zip once it is past the free allowance.
    private var allowedBytes: Int {
        let (proportional, overflow) = size.multipliedReportingOverflow(by: limits.ratio)
        return min(limits.totalBytes, max(limits.ratioFreeBytes, overflow ? .max : proportional))
    }

    private var bomb: ImportError {
        ImportError(
            .bomb, path: path,
            "it would unpack to more than \(allowedBytes >> 20) MiB, which no archive of this size does")
    }

    private func unsafe(_ name: String) -> ImportError {
        ImportError(.unsafePath, path: path, "the name \(MemberName.shown(name)) leads out of the archive")
    }

    private func forEachFile(_ body: (String, Bool, ZipReader) throws -> Void) throws {
        let reader = try ZipReader(path: path)
        while try reader.next() {
            guard !reader.isEncrypted else {
                throw ImportError(
                    .encrypted, path: path, "the zip is encrypted; unpack it with its password and give the folder")
            }
            guard let name = reader.name else { continue }
            guard !MemberName.isUnsafe(name) else { throw unsafe(name) }
            guard !reader.isFolder, let unwrapped = MemberName.unwrapped(name) else { continue }
            try body(unwrapped, reader.isRegularFile, reader)
        }
    }
}

/// The one owner of a `struct archive` that reads a zip.
private final class ZipReader {
    private static let typeMask: UInt32 = 0o170000
    private static let typeRegular: UInt32 = 0o100000
    private static let typeFolder: UInt32 = 0o040000

    private let path: String
    private let handle: OpaquePointer
    private var entry: OpaquePointer?

    init(path: String) throws {
        guard let handle = archive_read_new() else {
            throw ImportError(.unreadable, path: path, "out of memory")
        }
        self.handle = handle
        self.path = path
        archive_read_support_format_zip_seekable(handle)
        guard archive_read_open_filename(handle, path, 1 << 18) == ARCHIVE_OK else { throw incomplete }
    }

    deinit { archive_read_free(handle) }

    /// Moves to the next entry; false at the end.
    ///
    /// The data of the entry before is skipped without being unpacked.
    func next() throws -> Bool {
        let status = archive_read_next_header(handle, &entry)
        switch status {
        // A warning is about a name in another character set.
        case ARCHIVE_OK, ARCHIVE_WARN: return true
        case ARCHIVE_EOF: return false
        default: throw incomplete
        }
    }

    private var incomplete: ImportError {
        ImportError(
            .damaged, path: path,
            "the zip is incomplete or damaged: its list of files cannot be read; download it again")
    }

    var name: String? {
        entry.flatMap { archive_entry_pathname($0) ?? archive_entry_pathname_utf8($0) }.map { String(cString: $0) }
    }

    var isEncrypted: Bool { entry.map { archive_entry_is_encrypted($0) != 0 } ?? false }
    var isFolder: Bool { type == Self.typeFolder }
    var isRegularFile: Bool { type == Self.typeRegular }
    /// What the zip says; the truth is counted while reading.
    var declaredSize: Int { entry.map { Int(max(0, archive_entry_size($0))) } ?? 0 }

    private var type: UInt32 { entry.map { UInt32(archive_entry_filetype($0)) & Self.typeMask } ?? 0 }

    /// Reads the next bytes of the entry; 0 at its end.
    func readData(into buffer: inout [UInt8], of name: String) throws -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { archive_read_data(handle, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            if count == Int(ARCHIVE_RETRY) { continue }
            throw ImportError(
                .damaged, path: path,
                "the zip is damaged: \(MemberName.shown(name)) cannot be unpacked; download it again")
        }
    }
}
