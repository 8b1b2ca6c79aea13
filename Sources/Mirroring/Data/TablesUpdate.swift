import Outbox
package import Storage

/// The result of bringing a database's tables up to date.
package struct TablesUpdate: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/migrate/1"
    /// The database's name, without a password.
    package let database: String
    /// The ids of the steps that were applied now, in their order.
    package let applied: [String]

    /// Opens a database and applies the steps that its tables lack.
    ///
    /// - Throws: The store's error.
    package init(of location: StorageLocation) async throws {
        database = "\(location)"
        applied = try await Storage.open(location).closing { try await Self.migrate($0) }
    }

    /// Applies the steps that the tables lack.
    ///
    /// If any step was missing, all leases are revoked in the same transaction, so that workers of
    /// the earlier version send nothing more.
    ///
    /// - Parameters:
    ///   - storage: The database.
    ///   - furtherWork: Further work in the same transaction, once all tables exist.
    /// - Returns: The ids of the steps that were applied now.
    /// - Throws: The store's error.
    @discardableResult
    package static func migrate(
        _ storage: any StorageEngine,
        and furtherWork: (@Sendable (any StorageConnection) throws -> Void)? = nil
    ) async throws -> [String] {
        // Nearly every start finds nothing to do, and then takes no lock.
        if furtherWork == nil, try await Migrations.pending(in: storage).isEmpty { return [] }
        return try await Migrations.apply(to: storage) { connection, applied in
            if !applied.isEmpty { try LeaseTable.revokeAll(on: connection) }
            try furtherWork?(connection)
        }
    }
}
