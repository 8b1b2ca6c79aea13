package import Foundation
import Outbox

/// The time of day and the way to wait for it.
///
/// Every decision reads the time here and every wait goes through here, so that
/// the demo and the tests can run days in seconds.
package protocol WallClock: Sendable {
    /// The present, as this clock shows it.
    var now: Date { get }
    /// Reads a clock that goes as fast and that nobody sets, in seconds since any instant.
    var uptime: TimeInterval { get }
    /// The most seconds that it shows to pass in a real one; 1 for a clock in real time.
    ///
    /// Events in real time, such as the beats of a worker, seem that much rarer by this clock.
    var rate: Double { get }
    /// Waits until `deadline`; returns at once if it has passed.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until deadline: Date) async throws
    /// Whether it stands still while a loop that has joined works, and jumps to the next wake-up
    /// when all wait.
    var jumps: Bool { get }
    /// Counts one more loop whose waiting a clock that jumps must wait for.
    ///
    /// - Returns: A turn for the loop's first sleep, see ``sleep(until:turn:)``.
    @discardableResult
    func join() -> Int
    /// Counts one loop less, so that the others go on without it.
    func leave()
    /// Waits until `deadline`; of several who wait for the same instant, who has the earlier turn
    /// goes on first.
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

/// The system's clock that nobody sets.
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

/// Waiting for a wall clock that may be set while one waits.
struct Nap: Sendable {
    /// The wall clock is read again at least this often, in real seconds, so that a clock that was
    /// set or a machine that slept is noticed.
    private static let longest: TimeInterval = 30

    /// How fast the wall clock runs, as a multiple of real time.
    let rate: Double

    /// Waits until the clock shows `deadline`, but no longer than that was away when the waiting
    /// began.
    ///
    /// A clock that is set back meanwhile therefore wakes the sleeper early, who looks at the time
    /// again, and does not keep it asleep for as long as it was set back.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until deadline: Date, on clock: some WallClock) async throws {
        let start = ContinuousClock.now
        let whole = deadline.timeIntervalSince(clock.now) / rate
        while true {
            let slept = start.duration(to: .now).timeInterval
            let remaining = min(deadline.timeIntervalSince(clock.now) / rate, whole - slept)
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
        /// By the monotonic clock.
        let deadline: Date
        let order: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    package let rate: Double
    private let lock = NSLock()
    private let onAdvance: @Sendable (Date) -> Void
    private var current: Date
    /// How far somebody has set the clock ahead.
    private var offset: TimeInterval = 0
    private var participants = 0
    private var sleepers: [Int: Sleeper] = [:]
    private var cancelled: Set<Int> = []
    private var counter = 0

    /// - Parameters:
    ///   - start: What it shows first.
    ///   - rate: How fast it goes at most, if a loop that has joined sees to that.
    ///   - onAdvance: Told what it shows next, before anybody sees that; must return soon and not
    ///     ask the clock.
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

    /// The time that the clock would show if nobody had set it.
    package var steadyNow: Date { lock.withLock { current } }

    package var uptime: TimeInterval { steadyNow.timeIntervalSince1970 }

    /// Sets the clock ahead, or back if `seconds` is negative, as a person or a time server does.
    ///
    /// Whoever sleeps wakes when the clock shows the deadline or the length of the sleep has
    /// passed, whichever comes first.
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
            counter += 1
            return counter
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
            counter += 1
            return counter
        }
        try await sleep(until: deadline, turn: turn)
    }

    package func sleep(until deadline: Date, turn order: Int) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let entered: Result<Sleeper?, CancellationError> = lock.withLock {
                    // The task may have been cancelled before it got here.
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

    /// Removes the sleeper to wake, if all participants sleep, or the only one while nobody joined;
    /// call under the lock.
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
