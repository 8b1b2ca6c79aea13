import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Networks that no longer take the credentials, for a moment or for good.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct CredentialFaultTests {
    /// How each network refuses a token.
    private static func refusal(_ network: NetworkName) -> SandboxFault {
        switch network {
        case .mastodon: .error(status: 401, message: "The access token is invalid")
        case .x:
            json(
                #"{"title":"Unauthorized","detail":"Unauthorized","type":"about:blank","status":401}"#
            )
        default:
            json(#"{"error":"AuthenticationRequired","message":"Invalid identifier or password"}"#)
        }
    }

    private static func json(_ body: String) -> SandboxFault {
        .answer(status: 401, contentType: "application/json", body: body, headers: [:])
    }

    private func count(_ fixture: MirrorFixture, _ message: String) -> Int {
        fixture.log.values.count { $0.contains(message) }
    }

    private func idle(_ fixture: MirrorFixture) async throws -> [String] {
        try await StatusReporter(mirror: fixture.mirror).report(now: fixture.clock.now).idle
    }

    /// Enough refusals that a client's own second try is refused too.
    @Test(arguments: NetworkName.allCases) func aMomentOfRefusalsEndsNothing(_ network: NetworkName)
        async throws
    {
        let fixture = try await MirrorFixture.start(
            from: 6.5, human: network, bot: network, variables: ["FAVORITE_MODE": "off"])
        let refusal = Self.refusal(network)
        try await fixture.live(
            until: 12.5, events: [(9, { fixture.sandbox.faults.failNext(refusal, count: 8) })])
        #expect(count(fixture, "Credentials refused") > 0)
        #expect(count(fixture, "Credentials accepted again") > 0)
        let ledger = await fixture.sandbox.ledger
        let slots = try await fixture.slots().filter { $0.due < fixture.clock.now - 60 }
        expect(slots) { $0.contains { $0.due > Sample.hour(9) } }
        expect(slots) { $0.allSatisfy { $0.state == .done } }
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        #expect(
            ledger.summary.duplicateSends + ledger.summary.unsolicited + ledger.summary.errors == 0)
        // What is over is no longer told.
        try await expect(idle(fixture)) { !$0.contains { $0.contains("credentials") } }
    }

    @Test func aPostThatWasRefusedOnceIsSentLater() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        fixture.sandbox.faults.failNext(
            Self.refusal(.mastodon), method: "POST", path: "/api/v1/statuses")
        try await fixture.live(until: 12.5)
        let first = try #require(try await fixture.slots().first)
        #expect(first.state == .done)
        #expect(first.attempts == 2)
        #expect((30..<120).contains(first.updated.timeIntervalSince(first.due)))
        await expect(fixture.sandbox.ledger.duplicates) { $0.isEmpty }
    }

    /// Nothing is begun while it is not known whether the network takes it, and what cannot wait
    /// says why it ended.
    @Test func whatIsRefusedForMinutesEndsTheWorker() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        let first = try await fixture.firstSlot()
        let error = await #expect(throws: NetworkError.self) {
            try await fixture.live(
                until: 24,
                events: [
                    (
                        (first.due.timeIntervalSince(Sample.origin) - 60) / 3_600,
                        { fixture.sandbox.faults.failNext(Self.refusal(.mastodon), count: 10_000) }
                    )
                ])
        }
        #expect(error?.code == .unauthorized)
        let lasted = fixture.clock.now.timeIntervalSince(first.due - 60)
        #expect((750..<1_500).contains(lasted))
        let refused = fixture.log.values.filter { $0.contains("Credentials refused") }
        #expect(refused.count { $0.contains("account=bot") } == 6)
        await expect(fixture.sandbox.ledger.deliveries) { $0.isEmpty }
        let waiting = try #require(try await fixture.slots().first)
        #expect(waiting.state == .planned)
        #expect(waiting.attempts <= 1)
        try await expect(fixture.leaseHolder(), equals: nil)
        try await expect(idle(fixture).first) {
            $0?.hasPrefix("nothing is sent: the network refuses the bot's") == true
        }
        // A worker that is started meanwhile waits for the same minutes, for these credentials were
        // good before.
        let again = await #expect(throws: NetworkError.self) { try await fixture.live(until: 24) }
        #expect(again?.code == .unauthorized)
        #expect(fixture.clock.now.timeIntervalSince(first.due) >= 2 * 750 - 60)
        #expect(count(fixture, "Start failed, trying again") == 5)
        // And one that is started when it is over goes on.
        fixture.sandbox.faults.clear()
        try await fixture.live(until: 14)
        await expect(fixture.sandbox.ledger.summary.posted) { $0 > 0 }
        try await expect(fixture.slots().first?.state, equals: .expired)
        try await expect(idle(fixture)) { !$0.contains { $0.contains("credentials") } }
    }

    /// Somebody who has just configured them waits for an answer.
    @Test func credentialsThatWereNeverGoodEndItAtOnce() async throws {
        let fixture = try await MirrorFixture.start(from: 7)
        fixture.sandbox.faults.failNext(Self.refusal(.mastodon), count: 1)
        let error = await #expect(throws: NetworkError.self) { try await fixture.live(until: 12) }
        #expect(error?.code == .unauthorized)
        #expect(fixture.clock.now == Sample.hour(7))
        // A single pass, too, is somebody's who waits.
        try await fixture.live(until: 7.5)
        fixture.sandbox.faults.failNext(Self.refusal(.mastodon), count: 1)
        let second = await #expect(throws: NetworkError.self) {
            try await fixture.worker().runOnce()
        }
        #expect(second?.code == .unauthorized)
    }

    @Test func aTokenThatMayReadButNotWriteEndsIt() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        let scope = SandboxFault.error(
            status: 403, message: "This action is outside the authorized scopes")
        fixture.sandbox.faults.failNext(
            scope, count: 1_000, method: "POST", path: "/api/v1/statuses")
        let error = await #expect(throws: NetworkError.self) { try await fixture.live(until: 24) }
        #expect(error?.code == .missingScope)
        #expect(count(fixture, "Credentials refused") == 6)
        // What could not be sent waits for a person and a better token, as long as it may.
        let states = try await fixture.actions().map(\.state)
        #expect(!states.contains(.failed))
        #expect(!states.contains(.sending))
        #expect(!states.contains(.done))
    }

    @Test func theBotGoesOnWhenOnlyTheHumanIsRefused() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, human: .x, bot: .mastodon)
        let archived = Recorder<Int>()
        let told = Recorder<String>()
        try await fixture.live(
            until: 18,
            events: [
                (
                    7,
                    {
                        archived.add(try await fixture.mirror.archive.count())
                        fixture.sandbox.faults.failNext(
                            Self.refusal(.x), count: 10_000, path: "/2/")
                    }
                ),
                (
                    13,
                    {
                        archived.add(try await fixture.mirror.archive.count())
                        for reason in try await idle(fixture) { told.add(reason) }
                    }
                ),
                // A new token, or the server remembers.
                (14, { fixture.sandbox.faults.clear() }),
            ])
        #expect(archived.values.count == 2)
        #expect(archived.values.first == archived.values.last)
        expect(told.values) {
            $0.contains { $0.hasPrefix("nothing new is learned: the network refuses the human's") }
        }
        expect(told.values) { !$0.contains { $0.contains("the bot's credentials") } }
        let refused = Sample.hour(7)..<Sample.hour(14)
        let ledger = await fixture.sandbox.ledger
        let slots = try await fixture.slots().filter { $0.due < Sample.hour(17.9) }
        expect(slots) { $0.contains { refused.contains($0.due) } }
        expect(slots) { $0.allSatisfy { $0.state == .done } }
        expect(ledger.favorites) { $0.contains { refused.contains($0.date) } }
        #expect(
            ledger.summary.duplicateSends + ledger.summary.unsolicited + ledger.summary.errors == 0)
        // An hour is the longest wait.
        #expect((8..<16).contains(count(fixture, "Credentials refused")))
        #expect(count(fixture, "Credentials accepted again") == 1)
        try await expect(fixture.mirror.archive.count()) { $0 > archived.values.first ?? .max }
        try await expect(idle(fixture)) { !$0.contains { $0.contains("credentials") } }
    }

    @Test func startsWithoutAHumanItKnows() async throws {
        let fixture = try await MirrorFixture.start(from: 8, human: .bluesky, bot: .mastodon)
        // Whose account it is must have been known once.
        fixture.sandbox.faults.failNext(Self.refusal(.bluesky), count: 10_000, path: "/xrpc/")
        await #expect(throws: NetworkError.self) { try await fixture.live(until: 9) }
        fixture.sandbox.faults.clear()
        #expect(try await fixture.worker().runOnce())
        fixture.sandbox.faults.failNext(Self.refusal(.bluesky), count: 10_000, path: "/xrpc/")
        try await fixture.live(until: 12.5)
        let ledger = await fixture.sandbox.ledger
        #expect(!ledger.deliveries.isEmpty)
        #expect(!ledger.favorites.isEmpty)
        // A single pass does all it can, and then tells.
        let posted = ledger.deliveries.count
        let next = try #require(try await fixture.slots().first { $0.state == .planned })
        try await fixture.wait(until: next.due + 60)
        let error = await #expect(throws: NetworkError.self) {
            try await fixture.worker().runOnce()
        }
        expect(error) { $0?.stopsActor == true }
        await expect(fixture.sandbox.ledger.deliveries.count) { $0 > posted }
    }

    /// A proxy that sends everybody to its own page, as in a maintenance.
    @Test func aRedirectIsNotFollowedAndMayPass() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        let elsewhere = SandboxFault.answer(
            status: 302, contentType: "text/html", body: "",
            headers: ["Location": "http://127.0.0.1:1/maintenance"])
        try await fixture.live(
            until: 12.5, events: [(9, { fixture.sandbox.faults.failNext(elsewhere, count: 5) })])
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.duplicateSends + summary.unsolicited + summary.errors == 0)
        try await expect(fixture.slots().filter { $0.due < Sample.hour(12.4) }) {
            $0.allSatisfy { $0.state == .done }
        }
    }
}
