package import Foundation
import Posts
import Storage

/// Moving an action from planned to its end.
extension OutboxStore {
    /// The planned actions whose time has come, oldest first; expired ones are marked and left out.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func due(_ kinds: [ActionKind], now: Date, limit: Int = 20) async throws -> [Action] {
        let (mirror, lease) = (mirror, lease)
        let names = kinds.map(\.rawValue)
        return try await storage.transaction { connection in
            let condition: SQL = """
                state IN ('planned', 'claimed') AND kind IN \(list: names) AND due_ms <= \(now.milliseconds)
                """
            // What has to wait leaves its place to what can be sent.
            let ripe: SQL = """
                \(condition) AND (COALESCE(next_attempt_ms, 0) <= \(now.milliseconds) OR expires_ms < \(now.milliseconds))
                """
            let candidates = try Self.actions(mirror, ripe, "due_ms ASC, id ASC", limit, connection)
            guard !candidates.isEmpty else { return [] }
            try Self.requireLease(lease, mirror, connection)
            try connection.execute(
                """
                UPDATE actions SET state = 'expired', reason = COALESCE(reason, 'too-late'),
                    updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND \(condition) AND expires_ms < \(now.milliseconds)
                """)
            return candidates.filter { $0.expires >= now }
        }
    }

    /// When the next planned action of these kinds wants attention.
    package func nextDue(_ kinds: [ActionKind]) async throws -> Date? {
        let mirror = mirror
        let names = kinds.map(\.rawValue)
        return try await storage.read { connection in
            let rows = try connection.query(
                """
                SELECT MIN(CASE WHEN next_attempt_ms > due_ms THEN next_attempt_ms ELSE due_ms END) AS next_ms
                FROM actions WHERE mirror = \(mirror) AND state = 'planned' AND kind IN \(list: names)
                """)
            return try rows.first?.optionalDate("next_ms")
        }
    }

    /// Takes a planned action, or one this mirror's earlier worker had taken without sending.
    package func claim(_ action: Action, now: Date) async throws -> Action {
        try await change(action, from: [.planned, .claimed], to: .claimed, now: now) { _ in
            "fence = \(lease?.fence)"
        }
    }

    /// Commits the final text before the request leaves.
    ///
    /// After this the action counts as sent until the contrary is known.
    package func beginSending(_ action: Action, now: Date) async throws -> Action {
        try await change(action, from: [.claimed], to: .sending, now: now) { _ in
            """
            text = \(action.text), language = \(action.language), visibility = \(action.visibility?.rawValue),
            source_network = \(action.sourcePost?.network.rawValue), source_post_id = \(action.sourcePost?.value),
            explanation = \(action.explanation), sending_ms = \(now.milliseconds), attempts = attempts + 1
            """
        }
    }

    /// Records that another attempt with the same key leaves now.
    ///
    /// The time of the first attempt stays: networks where the author dates a post get the same bytes again.
    ///
    /// - Parameters:
    ///   - action: An action whose first attempt left no trace.
    ///   - lookUp: When to look for this attempt, should its answer be lost too.
    ///   - now: Recorded with the change.
    /// - Returns: The action as it is stored now.
    /// - Throws: ``OutboxError`` if the lease is lost or the action changed meanwhile; the store's error.
    package func resend(_ action: Action, lookUp: Date, now: Date) async throws -> Action {
        try await change(action, from: [.sending], to: .sending, now: now) { _ in
            "next_attempt_ms = \(lookUp.milliseconds), attempts = attempts + 1"
        }
    }

    /// Keeps an action whose second request certainly did not act in `sending`, for the first one still may have.
    ///
    /// The second request does not count: it may be made again after another look.
    ///
    /// - Parameters:
    ///   - action: An action that was sent again.
    ///   - at: When to look for it again.
    ///   - reason: Why it waits.
    ///   - now: Recorded with the change.
    /// - Returns: The action as it is stored now.
    /// - Throws: ``OutboxError`` if the lease is lost or the action changed meanwhile; the store's error.
    package func takeBackResend(_ action: Action, at: Date, reason: String, now: Date) async throws -> Action {
        try await change(action, from: [.sending], to: .sending, now: now) { _ in
            "next_attempt_ms = \(at.milliseconds), reason = \(reason), attempts = attempts - 1"
        }
    }

    /// Records what the network called the post or that the favorite stands.
    package func confirm(_ action: Action, remoteID: String?, remoteAddress: String?, now: Date) async throws -> Action
    {
        try await change(action, from: [.sending], to: .done, now: now) { _ in
            "remote_id = \(remoteID), remote_address = \(remoteAddress), reason = \(SQLValue.null)"
        }
    }

    /// Puts an action whose request certainly did not act back in line.
    package func postpone(_ action: Action, until: Date, reason: String, now: Date) async throws -> Action {
        try await change(action, from: [.claimed, .sending], to: .planned, now: now) { _ in
            "next_attempt_ms = \(until.milliseconds), sending_ms = \(SQLValue.null), reason = \(reason)"
        }
    }

    /// Keeps an action whose outcome is unknown in `sending` until it can be looked up.
    package func awaitLookUp(_ action: Action, at: Date, reason: String, now: Date) async throws -> Action {
        try await change(action, from: [.sending], to: .sending, now: now) { _ in
            "next_attempt_ms = \(at.milliseconds), reason = \(reason)"
        }
    }

    /// Ends an action for good.
    package func end(
        _ action: Action, as state: ActionState, reason: String, now: Date
    ) async throws -> Action {
        let sources: [ActionState] = [.planned, .claimed, .sending, .suggested]
        return try await change(action, from: sources, to: state, now: now) { _ in "reason = \(reason)" }
    }

    /// The actions whose request left without a known outcome.
    package func unresolved() async throws -> [Action] {
        try await actions(where: "state = 'sending'", order: "sending_ms ASC, id ASC", limit: 1_000)
    }

    private func change(
        _ action: Action, from states: [ActionState], to state: ActionState, now: Date,
        _ assignments: @escaping @Sendable (Action) -> SQL
    ) async throws -> Action {
        let (mirror, lease) = (mirror, lease)
        return try await storage.transaction { connection in
            try Self.requireLease(lease, mirror, connection)
            let updated = try connection.execute(
                """
                UPDATE actions SET state = \(state.rawValue), updated_ms = \(now.milliseconds),
                    \(assignments(action))
                WHERE mirror = \(mirror) AND id = \(action.id) AND state IN \(list: states.map(\.rawValue))
                """)
            guard updated == 1,
                let stored = try Self.actions(mirror, "id = \(action.id)", "id ASC", 1, connection).first
            else { throw OutboxError.stateChanged(action.id, to: state) }
            return stored
        }
    }
}
