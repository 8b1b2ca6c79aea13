import Foundation
import Storage
import TestSupport

/// What a crew of workers stores in: a formation of Postgres behind two poolers, and a Redis
/// Cluster.
///
/// Both poolers follow the server that takes changes, as the poolers of an operator do: a pooler in
/// front of each server would take connections for a server that is gone, and let them wait. The
/// workers know both.
final class CrewServers: Sendable {
    /// The database of all mirrors.
    static let database = "mirrors"
    /// The most sessions of a pooler: fewer than the workers want, so that they share them.
    private static let sessions = 12
    /// How often it is asked which server takes changes, in seconds.
    private static let glance = 0.3

    let formation: PostgresFormation
    let poolers: [FollowingPooler]
    let cluster: RedisCluster
    private let following: Task<Void, Never>

    /// Starts everything.
    ///
    /// - Throws: ``TestSupportError`` if something is not installed or does not start.
    static func start() async throws -> CrewServers {
        async let counts = RedisCluster.start(nodeTimeout: 2_000)
        let formation = try await PostgresFormation.start()
        do {
            try await formation.run("CREATE DATABASE \(database)")
            guard let node = try await formation.writableNode() else {
                throw TestSupportError("no server takes changes")
            }
            var poolers: [FollowingPooler] = []
            for _ in 0..<2 {
                poolers.append(
                    try await FollowingPooler.start(
                        database: database, server: node.port, sessions: sessions))
            }
            return CrewServers(formation, poolers, try await counts, node.port)
        } catch {
            await formation.stop()
            throw error
        }
    }

    private init(
        _ formation: PostgresFormation, _ poolers: [FollowingPooler], _ cluster: RedisCluster,
        _ port: UInt16
    ) {
        self.formation = formation
        self.poolers = poolers
        self.cluster = cluster
        following = Task {
            var known = port
            while await Pause.wait(seconds: Self.glance) {
                guard let node = try? await formation.writableNode(), node.port != known else {
                    continue
                }
                var areThere = true
                for pooler in poolers {
                    do { try await pooler.follow(node.port) } catch { areThere = false }
                }
                // One that is just being started again is told the next time.
                if areThere { known = node.port }
            }
        }
    }

    func stop() async {
        following.cancel()
        await following.value
        for pooler in poolers { await pooler.stop() }
        await cluster.stop()
        await formation.stop()
    }

    /// `DATABASE_URL` of the workers.
    var databaseURL: String {
        let hosts = poolers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return "postgres://postgres@\(hosts)/\(Self.database)"
    }

    /// The settings of the workers for all of it.
    var variables: [String: String] { ["DATABASE_URL": databaseURL, "REDIS_URL": cluster.url] }

    /// Runs a statement on the database of the mirrors, outside the code under test.
    @discardableResult
    func run(_ sql: String) async throws -> String {
        try await formation.run(sql, database: Self.database)
    }

    /// Opens the database and closes it afterwards.
    ///
    /// - Throws: The store's error, and what `body` throws.
    func withStorage<Value>(_ body: (any StorageEngine) async throws -> Value) async throws -> Value
    {
        try await Storage.open(.postgres(url: databaseURL)).closing(after: body)
    }

    // MARK: Databases

    /// The database that ``renew()`` copies.
    private static let lesson = "lesson"
    /// How often it is tried to copy a database from which somebody may just be disconnecting.
    private static let attempts = 20

    /// Keeps the database as it is now, for ``renew()``; nobody works on it meanwhile.
    func keepLesson() async throws { try await copy(Self.database, to: Self.lesson) }

    /// Puts the database back into the state that was kept; nobody works on it meanwhile.
    func renew() async throws {
        try await formation.run("DROP DATABASE \(Self.database) WITH (FORCE)")
        try await copy(Self.lesson, to: Self.database)
    }

