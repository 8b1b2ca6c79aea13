import Archive
import Conduct
import Control
import Expectations
import Fixtures
import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Sandbox
import Settings
import TestSupport
import Testing

/// Servers that fail, and answers that get lost.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct FaultTests {
    private static let statuses = "/api/v1/statuses"

    /// Hours of posts and replies in which the first requests fail.
    private func posting(
        until hour: Double = 12.5, _ fault: SandboxFault, count: Int = 1
    ) async throws -> MirrorFixture {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        fixture.sandbox.faults.failNext(fault, count: count, method: "POST", path: Self.statuses)
        try await fixture.live(until: hour)
        return fixture
    }

    private func expectEverythingSentOnce(_ fixture: MirrorFixture) async throws {
        let ledger = await fixture.sandbox.ledger
        let slots = try await fixture.slots().filter { $0.due < fixture.clock.now }
        let replies = try await fixture.actions(.reply)
        expect(slots) { $0.allSatisfy { $0.state == .done } }
        #expect(
            ledger.deliveries.filter { $0.replyTo == nil }.map(\.text).sorted()
                == slots.compactMap(\.text).sorted())
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        #expect(replies.count { $0.state == .done } == ledger.summary.replies)
        #expect(
            ledger.summary.duplicateSends + ledger.summary.unsolicited + ledger.summary.errors == 0)
    }

    @Test func findsWhatWasPublishedWhenAnswersAreLost() async throws {
        let fixture = try await posting(.dropAnswer, count: 4)
        try await expectEverythingSentOnce(fixture)
        let settled = try await fixture.actions().filter { $0.state == .done }
        expect(settled) {
            $0.allSatisfy { $0.attempts == 1 && $0.remoteID != nil && $0.remoteAddress != nil }
        }
        // The look-up comes after the request's deadline and a margin.
        let found = try #require(settled.first { $0.kind == .post })
        #expect(found.updated.timeIntervalSince(found.due) >= 60)
    }

    @Test func publishesOnceThoughTheServerForgetsKeys() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        fixture.sandbox.faults.mastodon.keys = .ignored
        fixture.sandbox.faults.failNext(.dropAnswer, count: 3, method: "POST", path: Self.statuses)
        try await fixture.live(until: 12.5)
        try await expectEverythingSentOnce(fixture)
    }

    @Test func sendsAgainWhatNeverArrived() async throws {
        let fixture = try await posting(.dropRequest)
        try await expectEverythingSentOnce(fixture)
        let attempts = try await fixture.actions().filter { $0.state == .done }.map(\.attempts)
        #expect(attempts.contains(2))
        expect(attempts) { $0.allSatisfy { $0 <= 2 } }
    }

    @Test func findsFavoritesWhoseAnswersWereLost() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        // With the slash at its end the path is that of favorites alone.
        fixture.sandbox.faults.failNext(
            .dropAnswer, count: 2, method: "POST", path: Self.statuses + "/")
        fixture.sandbox.faults.failNext(
            .dropRequest, count: 1, method: "POST", path: Self.statuses + "/")
        try await fixture.live(until: 14)
        let ledger = await fixture.sandbox.ledger
        let favorites = try await fixture.actions(.favorite)
        #expect(favorites.count > 3)
        expect(favorites) { $0.allSatisfy { $0.state == .done } }
        #expect(
            favorites.compactMap(\.target?.address).sorted()
                == ledger.favorites.map(\.postID).sorted())
        #expect(favorites.count { $0.attempts == 2 } == 1)
        #expect(ledger.duplicates.isEmpty)
    }

    @Test func looksBeforeItSendsAgainToABrokenServer() async throws {
        let fixture = try await posting(.html(status: 500))
        try await expectEverythingSentOnce(fixture)
        try await expect(fixture.actions()) {
            $0.contains { $0.attempts == 2 && $0.state == .done }
        }
    }

    @Test func givesUpUnconfirmedWhatABrokenServerNeverTakes() async throws {
        let fixture = try await posting(until: 12, .html(status: 502), count: 1_000)
        let tried = try await fixture.slots().filter { $0.expires < Sample.hour(11.9) }
        #expect(!tried.isEmpty)
        expect(tried) {
            $0.allSatisfy {
                $0.state == .failed && $0.reason == "unconfirmed" && (2...5).contains($0.attempts)
            }
        }
        await expect(fixture.sandbox.ledger.deliveries) { $0.isEmpty }
    }

    @Test func waitsAsLongAsTheServerAsks() async throws {
        let busy = SandboxFault.error(
            status: 429, message: "Too many requests", headers: ["Retry-After": "300"])
        let fixture = try await posting(busy)
        try await expectEverythingSentOnce(fixture)
        let late = try #require(try await fixture.actions().first { $0.attempts == 2 })
        let ledger = await fixture.sandbox.ledger
        let delivery = try #require(ledger.deliveries.first { $0.id == late.remoteAddress })
        #expect((300...360).contains(delivery.date.timeIntervalSince(late.due)))
    }

    @Test func letsASlotExpireRatherThanSendItTooLate() async throws {
        let closed = SandboxFault.error(
            status: 429, message: "Too many requests", headers: ["Retry-After": "3600"])
        let fixture = try await posting(closed, count: 2)
        let slot = try #require(try await fixture.slots().first)
        #expect(slot.state == .expired)
        #expect(slot.reason == "rate-limited")
        let ledger = await fixture.sandbox.ledger
        expect(ledger.deliveries) { $0.allSatisfy { $0.text != slot.text } }
        try await expect(fixture.slots()) { $0.contains { $0.state == .done } }
        #expect(ledger.duplicates.isEmpty)
    }

    @Test func dropsForGoodWhatTheServerRefuses() async throws {
        let fixture = try await posting(.error(status: 422, message: "Validation failed"))
        let slots = try await fixture.slots()
        let refused = try #require(slots.first)
        #expect(refused.state == .failed)
        #expect(refused.reason == "rejected")
        #expect(refused.attempts == 1)
        expect(slots) { $0.contains { $0.state == .done } }
    }

    /// A server that counts otherwise refuses a text as too long: it is not said, and not chosen
    /// again where texts may be no longer.
    @Test func aTextThatTheServerFindsTooLongIsMarkedForItsLimit() async throws {
        let fixture = try await posting(
            .error(status: 422, message: "Validation failed: Text character limit of 400 exceeded"))
        let limit = try await fixture.mirror.requiredNetwork(of: .bot).limits().maximumCharacters
        let slot = try #require(try await fixture.slots().first)
        #expect(slot.state == .failed)
        #expect(slot.reason == "too-long")
        let source = try #require(slot.wording?.source)
        let archive = fixture.mirror.archive
        func texts(longest: Int) async throws -> [PostID] {
            let filter = Archive.TextFilter(longest: longest)
            return try await archive.texts(in: [0...MinuteOfDay.count - 1], filter).map(\.id)
        }
        try await expect(texts(longest: limit).contains(source), equals: false)
        try await expect(texts(longest: limit + 1).contains(source), equals: true)
        try await expect(archive.uses()[TextRules.textKey(slot.text ?? "")] == nil, equals: true)
    }

    @Test func goesOnReadingWhenAServerRecovers() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(
            until: 12.5,
            events: [
                (
                    10,
                    {
                        fixture.sandbox.faults.failNext(
                            .html(status: 503), count: 40, method: "GET")
                    }
                ),
                (10.5, { fixture.sandbox.faults.failNext(.dropRequest, count: 10, method: "GET") }),
            ])
        let summary = await fixture.sandbox.ledger.summary
        expect(fixture.log.values) { $0.contains { $0.hasPrefix("warning Pass failed") } }
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.favorites > 0)
        #expect(summary.duplicateSends + summary.unsolicited + summary.errors == 0)
    }

    @Test(arguments: ["repeatsItems", "ignoresSinceID", "omitsLinks"])
    func managesServersThatDifferFromTheDocumentation(_ quirk: String) async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        fixture.sandbox.faults.mastodon.repeatsItems = quirk == "repeatsItems"
        if quirk == "ignoresSinceID" {
            fixture.sandbox.faults.mastodon.ignoresSinceID = MastodonHabits.everywhere
            fixture.sandbox.faults.mastodon.ignoresMinID = MastodonHabits.everywhere
        }
        if quirk == "omitsLinks" { fixture.sandbox.faults.mastodon.links = .missing }
        try await fixture.live(until: 12.5)
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.favorites > 0)
        #expect(summary.duplicateSends + summary.unsolicited + summary.errors == 0)
    }
}
