import DequeModule
package import Foundation
import HeapModule
package import Mirroring
import ServiceLifecycle

/// Runs the passes of the mirrors of a process, each when it is due.
///
/// One heap contains the next run of every pass; one task waits for the first of them. So a waiting
/// mirror costs no task, thread or timer. Due passes begin in the order of their times. Three rules
/// keep mirrors from affecting each other:
/// - Passes of one mirror that use the same account (``Lane``) run one after the other, so at most
///   two of a mirror run at once, and an unresponsive server of the human does not delay the bot.
/// - At most `limit` passes run at once.
/// - A pass that has run for `countedTime` does not count against the limit any more: it waits for
///   a server, and other due passes need not wait for that server too.
///
/// Due times are times of the wall clock. A pass also begins after the corresponding time has
/// elapsed on the monotonic clock, so that a clock that is set back delays nothing. A clock that is
/// set ahead makes every pass due earlier.
///
/// A clock that jumps is the clock of a rehearsal. It stands still while a task that has joined it
/// works, and jumps to the next wake-up when all such tasks wait.
package final class Rounds: @unchecked Sendable {
    // Sendable because every mutable property, those of `PassGroup` included, is only touched under
    // `lock`.

    /// The network that a pass uses.
    package enum Lane: Int, CaseIterable, Sendable {
        case bot
        case human
    }

    /// A repeated task of a mirror.
    package struct Pass: Sendable {
        let name: String
        let lane: Lane
        /// Runs once and returns when to run again; nil for never.
        ///
        /// An error ends the group.
        let run: @Sendable () async throws -> Date?

        package init(name: String, lane: Lane, run: @escaping @Sendable () async throws -> Date?) {
            self.name = name
            self.lane = lane
            self.run = run
        }
    }

    /// Seconds for which a running pass counts against ``limit``: a longer one waits for a server,
    /// and leaves its place to another pass.
    static let countedTime: TimeInterval = 1
    /// The shortest wait, in seconds, so that passes that are due meanwhile begin together: waking
    /// the threads for each of them costs more than its request.
    private static let shortestWait: TimeInterval = 0.1
    /// Seconds by which two times may differ because both are rounded to milliseconds.
    private static let roundingMargin: TimeInterval = 0.002
    /// Longer than any process lives.
    private static let farFuture = Duration.seconds(1_000_000_000)

    /// The maximum number of concurrent passes, without those that have run for ``countedTime``.
    private let limit: Int
    private let clock: any WallClock
    private let lock = NSLock()
    private var heap = Heap<Entry>()
    private var time = SteadyTime()
    /// The number of entries made so far; numbers the entries.
    private var entryCount = 0
    /// The number of passes begun so far; numbers their tickets.
    private var ticketCount = 0
    /// The number of running passes.
    private var running = 0
    /// The tickets of the passes that count against ``limit``.
    private var countedTickets: Set<Int> = []
    /// The begun passes, in the order in which they began; ended ones are removed lazily.
    private var begunPasses: Deque<(ticket: Int, uptime: TimeInterval)> = []
    private var lateness = Lateness()
    private var sleepTask: Task<Void, Never>?
    private var pendingWake: WakeReason?
    /// Whether only the end of a pass, or of the rounds, ends the sleep early.
    private var isSleepWokenOnlyByEnds = false
    /// When the first known pass is due, and when the wait for it ends; nil while the end of any
    /// pass may matter.
    private var awaited: (due: Date, end: Date)?
    private var isStopped = false

    package init(limit: Int, clock: any WallClock) {
        self.limit = max(limit, 1)
        self.clock = clock
    }

    /// Begins due passes until it is stopped, cancelled, or shut down gracefully.
    ///
    /// The caller must join the clock before, and leave it afterwards. Running passes are completed
    /// first; a cancellation reaches them.
    package func run() async {
        let hasLeftClock = await withDiscardingTaskGroup { tasks in
            await withTaskCancellationHandler {
                await withGracefulShutdownHandler {
                    while !Task.isCancelled, !Task.isShuttingDownGracefully,
                        !lock.withLock({ isStopped })
                    {
                        switch step() {
                        case .idle:
                            // From here on a clock that jumps depends on other tasks only.
                            clock.leave()
                            await wait(until: nil)
                            clock.join()
                        case .wait(let deadline):
                            await wait(until: deadline)
                            // Woken by a running pass, which must continue first on a clock that
                            // jumps.
                            if clock.jumps, lock.withLock({ running > 0 }) {
                                await letPassesGoFirst()
                            }
                        case .begin(let entry, let ticket):
                            let turn = clock.join()
                            tasks.addTask { await self.perform(entry, ticket) }
                            // On a clock that jumps, the next pass begins when this one waits or
                            // has ended.
                            if clock.jumps { await letPassesGoFirst(turn: turn) }
                        }
                    }
                } onGracefulShutdown: {
                    self.wake(by: .end)
                }
            } onCancel: {
                wake(by: .end)
            }
            // A clock that jumps need not stand still while passes wait.
            let hasRunning = lock.withLock { running > 0 }
            if hasRunning { clock.leave() }
            return hasRunning
        }
        if hasLeftClock { clock.join() }
        dropEntries()
    }

    /// Drops the entries that will not begin any more, to break the cycle of entries and groups
    /// that retain each other.
    private func dropEntries() {
        lock.withLock {
            for entry in heap.unordered { entry.group.entries = [:] }
            heap = Heap()
        }
    }

    /// Ends ``run()`` after the running passes have ended.
    package func stop() {
        lock.withLock { isStopped = true }
        wake(by: .end)
    }

    /// The most seconds by which a pass began late within the last minute, or is late now.
    package var worstLateness: TimeInterval {
        lock.withLock {
            let uptime = clock.uptime
            let steadyNow = time.milliseconds(now: clock.now, uptime: uptime)
            let waiting = heap.min.map { Double(steadyNow - $0.steadyDue) / 1_000 } ?? 0
            return max(lateness.worst(at: uptime), waiting, 0)
        }
    }

    // MARK: Groups

    /// Makes a group for the passes of one mirror.
    ///
    /// - Parameter onEnd: Called once, after the group was ended and the last of its passes has
    ///   ended: with the error that ended it, or nil.
    package func group(onEnd: @escaping @Sendable ((any Error)?) async -> Void) -> PassGroup {
        PassGroup(onEnd)
    }

    /// Adds passes to a group; they begin in the order of the list.
    ///
    /// - Parameter due: When they are first due; nil for now.
    package func add(_ passes: [Pass], to group: PassGroup, due: Date? = nil) {
        lock.withLock {
            let now = clock.now
            for pass in passes { push(pass, of: group, due: due ?? now, at: now) }
        }
        wake()
    }

    /// Makes a pass of a group due at a time, unless it is due earlier; a running pass becomes due
    /// again after it has ended.
    ///
    /// - Parameter time: The new due time; nil for now.
    package func hurry(_ name: String, of group: PassGroup, to time: Date? = nil) {
        let isRescheduled = lock.withLock { () -> Bool in
            let now = clock.now
            let due = time ?? now
            guard let waiting = group.entries[name] else {
                if group.running.values.contains(where: { $0.name == name }) {
                    group.hurried[name] = min(group.hurried[name] ?? due, due)
                }
                return false
            }
            guard waiting.due > due else { return false }
            push(waiting.pass, of: group, due: due, at: now)
            return true
        }
        if isRescheduled { wake() }
    }

    /// Ends a group, so that none of its passes begins any more.
    ///
    /// - Parameter error: The cause; it cancels the running passes. Nil lets them finish.
    package func end(_ group: PassGroup, with error: (any Error)? = nil) async {
        let isOver = lock.withLock { () -> Bool in
            guard !group.isEnded else { return false }
            group.end(with: error)
            return group.running.isEmpty
        }
        if isOver { await group.onEnd(error) }
    }

    // MARK: The heap

    private enum Step {
        /// No pass runs, and none is scheduled.
        case idle
        case wait(Date)
        case begin(Entry, ticket: Int)
    }

    private func step() -> Step {
        lock.withLock {
            let now = clock.now
            let uptime = clock.uptime
            let steadyNow = time.milliseconds(now: now, uptime: uptime)
            awaited = nil
            // Passes that have run for `countedTime`, or have ended, do not count any more.
            while let first = begunPasses.first,
                first.uptime + Self.countedTime <= uptime || !countedTickets.contains(first.ticket)
            {
                begunPasses.removeFirst()
                countedTickets.remove(first.ticket)
            }
            while let first = heap.min {
                guard first.isCurrent else {
                    heap.removeMin()
                    continue
                }
                // The steady time must be later by a whole millisecond, because both times are
                // rounded.
                guard first.due <= now || first.steadyDue < steadyNow else {
                    let due = Self.deadline(of: first, steadyNow: steadyNow, now: now)
                    let end = clock.jumps ? due : max(due, now + Self.shortestWait)
                    awaited = (due, end)
                    return .wait(end)
                }
                if first.group.isBusy(first.pass.lane) {
                    first.group.waiting.append(heap.removeMin())
                    continue
                }
                if countedTickets.count >= limit, let oldest = begunPasses.first {
                    return .wait(now + (oldest.uptime + Self.countedTime - uptime))
                }
                ticketCount += 1
                running += 1
                first.group.entries[first.pass.name] = nil
                pendingWake = nil
                countedTickets.insert(ticketCount)
                begunPasses.append((ticketCount, uptime))
                first.group.running[ticketCount] = Running(
                    name: first.pass.name, lane: first.pass.lane)
                lateness.note(Double(steadyNow - first.steadyDue) / 1_000, at: uptime)
                return .begin(heap.removeMin(), ticket: ticketCount)
            }
            awaited = (.distantFuture, .distantFuture)
            return running == 0 ? .idle : .wait(.distantFuture)
        }
    }

    /// The wall clock's time at which an entry is due: its own, unless the clock was set back
    /// meanwhile.
    private static func deadline(of entry: Entry, steadyNow: Int64, now: Date) -> Date {
        // One millisecond more, because both times are rounded.
        let secondsLeft = Double(entry.steadyDue - steadyNow + 1) / 1_000
        let secondsByWallClock = entry.due.timeIntervalSince(now)
        let wasSetBack = secondsByWallClock - secondsLeft > roundingMargin
        return wasSetBack ? now + secondsLeft : entry.due
    }

    /// Adds the next run of a pass to the heap; call under the lock.
    private func push(_ pass: Pass, of group: PassGroup, due: Date, at now: Date) {
        entryCount += 1
        let steadyNow = time.milliseconds(now: now, uptime: clock.uptime)
        let delayMilliseconds = min(max(due.timeIntervalSince(now), 0), Double(Int32.max)) * 1_000
        let entry = Entry(
            steadyDue: steadyNow + Int64(delayMilliseconds.rounded()), number: entryCount, due: due,
            pass: pass,
            group: group)
        group.entries[pass.name] = entry
        heap.insert(entry)
    }

    private func perform(_ entry: Entry, _ ticket: Int) async {
        let task = Task { try await entry.pass.run() }
        let isEnded = lock.withLock { () -> Bool in
            entry.group.running[ticket]?.task = task
            return entry.group.isCancelled
        }
        if isEnded { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let end = finish(entry, ticket, result)
        if let (onEnd, error) = end.groupEnd { await onEnd(error) }
        if end.mayBeginEarlier { wake(by: .end) }
        // Last of all, because a clock that jumps waits for this.
        clock.leave()
    }

    /// The consequences of the end of a pass.
    private struct End {
        /// The group's end callback and its error; `nil` unless this was the last pass of an ended
        /// group.
        let groupEnd: (onEnd: @Sendable ((any Error)?) async -> Void, error: (any Error)?)?
        /// Whether a pass may begin earlier than was known.
        let mayBeginEarlier: Bool
    }

    /// Schedules the next run after the end of a pass, and returns the consequences of the end.
    private func finish(_ entry: Entry, _ ticket: Int, _ result: Result<Date?, any Error>) -> End {
        lock.withLock {
            let group = entry.group
            let hasWaiting = !group.waiting.isEmpty
            running -= 1
            countedTickets.remove(ticket)
            group.running[ticket] = nil
            for waiting in group.waiting
            where waiting.pass.lane == entry.pass.lane && waiting.isCurrent {
                heap.insert(waiting)
            }
            group.waiting.removeAll { $0.pass.lane == entry.pass.lane }
            switch result {
            case .success(let next?) where !group.isEnded:
                let now = clock.now
                let hurried = group.hurried.removeValue(forKey: entry.pass.name)
                push(entry.pass, of: group, due: min(next, hurried ?? next), at: now)
            case .failure(let error) where !group.isEnded:
                group.end(with: error)
            default: break
            }
            // A clock that jumps has to be woken each time, and passes that waited are due at once.
            return End(
                groupEnd: group.isEnded && group.running.isEmpty ? (group.onEnd, group.error) : nil,
                mayBeginEarlier: clock.jumps || hasWaiting || isFirstEarlierThanAwaited)
        }
    }

    /// Whether a pass may be due before the time that the rounds wait for; call under the lock.
    private var isFirstEarlierThanAwaited: Bool {
        guard let awaited else { return true }
        // If the awaited time is over, a pass may be due.
        if awaited.end <= clock.now { return true }
        guard let first = heap.min else { return false }
        return first.due < awaited.due
    }

    // MARK: Waiting

    /// The reason to check the heap before its first entry is due.
    private enum WakeReason {
        case change
        case end
    }

    /// Lets the running passes of a clock that jumps continue until all of them wait or one has
    /// ended.
    ///
    /// Such a clock wakes one sleeper at a time, and only while every loop waits. So even a sleep
    /// until the present lets them run first.
    ///
    /// - Parameter turn: The order in which the clock wakes tasks that wait for the same time; nil
    ///   for a turn after all others.
    private func letPassesGoFirst(turn: Int? = nil) async {
        await wait(until: clock.now, turn: turn, wokenOnlyByEnds: true)
    }

    /// Waits until the clock shows `deadline`, or an event occurs.
    ///
    /// - Parameters:
    ///   - deadline: Nil for never.
    ///   - wokenOnlyByEnds: Whether only the end of a pass, or of the rounds, ends the wait early.
    private func wait(
        until deadline: Date?, turn: Int? = nil, wokenOnlyByEnds: Bool = false
    ) async {
        let sleepTask = Task<Void, Never> { [clock] in
            guard let deadline else {
                // Only cancellation ends the sleep.
                try? await ContinuousClock().sleep(for: Self.farFuture)
                return
            }
            if let turn {
                // Only cancellation ends the sleep.
                try? await clock.sleep(until: deadline, turn: turn)
            } else {
                try? await clock.sleep(until: deadline)
            }
        }
        let isAlreadyWoken = lock.withLock { () -> Bool in
            self.sleepTask = sleepTask
            isSleepWokenOnlyByEnds = wokenOnlyByEnds
            return wokenOnlyByEnds ? pendingWake == .end : pendingWake != nil
        }
        if isAlreadyWoken { sleepTask.cancel() }
        await sleepTask.value
        lock.withLock {
            self.sleepTask = nil
            if !wokenOnlyByEnds || pendingWake == .end { pendingWake = nil }
        }
    }

    private func wake(by reason: WakeReason = .change) {
        let sleepTask = lock.withLock { () -> Task<Void, Never>? in
            if pendingWake != .end { pendingWake = reason }
            return reason == .end || !isSleepWokenOnlyByEnds ? self.sleepTask : nil
        }
        sleepTask?.cancel()
    }

    struct Running {
        let name: String
        let lane: Lane
        var task: Task<Date?, any Error>?
    }

    fileprivate struct Entry: Comparable {
        /// When it is due, in milliseconds of ``SteadyTime``.
        let steadyDue: Int64
        /// Orders entries with the same ``steadyDue`` by their creation.
        let number: Int
        /// When it is due by the wall clock.
        let due: Date
        let pass: Pass
        let group: PassGroup

        /// False after the group has ended, or after another entry of the pass has replaced it.
        var isCurrent: Bool { group.entries[pass.name]?.number == number }

        static func < (left: Entry, right: Entry) -> Bool {
            (left.steadyDue, left.number) < (right.steadyDue, right.number)
        }

        static func == (left: Entry, right: Entry) -> Bool { left.number == right.number }
    }
}

/// The passes of one mirror in ``Rounds``, which end together.
package final class PassGroup: @unchecked Sendable {
    // Sendable because its properties are only touched under the lock of `Rounds`.
    fileprivate let onEnd: @Sendable ((any Error)?) async -> Void
    fileprivate var running: [Int: Rounds.Running] = [:]
    /// The entries that are due while their lane is busy.
    fileprivate var waiting: [Rounds.Entry] = []
    /// The next run, by name, of each pass that is not running.
    fileprivate var entries: [String: Rounds.Entry] = [:]
    /// The running passes that were hurried, by name, with the latest time of their next run.
    fileprivate var hurried: [String: Date] = [:]
    fileprivate private(set) var isEnded = false
    fileprivate private(set) var error: (any Error)?

    fileprivate init(_ onEnd: @escaping @Sendable ((any Error)?) async -> Void) {
        self.onEnd = onEnd
    }

    fileprivate var isCancelled: Bool { error != nil }

    fileprivate func isBusy(_ lane: Rounds.Lane) -> Bool {
        running.values.contains { $0.lane == lane }
    }

    fileprivate func end(with error: (any Error)?) {
        isEnded = true
        self.error = error
        waiting = []
        entries = [:]
        if error != nil { for pass in running.values { pass.task?.cancel() } }
    }
}

/// The largest delay of a pass within the last minute.
private struct Lateness {
    /// Half of the minute, in seconds; a delay counts for one to two such halves.
    private static let halfPeriod: TimeInterval = 30

    /// When the current half began, on the monotonic clock.
    private var halfStart: TimeInterval = -.infinity
    private var formerWorst: TimeInterval = 0
    private var currentWorst: TimeInterval = 0

    mutating func note(_ seconds: TimeInterval, at uptime: TimeInterval) {
        _ = worst(at: uptime)
        currentWorst = max(currentWorst, seconds)
    }

    mutating func worst(at uptime: TimeInterval) -> TimeInterval {
        if uptime - halfStart >= 2 * Self.halfPeriod {
            formerWorst = 0
            currentWorst = 0
            halfStart = uptime
        } else if uptime - halfStart >= Self.halfPeriod {
            formerWorst = currentWorst
            currentWorst = 0
            halfStart += Self.halfPeriod
        }
        return max(formerWorst, currentWorst)
    }
}

/// A time that advances with the machine's monotonic clock, and jumps ahead when the wall clock is
/// set ahead.
private struct SteadyTime {
    /// Seconds; a smaller jump is only the time between the readings of the two clocks.
    private static let tolerance: TimeInterval = 0.001

    /// The last difference between the wall clock and the monotonic clock, in seconds.
    private var offset: TimeInterval?
    /// The sum of all jumps of the wall clock ahead, in seconds.
    private var jumpsAhead: TimeInterval = 0

    /// Returns the present, in milliseconds since an arbitrary instant.
    mutating func milliseconds(now: Date, uptime: TimeInterval) -> Int64 {
        let currentOffset = now.timeIntervalSinceReferenceDate - uptime
        let jump = currentOffset - (offset ?? currentOffset)
        if offset == nil || abs(jump) > Self.tolerance {
            offset = currentOffset
            jumpsAhead += max(jump, 0)
        }
        return Int64(((uptime + jumpsAhead) * 1_000).rounded())
    }
}