    private func copy(_ original: String, to copy: String) async throws {
        for attempt in 1... {
            // The poolers keep connections, and a database with any cannot be copied.
            try await formation.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(original)'"
            )
            do {
                try await formation.run("CREATE DATABASE \(copy) TEMPLATE \(original)")
                return
            } catch  where attempt < Self.attempts {
                await Pause.wait(seconds: Self.glance)
            }
        }
    }

    // MARK: What is noted of leases

    /// Lets the database note every change of a lease and every beat of a worker from now on, with
    /// the name of the session that made it.
    func noteLeases() async throws {
        try await run(
            """
            CREATE SCHEMA torture;
            CREATE TABLE torture.writes (number BIGSERIAL PRIMARY KEY);
            CREATE TABLE torture.leases (
                number BIGSERIAL PRIMARY KEY, at_ms BIGINT NOT NULL, before TEXT, after TEXT,
                process TEXT);
            CREATE FUNCTION torture.note() RETURNS TRIGGER LANGUAGE plpgsql AS $$
            BEGIN
                IF TG_OP = 'UPDATE' AND NEW IS NOT DISTINCT FROM OLD THEN RETURN NULL; END IF;
                INSERT INTO torture.leases (at_ms, before, after, process) VALUES (
                    (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT,
                    CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD)::TEXT END,
                    CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW)::TEXT END,
                    NULLIF(current_setting('application_name'), ''));
                RETURN NULL;
            END $$;
            DO $$
            DECLARE name TEXT;
            BEGIN
                FOR name IN SELECT tablename FROM pg_tables
                    WHERE schemaname = 'public' AND tablename IN ('leases', 'workers') LOOP
                    EXECUTE format('CREATE TRIGGER torture AFTER INSERT OR UPDATE OR DELETE ON %I '
                        'FOR EACH ROW EXECUTE FUNCTION torture.note()', name);
                END LOOP;
            END $$
            """)
    }

    /// What was noted of leases and workers so far.
    func leaseEntries() async throws -> [LeaseEntry] {
        let rows = try await withStorage { storage in
            try await storage.query(
                "SELECT at_ms, before, after, process FROM torture.leases ORDER BY number")
        }
        let decoder = JSONDecoder()
        func decoded(_ text: String?) throws -> LeaseEntry.Row? {
            try text.map { try decoder.decode(LeaseEntry.Row.self, from: Data($0.utf8)) }
        }
        return try rows.map { row in
            LeaseEntry(
                date: try row.date("at_ms"), before: try decoded(try row.optionalText("before")),
                after: try decoded(try row.optionalText("after")),
                process: try row.optionalText("process"))
        }
    }

    // MARK: Failing

    /// How long a write may take, and how long nobody writes after one, in seconds.
    private static let quickWrite = 1.0
    private static let betweenWrites = 0.3

    /// Writes again and again, the way the workers do, until it is cancelled.
    ///
    /// - Returns: The stretches of more than a second in which no write was committed, in the order
    ///   of time.
    func stretchesWithoutWrites() async -> [DateInterval] {
        var stretches = [DateInterval]()
        var last = Date()
        func noteStretch() {
            let now = Date()
            if now.timeIntervalSince(last) > Self.quickWrite + Self.betweenWrites {
                stretches.append(DateInterval(start: last, end: now))
            }
            last = now
        }
        while await Pause.wait(seconds: Self.betweenWrites) {
            let written: Void? = try? await FollowingPooler.run(
                "INSERT INTO torture.writes DEFAULT VALUES", through: poolers)
            if written != nil { noteStretch() }
        }
        noteStretch()
        return stretches
    }

    /// Lets a master of the cluster die and its replica be elected, and brings the master back as
    /// its replica.
    func killMaster(of slot: Int) async throws {
        let master = try await cluster.master(of: slot)
        await master.kill()
        do {
            try await cluster.waitForSuccessor(of: master, slot: slot)
        } catch {
            try await master.restart()
            throw error
        }
        try await master.restart()
        try await cluster.settle()
    }
}
