package import Foundation
import Localization
package import Mirroring
import Posts
import Settings
import Storage

/// A copy of the embedded database.
package struct Backup: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/backup/1"
    /// The path of the copy.
    package let file: String
    /// The size of the copy.
    package let bytes: Int64
    /// `SECRET_KEY`, or the file with the key that opens the logins in the copy; nil if there is
    /// none.
    package let key: String?
    /// The paths of the older backups that a scheduled one has removed, the oldest first; nil for a
    /// manual one.
    package var removed: [String]?
}

extension HumanMirror {
    /// Copies the embedded database into a new file, also while a worker runs.
    ///
    /// - Throws: The store's error.
    package func backUp(to path: String) async throws -> Backup {
        try await storage.backup(to: path)
        // An unreadable size is reported as 0 bytes.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return Backup(
            file: path, bytes: (attributes?[.size] as? NSNumber)?.int64Value ?? 0,
            key: vault.keyPlace)
    }

    /// Copies the embedded database into a dated file of a folder, and then removes the oldest of
    /// its backups there.
    ///
    /// Nothing is removed before the new backup is complete, and only backups of this database are
    /// ever removed.
    ///
    /// - Parameters:
    ///   - folder: Created, for its owner alone, if it does not exist.
    ///   - count: The number of backups to keep, including the new one; at least 1.
    ///   - now: Names the file.
    /// - Throws: ``ScheduledBackupError`` if the folder cannot be created, or an old backup cannot
    ///   be removed; the store's error, after which all older backups still exist.
    package func backUp(into folder: String, keeping count: Int, now: Date) async throws -> Backup {
        guard case .sqlite(let database) = process.storage else {
            preconditionFailure("a server has no file")
        }
        try makeFolder(folder)
        let names: [String]
        do {
            names = try ScheduledBackup.names(in: folder)
        } catch {
            throw ScheduledBackupError(
                made: nil,
                localized("could not read the folder \(folder): \(error.localizedDescription)"))
        }
        DatabaseCopy.removeLeftovers(in: folder, named: ScheduledBackup.start)
        var backup = try await backUp(
            to: "\(folder)/\(ScheduledBackup.name(at: now, besides: Set(names)))")
        let older = names.filter { DatabaseCopy.isBackup("\(folder)/\($0)", of: database) }.sorted(
            by: ScheduledBackup.isOlder)
        var removed: [String] = []
        for name in older.dropLast(count - 1) {
            let path = "\(folder)/\(name)"
            guard unlink(path) == 0 || errno == ENOENT else {
                throw ScheduledBackupError(
                    made: backup.file,
                    localized("could not remove \(path): \(String(cString: strerror(errno)))"))
            }
            removed.append(path)
        }
        backup.removed = removed
        return backup
    }

    private func makeFolder(_ folder: String) throws {
        guard mkdir(folder, 0o700) != 0, errno != EEXIST else { return }
        throw ScheduledBackupError(
            made: nil,
            localized("could not make the folder \(folder): \(String(cString: strerror(errno)))"))
    }
}

/// The reason why a scheduled backup failed, in words.
package struct ScheduledBackupError: Error, CustomStringConvertible, Sendable {
    /// The new backup, if it is complete.
    package let made: String?
    package let description: String

    init(made: String?, _ description: String) {
        self.made = made
        self.description =
            made.map { localized("\(description); the new backup is \($0)") } ?? description
    }
}

/// The names of scheduled backups: `mirror-bot-20261126T110000Z.sqlite`, with `-2` and so on within
/// one second.
enum ScheduledBackup {
    static let start = "mirror-bot-"
    private static let end = ".sqlite"

    static func name(at now: Date, besides existing: Set<String>) -> String {
        timed(start, at: now, end: end) { existing.contains($0) }
    }

    /// Returns a file name with a time in UTC, as `START20261126T110000ZEND`, with `-2` to `-9`
    /// after the time if it is taken.
    static func timed(_ start: String, at now: Date, end: String = "", isTaken: (String) -> Bool)
        -> String
    {
        let time = now.rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
        let names = ([""] + (2...9).map { "-\($0)" }).map { "\(start)\(time)\($0)\(end)" }
        return names.first { !isTaken($0) } ?? names[0]
    }

    /// Whether the first of two names is older.
    ///
    /// They are compared without `.sqlite`, so that a name without a number sorts before `-2`.
    static func isOlder(_ first: String, _ second: String) -> Bool {
        first.dropLast(end.count) < second.dropLast(end.count)
    }

    /// Returns the names of a folder's entries that are names of scheduled backups; the entries may
    /// be of any kind.
    ///
    /// - Throws: An error for a folder that cannot be read.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.wholeMatch(of: /mirror-bot-[0-9]{8}T[0-9]{6}Z(-[2-9])?\.sqlite/) != nil
        }
    }
}
