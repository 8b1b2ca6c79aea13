import Foundation

/// Lets one task at a time through, in the order of arrival.
///
/// Cancelling a waiting task does not take it out of the queue; its turn comes, and `body` notices
/// the cancellation.
package final class Turnstile: @unchecked Sendable {
    // Sendable: both variables are only touched under `lock`.
    private let lock = NSLock()
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init() {}

    /// Runs `body` when its turn has come; later callers wait until it has ended.
    package func pass<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        await withCheckedContinuation { enter($0) }
        defer { leave() }
        return try await body()
    }

    private func enter(_ continuation: CheckedContinuation<Void, Never>) {
        let isFree = lock.withLock {
            if isTaken {
                waiting.append(continuation)
                return false
            }
            isTaken = true
            return true
        }
        if isFree { continuation.resume() }
    }

    private func leave() {
        let next: CheckedContinuation<Void, Never>? = lock.withLock {
            if waiting.isEmpty {
                isTaken = false
                return nil
            }
            return waiting.removeFirst()
        }
        next?.resume()
    }
}
