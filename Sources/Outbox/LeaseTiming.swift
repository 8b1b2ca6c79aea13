/// How long a lease lives without a beat of its worker, in real time.
package struct LeaseTiming: Sendable {
    /// The time without a new beat after which a worker is silent, unless a rehearsal shortens it.
    package static let usualPatience: Duration = .seconds(30)

    /// How long a beat must stand still before the worker's mirrors may be taken.
    package let patience: Duration
    private let givenInterval: Duration?

    /// - Parameter interval: The wait between two beats; nil for a sixth of the patience, so that a
    ///   worker may miss a few.
    package init(patience: Duration = Self.usualPatience, interval: Duration? = nil) {
        self.patience = patience
        givenInterval = interval
    }

    /// The wait between two beats, and between two looks at the beats of others.
    package var interval: Duration { givenInterval ?? patience / 6 }

    /// The same, with a wait by which workers that share mirrors notice the end of one soonest, if
    /// none was given.
    ///
    /// A worker may end just behind its last beat, and others see that beat up to one wait later.
    /// Seven waits later the worker is silent, for they last a little more than the patience: at
    /// most 34.5 s after its end with a patience of 30 s, where waits of a sixth take up to 40 s.
    package var sharing: LeaseTiming {
        LeaseTiming(patience: patience, interval: givenInterval ?? patience * 1.005 / 7)
    }
}
