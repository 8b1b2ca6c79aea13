import Foundation

/// Two private PostgreSQL servers, a primary and a synchronous standby, under pg_auto_failover.
///
/// A monitor decides which of them takes changes, and promotes the standby within some five seconds
/// after the primary died. Unlike a ``PostgresPair`` nobody but the tool does anything about a
/// failure. Every connection is trusted, and nothing is flushed to disk.
package actor PostgresFormation {
    /// One of the two servers.
    package struct Node: Equatable, Sendable {
        package let name: String
        package let port: UInt16
        fileprivate let reported: String
        fileprivate let assigned: String

        /// Whether it takes changes, and is to go on doing so.
        fileprivate var isWritable: Bool {
            Self.writable.contains(reported) && Self.writable.contains(assigned)
        }

        private static let writable: Set = ["single", "wait_primary", "join_primary", "primary"]
    }

    /// The database that pg_auto_failover makes on the first server.
    private static let firstDatabase = "formation"

    private let tools: PostgresTools
    private let monitor: Keeper
    private let keepers: [Keeper]

    /// Starts the monitor and both servers.
    ///
    /// - Throws: ``TestSupportError`` if something is not installed or does not start.
    package static func start() async throws -> PostgresFormation {
        let formation = try PostgresFormation()
        do {
            try await formation.form()
            return formation
        } catch {
            await formation.stop()
            throw error
        }
    }

    private init() throws {
        tools = try PostgresTools()
        let program = try ServerProcess.locate("pg_autoctl", in: ["/usr/bin"])
        monitor = try Keeper("monitor", tools, program)
        keepers = [try Keeper("a", tools, program), try Keeper("b", tools, program)]
    }

    private func form() async throws {
        try await monitor.create(["monitor"] + Self.access)
        // Much more impatient than its defaults, under which a failover takes half a minute.
        let milliseconds = [
            "health_check_period": 500, "health_check_timeout": 1_000,
            "health_check_max_retries": 1,
            "health_check_retry_delay": 300, "node_considered_unhealthy_timeout": 2_000,
            "startup_grace_period": 2_000, "primary_demote_timeout": 2_000,
        ]
        try monitor.configure(Self.settings + milliseconds.map { "pgautofailover.\($0) = \($1)" })
        try await monitor.run()
        try await wait("for the monitor") { try await self.states().isEmpty }
        let options =
            ["postgres"] + Self.access + [
                "--username", "postgres", "--dbname", Self.firstDatabase, "--monitor",
                "postgres://autoctl_node@127.0.0.1:\(monitor.port)/pg_auto_failover",
            ]
        try await keepers[0].create(options)
        try keepers[0].configure(Self.settings)
        try await keepers[0].run()
        try await wait("for the first server") { try await self.writableNode() != nil }
        // A copy of the first, its settings included.
        try await keepers[1].create(options)
        try await keepers[1].run()
        try await waitForStandby()
    }

    private static let access = ["--hostname", "127.0.0.1", "--auth", "trust", "--no-ssl"]

    /// Appended to those that the tool computes for the whole machine; of two values the last one
    /// counts.
    private static let settings = [
        "listen_addresses = '127.0.0.1'", "shared_buffers = 64MB", "fsync = off",
        "full_page_writes = off",
        "wal_init_zero = off", "max_connections = 400", "logging_collector = off",
        "wal_keep_size = 512MB",
        "wal_retrieve_retry_interval = 100ms",
        // A copy begins with a checkpoint, which would otherwise be spread over minutes.
        "checkpoint_completion_target = 0",
    ]

    // MARK: Asking

    /// The server that takes changes now; nil while there is none.
    package func writableNode() async throws -> Node? {
        try await states().first(where: \.isWritable)
    }

    private func states() async throws -> [Node] {
        let rows = try await psql(
            "SELECT nodename, nodeport, reportedstate, goalstate FROM pgautofailover.node ORDER BY nodeid",
            port: monitor.port, user: "autoctl_node", database: "pg_auto_failover")
        return rows.split(separator: "\n").compactMap { row in
            let words = row.split(separator: "|").map(String.init)
            guard words.count == 4, let port = UInt16(words[1]) else { return nil }
            return Node(name: words[0], port: port, reported: words[2], assigned: words[3])
        }
    }

    /// Runs a statement on the server that takes changes, outside the code under test, and returns
    /// the unaligned rows.
    ///
    /// - Throws: ``TestSupportError`` with the server's message.
    @discardableResult
    package func run(_ sql: String, database: String = "postgres") async throws -> String {
        guard let node = try await writableNode() else {
            throw TestSupportError("no server takes changes")
        }
        return try await psql(sql, port: node.port, user: "postgres", database: database)
    }

    private func psql(_ sql: String, port: UInt16, user: String, database: String) async throws
        -> String
    {
        try await ChildProcess.run([
            tools.path("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
            "-p", "\(port)",
            "-U", user, "-d", database, "-c", sql,
        ])
    }

    // MARK: Failing

    /// Ends the primary and its keeper by `SIGKILL`, as a loss of power does, and returns when the
    /// standby takes changes.
    ///
    /// ``restore()`` must follow before the next failure.
    ///
    /// - Throws: ``TestSupportError`` if the standby does not take over.
    package func crashPrimary() async throws {
        try await waitForStandby()
        let primary = try await requireWritable()
        // While the standby counts as unhealthy, as on a busy machine, the primary waits for
        // nobody: what is committed then is lost with it, whatever the code under test does.
        try await wait("for the standby to confirm commits") {
            try await self.isSynchronous(primary)
        }
        await keeper(of: primary).crash()
        try await wait("for the standby to take over") {
            try await self.writableNode().map { $0.name != primary.name } ?? false
        }
    }

    /// Starts the server that crashed, and returns when it is the standby.
    ///
    /// - Throws: ``TestSupportError`` if it does not become that.
    package func restore() async throws {
        for keeper in keepers {
            if await !keeper.isRunning { try await keeper.run() }
        }
        try await waitForStandby()
    }

    /// Lets the servers change places in order, and returns when the one that took changes is the
    /// standby.
    ///
    /// - Throws: ``TestSupportError`` if they do not.
    package func switchOver() async throws {
        let primary = try await requireWritable()
        try await monitor.control(["perform", "failover", "--wait", "0"])
        try await wait("to switch over") {
            try await self.writableNode().map { $0.name != primary.name } ?? false
        }
        try await waitForStandby()
    }

    /// Ends everything.
    package func stop() async {
        for keeper in keepers + [monitor] { await keeper.stop() }
    }

    /// Whether each commit on a server waits for the other one.
    private func isSynchronous(_ node: Node) async throws -> Bool {
        let answer = try await psql(
            """
            SELECT current_setting('synchronous_standby_names') <> '' AND EXISTS (
                SELECT FROM pg_stat_replication
                WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum'))
            """, port: node.port, user: "postgres", database: "postgres")
        return answer.trimmingCharacters(in: .whitespacesAndNewlines) == "t"
    }

    private func requireWritable() async throws -> Node {
        guard let node = try await writableNode() else {
            throw TestSupportError("no server takes changes")
        }
        return node
    }

    private func keeper(of node: Node) -> Keeper {
        keepers.first { $0.name == node.name } ?? keepers[0]
    }

    private func waitForStandby() async throws {
        try await wait("for the standby") {
            let states = try await self.states()
            return states.count == 2 && states.allSatisfy { $0.reported == $0.assigned }
                && Set(states.map(\.reported)) == ["primary", "secondary"]
        }
    }

    private func wait(_ purpose: String, until isSo: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + ServerProcess.patience
        while ContinuousClock.now < end {
            if (try? await isSo()) == true { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        let logs = [monitor] + keepers
        var text = ""
        for keeper in logs { text += "\n\(keeper.name): \(await keeper.log.suffix(1_000))" }
        throw TestSupportError("pg_auto_failover takes too long \(purpose):\(text)")
    }
}

/// A process of pg_auto_failover, and the server that it keeps running.
private final class Keeper: Sendable {
    let name: String
    var port: UInt16 { reserved.number }
    private let reserved: LoopbackPort
    private let folder: TemporaryDirectory
    private let tools: PostgresTools
    private let program: String
    private let running: Running
    private let state = State()

    private actor State {
        var isRunning = false

        func note(_ isRunning: Bool) { self.isRunning = isRunning }
    }

    init(_ name: String, _ tools: PostgresTools, _ program: String) throws {
        self.name = name
        self.tools = tools
        self.program = program
        reserved = try LoopbackPort()
        folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        running = Running(
            recipe: .init(
                command: Self.command(tools, program, folder, ["run"]), folder: folder.path,
                stopSignal: "INT",
                deathSignal: "QUIT"),
            folder: folder
        ) { _ in true }
    }

    private static func command(
        _ tools: PostgresTools, _ program: String, _ folder: TemporaryDirectory, _ words: [String]
    ) -> [String] {
        tools.command(
            [program] + words + ["--pgdata", folder.path("data")],
            environment: ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path])
    }

    var isRunning: Bool { get async { await state.isRunning } }

    var log: String { get async { await running.log } }

    /// Makes what the tool keeps, and the data of the server unless another one has it.
    func create(_ options: [String]) async throws {
        try await tools.own(folder.path)
        let name = options[0] == "monitor" ? [] : ["--name", name]
        try await control(["create"] + options + ["--pgport", "\(port)"] + name)
    }

    /// Runs one of the tool's commands to its end.
    func control(_ words: [String]) async throws {
        try await ChildProcess.run(Self.command(tools, program, folder, words))
    }

    /// Appends settings of the server.
    func configure(_ settings: [String]) throws {
        let file = try FileHandle(
            forWritingTo: URL(fileURLWithPath: folder.path("data/postgresql.conf")))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data(settings.map { $0 + "\n" }.joined().utf8))
    }

    func run() async throws {
        try await running.start()
        await state.note(true)
    }

    func stop() async {
        await running.stop()
        await state.note(false)
    }

    /// Ends every process of it by `SIGKILL`.
    func crash() async {
        let text = FileManager.default.contents(atPath: folder.path("server.pid")) ?? Data()
        let first = String(decoding: text, as: UTF8.self).trimmingCharacters(
            in: .whitespacesAndNewlines)
        if let root = pid_t(first) {
            // From the top, so that nothing starts again what has ended.
            for process in Self.family(of: root) { kill(process, SIGKILL) }
        }
        await running.stop(signal: "KILL")
        await state.note(false)
    }

    /// A process and everything that it started, from the top.
    private static func family(of root: pid_t) -> [pid_t] {
        var family = [root]
        var next = 0
        while next < family.count {
            let folder = "/proc/\(family[next])/task"
            for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                let text =
                    FileManager.default.contents(atPath: "\(folder)/\(thread)/children") ?? Data()
                family += String(decoding: text, as: UTF8.self).split(separator: " ").compactMap {
                    pid_t($0)
                }
            }
            next += 1
        }
        return family
    }
}
