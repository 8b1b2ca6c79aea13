import Foundation
import Mirroring
import Posts

/// The clock of a town and its workers, which stands still until the workers start.
final class FleetClock: @unchecked Sendable {
    // Sendable because `running` is only touched under `lock`.
    let origin: Date
    /// How many seconds pass in one of the system's; 1 for the system's own clock.
    let factor: Double
    private let lock = NSLock()
    private var running: (clock: AcceleratedClock, started: Date)?

    /// - Parameter origin: What the clock shows when it starts; without a factor the system's clock
    ///   counts.
    init(origin: Date, factor: Double) {
        self.origin = origin
        self.factor = factor
    }

    var now: Date {
        guard factor > 1 else { return Date() }
        return lock.withLock { running }?.clock.now ?? origin
    }

    /// Starts the clock, unless it runs.
    func start() {
        lock.withLock {
            guard running == nil else { return }
            let started = Date(milliseconds: Date().milliseconds)
            running = (AcceleratedClock(origin: origin, started: started, factor: factor), started)
        }
    }

    /// The settings that make a process go by this clock; none for the system's.
    var variables: [String: String] {
        guard factor > 1, let started = lock.withLock({ running })?.started else { return [:] }
        return Rehearsal.Settings(origin: origin, started: started, factor: factor).variables
    }

    /// The settings of a process that runs before the clock starts: an hour earlier, at the pace of
    /// the system's clock.
    var earlier: [String: String] {
        factor > 1
            ? Rehearsal.Settings(origin: origin - 3_600, started: Date(), factor: 1).variables : [:]
    }

    /// Waits until the clock shows an instant, at most five seconds past it.
    func sleep(until date: Date) async throws {
        while true {
            let left = date.timeIntervalSince(now) / max(1, factor)
            guard left > 0 else { return }
            try await ContinuousClock().sleep(for: .seconds(min(left, 5)))
        }
    }
}
