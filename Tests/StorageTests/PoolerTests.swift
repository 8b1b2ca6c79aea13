import Expectations
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

/// A pooler in transaction mode between us and the server: no session is ours for longer than a
/// transaction.
@Suite(.timeLimit(.minutes(30))) struct PoolerTests {
    private func withPooler(
        _ body: (any StorageEngine, Relay, (_ sql: String) async throws -> String) async throws ->
            Void
    ) async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let pooler = try await PoolerServer.start(before: server)
        let relay = try Relay(to: pooler.port)
        let engine = try await Storage.open(.postgres(url: pooler.url(database, through: relay)))
        try await body(engine, relay) { try await server.run($0, database: database) }
        await engine.close()
        withExtendedLifetime(pooler) {}
    }

    @Test func everythingWorksWhicheverSessionItComesTo() async throws {
        try await withPooler { engine, _, sql in
            try await Migrations.apply(to: engine)
            try await Migrations.check(engine)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        for number in 0..<25 {
                            let name = "\(worker)-\(number)"
                            try await engine.execute(
                                "INSERT INTO counters (mirror, name, value) VALUES ('m', \(name), \(number))"
                            )
                            let rows = try await engine.query(
                                "SELECT value FROM counters WHERE name = \(name)")
                            try expect(rows.first?.int("value"), equals: number)
                            let count = try await engine.read { connection in
                                var count = 0
                                try connection.forEach(
                                    "SELECT value FROM counters WHERE mirror = \("m")"
                                ) { _ in
                                    count += 1
                                }
                                return count
                            }
                            #expect(count > number)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await expect(sql("SELECT COUNT(*) FROM counters"), equals: "100\n")
            let many = BulkInsert(
                into: "counters",
                columns: [("mirror", .text), ("name", .text), ("value", .integer)],
                rows: (0..<3_000).map { ["n".sqlValue, "\($0)".sqlValue, $0.sqlValue] },
                onConflict: .ignore)
            try await expect(engine.transaction { try $0.insert(many) }, equals: 3_000)
            try await expect(engine.transaction { try $0.insert(many) }, equals: 0)
        }
    }

    @Test func aSettingOfOursHoldsForOurTransactionsOnly() async throws {
        try await withPooler { engine, _, sql in
            _ = try await sql("CREATE TABLE t (x BIGINT)")
            for number in 0..<12 {
                let patience = try await engine.transaction { connection in
                    try connection.execute("INSERT INTO t (x) VALUES (\(number))")
                    return try connection.query("SELECT current_setting('statement_timeout') AS s")
                        .first?.text("s")
                }
                #expect(patience == "1min")
                try await expect(
                    engine.read { connection in
                        try connection.query("SELECT current_setting('transaction_read_only') AS s")
                            .first?.text("s")
                    }, equals: "on")
                // Outside of a transaction of ours the session is as the server made it.
                let left = try await engine.query(
                    """
                    SELECT current_setting('statement_timeout') || current_setting('default_transaction_read_only')
                        AS s
                    """)
                try expect(left.first?.text("s"), equals: "0off")
            }
            try await expect(sql("SELECT COUNT(*) FROM t"), equals: "12\n")
        }
    }

    @Test func aScratchCopyStaysTogetherAndLeavesNothing() async throws {
        try await withPooler { engine, _, sql in
            try await Migrations.apply(to: engine)
            for mirror in ["m", "other"] {
                try await engine.execute(
                    "INSERT INTO counters (mirror, name, value) VALUES (\(mirror), 'n', 1)")
            }
            let scratch = try await engine.scratch(of: "m")
            for _ in 0..<6 {
                try await scratch.execute("UPDATE counters SET value = value + 1")
                // Not held up, and not seen.
                try await engine.execute("UPDATE counters SET value = value + 10")
            }
            let rows = try await scratch.query("SELECT mirror, value FROM counters")
            try expect(rows.map { try $0.text("mirror") }, equals: ["m"])
            try expect(rows.map { try $0.int("value") }, equals: [7])
            await scratch.close()
            try await expect(
                sql("SELECT mirror, value FROM counters ORDER BY mirror"),
                equals: "m|61\nother|61\n")
        }
    }

    @Test func aCommitWhoseAnswerWasLostIsKnownToHaveHappened() async throws {
        try await withPooler { engine, relay, sql in
            _ = try await sql("CREATE TABLE t (x BIGINT)")
            let runs = RunCounter()
            relay.loseAnswers(to: "COMMIT", count: 3)
            for number in 1...5 {
                try await engine.transaction { connection in
                    _ = runs.next()
                    try connection.execute("INSERT INTO t (x) VALUES (\(number))")
                }
            }
            #expect(relay.lostAnswers == 3)
            #expect(runs.value == 5)
            try await expect(sql("SELECT x FROM t ORDER BY x"), equals: "1\n2\n3\n4\n5\n")
        }
    }
}
