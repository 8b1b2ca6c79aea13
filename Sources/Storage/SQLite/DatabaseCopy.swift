import Foundation

/// Restores an embedded database from a backup file.
///
/// ``StorageEngine/backup(to:)`` writes the identity of the database into the header of each copy.
/// A scheduled backup recognizes its own older files by this identity, and touches no others.
package enum DatabaseCopy {
    /// The application id of this program's copies: "mirb" as a number.
    static let application: UInt32 = 0x6D69_7262

    /// The number that identifies a database, derived from its path without links.
    static func number(of database: String) -> UInt32 {
        let path = URL(fileURLWithPath: database).resolvingSymlinksInPath().path
        // 32-bit FNV-1a; SQLite keeps a signed number.
        return path.utf8.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 } & 0x7FFF_FFFF
    }

    /// Whether a file is a backup of the database at `database`; false for a link, and for any file
    /// that cannot be read.
    package static func isBackup(_ path: String, of database: String) -> Bool {
        guard let header = header(of: path), header.count == headerSize else { return false }
        func number(at offset: Int) -> UInt32 {
            header[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        // SQLite's user version and application id (https://www.sqlite.org/fileformat2.html).
        return header.starts(with: magic) && number(at: 68) == application
            && number(at: 60) == Self.number(of: database)
    }

    private static let magic = Array("SQLite format 3\0".utf8)
    private static let headerSize = 100

    private static func header(of path: String) -> [UInt8]? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        // Failing to close a file that was only read loses nothing.
        defer { try? file.close() }
        do {
            // Nil means the end of the file, here an empty file.
            return Array(try file.read(upToCount: headerSize) ?? Data())
        } catch {
            return nil
        }
    }

    /// Removes drafts older than a day, which killed backups have left in a folder.
    ///
    /// - Parameter start: The prefix of the backups' names.
    package static func removeLeftovers(in folder: String, named start: String) {
        SQLiteFile.removeOldDrafts(in: folder, named: start)
    }

    // MARK: Restoring

    /// Copies a backup to a private file beside a database, migrates it, and checks that it is
    /// undamaged.
    ///
    /// The backup itself is only read. The returned draft is closed, and has no log beside it.
    ///
    /// - Parameters:
    ///   - file: The backup.
    ///   - database: The path of the database; its folder is made if it does not exist.
    ///   - prepare: Migrates the tables of the open draft.
    /// - Returns: The path of the draft; remove it with ``remove(_:)``.
    /// - Throws: ``StorageError`` that names the file: `.corrupt` for a file that is damaged or no
    ///   such database, `.outOfDate` for one of a newer program, `.full` and other disk errors; or
    ///   what `prepare` throws. Then no draft is left.
    package static func draft(
        of file: String, for database: String, _ prepare: (any StorageEngine) async throws -> Void
    ) async throws -> String {
        let operation = "restore \(file)"
        guard let header = header(of: file) else {
            throw StorageError(
                .corrupt, operation, because: "it is no ordinary file that can be read")
        }
        guard header.starts(with: magic) else {
            let isDump =
                header.starts(with: Array("PGDMP".utf8))
                || header.starts(with: Array("--\n-- PostgreSQL".utf8))
            throw StorageError(
                .corrupt, operation,
                because: isDump
                    ? "it is a dump of a Postgres database; pg_restore or psql puts it back"
                    : "it is no SQLite database")
        }
        let draft = try SQLiteFile.makeDraft(of: database, operation)
        do {
            try SQLiteFile.copy(file, to: draft, operation)
            do {
                try await SQLiteEngine.open(path: draft).closing { engine in
                    try await engine.requireUndamaged(operation)
                    let isOurs = try await !engine.query(
                        "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'"
                    ).isEmpty
                    guard isOurs else {
                        throw StorageError(
                            .corrupt, operation, because: "it is a database of another program")
                    }
                    try await prepare(engine)
                }
            } catch var error as StorageError where error.operation != operation {
                // The advice behind the semicolon is for a database in use: to restore a backup.
                let plainCause = error.cause.split(separator: "; ").first.map(String.init)
                error.cause =
                    error.code == .corrupt
                    ? "it is damaged: \(plainCause ?? error.cause)" : error.cause
                error.operation = operation
                throw error
            }
            return draft
        } catch {
            SQLiteFile.remove(draft)
            throw error
        }
    }

    /// The error for a file that is not a usable backup.
    package static func unusable(_ file: String, because cause: String) -> StorageError {
        StorageError(.corrupt, "restore \(file)", because: cause)
    }

    /// Removes a draft and SQLite's companion files; a missing one is no error.
    package static func remove(_ draft: String) { SQLiteFile.remove(draft) }

    /// Whether another process has a database open, even if its file is missing or damaged.
    ///
    /// Must not be called while this process has it open.
    package static func isInUse(_ database: String) -> Bool {
        let descriptor = open(database, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Every connection in WAL mode holds a lock on this range
        // (https://www.sqlite.org/src/doc/trunk/src/os.h).
        var lock = flock(
            l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0x4000_0002, l_len: 510,
            l_pid: 0)
        return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Puts a draft in the place of a database that no process uses; the old database is renamed.
    ///
    /// After a crash at any moment, the path leads to one of the two databases, which is complete.
    ///
    /// - Parameters:
    ///   - draft: A closed database on the same file system.
    ///   - database: The path of the database.
    ///   - aside: The new name of the old database and its log; nil if there is none.
    /// - Throws: ``StorageError``; then the old database is still in its place.
    package static func publish(_ draft: String, as database: String, keeping aside: String?) throws
    {
        try SQLiteFile.exchange(
            draft, replacing: database, keeping: aside, "put the backup in the place of \(database)"
        )
    }
}

extension StorageEngine {
    /// Reads the whole database once, and fails if it is damaged.
    ///
    /// - Throws: ``StorageError`` with code `.corrupt` that names the first damage.
    package func requireUndamaged(_ operation: String) async throws {
        try await run(.read) { try $0.requireUndamaged(operation) }
    }
}

extension StorageConnection {
    func requireUndamaged(_ operation: String) throws {
        let report = try query("PRAGMA integrity_check(1)").first?.optionalText("integrity_check")
        guard report == "ok" else {
            let detail =
                report.map { ": " + $0.split(separator: "\n").prefix(2).joined(separator: " ") }
                ?? ""
            throw StorageError(.corrupt, operation, because: "it is damaged\(detail)")
        }
    }
}
