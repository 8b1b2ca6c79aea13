import Foundation

/// A private PostgreSQL server on a free loopback port and a Unix socket.
///
/// Its data is in a temporary folder and not flushed to disk. Every connection
/// is trusted unless a start with `password` asks for one. As root the server
/// runs as the user `postgres`, because it refuses to run as root.
package final class PostgresServer: Sendable {
    /// The TCP port on 127.0.0.1, which stays this server's while it is stopped.
    package var port: UInt16 { reserved.number }
    private let reserved: LoopbackPort
    /// The folder that holds the Unix socket; a `host` for libpq.
    package let socketFolder: String
    /// The self-signed certificate for `localhost`, where the server was
    /// started with TLS.
    package let certificatePath: String?
    private let userInfo: String
    private let tools: PostgresTools
    private let process: Running

    private static let once = Task { try await start() }

    /// The server that all tests of this process share; started on first use.
    package static func shared() async throws -> PostgresServer { try await once.value }

    /// Starts a server of its own, which ends with the returned value.
    ///
    /// - Parameters:
    ///   - settings: Server settings, such as `["max_connections": "5"]`.
    ///   - password: The password of the user `postgres`, then asked of every
    ///     connection and part of every URL; letters and digits. Nil trusts all.
    ///   - tls: Whether the server offers TLS, with ``certificatePath``.
    ///   - isCopied: False for a server with a system identifier of its own, which takes longer to
    ///     make.
    /// - Returns: The server, ready for connections.
    /// - Throws: ``TestSupportError`` if it is not installed or does not start.
    package static func start(
        settings: [String: String] = [:], password: String? = nil, tls: Bool = false,
        isCopied: Bool = true
    ) async throws -> PostgresServer {
        let tools = try PostgresTools()
        let folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        try await tools.makeCluster(in: folder, password: password, isCopied: isCopied)
        var settings = settings
        if tls { settings.merge(try await tools.makeCertificate(in: folder)) { given, _ in given } }
        let userInfo = password.map { "postgres:\($0)" } ?? "postgres"
        return try await PostgresServer(try LoopbackPort(), userInfo, tools, folder, settings)
    }

    private init(
        _ reserved: LoopbackPort, _ userInfo: String, _ tools: PostgresTools,
        _ folder: TemporaryDirectory,
        _ settings: [String: String]
    ) async throws {
        let data = folder.path("data")
        var all = [
            "listen_addresses": "127.0.0.1", "port": "\(reserved.number)",
            "unix_socket_directories": folder.path,
            "fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB",
            "max_connections": "400",
            "wal_init_zero": "off", "max_wal_size": "64MB", "logging_collector": "off",
            // It visits each database once a minute, and the tests make hundreds that live for
            // seconds. Of plans that cost the same, the server takes another one where tables were
            // vacuumed.
            "autovacuum": "off",
        ]
        all.merge(settings) { _, given in given }
        self.reserved = reserved
        self.userInfo = userInfo
        self.socketFolder = folder.path
        self.certificatePath = settings["ssl_cert_file"]
        self.tools = tools
        self.process = Running(
            recipe: .init(
                command: tools.command("postgres", ["-D", data] + Self.flags(all)),
                folder: folder.path,
                stopSignal: "INT", deathSignal: "QUIT"),
            folder: folder
        ) { _ in Self.isReady(data) }
        try await process.start()
    }

    /// The server writes its state to the eighth line of its lock file.
    private static func isReady(_ data: String) -> Bool {
        let text = FileManager.default.contents(atPath: data + "/postmaster.pid") ?? Data()
        let lines = String(decoding: text, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.count >= 8 && ["ready", "standby"].contains { lines[7].hasPrefix($0) }
    }

    /// The URL of a database over TCP.
    package func url(database: String = "postgres") -> String {
        "postgres://\(userInfo)@127.0.0.1:\(port)/\(database)"
    }

    /// The URL of a database over the Unix socket.
    package func socketURL(database: String = "postgres") -> String {
        let host =
            socketFolder.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            ?? socketFolder
        return "postgres://\(userInfo)@/\(database)?host=\(host)&port=\(port)"
    }

    /// What a URL ends with where nothing is to be learned from slowness: a busy machine may need
    /// ten seconds, after which a worker gives a connection up, for what takes milliseconds.
    package static let patience = "?connect_timeout=120"

    /// Makes a database with a fresh name.
    ///
    /// - Parameter template: The URL of a database of this server that is copied and that nobody is
    ///   connected to; nil makes an empty one.
    /// - Returns: Its TCP URL.
    /// - Throws: ``TestSupportError`` with the server's message.
    package func makeDatabase(from template: String? = nil) async throws -> String {
        let name = "t" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
        try await run(
            "CREATE DATABASE \(name)" + (template.map { " TEMPLATE \(Self.name($0))" } ?? ""))
        return url(database: name)
    }

    /// Drops a database of the shared server, unless somebody is still connected to it.
    package static func drop(_ database: String) async {
        _ = try? await shared().run("DROP DATABASE \(name(database))")
    }

    /// A database of the shared server that is dropped when the last reference goes, if nobody is
    /// connected to it then.
    package final class Borrowed: Sendable {
        private let database: String

        /// - Parameter database: Its URL.
        package init(_ database: String) { self.database = database }

        deinit { Task.detached { [database] in await PostgresServer.drop(database) } }
    }

    /// Such a URL through a relay, ``Relay``, on the way to this server.
    package func url(_ database: String, through relay: Relay) -> String {
        "postgres://\(userInfo)@127.0.0.1:\(relay.port)/\(Self.name(database))"
    }

    /// Runs a statement with the server's own client, outside the code under
    /// test, and returns the unaligned rows.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - database: The name of a database, or a URL that
    ///     ``makeDatabase()`` returned.
    /// - Returns: One line a row.
    /// - Throws: ``TestSupportError`` with the server's message.
    @discardableResult
    package func run(_ sql: String, database: String = "postgres") async throws -> String {
        let name = Self.name(database)
        let client = [
            tools.path("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql,
        ]
        return try await ChildProcess.run(client + ["-d", socketURL(database: name)])
    }

    /// Everything that the server has logged since it started last.
    package var log: String {
        let text = FileManager.default.contents(atPath: socketFolder + "/server.log") ?? Data()
        return String(decoding: text, as: UTF8.self)
    }

    /// How a server ends.
    package enum Ending: String, Sendable {
        /// In order: transactions are rolled back, connections are told.
        case fast = "INT"
        /// At once, and recovers at its next start, as after a loss of power.
        case immediate = "QUIT"
    }

    /// Ends the server, dropping every connection.
    package func stop(_ ending: Ending = .fast) async {
        await process.stop(signal: ending.rawValue)
    }

    /// Ends the server if it runs and starts it on the same port and data.
    ///
    /// - Parameters:
    ///   - ending: How it ends.
    ///   - settings: Server settings that are others from now on.
    /// - Throws: ``TestSupportError`` if it does not start.
    package func restart(_ ending: Ending = .fast, settings: [String: String] = [:]) async throws {
        // Of two values for a setting the server takes the last one.
        try await process.restart(adding: Self.flags(settings), signal: ending.rawValue)
    }

    /// Ends every connection to a database, whatever it does.
    ///
    /// - Parameter database: The name of a database, or a URL that
    ///   ``makeDatabase()`` returned.
    /// - Throws: ``TestSupportError`` with the server's message.
    package func terminateConnections(to database: String) async throws {
        try await run(
            """
            SELECT pg_terminate_backend(pid, 180000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """, database: database)
    }

    /// Starts another server that has the data of this one and follows it.
    ///
    /// - Parameter settings: Server settings.
    /// - Returns: The server, ready for connections.
    /// - Throws: ``TestSupportError`` if it does not start.
    package func startStandby(settings: [String: String] = [:]) async throws -> PostgresServer {
        let folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        try await tools.copy(port: port, to: folder.path)
        return try await PostgresServer(try LoopbackPort(), userInfo, tools, folder, settings)
    }

    /// Ends the server if it runs, and starts it with the data of another one, which it follows.
    ///
    /// - Throws: ``TestSupportError`` if it does not start.
    package func follow(_ primary: PostgresServer) async throws {
        await stop(.immediate)
        try await tools.copy(port: primary.port, to: socketFolder)
        try await process.start()
    }

    /// Begins another history of the data, as a standby does that takes over.
    ///
    /// - Throws: ``TestSupportError`` if the server does not start again.
    package func promote() async throws {
        await stop()
        try Data().write(to: URL(fileURLWithPath: socketFolder + "/data/standby.signal"))
        try await tools.own(socketFolder + "/data/standby.signal")
        try await process.start()
        try await run("SELECT pg_promote()")
    }

    /// Changes what new connections to a database begin with; nil resets it.
    ///
    /// - Parameters:
    ///   - setting: A server setting, such as `default_transaction_read_only`.
    ///   - value: Its value, of letters and digits.
    ///   - database: The name of a database, or a URL that ``makeDatabase()`` returned.
    /// - Throws: ``TestSupportError`` with the server's message.
    package func set(_ setting: String, to value: String?, in database: String) async throws {
        let name = Self.name(database)
        let change = value.map { "SET \(setting) = '\($0)'" } ?? "RESET \(setting)"
        try await run("ALTER DATABASE \(name) \(change)")
    }

    static func name(_ database: String) -> String {
        database.prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? database
    }

    private static func flags(_ settings: [String: String]) -> [String] {
        settings.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
    }
}
