package import Foundation
import Posts
import Storage

/// The state changes of an action from `planned` to its end.
///
/// Every change is idempotent, so it can be repeated after a `COMMIT` without an answer. Each returns the stored
/// action, and throws ``OutboxError`` if the lease is lost or the action changed meanwhile, or the store's error.
extension OutboxStore {
    /// The states of an action that may be sent: planned, or claimed by this worker or by an earlier one.
    private static let open: [ActionState] = [.planned, .claimed]

    /// Claims a planned action, or one that an earlier worker of this mirror claimed and did not send; one that a
    /// person moved meanwhile is not claimed before its new time.
    package func claim(_ action: Action, now: Date) async throws -> Action {
        try await change(action, from: Self.open, to: .claimed, unless: .moved, now: now)
    }

    /// Commits the final text before the request is sent; from then on the action counts as sent until the contrary is
    /// known.
    ///
    /// - Parameters:
    ///   - action: The action with its final text.
    ///   - taken: The action as it was when `version` was read, or when it was claimed; its text counts as unused again
    ///     if the final text is of another post. Nil for one that is stored as claimed.
    ///   - lookUp: When to look the action up if its answer is lost.
    ///   - deadline: The maximum duration of its request.
    ///   - version: ``wishVersion()`` before the text was checked; nil to ignore operations of a person since then.
    ///   - now: The time of the first request, unless the action has one.
    ///   - serverTime: The same on the network's clock; nil if unknown.
    /// - Throws: As all these changes.
    package func beginSending(
        _ action: Action, insteadOf taken: Action? = nil, lookUp: Date, deadline: Duration, asOf version: Int64? = nil,
        now: Date, serverTime: Date? = nil
    ) async throws -> Action {
        let wording = action.wording
        // What was claimed stays so, unless a person has changed it since.
        let isKnown = version != nil && taken?.state == .planned
        return try await change(
            action, from: isKnown ? Self.open : [.claimed], to: .sending, unless: .moved, leavingFor: deadline,
            asOf: version, uses: taken.map { $0.wording?.source == wording?.source ? .kept : .changed } ?? .changed,
            now: now,
            """
            text = \(wording?.text), language = \(wording?.language), visibility = \(wording?.visibility.rawValue),
            source_network = \(wording?.source.network.rawValue), source_post_id = \(wording?.source.value),
            warning = \(wording?.warning), pictures = \(wording?.pictures.stored),
            uploads = \(action.storedUploads), rest = \(action.payload.storedRest), explanation = \(kept(action.explanation)),
            sending_ms = \((action.sending ?? now).milliseconds), server_sending_ms = \(serverTime?.milliseconds),
            next_attempt_ms = \(lookUp.milliseconds), attempts = \(action.attempts + 1), sends = \(action.sends + 1)
            """)
    }

    /// Records the uploaded pictures of an action, and claims it.
    package func noteUploads(_ action: Action, now: Date) async throws -> Action {
        try await change(
            action, from: Self.open, to: .claimed, unless: .moved, now: now, "uploads = \(action.storedUploads)")
    }

    /// Records another request with the same key, and when to look it up if its answer is lost too.
    ///
    /// The time of the first request stays, so that networks where the client dates a post get the same bytes again. An
    /// action with a request to undo is not sent again.
    package func resend(
        _ action: Action, lookUp: Date, deadline: Duration, asOf version: Int64? = nil, now: Date
    ) async throws -> Action {
        try await change(
            action, from: [.sending], to: .sending, unless: .unwanted, leavingFor: deadline, asOf: version, now: now,
            """
            next_attempt_ms = \(lookUp.milliseconds), attempts = \(action.attempts + 1), sends = \(action.sends + 1)
            """)
    }

