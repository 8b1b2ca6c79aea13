import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// What a long history is asked for, and what becomes of it.
@Suite struct HistoryTests {
    private static let now = OutboxFixture.start
    private static let mika = AccountID(network: .mastodon, value: "mika@example.com")
    private static let others = [
        AccountID(network: .bluesky, value: "did:plc:mika"),
        AccountID(network: .mastodon, value: "aoi@example.com"),
    ]

    /// Rows of all kinds, states, people and threads; every third one is over, some with a lost
    /// answer.
    private func fill(_ outbox: OutboxFixture) async throws -> [Action] {
        var generator = SeededGenerator(seed: 7)
        let people = [Self.mika] + Self.others
        for number in 0..<240 {
            let kind = [ActionKind.reply, .reply, .favorite, .post][
                Int.random(in: 0..<4, using: &generator)]
            var answer = OutboxFixture.answer("s\(number)")
            answer.target.author = people[Int.random(in: 0..<3, using: &generator)]
            answer.wording?.source.value = "p\(Int.random(in: 0..<9, using: &generator))"
            answer.thread = ["t1", "t2", String(repeating: "long", count: 600)][number % 3]
            let due = Self.now - Double(Int.random(in: 0..<60, using: &generator)) * 86_400
            let intent = Intent(
                Self.payload(kind, answer, number), due: due, expires: Self.now + 86_400)
            let action = try await outbox.store.propose(intent, now: intent.due).action
            guard number % 3 > 0 else { continue }
            let claimed = try await outbox.store.claim(action, now: intent.due)
            if number % 5 == 0 {
                let sending = try await outbox.store.beginSending(
                    claimed, lookUp: Self.now, deadline: .seconds(30), now: intent.due)
                _ = try await outbox.store.confirm(
                    sending, remoteID: "u", remoteAddress: nil, now: intent.due)
            } else {
                let reason: ReasonCode = number % 2 == 0 ? .outbox(.unconfirmed) : "rejected"
                _ = try await outbox.store.end(
                    claimed, as: .failed, reason: reason, now: intent.due)
            }
        }
        return try await outbox.store.recent(1_000)
    }

    /// What is done with what an answer has, as far as another kind of action has it.
    private static func payload(_ kind: ActionKind, _ answer: Action.Reply, _ number: Int)
        -> Action.Payload
    {
        switch kind {
        case .post: .post(Slot.Name(day: OutboxFixture.day, number: number + 1), answer.wording)
        case .reply: .reply(answer)
        case .favorite: .favorite(answer.target)
        }
    }

    /// What counts, found by looking at every row.
    private func counts(_ action: Action) -> Bool {
        [.planned, .claimed, .sending, .done, .suggested].contains(action.state)
            || action.state == .failed && action.reason == .outbox(.unconfirmed)
    }

    @Test func countsWhatACapAsksFor() async throws {
        let outbox = try await OutboxFixture()
        let rows = try await fill(outbox)
        for days in [0.0, 1, 30, 100] {
            let since = Self.now - days * 86_400
            let recent = rows.filter { counts($0) && $0.due >= since }
            for kind in ActionKind.allCases {
                let times = recent.filter { $0.kind == kind }.map(\.due).sorted(by: >)
                try await expect(outbox.store.times(kind, since: since), equals: times)
                let standing = try await outbox.store.decisionFacts(
                    kind, among: [], since: since
                ) { _ in
                    0
                }
                #expect(standing.count == times.count)
            }
            let replies = recent.filter { $0.kind == .reply }
            for accounts in [[], [Self.mika], Self.others, [Self.mika] + Self.others] {
                let expected = replies.count { reply in
                    reply.target.map { accounts.contains($0.author) } ?? false
                }
                try await expect(outbox.store.repliesSince(since, to: accounts), equals: expected)
            }
            for thread in Set(rows.compactMap(\.payload.reply?.thread)) {
                let expected = replies.count { $0.payload.reply?.thread == thread }
                try await expect(
                    outbox.store.repliesInThread(thread, since: since), equals: expected)
                try await expect(
                    outbox.store.repliesInThread(thread + "x", since: since), equals: 0)
            }
        }
    }

