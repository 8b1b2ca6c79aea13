package import Foundation
package import Posts
package import Storage

/// Storing decisions of the mirror and of a person.
extension OutboxStore {
    /// Stores a day's plan unless one exists: the first writer wins.
    ///
    /// - Returns: False if the day already had a plan.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func store(_ plan: StoredPlan, slots: [Intent]) async throws -> Bool {
        try await write { connection in
            let inserted = try connection.execute(
                """
                INSERT INTO plans (mirror, local_day, time_zone, seed, slots, made_ms, model)
                VALUES (\(mirror), \(plan.day.description), \(plan.timeZone), \(plan.seed), \(slots.count),
                    \(plan.made.milliseconds), \(plan.model))
                ON CONFLICT (mirror, local_day) DO NOTHING
                """)
            guard inserted == 1 else { return false }
            let actions = slots.map { Action($0, of: mirror, at: plan.made) }
            for action in actions { _ = try insert(action, on: connection) }
            try noteUses(by: actions, on: connection)
            return true
        }
    }

    /// A decision as it is stored, and whether it is new.
    package typealias Proposed = (action: Action, isNew: Bool)

    /// Stores a decision about a mention or a post, unless one is stored already.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func propose(_ intent: Intent, now: Date) async throws -> Proposed {
        try await write { try propose(intent, now: now, on: $0) }
    }

    /// Stores decisions in one transaction, except those whose subject has a stored decision.
    ///
    /// - Parameter also: A further change of the same transaction.
    /// - Returns: The stored actions, in the same order.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error. Then nothing is stored.
    package func propose(
        _ intents: [Intent], now: Date,
        also: (@Sendable (any StorageConnection) throws -> Void)? = nil
    ) async throws -> [Proposed] {
        guard !intents.isEmpty || also != nil else { return [] }
        return try await write { connection in
            let proposed = try intents.map { try propose($0, now: now, on: connection) }
            try also?(connection)
            return proposed
        }
    }

    private func propose(_ intent: Intent, now: Date, on connection: any StorageConnection) throws
        -> Proposed
    {
        let proposed = Action(intent, of: mirror, at: now)
        if let row = try connection.query(insertion(of: proposed) + " RETURNING \(Action.columns)")
            .first
        {
            try noteUses(by: [proposed], on: connection)
            return (try Self.action(of: row) ?? proposed, true)
        }
        let hasSameSubject: SQL =
            "kind = \(proposed.kind.rawValue) AND subject = \(proposed.subject)"
        if let stored = try actions(
            where: hasSameSubject, order: "id ASC", limit: 1, on: connection
        ).first {
            return (stored, false)
        }
        // If this version cannot parse the stored row, the subject still counts as decided.
        var decided = proposed
        decided.state = .skipped
        return (decided, false)
    }

    func insert(_ action: Action, on connection: any StorageConnection) throws -> Bool {
        try connection.execute(insertion(of: action)) == 1
    }

    private func insertion(of action: Action) -> SQL {
        """
        INSERT INTO actions (mirror, \(Action.columns)) VALUES (\(mirror), \(action.values))
        ON CONFLICT (mirror, kind, subject) DO NOTHING
        """
    }

    /// Marks planned and suggested posts that were due before an instant as sent, each at its time.
    ///
    /// For a simulation without a network, on a temporary store.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func assumePostsSent(before date: Date) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                \(Self.changing) state = 'done', sending_ms = due_ms, departed_ms = due_ms, updated_ms = due_ms
                WHERE mirror = \(mirror) AND kind = 'post' AND state IN ('planned', 'suggested')
                    AND due_ms < \(date.milliseconds)
                """)
        }
    }

    /// An SQL expression on a row of `posts`: when it was last planned or sent as a post of its
    /// own.
    package static let lastUse: SQL = """
        (SELECT MAX(due_ms) FROM actions WHERE actions.mirror = posts.mirror AND kind = 'post'
            AND source_network = posts.network AND source_post_id = posts.post_id AND \(countsAsUse))
        """

    /// An SQL expression on a row of `posts`: how often it was planned or sent as a post of its
    /// own.
    package static let useCount: SQL = """
        past_uses + (SELECT COUNT(*) FROM actions WHERE actions.mirror = posts.mirror AND kind = 'post'
            AND source_network = posts.network AND source_post_id = posts.post_id AND \(countsAsUse))
        """

    /// Updates the archive's last use and number of uses of the posts of some actions.
    func noteUses(by actions: [Action], on connection: any StorageConnection) throws {
        let sources = actions.filter { $0.kind == .post }.compactMap(\.wording?.source)
        for (network, group) in Dictionary(grouping: Set(sources), by: \.network) {
            for portion in group.map(\.value).portions {
                try connection.execute(
                    """
                    UPDATE posts SET last_used_ms = \(Self.lastUse), uses = \(Self.useCount)
                    WHERE mirror = \(mirror) AND network = \(network.rawValue) AND post_id IN \(list: portion)
                    """)
            }
        }
    }
}

// MARK: By a person

/// Decisions of a person, which need no lease: each changes rows only in states that workers do not
/// change.
extension OutboxStore {
    /// Approves a suggestion: a post whose time has not passed is sent at its time, any other
    /// action at once.
    ///
    /// A post becomes pinned, so that its approved text is not replaced.
    ///
    /// - Parameters:
    ///   - seen: The digest of what the person was shown; nil to approve it in any state.
    ///   - now: The time at which the action becomes due, if its own time has passed.
    ///   - expires: The time at which the action expires, if its own time has passed.
    /// - Returns: The changed action; nil if there is no such suggestion.
    /// - Throws: `SeenChanged` if the action has changed since the person saw it; the store's
    ///   error.
    package func approve(
        _ id: String, seen: Seen? = nil, now: Date, expires: Date,
        _ note: @escaping Note = { _, _ in }
    ) async throws -> Action? {
        let isAhead: SQL = "kind = 'post' AND due_ms > \(now.milliseconds)"
        return try await steer(
            id, ifIn: [.suggested], seen: seen,
            """
            state = 'planned', target_text = NULL, pinned = CASE WHEN kind = 'post' THEN TRUE ELSE pinned END, expires_ms = CASE WHEN \(isAhead) THEN expires_ms ELSE \(expires.milliseconds) END,
                due_ms = CASE WHEN \(isAhead) THEN due_ms ELSE \(now.milliseconds) END
            """, now: now, note)
    }

    /// Records that a person carried out a suggested favorite, in a browser.
    ///
    /// Nothing was sent by the program, so the network's answer and the time of a request are
    /// missing.
    ///
    /// - Returns: The changed action; nil if there is no such suggestion.
    package func noteDone(_ id: String, seen: Seen? = nil, now: Date) async throws -> Action? {
        try await steer(
            id, ifIn: [.suggested], and: "kind = 'favorite'", seen: seen,
            "state = 'done', due_ms = \(now.milliseconds), target_text = NULL", now: now)
    }

    /// Dismisses a suggestion.
    package func dismiss(
        _ id: String, seen: Seen? = nil, now: Date, _ note: @escaping Note = { _, _ in }
    ) async throws -> Action? {
        try await steer(
            id, ifIn: [.suggested], seen: seen,
            "state = 'skipped', reason = \(Action.Reason.dismissed), target_text = NULL", now: now,
            note)
    }

    /// Reopens a dismissed suggestion that may still be approved.
    ///
    /// The text of the post that it answers or favorites is no longer stored with it.
    ///
    /// - Returns: The changed action; nil if it was not dismissed, or its time has passed.
    package func reopen(
        _ id: String, seen: Seen? = nil, now: Date, _ note: @escaping Note = { _, _ in }
    ) async throws -> Action? {
        try await steer(
            id, ifIn: [.skipped],
            and: "reason = \(Action.Reason.dismissed) AND expires_ms > \(now.milliseconds)",
            seen: seen,
            "state = 'suggested', reason = NULL", now: now, note)
    }

    /// Ends the waiting replies and favorites of the bot's previous account.
    ///
    /// They were decided for the previous account, and requests that it may have made can no longer
    /// be looked up. Planned posts stay. The call must be part of the transaction that binds the
    /// new account, under the mirror's lease.
    package static func endActionsOfPreviousAccount(
        of mirror: String, on connection: any StorageConnection, now: Date
    ) throws {
        try connection.execute(
            """
            \(Self.changing) state = 'skipped', reason = \(Action.Reason.rebound), next_attempt_ms = NULL, target_text = NULL,
                updated_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND state IN ('planned', 'claimed', 'suggested')
                AND (kind IN ('reply', 'favorite') OR parent_address IS NOT NULL)
            """)
        try connection.execute(
            """
            \(Self.changing) state = 'failed', reason = \(Action.Reason.unconfirmed), next_attempt_ms = NULL,
                updated_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND state = 'sending'
            """)
        // Lost requests of the previous account cannot be looked up any more.
        try connection.execute(
            """
            \(Self.changing) next_attempt_ms = NULL
            WHERE mirror = \(mirror) AND state = 'failed' AND next_attempt_ms IS NOT NULL
            """)
        // The new account cannot undo the actions of the previous one or continue its threads.
        try connection.execute(
            """
            \(Self.noting) undo_next_ms = NULL, undo_outcome = \(Undo.rebound), rest = NULL
            WHERE mirror = \(mirror) AND state IN ('done', 'failed')
            """)
    }
}
