import Foundation

/// Counts the runs of a transaction's body.
final class RunCounter: @unchecked Sendable {
    // The lock makes every access to `count` exclusive.
    private let lock = NSLock()
    private var count = 0

    var value: Int { lock.withLock { count } }

    /// Counts a run and returns its number, from 1.
    func next() -> Int {
        lock.withLock {
            count += 1
            return count
        }
    }
}
