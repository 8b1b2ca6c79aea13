import Foundation

/// Decides from samples when somebody got no processor, or was kept waiting by the disk.
struct StarvationRule: Sendable {
    /// Which share of the time between two samples a thread may wait.
    private static let share = 0.5

    /// How many times as fast the clock runs by which the samples are dated.
    let factor: Double
    /// How long it is from one sample to the next, in real seconds.
    let period: TimeInterval
    private var last:
        (date: Date, waits: [ProcessTree.Thread: UInt64], onDisk: Set<ProcessTree.Thread>)?

    init(factor: Double, period: TimeInterval) {
        self.factor = factor
        self.period = period
    }

    /// The stretch in which the machine let somebody starve, as a sample shows it.
    ///
    /// There is one if a thread had to wait for a processor for more than a half of the time since
    /// the sample before, if one waits for the disk as it did in the sample before, or if this
    /// sample itself comes later than it should by more than the time between two. The system
    /// counts a wait for a processor when it is over, so it may have begun before the sample
    /// before.
    ///
    /// - Parameters:
    ///   - date: When the sample was taken.
    ///   - waits: For how long each thread had waited for a processor until then, in nanoseconds.
    ///   - onDisk: The threads that wait for the disk.
    /// - Returns: The stretch up to `date`, or nil if nobody waited for long, and for the first
    ///   sample.
    mutating func stretch(
        until date: Date, waits: [ProcessTree.Thread: UInt64], onDisk: Set<ProcessTree.Thread> = []
    ) -> DateInterval? {
        defer { last = (date, waits, onDisk) }
        guard let last, last.date < date else { return nil }
        let elapsed = date.timeIntervalSince(last.date)
        let wait = waits.map { Self.growth(of: $1, since: last.waits[$0]) }.max() ?? 0
        let isLate = elapsed > 2 * period * factor
        let isOnDisk = !onDisk.isDisjoint(with: last.onDisk)
        guard isLate || isOnDisk || wait * factor > Self.share * elapsed else { return nil }
        return DateInterval(start: min(last.date, date - wait * factor), end: date)
    }

    /// For how long a thread has waited since the sample before, in real seconds.
    ///
    /// Nobody can tell for one that was not there, or whose number was given again.
    private static func growth(of wait: UInt64, since before: UInt64?) -> TimeInterval {
        guard let before, before < wait else { return 0 }
        return TimeInterval(wait - before) / 1e9
    }
}
