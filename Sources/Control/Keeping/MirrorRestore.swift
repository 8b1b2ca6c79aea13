import Archive
package import Foundation
import Localization
import Mirroring
import Outbox
package import Posts
import Settings
package import Storage

/// Restores the state of a backup in a database, mirror by mirror, in one transaction.
///
/// An older state must not undo actions and statements that were made since the backup: `TableDuty`
/// states for each table whether its rows are replaced, kept, or added to. An effect that was taken
/// back since the backup is searched for once more.
///
/// Afterwards the mirror pauses, and counts as started now: older mentions are not answered, and
/// past slots are not sent.
package struct MirrorRestore: Sendable {
    /// The outcome for one mirror.
    package struct Receipt: Equatable, Sendable {
        package let mirror: String
        /// The number of rows that each table has now; tables without any are left out.
        package var rows: [String: Int] = [:]
        /// The last activity of the backup's mirror; nil if there was none.
        package var knownUntil: Date?
        /// Whether the database knows the mirror's actions since the backup; if not, the network is
        /// asked at the next start.
        package var knowsRest = false
        /// The number of waiting actions that were left out.
        package var leftOut = 0
        /// People who were denied since the backup.
        package var denied: [AccountID] = []

        init(_ mirror: String) { self.mirror = mirror }
    }

    /// The schema name of the attached backup, see `Storage.open(_:beside:)`.
    private static let backup = "restored"

    private let storage: any StorageEngine
    private let now: Date

    /// - Parameters:
    ///   - storage: The database, with a prepared backup attached as `restored`, see
    ///     ``prepare(_:now:)``.
    ///   - now: The time of the restore.
    package init(into storage: any StorageEngine, now: Date) {
        self.storage = storage
        self.now = now
    }

    /// Migrates the tables of a copied backup, and ends the actions that wait in it.
    ///
    /// - Returns: The names of its mirrors.
    /// - Throws: `ConfigurationError` for a name that no mirror can have; the store's error.
    package static func prepare(_ copy: any StorageEngine, now: Date) async throws -> [String] {
        try await TablesUpdate.migrate(copy)
        try await copy.transaction { try OutboxStore.settleBackup(on: $0, now: now) }
        let names = try await MirrorTable.names(in: copy)
        for name in names { try MirrorSettings.requireName(name, of: localized("the backup")) }
        return names
    }

    /// Restores the mirrors of the backup, all or none.
    ///
    /// The caller holds their leases.
    ///
    /// - Throws: `ConfigurationError` for a mirror that is in another database now or has other
    ///   accounts; the store's error.
    ///
    /// - Parameter knowsPeople: The result of ``salvage()``.
    package func run(_ mirrors: [String], knowsPeople: Bool = false) async throws -> [Receipt] {
        let shapes = try await TableShape.ofMirrors(in: storage)
        return try await storage.transaction { connection in
            try mirrors.map { try restore($0, shapes, knowsPeople: knowsPeople, on: connection) }
        }
    }

    /// Copies the readable actions and people of another database, even if that is damaged.
    ///
    /// - Returns: Whether all people, and all tombstones of forgotten people, were read.
    package func salvage() async -> Bool {
        // Without the shapes of the tables (none if they are unreadable) nothing is read.
        guard let shapes = try? await TableShape.ofMirrors(in: storage) else { return false }
        var failed: Set<String> = []
        for shape in shapes where shape.duty.restore == .added && shape.name != "credentials" {
            do {
                try await storage.transaction { connection in
                    let columns = try connection.query(
                        "SELECT name FROM pragma_table_info(\(shape.name), \(Self.backup))"
                    ).map { try $0.text("name") }
                    // Without a name, the rows of all mirrors are added.
                    try add(shape.with(only: Set(columns)), of: nil, on: connection)
                }
            } catch {
                failed.insert(shape.name)
            }
        }
        return failed.isDisjoint(with: ["people", "forgotten"])
    }

    private func restore(
        _ mirror: String, _ shapes: [TableShape], knowsPeople: Bool,
        on connection: any StorageConnection
    ) throws -> Receipt {
        var receipt = Receipt(mirror)
        let currentRow = try row(of: mirror, in: "main", on: connection)
        let backupRow = try row(of: mirror, in: Self.backup, on: connection)
        try requireSame(mirror, currentRow, backupRow, on: connection)
        let started = try currentRow?.optionalDate("activated_ms")
        receipt.knownUntil = try lastWork(of: mirror, on: connection)
        receipt.denied = try denied(of: mirror, on: connection)
        let openGap = try MirrorTable.gap(of: mirror, on: connection)
        for shape in shapes {
            switch shape.duty.restore {
            case .apart, .kept: continue
            case .keptOnceWorked where started != nil: continue
            case .added: break
            case .keptOnceWorked, .replaced:
                try connection.execute("DELETE FROM \(unsafe: shape.name) WHERE mirror = \(mirror)")
            }
            try add(shape, of: mirror, on: connection)
        }
        if let mirrors = shapes.first(where: { $0.name == "mirrors" }) {
            try takeOverRow(of: mirror, mirrors, on: connection)
        }
        try MirrorTable.removeLoginsIfRetired(mirror, on: connection)
        receipt.leftOut = try OutboxStore.skipWaitingActions(of: mirror, on: connection, now: now)
        try Archive.forgetAgain(of: mirror, on: connection, now: now)
        try OutboxStore.noteAllUses(of: mirror, on: connection)
        receipt.knowsRest = isKnown(until: receipt.knownUntil, startedAt: started) && openGap == nil
        if !receipt.knowsRest, let known = [receipt.knownUntil, openGap].compactMap(\.self).min() {
            try MirrorTable.note(gap: known, of: mirror, on: connection)
        }
        try pause(mirror, receipt, knowsPeople: knowsPeople, on: connection)
        for shape in shapes {
            let count = try connection.query(
                "SELECT COUNT(*) AS rows FROM \(unsafe: shape.name) WHERE mirror = \(mirror)")
            if let number = try count.first?.int("rows"), number > 0 {
                receipt.rows[shape.name] = number
            }
        }
        return receipt
    }

    /// Whether this database knows all actions of the mirror since the end of the backup, because
    /// the mirror had started here by then.
    private func isKnown(until end: Date?, startedAt start: Date?) -> Bool {
        guard let end else { return true }
        return start.map { $0 <= end } ?? false
    }

    /// - Parameter mirror: The mirror whose rows are copied; nil for all mirrors.
    private func add(_ shape: TableShape, of mirror: String?, on connection: any StorageConnection)
        throws
    {
        let columns: SQL = "\(unsafe: shape.columns.map(\.name).joined(separator: ", "))"
        let isOfMirror: SQL = mirror.map { "mirror = \($0)" } ?? "TRUE"
        try connection.execute(
            """
            INSERT INTO main.\(unsafe: shape.name) (\(columns))
            SELECT \(columns) FROM \(unsafe: Self.backup).\(unsafe: shape.name) WHERE \(isOfMirror)
            ON CONFLICT DO NOTHING
            """)
    }

    // MARK: The mirror itself

    private func row(of mirror: String, in database: String, on connection: any StorageConnection)
        throws -> SQLRow?
    {
        try connection.query("SELECT * FROM \(unsafe: database).mirrors WHERE mirror = \(mirror)")
            .first
    }

    /// Fails if the database's mirror of that name is another one, or may not be changed here.
    private func requireSame(
        _ mirror: String, _ currentRow: SQLRow?, _ backupRow: SQLRow?,
        on connection: any StorageConnection
    ) throws {
        if let problem = try MirrorTable.moveMark(of: currentRow)?.problem {
            throw ConfigurationError(localized("mirror \(mirror)"), problem)
        }
        for column in ["human_account", "bot_account"] {
            let accountHere = try currentRow?.optionalText(column)
            let accountInBackup = try backupRow?.optionalText(column)
            guard let accountHere, let accountInBackup, accountHere != accountInBackup else {
                continue
            }
            throw ConfigurationError(
                localized("mirror \(mirror)"),
                localized(
                    "has the account \(accountHere), and in the backup \(accountInBackup); restore that into another folder, named by --home"
                ))
        }
        try MirrorTable.requireOwnBot(
            try backupRow?.optionalText("bot_account"), of: mirror,
            setting: localized("the backup"),
            connection)
    }

    /// Takes over the mirror's row of the backup, except the mirror's start, place and pause.
    ///
    /// The state of the human's account, the consent or stop, and a retirement are taken over only
    /// if this database does not know them. Accounts, handles, the time zone and the past stay if
    /// the backup does not know them.
    private func takeOverRow(
        of mirror: String, _ shape: TableShape, on connection: any StorageConnection
    )
        throws
    {
        let consentColumns = ["consent", "consent_ms", "consent_words", "stopped_ms"]
        let keptColumns = MoveMark.columns.union([
            "mirror", "created_ms", "version", "activated_ms",
        ]).union(consentColumns)
        let keptWithoutBackup: Set = [
            "human_account", "bot_account", "human_handle", "bot_handle", "time_zone", "past",
        ]
        let hasNoDecision = "mirrors.consent IS NULL AND mirrors.stopped_ms IS NULL"
        let names = shape.columns.map(\.name)
        let retirementColumns = names.filter { $0.hasPrefix(Retirement.prefix) }
        let standingColumns = names.filter { $0.hasPrefix(HumanStanding.prefix) }
        let otherColumns = keptColumns.union(retirementColumns).union(standingColumns)
        let copiedColumns = names.filter { !otherColumns.contains($0) && !$0.hasPrefix("pause") }
        let changes =
            copiedColumns.map { name in
                keptWithoutBackup.contains(name)
                    ? "\(name) = COALESCE(excluded.\(name), mirrors.\(name))"
                    : "\(name) = excluded.\(name)"
            }
            + consentColumns.map {
                "\($0) = CASE WHEN \(hasNoDecision) THEN excluded.\($0) ELSE mirrors.\($0) END"
            }
            + standingColumns.map {
                "\($0) = CASE WHEN mirrors.standing_look_ms IS NULL THEN excluded.\($0) ELSE mirrors.\($0) END"
            }
            + retirementColumns.map {
                "\($0) = CASE WHEN mirrors.retire_ms IS NULL THEN excluded.\($0) ELSE mirrors.\($0) END"
            }
        let columns: SQL = "\(unsafe: shape.columns.map(\.name).joined(separator: ", "))"
        try connection.execute(
            """
            INSERT INTO main.mirrors (\(columns))
            SELECT \(columns) FROM \(unsafe: Self.backup).mirrors WHERE mirror = \(mirror)
            ON CONFLICT (mirror) DO UPDATE SET \(unsafe: changes.joined(separator: ", ")),
                activated_ms = COALESCE(mirrors.activated_ms, excluded.activated_ms)
            """)
        // Makes the row of a mirror of which the backup has posts, but no row.
        try connection.execute(
            """
            INSERT INTO mirrors (mirror, created_ms) VALUES (\(mirror), \(now.milliseconds))
            ON CONFLICT (mirror) DO NOTHING
            """)
    }

    /// Pauses the mirror until a person has looked, and sets its start to now.
    private func pause(
        _ mirror: String, _ receipt: Receipt, knowsPeople: Bool,
        on connection: any StorageConnection
    ) throws {
        let end = receipt.knownUntil.map { " that ends at \($0.rfc3339.prefix(19))Z" } ?? ""
        let nextStep =
            receipt.knowsRest || knowsPeople
            ? "look at mirror-bot config and mirror-bot plan, then run mirror-bot resume"
            : "requests to deny or forget that were made since then are lost: repeat them, then run mirror-bot resume"
        try connection.execute(
            """
            UPDATE mirrors SET paused_ms = \(now.milliseconds), paused_until_ms = NULL, pause_code = \(Pause.Code.restored.rawValue),
                pause_reason = \("it was restored from a backup\(end); \(nextStep)"), version = version + 1,
                activated_ms = CASE WHEN activated_ms IS NULL THEN NULL ELSE \(now.milliseconds) END
            WHERE mirror = \(mirror)
            """)
    }

    // MARK: Reading both databases

    /// The last activity of the backup's mirror.
    private func lastWork(of mirror: String, on connection: any StorageConnection) throws -> Date? {
        let backup: SQL = "\(unsafe: Self.backup)"
        // The waiting actions of the backup were ended by `prepare`, and have the time `now` since
        // then, so they are left out.
        return try connection.query(
            """
            SELECT MAX(at_ms) AS last_ms FROM (
                SELECT MAX(updated_ms) AS at_ms FROM \(backup).leases WHERE mirror = \(mirror)
                UNION ALL SELECT MAX(updated_ms) FROM \(backup).workers
                    WHERE worker = (SELECT worker FROM \(backup).leases WHERE mirror = \(mirror) AND NOT released)
                UNION ALL SELECT MAX(updated_ms) FROM \(backup).actions
                    WHERE mirror = \(mirror) AND updated_ms < \(now.milliseconds)
                UNION ALL SELECT MAX(read_ms) FROM \(backup).feeds WHERE mirror = \(mirror)
            ) AS times
            """
        ).first?.optionalDate("last_ms")
    }

    /// Returns the people whom this database denies and the backup does not.
    ///
    /// Identities that begin with `#` are those of forgotten people.
    private func denied(of mirror: String, on connection: any StorageConnection) throws
        -> [AccountID]
    {
        try connection.query(
            """
            SELECT network, account_id FROM main.people AS current_people
            WHERE mirror = \(mirror) AND stance = 'deny' AND SUBSTR(account_id, 1, 1) NOT IN ('#', '*')
                AND NOT EXISTS (
                    SELECT 1 FROM \(unsafe: Self.backup).people AS backup_people
                    WHERE backup_people.mirror = current_people.mirror
                        AND backup_people.network = current_people.network
                        AND backup_people.account_id = current_people.account_id
                        AND backup_people.stance = 'deny')
            ORDER BY network, account_id
            """
        ).compactMap { row in
            guard let network = NetworkName(rawValue: try row.text("network")) else { return nil }
            return AccountID(network: network, value: try row.text("account_id"))
        }
    }
}
