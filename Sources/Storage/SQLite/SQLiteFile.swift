import Foundation

/// The file of an embedded database and its folder.
enum SQLiteFile {
    /// Makes a private folder (0700) and an empty private file (0600) where
    /// they do not exist, and explains why a path cannot hold a database.
    static func prepare(_ path: String) throws(StorageError) {
        let operation = "open the database at \(path)"
        guard !path.isEmpty else {
            throw StorageError(.configuration, "open the database", because: "the path is empty")
        }
        try makeFolder((path as NSString).deletingLastPathComponent, operation)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw StorageError(.configuration, operation, because: "it is a folder; name a file in it")
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(operation, errno) }
        close(descriptor)
    }

    private static func makeFolder(_ folder: String, _ operation: String) throws(StorageError) {
        guard !folder.isEmpty, !FileManager.default.fileExists(atPath: folder) else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            let reason = (error as NSError).localizedDescription
            throw StorageError(.unavailable, operation, because: "its folder cannot be made: \(reason)")
        }
    }

    private static func failure(_ operation: String, _ code: Int32) -> StorageError {
        let cause = String(cString: strerror(code)).lowercased()
        return switch code {
        case EROFS, EACCES, EPERM: StorageError(.readOnly, operation, because: cause)
        case ENOSPC, EDQUOT: StorageError(.full, operation, because: cause)
        default: StorageError(.unavailable, operation, because: cause)
        }
    }
}
