package import Foundation
package import Posts
package import Storage

/// A wish to take back what an action did, and how far that is.
package struct Undo: Equatable, Sendable {
    /// A stable kebab-case code of why.
    package var reason: String
    package var asked: Date
    /// How many requests were made for it.
    package var attempts = 0
    /// When the network is asked next; nil when it is not asked any more.
    package var next: Date?
    /// What the network answered last: ``removed``, ``gone``, or a code and words of its own; nil before it did.
    package var outcome: String?

    /// It was there, and is no more.
    package static let removed = "removed"
    /// Somebody else had deleted it before.
    package static let gone = "gone"
    /// Another account did it, and this one cannot take it back.
    package static let rebound = "rebound"
}

/// What became of the wish to take an action back.
package enum UndoAnswer: String, CaseIterable, Codable, Sendable {
    /// It had not happened, and will not.
    case withheld
    /// It happened, and is taken back as soon as the network lets us.
    case asked
    /// Nobody knows yet whether it happened; it is taken back when it turns out that it did.
    case remembered
    /// It was taken back before.
    case already
    /// It did not happen, as far as anybody will ever know.
    case nothing
    /// Another account of the bot did it.
    case outOfReach = "out-of-reach"
    /// There is no such action.
    case unknown
}

/// Taking back.
///
/// A wish is a part of the action's own row, written before anything is asked of the network and erased by nothing but its
/// end. What is taken back stays in the table as `undone`: its slot, mention or post is never decided again, and its text
/// counts as used.
///
/// A store with a lease checks it, as everywhere. One without may do all this too, beside a worker: to delete what is
/// gone already is no error, so two that do it at once do no harm.
extension OutboxStore {
    /// Notes that actions are to be taken back, or keeps them from happening if they wait.
    ///
    /// One transaction notes a few hundred. What goes on from one in a thread is taken back too.
    ///
    /// - Parameters:
    ///   - reason: A stable code of why; what waits is skipped for it.
    ///   - seen: The digest of all these actions together that the person was shown; nil to change without comparing.
    /// - Returns: What became of each wish; it is stored durably.
    /// - Throws: ``OutboxError`` if the lease is lost or an action changes all the time; `SeenChanged` if one is not any
    ///   more as it was seen, and then nothing was noted; the store's error.
    package func askUndos(
        _ ids: [String], reason: String = Action.Reason.byPerson, seen: Seen? = nil, now: Date
    ) async throws -> [String: UndoAnswer] {
        var answers: [String: UndoAnswer] = [:]
        for (number, part) in ids.portions.enumerated() {
            let some = try await write { connection -> [(String, UndoAnswer)] in
                if number == 0 { try require(seen, of: ids, on: connection) }
                return try withContinuations(part, on: connection).map {
                    ($0, try noteUndo($0, reason: reason, now: now, on: connection))
                }
            }
            answers.merge(some) { first, _ in first }
        }
        return answers
    }

    /// How often a wish is tried that meets another change of the same row.
    private static let attempts = 5

    func noteUndo(
        _ id: String, reason: String, now: Date, on connection: any StorageConnection
    ) throws -> UndoAnswer {
        for _ in 0..<Self.attempts {
            guard let action = try action(id, on: connection) else { return .unknown }
            let answer = action.undoAnswer
            guard let assignments = action.changes(for: answer, reason: reason, now: now) else { return answer }
            let changed = try connection.execute(
                """
                UPDATE actions SET \(assignments)
                WHERE mirror = \(mirror) AND id = \(id) AND state = \(action.state.rawValue)
                """)
            guard changed == 1 else { continue }
            if answer == .withheld, let after = try self.action(id, on: connection) {
                try noteUses(by: [action, after], on: connection)
            }
            return answer
        }
        throw OutboxError.stateChanged(id, to: .undone)
    }

    // MARK: Carrying out

    /// What happened, is to be taken back, and may be now: of those that were asked for at once the newest first.
    package func dueUndos(now: Date, limit: Int = 20) async throws -> [Action] {
        try await actions(
            where: """
                undo_next_ms IS NOT NULL AND state = 'done'
                AND (undo_next_ms <= \(now.milliseconds) OR undo_noted_ms > \(now.milliseconds))
                """,
            // What a clock put off that was ahead is due as well.
            order: "undo_next_ms ASC, sending_ms DESC, id ASC", limit: limit)
    }

    /// When the next wish may be carried out; nil if none can be.
    package func nextUndo(now: Date) async throws -> Date? {
        let rows = try await storage.query("SELECT \(nextUndo(at: now)) AS undo_ms")
        return try rows.first?.optionalDate("undo_ms")
    }

