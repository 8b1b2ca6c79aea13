/// Detects silent workers, with the observer's monotonic clock alone.
///
/// A worker is silent if its beat has not changed for the patience, summed over the observer's own
/// readings. The time between two readings counts for at most two intervals: an observer that was
/// suspended, or could not reach the database, has not observed any silence meanwhile. A worker
/// without a row does not beat either.
struct LeaseWatch: Sendable {
    private struct Seen {
        var beat: Int64?
        var silence: Duration
        /// The counted time since the worker was first seen.
        var age: Duration
        var look: Int
    }

    private let timing: LeaseTiming
    private var workers: [String: Seen] = [:]
    private var last: ContinuousClock.Instant?
    private var look = 0
    /// The counted time since the previous reading.
    private(set) var step: Duration = .zero

    init(_ timing: LeaseTiming) { self.timing = timing }

    /// Begins a reading and drops the workers that the previous reading did not see.
    mutating func begin(at instant: ContinuousClock.Instant) {
        step = last.map { min(max(.zero, $0.duration(to: instant)), timing.interval * 2) } ?? .zero
        last = instant
        workers = workers.filter { $0.value.look == look }
        look += 1
    }

    /// Notes a worker's beat in this reading; nil for a worker with leases but without a row.
    mutating func see(_ worker: String, beat: Int64?) {
        var seen = workers[worker] ?? Seen(beat: beat, silence: .zero, age: .zero, look: look)
        let isFirst = seen.look == look
        if !isFirst { seen.age += step }
        if let beat, beat != seen.beat {
            seen.beat = beat
            seen.silence = .zero
        } else if !isFirst {
            seen.silence += step
        }
        seen.look = look
        workers[worker] = seen
    }

    /// Returns whether a worker is silent; false for one that the current reading did not see.
    func isSilent(_ worker: String) -> Bool {
        guard let seen = workers[worker], seen.look == look else { return false }
        return seen.silence >= timing.patience
    }

    /// Returns whether a worker was first seen at least one patience ago; false for one that the
    /// current reading did not see.
    func hasLivedForPatience(_ worker: String) -> Bool {
        guard let seen = workers[worker], seen.look == look else { return false }
        return seen.age >= timing.patience
    }
}
