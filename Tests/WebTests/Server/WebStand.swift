import Archive
import Configuration
import Control
import Foundation
import Logging
import Mirroring
import NetworkNames
import Posts
import Settings
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Web

/// A database with mirrors, and the page that is served of it on a free port until ``stop()``.
final class WebStand: Sendable {
    /// 2026-05-28, 12:00 in Berlin: a Thursday.
    static let now = Date(timeIntervalSince1970: 1_779_962_400)
    static let zone = "Europe/Berlin"
    private static let localZone = TimeZone(identifier: zone) ?? .gmt
    static let password = "correct horse battery"

    let installation: Installation
    let clock: VirtualClock
    let client: WebClient
    let log: LogLines
    /// The connections of the page, whose time goes on only by ``uptime``.
    let connections: ConnectionBook
    let uptime: ManualUptime
    private let folder: TemporaryDirectory
    private let tasks = Mutex<[Task<Void, any Error>]>([])

    /// Starts the page.
    ///
    /// - Parameters:
    ///   - mirrors: Their names; each knows a past of some years.
    ///   - variables: Settings besides those of the database.
    ///   - demo: Tells where a demo stands; nil for no demo.
    ///   - limits: Limits of the connections.
    ///   - onClock: Called at each reading of the page's clock, on the thread that reads it.
    ///   - onBegin: Lets a worker begin with a mirror; nil for a page without workers.
    static func start(
        _ mirrors: [String] = [usual], variables: [String: String] = [:], isReadOnly: Bool = false,
        demo: (@Sendable () -> DemoMoment)? = nil, text: ((Int) -> String)? = nil,
        limits: ConnectionLimits = ConnectionLimits(), onClock: (@Sendable () -> Void)? = nil,
        onBegin: (@Sendable (String) -> Bool)? = nil
    ) async throws -> WebStand {
        // As the program does: a browser that is gone must not end the process.
        signal(SIGPIPE, SIG_IGN)
        let folder = try TemporaryDirectory()
        let settings = Self.settings(mirrors.first ?? "default", folder).merging(variables) { $1 }
        let configuration = try Self.configuration(settings)
        let clock = VirtualClock(startingAt: now)
        let log = LogLines()
        let isUsual = mirrors == [usual] && text == nil
        if isUsual {
            try await filled.value.copyFiles(into: folder)
        } else {
            try await MigratedDatabase.copy(to: folder.path("mirror-bot.sqlite"))
        }
        for name in mirrors {
            let configuration = try Self.configuration(settings.merging(["MIRROR": name]) { $1 })
            let mirror = try await HumanMirror.open(configuration, clock: clock)
            if !isUsual { try await fill(mirror, text ?? usualText) }
            try await judge(mirror)
            await mirror.close()
        }
        let installation = try await Installation.open(
            configuration, clock: onClock.map { ToldClock(clock: clock, onClock: $0) } ?? clock,
            logger: Logger(label: "test") { _ in log.handler })
        return try await WebStand(
            installation, clock, log, folder, isReadOnly: isReadOnly, demo: demo, limits: limits,
            onBegin: onBegin)
    }

    /// The mirror of most tests.
    static let usual = "mika"
    private static let usualText: @Sendable (Int) -> String = { "Post number \($0)." }

    /// The database of that mirror, made once and copied for each test.
    private static let filled = Task {
        let folder = try TemporaryDirectory()
        try await MigratedDatabase.copy(to: folder.path("mirror-bot.sqlite"))
        let configuration = try WebStand.configuration(settings(usual, folder))
        let mirror = try await HumanMirror.open(configuration, clock: VirtualClock(startingAt: now))
        try await fill(mirror, usualText)
        try await judge(mirror)
        await mirror.close()
        return folder
    }

    private static func settings(_ mirror: String, _ folder: TemporaryDirectory) -> [String: String]
    {
        [
            "MIRROR_BOT_HOME": folder.path, "MIRROR": mirror, "TIME_ZONE": zone,
            "MIN_AGE_DAYS": "0",
            "WEB_LISTEN": "127.0.0.1:0", "HUMAN_SERVER": "https://social.example",
            "HUMAN_ACCESS_TOKEN": "human-token",
            "BOT_SERVER": "https://bots.example", "BOT_ACCESS_TOKEN": "bot-token",
        ]
    }

