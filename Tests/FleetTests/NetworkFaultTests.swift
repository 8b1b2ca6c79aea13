import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// Lost answers and spent money on networks other than Mastodon.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct NetworkFaultTests {
    private static func publishing(_ network: NetworkName) -> String {
        network == .x ? "/2/tweets" : "/xrpc/com.atproto.repo.putRecord"
    }

    /// A morning of posts and replies in which the first requests to publish go wrong.
    private func morning(
        on network: NetworkName, _ fault: SandboxFault, count: Int
    ) async throws -> (slots: [Action], ledger: SandboxLedger) {
        let fixture = try await MirrorFixture.start(
            from: 6.5, human: network, bot: network, variables: ["FAVORITE_MODE": "off"])
        // The first pass labels the account and stores the plan.
        #expect(try await fixture.worker().runOnce())
        fixture.sandbox.faults.failNext(
            fault, count: count, method: "POST", path: Self.publishing(network))
        try await fixture.live(until: 12.5)
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.duplicates.isEmpty)
        #expect(ledger.summary.duplicateSends == 0)
        #expect(ledger.summary.unsolicited == 0)
        return (try await fixture.slots().filter { $0.due < fixture.clock.now - 1_200 }, ledger)
    }

    @Test(arguments: [NetworkName.x, .bluesky]) func findsWhatWasPublishedWhenAnswersAreLost(
        network: NetworkName
    ) async throws {
        let (slots, ledger) = try await morning(on: network, .dropAnswer, count: 3)
        #expect(!slots.isEmpty)
        expect(slots) {
            $0.allSatisfy { $0.state == .done && $0.attempts == 1 && $0.remoteID != nil }
        }
        let sent = Set(ledger.deliveries.map(\.text))
        expect(slots) { $0.allSatisfy { sent.contains($0.text ?? "") } }
    }

    @Test func neverSendsAgainOnX() async throws {
        let (slots, ledger) = try await morning(on: .x, .dropRequest, count: 1)
        let lost = try #require(slots.first)
        #expect(lost.state == .failed)
        #expect(lost.reason == "unconfirmed")
        #expect(lost.attempts == 1)
        expect(ledger.deliveries) { !$0.contains { $0.text == lost.text } }
        expect(slots.dropFirst()) { $0.allSatisfy { $0.state == .done } }
    }

    @Test func repeatsTheSameRecordOnBluesky() async throws {
        let (slots, _) = try await morning(on: .bluesky, .dropRequest, count: 1)
        let lost = try #require(slots.first)
        #expect(lost.state == .done)
        #expect(lost.attempts == 2)
        // The record's key tells when it was first to be sent.
        let sending = try #require(lost.sending)
        #expect(sending.timeIntervalSince(lost.due) < 60)
        let key = try #require(lost.remoteID?.split(separator: "/").last.map(String.init))
        let letters = Array("234567abcdefghijklmnopqrstuvwxyz")
        let number = key.reduce(UInt64(0)) { (number: UInt64, letter: Character) -> UInt64 in
            number << 5 | UInt64(letters.firstIndex(of: letter) ?? 0)
        }
        let seconds = Double(number >> 10) / 1_000_000
        #expect(abs(seconds - sending.timeIntervalSince1970) < 0.002)
        expect(slots) { $0.allSatisfy { $0.state == .done } }
    }

    @Test func leavesTheHumanAloneWhenTheMonthsMoneyIsSpent() async throws {
        let fixture = try await MirrorFixture.start(
            from: 9.5, human: .x, bot: .mastodon, variables: ["X_BUDGET_USD_PER_MONTH": "0.2"])
        try await fixture.live(until: 17)
        let spending = try await fixture.mirror.spending.spending(at: fixture.clock.now)
        #expect(spending.total <= spending.budget)
        #expect(spending.left < Money(microdollars: 60_000))
        await expect(fixture.sandbox.ledger.spentMicrodollars) { $0 <= 200_000 }
        #expect(fixture.log.values.count { $0.contains("Account pauses") } == 1)
        expect(fixture.log.values) { !$0.contains { $0.contains("Pass failed") } }
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.posted > 0)
        #expect(summary.errors == 0)
    }

    @Test func trainsAsFarAsTheMonthsShareReaches() async throws {
        let fixture = try await MirrorFixture.start(
            isTrained: false, human: .x, bot: .x, variables: ["X_BUDGET_USD_PER_MONTH": "0.9"])
        let progress = Recorder<TrainingProgress>()
        let trainer = SchedulerTrainer(mirror: fixture.mirror, zone: Sample.zone) {
            progress.add($0)
        }
        let human = try await fixture.mirror.requiredNetwork(of: .human)
        let first = try await trainer.train(from: human)
        expect(progress.values.first?.announcement) {
            $0?.hasPrefix("reading at most 3200 posts costs at most $") == true
        }
        #expect(first.learned > 0)
        #expect(first.missing.count == 1)
        let spent = try await fixture.mirror.spending.spending(at: fixture.clock.now)
        // A quarter of the budget is for older posts.
        #expect(spent.total >= Money(microdollars: 200_000))
        #expect(spent.total <= Money(microdollars: 450_000))
        expect(
            Int(await fixture.sandbox.ledger.spentMicrodollars), equals: spent.total.microdollars)
        let oldest = try await fixture.mirror.archive.span()?.oldest
        // In the next month more.
        try await fixture.wait(until: Sample.origin + 31 * 86_400)
        let again = try await fixture.mirror.requiredNetwork(of: .human)
        let second = try await trainer.train(from: again)
        #expect(second.missing.count == 1)
        #expect(second.learned > 0)
        let later = try await fixture.mirror.archive.span()
        #expect(try #require(later).oldest < #require(oldest))
    }
}
