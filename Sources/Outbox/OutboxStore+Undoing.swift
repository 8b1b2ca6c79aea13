package import Foundation
package import Posts
package import Storage

/// A request to undo an action, and its progress.
package struct Undo: Equatable, Sendable {
    /// Why the action is to be undone.
    package var reason: ReasonCode
    package var asked: Date
    /// The number of requests to the network.
    package var attempts = 0
    /// The time of the next request; nil for none.
    package var next: Date?
    /// The network's last answer: ``removed``, ``gone``, ``shown``, or a code with a text; nil
    /// before the first.
    package var outcome: String?

    /// The post was deleted.
    package static let removed = "removed"
    /// The post had been deleted before the request.
    package static let gone = "gone"
    /// The post was deleted, but the server still shows its text to anybody.
    package static let shown = "shown"
    /// The post belongs to another account of the bot, so it cannot be deleted.
    package static let rebound = "rebound"
}

/// The outcome of a request to undo.
package enum UndoAnswer: String, CaseIterable, Codable, Sendable {
    /// The action was cancelled before it happened.
    case withheld
    /// The action happened, and is undone as soon as the network permits.
    case asked
    /// The outcome of the action is unknown; it is undone if it happened.
    case remembered
    /// The action was undone before.
    case already
    /// The action did not happen, as far as can be known.
    case nothing
    /// The action belongs to another account of the bot.
    case outOfReach = "out-of-reach"
    /// There is no such action.
    case unknown

    /// Whether the request has or may have an effect on the action.
    fileprivate var isCarriedOut: Bool { [.withheld, .asked, .remembered].contains(self) }
}

/// Undo.
///
/// A request is part of the action's row, stored before any request to the network and removed only
/// at its end. An undone action stays in the table as `undone`: its slot, mention or post is never
/// decided again, and its text counts as used.
///
/// A store with a lease checks it. One without a lease may work beside a worker, because deleting a
/// post twice is harmless.
extension OutboxStore {
    /// Stores requests to undo actions, and cancels waiting ones.
    ///
    /// One transaction handles a few hundred. Later parts of a thread are included.
    ///
    /// - Parameters:
    ///   - reason: The reason, also of the actions that are skipped.
    ///   - seen: The digest of all these actions that the person saw; nil to change without
    ///     comparing.
    ///   - note: Runs for each of `ids` that is cancelled, or that will be undone if it happened.
    /// - Returns: The outcome of each request, which is stored durably.
    /// - Throws: ``OutboxError`` if the lease is lost or an action keeps changing; `SeenChanged`,
    ///   without any change, if an action differs from what was seen; the store's error.
    package func askUndos(
        _ ids: [String], reason: Action.Reason = .byPerson, seen: Seen? = nil, now: Date,
        _ note: @escaping Note = { _, _ in }
    ) async throws -> [String: UndoAnswer] {
        var answers: [String: UndoAnswer] = [:]
        for (number, portion) in ids.portions.enumerated() {
            let newAnswers = try await write { connection -> [(String, UndoAnswer)] in
                if number == 0 { try require(seen, of: ids, on: connection) }
                let answers = try withContinuations(portion, on: connection).map {
                    ($0, try noteUndo($0, reason: reason, now: now, on: connection))
                }
                for (id, answer) in answers where portion.contains(id) && answer.isCarriedOut {
                    if let action = try action(id, on: connection) { try note(action, connection) }
                }
                return answers
            }
            answers.merge(newAnswers) { first, _ in first }
        }
        return answers
    }

    /// The maximum number of attempts to change a row that others change at the same time.
    private static let attempts = 5

    /// Stores a request to undo an action, and returns its outcome.
    func noteUndo(
        _ id: String, reason: Action.Reason, now: Date, on connection: any StorageConnection
    ) throws -> UndoAnswer {
        for _ in 0..<Self.attempts {
            guard let action = try action(id, on: connection) else { return .unknown }
            let answer = action.undoAnswer
            guard let assignments = action.changes(for: answer, reason: reason, now: now) else {
                return answer
            }
            let changed = try connection.execute(
                """
                \(answer == .withheld ? Self.changing : Self.noting) \(assignments)
                WHERE mirror = \(mirror) AND id = \(id) AND \(Self.isStill(action))
                """)
            guard changed == 1 else { continue }
            if answer == .withheld, let after = try self.action(id, on: connection) {
                try noteUses(by: [action, after], on: connection)
            }
            return answer
        }
        throw OutboxError.stateChanged(id, to: .undone)
    }

