import Synchronization

/// A bounded set of connections to one server, which units of work borrow in the order of their
/// requests.
///
/// A connection is opened when no idle one is left, and closed after it was idle for
/// ``PostgresConfiguration/idleTimeout``. Units that may change data never hold all connections,
/// and neither do units that only read, so that long units of one kind do not block the other kind.
///
/// A unit cannot wait for another one of its own pool, because its body is synchronous. So there is
/// no deadlock: every waiting unit gets a connection when the running units have ended.
package final class PostgresPool: Sendable {
    /// The default limit of a pool's connections.
    package static let defaultSize = 8

    private let configuration: PostgresConfiguration
    private let size: Int
    private let clock: PostgresPoolClock
    private let generation = PostgresGeneration()
    private let state: Mutex<State>

    /// - Parameters:
    ///   - configuration: The server's address.
    ///   - size: The most connections that are open at once, 2 or more.
    ///   - clock: Measures how long connections are idle.
    package init(
        configuration: PostgresConfiguration, size: Int,
        clock: PostgresPoolClock = PostgresPoolClock(ContinuousClock())
    ) {
        self.configuration = configuration
        self.size = max(2, size)
        self.clock = clock
        state = Mutex(State(ceiling: max(2, size)))
    }

    deinit { state.withLock { $0.sweeper?.cancel() } }

    /// The number of units that wait for a connection.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Opens a connection now, so that a wrong URL is noticed.
    ///
    /// - Throws: ``PostgresError`` or `CancellationError`.
    package func connect() async throws {
        try await borrowing(.read) { try await $0.connect() }
    }

    /// The limit of rounds after conflicts: in each, a unit borrows a connection anew.
    ///
    /// The connection is returned between two rounds.
    private static let rounds = 7
    /// The number of repetitions of a transaction in a round, with the same connection.
    private static let repetitions = 5

    /// Runs `body` in one transaction on one of the connections; see
    /// ``PostgresClient/transaction(_:repetitions:_:)``.
    ///
    /// - Throws: The error of `body`; ``PostgresError``, with code `.closed` after ``close()``;
    ///   `CancellationError`, at once if the unit was still waiting for a connection.
    package func transaction<Value: Sendable>(
        _ mode: PostgresTransactionMode,
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        var round = 1
        while true {
            do {
                return try await borrowing(mode.mayChange ? .change : .read) { client in
                    try await client.transaction(mode, repetitions: Self.repetitions, body)
                }
            } catch let error as PostgresError where error.isRepeatable && round < Self.rounds {
                let longestPause = min(25 << round, 400)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...longestPause)))
                round += 1
            }
        }
    }

    /// Closes all connections after the calls in progress, including calls that wait for a
    /// connection; idempotent.
    package func close() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                state.isClosed = true
                state.sweeper?.cancel()
                if !state.isQuiet { state.closers.append(continuation) }
                return state.isQuiet
            }
            if isQuiet { continuation.resume() }
        }
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for connection in idle { await connection.client.close() }
    }
}

/// The clock and timer of a pool.
package struct PostgresPoolClock: Sendable {
    /// The time since the pool's beginning.
    let now: @Sendable () -> Duration
    /// Waits until a time since the pool's beginning.
    let sleep: @Sendable (_ end: Duration) async throws -> Void

    package init<Source: Clock>(_ clock: Source) where Source.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}

// MARK: - Lending

extension PostgresPool {
    /// The way in which a unit uses a connection.
    private enum Use {
        case change, read
    }

    /// The time for which the pool limits itself to its present connections after the server had no
    /// room for another.
    private static let crowdedTime: Duration = .seconds(30)

    /// Runs `work` with a connection for its exclusive use.
    private func borrowing<Value: Sendable>(
        _ use: Use, _ work: (PostgresClient) async throws -> Value
    ) async throws -> Value {
        // The unit keeps its number if it has to wait again, so that it is served first.
        let unitNumber = state.withLock { state in
            state.lastUnitNumber += 1
            return state.lastUnitNumber
        }
        while true {
            let client = try await borrow(use, unitNumber)
            do {
                let value = try await work(client)
                giveBack(client, use)
                return value
            } catch let error as PostgresError where error.sqlState == "53300" {
                // The server, or this user, has no room for another connection: then the unit waits
                // for an existing one.
                guard giveBack(client, use, isCrowded: true) else { throw error }
            } catch {
                giveBack(client, use)
                throw error
            }
        }
    }

