import Foundation

/// Which files a database was opened with, to notice when they are replaced.
///
/// SQLite goes on with open files that have lost their names: what is written
/// then is gone with the process, and another process may write elsewhere at
/// the same time.
final class SQLiteFiles: @unchecked Sendable {
    // Unchecked because of `identities`, which is only touched while `lock` is held.

    /// What makes a file the same file.
    private struct Identity: Equatable {
        let device: UInt64
        let number: UInt64

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(status.st_dev)
            number = UInt64(status.st_ino)
        }
    }

    private let path: String
    private let lock = NSLock()
    private var identities: [(path: String, identity: Identity)]

    /// - Parameter path: A database that is open, with its log beside it.
    init(openedAt path: String) {
        self.path = path
        identities = [path, "\(path)-wal", "\(path)-shm"].compactMap { path in Identity(path).map { (path, $0) } }
    }

    /// Forgets them when the database is closed; the last to close removes some itself.
    ///
    /// - Returns: Whether they were the files still.
    func forget() -> Bool {
        let areSame = (try? check("close")) != nil
        return lock.withLock {
            defer { identities = [] }
            return areSame && !identities.isEmpty
        }
    }

    /// Makes sure that the names still belong to the files that are open.
    ///
    /// - Throws: ``StorageError`` with code `.unavailable` for a database that is gone, so that it can be put back, or
    ///   `.replaced`.
    func check(_ operation: String) throws(StorageError) {
        for (name, identity) in lock.withLock({ identities }) {
            let found = Identity(name)
            if found == identity { continue }
            if name == path, found == nil {
                throw StorageError(
                    .unavailable, operation,
                    because: "the file was removed while it was in use; put it back, or restart to begin without it")
            }
            let subject = name == path ? "the file" : name
            throw StorageError(
                .replaced, operation,
                because: "\(subject) was removed or replaced while it was in use; restart to use what is there now")
        }
    }
}
