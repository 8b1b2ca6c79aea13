import Blocking
import Foundation
import Synchronization

/// The isolation and the rights of a transaction.
package enum PostgresTransactionMode: Sendable {
    /// A transaction with changes, isolated as if no other transaction ran at the same time.
    case serializable
    /// A transaction without changes, which sees one consistent state.
    case readOnly
    /// One `SELECT` without a transaction: it sees a consistent state by itself, and saves the
    /// round trips of a transaction.
    case statement
    /// One changing statement that is harmless if it runs twice; it saves the round trips of a
    /// transaction.
    case repeatableChange
    /// A transaction that sees one consistent state, and whose changes are never committed; it may
    /// stay open for an hour.
    case neverCommitted
    /// A part of an open transaction, rolled back if it fails.
    case savepoint
    /// A transaction with changes, serialized by an advisory lock with this number: each holder
    /// sees the changes that the previous one committed.
    case exclusive(lock: Int64)

    /// Whether the transaction may commit changes.
    var mayChange: Bool {
        switch self {
        case .readOnly, .statement, .neverCommitted, .savepoint: false
        case .serializable, .exclusive, .repeatableChange: true
        }
    }

    /// The statements that begin the transaction, in one round trip; `nil` if it needs none.
    fileprivate var begin: String? {
        switch self {
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE; \(Self.settings)"
        case .readOnly: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(Self.settings)"
        case .statement, .repeatableChange: nil
        case .neverCommitted: "BEGIN ISOLATION LEVEL REPEATABLE READ; \(Self.openSettings)"
        case .savepoint: "SAVEPOINT mirror_bot_part"
        // The transaction is not serializable, because its state is that of its first statement,
        // which here is the wait for the lock.
        case .exclusive(let lock):
            "BEGIN ISOLATION LEVEL READ COMMITTED; \(Self.settings); SELECT pg_advisory_xact_lock(\(lock))"
        }
    }

    fileprivate var rollBack: String {
        if case .savepoint = self {
            return "ROLLBACK TO SAVEPOINT mirror_bot_part; RELEASE SAVEPOINT mirror_bot_part"
        }
        return "ROLLBACK"
    }

    /// The server's time limit for one statement.
    ///
    /// Shorter than the client's own timeout, so that the server's error gives the reason.
    private static let statementTimeout = "60s"

    /// The server's time limit for an idle transaction.
    ///
    /// A worker that is frozen, or whose machine is gone, keeps its locks and its pooler's sessions
    /// until then. Workers that take over its mirrors need these well before a lease of 30 seconds
    /// ends.
    private static let idleTransactionTimeout = "10s"

    /// The settings that each transaction makes for itself, because behind a pooler other clients
    /// use the same session.
    ///
    /// Each has its name, the value that counts as unset, and our value. `synchronous_commit` is
    /// set because a server or user may be configured to confirm a commit before it is on disk.
    private static let settings = settingQuery(for: [
        (name: "synchronous_commit", unset: "off", value: "on"),
        (name: "statement_timeout", unset: "0", value: statementTimeout),
        (name: "idle_in_transaction_session_timeout", unset: "0", value: idleTransactionTimeout),
    ])

    /// The settings of a transaction that stays open between calls to a network.
    private static let openSettings = settingQuery(for: [
        (name: "statement_timeout", unset: "0", value: statementTimeout),
        (name: "idle_in_transaction_session_timeout", unset: "0", value: "3600s"),
    ])

    /// Returns the query that sets each setting that still has the value that counts as unset.
    private static func settingQuery(
        for settings: [(name: String, unset: String, value: String)]
    ) -> String {
        let rows = settings.map { "('\($0.name)', '\($0.unset)', '\($0.value)')" }.joined(
            separator: ", ")
        return """
            SELECT set_config(name, value, true) FROM (VALUES \(rows)) AS wanted (name, unset, value) \
            WHERE current_setting(name, true) = unset
            """
    }
}

