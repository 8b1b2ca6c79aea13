package import Foundation
package import Posts
import Storage

/// An action that this worker may send, as it was read.
///
/// Only ``OutboxStore/claim(_:now:)`` and ``OutboxStore/claim(_:asOf:)`` create one. Its
/// transitions require the state and the revision that were read, and change nothing if the row has
/// others.
@dynamicMemberLookup
package struct Claimed: Equatable, Sendable {
    /// The action as it was claimed; a copy, which may be older than the row.
    package let action: Action
    /// The version of a person's operations under which the action may be sent although its row
    /// does not say `claimed`; nil if the row says `claimed`.
    fileprivate let version: Int64?

    fileprivate init(_ action: Action, asOf version: Int64? = nil) {
        self.action = action
        self.version = version
    }

    package subscript<Value>(dynamicMember path: KeyPath<Action, Value>) -> Value {
        action[keyPath: path]
    }
}

/// An action whose request was or may have been sent, and whose outcome is not stored.
///
/// Its row says `sending`, or `failed` with an unknown outcome. It is created by a departure, or by
/// reading such a row.
@dynamicMemberLookup
package struct Departed: Equatable, Sendable {
    /// The action as it was read; a copy, which may be older than the row.
    package let action: Action

    fileprivate init(_ action: Action) { self.action = action }

    package subscript<Value>(dynamicMember path: KeyPath<Action, Value>) -> Value {
        action[keyPath: path]
    }
}

/// The state changes of an action from `planned` to its end.
///
/// Each change requires the state and the revision that its caller read, and changes nothing
/// otherwise, because a copy in memory may be outdated. Every change is idempotent, so it can be
/// repeated after a `COMMIT` without an answer. Each returns the stored action, and throws
/// ``OutboxError`` if the lease is lost or the action changed meanwhile, or the store's error.
extension OutboxStore {
    /// Claims a planned action, or one that an earlier worker of this mirror claimed and did not
    /// send.
    package func claim(_ action: Action, now: Date) async throws -> Claimed {
        try requireWaiting(action, to: .claimed)
        return Claimed(try await change(action, to: .claimed, now: now))
    }

    /// Claims a planned action without a change of its row: it is sent only if the row has not
    /// changed and no person has changed anything since.
    ///
    /// - Parameter version: ``wishVersion()`` at the moment when the action was read.
    package func claim(_ action: Action, asOf version: Int64) throws -> Claimed {
        try requireWaiting(action, to: .claimed)
        return Claimed(action, asOf: version)
    }

    /// Throws unless an action was read in a state from which it may be sent.
    private func requireWaiting(_ action: Action, to state: ActionState) throws {
        guard action.state == .planned || action.state == .claimed else {
            throw OutboxError.stateChanged(action.id, to: state)
        }
    }

    /// Commits the final text before the request is sent; from then on the action counts as sent
    /// unless the opposite is certain.
    ///
    /// - Parameters:
    ///   - claimed: The claimed action.
    ///   - final: The action with its final text; nil if the text has not changed.
    ///   - lookUp: When to look the action up if the request's answer is lost.
    ///   - deadline: The maximum duration of its request.
    ///   - version: ``wishVersion()`` from before the text was checked; nil for the version of the
    ///     claim, if it has one.
    ///   - now: The time of the first request, unless the action has one.
    ///   - serverTime: The time of the first request on the network's clock; nil if unknown.
    /// - Throws: As all changes of this extension.
    package func beginSending(
        _ claimed: Claimed, as final: Action? = nil, lookUp: Date, deadline: Duration,
        asOf version: Int64? = nil,
        now: Date, serverTime: Date? = nil
    ) async throws -> Departed {
        let final = final ?? claimed.action
        let wording = final.wording
        let sending = final.sending ?? now
        let stored = try await change(
            claimed.action, to: .sending, requestDeadline: deadline,
            asOf: version ?? claimed.version,
            uses: claimed.wording?.source == wording?.source ? .kept : .changed, now: now,
            """
            text = \(wording?.text), language = \(wording?.language), visibility = \(wording?.visibility.rawValue),
            source_network = \(wording?.source.network.rawValue), source_post_id = \(wording?.source.value),
            warning = \(wording?.warning), note = \(wording?.note), pictures = \(wording?.pictures.stored),
            uploads = \(Action.stored(final.uploads)), rest = \(final.payload.storedRest),
            explanation = \(explanationOrStored(final.explanation)), sending_ms = \(sending.milliseconds),
            server_sending_ms = \(serverTime?.milliseconds), next_attempt_ms = \(lookUp.milliseconds),
            attempts = \(claimed.attempts + 1), sends = \(claimed.sends + 1)
            """)
        return Departed(stored)
    }

