import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Outbox
import Posts
import Schedule
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// What a person's decisions say of texts, and what becomes of others by that.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct TextLabelTests {
    private static let zone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    /// Monday 2026-03-02.
    private static let firstDay = LocalDay(ordinal: 20_514)

    private static func id(_ number: Int) -> PostID {
        PostID(network: .mastodon, value: "https://sandbox.example/\(number)")
    }

    private static func midnight(_ number: Int) throws -> Date {
        try #require(LocalDayMinutes(firstDay.advanced(by: number), in: zone).start)
    }

    /// A mirror with posts of which those with numbers below `coffee` speak of coffee.
    private static func mirror(
        _ engine: Engine = .sqlite, coffee: Int, of texts: Int, _ variables: [String: String] = [:]
    ) async throws -> HumanMirror {
        let mirror = try await BareMirror(
            engine, variables: ["TIME_ZONE": "Europe/Berlin"].merging(variables) { $1 }
        )
        .open()
        _ = try await mirror.table.notePast(.whole, now: Date(timeIntervalSince1970: 0))
        let human = AccountID(network: .mastodon, value: "haruka@sandbox.example")
        let posts = (0..<texts).map { number in
            let day = firstDay.advanced(by: -1 - number / 2)
            let minute = 7 * 60 + (number * 397) % (16 * 60)
            let subject = number < coffee ? "roasted coffee beans" : "old rivers and bridges"
            return Post(
                id: id(number), author: human, text: "Thought \(number) about \(subject)",
                createdAt: Date(timeIntervalSince1970: Double(day.ordinal * 1_440 + minute) * 60))
        }
        _ = try await mirror.archive.store(posts, timeZone: zone, limit: 10_000)
        try await mirror.archive.prepare(by: planner(mirror).judge)
        return mirror
    }

    private static func planner(_ mirror: HumanMirror) -> PlanMaker {
        mirror.planMaker(zone: zone, store: mirror.outbox(lease: nil), limits: .mastodon)
    }

    private static func label(
        _ mirror: HumanMirror, _ label: PersonLabel, _ numbers: some Sequence<Int> & Sendable
    ) async throws {
        let labels = mirror.labels
        try await mirror.storage.transaction { connection in
            for number in numbers {
                try labels.note(label, of: id(number), now: .distantPast + 1, on: connection)
            }
        }
    }

    /// The slots of some days, as they would be planned one after the other.
    private static func slots(_ mirror: HumanMirror, days: Int) async throws -> [Action] {
        let maker = planner(mirror)
        let store = mirror.outbox(lease: nil)
        var slots: [Action] = []
        for number in 0..<days {
            let day = firstDay.advanced(by: number)
            _ = try await maker.make(day, now: try midnight(number), watching: false)
            slots += try await store.slots(of: day)
        }
        return slots
    }

    // MARK: What is chosen

    @Test(arguments: Engine.allCases) func textsLikeThoseLeftOutComeLater(_ engine: Engine)
        async throws
    {
        let mirror = try await Self.mirror(engine, coffee: 120, of: 240)
        try await Self.label(mirror, .skipped, 0..<8)
        try await Self.label(mirror, .kept, 120..<128)
        let slots = try await Self.slots(mirror, days: 12)
        #expect(slots.count > 10)
        expect(slots.compactMap(\.text)) { $0.allSatisfy { $0.contains("rivers") } }
        expect(slots.compactMap(\.explanation?.summary)) {
            $0.allSatisfy { !$0.contains("for want of others") }
        }
        let text = try await TextList.Text(of: mirror, named: Self.id(50).value, zone: Self.zone)
        #expect(
            text.demoted?.contains("like the 8 texts that were left out, by its words") == true,
            "\(text)")
        #expect(text.fitness == .fit)
        let other = try await TextList.Text(of: mirror, named: Self.id(200).value, zone: Self.zone)
        #expect(other.demoted == nil)
        // What a person keeps is as good as any.
        let desk = Desk(mirror, zone: Self.zone)
        _ = try await desk.perform(KeepText(post: Self.id(50).value))
        let kept = try await TextList.Text(of: mirror, named: Self.id(50).value, zone: Self.zone)
        #expect(kept.demoted == nil)
        #expect(kept.label == .kept)
    }

    /// Nothing is left out: where there is nothing else, such a text is said, and the explanation
    /// says so.
    @Test func forWantOfOthersTheyAreUsed() async throws {
        let mirror = try await Self.mirror(coffee: 100, of: 108)
        try await Self.label(mirror, .skipped, 0..<8)
        try await Self.label(mirror, .kept, 100..<108)
        let slots = try await Self.slots(mirror, days: 20)
        expect(slots) { $0.allSatisfy { $0.text != nil } }
        let late = slots.filter { $0.text?.contains("coffee") == true }
        #expect(!late.isEmpty)
        // All others were used before, within the days in which no text comes back.
        let rivers = Set(slots.compactMap(\.text).filter { $0.contains("rivers") })
        #expect(rivers.count == 8)
        expect(late.compactMap(\.explanation?.summary)) {
            $0.allSatisfy {
                $0.contains(
                    "used for want of others: it comes after others, for it reads like the 8 texts")
            }
        }
        let slot = try #require(late.first)
        let report = try await ExplainReporter(mirror: mirror).report(on: slot.id, now: slot.due)
        let rule = try #require(report.rules.first { $0.code == "like-left-out" })
        #expect(rule.text.contains("by its words ("), "\(rule.text)")
    }

    /// Below a dozen labels, and with `FITNESS=off`, a plan is drawn as if there were none.
    @Test func fewLabelsChangeNoPlan() async throws {
        func texts(_ labels: Int, _ variables: [String: String] = [:]) async throws -> [String?] {
            let mirror = try await Self.mirror(coffee: 120, of: 240, variables)
            try await Self.label(mirror, .skipped, 0..<max(0, labels - 5))
            try await Self.label(mirror, .kept, 120..<120 + min(5, labels))
            return try await Self.slots(mirror, days: 5).map(\.text)
        }
        let without = try await texts(0)
        try await expect(texts(11), equals: without)
        try await expect(texts(12)) { $0 != without }
        let off = try await texts(0, ["FITNESS": "off"])
        try await expect(texts(40, ["FITNESS": "off"]), equals: off)
    }

    // MARK: What is said

    /// Each decision labels the text that it is about, in its own transaction; what takes it back
    /// removes the label.
    @Test(arguments: Engine.allCases) func decisionsAreLabels(_ engine: Engine) async throws {
        let mirror = try await Self.mirror(engine, coffee: 0, of: 100)
        let desk = Desk(mirror, zone: Self.zone)
        let slots = try await Self.slots(mirror, days: 6).sorted { $0.due < $1.due }
        let store = mirror.outbox(lease: nil)
        try #require(slots.count > 5)
        func label(_ slot: Action) async throws -> PersonLabel? {
            try await mirror.labels.labels()[try #require(slot.wording).source]
        }
        let first = slots[0]
        let second = slots[1]
        let third = slots[2]
        let fourth = slots[3]
        let now = try Self.midnight(0)
        let early = Desk(mirror, zone: Self.zone, now: now)
        _ = try await early.perform(SkipSlot(slot: first.id))
        try await expect(label(first), equals: .skipped)
        _ = try await early.perform(RestoreSlot(slot: first.id))
        try await expect(label(first), equals: nil)
        // What is taken back before it was sent is a slot left out, too.
        _ = try await desk.perform(AskUndo(ids: [first.id]))
        try await expect(label(first), equals: .takenBack)
        _ = try await early.perform(RestoreSlot(slot: first.id))
        try await expect(label(first), equals: nil)
        _ = try await early.perform(PinSlot(slot: second.id))
        try await expect(label(second), equals: .kept)
        let spare = Self.id(
            try #require(
                (0..<100).first { number in
                    !slots.contains { $0.wording?.source == Self.id(number) }
                }))
        _ = try await early.perform(PinSlot(slot: third.id, post: spare.value))
        try await expect(mirror.labels.labels()[spare], equals: .posted)
        // What is refused labels nothing, as a slot that somebody saw otherwise.
        let refused = await #expect(throws: ChangeRefusal.self) {
            try await early.perform(PersonRequest(SkipSlot(slot: fourth.id), seen: Seen(of: "x")))
        }
        #expect(refused?.code == .changed)
        try await expect(label(fourth), equals: nil)
        // Never, and back, whichever of the posts with that text is named.
        _ = try await desk.perform(NeverSend(post: Self.id(99).value))
        try await expect(mirror.labels.labels()[Self.id(99)], equals: .never)
        _ = try await desk.perform(KeepText(post: Self.id(99).value))
        try await expect(mirror.labels.labels()[Self.id(99)], equals: .kept)
        try await expect(
            mirror.archive.kept(Self.id(99), by: mirror.textFilter())?.isNever, equals: false)
        _ = try await desk.perform(UnkeepText(post: Self.id(99).value))
        try await expect(mirror.labels.labels()[Self.id(99)], equals: nil)
        _ = try await desk.perform(NeverSend(post: Self.id(98).value))
        _ = try await desk.perform(SendAgain(post: Self.id(98).value))
        try await expect(mirror.labels.labels()[Self.id(98)], equals: nil)
        // Taken back: by name it says something of the text, all at once nothing.
        for slot in [fourth, slots[4]] {
            try await mirror.storage.execute(
                "UPDATE actions SET state = 'done', sending_ms = 1 WHERE mirror = \(mirror.name) AND id = \(slot.id)"
            )
        }
        _ = try await desk.perform(AskUndo(ids: [fourth.id]))
        try await expect(label(fourth), equals: .takenBack)
        let all = slots.map(\.id) + (0..<20).map { "id-\($0)" }
        _ = try await desk.perform(AskUndo(ids: all))
        try await expect(label(slots[4]), equals: nil)
        // Review of posts.
        for (state, decide, expected) in [
            (
                ActionState.suggested, SuggestionDecision.Decision.dismissed,
                PersonLabel.declined as PersonLabel?
            ),
            (.skipped, .reopened, nil), (.suggested, .approved, .kept),
        ] {
            try await mirror.storage.execute(
                """
                UPDATE actions SET state = \(state.rawValue), undo_asked_ms = NULL, undo_reason = NULL
                WHERE mirror = \(mirror.name) AND id = \(slots[5].id)
                """)
            _ = try await SuggestionReview(mirror: mirror).decide(
                decide, about: slots[5].id, seen: nil, now: now)
            try await expect(label(slots[5]), equals: expected, "\(decide)")
        }
        // What is forgotten is unlearned.
        let kept = try #require(slots[5].wording?.source)
        _ = try await desk.perform(ForgetText(.post(kept.value)))
        try await expect(mirror.labels.labels()[kept], equals: nil)
        try await expect(store.slots(of: Self.firstDay)) { !$0.isEmpty }
    }

    // MARK: The review

    @Test func aReviewGoesOnWhereItEnded() async throws {
        let mirror = try await Self.mirror(coffee: 30, of: 60)
        let desk = Desk(mirror, zone: Self.zone)
        let review = try await TextReview(of: mirror, atMost: 20)
        #expect(review.texts.count == 20)
        #expect(review.leftOfFirst == 20)
        try await expect(TextReview(of: mirror, atMost: 20), equals: review)
        let first = review.texts[0]
        let second = review.texts[1]
        _ = try await desk.perform(PersonRequest(KeepText(post: first.post), seen: first.seen))
        _ = try await desk.perform(PersonRequest(NeverSend(post: second.post), seen: second.seen))
        let rest = try await TextReview(of: mirror, atMost: 20)
        #expect(rest.leftOfFirst == 18)
        #expect(rest.texts.prefix(18).map(\.post) == review.texts.dropFirst(2).map(\.post))
        // Another mirror is asked for others.
        let posts = Set(review.texts.map(\.post))
        #expect(posts.count == 20)
    }
}
