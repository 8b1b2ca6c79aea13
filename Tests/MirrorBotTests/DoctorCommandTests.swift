import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import TestSupport
import Testing

/// `mirror-bot doctor`.
@Suite(.timeLimit(.minutes(30))) struct DoctorCommandTests {
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
            sandbox.botSettings.merging(sandbox.humanSettings) { $1 }.merging([
                "TIME_ZONE": "Asia/Tokyo"
            ]) { $1 })
    }

    private func examine(_ settings: [String: String] = [:]) async throws -> (
        report: Report, status: Int32
    ) {
        let ending = try await stage.run("doctor", "--json", environment: settings)
        let report = try JSONDecoder().decode(Report.self, from: Data(ending.output.utf8))
        #expect(report.schema == "mirror-bot/doctor/1")
        return (report, ending.status)
    }

    @Test func aMirrorThatLacksNothingIsTold() async throws {
        try await stage.train(Fixture.lines())
        let (report, status) = try await examine()
        #expect(status == 0)
        for subject in [
            "settings", "database", "redis", "dictionary", "time zone", "human", "bot", "scopes",
        ] {
            #expect(
                report[subject]?.verdict == .ok,
                "\(subject): \(report[subject]?.text ?? "not examined")")
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
        ("BOT_ACCESS_TOKEN", "planted-wrong-token", "bot", Int32(77)),
        ("BOT_ACCESS_TOKEN", "", "settings", 78),
        ("MECAB_DICTIONARY", "/nowhere", "settings", 78),
        ("REDIS_URL", "redis://127.0.0.1:1", "redis", 69),
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

    /// A mirror is bound to its accounts; whoever swaps a token should hear of it before a worker
    /// does.
    @Test func anotherAccountIsNoticed() async throws {
        try await stage.train(Fixture.lines())
        _ = try await stage.withMirror {
            let bot = Account(
                id: AccountID(network: .mastodon, value: "old@sandbox.example"), handle: "old")
            try await $0.bind(human: nil, bot: bot, now: Date())
        }
        let (report, status) = try await examine()
        #expect(status == 78)
        expect(report["bot"]?.text) { $0?.contains("belongs to old@sandbox.example") == true }
        expect(report["bot"]?.fix) { $0?.contains("mirror-bot rebind") == true }
        await sandbox.stop()
    }

    // MARK: The probe

    /// A request of the probe, after which the program gets a signal.
    struct Cut: CustomTestStringConvertible, Sendable {
        let method: String
        let path: String
        /// How many such requests come before it.
        let after: Int
        let fault: SandboxFault

        var testDescription: String { "\(method) \(path) after \(after), \(fault)" }

        /// The server acts before the signal, or never does.
        static let all = [SandboxFault.dropAnswer, .hang].flatMap { fault in
            [
                Cut(method: "POST", path: "/api/v1/statuses", after: 0, fault: fault),
                Cut(method: "POST", path: "/api/v1/statuses", after: 1, fault: fault),
                Cut(method: "PUT", path: "/api/v1/statuses", after: 0, fault: fault),
            ]
        }
    }

    /// Starts a probe that gets a signal at one of its requests.
    private func cut(_ cut: Cut, by signal: Int32) async throws -> Ending {
        try await stage.train(Fixture.lines())
        let reached = Promise<Void>()
        // The requests before it pass as they are.
        for _ in 0..<cut.after {
            sandbox.faults.failNext(
                .drip(bytesPerSecond: 1_000_000), method: cut.method, path: cut.path)
        }
        let faults = sandbox.faults
        faults.failNext(cut.fault, method: cut.method, path: cut.path) { _ in
            // Until it is killed, the program gets no further: it would clean up by itself.
            if signal == SIGKILL { faults.failNext(.hang, count: .max) }
            reached.fulfill(())
        }
        let program = try stage.start(["doctor", "--probe"])
        await program.wait { reached.isFulfilled }
        program.send(signal)
        let ending = await program.ending()
        faults.clearPlanned()
        return ending
    }

    private func texts() async -> [String] {
        let ledger = await sandbox.ledger
        let removed = Set(ledger.removals.map(\.postID))
        return ledger.deliveries.filter { !removed.contains($0.id) }.map(\.text)
    }

    private func open() async throws -> [String] {
        try await stage.status().obstacles?.filter { $0.code == .effectOpen }.map(\.sentence) ?? []
    }

    /// The command takes its posts back before the signal ends it.
    @Test(arguments: Cut.all, [SIGINT, SIGTERM])
    func aSignalEndsTheProbeAndItsPosts(_ cut: Cut, _ signal: Int32) async throws {
        let ending = try await self.cut(cut, by: signal)
        #expect(ending.status == 128 + signal, "\(ending.error)")
        await expect(texts()) { $0.isEmpty }
        // Only a request that may still act is told.
        let mayAct = cut.method == "POST" && cut.fault == .hang
        try await expect(open().count, equals: mayAct ? 1 : 0)
        await sandbox.stop()
    }

    /// Whoever does not want to wait leaves the rest to the next command or a worker.
    @Test func aSecondSignalEndsItAtOnce() async throws {
        try await stage.train(Fixture.lines())
        let cleaning = Promise<Void>()
        let faults = sandbox.faults
        faults.failNext(.dropAnswer, method: "POST", path: "/api/v1/statuses") { _ in
            // The bot's own posts, among which the program then looks for its own.
            faults.failNext(.hang, method: "GET", path: "/api/v1/accounts/") { _ in
                cleaning.fulfill(())
            }
        }
        let program = try stage.start(["doctor", "--probe"])
        await program.wait { cleaning.isFulfilled }
        program.send(SIGINT)
        program.send(SIGTERM)
        await expect(program.ending().status) { [128 + SIGINT, 128 + SIGTERM].contains($0) }
        await expect(texts().count, equals: 1)
        // Nothing failed, for nothing was waited for.
        try await expect(open()) {
            $0.count == 1 && $0[0].contains("may still be at the bot's server; ")
        }
        await sandbox.stop()
    }

    /// The next command knows what a killed one has made, and takes it back.
    @Test(arguments: Cut.all) func whatAKilledProbeLeavesIsTakenBack(_ cut: Cut) async throws {
        let ending = try await self.cut(cut, by: SIGKILL)
        #expect(ending.status == 128 + SIGKILL)
        let isLeft = cut.method != "POST" || cut.after == 1 || cut.fault == .dropAnswer
        await expect(texts()) { !$0.isEmpty == isLeft }
        try await expect(open()) { $0.count == 1 && $0[0].contains("mirror-bot undo --resume") }
        let found = try await stage.run("doctor", environment: ["COLUMNS": "400"])
        #expect(found.output.contains("! unfinished"), "\(found.output)")
        let probed = try await stage.run("doctor", "--probe", environment: ["COLUMNS": "800"])
        #expect(probed.output.contains("a deleted post can no longer be read"), "\(probed.output)")
        await expect(texts()) { $0.isEmpty }
        await sandbox.stop()
    }

    @Test func undoTakesBackWhatAKilledProbeLeft() async throws {
        _ = try await cut(Cut.all[0], by: SIGKILL)
        await expect(texts().count, equals: 1)
        let ending = try await stage.run("undo", "--resume")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.contains("1 interrupted probes or changes of"), "\(ending.output)")
        await expect(texts()) { $0.isEmpty }
        try await expect(open()) { $0.isEmpty }
        await sandbox.stop()
    }
}