    private static func configuration(_ settings: [String: String]) throws -> MirrorConfiguration {
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: settings))
        return try MirrorConfiguration(values, environment: [:])
    }

    private static func fill(_ mirror: HumanMirror, _ text: (Int) -> String) async throws {
        try await mirror.table.add(now: now)
        _ = try await mirror.table.notePast(.whole, now: now)
        try await mirror.table.setTimeZone(zone, now: now)
        // As if it had worked before.
        try await mirror.table.noteStatement(.agreed, now: now - 86_400)
        _ = try await mirror.table.activate(now: now - 86_400)
        let human = AccountID(network: .mastodon, value: "mika@social.example")
        let hours: [Double] = [8, 12.5, 17, 18, 19, 20, 21, 22]
        let posts = (0..<800).map { index in
            let days = Double(40 + index / 4)
            let seconds = (hours[index % hours.count] - 12) * 3_600 + Double(index % 7) * 240
            return Post(
                id: PostID(network: .mastodon, value: "https://social.example/@mika/\(index)"),
                author: human,
                text: text(index), createdAt: now - days * 86_400 + seconds)
        }
        _ = try await mirror.archive.store(posts, timeZone: localZone, limit: 10_000)
    }

    /// Judges the texts, as every training does at its end.
    private static func judge(_ mirror: HumanMirror) async throws {
        try await mirror.archive.prepare(by: mirror.textJudge(zone: localZone))
    }

    private init(
        _ installation: Installation, _ clock: VirtualClock, _ log: LogLines,
        _ folder: TemporaryDirectory,
        isReadOnly: Bool, demo: (@Sendable () -> DemoMoment)?, limits: ConnectionLimits,
        onBegin: (@Sendable (String) -> Bool)?
    ) async throws {
        let uptime = ManualUptime()
        // Each address but the usual one of this machine counts as one of another machine.
        let connections = ConnectionBook(
            limits, share: { $0 == "127.0.0.1" ? nil : NetworkRange($0) }, uptime: { uptime.now })
        let (task, port) = try await Self.serve(
            installation, isReadOnly: isReadOnly, demo: demo, setup: SetupWork(begin: onBegin),
            connections: connections)
        self.installation = installation
        self.clock = clock
        self.log = log
        self.folder = folder
        self.connections = connections
        self.uptime = uptime
        client = WebClient(port: port)
        tasks.withLock { $0.append(task) }
    }

    private static func serve(
        _ installation: Installation, isReadOnly: Bool, demo: (@Sendable () -> DemoMoment)?,
        setup: SetupWork = SetupWork(), connections: ConnectionBook
    ) async throws -> (task: Task<Void, any Error>, port: Int) {
        let (ports, told) = AsyncStream.makeStream(of: Int.self)
        let server = try WebServer(
            installation, installation.process.web, isReadOnly: isReadOnly,
            build: MetricsReport.Build(version: "9.8.7", commit: "abc"), demo: demo, setup: setup,
            connections: connections
        ) { told.yield($0) }
        let task = Task {
            defer { told.finish() }
            try await server.run()
        }
        for await port in ports { return (task, port) }
        try await task.value
        throw TestSupportError("the page ended at once")
    }

    /// Does something while the time of the connections passes, as slow as it may be; the page
    /// itself looks whom it waits for too long.
    func whileTimePasses<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let passing = Task { [uptime] in
            while !Task.isCancelled {
                uptime.advance(by: .seconds(5))
                await Task.yield()
            }
        }
        defer { passing.cancel() }
        return try await body()
    }

    /// Serves the same database once more, as another process or the next one does.
    ///
    /// - Returns: A client of that page.
    func serveAgain() async throws -> WebClient {
        let (task, port) = try await Self.serve(
            installation, isReadOnly: false, demo: nil, connections: ConnectionBook())
        tasks.withLock { $0.append(task) }
        return WebClient(port: port)
    }

    /// Ends the page and closes the database.
    func stop() async {
        for task in tasks.withLock({ $0 }) {
            task.cancel()
            _ = await task.result
        }
        await installation.close()
    }

    func mirror(_ name: String = "mika") async throws -> HumanMirror {
        try await installation.mirror(named: name)
    }

    /// Adds a mirror of which nothing is known but its name.
    func add(_ name: String) async throws {
        try await MirrorTable(storage: installation.storage, mirror: name).add(now: Self.now)
    }

    /// Logs in with the right password.
    func logIn() async throws {
        let answer = try await client.send(
            "/login", form: [("password", Self.password), ("next", "/")])
        #expect(answer.status == 303)
    }

    /// Starts a page, and stops it after the test.
    static func with(
        _ mirrors: [String] = [usual], variables: [String: String] = [:], isReadOnly: Bool = false,
        demo: (@Sendable () -> DemoMoment)? = nil, text: ((Int) -> String)? = nil,
        limits: ConnectionLimits = ConnectionLimits(), onClock: (@Sendable () -> Void)? = nil,
        onBegin: (@Sendable (String) -> Bool)? = nil,
        _ body: (WebStand) async throws -> Void
    ) async throws {
        let stand = try await start(
            mirrors, variables: variables, isReadOnly: isReadOnly, demo: demo, text: text,
            limits: limits, onClock: onClock, onBegin: onBegin)
        do {
            try await body(stand)
        } catch {
            await stand.stop()
            throw error
        }
        await stand.stop()
    }
}

/// An uptime that only a test lets pass.
final class ManualUptime: Sendable {
    private let time = Mutex(Duration.zero)

    var now: Duration { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

/// What was logged.
final class LogLines: @unchecked Sendable {
    // Unchecked because the lines are only touched under `lock`.
    private let lock = NSLock()
    private var lines: [String] = []

    var all: String { lock.withLock { lines.joined(separator: "\n") } }

    var handler: any LogHandler { Handler(lines: self) }

    private func add(_ line: String) { lock.withLock { lines.append(line) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.add("\(event.message) \(metadata) \(event.metadata ?? [:])")
        }
    }
}

/// A clock that tells when it is read.
private struct ToldClock: WallClock {
    let clock: VirtualClock
    let onClock: @Sendable () -> Void

    var now: Date {
        onClock()
        return clock.now
    }

    func sleep(until deadline: Date) async throws { try await clock.sleep(until: deadline) }
}
