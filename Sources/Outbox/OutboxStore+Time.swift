package import Foundation
import Posts
package import Storage

/// Due times and expiry of actions.
extension OutboxStore {
    /// Returns the due actions that have not expired, oldest first; none without consent or while
    /// the human's account is away, and only the last post after the mirror has retired.
    ///
    /// They include actions that an earlier worker claimed and did not send.
    ///
    /// - Parameters:
    ///   - mentionsRead: When the mentions were last read completely; see
    ///     ``Action/mayLeave(mentionsRead:at:)``.
    package func due(
        _ kinds: [ActionKind], mentionsRead: Date? = .distantFuture, now: Date, limit: Int = 20
    ) async throws -> [Action] {
        try await dueAsOf(kinds, mentionsRead: mentionsRead, now: now, limit: limit).actions
    }

    /// Returns the due actions with ``wishVersion()`` at the moment when they were read.
    package func dueAsOf(
        _ kinds: [ActionKind], mentionsRead: Date? = .distantFuture, now: Date, limit: Int = 20
    ) async throws -> (actions: [Action], version: Int64) {
        // Actions that must wait are excluded, so that they do not use up the limit.
        let condition: SQL = """
            state IN ('planned', 'claimed') AND kind IN \(list: kinds.map(\.rawValue))
            AND due_ms <= \(now.milliseconds) AND COALESCE(next_attempt_ms, 0) <= \(now.milliseconds)
            AND expires_ms >= \(now.milliseconds) AND \(Self.mayLeave(mentionsRead: mentionsRead, at: now))
            AND \(isPermitted(at: now))
            """
        let rows = try await storage.query(
            """
            SELECT \(Action.columns), \(selectedVersion) FROM actions WHERE mirror = \(mirror) AND \(condition)
            ORDER BY due_ms ASC, id ASC LIMIT \(limit)
            """)
        return (try rows.compactMap(Self.action(of:)), try rows.first?.integer("wish_version") ?? 0)
    }

    /// As ``Action/mayLeave(mentionsRead:at:)``.
    private static func mayLeave(mentionsRead: Date?, at now: Date) -> SQL {
        """
        (kind <> 'reply' OR created_ms <= \((mentionsRead ?? .distantPast).milliseconds)
            OR created_ms NOT BETWEEN \((now - Action.longestWaitForMentions).milliseconds + 1) AND \(now.milliseconds))
        """
    }

    /// The times of the next work by sort; nil for no work; a time may be in the past.
    package struct NextWorkTimes: Equatable, Sendable {
        /// Sending an action of the requested kinds, or marking it as expired.
        package var sending: Date?
        /// Sending a post that has not expired, regardless of the requested kinds.
        package var post: Date?
        /// Marking an action as expired, regardless of the requested kinds.
        package var expiry: Date?
        /// Looking up an action whose answer was lost, or one that ended unconfirmed.
        package var lookUp: Date?
        /// Undoing an action.
        package var undo: Date?
        /// Continuing a thread.
        package var thread: Date?
        /// Examining an effect of an interrupted command; not included in ``next``.
        package var effect: Date?
        /// The mirror's retirement, which has begun if the time is past; not included in ``next``.
        package var retirement: Date?
        /// Whether replies wait until mentions are read.
        package var waitsForMentions = false

        package init() {}

        /// The first time at which there is work for the requested kinds.
        ///
        /// ``post`` and ``expiry`` also belong to kinds that were not requested, and wait for the
        /// workers that send those.
        package var next: Date? { [sending, lookUp, undo, thread].compactMap(\.self).min() }
    }

    /// Seconds after which an effect that was given up is forgotten.
    package static let effectMemory: TimeInterval = 400 * 86_400
    /// The longest plausible wait of an effect, in seconds: a longer one comes from a wrong clock,
    /// because no retry rule waits so long.
    package static let longestEffectWait: TimeInterval = 2 * 86_400

