import Dispatch
import Expectations
import Foundation
import TestSupport
import Testing

@testable import Postgres
@testable import Storage

/// What only a server can do to us.
@Suite struct PostgresEngineTests {
    private func open(_ url: String) async throws -> any StorageEngine {
        try await Storage.open(.postgres(url: url))
    }

    private func failure(opening url: String) async throws -> StorageError {
        try await #require(throws: StorageError.self) { try await open(url) }
    }

    @Test func aWrongURLIsExplainedWithoutItsPassword() async throws {
        let urls = [
            "mysql://user:s3cret@host/name", "postgres://user:s3cret@host:port/name",
            "postgres://user:s3cret%zz@h/n",
            "postgres://user:s3cret@[::1/name", "postgres://user:s3cret@host/name?sslmoode=require",
            "s3cret", "",
        ]
        for url in urls {
            let error = try await failure(opening: url)
            #expect(error.code == .configuration, "\(error)")
            #expect(!"\(error)\(String(reflecting: error))".contains("s3cret"))
        }
        let location = StorageLocation.postgres(url: "postgres://user:s3cret@host/name")
        #expect(!"\(location)\(String(reflecting: location))".contains("s3cret"))
        var dumped = ""
        dump(location, to: &dumped)
        dump(try PostgresConfiguration(url: "postgres://user:s3cret@host/name"), to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }

    @Test func aServerThatIsNotThereIsUnavailable() async throws {
        let server = try await PostgresServer.shared()
        let slip = try await failure(opening: "postgres://bot:s3cret@part2@127.0.0.1:1/name")
        #expect(slip.code == .configuration)
        #expect(!"\(slip)".contains("part2"))
        #expect("\(slip)".contains("%40"))
        let nobody = try await failure(opening: "postgres://postgres:s3cret@127.0.0.1:1/name")
        #expect(nobody.code == .unavailable)
        #expect(!"\(nobody)".contains("s3cret"))
        try await expect(
            failure(opening: server.url(database: "missing")).code, equals: .unavailable)
        let socket = try await open(server.socketURL())
        try await expect(socket.query("SELECT 1 AS one").count, equals: 1)
        await socket.close()
    }

    @Test func passwordsAndTLSAreChecked() async throws {
        let server = try await PostgresServer.start(password: "s3cret", tls: true)
        let certificate = try #require(server.certificatePath)
        let right = server.url().replacingOccurrences(of: "127.0.0.1", with: "localhost")
        let engine = try await open(right + "?sslmode=verify-full&sslrootcert=\(certificate)")
        let row = try await engine.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            .first
        try expect(row?.boolean("ssl"), equals: true)
        await engine.close()

        let unknown = try await failure(
            opening: right + "?sslmode=verify-full&sslrootcert=/dev/null")
        #expect(unknown.code == .unavailable)
        let wrongName = server.url() + "?sslmode=verify-full&sslrootcert=\(certificate)"
        try await expect(failure(opening: wrongName).code, equals: .unavailable)

        for wrong in ["postgres:wrong@", "postgres@"] {
            let url = right.replacingOccurrences(of: "postgres:s3cret@", with: wrong)
            let error = try await failure(opening: url)
            #expect(error.code == .authentication)
            #expect(!"\(error)".contains("wrong"))
        }
    }

    /// As hosted ones are, whose URL does not say so.
    @Test func aServerThatTakesOnlyTLSNeedsNoSSLMode() async throws {
        let server = try await PostgresServer.start(tls: true)
        let rules = Data("local all all trust\nhostssl all all all trust\n".utf8)
        try rules.write(to: URL(fileURLWithPath: server.socketFolder + "/data/pg_hba.conf"))
        try await server.restart()
        try await expect(
            failure(opening: server.url() + "?sslmode=disable").code, equals: .authentication)
        let engine = try await open(server.url())
        let row = try await engine.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            .first
        try expect(row?.boolean("ssl"), equals: true)
        await engine.close()
    }

    @Test func aServerThatNeverAnswersTimesOutAndCanBeCancelled() async throws {
        let silent = try [SilentListener(), SilentListener()]
        let urls = silent.map { "postgres://user@127.0.0.1:\($0.port)/name?connect_timeout=" }
        try await expect(failure(opening: urls[0] + "1").code, equals: .unavailable)
        let task = Task { try await open(urls[1] + "3600") }
        try await silent[1].awaitConnection()
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    @Test func aServerThatAcceptsNoChangesIsReadOnly() async throws {
        let server = try await PostgresServer.shared()
        let url = try await server.makeDatabase()
        try await server.run("CREATE TABLE t (x BIGINT)", database: url)
        let engine = try await open(url + "?options=-cdefault_transaction_read_only%3Don")
        let error = try await #require(throws: StorageError.self) {
            try await engine.execute("INSERT INTO t (x) VALUES (\(1))")
        }
        #expect(error.code == .readOnly)
        try await expect(engine.query("SELECT x FROM t")) { $0.isEmpty }
        await engine.close()
    }

    @Test func aStatementThatTheServerStopsIsBusyNotCancelled() async throws {
        let server = try await PostgresServer.shared()
        let engine = try await open(server.makeDatabase())
        let error = try await #require(throws: StorageError.self) {
            try await engine.read { connection in
                // For the next statement alone: on a busy machine any other one takes as long.
                try connection.execute("SET LOCAL statement_timeout = 50")
                return try connection.query("SELECT pg_sleep(60)").count
            }
        }
        #expect(error.code == .busy)
        #expect(error.nativeCode == "57014")
        await engine.close()
    }

