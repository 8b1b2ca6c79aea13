import Foundation
import Postgres

/// The location of the database.
package enum StorageLocation: Sendable {
    /// A file, created if it does not exist, in a folder that is created with mode 0700.
    case sqlite(path: String)
    /// A server, as a `postgres://` URL that libpq understands, and the limit of simultaneous
    /// connections to it.
    case postgres(url: String, connections: Int = StorageLocation.defaultConnections)

    /// The default limit of one process's connections to a server.
    package static let defaultConnections = PostgresPool.defaultSize
}

extension StorageLocation {
    /// Fails for an invalid URL; contacts no server.
    ///
    /// - Throws: ``StorageError`` with code `.configuration`.
    package func check() throws {
        guard case .postgres(let url, _) = self else { return }
        try PostgresEngine.check(url: url)
    }
}

extension StorageLocation {
    /// Returns the problem with the beginning of an address that is not a `postgres://` URL; nil if
    /// there is none.
    ///
    /// The text is to follow the name of a setting. Of the address it shows at most the scheme, if
    /// that is the scheme of a known tool.
    package static func problem(ofURL url: String) -> String? { PostgresURL.schemeProblem(of: url) }
}

extension StorageLocation {
    /// The free space that some changes of a file need, in bytes.
    private static let requiredBytes: UInt64 = 65_536

    /// The message that the file's disk is full; `nil` if it has room, and for a server.
    package var lackOfRoom: String? {
        guard case .sqlite(let path) = self else { return nil }
        var disk = statvfs()
        guard statvfs(path, &disk) == 0 else { return nil }
        let freeBytes = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
        return freeBytes < Self.requiredBytes
            ? "could not change the database at \(path): its disk is full; make room" : nil
    }
}

extension StorageLocation: CustomStringConvertible {
    /// The path, or the kind of server; never a URL, which may contain a password.
    package var description: String {
        switch self {
        case .sqlite(let path): "SQLite at \(path)"
        case .postgres: "PostgreSQL"
        }
    }
}

extension StorageLocation {
    /// Identifies the database for a person who has several: with the server's host and the
    /// database's name, without a password.
    package var place: String {
        // A URL that cannot be parsed has no place.
        guard case .postgres(let url, _) = self,
            let configuration = try? PostgresConfiguration(url: url)
        else {
            return description
        }
        return configuration.place
    }
}

extension StorageLocation: CustomDebugStringConvertible, CustomReflectable {
    package var debugDescription: String { description }

    /// Without the URL, so that `dump` does not show a password either.
    package var customMirror: Mirror {
        guard case .postgres(_, let connections) = self else { return Mirror(self, children: []) }
        return Mirror(self, children: ["connections": connections])
    }
}

/// Opens databases.
package enum Storage {
    /// Opens the database at `location` without changing its tables.
    ///
    /// - Throws: ``StorageError``: `.unavailable`, `.authentication`,
    ///   `.configuration`, `.corrupt` or `.readOnly`.
    package static func open(_ location: StorageLocation) async throws -> any StorageEngine {
        switch location {
        case .sqlite(let path): try await SQLiteEngine.open(path: path)
        case .postgres(let url, let connections):
            try await PostgresEngine.open(url: url, connections: connections)
        }
    }

    /// Opens an empty database in memory, which is lost when it is closed.
    ///
    /// - Throws: ``StorageError`` or `CancellationError`.
    package static func openInMemory() async throws -> any StorageEngine {
        try await SQLiteEngine.openInMemory()
    }

    /// Opens an embedded database with another one attached, so that statements can copy from it.
    ///
    /// - Parameters:
    ///   - path: The database, created if it does not exist.
    ///   - other: The path of the other database, attached under the name `restored`.
    /// - Throws: As ``open(_:)``.
    package static func open(_ path: String, beside other: String) async throws -> any StorageEngine
    {
        try await SQLiteEngine.open(path: path, attaching: other)
    }
}
