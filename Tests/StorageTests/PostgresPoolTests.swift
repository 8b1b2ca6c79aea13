import Dispatch
import Expectations
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Postgres
@testable import Storage

/// The connections of one process: few, shared fairly, replaced when they are lost and closed when
/// they are idle.
@Suite(.timeLimit(.minutes(30))) struct PostgresPoolTests {
    /// A database of the test's own with a table `t`, and a user who alone uses it.
    private struct Place {
        let server: PostgresServer
        let url: String
        let user: String

        /// - Parameter limit: How many connections the server allows the user.
        static func make(limit: Int = -1) async throws -> Place {
            let server = try await PostgresServer.shared()
            let database = try await server.makeDatabase()
            let user = "u" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
            try await server.run("CREATE ROLE \(user) LOGIN CONNECTION LIMIT \(limit)")
            try await server.run("CREATE TABLE t (x BIGINT)", database: database)
            try await server.run("GRANT ALL ON t TO \(user)", database: database)
            return Place(
                server: server,
                url: database.replacingOccurrences(of: "postgres@", with: user + "@"), user: user)
        }

        func pool(
            _ size: Int, clock: PostgresPoolClock = PostgresPoolClock(ContinuousClock())
        ) throws -> PostgresPool {
            PostgresPool(
                configuration: try PostgresConfiguration(url: url), size: size, clock: clock)
        }

        /// The connections that the user has, as the server counts them.
        func connections() async throws -> Int {
            let text = try await server.run(
                "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = '\(user)'")
            return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
        }

        /// Returns once the user has so many connections: the server notices the end of one a
        /// little later.
        func waitForConnections(_ number: Int) async throws {
            while try await connections() != number {}
        }
    }

    /// A value that several units change.
    private final class Shared<Value: Sendable>: Sendable {
        private let state: Mutex<Value>

        init(_ value: Value) { state = Mutex(value) }

        var value: Value { state.withLock { $0 } }

        func change(_ body: (inout Value) -> Void) {
            state.withLock { value in
                var changed = value
                body(&changed)
                value = changed
            }
        }
    }

    /// Units that hold a connection each until they are let go.
    private final class Holders: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let tasks: [Task<Void, any Error>]

        /// Returns when all hold one.
        init(_ modes: [PostgresTransactionMode], in pool: PostgresPool) async {
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            tasks = modes.map { [gate] mode in
                Task {
                    try await pool.transaction(mode) { connection in
                        _ = try connection.execute("SELECT 1")
                        start.yield()
                        gate.wait()
                    }
                }
            }
            var missing = modes.count
            for await _ in started {
                missing -= 1
                if missing == 0 { break }
            }
        }

        /// Lets them end, and returns when they have.
        func end() async throws {
            for _ in tasks { gate.signal() }
            for task in tasks { try await task.value }
        }
    }

    private func wait(for number: Int, waitingFor pool: PostgresPool) async {
        while pool.waiting != number { await Task.yield() }
    }

    private func insert(_ number: Int, _ pool: PostgresPool) async throws {
        try await pool.transaction(.repeatableChange) { connection in
            _ = try connection.execute("INSERT INTO t (x) VALUES (\(number))")
        }
    }

    @Test func thereAreNeverMoreConnectionsThanAllowed() async throws {
        let place = try await Place.make()
        let pool = try place.pool(3)
        let most = Shared(0)
        let count = "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = current_user"
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<120 {
                group.addTask {
                    try await pool.transaction(number % 3 == 0 ? .readOnly : .serializable) {
                        connection in
                        let answer = try connection.execute(count)
                        if case .integer(let open) = answer.value(0, 0) {
                            most.change { $0 = max($0, Int(open)) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(most.value <= 3)
        let all = await Holders([.serializable, .serializable, .readOnly], in: pool)
        try await expect(place.connections(), equals: 3)
        try await all.end()
        await pool.close()
        try await place.waitForConnections(0)
    }

    @Test(arguments: [2, 4]) func neitherChangesNorReadsHoldAllConnections(size: Int) async throws {
        let place = try await Place.make()
        let pool = try place.pool(size)
        let kinds: [(long: PostgresTransactionMode, short: PostgresTransactionMode)] =
            [(.serializable, .statement), (.readOnly, .repeatableChange)]
        for (long, short) in kinds {
            // One more than there is room for, so that another one of the kind waits in front.
            let holders = await Holders(Array(repeating: long, count: size - 1), in: pool)
            let behind = Task {
                try await pool.transaction(long) { _ = try $0.execute("SELECT 1") }
            }
            await wait(for: 1, waitingFor: pool)
            for _ in 0..<3 {
                _ = try await pool.transaction(short) { try $0.execute("SELECT 1").rowCount }
            }
            #expect(pool.waiting == 1)
            try await holders.end()
            try await behind.value
        }
        await pool.close()
    }

    @Test func whoComesFirstIsServedFirst() async throws {
        let place = try await Place.make()
        let pool = try place.pool(2)
        let holders = await Holders([.serializable, .readOnly], in: pool)
        let order = Shared<[Int]>([])
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<12 {
            tasks.append(
                Task {
                    try await pool.transaction(number % 2 == 0 ? .serializable : .readOnly) { _ in
                        order.change { $0.append(number) }
                    }
                })
            await wait(for: number + 1, waitingFor: pool)
        }
        try await holders.end()
        for task in tasks { try await task.value }
        let served = order.value
        for kind in 0..<2 {
            let numbers = served.filter { $0 % 2 == kind }
            #expect(numbers == numbers.sorted())
            #expect(numbers.count == 6)
        }
        await pool.close()
    }

    @Test func whoIsCancelledLeavesTheQueueAtOnce() async throws {
        let place = try await Place.make()
        let pool = try place.pool(2)
        let holders = await Holders([.serializable], in: pool)
        let runs = RunCounter()
        let first = Task { try await pool.transaction(.serializable) { _ in _ = runs.next() } }
        await wait(for: 1, waitingFor: pool)
        let second = Task { try await insert(2, pool) }
        await wait(for: 2, waitingFor: pool)
        first.cancel()
        // The holder still has its connection.
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(pool.waiting == 1)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await insert(3, pool)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        try await holders.end()
        try await second.value
        #expect(runs.value == 0)
        try await expect(place.server.run("SELECT x FROM t", database: place.url), equals: "2\n")
        await pool.close()
    }

    @Test func aUnitCancelledWhileItRunsGivesItsConnectionBack() async throws {
        let place = try await Place.make()
        let pool = try place.pool(2)
        for _ in 0..<5 {
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let sleeping = Task {
                try await pool.transaction(.serializable) { connection in
                    start.yield()
                    _ = try connection.execute("SELECT pg_sleep(600)")
                }
            }
            for await _ in started { break }
            sleeping.cancel()
            await #expect(throws: CancellationError.self) { try await sleeping.value }
        }
        try await insert(1, pool)
        try await expect(place.connections(), equals: 1)
        await pool.close()
    }

    @Test func lostConnectionsAreReplaced() async throws {
        let place = try await Place.make()
        let pool = try place.pool(4)
        for round in 0..<3 {
            try await Holders([.serializable, .serializable, .serializable, .readOnly], in: pool)
                .end()
            try await place.server.terminateConnections(to: place.url)
            for number in 0..<8 { try await insert(round * 8 + number, pool) }
            #expect(try await place.connections() <= 4)
        }
        try await expect(
            place.server.run("SELECT COUNT(*) FROM t", database: place.url), equals: "24\n")
        await pool.close()
    }

    @Test func idleConnectionsAreClosedInTime() async throws {
        let place = try await Place.make()
        let clock = ManualClock()
        let pool = try place.pool(8, clock: PostgresPoolClock(clock))
        try await Holders([.serializable, .serializable, .readOnly], in: pool).end()
        clock.advance(by: .seconds(299))
        // One is in use again, the others are still there.
        try await insert(1, pool)
        try await expect(place.connections(), equals: 3)
        clock.advance(by: .seconds(1))
        try await place.waitForConnections(1)
        clock.advance(by: .seconds(299))
        try await place.waitForConnections(0)
        try await insert(2, pool)
        try await expect(place.connections(), equals: 1)
        clock.advance(by: .seconds(300))
        try await place.waitForConnections(0)
        await pool.close()
    }

    @Test func aServerWithLittleRoomServesAllOverFewConnections() async throws {
        let place = try await Place.make(limit: 2)
        let clock = ManualClock()
        let pool = try place.pool(8, clock: PostgresPoolClock(clock))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 { group.addTask { try await insert(number, pool) } }
            try await group.waitForAll()
        }
        try await expect(
            place.server.run("SELECT COUNT(*) FROM t", database: place.url), equals: "40\n")
        // With room again there are more after some time.
        try await place.server.run("ALTER ROLE \(place.user) CONNECTION LIMIT -1")
        clock.advance(by: .seconds(30))
        let all = await Holders(Array(repeating: .serializable, count: 7) + [.readOnly], in: pool)
        try await expect(place.connections(), equals: 8)
        try await all.end()
        // Somebody else may have all the room.
        let other = try await Place.make(limit: 1)
        let one = try other.pool(2)
        let two = try other.pool(2)
        try await one.connect()
        let error = try await #require(throws: PostgresError.self) { try await two.connect() }
        #expect(error.sqlState == "53300")
        for pool in [pool, one, two] { await pool.close() }
    }

    @Test func afterAFailoverNoConnectionOfTheOldServerIsUsed() async throws {
        let old = try await PostgresServer.start()
        let new = try await PostgresServer.start()
        for server in [old, new] { try await server.run("CREATE TABLE t (x BIGINT)") }
        let relay = try Relay(to: old.port)
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(url: old.url("postgres", through: relay)),
            size: 4)
        try await insert(1, pool)
        try await Holders([.serializable, .serializable, .readOnly], in: pool).end()
        try await old.run("ALTER SYSTEM SET default_transaction_read_only = 'on'")
        try await old.run("SELECT pg_reload_conf()")
        func isReadOnly() async throws -> Bool {
            try await pool.transaction(.statement) {
                try $0.execute("SHOW default_transaction_read_only").value(0, 0) == .text("on")
            }
        }
        while try await !isReadOnly() {}
        relay.lead(to: new.port)
        // Refused by the old server, and done by the new one.
        try await insert(2, pool)
        // All of them, also those that never changed anything.
        try await Holders([.serializable, .serializable, .readOnly], in: pool).end()
        for _ in 0..<3 { try await insert(3, pool) }
        // It notices the end of a connection a little later.
        let left = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'mirror-bot'"
        while try await old.run(left) != "0\n" {}
        try await expect(new.run("SELECT COUNT(*) FROM t"), equals: "4\n")
        await pool.close()
    }

    @Test func aServerThatStaysReadOnlyIsNotConnectedToForEveryRead() async throws {
        let place = try await Place.make()
        let relay = try Relay(to: place.server.port)
        let port = "127.0.0.1:\(place.server.port)"
        let url = place.url.replacingOccurrences(of: port, with: "127.0.0.1:\(relay.port)")
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(
                url: url + "?options=-cdefault_transaction_read_only%3Don"), size: 4)
        try await Holders([.readOnly, .readOnly, .readOnly], in: pool).end()
        for _ in 0..<3 {
            await #expect(throws: PostgresError.self) { try await insert(1, pool) }
            try await Holders([.readOnly, .readOnly], in: pool).end()
        }
        // Three; one with which each change is tried again; and one for each that a failed change
        // closed, but the first.
        #expect(relay.connections <= 8)
        await pool.close()
    }

    @Test func closingWaitsForWhatWasAskedBefore() async throws {
        let place = try await Place.make()
        let pool = try place.pool(2)
        let holders = await Holders([.serializable], in: pool)
        let waiting = Task { try await insert(1, pool) }
        await wait(for: 1, waitingFor: pool)
        let closing = Task { await pool.close() }
        // Refused from the moment of the closing on.
        while true {
            do {
                try await pool.transaction(.statement) { _ = try $0.execute("SELECT 1") }
            } catch let error as PostgresError where error.code == .closed { break }
        }
        try await holders.end()
        try await waiting.value
        await closing.value
        try await place.waitForConnections(0)
        await pool.close()
    }

    /// What one transaction makes of the rows that another one changes meanwhile is decided once
    /// more.
    @Test func transactionsOfOneProcessThatMeetAreRepeated() async throws {
        let place = try await Place.make()
        let engine = try await PostgresEngine.open(url: place.url, connections: 8)
        try await place.server.run("INSERT INTO t (x) VALUES (0), (0)", database: place.url)
        let runs = RunCounter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await engine.transaction { connection in
                        _ = runs.next()
                        let sums = try connection.query(
                            "SELECT CAST(SUM(x) AS BIGINT) AS sum FROM t")
                        let sum = try sums.first?.int("sum") ?? 0
                        try connection.execute("INSERT INTO t (x) VALUES (\(sum + 1))")
                    }
                }
            }
            try await group.waitForAll()
        }
        // Each saw the rows of all before: the sums double.
        let rows = try await engine.query("SELECT x FROM t WHERE x > 0 ORDER BY x")
        try expect(rows.map { try $0.int("x") }, equals: (0..<40).map { 1 << $0 })
        #expect(runs.value > 40)
        await engine.close()
    }

    @Test func mirrorsThatAreWrittenAtOnceAreAllWritten() async throws {
        let url = try await MigratedDatabase.onPostgres()
        let engine = try await Storage.open(.postgres(url: url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<240 {
                group.addTask {
                    let mirror = "m\(number % 24)"
                    try await engine.transaction { connection in
                        let counts = try connection.query(
                            "SELECT COUNT(*) AS count FROM counters WHERE mirror = \(mirror)")
                        let count = try counts.first?.int("count") ?? 0
                        try connection.execute(
                            "INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \("\(count)"), \(number))"
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        let rows = try await engine.query(
            "SELECT mirror, COUNT(*) AS count, COUNT(DISTINCT name) AS names FROM counters GROUP BY mirror"
        )
        #expect(rows.count == 24)
        for row in rows { #expect(try row.int("count") == 10 && row.int("names") == 10) }
        await engine.close()
    }
}
