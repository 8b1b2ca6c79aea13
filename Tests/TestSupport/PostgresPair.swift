import Foundation

/// Two private PostgreSQL servers, of which one follows the other and takes its place when it is
/// gone.
///
/// A commit is answered when both have it. That is what an operator's own tool would see to; here
/// it is the tests' doing, so that nothing takes over by mistake on a busy machine.
package actor PostgresPair {
    /// The server that takes changes.
    package private(set) var primary: PostgresServer
    /// The one that follows it, or is gone.
    package private(set) var standby: PostgresServer
    /// Both, in the order in which they are named.
    private nonisolated let servers: [PostgresServer]

    /// Starts both.
    ///
    /// - Throws: ``TestSupportError`` if they are not installed or do not start.
    package static func start() async throws -> PostgresPair {
        // A standby looks at once for a primary that was away.
        let settings = ["wal_retrieve_retry_interval": "100ms"]
        let primary = try await PostgresServer.start(settings: settings)
        let pair = PostgresPair(primary, try await primary.startStandby(settings: settings))
        try await pair.synchronize()
        return pair
    }

    private init(_ primary: PostgresServer, _ standby: PostgresServer) {
        self.primary = primary
        self.standby = standby
        servers = [primary, standby]
    }

    /// The URL of a database, with both hosts.
    ///
    /// - Parameter database: A name, or a URL that ``PostgresServer/makeDatabase()`` returned.
    /// - Returns: A URL over TCP.
    package nonisolated func url(_ database: String) -> String {
        let name = PostgresServer.name(database)
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return
            "postgres://postgres@\(hosts)/\(name)\(PostgresServer.patience)&target_session_attrs=read-write"
    }

    /// Makes an empty database with a fresh name and returns its URL.
    ///
    /// - Throws: ``TestSupportError`` with the server's message.
    package func makeDatabase() async throws -> String { url(try await primary.makeDatabase()) }

    /// Lets the primary die, and the standby take its place; ``restore()`` must follow before the
    /// next time.
    ///
    /// - Throws: ``TestSupportError`` with the server's message.
    package func failOver() async throws {
        await primary.stop(.immediate)
        // Nobody follows it yet.
        try await standby.run("ALTER SYSTEM SET synchronous_standby_names = ''")
        try await standby.run("SELECT pg_reload_conf()")
        try await standby.run("SELECT pg_promote()")
        (primary, standby) = (standby, primary)
    }

    /// Brings the server that died back, to follow the one that took its place.
    ///
    /// - Throws: ``TestSupportError`` if it does not start.
    package func restore() async throws {
        try await standby.follow(primary)
        try await synchronize()
    }

    /// Has every commit wait for the standby from now on, and returns when it is well.
    private func synchronize() async throws {
        try await primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try await primary.run("SELECT pg_reload_conf()")
        let follows = try await isSoon { [primary] in
            try await primary.run("SELECT sync_state FROM pg_stat_replication") == "sync\n"
        }
        guard follows else {
            throw TestSupportError("the standby does not follow: \(standby.log.suffix(2_000))")
        }
    }

    /// Ends both.
    package func stop() async {
        // The primary would wait for the other.
        await primary.stop(.immediate)
        await standby.stop(.immediate)
    }
}
