import Foundation
import Posts
import Storage

/// When feeds were last read to their end, of all mirrors of a process, until that is stored.
///
/// A worker stores these times for all feeds of its mirrors at once: one statement each for
/// thousands of feeds in which nothing is new would be most of its work. A command stores each by
/// itself.
package final class ReadTimes: @unchecked Sendable {
    // Sendable because its properties are only touched under `lock`.
    private struct Key: Hashable {
        let mirror: String
        let feed: String
    }

    /// How many feeds one statement stores.
    private static let feedsAtOnce = 1_000

    private let lock = NSLock()
    /// How many workers of the process collect.
    private var collectors = 0
    private var times: [Key: (read: Date, newest: Date?)] = [:]

    /// From now on times are kept until `Installation.storeReadTimes` stores them, which the caller
    /// does every minute, and after the last time `Installation.endCollectingReadTimes`.
    package func beginCollecting() { lock.withLock { collectors += 1 } }

    func endCollecting() { lock.withLock { collectors -= 1 } }

    /// Keeps the time of a feed.
    ///
    /// - Returns: False if times are not kept, so that the caller has to store this one.
    func note(_ progress: FeedProgress, of feed: String, mirror: String) -> Bool {
        lock.withLock {
            guard collectors > 0, let read = progress.read else { return false }
            times[Key(mirror: mirror, feed: feed)] = (read, progress.newest)
            return true
        }
    }

    /// Stores what was kept.
    ///
    /// A time that another worker has stored meanwhile stays if it is later, and a feed without a
    /// row gets none: its mirror was removed.
    ///
    /// - Throws: The store's error; the times are lost then, and the next reading of each feed
    ///   tells a later one.
    func store(in storage: any StorageEngine) async throws {
        let kept = lock.withLock {
            defer { times = [:] }
            return times
        }
        let rows = kept.sorted { ($0.key.mirror, $0.key.feed) < ($1.key.mirror, $1.key.feed) }
            .map { key, time -> SQL in
                """
                (CAST(\(key.mirror) AS TEXT), CAST(\(key.feed) AS TEXT), CAST(\(time.read.milliseconds) AS BIGINT), \
                CAST(\(time.newest?.milliseconds) AS BIGINT))
                """
            }
        for portion in rows.portions(of: Self.feedsAtOnce) {
            try await storage.note(
                """
                UPDATE feeds SET read_ms = fresh.column3, newest_ms = COALESCE(fresh.column4, newest_ms)
                FROM (VALUES \(SQL(joined: portion))) AS fresh
                WHERE mirror = fresh.column1 AND feed = fresh.column2 AND (read_ms IS NULL OR read_ms < fresh.column3)
                """)
        }
    }
}
