/// Detects silent workers, with the observer's monotonic clock alone.
///
/// A worker is silent if its beat has not changed for the patience, summed over the observer's own
/// readings. The time between two readings counts for at most two intervals: an observer that was
/// suspended, or could not reach the database, has not observed any silence meanwhile. A worker
/// without a row does not beat either.
struct LeaseWatch: Sendable {
    private struct Observation {
        var beat: Int64?
        var silence: Duration
        /// The counted time since the worker was first seen.
        var age: Duration
        /// The number of the last reading that saw the worker.
        var reading: Int
    }

    private let timing: LeaseTiming
    private var workers: [String: Observation] = [:]
    private var lastReading: ContinuousClock.Instant?
    /// The number of the current reading.
    private var reading = 0
    /// The counted time since the previous reading.
    private(set) var step: Duration = .zero

    init(_ timing: LeaseTiming) { self.timing = timing }

    /// Begins a reading and drops the workers that the previous reading did not see.
    mutating func begin(at instant: ContinuousClock.Instant) {
        step =
            lastReading.map { min(max(.zero, $0.duration(to: instant)), timing.interval * 2) }
            ?? .zero
        lastReading = instant
        workers = workers.filter { $0.value.reading == reading }
        reading += 1
    }

    /// Notes a worker's beat in this reading; nil for a worker with leases but without a row.
    mutating func see(_ worker: String, beat: Int64?) {
        var seen =
            workers[worker] ?? Observation(beat: beat, silence: .zero, age: .zero, reading: reading)
        let isFirst = seen.reading == reading
        if !isFirst { seen.age += step }
        if let beat, beat != seen.beat {
            seen.beat = beat
            seen.silence = .zero
        } else if !isFirst {
            seen.silence += step
        }
        seen.reading = reading
        workers[worker] = seen
    }

    /// Returns whether a worker is silent; false for one that the current reading did not see.
    func isSilent(_ worker: String) -> Bool {
        guard let seen = workers[worker], seen.reading == reading else { return false }
        return seen.silence >= timing.patience
    }

    /// Returns whether a worker was first seen at least one patience ago; false for one that the
    /// current reading did not see.
    func hasLivedForPatience(_ worker: String) -> Bool {
        guard let seen = workers[worker], seen.reading == reading else { return false }
        return seen.age >= timing.patience
    }
}
