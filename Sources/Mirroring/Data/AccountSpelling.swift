import Outbox
import Posts
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
        applied = try await Storage.open(location).closing { try await AccountSpelling.migrate($0) }
    }
}

/// Converts the names of Mastodon accounts that earlier versions stored to their canonical form.
///
/// Before step 0025 a host was stored as it had been spelled, so one person could have two rows.
package enum AccountSpelling {
    private static let step = "0025_accounts"

    /// Columns with one name each, and the column that tells its network.
    private static let names: [(table: String, column: String, network: String)] = [
        ("posts", "author", "network"), ("posts", "reply_to_author", "network"),
        ("examples", "author_id", "network"),
        ("actions", "target_author", "target_network"), ("people", "linked_to", "network"),
    ]
    /// Columns with names and spaces between them.
    private static let lists: [(table: String, column: String, network: String)] = [
        ("posts", "mentions", "network"), ("actions", "bystanders", "target_network"),
    ]

    /// Applies the steps that the tables lack, and converts the account names with step 0025.
    ///
    /// If any step was missing, all leases are revoked in the same transaction, so that workers of
    /// the earlier version send nothing more.
    ///
    /// - Parameters:
    ///   - storage: The database.
    ///   - last: Further work in the same transaction, once all tables exist.
    /// - Returns: The ids of the steps that were applied now.
    /// - Throws: The store's error.
    @discardableResult
    package static func migrate(
        _ storage: any StorageEngine,
        and last: (@Sendable (any StorageConnection) throws -> Void)? = nil
    ) async throws -> [String] {
        // Nearly every start finds nothing to do, and then takes no lock.
        if last == nil, try await Migrations.pending(in: storage).isEmpty { return [] }
        return try await Migrations.apply(to: storage) { connection, applied in
            if applied.contains(step) { try unify(connection) }
            if !applied.isEmpty { try LeaseTable.revokeAll(on: connection) }
            try last?(connection)
        }
    }

    /// Rewrites the names that are not canonical.
    static func unify(_ connection: any StorageConnection) throws {
        for place in names {
            try rewrite(place, connection) { AccountID(network: .usual, value: $0).canonical.value }
        }
        for place in lists {
            try rewrite(place, connection) { text in
                text.split(separator: " ").map {
                    AccountID(network: .usual, value: String($0)).canonical.value
                }
                .joined(separator: " ")
            }
        }
        try unifyPeople(connection)
    }

    private static func rewrite(
        _ place: (table: String, column: String, network: String),
        _ connection: any StorageConnection,
        _ form: (String) -> String
    ) throws {
        let (table, column, network) = place
        let rows = try connection.query(
            """
            SELECT DISTINCT \(unsafe: column) AS name FROM \(unsafe: table)
            WHERE \(unsafe: network) = 'mastodon' AND \(unsafe: column) IS NOT NULL
            """)
        for row in rows {
            let name = try row.text("name")
            let canonical = form(name)
            guard canonical != name else { continue }
            try connection.execute(
                """
                UPDATE \(unsafe: table) SET \(unsafe: column) = \(canonical)
                WHERE \(unsafe: network) = 'mastodon' AND \(unsafe: column) = \(name)
                """)
        }
    }

    /// If a person had rows under two names, the stricter decision and the later contact are kept.
    private static func unifyPeople(_ connection: any StorageConnection) throws {
        let rows = try connection.query(
            "SELECT mirror, account_id FROM people WHERE network = 'mastodon'")
        for row in rows {
            let mirror = try row.text("mirror")
            let name = try row.text("account_id")
            let canonical = AccountID(network: .usual, value: name).canonical.value
            guard canonical != name else { continue }
            try connection.execute(
                """
                INSERT INTO people (mirror, network, account_id, handle, stance, reason, stance_ms, linked_to,
                    last_contact_ms)
                SELECT mirror, network, \(canonical), handle, stance, reason, stance_ms, linked_to, last_contact_ms
                FROM people WHERE mirror = \(mirror) AND network = 'mastodon' AND account_id = \(name)
                ON CONFLICT (mirror, network, account_id) DO UPDATE SET
                    stance = CASE WHEN excluded.stance = 'deny' THEN 'deny' ELSE people.stance END,
                    reason = CASE WHEN excluded.stance = 'deny' AND COALESCE(people.stance, '') <> 'deny'
                        THEN excluded.reason ELSE people.reason END,
                    stance_ms = CASE WHEN excluded.stance = 'deny' AND COALESCE(people.stance, '') <> 'deny'
                        THEN excluded.stance_ms ELSE people.stance_ms END,
                    linked_to = COALESCE(people.linked_to, excluded.linked_to),
                    last_contact_ms = CASE WHEN COALESCE(excluded.last_contact_ms, 0) > COALESCE(people.last_contact_ms, 0)
                        THEN excluded.last_contact_ms ELSE people.last_contact_ms END
                """)
            try connection.execute(
                "DELETE FROM people WHERE mirror = \(mirror) AND network = 'mastodon' AND account_id = \(name)"
            )
        }
    }
}