/// A connection on a thread of its own, which is replaced when it is lost.
///
/// Connects at the first use, and again when the connection is lost or its generation has ended.
/// Calls run one after the other.
package final class PostgresClient: @unchecked Sendable {
    // Unchecked because `connection` and `connectionGeneration` are only touched on the executor's
    // one thread.
    private let configuration: PostgresConfiguration
    private let executor: ThreadExecutor
    private let interruption = Interruption()
    private let generation: PostgresGeneration
    private let reconnects: Bool
    private let openFlag = Atomic(false)
    private var connection: PostgresConnection? {
        didSet { openFlag.store(connection != nil, ordering: .releasing) }
    }
    /// The generation in which the connection was made.
    private var connectionGeneration = 0

    /// - Parameters:
    ///   - configuration: The server's address.
    ///   - name: The name of the thread.
    ///   - generation: Shared by the clients whose connections are to be replaced together.
    ///   - reconnects: Whether to replace a lost connection. False for a session with temporary
    ///     tables, which would be lost.
    package init(
        configuration: PostgresConfiguration, name: String,
        generation: PostgresGeneration = PostgresGeneration(),
        reconnects: Bool = true
    ) {
        self.configuration = configuration
        self.executor = ThreadExecutor(name: name)
        self.generation = generation
        self.reconnects = reconnects
    }

    deinit { executor.shutdown() }

    /// Whether there is a connection, as of the last call.
    var isOpen: Bool { openFlag.load(ordering: .acquiring) }

    /// Connects now rather than at the first use.
    ///
    /// - Throws: ``PostgresError`` or `CancellationError`.
    func connect() async throws {
        try await run { _ = try self.connected() }
    }

    /// Closes the connection after the calls in progress; idempotent.
    package func close() async {
        await executor.shutdown { self.connection = nil }
    }

    /// Runs `work` on the thread; cancelling the task interrupts the running statement.
    private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        do {
            return try await executor.run(interrupting: interruption, work)
        } catch is CancellationError where !Task.isCancelled {
            throw PostgresError(.closed, "the database was closed")
        }
    }

    /// The connection, opened if there is no usable one; on the thread only.
    private func connected() throws -> PostgresConnection {
        if let connection {
            let isUsable = connection.isAlive && connectionGeneration == generation.current
            if !reconnects || isUsable { return connection }
        }
        connection = nil
        // Read before connecting, because the generation may end meanwhile.
        let current = generation.current
        let opened = try PostgresConnection.connect(configuration, interruption: interruption)
        connection = opened
        connectionGeneration = current
        return opened
    }

    /// Closes a connection that is lost, or whose server is read-only, and ends its generation.
    ///
    /// On the thread only.
    ///
    /// - Returns: Whether a new connection may be opened.
    private func drop() -> Bool {
        guard reconnects else { return false }
        if connection != nil { generation.end(connectionGeneration) }
        connection = nil
        return true
    }

    /// Closes a connection whose server is read-only, and ends its generation if its server
    /// accepted changes before.
    ///
    /// Otherwise, with a server that stays read-only, all connections would be replaced repeatedly.
    private func leaveServer() {
        guard reconnects else { return }
        if generation.hasChanged(connectionGeneration) { generation.end(connectionGeneration) }
        connection = nil
    }

    // MARK: - Transactions

    /// Runs `body` in one transaction on the connection's thread.
    ///
    /// A transaction that conflicted with another one is repeated. One whose connection was lost is
    /// repeated once, on a new connection, if it was certainly not committed: `COMMIT` was not
    /// sent, or the server confirms it. A transaction that was refused because the server of an
    /// older connection has become read-only is repeated once, too. So `body` may run several
    /// times.
    ///
    /// - Parameter repetitions: The number of repetitions after conflicts.
    /// - Throws: The error of `body`; ``PostgresError``, with code `.commitUnknown` when the
    ///   connection was lost after `COMMIT` was sent and the server could not be asked for the
    ///   outcome; `CancellationError`.
    package func transaction<Value: Sendable>(
        _ mode: PostgresTransactionMode, repetitions: Int = 30,
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await run { try self.repeating(repetitions) { try self.attempt(mode, on: $0, body) } }
    }

    private func repeating<Value>(
        _ repetitions: Int, _ attempt: (PostgresConnection) throws -> Value
    ) throws -> Value {
        var repetition = 0
        var mayReconnect = true
        while true {
            let isReused = connection != nil
            do {
                return try attempt(try connected())
            } catch let error as PostgresError where error.isConnectionLost && mayReconnect {
                guard drop() else { throw error }
                mayReconnect = false
            } catch let refusal as ReadOnlyServer {
                guard isReused && mayReconnect else { throw refusal.cause }
                mayReconnect = false
            } catch let error as PostgresError where error.isRepeatable && repetition < repetitions
            {
                repetition += 1
                // The pause gives the other transaction time to commit; it is random, so that
                // several repeated ones do not conflict again.
                let pause = Int.random(in: 0...min(repetition, 10) * 4)
                interruption.pause(milliseconds: pause)
            }
            if interruption.isRequested { throw CancellationError() }
        }
    }

    private func attempt<Value>(
        _ mode: PostgresTransactionMode, on connection: PostgresConnection,
        _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        connection.beginUnit()
        let result = Result {
            try begin(mode, connection)
            return try body(connection)
        }
        // A statement that the server refused fails the transaction, even if the body ignored or
        // replaced the error.
        if let failure = connection.failure {
            rollBack(mode, connection)
            var cause: any Error = failure
            if case .failure(let thrown) = result, !failure.isRepeatable, !failure.isConnectionLost
            {
                cause = thrown
            }
            guard failure.sqlState == "25006", mode.mayChange else { throw cause }
            leaveServer()
            throw ReadOnlyServer(cause: cause)
        }
        guard case .success(let value) = result, !interruption.isRequested else {
            rollBack(mode, connection)
            _ = try result.get()
            throw CancellationError()
        }
        try commit(mode, connection)
        return value
    }

    private func begin(_ mode: PostgresTransactionMode, _ connection: PostgresConnection) throws {
        guard let begin = mode.begin else { return }
        do {
            try connection.control(begin)
        } catch var error as PostgresError where error.sqlState == "0A000" {
            // A standby refuses to begin a serializable transaction, so it is treated as a
            // read-only server.
            leaveServer()
            error.sqlState = "25006"
            throw ReadOnlyServer(cause: error)
        }
    }

    private func rollBack(_ mode: PostgresTransactionMode, _ connection: PostgresConnection) {
        guard mode.begin != nil, connection.isAlive else { return }
        do {
            try connection.control(mode.rollBack, interruptible: false)
        } catch {
            // The server rolls back by itself when the connection ends.
            _ = drop()
        }
    }

    private func commit(_ mode: PostgresTransactionMode, _ connection: PostgresConnection) throws {
        defer {
            if mode.mayChange, connection.hasChanged, self.connection != nil {
                generation.change(connectionGeneration)
            }
        }
        switch mode {
        case .statement, .repeatableChange, .neverCommitted: return
        case .savepoint:
            try connection.control("RELEASE SAVEPOINT mirror_bot_part", interruptible: false)
            return
        case .serializable, .readOnly, .exclusive: break
        }
        // No COMMIT was sent yet, so a transaction whose connection is found dead here may be
        // repeated. The mark identifies the transaction, to ask for its outcome if the answer to
        // COMMIT is lost.
        let transaction = mode.mayChange ? try connection.transactionMark() : nil
        do {
            let tag = try connection.control("COMMIT", interruptible: false).commandTag
            guard tag == "COMMIT" else {
                throw PostgresError(.server, "the server rolled the transaction back")
            }
        } catch let error as PostgresError where error.isConnectionLost {
            // A read has its result already, and has nothing to commit.
            guard mode.mayChange else { return }
            guard drop() else { throw error }
            switch transaction.map(outcome) ?? .unknown {
            case .committed:
                return
            case .rolledBack:
                throw error
            case .unknown:
                throw PostgresError(
                    .commitUnknown, "the connection was lost during the commit: \(error.message)")
            }
        }
    }

    // MARK: - After a lost answer

    /// Asks the server for the outcome of a transaction whose answer was lost.
    private func outcome(of mark: PostgresConnection.TransactionMark) -> PostgresOutcome {
        guard let history = mark.history else { return .unknown }
        // A transaction without changes may run again, whatever its outcome.
        guard let number = mark.number else { return mark.hasChanged ? .unknown : .rolledBack }
        let deadline = ContinuousClock.now + configuration.outcomeTimeout
        var pause = 20
        while ContinuousClock.now < deadline, !interruption.isRequested {
            do {
                if let outcome = try connected().outcome(of: number, in: history) { return outcome }
            } catch let error as PostgresError where error.code == .server {
                return .unknown
            } catch {
                _ = drop()
            }
            interruption.pause(milliseconds: pause)
            pause = min(pause * 2, 500)
        }
        return .unknown
    }
}