    /// The same as a part of a statement; what a clock put off that was ahead is due at once.
    func nextUndo(at now: Date) -> SQL {
        """
        (SELECT MIN(CASE WHEN undo_noted_ms > \(now.milliseconds) THEN CAST(\(now.milliseconds) AS BIGINT)
            ELSE undo_next_ms END) FROM actions
        WHERE mirror = \(mirror) AND undo_next_ms IS NOT NULL AND state = 'done')
        """
    }

    /// What is to be taken back if it turns out to have happened, and nobody knows yet whether it did.
    package func unknownUndos() async throws -> [Action] {
        try await actions(where: Self.isUnknownUndo, order: "sending_ms ASC, id ASC", limit: 1_000)
    }

    /// When such an action is looked for next; nil if none is.
    ///
    /// - Parameter isPatient: Whether those count that were looked for in vain when their answers could no longer come:
    ///   they are looked for a few times more within a day.
    package func nextUnknownUndo(isPatient: Bool) async throws -> Date? {
        let open: SQL = isPatient ? "" : "AND state = 'sending'"
        let rows = try await storage.query(
            """
            SELECT MIN(next_attempt_ms) AS look_ms FROM actions
            WHERE mirror = \(mirror) AND \(Self.isUnknownUndo) \(open)
            """)
        return try rows.first?.optionalDate("look_ms")
    }

    private static let isUnknownUndo: SQL = """
        undo_next_ms IS NOT NULL AND next_attempt_ms IS NOT NULL AND (state = 'sending' OR \(unsettled))
        """