    /// An SQL expression for the time at which an effect of an interrupted command is examined
    /// next; null for none.
    ///
    /// It is read with the other times, so that it costs no statement of its own.
    package static func nextEffect(of mirror: SQL, at now: Date) -> SQL {
        """
        (SELECT MIN(CASE WHEN next_ms IS NULL THEN begun_ms + \(Int64(effectMemory * 1_000))
            WHEN next_ms > \((now + longestEffectWait).milliseconds)
                THEN CAST(\(now.milliseconds) AS BIGINT)
            ELSE next_ms END) FROM effects WHERE mirror = \(mirror))
        """
    }

    /// Returns the first of the times of ``nextWorkTimes(_:mentionsRead:lookUpAfter:now:)``; nil if
    /// nothing is due.
    package func nextWorkTime(
        _ kinds: [ActionKind], mentionsRead: Date? = .distantFuture, lookUpAfter wait: TimeInterval,
        now: Date
    ) async throws -> Date? {
        try await nextWorkTimes(kinds, mentionsRead: mentionsRead, lookUpAfter: wait, now: now).next
    }

    /// Returns the times of the next work, with one query.
    ///
    /// It covers sending and expiry of these kinds, and for all kinds look-ups, undo, and threads
    /// to continue. Without consent, while the human's account is away, or after the mirror has
    /// retired, waiting actions are only marked as expired.
    ///
    /// - Parameters:
    ///   - mentionsRead: When the mentions were last read completely; see
    ///     ``Action/mayLeave(mentionsRead:at:)``. Replies that wait for a later reading are
    ///     ignored.
    ///   - wait: Seconds after a request until its look-up, unless the action has its own time.
    ///   - now: The present; a request with a later time is due at once, because a clock was set.
    package func nextWorkTimes(
        _ kinds: [ActionKind], mentionsRead: Date? = .distantFuture, lookUpAfter wait: TimeInterval,
        now: Date
    ) async throws -> NextWorkTimes {
        let milliseconds = Int64(wait * 1_000)
        let mayLeave = Self.mayLeave(mentionsRead: mentionsRead, at: now)
        let isPermitted = isPermitted(at: now)
        let isRequestedKind: SQL = "kind IN \(list: kinds.map(\.rawValue)) AND \(mayLeave)"
        let rows = try await storage.query(
            """
            SELECT due_ms, post_ms, expiry_ms, waiting_for_mentions,
                (SELECT MIN(CASE WHEN updated_ms > \(now.milliseconds) THEN CAST(\(now.milliseconds) AS BIGINT)
                    ELSE COALESCE(next_attempt_ms, COALESCE(sending_ms, updated_ms) + \(milliseconds)) END)
                FROM actions WHERE mirror = \(mirror) AND state = 'sending') AS look_ms,
                (SELECT MIN(next_attempt_ms) FROM actions
                WHERE mirror = \(mirror) AND \(Self.unsettled) AND next_attempt_ms IS NOT NULL) AS sighting_ms,
                \(nextUndo(at: now)) AS undo_ms,
                (SELECT MIN(CAST(\(now.milliseconds) AS BIGINT)) FROM actions
                WHERE mirror = \(mirror) AND \(Self.hasPartsToFollow)) AS thread_ms,
                \(Self.nextEffect(of: "\(mirror)", at: now)) AS effect_ms,
                \(retirement(at: now)) AS retire_ms
            FROM (
                SELECT MIN(CASE WHEN \(isRequestedKind) THEN CASE
                        WHEN state = 'suggested' OR next_attempt_ms > expires_ms OR NOT \(isPermitted)
                        THEN expires_ms + 1
                        WHEN next_attempt_ms > due_ms THEN next_attempt_ms ELSE due_ms END END) AS due_ms,
                    MIN(CASE WHEN kind = 'post' AND state <> 'suggested' AND expires_ms >= \(now.milliseconds)
                        AND \(isPermitted) THEN CASE WHEN next_attempt_ms > due_ms THEN next_attempt_ms ELSE due_ms END END) AS post_ms,
                    MIN(expires_ms) + 1 AS expiry_ms,
                    COUNT(CASE WHEN state = 'planned' AND NOT \(mayLeave) THEN 1 END) AS waiting_for_mentions
                FROM actions WHERE mirror = \(mirror) AND state IN ('planned', 'claimed', 'suggested')
            ) AS waiting
            """)
        var nextWorkTimes = NextWorkTimes()
        guard let row = rows.first else { return nextWorkTimes }
        nextWorkTimes.sending = try row.optionalDate("due_ms")
        nextWorkTimes.post = try row.optionalDate("post_ms")
        nextWorkTimes.expiry = try row.optionalDate("expiry_ms")
        nextWorkTimes.lookUp = try ["look_ms", "sighting_ms"].compactMap {
            try row.optionalDate($0)
        }
        .min()
        nextWorkTimes.undo = try row.optionalDate("undo_ms")
        nextWorkTimes.thread = try row.optionalDate("thread_ms")
        nextWorkTimes.effect = try row.optionalDate("effect_ms")
        nextWorkTimes.retirement = try row.optionalDate("retire_ms")
        nextWorkTimes.waitsForMentions = try row.int("waiting_for_mentions") > 0
        return nextWorkTimes
    }

