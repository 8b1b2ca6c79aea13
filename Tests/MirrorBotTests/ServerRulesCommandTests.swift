import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import TestSupport
import Testing

/// What `login`, `doctor` and `status` tell of the rules of the bot's server, on each network.
@Suite(.timeLimit(.minutes(30))) struct ServerRulesCommandTests {
    /// What `doctor --json` prints.
    private struct Report: Decodable {
        var findings: [Finding]

        var rules: [Finding] { findings.filter { $0.subject == "rules" } }
    }

    private func stage(_ sandbox: Sandbox, on network: NetworkName) throws -> Stage {
        let settings = sandbox.settings(of: .bot, on: network)
            .merging(sandbox.settings(of: .human, on: network)) { $1 }
        return try Stage(settings.merging(["TIME_ZONE": "Asia/Tokyo"]) { $1 })
    }

    private func rules(_ stage: Stage) async throws -> [Finding] {
        let ending = try await stage.run("doctor", "--json")
        return try JSONDecoder().decode(Report.self, from: Data(ending.output.utf8)).rules
    }

    @Test(arguments: [false, true]) func doctorNamesAChange(isOld: Bool) async throws {
        let sandbox = try await Sandbox.live()
        sandbox.faults.mastodon.rules = [
            "Be kind.", "Bots may post at most 12 times a day. Read on below.",
        ]
        sandbox.faults.mastodon.aboutPage =
            "<p>Ask us before you run a <strong>robot</strong>.</p><p>Have fun.</p>"
        sandbox.faults.mastodon.lacksRules = isOld
        let stage = try stage(sandbox, on: .mastodon)
        try await stage.train(Fixture.lines())
        let first = try await rules(stage)
        expect(first.map(\.verdict), equals: [.warn, .warn])
        expect(first.first?.text) {
            $0?.contains("“Bots may post at most 12 times a day.”") == true
        }
        expect(first.first?.fix, equals: "mirror-bot set MAX_PER_DAY=12")
        expect(first.last?.text) { $0?.contains("“Ask us before you run a robot.”") == true }
        expect(try await rules(stage).map(\.verdict), equals: [.ok, .ok])
        sandbox.faults.mastodon.rules = ["Be kind."]
        let second = try await rules(stage)
        expect(second.map(\.verdict), equals: [.ok, .warn])
        expect(second.last?.text) { $0?.contains("does not say any more") == true }
        await sandbox.stop()
    }

    /// A server that breaks is no fault of the mirror.
    @Test func aServerThatDoesNotTellIsNamed() async throws {
        let sandbox = try await Sandbox.live()
        let stage = try stage(sandbox, on: .mastodon)
        try await stage.train(Fixture.lines())
        sandbox.faults.failNext(
            .answer(status: 500, contentType: "text/html", body: "broken", headers: [:]),
            method: "GET",
            path: "/api/v1/instance/rules")
        let found = try await rules(stage)
        expect(found.map(\.verdict), equals: [.warn])
        expect(found.first?.text) { $0?.contains("could not read the server's rules") == true }
        await sandbox.stop()
    }

    @Test func blueskyNamesItsTermsAndXHasNone() async throws {
        let sandbox = try await Sandbox.live()
        let bluesky = try stage(sandbox, on: .bluesky)
        try await bluesky.train(Fixture.lines())
        let found = try await rules(bluesky)
        expect(found.map(\.text)) { texts in
            texts.count == 2 && texts.first?.contains("https://sandbox.example/terms") == true
        }
        let x = try stage(sandbox, on: .x)
        try await x.train(Fixture.lines())
        try await expect(rules(x), equals: [])
        await sandbox.stop()
    }

    @Test func aLoginShowsThemOnceAndChangesNothing() async throws {
        let sandbox = try await Sandbox.live()
        sandbox.faults.mastodon.rules = ["Bots may post at most 12 times a day."]
        let stage = try Stage()
        let ending = try await stage.run(
            "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token-file", "-",
            "--json",
            input: sandbox.botToken + "\n")
        #expect(ending.status == 0, "\(ending.error)")
        struct Answer: Decodable { let rules: [String] }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(ending.output.utf8))
        expect(answer.rules) {
            $0.contains { $0.contains("Bots may post at most 12 times a day.") }
        }
        expect(answer.rules) { $0.contains { $0.contains("mirror-bot set MAX_PER_DAY=12") } }
        let status = try await stage.run("status", "--json")
        #expect(!status.output.contains("rules-changed"))
        #expect(!status.output.contains("MAX_PER_DAY"))
        await sandbox.stop()
    }
}
