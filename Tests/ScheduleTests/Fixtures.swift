import Foundation
import Posts
import Schedule
import Testing

func minute(_ value: Int) throws -> MinuteOfDay { try #require(MinuteOfDay(value)) }

func day(_ text: String) throws -> LocalDay { try #require(LocalDay(text)) }

func zone(_ identifier: String) throws -> TimeZone {
    try #require(TimeZone(identifier: identifier))
}

func posting(_ date: String, _ value: Int) throws -> LocalTime {
    LocalTime(day: try day(date), minute: try minute(value))
}

/// One value for each minute of the day, 0 except where `values` says otherwise.
func masses(_ values: [Int: Double]) -> [Double] { (0..<1_440).map { values[$0] ?? 0 } }

/// The raw histogram of the given minutes.
func rawDistribution(_ minutes: [Int], missing: Set<MinuteOfDay> = []) -> MinuteDistribution {
    var counts = Array(repeating: 0.0, count: 1_440)
    for minute in minutes { counts[minute] += 1 }
    return .raw(counts: counts, missing: missing)
}

/// A made-up archive: `postCount` posts over `dayCount` days up to `lastDay`, with zero days,
/// bursts and two peaks.
func madeUpTimes(postCount: Int, dayCount: Int, lastDay: LocalDay, seed: UInt64) throws
    -> [LocalTime]
{
    var generator = SplitMix64(seed: seed)
    var times: [LocalTime] = []
    while times.count < postCount {
        let day = lastDay.advanced(by: -Int(pow(generator.nextUniform(), 1.5) * Double(dayCount)))
        guard day.ordinal % 3 != 0 else { continue }
        let peak = generator.nextUniform() < 0.4 ? 480.0 : 1_260.0
        let spread =
            (generator.nextUniform() + generator.nextUniform() + generator.nextUniform() - 1.5)
            * 240
        let first = (Int(peak + spread) + 1_440) % 1_440
        times.append(LocalTime(day: day, minute: try minute(first)))
        while generator.nextUniform() < 0.3, times.count < postCount,
            let last = times.last?.minute.value, last < 1_400
        {
            times.append(
                LocalTime(day: day, minute: try minute(last + Int(generator.nextUniform() * 20))))
        }
    }
    return times
}

/// Whether two numbers agree to the digits that a reference prints.
func agree(_ found: Double, _ expected: Double, within tolerance: Double = 1e-6) -> Bool {
    abs(found - expected) <= tolerance * max(abs(expected), 1e-300)
}
