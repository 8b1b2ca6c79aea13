/// How long a lease lives without a beat of its worker, in real time.
package struct LeaseTiming: Sendable {
    /// The time without a new beat after which a worker is silent, unless a rehearsal shortens it.
    package static let usualPatience: Duration = .seconds(30)

    /// How long a beat must stand still before the worker's mirrors may be taken.
    package let patience: Duration
    /// The wait between two beats, and between two looks at the beats of others.
    package let interval: Duration

    /// - Parameter interval: The wait between two beats; nil for a sixth of the patience, so that a worker may miss a few.
    package init(patience: Duration = Self.usualPatience, interval: Duration? = nil) {
        self.patience = patience
        self.interval = interval ?? patience / 6
    }
}
