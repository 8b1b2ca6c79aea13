import Expectations
import Testing

@testable import Torture

@Suite struct SoakFlatnessTests {
    /// A month that is flat; `change` makes it another.
    private func complaints(
        days: Int = 30, ledger: SoakLedger = .quiet, _ change: (inout SoakDay) -> Void = { _ in }
    ) -> [String] {
        let measured = (1...days).map { number in
            var day = SoakDay(
                day: number, isRested: number <= 3 || number % 5 == 0 || number == days,
                process: ProcessFigures(memory: 12_000, cache: 3_000, threads: 6, descriptors: 20),
                tables: TableFigures(
                    rows: [
                        "mirrors": 1, "leases": 1, "feeds": 5, "posts": 1_600, "examples": 800,
                        "people": 7,
                        "feature_counts": 1_600, "counters": 7, "plans": number,
                        "actions": number * 20,
                    ], fileSize: 5_000))
            change(&day)
            return day
        }
        return Flatness(days: measured, ledger: ledger, people: 21).complaints
    }

    @Test func aMonthThatStaysAsItWasIsFlat() { #expect(complaints().isEmpty) }

    @Test func theFirstDayDoesNotCount() {
        #expect(
            complaints {
                if $0.day == 1 {
                    $0.process = .init(memory: 4_000, cache: 900, threads: 3, descriptors: 9)
                }
            }
            .isEmpty)
    }

    @Test func daysWithoutRestDoNotCountForMemory() {
        #expect(complaints { if !$0.isRested { $0.process.threads = 30 } }.isEmpty)
    }

    @Test func memoryThatGrowsEveryDayIsNot() {
        expect(complaints { $0.process.memory += $0.day * 100 }) {
            $0.contains { $0.hasPrefix("memory grows by 102400 bytes") }
        }
        // What comes and goes does.
        #expect(complaints { $0.process.memory += $0.day % 2 * 700 }.isEmpty)
        #expect(complaints { if $0.day == 15 { $0.process.memory += 50_000 } }.isEmpty)
    }

    @Test func ofAMonthThatIsLongEnoughLessWouldShow() {
        let grows: (inout SoakDay) -> Void = { $0.process.memory += $0.day * 24 }
        #expect(complaints(days: 30, grows).isEmpty)
        expect(complaints(days: 120, grows)) {
            $0.contains { $0.hasPrefix("memory grows by 24576 bytes") }
        }
    }

    @Test func whatSQLiteCachesHasABoundInsteadOfASlope() {
        let fills: (inout SoakDay) -> Void = { day in
            day.process.memory += day.day * 100
            day.process.cache += day.day * 100
        }
        #expect(complaints(fills).isEmpty)
        #expect(
            complaints(days: 60, fills) == ["SQLite holds 7600 kB on day 46; 7500 were to be all"])
    }

    @Test func whatIsNeverClosedIsNot() {
        expect(complaints { $0.process.descriptors += $0.day }) {
            $0.contains { $0.hasPrefix("descriptors grow") }
        }
        expect(complaints { $0.process.threads += $0.day / 10 }) {
            $0.contains { $0.hasPrefix("threads grow") }
        }
    }

    @Test(arguments: TableRule.all.map(\.table)) func rowsBeyondTheirBoundAreNot(table: String) {
        let found = complaints { day in if day.day > 20 { day.tables.rows[table] = 100_000 } }
        #expect(found.count == 10)
        expect(found) { $0.allSatisfy { $0.hasPrefix("\(table) has 100000 rows on day ") } }
    }

    @Test func aWorkerThatDoesNothingIsNot() {
        var ledger = SoakLedger.quiet
        ledger.posted = 0
        ledger.replies = 0
        ledger.errors = 1
        ledger.duplicates = 1
        #expect(complaints(ledger: ledger).count == 4)
    }

    private static let slopes: [([Double], Double)] = [
        ([], 0), ([1], 0), ([1, 2, 3], 1), ([5, 5, 5, 5], 0), ([9, 7, 5], -2),
        ([1, 2, 300, 4, 5], 1),
    ]

    @Test(arguments: slopes)
    func theSlopeIsTheMedianOfAll(values: [Double], expected: Double) {
        #expect(
            Flatness.slope(values.enumerated().map { (Double($0.offset), $0.element) }) == expected)
    }
}

extension SoakLedger {
    /// Of a month in which nothing special happened.
    fileprivate static let quiet = SoakLedger(
        posted: 100, replies: 100, expectedReplies: 100, mentions: 150, favorites: 200, errors: 0,
        duplicates: 0,
        unsolicited: 0)
}
