import Control
import Foundation
import Mirroring
import Posts

/// The answer of `mirror-bot stats`, at most 80 cells wide and no wider than a terminal of at least
/// 40 cells.
struct StatsView {
    private static let widest = 80
    private static let levels = Array(" ▁▂▃▄▅▆▇█")
    private static let numberWidth = 7

    let report: StatsReport
    let terminal: Terminal

    /// The whole answer.
    var lines: [String] {
        let sections = [summaryLines, hours, weekdays, days, authors, words, leftOut].filter {
            !$0.isEmpty
        }
        return Array(sections.joined(separator: [""]))
    }

    private var columns: Int { min(Self.widest, max(30, terminal.columns)) }

    private var summaryLines: [String] {
        let text =
            "\(report.humanPosts.posts) posts of the human, \(report.botPosts.posts) of the bot, "
            + "clock of \(report.timeZone)"
        return wrapped("mirror \(report.mirror)").map(terminal.bold) + wrapped(text)
    }

    // MARK: When

    private var hours: [String] {
        let plot = HourPlot(
            human: report.humanPosts.hours.map(Double.init),
            bot: report.botPosts.hours.map(Double.init),
            terminal: terminal)
        return [terminal.bold("hours")]
            + plot.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private var weekdays: [String] {
        // The line also has the indent, the weekday, two percentages and a space.
        let barWidth = (columns - 2 - 4 - 2 * 6 - 1) / 2
        func bar(_ numbers: [Int], _ index: Int, _ color: (String) -> String) -> String {
            let sum = numbers.reduce(0, +)
            let highest = max(1, numbers.max() ?? 1)
            let cells = Int((Double(numbers[index]) / Double(highest) * Double(barWidth)).rounded())
            let share = sum == 0 ? 0 : 100 * Double(numbers[index]) / Double(sum)
            return color(Printable.padded(String(repeating: "█", count: cells), to: barWidth))
                + FigureGroup.aligned(String(format: "%.0f %%", share), to: 6)
        }
        let titles = Printable.padded("human", to: barWidth + 7) + "bot"
        return [terminal.bold("weekdays"), terminal.dim("      \(titles)")]
            + StatsReport.weekdays.enumerated().map { index, name in
                "  \(name) " + bar(report.humanPosts.weekdays, index, terminal.blue) + " "
                    + bar(report.botPosts.weekdays, index, terminal.magenta)
            }
    }

    private var days: [String] {
        // The line also has the indent, the name and the sum.
        let shownDays = report.days.suffix(max(7, columns - 2 - 11 - 5))
        guard let first = shownDays.first, let last = shownDays.last else { return [] }
        func row(
            _ name: String, _ number: KeyPath<StatsReport.Day, Int>, _ color: (String) -> String
        ) -> String {
            let numbers = shownDays.map { $0[keyPath: number] }
            let highest = max(1, numbers.max() ?? 1)
            let levelSteps = Self.levels.count - 1
            let cells = numbers.map { number in
                let level = Int((Double(number) / Double(highest) * Double(levelSteps)).rounded())
                // A number above zero is always visible.
                return Self.levels[number == 0 ? 0 : max(1, level)]
            }
            return "  " + Printable.padded(name, to: 11) + color(String(cells))
                + FigureGroup.aligned("\(numbers.reduce(0, +))", to: 5)
        }
        return wrapped("days, \(first.day) to \(last.day)").map(terminal.bold) + [
            row("human", \.humanPosts, terminal.blue), row("posts", \.posts, terminal.magenta),
            row("replies", \.replies, terminal.magenta),
            row("favorites", \.favorites, terminal.magenta),
        ]
    }

    // MARK: Favorites

    private var authors: [String] {
        guard !report.authors.isEmpty else { return [] }
        return table(
            "favorites by author", ["human", "other", "bot"],
            report.authors.map { ($0.name, ["\($0.favorites)", "\($0.normals)", "\($0.given)"]) })
    }

    private var words: [String] {
        if let problem = report.wordsProblem {
            return wrapped("no favorites by author and word: \(problem)")
        }
        let words = report.wordsFor + report.wordsAgainst.reversed()
        guard !words.isEmpty else { return [] }
        let rows = table(
            "favorites by word", ["human", "other", "weight"],
            words.map {
                (
                    $0.word,
                    ["\($0.favorites)", "\($0.normals)", String(format: "%+.2f", $0.logOdds)]
                )
            })
        return Array(rows.prefix(1))
            + zip(rows.dropFirst(), words).flatMap { [$0] + example(of: $1) }
    }

    /// A learned post with a word, on a separate line.
    private func example(of word: StatsReport.Word) -> [String] {
        guard let example = word.example else { return [] }
        return [terminal.dim("    " + Printable.line(example, columns: columns - 4))]
    }

    private func table(
        _ title: String, _ headings: [String], _ rows: [(name: String, cells: [String])]
    ) -> [String] {
        let nameWidth = columns - headings.count * Self.numberWidth
        func line(_ cells: [String]) -> String {
            cells.map { FigureGroup.aligned($0, to: Self.numberWidth) }.joined()
        }
        return [
            terminal.bold(Printable.padded(title, to: nameWidth)) + terminal.dim(line(headings))
        ]
            + rows.map { name, cells in
                Printable.padded("  " + Printable.line(name, columns: nameWidth - 3), to: nameWidth)
                    + line(cells)
            }
    }

    // MARK: What was left out

    private static let titledParts: [(part: StatsReport.LeftOut.Part, title: String)] = [
        (.archive, "old posts"), (.post, "posts"), (.reply, "replies"), (.favorite, "favorites"),
        (.feed, "feeds"),
    ]

    private var leftOut: [String] {
        let groups = Self.titledParts.flatMap { part, title in
            let lines = report.leftOut.filter { $0.part == part }
            return lines.isEmpty ? [] : ["  " + title] + lines.flatMap(line)
        }
        return groups.isEmpty ? [] : [terminal.bold("left out, and why")] + groups
    }

    private func line(_ leftOut: StatsReport.LeftOut) -> [String] {
        let state = leftOut.state.map { "\($0): " } ?? ""
        let lines = Printable.wrapped(
            Printable.line(state + leftOut.reason.text), columns: columns - 11)
        return lines.enumerated().map { index, line in
            FigureGroup.aligned(index == 0 ? "\(leftOut.count)" : "", to: 9) + "  " + line
        }
    }

    private func wrapped(_ text: String) -> [String] {
        Printable.wrapped(Printable.line(text), columns: columns)
    }
}
