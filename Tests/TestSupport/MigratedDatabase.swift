import Foundation
package import Storage

/// A database with all tables and no rows, made once for all tests of this process and copied for
/// each.
///
/// Making the tables takes longer than most tests do.
package enum MigratedDatabase {
    private static let file = Task {
        let folder = try TemporaryDirectory()
        try await Storage.open(.sqlite(path: folder.path("tables.sqlite"))).closing { engine in
            _ = try await Migrations.apply(to: engine)
        }
        return folder
    }

    private static let template = Task {
        let url = try await PostgresServer.shared().makeDatabase()
        try await Storage.open(.postgres(url: url)).closing { engine in
            _ = try await Migrations.apply(to: engine)
        }
        return url
    }

    /// Makes an SQLite file that has the tables.
    ///
    /// - Parameter path: Where; nothing may be there.
    /// - Throws: What went wrong.
    package static func copy(to path: String) async throws {
        let folder = try await file.value
        try FileManager.default.copyItem(atPath: folder.path("tables.sqlite"), toPath: path)
    }

    /// Opens an SQLite file that has the tables, in a folder that has no such file yet.
    ///
    /// - Parameter path: Where the file will be.
    /// - Returns: The open database.
    /// - Throws: What went wrong.
    package static func openCopy(at path: String) async throws -> any StorageEngine {
        try await copy(to: path)
        return try await Storage.open(.sqlite(path: path))
    }

    /// Makes a database that has the tables on the server that all tests share.
    ///
    /// - Returns: Its URL.
    /// - Throws: What went wrong.
    package static func onPostgres() async throws -> String {
        try await PostgresServer.shared().makeDatabase(from: try await template.value)
    }
}

extension StorageEngine {
    /// Has somebody agree to a mirror that has no login of its human, without which nothing of it
    /// leaves.
    package func agree(to mirror: String) async throws {
        try await execute(
            """
            INSERT INTO mirrors (mirror, created_ms, consent, consent_ms) VALUES (\(mirror), 0, 'agreed', 0)
            ON CONFLICT (mirror) DO UPDATE SET consent = excluded.consent, consent_ms = excluded.consent_ms
            """)
    }
}
