import Archive
import Foundation
import Outbox
import Posts
import Sandbox
import Settings
import Storage
import TestSupport
import Transport

/// A worker with `run --web`, beside a network in this process: its mirror has 10,000 posts, 50,000
/// examples and 100,000 actions.
final class WebStage: Sendable {
    /// Where the data is.
    enum Place: String, CaseIterable, Sendable {
        case embedded, postgres

        var title: String { self == .embedded ? "embedded" : "Postgres" }

        /// The beginning of the names of lines.
        var prefix: String { self == .embedded ? "web" : "web_postgres" }
    }

    static let pages: [(name: String, title: String, path: String)] = [
        ("today", "Today", ""), ("waiting", "Waiting", "/waiting"),
        ("actions", "Actions", "/actions"),
        ("hours", "Hours", "/hours"), ("favorites", "Favorites", "/favorites"),
        ("texts", "Texts", "/texts"),
        ("people", "People", "/people"), ("health", "Health", "/health"),
        ("settings", "Settings", "/settings"),
    ].map { ($0.0, $0.1, "/m/default" + $0.2) }

    let place: Place
    let port: Int
    let client = HTTPClient(
        configuration: HTTPClientConfiguration(userAgent: "mirror-bot-benchmarks"))
    private let worker: Program
    private let sandbox: Sandbox
    private let storage: any StorageEngine
    private let server: (server: PostgresServer, url: String)?
    private let folder: TemporaryDirectory
    /// Posts of others that the network has.
    private let targets: [Action.Target]
    private let used = Used()

    /// How many targets were used.
    private actor Used {
        private var number = 0

        func take(_ count: Int) -> Int {
            defer { number += count }
            return number
        }
    }

    var address: String { "http://127.0.0.1:\(port)" }

    init(_ bench: Bench, in place: Place) async throws {
        self.place = place
        let folder = try TemporaryDirectory(in: bench.folder.path)
        let origin = Date(milliseconds: Date().milliseconds)
        let sandbox = try await IdleStage.startSandbox(at: origin)
        var environment = IdleStage.environment(in: folder, on: sandbox)
        environment["WEB_LISTEN"] = "127.0.0.1:0"
        // So that the whole of the past is there.
        environment["EXAMPLE_LIMIT"] = "50000"
        // The worker looks at its feeds as often as that.
        environment["POLL_SECONDS"] = "10"
        var server: (PostgresServer, String)?
        if place == .postgres {
            let started = try await bench.servers.postgres()
            let url = try await started.makeDatabase()
            server = (started, url)
            environment["DATABASE_URL"] = url
        }
        let location =
            server.map { StorageLocation.postgres(url: $0.1) }
            ?? .sqlite(path: folder.path("mirror-bot.sqlite"))
        let mirrorBot = try Beside.mirrorBot()
        let data = WebData(bench, endingAt: origin)
        let posts = try folder.write(data.postLines, to: "posts.jsonl")
        let examples = try folder.write(data.exampleLines, to: "examples.jsonl")
        for words in [
            ["migrate"], ["train", "scheduler", "--from", posts],
            ["train", "classifier", "--limit", "200"],
        ] {
            let words = [mirrorBot] + words
            let variables = environment
            let log = folder.path("train.log")
            try await bench.blocking {
                _ = try Program.run(words, environment: variables, outputPath: log)
            }
        }
        let storage = try await Storage.open(location)
        targets = try await WebData.targets(in: storage)
        let words = [mirrorBot, "train", "classifier", "--from", examples]
        let variables = environment
        let log = folder.path("train.log")
        try await bench.blocking {
            _ = try Program.run(words, environment: variables, outputPath: log)
        }
        try await data.storeActions(in: storage, at: origin)
        if place == .postgres { try await storage.execute("ANALYZE") }
        let output = folder.path("run.log")
        let worker = try await bench.blocking {
            let worker = try Program(
                [mirrorBot, "run", "--web"], environment: variables, outputPath: output)
            _ = try worker.wait(for: "Worker started")
            _ = try worker.wait(for: "Web page opened")
            return worker
        }
        port = try WebStage.port(in: worker.output)
        self.worker = worker
        self.sandbox = sandbox
        self.storage = storage
        self.server = server
        self.folder = folder
    }

    /// The port in the line that says where the page is.
    static func port(in log: String) throws -> Int {
        guard let line = log.split(separator: "\n").last(where: { $0.contains("Web page opened") }),
            let digits = line.firstMatch(of: /127\.0\.0\.1:([0-9]+)/)?.output.1,
            let port = Int(digits)
        else { throw TestSupportError("no port in \(log.suffix(2_000))") }
        return port
    }

    func stop() { worker.stop() }

    func close() async {
        client.shutdown()
        await storage.close()
        await sandbox.stop()
    }

    /// Commits something that no page shows.
    func change() async throws { try await storage.executeRepeatable(PageTimes.change) }

    /// In MiB.
    func privateMemory() throws -> Double {
        guard let figures = ProcessFigures(of: worker.pid) else {
            throw TestSupportError("the worker ended")
        }
        return figures.privateMemory
    }