/// Counts the events, such as a failover, after which the connections of several clients must be
/// replaced.
///
/// A connection of an earlier generation is replaced before its next use. Otherwise a unit of work
/// would fail on each connection that is dead, or whose server has become read-only.
package final class PostgresGeneration: Sendable {
    private let count = Atomic(0)
    /// The last generation in which the server accepted a change.
    private let lastChanged = Atomic(-1)

    package init() {}

    /// The number of the generation; connections of other generations are replaced.
    var current: Int { count.load(ordering: .acquiring) }

    /// Records that the server accepted a change over a connection of a generation.
    func change(_ generation: Int) { lastChanged.store(generation, ordering: .releasing) }

    /// Whether a generation is the last one in which the server accepted a change.
    func hasChanged(_ generation: Int) -> Bool {
        lastChanged.load(ordering: .acquiring) == generation
    }

    /// Ends a generation unless it has ended already.
    func end(_ generation: Int) {
        _ = count.compareExchange(
            expected: generation, desired: generation + 1, ordering: .acquiringAndReleasing)
    }
}

/// The refusal of a change by a read-only server.
///
/// The session may be older than the server's switch to read-write, or another server may be the
/// primary now: nothing was changed, and a new connection may help.
private struct ReadOnlyServer: Error {
    /// The error of the transaction.
    let cause: any Error
}

