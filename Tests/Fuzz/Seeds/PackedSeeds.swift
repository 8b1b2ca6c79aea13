import CArchive
import Foundation

/// Small archives as zip, tar and tar.gz.
enum PackedSeeds {
    private static let files = [
        ("data/account.js", "window.YTD.account.part0 = [ {\"account\":{\"accountId\":\"1\"}} ]"),
        ("data/tweets.js", ArchiveSeeds.x[0]), ("../evil", "x"),
        ("outbox.json", ArchiveSeeds.bluesky[0]),
    ]

    static let all: [[UInt8]] = [
        packed([0, 1]) { archive_write_set_format_zip($0) },
        packed([0, 1, 2]) { archive_write_set_format_zip($0) },
        packed([0, 1, 3]) { archive_write_set_format_ustar($0) },
        packed([1, 3]) { archive_write_set_format_pax($0) },
        packed([0, 1]) { archive in
            archive_write_add_filter_gzip(archive)
            return archive_write_set_format_ustar(archive)
        },
    ].filter { !$0.isEmpty }

    /// The chosen files in one; empty if libarchive cannot do it.
    private static func packed(_ chosen: [Int], _ prepare: (OpaquePointer) -> CInt) -> [UInt8] {
        guard let archive = archive_write_new() else { return [] }
        defer { archive_write_free(archive) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var used = 0
        let status = buffer.withUnsafeMutableBytes { bytes in
            guard prepare(archive) == ARCHIVE_OK,
                archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK,
                archive_write_open_memory(archive, bytes.baseAddress, bytes.count, &used)
                    == ARCHIVE_OK
            else { return ARCHIVE_FATAL }
            for index in chosen { add(files[index], to: archive) }
            return archive_write_close(archive)
        }
        return status == ARCHIVE_OK ? Array(buffer[..<used]) : []
    }

    private static func add(_ file: (name: String, contents: String), to archive: OpaquePointer) {
        guard let entry = archive_entry_new() else { return }
        defer { archive_entry_free(entry) }
        let bytes = Array(file.contents.utf8)
        archive_entry_set_pathname(entry, file.name)
        archive_entry_set_size(entry, Int64(bytes.count))
        archive_entry_set_filetype(entry, 0o100000)
        archive_entry_set_perm(entry, 0o644)
        archive_write_header(archive, entry)
        _ = bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) }
    }
}
