package import Foundation
import Networks
import Outbox
package import Posts
package import Storage

/// The progress of reading a feed, and its current error.
struct FeedProgress: Equatable, Sendable {
    /// The cursor to the next new items; nil before the feed was ever read.
    var position: String?
    /// The stretch between the present and the items read before an interruption; nil if there is
    /// none.
    var gap: Stretch?
    /// The part of the past that a training still has to read.
    var past: Stretch?
    /// The part that a sweep still has to read again.
    var sweep: Stretch?
    /// The bot's own posts below which a sweep has not looked for replies yet.
    var ownPostsToLookBelow: PublishedStretch?
    /// When the feed was last read to its end.
    var read: Date?
    /// Creation time of the newest item read when the feed was last read to its end.
    var newest: Date?
    /// Number of items that arrived since `newest`, on networks that show only the newest items.
    var arrived = 0
    /// When the feed was last swept a day back.
    var swept: Date?
    /// The current error, its code as in ``FeedHealth/errorCode``, and its beginning.
    var error: String?
    var errorCode: String?
    var errorSince: Date?
}

/// A part of a feed that is still to be read, from a cursor into the past.
struct Stretch: Equatable, Sendable {
    /// Cursor of the next older page.
    var cursor: String
    /// The most items to read; nil for all.
    var remaining: Int?
    /// Creation time below which items are known, or not wanted; nil for the feed's end.
    var floor: Date?
    /// Creation time of the oldest item above the stretch, if known.
    var top: Date?
    /// When the refusal of the next page by the server began.
    var refused: Date?

    /// Subtracts items that the network shows but that are not in the stretch.
    mutating func subtract(_ count: Int) { remaining = remaining.map { max($0 - count, 0) } }
}

/// The bot's published posts and replies from a place on, up to a due time.
struct PublishedStretch: Equatable, Sendable {
    /// The last post below which replies were looked for.
    var place: OutboxStore.PublishedPlace
    var end: Date
}

/// The state of a feed, as reported to people.
package struct FeedHealth: Codable, Equatable, Sendable {
    /// A stretch of time whose items can no longer be read.
    package struct Unreached: Codable, Equatable, Sendable {
        /// The first instant from which items may be missing, in whole seconds.
        package var from: Date
        /// The last such instant.
        package var to: Date

        /// The beginning of a stretch that includes everything before an instant.
        package static let beginning = Date(timeIntervalSince1970: 0)

        package var isBeginning: Bool { from == Self.beginning }

        package init(from: Date, to: Date) {
            self.from = from
            self.to = to
        }
    }

    /// The name of the feed, see ``FeedName``.
    package var feed: String
    /// When it was last read to its end.
    package var lastSuccess: Date?
    /// The age of the last complete look, in seconds; nil before the feed was ever read.
    package var lagSeconds: Int?
    /// The current error; `nil` if there is none.
    package var error: String?
    /// The raw value of the error's `NetworkError.Code`; nil of rows that an earlier version wrote.
    package var errorCode: String?
    package var errorSince: Date?
    /// Items that could not be read.
    package var unreadable = 0
    /// Items that wait for another try.
    package var waiting = 0
    /// Items that were given up.
    package var givenUp = 0
    package var unreached: [Unreached] = []

    package init(feed: String) { self.feed = feed }
}

