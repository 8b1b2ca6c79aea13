import Foundation
import Posts
package import Storage

/// What is set for one mirror; it wins over what the process is told, but for flags.
///
/// A running worker takes a change up within a minute, see ``MirrorStamp``.
package struct SettingTable: Sendable {
    private let storage: any StorageEngine
    private let mirror: String

    package init(storage: any StorageEngine, mirror: String) { (self.storage, self.mirror) = (storage, mirror) }

    /// The values by the names of their variables.
    ///
    /// - Throws: The store's error.
    package func all() async throws -> [String: String] {
        let rows = try await storage.query("SELECT name, value FROM settings WHERE mirror = \(mirror)")
        return Dictionary(try rows.map { (try $0.text("name"), try $0.text("value")) }) { first, _ in first }
    }

    /// Stores values that were checked, see ``HumanMirror/set(_:now:)``.
    func store(_ values: [String: String], now: Date) async throws {
        let rows = values.sorted { $0.key < $1.key }.map { name, value in
            [mirror.sqlValue, name.sqlValue, value.sqlValue, now.sqlValue]
        }
        let batch = BulkInsert(
            into: "settings",
            columns: [("mirror", .text), ("name", .text), ("value", .text), ("updated_ms", .integer)],
            rows: rows, onConflict: .update(key: ["mirror", "name"], set: ["value", "updated_ms"]))
        try await storage.transaction { try $0.insert(batch) }
    }

    /// Forgets values; those that are not set are no error.
    ///
    /// - Returns: The names of those that were set.
    /// - Throws: The store's error.
    package func remove(_ names: [String]) async throws -> [String] {
        let known = try await all()
        let found = names.filter { known[$0] != nil }
        guard !found.isEmpty else { return [] }
        try await storage.execute("DELETE FROM settings WHERE mirror = \(mirror) AND name IN \(list: found)")
        return found
    }
}

extension MirrorConfiguration {
    /// The values with what is set for the mirror, where there is a database; changes nothing.
    ///
    /// - Returns: The values as they count.
    /// - Throws: ``ConfigurationError`` for a value that cannot be used; `StorageError`.
    package func valuesWithSettings() async throws -> SettingValues {
        if case .sqlite(let path) = storage, !FileManager.default.fileExists(atPath: path) { return values }
        return try await Storage.open(storage).closing { engine in
            try await Migrations.check(engine)
            return try values.overlaid(with: try await SettingTable(storage: engine, mirror: mirror).all())
        }
    }
}
