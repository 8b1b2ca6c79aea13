import Control
import Expectations
import Foundation
import Mirroring
import Networks
import Posts
import Sandbox
import Settings
import TestSupport
import Testing

/// `mirror-bot profile`.
@Suite(.timeLimit(.minutes(30))) struct ProfileCommandTests {
    private let sandbox: Sandbox

    init() async throws { sandbox = try await Sandbox.live() }

    private func stage(_ network: NetworkName, _ more: [String: String] = [:]) async throws -> Stage
    {
        let stage = try Stage(
            sandbox.settings(of: .bot, on: network).merging(
                sandbox.settings(of: .human, on: network)
            ) { $1 }
            .merging(["TIME_ZONE": "UTC"]) { $1 }.merging(more) { $1 })
        try await stage.makeDatabase()
        return stage
    }

    private func proposal(_ stage: Stage) async throws -> ProfileProposal {
        try Stage.decode(ProfileProposal.self, from: try await stage.run("profile", "--json"))
    }

    @Test(arguments: [NetworkName.mastodon, .bluesky]) func writesWhoseMirrorItIs(
        network: NetworkName
    ) async throws {
        let stage = try await stage(network, ["OPERATOR_CONTACT": "ops@example.org"])
        let before = try await proposal(stage)
        #expect(before.schema == "mirror-bot/profile/1")
        #expect(before.network == network)
        // The sandbox's bot has a line of that kind already.
        expect(before.present?.bio) { $0?.hasPrefix(ProfileProposal.start) == true }
        #expect(before.line.contains(", run by ops@example.org. Reply \"stop\""))
        #expect(before.proposed?.bio == before.line)
        #expect(
            (before.proposed?.fields.map(\.name) == [ProfileProposal.fieldName])
                == (network == .mastodon))

        // Nobody can be asked.
        let asked = try await stage.run("profile")
        #expect(asked.status == 64)
        #expect(asked.error.contains("pass --yes"))
        #expect(asked.output.contains("  | \(before.line)\n"))
        try await expect(proposal(stage).present, equals: before.present)

        let ending = try await stage.run("profile", "--yes")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.hasSuffix("written\n"), "\(ending.error)")
        let after = try await proposal(stage)
        #expect(after.present?.bio == before.line)
        #expect(after.proposed == nil)
        let again = try await stage.run("profile", "--yes")
        #expect(again.status == 0)
        #expect(again.output.contains("nothing to do"))
        await sandbox.stop()
    }

    /// What a person wrote stays, and only our own line changes.
    @Test(arguments: [NetworkName.mastodon, .bluesky]) func whatAPersonWroteStays(
        network: NetworkName
    ) async throws {
        let stage = try await stage(network)
        let words = "I repeat old posts.\n\nAsk Haruka about me."
        try await write(words, fields: ["Home": "https://e.org"], on: network, stage)
        try await expect(stage.run("profile", "--yes").status, equals: 0)
        let line = try await proposal(stage).line
        #expect(!line.contains("run by"))
        let present = try #require(try await proposal(stage).present)
        #expect(present.bio == "\(words)\n\n\(line)")
        #expect(
            present.fields.map(\.name)
                == (network == .mastodon ? ["Home", ProfileProposal.fieldName] : []))
        let contact = ["OPERATOR_CONTACT": "ops@example.org"]
        try await expect(stage.run("profile", "--yes", environment: contact).status, equals: 0)
        let changed = try #require(try await proposal(stage).present)
        #expect(changed.bio.hasPrefix(words))
        #expect(changed.bio.contains("run by ops@example.org"))
        #expect(changed.bio.split(separator: "\n").count == 3)
        await sandbox.stop()
    }

    /// A change that was cut is finished; a person who is asked again decides anew.
    @Test func aChangeThatWasCutIsFinishedOrDecidedAnew() async throws {
        let stage = try await stage(.mastodon)
        func cut() async throws {
            sandbox.faults.failNext(
                .dropRequest, method: "PATCH", path: "/api/v1/accounts/update_credentials")
            try await expect(stage.run("profile", "--yes").status, equals: 69)
            try await expect(open(stage).count, equals: 1)
        }
        let before = try await proposal(stage)
        try await cut()
        // Nobody can be asked, so nobody agrees.
        try await expect(stage.run("profile").status, equals: 64)
        try await expect(open(stage), equals: [])
        try await expect(proposal(stage).present, equals: before.present)

        try await cut()
        try await expect(proposal(stage).present, equals: before.present)
        let ending = try await stage.run("undo", "--resume", "--json")
        #expect(ending.status == 0, "\(ending.error)")
        let receipt = try Stage.decode(UndoReceipt.self, from: ending)
        #expect(receipt.effects == 1)
        #expect(receipt.isComplete)
        try await expect(open(stage), equals: [])
        try await expect(proposal(stage).proposed, equals: nil)

        // Nothing is left to write where the server had written it after all.
        let contact = ["OPERATOR_CONTACT": "ops@example.org"]
        sandbox.faults.failNext(
            .dropAnswer, method: "PATCH", path: "/api/v1/accounts/update_credentials")
        try await expect(stage.run("profile", "--yes", environment: contact).status, equals: 69)
        try await expect(open(stage).count, equals: 1)
        try await expect(
            stage.run("profile", "--yes", "--json", environment: contact).status, equals: 0)
        try await expect(open(stage), equals: [])
        await sandbox.stop()
    }

    private func open(_ stage: Stage) async throws -> [String] {
        try await stage.status().obstacles?.filter { $0.code == .effectOpen }.map(\.sentence) ?? []
    }

    @Test func onXTheLineIsPrinted() async throws {
        let stage = try await stage(.x)
        let ending = try await stage.run("profile")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(
            ending.output.contains("paste this line into its profile:\n  \(ProfileProposal.start)"))
        #expect(ending.output.contains("X lets only a person change a profile"))
        await sandbox.stop()
    }

    @Test func theDoctorLooksAtBothDirections() async throws {
        let stage = try await stage(.mastodon)
        try await stage.train(Fixture.lines())
        try await expect(stage.run("run", "--once").status, equals: 0)
        try await expect(stage.run("profile", "--yes").status, equals: 0)
        let found = try await stage.run("doctor", environment: ["COLUMNS": "400"])
        #expect(
            found.output.contains("profile     names \(sandbox.world.humanHandle)"),
            "\(found.output)")
        #expect(found.output.contains("the human's profile does not name the bot"))
        #expect(found.output.contains("has not seen that the human's page links back"))
        await sandbox.stop()
    }

    @Test func aHumanWhoNamesTheBotIsSeen() async throws {
        let stage = try await stage(.bluesky)
        try await stage.train(Fixture.lines())
        try await expect(stage.run("run", "--once").status, equals: 0)
        let bot = try #require(try await stage.status().bot)
        try await write("My mirror: @\(bot)", fields: [:], on: .bluesky, stage, role: .human)
        let found = try await stage.run("doctor", environment: ["COLUMNS": "400"])
        #expect(found.output.contains("the human's profile names \(bot)"), "\(found.output)")
        await sandbox.stop()
    }

    /// Writes as the person themselves would.
    private func write(
        _ bio: String, fields: [String: String], on network: NetworkName, _ stage: Stage,
        role: AccountRole = .bot
    ) async throws {
        try await stage.withMirror { mirror in
            let account = try #require(try await mirror.network(of: role) as? any ProfiledNetwork)
            let present = try await account.profile()
            var wanted = present
            wanted.bio = bio
            wanted.fields =
                network == .mastodon
                ? fields.map { AccountProfile.Field(name: $0.key, value: $0.value) } : []
            try await account.setProfile(wanted, insteadOf: present)
        }
    }
}
