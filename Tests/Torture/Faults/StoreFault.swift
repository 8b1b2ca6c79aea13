/// What goes wrong with what the workers store in.
enum StoreFault: Equatable, Hashable, Sendable {
    /// Another program holds the write lock of the SQLite file for so many real seconds.
    case lockFile(seconds: Double)
    /// No file may grow beyond so many bytes for so many real seconds.
    case fillDisk(limit: UInt64, seconds: Double)
    /// Postgres is ended in order and started again.
    case restartPostgres
    /// Postgres ends as if it had crashed, and is started again.
    case crashPostgres
    /// Every connection is ended by `pg_terminate_backend`.
    case terminateBackends
    /// The database takes no changes for so many real seconds.
    case readOnly(seconds: Double)
    /// The disk of Postgres is full for so many real seconds, which it notices when it commits.
    case fillPostgres(seconds: Double)
    /// For so many real seconds, many transactions cannot be put in an order with others.
    case failSerialization(seconds: Double)
    /// Postgres dies, and its standby takes its place.
    case failOver
    /// Redis comes back empty.
    case restartRedis
    case flushRedis
    /// Every client is cut off by `CLIENT KILL`.
    case dropRedisClients
    /// Redis is gone until so many episodes are over.
    case stopRedis(episodes: Int)
    /// The master in a cluster that has the counts dies, and its replica takes its place.
    case replaceMaster
    /// The counts move to another master, key by key.
    case moveSlot
}

extension StoreFault {
    /// A fault without its figures.
    enum Kind: String, CaseIterable, Sendable {
        case lockFile = "lock-file"
        case fillDisk = "fill-disk"
        case restartPostgres = "restart-postgres"
        case crashPostgres = "crash-postgres"
        case terminateBackends = "terminate-backends"
        case readOnly = "read-only"
        case fillPostgres = "fill-postgres"
        case failSerialization = "fail-serialization"
        case failOver = "fail-over"
        case restartRedis = "restart-redis"
        case flushRedis = "flush-redis"
        case dropRedisClients = "drop-redis-clients"
        case stopRedis = "stop-redis"
        case replaceMaster = "replace-master"
        case moveSlot = "move-slot"

        /// Those that can befall workers which store there.
        static func all(on store: TortureStore) -> [Kind] {
            allCases.filter { kind in
                switch kind {
                case .lockFile: store == .sqlite
                case .fillDisk: store == .sqlite && DiskRoom.canBeTaken
                case .failOver, .replaceMaster, .moveSlot: store == .cluster
                default: store != .sqlite
                }
            }
        }

        /// Whether a worker may be unable to start, or give up, because of it.
        var endsWorkers: Bool {
            switch self {
            case .lockFile, .fillDisk, .restartPostgres, .crashPostgres, .terminateBackends,
                .readOnly, .fillPostgres,
                .failSerialization, .failOver:
                true
            case .restartRedis, .flushRedis, .dropRedisClients, .stopRedis, .replaceMaster,
                .moveSlot:
                false
            }
        }
    }

    var kind: Kind {
        switch self {
        case .lockFile: .lockFile
        case .fillDisk: .fillDisk
        case .restartPostgres: .restartPostgres
        case .crashPostgres: .crashPostgres
        case .terminateBackends: .terminateBackends
        case .readOnly: .readOnly
        case .fillPostgres: .fillPostgres
        case .failSerialization: .failSerialization
        case .failOver: .failOver
        case .restartRedis: .restartRedis
        case .flushRedis: .flushRedis
        case .dropRedisClients: .dropRedisClients
        case .stopRedis: .stopRedis
        case .replaceMaster: .replaceMaster
        case .moveSlot: .moveSlot
        }
    }
}

/// A fault of the store in an episode.
struct TimedStoreFault: Equatable, Sendable {
    var fault: StoreFault
    /// Real seconds after the episode's beginning.
    var after: Double
}