    /// Records the uploaded pictures of a claimed action; its row says `claimed` afterwards.
    package func noteUploads(_ uploads: [Action.Upload], of claimed: Claimed, now: Date)
        async throws -> Claimed
    {
        let stored = try await change(
            claimed.action, to: .claimed, now: now, "uploads = \(Action.stored(uploads))")
        return Claimed(stored)
    }

    /// Records another request with the same key, and when to look it up if its answer is lost.
    ///
    /// The time of the first request is kept, so that networks where the client dates a post get
    /// the same bytes again. An action with a request to undo is not sent again.
    package func resend(
        _ departed: Departed, lookUp: Date, deadline: Duration, asOf version: Int64? = nil,
        now: Date
    ) async throws -> Departed {
        guard departed.state == .sending else {
            throw OutboxError.stateChanged(departed.id, to: .sending)
        }
        let stored = try await change(
            departed.action, to: .sending, unless: .undoRequested, requestDeadline: deadline,
            asOf: version,
            now: now,
            """
            next_attempt_ms = \(lookUp.milliseconds), attempts = \(departed.attempts + 1),
            sends = \(departed.sends + 1)
            """)
        return Departed(stored)
    }

    /// Records when to look an action up, because the outcome of a request is unknown.
    ///
    /// The departure stays the same, so that a late answer of its request is still stored.
    ///
    /// - Parameter sends: The number of requests that may have acted; nil to keep the number that
    ///   was read.
    package func awaitLookUp(
        _ departed: Departed, at time: Date, reason: ReasonCode?, sends: Int? = nil, now: Date
    ) async throws -> Action {
        guard departed.state == .sending else {
            throw OutboxError.stateChanged(departed.id, to: .sending)
        }
        return try await change(
            departed.action, to: .sending, keepsRevision: true, now: now,
            """
            next_attempt_ms = \(time.milliseconds), reason = \(reason), attempts = \(departed.attempts),
            sends = \(sends ?? departed.sends)
            """)
    }

    /// Makes a claimed action `planned` again; one with a request to undo is skipped instead.
    ///
    /// - Parameters:
    ///   - until: The earliest time to send it; nil for at once.
    ///   - attempts: The number of attempts to record; nil to keep the number that was read.
    /// - Throws: As all changes of this extension.
    package func postpone(
        _ claimed: Claimed, until: Date?, reason: ReasonCode?, attempts: Int? = nil, now: Date
    ) async throws -> Action {
        try await change(
            claimed.action, to: .planned, uses: .changed, now: now,
            unsent(until: until, reason: reason, attempts: attempts ?? claimed.attempts))
    }

    /// Makes an action `planned` again whose only request certainly had no effect; one with a
    /// request to undo is skipped instead.
    ///
    /// - Parameter until: The earliest time to send it again; nil for at once.
    /// - Throws: As all changes of this extension.
    package func giveBack(
        _ departed: Departed, until: Date?, reason: ReasonCode?, now: Date
    ) async throws -> Action {
        guard departed.state == .sending, departed.sends <= 1 else {
            throw OutboxError.stateChanged(departed.id, to: .planned)
        }
        return try await change(
            departed.action, to: .planned, uses: .changed, now: now,
            unsent(until: until, reason: reason, attempts: departed.attempts))
    }

    /// Reverts the departure of a claimed action whose request was not made, whether the departure
    /// was committed or not.
    ///
    /// The row is still in its claimed state, or has the departure of exactly that state.
    package func withdraw(_ claimed: Claimed, now: Date) async throws -> Action {
        try await change(
            claimed.action, orItsDeparture: true, to: .planned, uses: .changed, now: now,
            unsent(until: nil, reason: claimed.reason, attempts: claimed.attempts))
    }

