import Foundation

/// One call of ``ThreadExecutor/run(onCancel:_:)``: queued, running, over.
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
    private let onCancel: @Sendable () -> Void
    private let work: @Sendable () throws -> Value

    init(onCancel: @escaping @Sendable () -> Void, _ work: @escaping @Sendable () throws -> Value) {
        self.onCancel = onCancel
        self.work = work
    }

    /// False, and the continuation resumed, when the unit was cancelled before.
    func wait(with continuation: CheckedContinuation<Value, any Error>) -> Bool {
        let isFirst = lock.withLock {
            guard case .created = phase else { return false }
            phase = .queued(continuation)
            return true
        }
        if !isFirst { continuation.resume(throwing: CancellationError()) }
        return isFirst
    }

    /// Runs the work unless it was cancelled in the queue.
    func execute() {
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

    /// Ends a unit in the queue, interrupts a running one.
    func cancel() {
        // `onCancel` runs under the lock so that it cannot outlive the work. The waiting task is resumed outside it:
        // resuming takes the task's own lock, which the caller may hold.
        let abandoned: CheckedContinuation<Value, any Error>? = lock.withLock {
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
        abandoned?.resume(throwing: CancellationError())
    }
}
