import Blocking
import CSQLite
import Expectations
import TestSupport
import Testing

@testable import Storage

/// Which prepared statements stay with a connection, counted by SQLite itself.
@Suite struct SQLiteStatementTests {
    /// How many statements `texts` leave behind, run one after the other.
    private func kept(of texts: [SQL]) async throws -> Int {
        let folder = try TemporaryDirectory()
        let engine = try await Storage.open(.sqlite(path: folder.path("data.sqlite")))
        try await engine.execute("CREATE TABLE things (key BIGINT)")
        let counts = try await engine.transaction { connection in
            let count: SQL = "SELECT COUNT(*) AS number FROM sqlite_stmt"
            // The statement that counts stays, too.
            _ = try connection.query(count)
            let before = try connection.query(count).first?.int("number") ?? 0
            for text in texts { _ = try connection.query(text) }
            return (before, try connection.query(count).first?.int("number") ?? 0)
        }
        await engine.close()
        return counts.1 - counts.0
    }

    /// How often the kept statement of `text` ran while `texts` did.
    private func runs(of text: SQL, in texts: [SQL]) async throws -> Int? {
        let folder = try TemporaryDirectory()
        let engine = try await Storage.open(.sqlite(path: folder.path("data.sqlite")))
        try await engine.execute("CREATE TABLE things (key BIGINT)")
        let count = try await engine.transaction { connection in
            for text in texts { _ = try connection.query(text) }
            let kept = try connection.query(
                "SELECT run FROM sqlite_stmt WHERE sql = \(text.text.replacing("$1", with: "?"))")
            return try kept.first?.int("run")
        }
        await engine.close()
        return count
    }

    /// A worker that lives for months would collect one for every length of every list.
    @Test func ofListsOfManyLengthsFewStay() async throws {
        let plain = (1...300).map { length -> SQL in
            "SELECT key FROM things WHERE key IN \(list: Array(0..<length))"
        }
        let nested = (1...300).map { length -> SQL in
            let condition: SQL = "key IN \(list: Array(0..<length))"
            return "SELECT key FROM things WHERE " + condition + " AND key > 0"
        }
        try await expect(kept(of: plain + nested)) { $0 <= 200 }
    }

    @Test func whatIsAskedAgainAndAgainStaysBesideThem() async throws {
        let again: SQL = "SELECT key FROM things WHERE key = \(1)"
        let lists = (1...150).flatMap {
            [again, "SELECT key FROM things WHERE key IN \(list: Array(0..<$0))"]
        }
        // SQLite counts how often a statement ran since it was prepared.
        try await expect(runs(of: again, in: lists), equals: 150)
    }

    @Test func aTableThatChangesBetweenTwoStatementsDoesNoHarm() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("data.sqlite")
        let engine = try await Storage.open(.sqlite(path: path))
        let other = try await Storage.open(.sqlite(path: path))
        try await engine.execute("CREATE TABLE things (key BIGINT)")
        try await expect(engine.query("SELECT * FROM things")) { $0.isEmpty }
        try await other.execute("INSERT INTO things (key) VALUES (1)")
        try await expect(engine.query("SELECT * FROM things").first?.int("key"), equals: 1)
        try await other.execute("ALTER TABLE things ADD COLUMN words TEXT DEFAULT 'new'")
        try await expect(engine.query("SELECT * FROM things").first?.text("words"), equals: "new")
        try await other.execute("ALTER TABLE things RENAME COLUMN words TO text")
        try await expect(engine.query("SELECT * FROM things").first?.text("text"), equals: "new")
        await other.close()
        await engine.close()
    }

    @Test func whatIsTheSameEveryTimeStaysOnce() async throws {
        try await expect(
            kept(of: (1...30).map { "SELECT key FROM things WHERE key = \($0)" }), equals: 1)
    }

    /// SQLite's own call for that would not reach a statement that begins a moment later.
    @Test func aStatementEndsThoughTheInterruptionCameBeforeItBegan() throws {
        let interruption = Interruption()
        let database = try SQLiteDatabase()
        let interrupt = sqlite3_create_function_v2(
            database.handle, "interrupt", 0, SQLITE_UTF8,
            Unmanaged.passUnretained(interruption).toOpaque(),
            { context, _, _ in
                Unmanaged<Interruption>.fromOpaque(sqlite3_user_data(context)).takeUnretainedValue()
                    .request()
                sqlite3_result_int(context, 1)
            }, nil, nil, nil)
        #expect(interrupt == SQLITE_OK)
        let connection = SQLiteConnection(
            database, SQLiteStatements(), interruption, isReading: true)
        let long: SQL = """
            WITH RECURSIVE n (i) AS (SELECT interrupt() UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            SELECT i FROM n
            """
        var rows = 0
        #expect(throws: CancellationError.self) {
            try connection.lend { try $0.forEach(long) { _ in rows += 1 } }
        }
        #expect((1..<100_000).contains(rows))
        // Nothing of it stays with the connection.
        interruption.reset()
        let next = SQLiteConnection(database, SQLiteStatements(), interruption, isReading: true)
        try expect(next.lend { try $0.query("SELECT 1 AS one").count }, equals: 1)
    }
}
