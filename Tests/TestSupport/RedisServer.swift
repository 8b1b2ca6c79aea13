import Foundation

/// A private Redis server on a free loopback port, without persistence.
package final class RedisServer: Sendable {
    /// The TCP port on 127.0.0.1, which stays this server's while it is stopped.
    package var port: UInt16 { reserved.number }
    private let reserved: LoopbackPort
    private let process: Running

    private static let once = Task { try await start() }

    /// The server that all tests of this process share; started on first use.
    ///
    /// Tests keep apart by a key prefix or mirror name of their own.
    package static func shared() async throws -> RedisServer { try await once.value }

    /// Starts a server of its own, which ends with the returned value.
    ///
    /// - Parameters:
    ///   - other: A server that was stopped, whose port this one takes; nil takes a free one.
    ///   - arguments: What to append to the command line, such as
    ///     `["--requirepass", "secret"]`. The placeholder `{port}` becomes the
    ///     server's port, so that `["--port", "0", "--tls-port", "{port}", …]`
    ///     makes it speak TLS only.
    /// - Returns: The server, ready for connections.
    /// - Throws: ``TestSupportError`` if it is not installed or does not start.
    package static func start(onPortOf other: RedisServer? = nil, arguments: [String] = [])
        async throws -> RedisServer
    {
        try await RedisServer(try other?.reserved ?? LoopbackPort(), arguments: arguments)
    }

    private init(_ reserved: LoopbackPort, arguments: [String]) async throws {
        let port = reserved.number
        let folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        var command = [
            try ServerProcess.locate("redis-server"), "--bind", "127.0.0.1", "--port", "\(port)",
        ]
        command += ["--save", "", "--appendonly", "no", "--dir", folder.path, "--daemonize", "no"]
        command += arguments.map { $0.replacingOccurrences(of: "{port}", with: "\(port)") }
        self.reserved = reserved
        self.process = Running(
            recipe: .init(
                command: command, folder: folder.path, stopSignal: "TERM", deathSignal: "KILL"),
            folder: folder
        ) { $0.contains("Ready to accept connections") }
        try await process.start()
    }

    /// `redis://127.0.0.1:port`, without password and database.
    package var url: String { "redis://127.0.0.1:\(port)" }

    /// What the server wrote since its last start.
    package func log() async -> String { await process.log }

    /// Ends the server, dropping every connection.
    package func stop() async { await process.stop() }

    /// Ends the server at once, as a crash does.
    package func kill() async { await process.stop(signal: "KILL") }

    /// Does what happens when the tests are killed: the server and its folder,
    /// whose path is returned, must vanish.
    package func abandon() async throws -> String { try await process.abandon() }

    /// Ends the server if it runs and starts it on the same port, empty.
    ///
    /// - Parameter arguments: What to append to the command line from now on.
    /// - Throws: ``TestSupportError`` if it does not start.
    package func restart(adding arguments: [String] = []) async throws {
        try await process.restart(adding: arguments)
    }

    /// Sends a command with the server's own client, outside the code under
    /// test, and returns what that prints.
    ///
    /// - Throws: ``TestSupportError`` if the server does not answer.
    @discardableResult
    package func run(_ command: String...) async throws -> String { try await run(command) }

    /// The same for a command in parts.
    @discardableResult
    package func run(_ command: [String]) async throws -> String {
        try await ChildProcess.run(
            [try ServerProcess.locate("redis-cli"), "-p", "\(port)", "-e"] + command)
    }
}

/// A server process that can be ended and started again on the same folder.
actor Running {
    private var recipe: ServerProcess.Recipe
    private let folder: TemporaryDirectory
    private let isReady: @Sendable (String) -> Bool
    private var process: ServerProcess?

    init(
        recipe: ServerProcess.Recipe, folder: TemporaryDirectory,
        isReady: @escaping @Sendable (String) -> Bool
    ) {
        self.recipe = recipe
        self.folder = folder
        self.isReady = isReady
    }

    var log: String { process?.log ?? "" }

    func start() async throws {
        process = try await ServerProcess.start(recipe, isReady: isReady)
    }

    func stop(signal: String? = nil) async {
        await process?.stop(keepingFolder: true, signal: signal)
        process = nil
    }

    func abandon() async throws -> String {
        try await process?.abandon()
        process = nil
        return folder.path
    }

    func restart(adding arguments: [String] = [], signal: String? = nil) async throws {
        await stop(signal: signal)
        recipe.command += arguments
        try await start()
    }
}
