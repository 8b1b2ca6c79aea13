package import Foundation

/// The live status of a worker: written by the worker, read by the notifier of the same process.
package final class WorkerPulse: @unchecked Sendable {
    // Sendable because every property is only touched under `lock`.
    /// A worker whose passes did not end for so long does nothing, in seconds.
    private static let patience: TimeInterval = 600

    private let lock = NSLock()
    private var holds = false
    private var lastWork: TimeInterval?
    private var failing: [WorkFault] = []
    private var hasReadFaults = false
    private var lead: TimeInterval?

    package init() {}

    /// Whether the process does the mirror's work now; one that waits for another says nothing of
    /// it.
    package var holdsMirror: Bool {
        get { lock.withLock { holds } }
        set { lock.withLock { holds = newValue } }
    }

    /// Whether it has done something since it began.
    package var hasWorked: Bool { lock.withLock { lastWork != nil } }

    /// The parts whose last try failed, the oldest fault first.
    package var faults: [WorkFault] { lock.withLock { failing } }

    /// Whether ``faults`` includes those that earlier processes stored; before that, an empty list
    /// means nothing.
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

    /// How far this machine's clock is ahead of that of the bot's network, in seconds; nil while
    /// that is not known.
    package var clockLead: TimeInterval? { lock.withLock { lead } }

    /// Notes that what is due was sent, or that a person wants nothing to be sent.
    package func works(uptime: TimeInterval) { lock.withLock { lastWork = uptime } }

    /// Notes how far the clock is ahead.
    package func compares(clockLead: TimeInterval?) { lock.withLock { lead = clockLead ?? lead } }

    /// Whether it has sent what was due lately.
    package func isLively(uptime: TimeInterval) -> Bool {
        lock.withLock { lastWork.map { uptime - $0 < Self.patience } ?? false }
    }
}
