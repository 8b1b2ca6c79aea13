import TestSupport

/// Private servers, started when a work first asks for them and ended with the process.
actor Servers {
    private var startingRedis: Task<RedisServer, any Error>?
    private var startingPostgres: Task<PostgresServer, any Error>?

    /// A Redis server without persistence.
    func redis() async throws -> RedisServer {
        _ = try Tool.locate("redis-server", package: "redis-server")
        let task = startingRedis ?? Task { try await RedisServer.start() }
        startingRedis = task
        return try await task.value
    }

    /// A PostgreSQL server that does not wait for its disk, whose cost is not ours.
    func postgres() async throws -> PostgresServer {
        let task =
            startingPostgres
            ?? Task {
                try await PostgresServer.start(settings: [
                    "shared_buffers": "256MB", "max_wal_size": "4GB",
                ])
            }
        startingPostgres = task
        return try await task.value
    }

    func stop() async {
        await (try? startingRedis?.value)?.stop()
        await (try? startingPostgres?.value)?.stop()
    }
}
