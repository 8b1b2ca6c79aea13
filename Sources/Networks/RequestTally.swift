import Foundation
import Posts

/// The durations of a mirror's calls and the remaining requests of its networks, since the counts
/// were last taken.
package final class RequestTally: @unchecked Sendable {
    // Sendable because `changes` is only touched under `lock`.

    /// Upper bounds of the counted groups of durations, in milliseconds; the last group has none.
    package static let bounds: [Int64] = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]

    /// The number of calls by duration.
    package struct Durations: Equatable, Sendable {
        /// A count for each of ``RequestTally/bounds``, and one for longer calls.
        package var counts = [Int64](repeating: 0, count: RequestTally.bounds.count + 1)
        /// The sum of the durations.
        package var milliseconds: Int64 = 0

        package init() {}
    }

    /// The number of requests that a network still allows an account.
    package struct Limit: Hashable, Sendable {
        package let network: String
        /// The scope of the limit: a feed, or the whole account.
        package let window: String

        package init(network: String, window: String) {
            self.network = network
            self.window = window
        }
    }

    package struct Changes: Equatable, Sendable {
        /// For each network, the number of calls by duration.
        package var durations: [String: Durations] = [:]
        package var remaining: [Limit: Int] = [:]
    }

    private let lock = NSLock()
    private var changes = Changes()

    package init() {}

    func note(_ duration: Duration, of network: NetworkName) {
        let milliseconds = max(0, Int64(duration / .milliseconds(1)))
        let boundIndex = Self.bounds.firstIndex { milliseconds <= $0 } ?? Self.bounds.count
        lock.withLock {
            changes.durations[network.rawValue, default: Durations()].counts[boundIndex] += 1
            changes.durations[network.rawValue, default: Durations()].milliseconds += milliseconds
        }
    }

    func note(remaining: Int, of limit: Limit) {
        lock.withLock { changes.remaining[limit] = remaining }
    }

    /// Returns the counts and resets them.
    package func take() -> Changes {
        lock.withLock {
            defer { changes = Changes() }
            return changes
        }
    }
}
