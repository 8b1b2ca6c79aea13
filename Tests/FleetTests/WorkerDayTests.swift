import Archive
import Conduct
import Control
import Expectations
import Favorites
import Fixtures
import Fleet
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

/// The worker's days on the network, as the network tells them.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct WorkerDayTests {
    @Test(arguments: [1, 2] as [UInt64]) func livesADayAsTheNetworkExpects(_ seed: UInt64)
        async throws
    {
        let fixture = try await MirrorFixture.start(seed: seed)
        try await fixture.worker().run(until: fixture.sandbox.world.end)
        let ledger = await fixture.sandbox.ledger
        let summary = ledger.summary
        #expect(summary.replies > 0)
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.favorites > 0)
        #expect(summary.favorites <= 10)
        #expect(summary.unsolicited == 0)
        #expect(summary.duplicateSends == 0)
        #expect(summary.errors == 0)
        #expect(ledger.widenedReplies.isEmpty)
        try await expectEverySlotSettled(fixture, ledger)
        try await expectEveryMentionDecided(fixture, ledger)
        try await expect(fixture.mirror.people.stance(of: Sample.person("kent")), equals: .deny)
        #expect(fixture.clock.now == fixture.sandbox.world.end)
    }

    private func expectEverySlotSettled(_ fixture: MirrorFixture, _ ledger: SandboxLedger)
        async throws
    {
        let slots = try await fixture.slots()
        #expect(!slots.isEmpty)
        let published = Dictionary(
            ledger.deliveries.filter { $0.replyTo == nil }.map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first })
        #expect(slots.count { $0.state == .done } == published.count)
        for slot in slots {
            guard slot.state == .done else {
                #expect(slot.state == .skipped)
                #expect(slot.reason != nil)
                continue
            }
            let delivery = try #require(published[slot.remoteAddress ?? ""])
            let source = try await fixture.source(of: slot)
            #expect(delivery.text == slot.text)
            #expect(TextRules.textKey(delivery.text) == TextRules.textKey(source.text))
            #expect(!source.isReply)
            #expect(delivery.date.timeIntervalSince(slot.due) < 60)
            #expect(delivery.date >= slot.due)
            #expect(delivery.visibility == .unlisted)
            #expect(delivery.language == source.language)
            #expect(delivery.idempotencyKey == slot.key)
            #expect(delivery.mentioned.isEmpty)
        }
    }

    private func expectEveryMentionDecided(_ fixture: MirrorFixture, _ ledger: SandboxLedger)
        async throws
    {
        let replies = try await fixture.actions(.reply)
        let byAddress = Dictionary(
            replies.map { ($0.target?.address ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        for mention in ledger.mentions where mention.kind != .past {
            let action = try #require(byAddress[mention.id])
            #expect((action.state == .done) == mention.deservesReply)
            #expect(action.state == .done || action.reason != nil)
        }
        let answers = ledger.deliveries.filter { $0.replyTo != nil }
        for answer in answers {
            let action = try #require(byAddress[answer.replyTo ?? ""])
            let source = try await fixture.source(of: action)
            #expect(source.replyTo?.author == action.target?.author)
            #expect(answer.mentioned == [action.target?.author.value])
        }
    }

    @Test func leavesTheClockWhereItsRunEnds() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        // Between the wake-ups of all loops.
        try await fixture.live(until: 9.3)
        #expect(fixture.clock.now == Sample.hour(9.3))
        try await expect(fixture.actions()) { $0.allSatisfy { $0.updated <= Sample.hour(9.3) } }
    }

    @Test func learnsWhatTheHumanDoesMeanwhile() async throws {
        let fixture = try await MirrorFixture.start(from: 8, variables: ["FAVORITE_MODE": "off"])
        let posts = try await fixture.mirror.archive.count()
        let before = try await fixture.mirror.favorites().status()
        try await fixture.live(until: 22)
        let newest = try #require(try await fixture.mirror.archive.span()).newest
        let after = try await fixture.mirror.favorites().status()
        try await expect(fixture.mirror.archive.count()) { $0 > posts }
        #expect(newest > Sample.hour(8))
        #expect(after.seen > before.seen)
        #expect(after.favorites > before.favorites)
        #expect(after.normals > before.normals)
        #expect(after.counts == .current)
        await expect(fixture.sandbox.ledger.favorites) { $0.isEmpty }
        try await expect(fixture.actions(.favorite)) { $0.isEmpty }
    }

    @Test func decidesTheSameOnEveryEngine() async throws {
        let redis = try await RedisServer.start()
        let embedded = try await decisions(on: .sqlite, counts: "")
        let served = try await decisions(on: .postgres, counts: redis.url)
        for (first, second) in zip(embedded, served) { #expect(first == second) }
        #expect(embedded.count == served.count)
        #expect(embedded.count > 15)
    }

    /// What a mirror decides in some hours, without the times at which it did.
    private func decisions(on engine: Engine, counts: String) async throws -> [[String?]] {
        let fixture = try await MirrorFixture.start(
            engine, from: 9, variables: ["REDIS_URL": counts])
        try await fixture.live(until: 12.5)
        let actions = try await fixture.actions()
        #expect(Set(actions.filter { $0.state == .done }.map(\.kind)) == Set(ActionKind.allCases))
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.unsolicited + summary.duplicateSends + summary.errors == 0)
        return actions.map { action in
            var explanation = action.explanation
            // Batches are counted by numbers that nobody can guess; the weights themselves are the
            // same to the last bit.
            explanation?.weights?.sequence = 0
            let why = explanation.map { "\($0)" }
            return [
                action.id, action.subject, action.state.rawValue, action.text,
                action.reason?.rawValue, why,
            ]
        }
    }

    /// Under one key in every line, so that `explain` can be asked about what the log says.
    @Test func everyLineAboutAnActionHasItsIDAndThePerson() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 18)
        let actions = try await fixture.actions()
        expect(actions) { $0.contains { $0.state == .skipped && $0.target != nil } }
        let lines = fixture.log.values.filter { line in
            actions.contains { line.contains($0.id) } || line.contains("action.")
                || line.contains(" Action ")
        }
        #expect(lines.count > 20)
        for line in lines {
            let id = try #require(
                line.firstMatch(of: /action\.id=([0-9a-f]{12})/)?.output.1, "\(line)")
            let action = try #require(actions.first { $0.id == id })
            #expect(line.contains("action.kind=\(action.kind.rawValue)"))
            #expect(line.contains("action.state="))
            if let author = action.target?.author {
                #expect(line.contains("person=@\(author.value)"), "\(line)")
            }
        }
        #expect(
            Set(lines.compactMap { $0.firstMatch(of: /action\.kind=(\w+)/)?.output.1 }).count == 3)
    }

    @Test func onlySuggestsFavoritesWhenToldTo() async throws {
        let fixture = try await MirrorFixture.start(
            from: 9, variables: ["FAVORITE_MODE": "suggest"])
        try await fixture.live(until: 11)
        let suggested = try await fixture.actions(.favorite)
        #expect(!suggested.isEmpty)
        expect(suggested) { $0.allSatisfy { $0.state == .suggested } }
        let why = try #require(suggested.first?.explanation)
        try expect(#require(why.favoriteRate)) { $0 > 2 }
        expect(why.features) { $0?.isEmpty == false }
        await expect(fixture.sandbox.ledger.favorites) { $0.isEmpty }
    }

    @Test func skipsTheSlotsBeforeItsFirstStart() async throws {
        // Five minutes after a slot, which would still be waited for.
        let planned = try await MirrorFixture.start(from: 8)
        try await planned.live(until: 8.1)
        let due = try #require(try await planned.slots().first { $0.due > Sample.hour(9) }).due
        let hour = due.timeIntervalSince(Sample.hour(0)) / 3_600 + 1.0 / 12
        let fixture = try await MirrorFixture.start(from: hour)
        try await fixture.live(until: 24)
        let slots = try await fixture.slots()
        let early = slots.filter { $0.due < Sample.hour(hour) }
        expect(early, "a slot that would still be waited for") {
            $0.contains { $0.expires > Sample.hour(hour) }
        }
        expect(early) { $0.allSatisfy { $0.state == .skipped && $0.reason == "before-start" } }
        expect(slots) { $0.contains { $0.due > Sample.hour(hour) && $0.state == .done } }
        expect(slots) {
            $0.allSatisfy { $0.reason != "before-start" || $0.due < Sample.hour(hour) }
        }
    }

    @Test func leavesAloneWhatIsOlderThanItsFirstStart() async throws {
        let fixture = try await MirrorFixture.start(from: 14)
        try await fixture.live(until: 18)
        let ledger = await fixture.sandbox.ledger
        let old = Set(ledger.mentions.filter { $0.date < Sample.hour(14) }.map(\.id))
        #expect(old.count > 3)
        let answered = ledger.deliveries.compactMap(\.replyTo)
        #expect(!answered.isEmpty)
        #expect(old.isDisjoint(with: answered))
        #expect(!ledger.favorites.isEmpty)
        // The id of a post tells when it was made.
        for favorite in ledger.favorites {
            let id = try #require(Int64(favorite.postID))
            #expect(Date(milliseconds: id >> 16) >= Sample.hour(14))
        }
    }
}
