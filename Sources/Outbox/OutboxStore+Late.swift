package import Foundation
import Posts
import Storage

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
    ///   - now: The present.
    /// - Returns: What may leave now, in the same order, and what expired.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func spreadLate(_ due: [Action], now: Date) async throws -> (ready: [Action], expired: [Action]) {
        let late = due.filter { $0.kind == .post && now.timeIntervalSince($0.due) > Self.lateness }
        guard !late.isEmpty else { return (due, []) }
        let grace = late.map { $0.expires.timeIntervalSince($0.due) }.max() ?? 0
        let queue = try await lateQueue(since: now - grace, now: now)
        var next = max(queue.latest.map { $0 + Self.lateSpacing } ?? now, now)
        var room = Self.lateAtMost - queue.taken
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

    /// When the last post left, and how many late ones left, may have, or wait for their turn, since `start`.
    private func lateQueue(since start: Date, now: Date) async throws -> (latest: Date?, taken: Int) {
        let mirror = mirror
        // What lies in the future was dated by a clock that was set since.
        let end = (now + Self.lateSpacing).milliseconds
        let lateness = Int64(Self.lateness * 1_000)
        return try await storage.read { connection in
            let left: SQL = """
                sending_ms BETWEEN \(start.milliseconds) AND \(end)
                AND (state IN ('sending', 'done', 'undone') OR \(Self.unsettled))
                """
            let waiting: SQL = """
                state IN ('planned', 'claimed') AND next_attempt_ms > \(now.milliseconds)
                AND due_ms < \(now.milliseconds - lateness) AND expires_ms >= next_attempt_ms
                """
            let rows = try connection.query(
                """
                SELECT MAX(CASE WHEN \(left) THEN sending_ms END) AS latest_ms,
                    COUNT(CASE WHEN \(left) AND sending_ms - due_ms > \(lateness) OR \(waiting) THEN 1 END) AS taken
                FROM actions WHERE mirror = \(mirror) AND kind = 'post' AND updated_ms >= \(start.milliseconds)
                """)
            return (try rows.first?.optionalDate("latest_ms"), try rows.first?.int("taken") ?? 0)
        }
    }

    /// Lets a planned action wait.
    private func putOff(_ action: Action, until time: Date, now: Date) async throws {
        let (mirror, lease) = (mirror, lease)
        try await storage.transaction { connection in
            try Self.requireLease(lease, mirror, connection)
            try connection.execute(
                """
                UPDATE actions SET next_attempt_ms = \(time.milliseconds), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id) AND state IN ('planned', 'claimed')
                """)
        }
    }
}
