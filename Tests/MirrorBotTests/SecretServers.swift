import Foundation
import TestSupport
import Testing

/// A Postgres and a Redis of one's own whose passwords are planted.
final class PlantedServers: Sendable {
    let postgres: PostgresServer
    let redis: RedisServer
    let database: String
    private let password: String
    private let book: SecretBook

    /// What a worker is told of them.
    var settings: [String: String] {
        ["DATABASE_URL": database, "REDIS_URL": redisURL, "SECRET_KEY": key]
    }

    private let key: String
    private var redisURL: String { "redis://:\(password)@127.0.0.1:\(redis.port)" }

    init(_ book: SecretBook) async throws {
        // Letters and digits: the server's own tools take the password as it is.
        let words = [PlantedSecret.fresh("x"), .fresh("x"), .fresh("x")].map { secret in
            secret.value.filter { $0.isLetter || $0.isNumber }
        }
        self.book = book
        book.add("Postgres' password", words[0])
        book.add("Redis' password", words[1])
        key = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).map {
            String(format: "%02x", $0)
        }.joined()
        book.add("SECRET_KEY", key)
        password = words[1]
        postgres = try await PostgresServer.start(
            settings: ["log_statement": "all"], password: words[0])
        redis = try await RedisServer.start(arguments: ["--requirepass", words[1]])
        database = try await postgres.makeDatabase()
    }

    /// Adds every row, every key and both logs to what is searched.
    func keepContents(in stage: SecretStage) async throws {
        let tables = try await postgres.run(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'", database: database)
        for table in tables.split(separator: "\n") {
            stage.keep(
                "table \(table)",
                try await postgres.run("SELECT t::text FROM \(table) AS t", database: database))
        }
        stage.keep("Redis", try await redisContents())
        stage.keep("Redis' log", await redis.log())
        let log =
            FileManager.default.contents(atPath: postgres.socketFolder + "/server.log") ?? Data()
        // The server's own tools set the password when the cluster is made, before it logs.
        stage.keep("Postgres' log", String(decoding: log, as: UTF8.self))
    }

    /// Sends Redis a command with its own client.
    @discardableResult
    func tellRedis(_ words: [String]) async throws -> String {
        let client = try RunningProgram(
            Launch(
                path: try ServerProcess.locate("redis-cli"),
                arguments: ["-p", "\(redis.port)", "-e"] + words,
                environment: ["REDISCLI_AUTH": password], folder: "/"))
        let ending = await client.ending()
        guard ending.status == 0 else {
            throw TestSupportError("Redis refuses \(words): \(ending.error)")
        }
        return ending.output.trimmingCharacters(in: .newlines)
    }

    /// Waits until a worker has made a key again that holds counts, as a hash.
    func waitForCounts(_ watch: SecretWatch, _ key: String = "mirror-bot:{default}:features:normal")
        async throws
    {
        while try await tellRedis(["TYPE", key]) != "hash" {
            guard !watch.program.hasEnded else { throw TestSupportError("the worker has ended") }
        }
    }

    // MARK: Faults of Postgres

    /// Lets ``spoil(_:)`` have its way with every change of a table of the mirror.
    func watchChanges() async throws {
        try await mend()
        for table in ["actions", "plans", "leases", "workers", "feeds", "examples", "counters"] {
            try await postgres.run(
                "CREATE TRIGGER spoil BEFORE INSERT OR UPDATE ON \(table) FOR EACH STATEMENT EXECUTE FUNCTION spoil()",
                database: database)
        }
    }

    /// Does something at every change, in the middle of the transaction.
    func spoil(_ statement: String) async throws {
        try await postgres.run(
            """
            CREATE OR REPLACE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN \(statement); RETURN NULL; END $$
            """, database: database)
    }

    /// Ends what ``spoil(_:)`` began.
    func mend() async throws { try await spoil("NULL") }

    // MARK: What is left

    /// Every key with its whole value, fields included.
    private func redisContents() async throws -> String {
        // What is elsewhere would be overlooked.
        let databases = try await tellRedis(["INFO", "keyspace"])
        #expect(!databases.contains(/db[1-9]/), "Redis holds \(databases)")
        var text = ""
        for key in try await tellRedis(["--scan"]).split(separator: "\n").map(String.init) {
            let kind = try await tellRedis(["TYPE", key])
            let question = try #require(Self.questions[kind], "\(key) is a \(kind)")
            let (before, after) = question
            text += "\(key) (\(kind))\n" + (try await tellRedis([before, key] + after)) + "\n"
        }
        return text
    }

    /// What asks for a whole value, by its type.
    private static let questions: [String: (command: String, rest: [String])] = [
        "string": ("GET", []), "hash": ("HGETALL", []), "set": ("SMEMBERS", []),
        "list": ("LRANGE", ["0", "-1"]),
        "zset": ("ZRANGE", ["0", "-1", "WITHSCORES"]), "stream": ("XRANGE", ["-", "+"]),
    ]
}
