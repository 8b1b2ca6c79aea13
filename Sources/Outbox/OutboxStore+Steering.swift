package import Foundation
package import Posts
package import Storage

/// Changes of a plan by a person.
///
/// None requires the lease. Each increases the mirror's version in its transaction, and a worker
/// sends only if the version is the one under which it checked the action: an earlier operation
/// wins, and a later one finds nothing to change.
extension OutboxStore {
    /// The states of a waiting action, for which no request can have been sent.
    static let waitingStates: [ActionState] = [.planned, .claimed, .suggested]
    static let waiting: SQL = "state IN \(list: waitingStates.map(\.rawValue))"

    /// The personal data that an ended action no longer needs.
    static let settled: SQL = "bystanders = NULL, target_text = NULL"

    /// Runs in the transaction that has changed an action, with the changed action.
    package typealias Note = @Sendable (Action, any StorageConnection) throws -> Void

    // Each function returns the changed action, or nil if its state does not allow the change, or
    // if it is missing. Each throws `SeenChanged`, and changes nothing, if `seen` differs from the
    // action's digest.

    /// Skips a waiting action.
    package func skip(
        _ id: String, reason: ReasonCode = .outbox(.byPerson), seen: Seen? = nil, now: Date,
        _ note: @escaping Note = { _, _ in }
    ) async throws -> Action? {
        try await steer(
            id, seen: seen,
            "state = 'skipped', reason = \(reason), next_attempt_ms = NULL, \(Self.settled)",
            now: now,
            note)
    }

    /// Restores a post that a person skipped, while it may still be sent.
    package func restore(
        _ id: String, seen: Seen? = nil, now: Date, _ note: @escaping Note = { _, _ in }
    ) async throws -> Action? {
        try await steer(
            id, ifIn: [.skipped],
            and:
                "kind = 'post' AND reason = \(Action.Reason.byPerson) AND expires_ms > \(now.milliseconds)",
            seen: seen, "state = 'planned', reason = NULL", now: now, note)
    }

    /// Moves a waiting action to another time and pins it.
    ///
    /// - Parameter explanation: The explanation to store; nil to keep the present one.
    package func move(
        _ id: String, to due: Date, expires: Date, explanation: Explanation? = nil,
        seen: Seen? = nil, now: Date
    ) async throws -> Action? {
        try await steer(
            id, seen: seen,
            """
            pinned = TRUE, explanation = COALESCE(\(explanation?.json), explanation),
            due_ms = \(due.milliseconds), expires_ms = \(expires.milliseconds), next_attempt_ms = NULL,
            \(Self.unclaimed)
            """, now: now)
    }

    /// Pins a waiting action with its present text, or with another one.
    ///
    /// - Parameters:
    ///   - wording: The new text; nil to keep the present one.
    ///   - explanation: The reason of the text; nil to keep the stored one.
    ///   - isPinned: False to change the text without pinning.
    package func pin(
        _ id: String, _ wording: Action.Wording?, explanation: Explanation? = nil,
        isPinned: Bool = true,
        seen: Seen? = nil, now: Date, _ note: @escaping Note = { _, _ in }
    ) async throws -> Action? {
        var changes: SQL = """
            pinned = \(isPinned), explanation = COALESCE(\(explanation?.json), explanation), \(Self.unclaimed)
            """
        if let wording {
            changes += """
                , text = \(wording.text), warning = \(wording.warning), language = \(wording.language),
                pictures = \(wording.pictures.stored), rest = \(wording.storedRest),
                visibility = \(wording.visibility.rawValue),
                source_network = \(wording.source.network.rawValue), source_post_id = \(wording.source.value),
                uploads = NULL, reason = NULL
                """
        }
        return try await steer(id, seen: seen, changes, now: now, note)
    }

    /// Removes the text of a pinned slot, which keeps its time and waits for another text.
    package func withdrawText(of id: String, reason: ReasonCode, now: Date) async throws -> Action?
    {
        try await steer(
            id, seen: nil,
            """
            text = NULL, warning = NULL, language = NULL, pictures = NULL, uploads = NULL, rest = NULL,
            visibility = NULL, source_network = NULL, source_post_id = NULL, explanation = NULL, reason = \(reason),
            \(Self.unclaimed)
            """, now: now)
    }

    /// Replaces the waiting slots of a day, except pinned ones, by newly drawn slots.
    ///
    /// - Parameters:
    ///   - slots: The new slots, with unused numbers.
    ///   - kept: The number of the day's slots that are not replaced.
    /// - Returns: The number of replaced slots; nil, without a change, if another process numbered
    ///   slots of that day meanwhile.
    package func replan(
        _ plan: StoredPlan, slots: [Intent], besides kept: Int, seen: Seen? = nil, now: Date
    ) async throws -> Int? {
        do {
            return try await storage.transaction { connection in
                try require(seen, of: plan.day, on: connection)
                let before = try skipReplaceable(plan.day, now: now, on: connection)
                try connection.execute(
                    """
                    UPDATE plans SET seed = \(plan.seed), slots = \(kept + slots.count),
                        made_ms = \(plan.made.milliseconds), model = \(plan.model)
                    WHERE mirror = \(mirror) AND local_day = \(plan.day.description)
                    """)
                let added = slots.map { Action($0, of: mirror, at: now) }
                for action in added {
                    guard try insert(action, on: connection) else { throw NumberTaken() }
                }
                try noteUses(by: before + added, on: connection)
                return before.count
            }
        } catch is NumberTaken {
            return nil
        }
    }