    /// How many transactions the database commits within a span; nil for the embedded one, which
    /// does not count them.
    ///
    /// - Parameter settles: Whether to wait, before and after, until all that was committed is
    ///   counted.
    func commits(within span: Duration, settles: Bool) async throws -> Double? {
        let before = try await commits(settles: settles)
        try await Task.sleep(for: span)
        let after = try await commits(settles: settles)
        return before.flatMap { before in after.map { $0 - before } }
    }

    /// All transactions that the database has committed.
    private func commits(settles: Bool) async throws -> Double? {
        guard let server else { return nil }
        // A session that is idle tells what it did up to ten seconds late.
        try await Task.sleep(for: .seconds(settles ? 11 : 0))
        let query = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        let text = try await server.server.run(query, database: server.url)
        guard let number = Double(text.filter { !$0.isWhitespace }) else {
            throw TestSupportError("the server counts no transactions: \(text)")
        }
        return number
    }

    /// Lets the worker give favorites, and returns the mean of the milliseconds from the committed
    /// request to the committed answer.
    func millisecondsOfDeliveries(_ count: Int) async throws -> Double {
        let outbox = OutboxStore(storage: storage, mirror: "default", lease: nil)
        let now = Date(milliseconds: Date().milliseconds)
        let first = await used.take(count)
        guard first + count <= targets.count else {
            throw TestSupportError("the network has too few posts")
        }
        let intents = (0..<count).map { number in
            let due = now + Double(number) / 4
            return Intent(.favorite(targets[first + number]), due: due, expires: due + 900)
        }
        let ids = try await outbox.propose(intents, now: now).map(\.action.id)
        // As every operation of a person does: a worker with nothing to do looks at its rows only
        // for that.
        try await storage.transaction { try MirrorVersion.raise("default", on: $0) }
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(200))
            let stored = try await outbox.actions(withIDs: ids)
            if let lost = stored.values.first(where: {
                [.skipped, .expired, .failed].contains($0.state)
            }) {
                throw TestSupportError(
                    "a favorite ended as \(lost.state.rawValue), \(lost.reason?.rawValue ?? "-")")
            }
            let times = stored.values.filter { $0.state == .done }.compactMap { action in
                action.sending.map { action.updated.timeIntervalSince($0) * 1_000 }
            }
            // Times are whole milliseconds, so that a median would jump by as much as they last.
            if times.count == count { return max(times.reduce(0, +) / Double(count), 1) }
        }
        throw TestSupportError("the favorites were not given: \(worker.output.suffix(2_000))")
    }
}

/// A page without a worker that lists many mirrors.
final class IndexStage: Sendable {
    let mirrors: Int
    let port: Int
    private let page: Program
    private let storage: any StorageEngine
    private let folder: TemporaryDirectory

    var address: String { "http://127.0.0.1:\(port)" }

    init(_ bench: Bench, mirrors: Int) async throws {
        self.mirrors = mirrors
        let folder = try TemporaryDirectory(in: bench.folder.path)
        let environment = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path, "LANG": "C.UTF-8",
            "MIRROR_BOT_HOME": folder.path, "WEB_LISTEN": "127.0.0.1:0", "MIRROR": "m0",
        ]
        let mirrorBot = try Beside.mirrorBot()
        let lines = (0..<mirrors).map { number in
            #"{"name":"m\#(number)","settings":{"TIME_ZONE":"Europe/Berlin"},"credentials":{"human":{"network":"bluesky","#
                + #""handle":"m\#(number).example"},"bot":{"network":"mastodon","server":"https://social.example","#
                + #""access_token":"token-\#(number)"}}}"#
        }.joined(separator: "\n")
        let list = try folder.write(Data(lines.utf8), to: "mirrors.jsonl")
        let log = folder.path("log")
        for words in [["migrate"], ["mirrors", "import", list]] {
            try await bench.blocking {
                _ = try Program.run([mirrorBot] + words, environment: environment, outputPath: log)
            }
        }
        let storage = try await Storage.open(.sqlite(path: folder.path("mirror-bot.sqlite")))
        let now = Date().milliseconds
        try await storage.execute(
            """
            UPDATE mirrors SET past = 'whole', activated_ms = \(now), profile_ms = \(now), consent = 'agreed',
                time_zone = 'Europe/Berlin',
                human_handle = mirror || '@human.example'
            """)
        try await storage.execute(
            """
            INSERT INTO posts (mirror, network, post_id, text, text_key, created_ms, minute, local_day, is_reply, visibility,
                has_media, mentions, sensitive, time_trusted)
            SELECT mirror, 'mastodon', 'p', 'text', 'text', 1, 1, '2020-01-01', FALSE, 'public', FALSE, '', FALSE, TRUE
            FROM mirrors
            """)
        let page = try await bench.blocking {
            let page = try Program([mirrorBot, "web"], environment: environment, outputPath: log)
            _ = try page.wait(for: "Web page opened")
            return page
        }
        port = try WebStage.port(in: page.output)
        self.page = page
        self.storage = storage
        self.folder = folder
    }

    /// Commits something that the page does not show.
    func change() async throws { try await storage.executeRepeatable(PageTimes.change) }

    func stop() { page.stop() }

    func close() async { await storage.close() }
}
