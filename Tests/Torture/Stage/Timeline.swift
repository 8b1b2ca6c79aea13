import Control
import Foundation
import Mirroring

/// When the workers of a run could not do their work, on the mirror's clock.
final class Timeline: @unchecked Sendable {
    // Sendable because every stored variable is only touched under `lock`.
    private let lock = NSLock()
    private let clock: AcceleratedClock
    private var finished: [Disturbance] = []
    /// Disjoint, in the order of time.
    private var starvation: [DateInterval] = []
    private var open: [Int: (cause: Disturbance.Cause, start: Date)] = [:]
    private var count = 0
    /// The number of the stretch without a worker that lasts now.
    private var absence: Int?

    /// Nobody works in the beginning.
    init(clock: AcceleratedClock) {
        self.clock = clock
        absence = begin(.noWorker)
    }

    /// Everything up to now; what has not ended ends now.
    var disturbances: [Disturbance] {
        lock.withLock {
            let now = clock.now
            return finished
                + open.sorted { $0.key < $1.key }.map { Self.disturbance($0.value, until: now) }
                + starvation.map { Disturbance(cause: .starvation, interval: $0) }
        }
    }

    /// Notes that something hinders the workers from now on, and returns its number.
    func begin(_ cause: Disturbance.Cause) -> Int {
        lock.withLock {
            count += 1
            open[count] = (cause, clock.now)
            return count
        }
    }

    /// Notes that it is over, a little later if its consequences are known to last.
    func end(_ number: Int, lasting extra: TimeInterval = 0) {
        lock.withLock {
            guard let begun = open.removeValue(forKey: number) else { return }
            finished.append(Self.disturbance(begun, until: clock.now + extra))
        }
    }

    /// Notes that something hindered the workers in a stretch that is over.
    func note(_ cause: Disturbance.Cause, _ stretch: DateInterval) {
        lock.withLock { finished.append(Disturbance(cause: cause, interval: stretch)) }
    }

    /// Notes whether some worker works.
    func note(isWorking: Bool) {
        let current = lock.withLock { absence }
        if isWorking, let current {
            end(current)
            lock.withLock { absence = nil }
        } else if !isWorking, current == nil {
            let begun = begin(.noWorker)
            lock.withLock { absence = begun }
        }
    }

    /// Notes that the machine let somebody wait; stretches that touch each other become one.
    func noteStarvation(_ stretch: DateInterval) {
        lock.withLock { starvation.append(merging: stretch) }
    }

    /// For how long the machine has let somebody wait since an instant, in seconds of the mirror's
    /// clock.
    func starvation(since start: Date) -> TimeInterval {
        lock.withLock {
            starvation.reduce(0) { $0 + max(0, $1.end.timeIntervalSince(max($1.start, start))) }
        }
    }

    private static func disturbance(
        _ begun: (cause: Disturbance.Cause, start: Date), until end: Date
    ) -> Disturbance {
        Disturbance(
            cause: begun.cause,
            interval: DateInterval(start: begun.start, end: max(begun.start, end)))
    }
}
