import Foundation

/// Collects values from many tasks in the order in which they arrive.
package final class Recorder<Value: Sendable>: @unchecked Sendable {
    // Sendable because every access to a variable holds the lock.
    private struct Waiter {
        let number: Int
        let known: Int
        let isWanted: @Sendable (Value) -> Bool
        let meanwhile: @Sendable () -> Void
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let lock = NSLock()
    private var collected: [Value] = []
    private var waiters: [Waiter] = []
    private var counter = 0

    package init() {}

    package var values: [Value] { lock.withLock { collected } }

    package func add(_ value: Value) {
        let woken = lock.withLock { () -> [Waiter] in
            collected.append(value)
            let woken = waiters.filter { hasMore(than: $0.known, $0.isWanted) }
            waiters.removeAll { waiter in woken.contains { $0.number == waiter.number } }
            return woken
        }
        for waiter in woken {
            waiter.meanwhile()
            waiter.continuation.resume()
        }
    }

    /// Returns as soon as there are more than `known` values for which `isWanted` is true.
    ///
    /// - Parameters:
    ///   - known: How many such values are not waited for.
    ///   - meanwhile: Called before whoever adds the value goes on, for what must not wait until
    ///     the waiting task has its turn: on a busy machine much may happen before that.
    ///   - isWanted: Says which values count.
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    package func wait(
        forMore known: Int = 0, meanwhile: @escaping @Sendable () -> Void = {},
        for isWanted: @escaping @Sendable (Value) -> Bool
    ) async throws {
        let number = lock.withLock {
            counter += 1
            return counter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isThere = lock.withLock { () -> Bool in
                    if Task.isCancelled || hasMore(than: known, isWanted) { return true }
                    waiters.append(
                        Waiter(
                            number: number, known: known, isWanted: isWanted, meanwhile: meanwhile,
                            continuation: continuation))
                    return false
                }
                guard isThere else { return }
                meanwhile()
                continuation.resume()
            }
            try Task.checkCancellation()
        } onCancel: {
            let waiter = lock.withLock { () -> Waiter? in
                guard let index = waiters.firstIndex(where: { $0.number == number }) else {
                    return nil
                }
                return waiters.remove(at: index)
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Call under the lock.
    private func hasMore(than known: Int, _ isWanted: (Value) -> Bool) -> Bool {
        collected.count(where: isWanted) > known
    }
}
