package import Foundation
import Posts
import Storage

/// Moving an action from planned to its end.
///
/// Every change says what the row shall hold, never by how much it shall change: one whose `COMMIT` got no answer can
/// be made again.
extension OutboxStore {
    /// Takes a planned action, or one this mirror's earlier worker had taken without sending.
    package func claim(_ action: Action, now: Date) async throws -> Action {
        try await change(action, from: [.planned, .claimed], to: .claimed, now: now) { _ in
            "fence = \(lease?.fence)"
        }
    }

    /// Commits the final text before the request leaves.
    ///
    /// After this the action counts as sent until the contrary is known.
    ///
    /// - Parameters:
    ///   - action: A claimed action with its final text.
    ///   - lookUp: When to look for it, should its answer be lost.
    ///   - now: Recorded as the time of the first request.
    ///   - serverTime: The same on the network's clock; nil if that is not known.
    /// - Returns: The action as it is stored now.
    /// - Throws: ``OutboxError`` if the lease is lost or the action changed meanwhile; the store's error.
    package func beginSending(
        _ action: Action, lookUp: Date, now: Date, serverTime: Date? = nil
    ) async throws -> Action {
        try await change(action, from: [.claimed], to: .sending, now: now) { action in
            """
            text = \(action.text), language = \(action.language), visibility = \(action.visibility?.rawValue),
            source_network = \(action.sourcePost?.network.rawValue), source_post_id = \(action.sourcePost?.value),
            explanation = \(action.explanation), sending_ms = \(now.milliseconds),
            server_sending_ms = \(serverTime?.milliseconds), next_attempt_ms = \(lookUp.milliseconds),
            attempts = \(action.attempts + 1), sends = \(action.sends + 1)
            """
        }
    }