    /// Records that a request to take an action back leaves now, so that nobody else makes the same one meanwhile.
    ///
    /// - Parameters:
    ///   - action: As ``dueUndos(now:limit:)`` gave it.
    ///   - until: When to try again if nothing is heard of it.
    /// - Returns: The action as it is stored then; nil if somebody else was faster.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func beginUndo(_ action: Action, until: Date, now: Date) async throws -> Action? {
        let attempts = action.undo?.attempts ?? 0
        return try await undo(
            action.id, "AND undo_next_ms IS NOT NULL AND COALESCE(undo_attempts, 0) = \(attempts)",
            "undo_attempts = \(attempts + 1), undo_next_ms = \(until.milliseconds)", now: now)
    }

    /// Records that an action is taken back; harmless when it is recorded already.
    ///
    /// - Parameters:
    ///   - outcome: ``Undo/removed``, or ``Undo/gone`` if there was nothing left to delete.
    /// - Returns: The action as it is stored then; nil if nobody wants it taken back.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    @discardableResult
    package func undone(_ id: String, outcome: String = Undo.removed, now: Date) async throws -> Action? {
        try await undo(
            id, "",
            """
            state = 'undone', reason = undo_reason, undo_next_ms = NULL, undo_outcome = \(outcome),
            updated_ms = \(now.milliseconds)
            """, now: now)
    }

    /// Records that a request to take an action back did nothing.
    ///
    /// - Parameters:
    ///   - next: When to try again; nil for never, until somebody asks anew.
    /// - Returns: The action as it is stored then; nil if it is taken back meanwhile.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    @discardableResult
    package func undoFailed(_ id: String, _ error: String, next: Date?, now: Date) async throws -> Action? {
        try await undo(id, "", "undo_next_ms = \(next?.milliseconds), undo_outcome = \(error)", now: now)
    }

    /// Lets all wishes of some kinds wait: the network takes no more of them for a while.
    package func putOffUndos(_ kinds: [ActionKind], until time: Date, now: Date) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                UPDATE actions SET undo_next_ms = \(time.milliseconds), undo_noted_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND undo_next_ms IS NOT NULL AND undo_next_ms < \(time.milliseconds)
                    AND state = 'done' AND kind IN \(list: kinds.map(\.rawValue))
                """)
        }
    }

    /// Changes what is known about a wish whose action happened.
    private func undo(_ id: String, _ condition: SQL, _ assignments: SQL, now: Date) async throws -> Action? {
        try await write { connection in
            let changed = try connection.execute(
                """
                UPDATE actions SET \(assignments), undo_noted_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(id) AND state = 'done' AND undo_asked_ms IS NOT NULL \(condition)
                """)
            return changed == 1 ? try action(id, on: connection) : nil
        }
    }

    /// When a network that takes `pace` may be asked for another one of these kinds, by what was taken back so far.
    ///
    /// Told by the table, so that a restart, or another process, changes nothing.
    package func nextRoom(_ kinds: [ActionKind], within pace: Pace, now: Date) async throws -> Date {
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

// MARK: What there is to take back

/// How many wishes stand, and how.
package struct UndoTally: Equatable, Sendable {
    /// To be carried out.
    package var waiting = 0
    /// Of actions of which nobody knows yet whether they happened.
    package var remembered = 0
    /// The network does not let us, and is not asked any more.
    package var refused = 0
    /// Copies of what the human deleted or changed, about which a person is asked.
    package var proposed = 0

    package init(waiting: Int = 0, remembered: Int = 0, refused: Int = 0, proposed: Int = 0) {
        (self.waiting, self.remembered, self.refused, self.proposed) = (waiting, remembered, refused, proposed)
    }
}

extension OutboxStore {
    /// What this account did, or may have done, and nobody has taken back, the last first.
    ///
    /// - Parameters:
    ///   - start: When the first request left at the earliest; nil for all.
    ///   - unasked: Without what somebody has asked to take back already.
    package func undoable(
        _ kinds: [ActionKind], since start: Date?, unasked: Bool = false, limit: Int
    ) async throws -> [Action] {
        let unwished: SQL = unasked ? "undo_asked_ms IS NULL AND " : ""
        return try await actions(
            where: """
                \(unwished)kind IN \(list: kinds.map(\.rawValue)) AND sending_ms >= \(start?.milliseconds ?? 0)
                AND (state IN ('sending', 'done') OR \(Self.unsettled) AND next_attempt_ms IS NOT NULL)
                AND COALESCE(undo_outcome, '') <> \(Undo.rebound)
                """,
            order: "sending_ms DESC, id ASC", limit: limit)
    }

    /// What is to be taken back and is not yet, the oldest wish first; of many the first ten thousand.
    package func wantedUndos() async throws -> [Action] {
        try await actions(
            where: "undo_next_ms IS NOT NULL AND \(Self.awaitingUndo)", order: "undo_asked_ms ASC, id ASC",
            limit: 10_000)
    }

    /// The columns of an ``UndoTally``, for a statement that asks for other numbers too.
    package var undoNumbers: SQL {
        """
        (SELECT COUNT(*) FROM actions
                WHERE mirror = \(mirror) AND undo_next_ms IS NOT NULL AND state = 'done') AS undo_waiting,
            (SELECT COUNT(*) FROM actions WHERE mirror = \(mirror) AND undo_next_ms IS NOT NULL
                AND state <> 'done' AND \(Self.awaitingUndo)) AS undo_remembered,
            (SELECT COUNT(*) FROM actions WHERE mirror = \(mirror) AND state = 'done'
                AND undo_asked_ms IS NOT NULL AND undo_next_ms IS NULL) AS undo_refused,
            (SELECT COUNT(*) FROM actions WHERE mirror = \(mirror) AND \(Self.isProposed)) AS undo_proposed
        """
    }

    /// What happened or may have.
    private static let awaitingUndo: SQL = """
        (state IN ('sending', 'done') OR (\(unsettled) AND next_attempt_ms IS NOT NULL))
        """
}

extension UndoTally {
    /// Reads the columns of ``OutboxStore/undoNumbers``.
    ///
    /// - Throws: `StorageError` if one of them is missing.
    package init(row: SQLRow) throws {
        self.init(
            waiting: try row.int("undo_waiting"), remembered: try row.int("undo_remembered"),
            refused: try row.int("undo_refused"), proposed: try row.int("undo_proposed"))
    }
}

extension Action {
    /// What a wish to take the action back leads to.
    fileprivate var undoAnswer: UndoAnswer {
        switch state {
        case .planned, .claimed, .suggested: .withheld
        case .sending: .remembered
        case .done: isOfAnotherAccount ? .outOfReach : .asked
        case .undone: .already
        case .failed where isUnsettled && nextAttempt != nil: .remembered
        case .skipped, .expired, .failed: .nothing
        }
    }

    /// What that changes in the row; nil for nothing.
    fileprivate func changes(for answer: UndoAnswer, reason: String, now: Date) -> SQL? {
        let wish: SQL = """
            undo_reason = \(reason), undo_asked_ms = \(now.milliseconds), undo_next_ms = \(now.milliseconds),
            undo_noted_ms = \(now.milliseconds)
            """
        switch answer {
        case .withheld:
            return """
                state = 'skipped', reason = \(reason), next_attempt_ms = NULL, \(OutboxStore.settled), undo_reason = \(reason),
                undo_asked_ms = \(now.milliseconds), updated_ms = \(now.milliseconds)
                """
        // Its time of change stays: of what was sent it tells when to look for it, and nothing happened yet.
        case .remembered: return undo == nil ? wish : nil
        case .asked: return undo?.next == nil ? wish : nil
        case .already, .nothing, .outOfReach, .unknown: return nil
        }
    }

    /// Whether somebody wants it taken back, and it may be yet.
    var awaitsUndo: Bool { undo?.next != nil && [.asked, .remembered].contains(undoAnswer) }

    /// Whether it ended without anybody knowing if it happened, and may yet turn out to have.
    private var isUnsettled: Bool {
        state == .failed && [Reason.unconfirmed, Reason.duplicate].contains(reason)
    }
}
