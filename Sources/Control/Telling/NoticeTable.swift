package import Foundation
package import Mirroring
import Posts
package import Storage

/// The notice state of one cause.
package struct NoticeRow: Equatable, Sendable {
    package let cause: NoticeCause
    /// Since when it holds; nil while it does not.
    package var since: Date?
    /// When a person was last told that it holds.
    package var told: Date?
    /// Since when it held as a person was told who is still to be told that it is over.
    package var toldSince: Date?
    /// How often telling was tried in a row without being heard.
    package var attempts = 0
    /// When it may be tried next.
    package var next: Date?

    /// Between two messages about one cause.
    private static let day: TimeInterval = 86_400
    /// A clock that was set back by more has forgotten when it was.
    private static let clockSlack: TimeInterval = 3_600

    init(_ cause: NoticeCause) { self.cause = cause }

    /// Takes in what is known now, and says what a person is to be told.
    ///
    /// The try counts as one that was not heard until ``heard(_:)`` says otherwise: of two workers
    /// one tells, and what is lost with a process that was killed is told later.
    ///
    /// - Parameters:
    ///   - finding: What is known now; nil if nothing is.
    ///   - mirror: The mirror's name.
    ///   - now: The present.
    /// - Returns: What is to be told; nil if nothing is, or not yet.
    mutating func take(_ finding: NoticeFinding?, mirror: String, now: Date) -> Notice? {
        switch finding {
        case nil: return nil
        case .holds(let begun, let detail, let isCertain):
            let since = since ?? min(begun, now)
            self.since = since
            let isRipe = isCertain || now.timeIntervalSince(since) >= cause.patience
            guard isRipe, !wasToldToday(now), mayTry(now) else { return nil }
            guard attempt(now) else {
                // Nobody listens: silence for a day.
                told = now
                return nil
            }
            let state: Notice.State = toldSince == nil ? .began : .continues
            return Notice(cause, state, mirror: mirror, since: since, detail: detail, now: now)
        case .isOver:
            since = nil
            guard let toldSince, mayTry(now) else { return nil }
            guard attempt(now) else {
                self.toldSince = nil
                return nil
            }
            return Notice(cause, .resolved, mirror: mirror, since: toldSince, detail: nil, now: now)
        }
    }

    /// Remembers that a notice was heard.
    mutating func heard(_ notice: Notice) {
        attempts = 0
        next = nil
        if notice.state == .resolved {
            toldSince = nil
        } else {
            told = notice.at
            toldSince = notice.since
        }
    }

    private func wasToldToday(_ now: Date) -> Bool {
        told.map { (-Self.clockSlack..<Self.day).contains(now.timeIntervalSince($0)) } ?? false
    }

    private func mayTry(_ now: Date) -> Bool {
        next.map { now >= $0 || $0.timeIntervalSince(now) > Self.clockSlack * 2 } ?? true
    }

    /// Counts a try; false, and begins to count anew, after too many.
    private mutating func attempt(_ now: Date) -> Bool {
        guard !RetryRule.notice.isOver(after: attempts) else {
            attempts = 0
            next = nil
            return false
        }
        attempts += 1
        next = RetryRule.notice.next(after: attempts, key: cause.rawValue, now: now)
        return true
    }
}

/// A message that was delivered.
package struct ToldNotice: Codable, Equatable, Sendable {
    package let at: Date
    package let cause: NoticeCause
    package let state: Notice.State
    /// The subject of the message, such as `a network cannot be reached`.
    package let title: String
    package let text: String
    /// Since when it holds, or held.
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

    /// The mirrors of which anything is remembered.
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

    /// Takes in what is known now; of several processes that do so at once, one is told what is to
    /// be told.
    ///
    /// Writes nothing where nothing changes.
    ///
    /// - Parameters:
    ///   - findings: The known findings; of a cause that is missing nothing is known.
    ///   - known: What this process remembers better, having told it while the database was away.
    ///   - now: The present.
    /// - Returns: What is to be told, and all rows as they are then.
    /// - Throws: The store's error.
    func take(
        _ findings: [NoticeCause: NoticeFinding], knowing known: [NoticeRow] = [], now: Date
    ) async throws -> (notices: [Notice], rows: [NoticeRow]) {
        let mirror = mirror
        @Sendable func decide(
            _ connection: any StorageConnection
        ) throws -> (old: [NoticeRow], new: [NoticeRow], notices: [Notice]) {
            let old = try rows(on: connection)
            var notices: [Notice] = []
            let new = NoticeCause.allCases.compactMap { cause -> NoticeRow? in
                let stored = known.first { $0.cause == cause } ?? old.first { $0.cause == cause }
                guard stored != nil || findings[cause] != nil else { return nil }
                var row = stored ?? NoticeRow(cause)
                if let notice = row.take(findings[cause], mirror: mirror, now: now) {
                    notices.append(notice)
                }
                return row == NoticeRow(cause) && stored == nil ? nil : row
            }
            return (old, new, notices)
        }
        let expected = try await storage.read { try decide($0) }
        if expected.old == expected.new { return ([], expected.new) }
        return try await storage.transaction { connection in
            let (old, new, notices) = try decide(connection)
            for row in new where !old.contains(row) { try store(row, on: connection) }
            return (notices, new)
        }
    }

    /// Stores what is remembered about a cause, and a message about it that was delivered.
    ///
    /// - Throws: The store's error.
    func store(_ row: NoticeRow, told notice: Notice) async throws {
        try await storage.transaction { connection in
            try store(row, on: connection)
            try store(notice, on: connection)
        }
    }

    /// Delivered messages that are kept of each mirror.
    private static let kept = 100

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
                SELECT told_ms FROM told AS kept WHERE kept.mirror = \(mirror)
                ORDER BY told_ms DESC LIMIT 1 OFFSET \(Self.kept - 1))
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
            // A cause or a state of a later version is none of ours.
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
            VALUES (\(mirror), \(row.cause.rawValue), \(row.since?.milliseconds), \(row.told?.milliseconds),
                \(row.toldSince?.milliseconds), \(row.attempts), \(row.next?.milliseconds))
            ON CONFLICT (mirror, cause) DO UPDATE SET since_ms = excluded.since_ms, told_ms = excluded.told_ms,
                told_since_ms = excluded.told_since_ms, attempts = excluded.attempts, next_ms = excluded.next_ms
            """)
    }

    private func rows(on connection: any StorageConnection) throws -> [NoticeRow] {
        let found = try connection.query(
            """
            SELECT cause, since_ms, told_ms, told_since_ms, attempts, next_ms FROM notices WHERE mirror = \(mirror)
            """)
        let rows = try found.compactMap { row -> NoticeRow? in
            // A cause of a later version is none of ours.
            guard let cause = NoticeCause(rawValue: try row.text("cause")) else { return nil }
            var notice = NoticeRow(cause)
            notice.since = try row.optionalDate("since_ms")
            notice.told = try row.optionalDate("told_ms")
            notice.toldSince = try row.optionalDate("told_since_ms")
            notice.next = try row.optionalDate("next_ms")
            notice.attempts = try row.int("attempts")
            return notice
        }
        return NoticeCause.allCases.compactMap { cause in rows.first { $0.cause == cause } }
    }
}

extension HumanMirror {
    /// The table of the notices that a person was sent while nobody looked.
    package var notices: NoticeTable { NoticeTable(storage: storage, mirror: name) }
}
