package import Foundation
package import Posts
package import Storage

/// The stored settings of one mirror, which override the process's settings, except for flags.
///
/// A running worker applies a change within a minute, see `MirrorStamp`.
package struct SettingTable: Sendable {
    private let storage: any StorageEngine
    private let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// The values by variable name.
    ///
    /// - Throws: The store's error.
    package func all() async throws -> [String: String] {
        let mirror = mirror
        return try await storage.read { try Self.all(of: mirror, on: $0) }
    }

    /// The digest of the values of some settings, as a person is shown them.
    ///
    /// - Parameter values: The stored values, by variable name.
    package static func seen(_ names: some Sequence<String>, in values: [String: String]) -> Seen {
        Seen(of: names.sorted().flatMap { [$0, values[$0]] })
    }

    private static func all(of mirror: String, on connection: any StorageConnection) throws
        -> [String: String]
    {
        let rows = try connection.query("SELECT name, value FROM settings WHERE mirror = \(mirror)")
        return Dictionary(try rows.map { (try $0.text("name"), try $0.text("value")) }) {
            first, _ in first
        }
    }

    /// Stores validated values, see `HumanMirror.set(_:seen:now:)`.
    ///
    /// Storing a statement about ``HumanConsent`` makes that statement.
    package func store(_ values: [String: String], seen: Seen? = nil, now: Date) async throws {
        let mirror = mirror
        let rows = values.sorted { $0.key < $1.key }.map { name, value in
            [mirror.sqlValue, name.sqlValue, value.sqlValue, now.sqlValue]
        }
        let batch = BulkInsert(
            into: "settings",
            columns: [
                ("mirror", .text), ("name", .text), ("value", .text), ("updated_ms", .integer),
            ],
            rows: rows, onConflict: .update(key: ["mirror", "name"], set: ["value", "updated_ms"]))
        try await storage.transaction { connection in
            if seen != nil {
                try seen.require(
                    Self.seen(values.keys, in: try Self.all(of: mirror, on: connection)))
            }
            try connection.insert(batch)
            if let statement = values[Setting.humanConsent.name].flatMap(HumanConsent.Ground.init) {
                try HumanConsent.storeStatement(
                    statement, of: mirror, on: connection, now: now)
            }
            try MirrorVersion.raise(mirror, on: connection)
        }
    }

    /// Removes values; a value that is not set is no error.
    ///
    /// Removing a statement about ``HumanConsent`` withdraws it.
    ///
    /// - Parameter seen: ``seen(_:in:)`` of these names that the person was shown; nil to change
    ///   without comparing.
    /// - Returns: The names of the values that were set.
    /// - Throws: `SeenChanged`; the store's error.
    package func remove(_ names: [String], seen: Seen? = nil) async throws -> [String] {
        let mirror = mirror
        return try await storage.transaction { connection in
            let storedValues = try Self.all(of: mirror, on: connection)
            try seen.require(Self.seen(names, in: storedValues))
            let removedNames = names.filter { storedValues[$0] != nil }
            guard !removedNames.isEmpty else { return [] }
            try connection.execute(
                "DELETE FROM settings WHERE mirror = \(mirror) AND name IN \(list: removedNames)")
            if removedNames.contains(Setting.humanConsent.name) {
                try HumanConsent.withdraw(of: mirror, on: connection)
            }
            try MirrorVersion.raise(mirror, on: connection)
            return removedNames
        }
    }
}

extension MirrorConfiguration {
    /// Returns the values with those stored for the mirror, if there is a database; changes
    /// nothing.
    ///
    /// - Returns: The effective values.
    /// - Throws: ``ConfigurationError`` for an invalid value; `StorageError`.
    package func valuesWithSettings() async throws -> SettingValues {
        let values = mirror.values
        if case .sqlite(let path) = process.storage, !FileManager.default.fileExists(atPath: path) {
            return values
        }
        return try await Storage.open(process.storage).closing { engine in
            try await Migrations.check(engine)
            return try values.overlaid(
                with: try await SettingTable(storage: engine, mirror: mirror.mirror).all())
        }
    }
}
