/// Detects silent workers, with the observer's monotonic clock alone.
///
/// A worker is silent if its beat has not changed for the silence limit, summed over the observer's
/// own readings. The time between two readings counts for at most two intervals: an observer that
/// was suspended, or could not reach the database, has not observed any silence meanwhile. A worker
/// without a row does not beat either.
struct LeaseWatch: Sendable {
    private struct Observation {
        var beat: Int64?
        var silence: Duration
        /// The counted time since the worker was first observed.
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
        var observation =
            workers[worker] ?? Observation(beat: beat, silence: .zero, age: .zero, reading: reading)
        // A worker that is new, or was seen before in this reading, gains no time.
        let isCounted = observation.reading == reading
        if !isCounted { observation.age += step }
        if let beat, beat != observation.beat {
            observation.beat = beat
            observation.silence = .zero
        } else if !isCounted {
            observation.silence += step
        }
        observation.reading = reading
        workers[worker] = observation
    }

    /// Returns whether a worker is silent; false for one that the current reading did not see.
    func isSilent(_ worker: String) -> Bool {
        guard let observation = workers[worker], observation.reading == reading else {
            return false
        }
        return observation.silence >= timing.silenceLimit
    }

    /// Returns whether a worker was first seen at least one silence limit ago; false for one that
    /// the current reading did not see.
    func hasLivedForSilenceLimit(_ worker: String) -> Bool {
        guard let observation = workers[worker], observation.reading == reading else {
            return false
        }
        return observation.age >= timing.silenceLimit
    }
}
