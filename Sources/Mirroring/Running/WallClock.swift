package import Foundation
import Outbox

/// The time of day, and waiting for it.
///
/// Every decision reads the time here and every wait uses this clock, so that the demo and the
/// tests can run days in seconds.
package protocol WallClock: Sendable {
    /// The present time of this clock.
    var now: Date { get }
    /// Reads a monotonic clock of the same speed, in seconds since an arbitrary instant.
    var uptime: TimeInterval { get }
    /// The most seconds of this clock in a second of real time; 1 for a clock in real time.
    ///
    /// Events in real time, such as the beats of a worker, appear that much rarer by this clock.
    var rate: Double { get }
    /// Waits until `deadline`; returns at once if it has passed.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until deadline: Date) async throws
    /// Whether it stands still while a participating loop works, and jumps to the next wake-up when
    /// all wait.
    var jumps: Bool { get }
    /// Adds a participating loop, for which a jumping clock must wait.
    ///
    /// - Returns: A turn for the loop's first sleep, see ``sleep(until:turn:)``.
    @discardableResult
    func join() -> Int
    /// Removes a participating loop, so that the others continue without it.
    func leave()
    /// Waits until `deadline`; of several loops that wait for the same instant, the one with the
    /// earlier turn wakes first.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until deadline: Date, turn: Int) async throws
}

extension WallClock {
    package var uptime: TimeInterval { SystemUptime.seconds }

    /// Reads ``uptime`` as an instant, for code that measures durations.
    package var instants: @Sendable () -> ContinuousClock.Instant {
        let start = ContinuousClock.now
        let begin = uptime
        return { start + .seconds(uptime - begin) }
    }

    package var rate: Double { 1 }

    package var jumps: Bool { false }

    @discardableResult
    package func join() -> Int { 0 }

    package func leave() {}

    package func sleep(until deadline: Date, turn: Int) async throws {
        try await sleep(until: deadline)
    }
}

/// The system's monotonic clock.
enum SystemUptime {
    private static let origin = ContinuousClock.now

    static var seconds: TimeInterval { origin.duration(to: .now) / .seconds(1) }
}

/// The system's clock.
package struct SystemClock: WallClock {
    package init() {}

    package var now: Date { Date() }

    package func sleep(until deadline: Date) async throws {
        try await Nap(rate: 1).sleep(until: deadline, on: self)
    }
}

/// Waits for a wall clock that may be set during the wait.
struct Nap: Sendable {
    /// Real seconds after which the wall clock is read again, so that a changed clock or a sleep of
    /// the machine is noticed.
    private static let longest: TimeInterval = 30

    /// Seconds of the wall clock in a second of real time.
    let rate: Double

    /// Waits until the clock shows `deadline`, but no longer than the deadline was away at the
    /// beginning.
    ///
    /// So a clock that is set back during the wait does not prolong the sleep: the sleeper wakes
    /// early and reads the time again.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until deadline: Date, on clock: some WallClock) async throws {
        let start = ContinuousClock.now
        let duration = deadline.timeIntervalSince(clock.now) / rate
        while true {
            let slept = start.duration(to: .now).timeInterval
            let remaining = min(deadline.timeIntervalSince(clock.now) / rate, duration - slept)
            guard remaining > 0 else { return }
            try await ContinuousClock().sleep(for: .seconds(min(remaining, Self.longest)))
        }
    }
}

/// A clock that jumps to the next wake-up as soon as every loop waits.
///
/// Sleepers wake one at a time, in the order of their deadlines and then of
/// their turns, so a run is the same every time.
package final class VirtualClock: WallClock, @unchecked Sendable {
    // Sendable because every stored property is only touched under `lock`.
    private struct Sleeper {
        /// When it wakes, by the monotonic clock.
        let deadline: Date
        let order: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    package let rate: Double
    private let lock = NSLock()
    private let onAdvance: @Sendable (Date) -> Void
    private var current: Date
    /// The number of seconds by which the clock was set ahead.
    private var offset: TimeInterval = 0
    private var participants = 0
    private var sleepers: [Int: Sleeper] = [:]
    private var cancelled: Set<Int> = []
    /// The last turn that was given out.
    private var lastTurn = 0

    /// - Parameters:
    ///   - start: The first time that it shows.
    ///   - rate: Its maximum speed, if a participating loop enforces it.
    ///   - onAdvance: Called with the next time before the clock shows it; must return soon and
    ///     must not read the clock.
    package init(
        startingAt start: Date, rate: Double = 1,
        onAdvance: @escaping @Sendable (Date) -> Void = { _ in }
    ) {
        current = start
        self.rate = rate
        self.onAdvance = onAdvance
    }

    package var now: Date { lock.withLock { current + offset } }

    package var jumps: Bool { true }

    /// The time that the clock would show if it had not been set.
    package var steadyNow: Date { lock.withLock { current } }

    package var uptime: TimeInterval { steadyNow.timeIntervalSince1970 }

    /// Sets the clock ahead, or back if `seconds` is negative, as a person or a time server does.
    ///
    /// A sleeper wakes when the clock shows the deadline or the length of the sleep has passed,
    /// whichever comes first.
    package func jump(by seconds: TimeInterval) {
        lock.withLock {
            offset += seconds
            guard seconds > 0 else { return }
            for (order, sleeper) in sleepers {
                sleepers[order] = Sleeper(
                    deadline: sleeper.deadline - seconds, order: order,
                    continuation: sleeper.continuation)
            }
        }
    }

    @discardableResult
    package func join() -> Int {
        lock.withLock {
            participants += 1
            lastTurn += 1
            return lastTurn
        }
    }

    package func leave() {
        lock.withLock { () -> Sleeper? in
            participants -= 1
            return nextToWake()
        }?.continuation.resume()
    }

    package func sleep(until deadline: Date) async throws {
        let turn = lock.withLock { () -> Int in
            lastTurn += 1
            return lastTurn
        }
        try await sleep(until: deadline, turn: turn)
    }

    package func sleep(until deadline: Date, turn order: Int) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let entered: Result<Sleeper?, CancellationError> = lock.withLock {
                    // The task may have been cancelled before this point.
                    if cancelled.remove(order) != nil { return .failure(CancellationError()) }
                    sleepers[order] = Sleeper(
                        deadline: deadline - offset, order: order, continuation: continuation)
                    return .success(nextToWake())
                }
                switch entered {
                case .success(let woken): woken?.continuation.resume()
                case .failure(let error): continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            let sleeper = lock.withLock { () -> Sleeper? in
                guard let sleeper = sleepers.removeValue(forKey: order) else {
                    cancelled.insert(order)
                    return nil
                }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Removes the next sleeper, if all participants sleep, or if nobody participates; call under
    /// the lock.
    private func nextToWake() -> Sleeper? {
        guard sleepers.count >= max(participants, 1),
            let next = sleepers.values.min(by: { ($0.deadline, $0.order) < ($1.deadline, $1.order) }
            )
        else { return nil }
        sleepers[next.order] = nil
        if next.deadline > current {
            current = next.deadline
            onAdvance(current + offset)
        }
        return next
    }
}
