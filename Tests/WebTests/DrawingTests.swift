import Expectations
import Foundation
import Outbox
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Web

/// What the drawings of hours, favorites and texts show and say.
@Suite struct DrawingTests {
    private static let words = Words(zone: .gmt, now: SampleReport.now)

    private static func rhythm(_ hours: [Int: Int], on weekday: Int = 1) -> StatsReport.Rhythm {
        let monday = LocalDay(ordinal: 4 + 7 * 2_000)
        return StatsReport.Rhythm(
            hours.flatMap { hour, posts in
                (0..<posts).map { _ in
                    LocalTime(
                        day: monday.advanced(by: weekday - 1),
                        minute: MinuteOfDay(hour: hour, minute: 5))
                }
            })
    }

    private static func finding(_ drawing: Drawing) throws -> String {
        try #require(MarkupDocument(drawing.element.text).all("desc").first).text
    }

    private static func numbers(_ text: String) -> [Double] {
        text.matches(of: /-?[0-9]*\.?[0-9]+/).compactMap { Double($0.output) }
    }

    @Test func everyDrawingIsWellFormedAndSaysWhatItIs() throws {
        let stats = SampleReport.stats()
        let drawings = [
            Dial(
                human: stats.humanPosts, bot: stats.botPosts, likeness: nil,
                now: MinuteOfDay(hour: 9, minute: 0)
            )
            .drawing,
            WeekGrid(human: stats.humanPosts, bot: stats.botPosts).drawing,
            DayBars(days: stats.days, words: Self.words).drawing,
            CalibrationPlot(measure: Self.measure).drawing,
        ]
        for drawing in drawings {
            let document = try MarkupDocument(drawing.element.text)
            let root = try #require(document.elements.first)
            #expect(root.attributes["role"] == "img")
            let named = document.elements.compactMap { $0.attributes["id"] }
            #expect(
                root.attributes["aria-labelledby"]?.split(separator: " ").map(String.init) == named)
            for element in document.elements {
                #expect(element.attributes["style"] == nil)
                expect(element.attributes.keys) { !$0.contains { $0.hasPrefix("on") } }
                #expect(!["script", "style", "foreignObject", "a"].contains(element.name))
            }
        }
    }

    // MARK: Hours

    @Test func theDialSaysThePeaksAndTheSilence() throws {
        let stats = SampleReport.stats()
        let dial = Dial(human: stats.humanPosts, bot: stats.botPosts, likeness: nil, now: nil)
        let finding = try Self.finding(dial.drawing)
        #expect(
            finding.contains(
                "The human posts most from 12:00 on, 53.3 %; the bot from 12:00 on, 100.0 %."))
        #expect(finding.contains("Both are silent from 13:00 to 7:00."))
    }

    @Test func theDialMeasuresBothOnOneScale() throws {
        let dial = Dial(
            human: Self.rhythm([6: 3, 18: 1]), bot: Self.rhythm([6: 1]), likeness: nil, now: nil)
        let paths = try MarkupDocument(dial.drawing.element.text).all("path")
        func length(_ side: String, _ place: Int) throws -> Double {
            let path = try #require(paths.first { $0.attributes["class"] == side }?.attributes["d"])
            let spokes = path.split(separator: "M").map { Self.numbers(String($0)) }
            let spoke = try #require(spokes.indices.contains(place) ? spokes[place] : nil)
            return hypot(spoke[2] - spoke[0], spoke[3] - spoke[1])
        }
        // The bot's only post is its whole: the longest spoke. The human's are three quarters and a
        // quarter of it.
        let whole = try length("bl", 0)
        expect(whole) { abs($0 - 53) < 0.3 }
        try expect(length("hl", 0)) { abs($0 - whole * 0.75) < 0.3 }
        try expect(length("hl", 1)) { abs($0 - whole * 0.25) < 0.3 }
    }

    @Test func theDialHasNoonOnTop() throws {
        let dial = Dial(human: Self.rhythm([11: 1]), bot: Self.rhythm([:]), likeness: nil, now: nil)
        let path = try #require(
            MarkupDocument(dial.drawing.element.text).all("path").first?.attributes["d"])
        let point = Self.numbers(path)
        // The half hour before noon stands left of the top.
        expect(point) { $0[0] < 0 && $0[1] < -90 }
    }

    @Test(
        arguments: [
            ([:], [:], "Neither has any posts."), ([8: 2], [:], "the bot has no posts yet."),
            ([:], [8: 2], "no posts of the human are archived."),
        ] as [([Int: Int], [Int: Int], String)])
    func theDialSaysWhatIsMissing(_ human: [Int: Int], _ bot: [Int: Int], _ sentence: String) throws
    {
        let dial = Dial(human: Self.rhythm(human), bot: Self.rhythm(bot), likeness: nil, now: nil)
        try expect(Self.finding(dial.drawing)) { $0.contains(sentence) }
    }

    @Test func theMiddleSaysHowAlikeTheyAre() throws {
        let likeness = StatsReport.Likeness(share: 0.896, halves: nil, expected: nil)
        let dial = Dial(
            human: Self.rhythm([8: 1]), bot: Self.rhythm([8: 1]), likeness: likeness, now: nil)
        let texts = try MarkupDocument(dial.drawing.element.text).all("text").map(\.text)
        #expect(texts.suffix(2) == ["90 %", "alike"])
    }

    @Test func theWeekHasEachHourOnce() throws {
        let stats = SampleReport.stats()
        let paths = try MarkupDocument(
            WeekGrid(human: stats.humanPosts, bot: stats.botPosts).drawing.element.text
        )
        .all("path")
        func cells(_ side: String) -> [String] {
            paths.filter { $0.attributes["class"] == side }
                .flatMap { $0.attributes["d"]?.split(separator: "M").map(String.init) ?? [] }
        }
        for (side, rhythm) in [("hl", stats.humanPosts), ("bl", stats.botPosts)] {
            let cells = cells(side)
            #expect(cells.count == rhythm.week.joined().count { $0 > 0 })
            #expect(Set(cells).count == cells.count)
        }
        // The human's Monday noon is the strongest of theirs, in the first row.
        let strongest = paths.filter { $0.attributes["class"] == "hl" }.max {
            Double($0.attributes["stroke-opacity"] ?? "") ?? 0 < Double(
                $1.attributes["stroke-opacity"] ?? "") ?? 0
        }
        #expect(strongest?.attributes["d"] == "M12 6h.94")
    }

    @Test func theWeekSaysWhenMostComes() throws {
        let grid = WeekGrid(human: Self.rhythm([20: 4, 8: 1], on: 5), bot: Self.rhythm([:]))
        let finding = try Self.finding(grid.drawing)
        #expect(
            finding.contains("The human posts most on Fridays from 20:00 on. The bot has no posts.")
        )
    }

    @Test func theDaysSayTheirSums() throws {
        let stats = SampleReport.stats()
        let drawing = DayBars(days: stats.days, words: Self.words).drawing
        let finding = try Self.finding(drawing)
        #expect(
            finding.contains("Posts by day from 1 May to 28 May: 60 of the human, 10 of the bot."))
        #expect(finding.contains("busiest day was 4 May, with 3."))
        let groups = try MarkupDocument(drawing.element.text).all("g").map { $0.inside["rect"] }
        #expect(groups == [28, 10])
        let heights = try MarkupDocument(drawing.element.text).all("rect").compactMap {
            $0.attributes["height"].flatMap(Double.init)
        }
        // One scale: a bot's day of one post is a third of the human's day of three.
        try expect(#require(heights.max())) { abs($0 - 56) < 0.1 }
        try expect(#require(heights.last)) { abs($0 - 56 / 3) < 0.1 }
    }

    @Test func aMirrorWithoutDaysHasAnEmptyDrawing() throws {
        try expect(
            Self.finding(DayBars(days: [], words: Self.words).drawing),
            equals: "There are no days to show yet.")
    }

    // MARK: Favorites

    private static func judgement(_ features: [(String, Double)], base: Double?)
        -> ExplainReport.Judgement
    {
        ExplainReport.Judgement(
            basis: .recomputed, rate: 5.1, threshold: 2, weights: nil, baseLogOdds: base,
            favorites: 1_284,
            normals: 9_730,
            features: features.map {
                Explanation.Feature(name: $0.0, logOdds: $0.1, favorites: 31, normals: 14)
            })
    }

    @Test func eachStepBeginsWhereTheLastOneEnded() throws {
        let bars = StepBars(
            Self.judgement([("train", 1.22), ("deadline", -0.65), ("kiosk", 0.4)], base: -2.03))
        #expect(bars.rows.map(\.name) == ["any post", "train", "deadline", "kiosk"])
        #expect(bars.rows.map(\.adds) == ["−2.03", "+1.22", "−0.65", "+0.40"])
        #expect(bars.rows.map(\.counts) == ["1,284 / 9,730", "31 / 14", "31 / 14", "31 / 14"])
        expect(bars.sum) { abs($0 + 1.06) < 0.001 }
        var places: [(from: Double, to: Double)] = []
        var classes: [String] = []
        for row in bars.rows {
            let document = try MarkupDocument(row.bar.text)
            let bar = try #require(document.all("rect").first)
            func number(_ name: String) throws -> Double {
                let text = try #require(bar.attributes[name])
                return try #require(Double(text.dropLast()))
            }
            places.append((try number("x"), try number("x") + number("width")))
            classes.append(try #require(bar.attributes["class"]))
            #expect(document.all("line").map { $0.attributes["class"] } == ["tick", "limit"])
        }
        #expect(classes == ["base", "for", "against", "for"])
        // Backwards from zero, forwards, backwards, forwards.
        expect(places[1].from) { abs($0 - places[0].from) < 0.02 }
        expect(places[2].to) { abs($0 - places[1].to) < 0.02 }
        expect(places[3].from) { abs($0 - places[2].from) < 0.02 }
        expect(places) { $0.allSatisfy { $0.from >= 0 && $0.to <= 100.01 } }
    }

    @Test func stepsStandInGroups() {
        var judgement = Self.judgement([("@ann", 3), ("train", 1)], base: nil)
        judgement.features += [
            Explanation.Feature(
                name: "runs of letters (57)", logOdds: 0.5, sums: 57, group: .spelling),
            Explanation.Feature(name: "a link", logOdds: 0.2, group: .form),
            Explanation.Feature(
                name: "signs, small words (2)", logOdds: -0.1, sums: 2, group: .words),
        ]
        #expect(
            StepBars(judgement).rows.map(\.name) == [
                "train", "2 other words", "@ann", "runs of letters (57)", "a link",
            ])
    }

    @Test func stepsWithoutABaseOrWithoutFeaturesAreDrawnToo() {
        #expect(StepBars(Self.judgement([], base: nil)).rows.isEmpty)
        #expect(StepBars(Self.judgement([("train", 0)], base: nil)).rows.map(\.adds) == ["+0.00"])
        #expect(
            StepBars(Self.judgement([("train", .infinity)], base: 1)).rows.map(\.adds) == [
                "+1.00", "–",
            ])
    }

    static let measure = ClassifierMeasure(
        measured: SampleReport.now, posts: 1_000, favorites: 200, threshold: 2, fired: 60, hits: 50,
        precision: 50 / 60.0, recall: 0.25,
        calibration: [
            ClassifierMeasure.Bin(predicted: 0.03, observed: 0.02, posts: 800),
            ClassifierMeasure.Bin(predicted: 0.55, observed: 0.58, posts: 150),
            ClassifierMeasure.Bin(predicted: 0.96, observed: 0.95, posts: 50),
        ])

    @Test func theAreaOfADotIsItsPosts() throws {
        let drawing = CalibrationPlot(measure: Self.measure).drawing
        try expect(
            Self.finding(drawing),
            equals:
                "Of posts that got a chance of 3 %, 2 % were favorites; of those that got 55 %, 58 %; "
                + "of those that got 96 %, 95 %. The table has all.")
        let radii = try MarkupDocument(drawing.element.text).all("circle").compactMap {
            $0.attributes["r"].flatMap(Double.init)
        }
        #expect(radii.count == 3)
        let areas = radii.map { $0 * $0 }
        expect(areas[0] / areas[1]) { abs($0 - 16 / 3.0) < 0.2 }
        expect(areas[0] / areas[2]) { abs($0 - 16) < 1 }
        // Two of three.
        #expect(CalibrationPlot(measure: Self.measure).limit == 2 / 3.0)
    }

    @Test(arguments: [
        (5.1, "Of six such posts they favorite five."), (1, "Of two such posts they favorite one."),
        (0.2, "Of six such posts they favorite one."), (0, "Of such posts they favorite none."),
        (2_000, "Of 2,001 such posts they favorite 2,000."),
        (.infinity, "Of such posts they favorite none."),
    ])
    func aRateIsSaidAsAChance(_ rate: Double, _ sentence: String) {
        #expect(Words.chance(ofOdds: rate) == sentence)
    }

    @Test func aThresholdIsSaidAsAChance() {
        #expect(Words.chance(above: 2) == "two of three")
        #expect(Words.chance(above: 1) == "one of two")
        #expect(Words.chance(above: 0.25) == "20 %")
        #expect(Words.chance(above: 1.5) == "60 %")
    }

    // MARK: Texts

    @Test func theBarHasAPartForEachKindOfText() throws {
        var texts = SampleReport.texts
        let drawing = TextShares(texts: texts).drawing
        try expect(
            Self.finding(drawing),
            equals:
                "3,204 fit at any time, 411 at some times only, 4,797 left out, 12 not looked at yet."
        )
        let bars = try MarkupDocument(drawing.element.text).all("rect")
        #expect(bars.map { $0.attributes["class"] } == ["t1", "t2", "t3"])
        texts.sometimes = 0
        texts.unfit = 0
        texts.unjudged = 0
        let whole = try MarkupDocument(TextShares(texts: texts).drawing.element.text).all("rect")
        #expect(whole.map { $0.attributes["width"] } == ["99.7%"])
    }
}
