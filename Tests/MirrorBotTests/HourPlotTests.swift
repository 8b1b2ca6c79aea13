import Foundation
import Testing

@testable import MirrorBot

@Suite struct HourPlotTests {
    private let plain = Terminal(descriptor: -1, environment: [:])

    private func rows(_ human: [Double], _ bot: [Double]) -> [String] {
        HourPlot(human: human, bot: bot, terminal: plain).text.split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    /// 24 shares with these among them.
    private func day(_ shares: [Int: Double]) -> [Double] { (0..<24).map { shares[$0] ?? 0 } }

    @Test func theHighestBarIsFullAndTheOthersAreInProportion() {
        let rows = rows(day([0: 0.5, 23: 0.25]), day([12: 0.5]))
        #expect(rows.count == 10)
        // Seven columns of margin, then three for each hour.
        let columns = rows.map { Array($0) }
        for row in 0..<4 {
            #expect(columns[row][7] == "█")
            #expect(columns[row][7 + 23 * 3] == (row < 2 ? " " : "█"))
            #expect(columns[5 + row][7 + 12 * 3] == "█")
        }
        #expect(rows[4].hasPrefix("human  0        3        6"))
        #expect(rows[9].hasPrefix("bot    0        3        6"))
    }

    @Test func smallSharesUseTheEighths() {
        // 32 steps in all: a 32nd of the peak is the smallest bar.
        let rows = rows(day([0: 1, 1: 1.0 / 32, 2: 3.0 / 32]), day([:]))
        #expect(Array(rows[3])[10] == "▁")
        #expect(Array(rows[3])[13] == "▃")
    }

    @Test func allRowsAreOfOneWidth() {
        let rows = rows((0..<24).map { Double($0) / 276 }, day([3: 1]))
        #expect(Set(rows.map(Printable.width)).count == 1)
    }

    @Test func withoutPostsItSaysSo() {
        #expect(rows(day([:]), day([:])) == ["no posts to plot yet"])
        #expect(rows([], []) == ["no posts to plot yet"])
    }

    @Test func colorsTellTheRowsApartButAreNotNeeded() {
        let colored = HourPlot(
            human: day([1: 1]), bot: day([1: 1]), terminal: Terminal(descriptor: -1, environment: ["FORCE_COLOR": "1"]))
        #expect(colored.text.contains("\u{1B}[34m"))
        #expect(colored.text.contains("\u{1B}[35m"))
        #expect(!rows(day([1: 1]), day([1: 1])).joined().contains("\u{1B}"))
    }
}
