package import Posts

/// Keeps the tokens that a network gives out while it is used, sealed and out of sight.
///
/// The text is the network's own business. It belongs to one account: whoever reads it back checks
/// whose it is.
package protocol CredentialStore: Sendable {
    /// The credentials that were saved last; `nil` if there are none, or none that can be opened.
    func load() async throws -> Secret?
    /// Replaces what was saved; durable when it returns.
    func save(_ credentials: Secret) async throws
}

/// Lets many tasks wait for one piece of work, so that it is done once.
///
/// The work goes on when a task that waits is cancelled, even when nobody waits any more: others
/// may need what it yields, and a server that has been asked for new tokens has given away the old
/// ones.
actor SingleFlight<Value: Sendable> {
    private var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    private var nextNumber = 0
    private var isFlying = false

    /// The result of the work under way, or of `work` where none is under way.
    ///
    /// - Throws: The error of the work; `CancellationError` at once when the waiting task is
    ///   cancelled.
    func value(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let number = nextNumber
        nextNumber += 1
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard !Task.isCancelled else {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                waiting[number] = continuation
                start(work)
            }
        } onCancel: {
            Task { await self.leave(number) }
        }
    }

    private func start(_ work: @escaping @Sendable () async throws -> Value) {
        guard !isFlying else { return }
        isFlying = true
        Task {
            do { finish(.success(try await work())) } catch { finish(.failure(error)) }
        }
    }

    private func finish(_ result: Result<Value, any Error>) {
        isFlying = false
        let continuations = waiting.values
        waiting = [:]
        for continuation in continuations { continuation.resume(with: result) }
    }

    private func leave(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }
}
