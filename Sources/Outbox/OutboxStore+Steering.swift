package import Foundation
package import Posts
package import Storage

/// What a person changes of a plan.
///
/// None of these needs the lease. A worker sends only what is still `claimed` when it begins to: a change that comes
/// before that wins, and one that comes after finds nothing to change.
extension OutboxStore {
    /// The states in which an action waits, and no request for it can have left.
    static let waitingStates: [ActionState] = [.planned, .claimed, .suggested]
    private static let waiting: SQL = "state IN \(list: waitingStates.map(\.rawValue))"

    /// What an action that has ended, or is ending, keeps no longer of people.
    static let settled: SQL = "bystanders = NULL, target_text = NULL"

    // Each throws `SeenChanged`, and changes nothing, where `seen` is given and is not the action's digest any more.

    /// Decides against an action that waits.
    ///
    /// - Returns: False if it does not wait any more.
    package func skip(
        _ id: String, reason: String = Action.Reason.byPerson, seen: Seen? = nil, now: Date
    ) async throws -> Bool {
        try await steer(
            id, seen: seen, "state = 'skipped', reason = \(reason), next_attempt_ms = NULL, \(Self.settled)", now: now)
    }

    /// Lets a post wait again that a person decided against, while it may still be sent.
    ///
    /// - Returns: False if nobody did, or its time has passed.
    package func restore(_ id: String, seen: Seen? = nil, now: Date) async throws -> Bool {
        try await steer(
            id, ifIn: [.skipped],
            and: "kind = 'post' AND reason = \(Action.Reason.byPerson) AND expires_ms > \(now.milliseconds)",
            seen: seen, "state = 'planned', reason = NULL", now: now)
    }

    /// Gives an action that waits another time, and lets nothing but a person change it from then on.
    ///
    /// - Returns: False if it does not wait any more.
    package func move(
        _ id: String, to due: Date, expires: Date, seen: Seen? = nil, now: Date
    ) async throws -> Bool {
        try await steer(
            id, seen: seen,
            """
            pinned = TRUE, due_ms = \(due.milliseconds), expires_ms = \(expires.milliseconds), next_attempt_ms = NULL,
            \(Self.unclaimed)
            """, now: now)
    }

    /// Keeps an action that waits as it is, or with another text, whatever else changes.
    ///
    /// - Parameters:
    ///   - wording: The text that it gets; nil to keep its own.
    ///   - explanation: Why it has that text; nil to keep what is stored.
    ///   - isPinned: False to change the text without keeping it.
    /// - Returns: False if it does not wait any more.
    package func pin(
        _ id: String, _ wording: Action.Wording?, explanation: Explanation? = nil, isPinned: Bool = true,
        seen: Seen? = nil, now: Date
    ) async throws -> Bool {
        var changes: SQL = "pinned = \(isPinned), \(Self.unclaimed)"
        if let wording {
            changes += """
                , text = \(wording.text), warning = \(wording.warning), language = \(wording.language),
                pictures = \(wording.pictures.stored), rest = \(wording.storedRest),
                visibility = \(wording.visibility.rawValue),
                source_network = \(wording.source.network.rawValue), source_post_id = \(wording.source.value),
                uploads = NULL, reason = NULL,
                explanation = COALESCE(\(explanation?.json), explanation)
                """
        }
        return try await steer(id, seen: seen, changes, now: now)
    }

    /// Takes the text out of a slot that a person has pinned; its time stays, and waits for another text.
    ///
    /// - Returns: False if it does not wait any more.
    package func withdrawText(of id: String, reason: String, now: Date) async throws -> Bool {
        try await steer(
            id, seen: nil,
            """
            text = NULL, warning = NULL, language = NULL, pictures = NULL, uploads = NULL, rest = NULL,
            visibility = NULL, source_network = NULL, source_post_id = NULL, explanation = NULL, reason = \(reason),
            \(Self.unclaimed)
            """, now: now)
    }

