import Expectations
import Favorites
import Fixtures
import Foundation
import Networks
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// Which accounts a mirror accepts, and what it needs before it acts.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct AccountTests {
    @Test func refusesToMirrorAnAccountIntoItself() async throws {
        let fixture = try await MirrorFixture.start()
        let mirror = try await fixture.reopened(changing: [
            "HUMAN_ACCESS_TOKEN": fixture.sandbox.botToken
        ])
        let error = await #expect(throws: ConfigurationError.self) {
            try await fixture.worker(on: mirror).run(until: Sample.hour(24))
        }
        #expect(error?.setting == "BOT_ACCESS_TOKEN")
        var trained = MirrorRecord()
        trained.past = .whole
        trained.timeZone = "Asia/Tokyo"
        try await expect(mirror.table.record(), equals: trained)
        try await expectNothingHappened(fixture)
    }

    @Test func refusesAnotherPairUnderTheSameName() async throws {
        let fixture = try await MirrorFixture.start()
        #expect(try await fixture.worker().runOnce())
        let before = try await fixture.mirror.table.record()
        #expect(before.human == Sample.person("haruka"))
        #expect(before.bot == Sample.person("mirror"))
        let swapped = [
            "HUMAN_ACCESS_TOKEN": fixture.sandbox.botToken,
            "BOT_ACCESS_TOKEN": fixture.sandbox.humanToken,
        ]
        let mirror = try await fixture.reopened(changing: swapped)
        let error = await #expect(throws: ConfigurationError.self) {
            try await fixture.worker(on: mirror).run(until: Sample.hour(24))
        }
        #expect(error?.setting == "HUMAN_ACCESS_TOKEN")
        expect(error?.description) { $0?.contains("MIRROR") == true }
        try await expect(mirror.table.record(), equals: before)
        // Under a name of its own the other pair is welcome.
        let named = try await fixture.reopened(
            changing: swapped.merging(["MIRROR": "other"]) { $1 })
        // It gets as far as its token reaches.
        let refusal = await #expect(throws: NetworkError.self) {
            try await fixture.worker(on: named).run(until: Sample.hour(24))
        }
        #expect(refusal?.code == .missingScope)
        try await expect(named.table.record().human, equals: Sample.person("mirror"))
        try await expect(fixture.mirror.table.record(), equals: before)
    }

    @Test func knowsTheHumanAgainWhoIsNoLongerConfigured() async throws {
        let fixture = try await MirrorFixture.start()
        #expect(try await fixture.worker().runOnce())
        let changes = [
            "HUMAN_SERVER": "", "HUMAN_ACCESS_TOKEN": "",
            "BOT_ACCESS_TOKEN": fixture.sandbox.humanToken,
        ]
        let mirror = try await fixture.reopened(changing: changes)
        let error = await #expect(throws: ConfigurationError.self) {
            try await fixture.worker(on: mirror).run(until: Sample.hour(24))
        }
        #expect(error?.setting == "BOT_ACCESS_TOKEN")
        try await expect(mirror.table.record().bot, equals: Sample.person("mirror"))
    }

    @Test func needsABot() async throws {
        let fixture = try await MirrorFixture.start(variables: [
            "BOT_SERVER": "", "BOT_ACCESS_TOKEN": "",
        ])
        let error = await #expect(throws: ConfigurationError.self) {
            try await fixture.worker().run(until: Sample.hour(24))
        }
        #expect(error?.setting == "BOT_SERVER")
        expect(error) { $0?.isMissing == true }
        try await expectNothingHappened(fixture)
    }

    @Test func guessesATimeZoneFromTheArchive() async throws {
        let fixture = try await MirrorFixture.start(variables: ["TIME_ZONE": ""])
        // As earlier versions left it.
        try await fixture.mirror.storage.lenient.execute("UPDATE mirrors SET time_zone = NULL")
        #expect(try await fixture.worker().runOnce())
        let record = try await fixture.mirror.table.record()
        #expect(record.timeZoneSource == .guess)
        // Tokyo is nine hours ahead.
        let hours = try #require(record.zone?.secondsFromGMT(for: fixture.clock.now)) / 3_600
        #expect((7...11).contains(hours))
        try await expect(fixture.slots()) { !$0.isEmpty }
        // A person's word counts from then on.
        let told = try await fixture.reopened(changing: ["TIME_ZONE": "Asia/Tokyo"])
        try await expect(told.settleTimeZone(now: fixture.clock.now), equals: Sample.zone)
        try await expect(told.table.record().timeZoneSource, equals: nil)
    }

    /// A platform starts the worker beside the training.
    @Test func waitsForTheTrainingThatGuessesItsTimeZone() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false, variables: ["TIME_ZONE": ""])
        try await fixture.live(
            until: 24, after: "Start failed, trying again",
            events: [
                (
                    1,
                    {
                        try await expect(fixture.actions()) { $0.isEmpty }
                        try await TrainedDatabase.train(fixture.mirror, on: .mastodon)
                    }
                )
            ])
        try await expect(fixture.mirror.table.record().timeZoneSource, equals: .guess)
        try await expect(fixture.slots()) { !$0.isEmpty }
    }

    @Test func saysHowToSetATimeZoneWithoutAnArchive() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false, variables: ["TIME_ZONE": ""])
        let error = await #expect(throws: ConfigurationError.self) {
            try await fixture.worker().runOnce()
        }
        #expect(
            error?.description
                == "TIME_ZONE is not set; set it to the human's IANA zone, such as Europe/Berlin")
        try await expect(fixture.leaseHolder(), equals: nil)
    }

    @Test func livesWithoutTheHumansAccount() async throws {
        let variables = [
            "HUMAN_SERVER": "", "HUMAN_ACCESS_TOKEN": "", "TRUST_ARCHIVE": "yes",
            "HUMAN_CONSENT": "agreed",
        ]
        let fixture = try await MirrorFixture.start(from: 9, variables: variables)
        let seen = try await fixture.mirror.favorites().status().seen
        // Some days have no post.
        try await fixture.live(until: 3 * 24)
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.posted > 0)
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.unsolicited + summary.duplicateSends + summary.errors == 0)
        // What the bot sees counts as seen, for nothing else does.
        try await expect(fixture.mirror.favorites().status().seen) { $0 > seen }
    }

    private func expectNothingHappened(_ fixture: MirrorFixture) async throws {
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.deliveries.isEmpty)
        #expect(ledger.favorites.isEmpty)
        try await expect(fixture.actions()) { $0.isEmpty }
        try await expect(fixture.leaseHolder(), equals: nil)
    }
}
