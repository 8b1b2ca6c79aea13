import Daemon
import Foundation
import Storage
import TestSupport

/// What the workers store in: a file, or private servers of Postgres and Redis.
struct TortureServers: Sendable {
    let location: StorageLocation
    let postgres: PostgresServer?
    let redis: RedisServer?
    /// The settings of the workers for it.
    let variables: [String: String]
    private let databaseURL: String

    /// Starts what is needed.
    static func start(_ store: TortureStore, home: String) async throws -> TortureServers {
        guard store == .postgres else {
            return TortureServers(
                location: .sqlite(path: home + "/mirror-bot.sqlite"), postgres: nil, redis: nil, variables: [:],
                databaseURL: "")
        }
        async let database = PostgresServer.start()
        async let counts = RedisServer.start()
        let (postgres, redis) = (try await database, try await counts)
        let url = try await postgres.makeDatabase()
        return TortureServers(
            location: .postgres(url: url), postgres: postgres, redis: redis,
            variables: ["DATABASE_URL": url, "REDIS_URL": redis.url], databaseURL: url)
    }

    func stop() async {
        await postgres?.stop()
        await redis?.stop()
    }

    /// Ends every connection to the mirror's database.
    func terminateConnections() async throws { try await postgres?.terminateConnections(to: databaseURL) }

    /// Lets new transactions of all connections change nothing, or things again.
    func setReadOnly(_ isReadOnly: Bool) async throws {
        try await postgres?.run(
            isReadOnly
                ? "ALTER SYSTEM SET default_transaction_read_only = on"
                : "ALTER SYSTEM RESET default_transaction_read_only")
        try await postgres?.run("SELECT pg_reload_conf()")
    }
}
