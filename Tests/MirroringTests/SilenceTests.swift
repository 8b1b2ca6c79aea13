import Archive
import Conduct
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Sandbox
import Schedule
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// Silence beside the living: posts that wait while the human is posting, and a bot that only
/// answers.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct SilenceTests {
    // MARK: On paper

    /// A mirror without a network, with slots at some minutes of a day in Tokyo.
    private func desk(
        _ minutes: [String], variables: [String: String] = [:]
    ) async throws -> (hold: SlotHold, store: OutboxStore, slots: [Action]) {
        let settings = ["TIME_ZONE": Sample.zone.identifier, "HOLD_WHILE_ACTIVE": "2h"].merging(
            variables
        ) { $1 }
        let mirror = try await BareMirror(variables: settings).open()
        let store = mirror.outbox(lease: nil)
        for (index, minute) in minutes.enumerated() {
            let due = try at(minute)
            let wording = Action.Wording(
                source: PostID(network: .mastodon, value: "\(index)"), text: "text \(index)",
                visibility: .unlisted)
            let name = Slot.Name(day: Sample.day, number: index + 1)
            _ = try await store.add(
                Intent(.post(name, wording), due: due, expires: due + 900), now: due - 3_600)
        }
        let hold = SlotHold(
            archive: mirror.archive, store: store, configuration: mirror.configuration,
            zone: Sample.zone)
        return (hold, store, try await store.slots(of: Sample.day))
    }

    private func at(_ clock: String) throws -> Date {
        let minute = try #require(MinuteOfDay(clock: clock))
        return try #require(LocalDayMinutes(Sample.day, in: Sample.zone).date(of: minute))
    }

    private func post(_ time: Date, isTrusted: Bool = true) -> Post {
        Post(
            id: PostID(network: .mastodon, value: "\(time)"), author: Sample.person("haruka"),
            text: "here I am",
            createdAt: time, isTimeTrusted: isTrusted, isRepost: true, visibility: .private)
    }

    @Test func aSlotLeavesAfterTheHumansSilence() async throws {
        let (hold, _, slots) = try await desk(["12:00"])
        let slot = slots[0]
        try await expect(hold.verdict(on: slot, now: slot.due), equals: .send)
        // Whoever may read it, and whoever wrote it first.
        try await hold.note(
            [post(try at("10:30")), post(try at("11:30"), isTrusted: false)], now: slot.due)
        guard case .move(let later) = try await hold.verdict(on: slot, now: slot.due) else {
            return #expect(Bool(false), "it leaves, or falls")
        }
        #expect((try at("12:30")..<(try at("13:31"))).contains(later))
        // The same question has the same answer, and after the silence it leaves.
        try await expect(hold.verdict(on: slot, now: slot.due), equals: .move(to: later))
        try await expect(hold.verdict(on: slot, now: try at("12:30")), equals: .send)
        // What lies ahead was dated by a wrong clock.
        try await hold.note([post(try at("23:00"))], now: slot.due)
        try await expect(hold.verdict(on: slot, now: try at("12:30")), equals: .send)
    }

    @Test func aSlotMovesAsItsNeighboursAndTheNightLetIt() async throws {
        let (hold, store, slots) = try await desk(
            ["12:00", "12:31", "12:33"], variables: ["QUIET_HOURS": "12:34-14:00"])
        try await hold.note([post(try at("10:30"))], now: slots[0].due)
        // 12:30 and 12:32 are all that is left of the hour after the silence.
        guard case .move(let later) = try await hold.verdict(on: slots[0], now: slots[0].due)
        else {
            return #expect(Bool(false), "it leaves, or falls")
        }
        #expect(["12:30", "12:32"].contains(LocalTime(later, in: Sample.zone).minute.description))
        let held = try await store.holdBack(
            slots[0], until: later, reason: .humanActive, now: slots[0].due)
        #expect(held.state == .planned)
        #expect(held.due == later)
        #expect(held.expires == later + 900)
        #expect(held.reason == "human-active")
        // Nothing of the day is left.
        try await hold.note([post(try at("22:05"))], now: try at("22:10"))
        try await expect(hold.verdict(on: held, now: try at("22:10")), equals: .skip)
        let fallen = try await store.holdBack(
            held, until: nil, reason: .humanActive, now: try at("22:10"))
        #expect(fallen.state == .skipped)
    }

    @Test func whatAPersonPinnedLeaves() async throws {
        let (hold, store, slots) = try await desk(
            ["12:00", "13:00"], variables: ["HOLD_WHILE_ACTIVE": "24h"])
        try await hold.note([post(try at("11:59"))], now: slots[0].due)
        #expect(try await store.pin(slots[0].id, nil, now: slots[0].due) != nil)
        let pinned = try #require(try await store.slots(of: Sample.day).first)
        try await expect(hold.verdict(on: pinned, now: pinned.due), equals: .send)
        try await expect(hold.verdict(on: slots[1], now: slots[1].due), equals: .skip)
        // Pinned while the worker looked: the person is in time.
        let error = await #expect(throws: OutboxError.self) {
            try await store.holdBack(
                slots[0], until: nil, reason: .humanActive, now: slots[0].due)
        }
        #expect(error?.code == .stateChanged)
        try await expect(store.slots(of: Sample.day).first, equals: pinned)
    }

    /// Whoever sets them at noon does not want the afternoon's posts that were planned at midnight.
    @Test func quietHoursHoldForWhatWasPlannedBefore() async throws {
        let settings = ["HOLD_WHILE_ACTIVE": "none", "QUIET_HOURS": "11:30-13:00"]
        let (hold, store, slots) = try await desk(["11:00", "12:00"], variables: settings)
        try await expect(hold.verdict(on: slots[0], now: slots[0].due), equals: .send)
        guard case .move(let later) = try await hold.verdict(on: slots[1], now: slots[1].due)
        else {
            return #expect(Bool(false), "it leaves, or falls")
        }
        #expect((try at("13:00")..<(try at("14:00"))).contains(later))
        #expect(hold.reason(at: slots[1].due) == .quietHours)
        #expect(hold.reason(at: later) == .humanActive)
        let held = try await store.holdBack(
            slots[1], until: later, reason: .quietHours, now: slots[1].due)
        try await expect(hold.verdict(on: held, now: later), equals: .send)
        // What a person pinned is their wish.
        #expect(try await store.pin(held.id, nil, now: slots[1].due) != nil)
        let pinned = try #require(try await store.slots(of: Sample.day).last)
        try await expect(hold.verdict(on: pinned, now: slots[1].due), equals: .send)
        // Nothing is left of a day that ends quietly.
        let night = try await desk(
            ["12:00"], variables: settings.merging(["QUIET_HOURS": "11:30-00:00"]) { $1 })
        try await expect(
            night.hold.verdict(on: night.slots[0], now: night.slots[0].due), equals: .skip)
    }

    @Test func withoutTheSettingNothingWaits() async throws {
        let (hold, _, slots) = try await desk(["12:00"], variables: ["HOLD_WHILE_ACTIVE": "none"])
        try await hold.note([post(try at("11:59"))], now: slots[0].due)
        #expect(!hold.isOn)
        try await expect(hold.verdict(on: slots[0], now: slots[0].due), equals: .send)
    }

    // MARK: As the network sees it

    @Test(arguments: Engine.allCases) func theBotDoesNotTalkOverTheHuman(_ engine: Engine)
        async throws
    {
        var changed = 0
        for seed: UInt64 in 1...4 { changed += try await changedSlots(engine, seed) }
        // Not every day has the human post shortly before the bot would.
        #expect(changed > 0)
    }

    /// Lives a day near a human who posts, and returns how many slots waited or fell away for that.
    private func changedSlots(_ engine: Engine, _ seed: UInt64) async throws -> Int {
        let fixture = try await MirrorFixture.start(
            engine, seed: seed, variables: ["HOLD_WHILE_ACTIVE": "120m"])
        let before = try await PlanReporter(mirror: fixture.mirror, zone: Sample.zone).report(
            on: Sample.day, now: Sample.hour(0.1))
        // Restarted in the middle, it still knows.
        try await fixture.live(until: 13)
        try await fixture.live(until: 23.9)
        let rows = try await fixture.mirror.storage.lenient.query(
            "SELECT created_ms FROM posts WHERE created_ms >= \(Sample.origin.milliseconds)")
        let spoken = try rows.map { try $0.date("created_ms") }
        let sent = await fixture.sandbox.ledger.deliveries.filter { $0.replyTo == nil }.map(\.date)
        try #require(!spoken.isEmpty)
        for time in sent {
            expect(spoken, "\(time)") {
                !$0.contains { (1..<120 * 60 - 1).contains(time.timeIntervalSince($0)) }
            }
        }
        let planned = Dictionary(
            uniqueKeysWithValues: try #require(before?.slots).map { ($0.subject, $0.due) })
        let slots = try await fixture.slots()
        // The last ones of a day may be due after its end here.
        expect(slots.filter { $0.due < Sample.hour(23) }) {
            $0.allSatisfy { [.done, .skipped].contains($0.state) }
        }
        try await expect(
            fixture.mirror.archive.circumstances(home: .gmt).lastActivity, equals: spoken.max())
        return slots.count { $0.due != planned[$0.subject] || $0.reason == "human-active" }
    }

    @Test func nothingIsHeldWhereNobodyIsWatched() async throws {
        let mirror = try await BareMirror(variables: [
            "TIME_ZONE": "UTC", "HOLD_WHILE_ACTIVE": "2h", "BOT_SERVER": "https://bots.example",
            "BOT_ACCESS_TOKEN": "t",
        ]).open()
        let sentence = "HOLD_WHILE_ACTIVE has no effect: there is no account of the human to read"
        let findings = await Doctor(mirror: mirror).findings(now: BareMirror.now)
        expect(findings) {
            $0.contains { $0.subject == "silence" && $0.verdict == .warn && $0.text == sentence }
        }
        let status = try await StatusReporter(mirror: mirror).report(now: BareMirror.now)
        #expect(status.idle.contains(sentence))
    }

    @Test(arguments: Engine.allCases) func aBotThatOnlyAnswersMakesNoPosts(_ engine: Engine)
        async throws
    {
        let fixture = try await MirrorFixture.start(engine)
        let mirror = fixture.mirror
        let desk = Desk(mirror, zone: Sample.zone)
        let pinned = Recorder<Action>()
        try await fixture.live(
            until: 23.9,
            events: [
                (
                    12,
                    {
                        try await mirror.set(["MAX_PER_DAY": "0"], now: Sample.hour(12))
                        let last = try #require(
                            try await fixture.slots().last { $0.state == .planned })
                        pinned.add(try await desk.slot(after: PinSlot(slot: last.subject)))
                    }
                )
            ])
        let kept = try #require(pinned.values.first)
        let ledger = await fixture.sandbox.ledger
        let posts = ledger.deliveries.filter {
            $0.replyTo == nil && $0.date > Sample.hour(12) + 120
        }
        #expect(posts.map(\.idempotencyKey) == [kept.key])
        expect(ledger.deliveries) {
            $0.contains { $0.replyTo != nil && $0.date > Sample.hour(12.2) }
        }
        let left = try await fixture.slots().filter {
            $0.due > Sample.hour(12) + 120 && $0.id != kept.id
        }
        #expect(!left.isEmpty)
        expect(left) { $0.allSatisfy { $0.state == .skipped && $0.reason == "only-answers" } }
    }
}

extension SlotHold {
    /// What becomes of a slot as things stand in the database.
    fileprivate func verdict(on slot: Action, now: Date) async throws -> Verdict {
        let circumstances = try await archive.circumstances(home: zone)
        return try await verdict(on: slot, lastActivity: circumstances.lastActivity, now: now)
    }
}