/// The stored progress of feeds, their errors, and the items without an action.
package struct FeedTable: Sendable {
    let storage: any StorageEngine
    let mirror: String
    private let times: ReadTimes

    /// - Parameter times: Collects the times of reads, which a process stores for all its mirrors
    ///   at once.
    package init(storage: any StorageEngine, mirror: String, times: ReadTimes = ReadTimes()) {
        self.storage = storage
        self.mirror = mirror
        self.times = times
    }

    // MARK: Progress

    func progress(of feed: String) async throws -> FeedProgress {
        // A single statement reads a consistent state. `always` is one row, so that stretches are
        // returned for a feed without a row of its own too.
        let rows = try await storage.query(
            """
            SELECT position, below_ms, below_action, below_end_ms, read_ms, newest_ms, arrived, swept_ms,
                error, error_code, error_ms, part, cursor, remaining, floor_ms, top_ms, refused_ms
            FROM (SELECT 1 AS one) AS always LEFT JOIN feeds f ON f.mirror = \(mirror) AND f.feed = \(feed)
                LEFT JOIN feed_stretches s ON s.mirror = \(mirror) AND s.feed = \(feed)
            """)
        var progress = FeedProgress()
        guard let row = rows.first else { return progress }
        progress.position = try row.optionalText("position")
        progress.ownPostsToLookBelow = try PublishedStretch(row: row)
        progress.read = try row.optionalDate("read_ms")
        progress.newest = try row.optionalDate("newest_ms")
        progress.arrived = Int(clamping: try row.optionalInteger("arrived") ?? 0)
        progress.swept = try row.optionalDate("swept_ms")
        progress.error = try row.optionalText("error")
        progress.errorCode = try row.optionalText("error_code")
        progress.errorSince = try row.optionalDate("error_ms")
        for row in rows {
            guard let part = try row.optionalText("part").flatMap(Part.init) else { continue }
            progress[keyPath: part.property] = try Stretch(row: row)
        }
        return progress
    }

    /// Stores a feed's new position, with the notes about its items and about a stretch that can no
    /// longer be read.
    ///
    /// - Returns: False if another process, such as a training, moved it meanwhile; then nothing
    ///   changed.
    /// - Throws: The store's error.
    func advance(
        _ feed: String, from old: FeedProgress, to new: FeedProgress, items: [FeedItem] = [],
        unreached: FeedState.Unreached? = nil
    ) async throws -> Bool {
        let mirror = mirror
        return try await storage.transaction { connection in
            guard
                try connection.execute(
                    Self.positionUpdate(feed, from: old.position, to: new, mirror)) == 1
            else {
                return false
            }
            for part in Part.allCases
            where old[keyPath: part.property] != new[keyPath: part.property] {
                try connection.execute(
                    Self.stretchUpdate(new[keyPath: part.property], as: part, of: feed, mirror))
            }
            for item in items { try Self.note(item, of: feed, mirror, connection) }
            if let unreached {
                try connection.execute(Self.insertion(of: unreached, in: feed, mirror))
            }
            return true
        }
    }

    /// Stores when a feed was read, if nothing else has changed; a process with many mirrors stores
    /// such times later.
    func storeTime(_ progress: FeedProgress, of feed: String) async throws {
        guard !times.note(progress, of: feed, mirror: mirror) else { return }
        try await store(progress, of: feed)
    }

    /// Stores a feed's progress without a move of its position.
    func store(_ progress: FeedProgress, of feed: String) async throws {
        try await storage.executeRepeatable(
            """
            INSERT INTO feeds (mirror, feed, read_ms, newest_ms, arrived, swept_ms, error, error_code, error_ms)
            VALUES (\(mirror), \(feed), \(progress.read?.milliseconds), \(progress.newest?.milliseconds),
                \(progress.arrived), \(progress.swept?.milliseconds), \(progress.error), \(progress.errorCode),
                \(progress.errorSince?.milliseconds))
            ON CONFLICT (mirror, feed) DO UPDATE SET read_ms = excluded.read_ms, newest_ms = excluded.newest_ms,
                arrived = excluded.arrived, swept_ms = excluded.swept_ms, error = excluded.error,
                error_code = excluded.error_code, error_ms = excluded.error_ms
            """)
    }

    /// Removes the progress of feeds, so that training starts over.
    package func reset(_ feeds: [String]) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            for feed in feeds {
                try connection.execute(
                    """
                    UPDATE feeds SET position = NULL, below_ms = NULL, below_action = NULL, below_end_ms = NULL
                    WHERE mirror = \(mirror) AND feed = \(feed)
                    """)
                try connection.execute(
                    "DELETE FROM feed_stretches WHERE mirror = \(mirror) AND feed = \(feed)")
            }
        }
    }

    /// The kind of a stretch, as it is stored.
    private enum Part: String, CaseIterable {
        case gap
        case past
        case sweep

        var property: WritableKeyPath<FeedProgress, Stretch?> {
            switch self {
            case .gap: \.gap
            case .past: \.past
            case .sweep: \.sweep
            }
        }
    }

    /// Compares a feed's position and updates its row; changes no row if the position differs.
    private static func positionUpdate(
        _ feed: String, from old: String?, to new: FeedProgress, _ mirror: String
    ) -> SQL {
        let ownPosts = new.ownPostsToLookBelow
        if let old {
            return """
                UPDATE feeds SET position = \(new.position), below_ms = \(ownPosts?.place.due.milliseconds),
                    below_action = \(ownPosts?.place.id), below_end_ms = \(ownPosts?.end.milliseconds),
                    read_ms = \(new.read?.milliseconds), newest_ms = \(new.newest?.milliseconds),
                    arrived = \(new.arrived), swept_ms = \(new.swept?.milliseconds), error = \(new.error),
                    error_code = \(new.errorCode), error_ms = \(new.errorSince?.milliseconds)
                WHERE mirror = \(mirror) AND feed = \(feed) AND position = \(old)
                """
        }
        return """
            INSERT INTO feeds (mirror, feed, position, below_ms, below_action, below_end_ms,
                read_ms, newest_ms, arrived, swept_ms, error, error_code, error_ms)
            VALUES (\(mirror), \(feed), \(new.position), \(ownPosts?.place.due.milliseconds), \(ownPosts?.place.id),
                \(ownPosts?.end.milliseconds), \(new.read?.milliseconds), \(new.newest?.milliseconds), \(new.arrived),
                \(new.swept?.milliseconds), \(new.error), \(new.errorCode), \(new.errorSince?.milliseconds))
            ON CONFLICT (mirror, feed) DO UPDATE SET position = excluded.position, below_ms = excluded.below_ms,
                below_action = excluded.below_action, below_end_ms = excluded.below_end_ms,
                read_ms = excluded.read_ms, newest_ms = excluded.newest_ms, arrived = excluded.arrived,
                swept_ms = excluded.swept_ms, error = excluded.error, error_code = excluded.error_code,
                error_ms = excluded.error_ms
            WHERE feeds.position IS NULL
            """
    }

    private static func stretchUpdate(
        _ stretch: Stretch?, as part: Part, of feed: String, _ mirror: String
    ) -> SQL {
        guard let stretch else {
            return """
                DELETE FROM feed_stretches WHERE mirror = \(mirror) AND feed = \(feed) AND part = \(part.rawValue)
                """
        }
        return """
            INSERT INTO feed_stretches (mirror, feed, part, cursor, remaining, floor_ms, top_ms, refused_ms)
            VALUES (\(mirror), \(feed), \(part.rawValue), \(stretch.cursor), \(stretch.remaining),
                \(stretch.floor?.milliseconds), \(stretch.top?.milliseconds), \(stretch.refused?.milliseconds))
            ON CONFLICT (mirror, feed, part) DO UPDATE SET cursor = excluded.cursor, remaining = excluded.remaining,
                floor_ms = excluded.floor_ms, top_ms = excluded.top_ms, refused_ms = excluded.refused_ms
            """
    }

    // MARK: Items

    /// The items to try again: waiting ones, and those that an earlier version of the program could
    /// not read.
    func pending(in feed: String, version: String) async throws -> [FeedItem] {
        try await storage.query(
            """
            SELECT item, state, digest, reason, version, attempts, next_ms, noted_ms FROM feed_items
            WHERE mirror = \(mirror) AND feed = \(feed)
                AND (state = 'waiting' OR (state = 'unreadable' AND version <> \(version)))
            ORDER BY noted_ms ASC, item ASC LIMIT 1000
            """
        ).map(FeedItem.init(row:))
    }

    /// The items of a feed, the newest first.
    func items(of feed: String, limit: Int) async throws -> [FeedItem] {
        try await storage.query(
            """
            SELECT item, state, digest, reason, version, attempts, next_ms, noted_ms FROM feed_items
            WHERE mirror = \(mirror) AND feed = \(feed) ORDER BY noted_ms DESC, item ASC LIMIT \(limit)
            """
        ).map(FeedItem.init(row:))
    }

    /// Stores the outcome of another try to decide an item.
    ///
    /// - Parameters:
    ///   - item: The item to store.
    ///   - feed: The feed's name.
    /// - Throws: The store's error.
    func note(_ item: FeedItem, of feed: String) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            try Self.note(item, of: feed, mirror, connection)
        }
    }

    /// Removes the items whose names show that these people wrote them.
    package func forget(_ people: [AccountID]) async throws {
        for person in people {
            guard let start = person.network.traits.postIdentityPrefix(person.value) else {
                continue
            }
            try await storage.execute(
                """
                DELETE FROM feed_items WHERE mirror = \(mirror) AND SUBSTR(item, 1, LENGTH(\(start))) = \(start)
                """)
        }
    }

    /// Removes an item that has an action now.
    func forget(_ name: String, of feed: String) async throws {
        try await storage.execute(
            "DELETE FROM feed_items WHERE mirror = \(mirror) AND feed = \(feed) AND item = \(name)")
    }

    private static func note(
        _ item: FeedItem, of feed: String, _ mirror: String, _ connection: any StorageConnection
    ) throws {
        // Nothing is stored about a forgotten person.
        if let author = AccountID(authorOf: item.name) {
            let found = try connection.query(
                """
                SELECT 1 AS one FROM forgotten
                WHERE mirror = \(mirror) AND kind = 'person' AND digest = \(author.forgottenDigest)
                """)
            guard found.isEmpty else { return }
        }
        try connection.execute(
            """
            INSERT INTO feed_items
                (mirror, feed, item, state, digest, reason, version, attempts, next_ms, noted_ms)
            VALUES (\(mirror), \(feed), \(item.name), \(item.state.rawValue), \(item.digest), \(item.reason),
                \(item.version), \(item.attempts), \(item.next?.milliseconds), \(item.noted.milliseconds))
            ON CONFLICT (mirror, feed, item) DO UPDATE SET state = excluded.state, reason = excluded.reason,
                version = excluded.version, attempts = excluded.attempts, next_ms = excluded.next_ms
            """)
    }

    // MARK: What cannot be read any more

    /// Stores that the items created between two instants could not be read.
    func note(_ unreached: FeedState.Unreached, of feed: String) async throws {
        try await storage.executeRepeatable(Self.insertion(of: unreached, in: feed, mirror))
    }

    /// Removes the note that the past of a feed could not be read, because a downloaded archive
    /// contains it.
    func forgetUnreachedPast(of feed: String) async throws {
        try await storage.executeRepeatable(
            """
            DELETE FROM feed_gaps WHERE mirror = \(mirror) AND feed = \(feed)
                AND from_ms = \(FeedHealth.Unreached.beginning.milliseconds)
            """)
    }

    /// The statement that stores an unreadable stretch.
    ///
    /// Times are stored in whole seconds, as they are shown; the stretch includes all of its last
    /// second.
    private static func insertion(
        of unreached: FeedState.Unreached, in feed: String, _ mirror: String
    ) -> SQL {
        let from = Date(timeIntervalSince1970: unreached.from.timeIntervalSince1970.rounded(.down))
        let to = Date(timeIntervalSince1970: unreached.to.timeIntervalSince1970.rounded(.up))
        return """
            INSERT INTO feed_gaps (mirror, feed, from_ms, to_ms, reason)
            VALUES (\(mirror), \(feed), \(from.milliseconds), \(to.milliseconds), \(unreached.reason))
            ON CONFLICT (mirror, feed, to_ms) DO UPDATE SET from_ms = excluded.from_ms, reason = excluded.reason
            WHERE excluded.from_ms < feed_gaps.from_ms
            """
    }

    // MARK: Cleaning up

    /// Rows that are deleted in one transaction.
    private static let batch = 500

    /// Removes items that are not tried again, and unreadable stretches, from before `time`.
    ///
    /// A feed that was not completely read since then, or has a stretch still to read, may return
    /// such items again, so all of its notes stay.
    ///
    /// - Parameter time: Later items and stretches stay.
    /// - Throws: The store's error.
    package func clean(before time: Date) async throws {
        let items: SQL =
            "mirror = \(mirror) AND state <> 'waiting' AND noted_ms < \(time.milliseconds)"
        // The past that the network never showed stays noted, however old it is.
        let beginning = FeedHealth.Unreached.beginning.milliseconds
        let gaps: SQL =
            "mirror = \(mirror) AND to_ms < \(time.milliseconds) AND from_ms <> \(beginning)"
        let names = try await storage.query(
            "SELECT feed FROM feed_items WHERE \(items) UNION SELECT feed FROM feed_gaps WHERE \(gaps)"
        ).map { try $0.text("feed") }
        guard !names.isEmpty else { return }
        let readFeeds = try await feedsKnown(since: time)
        for name in names where readFeeds.contains(FeedName.feed(of: name)) {
            let batch: SQL =
                "SELECT item FROM feed_items WHERE \(items) AND feed = \(name) LIMIT \(Self.batch)"
            let deletion: SQL =
                "DELETE FROM feed_items WHERE \(items) AND feed = \(name) AND item IN (\(batch))"
            while try await storage.execute(deletion) == Self.batch {}
            try await storage.execute("DELETE FROM feed_gaps WHERE \(gaps) AND feed = \(name)")
        }
    }

    /// The feeds that are completely read up to a time after `time`.
    private func feedsKnown(since time: Date) async throws -> [String] {
        try await storage.query(
            """
            SELECT feed FROM feeds f WHERE mirror = \(mirror) AND read_ms >= \(time.milliseconds)
                AND (swept_ms IS NULL OR swept_ms >= \(time.milliseconds)) AND below_end_ms IS NULL
                AND NOT EXISTS (
                    SELECT 1 FROM feed_stretches s
                    WHERE s.mirror = \(mirror) AND s.feed = f.feed AND s.part IN ('gap', 'sweep')
                )
            """
        ).map { try $0.text("feed") }
    }

    // MARK: Reports

    /// The health of each feed, by name, in one statement.
    ///
    /// - Throws: The store's error.
    package func health(now: Date) async throws -> [FeedHealth] {
        try await Self.health(of: [mirror], in: storage, now: now)[mirror] ?? []
    }

    /// The health of each feed of some mirrors, by the mirrors' names, in one statement; mirrors
    /// without a feed are left out.
    ///
    /// - Parameter mirrors: The names, some hundred at most.
    /// - Throws: The store's error.
    package static func health(
        of mirrors: [String], in storage: any StorageEngine, now: Date
    ) async throws -> [String: [FeedHealth]] {
        var healthByMirror: [String: [String: FeedHealth]] = [:]
        for row in try await storage.query(healthSelection(of: mirrors)) {
            let mirror = try row.text("mirror")
            let name = try row.text("feed")
            func change(_ feed: String, _ body: (inout FeedHealth) -> Void) {
                body(
                    &healthByMirror[mirror, default: [:]][feed, default: FeedHealth(feed: feed)])
            }
            let stateOrErrorCode = try row.optionalText("state")
            let first = try row.optionalDate("first_ms")
            let second = try row.optionalDate("second_ms")
            switch try row.int("part") {
            case 0:  // A feed.
                let error = try row.optionalText("error")
                change(name) { health in
                    health.lastSuccess = first
                    health.error = error
                    health.errorCode = stateOrErrorCode
                    health.errorSince = second
                    health.lagSeconds = first.map { max(0, Int(now.timeIntervalSince($0))) }
                }
            case 1:  // Its items of one state.
                let number = try row.int("number")
                // Items below the bot's posts count with the feed that they would have been part
                // of.
                change(FeedName.feed(of: name)) { health in
                    switch stateOrErrorCode.flatMap(FeedItem.State.init(rawValue:)) {
                    case .unreadable: health.unreadable += number
                    case .waiting: health.waiting += number
                    case .givenUp, nil: health.givenUp += number
                    }
                }
            default:  // A stretch that can no longer be read.
                guard let first, let second else { continue }
                change(name) { $0.unreached.append(FeedHealth.Unreached(from: first, to: second)) }
            }
        }
        return healthByMirror.mapValues { feeds in feeds.values.sorted { $0.feed < $1.feed } }
    }

    /// Selects feeds, their items by state, and the newest 100 unreadable stretches of each mirror,
    /// as parts 0, 1 and 2.
    private static func healthSelection(of mirrors: [String]) -> SQL {
        """
        SELECT 0 AS part, mirror, feed, error_code AS state, error, read_ms AS first_ms, error_ms AS second_ms,
            0 AS number
        FROM feeds WHERE mirror IN \(list: mirrors)
        UNION ALL
        SELECT 1 AS part, mirror, feed, state, NULL AS error, NULL AS first_ms, NULL AS second_ms, COUNT(*) AS number
        FROM feed_items WHERE mirror IN \(list: mirrors) GROUP BY mirror, feed, state
        UNION ALL
        SELECT 2 AS part, mirror, feed, NULL AS state, NULL AS error, from_ms AS first_ms, to_ms AS second_ms,
            0 AS number
        FROM (
            SELECT mirror, feed, from_ms, to_ms,
                ROW_NUMBER() OVER (PARTITION BY mirror ORDER BY to_ms DESC, feed ASC) AS place
            FROM feed_gaps WHERE mirror IN \(list: mirrors)
        ) AS gaps WHERE place <= 100
        ORDER BY part ASC, second_ms DESC, feed ASC
        """
    }
}

extension Stretch {
    fileprivate init(row: SQLRow) throws {
        cursor = try row.text("cursor")
        remaining = try row.optionalInteger("remaining").map(Int.init(clamping:))
        floor = try row.optionalDate("floor_ms")
        top = try row.optionalDate("top_ms")
        refused = try row.optionalDate("refused_ms")
    }
}

extension PublishedStretch {
    fileprivate init?(row: SQLRow) throws {
        guard let due = try row.optionalDate("below_ms"),
            let end = try row.optionalDate("below_end_ms")
        else {
            return nil
        }
        place = OutboxStore.PublishedPlace(due: due, id: try row.optionalText("below_action") ?? "")
        self.end = end
    }
}

extension FeedItem {
    fileprivate init(row: SQLRow) throws {
        name = try row.text("item")
        state = State(rawValue: try row.text("state")) ?? .givenUp
        digest = try row.optionalText("digest")
        reason = try row.text("reason")
        version = try row.text("version")
        attempts = try row.int("attempts")
        next = try row.optionalDate("next_ms")
        noted = try row.date("noted_ms")
    }
}
