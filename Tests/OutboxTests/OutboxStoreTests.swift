import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@Suite struct OutboxStoreTests {
    @Test func keepsEveryFieldOfAnAction() async throws {
        let outbox = try await OutboxFixture()
        let stored = try await outbox.store.propose(
            OutboxFixture.reply("a"), now: OutboxFixture.start)
        #expect(stored.isNew)
        let action = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(action == stored.action)
        #expect(action.wording?.source == PostID(network: .mastodon, value: "source-a"))
        #expect(action.target?.author == AccountID(network: .mastodon, value: "mika@example.com"))
        // Of a conversation only a digest is kept.
        expect(action.payload.reply?.thread) { $0?.hasPrefix("#") == true }
        try await expect(
            outbox.store.repliesInThread("thread", since: OutboxFixture.start), equals: 1)
        #expect(action.wording?.visibility == .unlisted)
        #expect(action.wording?.language == "ja")
        #expect(action.state == .planned)
        #expect(action.expires == OutboxFixture.start + 86_400)
        #expect(action.id.count == 12)
        #expect(action.key.count == 32)
    }

    @Test func keepsWhomATextMustNotNotify() async throws {
        let outbox = try await OutboxFixture()
        func person(_ name: String, on network: NetworkName = .mastodon) -> AccountID {
            AccountID(network: network, value: name)
        }
        var answer = OutboxFixture.answer("a")
        answer.bystanders = [
            person("ann@example.com"), person("7", on: .x), person("two words"), person(""),
            person("bob@example.org"),
        ]
        let intent = Intent(
            .reply(answer), due: OutboxFixture.start, expires: OutboxFixture.start + 60)
        let stored = try await outbox.store.propose(intent, now: OutboxFixture.start).action
        #expect(
            stored.payload.reply?.bystanders == [
                person("ann@example.com"), person("bob@example.org"),
            ])
        let claimed = try await outbox.store.claim(stored, now: OutboxFixture.start)
        #expect(claimed.payload == stored.payload)
    }

    /// A pass that read its list before a person moved something finds it waiting for another time.
    @Test func whatWasMovedMeanwhileIsNotTaken() async throws {
        let outbox = try await OutboxFixture()
        let store = outbox.store
        let start = OutboxFixture.start
        let listed = try await store.propose(OutboxFixture.reply("a"), now: start).action
        #expect(
            try await store.move(listed.id, to: start + 3_600, expires: start + 7_200, now: start)
                != nil)
        let error = await #expect(throws: OutboxError.self) {
            _ = try await store.claim(listed, now: start)
        }
        #expect(error?.code == .stateChanged)
        let moved = try #require(try await store.action(.reply, subject: "a"))
        #expect(moved.state == .planned)
        #expect(moved.due == start + 3_600)
    }

    @Test func decidesAboutASubjectOnce() async throws {
        let outbox = try await OutboxFixture()
        let first = try await outbox.store.propose(
            OutboxFixture.reply("a", text: "first"), now: OutboxFixture.start)
        let second = try await outbox.store.propose(
            OutboxFixture.reply("a", text: "second"), now: OutboxFixture.start)
        #expect(!second.isNew)
        #expect(second.action == first.action)
    }

    @Test func keepsTheFirstPlanOfADay() async throws {
        let outbox = try await OutboxFixture()
        let slots = [OutboxFixture.slot(1), OutboxFixture.slot(2)]
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: slots))
        var other = OutboxFixture.plan
        other.seed = "18"
        #expect(try await !outbox.store.store(other, slots: [OutboxFixture.slot(3)]))
        try await expect(outbox.store.plan(for: OutboxFixture.day), equals: OutboxFixture.plan)
        try await expect(
            outbox.store.slots(of: OutboxFixture.day).map(\.subject),
            equals: ["2025-11-19#1", "2025-11-19#2"])
    }

    @Test func storesADayWithoutSlots() async throws {
        let outbox = try await OutboxFixture()
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: []))
        #expect(try await !outbox.store.store(OutboxFixture.plan, slots: [OutboxFixture.slot(1)]))
    }

    @Test func marksWhatIsTooLateInsteadOfHandingItOut() async throws {
        let outbox = try await OutboxFixture()
        let early = OutboxFixture.slot(1, due: OutboxFixture.start - 1_000)
        let onTime = OutboxFixture.slot(2, due: OutboxFixture.start - 10)
        let later = OutboxFixture.slot(3, due: OutboxFixture.start + 10)
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: [early, onTime, later]))
        let due = try await outbox.store.due([.post], now: OutboxFixture.start)
        #expect(due.map(\.subject) == [onTime.payload.subject])
        _ = try await outbox.store.expire(now: OutboxFixture.start)
        let expired = try #require(
            try await outbox.store.action(.post, subject: early.payload.subject))
        #expect(expired.state == .expired)
        #expect(expired.reason == "too-late")
        try await expect(outbox.nextWorkTime([.post]), equals: onTime.due)
    }

    @Test func whatHasToWaitDoesNotStandInTheWay() async throws {
        let outbox = try await OutboxFixture()
        let later = OutboxFixture.start + 3_600
        for number in 0..<3 {
            let stored = try await outbox.store.propose(
                OutboxFixture.reply("slow-\(number)", expires: 1_800 * Double(number + 1)),
                now: OutboxFixture.start)
            let claimed = try await outbox.store.claim(stored.action, now: OutboxFixture.start)
            _ = try await outbox.store.postpone(
                claimed, until: later, reason: "overBudget", now: OutboxFixture.start)
        }
        var fresh = OutboxFixture.reply("fresh")
        fresh.due = OutboxFixture.start + 1
        _ = try await outbox.store.propose(fresh, now: OutboxFixture.start)
        let due = try await outbox.store.due([.reply], now: OutboxFixture.start + 2, limit: 3)
        #expect(due.map(\.subject) == ["fresh"])
        // What waits for longer than it may expires all the same.
        _ = try await outbox.store.expire(now: OutboxFixture.start + 1_801)
        try await expect(outbox.store.action(.reply, subject: "slow-0")?.state, equals: .expired)
        try await expect(outbox.store.action(.reply, subject: "slow-1")?.state, equals: .planned)
        let ripe = try await outbox.store.due([.reply], now: later, limit: 3)
        #expect(ripe.map(\.subject) == ["slow-1", "slow-2", "fresh"])
    }

    @Test func wakesForWhatExpiresWhileItWaits() async throws {
        let outbox = try await OutboxFixture()
        let stored = try await outbox.store.propose(
            OutboxFixture.reply("a", expires: 600), now: OutboxFixture.start
        ).action
        let claimed = try await outbox.store.claim(stored, now: OutboxFixture.start)
        try await expect(outbox.nextWorkTime([.reply]), equals: OutboxFixture.start)
        _ = try await outbox.store.postpone(
            claimed, until: OutboxFixture.start + 3_600, reason: "rate-limited",
            now: OutboxFixture.start)
        let nextWorkTime = try #require(try await outbox.nextWorkTime([.reply]))
        #expect(nextWorkTime > OutboxFixture.start + 600)
        #expect(nextWorkTime < OutboxFixture.start + 601)
        try await expect(outbox.nextWorkTime([.post]), equals: nil)
        try await expect(outbox.store.expire(now: OutboxFixture.start + 600)) { $0.isEmpty }
        let expired = try await outbox.store.expire(now: nextWorkTime)
        let now = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(expired == [now])
        #expect(now.state == .expired)
        #expect(now.reason == "rate-limited")
        #expect(now.nextAttempt == nil)
        try await expect(outbox.nextWorkTime([.reply]), equals: nil)
    }

    @Test func marksSuggestionsThatNobodyDecidedAbout() async throws {
        let outbox = try await OutboxFixture()
        var intent = OutboxFixture.reply("a", expires: 600)
        intent.state = .suggested
        let suggestion = try await outbox.store.propose(intent, now: OutboxFixture.start).action
        let nextWorkTime = try #require(try await outbox.nextWorkTime([.reply]))
        #expect(nextWorkTime > suggestion.expires)
        #expect(nextWorkTime < suggestion.expires + 1)
        try await expect(outbox.store.due([.reply], now: OutboxFixture.start + 600)) { $0.isEmpty }
        try await expect(outbox.store.suggestions(limit: 9), equals: [suggestion])
        // Whatever is asked for, what is over is over.
        try await expect(
            outbox.store.expire(now: OutboxFixture.start + 601).map(\.subject), equals: ["a"])
        try await expect(outbox.store.suggestions(limit: 9)) { $0.isEmpty }
        let expired = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(expired.state == .expired)
        #expect(expired.reason == .outbox(.undecided))
        let approved = try await outbox.store.approve(
            suggestion.id, now: OutboxFixture.start + 602, expires: OutboxFixture.start + 900)
        #expect(approved == nil)
    }

    @Test func marksWhatIsTooLateOnlyUnderTheLease() async throws {
        let outbox = try await OutboxFixture()
        _ = try await outbox.store.propose(
            OutboxFixture.reply("a", expires: 60), now: OutboxFixture.start)
        let record = try #require(try await outbox.leases.record())
        try await expect(outbox.leases.take(owner: "second", after: record, now: 1)) { $0 != nil }
        await #expect(throws: OutboxError.self) {
            try await outbox.store.expire(now: OutboxFixture.start + 61)
        }
        try await expect(outbox.store.action(.reply, subject: "a")?.state, equals: .planned)
    }

    /// A text that may have been published is not chosen again, and counts towards what is allowed
    /// a day.
    @Test func whatIsUnconfirmedCountsAsSent() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "timeout"), .refused(reason: "rejected")], resendWindow: nil
        )
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await outbox.deliver("a", by: delivery)
        _ = try await delivery.reconcile(at: OutboxFixture.start + 91)
        let unconfirmed = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(unconfirmed.isUnconfirmed)
        let refused = try await outbox.deliver("b", by: delivery)
        #expect(refused.state == .failed)
        #expect(!refused.isUnconfirmed)
        let author = try #require(unconfirmed.target).author
        let since = OutboxFixture.start - 1
        try await expect(outbox.store.times(.reply, since: since), equals: [unconfirmed.due])
        try await expect(outbox.store.usesOfReplies(to: [author])) { !$0.isEmpty }
        try await outbox.archive(["post-1"])
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: [OutboxFixture.slot(1)]))
        let slot = try #require(try await outbox.store.slots(of: OutboxFixture.day).first)
        let lost = ScriptedDeliverer(outcomes: [.unknown(reason: "timeout")], resendWindow: nil)
        let second = Delivery(store: outbox.store, deliverer: lost)
        _ = try await second.deliver(slot, now: { OutboxFixture.start }) { .ready($0) }
        _ = try await second.reconcile(at: OutboxFixture.start + 91)
        try await expect(outbox.lastUses(), equals: ["post-1": OutboxFixture.start])
    }

    @Test func refusesEveryChangeWithoutTheLease() async throws {
        let outbox = try await OutboxFixture()
        let stored = try await outbox.store.propose(
            OutboxFixture.reply("a"), now: OutboxFixture.start
        ).action
        let record = try #require(try await outbox.leases.record())
        try await expect(outbox.leases.take(owner: "second", after: record, now: 1)) { $0 != nil }
        await #expect(throws: OutboxError.self) {
            try await outbox.store.claim(stored, now: OutboxFixture.start)
        }
        await #expect(throws: OutboxError.self) {
            try await outbox.store.propose(OutboxFixture.reply("b"), now: OutboxFixture.start)
        }
        await #expect(throws: OutboxError.self) {
            try await outbox.store.store(OutboxFixture.plan, slots: [])
        }
        try await expect(outbox.store.action(.reply, subject: "a"), equals: stored)
        try await expect(outbox.store.action(.reply, subject: "b"), equals: nil)
    }

    @Test func remembersWhenTextsWereUsed() async throws {
        let outbox = try await OutboxFixture()
        try await outbox.archive(["post-1", "post-2"])
        #expect(
            try await outbox.store.store(
                OutboxFixture.plan, slots: [OutboxFixture.slot(1), OutboxFixture.slot(2)]))
        try await expect(outbox.lastUses().keys.sorted(), equals: ["post-1", "post-2"])
        let first = try #require(try await outbox.store.slots(of: OutboxFixture.day).first)
        _ = try await outbox.store.drop(
            first, as: .skipped, reason: .noText, now: OutboxFixture.start)
        try await expect(outbox.lastUses(), equals: ["post-2": OutboxFixture.start])
    }

    @Test func knowsWhoNamedTheBotOtherThanToStopIt() async throws {
        let outbox = try await OutboxFixture()
        func person(_ name: String, _ network: NetworkName = .bluesky) -> AccountID {
            AccountID(network: network, value: "did:plc:\(name)")
        }
        func mention(_ subject: String, by author: AccountID, reason: ReasonCode? = nil) -> Intent {
            var answer = OutboxFixture.answer(subject)
            answer.target.author = author
            return Intent(
                .reply(answer), state: reason == nil ? .planned : .skipped,
                due: OutboxFixture.start,
                expires: OutboxFixture.start + 60, reason: reason)
        }
        let favorite = Intent(
            .favorite(Action.Target(post: "f", author: person("liked"), address: "f")),
            due: OutboxFixture.start,
            expires: OutboxFixture.start)
        for intent in [
            mention("a", by: person("answered")),
            mention("b", by: person("silent"), reason: "no-past-reply"),
            mention("c", by: person("weary"), reason: "asked-to-stop"),
            mention("d", by: person("aside"), reason: "not-mentioned"),
            mention("e", by: person("elsewhere", .x)),
            mention("g", by: person("both"), reason: "asked-to-stop"),
            mention("h", by: person("both")), favorite,
        ] {
            _ = try await outbox.store.propose(intent, now: OutboxFixture.start)
        }
        let names = [
            "answered", "silent", "weary", "aside", "elsewhere", "both", "liked", "stranger",
        ]
        let strangers = (0..<1_100).map { person("stranger\($0)") }
        let stopping: [ReasonCode] = ["asked-to-stop", "not-mentioned"]
        let found = try await outbox.store.acquaintances(
            among: names.map { person($0) } + strangers, unlessFor: stopping)
        #expect(found == [person("answered"), person("silent"), person("both")])
        try await expect(
            outbox.store.acquaintances(among: [person("elsewhere", .x)], unlessFor: stopping).count,
            equals: 1)
        try await expect(outbox.store.acquaintances(among: [], unlessFor: stopping)) { $0.isEmpty }
        let other = OutboxStore(storage: outbox.storage, mirror: "other", lease: nil)
        try await expect(other.acquaintances(among: [person("answered")], unlessFor: stopping)) {
            $0.isEmpty
        }
    }

    @Test func findsKnownSubjectsAmongMany() async throws {
        let outbox = try await OutboxFixture()
        _ = try await outbox.store.propose(OutboxFixture.reply("a"), now: OutboxFixture.start)
        let asked = (0..<1_200).map { "subject-\($0)" } + ["a"]
        try await expect(outbox.store.known(.reply, among: asked), equals: ["a"])
        try await expect(outbox.store.known(.favorite, among: asked)) { $0.isEmpty }
    }
}
