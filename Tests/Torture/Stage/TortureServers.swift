import Control
import Foundation
import Mirroring
import Storage
import TestSupport

/// What the workers store in: a file, or private servers of Postgres and Redis.
struct TortureServers: Sendable {
    let location: StorageLocation
    /// The settings of the workers for it.
    let variables: [String: String]
    private var single: PostgresServer?
    private var pair: PostgresPair?
    private var redis: RedisServer?
    private var cluster: RedisCluster?
    private var databaseURL = ""

    /// Starts what is needed.
    static func start(_ store: TortureStore, home: String) async throws -> TortureServers {
        switch store {
        case .sqlite:
            return TortureServers(
                location: .sqlite(path: home + "/mirror-bot.sqlite"), variables: [:])
        case .postgres:
            async let database = PostgresServer.start()
            async let counts = RedisServer.start()
            let postgres = try await database
            let redis = try await counts
            var servers = TortureServers(
                database: try await postgres.makeDatabase(), counts: redis.url)
            servers.single = postgres
            servers.redis = redis
            return servers
        case .cluster:
            async let databases = PostgresPair.start()
            async let counts = RedisCluster.start()
            let pair = try await databases
            let cluster = try await counts
            var servers = TortureServers(
                database: try await pair.makeDatabase(), counts: cluster.url)
            servers.pair = pair
            servers.cluster = cluster
            return servers
        }
    }

    private init(location: StorageLocation, variables: [String: String]) {
        self.location = location
        self.variables = variables
    }

    private init(database: String, counts: String) {
        self.init(
            location: .postgres(url: database),
            variables: ["DATABASE_URL": database, "REDIS_URL": counts])
        databaseURL = database
    }

    func stop() async {
        await single?.stop()
        await pair?.stop()
        await stopRedis()
    }

    // MARK: Postgres

    /// The server that takes changes; nil where there is a file.
    var postgres: PostgresServer? {
        get async { if let pair { await pair.primary } else { single } }
    }

    /// Lets the standby take the primary's place, and the primary come back as its standby.
    func failOver() async throws {
        try await pair?.failOver()
        try await pair?.restore()
    }

    /// Ends every connection to the mirror's database.
    func terminateConnections() async throws {
        try await postgres?.terminateConnections(to: databaseURL)
    }

    /// What lets transactions fail as they are committed, for as long as ``setTrouble(_:share:)``
    /// says so.
    func prepareTroubles() async throws {
        try await postgres?.run(
            """
            CREATE SCHEMA torture;
            CREATE TABLE torture.troubles (code TEXT NOT NULL, share DOUBLE PRECISION NOT NULL);
            CREATE FUNCTION torture.trouble() RETURNS TRIGGER LANGUAGE plpgsql AS $$
            DECLARE trouble RECORD;
            BEGIN
                FOR trouble IN SELECT code, share FROM torture.troubles LOOP
                    IF random() < trouble.share THEN
                        RAISE EXCEPTION 'the harness wants it so' USING ERRCODE = trouble.code;
                    END IF;
                END LOOP;
                RETURN NULL;
            END $$;
            DO $$
            DECLARE name TEXT;
            BEGIN
                FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                    EXECUTE format('CREATE CONSTRAINT TRIGGER torture AFTER INSERT OR UPDATE OR DELETE ON %I '
                        'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION torture.trouble()', name);
                END LOOP;
            END $$
            """, database: databaseURL)
    }

    /// Lets some of the transactions that change anything fail from now on.
    ///
    /// - Parameters:
    ///   - code: With this SQLSTATE; nil for none any more.
    ///   - share: How many of the changed rows let their transaction fail, 1 for all.
    /// - Throws: ``TestSupportError`` with what the server said.
    func setTrouble(_ code: String?, share: Double = 1) async throws {
        try await postgres?.run(
            code.map { "INSERT INTO torture.troubles VALUES ('\($0)', \(share))" }
                ?? "DELETE FROM torture.troubles",
            database: databaseURL)
    }

    /// Lets new transactions of all connections change nothing, or things again.
    func setReadOnly(_ isReadOnly: Bool) async throws {
        try await postgres?.run(
            isReadOnly
                ? "ALTER SYSTEM SET default_transaction_read_only = on"
                : "ALTER SYSTEM RESET default_transaction_read_only")
        try await postgres?.run("SELECT pg_reload_conf()")
    }

    // MARK: Redis

    private static let counted = StoredCounts(mirror: Stage.mirror)

    /// Tells every server of Redis something; one that cannot hear or does not want to does not
    /// count.
    func tellRedis(_ words: [String]) async {
        for server in cluster?.servers ?? [redis].compactMap(\.self) {
            _ = try? await server.run(words)
        }
    }

    /// Lets the server that has the counts come back empty.
    func restartRedis() async throws {
        try await redis?.restart()
        try await cluster?.master(of: Self.counted.slot).restart()
        try await cluster?.settle()
    }

    /// The cause of a hindrance while Redis is away.
    var lackOfRedis: Disturbance.Cause { cluster == nil ? .noCounts : .noCluster }

    func stopRedis() async {
        await redis?.stop()
        await cluster?.stop()
    }

    /// Starts what ``stopRedis()`` ended, empty.
    func startRedis() async throws {
        try await redis?.restart()
        for server in cluster?.servers ?? [] { try await server.restart() }
        try await cluster?.settle()
    }

    /// Lets the master of the counts die, its replica take its place, and the master come back as
    /// its replica.
    func replaceMaster() async throws {
        guard let cluster else { return }
        let master = try await cluster.master(of: Self.counted.slot)
        await master.kill()
        do {
            try await cluster.replace(master)
        } catch {
            try await master.restart()
            throw error
        }
        try await master.restart()
        try await cluster.settle()
    }

    /// Moves the slot of the counts to another master while they are used.
    func moveSlot() async throws {
        try await cluster?.moveAway(Self.counted.slot)
    }

    /// Everything that Redis has of the mirror; nil where there is none.
    func counts() async throws -> [String]? {
        guard let server = try await countServer() else { return nil }
        return try await Self.counted.read(from: server)
    }

    /// Deletes the counts of the mirror.
    func loseCounts() async throws {
        if let server = try await countServer() { try await Self.counted.delete(on: server) }
    }

    private func countServer() async throws -> RedisServer? {
        if let cluster { try await cluster.master(of: Self.counted.slot) } else { redis }
    }
}