    /// Keeps an action in `sending` until it can be looked up, because the outcome of a request is unknown.
    ///
    /// The counts of the action are stored, so that a request that certainly did not act is not counted.
    package func awaitLookUp(_ action: Action, at: Date, reason: String?, now: Date) async throws -> Action {
        try await change(
            action, from: [.sending], to: .sending, now: now,
            """
            next_attempt_ms = \(at.milliseconds), reason = \(reason), attempts = \(action.attempts),
            sends = \(action.sends)
            """)
    }

    /// Makes an action `planned` again whose only request was not sent, or certainly did not act.
    ///
    /// An action with a request to undo is skipped instead.
    ///
    /// - Parameters:
    ///   - action: The action with the attempts to record; it may be stored as `sending` or not.
    ///   - until: The earliest time to send it again; nil for at once.
    /// - Throws: As all these changes.
    package func postpone(_ action: Action, until: Date?, reason: String?, now: Date) async throws -> Action {
        try await change(
            action, from: Self.open + [.sending], to: .planned, unless: .moved, uses: .changed, now: now,
            """
            next_attempt_ms = \(until?.milliseconds), sending_ms = NULL, server_sending_ms = NULL,
            attempts = \(action.attempts), sends = 0, reason = COALESCE(undo_reason, \(reason)), undo_next_ms = NULL
            """)
    }

    /// Moves a held slot to a later time, or skips it; a pinned slot is left alone.
    ///
    /// - Parameters:
    ///   - slot: A planned slot.
    ///   - due: Its new time; nil to skip it.
    /// - Throws: As all these changes.
    package func holdBack(_ slot: Action, until due: Date?, reason: String, now: Date) async throws -> Action {
        guard let due else {
            return try await change(
                slot, from: Self.open, to: .skipped, unless: .pinned, uses: .changed, now: now,
                "reason = \(reason), next_attempt_ms = NULL")
        }
        let expires = due + slot.expires.timeIntervalSince(slot.due)
        return try await change(
            slot, from: Self.open, to: .planned, unless: .pinned, uses: .changed, now: now,
            """
            reason = \(reason), next_attempt_ms = NULL, due_ms = \(due.milliseconds),
            expires_ms = \(expires.milliseconds)
            """)
    }

    /// Records the network's id of the post, or that the favorite exists.
    ///
    /// An action that ended unconfirmed may be confirmed too.
    package func confirm(_ action: Action, remoteID: String?, remoteAddress: String?, now: Date) async throws -> Action
    {
        try await change(
            action, from: [.sending], orUnsettled: true, to: .done, now: now,
            """
            remote_id = \(remoteID), remote_address = \(remoteAddress), reason = NULL, next_attempt_ms = NULL,
            \(Self.settled)
            """)
    }

    /// Ends an action for good.
    ///
    /// - Parameters:
    ///   - reason: The code of the reason.
    ///   - outcome: The network's answer, added to the explanation for people.
    ///   - sighting: When to look for it again, if its outcome is unknown.
    /// - Throws: As all these changes.
    package func end(
        _ action: Action, as state: ActionState, reason: String, outcome: String? = nil, sighting: Date? = nil,
        now: Date
    ) async throws -> Action {
        var told = action.explanation
        if let outcome { told = Explanation(adding: outcome, to: told) }
        var changes: SQL = """
            reason = \(reason), explanation = \(kept(told)), next_attempt_ms = \(sighting?.milliseconds),
            \(Self.settled)
            """
        // What certainly did not happen leaves nothing to take back.
        if sighting == nil { changes += ", undo_next_ms = NULL" }
        return try await change(
            action, from: Self.open + [.sending, .suggested], to: state, uses: .changed, now: now, changes)
    }

    /// An explanation, or the one that is stored.
    private func kept(_ explanation: Explanation?) -> SQL { "COALESCE(\(explanation?.json), explanation)" }

    /// Throws unless this worker still holds the lease; for a process that may have been frozen since the last change.
    package func requireLease() async throws { try await write { _ in } }

    /// A condition, besides the state, that prevents a change.
    private enum Obstacle {
        case pinned
        case unwanted
        /// The action was moved to another time.
        case moved
    }