    private func borrow(_ use: Use, _ number: Int) async throws -> PostgresClient {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<PostgresClient, any Error>? = state.withLock { state in
                    if state.isClosed {
                        return .failure(PostgresError(.closed, "the database was closed"))
                    }
                    // The cancellation handler has run already, or waits for the lock.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let client = take(use, from: &state) { return .success(client) }
                    state.waiting.append(
                        Waiting(number: number, use: use, continuation: continuation))
                    state.waiting.sort { $0.number < $1.number }
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let removed = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map {
                    state.waiting.remove(at: $0)
                }
            }
            removed?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Takes a connection for a unit; nil if it has to wait.
    private func take(_ use: Use, from state: inout State) -> PostgresClient? {
        if let end = state.crowdedUntil, clock.now() >= end {
            state.ceiling = size
            state.crowdedUntil = nil
        }
        let sameUse = state.lent.count { $0.use == use }
        guard sameUse < max(1, state.ceiling - 1), state.lent.count < state.ceiling else {
            return nil
        }
        let client: PostgresClient
        // The most recently used connection is lent, so that the others become idle for long enough
        // to be closed.
        if let idle = state.idle.popLast() {
            client = idle.client
        } else {
            state.clientCount += 1
            client = PostgresClient(
                configuration: configuration, name: "pg-\(state.clientCount)",
                generation: generation)
        }
        state.lent.append((client, use))
        return client
    }

    /// Returns a connection to the pool and lends it to the unit that has waited longest.
    ///
    /// - Parameter isCrowded: Whether the server had no room for the connection.
    /// - Returns: Whether the pool has other connections.
    @discardableResult
    private func giveBack(_ client: PostgresClient, _ use: Use, isCrowded: Bool = false) -> Bool {
        var served: [(Waiting, PostgresClient)] = []
        var closers: [CheckedContinuation<Void, Never>] = []
        let hasOthers = state.withLock { state in
            state.lent.removeAll { $0.client === client }
            // A lost connection is dropped; the next unit opens another one.
            if client.isOpen { state.idle.append((client, clock.now())) }
            // Some of the others may be about to connect.
            let hasOthers = !state.idle.isEmpty || !state.lent.isEmpty
            let openCount = state.idle.count + state.lent.count { $0.client.isOpen }
            if isCrowded, hasOthers {
                state.ceiling = max(1, openCount)
                state.crowdedUntil = clock.now() + Self.crowdedTime
            } else if state.crowdedUntil != nil {
                state.ceiling = max(state.ceiling, openCount)
            }
            var index = 0
            while index < state.waiting.count {
                if let next = take(state.waiting[index].use, from: &state) {
                    served.append((state.waiting.remove(at: index), next))
                } else {
                    index += 1
                }
            }
            if state.isClosed, state.isQuiet { swap(&closers, &state.closers) }
            if !state.idle.isEmpty, state.sweeper == nil, !state.isClosed {
                state.sweeper = startSweeper()
            }
            return hasOthers
        }
        for (waiting, client) in served { waiting.continuation.resume(returning: client) }
        for closer in closers { closer.resume() }
        return hasOthers
    }

    // MARK: - Idle connections

    /// Starts a task that closes connections when they were idle for too long, until none is idle.
    private func startSweeper() -> Task<Void, Never> {
        Task { [clock, weak self] in
            while let next = await self?.closeIdle() {
                do { try await clock.sleep(next) } catch { return }
            }
        }
    }

    /// Closes connections that were idle for too long.
    ///
    /// - Returns: When the next connection may be due; nil if none is idle, which ends the sweeper.
    private func closeIdle() async -> Duration? {
        let (expired, next): ([Idle], Duration?) = state.withLock { state in
            let limit = clock.now() - configuration.idleTimeout
            // The idle connections are sorted by return time, because the last one is used first.
            let expired = Array(state.idle.prefix { $0.since <= limit })
            state.idle.removeFirst(expired.count)
            let next = state.idle.first.map { $0.since + configuration.idleTimeout }
            if next == nil { state.sweeper = nil }
            return (expired, next)
        }
        for connection in expired { await connection.client.close() }
        return next
    }

    private typealias Idle = (client: PostgresClient, since: Duration)

    /// A unit that waits for a connection.
    private struct Waiting {
        let number: Int
        let use: Use
        let continuation: CheckedContinuation<PostgresClient, any Error>
    }

    private struct State {
        /// The present limit of connections: below the size for some time after the server had no
        /// room for more.
        var ceiling: Int
        var crowdedUntil: Duration?
        var idle: [Idle] = []
        var lent: [(client: PostgresClient, use: Use)] = []
        /// The units that wait, sorted by number.
        var waiting: [Waiting] = []
        /// The number of the latest unit.
        var lastUnitNumber = 0
        /// The number of clients created so far.
        var clientCount = 0
        var isClosed = false
        /// Callers of `close` that wait until no unit is left.
        var closers: [CheckedContinuation<Void, Never>] = []
        /// The task that closes idle connections; nil while none is idle.
        var sweeper: Task<Void, Never>?

        /// Whether no unit runs or waits.
        var isQuiet: Bool { lent.isEmpty && waiting.isEmpty }
    }
}
