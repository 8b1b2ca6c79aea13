import Foundation

/// What a transaction sees and may do.
package enum PostgresTransactionMode: Sendable {
    /// Changes, as if no other transaction ran meanwhile.
    case serializable
    /// One consistent state, without changes.
    case readOnly
    /// One consistent state, copied into temporary tables.
    case snapshot
    /// Changes, one holder of this number at a time, each seeing what the one
    /// before committed.
    case exclusive(lock: Int64)

    fileprivate var begin: [String] {
        switch self {
        case .serializable: ["BEGIN ISOLATION LEVEL SERIALIZABLE"]
        case .readOnly: ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
        case .snapshot: ["BEGIN ISOLATION LEVEL REPEATABLE READ"]
        // Not serializable: the state is seen from the first statement on, which here is the wait itself.
        case .exclusive(let lock):
            ["BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT pg_advisory_xact_lock(\(lock))"]
        }
    }
}

extension PostgresClient {
    /// How often a transaction is repeated when others are in its way.
    private static let repetitions = 30

    /// Runs `body` in one transaction on the connection's thread.
    ///
    /// A transaction that another one made impossible is repeated. One whose
    /// connection was lost before `COMMIT` was sent is repeated once, on a new
    /// connection. So `body` may run several times.
    ///
    /// - Throws: What `body` throws; ``PostgresError``, with code
    ///   `.commitUnknown` when the connection was lost after `COMMIT` was sent;
    ///   `CancellationError`.
    package func transaction<Value: Sendable>(
        _ mode: PostgresTransactionMode, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await run { try self.repeating { try self.attempt(mode, on: $0, body) } }
    }

    private func repeating<Value>(_ attempt: (PostgresConnection) throws -> Value) throws -> Value {
        var repetition = 0
        var mayReconnect = true
        while true {
            do {
                return try attempt(try connected())
            } catch let error as PostgresError where error.isConnectionLost && mayReconnect {
                guard drop() else { throw error }
                mayReconnect = false
            } catch let error as PostgresError where error.isRepeatable && repetition < Self.repetitions {
                repetition += 1
                // The winner needs a moment; the process number keeps two losers apart.
                let pause = min(repetition, 10) * 2 + Int(getpid() % 5)
                _ = interruption.wait(for: 0, on: -1, milliseconds: pause)
            }
            if isInterrupted { throw CancellationError() }
        }
    }

    private func attempt<Value>(
        _ mode: PostgresTransactionMode, on connection: PostgresConnection,
        _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        connection.beginUnit()
        let result = Result {
            for statement in mode.begin { try connection.control(statement) }
            return try body(connection)
        }
        // What the server refused counts, also where the body made another error, or none, of it.
        if let failure = connection.failure {
            rollBack(connection)
            guard case .failure(let thrown) = result, !failure.isRepeatable, !failure.isConnectionLost else {
                throw failure
            }
            throw thrown
        }
        guard case .success(let value) = result, !isInterrupted else {
            rollBack(connection)
            _ = try result.get()
            throw CancellationError()
        }
        try commit(mode, connection)
        return value
    }

    private func rollBack(_ connection: PostgresConnection) {
        guard connection.isAlive else { return }
        do {
            try connection.control("ROLLBACK", interruptible: false)
        } catch {
            // The server rolls back by itself when the connection ends.
            _ = drop()
        }
    }

    private func commit(_ mode: PostgresTransactionMode, _ connection: PostgresConnection) throws {
        // Nothing was sent yet: a connection found dead here is an ordinary loss.
        try connection.probe()
        do {
            let tag = try connection.control("COMMIT", interruptible: false).commandTag
            guard tag == "COMMIT" else {
                throw PostgresError(.server, "the server rolled the transaction back")
            }
        } catch let error as PostgresError where error.isConnectionLost {
            // Nothing was at stake in a read.
            if case .readOnly = mode { return }
            _ = drop()
            throw PostgresError(.commitUnknown, "the connection was lost during the commit: \(error.message)")
        }
    }
}
