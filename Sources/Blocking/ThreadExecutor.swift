import Foundation

/// One operating-system thread that runs jobs in the order they arrive.
///
/// It is for C libraries whose calls block. An actor returns the executor from `unownedExecutor`, a
/// task prefers it, or ``run(onCancel:_:)`` hands over a unit of work. A single switch to the
/// thread and back costs about 12 µs, so hand over whole units of work (a transaction, a pipeline),
/// not single calls.
///
/// SIGPIPE is blocked on the thread: a library that writes to a connection the peer has closed gets
/// an error instead of ending the process.
package final class ThreadExecutor: SerialExecutor, TaskExecutor {
    private let worker: Worker

    /// - Parameters:
    ///   - name: The thread's name in debuggers; the system may cut it to 15 bytes.
    ///   - hasLowPriority: Whether the thread has a nice value of 10, so that other threads of the
    ///     machine have priority; only on Linux, where each thread has such a value.
    package init(name: String, hasLowPriority: Bool = false) {
        worker = Worker(name: name, hasLowPriority: hasLowPriority)
    }

    deinit { worker.shutdown() }

    /// Lets the queued jobs finish, then ends the thread.
    ///
    /// Returns at once; calling it again does nothing. ``run(onCancel:_:)`` refuses work from now
    /// on. Jobs of actors and tasks that still arrive are not lost: they run on a thread that ends
    /// as soon as the queue is empty.
    package func shutdown() {
        worker.shutdown()
    }

    /// Lets the queued jobs finish and a last one after them, then ends the thread.
    ///
    /// Waits until the thread has ended, even if the task is cancelled. After another shutdown the
    /// last job does not run.
    package func shutdown(after lastJob: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let isAdded = worker.addUnlessShutDown(asLast: true) {
                lastJob()
                continuation.resume()
            }
            if !isAdded { continuation.resume() }
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The closure keeps the executor alive while one of its jobs runs, even if that job
        // releases its last owner.
        worker.add {
            job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(),
                taskExecutor: self.asUnownedTaskExecutor())
        }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    /// True when the caller runs on the executor's thread.
    package func isIsolatingCurrentContext() -> Bool? {
        worker.isCurrentThread
    }

    package func checkIsolated() {
        precondition(
            worker.isCurrentThread,
            "this code must run on the thread of the executor \(worker.name)")
    }

    /// Runs a blocking unit of work on the thread.
    ///
    /// If the task is cancelled while the work waits in the queue, the work never runs and the call
    /// throws at once. If it is cancelled while the work runs, `onCancel` is called once, and the
    /// call still waits for the work and passes on its value or error: the work decides what an
    /// interruption means. `onCancel` has returned before the next job starts, so it cannot
    /// interrupt a later unit of work on the same connection.
    ///
    /// - Parameters:
    ///   - onCancel: Makes the running work stop soon; called on the thread that cancels. It must
    ///     not wait for the work.
    ///   - work: The unit of work.
    /// - Returns: The result of `work`.
    /// - Throws: The error of `work`, or `CancellationError` when the work did not run because the
    ///   task was cancelled or the executor was shut down.
    package func run<Value: Sendable>(
        onCancel: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await queue(WorkUnit(onCancel: onCancel, work))
    }

    private func queue<Value: Sendable>(_ unit: WorkUnit<Value>) async throws -> Value {
        try await run(unit) { unit in
            if !worker.addUnlessShutDown({ unit.execute() }) { unit.cancel() }
        }
    }

    /// Enqueues a unit with `submit` and waits for the unit to end.
    ///
    /// For a unit that was cancelled before, it calls `ifCancelled` instead of `submit`.
    private func run<Value: Sendable>(
        _ unit: WorkUnit<Value>, ifCancelled: () -> Void = {}, submit: (WorkUnit<Value>) -> Void
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if unit.wait(with: continuation) { submit(unit) } else { ifCancelled() }
            }
        } onCancel: {
            unit.cancel()
        }
    }

    /// Runs a blocking unit of work on the thread, and ends its waits when the task is cancelled.
    ///
    /// - Parameters:
    ///   - interruption: The interruption that the work's waits watch; it is reset first.
    ///   - work: The unit of work.
    /// - Returns: The result of `work`.
    /// - Throws: As ``run(onCancel:_:)`` does.
    package func run<Value: Sendable>(
        interrupting interruption: Interruption, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await queue(interruptible(interruption, work))
    }

    private func interruptible<Value: Sendable>(
        _ interruption: Interruption, _ work: @escaping @Sendable () throws -> Value
    ) -> WorkUnit<Value> {
        WorkUnit(prepare: { interruption.reset() }, onCancel: { interruption.request() }, work)
    }

    /// Runs a unit of work; if it can finish at once, saves the switch to the thread and back.
    ///
    /// While nothing is queued or running, `beginning` runs on the caller's thread, and no job of
    /// the executor runs meanwhile. If it does not finish the work, the rest runs on the executor's
    /// thread, before any job that arrived later.
    ///
    /// - Parameters:
    ///   - interruption: The interruption that the waits of `work` watch.
    ///   - beginning: The first attempt; returns nil if the work is not finished. It blocks the
    ///     calling thread, which other tasks need too, so it must return within a millisecond: a
    ///     switch of threads takes as long on a busy machine.
    ///   - work: The whole work, or the part that `beginning` has left. After a cancellation it may
    ///     never run.
    /// - Returns: The result of `beginning` or `work`.
    /// - Throws: As ``run(onCancel:_:)`` does.
    package func run<Value: Sendable>(
        interrupting interruption: Interruption, beginning: () throws -> Value?,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard !Task.isCancelled, worker.lend() else {
            return try await run(interrupting: interruption, work)
        }
        do {
            if let value = try beginning() {
                worker.takeBack()
                return value
            }
        } catch {
            worker.takeBack()
            throw error
        }
        return try await run(
            interruptible(interruption, work), ifCancelled: { worker.takeBack() },
            submit: { unit in worker.takeBack { unit.execute() } })
    }
}

