import Foundation

/// A private PgBouncer in transaction mode, in front of a PostgreSQL server.
///
/// Each transaction may come to another one of its few sessions, which it takes in turns, and
/// nothing that a client asks of a session when it connects is passed over.
package final class PoolerServer: Sendable {
    /// The TCP port on 127.0.0.1.
    package var port: UInt16 { reserved.number }
    private let reserved: LoopbackPort
    private let process: Running

    private static let once = Task {
        try await start(before: PostgresServer.shared(), isLasting: false)
    }

    /// The pooler in front of ``PostgresServer/shared()`` that all tests of this process share;
    /// started on first use.
    ///
    /// It has few sessions for each database and closes them soon, because each test has a database
    /// of its own.
    package static func shared() async throws -> PoolerServer { try await once.value }

    /// - Parameters:
    ///   - server: The server behind it, without a password.
    ///   - sessions: How many sessions it opens there for each database, at most.
    ///   - isLasting: Whether it keeps as many open.
    /// - Returns: The pooler, ready for connections.
    /// - Throws: ``TestSupportError`` if it is not installed or does not start.
    package static func start(
        before server: PostgresServer, sessions: Int = 3, isLasting: Bool = true
    ) async throws -> PoolerServer {
        try await PoolerServer(try LoopbackPort(), server, sessions, isLasting)
    }

    private init(
        _ reserved: LoopbackPort, _ server: PostgresServer, _ sessions: Int, _ isLasting: Bool
    ) async throws {
        let folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        let users = try folder.write(Data("\"postgres\" \"\"\n".utf8), to: "users.txt")
        let settings = """
            [databases]
            * = host=127.0.0.1 port=\(server.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(reserved.number)
            unix_socket_dir =
            auth_type = trust
            auth_file = \(users)
            pool_mode = transaction
            default_pool_size = \(sessions)
            min_pool_size = \(isLasting ? sessions : 0)
            server_idle_timeout = \(isLasting ? 600 : 2)
            max_client_conn = 1000
            server_round_robin = 1
            """
        let file = try folder.write(Data(settings.utf8), to: "pgbouncer.ini")
        // It refuses to run as root.
        let user = getuid() == 0 ? ["-u", "postgres"] : []
        if getuid() == 0 {
            try await ChildProcess.run(["chown", "-R", "postgres:postgres", folder.path])
        }
        self.reserved = reserved
        process = Running(
            recipe: .init(
                command: [try ServerProcess.locate("pgbouncer", in: ["/usr/sbin"])] + user + [file],
                folder: folder.path, stopSignal: "INT", deathSignal: "TERM"),
            folder: folder
        ) { $0.contains("process up") }
        try await process.start()
    }

    /// The URL of a database of the server behind it.
    ///
    /// - Parameters:
    ///   - database: A name, or a URL that ``PostgresServer/makeDatabase()`` returned.
    ///   - relay: A relay on the way to the pooler; nil goes straight.
    /// - Returns: A URL over TCP.
    package func url(_ database: String, through relay: Relay? = nil) -> String {
        let name = database.split(separator: "/").last.map(String.init) ?? database
        return "postgres://postgres@127.0.0.1:\(relay?.port ?? port)/\(name)"
    }
}