    /// An answer belongs to the last reply of its conversation before it.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func answersBelongToTheReplyBeforeThem(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        func hear(_ name: String, in thread: String, at second: Double, isAnswered: Bool = false)
            async throws -> String
        {
            var answer = OutboxFixture.answer(name)
            answer.thread = thread
            let at = Self.now + second
            let intent = Intent(.reply(answer), due: at, expires: at + 86_400)
            let action = try await outbox.store.propose(intent, now: at).action
            guard isAnswered else { return action.id }
            let claimed = try await outbox.store.claim(action, now: at)
            let sending = try await outbox.store.beginSending(
                claimed, lookUp: at, deadline: .seconds(30), now: at)
            _ = try await outbox.store.confirm(
                sending, remoteID: name, remoteAddress: nil, now: at)
            return action.id
        }
        let first = try await hear("a", in: "t1", at: 0, isAnswered: true)
        _ = try await hear("b", in: "t1", at: 60)
        // It answers the first reply, and gets the second one.
        let second = try await hear("c", in: "t1", at: 120, isAnswered: true)
        for (index, name) in ["d", "e", "f"].enumerated() {
            _ = try await hear(name, in: "t1", at: 180 + Double(index))
        }
        _ = try await hear("g", in: "t2", at: 300)
        try await expect(
            outbox.store.answers(toRepliesSince: Self.now), equals: [first: 2, second: 3])
        try await expect(
            outbox.store.answers(toRepliesSince: Self.now + 100), equals: [second: 3])
    }

    @Test func knowsWhatAPersonWasTold() async throws {
        let outbox = try await OutboxFixture()
        let rows = try await fill(outbox)
        for accounts in [[Self.mika], [Self.mika] + Self.others] {
            var expected: [PostID: (last: Date, isInFlight: Bool)] = [:]
            for row in rows
            where row.kind == .reply && accounts.contains(where: { $0 == row.target?.author }) {
                guard let source = row.wording?.source,
                    [.planned, .claimed, .sending, .done].contains(row.state) || row.sending != nil
                else { continue }
                let known = expected[source]
                expected[source] = (
                    max(known?.last ?? row.due, row.due),
                    known?.isInFlight == true || row.state != .done
                )
            }
            let uses = try await outbox.store.usesOfReplies(to: accounts)
            #expect(uses.mapValues(\.last) == expected.mapValues(\.last))
            #expect(uses.mapValues(\.isInFlight) == expected.mapValues(\.isInFlight))
            #expect(!uses.isEmpty)
        }
        try await expect(outbox.store.usesOfReplies(to: [])) { $0.isEmpty }
    }

    @Test func anotherTextForASlotGivesItsFirstOneBack() async throws {
        let outbox = try await OutboxFixture()
        try await outbox.archive(["post-1", "post-2", "other"])
        let first = OutboxFixture.slot(1)
        let second = OutboxFixture.slot(2, due: Self.now + 60)
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: [first, second]))
        try await expect(outbox.lastUses(), equals: ["post-1": Self.now, "post-2": Self.now + 60])
        let slot = try #require(try await outbox.store.slots(of: OutboxFixture.day).first)
        let claimed = try await outbox.store.claim(slot, now: Self.now)
        var replaced = claimed.action
        replaced.payload = OutboxFixture.slot(1, from: "other").payload
        let sending = try await outbox.store.beginSending(
            claimed, as: replaced, lookUp: Self.now + 90, deadline: .seconds(30), now: Self.now)
        try await expect(outbox.lastUses(), equals: ["other": Self.now, "post-2": Self.now + 60])
        // Once a request may have acted the text counts, however it ends.
        _ = try await outbox.store.end(
            sending, as: .failed, reason: .outbox(.unconfirmed), now: Self.now)
        try await expect(outbox.store.expire(now: Self.now + 86_400).count, equals: 1)
        try await expect(outbox.lastUses(), equals: ["other": Self.now])
    }

    @Test func throwsAwayWhatIsOldAndNothingThatIsAskedFor() async throws {
        let outbox = try await OutboxFixture()
        let rows = try await fill(outbox)
        let plan = StoredPlan(
            day: OutboxFixture.day.advanced(by: -50), timeZone: "Asia/Tokyo", seed: "1",
            made: Self.now)
        #expect(try await outbox.store.store(plan, slots: []))
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: []))
        let sighted = try #require(
            rows.first {
                $0.state == .failed && $0.due < Self.now - 40 * 86_400 && $0.sending == nil
            })
        try await outbox.storage.lenient.execute(
            "UPDATE actions SET next_attempt_ms = 5 WHERE id = \(sighted.id)")
        let end = Self.now - 31 * 86_400
        let expected = rows.filter { row in
            row.updated >= end || [.planned, .claimed, .sending, .suggested].contains(row.state)
                || row.id == sighted.id
                || row.kind == .reply && (row.state == .done || row.sending != nil)
        }
        #expect(expected.count < rows.count)
        expect(expected) { $0.contains { $0.kind == .reply && $0.state == .done } }
        try await expect(outbox.store.clean(before: end), equals: rows.count - expected.count + 1)
        try await expect(Set(outbox.store.recent(1_000).map(\.id)), equals: Set(expected.map(\.id)))
        try await expect(outbox.store.plan(for: plan.day), equals: nil)
        try await expect(outbox.store.plan(for: OutboxFixture.day), equals: OutboxFixture.plan)
        try await expect(outbox.store.clean(before: end), equals: 0)
    }

    @Test func cleansOnlyUnderTheLeaseAndThousandsAtATime() async throws {
        let outbox = try await OutboxFixture()
        try await outbox.storage.transaction { connection in
            for number in 0..<1_300 {
                try connection.execute(
                    """
                    INSERT INTO actions (mirror, id, kind, subject, state, due_ms, expires_ms, pinned, attempts,
                        created_ms, updated_ms)
                    VALUES ('m', \("i\(number)"), 'favorite', \("s\(number)"), 'done', 0, 0, FALSE, 1, 0, 0)
                    """)
            }
        }
        let lease = try #require(
            try await outbox.leases.take(owner: "second", after: outbox.leases.record(), now: 1))
        await #expect(throws: OutboxError.self) { try await outbox.store.clean(before: Self.now) }
        let second = OutboxStore(storage: outbox.storage, mirror: "m", lease: lease)
        try await expect(second.clean(before: Self.now), equals: 1_300)
    }
}
