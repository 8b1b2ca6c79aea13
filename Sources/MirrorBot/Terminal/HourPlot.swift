/// A plot of the hours of a day: the human's share above, the bot's below.
///
/// The plot is as wide as the terminal allows, up to 79 cells.
struct HourPlot {
    private static let levels = Array(" ▁▂▃▄▅▆▇█")
    /// The height of a full bar, in rows.
    private static let rows = 4
    /// The cells to the left of the bars.
    private static let margin = 7
    /// The greatest width of the plot, in cells.
    private static let widest = 79

    /// The layout of the bars.
    private struct Layout {
        /// The number of hours for each bar.
        let hours: Int
        /// The width of a bar, in cells.
        let bar: Int
        /// The cells between two bars.
        let gap: Int
        /// The number of hours between two labels.
        let labels: Int

        var columns: Int { HourPlot.margin + 24 / hours * (bar + gap) - gap }
    }

    /// The layouts, from the widest to one that always fits.
    private static let layouts = [
        Layout(hours: 1, bar: 2, gap: 1, labels: 3), Layout(hours: 1, bar: 1, gap: 1, labels: 3),
        Layout(hours: 1, bar: 1, gap: 0, labels: 6), Layout(hours: 2, bar: 1, gap: 0, labels: 12),
    ]

    let human: [Double]
    let bot: [Double]
    let terminal: Terminal

    /// The plot; human and bot have different scales, because only the shapes are compared.
    var text: String {
        guard human.contains(where: { $0 > 0 }) || bot.contains(where: { $0 > 0 }) else {
            return "no posts to plot yet"
        }
        let availableColumns = min(Self.widest, terminal.columns)
        let layout =
            Self.layouts.first { $0.columns <= availableColumns }
            ?? Self.layouts[Self.layouts.count - 1]
        let axis = Self.axis(layout)
        return [
            bars(human, layout, terminal.blue), "human  " + terminal.dim(axis),
            bars(bot, layout, terminal.magenta), "bot    " + terminal.dim(axis),
        ].joined(separator: "\n")
    }

    private static func axis(_ layout: Layout) -> String {
        let step = layout.labels / layout.hours * (layout.bar + layout.gap)
        let labels = stride(from: 0, to: 24, by: layout.labels).map {
            Printable.padded(String($0), to: step)
        }
        return withoutTrailingBlanks(labels.joined())
    }

    private func bars(_ shares: [Double], _ layout: Layout, _ color: (String) -> String) -> String {
        let sums = stride(from: 0, to: shares.count, by: layout.hours).map { first in
            shares[first..<min(first + layout.hours, shares.count)].reduce(0, +)
        }
        let peak = max(sums.max() ?? 0, .leastNormalMagnitude)
        let steps = Self.levels.count - 1
        let heights = sums.map { Int(($0 / peak * Double(Self.rows * steps)).rounded()) }
        return (0..<Self.rows).reversed().map { row in
            let cells = heights.map { height -> String in
                let level = min(max(height - row * steps, 0), steps)
                return String(repeating: Self.levels[level], count: layout.bar)
            }
            let line = Self.withoutTrailingBlanks(
                cells.joined(separator: String(repeating: " ", count: layout.gap)))
            return line.isEmpty ? "" : String(repeating: " ", count: Self.margin) + color(line)
        }.joined(separator: "\n")
    }

    /// The line without trailing blanks, which a narrow terminal would break.
    private static func withoutTrailingBlanks(_ line: String) -> String {
        String(line.reversed().drop { $0 == " " }.reversed())
    }
}
