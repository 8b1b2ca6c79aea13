import Blocking
import Foundation

/// A connection that comes back, on a thread of its own.
///
/// Connects at the first use and again when the connection was lost. Calls run
/// one after the other.
package final class PostgresClient: @unchecked Sendable {
    // Unchecked because of `connection`, which only the executor's one thread touches, and `isClosed`, under the lock.
    let configuration: PostgresConfiguration
    private let executor: ThreadExecutor
    let interruption: PostgresInterruption
    private let reconnects: Bool
    private var connection: PostgresConnection?
    private let lock = NSLock()
    private var isClosed = false

    /// - Parameters:
    ///   - configuration: Where the server is.
    ///   - name: The name of the thread.
    ///   - reconnects: Whether a lost connection is replaced. False for a
    ///     session whose temporary tables would be lost with it.
    /// - Throws: ``PostgresError`` if the process has no descriptors left.
    package init(
        configuration: PostgresConfiguration, name: String, reconnects: Bool = true
    ) throws(PostgresError) {
        self.configuration = configuration
        self.executor = ThreadExecutor(name: name)
        self.interruption = try PostgresInterruption()
        self.reconnects = reconnects
    }

    deinit { executor.shutdown() }

    /// Connects now rather than at the first use.
    ///
    /// - Throws: ``PostgresError`` or `CancellationError`.
    package func connect() async throws {
        try await run { _ = try self.connected() }
    }

    /// Closes the connection after the calls in progress; idempotent.
    package func close() async {
        let isFirst = lock.withLock {
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        // A closing that is cancelled still closes: the executor's last reference frees the connection.
        _ = try? await executor.run { self.connection = nil }
        executor.shutdown()
    }

    /// Runs `work` on the thread; cancelling the task interrupts the statement
    /// that runs then.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard !lock.withLock({ isClosed }) else { throw PostgresError(.closed, "the database was closed") }
        return try await executor.run(onCancel: { self.interruption.request() }) {
            self.interruption.reset()
            return try work()
        }
    }

    /// Whether the task whose work runs now was cancelled; on the thread only.
    var isInterrupted: Bool { interruption.isRequested }

    /// The connection, made if there is none; on the thread only.
    func connected() throws -> PostgresConnection {
        if let connection, connection.isAlive || !reconnects { return connection }
        connection = nil
        let fresh = try PostgresConnection.connect(configuration, interruption: interruption)
        connection = fresh
        return fresh
    }

    /// Forgets a lost connection.
    ///
    /// - Returns: Whether a new one may take its place. On the thread only.
    func drop() -> Bool {
        guard reconnects else { return false }
        connection = nil
        return true
    }
}