    private struct NumberTaken: Error {}

    /// Throws if a day's slots differ from what a person saw.
    private func require(_ seen: Seen?, of day: LocalDay, on connection: any StorageConnection)
        throws
    {
        guard seen != nil else { return }
        let slots: SQL = "kind = 'post' AND SUBSTR(subject, 1, 10) = \(day.description)"
        let stored = try actions(
            where: slots, order: "+due_ms ASC, subject ASC", limit: 10_000, on: connection)
        try seen.require(Seen(ofDay: stored))
    }

    /// Throws if some actions differ from what a person saw.
    func require(_ seen: Seen?, of ids: [String], on connection: any StorageConnection) throws {
        guard seen != nil else { return }
        var digests: [String: Seen] = [:]
        for portion in ids.portions {
            for action in try actions(
                where: "id IN \(list: portion)", order: "id ASC", limit: portion.count,
                on: connection)
            { digests[action.id] = action.seen }
        }
        try seen.require(Seen(ofAll: ids.compactMap { digests[$0] }))
    }

    /// Skips a day's waiting slots, except pinned ones.
    ///
    /// - Returns: The slots before the change.
    private func skipReplaceable(
        _ day: LocalDay, now: Date, on connection: any StorageConnection
    ) throws -> [Action] {
        let replaceable: SQL = """
            kind = 'post' AND SUBSTR(subject, 1, 10) = \(day.description) AND NOT pinned AND \(Self.waiting)
            """
        let before = try actions(where: replaceable, order: "id ASC", limit: 10_000, on: connection)
        try connection.execute(
            """
            \(Self.changing) state = 'skipped', reason = \(Action.Reason.rerolled), next_attempt_ms = NULL,
                updated_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND \(replaceable)
            """)
        return before
    }

    /// Adds a slot to a day.
    ///
    /// - Parameter check: Runs first in the same transaction; an error ends it.
    /// - Returns: The stored action; nil, without a change, if another slot has that number.
    package func add(
        _ slot: Intent, now: Date,
        _ check: @escaping @Sendable (any StorageConnection) throws -> Void = { _ in }
    ) async throws -> Action? {
        try await storage.transaction { connection in
            try check(connection)
            let action = Action(slot, of: mirror, at: now)
            guard try insert(action, on: connection) else { return nil }
            try noteUses(by: [action], on: connection)
            return action
        }
    }

    /// Whether a person requested a slot with this post, or pinned one, that was due since an
    /// instant and was not given up.
    package func isAskedFor(_ source: PostID, since: Date, on connection: any StorageConnection)
        throws -> Bool
    {
        let states: [ActionState] = [.planned, .claimed, .sending, .done]
        return try !connection.query(
            """
            SELECT 1 AS found FROM actions
            WHERE mirror = \(mirror) AND kind = 'post' AND source_network = \(source.network.rawValue)
                AND source_post_id = \(source.value) AND due_ms >= \(since.milliseconds) AND pinned = TRUE
                AND state IN \(list: states.map(\.rawValue)) LIMIT 1
            """
        ).isEmpty
    }

    /// Returns the waiting posts with a text, next one first.
    package func waitingPosts() async throws -> [Action] { try await waiting(.post) }

    /// Returns the waiting replies with a text, next one first.
    package func waitingReplies() async throws -> [Action] { try await waiting(.reply) }

    private func waiting(_ kind: ActionKind) async throws -> [Action] {
        // The plus sign keeps SQLite from reading all due times of the past in the order of an
        // index.
        try await actions(
            where: "kind = \(kind.rawValue) AND \(Self.waiting) AND text IS NOT NULL",
            order: "+due_ms ASC, id ASC",
            limit: 10_000)
    }

    /// Forces a worker that claimed the action to claim it again.
    private static let unclaimed: SQL =
        "state = CASE WHEN state = 'claimed' THEN 'planned' ELSE state END"

    /// Changes an action in one of some states, all of which a worker checks again before it
    /// continues.
    ///
    /// - Parameters:
    ///   - condition: An additional condition.
    ///   - seen: The digest that the person saw; nil to change without comparing.
    ///   - note: Runs after the change.
    /// - Returns: The changed action; nil if it is in another state, or missing.
    func steer(
        _ id: String, ifIn states: [ActionState] = waitingStates, and condition: SQL = "TRUE",
        seen: Seen?,
        _ assignments: SQL, now: Date, _ note: @escaping Note = { _, _ in }
    ) async throws -> Action? {
        try await storage.transaction { connection in
            guard let before = try action(id, on: connection) else { return nil }
            try seen.require(before.seen)
            let changed = try connection.execute(
                """
                \(Self.changing) \(assignments), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(id) AND state IN \(list: states.map(\.rawValue)) AND \(condition)
                """)
            guard changed == 1, let after = try action(id, on: connection) else { return nil }
            try noteUses(by: [before, after], on: connection)
            try note(after, connection)
            try raiseVersion(on: connection)
            return after
        }
    }
}
