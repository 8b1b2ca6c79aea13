package import Foundation
package import Posts
package import Storage

/// The table of actions of one mirror.
///
/// Reading needs nothing; every change of a stored action carries the lease and
/// fails with ``OutboxError`` when another worker holds it. The rule that an
/// action exists once is the table's unique key over mirror, kind and subject.
package struct OutboxStore: Sendable {
    let storage: any StorageEngine
    let mirror: String
    /// Nil only for a dry run on a scratch store, where nobody else writes.
    let lease: Lease?

    package init(storage: any StorageEngine, mirror: String, lease: Lease?) {
        self.storage = storage
        self.mirror = mirror
        self.lease = lease
    }

    // MARK: Reading

    /// The stored plan of a day, or nil while nobody made one.
    package func plan(for day: LocalDay) async throws -> StoredPlan? {
        let rows = try await storage.query(
            """
            SELECT time_zone, seed, made_ms FROM plans WHERE mirror = \(mirror) AND local_day = \(day.description)
            """)
        return try rows.first.map { row in
            StoredPlan(
                day: day, timeZone: try row.text("time_zone"), seed: try row.text("seed"),
                made: try row.date("made_ms"))
        }
    }

    // In SQLite a plus before a column, or an expression instead of it, keeps an index away that only serves the order.

    /// The slots of a day in order of their time.
    package func slots(of day: LocalDay) async throws -> [Action] {
        try await actions(
            where: "kind = 'post' AND SUBSTR(subject, 1, 10) = \(day.description)", order: "+due_ms ASC, subject ASC",
            limit: 10_000)
    }

    /// The newest actions, last changed first.
    package func recent(_ limit: Int, since: Date? = nil) async throws -> [Action] {
        try await actions(
            where: "updated_ms >= \(since?.milliseconds ?? 0)", order: "updated_ms DESC, id ASC", limit: limit)
    }

    /// The action of this kind about this subject.
    package func action(_ kind: ActionKind, subject: String) async throws -> Action? {
        try await actions(where: "kind = \(kind.rawValue) AND subject = \(subject)", order: "id ASC", limit: 1).first
    }

    /// The reply that was published under this address at the bot's server.
    package func reply(publishedAs address: String) async throws -> Action? {
        try await actions(
            where: "kind = 'reply' AND remote_address = \(address)", order: "created_ms ASC, id ASC", limit: 1
        ).first
    }

    /// The subjects among `subjects` that already have an action of this kind.
    package func known(_ kind: ActionKind, among subjects: [String]) async throws -> Set<String> {
        var known: Set<String> = []
        for part in subjects.portions {
            known.formUnion(try Self.subjects(in: try await storage.query(Self.knowing(kind, part, mirror))))
        }
        return known
    }

    /// What has to be known before a page of posts is decided, read at one moment.
    ///
    /// - Parameters:
    ///   - kind: What they may become.
    ///   - subjects: The posts.
    ///   - since: From when on actions count for the cap.
    ///   - read: Reads what else has to be known.
    /// - Returns: The subjects that have an action, how many actions count, and what `read` returned.
    /// - Throws: The store's error, or what `read` throws.
    package func standing<Value: Sendable>(
        _ kind: ActionKind, among subjects: [String], since: Date,
        and read: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> (known: Set<String>, count: Int, Value) {
        let mirror = mirror
        return try await storage.read { connection in
            var known: Set<String> = []
            for part in subjects.portions {
                known.formUnion(try Self.subjects(in: try connection.query(Self.knowing(kind, part, mirror))))
            }
            let counted = try connection.query(Self.counting(Self.capped(kind, since), mirror))
            return (known, try counted.first?.int("number") ?? 0, try read(connection))
        }
    }

    private static func knowing(_ kind: ActionKind, _ subjects: some Collection<String>, _ mirror: String) -> SQL {
        """
        SELECT subject FROM actions
        WHERE mirror = \(mirror) AND kind = \(kind.rawValue) AND subject IN \(list: Array(subjects))
        """
    }

    private static func subjects(in rows: [SQLRow]) throws -> [String] { try rows.map { try $0.text("subject") } }

    /// Actions of one kind that were sent, may have been, or may yet be, due since `since`.
    ///
    /// For caps: rows that ended without sending do not count.
    package func active(_ kind: ActionKind, since: Date) async throws -> [Action] {
        try await actions(
            where: Self.capped(kind, since), order: "due_ms DESC, id ASC", limit: 100_000)
    }

    /// Those among `people` who named the bot in a post before, other than to make it stop.
    package func acquaintances(among people: [AccountID]) async throws -> Set<AccountID> {
        guard !people.isEmpty else { return [] }
        var found: Set<AccountID> = []
        for (network, group) in Dictionary(grouping: Set(people), by: \.network) {
            for part in group.map(\.value).portions {
                let rows = try await storage.query(
                    """
                    SELECT DISTINCT target_author FROM actions
                    WHERE mirror = \(mirror) AND kind = 'reply' AND target_network = \(network.rawValue)
                        AND target_author IN \(list: part)
                        AND COALESCE(reason, '') NOT IN ('asked-to-stop', 'not-mentioned')
                    """)
                for row in rows { found.insert(AccountID(network: network, value: try row.text("target_author"))) }
            }
        }
        return found
    }

    /// How many actions are in each state, by kind.
    package func counts(since: Date) async throws -> [ActionKind: [ActionState: Int]] {
        let mirror = mirror
        return try await storage.read { connection in
            let rows = try connection.query(
                """
                SELECT COALESCE(kind, '') AS kind, COALESCE(state, '') AS state, COUNT(*) AS number FROM actions
                WHERE mirror = \(mirror) AND kind IN \(list: ActionKind.allCases.map(\.rawValue))
                    AND due_ms >= \(since.milliseconds)
                GROUP BY 1, 2
                """)
            var counts: [ActionKind: [ActionState: Int]] = [:]
            for row in rows {
                guard let kind = ActionKind(rawValue: try row.text("kind")),
                    let state = ActionState(rawValue: try row.text("state"))
                else { continue }
                counts[kind, default: [:]][state] = try row.int("number")
            }
            return counts
        }
    }

    func actions(where condition: SQL, order: SQL, limit: Int) async throws -> [Action] {
        try await storage.query(Self.selection(mirror, condition, order, limit)).map(Action.init(row:))
    }

    static func actions(
        _ mirror: String, _ condition: SQL, _ order: SQL, _ limit: Int, _ connection: any StorageConnection
    ) throws -> [Action] {
        try connection.query(selection(mirror, condition, order, limit)).map(Action.init(row:))
    }

    private static func selection(_ mirror: String, _ condition: SQL, _ order: SQL, _ limit: Int) -> SQL {
        """
        SELECT \(Action.columns) FROM actions WHERE mirror = \(mirror) AND \(condition)
        ORDER BY \(order) LIMIT \(limit)
        """
    }
}
