package import Foundation

/// How long an action waits after a request that certainly did nothing.
package struct RetryPolicy: Sendable {
    /// The wait after the first attempt, in seconds; it doubles with each further one.
    package var firstWait: TimeInterval = 30
    /// The longest wait, in seconds.
    package var longestWait: TimeInterval = 900

    package init() {}

    /// When to try again.
    ///
    /// The wait is spread by up to a quarter, from the action's id, so that
    /// many actions do not return at the same instant and a restart changes
    /// nothing.
    func nextAttempt(after attempts: Int, id: String, now: Date) -> Date {
        let doublings = min(max(attempts - 1, 0), 10)
        let wait = min(firstWait * Double(1 << doublings), longestWait)
        let spread = Double(id.utf8.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) } % 1_000) / 4_000
        return now + wait * (1 + spread)
    }
}
