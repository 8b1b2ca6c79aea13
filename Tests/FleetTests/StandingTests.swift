import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks

/// What a mirror does once its network says that the human's account is not as it was.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct StandingTests {
    private static let day: TimeInterval = 86_400
    private static let onX = ["X_ACKNOWLEDGE_POLICY": "yes", "X_BUDGET_USD_PER_MONTH": "50"]

    // MARK: In the sandbox

    private func start(on network: NetworkName, days: Int = 1) async throws -> MirrorFixture {
        try await MirrorFixture.start(
            days: days, from: 6, human: network, bot: network,
            variables: network == .x ? Self.onX : [:])
    }

    private func codes(_ fixture: MirrorFixture) async throws -> [Obstacle.Code] {
        try await fixture.mirror.health(now: fixture.clock.now).obstacles.map(\.code)
    }

    /// A suspension holds the mirror within hours, and ends with it.
    @Test(arguments: NetworkName.allCases) func aSuspensionHoldsTheMirror(_ network: NetworkName)
        async throws
    {
        let fixture = try await start(on: network, days: 2)
        let sandbox = fixture.sandbox
        let table = fixture.mirror.table
        try await fixture.live(
            until: 26,
            events: [
                (9, { sandbox.faults.humanStanding = .suspended }),
                (
                    15.5,
                    {
                        let standing = try #require(try await table.record().standing)
                        #expect(standing.state == .suspended)
                        #expect(standing.isHold)
                        try await expect(codes(fixture)) { $0.contains(.humanAway) }
                        let health = try await fixture.mirror.health(now: fixture.clock.now)
                        #expect(!health.verdict.isWell)
                        let ledger = await sandbox.ledger
                        expect(ledger.deliveries.map(\.date)) {
                            $0.allSatisfy { $0 <= standing.since + 60 }
                        }
                        sandbox.faults.humanStanding = .active
                    }
                ),
            ])
        try await expect(table.record().standing, equals: nil)
        try await expect(codes(fixture)) { !$0.contains(.humanAway) }
        await expect(sandbox.ledger.deliveries) { !$0.isEmpty }
        try await expect(fixture.actions()) { $0.allSatisfy { $0.undo == nil } }
    }

    /// A memorial waits for a person, also once the network calls the account active again.
    @Test func aMemorialWaitsForAPerson() async throws {
        let fixture = try await start(on: .mastodon)
        let sandbox = fixture.sandbox
        let table = fixture.mirror.table
        let desk = Desk(fixture.mirror, zone: Sample.zone)
        try await fixture.live(
            until: 20,
            events: [
                (8, { sandbox.faults.humanStanding = .memorial }),
                (
                    12,
                    {
                        try await expect(table.record().standing?.state, equals: .memorial)
                        sandbox.faults.humanStanding = .active
                    }
                ),
                (
                    16,
                    {
                        try await expect(table.record().standing?.isHold, equals: true)
                        let unknowing = try await desk.perform(ResumeMirror())
                        #expect(unknowing.isHeld)
                        #expect(unknowing.human == "the human's account is a memorial")
                        try await expect(table.record().standing?.isHold, equals: true)
                        let change = try await desk.perform(ResumeMirror(knowing: true))
                        #expect(!change.isHeld)
                        #expect(change.human != nil)
                    }
                ),
            ])
        try await expect(table.record().standing?.isHold) { $0 != true }
        let silence = (Sample.hour(12), Sample.hour(16))
        await expect(sandbox.ledger.deliveries.map(\.date)) { dates in
            dates.allSatisfy { $0 < silence.0 || $0 >= silence.1 }
        }
    }

    /// A move is proposed, and holds nothing.
    @Test func aMoveIsProposed() async throws {
        let fixture = try await start(on: .mastodon)
        let sandbox = fixture.sandbox
        try await fixture.live(
            until: 14,
            events: [(8, { sandbox.faults.humanStanding = .moved(to: "umi@elsewhere.example") })])
        let standing = try #require(try await fixture.mirror.table.record().standing)
        #expect(standing.state == .moved(to: "umi@elsewhere.example"))
        #expect(!standing.isHold)
        let health = try await fixture.mirror.health(now: fixture.clock.now)
        let obstacle = try #require(health.obstacles.first { $0.code == .humanMoved })
        let command = try #require(obstacle.remedy?.command)
        #expect(command.contains("login mastodon --as human"))
        #expect(command.contains("--server https://elsewhere.example --rebind"))
        #expect(!health.obstacles.contains { $0.code == .humanAway })
    }

    /// All copies are proposed to be taken back once the network has said twice that the account is
    /// gone, and none goes without a person.
    @Test(arguments: NetworkName.allCases) func aDeletionAsksAPerson(_ network: NetworkName)
        async throws
    {
        let fixture = try await start(on: network, days: 3)
        let sandbox = fixture.sandbox
        let store = fixture.mirror.outbox(lease: nil)
        try await fixture.live(
            until: 78,
            events: [
                (14, { sandbox.faults.humanStanding = .deleted }),
                (
                    36,
                    {
                        let standing = try #require(
                            try await fixture.mirror.table.record().standing)
                        #expect(standing.state == .deleted)
                        #expect(standing.confirmed == nil)
                        try await expect(store.proposedUndos()) { $0.isEmpty }
                    }
                ),
            ])
        let standing = try #require(try await fixture.mirror.table.record().standing)
        #expect(standing.confirmed != nil)
        #expect(standing.asked != nil)
        let copies = try await store.undoable([.post, .reply], since: nil, limit: 1_000)
        #expect(!copies.isEmpty)
        try await expect(Set(store.proposedUndos().map(\.id)), equals: Set(copies.map(\.id)))
        try await expect(codes(fixture)) { $0.contains(.humanAway) && $0.contains(.undoProposed) }
        let ledger = await sandbox.ledger
        #expect(ledger.removals.isEmpty)
        expect(ledger.deliveries.map(\.date)) { $0.allSatisfy { $0 <= standing.since + 60 } }
    }

    /// What each network says of the account, as the mirror's own client reads it.
    @Test(arguments: NetworkName.allCases) func eachNetworkSaysIt(_ network: NetworkName)
        async throws
    {
        let fixture = try await start(on: network)
        let human = try #require(try await fixture.mirror.network(of: .human))
        let account = try await human.verifyAccount().id
        let onMastodon = network == .mastodon
        let cases: [(SandboxStanding, AccountStanding)] = [
            (.memorial, onMastodon ? .memorial : .active), (.suspended, .suspended),
            (
                .moved(to: "umi@elsewhere.example"),
                onMastodon ? .moved(to: "umi@elsewhere.example") : .active
            ),
            (.deactivated, network == .bluesky ? .deactivated : .active), (.deleted, .deleted),
            (.active, .active),
        ]
        for (said, expected) in cases {
            fixture.sandbox.faults.humanStanding = said
            // X names it only in answers to other calls.
            if network == .x { _ = try? await human.verifyAccount() }
            try await expect(human.standing(of: account), equals: expected)
        }
    }

    // MARK: On paper

    /// One look a day, by the table also for the next process; sooner while the credentials are
    /// refused.
    @Test func aWorkerLooksOnceADay() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let human = try #require(paper.human)
        func looks() -> Int { human.with { $0.calls.count { $0 == .readProfile } } }
        human.with { $0.standing = .active }
        for day in 0..<4 {
            let passes = Passes(parts: try await paper.parts())
            for _ in 0..<3 { try await passes.clean() }
            expect(looks(), equals: day)
            try await paper.wait(Self.day)
        }
        let passes = Passes(parts: try await paper.parts())
        human.with { $0.standing = .suspended }
        try await passes.clean()
        expect(looks(), equals: 4)
        // While it holds the mirror, an hour is enough.
        try await paper.wait(StandingLook.shortInterval)
        human.with { $0.standing = .active }
        try await passes.clean()
        expect(looks(), equals: 5)
        try await expect(paper.mirror.table.record().standing, equals: nil)
    }

    /// A network that does not answer is asked again in an hour, and changes nothing.
    @Test func aSilentNetworkIsAskedAgain() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let human = try #require(paper.human)
        let passes = Passes(parts: try await paper.parts())
        try await paper.wait(Self.day)
        human.with { $0.standing = .memorial }
        human.fail(.readProfile)
        for _ in 0..<3 { try await passes.clean() }
        expect(human.with { $0.calls.count { $0 == .readProfile } }, equals: 1)
        try await expect(paper.mirror.table.record().standing, equals: nil)
        human.fail(nil)
        try await paper.wait(StandingLook.shortInterval)
        try await passes.clean()
        try await expect(paper.mirror.table.record().standing?.state, equals: .memorial)
    }
}