/// One call of ``ThreadExecutor/run(onCancel:_:)``: a unit of work that is queued, then runs, and
/// is over.
final class WorkUnit<Value: Sendable>: @unchecked Sendable {
    // Unchecked because `phase` is only touched while `lock` is held.
    private enum Phase {
        case created
        case queued(CheckedContinuation<Value, any Error>)
        case running(CheckedContinuation<Value, any Error>, isCancelled: Bool)
        case over
    }

    private let lock = NSLock()
    private var phase = Phase.created
    private let prepare: @Sendable () -> Void
    private let onCancel: @Sendable () -> Void
    private let work: @Sendable () throws -> Value

    /// - Parameters:
    ///   - prepare: Resets the state that an earlier unit left behind. It runs before this unit
    ///     counts as running. Later it could clear a request of `onCancel` for this unit.
    ///   - onCancel: Makes the running work stop.
    ///   - work: The work.
    init(
        prepare: @escaping @Sendable () -> Void = {}, onCancel: @escaping @Sendable () -> Void,
        _ work: @escaping @Sendable () throws -> Value
    ) {
        self.prepare = prepare
        self.onCancel = onCancel
        self.work = work
    }

    /// Notes the continuation that gets the result of the unit.
    ///
    /// - Returns: False if the unit was cancelled before; the continuation was then resumed.
    func wait(with continuation: CheckedContinuation<Value, any Error>) -> Bool {
        let isQueued = lock.withLock {
            guard case .created = phase else { return false }
            phase = .queued(continuation)
            return true
        }
        if !isQueued { continuation.resume(throwing: CancellationError()) }
        return isQueued
    }

    /// Runs the work unless it was cancelled in the queue.
    func execute() {
        prepare()
        let continuation: CheckedContinuation<Value, any Error>? = lock.withLock {
            guard case .queued(let continuation) = phase else { return nil }
            phase = .running(continuation, isCancelled: false)
            return continuation
        }
        guard let continuation else { return }
        let result = Result { try work() }
        // Taking the lock also waits for an `onCancel` under way.
        lock.withLock { phase = .over }
        continuation.resume(with: result)
    }

    /// Ends a unit that is in the queue; interrupts a unit that runs.
    func cancel() {
        // `onCancel` runs under the lock so that it cannot outlive the work. The waiting task is
        // resumed after the lock was released: resuming takes the task's own lock, which the caller
        // may hold.
        let cancelled: CheckedContinuation<Value, any Error>? = lock.withLock {
            switch phase {
            case .created:
                phase = .over
                return nil
            case .queued(let continuation):
                phase = .over
                return continuation
            case .running(let continuation, isCancelled: false):
                phase = .running(continuation, isCancelled: true)
                onCancel()
                return nil
            case .running, .over:
                return nil
            }
        }
        cancelled?.resume(throwing: CancellationError())
    }
}