    // MARK: Undoing

    /// Returns the actions due to be undone; of actions with the same due time the newest first.
    package func dueUndos(now: Date, limit: Int = 20) async throws -> [Action] {
        try await actions(
            where: """
                undo_next_ms IS NOT NULL AND state = 'done'
                AND (undo_next_ms <= \(now.milliseconds) OR undo_noted_ms > \(now.milliseconds))
                """,
            // A request postponed by a clock that was ahead is due too.
            order: "undo_next_ms ASC, sending_ms DESC, id ASC", limit: limit)
    }

    /// Returns the time of the next request to the network for an undo; nil for none.
    package func nextUndo(now: Date) async throws -> Date? {
        let rows = try await storage.query("SELECT \(nextUndo(at: now)) AS undo_ms")
        return try rows.first?.optionalDate("undo_ms")
    }

    /// An SQL expression for the time of the next request to the network for an undo.
    ///
    /// A request that was postponed by a clock that was ahead is due at once.
    func nextUndo(at now: Date) -> SQL {
        """
        (SELECT MIN(CASE WHEN undo_noted_ms > \(now.milliseconds) THEN CAST(\(now.milliseconds) AS BIGINT)
            ELSE undo_next_ms END) FROM actions
        WHERE mirror = \(mirror) AND undo_next_ms IS NOT NULL AND state = 'done')
        """
    }

    /// Returns the time of the next look-up of an action with a request to undo and an unknown
    /// outcome; nil for none.
    ///
    /// - Parameter includesFailed: Whether to include actions whose look-up after the deadline
    ///   failed, which are looked up a few times more within a day.
    package func nextUnknownUndo(includesFailed: Bool) async throws -> Date? {
        let stateCondition: SQL = includesFailed ? "" : "AND state = 'sending'"
        let rows = try await storage.query(
            """
            SELECT MIN(next_attempt_ms) AS look_ms FROM actions
            WHERE mirror = \(mirror) AND \(Self.isUnknownUndo) \(stateCondition)
            """)
        return try rows.first?.optionalDate("look_ms")
    }

    /// Condition: a request to undo an action with an unknown outcome.
    static let isUnknownUndo: SQL = """
        undo_next_ms IS NOT NULL AND next_attempt_ms IS NOT NULL AND (state = 'sending' OR \(unsettled))
        """

