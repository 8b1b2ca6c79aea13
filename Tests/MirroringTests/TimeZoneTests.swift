import Archive
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// The zone of the human's clock, and what follows when it changes.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct TimeZoneTests {
    @Test func rewritesTheMinutesOnceWhenTheZoneChanges() async throws {
        let fixture = try await MirrorFixture.start()
        let now = fixture.clock.now
        try await expect(fixture.mirror.settleTimeZone(now: now), equals: Sample.zone)
        try await expect(fixture.mirror.table.record().timeZone, equals: "Asia/Tokyo")
        let inTokyo = try await fixture.mirror.archive.scheduleRows()
        let moved = try await fixture.reopened(changing: ["TIME_ZONE": "Europe/Berlin"])
        try await expect(moved.settleTimeZone(now: now)?.identifier, equals: "Europe/Berlin")
        let inBerlin = try await moved.archive.scheduleRows()
        #expect(inBerlin.count == inTokyo.count)
        #expect(
            inBerlin == inTokyo.map { Self.move($0, hours: Self.isSummer($0) ? -7 : -8) }.sorted())
        try await expect(moved.table.record().timeZone, equals: "Europe/Berlin")
        // The second time there is nothing left to rewrite.
        try await expect(
            moved.archive.rewriteTimes(in: try #require(TimeZone(identifier: "Europe/Berlin"))),
            equals: 0)
        try await expect(moved.settleTimeZone(now: now)?.identifier, equals: "Europe/Berlin")
        try await expect(moved.archive.scheduleRows(), equals: inBerlin)
    }

    /// Who only looks by another clock leaves the minutes as a worker goes by them, and a worker is
    /// told of a move.
    @Test func onlyWhatLearnsOrWorksMovesTheMinutes() async throws {
        let fixture = try await MirrorFixture.start()
        let now = fixture.clock.now
        _ = try await fixture.mirror.settleTimeZone(now: now)
        let rows = try await fixture.mirror.archive.scheduleRows()
        let stamp = try await fixture.mirror.stamp()
        try await expect(fixture.mirror.zoneToCome(fixture.mirror.table.record()), equals: nil)
        let other = try await fixture.reopened(changing: ["TIME_ZONE": "Europe/Berlin"])
        try await expect(other.recordedTimeZone(now: now), equals: Sample.zone)
        try await expect(other.knownTimeZone(), equals: Sample.zone)
        let sentence = try #require(try await other.zoneToCome(other.table.record()))
        #expect(sentence.contains("Asia/Tokyo"))
        #expect(sentence.contains("Europe/Berlin"))
        try await expect(other.archive.scheduleRows(), equals: rows)
        try await expect(other.stamp(), equals: stamp)
        _ = try await other.settleTimeZone(now: now)
        try await expect(other.archive.scheduleRows()) { $0 != rows }
        try await expect(fixture.mirror.stamp()) { $0 != stamp }
        try await expect(other.zoneToCome(other.table.record()), equals: nil)
    }

    @Test func whatIsFirstLookedAtIsSettled() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        try await expect(
            fixture.mirror.recordedTimeZone(now: fixture.clock.now), equals: Sample.zone)
        try await expect(fixture.mirror.table.record().timeZone, equals: "Asia/Tokyo")
    }

    @Test func remembersTheZoneOfTheMirror() async throws {
        let fixture = try await MirrorFixture.start()
        try await expect(fixture.mirror.settleTimeZone(now: fixture.clock.now), equals: Sample.zone)
        let silent = try await fixture.reopened(changing: ["TIME_ZONE": ""])
        try await expect(silent.settleTimeZone(now: fixture.clock.now), equals: Sample.zone)
        let other = try await fixture.reopened(changing: ["TIME_ZONE": "", "MIRROR": "other"])
        try await expect(other.settleTimeZone(now: fixture.clock.now), equals: nil)
    }

    @Test func proposesTheZoneThatAnArchiveNamed() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let now = fixture.clock.now
        try await fixture.mirror.table.proposeTimeZone("America/Lima", now: now)
        // It is a proposal, and the zone that is set is another matter.
        try await expect(fixture.mirror.settleTimeZone(now: now), equals: Sample.zone)
        try await expect(fixture.mirror.timeZoneProposal(), equals: "the archive says America/Lima")
        let other = try await fixture.reopened(changing: ["TIME_ZONE": "", "MIRROR": "other"])
        try await expect(other.timeZoneProposal()) { !$0.contains("Lima") }
    }

    @Test(arguments: [true, false]) func goesOnMovingPostsToAnotherClock(isSet: Bool) async throws {
        let fixture = try await MirrorFixture.start()
        let now = fixture.clock.now
        try await expect(fixture.mirror.settleTimeZone(now: now), equals: Sample.zone)
        let inTokyo = try await fixture.mirror.archive.scheduleRows()
        // Noted, and then nobody was there to move the posts.
        let always = ZoneSpan(
            LocalDay.earliest...LocalDay.latest,
            in: try #require(TimeZone(identifier: "Asia/Kathmandu")))
        try await expect(fixture.mirror.archive.add(always, now: now), equals: .changed)
        let next = try await fixture.reopened(changing: isSet ? [:] : ["TIME_ZONE": ""])
        try await expect(next.settleTimeZone(now: now), equals: Sample.zone)
        #expect(try await !next.archive.hasStaleTimes())
        let inKathmandu = try await next.archive.scheduleRows()
        #expect(inKathmandu.count == inTokyo.count)
        #expect(inKathmandu != inTokyo)
        // The bot's own days stay those of the mirror's zone.
        #expect(try await fixture.worker(on: next).runOnce())
        let plan = try #require(try await next.outbox(lease: nil).plan(for: Sample.day))
        #expect(plan.timeZone == "Asia/Tokyo")
        for slot in try await fixture.slots() {
            #expect(LocalTime(slot.due, in: Sample.zone).day == Sample.day)
        }
    }

    @Test func keepsTodaysPlanWhenTheZoneChanges() async throws {
        let fixture = try await MirrorFixture.start()
        #expect(try await fixture.worker().runOnce())
        let planned = try await fixture.slots()
        let moved = try await fixture.reopened(changing: ["TIME_ZONE": "Asia/Seoul"])
        try await fixture.wait(until: Sample.hour(1))
        #expect(try await fixture.worker(on: moved).runOnce())
        try await expect(fixture.slots(), equals: planned)
    }

    /// In the months that the sample covers, Berlin's clocks go forward once: on 2026-03-29 at
    /// 10:00 in Tokyo.
    private static func isSummer(_ time: LocalTime) -> Bool {
        (time.day.description, time.minute.description) >= ("2026-03-29", "10:00")
    }

    private static func move(_ time: LocalTime, hours: Int) -> LocalTime {
        let minutes = time.minute.value + hours * 60
        let day = minutes < 0 ? time.day.advanced(by: -1) : time.day
        return LocalTime(day: day, minute: MinuteOfDay(hour: 0, minute: (minutes + 1_440) % 1_440))
    }
}
