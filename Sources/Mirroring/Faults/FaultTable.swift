package import Foundation
package import Networks
import Posts
package import Settings
package import Storage

/// The stored failures of a mirror.
package struct StoredFaults: Sendable {
    /// The refusals of each account's credentials by its network, and since when.
    package var refusals: [AccountRole: WorkFault] = [:]
    /// The parts of the work that fail.
    package var faults: [WorkFault] = []
    /// The waits that the networks imposed on calls.
    package var waits: [AccountRole: [AccountWait]] = [:]

    package init() {}
}

/// The stored refusals and waits of accounts and faults of the work; refusals and faults share a
/// table.
package struct FaultTable: Sendable {
    let storage: any StorageEngine
    let mirror: String

    /// Reads the stored failures of both accounts and of every part of the work, the oldest first.
    ///
    /// - Throws: The store's error.
    package func rows() async throws -> StoredFaults {
        try Self.storedFaults(
            in: try await storage.query(Self.statement(SQL.condition(on: [mirror]))))
    }

    /// Reads the stored failures of some mirrors of a database, by name, in one statement; mirrors
    /// without any are left out.
    ///
    /// - Parameter mirrors: The names; nil for all mirrors.
    /// - Throws: The store's error.
    package static func all(
        of mirrors: [String]? = nil, in storage: any StorageEngine
    ) async throws -> [String: StoredFaults] {
        let rows = try await storage.query(statement(SQL.condition(on: mirrors)))
        return try Dictionary(grouping: rows) { try $0.text("mirror") }.mapValues(storedFaults)
    }

    /// The statement that reads both tables; `scope` is null for a refusal or a fault.
    private static func statement(_ condition: SQL) -> SQL {
        """
        SELECT mirror, role, CAST(NULL AS TEXT) AS scope, error, code, since_ms, noted_ms,
            CAST(NULL AS BIGINT) AS until_ms
        FROM refusals\(condition)
        UNION ALL SELECT mirror, role, scope, error, code, since_ms, noted_ms, until_ms FROM waits\(condition)
        ORDER BY since_ms, role
        """
    }

    private static func storedFaults(in rows: [SQLRow]) throws -> StoredFaults {
        var stored = StoredFaults()
        for row in rows {
            let name = try row.text("role")
            let role = AccountRole(rawValue: name)
            if try row.optionalText("scope") != nil {
                guard let role, let wait = try AccountWait(row: row) else { continue }
                stored.waits[role, default: []].append(wait)
                continue
            }
            let fault = WorkFault(
                part: name, since: try row.date("since_ms"), noted: try row.date("noted_ms"),
                error: try row.text("error"), code: try row.optionalText("code"))
            if let role { stored.refusals[role] = fault } else { stored.faults.append(fault) }
        }
        return stored
    }

    // MARK: Waits

    /// Seconds after which a wait that was not renewed is ignored.
    private static let waitLasts: TimeInterval = 86_400

    /// The waits of an account that may still be valid; none if they cannot be read.
    package func waits(of role: AccountRole, at now: Date) async -> [AccountWait] {
        // Without them (nil if they cannot be read) a call is made too early, and the network
        // imposes the wait again.
        let stored = try? await rows().waits[role]
        return (stored ?? []).filter {
            now.timeIntervalSince(max($0.until, $0.noted)) < Self.waitLasts
        }
    }

    /// Stores the wait of an account, or removes that of a scope; an error of this write is
    /// ignored.
    package func note(_ wait: AccountWait?, _ scope: AccountWait.Scope, of role: AccountRole) async
    {
        guard let wait else {
            // A row that could not be deleted expires by its time.
            _ = try? await storage.executeRepeatable(
                """
                DELETE FROM waits WHERE mirror = \(mirror) AND role = \(role.rawValue) AND scope = \(scope.rawValue)
                """)
            return
        }
        // If the row is not stored, this process waits all the same, and the next one asks the
        // network; the error is ignored.
        _ = try? await storage.executeRepeatable(
            """
            INSERT INTO waits (mirror, role, scope, code, error, since_ms, noted_ms, until_ms)
            VALUES (\(mirror), \(role.rawValue), \(scope.rawValue), \(wait.code.rawValue), \(wait.error),
                \(wait.since.milliseconds), \(wait.noted.milliseconds), \(wait.until.milliseconds))
            ON CONFLICT (mirror, role, scope) DO UPDATE SET code = excluded.code, error = excluded.error,
                since_ms = excluded.since_ms, noted_ms = excluded.noted_ms, until_ms = excluded.until_ms
            """)
    }

    // MARK: Refusals

    /// Stores that a network refuses an account's credentials; an error of this write is ignored.
    package func note(_ error: NetworkError, of role: AccountRole, at now: Date) async {
        let text = StoredText.inEnglish { "\(error)" }
        _ = try? await storage.executeRepeatable(
            """
            INSERT INTO refusals (mirror, role, error, code, since_ms, noted_ms)
            VALUES (\(mirror), \(role.rawValue), \(text), \(error.code.rawValue), \(now.milliseconds),
                \(now.milliseconds))
            ON CONFLICT (mirror, role) DO UPDATE
            SET error = excluded.error, code = excluded.code, noted_ms = excluded.noted_ms
            """)
    }

    /// Removes the stored refusal of an account; an error of this write is ignored.
    package func clear(_ role: AccountRole) async {
        _ = try? await storage.executeRepeatable(
            "DELETE FROM refusals WHERE mirror = \(mirror) AND role = \(role.rawValue)")
    }
}

extension AccountWait {
    /// Nil for a scope or a code that this version does not know.
    ///
    /// - Throws: `StorageError` if a column is missing.
    fileprivate init?(row: SQLRow) throws {
        guard let scope = Scope(rawValue: try row.text("scope")),
            let code = NetworkError.Code(rawValue: try row.text("code"))
        else { return nil }
        self.init(
            scope: scope, code: code, error: try row.text("error"),
            since: try row.date("since_ms"), noted: try row.date("noted_ms"),
            until: try row.date("until_ms"))
    }
}