/// The outcome of a transaction.
private enum PostgresOutcome {
    case committed
    case rolledBack
    case unknown
}

extension PostgresConnection {
    /// The data by which the server identifies a transaction after its connection was lost.
    ///
    /// `number` is the transaction's number from the server, nil before its first change and from
    /// servers without numbers. `hasChanged` says whether the transaction changed anything, as far
    /// as the answers show. `history` is the history in which the number is valid, nil if the
    /// server cannot be asked later.
    fileprivate typealias TransactionMark = (number: Int64?, hasChanged: Bool, history: History?)

    /// The history in which a transaction number is valid: a new server, or a standby that was
    /// promoted, assigns the same numbers to other transactions.
    fileprivate struct History: Equatable {
        /// The system identifier, which the server got when its data folder was created.
        let cluster: String
        /// The number of the timeline, which each promotion of a standby increases: the first eight
        /// digits of the name of a WAL file.
        let timeline: String
    }

    /// Returns the mark of the open transaction.
    fileprivate func transactionMark() throws -> TransactionMark {
        guard let cluster else {
            try probe()
            return (nil, hasChanged, nil)
        }
        // The timeline is read here, because behind a pooler the session may differ from the one at
        // connection time.
        let answer = try control(
            "SELECT txid_current_if_assigned(), \(Self.timelineExpression)", interruptible: false)
        guard answer.rowCount == 1, answer.columnNames.count == 2,
            case .text(let timeline) = answer.value(0, 1)
        else {
            return (nil, hasChanged, nil)
        }
        let history = History(cluster: cluster, timeline: timeline)
        guard case .integer(let number) = answer.value(0, 0) else {
            return (nil, hasChanged, history)
        }
        return (number, hasChanged, history)
    }

    /// Returns the outcome of a transaction; `nil` while it is still running.
    ///
    /// One statement reads all values, because behind a pooler a second statement may reach another
    /// server.
    fileprivate func outcome(of number: Int64, in history: History) throws -> PostgresOutcome? {
        let answer = try control(
            "SELECT txid_status(\(number)), \(Self.clusterExpression), \(Self.timelineExpression)")
        guard answer.rowCount == 1, answer.columnNames.count == 3,
            case .text(let cluster) = answer.value(0, 1),
            case .text(let timeline) = answer.value(0, 2),
            History(cluster: cluster, timeline: timeline) == history,
            case .text(let status) = answer.value(0, 0)
        else { return .unknown }
        return switch status {
        case "committed": .committed
        case "aborted": .rolledBack
        case "in progress": nil
        default: .unknown
        }
    }
}
