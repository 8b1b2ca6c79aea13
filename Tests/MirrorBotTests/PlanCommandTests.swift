import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Testing

/// `mirror-bot plan`.
@Suite(.timeLimit(.minutes(30))) struct PlanCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "Asia/Tokyo"]) }

    private var tomorrow: LocalDay {
        get throws {
            let zone = try #require(TimeZone(identifier: "Asia/Tokyo"))
            return LocalTime(Date(), in: zone).day.advanced(by: 1)
        }
    }

    @Test func aDayAsJSON() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let plan = try await stage.plan("--date", "\(tomorrow)")
        #expect(plan.schema == "mirror-bot/plan/2")
        expect(plan.day, equals: (try tomorrow))
        #expect(plan.timeZone == "Asia/Tokyo")
        #expect(!plan.isStored)
        #expect(!plan.slots.isEmpty)
        #expect(plan.slots.map(\.due) == plan.slots.map(\.due).sorted())
        for slot in plan.slots {
            #expect(slot.state == "preview")
            #expect(slot.subject.hasPrefix("\(try tomorrow)#"))
            try expect(#require(slot.text)) { $0.hasPrefix("Loaf ") }
            #expect(slot.time.wholeMatch(of: /\d\d:\d\d/) != nil)
        }
        #expect(Set(plan.slots.compactMap(\.text)).count == plan.slots.count, "a text twice a day")
        #expect(plan.humanHours.count == 24)
        // 12:00, 12:30 and 13:00 in UTC are nine hours later in Tokyo.
        #expect(abs(plan.humanHours[21] - 2.0 / 3) < 1e-9)
        #expect(abs(plan.humanHours[22] - 1.0 / 3) < 1e-9)
    }

    @Test func aDayAsTimelineAndPlot() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let day = try "\(tomorrow)"
        let plan = try await stage.plan("--date", day)
        let ending = try await stage.run("plan", "--date", day, environment: ["COLUMNS": "90"])
        #expect(ending.status == 0)
        #expect(ending.error.isEmpty)
        let lines = ending.output.split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        #expect(
            lines.first == "\(day)  Asia/Tokyo (a preview: the plan is made when the day begins)")
        for slot in plan.slots {
            let number = slot.subject.drop { $0 != "#" }.dropFirst()
            let line = try #require(
                lines.first {
                    $0.hasPrefix("\(slot.time) ○ \(number) ")
                        && $0.contains(" \(slot.id.prefix(7)) preview")
                })
            #expect(line.hasSuffix(try #require(slot.text)))
        }
        #expect(lines.contains("share of posts by hour"))
        let axes = lines.filter {
            $0.hasPrefix("human  0        3") || $0.hasPrefix("bot    0        3")
        }
        #expect(axes.count == 2)
        #expect(ending.output.contains("█"))
        for line in lines { #expect(line.count <= 90, "too wide: \(line)") }
    }

    @Test func aDayOfALongArchiveSaysWhichDayItTakesAfter() async throws {
        try await stage.train(Fixture.lines(days: 80, perDay: 3))
        let day = try "\(tomorrow)"
        let plan = try await stage.plan("--date", day)
        let pattern = try #require(plan.pattern)
        #expect(pattern.posts == 3)
        #expect(plan.slots.count == 3)
        let lines = try await stage.run("plan", "--date", day).output.split(separator: "\n").map(
            String.init)
        #expect(lines[1] == "planned like \(pattern.day), when the human posted 3 times")
        let explained = try await stage.run("explain", try #require(plan.slots.first).subject)
        #expect(explained.status == 0, "\(explained.error)")
        #expect(
            explained.output.contains(
                "  the day     planned like \(pattern.day), when the human posted 3 times"),
            "\(explained.output)")
        // Of days that were drawn minute by minute nothing is claimed.
        try await expect(
            stage.plan("--date", day, environment: ["OLD_BOT": "yes"]).pattern,
            equals: nil)
    }

    @Test func isTheSameEveryTime() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let day = try tomorrow
        let first = try await stage.plan("--date", "\(day)")
        let second = try await stage.plan("--date", "\(day)")
        #expect(first.slots.map(\.due) == second.slots.map(\.due))
        #expect(first.slots.map(\.text) == second.slots.map(\.text))
        let next = try await stage.plan("--date", "\(day.advanced(by: 1))")
        #expect(first.slots.map(\.time) != next.slots.map(\.time))
    }

    @Test func aDayBeforeTheArchiveCannotBePlanned() async throws {
        try await stage.train(Fixture.lines())
        let ending = try await stage.run("plan", "--date", "2026-01-01")
        #expect(ending.status == 65)
        #expect(ending.error == "error: could not plan 2026-01-01: no archived post is older\n")
    }

    @Test func quietHoursStayQuiet() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let plan = try await stage.plan(
            "--date", "\(tomorrow)", environment: ["QUIET_HOURS": "21:00-22:00"])
        #expect(!plan.slots.isEmpty)
        expect(plan.slots) { $0.allSatisfy { !$0.time.hasPrefix("21:") } }
    }

    @Test func showsTodayUnlessToldOtherwise() async throws {
        try await stage.train(Fixture.lines())
        try await expect(stage.plan().day, equals: (try tomorrow).advanced(by: -1))
    }
}
