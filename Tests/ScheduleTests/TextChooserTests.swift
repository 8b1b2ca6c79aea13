import Expectations
import Foundation
import Posts
import Schedule
import Testing

@Suite struct TextChooserTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func everyTextOfThePoolIsEquallyLikely() throws {
        let pool = try (0..<10).map { try candidate($0, minute: 600 + 2 * $0) }
        let chooser = TextChooser()
        var generator = SplitMix64(seed: 99)
        var counts = Array(repeating: 0.0, count: pool.count)
        let draws = 100_000
        for _ in 0..<draws {
            let choice = try #require(
                chooser.choose(from: pool, at: try minute(610), now: now, generator: &generator))
            counts[try #require(Int(choice.id.value))] += 1
        }
        let expected = Double(draws) / Double(pool.count)
        let chiSquare = counts.reduce(0) { $0 + ($1 - expected) * ($1 - expected) / expected }
        // 9 degrees of freedom, odds of one in a million.
        #expect(chiSquare < 44.81)
    }

    @Test func orderOfCandidatesDoesNotMatter() throws {
        let pool = try (0..<40).map { try candidate($0, minute: 600) }
        for seed in 0..<20 {
            try expect(
                choose(pool, at: 600, seed: seed),
                equals: choose(pool.reversed(), at: 600, seed: seed))
        }
    }

    @Test(arguments: [
        (10, 30, 30), (9, 31, 60), (9, 60, 60), (9, 61, 120), (9, 121, 240), (9, 241, 720),
        (0, 720, 720),
    ])
    func windowWidensUntilThereAreEnoughTexts(near: Int, distance: Int, window: Int) throws {
        let texts =
            try (0..<near).map { try candidate($0, minute: 10) }
            + (near..<12).map { try candidate($0, minute: (10 + distance) % 1_440) }
        let choice = try #require(try choose(texts, at: 10))
        #expect(choice.explanation.windowMinutes == window)
        #expect(choice.explanation.poolSize == (near >= 10 && distance > 30 ? near : 12))
    }

    @Test func windowRunsOverMidnight() throws {
        let texts =
            try (0..<10).map { try candidate($0, minute: 1_430) }
            + (10..<30).map { try candidate($0, minute: 700) }
        for seed in 0..<50 {
            let choice = try #require(try choose(texts, at: 5, seed: seed))
            #expect(choice.explanation.windowMinutes == 30)
            try expect(#require(Int(choice.id.value))) { $0 < 10 }
        }
    }

    /// The time of day decides first, and then the number of uses.
    @Test func ofTheTextsOfAWindowThoseWithTheFewestUsesAreChosen() throws {
        let near = try (0..<12).map { number in
            let uses =
                switch number {
                case ..<9: 2
                case ..<11: 1
                default: 3
                }
            return TextCandidate(
                id: PostID(network: .x, value: "\(number)"), minute: try minute(600),
                textKey: "\(number)", uses: uses)
        }
        let far = try (20..<40).map { try candidate($0, minute: 1_200) }
        var chosen: Set<String> = []
        for seed in 0..<60 {
            let choice = try #require(try choose(near + far, at: 600, seed: seed))
            #expect(choice.explanation.windowMinutes == 30)
            #expect(choice.explanation.poolSize == 2)
            chosen.insert(choice.id.value)
        }
        #expect(chosen == ["9", "10"])
    }

    @Test func oneTextIsWorthOneChanceHoweverOftenItWasPosted() throws {
        let greeting = try (0..<30).map { try candidate($0, minute: 480, key: "good morning") }
        let others = try (30..<40).map { try candidate($0, minute: 480) }
        let choice = try #require(try choose(greeting + others, at: 480))
        #expect(choice.explanation.poolSize == 11)
    }

    @Test func usedTextDoesNotComeBackForHalfAYear() throws {
        let used = try (0..<30).map {
            try candidate($0, minute: 480, key: "a", daysSinceUse: $0 == 7 ? 179.9 : nil)
        }
        try expect(choose(used + [candidate(50, minute: 480)], at: 480)?.id.value, equals: "50")
        let again = try (0..<30).map {
            try candidate($0, minute: 480, key: "a", daysSinceUse: $0 == 7 ? 180 : nil)
        }
        try expect(choose(again, at: 480)?.explanation.windowMinutes, equals: 720)
    }

    @Test func leastRecentlyUsedTextIsTheLastResort() throws {
        let texts = try [3.0, 60, 90, 20].enumerated().map {
            try candidate($0.offset, minute: 480, daysSinceUse: $0.element)
        }
        let choice = try #require(try choose(texts, at: 480))
        #expect(choice.id.value == "2")
        #expect(choice.explanation.windowMinutes == nil)
    }

    @Test func textUsedThisWeekIsNotEvenTheLastResort() throws {
        try expect(choose([candidate(0, minute: 480, daysSinceUse: 7)], at: 480), equals: nil)
        try expect(choose([candidate(0, minute: 480, daysSinceUse: 7.1)], at: 480)) { $0 != nil }
        try expect(choose([], at: 480), equals: nil)
    }

    @Test func plannedTextsAreExcluded() throws {
        let texts = try (0..<3).map { try candidate($0, minute: 480) }
        var generator = SplitMix64(seed: 0)
        let choice = TextChooser().choose(
            from: texts, at: try minute(480), now: now, excluding: ["text 0", "text 2"],
            generator: &generator)
        #expect(choice?.id.value == "1")
        expect(
            TextChooser().choose(
                from: texts, at: try minute(480), now: now,
                excluding: ["text 0", "text 1", "text 2"],
                generator: &generator), equals: nil)
    }

    @Test func youngTextsWaitUnlessNothingElseIsThere() throws {
        let young = try (0..<20).map { try candidate($0, minute: 480, ageDays: 29.9) }
        let old = try candidate(30, minute: 1_200, ageDays: 30)
        let choice = try #require(try choose(young + [old], at: 480))
        #expect(choice.id.value == "30")
        #expect(!choice.explanation.isAgeRelaxed)
        let relaxed = try #require(try choose(young, at: 480))
        #expect(relaxed.explanation.isAgeRelaxed)
        #expect(relaxed.explanation.poolSize == 20)
    }

    @Test func yearWithoutRepeats() throws {
        let times = try madeUpTimes(
            postCount: 1_500, dayCount: 500, lastDay: try day("2025-12-31"), seed: 2)
        var lastUses: [Int: Date] = [:]
        for slot in 0..<730 {
            let date = now.addingTimeInterval(Double(slot) * 43_200)
            let texts = times.enumerated().map { index, time in
                TextCandidate(
                    id: PostID(network: .x, value: String(index)), minute: time.minute,
                    textKey: String(index),
                    lastUsed: lastUses[index])
            }
            var generator = SplitMix64(seed: UInt64(slot))
            let choice = try #require(
                TextChooser().choose(
                    from: texts, at: times[slot % times.count].minute, now: date,
                    generator: &generator))
            let index = try #require(Int(choice.id.value))
            let window = try #require(choice.explanation.windowMinutes)
            #expect(
                times[index].minute.circularDistance(to: times[slot % times.count].minute) <= window
            )
            if let last = lastUses[index] { #expect(date.timeIntervalSince(last) >= 180 * 86_400) }
            lastUses[index] = date
        }
        #expect(lastUses.count > 360)
    }

    @Test func anEraWithEnoughFreeTextsIsChosenFromAlone() throws {
        let texts = try (0..<12).map {
            try candidate($0, minute: 600, daysSinceUse: $0 < 2 ? 10 : nil)
        }
        var chosen: Set<String> = []
        for seed in 0..<200 {
            var generator = SplitMix64(seed: UInt64(seed))
            let choice = try #require(
                TextChooser().choose(
                    fromEra: texts, at: try minute(605), now: now, excluding: [],
                    generator: &generator))
            #expect(
                choice.explanation.description
                    == "one of 10 texts within 30 minutes of 10:05 and 45 days of the text before")
            chosen.insert(choice.id.value)
        }
        #expect(chosen.count == 10)
        var generator = SplitMix64(seed: 1)
        let few = TextChooser().choose(
            fromEra: texts, at: try minute(605), now: now, excluding: ["text 5"],
            generator: &generator)
        #expect(few == nil)
    }

    @Test func theWindowOfAnEraWidensToo() throws {
        let texts =
            try (0..<9).map { try candidate($0, minute: 600) } + [
                candidate(9, minute: 700), candidate(10, minute: 1_430),
            ]
        var generator = SplitMix64(seed: 1)
        let choice = TextChooser().choose(
            fromEra: texts, at: try minute(600), now: now, excluding: [], generator: &generator)
        #expect(choice?.explanation.windowMinutes == 120)
        #expect(choice?.explanation.poolSize == 10)
    }

    @Test(arguments: [
        (30, 192, false, "one of 192 texts within 30 minutes of 08:22"),
        (720, 1, true, "the only text of any time of day, younger than wished"),
        (nil, 1, false, "the least recently used text, since all were used lately"),
    ])
    func explainsItselfInOneLine(window: Int?, size: Int, isRelaxed: Bool, line: String) throws {
        let explanation = TextExplanation(
            minute: try minute(502), windowMinutes: window, poolSize: size, isAgeRelaxed: isRelaxed)
        #expect(explanation.description == line)
    }

    private func candidate(
        _ id: Int, minute value: Int, key: String? = nil, daysSinceUse: Double? = nil,
        ageDays: Double? = nil
    ) throws -> TextCandidate {
        TextCandidate(
            id: PostID(network: .x, value: String(id)), minute: try minute(value),
            textKey: key ?? "text \(id)",
            lastUsed: daysSinceUse.map { now.addingTimeInterval(-$0 * 86_400) },
            createdAt: ageDays.map { now.addingTimeInterval(-$0 * 86_400) })
    }

    private func choose(_ texts: [TextCandidate], at value: Int, seed: Int = 1) throws
        -> TextChoice?
    {
        var generator = SplitMix64(seed: UInt64(seed))
        return TextChooser().choose(
            from: texts, at: try minute(value), now: now, generator: &generator)
    }
}
