import Foundation

/// A value that comes later, once.
final class Promise<Value: Sendable>: @unchecked Sendable {
    // Sendable because the state is only touched under `lock`.
    private let lock = NSLock()
    private var result: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    var isFulfilled: Bool { lock.withLock { result != nil } }

    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let known: Value? = lock.withLock {
                    if result == nil { waiting.append(continuation) }
                    return result
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    func fulfill(_ value: Value) {
        let waiters = lock.withLock {
            result = value
            defer { waiting = [] }
            return waiting
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }
}