    /// Records a request to the network, so that no other process makes the same one meanwhile.
    ///
    /// - Parameters:
    ///   - action: The action from ``dueUndos(now:limit:)``.
    ///   - until: The time of the next attempt if this one has no recorded end.
    /// - Returns: The stored action; nil if another process was faster.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func beginUndo(_ action: Action, until: Date, now: Date) async throws -> Action? {
        let attempts = action.undo?.attempts ?? 0
        return try await changeUndo(
            of: action.id,
            where: "undo_next_ms IS NOT NULL AND COALESCE(undo_attempts, 0) = \(attempts)",
            set: "undo_attempts = \(attempts + 1), undo_next_ms = \(until.milliseconds)", now: now)
    }

    /// Records that an action is undone; idempotent.
    ///
    /// - Parameters:
    ///   - outcome: ``Undo/removed``, ``Undo/gone`` if there was nothing left to delete, or
    ///     ``Undo/shown``.
    /// - Returns: The stored action; nil without a request to undo.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    @discardableResult
    package func undone(_ id: String, outcome: String = Undo.removed, now: Date) async throws
        -> Action?
    {
        try await changeUndo(
            of: id,
            set: """
                state = 'undone', reason = undo_reason, undo_next_ms = NULL, undo_outcome = \(outcome),
                updated_ms = \(now.milliseconds)
                """, now: now)
    }

    /// Records a failed request to undo an action.
    ///
    /// - Parameters:
    ///   - begun: The action from ``beginUndo(_:until:now:)``.
    ///   - next: The time of the next attempt; nil for none until a new request to undo.
    /// - Returns: The stored action; nil if it is undone meanwhile, or another process made a later
    ///   request.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    @discardableResult
    package func undoFailed(_ begun: Action, _ error: String, next: Date?, now: Date) async throws
        -> Action?
    {
        try await changeUndo(
            of: begun.id, where: "COALESCE(undo_attempts, 0) = \(begun.undo?.attempts ?? 0)",
            set: "undo_next_ms = \(next?.milliseconds), undo_outcome = \(error)", now: now)
    }

    /// Postpones all requests of some kinds, because of the network's limits.
    package func putOffUndos(_ kinds: [ActionKind], until time: Date, now: Date) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                \(Self.noting) undo_next_ms = \(time.milliseconds), undo_noted_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND undo_next_ms IS NOT NULL AND undo_next_ms < \(time.milliseconds)
                    AND state = 'done' AND kind IN \(list: kinds.map(\.rawValue))
                """)
        }
    }

    /// Changes the undo state of an action that happened.
    private func changeUndo(
        of id: String, where condition: SQL = "TRUE", set assignments: SQL, now: Date
    ) async throws -> Action? {
        try await write { connection in
            let changed = try connection.execute(
                """
                \(Self.changing) \(assignments), undo_noted_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(id) AND state = 'done' AND undo_asked_ms IS NOT NULL AND \(condition)
                """)
            return changed == 1 ? try action(id, on: connection) : nil
        }
    }

    /// Returns the earliest time of another request of these kinds under the limit `pace`, from the
    /// requests so far.
    ///
    /// It depends only on the table, so a restart or another process does not change it.
    package func nextRoom(_ kinds: [ActionKind], within pace: Pace, now: Date) async throws -> Date
    {
        let rows = try await storage.query(
            """
            SELECT updated_ms FROM actions
            WHERE mirror = \(mirror) AND updated_ms > \((now - pace.period).milliseconds)
                AND updated_ms <= \(now.milliseconds) AND state = 'undone' AND kind IN \(list: kinds.map(\.rawValue))
            ORDER BY updated_ms DESC LIMIT \(pace.count)
            """)
        guard rows.count >= pace.count, let oldest = rows.last else { return now }
        return try oldest.date("updated_ms") + pace.period
    }
}

// MARK: Actions to undo

/// The numbers of requests to undo, by state.
package struct UndoTally: Equatable, Sendable {
    /// Requests that wait to be carried out.
    package var waiting = 0
    /// Requests for actions with an unknown outcome.
    package var remembered = 0
    /// Requests that the network refused for good.
    package var refused = 0
    /// Proposals: copies of posts that the human deleted or changed.
    package var proposed = 0

    package init(waiting: Int = 0, remembered: Int = 0, refused: Int = 0, proposed: Int = 0) {
        self.waiting = waiting
        self.remembered = remembered
        self.refused = refused
        self.proposed = proposed
    }
}

extension OutboxStore {
    /// Returns the actions of this account that were or may have been done and are not undone,
    /// latest first.
    ///
    /// - Parameters:
    ///   - start: The earliest time of the first request; nil for all.
    ///   - onlyWithoutRequest: Whether to exclude actions with a request to undo.
    package func undoable(
        _ kinds: [ActionKind], since start: Date?, onlyWithoutRequest: Bool = false, limit: Int
    ) async throws -> [Action] {
        let withoutRequest: SQL = onlyWithoutRequest ? "undo_asked_ms IS NULL AND " : ""
        return try await actions(
            where: withoutRequest + Self.isUndoable(kinds, since: start),
            order: "sending_ms DESC, id ASC", limit: limit)
    }

    /// Returns the number of undoable actions of each kind; kinds without any are missing.
    package func undoableCounts() async throws -> [ActionKind: Int] {
        let rows = try await storage.query(
            """
            SELECT kind, COUNT(*) AS number FROM actions
            WHERE mirror = \(mirror) AND \(Self.isUndoable(ActionKind.allCases, since: nil)) GROUP BY kind
            """)
        return try rows.reduce(into: [:]) { counts, row in
            guard let kind = ActionKind(rawValue: try row.text("kind")) else { return }
            counts[kind] = try row.int("number")
        }
    }

    private static func isUndoable(_ kinds: [ActionKind], since start: Date?) -> SQL {
        """
        kind IN \(list: kinds.map(\.rawValue)) AND sending_ms >= \(start?.milliseconds ?? 0)
        AND (state IN ('sending', 'done') OR \(unsettled) AND next_attempt_ms IS NOT NULL)
        AND COALESCE(undo_outcome, '') <> \(Undo.rebound)
        """
    }

    /// Returns the actions still to be undone, oldest request first, at most ten thousand.
    package func wantedUndos() async throws -> [Action] {
        try await actions(
            where: "undo_next_ms IS NOT NULL AND \(Self.awaitingUndo)",
            order: "undo_asked_ms ASC, id ASC",
            limit: 10_000)
    }

    /// The columns of an ``UndoTally``, for a statement with other columns.
    ///
    /// - Parameter mirror: The name as a value, or a column with names.
    package static func undoNumbers(of mirror: SQL) -> SQL {
        """
        (SELECT COUNT(*) FROM actions
                WHERE mirror = \(mirror) AND undo_next_ms IS NOT NULL AND state = 'done') AS undo_waiting,
            (SELECT COUNT(*) FROM actions WHERE mirror = \(mirror) AND undo_next_ms IS NOT NULL
                AND state <> 'done' AND \(awaitingUndo)) AS undo_remembered,
            (SELECT COUNT(*) FROM actions WHERE mirror = \(mirror) AND state = 'done'
                AND undo_asked_ms IS NOT NULL AND undo_next_ms IS NULL) AS undo_refused,
            (SELECT COUNT(*) FROM actions WHERE mirror = \(mirror) AND \(isProposed)) AS undo_proposed
        """
    }

    /// Condition: the action happened, or may have happened.
    private static let awaitingUndo: SQL = """
        (state IN ('sending', 'done') OR (\(unsettled) AND next_attempt_ms IS NOT NULL))
        """
}

extension UndoTally {
    /// Reads the columns of ``OutboxStore/undoNumbers(of:)``.
    ///
    /// - Throws: `StorageError` if one of them is missing.
    package init(row: SQLRow) throws {
        self.init(
            waiting: try row.int("undo_waiting"), remembered: try row.int("undo_remembered"),
            refused: try row.int("undo_refused"), proposed: try row.int("undo_proposed"))
    }
}

extension Action {
    /// The outcome that a request to undo the action would have.
    package var undoAnswer: UndoAnswer {
        switch state {
        case .planned, .claimed, .suggested: .withheld
        case .sending: .remembered
        case .done: isOfAnotherAccount ? .outOfReach : .asked
        case .undone: .already
        case .failed where isUnsettled && nextAttempt != nil: .remembered
        case .skipped, .expired, .failed: .nothing
        }
    }

    /// Returns the change of the row that follows from an answer; nil for none.
    fileprivate func changes(for answer: UndoAnswer, reason: Action.Reason, now: Date) -> SQL? {
        let request: SQL = """
            undo_reason = \(reason), undo_asked_ms = \(now.milliseconds), undo_next_ms = \(now.milliseconds),
            undo_noted_ms = \(now.milliseconds)
            """
        switch answer {
        case .withheld:
            return """
                state = 'skipped', reason = \(reason), next_attempt_ms = NULL, \(OutboxStore.settled), undo_reason = \(reason),
                undo_asked_ms = \(now.milliseconds), updated_ms = \(now.milliseconds)
                """
        // The row's time of change is kept, because it determines when a sent action is looked up,
        // and nothing has happened yet.
        case .remembered: return undo == nil ? request : nil
        case .asked: return undo?.next == nil ? request : nil
        case .already, .nothing, .outOfReach, .unknown: return nil
        }
    }

    /// Whether the action has a request to undo that can still be carried out.
    var awaitsUndo: Bool { undo?.next != nil && [.asked, .remembered].contains(undoAnswer) }

    /// Whether the action ended with an unknown outcome.
    private var isUnsettled: Bool {
        state == .failed && [.outbox(.unconfirmed), .outbox(.duplicate)].contains(reason)
    }
}