    /// Whether a change of an action may change when, or how often, the archive's posts were used.
    private enum Uses {
        case kept
        case changed
    }

    /// Changes an action in one of some states, under the lease.
    ///
    /// - Parameters:
    ///   - orUnsettled: Whether an unconfirmed action may be changed too.
    ///   - deadline: The maximum duration of the request that is sent now; nil for none.
    ///   - version: The version of a person's operations that must still hold.
    ///   - uses: Whether the uses of the archive's posts have to be counted anew.
    private func change(
        _ action: Action, from states: [ActionState], orUnsettled: Bool = false, to state: ActionState,
        unless obstacle: Obstacle? = nil, leavingFor deadline: Duration? = nil, asOf version: Int64? = nil,
        uses: Uses = .kept, now: Date, _ assignments: SQL? = nil
    ) async throws -> Action {
        var allowed: SQL = "state IN \(list: states.map(\.rawValue))"
        if orUnsettled { allowed = "(\(allowed) OR \(Self.unsettled))" }
        switch obstacle {
        case .pinned: allowed = "\(allowed) AND NOT pinned"
        case .unwanted: allowed += " AND undo_asked_ms IS NULL"
        case .moved: allowed += " AND due_ms = \(action.due.milliseconds)"
        case nil: break
        }
        let end: SQL =
            state == .planned
            ? "CASE WHEN undo_asked_ms IS NULL THEN 'planned' ELSE 'skipped' END" : "\(state.rawValue)"
        if deadline != nil { allowed += " AND NOT EXISTS (\(wordAgainst(asOf: version, at: now)))" }
        // Whatever is recorded after a departure is recorded when its request has ended.
        var changes: SQL = """
            state = \(end), updated_ms = \(now.milliseconds), flight_ms = \(deadline?.milliseconds)
            """
        if deadline != nil { changes += ", departed_ms = \(now.milliseconds)" }
        if let assignments { changes = "\(changes), \(assignments)" }
        return try await write { [changes, allowed] connection in
            if deadline != nil { try requireNoDenial(of: action, on: connection) }
            let countsUses = uses == .changed && action.kind == .post
            let before = countsUses ? try self.action(action.id, on: connection) : nil
            let updated = try connection.query(
                """
                UPDATE actions SET \(changes) WHERE mirror = \(mirror) AND id = \(action.id) AND \(allowed)
                RETURNING \(Action.columns)
                """)
            guard let stored = try updated.first.flatMap(Self.action(of:)) else {
                if deadline != nil { try requireNoWord(against: action, asOf: version, at: now, on: connection) }
                throw OutboxError.stateChanged(action.id, to: state)
            }
            if countsUses { try noteUses(by: [before, stored].compactMap(\.self), on: connection) }
            return stored
        }
    }
}

extension OutboxStore {
    /// Throws while the mirror is paused or if the person is denied, so that no request is sent after that decision,
    /// however long it was prepared.
    func requireNoObjection(to action: Action, at now: Date, on connection: any StorageConnection) throws {
        try requireNoWord(against: action, asOf: nil, at: now, on: connection)
        try requireNoDenial(of: action, on: connection)
    }

    /// Throws while the mirror is paused, or if a person has changed since `version` what may be sent.
    private func requireNoWord(
        against action: Action, asOf version: Int64?, at now: Date, on connection: any StorageConnection
    ) throws {
        guard try connection.query(wordAgainst(asOf: nil, at: now)).isEmpty else { throw OutboxError.paused }
        guard try connection.query(wordAgainst(asOf: version, at: now)).isEmpty else {
            throw OutboxError.superseded(action.id)
        }
    }

