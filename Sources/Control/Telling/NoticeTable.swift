package import Foundation
package import Mirroring
import Posts
package import Storage

/// The notice state of one cause.
package struct NoticeRow: Equatable, Sendable {
    package let cause: NoticeCause
    /// The beginning of the condition; nil if it does not hold.
    package var since: Date?
    /// When a person was last notified that the condition holds.
    package var lastTold: Date?
    /// The reported beginning of a condition whose end is still to be reported.
    package var unresolvedSince: Date?
    /// The number of consecutive failed attempts to send.
    package var attempts = 0
    /// When the next attempt is allowed.
    package var nextAttempt: Date?

    /// The interval between two messages about one cause, in seconds.
    private static let day: TimeInterval = 86_400
    /// The largest step back of a clock, in seconds, after which stored times are still trusted.
    private static let clockSlack: TimeInterval = 3_600

    init(_ cause: NoticeCause) { self.cause = cause }

    /// Updates the row with a finding, and returns the notice to send.
    ///
    /// The attempt counts as failed until ``recordDelivery(of:)`` is called. So only one of two
    /// workers sends the notice, and if a process is killed before it has sent the notice, another
    /// attempt follows later.
    ///
    /// - Parameters:
    ///   - finding: The finding; nil if unknown.
    ///   - mirror: The mirror's name.
    ///   - now: The present.
    /// - Returns: The notice to send; nil for none, or not yet.
    mutating func take(_ finding: NoticeFinding?, mirror: String, now: Date) -> Notice? {
        switch finding {
        case nil: return nil
        case .holds(let begun, let detail, let isCertain):
            let since = since ?? min(begun, now)
            self.since = since
            let isDue = isCertain || now.timeIntervalSince(since) >= cause.secondsBeforeNotice
            guard isDue, !wasToldToday(now), mayTry(now) else { return nil }
            guard countAttempt(now) else {
                // After too many failures, the next attempt is a day later.
                lastTold = now
                return nil
            }
            let state: Notice.State = unresolvedSince == nil ? .began : .continues
            return Notice(cause, state, mirror: mirror, since: since, detail: detail, now: now)
        case .isOver:
            since = nil
            guard let unresolvedSince, mayTry(now) else { return nil }
            guard countAttempt(now) else {
                self.unresolvedSince = nil
                return nil
            }
            return Notice(
                cause, .resolved, mirror: mirror, since: unresolvedSince, detail: nil, now: now)
        }
    }

    /// Records that a notice was delivered.
    mutating func recordDelivery(of notice: Notice) {
        attempts = 0
        nextAttempt = nil
        if notice.state == .resolved {
            unresolvedSince = nil
        } else {
            lastTold = notice.at
            unresolvedSince = notice.since
        }
    }

    private func wasToldToday(_ now: Date) -> Bool {
        guard let lastTold else { return false }
        // A time that is further ahead than the slack was recorded before the clock was set back.
        return (-Self.clockSlack..<Self.day).contains(now.timeIntervalSince(lastTold))
    }

    private func mayTry(_ now: Date) -> Bool {
        guard let nextAttempt else { return true }
        // A time that is too far ahead was stored before the clock was set back.
        return now >= nextAttempt || nextAttempt.timeIntervalSince(now) > Self.clockSlack * 2
    }

    /// Counts an attempt; after too many, returns false and counts from 0 again.
    private mutating func countAttempt(_ now: Date) -> Bool {
        guard !RetryRule.notice.isOver(after: attempts) else {
            attempts = 0
            nextAttempt = nil
            return false
        }
        attempts += 1
        nextAttempt = RetryRule.notice.next(after: attempts, key: cause.rawValue, now: now)
        return true
    }
}

/// A delivered message.
package struct ToldNotice: Codable, Equatable, Sendable {
    package let at: Date
    package let cause: NoticeCause
    package let state: Notice.State
    /// The subject of the message, such as `a network cannot be reached`.
    package let title: String
    package let text: String
    /// The beginning of the condition.
    package let since: Date
}

