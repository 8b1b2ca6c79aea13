/// Where the data is.
package enum StorageLocation: Sendable {
    /// A file, made if it does not exist, in a folder that is made with mode
    /// 0700 if it does not exist.
    case sqlite(path: String)
    /// A server, as a `postgres://` URL that libpq understands.
    case postgres(url: String)
}

extension StorageLocation: CustomStringConvertible {
    /// The path, or the kind of server; never a URL, which may hold a password.
    package var description: String {
        switch self {
        case .sqlite(let path): "SQLite at \(path)"
        case .postgres: "PostgreSQL"
        }
    }
}

extension StorageLocation: CustomDebugStringConvertible, CustomReflectable {
    package var debugDescription: String { description }

    /// Without children, so that `dump` shows no password either.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The way to the engines.
package enum Storage {
    /// Opens the database at `location` without changing its tables.
    ///
    /// - Throws: ``StorageError``: `.unavailable`, `.authentication`,
    ///   `.configuration`, `.corrupt` or `.readOnly`.
    package static func open(_ location: StorageLocation) async throws -> any StorageEngine {
        switch location {
        case .sqlite(let path): try await SQLiteEngine.open(path: path)
        case .postgres(let url): try await PostgresEngine.open(url: url)
        }
    }
}
