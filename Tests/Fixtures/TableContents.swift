package import Storage
import TestSupport

/// Everything that a database holds, for telling whether anything changed.
package struct TableContents: Equatable {
    /// The rows of each table as text, in a fixed order.
    package let tables: [String: [String]]

    /// Reads all tables of a database.
    package init(of storage: any StorageEngine) async throws {
        tables = try await storage.lenient.read { connection in
            var tables: [String: [String]] = [:]
            for name in try Self.names(storage.kind, connection) {
                let rows = try connection.query(try Self.query(name, storage.kind, connection))
                tables[name] = try rows.map { try $0.text("line") }.sorted()
            }
            return tables
        }
    }

    package var rowCount: Int { tables.values.map(\.count).reduce(0, +) }

    private static func names(_ kind: StorageKind, _ connection: any StorageConnection) throws
        -> [String]
    {
        let query: SQL =
            switch kind {
            case .sqlite: "SELECT name FROM sqlite_master WHERE type = 'table'"
            case .postgres:
                "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"
            }
        return try connection.query(query).map { try $0.text("name") }
    }

    private static func query(
        _ table: String, _ kind: StorageKind, _ connection: any StorageConnection
    ) throws -> SQL {
        guard kind == .sqlite else {
            return "SELECT CAST(t AS TEXT) AS line FROM \(unsafe: table) AS t"
        }
        let columns = try connection.query("SELECT name FROM pragma_table_info(\(table))").map {
            try $0.text("name")
        }
        let line = columns.map { "quote(\($0))" }.joined(separator: " || '|' || ")
        return "SELECT \(unsafe: line) AS line FROM \(unsafe: table)"
    }
}
