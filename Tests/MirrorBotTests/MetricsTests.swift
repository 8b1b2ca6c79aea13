import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

/// `mirror-bot status --metrics`.
@Suite(.timeLimit(.minutes(30))) struct MetricsTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    private func metrics(_ words: String..., environment: [String: String] = [:]) async throws
        -> ExpositionReader
    {
        let ending = try await stage.run(
            words: ["status", "--metrics"] + words, environment: environment)
        #expect(ending.status == 0, "\(ending.error)")
        return try ExpositionReader(ending.output)
    }

    @Test func aMirrorThatWorkedTellsAllThatThereIs() async throws {
        let sandbox = try await Sandbox.live()
        let worker = try await stage.startMirror(on: sandbox)
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)
        try await expect(stage.run("run", "--once").status, equals: 0)
        let read = try await metrics()
        let names = [
            "mirrorbot_up": "gauge", "mirrorbot_build_info": "gauge", "mirrorbot_well": "gauge",
            "mirrorbot_state": "gauge", "mirrorbot_stopped": "gauge",
            "mirrorbot_posts_total": "counter",
            "mirrorbot_replies_total": "counter", "mirrorbot_favourites_total": "counter",
            "mirrorbot_api_request_duration_seconds": "histogram",
            "mirrorbot_archive_rows": "gauge",
            "mirrorbot_plan_slots": "gauge", "mirrorbot_last_success_timestamp_seconds": "gauge",
        ]
        for (name, type) in names { #expect(read.types[name] == type, "\(name)") }
        #expect(read.value("mirrorbot_up") == 1)
        #expect(read.value("mirrorbot_archive_rows", ["mirror": "default"]) == 20)
        let posts = read.samples.filter { $0.name == "mirrorbot_posts_total" }
        #expect(posts.count == 5)
        #expect(
            posts.allSatisfy {
                $0.labels["network"] == "mastodon" && $0.labels["mirror"] == "default"
            })
        let calls = read.value(
            "mirrorbot_api_request_duration_seconds_count",
            ["mirror": "default", "network": "mastodon"])
        expect(calls) { ($0 ?? 0) > 0 }
        let heard = read.value(
            "mirrorbot_last_success_timestamp_seconds",
            ["mirror": "default", "task": "bot-mentions"])
        expect(heard) { abs(($0 ?? 0) - Date().timeIntervalSince1970) < 300 }
        let slots = read.samples.filter { $0.name == "mirrorbot_plan_slots" }
        #expect(
            Set(slots.compactMap { $0.labels["state"] })
                == Set(ActionState.allCases.map(\.rawValue)))
        await sandbox.stop()
    }

    /// Names of mirrors come from people.
    @Test func severalMirrorsAreToldOfTogetherUnlessTheyAreNamed() async throws {
        for name in ["first", "second"] {
            try await stage.train(Fixture.lines(days: 4), environment: ["MIRROR": name])
        }
        func mirrors(_ read: ExpositionReader) -> Set<String> {
            Set(read.samples.compactMap { $0.labels["mirror"] })
        }
        let total = try await metrics()
        #expect(mirrors(total) == [])
        let all = try await metrics("--all")
        #expect(mirrors(all) == ["first", "second"])
        let rows = ["first", "second"].compactMap {
            all.value("mirrorbot_archive_rows", ["mirror": $0])
        }
        #expect(rows.count == 2)
        #expect(total.value("mirrorbot_archive_rows") == rows.reduce(0, +))
        let states = total.samples.filter { $0.name == "mirrorbot_state" }
        #expect(states.reduce(0) { $0 + $1.value } == 2)
        #expect(total.types["mirrorbot_mirrors"] == "gauge")
        for (name, type) in total.types where all.types[name] != nil {
            #expect(all.types[name] == type, "\(name)")
        }
        let first = try await metrics("--mirror", "first")
        #expect(mirrors(first) == ["first"])
        let named = try await metrics(environment: ["MIRROR": "second"])
        #expect(mirrors(named) == ["second"])
        let allTheSame = try await metrics("--all", environment: ["MIRROR": "second"])
        #expect(mirrors(allTheSame) == ["first", "second"])
    }

    /// Whoever reads the file at any time finds a whole one.
    @Test func aFileIsReplacedAsAWholeAndReadableForEverybody() async throws {
        try await stage.makeDatabase()
        let path = try stage.folder.write(Data("# old\n".utf8), to: "mirror-bot.prom")
        let old = try #require(FileHandle(forReadingAtPath: path))
        try await expect(stage.run("status", "--metrics", "--output", path).status, equals: 0)
        let text = String(
            decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        try #expect(ExpositionReader(text).value("mirrorbot_up") == 1)
        #expect(
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                == 0o644)
        // The old one was not written over, but left.
        #expect(try old.readToEnd() == Data("# old\n".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path)
        #expect(names.filter { $0.hasPrefix("mirror-bot.prom") } == ["mirror-bot.prom"])
    }

    @Test func withoutADatabaseTheMetricsSaySo() async throws {
        let path = stage.folder.path("down.prom")
        let ending = try await stage.run("status", "--metrics", "--output", path)
        #expect(ending.status == 78)
        #expect(ending.error.contains("does not exist yet"))
        let text = String(
            decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        let read = try ExpositionReader(text)
        #expect(read.value("mirrorbot_up") == 0)
        #expect(read.types.keys.sorted() == ["mirrorbot_build_info", "mirrorbot_up"])
        let away = try await stage.run(
            "status", "--metrics",
            environment: ["DATABASE_URL": "postgres://user:planted@127.0.0.1:1/none"])
        #expect(away.status == 69)
        try #expect(ExpositionReader(away.output).value("mirrorbot_up") == 0)
        #expect(!away.output.contains("planted"))
    }

    @Test(arguments: [
        ["--output", "a"], ["--metrics", "--output", ""], ["--metrics", "--json"],
        ["--metrics", "--all", "--search", "a"], ["--metrics", "--all", "--page", "2"],
        ["--metrics", "--all", "--mirror", "a"],
    ])
    func wrongFlagsAreRefused(_ words: [String]) async throws {
        try await expect(stage.run(words: ["status"] + words).status, equals: 64)
    }

    /// Labels with special characters and values such as NaN survive writing and reading.
    @Test(arguments: ["plain", "a\"b\\c\nd", "\\", "\"", "日本語 {}", "a,b=\"c\""])
    func whatIsWrittenIsReadBack(_ label: String) throws {
        var family = Exposition.Family("test_value", .gauge, "A help with \\ and\na line.")
        for value in [0, 1.5, -3, 1e300, 9_007_199_254_740_992, .infinity, -.infinity, 1e-7] {
            family.add(value, ["mirror": label, "value": "\(value)"])
        }
        family.add(.nan, [:])
        var exposition = Exposition()
        exposition.add([family, Exposition.Family("test_empty", .gauge, "Nothing.")])
        let read = try ExpositionReader(exposition.text)
        #expect(read.helps["test_value"] == "A help with \\ and\na line.")
        #expect(read.types["test_empty"] == nil)
        for sample in family.samples.dropLast() {
            let labels = Dictionary(uniqueKeysWithValues: sample.labels.map { ($0.name, $0.value) })
            #expect(read.value("test_value", labels) == sample.value)
        }
        #expect(read.value("test_value")?.isNaN == true)
    }

    @Test(arguments: [
        "a 1", "# HELP a b\n# TYPE a gauge\na 1\n# HELP b c\n# TYPE b gauge\nb 1\na 2\n",
        "# HELP a b\na 1\n",
        "# HELP a b\n# TYPE a gauge\na{l=\"\\x\"} 1\n", "# HELP a b\n# TYPE a gauge\na 1\na 1\n",
        "# HELP a b\n# TYPE a gauge\na{1=\"\"} 1\n", "# HELP a b\n# TYPE a counter\na 1\n",
        "# HELP a b\n# TYPE a gauge\na one\n",
    ])
    func theReaderIsStrict(_ text: String) {
        #expect(throws: ExpositionReader.Problem.self) { try ExpositionReader(text) }
    }
}
