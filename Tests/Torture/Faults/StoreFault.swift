/// What goes wrong with what the workers store in.
enum StoreFault: Equatable, Hashable, Sendable {
    /// Another program holds the write lock of the SQLite file for so many real seconds.
    case lockFile(seconds: Double)
    /// Postgres is ended in order and started again.
    case restartPostgres
    /// Postgres ends as if it had crashed, and is started again.
    case crashPostgres
    /// Every connection is ended by `pg_terminate_backend`.
    case terminateBackends
    /// The database takes no changes for so many real seconds.
    case readOnly(seconds: Double)
    /// Redis comes back empty.
    case restartRedis
    case flushRedis
    /// Every client is cut off by `CLIENT KILL`.
    case dropRedisClients
    /// Redis is gone until so many episodes are over.
    case stopRedis(episodes: Int)

    /// Whether a worker may be unable to start, or give up, because of it.
    var endsWorkers: Bool {
        switch self {
        case .lockFile, .restartPostgres, .crashPostgres, .terminateBackends, .readOnly: true
        case .restartRedis, .flushRedis, .dropRedisClients, .stopRedis: false
        }
    }
}

/// A fault of the store in an episode.
struct TimedStoreFault: Equatable, Sendable {
    var fault: StoreFault
    /// Real seconds after the episode's beginning.
    var after: Double
}
