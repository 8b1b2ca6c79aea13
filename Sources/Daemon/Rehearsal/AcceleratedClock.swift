package import Foundation

/// A wall clock that runs a number of times as fast as the system's.
///
/// Two processes with the same three values show the same time.
package struct AcceleratedClock: WallClock {
    private let origin: Date
    private let started: Date
    private let factor: Double

    /// - Parameters:
    ///   - origin: What the clock shows when the system's shows `started`.
    ///   - started: An instant of the system's clock.
    ///   - factor: How many seconds pass here in one of the system's; above 0.
    package init(origin: Date, started: Date, factor: Double) {
        self.origin = origin
        self.started = started
        self.factor = factor
    }

    package var now: Date { origin + Date().timeIntervalSince(started) * factor }

    package func sleep(until deadline: Date) async throws {
        try await Nap(rate: factor).sleep(until: deadline, on: self)
    }
}
