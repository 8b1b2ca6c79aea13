package import Foundation
package import Networks
import Posts
package import Settings
package import Storage

/// The stored refusals of accounts and faults of the work, which share a table.
package struct FaultTable: Sendable {
    let storage: any StorageEngine
    let mirror: String

    /// What is stored of both accounts and of every part, the oldest first.
    ///
    /// - Throws: The store's error.
    package func rows() async throws -> (refusals: [AccountRole: StoredFault], faults: [WorkFault]) {
        try Self.sorted(
            try await storage.query(
                """
                SELECT role, error, code, since_ms, noted_ms FROM refusals WHERE mirror = \(mirror)
                ORDER BY since_ms, role
                """))
    }

    /// The same of some mirrors of a database, by name, in one statement; mirrors without any are left out.
    ///
    /// - Parameter mirrors: The names; nil for all mirrors.
    /// - Throws: The store's error.
    package static func all(
        of mirrors: [String]? = nil, in storage: any StorageEngine
    ) async throws -> [String: (refusals: [AccountRole: StoredFault], faults: [WorkFault])] {
        let rows = try await storage.query(
            """
            SELECT mirror, role, error, code, since_ms, noted_ms FROM refusals\(SQL.condition(on: mirrors))
            ORDER BY since_ms, role
            """)
        return try Dictionary(grouping: rows) { try $0.text("mirror") }.mapValues(sorted)
    }

    private static func sorted(
        _ rows: [SQLRow]
    ) throws -> (refusals: [AccountRole: StoredFault], faults: [WorkFault]) {
        var (refusals, faults): ([AccountRole: StoredFault], [WorkFault]) = ([:], [])
        for row in rows {
            let (name, error, code) = (try row.text("role"), try row.text("error"), try row.optionalText("code"))
            let since = try row.date("since_ms")
            if let role = AccountRole(rawValue: name) {
                refusals[role] = StoredFault(since: since, error: error, code: code)
            } else {
                faults.append(
                    WorkFault(part: name, since: since, noted: try row.date("noted_ms"), error: error, code: code))
            }
        }
        return (refusals, faults)
    }

    /// Notes that a network refuses an account's credentials; an error of this write is ignored.
    package func note(_ error: NetworkError, of role: AccountRole, at now: Date) async {
        _ = try? await storage.note(
            """
            INSERT INTO refusals (mirror, role, error, code, since_ms, noted_ms)
            VALUES (\(mirror), \(role.rawValue), \("\(error)"), \(error.code.rawValue), \(now.milliseconds),
                \(now.milliseconds))
            ON CONFLICT (mirror, role) DO UPDATE
            SET error = excluded.error, code = excluded.code, noted_ms = excluded.noted_ms
            """)
    }

    /// Notes that an account is let in; an error of this write is ignored.
    package func clear(_ role: AccountRole) async {
        _ = try? await storage.note("DELETE FROM refusals WHERE mirror = \(mirror) AND role = \(role.rawValue)")
    }
}

/// An error that was stored when it happened, with its code.
package struct StoredFault: Equatable, Sendable {
    package var since: Date
    package var error: String
    /// The raw value of a `NetworkError.Code`; nil of rows that an earlier version wrote.
    package var code: String?

    package init(since: Date, error: String, code: String? = nil) {
        (self.since, self.error, self.code) = (since, error, code)
    }
}
