package import Foundation
import Posts
import Storage

/// What time does to actions.
extension OutboxStore {
    /// The planned actions whose time has come and is not over, oldest first.
    ///
    /// What an earlier worker took and did not send is among them.
    ///
    /// - Parameters:
    ///   - heard: As for ``Action/mayLeave(heard:at:)``.
    package func due(
        _ kinds: [ActionKind], heard: Date? = .distantFuture, now: Date, limit: Int = 20
    ) async throws -> [Action] {
        // What has to wait leaves its place to what can be sent.
        try await actions(
            where: """
                state IN ('planned', 'claimed') AND kind IN \(list: kinds.map(\.rawValue))
                AND due_ms <= \(now.milliseconds) AND COALESCE(next_attempt_ms, 0) <= \(now.milliseconds)
                AND expires_ms >= \(now.milliseconds) AND \(Self.mayLeave(heard: heard, at: now))
                """,
            order: "due_ms ASC, id ASC", limit: limit)
    }

    /// As ``Action/mayLeave(heard:at:)``.
    private static func mayLeave(heard: Date?, at now: Date) -> SQL {
        """
        (kind <> 'reply' OR created_ms <= \((heard ?? .distantPast).milliseconds)
            OR created_ms NOT BETWEEN \((now - Action.hearing).milliseconds + 1) AND \(now.milliseconds))
        """
    }

    /// When the next action wants attention, in one look at the table.
    ///
    /// Of these kinds, what is to be sent or to be marked as expired; of all kinds, what nobody knows the outcome of,
    /// what is to be taken back, and threads that go on.
    ///
    /// - Parameters:
    ///   - heard: As for ``Action/mayLeave(heard:at:)``: what waits for that wants no attention until it may leave.
    ///   - wait: How long after its request an action is looked up that says nothing else, in seconds.
    ///   - now: A request that is said to have left later than this wants attention at once: a clock was set.
    /// - Returns: A time that may have passed; nil if nothing is left to do.
    package func nextAttention(
        _ kinds: [ActionKind], heard: Date? = .distantFuture, lookUpAfter wait: TimeInterval, now: Date
    ) async throws -> Date? {
        let names = kinds.map(\.rawValue)
        let milliseconds = Int64(wait * 1_000)
        let rows = try await storage.query(
            """
            SELECT
                (SELECT MIN(CASE WHEN state = 'suggested' OR next_attempt_ms > expires_ms THEN expires_ms + 1
                    WHEN next_attempt_ms > due_ms THEN next_attempt_ms ELSE due_ms END)
                FROM actions WHERE mirror = \(mirror) AND state IN ('planned', 'claimed', 'suggested')
                    AND kind IN \(list: names) AND \(Self.mayLeave(heard: heard, at: now))) AS due_ms,
                (SELECT MIN(CASE WHEN updated_ms > \(now.milliseconds) THEN CAST(\(now.milliseconds) AS BIGINT)
                    ELSE COALESCE(next_attempt_ms, COALESCE(sending_ms, updated_ms) + \(milliseconds)) END)
                FROM actions WHERE mirror = \(mirror) AND state = 'sending') AS look_ms,
                (SELECT MIN(next_attempt_ms) FROM actions
                WHERE mirror = \(mirror) AND \(Self.unsettled) AND next_attempt_ms IS NOT NULL) AS sighting_ms,
                \(nextUndo(at: now)) AS undo_ms,
                (SELECT MIN(CAST(\(now.milliseconds) AS BIGINT)) FROM actions
                WHERE mirror = \(mirror) AND \(Self.mayGoOn)) AS thread_ms
            """)
        return try rows.first.flatMap { row in
            try ["due_ms", "look_ms", "sighting_ms", "undo_ms", "thread_ms"].compactMap { try row.optionalDate($0) }
                .min()
        }
    }

    /// Marks what was to be sent, or decided by a person, and no longer may.
    ///
    /// What is marked is not caught up with later: after an outage nothing comes in a burst.
    ///
    /// - Returns: The actions that expired now.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func expire(now: Date) async throws -> [Action] {
        let overdue: SQL = """
            state IN ('planned', 'claimed', 'suggested') AND expires_ms < \(now.milliseconds)
            """
        // Most of the time there is nothing, and reading takes no lock.
        guard try await !actions(where: overdue, order: "due_ms ASC, id ASC", limit: 1).isEmpty else { return [] }
        return try await write { connection in
            let ending = try actions(where: overdue, order: "due_ms ASC, id ASC", limit: 100_000, on: connection)
            try connection.execute(
                """
                UPDATE actions SET state = 'expired', updated_ms = \(now.milliseconds), next_attempt_ms = NULL,
                    \(Self.settled),
                    reason = COALESCE(reason, CASE state WHEN 'suggested' THEN \(Action.Reason.undecided)
                        ELSE \(Action.Reason.tooLate) END)
                WHERE mirror = \(mirror) AND \(overdue)
                """)
            try noteUses(by: ending, on: connection)
            return ending.map { $0.expired(at: now) }
        }
    }
}

