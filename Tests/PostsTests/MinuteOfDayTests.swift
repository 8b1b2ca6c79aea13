import Expectations
import Posts
import Testing

@Suite struct MinuteOfDayTests {
    @Test(arguments: [-1, 1_440, .min, .max])
    func otherNumbersAreNotMinutes(value: Int) { #expect(MinuteOfDay(value) == nil) }

    @Test(arguments: [
        (0, 0, 0), (23, 59, 1_439), (24, 0, 0), (0, -1, 1_439), (0, 2_881, 1), (-1, 0, 1_380),
    ])
    func clocksTurn(hour: Int, minute: Int, value: Int) {
        #expect(MinuteOfDay(hour: hour, minute: minute).value == value)
    }

    @Test func hugeNumbersDoNoHarm() {
        #expect((0..<1_440).contains(MinuteOfDay(hour: .max, minute: .max).value))
        #expect((0..<1_440).contains(MinuteOfDay(hour: .min, minute: .min).value))
    }

    @Test(arguments: [
        (0, 1_439, 1), (10, 1_430, 20), (0, 720, 720), (60, 90, 30), (700, 700, 0), (1, 722, 719),
    ])
    func distanceGoesTheShorterWayRound(first: Int, second: Int, distance: Int) throws {
        let first = try #require(MinuteOfDay(first))
        let second = try #require(MinuteOfDay(second))
        #expect(first.circularDistance(to: second) == distance)
        #expect(second.circularDistance(to: first) == distance)
    }

    @Test func readsAsATime() throws {
        try expect(#require(MinuteOfDay(0)).description, equals: "00:00")
        try expect(#require(MinuteOfDay(605)).description, equals: "10:05")
        try expect(#require(MinuteOfDay(1_439)).description, equals: "23:59")
    }
}
