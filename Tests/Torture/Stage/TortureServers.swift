import Foundation
import Mirroring
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

    /// What lets transactions fail as they are committed, for as long as ``setTrouble(_:share:)`` says so.
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
            code.map { "INSERT INTO torture.troubles VALUES ('\($0)', \(share))" } ?? "DELETE FROM torture.troubles",
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
}
