import Expectations
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

/// Commits whose answers get lost: never applied twice, and never said to have failed when they did
/// not.
@Suite(.timeLimit(.minutes(30))) struct PostgresCommitTests {
    /// An engine behind a relay, over a table `t` of one number each.
    private func withRelay(
        patience: Duration = .seconds(600),
        _ body: (any StorageEngine, Relay, (_ sql: String) async throws -> String) async throws ->
            Void
    ) async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        try await server.run("CREATE TABLE t (x BIGINT)", database: database)
        let relay = try Relay(to: server.port)
        let engine = try await PostgresEngine.open(url: server.url(database, through: relay)) {
            $0.outcomeTimeout = patience
        }
        try await body(engine, relay) { try await server.run($0, database: database) }
        await engine.close()
    }

    @Test func aCommitWhoseAnswerWasLostIsKnownToHaveHappened() async throws {
        try await withRelay { engine, relay, sql in
            let runs = RunCounter()
            relay.loseAnswers(to: "COMMIT", count: 3)
            for number in 1...5 {
                let inserted = try await engine.transaction { connection in
                    _ = runs.next()
                    return try connection.execute("INSERT INTO t (x) VALUES (\(number))")
                }
                #expect(inserted == 1)
            }
            #expect(relay.lostAnswers == 3)
            #expect(runs.value == 5)
            try await expect(sql("SELECT x FROM t ORDER BY x"), equals: "1\n2\n3\n4\n5\n")
        }
    }

    @Test func aCommitThatTheServerDidNotMakeRunsOnceMore() async throws {
        try await withRelay { engine, _, sql in
            for statement in Self.deathAtCommit(times: 1) { _ = try await sql(statement) }
            let runs = RunCounter()
            try await engine.transaction { connection in
                _ = runs.next()
                try connection.execute("INSERT INTO t (x) VALUES (\(1))")
            }
            #expect(runs.value == 2)
            try await expect(sql("SELECT x FROM t"), equals: "1\n")
        }
    }

    @Test func aServerThatEndsEveryCommitIsUnavailableAndNothingIsThere() async throws {
        try await withRelay { engine, _, sql in
            for statement in Self.deathAtCommit(times: 100) { _ = try await sql(statement) }
            let runs = RunCounter()
            let error = try await #require(throws: StorageError.self) {
                try await engine.transaction { connection in
                    _ = runs.next()
                    try connection.execute("INSERT INTO t (x) VALUES (\(1))")
                }
            }
            #expect(error.code == .unavailable)
            #expect(error.isTransient)
            #expect(runs.value == 2)
            try await expect(sql("SELECT x FROM t")) { $0.isEmpty }
        }
    }

    @Test func anOutcomeThatNobodyCanTellIsUnknownAndNotRepeated() async throws {
        try await withRelay(patience: .milliseconds(200)) { engine, relay, sql in
            relay.loseAnswers(to: "COMMIT", then: .closed)
            let runs = RunCounter()
            let error = try await #require(throws: StorageError.self) {
                try await engine.transaction { connection in
                    _ = runs.next()
                    try connection.execute("INSERT INTO t (x) VALUES (\(1))")
                }
            }
            #expect(error.code == .outcomeUnknown)
            #expect(!error.isTransient)
            #expect("\(error)".contains("look before doing it again"))
            #expect(runs.value == 1)
            // It happened, as the engine sees once it can look.
            relay.behave(.pass)
            try await expect(engine.query("SELECT x FROM t").count, equals: 1)
        }
    }

    /// As through the coordinator of a cluster, which has no number of its own for what its nodes
    /// change.
    @Test func aServerThatTellsNoNumberThoughRowsWereChangedKnowsNothing() async throws {
        try await withRelay(patience: .milliseconds(200)) { _, _, sql in
            _ = try await sql(
                """
                CREATE FUNCTION public.txid_current_if_assigned() RETURNS BIGINT LANGUAGE sql
                AS 'SELECT CAST(NULL AS BIGINT)'
                """)
            let name = try await sql("SELECT current_database()").trimmingCharacters(
                in: .whitespacesAndNewlines)
            _ = try await sql("ALTER DATABASE \(name) SET search_path = public, pg_catalog")
            let server = try await PostgresServer.shared()
            let relay = try Relay(to: server.port)
            let engine = try await PostgresEngine.open(url: server.url(name, through: relay))
            for rows in [1, 1_000] {
                relay.loseAnswers(to: "COMMIT")
                let runs = RunCounter()
                let error = try await #require(throws: StorageError.self) {
                    try await engine.transaction { connection in
                        _ = runs.next()
                        try connection.insert(
                            BulkInsert(
                                into: "t", columns: [("x", .integer)],
                                rows: (0..<rows).map { [$0.sqlValue] }))
                    }
                }
                #expect(error.code == .outcomeUnknown)
                #expect(runs.value == 1)
            }
            try await expect(sql("SELECT COUNT(*) FROM t"), equals: "1001\n")
            // What looked only may look again.
            relay.loseAnswers(to: "COMMIT")
            try await expect(
                engine.transaction { try $0.query("SELECT x FROM t WHERE x > 998").count },
                equals: 1)
            await engine.close()
        }
    }

    @Test func aServerThatComesBackInTimeTellsTheOutcome() async throws {
        // It asks for longer than the test may take.
        try await withRelay(patience: .seconds(600)) { engine, relay, sql in
            relay.loseAnswers(to: "COMMIT", then: .closed)
            async let inserted = engine.execute("INSERT INTO t (x) VALUES (\(1))")
            try await relay.waitForLostAnswers()
            // An attempt to connect has failed.
            try await relay.waitForRefusal()
            relay.behave(.pass)
            try await expect(inserted, equals: 1)
            try await expect(sql("SELECT x FROM t"), equals: "1\n")
        }
    }

    @Test func aTransactionThatChangedNothingIsNeverOfUnknownOutcome() async throws {
        try await withRelay { engine, relay, _ in
            relay.loseAnswers(to: "COMMIT")
            let runs = RunCounter()
            let rows = try await engine.transaction { connection in
                _ = runs.next()
                return try connection.query("SELECT x FROM t").count
            }
            #expect(rows == 0)
            #expect(runs.value == 2)
            relay.loseAnswers(to: "COMMIT")
            try await expect(engine.read { try $0.query("SELECT 1 AS one").count }, equals: 1)
        }
    }

    @Test func anotherHistoryOfTheServerIsNotAsked() async throws {
        let first = try await PostgresServer.start()
        let second = try await PostgresServer.start()
        try await first.run("CREATE TABLE t (x BIGINT)")
        // A server that took over without the last changes gives their numbers to others.
        try await second.promote()
        try await second.run(
            "DO $$ BEGIN FOR number IN 1..3000 LOOP PERFORM txid_current(); COMMIT; END LOOP; END $$"
        )
        let relay = try Relay(to: first.port)
        let engine = try await PostgresEngine.open(url: first.url("postgres", through: relay)) {
            $0.outcomeTimeout = .milliseconds(500)
        }
        relay.loseAnswers(to: "COMMIT")
        relay.lead(to: second.port)
        let error = try await #require(throws: StorageError.self) {
            try await engine.execute("INSERT INTO t (x) VALUES (\(1))")
        }
        #expect(error.code == .outcomeUnknown)
        try await expect(first.run("SELECT x FROM t"), equals: "1\n")
        await engine.close()
    }

    /// A server that was set up anew has the same timeline, and gives the same numbers to other
    /// transactions.
    @Test func aServerWithOtherDataIsNotAsked() async throws {
        let first = try await PostgresServer.start()
        let second = try await PostgresServer.start(isCopied: false)
        try await first.run("CREATE TABLE t (x BIGINT)")
        try await second.run(
            "DO $$ BEGIN FOR number IN 1..3000 LOOP PERFORM txid_current(); ROLLBACK; END LOOP; END $$"
        )
        let relay = try Relay(to: first.port)
        let engine = try await PostgresEngine.open(url: first.url("postgres", through: relay))
        let runs = RunCounter()
        relay.loseAnswers(to: "COMMIT")
        relay.lead(to: second.port)
        let error = try await #require(throws: StorageError.self) {
            try await engine.transaction { connection in
                _ = runs.next()
                try connection.execute("INSERT INTO t (x) VALUES (1)")
            }
        }
        #expect(error.code == .outcomeUnknown)
        #expect(runs.value == 1)
        try await expect(first.run("SELECT x FROM t"), equals: "1\n")
        await engine.close()
    }

    /// Ends the first sessions that commit a row of `t`, at their commit.
    private static func deathAtCommit(times: Int) -> [String] {
        [
            // A sequence does not roll back.
            "CREATE SEQUENCE deaths",
            """
            CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('deaths') <= \(times) THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
                RETURN NULL;
            END $$
            """,
            """
            CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION die()
            """,
        ]
    }
}