    /// Reverts the record of another request that was not made, whether it was committed or not;
    /// the action is looked up at once.
    package func withdraw(_ departed: Departed, now: Date) async throws -> Action {
        try await change(
            departed.action, orItsDeparture: true, to: .sending, now: now,
            """
            next_attempt_ms = \(now.milliseconds), reason = \(departed.reason), attempts = \(departed.attempts),
            sends = \(departed.sends)
            """)
    }

    /// The columns of an action without a request.
    private func unsent(until: Date?, reason: ReasonCode?, attempts: Int) -> SQL {
        """
        next_attempt_ms = \(until?.milliseconds), sending_ms = NULL, server_sending_ms = NULL,
        attempts = \(attempts), sends = 0, reason = COALESCE(undo_reason, \(reason)), undo_next_ms = NULL
        """
    }

    /// Moves a held slot to a later time, or skips it; a pinned slot is left alone.
    ///
    /// - Parameters:
    ///   - slot: A planned slot.
    ///   - due: Its new time; nil to skip it.
    /// - Throws: As all changes of this extension.
    package func holdBack(_ slot: Action, until due: Date?, reason: Action.Reason, now: Date)
        async throws
        -> Action
    {
        try requireWaiting(slot, to: due == nil ? .skipped : .planned)
        guard let due else {
            return try await change(
                slot, to: .skipped, unless: .pinned, uses: .changed, now: now,
                "reason = \(reason), next_attempt_ms = NULL")
        }
        let expires = due + slot.expires.timeIntervalSince(slot.due)
        return try await change(
            slot, to: .planned, unless: .pinned, uses: .changed, now: now,
            """
            reason = \(reason), next_attempt_ms = NULL, due_ms = \(due.milliseconds),
            expires_ms = \(expires.milliseconds)
            """)
    }

    /// Records the network's id of the post, or that the favorite exists.
    ///
    /// An action that ended with an unknown outcome, meanwhile or before, may be confirmed too.
    package func confirm(
        _ departed: Departed, remoteID: String?, remoteAddress: String?, now: Date
    ) async throws -> Action {
        try await change(
            departed.action, orUnsettled: true, to: .done, now: now,
            """
            remote_id = \(remoteID), remote_address = \(remoteAddress), reason = NULL, next_attempt_ms = NULL,
            \(Self.settled)
            """)
    }

    /// Ends a claimed action for good.
    ///
    /// - Parameter outcome: The network's answer, added to the explanation for people.
    /// - Throws: As all changes of this extension.
    package func end(
        _ claimed: Claimed, as state: ActionState, reason: ReasonCode, outcome: String? = nil,
        now: Date
    ) async throws -> Action {
        try await storeEnd(
            of: claimed.action, as: state, reason: reason, outcome: outcome, nextSighting: nil,
            now: now)
    }

    /// Ends an action whose request was refused, or whose outcome remains unknown.
    ///
    /// - Parameters:
    ///   - outcome: The network's answer, added to the explanation for people.
    ///   - sighting: When to look for it again, if its outcome is unknown.
    /// - Throws: As all changes of this extension.
    package func end(
        _ departed: Departed, as state: ActionState, reason: ReasonCode, outcome: String? = nil,
        sighting: Date? = nil,
        now: Date
    ) async throws -> Action {
        guard departed.state == .sending else {
            throw OutboxError.stateChanged(departed.id, to: state)
        }
        return try await storeEnd(
            of: departed.action, as: state, reason: reason, outcome: outcome,
            nextSighting: sighting, now: now)
    }

    /// Skips or expires a waiting action that is not claimed.
    ///
    /// - Throws: As all changes of this extension.
    package func drop(_ waiting: Action, as state: ActionState, reason: Action.Reason, now: Date)
        async throws -> Action
    {
        guard Self.waitingStates.contains(waiting.state) else {
            throw OutboxError.stateChanged(waiting.id, to: state)
        }
        return try await storeEnd(
            of: waiting, as: state, reason: .outbox(reason), outcome: nil, nextSighting: nil,
            now: now)
    }

