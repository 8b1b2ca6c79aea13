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

    /// A worker that lives for months would collect one for every length of every list.
    @Test func listsOfManyLengthsLeaveNothing() async throws {
        let plain = (1...30).map { length -> SQL in
            "SELECT key FROM things WHERE key IN \(list: Array(0..<length))"
        }
        let nested = (1...30).map { length -> SQL in
            let condition: SQL = "key IN \(list: Array(0..<length))"
            return "SELECT key FROM things WHERE " + condition
        }
        #expect(try await kept(of: plain + nested) == 0)
    }

    @Test func whatIsTheSameEveryTimeStaysOnce() async throws {
        #expect(try await kept(of: (1...30).map { "SELECT key FROM things WHERE key = \($0)" }) == 1)
    }
}
