import Foundation
import Localization
import Mirroring
import Posts
import Settings
import Storage

/// The stored settings and logins of some mirrors.
struct RegisterRows: Sendable {
    struct Row: Sendable {
        /// Why the mirror cannot be changed here, as the rest of a sentence; nil if it can be.
        var problem: String?
        var settings: [String: String] = [:]
        /// The sealed logins.
        var logins: [AccountRole: String] = [:]
    }

    private var rows: [String: Row] = [:]

    /// The row of a mirror; nil if nothing is stored under its name.
    subscript(_ name: String) -> Row? { rows[name] }

    /// Reads the rows with four statements.
    ///
    /// - Parameter names: At most a few hundred.
    init(of names: [String], on connection: any StorageConnection) throws {
        for row in try connection.query(
            """
            SELECT mirror, move_id, move_state, move_place, move_ms, pause_code FROM mirrors
            WHERE mirror IN \(list: names)
            """)
        {
            let isRemoved = try row.optionalText("pause_code") == Pause.Code.removing.rawValue
            let problem = try MirrorTable.moveMark(of: row)?.problem
            rows[try row.text("mirror")] = Row(
                problem: problem
                    ?? (isRemoved
                        ? localized("is being removed; mirror-bot mirrors remove continues") : nil))
        }
        for row in try connection.query(
            "SELECT mirror, name, value FROM settings WHERE mirror IN \(list: names)")
        {
            rows[try row.text("mirror"), default: Row()].settings[try row.text("name")] =
                try row.text("value")
        }
        let roles = AccountRole.allCases.map(\.rawValue)
        for row in try connection.query(
            """
            SELECT mirror, role, sealed FROM credentials WHERE mirror IN \(list: names) AND role IN \(list: roles)
            """)
        {
            guard let role = AccountRole(rawValue: try row.text("role")) else { continue }
            rows[try row.text("mirror"), default: Row()].logins[role] = try row.text("sealed")
        }
        // Mirrors without such rows exist if at least an archive or examples were imported.
        let unknown = names.filter { rows[$0] == nil }
        guard !unknown.isEmpty else { return }
        for row in try connection.query(
            """
            SELECT DISTINCT mirror FROM posts WHERE mirror IN \(list: unknown)
            UNION SELECT DISTINCT mirror FROM examples WHERE mirror IN \(list: unknown)
            """)
        { rows[try row.text("mirror")] = Row() }
    }
}

/// Settings and logins of some mirrors, to be stored together.
struct RegisterBatch {
    private let now: Int64
    private var mirrors: [[SQLValue]] = []
    private var settings: [[SQLValue]] = []
    private var logins: [[SQLValue]] = []
    /// The sessions to delete, with the value of their column `role`: a new login starts a session
    /// of its own.
    private var sessions: [(mirror: String, role: String)] = []

    init(now: Date) { self.now = now.milliseconds }

    /// - Parameters:
    ///   - name: The mirror.
    ///   - values: The settings to store.
    ///   - sealedLogins: The logins to store.
    mutating func add(
        _ name: String, settings values: [String: String], sealedLogins: [(AccountRole, String)]
    ) {
        mirrors.append([name.sqlValue, now.sqlValue])
        settings += values.sorted { $0.key < $1.key }.map {
            [name.sqlValue, $0.sqlValue, $1.sqlValue, now.sqlValue]
        }
        for (role, text) in sealedLogins {
            logins.append([name.sqlValue, role.rawValue.sqlValue, text.sqlValue, now.sqlValue])
            sessions.append((name, CredentialVault.sessionRow(of: role)))
        }
    }

    /// Stores the rows, and increases the versions of the mirrors, so that workers read them again.
    func store(on connection: any StorageConnection) throws {
        guard !mirrors.isEmpty else { return }
        try connection.insert(
            BulkInsert(
                into: "mirrors", columns: [("mirror", .text), ("created_ms", .integer)],
                rows: mirrors,
                onConflict: .ignore))
        try connection.insert(
            BulkInsert(
                into: "settings",
                columns: [
                    ("mirror", .text), ("name", .text), ("value", .text), ("updated_ms", .integer),
                ],
                rows: settings,
                onConflict: .update(key: ["mirror", "name"], set: ["value", "updated_ms"])))
        for part in sessions.portions {
            try connection.execute(
                """
                DELETE FROM credentials WHERE mirror IN \(list: part.map(\.mirror))
                    AND (mirror, role) IN (VALUES \(Self.pairs(part)))
                """)
        }
        try connection.insert(
            BulkInsert(
                into: "credentials",
                columns: [
                    ("mirror", .text), ("role", .text), ("sealed", .text), ("updated_ms", .integer),
                ],
                rows: logins,
                onConflict: .update(key: ["mirror", "role"], set: ["sealed", "updated_ms"])))
        let names = mirrors.map { $0[0] }
        try connection.execute(
            "UPDATE mirrors SET version = version + 1 WHERE mirror IN \(list: names)")
    }

    /// The values of the sessions as SQL rows.
    private static func pairs(_ sessions: [(mirror: String, role: String)]) -> SQL {
        var list: SQL = "(\(sessions[0].mirror), \(sessions[0].role))"
        for session in sessions.dropFirst() { list += ", (\(session.mirror), \(session.role))" }
        return list
    }
}
