/// How long a lease is valid without a new beat of its worker, in real time.
package struct LeaseTiming: Sendable {
    /// The time without a new beat after which a worker is silent, unless a rehearsal shortens it.
    package static let usualSilenceLimit: Duration = .seconds(30)

    /// The time without a new beat after which the worker's mirrors may be taken.
    package let silenceLimit: Duration
    private let givenInterval: Duration?

    /// - Parameter interval: The wait between two beats; nil for a sixth of the limit, so that a
    ///   worker may miss a few.
    package init(silenceLimit: Duration = Self.usualSilenceLimit, interval: Duration? = nil) {
        self.silenceLimit = silenceLimit
        givenInterval = interval
    }

    /// The wait between two beats, and between two readings of others' beats.
    package var interval: Duration { givenInterval ?? silenceLimit / 6 }

    /// This timing for workers that share mirrors: if no interval was given, with the interval with
    /// which they notice the end of a worker soonest.
    ///
    /// A worker may end right after its last beat, which others read up to one interval later.
    /// Seven intervals later the worker is silent, because they last a little more than the
    /// limit: at most 34.5 s after its end with a limit of 30 s, where intervals of a sixth
    /// take up to 40 s.
    package var sharing: LeaseTiming {
        LeaseTiming(silenceLimit: silenceLimit, interval: givenInterval ?? silenceLimit * 1.005 / 7)
    }
}
