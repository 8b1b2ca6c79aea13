import Foundation

/// The identity of an embedded database's file, folder and companions at the time of opening.
///
/// SQLite keeps using open files that were deleted or replaced: later writes are lost with the
/// process, and another process may write to the new files at the same time.
struct SQLiteFile: Sendable {
    let path: String
    private let identities: [(path: String, identity: [UInt64])]

    /// - Parameter path: The path of an open database with its log.
    init(openedAt path: String) {
        self.path = path
        identities = [path, "\(path)-wal", "\(path)-shm"].map { ($0, Self.identity(of: $0)) }.filter
        { !$0.1.isEmpty }
    }

    /// Checks that the paths still lead to the open files.
    ///
    /// - Throws: ``StorageError`` with code `.unavailable` for a database that is gone, so that it
    ///   can be restored, or `.replaced`.
    func check(_ operation: String) throws(StorageError) {
        for (file, identity) in identities {
            let current = Self.identity(of: file)
            if current == identity { continue }
            if file == path, current.isEmpty {
                throw StorageError(
                    .unavailable, operation,
                    because:
                        "the file was removed while it was in use; put it back, or restart to begin without it"
                )
            }
            let subject = file == path ? "the file" : file
            throw StorageError(
                .replaced, operation,
                because:
                    "\(subject) was removed or replaced while it was in use; restart to use what is there now"
            )
        }
    }

    /// Returns the identity of a file, its device and inode; empty if there is none.
    private static func identity(of path: String) -> [UInt64] {
        var status = stat()
        return stat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
    }