    /// Selects a row while the mirror is paused, or if its version is not `version` any more; nil for any version.
    private func wordAgainst(asOf version: Int64?, at now: Date) -> SQL {
        let pauses: SQL = """
            (paused_ms IS NOT NULL AND (paused_until_ms IS NULL OR paused_until_ms > \(now.milliseconds)))
            """
        let isOther: SQL = if let version { " OR mirrors.version <> \(version)" } else { "" }
        return "SELECT 1 AS found FROM mirrors WHERE mirrors.mirror = \(mirror) AND (\(pauses)\(isOther))"
    }

    private func requireNoDenial(of action: Action, on connection: any StorageConnection) throws {
        guard let person = action.target?.author, try isDenied(person, connection) else { return }
        // Who asked the bot to stop is told once that it was understood.
        if action.confirmsStop, try hasOnlyAskedToStop(person, connection) { return }
        throw OutboxError.denied(action.id)
    }

    /// The version that every operation of a person about sending increases; after a change, checks are repeated.
    package func wishVersion() async throws -> Int64 {
        try await storage.query("SELECT version FROM mirrors WHERE mirror = \(mirror)").first?.integer("version") ?? 0
    }

    /// The same as a part of a statement.
    var selectedVersion: SQL { "COALESCE((SELECT version FROM mirrors WHERE mirror = \(mirror)), 0) AS wish_version" }

    /// Raises the version, in the transaction of an operation of a person.
    func raiseVersion(on connection: any StorageConnection) throws {
        try connection.execute("UPDATE mirrors SET version = version + 1 WHERE mirror = \(mirror)")
    }
}

// MARK: Of which nobody knows whether it happened

extension OutboxStore {
    /// The condition of unconfirmed actions.
    static let unsettled: SQL = """
        (state = 'failed' AND reason IN \(list: [Action.Reason.unconfirmed, Action.Reason.duplicate]))
        """

    /// Returns the actions whose request has no known outcome.
    package func unresolved() async throws -> [Action] {
        try await actions(where: "state = 'sending'", order: "sending_ms ASC, id ASC", limit: 1_000)
    }

    /// Returns the texts of other posts whose requests were sent since `start`, or are in flight.
    ///
    /// The index `actions_departed` finds them, however many posts the bot has made before.
    package func textsLeft(besides action: Action?, since start: Date) async throws -> [String] {
        let rows = try await storage.query(
            """
            SELECT text FROM actions
            WHERE mirror = \(mirror) AND kind = 'post' AND text IS NOT NULL AND id <> \(action?.id ?? "")
                AND COALESCE(departed_ms, sending_ms) >= \(start.milliseconds)
                AND (state IN ('sending', 'done', 'undone') OR \(Self.unsettled))
            """)
        return try rows.map { try $0.text("text") }
    }

    /// Returns what else was or may have been published since `start`, newest first.
    package func published(besides action: Action, since start: Date) async throws -> [Action] {
        try await actions(
            where: """
                updated_ms >= \(start.milliseconds) AND sending_ms IS NOT NULL AND kind IN ('post', 'reply')
                AND id <> \(action.id)
                """,
            order: "updated_ms DESC, id ASC", limit: 2_000)
    }

    /// The actions that ended without anybody knowing whether they happened and whose time for another look has come.
    package func unsighted(now: Date, limit: Int = 20) async throws -> [Action] {
        try await actions(
            where: "\(Self.unsettled) AND next_attempt_ms <= \(now.milliseconds)",
            order: "next_attempt_ms ASC, id ASC", limit: limit)
    }

    /// Records when to look for an unconfirmed action again; nil for never.
    ///
    /// The action counts as unchanged: only what is known about it matters to people.
    package func lookAgain(_ action: Action, at time: Date?) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                UPDATE actions SET next_attempt_ms = \(time?.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id) AND \(Self.unsettled)
                """)
        }
    }

    /// When any action was last changed, on the clock of whoever changed it; nil while there is none.
    package func newestChange() async throws -> Date? {
        let rows = try await storage.query("SELECT MAX(updated_ms) AS newest_ms FROM actions WHERE mirror = \(mirror)")
        return try rows.first?.optionalDate("newest_ms")
    }
}