    /// Puts an action back in line whose request never left, whether or not the table says that it is being sent.
    ///
    /// - Parameters:
    ///   - action: As it was claimed.
    ///   - now: Recorded with the change.
    /// - Returns: The action as it is stored now.
    /// - Throws: ``OutboxError`` if the lease is lost or the action changed meanwhile; the store's error.
    package func withdraw(_ action: Action, now: Date) async throws -> Action {
        try await change(action, from: [.claimed, .sending], to: .planned, now: now) { action in
            """
            sending_ms = \(SQLValue.null), server_sending_ms = \(SQLValue.null),
            next_attempt_ms = \(SQLValue.null), attempts = \(action.attempts),
            sends = \(action.sends), reason = \(action.reason)
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
        try await change(action, from: [.sending], to: .sending, now: now) { action in
            """
            next_attempt_ms = \(lookUp.milliseconds), attempts = \(action.attempts + 1), sends = \(action.sends + 1)
            """
        }
    }

    /// Keeps an action whose second request certainly did not act in `sending`, for the first one still may have.
    ///
    /// The second request does not count as sent: it may be made again after another look.
    ///
    /// - Parameters:
    ///   - action: As it was before it was sent again, with the attempts to record.
    ///   - at: When to look for it again.
    ///   - reason: Why it waits.
    ///   - now: Recorded with the change.
    /// - Returns: The action as it is stored now.
    /// - Throws: ``OutboxError`` if the lease is lost or the action changed meanwhile; the store's error.
    package func takeBackResend(_ action: Action, at: Date, reason: String?, now: Date) async throws -> Action {
        try await change(action, from: [.sending], to: .sending, now: now) { action in
            """
            next_attempt_ms = \(at.milliseconds), reason = \(reason), attempts = \(action.attempts),
            sends = \(action.sends)
            """
        }
    }

    /// Records what the network called the post or that the favorite stands.
    ///
    /// An action that had ended without anybody knowing may be confirmed too.
    package func confirm(_ action: Action, remoteID: String?, remoteAddress: String?, now: Date) async throws -> Action
    {
        let assignments: SQL = """
            remote_id = \(remoteID), remote_address = \(remoteAddress), reason = \(SQLValue.null),
            next_attempt_ms = \(SQLValue.null)
            """
        return try await change(action, from: [.sending], orUnsettled: true, to: .done, now: now) { _ in assignments }
    }

    /// Puts an action whose request certainly did not act back in line.
    package func postpone(_ action: Action, until: Date, reason: String, now: Date) async throws -> Action {
        try await change(action, from: [.claimed, .sending], to: .planned, now: now) { _ in
            """
            next_attempt_ms = \(until.milliseconds), sending_ms = \(SQLValue.null),
            server_sending_ms = \(SQLValue.null), sends = 0, reason = \(reason)
            """
        }
    }

    /// Keeps an action whose outcome is unknown in `sending` until it can be looked up.
    package func awaitLookUp(_ action: Action, at: Date, reason: String?, now: Date) async throws -> Action {
        try await change(action, from: [.sending], to: .sending, now: now) { action in
            "next_attempt_ms = \(at.milliseconds), reason = \(reason), sends = \(action.sends)"
        }
    }

    /// Ends an action for good.
    ///
    /// - Parameters:
    ///   - action: An action that has not ended.
    ///   - state: How it ends.
    ///   - reason: The code of why.
    ///   - explanation: Added to why it was decided, for people.
    ///   - now: Recorded with the change.
    /// - Returns: The action as it is stored now.
    /// - Throws: ``OutboxError`` if the lease is lost or the action changed meanwhile; the store's error.
    package func end(
        _ action: Action, as state: ActionState, reason: String, explanation: String? = nil, now: Date
    ) async throws -> Action {
        try await end(action, as: state, reason: reason, explanation: explanation, sighting: nil, now: now)
    }

    /// Ends an action as failed of which nobody knows whether it happened, to be looked for again at `sighting`.
    func fail(
        _ action: Action, reason: String, explanation: String?, sighting: Date?, now: Date
    ) async throws -> Action {
        try await end(
            action, as: .failed, reason: reason, explanation: explanation, sighting: sighting, now: now)
    }

    private func end(
        _ action: Action, as state: ActionState, reason: String, explanation: String?, sighting: Date?, now: Date
    ) async throws -> Action {
        let sources: [ActionState] = [.planned, .claimed, .sending, .suggested]
        let told = ActionExplanation.adding(explanation, to: action.explanation)
        return try await change(action, from: sources, to: state, now: now) { _ in
            "reason = \(reason), explanation = \(told), next_attempt_ms = \(sighting?.milliseconds)"
        }
    }

    /// Fails unless this worker still holds the lease; for whoever may have stood still since the last change.
    package func requireLease() async throws {
        let (mirror, lease) = (mirror, lease)
        try await storage.transaction { connection in try Self.requireLease(lease, mirror, connection) }
    }

    func change(
        _ action: Action, from states: [ActionState], orUnsettled: Bool = false, to state: ActionState, now: Date,
        _ assignments: @escaping @Sendable (Action) -> SQL
    ) async throws -> Action {
        let (mirror, lease) = (mirror, lease)
        var allowed: SQL = "state IN \(list: states.map(\.rawValue))"
        if orUnsettled { allowed = "(\(allowed) OR \(Self.unsettled))" }
        let condition = allowed
        return try await storage.transaction { connection in
            try Self.requireLease(lease, mirror, connection)
            let isPost = action.kind == .post
            let before = isPost ? try Self.actions(mirror, "id = \(action.id)", "id ASC", 1, connection).first : nil
            let updated = try connection.execute(
                """
                UPDATE actions SET state = \(state.rawValue), updated_ms = \(now.milliseconds),
                    \(assignments(action))
                WHERE mirror = \(mirror) AND id = \(action.id) AND \(condition)
                """)
            guard updated == 1,
                let stored = try Self.actions(mirror, "id = \(action.id)", "id ASC", 1, connection).first
            else { throw OutboxError.stateChanged(action.id, to: state) }
            if isPost {
                try Self.noteUses(of: [before?.sourcePost, stored.sourcePost].compactMap(\.self), mirror, connection)
            }
            return stored
        }
    }
}