    /// Makes a private folder (0700) and an empty private file (0600) if they do not exist, and
    /// explains why a path cannot hold a database.
    static func prepare(_ path: String) throws(StorageError) {
        let operation = "open the database at \(path)"
        guard !path.isEmpty else {
            throw StorageError(.configuration, "open the database", because: "the path is empty")
        }
        try makeFolder(of: path, operation)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
        {
            throw StorageError(
                .configuration, operation, because: "it is a folder; name a file in it")
        }
        try checkOwners(path, operation)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw failure(operation, FileFault(errno, at: path), isNamedBySetting: true)
        }
        close(descriptor)
    }

    /// Makes an empty private file beside `path`, to be renamed to it.
    ///
    /// - Throws: ``StorageError``, also if there is something at `path` already.
    static func makePartial(of path: String, _ operation: String) throws(StorageError) -> String {
        var status = stat()
        guard lstat(path, &status) != 0 else { throw exists(operation) }
        let partial = "\(path).\(UUID().uuidString.lowercased()).partial"
        let descriptor = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(operation, FileFault(errno, at: path)) }
        close(descriptor)
        return partial
    }

    /// Syncs a complete file to disk and gives it its final name; fails if a file with that name
    /// exists by now.
    static func publish(_ partial: String, as path: String, _ operation: String)
        throws(StorageError)
    {
        try flush(partial, operation)
        guard renameToNew(partial, path) else {
            throw errno == EEXIST
                ? exists(operation) : failure(operation, FileFault(errno, at: path))
        }
        try flush((path as NSString).deletingLastPathComponent, operation)
    }

    /// Waits until a file, or the names in a folder, are on the disk.
    private static func flush(_ path: String, _ operation: String) throws(StorageError) {
        let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(operation, FileFault(errno, at: path)) }
        defer { close(descriptor) }
        // Some file systems do not support syncing a folder.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw failure(operation, FileFault(errno, at: path))
        }
    }

    /// Makes the folder of a file, private, if it does not exist.
    private static func makeFolder(of path: String, _ operation: String) throws(StorageError) {
        let folder = (path as NSString).deletingLastPathComponent
        do throws(FileFault) {
            if !folder.isEmpty { try FileFault.makeFolder(folder) }
        } catch {
            throw failure(
                operation, error, before: "its folder cannot be made: ", isNamedBySetting: true)
        }
    }

    /// Makes an empty private file beside a database, in a private folder, as a draft of its
    /// replacement.
    static func makeDraft(of path: String, _ operation: String) throws(StorageError) -> String {
        try makeFolder(of: path, operation)
        let folder = (path as NSString).deletingLastPathComponent
        let name = (path as NSString).lastPathComponent
        removeOldDrafts(in: folder, named: "\(name).restored-")
        return try makePartial(
            of: "\(path).restored-\(UUID().uuidString.lowercased().prefix(8))", operation)
    }

    /// The age in seconds from which on a draft counts as left by a killed process.
    private static let leftoverAge: TimeInterval = 86_400

    /// Removes drafts older than a day, left by processes that were killed.
    static func removeOldDrafts(in folder: String, named start: String) {
        let folder = folder.isEmpty ? "." : folder
        // If the folder cannot be read, the drafts stay.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let draft = "\(folder)/\(name)"
            var status = stat()
            guard name.hasPrefix(start), name.contains(".partial"), lstat(draft, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG,
                Date().timeIntervalSince1970 - TimeInterval(status.st_mtim.tv_sec) > leftoverAge
            else { continue }
            unlink(draft)
        }
    }

    /// Copies the contents of a file into another existing file.
    static func copy(_ file: String, to other: String, _ operation: String) throws(StorageError) {
        let source = open(file, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw failure(operation, FileFault(errno, at: file)) }
        defer { close(source) }
        let target = open(other, O_WRONLY | O_TRUNC | O_CLOEXEC)
        defer { if target >= 0 { close(target) } }
        guard target >= 0 else { throw failure(operation, FileFault(errno, at: other)) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count >= 0 else { throw failure(operation, FileFault(errno, at: file)) }
            if count == 0 { return }
            do throws(FileFault) {
                try FileFault.writeAll(buffer[..<count], to: target, at: other)
            } catch {
                throw failure(operation, error)
            }
        }
    }

    /// Replaces a file by a complete draft, and keeps the old file under the name `aside`.
    ///
    /// The old file gets that second name before it is replaced, so that the path always leads to
    /// a file.
    ///
    /// A log beside the old file is moved with it, because SQLite would apply it to the new one.
    static func exchange(
        _ draft: String, replacing path: String, keeping aside: String?, _ operation: String
    ) throws(StorageError) {
        try flush(draft, operation)
        if let aside {
            for suffix in ["-wal", ""] where FileManager.default.fileExists(atPath: path + suffix) {
                // On a file system without hard links, the copy temporarily takes the room of
                // another database.
                if link(path + suffix, aside + suffix) != 0 {
                    guard errno != EEXIST else { throw exists(operation) }
                    let partial = try makePartial(of: aside + suffix, operation)
                    defer { remove(partial) }
                    try copy(path + suffix, to: partial, operation)
                    try publish(partial, as: aside + suffix, operation)
                }
            }
            for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        }
        guard rename(draft, path) == 0 else { throw failure(operation, FileFault(errno, at: path)) }
        try flush((path as NSString).deletingLastPathComponent, operation)
    }

    /// Removes a file and SQLite's companion files.
    static func remove(_ path: String) {
        for name in [path, "\(path)-journal", "\(path)-wal", "\(path)-shm"] { unlink(name) }
    }

    private static func exists(_ operation: String) -> StorageError {
        StorageError(
            .configuration, operation,
            because: "there is a file of that name already; choose another one")
    }

    /// Refuses files that other users own or can change, because they could read and control the
    /// bot's posts.
    private static func checkOwners(_ path: String, _ operation: String) throws(StorageError) {
        do throws(FileTrust.Problem) {
            let file = try FileTrust.resolved(path)
            try FileTrust.check((file as NSString).deletingLastPathComponent)
            for suffix in ["", "-wal", "-shm", "-journal"] { try FileTrust.check(file + suffix) }
        } catch {
            throw StorageError(.configuration, operation, because: "\(error.path) \(error.text)")
        }
    }

    /// - Parameter isNamedBySetting: Whether the setting MIRROR_BOT_HOME names the folder.
    private static func failure(
        _ operation: String, _ fault: FileFault, before: String = "", isNamedBySetting: Bool = false
    ) -> StorageError {
        let code: StorageError.Code =
            if fault.isRefusal {
                .readOnly
            } else if fault.isLackOfRoom {
                .full
            } else {
                .unavailable
            }
        let names =
            isNamedBySetting && !fault.isLackOfRoom
            ? " (MIRROR_BOT_HOME or --home names the folder)" : ""
        return StorageError(code, operation, because: "\(before)\(fault)\(names)")
    }
}

/// Renames a file unless another one has the new name; then `errno` is `EEXIST`.
///
/// A hard link, unlike a rename, does not replace a file that has appeared meanwhile. On a file
/// system without hard links, as on many memory sticks, an empty file reserves the name first.
///
/// - Parameters:
///   - path: The file; with hard links it keeps this name too.
///   - newPath: Its new name, on the same file system.
package func renameToNew(_ path: String, _ newPath: String) -> Bool {
    if link(path, newPath) == 0 { return true }
    guard [EPERM, ENOTSUP, ENOSYS].contains(errno) else { return false }
    let descriptor = open(newPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return rename(path, newPath) == 0
}