    private func storeEnd(
        of action: Action, as state: ActionState, reason: ReasonCode, outcome: String?,
        nextSighting sighting: Date?, now: Date
    ) async throws -> Action {
        var explanation = action.explanation
        if let outcome { explanation = Explanation(adding: outcome, to: explanation) }
        var changes: SQL = """
            reason = \(reason), explanation = \(explanationOrStored(explanation)), next_attempt_ms = \(sighting?.milliseconds),
            \(Self.settled)
            """
        // An action that certainly did not happen needs no undo.
        if sighting == nil { changes += ", undo_next_ms = NULL" }
        return try await change(action, to: state, uses: .changed, now: now, changes)
    }

    /// The new explanation, or else the stored one.
    private func explanationOrStored(_ explanation: Explanation?) -> SQL {
        "COALESCE(\(explanation?.json), explanation)"
    }

    /// Throws unless this worker still holds the lease; for a process that may have been suspended
    /// since the last change.
    package func requireLease() async throws { try await write { _ in } }

    /// A condition, besides state and revision, that prevents a change.
    private enum Obstacle {
        case pinned
        /// A request to undo, which does not change the revision of an action in flight.
        case undoRequested
    }

    /// Whether a change of an action may affect the archive's records of uses.
    private enum Uses {
        case kept
        case changed
    }

    /// Changes an action that still has the state and the revision that were read, under the lease.
    ///
    /// - Parameters:
    ///   - storedAction: The action as the caller read it.
    ///   - orItsDeparture: Whether to change also a row that is `storedAction` after its departure.
    ///   - orUnsettled: Whether to change also an action that ended with an unknown outcome.
    ///   - keepsRevision: Whether the revision stays.
    ///   - deadline: The maximum duration of the request that is sent now; nil for none.
    ///   - version: The version of a person's operations that must still hold.
    ///   - uses: Whether the uses of the archive's posts have to be counted anew.
    private func change(
        _ storedAction: Action, orItsDeparture: Bool = false, orUnsettled: Bool = false,
        to state: ActionState,
        unless obstacle: Obstacle? = nil, keepsRevision: Bool = false,
        requestDeadline deadline: Duration? = nil,
        asOf version: Int64? = nil, uses: Uses = .kept, now: Date, _ assignments: SQL? = nil
    ) async throws -> Action {
        var allowed = Self.isStill(storedAction)
        if orItsDeparture {
            allowed =
                "(\(allowed) OR (state = 'sending' AND revision = \(storedAction.revision + 1)))"
        }
        if orUnsettled { allowed = "(\(allowed) OR \(Self.unsettled))" }
        switch obstacle {
        case .pinned: allowed = "\(allowed) AND NOT pinned"
        case .undoRequested: allowed += " AND undo_asked_ms IS NULL"
        case nil: break
        }
        let newState: SQL =
            state == .planned
            ? "CASE WHEN undo_asked_ms IS NULL THEN 'planned' ELSE 'skipped' END"
            : "\(state.rawValue)"
        if deadline != nil {
            let hasSameVersion: SQL =
                if let version { "mirrors.version = \(version)" } else { "TRUE" }
            allowed +=
                " AND \(isPermitted(at: now)) AND \(mirrorHas("NOT \(Self.pauses(at: now)) AND \(hasSameVersion)"))"
        }
        // Any record after a departure implies that its request has ended.
        var changes: SQL = """
            state = \(newState), updated_ms = \(now.milliseconds), flight_ms = \(deadline?.milliseconds)
            """
        if deadline != nil { changes += ", departed_ms = \(now.milliseconds)" }
        if let assignments { changes = "\(changes), \(assignments)" }
        let update: SQL = """
            \(keepsRevision ? Self.noting : Self.changing) \(changes)
            WHERE mirror = \(mirror) AND id = \(storedAction.id) AND \(allowed)
            """
        return try await write { connection in
            if deadline != nil { try requireNoDenial(of: storedAction, on: connection) }
            let countsUses = uses == .changed && storedAction.kind == .post
            let before = countsUses ? try self.action(storedAction.id, on: connection) : nil
            let updated = try connection.query("\(update) RETURNING \(Action.columns)")
            guard let stored = try updated.first.flatMap(Self.action(of:)) else {
                if deadline != nil {
                    try requireMirrorAllows(storedAction, asOf: version, at: now, on: connection)
                }
                throw OutboxError.stateChanged(storedAction.id, to: state)
            }
            if countsUses { try noteUses(by: [before, stored].compactMap(\.self), on: connection) }
            return stored
        }
    }

