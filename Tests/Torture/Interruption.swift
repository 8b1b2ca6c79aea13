import Foundation

/// Ending in order when a person or a supervisor wants it: the workers are in process groups of
/// their own and would otherwise live on.
enum Interruption {
    /// Runs `body`, and cancels it at `SIGINT` and `SIGTERM`.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await body() }
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { task.cancel() }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        return try await task.value
    }
}
