/// One operating-system thread that runs jobs in the order they arrive.
///
/// For C libraries whose calls block: an actor returns the executor from `unownedExecutor`, a task prefers it, or
/// ``run(onCancel:_:)`` hands over a unit of work. A lone hop to the thread and back costs about 12 µs, so a unit of
/// work is best a whole one (a transaction, a pipeline), not a single call.
///
/// SIGPIPE is blocked on the thread: a library that writes to a connection the peer has closed gets an error instead
/// of ending the process.
package final class ThreadExecutor: SerialExecutor, TaskExecutor {
    private let worker: Worker

    /// - Parameter name: The thread's name in debuggers; the system may cut it to 15 bytes.
    package init(name: String) {
        worker = Worker(name: name)
    }

    deinit { worker.shutdown() }

    /// Lets the queued jobs finish, then ends the thread.
    ///
    /// Returns at once; calling it again does nothing.
    /// ``run(onCancel:_:)`` refuses work from now on. Jobs of actors and tasks that still arrive are not lost: they run
    /// on a thread that ends as soon as the queue is empty.
    package func shutdown() {
        worker.shutdown()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The closure keeps the executor alive while one of its jobs runs, even if that job releases its last owner.
        worker.add {
            job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
        }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    /// True when the caller runs on the executor's thread.
    package func isIsolatingCurrentContext() -> Bool? {
        worker.isCurrentThread
    }

    package func checkIsolated() {
        precondition(worker.isCurrentThread, "this code must run on the thread of the executor \(worker.name)")
    }

    /// Runs a blocking unit of work on the thread.
    ///
    /// Cancelled while it waits in the queue, the work never runs and the call throws at once. Cancelled while it runs,
    /// `onCancel` is called once and the call still waits for the work, whose value or error it passes on: the work
    /// decides what an interruption means. `onCancel` has returned before the next job starts, so it cannot hit a
    /// later unit of work on the same connection.
    ///
    /// - Parameters:
    ///   - onCancel: Makes the running work stop soon; called on the thread that cancels. It must not wait for the work.
    ///   - work: The unit of work.
    /// - Returns: What `work` returns.
    /// - Throws: What `work` throws, or `CancellationError` when the work did not run because the task was cancelled or
    ///   the executor was shut down.
    package func run<Value: Sendable>(
        onCancel: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let unit = WorkUnit(onCancel: onCancel, work)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard unit.wait(with: continuation) else { return }
                if !worker.addUnlessShutDown({ unit.execute() }) { unit.cancel() }
            }
        } onCancel: {
            unit.cancel()
        }
    }
}
