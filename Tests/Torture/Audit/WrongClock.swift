import Foundation

/// A stretch in which a worker's clock was wrong by more than clocks may differ.
struct WrongClock: Equatable, Sendable {
    /// How far it was ahead; negative if it was behind.
    var seconds: TimeInterval
    /// On the network's clock.
    var interval: DateInterval

    /// What the wrong clock showed first and last.
    var shown: DateInterval {
        DateInterval(start: interval.start + seconds, end: interval.end + seconds)
    }

    var isAhead: Bool { seconds > 0 }
}