/// The stored notice states of one mirror's causes.
package struct NoticeTable: Sendable {
    private let storage: any StorageEngine
    private let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// The mirrors with stored states.
    ///
    /// - Throws: The store's error.
    static func mirrors(in storage: any StorageEngine) async throws -> Set<String> {
        Set(
            try await storage.query(
                "SELECT mirror, COUNT(*) AS number FROM notices GROUP BY mirror"
            ).map {
                try $0.text("mirror")
            })
    }

    /// Reads the stored rows, in the order of ``NoticeCause``.
    ///
    /// - Throws: The store's error.
    package func rows() async throws -> [NoticeRow] { try await storage.read { try rows(on: $0) } }

    /// Updates the states with findings; of several concurrent processes only one gets each notice
    /// to send.
    ///
    /// Writes nothing if nothing changes.
    ///
    /// - Parameters:
    ///   - findings: The known findings; a missing cause is unknown.
    ///   - known: Rows that are newer in this process, which sent notices while the database was
    ///     unreachable.
    ///   - now: The present.
    /// - Returns: The notices to send, and all rows afterwards.
    /// - Throws: The store's error.
    func take(
        _ findings: [NoticeCause: NoticeFinding], knowing known: [NoticeRow] = [], now: Date
    ) async throws -> (notices: [Notice], rows: [NoticeRow]) {
        let mirror = mirror
        @Sendable func decide(
            _ connection: any StorageConnection
        ) throws -> (oldRows: [NoticeRow], newRows: [NoticeRow], notices: [Notice]) {
            let oldRows = try rows(on: connection)
            var notices: [Notice] = []
            let newRows = NoticeCause.allCases.compactMap { cause -> NoticeRow? in
                let stored =
                    known.first { $0.cause == cause } ?? oldRows.first { $0.cause == cause }
                guard stored != nil || findings[cause] != nil else { return nil }
                var row = stored ?? NoticeRow(cause)
                if let notice = row.take(findings[cause], mirror: mirror, now: now) {
                    notices.append(notice)
                }
                // A new row without any state is not stored.
                return row == NoticeRow(cause) && stored == nil ? nil : row
            }
            return (oldRows, newRows, notices)
        }
        let expected = try await storage.read { try decide($0) }
        if expected.oldRows == expected.newRows { return ([], expected.newRows) }
        return try await storage.transaction { connection in
            let (oldRows, newRows, notices) = try decide(connection)
            for row in newRows where !oldRows.contains(row) { try store(row, on: connection) }
            return (notices, newRows)
        }
    }

    /// Stores the state of a cause, and a delivered message about it.
    ///
    /// - Throws: The store's error.
    func store(_ row: NoticeRow, told notice: Notice) async throws {
        try await storage.transaction { connection in
            try store(row, on: connection)
            try store(notice, on: connection)
        }
    }

    /// The most delivered messages that are kept for each mirror.
    private static let keptNotices = 100

    private func store(_ notice: Notice, on connection: any StorageConnection) throws {
        try connection.execute(
            """
            INSERT INTO told (mirror, told_ms, cause, state, text, since_ms)
            VALUES (\(mirror), \(notice.at.milliseconds), \(notice.cause?.rawValue ?? ""), \(notice.state.rawValue),
                \(notice.text), \(notice.since.milliseconds))
            ON CONFLICT (mirror, told_ms, cause) DO NOTHING
            """)
        try connection.execute(
            """
            DELETE FROM told WHERE mirror = \(mirror) AND told_ms < (
                SELECT told_ms FROM told AS newest WHERE newest.mirror = \(mirror)
                ORDER BY told_ms DESC LIMIT 1 OFFSET \(Self.keptNotices - 1))
            """)
    }

    /// The last messages that were delivered, the newest first.
    ///
    /// - Parameter limit: The most to return.
    /// - Throws: The store's error.
    package func told(limit: Int) async throws -> [ToldNotice] {
        try await storage.query(
            """
            SELECT told_ms, cause, state, text, since_ms FROM told WHERE mirror = \(mirror)
            ORDER BY told_ms DESC, cause LIMIT \(limit)
            """
        ).compactMap { row in
            // A cause or a state of a later version is skipped.
            guard let cause = NoticeCause(rawValue: try row.text("cause")),
                let state = Notice.State(rawValue: try row.text("state"))
            else { return nil }
            return ToldNotice(
                at: try row.date("told_ms"), cause: cause, state: state, title: cause.title,
                text: try row.text("text"), since: try row.date("since_ms"))
        }
    }

    private func store(_ row: NoticeRow, on connection: any StorageConnection) throws {
        try connection.execute(
            """
            INSERT INTO notices (mirror, cause, since_ms, told_ms, told_since_ms, attempts, next_ms)
            VALUES (\(mirror), \(row.cause.rawValue), \(row.since?.milliseconds), \(row.lastTold?.milliseconds),
                \(row.unresolvedSince?.milliseconds), \(row.attempts), \(row.nextAttempt?.milliseconds))
            ON CONFLICT (mirror, cause) DO UPDATE SET since_ms = excluded.since_ms, told_ms = excluded.told_ms,
                told_since_ms = excluded.told_since_ms, attempts = excluded.attempts, next_ms = excluded.next_ms
            """)
    }

    private func rows(on connection: any StorageConnection) throws -> [NoticeRow] {
        let stored = try connection.query(
            """
            SELECT cause, since_ms, told_ms, told_since_ms, attempts, next_ms FROM notices WHERE mirror = \(mirror)
            """)
        let rows = try stored.compactMap { row -> NoticeRow? in
            // A cause of a later version is skipped.
            guard let cause = NoticeCause(rawValue: try row.text("cause")) else { return nil }
            var notice = NoticeRow(cause)
            notice.since = try row.optionalDate("since_ms")
            notice.lastTold = try row.optionalDate("told_ms")
            notice.unresolvedSince = try row.optionalDate("told_since_ms")
            notice.nextAttempt = try row.optionalDate("next_ms")
            notice.attempts = try row.int("attempts")
            return notice
        }
        return NoticeCause.allCases.compactMap { cause in rows.first { $0.cause == cause } }
    }
}

extension HumanMirror {
    /// The table of the notices that were sent to a person.
    package var notices: NoticeTable { NoticeTable(storage: storage, mirror: name) }
}