    /// Condition: the action has not changed since it was read.
    static func isStill(_ storedAction: Action) -> SQL {
        "(state = \(storedAction.state.rawValue) AND revision = \(storedAction.revision))"
    }
}

extension OutboxStore {
    /// Throws while the mirror is paused, without consent, while the human's account is away, after
    /// the mirror has retired, or if the person is denied.
    ///
    /// So no request is sent after such a decision, even if it was prepared before.
    func requireNoObjection(to action: Action, at now: Date, on connection: any StorageConnection)
        throws
    {
        try requireMirrorAllows(action, asOf: nil, at: now, on: connection)
        try requireNoDenial(of: action, on: connection)
    }

    /// Throws while the mirror is paused, without consent, while the human's account is away, after
    /// the mirror has retired, or if a person has changed the conditions of sending since
    /// `version`.
    private func requireMirrorAllows(
        _ action: Action, asOf version: Int64?, at now: Date,
        on connection: any StorageConnection
    ) throws {
        let isSuperseded: SQL = if let version { "mirrors.version <> \(version)" } else { "FALSE" }
        let rows = try connection.query(
            """
            SELECT CASE WHEN \(Self.pauses(at: now)) THEN \(Objection.paused.rawValue)
                WHEN (\(Self.isAgreed)) IS NOT TRUE THEN \(Objection.unagreed.rawValue)
                WHEN \(Self.mayContinue) IS NOT TRUE THEN \(Objection.humanAway.rawValue)
                WHEN \(Self.retirementPermits("\(action.id)", at: now)) IS NOT TRUE THEN \(Objection.retired.rawValue)
                WHEN \(isSuperseded) THEN \(Objection.superseded.rawValue) END AS objection
            FROM mirrors WHERE mirrors.mirror = \(mirror)
            """)
        // A mirror without a row has no consent.
        guard let row = rows.first else { throw OutboxError.unagreed }
        guard let objection = try row.optionalText("objection") else { return }
        switch Objection(rawValue: objection) {
        case .paused: throw OutboxError.paused
        case .unagreed: throw OutboxError.unagreed
        case .humanAway: throw OutboxError.humanAway
        case .retired: throw OutboxError.retired
        case .superseded, nil: throw OutboxError.superseded(action.id)
        }
    }

    /// A reason in a mirror's row why no request may be sent.
    private enum Objection: String {
        case paused, unagreed, humanAway, retired, superseded
    }

    /// The condition for sending a row of `actions`: there is a consent to the mirror, by the human
    /// through a login or through words from their account, or by the operator through a statement
    /// (see `HumanConsent`); the human's account exists, or a person wants the mirror to continue
    /// without it; and the mirror has not retired, or the row is its last post.
    ///
    /// Every departure includes it in its statement. Queries of due actions include it too, so that
    /// no action is prepared that cannot be sent.
    func isPermitted(at now: Date) -> SQL {
        mirrorHas(
            "\(Self.isAgreed) AND \(Self.mayContinue) AND \(Self.retirementPermits("actions.id", at: now))"
        )
    }

    /// An SQL condition on a row of `mirrors`: a consent is stored.
    private static let isAgreed: SQL = "mirrors.consent IS NOT NULL"

    /// The condition that the network does not call the human's account a memorial, suspended,
    /// deactivated or gone, or that a person wants the mirror to continue anyway.
    private static let mayContinue: SQL = """
        (mirrors.standing IS NULL OR mirrors.standing = 'moved' OR mirrors.standing_goes_on_ms IS NOT NULL)
        """

    private func mirrorHas(_ condition: SQL) -> SQL {
        "EXISTS (SELECT 1 FROM mirrors WHERE mirrors.mirror = \(mirror) AND \(condition))"
    }