    /// Marks planned and suggested actions as expired whose time has passed.
    ///
    /// They are not sent later, so an outage is not followed by a burst.
    ///
    /// - Returns: The actions that expired now.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func expire(now: Date) async throws -> [Action] {
        let overdue: SQL = """
            state IN ('planned', 'claimed', 'suggested') AND expires_ms < \(now.milliseconds)
            """
        // Usually there is nothing to do, and reading takes no lock.
        guard try await !actions(where: overdue, order: "due_ms ASC, id ASC", limit: 1).isEmpty
        else { return [] }
        return try await write { connection in
            let overdueActions = try actions(
                where: overdue, order: "due_ms ASC, id ASC", limit: 100_000, on: connection)
            try connection.execute(
                """
                \(Self.changing) state = 'expired', updated_ms = \(now.milliseconds), next_attempt_ms = NULL,
                    \(Self.settled),
                    reason = COALESCE(reason, CASE state WHEN 'suggested' THEN \(Action.Reason.undecided)
                        ELSE \(Action.Reason.tooLate) END)
                WHERE mirror = \(mirror) AND \(overdue)
                """)
            try noteUses(by: overdueActions, on: connection)
            return overdueActions.map { $0.expired(at: now) }
        }
    }
}

extension Action {
    /// The maximum time, in seconds, for which a reply waits until all mentions are read.
    ///
    /// A mention may be answered for as long, so only a reply that was approved later is sent
    /// before they are read.
    fileprivate static let longestWaitForMentions: TimeInterval = 86_400

    /// Whether all mentions from before the decision were read, or the reply has waited a day for
    /// them.
    ///
    /// A mention that is not read yet may be the author's request to stop.
    ///
    /// - Parameters:
    ///   - mentionsRead: When the mentions were last read completely; nil for never.
    /// - Returns: Always true for other kinds than replies.
    package func mayLeave(mentionsRead: Date?, at now: Date) -> Bool {
        // Rows have a resolution of milliseconds.
        kind != .reply || created.milliseconds <= (mentionsRead ?? .distantPast).milliseconds
            || !(0..<Self.longestWaitForMentions).contains(now.timeIntervalSince(created))
    }

    /// Returns the action as the table contains it after its expiry.
    fileprivate func expired(at now: Date) -> Action {
        var expired = self
        expired.state = .expired
        expired.updated = Date(milliseconds: now.milliseconds)
        expired.revision += 1
        expired.nextAttempt = nil
        expired.reason = reason ?? .outbox(state == .suggested ? .undecided : .tooLate)
        return expired
    }
}

// MARK: Late posts

