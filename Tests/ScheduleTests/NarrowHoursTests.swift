import Expectations
import Foundation
import Posts
import Schedule
import Testing

/// Plans of made-up people who post in few hours of the day.
@Suite struct NarrowHoursTests {
    /// A person's hours, as minutes from midnight, and how much they post; an end past 1,440 lies
    /// on the next day.
    struct Person: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let hours: [Range<Int>]
        /// The days of the archive, two thirds of them with a sitting in each of the hours.
        var days = 300
        /// The most posts of a sitting.
        var sitting = 6
    }

    private static let narrow = [
        Person(testDescription: "one hour in the evening", hours: [1_140..<1_200]),
        Person(testDescription: "one hour in the night", hours: [180..<240]),
        Person(testDescription: "one hour before midnight", hours: [1_380..<1_440]),
        Person(testDescription: "two hours", hours: [480..<540, 1_200..<1_260]),
        Person(testDescription: "four hours in the evening", hours: [1_080..<1_320]),
        Person(testDescription: "a night shift", hours: [1_320..<1_560]),
        Person(
            testDescription: "one hour for forty days", hours: [1_140..<1_200], days: 40, sitting: 9
        ),
        Person(
            testDescription: "two hours for forty days", hours: [480..<540, 1_200..<1_260], days: 40
        ),
    ]
    private static let wholeDay = Person(
        testDescription: "the whole day", hours: [420..<1_380], sitting: 3)

    private static func planner(
        of person: Person, seed: UInt64,
        _ configuration: ScheduleConfiguration = ScheduleConfiguration()
    ) throws -> DayPlanner {
        let last = try day("2026-01-29")
        var generator = SplitMix64(seed: seed)
        var times: [LocalTime] = []
        for offset in (0..<person.days).reversed() where generator.nextUniform() < 0.66 {
            for hours in person.hours {
                var minute = hours.lowerBound + Int(generator.nextUniform() * Double(hours.count))
                for _ in 0...Int(generator.nextUniform() * Double(person.sitting))
                where hours.contains(minute) {
                    let date = last.advanced(by: minute / MinuteOfDay.count - offset - 1)
                    let minuteOfDay = try #require(MinuteOfDay(minute % MinuteOfDay.count))
                    times.append(LocalTime(day: date, minute: minuteOfDay))
                    minute += 1 + Int(generator.nextUniform() * 9)
                }
            }
        }
        return DayPlanner(
            history: PostingHistory(times: times, asOf: last), configuration: configuration)
    }

    /// How far slots lie from the nearest minute of the hours.
    private static func distances(of slots: [MinuteOfDay], from person: Person) -> [Int] {
        slots.map { slot in
            let distances = person.hours.map { hours in
                if hours.contains(slot.value) || hours.contains(slot.value + MinuteOfDay.count) {
                    return 0
                }
                return [hours.lowerBound, hours.upperBound - 1]
                    .compactMap { MinuteOfDay($0 % MinuteOfDay.count)?.circularDistance(to: slot) }
                    .min() ?? 0
            }
            return distances.min() ?? 0
        }
    }

    /// The slots of eight weeks.
    private static func slots(of planner: DayPlanner, mirror: String) throws -> [MinuteOfDay] {
        var slots: [MinuteOfDay] = []
        for offset in 0..<56 {
            let day = try day("2026-01-30").advanced(by: offset)
            slots += try #require(planner.plan(for: day, in: .gmt, mirror: mirror)).slots.map(
                \.minute)
        }
        return slots
    }

    private static func expectNear(_ slots: [MinuteOfDay], _ person: Person) throws {
        let distances = distances(of: slots, from: person)
        #expect(distances.count > 100)
        let outside = Double(distances.count { $0 > 0 }) / Double(distances.count)
        #expect(outside < 0.3)
        // As far as a post reaches, and where a minute is taken to the next ones.
        let farthest = try #require(distances.max())
        #expect(farthest <= UsedMinutes.reachMinutes + 5)
    }

    @Test(arguments: narrow, [ScheduleModel.days, .kernel])
    func slotsStayInTheHoursOfTheHuman(_ person: Person, _ model: ScheduleModel) throws {
        var slots: [MinuteOfDay] = []
        for seed in UInt64(1)...4 {
            let planner = try Self.planner(
                of: person, seed: seed, ScheduleConfiguration(model: model))
            slots += try Self.slots(of: planner, mirror: "mirror \(seed)")
        }
        try Self.expectNear(slots, person)
    }

    @Test func anHourInWhichAllWasWrittenIsNotLeft() throws {
        // 184 posts of one hour of one day.
        let date = try day("2026-01-29")
        var generator = SplitMix64(seed: 184)
        let times = try (0..<184).map { _ in
            LocalTime(day: date, minute: try minute(1_140 + Int(generator.nextUniform() * 60)))
        }
        let planner = DayPlanner(
            history: PostingHistory(times: times, asOf: date),
            configuration: ScheduleConfiguration())
        let person = Person(testDescription: "one day", hours: [1_140..<1_200])
        try Self.expectNear(try Self.slots(of: planner, mirror: "m"), person)
    }

    @Test func fewPostsSayNothingOfTheOtherHours() throws {
        let times = try (0..<49).map { try posting("2026-01-\(10 + $0 % 20)", 1_140 + $0) }
        func farthest(_ times: [LocalTime]) throws -> Int {
            let planner = DayPlanner(
                history: PostingHistory(times: times), configuration: ScheduleConfiguration())
            let person = Person(testDescription: "few", hours: [1_140..<1_190])
            return try #require(
                Self.distances(of: try Self.slots(of: planner, mirror: "m"), from: person).max())
        }
        try expect(farthest(times)) { $0 > 60 }
        try expect(farthest(times + [try posting("2026-01-29", 1_189)])) {
            $0 <= UsedMinutes.reachMinutes
        }
    }

    @Test func aDayOfAPersonWithoutNarrowHoursStillMoves() throws {
        let planner = try Self.planner(of: Self.wholeDay, seed: 4)
        let model = planner.model(for: try day("2026-01-30"))
        let past = planner.history.dailyCounts.counts.indices
            .map { planner.history.minutes(of: planner.history.dailyCounts.first.advanced(by: $0)) }
            .filter { !$0.isEmpty }
        var generator = SplitMix64(seed: 2)
        let moves = past.compactMap { minutes -> Int? in
            let copy = model.copier.minutes(like: minutes) { generator.nextUniform() }
            guard let first = copy.first, let original = minutes.first else { return nil }
            return first.circularDistance(to: original)
        }
        #expect(moves.count > 60)
        expect(moves.sorted()) { $0[$0.count / 2] >= 10 }
        expect(moves) { $0.allSatisfy { $0 < 240 } }
    }

    @Test func hoursThatAreAllClosedAreLeftAlone() throws {
        // Quiet hours that cover all of the human's: slots go where the day is open, as before.
        let hours = UsedMinutes(posts: masses([120: 3, 150: 2]))
        #expect(hours.stretches == [105...165])
        let closed = Set(try (60..<240).map(minute))
        let distribution = MinuteDistribution(
            shares: Array(repeating: 1.0 / 1_440, count: 1_440), closed: closed,
            rounding: .atLeastOne)
        #expect(distribution.limited(to: hours) == nil)
        let copy = DayCopier(distribution: distribution, hours: hours)
            .minutes(like: [try minute(120)]) { 0.5 }
        #expect(copy == [try minute(240)])
    }

    @Test func aPostThatIsMovedPastItsHoursComesBack() throws {
        // 60 posts around 10:00 and one at 20:00: two stretches of 31 minutes with the same share.
        let hours = UsedMinutes(posts: masses([600: 60, 1_200: 1]))
        #expect(hours.stretches == [585...615, 1_185...1_215])
        let even = MinuteDistribution(
            shares: Array(repeating: 1.0 / 1_440, count: 1_440), closed: [], rounding: .atLeastOne)
        let copier = DayCopier(distribution: even, hours: hours)
        func copy(_ value: Int, _ uniforms: [Double]) throws -> [Int] {
            var rest = uniforms[...]
            return copier.minutes(like: [try minute(value)]) { rest.popFirst() ?? 0.5 }.map(\.value)
        }
        // .04 · 1.5 = .06 of 62 minutes are 3.72.
        #expect(try copy(600, [1, 1, 1]) == [604])
        #expect(try copy(600, [0, 0, 0]) == [596])
        // 614.5 + 3.72 = 618.22 is reflected at 616 to 613.78.
        #expect(try copy(614, [1, 1, 1]) == [613])
        // 1185.5 − 3.72 = 1181.78 is reflected at 1185 to 1188.22.
        #expect(try copy(1_185, [0, 0, 0]) == [1_188])
    }

    @Test func aStretchMayCrossMidnight() throws {
        let hours = UsedMinutes(posts: masses([5: 1]))
        #expect(hours.stretches == [0...20, 1_430...1_439])
        #expect(hours.contains(try minute(1_430)))
        #expect(!hours.contains(try minute(1_429)))
        #expect(UsedMinutes(posts: masses([:])).stretches.isEmpty)
    }
}