    /// The condition that the mirror is paused.
    private static func pauses(at now: Date) -> SQL {
        """
        (mirrors.paused_ms IS NOT NULL
            AND (mirrors.paused_until_ms IS NULL OR mirrors.paused_until_ms > \(now.milliseconds)))
        """
    }

    /// The version that every operation of a person about sending increases; after a change, checks
    /// are repeated.
    package func wishVersion() async throws -> Int64 {
        try await storage.query("SELECT version FROM mirrors WHERE mirror = \(mirror)").first?
            .integer("version") ?? 0
    }

    /// An SQL expression for ``wishVersion()``.
    var selectedVersion: SQL {
        "COALESCE((SELECT version FROM mirrors WHERE mirror = \(mirror)), 0) AS wish_version"
    }

    /// Raises the version, in the transaction of an operation of a person.
    func raiseVersion(on connection: any StorageConnection) throws {
        try connection.execute("UPDATE mirrors SET version = version + 1 WHERE mirror = \(mirror)")
    }
}

// MARK: Actions with an unknown outcome

extension OutboxStore {
    /// The condition of unconfirmed actions.
    static let unsettled: SQL = """
        (state = 'failed' AND reason IN \(list: [Action.Reason.unconfirmed, Action.Reason.duplicate]))
        """

    /// Returns the actions whose request has no known outcome.
    package func unresolved() async throws -> [Departed] {
        try await actions(where: "state = 'sending'", order: "sending_ms ASC, id ASC", limit: 1_000)
            .map(Departed.init)
    }

    /// Returns actions with a request to undo whose own request has no known outcome.
    package func unknownUndos() async throws -> [Departed] {
        try await actions(where: Self.isUnknownUndo, order: "sending_ms ASC, id ASC", limit: 1_000)
            .map(Departed.init)
    }

    /// Returns the texts of other posts whose requests were sent since `start`, or are in flight.
    ///
    /// The index `actions_departed` is used, so that the bot's earlier posts cost nothing.
    package func textsSent(besides action: Action?, since start: Date) async throws -> [String] {
        let rows = try await storage.query(
            """
            SELECT text FROM actions
            WHERE mirror = \(mirror) AND kind = 'post' AND text IS NOT NULL AND id <> \(action?.id ?? "")
                AND COALESCE(departed_ms, sending_ms) >= \(start.milliseconds)
                AND (state IN ('sending', 'done', 'undone') OR \(Self.unsettled))
            """)
        return try rows.map { try $0.text("text") }
    }

    /// Returns other actions that were or may have been published since `start`, newest first.
    package func published(besides action: Action, since start: Date) async throws -> [Action] {
        try await actions(
            where: """
                updated_ms >= \(start.milliseconds) AND sending_ms IS NOT NULL AND kind IN ('post', 'reply')
                AND id <> \(action.id)
                """,
            order: "updated_ms DESC, id ASC", limit: 2_000)
    }

    /// Returns the unconfirmed actions that are due for another look-up.
    package func dueUnconfirmed(now: Date, limit: Int = 20) async throws -> [Departed] {
        try await actions(
            where: "\(Self.unsettled) AND next_attempt_ms <= \(now.milliseconds)",
            order: "next_attempt_ms ASC, id ASC", limit: limit
        ).map(Departed.init)
    }

    /// Records when to look up an unconfirmed action again; nil for never.
    ///
    /// The action counts as unchanged, because the time does not matter to people.
    package func lookAgain(_ departed: Departed, at time: Date?) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                \(Self.noting) next_attempt_ms = \(time?.milliseconds)
                WHERE mirror = \(mirror) AND id = \(departed.id) AND \(Self.isStill(departed.action))
                    AND \(Self.unsettled)
                """)
        }
    }

    /// Returns the time of the last change of any action, on the clock of the process that changed
    /// it; nil if there is none.
    package func newestChange() async throws -> Date? {
        let rows = try await storage.query(
            "SELECT MAX(updated_ms) AS newest_ms FROM actions WHERE mirror = \(mirror)")
        return try rows.first?.optionalDate("newest_ms")
    }
}
