import Control
import Expectations
import Foundation
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

/// `mirror-bot resume` of a mirror whose human's account is not as it was, and what `status` says
/// of it.
@Suite(.timeLimit(.minutes(30))) struct ResumeCommandTests {
    private func stage(seeing standing: String, to successor: String? = nil) async throws -> Stage {
        let stage = try Stage(["TIME_ZONE": "Asia/Tokyo"])
        try await stage.makeDatabase()
        try await stage.train(Fixture.lines(days: 60, perDay: 6))
        let path = stage.home + "/mirror-bot.sqlite"
        try await Storage.open(.sqlite(path: path)).closing { engine in
            _ = try await engine.execute(
                """
                UPDATE mirrors SET standing = \(standing), standing_to = \(successor), standing_ms = 1795208400000
                """)
        }
        return stage
    }

    @Test func onlyWhoKnowsGoesOn() async throws {
        let stage = try await stage(seeing: "memorial")
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        let status = try await stage.status(settings)
        #expect(status.standing?.state == "memorial")
        let obstacle = try #require(status.obstacles?.first { $0.code == .humanAway })
        #expect(obstacle.remedy?.command == "mirror-bot resume --knowing")
        _ = try await stage.run("pause", environment: settings)
        let unknowing = try await stage.run("resume", environment: settings)
        #expect(
            unknowing.output == """
                the pause of mirror default has ended
                mirror default sends nothing, because the human's account is a memorial: resume --knowing goes on all \
                the same

                """)
        let json = try await stage.run("resume", "--knowing", "--json", environment: settings)
        let change = try Stage.decode(PauseChange.self, from: json)
        #expect(!change.isHeld)
        #expect(change.human == "the human's account is a memorial")
        let after = try await stage.status(settings)
        #expect(after.standing?.goesOn != nil)
        expect(after.obstacles) { $0?.contains { $0.code == .humanAway } == false }
        let again = try await stage.run("resume", "--knowing", environment: settings)
        #expect(again.output == "nothing to do: mirror default is not paused\n")
        await sandbox.stop()
    }

    @Test func aMoveIsProposedUntilSomebodyKnows() async throws {
        let stage = try await stage(seeing: "moved", to: "ann@new.example")
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        let status = try await stage.status(settings)
        #expect(status.standing?.successor == "ann@new.example")
        let obstacle = try #require(status.obstacles?.first { $0.code == .humanMoved })
        #expect(obstacle.weight == .note)
        let known = try await stage.run("resume", "--knowing", environment: settings)
        #expect(
            known.output
                == "mirror default continues, although the human has moved to @ann@new.example\n")
        let after = try await stage.status(settings)
        expect(after.obstacles) { $0?.contains { $0.code == .humanMoved } == false }
        await sandbox.stop()
    }
}
