package import Foundation

/// The live status of a worker: written by the worker, read by the notifier of the same process.
package final class WorkerPulse: @unchecked Sendable {
    // Sendable because every property is only touched under `lock`.
    /// Seconds without a completed pass after which a worker counts as idle.
    private static let idleAfter: TimeInterval = 600

    private let lock = NSLock()
    private var holds = false
    private var lastWork: TimeInterval?
    private var failing: [WorkFault] = []
    private var hasReadFaults = false
    private var lead: TimeInterval?

    package init() {}

    /// Whether the process works for the mirror now; a process that waits for another one's lease
    /// reports nothing.
    package var holdsMirror: Bool {
        get { lock.withLock { holds } }
        set { lock.withLock { holds = newValue } }
    }

    /// Whether the worker has completed a pass since it began.
    package var hasWorked: Bool { lock.withLock { lastWork != nil } }

    /// The parts whose last try failed, the oldest fault first.
    package var faults: [WorkFault] { lock.withLock { failing } }

    /// Whether ``faults`` includes those that earlier processes stored; until then an empty list
    /// has no meaning.
    package var knowsEarlierFaults: Bool { lock.withLock { hasReadFaults } }

    /// Replaces the faults.
    ///
    /// - Parameters:
    ///   - faults: The parts whose last try failed.
    ///   - isComplete: Whether the faults that earlier processes stored have been read.
    func fails(_ faults: [WorkFault], isComplete: Bool) {
        lock.withLock {
            failing = faults
            hasReadFaults = isComplete
        }
    }

    /// The number of seconds by which this machine's clock is ahead of that of the bot's network;
    /// nil while it is unknown.
    package var clockLead: TimeInterval? { lock.withLock { lead } }

    /// Records that due actions were sent, or that a person wants nothing to be sent.
    package func works(uptime: TimeInterval) { lock.withLock { lastWork = uptime } }

    /// Records the lead of this machine's clock.
    package func compares(clockLead: TimeInterval?) { lock.withLock { lead = clockLead ?? lead } }

    /// Whether due actions were sent recently.
    package func isLively(uptime: TimeInterval) -> Bool {
        lock.withLock {
            guard let lastWork else { return false }
            return uptime - lastWork < Self.idleAfter
        }
    }
}
