import Foundation

/// A private PostgreSQL server on a free loopback port and a Unix socket.
///
/// Its data is in a temporary folder and not flushed to disk. Every connection
/// is trusted unless a start with `password` asks for one. As root the server
/// runs as the user `postgres`, because it refuses to run as root.
package final class PostgresServer: Sendable {
    /// The TCP port on 127.0.0.1.
    package let port: UInt16
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
    /// - Returns: The server, ready for connections.
    /// - Throws: ``TestSupportError`` if it is not installed or does not start.
    package static func start(
        settings: [String: String] = [:], password: String? = nil, tls: Bool = false
    ) async throws -> PostgresServer {
        let tools = try PostgresTools()
        let folder = try TemporaryDirectory(in: "/tmp")
        try await tools.makeCluster(in: folder, password: password)
        var settings = settings
        if tls { settings.merge(try await tools.makeCertificate(in: folder)) { given, _ in given } }
        let userInfo = password.map { "postgres:\($0)" } ?? "postgres"
        return try await ServerProcess.onFreePort { port in
            try await PostgresServer(port, userInfo, tools, folder, settings)
        }
    }

    private init(
        _ port: UInt16, _ userInfo: String, _ tools: PostgresTools, _ folder: TemporaryDirectory,
        _ settings: [String: String]
    ) async throws {
        let data = folder.path("data")
        var all = [
            "listen_addresses": "127.0.0.1", "port": "\(port)", "unix_socket_directories": folder.path,
            "fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB", "max_connections": "400",
            "logging_collector": "off",
        ]
        all.merge(settings) { _, given in given }
        let flags = all.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
        self.port = port
        self.userInfo = userInfo
        self.socketFolder = folder.path
        self.certificatePath = settings["ssl_cert_file"]
        self.tools = tools
        self.process = Running(
            recipe: .init(
                command: tools.command("postgres", ["-D", data] + flags), folder: folder.path,
                stopSignal: "INT", deathSignal: "QUIT"),
            folder: folder
        ) { _ in Self.isReady(data) }
        try await process.start()
    }

    /// The server writes its state to the eighth line of its lock file.
    private static func isReady(_ data: String) -> Bool {
        let text = FileManager.default.contents(atPath: data + "/postmaster.pid") ?? Data()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count >= 8 && lines[7].hasPrefix("ready")
    }

    /// The URL of a database over TCP.
    package func url(database: String = "postgres") -> String {
        "postgres://\(userInfo)@127.0.0.1:\(port)/\(database)"
    }

    /// The URL of a database over the Unix socket.
    package func socketURL(database: String = "postgres") -> String {
        let host = socketFolder.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? socketFolder
        return "postgres://\(userInfo)@/\(database)?host=\(host)&port=\(port)"
    }

    /// Makes an empty database with a fresh name and returns its TCP URL.
    package func makeDatabase() async throws -> String {
        let name = "t" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
        try await run("CREATE DATABASE \(name)")
        return url(database: name)
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
        let name = database.split(separator: "/").last.map(String.init) ?? database
        let client = [tools.path("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]
        return try await ChildProcess.run(client + ["-d", socketURL(database: name)])
    }

    /// Ends the server, dropping every connection.
    package func stop() async { await process.stop() }

    /// Ends the server if it runs and starts it on the same port and data.
    package func restart() async throws { try await process.restart() }
}