    @Test func cancellingStopsAWaitForALock() async throws {
        try await withPostgresTable { engine, server, url in
            let other = try await open(url)
            let (locked, lock) = AsyncStream.makeStream(of: Void.self)
            let release = DispatchSemaphore(value: 0)
            async let holding: Void = other.transaction { connection in
                try connection.execute("LOCK TABLE t")
                lock.yield()
                release.wait()
            }
            for await _ in locked { break }
            let task = Task { try await engine.execute("INSERT INTO t (x) VALUES (\(1))") }
            // Other tests have databases on the same server, and locks in them.
            let waiting = """
                SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
                WHERE NOT granted AND datname = current_database()
                """
            while try await server.run(waiting, database: url) == "0\n" {}
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            release.signal()
            try await holding
            try await expect(engine.execute("INSERT INTO t (x) VALUES (\(2))"), equals: 1)
            await other.close()
        }
    }

    @Test func commitsAreDurableWhateverTheServersDefault() async throws {
        let server = try await PostgresServer.shared()
        let url = try await server.makeDatabase() + "?options=-csynchronous_commit%3Doff"
        let engine = try await open(url)
        let row = try await engine.query("SHOW synchronous_commit").first
        try expect(row?.text("synchronous_commit"), equals: "on")
        await engine.close()
    }

    @Test func aTableThatChangesBetweenTwoStatementsDoesNoHarm() async throws {
        try await withPostgresTable { engine, server, url in
            try await expect(engine.query("SELECT * FROM t")) { $0.isEmpty }
            try await server.run("ALTER TABLE t ADD COLUMN y TEXT DEFAULT 'new'", database: url)
            try await server.run("INSERT INTO t (x) VALUES (1)", database: url)
            try await expect(engine.query("SELECT * FROM t").first?.text("y"), equals: "new")
        }
    }

    @Test func nothingPilesUpInTheServersSession() async throws {
        try await withPostgresTable { engine, _, _ in
            for number in 0..<200 {
                try await engine.execute("UPDATE t SET x = \(1) WHERE x = \(unsafe: "\(number)")")
                try await engine.execute(
                    "INSERT INTO t (x) SELECT CAST(\(number % 2 == 0 ? 1 : nil) AS BIGINT)")
            }
            let count = try await engine.transaction { connection in
                try connection.query("SELECT COUNT(*) AS count FROM pg_prepared_statements").first?
                    .int("count")
            }
            #expect(count == 0)
            try await expect(engine.query("SELECT x FROM t").count, equals: 200)
        }
    }

    @Test func megabytesTravelBothWays() async throws {
        try await withPostgresTable { engine, _, _ in
            let text = String(repeating: "0123456789", count: 2_000_000)
            let row = try await engine.query("SELECT CAST(\(text) AS TEXT) AS same").first
            try expect(row?.text("same"), equals: text)
        }
    }

    @Test func theServersCodesAreOurs() {
        let expected: [(String, StorageError.Code)] = [
            ("08006", .unavailable), ("22003", .invalidValue), ("23502", .constraint),
            ("23505", .uniqueViolation),
            ("25006", .readOnly), ("28P01", .authentication), ("40001", .serialization),
            ("40P01", .serialization),
            ("42501", .authentication), ("42P01", .other), ("53100", .full), ("53200", .full),
            ("53300", .unavailable),
            ("55P03", .busy), ("57P03", .unavailable), ("58030", .unavailable), ("XX001", .corrupt),
        ]
        for (sqlState, code) in expected {
            let native = PostgresError(sqlState: sqlState, message: "why")
            let error = StorageError(native, "work")
            #expect(error.code == code, "\(sqlState)")
            #expect("\(error)".hasPrefix("could not work: "))
            #expect("\(error)".contains("(\(sqlState))"))
        }
        let data = PostgresError(sqlState: "22P02", message: "invalid input: \"private words\"")
        #expect(!"\(StorageError(data, "work"))".contains("private words"))
    }
}
