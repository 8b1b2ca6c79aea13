import Foundation
import Posts
import Storage

/// The times of the last complete reads of feeds, for all mirrors of a process, until they are
/// stored.
///
/// A worker stores these times for all feeds of its mirrors at once: with a statement for each of
/// thousands of quiet feeds, they would be most of its work. A command stores each time
/// immediately.
package final class ReadTimes: @unchecked Sendable {
    // Sendable because its properties are only touched under `lock`.
    private struct Key: Hashable {
        let mirror: String
        let feed: String
    }

    /// Feeds in one statement.
    private static let feedsAtOnce = 1_000

    private let lock = NSLock()
    /// Workers of the process that collect times.
    private var collectors = 0
    private var times: [Key: (read: Date, newest: Date?)] = [:]

    /// Starts to collect times.
    ///
    /// The caller stores them every minute with `Installation.storeReadTimes`, and finally with
    /// `Installation.endCollectingReadTimes`.
    package func beginCollecting() { lock.withLock { collectors += 1 } }

    func endCollecting() { lock.withLock { collectors -= 1 } }

    /// Keeps the time of a feed.
    ///
    /// - Returns: False if times are not collected; the caller then stores this one itself.
    func note(_ progress: FeedProgress, of feed: String, mirror: String) -> Bool {
        lock.withLock {
            guard collectors > 0, let read = progress.read else { return false }
            times[Key(mirror: mirror, feed: feed)] = (read, progress.newest)
            return true
        }
    }

    /// Stores the collected times.
    ///
    /// A later time that another worker has stored stays, and a feed without a row gets none,
    /// because its mirror was removed.
    ///
    /// - Throws: The store's error; the times are lost then, and the next read of each feed records
    ///   a later one.
    func store(in storage: any StorageEngine) async throws {
        let timesToStore = lock.withLock {
            defer { times = [:] }
            return times
        }
        let rows = timesToStore.sorted {
            ($0.key.mirror, $0.key.feed) < ($1.key.mirror, $1.key.feed)
        }
        .map { key, time -> SQL in
            """
            (CAST(\(key.mirror) AS TEXT), CAST(\(key.feed) AS TEXT), CAST(\(time.read.milliseconds) AS BIGINT), \
            CAST(\(time.newest?.milliseconds) AS BIGINT))
            """
        }
        for portion in rows.portions(of: Self.feedsAtOnce) {
            // The columns of the rows: mirror, feed, time of the reading, time of the newest item.
            try await storage.executeRepeatable(
                """
                UPDATE feeds SET read_ms = fresh.column3, newest_ms = COALESCE(fresh.column4, newest_ms)
                FROM (VALUES \(SQL(joined: portion))) AS fresh
                WHERE mirror = fresh.column1 AND feed = fresh.column2 AND (read_ms IS NULL OR read_ms < fresh.column3)
                """)
        }
    }
}
