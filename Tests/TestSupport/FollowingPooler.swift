import Foundation

/// A private PgBouncer in transaction mode that can be led to another server while clients use it.
///
/// It knows one database. Clients that come while the server is gone wait for the next one.
package final class FollowingPooler: Sendable {
    /// The TCP port on 127.0.0.1, which stays this pooler's while it is stopped.
    package var port: UInt16 { reserved.number }
    private let reserved: LoopbackPort
    private let database: String
    private let sessions: Int
    private let folder: TemporaryDirectory
    private let tools: PostgresTools
    private let process: Running

    /// - Parameters:
    ///   - database: The database that it leads to.
    ///   - server: The port of the server on 127.0.0.1.
    ///   - sessions: The most sessions that it opens there.
    /// - Returns: The pooler, ready for connections.
    /// - Throws: ``TestSupportError`` if it is not installed or does not start.
    package static func start(database: String, server: UInt16, sessions: Int) async throws
        -> FollowingPooler
    {
        let pooler = try FollowingPooler(database, sessions)
        try await pooler.write(server)
        try await pooler.process.start()
        return pooler
    }

    private init(_ database: String, _ sessions: Int) throws {
        self.database = database
        self.sessions = sessions
        reserved = try LoopbackPort()
        folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        tools = try PostgresTools()
        let program = try ServerProcess.locate("pgbouncer", in: ["/usr/sbin"])
        process = Running(
            recipe: .init(
                command: tools.command([program, folder.path("pgbouncer.ini")], environment: [:]),
                folder: folder.path, stopSignal: "INT", deathSignal: "TERM"),
            folder: folder
        ) { $0.contains("process up") }
    }

    /// Leads new transactions to another server; the connections to the one before end with their
    /// transactions.
    ///
    /// - Throws: ``TestSupportError`` if the pooler does not answer; it follows at its next start
    ///   then.
    package func follow(_ server: UInt16) async throws {
        try await write(server)
        try await ChildProcess.run([
            tools.path("psql"), "-X", "-q", "-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres",
            "-d", "pgbouncer",
            "-c",
            "RELOAD",
        ])
    }

    /// Runs a statement through the first of some poolers that answers, outside the code under
    /// test.
    ///
    /// - Throws: ``TestSupportError`` with what was said instead.
    package static func run(_ sql: String, through poolers: [FollowingPooler]) async throws {
        guard let first = poolers.first else { throw TestSupportError("there is no pooler") }
        let hosts = poolers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        try await ChildProcess.run([
            first.tools.path("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql,
            "postgres://postgres@\(hosts)/\(first.database)?connect_timeout=2",
        ])
    }

    /// Ends the pooler at once, with every connection, and starts it again.
    ///
    /// - Throws: ``TestSupportError`` if it does not start.
    package func restart() async throws { try await process.restart(signal: "KILL") }

    /// Ends the pooler.
    package func stop() async { await process.stop() }

    private func write(_ server: UInt16) async throws {
        try await tools.own(folder.path)
        let users = try folder.write(.init("\"postgres\" \"\"\n".utf8), to: "users.txt")
        let settings = """
            [databases]
            \(database) = host=127.0.0.1 port=\(server)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = trust
            auth_file = \(users)
            admin_users = postgres
            pool_mode = transaction
            default_pool_size = \(sessions)
            max_client_conn = 500
            server_round_robin = 1
            server_connect_timeout = 2
            server_login_retry = 0.2
            query_wait_timeout = 30
            """
        let file = try folder.write(.init(settings.utf8), to: "pgbouncer.ini")
        for path in [users, file] { try await tools.own(path) }
    }
}
