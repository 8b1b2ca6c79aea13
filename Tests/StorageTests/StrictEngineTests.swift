import Synchronization
import TestSupport
import Testing

@testable import Storage

/// What the strict engine of other suites finds.
@Suite struct StrictEngineTests {
    private func withStrict(
        _ body: (StrictEngine, _ reports: () -> [String]) async throws -> Void
    ) async throws {
        for tested in [EngineUnderTest.sqlite, .postgres] {
            let database = try await tested.makeDatabase()
            defer { withExtendedLifetime(database) {} }
            let plain = try await Storage.open(database.location)
            try await Migrations.apply(to: plain)
            let reports = Recorder()
            let engine = StrictEngine(plain) { reports.add($0) }
            try await body(engine) { reports.all }
            await engine.close()
        }
    }

    private final class Recorder: Sendable {
        private let texts = Mutex<[String]>([])

        var all: [String] { texts.withLock { $0 } }

        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    @Test func aTransactionIsRunTwiceAndDoneOnce() async throws {
        try await withStrict { engine, reports in
            let runs = RunCounter()
            let inserted = try await engine.transaction { connection in
                _ = runs.next()
                return try connection.execute(
                    "INSERT INTO counters (mirror, name, value) VALUES ('m', 'n', 1)")
            }
            #expect(inserted == 1)
            #expect(runs.value == 2)
            let rows = try await engine.query("SELECT value FROM counters WHERE mirror = 'm'")
            #expect(rows.count == 1)
            #expect(reports().isEmpty)
        }
    }

    @Test func aNoteIsDoneTwice() async throws {
        try await withStrict { engine, _ in
            try await engine.executeRepeatable(
                "INSERT INTO counters (mirror, name, value) VALUES ('m', 'n', 1) ON CONFLICT DO NOTHING"
            )
            try await engine.executeRepeatable(
                "UPDATE counters SET value = value + 1 WHERE mirror = 'm'")
            let rows = try await engine.query("SELECT value FROM counters WHERE mirror = 'm'")
            #expect(try rows.map { try $0.int("value") } == [3])
        }
    }

    @Test func aBodyThatDoesSomethingElseTheSecondTimeIsFound() async throws {
        try await withStrict { engine, reports in
            let runs = RunCounter()
            await #expect(throws: StrictnessError.self) {
                try await engine.transaction { connection in
                    let change: SQL = runs.next() == 1 ? "1" : "2"
                    try connection.execute(
                        """
                        INSERT INTO counters (mirror, name, value) VALUES ('m', 'n', 1)
                        ON CONFLICT (mirror, name) DO UPDATE SET value = \(change)
                        """)
                }
            }
            await #expect(throws: StrictnessError.self) {
                try await engine.read { connection in
                    if runs.next() % 2 == 1 { _ = try connection.query("SELECT 1 AS one") }
                }
            }
            #expect(reports().count == 2)
            #expect(reports().first?.contains("differ: INSERT INTO counters") == true)
            let rows = try await engine.query("SELECT value FROM counters WHERE mirror = 'm'")
            #expect(rows.isEmpty)
        }
    }

    @Test func aStatementWithoutMirrorIsRefusedWhateverItsBodyMakesOfThat() async throws {
        try await withStrict { engine, reports in
            await #expect(throws: StrictnessError.self) {
                try await engine.transaction { connection in
                    try connection.execute(
                        "INSERT INTO counters (mirror, name, value) VALUES ('m', 'n', 1)")
                    _ = try? connection.execute("UPDATE counters SET value = 2 WHERE name = 'n'")
                }
            }
            await #expect(throws: StrictnessError.self) {
                try await engine.query("SELECT name FROM counters")
            }
            #expect(reports().count == 2)
            #expect(reports().first?.contains("UPDATE counters SET value = 2") == true)
            let left = try await engine.lenient.query("SELECT name FROM counters")
            #expect(left.isEmpty)
        }
    }

    @Test(arguments: [
        "SELECT 1", "SELECT a FROM posts WHERE mirror = $1 AND b IN (1, 2) ORDER BY a, b",
        "SELECT a FROM posts AS p JOIN people ON people.mirror = p.mirror WHERE p.mirror = $1",
        "SELECT a FROM posts JOIN people USING (mirror, network) WHERE mirror = $1",
        "SELECT a, (SELECT 'x from posts') AS b FROM posts WHERE mirror IN ($1, $2)",
        "INSERT INTO posts (mirror, a) VALUES ($1, $2) ON CONFLICT (mirror, a) DO UPDATE SET a = excluded.a",
        "INSERT INTO posts (mirror, a) SELECT * FROM unnest($1, $2)",
        "INSERT INTO posts (mirror, a) SELECT mirror, a FROM people WHERE mirror = $1",
        "UPDATE posts SET a = 1 WHERE mirror = $1 AND EXISTS (SELECT 1 FROM people WHERE people.mirror = posts.mirror)",
        "DELETE FROM posts WHERE mirror = $1",
        "SELECT a FROM posts WHERE mirror = $1 FOR UPDATE SKIP LOCKED",
        "WITH old (a) AS (SELECT a FROM posts WHERE mirror = $1) SELECT a FROM old",
        "SELECT a IS DISTINCT FROM b AS c FROM posts WHERE posts.mirror = $1",
        "SELECT id, checksum FROM schema_migrations", "SELECT mirror, record FROM mirrors",
        "UPDATE workers SET beat = beat + 1 WHERE worker = $1",
        "SELECT mirror FROM leases WHERE worker = $1",
        "SELECT name FROM sqlite_master", "ANALYZE posts",
        "SELECT name FROM pragma_table_info($1)",
        """
        WITH RECURSIVE archived(mirror) AS (SELECT MIN(mirror) FROM posts)
        SELECT mirror FROM mirrors UNION SELECT mirror FROM archived
        """,
    ]) func theseAreOfOneMirrorOrExceptions(statement: String) {
        #expect(StatementShape(statement).isOfOneMirror)
    }

    @Test(arguments: [
        "SELECT a FROM posts", "SELECT a FROM posts WHERE mirror <> $1",
        "SELECT mirror, a FROM posts ORDER BY mirror",
        "SELECT a FROM posts JOIN people ON people.id = posts.author WHERE posts.mirror = $1",
        "SELECT a FROM posts, people WHERE posts.mirror = $1",
        "SELECT a FROM posts AS p, people AS q WHERE q.mirror = $1",
        "SELECT a FROM posts WHERE mirror = $1 AND EXISTS (SELECT 1 FROM people WHERE id = author)",
        "INSERT INTO posts (a, mirror) VALUES ($1, $2)",
        "INSERT INTO posts SELECT * FROM unnest($1)",
        "INSERT INTO posts (mirror, a) SELECT mirror, a FROM people",
        "UPDATE posts SET a = 'mirror = 1'", "DELETE FROM posts WHERE a = $1",
        "WITH old AS (SELECT a FROM posts) SELECT a FROM old",
        "SELECT mirror FROM feeds WHERE error IS NULL",
        "SELECT mirror FROM mirrors JOIN actions ON actions.id = mirrors.id",
    ]) func theseAreNot(statement: String) {
        #expect(!StatementShape(statement).isOfOneMirror)
    }
}