extension Action {
    /// How long an answer waits for the mentions to be read to their end, in seconds; then they cannot be read at all.
    fileprivate static let hearing: TimeInterval = 3_600

    /// Whether all that was said before an answer was decided has been read, or cannot be: its author may have asked to
    /// stop on a later page.
    ///
    /// - Parameters:
    ///   - heard: When the mentions were last read to their end; nil if they were not yet.
    /// - Returns: True for what is no answer.
    package func mayLeave(heard: Date?, at now: Date) -> Bool {
        // A row knows milliseconds.
        kind != .reply || created.milliseconds <= (heard ?? .distantPast).milliseconds
            || !(0..<Self.hearing).contains(now.timeIntervalSince(created))
    }

    /// The same action, marked as the table marks it.
    fileprivate func expired(at now: Date) -> Action {
        var expired = self
        expired.state = .expired
        expired.updated = Date(milliseconds: now.milliseconds)
        expired.nextAttempt = nil
        expired.reason = reason ?? (state == .suggested ? Reason.undecided : Reason.tooLate)
        return expired
    }
}

// MARK: Being late

/// Posts whose minute passed while nobody could send them.
///
/// They do not leave in a burst. Everything is decided from the table, so that a restart or another worker changes
/// nothing.
extension OutboxStore {
    /// From when on a post is late: seconds after its time.
    package static let lateness: TimeInterval = 60
    /// How long after any other post a late one leaves at the earliest, in seconds.
    package static let lateSpacing: TimeInterval = 60
    /// The most late posts that leave after one outage, which is within the time that a slot is waited for.
    package static let lateAtMost = 3

