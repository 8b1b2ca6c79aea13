import Outbox

/// How long a lease lives without its holder, in real time.
package struct LeaseTiming: Sendable {
    /// How long a beat must stand still before the lease may be taken.
    package let patience: Duration
    /// The wait between two beats, and between two looks at another holder's: a sixth of `patience`, so that the holder may
    /// miss a few.
    let interval: Duration

    /// - Parameters:
    ///   - patience: How long a beat must stand still before the lease may be taken.
    ///   - interval: The wait between two beats; nil for a sixth of that.
    package init(patience: Duration = LeaseWatch.patience, interval: Duration? = nil) {
        self.patience = patience
        self.interval = interval ?? patience / 6
    }
}
