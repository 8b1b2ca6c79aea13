import Foundation
import Redis
import TestSupport

/// A Postgres and a Redis of one's own whose passwords are planted.
final class PlantedServers: Sendable {
    let postgres: PostgresServer
    let redis: RedisServer
    let database: String
    private let password: String
    private let book: SecretBook

    /// What a worker is told of them.
    var settings: [String: String] { ["DATABASE_URL": database, "REDIS_URL": redisURL, "SECRET_KEY": key] }

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
        key = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).map { String(format: "%02x", $0) }.joined()
        book.add("SECRET_KEY", key)
        password = words[1]
        postgres = try await PostgresServer.start(settings: ["log_statement": "all"], password: words[0])
        redis = try await RedisServer.start(arguments: ["--requirepass", words[1]])
        database = try await postgres.makeDatabase()
    }

    /// Adds every row, every key and both logs to what is searched.
    func keepContents(in stage: SecretStage) async throws {
        let tables = try await postgres.run(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'", database: database)
        for table in tables.split(separator: "\n") {
            stage.keep(
                "table \(table)", try await postgres.run("SELECT t::text FROM \(table) AS t", database: database))
        }
        stage.keep("Redis", try await redisContents())
        stage.keep("Redis' log", await redis.log())
        let log = FileManager.default.contents(atPath: postgres.socketFolder + "/server.log") ?? Data()
        // The server's own tools set the password when the cluster is made, before it logs.
        stage.keep("Postgres' log", String(decoding: log, as: UTF8.self))
    }

    private func redisContents() async throws -> String {
        let client = RedisClient(configuration: try RedisConfiguration(url: redisURL))
        let keys = try await client.command(RedisCommand("KEYS", "*"))
        return "\(keys)"
    }
}
