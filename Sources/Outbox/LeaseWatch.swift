/// Tells which workers are silent, by the observer's monotonic clock alone.
///
/// A worker is silent if its beat has not changed for the patience, summed over the observer's own
/// looks. The time between two looks counts for at most two intervals: an observer that was frozen,
/// or could not reach the database, has not seen anybody be silent meanwhile. A worker whose row is
/// gone does not beat either.
struct LeaseWatch: Sendable {
    private struct Seen {
        var beat: Int64?
        var silence: Duration
        /// The time that counts since the first look that saw it.
        var age: Duration
        var look: Int
    }

    private let timing: LeaseTiming
    private var workers: [String: Seen] = [:]
    private var last: ContinuousClock.Instant?
    private var look = 0
    /// The time that counts since the look before.
    private(set) var step: Duration = .zero

    init(_ timing: LeaseTiming) { self.timing = timing }

    /// Begins a look and drops the workers that the look before did not see.
    mutating func begin(at instant: ContinuousClock.Instant) {
        step = last.map { min(max(.zero, $0.duration(to: instant)), timing.interval * 2) } ?? .zero
        last = instant
        workers = workers.filter { $0.value.look == look }
        look += 1
    }

    /// Notes a worker's beat in this look; nil for a worker that holds leases and has no row.
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

    /// Returns whether a worker that this look saw is silent.
    func isSilent(_ worker: String) -> Bool {
        guard let seen = workers[worker], seen.look == look else { return false }
        return seen.silence >= timing.patience
    }

    /// Returns whether a worker that this look saw was first seen as long ago as the patience.
    func hasLivedForPatience(_ worker: String) -> Bool {
        guard let seen = workers[worker], seen.look == look else { return false }
        return seen.age >= timing.patience
    }
}
