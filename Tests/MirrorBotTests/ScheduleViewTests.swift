import Control
import Evaluation
import Expectations
import Foundation
import Mirroring
import Posts
import Schedule
import Testing

@testable import MirrorBot

/// What the figures of a schedule look like on a terminal.
@Suite struct ScheduleViewTests {
    private let plain = Terminal(descriptor: -1, environment: ["COLUMNS": "80"])

    /// Somebody who posts once a day, at this minute except for the last of the days.
    private func past(_ author: String, days: Int = 50, last: Int = 540) throws -> Past {
        let start = try #require(LocalDay("2026-01-01"))
        let usual = try #require(MinuteOfDay(540))
        let odd = try #require(MinuteOfDay(last))
        let times = (0..<days).map {
            LocalTime(day: start.advanced(by: $0), minute: $0 == days - 1 ? odd : usual)
        }
        return Past(author: author, times: times)
    }

    @Test func whatCannotBeMeasuredIsADash() async throws {
        let report = try await ScheduleReport(on: [try past("clock")], zone: nil)
        let lines = ScheduleReportView.lines(report, terminal: plain)
        let row = try #require(lines.first { $0.hasPrefix("clock") })
        let cells = row.split(separator: " ")
        #expect(cells[8] == "–" && cells[9] == "–")
        expect(lines) { !$0.contains { $0.hasPrefix("median of") } }
        expect(lines) { $0.contains { $0.hasPrefix("gain per post: ") } }
        for line in lines { #expect(Printable.width(line) <= 80) }
    }

    @Test func columnsStandBelowEachOther() async throws {
        let report = try await ScheduleReport(
            on: [try past("a"), try past("日本語の長い名前", days: 60)], zone: nil)
        let lines = ScheduleReportView.lines(report, terminal: plain)
        let widths = Set(lines[1...4].map(Printable.width))
        #expect(widths.count == 1, "\(lines[0...4])")
        expect(widths) { $0.allSatisfy { $0 <= 80 } }
        #expect(Printable.width(lines[0]) <= widths.max() ?? 0)
    }

    @Test func manyAuthorsThatAreLeftOutAreCounted() async throws {
        let report = try await ScheduleReport(
            on: try (0..<25).map { try past("few \($0)", days: 2) }, zone: nil)
        let lines = ScheduleReportView.leftOut(report)
        #expect(lines[1] == "left out 25:")
        #expect(lines.count == 23)
        #expect(lines.last == "  and 5 more")
    }

    @Test func aScoreOfAMinuteWithoutAnyChanceIsInfinite() throws {
        let raw = ScheduleEvaluation(
            configuration: ScheduleConfiguration(model: .raw), repetitions: 1)
        let scores = try raw.scores(of: try past("clock", last: 541).times, name: "clock")
        let report = ScoreReport(
            mirror: "me", scheduler: .measured(scores), classifier: .missing("\u{1B}[2J nothing"))
        let lines = ScoreView.lines(report, terminal: plain)
        let figure = try #require(lines.first { $0.hasPrefix("  log-likelihood ") })
        #expect(figure.contains(" -∞ "))
        expect(lines) { $0.contains { $0.hasPrefix("  over the kernel ") && $0.contains("-∞") } }
        let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(words.contains("some of them had no chance at all"))
        expect(lines) {
            $0.contains { $0.hasPrefix("  gaps ") && $0.contains("there is nothing to compare") }
        }
        expect(lines) { $0.contains("  ! nothing to say:  [2J nothing") }
        for line in lines { #expect(Printable.width(line) <= 80, "\(line)") }
    }

    @Test func aGainIsToldAsAChanceToo() throws {
        func lines(_ gain: Double) -> [String] {
            let scores = ScheduleScores([
                .kernelGain: gain, .histogramGain: 0.2, .trainingPosts: 10, .testedPosts: 2,
            ])
            return ScoreView.lines(
                ScoreReport(mirror: "me", scheduler: .measured(scores), classifier: .missing("x")),
                terminal: plain)
        }
        #expect(lines(0.05).joined(separator: " ").contains("5 % more chance"))
        #expect(lines(-0.05).joined(separator: " ").contains("5 % less chance"))
        expect(lines(0.05)) { $0.contains { $0.contains("+0.050") } }
        expect(lines(-0.05)) { $0.contains { $0.contains("-0.050") } }
    }
}
