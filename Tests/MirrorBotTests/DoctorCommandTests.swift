import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import TestSupport
import Testing

/// `mirror-bot doctor`.
@Suite(.timeLimit(.minutes(3))) struct DoctorCommandTests {
    /// What `doctor --json` prints.
    private struct Report: Decodable {
        var schema: String
        var findings: [Finding]

        subscript(subject: String) -> Finding? { findings.first { $0.subject == subject } }
    }

    private let sandbox: Sandbox
    private let stage: Stage

    init() async throws {
        sandbox = try await Sandbox.live()
        stage = try Stage(
            sandbox.botSettings.merging(sandbox.humanSettings) { $1 }.merging(["TIME_ZONE": "Asia/Tokyo"]) { $1 })
    }

    private func examine(_ settings: [String: String] = [:]) async throws -> (report: Report, status: Int32) {
        let ending = try await stage.run("doctor", "--json", environment: settings)
        let report = try JSONDecoder().decode(Report.self, from: Data(ending.output.utf8))
        #expect(report.schema == "mirror-bot/doctor/1")
        return (report, ending.status)
    }

    @Test func aMirrorThatLacksNothingIsTold() async throws {
        try await stage.train(Fixture.lines())
        let (report, status) = try await examine()
        #expect(status == 0)
        for subject in ["settings", "database", "redis", "dictionary", "time zone", "human", "bot", "scopes"] {
            #expect(report[subject]?.verdict == .ok, "\(subject): \(report[subject]?.text ?? "not examined")")
        }
        expect(report["bot"]?.text) { $0?.hasPrefix("@mirror@sandbox.example on Mastodon") == true }
        // Nobody runs it, and nothing about it was changed.
        #expect(report["worker"]?.verdict == .warn)
        await expect(sandbox.ledger.deliveries) { $0.isEmpty }
        try await expect(stage.status().bot, equals: nil)
        let text = try await stage.run("doctor", environment: ["COLUMNS": "80"])
        #expect(text.output.hasPrefix("✔ settings  "))
        expect(text.output.split(separator: "\n")) { $0.allSatisfy { $0.count <= 80 } }
        await sandbox.stop()
    }

    @Test(arguments: [
        ("BOT_ACCESS_TOKEN", "planted-wrong-token", "bot", Int32(77)), ("BOT_ACCESS_TOKEN", "", "settings", 78),
        ("MECAB_DICTIONARY", "/nowhere", "settings", 78), ("REDIS_URL", "redis://127.0.0.1:1", "redis", 69),
        ("BOT_API_BASE_URL", "http://127.0.0.1:1", "bot", 69), ("TIME_ZONE", "", "time zone", 78),
    ])
    func whatIsWrongIsNamedAndShowsNoSecret(
        _ name: String, _ value: String, _ subject: String, _ status: Int32
    ) async throws {
        try await stage.train(Fixture.lines(), environment: ["TIME_ZONE": ""])
        let found = try await examine([name: value])
        let finding = try #require(found.report[subject])
        #expect(finding.verdict == .fail, "\(finding)")
        #expect(finding.cause != nil, "\(finding)")
        #expect(found.status == status)
        expect(found.report.findings) { !$0.contains { "\($0)".contains("planted") } }
        await sandbox.stop()
    }

    @Test func whereThereIsNoDatabaseNoneIsMade() async throws {
        let (report, status) = try await examine()
        #expect(status == 78)
        expect(report["database"]?.text) { $0?.contains("does not exist yet") == true }
        #expect(!FileManager.default.fileExists(atPath: stage.home))
        await sandbox.stop()
    }

    /// A mirror is bound to its accounts; whoever swaps a token should hear of it before a worker does.
    @Test func anotherAccountIsNoticed() async throws {
        try await stage.train(Fixture.lines())
        _ = try await stage.withMirror {
            let bot = Account(id: AccountID(network: .mastodon, value: "old@sandbox.example"), handle: "old")
            try await $0.bind(human: nil, bot: bot, now: Date())
        }
        let (report, status) = try await examine()
        #expect(status == 78)
        expect(report["bot"]?.text) { $0?.contains("belongs to old@sandbox.example") == true }
        expect(report["bot"]?.fix) { $0?.contains("mirror-bot rebind") == true }
        await sandbox.stop()
    }
}
