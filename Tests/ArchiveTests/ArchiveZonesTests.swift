import Archive
import Expectations
import Foundation
import Posts
import Storage
import Testing

/// Posts of a person who moved.
@Suite struct ArchiveZonesTests {
    private let berlin: TimeZone
    private let tokyo: TimeZone
    private let inTokyo: ZoneSpan

    init() throws {
        berlin = try zone("Europe/Berlin")
        tokyo = try zone("Asia/Tokyo")
        inTokyo = ZoneSpan(
            try #require(LocalDay("2019-03-01"))...(try #require(LocalDay("2020-06-30"))), in: tokyo
        )
    }

    /// A post at eight in the morning, wherever its author was.
    private func morning(_ id: String, _ instant: String, offset: Int? = nil) throws -> Post {
        var post = post(id)
        post.createdAt = try date(instant)
        post.utcOffset = offset
        return post
    }

    private func mornings() throws -> [Post] {
        [
            try morning("before", "2018-05-06T06:00:00Z"),
            try morning("there", "2019-05-05T23:00:00Z"),
            try morning("after", "2021-01-06T07:00:00Z"),
        ]
    }

    private func minutes(_ test: TestArchive) async throws -> [Int] {
        try await test.archive.scheduleRows().map(\.minute.value)
    }

    @Test func aMorningIsAMorningWhetherStoredBeforeOrAfter() async throws {
        let test = try await TestArchive()
        try await test.store(try mornings(), zone: berlin)
        try await expect(minutes(test), equals: [480, 60, 480])
        try await expect(test.archive.add(inTokyo, now: .now), equals: .changed)
        #expect(try await test.archive.hasStaleTimes())
        try await expect(test.archive.rewriteTimes(in: berlin), equals: 1)
        #expect(try await !test.archive.hasStaleTimes())
        // Newer rules of time zones move them again, older ones do not.
        let rules = ZoneRules.current.versionNumber
        try await expect(test.archive.hasStaleTimes(by: rules), equals: false)
        try await expect(test.archive.hasStaleTimes(by: rules - 1), equals: false)
        try await expect(test.archive.hasStaleTimes(by: rules + 1), equals: true)
        try await expect(minutes(test), equals: [480, 480, 480])
        // What comes in now is judged by the same clocks, also before anything is moved.
        try await test.store([try morning("later", "2020-02-01T23:00:00Z")], zone: berlin)
        try await expect(minutes(test), equals: [480, 480, 480, 480])
        let days = try await test.archive.scheduleRows().map(\.day.description)
        #expect(days == ["2018-05-06", "2019-05-06", "2020-02-02", "2021-01-06"])
        try await expect(test.archive.rewriteTimes(in: berlin), equals: 0)

        let any = try #require(LocalDay("2019-12-31"))
        try await expect(test.archive.removeZone(on: any), equals: inTokyo)
        try await expect(test.archive.removeZone(on: any), equals: nil)
        try await expect(test.archive.rewriteTimes(in: berlin), equals: 2)
        try await expect(minutes(test), equals: [480, 60, 0, 480])
    }

    @Test func whatAPostTellsOfItsClockIsKept() async throws {
        let test = try await TestArchive()
        let told = try morning("told", "2017-05-06T13:00:00Z", offset: -300)
        try await test.store([told], zone: berlin)
        try await expect(minutes(test), equals: [480])
        try await expect(test.archive.post(told.id)?.utcOffset, equals: -300)
        try await expect(test.archive.rewriteTimes(in: tokyo), equals: 0)
        // A post that did not tell is seen again, and does.
        let silent = try morning("silent", "2017-05-07T13:00:00Z")
        try await test.store([silent], zone: berlin)
        try await expect(minutes(test), equals: [480, 900])
        try await test.store(
            [try morning("silent", "2017-05-07T13:00:00Z", offset: -300)], zone: berlin)
        try await expect(minutes(test), equals: [480, 480])
        // A person's word counts more.
        let always = ZoneSpan(LocalDay.earliest...LocalDay.latest, in: tokyo)
        try await expect(test.archive.add(always, now: .now), equals: .changed)
        try await expect(test.archive.rewriteTimes(in: berlin), equals: 2)
        try await expect(minutes(test), equals: [1_320, 1_320])
    }

    @Test func noDayHasTwoZones() async throws {
        let test = try await TestArchive()
        try await expect(test.archive.add(inTokyo, now: .now), equals: .changed)
        try await expect(test.archive.add(inTokyo, now: .now), equals: .unchanged)
        let last = inTokyo.days.upperBound
        for days in [
            last...last, LocalDay.earliest...inTokyo.days.lowerBound,
            LocalDay.earliest...LocalDay.latest,
        ] {
            try await expect(
                test.archive.add(ZoneSpan(days, in: berlin), now: .now), equals: .overlaps(inTokyo))
        }
        try await expect(
            test.archive.add(ZoneSpan(inTokyo.days, in: berlin), now: .now),
            equals: .overlaps(inTokyo))
        let next = ZoneSpan(last.advanced(by: 1)...LocalDay.latest, in: berlin)
        try await expect(test.archive.add(next, now: .now), equals: .changed)
        try await expect(test.archive.zones(home: .gmt).spans, equals: [inTokyo, next])
        // Another mirror's human did not move.
        let other = Archive(storage: test.storage, mirror: "other")
        try await expect(other.zones(home: .gmt).spans) { $0.isEmpty }
        #expect(try await !other.hasStaleTimes())
    }

    @Test func theNumberOfTimesIsLimited() async throws {
        let test = try await TestArchive()
        for number in 0..<Archive.mostZoneSpans {
            let day = LocalDay(ordinal: number)
            try await expect(
                test.archive.add(ZoneSpan(day...day, in: tokyo), now: .now), equals: .changed)
        }
        let day = LocalDay(ordinal: -1)
        try await expect(test.archive.add(ZoneSpan(day...day, in: tokyo), now: .now), equals: .full)
    }

    @Test func anInterruptedMoveIsNotForgotten() async throws {
        let test = try await TestArchive()
        // More than are moved at once.
        let posts = try (0..<1_200).map { number in
            try morning("p\(number)", "2019-05-05T23:00:00Z")
        }
        try await test.store(posts, zone: berlin)
        try await expect(test.archive.add(inTokyo, now: .now), equals: .changed)
        let interrupted = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await test.archive.rewriteTimes(in: berlin)
        }
        await #expect(throws: (any Error).self) { try await interrupted.value }
        #expect(try await test.archive.hasStaleTimes())
        try await expect(test.archive.rewriteTimes(in: berlin), equals: 1_200)
        try await expect(minutes(test), equals: Array(repeating: 480, count: 1_200))
        #expect(try await !test.archive.hasStaleTimes())
    }
}
