package import Foundation
import Posts
package import Storage

/// Putting decisions into the table.
extension OutboxStore {
    /// Stores a day's plan unless one exists: the first writer wins.
    ///
    /// - Parameters:
    ///   - plan: The day and what it was drawn from.
    ///   - slots: The day's post actions, their subjects numbered by ``StoredPlan/subject(day:slot:)``.
    /// - Returns: True if this plan was stored, false if the day had one.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func store(_ plan: StoredPlan, slots: [Intent]) async throws -> Bool {
        let (mirror, lease) = (mirror, lease)
        return try await storage.transaction { connection in
            try Self.requireLease(lease, mirror, connection)
            let inserted = try connection.execute(
                """
                INSERT INTO plans (mirror, local_day, time_zone, seed, slots, made_ms)
                VALUES (\(mirror), \(plan.day.description), \(plan.timeZone), \(plan.seed), \(slots.count),
                    \(plan.made.milliseconds))
                ON CONFLICT (mirror, local_day) DO NOTHING
                """)
            guard inserted == 1 else { return false }
            for slot in slots { _ = try Self.insert(slot, mirror, at: plan.made, connection) }
            try Self.noteUses(of: slots.compactMap(\.sourcePost), mirror, connection)
            return true
        }
    }

    /// Stores a decision about a mention or a post, unless one about it exists.
    ///
    /// - Returns: The stored action and whether it is new.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func propose(_ intent: Intent, now: Date) async throws -> (action: Action, isNew: Bool) {
        let (mirror, lease) = (mirror, lease)
        return try await storage.transaction { connection in
            try Self.requireLease(lease, mirror, connection)
            let isNew = try Self.insert(intent, mirror, at: now, connection)
            if isNew, intent.kind == .post {
                try Self.noteUses(of: [intent.sourcePost].compactMap(\.self), mirror, connection)
            }
            let stored = try Self.actions(
                mirror, "kind = \(intent.kind.rawValue) AND subject = \(intent.subject)", "id ASC", 1, connection)
            guard let action = stored.first else {
                throw OutboxError.stateChanged(intent.subject, to: intent.state)
            }
            return (action, isNew)
        }
    }

    private static func insert(
        _ intent: Intent, _ mirror: String, at now: Date, _ connection: any StorageConnection
    ) throws -> Bool {
        let id = ActionIdentity.id(kind: intent.kind, subject: intent.subject)
        let key = ActionIdentity.key(mirror: mirror, kind: intent.kind, subject: intent.subject)
        let inserted = try connection.execute(
            """
            INSERT INTO actions (mirror, \(Action.columns)) VALUES (\(mirror), \(id), \(intent.kind.rawValue),
                \(intent.subject), \(intent.state.rawValue), \(intent.due.milliseconds),
                \(intent.expires.milliseconds), FALSE, \(intent.sourcePost?.network.rawValue),
                \(intent.sourcePost?.value), \(intent.targetPost), \(intent.targetAuthor?.network.rawValue),
                \(intent.targetAuthor?.value), \(intent.targetAddress), \(intent.storedBystanders), \(intent.thread),
                \(intent.visibility?.rawValue), \(intent.language), \(intent.text), \(key), \(SQLValue.null),
                \(SQLValue.null), \(SQLValue.null), \(SQLValue.null), 0, 0, \(SQLValue.null), \(intent.reason),
                \(intent.explanation), \(now.milliseconds), \(now.milliseconds))
            ON CONFLICT (mirror, kind, subject) DO NOTHING
            """)
        return inserted == 1
    }

    /// When a row of `posts` was last planned or sent as a post of its own: an expression for statements about that
    /// table.
    package static let lastUse: SQL = """
        (SELECT MAX(due_ms) FROM actions WHERE actions.mirror = posts.mirror AND kind = 'post'
            AND source_network = posts.network AND source_post_id = posts.post_id AND \(using))
        """

    /// Brings the archive's note of when posts were last used up to date with the actions.
    static func noteUses(of posts: [PostID], _ mirror: String, _ connection: any StorageConnection) throws {
        for (network, group) in Dictionary(grouping: Set(posts), by: \.network) {
            for part in group.map(\.value).portions {
                try connection.execute(
                    """
                    UPDATE posts SET last_used_ms = \(lastUse)
                    WHERE mirror = \(mirror) AND network = \(network.rawValue) AND post_id IN \(list: part)
                    """)
            }
        }
    }

    /// Fails unless this worker holds the mirror's lease.
    ///
    /// Written as an update so that the row stays locked until the transaction
    /// ends: nobody can take the lease between the check and the change.
    static func requireLease(_ lease: Lease?, _ mirror: String, _ connection: any StorageConnection) throws {
        guard let lease else { return }
        let held = try connection.execute(
            """
            UPDATE leases SET released = FALSE
            WHERE mirror = \(mirror) AND owner = \(lease.owner) AND fence = \(lease.fence) AND NOT released
            """)
        guard held == 1 else { throw OutboxError.leaseLost }
    }
}
