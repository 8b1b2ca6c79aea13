import GRDB

extension StorageError {
    /// SQLite's codes in our words.
    init(_ error: DatabaseError, _ operation: String) {
        let code = Self.code(error)
        let message = error.message ?? "SQLite gave no reason"
        self.init(
            code, operation, because: Self.advice[code].map { "\(message); \($0)" } ?? message,
            nativeCode: String(error.extendedResultCode.rawValue))
    }

    private static let advice: [Code: String] = [
        .busy: "another process holds it",
        .corrupt: "restore it from a backup, or move the file away to start anew",
        .full: "make room",
        .readOnly: "let the user of this program write to it and to its folder",
        .replaced: "restart to use the file that is there now",
        .unavailable: "check the disk, the folder and its permissions",
    ]

    private static func code(_ error: DatabaseError) -> Code {
        switch error.extendedResultCode {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
            return .uniqueViolation
        case .SQLITE_READONLY_DBMOVED: return .replaced
        default: break
        }
        return switch error.resultCode {
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH: .constraint
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: .readOnly
        case .SQLITE_FULL, .SQLITE_NOMEM: .full
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
        case .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_PROTOCOL: .unavailable
        case .SQLITE_TOOBIG, .SQLITE_RANGE: .invalidValue
        default: error.message?.contains("closed") == true ? .closed : .other
        }
    }
}