/// Posts whose minute passed during an outage.
///
/// They are not sent in a burst. Decisions depend only on the table, so a restart or another worker
/// does not change them.
extension OutboxStore {
    /// Seconds after its time from which a post is late.
    package static let lateness: TimeInterval = 60
    /// Minimum seconds between a late post and any other post.
    package static let lateSpacing: TimeInterval = 60
    /// Maximum of late posts sent after one outage, which fits into the time until a slot expires.
    package static let maximumLatePosts = 3

    /// Selects the due posts that may be sent now.
    ///
    /// A late post is sent a minute after the last sent post, each further one a minute later, and
    /// the excess expires. Other kinds and punctual posts pass.
    ///
    /// - Parameters:
    ///   - due: Due actions, oldest first.
    /// - Returns: The actions to send now, in the same order, and the expired ones.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func spreadLate(_ due: [Action], now: Date) async throws -> (
        ready: [Action], expired: [Action]
    ) {
        let late = due.filter { $0.kind == .post && now.timeIntervalSince($0.due) > Self.lateness }
        guard !late.isEmpty else { return (due, []) }
        let grace = late.map { $0.expires.timeIntervalSince($0.due) }.max() ?? 0
        let queue = try await lateQueue(since: now - grace, now: now)
        var next = queue.next
        var remaining = queue.remaining
        var postponedIDs: Set<String> = []
        var expired: [Action] = []
        for action in late {
            if remaining <= 0 {
                expired.append(
                    try await drop(
                        action, as: .expired, reason: .tooManyLate, now: now))
                postponedIDs.insert(action.id)
            } else if next > now {
                try await putOff(action, until: next, now: now)
                postponedIDs.insert(action.id)
            }
            remaining -= 1
            next += Self.lateSpacing
        }
        return (due.filter { !postponedIDs.contains($0.id) }, expired)
    }

    /// Returns when a late post may be sent again after a lost answer; it counts as one of the late
    /// posts.
    ///
    /// - Returns: A time, possibly in the past; nil if there are too many late posts already.
    func lateTurn(of post: Action, now: Date) async throws -> Date? {
        guard post.kind == .post, now.timeIntervalSince(post.due) > Self.lateness else {
            return now
        }
        let grace = post.expires.timeIntervalSince(post.due)
        let queue = try await lateQueue(since: now - grace, besides: post.id, now: now)
        return queue.remaining > 0 ? queue.next : nil
    }

    /// Returns the time of the next late post, and how many more may be sent, counting those sent,
    /// possibly sent or waiting since `start`.
    private func lateQueue(
        since start: Date, besides id: String? = nil, now: Date
    ) async throws -> (next: Date, remaining: Int) {
        // A time in the future comes from a clock that was set since.
        let end = (now + Self.lateSpacing).milliseconds
        let lateness = Int64(Self.lateness * 1_000)
        let wasSent: SQL = """
            COALESCE(departed_ms, sending_ms) BETWEEN \(start.milliseconds) AND \(end)
            AND (state IN ('sending', 'done', 'undone') OR \(Self.unsettled))
            """
        let waiting: SQL = """
            state IN ('planned', 'claimed') AND next_attempt_ms > \(now.milliseconds)
            AND due_ms < \(now.milliseconds - lateness) AND expires_ms >= next_attempt_ms
            """
        let rows = try await storage.query(
            """
            SELECT MAX(CASE WHEN \(wasSent) THEN COALESCE(departed_ms, sending_ms) END) AS latest_ms,
                COUNT(CASE WHEN \(wasSent) AND COALESCE(departed_ms, sending_ms) - due_ms > \(lateness)
                    OR \(waiting) THEN 1 END) AS taken
            FROM actions
            WHERE mirror = \(mirror) AND kind = 'post' AND updated_ms >= \(start.milliseconds)
                AND id <> \(id ?? "")
            """)
        let latest = try rows.first?.optionalDate("latest_ms")
        let next = latest.map { max($0 + Self.lateSpacing, now) } ?? now
        let takenCount = try rows.first?.int("taken") ?? 0
        return (
            next: next, remaining: Self.maximumLatePosts - takenCount
        )
    }

    /// Postpones a planned action.
    private func putOff(_ action: Action, until time: Date, now: Date) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                \(Self.changing) next_attempt_ms = \(time.milliseconds), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id) AND \(Self.isStill(action))
                """)
        }
    }
}

// MARK: Cleaning

/// Cleaning of old plans and actions.
extension OutboxStore {
    /// Rows deleted in one transaction, so that heartbeats and deliveries can run in between.
    private static let batchSize = 500
    /// Maximum of transactions in one call; the next call continues.
    private static let maximumBatches = 20

    /// Deletes plans and ended actions that were last changed before `time`, a few thousand at
    /// most.
    ///
    /// Actions to look up or undo stay, and so do replies, so that nobody gets the same reply
    /// twice. The caller chooses `time` before all periods of caps and repeats.
    ///
    /// - Parameter time: Actions that were changed at this time or later stay.
    /// - Returns: The number of deleted rows.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    @discardableResult
    package func clean(before time: Date) async throws -> Int {
        var total = 0
        for _ in 0..<Self.maximumBatches {
            let deleted = try await cleanSome(before: time)
            total += deleted
            if deleted < Self.batchSize { break }
        }
        return total
    }

    /// Deletes one batch in one transaction.
    private func cleanSome(before time: Date) async throws -> Int {
        // Usually there is nothing to do, and reading takes no lock.
        let first = try await storage.read { try outdated(before: time, limit: 1, on: $0) }
        guard !first.actions.isEmpty || !first.plans.isEmpty else { return 0 }
        return try await write { connection in
            let (actions, plans) = try outdated(before: time, limit: Self.batchSize, on: connection)
            for portion in actions.portions {
                try keepUses(of: portion, on: connection)
                try connection.execute(
                    "DELETE FROM actions WHERE mirror = \(mirror) AND id IN \(list: portion)")
            }
            for portion in plans.portions {
                try connection.execute(
                    "DELETE FROM plans WHERE mirror = \(mirror) AND local_day IN \(list: portion)")
            }
            return actions.count + plans.count
        }
    }

    /// Adds the uses by the deleted actions to the archived posts.
    private func keepUses(of ids: [String], on connection: any StorageConnection) throws {
        // SQLite would read all posts for a condition on the kind.
        let rows = try connection.query(
            """
            SELECT kind, source_network, source_post_id FROM actions
            WHERE mirror = \(mirror) AND id IN \(list: ids) AND source_post_id IS NOT NULL AND \(Self.countsAsUse)
            """)
        for row in rows where try row.text("kind") == ActionKind.post.rawValue {
            try connection.execute(
                """
                UPDATE posts SET past_uses = past_uses + 1
                WHERE mirror = \(mirror) AND network = \(try row.text("source_network"))
                    AND post_id = \(try row.text("source_post_id"))
                """)
        }
    }

    /// Returns the ids of actions and the days of plans that may be deleted, `limit` at most.
    private func outdated(
        before time: Date, limit: Int, on connection: any StorageConnection
    ) throws -> (actions: [String], plans: [String]) {
        let day = LocalTime(time, in: .gmt).day.advanced(by: -1).description
        let actions = try connection.query(
            """
            SELECT id FROM actions
            WHERE mirror = \(mirror) AND updated_ms < \(time.milliseconds) AND due_ms < \(time.milliseconds)
                AND state IN ('done', 'skipped', 'expired', 'failed', 'undone')
                AND NOT (state = 'failed' AND next_attempt_ms IS NOT NULL)
                AND NOT (state = 'done' AND undo_next_ms IS NOT NULL)
                AND NOT (kind = 'reply' AND source_post_id IS NOT NULL AND \(Self.countsAsUse))
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
