import Expectations
import Foundation
import Testing

@testable import MirrorBot

@Suite struct HourPlotTests {
    private let plain = Terminal(descriptor: -1, environment: [:])

    private func rows(_ human: [Double], _ bot: [Double]) -> [String] {
        HourPlot(human: human, bot: bot, terminal: plain).text.split(
            separator: "\n", omittingEmptySubsequences: false
        )
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
            #expect(columns[row].last == "█")
            #expect(columns[row].count == (row < 2 ? 7 + 2 : 7 + 24 * 3 - 1))
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

    @Test(arguments: [20, 30, 31, 40, 53, 54, 60, 77, 78, 80, 100, 300])
    func noRowIsWiderThanTheTerminalNorThan79Cells(columns: Int) {
        let terminal = Terminal(descriptor: -1, environment: ["COLUMNS": "\(columns)"])
        let text = HourPlot(
            human: (1...24).map { Double($0) / 300 }, bot: day([23: 1]), terminal: terminal
        ).text
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(rows.count == 10)
        expect(rows) {
            $0.allSatisfy { Printable.width($0) <= min(columns, 79) && !$0.hasSuffix(" ") }
        }
        // The last bar is there, wherever it stands.
        #expect(rows[0].hasSuffix("█"))
        #expect(rows[5].hasSuffix("█"))
    }

    @Test(arguments: [
        (80, "0        3        6"), (60, "0     3     6"), (40, "0     6     12    18"),
        (24, "0     12"),
    ])
    func narrowerTerminalsGetNarrowerBars(columns: Int, axis: String) {
        let terminal = Terminal(descriptor: -1, environment: ["COLUMNS": "\(columns)"])
        let text = HourPlot(human: day([1: 1]), bot: day([:]), terminal: terminal).text
        #expect(text.contains("human  \(axis)"))
    }

    @Test func whereABarIsTwoHoursItIsTheirSum() {
        let terminal = Terminal(descriptor: -1, environment: ["COLUMNS": "20"])
        let rows = HourPlot(
            human: day([0: 0.25, 1: 0.25, 4: 0.25]), bot: day([:]), terminal: terminal
        ).text
            .split(separator: "\n", omittingEmptySubsequences: false).map { Array($0) }
        #expect(String(rows[0]) == "       █")
        #expect(String(rows[3]) == "       █ █")
    }

    @Test func withoutPostsItSaysSo() {
        #expect(rows(day([:]), day([:])) == ["no posts to plot yet"])
        #expect(rows([], []) == ["no posts to plot yet"])
    }

    @Test func colorsTellTheRowsApartButAreNotNeeded() {
        let colored = HourPlot(
            human: day([1: 1]), bot: day([1: 1]),
            terminal: Terminal(descriptor: -1, environment: ["FORCE_COLOR": "1"]))
        #expect(colored.text.contains("\u{1B}[34m"))
        #expect(colored.text.contains("\u{1B}[35m"))
        #expect(!rows(day([1: 1]), day([1: 1])).joined().contains("\u{1B}"))
    }
}