    /// Leaves of the posts that are due those that may leave now.
    ///
    /// A late one waits until a minute after the last that left, and each further one a minute more; what is too many
    /// expires. Whatever is no post, or not late, passes.
    ///
    /// - Parameters:
    ///   - due: Planned actions whose time has come, oldest first.
    /// - Returns: What may leave now, in the same order, and what expired.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func spreadLate(_ due: [Action], now: Date) async throws -> (ready: [Action], expired: [Action]) {
        let late = due.filter { $0.kind == .post && now.timeIntervalSince($0.due) > Self.lateness }
        guard !late.isEmpty else { return (due, []) }
        let grace = late.map { $0.expires.timeIntervalSince($0.due) }.max() ?? 0
        let queue = try await lateQueue(since: now - grace, now: now)
        var next = queue.next
        var room = queue.room
        var held: Set<String> = []
        var expired: [Action] = []
        for action in late {
            if room <= 0 {
                expired.append(try await end(action, as: .expired, reason: Action.Reason.tooManyLate, now: now))
                held.insert(action.id)
            } else if next > now {
                try await putOff(action, until: next, now: now)
                held.insert(action.id)
            }
            room -= 1
            next += Self.lateSpacing
        }
        return (due.filter { !held.contains($0.id) }, expired)
    }

    /// When a late post may be sent again whose answer was lost; it counts as one of the few that leave late.
    ///
    /// - Returns: A time that may have come; nil if too many leave late already.
    func lateTurn(of post: Action, now: Date) async throws -> Date? {
        guard post.kind == .post, now.timeIntervalSince(post.due) > Self.lateness else { return now }
        let grace = post.expires.timeIntervalSince(post.due)
        let queue = try await lateQueue(since: now - grace, besides: post.id, now: now)
        return queue.room > 0 ? queue.next : nil
    }

    /// When the next late post may leave, and how many more may, by those that left, may have, or wait for their turn since
    /// `start`.
    private func lateQueue(
        since start: Date, besides id: String? = nil, now: Date
    ) async throws -> (next: Date, room: Int) {
        // What lies in the future was dated by a clock that was set since.
        let end = (now + Self.lateSpacing).milliseconds
        let lateness = Int64(Self.lateness * 1_000)
        let left: SQL = """
            COALESCE(departed_ms, sending_ms) BETWEEN \(start.milliseconds) AND \(end)
            AND (state IN ('sending', 'done', 'undone') OR \(Self.unsettled))
            """
        let waiting: SQL = """
            state IN ('planned', 'claimed') AND next_attempt_ms > \(now.milliseconds)
            AND due_ms < \(now.milliseconds - lateness) AND expires_ms >= next_attempt_ms
            """
        let rows = try await storage.query(
            """
            SELECT MAX(CASE WHEN \(left) THEN COALESCE(departed_ms, sending_ms) END) AS latest_ms,
                COUNT(CASE WHEN \(left) AND COALESCE(departed_ms, sending_ms) - due_ms > \(lateness)
                    OR \(waiting) THEN 1 END) AS taken
            FROM actions
            WHERE mirror = \(mirror) AND kind = 'post' AND updated_ms >= \(start.milliseconds)
                AND id <> \(id ?? "")
            """)
        let latest = try rows.first?.optionalDate("latest_ms")
        return (
            max(latest.map { $0 + Self.lateSpacing } ?? now, now),
            Self.lateAtMost - (try rows.first?.int("taken") ?? 0)
        )
    }

    /// Lets a planned action wait.
    private func putOff(_ action: Action, until time: Date, now: Date) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                UPDATE actions SET next_attempt_ms = \(time.milliseconds), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id) AND state IN ('planned', 'claimed')
                """)
        }
    }
}

// MARK: Being over

/// Throwing away what is too old to matter.
extension OutboxStore {
    /// How many rows leave in one transaction: beats and deliveries get their turn between two.
    private static let batch = 500
    /// How many transactions one call makes at most: after years without cleaning the next call goes on.
    private static let batches = 20

    /// Deletes plans and ended actions that were last changed before `time`, a few thousand at most.
    ///
    /// What is still to be looked for or taken back stays, and so does what was sent to a person: nobody gets the same answer twice
    /// because the first one was forgotten. Caps and texts that must not be repeated are the caller's matter: `time` lies
    /// before all that they ask for.
    ///
    /// - Parameter time: What was changed later stays.
    /// - Returns: How many rows were deleted.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    @discardableResult
    package func clean(before time: Date) async throws -> Int {
        var total = 0
        for _ in 0..<Self.batches {
            let deleted = try await cleanSome(before: time)
            total += deleted
            if deleted < Self.batch { break }
        }
        return total
    }

    /// Deletes one batch, in one transaction.
    private func cleanSome(before time: Date) async throws -> Int {
        // Most of the time there is nothing, and reading takes no lock.
        let first = try await storage.read { try outdated(time, limit: 1, on: $0) }
        guard !first.actions.isEmpty || !first.plans.isEmpty else { return 0 }
        return try await write { connection in
            let (actions, plans) = try outdated(time, limit: Self.batch, on: connection)
            for part in actions.portions {
                try keepUses(of: part, on: connection)
                try connection.execute("DELETE FROM actions WHERE mirror = \(mirror) AND id IN \(list: part)")
            }
            for part in plans.portions {
                try connection.execute("DELETE FROM plans WHERE mirror = \(mirror) AND local_day IN \(list: part)")
            }
            return actions.count + plans.count
        }
    }

    /// Notes with the archived posts how often actions used their texts that are about to be deleted.
    private func keepUses(of ids: [String], on connection: any StorageConnection) throws {
        let rows = try connection.query(
            """
            SELECT source_network, source_post_id, COUNT(*) AS number FROM actions
            WHERE mirror = \(mirror) AND id IN \(list: ids) AND kind = 'post' AND source_post_id IS NOT NULL
                AND \(Self.using)
            GROUP BY source_network, source_post_id
            """)
        for row in rows {
            try connection.execute(
                """
                UPDATE posts SET past_uses = past_uses + \(try row.int("number"))
                WHERE mirror = \(mirror) AND network = \(try row.text("source_network"))
                    AND post_id = \(try row.text("source_post_id"))
                """)
        }
    }

    private func outdated(
        _ time: Date, limit: Int, on connection: any StorageConnection
    ) throws -> (actions: [String], plans: [String]) {
        let day = LocalTime(time, in: .gmt).day.advanced(by: -1).description
        let actions = try connection.query(
            """
            SELECT id FROM actions
            WHERE mirror = \(mirror) AND updated_ms < \(time.milliseconds) AND due_ms < \(time.milliseconds)
                AND state IN ('done', 'skipped', 'expired', 'failed', 'undone')
                AND NOT (state = 'failed' AND next_attempt_ms IS NOT NULL)
                AND NOT (state = 'done' AND undo_next_ms IS NOT NULL)
                AND NOT (kind = 'reply' AND source_post_id IS NOT NULL AND \(Self.using))
            ORDER BY updated_ms LIMIT \(limit)
            """)
        let plans = try connection.query(
            """
            SELECT local_day FROM plans WHERE mirror = \(mirror) AND local_day < \(day)
            ORDER BY local_day LIMIT \(limit - actions.count)
            """)
        return (try actions.map { try $0.text("id") }, try plans.map { try $0.text("local_day") })
    }
}
