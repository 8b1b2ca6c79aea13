import Dispatch
import Expectations
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

/// Servers that stop, hang, fill up or change their minds under an open engine, which heals by
/// itself.
@Suite(.timeLimit(.minutes(30))) struct PostgresFaultTests {
    private func failure(_ engine: any StorageEngine, _ sql: SQL) async throws -> StorageError {
        try await #require(throws: StorageError.self) { try await engine.execute(sql) }
    }

    /// Tries until there is an answer: a busy machine may give none in a short time, nor take a
    /// connection.
    private func answered<Value>(_ work: () async throws -> Value) async throws -> Value {
        while true {
            do {
                return try await work()
            } catch let error as StorageError
                where [.unavailable, .outcomeUnknown].contains(error.code)
            {}
        }
    }

    @Test(arguments: [PostgresServer.Ending.fast, .immediate])
    func aServerThatRestartsInTheMiddleLosesNothing(_ ending: PostgresServer.Ending) async throws {
        let server = try await PostgresServer.start()
        let engine = try await Storage.open(.postgres(url: server.url()))
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        let runs = RunCounter()
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let restarted = DispatchSemaphore(value: 0)
        async let done: Void = engine.transaction { connection in
            try connection.execute("INSERT INTO t (x) VALUES (\(1))")
            guard runs.next() == 1 else { return }
            start.yield()
            restarted.wait()
        }
        for await _ in started { break }
        try await server.restart(ending)
        restarted.signal()
        try await done
        #expect(runs.value == 2)
        try await expect(server.run("SELECT x FROM t"), equals: "1\n")
        // The reading connection too was lost.
        try await expect(engine.query("SELECT x FROM t").count, equals: 1)
        await engine.close()
    }

    @Test func aServerThatHangsIsGivenUpAndFoundAgain() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let relay = try Relay(to: server.port)
        try await server.run("CREATE TABLE t (x BIGINT)", database: database)
        let engine = try await answered {
            try await PostgresEngine.open(
                url: server.url(database, through: relay) + "?connect_timeout=1"
            ) {
                $0.answerTimeout = .milliseconds(300)
            }
        }
        _ = try await answered { try await engine.execute("DELETE FROM t") }
        #expect(try await answered { try await engine.query("SELECT x FROM t") }.isEmpty)
        relay.behave(.silent)
        let writing = try await failure(engine, "INSERT INTO t (x) VALUES (\(1))")
        #expect(writing.code == .unavailable)
        #expect(writing.isTransient)
        let reading = try await #require(throws: StorageError.self) {
            try await engine.query("SELECT x FROM t")
        }
        #expect(reading.code == .unavailable)
        #expect("\(reading)".contains("did not answer") || "\(reading)".contains("does not answer"))
        relay.behave(.pass)
        try await expect(
            answered { try await engine.execute("INSERT INTO t (x) VALUES (\(2))") }, equals: 1)
        // What was given up is not done later by the server.
        let left = try await answered { try await engine.query("SELECT x FROM t") }
        try expect(Set(left.map { try $0.integer("x") }), equals: [2])
        await engine.close()
    }

    /// The kernel gives up bytes that it cannot deliver (`tcp_user_timeout`), long before the
    /// engine gives up an answer.
    ///
    /// The other end takes no more bytes here. A network that loses them ends the connection by the
    /// same timer; a relay cannot lose them, for the kernel acknowledges what has arrived.
    @Test func aConnectionThatDeliversNothingIsGivenUp() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let relay = try Relay(to: server.port)
        try await server.run("CREATE TABLE t (x TEXT)", database: database)
        let url = server.url(database, through: relay) + "?connect_timeout=2&tcp_user_timeout=1000"
        let engine = try await answered {
            try await PostgresEngine.open(url: url) {
                // Not by this one: until then the test waits for it in vain.
                $0.answerTimeout = .seconds(120)
            }
        }
        _ = try await answered { try await engine.execute("DELETE FROM t") }
        let known = relay.connections
        // More than the buffers of the sockets hold.
        let text = String(repeating: "x", count: 32 << 20)
        let begin = ContinuousClock.now
        let error = try await #require(throws: StorageError.self) {
            try await engine.transaction { connection in
                try connection.execute("DELETE FROM t")
                relay.behave(.silent)
                try connection.execute("INSERT INTO t (x) VALUES (\(text))")
            }
        }
        #expect(error.code == .unavailable)
        #expect(error.isTransient)
        #expect(begin.duration(to: .now) < .seconds(60))
        relay.behave(.pass)
        try await expect(
            answered { try await engine.execute("INSERT INTO t (x) VALUES (\("short"))") },
            equals: 1)
        #expect(relay.connections > known)
        try await expect(
            server.run("SELECT DISTINCT x FROM t", database: database), equals: "short\n")
        await engine.close()
    }

    @Test func cancellingDoesNotWaitForAServerThatHangs() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let relay = try Relay(to: server.port)
        let engine = try await PostgresEngine.open(url: server.url(database, through: relay)) {
            $0.answerTimeout = .seconds(2)
        }
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let silenced = DispatchSemaphore(value: 0)
        let task = Task {
            try await engine.transaction { connection in
                start.yield()
                silenced.wait()
                return try connection.query("SELECT 1 AS one").count
            }
        }
        for await _ in started { break }
        relay.behave(.silent)
        task.cancel()
        silenced.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        relay.behave(.pass)
        try await expect(engine.query("SELECT 1 AS one").count, equals: 1)
        try await expect(engine.transaction { try $0.query("SELECT 1 AS one").count }, equals: 1)
        await engine.close()
    }

    @Test func aSessionThatBeganReadOnlyIsReplacedWhenTheDatabaseTakesChangesAgain() async throws {
        try await withPostgresTable { engine, server, url in
            try await server.set("default_transaction_read_only", to: "on", in: url)
            try await server.terminateConnections(to: url)
            for _ in 0..<2 {
                let error = try await failure(engine, "INSERT INTO t (x) VALUES (\(1))")
                #expect(error.code == .readOnly)
                #expect("\(error)".contains("standby"))
                #expect("\(error)".contains("disk is full"))
            }
            try await expect(engine.query("SELECT x FROM t")) { $0.isEmpty }
            try await server.set("default_transaction_read_only", to: nil, in: url)
            try await expect(engine.execute("INSERT INTO t (x) VALUES (\(2))"), equals: 1)
            try await expect(server.run("SELECT x FROM t", database: url), equals: "2\n")
        }
    }

    @Test func afterAFailoverTheNewServerIsFound() async throws {
        let old = try await PostgresServer.start()
        let new = try await PostgresServer.start()
        for server in [old, new] { try await server.run("CREATE TABLE t (x BIGINT)") }
        let relay = try Relay(to: old.port)
        let engine = try await Storage.open(.postgres(url: old.url("postgres", through: relay)))
        try await engine.execute("INSERT INTO t (x) VALUES (\(1))")
        // The old server lives on as one that only reads, under its open connections.
        try await old.run("ALTER SYSTEM SET default_transaction_read_only = 'on'")
        try await old.run("SELECT pg_reload_conf()")
        func isReadOnly() async throws -> Bool {
            let rows = try await engine.transaction {
                try $0.query("SHOW default_transaction_read_only")
            }
            return try rows.first?.text("default_transaction_read_only") == "on"
        }
        while try await !isReadOnly() {}
        relay.lead(to: new.port)
        try await expect(engine.execute("INSERT INTO t (x) VALUES (\(2))"), equals: 1)
        try await expect(new.run("SELECT x FROM t"), equals: "2\n")
        await engine.close()
    }

    @Test(arguments: [
        ("53100", StorageError.Code.full, "make room"), ("53200", .full, "more memory"),
        ("53400", .full, "limit"),
        ("54000", .invalidValue, ""), ("XX000", .other, ""), ("XX001", .corrupt, "backup"),
        ("42501", .authentication, "what the user may do"), ("55P03", .busy, "another session"),
        ("57P02", .unavailable, "server"), ("58030", .unavailable, "server"),
    ])
    func whatTheServerRefusesIsNamedRolledBackAndWorksLater(
        _ sqlState: String, _ code: StorageError.Code, _ advice: String
    ) async throws {
        try await withPostgresTable { engine, server, url in
            try await server.run(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '\(sqlState)'; END $$
                """, database: url)
            try await server.run(
                "CREATE TRIGGER refuse AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuse()",
                database: url)
            let error = try await failure(engine, "INSERT INTO t (x) VALUES (\(1))")
            #expect(error.code == code)
            #expect(error.nativeCode == sqlState)
            #expect("\(error)".contains("(\(sqlState))"))
            #expect(advice.isEmpty || "\(error)".contains(advice))
            try await server.run("DROP TRIGGER refuse ON t", database: url)
            try await expect(engine.execute("INSERT INTO t (x) VALUES (\(2))"), equals: 1)
            try await expect(server.run("SELECT x FROM t", database: url), equals: "2\n")
        }
    }

    @Test func aDeadlockEndsWithBothTransactionsDoneOnce() async throws {
        try await withPostgresTable { engine, server, url in
            let other = try await Storage.open(.postgres(url: url))
            try await server.run(
                "INSERT INTO t (x) VALUES (1), (2); CREATE TABLE done (x BIGINT)", database: url)
            let meeting = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
            let runs = [RunCounter(), RunCounter()]
            // Each locks a row, and wants the other's once both have one.
            @Sendable func cross(_ mine: Int) -> @Sendable (any StorageConnection) throws -> Void {
                { connection in
                    try connection.execute("SELECT x FROM t WHERE x = \(mine + 1) FOR UPDATE")
                    if runs[mine].next() == 1 {
                        meeting[1 - mine].signal()
                        meeting[mine].wait()
                    }
                    try connection.execute("SELECT x FROM t WHERE x = \(2 - mine) FOR UPDATE")
                    try connection.execute("INSERT INTO done (x) VALUES (\(mine))")
                }
            }
            let first = cross(0)
            let second = cross(1)
            async let one: Void = engine.transaction(first)
            async let two: Void = other.transaction(second)
            _ = try await (one, two)
            #expect(runs[0].value + runs[1].value >= 3)
            try await expect(
                server.run("SELECT x FROM done ORDER BY x", database: url), equals: "0\n1\n")
            await other.close()
        }
    }

    @Test func aServerWithoutRoomForConnectionsSaysSoAndIsUsedWhenThereIsRoom() async throws {
        let server = try await PostgresServer.start(
            settings: ["max_connections": "3", "superuser_reserved_connections": "0"])
        let engine = try await Storage.open(.postgres(url: server.url()))
        var others: [any StorageEngine] = []
        let error = try await #require(throws: StorageError.self) {
            for _ in 0..<3 { others.append(try await Storage.open(.postgres(url: server.url()))) }
        }
        #expect(others.count == 2)
        #expect(error.code == .unavailable)
        #expect(error.nativeCode == "53300")
        #expect("\(error)".contains("more connections"))
        // An engine that has a connection makes do with it.
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 {
                group.addTask { try await engine.query("SELECT 1 AS one").count }
                group.addTask {
                    try await engine.transaction { try $0.query("SELECT 1 AS one").count }
                }
            }
            for try await count in group { #expect(count == 1) }
        }
        for other in others { await other.close() }
        await engine.close()
    }

    @Test func aTransactionThatStoodStillTooLongRunsAgain() async throws {
        let server = try await PostgresServer.shared()
        let url = try await server.makeDatabase()
        try await server.run("CREATE TABLE t (x BIGINT)", database: url)
        let engine = try await Storage.open(.postgres(url: url))
        let runs = RunCounter()
        let (pids, give) = AsyncStream.makeStream(of: Int64.self)
        let ended = DispatchSemaphore(value: 0)
        async let done: Void = engine.transaction { connection in
            try connection.execute("INSERT INTO t (x) VALUES (\(1))")
            guard runs.next() == 1 else { return }
            let pid =
                try connection.query("SELECT pg_backend_pid() AS pid").first?.integer("pid") ?? 0
            // From here on alone: a busy machine stands still as long between any two statements.
            try connection.execute("SET LOCAL idle_in_transaction_session_timeout = 100")
            give.yield(pid)
            // As if the process had been stopped here.
            ended.wait()
        }
        for await pid in pids {
            while try await server.run("SELECT count(*) FROM pg_stat_activity WHERE pid = \(pid)")
                != "0\n"
            {}
            break
        }
        ended.signal()
        try await done
        #expect(runs.value == 2)
        try await expect(server.run("SELECT x FROM t", database: url), equals: "1\n")
        await engine.close()
    }

    @Test func aTransactionKeepsNoLockForEverAndAChoiceInTheURLStands() async throws {
        let server = try await PostgresServer.shared()
        let url = try await server.makeDatabase()
        let query: SQL = """
            SELECT current_setting('statement_timeout') AS statement,
                current_setting('idle_in_transaction_session_timeout') AS idle
            """
        let engine = try await Storage.open(.postgres(url: url))
        let ours = try #require(try await engine.transaction { try $0.query(query) }.first)
        #expect(try ours.text("statement") == "1min" && ours.text("idle") == "10s")
        await engine.close()
        let chosen = try await Storage.open(
            .postgres(url: url + "?options=-cstatement_timeout%3D7000"))
        let theirs = try #require(try await chosen.transaction { try $0.query(query) }.first)
        #expect(try theirs.text("statement") == "7s" && theirs.text("idle") == "10s")
        await chosen.close()
    }

    @Test func aPasswordThatWasChangedIsRefusedUntilItIsRight() async throws {
        let server = try await PostgresServer.start(password: "s3cret")
        try await server.run("CREATE ROLE worker LOGIN PASSWORD 'first1'")
        let url = server.url().replacingOccurrences(of: "postgres:s3cret@", with: "worker:first1@")
        let engine = try await Storage.open(.postgres(url: url))
        try await expect(engine.query("SELECT 1 AS one").count, equals: 1)
        try await server.run("ALTER ROLE worker PASSWORD 'second2'")
        // Connections that exist are not asked again.
        try await expect(engine.query("SELECT 1 AS one").count, equals: 1)
        try await server.terminateConnections(to: server.url())
        let error = try await #require(throws: StorageError.self) {
            try await engine.query("SELECT 1 AS one")
        }
        #expect(error.code == .authentication)
        #expect(error.nativeCode == "28P01")
        #expect("\(error)".contains("check the user and password of DATABASE_URL"))
        #expect(!"\(error)\(String(reflecting: error))".contains("first1"))
        try await server.run("ALTER ROLE worker PASSWORD 'first1'")
        try await expect(engine.query("SELECT 1 AS one").count, equals: 1)
        await engine.close()
    }

    @Test func withoutTLSThereIsNoConnectionWhereItIsDemanded() async throws {
        let server = try await PostgresServer.start(tls: true)
        let engine = try await Storage.open(.postgres(url: server.url() + "?sslmode=require"))
        try await expect(engine.query("SELECT 1 AS one").count, equals: 1)
        try await server.restart(settings: ["ssl": "off"])
        let error = try await #require(throws: StorageError.self) {
            try await engine.query("SELECT 1 AS one")
        }
        #expect(error.code == .unavailable)
        #expect("\(error)".contains("SSL"))
        try await server.restart(settings: ["ssl": "on"])
        let row = try await engine.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            .first
        try expect(row?.boolean("ssl"), equals: true)
        await engine.close()
    }

    @Test func aDatabaseThatIsNotThereIsNamedWithItsCode() async throws {
        let server = try await PostgresServer.shared()
        let error = try await #require(throws: StorageError.self) {
            try await Storage.open(.postgres(url: server.url(database: "missing")))
        }
        #expect(error.nativeCode == "3D000")
        #expect("\(error)".contains("\"missing\" does not exist; make the database"))
        #expect(!"\(error)".contains("LOCATION"))
    }
}
