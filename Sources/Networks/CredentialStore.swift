package import Posts

/// Stores, encrypted, the tokens that a network issues during use.
///
/// Each network defines the form of the stored text. The text belongs to one account: the network
/// checks this when it reads the text.
package protocol CredentialStore: Sendable {
    /// The last saved credentials; `nil` if there are none, or if they cannot be opened.
    func load() async throws -> Secret?
    /// Replaces the saved credentials; the new ones are durable when the call returns.
    func save(_ credentials: Secret) async throws
}

/// Lets many tasks wait for one piece of work, which runs once.
///
/// The work continues when a waiting task is cancelled, even if no task waits any more: others may
/// need its result, and a server that was asked for new tokens has revoked the old ones.
package actor SingleFlight<Value: Sendable> {
    private var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    private var nextNumber = 0
    private var isRunning = false

    package init() {}

    /// The result of the work in progress, or of `work` if there is none.
    ///
    /// - Throws: The error of the work; `CancellationError` at once when the waiting task is
    ///   cancelled.
    package func value(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let waiterNumber = nextNumber
        nextNumber += 1
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard !Task.isCancelled else {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                waiting[waiterNumber] = continuation
                start(work)
            }
        } onCancel: {
            Task { await self.stopWaiting(waiterNumber) }
        }
    }

    private func start(_ work: @escaping @Sendable () async throws -> Value) {
        guard !isRunning else { return }
        isRunning = true
        Task {
            do { finish(.success(try await work())) } catch { finish(.failure(error)) }
        }
    }

    private func finish(_ result: Result<Value, any Error>) {
        isRunning = false
        let continuations = waiting.values
        waiting = [:]
        for continuation in continuations { continuation.resume(with: result) }
    }

    private func stopWaiting(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }
}