/// A queue of closures and the thread that drains it.
///
/// The thread starts with the first closure. After ``shutdown()`` it ends when the queue is empty,
/// and a closure that is added later starts another thread; there are never two at once.
private final class Worker: @unchecked Sendable {
    // Unchecked because the mutable properties are only touched while `condition` is locked.
    let name: String
    private let hasLowPriority: Bool
    private let condition = NSCondition()
    private var queue: [@Sendable () -> Void] = []
    private var isRunning = false
    private var isShutDown = false
    /// Whether a closure is running or has been taken from the queue to run.
    private var isBusy = false
    /// Whether ``lend()`` lets another thread run its work in place of the executor's thread.
    private var isLent = false
    private var thread: pthread_t?

    init(name: String, hasLowPriority: Bool) {
        self.name = name
        self.hasLowPriority = hasLowPriority
    }

    var isCurrentThread: Bool {
        condition.withLock {
            guard let thread else { return false }
            return pthread_equal(thread, pthread_self()) != 0
        }
    }

    func shutdown() {
        condition.withLock {
            isShutDown = true
            condition.signal()
        }
    }

    func add(_ closure: @escaping @Sendable () -> Void) {
        condition.withLock { addLocked(closure) }
    }

    /// Adds a closure; returns false and adds nothing after ``shutdown()`` or a last closure.
    func addUnlessShutDown(asLast: Bool = false, _ closure: @escaping @Sendable () -> Void) -> Bool
    {
        condition.withLock {
            guard !isShutDown else { return false }
            isShutDown = asLast
            addLocked(closure)
            return true
        }
    }

    /// Lets the calling thread run its work in place of the executor's thread, if nothing is
    /// running, queued or lent.
    ///
    /// - Returns: Whether the caller may run its work; then ``takeBack(_:)`` must follow.
    func lend() -> Bool {
        condition.withLock {
            guard !isShutDown, !isBusy, !isLent, queue.isEmpty else { return false }
            isLent = true
            return true
        }
    }

    /// Ends ``lend()``; `closure` runs before all closures that were added meanwhile.
    func takeBack(_ closure: (@Sendable () -> Void)? = nil) {
        condition.withLock {
            isLent = false
            if let closure { queue.insert(closure, at: 0) }
            // A thread that was shut down while it was lent waits for this, and ends.
            if !queue.isEmpty || isShutDown && isRunning { wakeLocked() }
        }
    }

    private func addLocked(_ closure: @escaping @Sendable () -> Void) {
        queue.append(closure)
        wakeLocked()
    }

    private func wakeLocked() {
        if isRunning {
            condition.signal()
        } else {
            isRunning = true
            Thread { self.drain() }.start()
        }
    }

    private func drain() {
        // The starting thread holds the lock until `start()` has returned; before that, the new
        // thread cannot set its name.
        condition.withLock { thread = pthread_self() }
        Thread.current.name = name
        blockBrokenPipeSignal()
        if hasLowPriority { lowerPriority() }
        while let batch = nextBatch() {
            for closure in batch { closure() }
        }
    }

    /// Waits for closures; nil when the thread is to end.
    private func nextBatch() -> [@Sendable () -> Void]? {
        condition.withLock {
            isBusy = false
            while queue.isEmpty || isLent {
                if isShutDown, !isLent {
                    isRunning = false
                    thread = nil
                    return nil
                }
                condition.wait()
            }
            defer { queue = [] }
            isBusy = true
            return queue
        }
    }
}

/// Raises the nice value of the calling thread to 10; a failure leaves it as it is.
private func lowerPriority() {
    #if os(Linux)
        let process = __priority_which_t(PRIO_PROCESS.rawValue)
        // On Linux, 0 means the calling thread, not its process.
        if getpriority(process, 0) < 10 { _ = setpriority(process, 0, 10) }
    #endif
}

/// Blocks SIGPIPE: writing to a closed connection then fails with an error instead of ending the
/// process.
package func blockBrokenPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
