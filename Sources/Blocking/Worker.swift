import Foundation

/// A queue of closures and the thread that drains it.
///
/// The thread starts with the first closure. After ``shutdown()`` it ends when the queue is empty, and a late closure
/// starts another: at no time are there two.
final class Worker: @unchecked Sendable {
    // Unchecked because the mutable properties are only touched while `condition` is locked.
    let name: String
    private let condition = NSCondition()
    private var queue: [@Sendable () -> Void] = []
    private var isRunning = false
    private var isShutDown = false
    private var thread: pthread_t?

    init(name: String) {
        self.name = name
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

    /// False, and nothing added, after ``shutdown()``.
    func addUnlessShutDown(_ closure: @escaping @Sendable () -> Void) -> Bool {
        condition.withLock {
            guard !isShutDown else { return false }
            addLocked(closure)
            return true
        }
    }

    private func addLocked(_ closure: @escaping @Sendable () -> Void) {
        queue.append(closure)
        if isRunning {
            condition.signal()
        } else {
            isRunning = true
            let thread = Thread { self.drain() }
            thread.name = name
            thread.start()
        }
    }

    private func drain() {
        blockBrokenPipeSignal()
        condition.withLock { thread = pthread_self() }
        while let batch = nextBatch() {
            for closure in batch { closure() }
        }
    }

    /// Waits for closures; nil when the thread is to end.
    private func nextBatch() -> [@Sendable () -> Void]? {
        condition.withLock {
            while queue.isEmpty {
                if isShutDown {
                    isRunning = false
                    thread = nil
                    return nil
                }
                condition.wait()
            }
            defer { queue = [] }
            return queue
        }
    }

    private func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