    /// Puts the slots of a day that was drawn anew in the place of those that wait, but for the pinned ones.
    ///
    /// - Parameters:
    ///   - slots: The new slots, whose numbers no other slot of the day has.
    ///   - kept: How many slots of the day stay beside them.
    /// - Returns: How many slots were taken out; nil if somebody else has numbered slots of that day meanwhile, and
    ///   nothing was changed.
    package func replan(
        _ plan: StoredPlan, slots: [Intent], besides kept: Int, seen: Seen? = nil, now: Date
    ) async throws -> Int? {
        do {
            return try await storage.transaction { connection in
                try require(seen, of: plan.day, on: connection)
                let before = try takeOut(plan.day, now: now, on: connection)
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

    /// Fails if a day's slots are not any more as a person saw them.
    private func require(_ seen: Seen?, of day: LocalDay, on connection: any StorageConnection) throws {
        guard seen != nil else { return }
        let slots: SQL = "kind = 'post' AND SUBSTR(subject, 1, 10) = \(day.description)"
        let stored = try actions(where: slots, order: "+due_ms ASC, subject ASC", limit: 10_000, on: connection)
        try seen.require(Seen(ofDay: stored))
    }

    /// Fails if some actions are not any more as a person saw them together.
    func require(_ seen: Seen?, of ids: [String], on connection: any StorageConnection) throws {
        guard seen != nil else { return }
        var found: [String: Seen] = [:]
        for part in ids.portions {
            for action in try actions(where: "id IN \(list: part)", order: "id ASC", limit: part.count, on: connection)
            { found[action.id] = action.seen }
        }
        try seen.require(Seen(ofAll: ids.compactMap { found[$0] }))
    }

    /// Takes a day's waiting slots out, but for the pinned ones.
    ///
    /// - Returns: They as they were.
    private func takeOut(_ day: LocalDay, now: Date, on connection: any StorageConnection) throws -> [Action] {
        let replaceable: SQL = """
            kind = 'post' AND SUBSTR(subject, 1, 10) = \(day.description) AND NOT pinned AND \(Self.waiting)
            """
        let before = try actions(where: replaceable, order: "id ASC", limit: 10_000, on: connection)
        try connection.execute(
            """
            UPDATE actions SET state = 'skipped', reason = \(Action.Reason.rerolled), next_attempt_ms = NULL,
                updated_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND \(replaceable)
            """)
        return before
    }

    /// Adds a slot to a day.
    ///
    /// - Parameter check: Run first, in the same transaction; what it throws ends it.
    /// - Returns: The stored action; nil if another slot has that number, and nothing was changed.
    package func add(
        _ slot: Intent, now: Date, _ check: @escaping @Sendable (any StorageConnection) throws -> Void = { _ in }
    ) async throws -> Action? {
        try await storage.transaction { connection in
            try check(connection)
            let action = Action(slot, of: mirror, at: now)
            guard try insert(action, on: connection) else { return nil }
            try noteUses(by: [action], on: connection)
            return action
        }
    }

    /// The posts that wait with a text, the next one first.
    package func waitingPosts() async throws -> [Action] {
        try await actions(
            where: "kind = 'post' AND \(Self.waiting) AND text IS NOT NULL", order: "due_ms ASC, id ASC", limit: 10_000)
    }

    /// The replies that wait with a text, the next one first.
    package func waitingReplies() async throws -> [Action] {
        try await actions(
            where: "kind = 'reply' AND \(Self.waiting) AND text IS NOT NULL", order: "due_ms ASC, id ASC",
            limit: 10_000)
    }

    /// A worker that had taken the action must take it anew.
    private static let unclaimed: SQL = "state = CASE WHEN state = 'claimed' THEN 'planned' ELSE state END"

    /// Changes an action in one of some states, none of which a worker leaves without looking at them.
    ///
    /// - Parameters:
    ///   - condition: What must hold of it besides.
    ///   - seen: Its digest that the person was shown; nil to change without comparing.
    /// - Returns: False if it is in another one, or not there.
    func steer(
        _ id: String, ifIn states: [ActionState] = waitingStates, and condition: SQL = "TRUE", seen: Seen?,
        _ assignments: SQL, now: Date
    ) async throws -> Bool {
        try await storage.transaction { connection in
            guard let before = try action(id, on: connection) else { return false }
            try seen.require(before.seen)
            let changed = try connection.execute(
                """
                UPDATE actions SET \(assignments), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(id) AND state IN \(list: states.map(\.rawValue)) AND \(condition)
                """)
            guard changed == 1, let after = try action(id, on: connection) else { return false }
            try noteUses(by: [before, after], on: connection)
            return true
        }
    }
}
