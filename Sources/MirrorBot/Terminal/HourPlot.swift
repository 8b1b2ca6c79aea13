import Localization

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
        let hoursPerBar: Int
        /// The width of a bar, in cells.
        let barWidth: Int
        /// The cells between two bars.
        let gapWidth: Int
        /// The number of hours between two labels.
        let hoursPerLabel: Int

        var columns: Int {
            HourPlot.margin + 24 / hoursPerBar * (barWidth + gapWidth) - gapWidth
        }
    }

    /// The layouts, from the widest to one that always fits.
    private static let layouts = [
        Layout(hoursPerBar: 1, barWidth: 2, gapWidth: 1, hoursPerLabel: 3),
        Layout(hoursPerBar: 1, barWidth: 1, gapWidth: 1, hoursPerLabel: 3),
        Layout(hoursPerBar: 1, barWidth: 1, gapWidth: 0, hoursPerLabel: 6),
        Layout(hoursPerBar: 2, barWidth: 1, gapWidth: 0, hoursPerLabel: 12),
    ]

    let human: [Double]
    let bot: [Double]
    let terminal: Terminal

    /// The plot; human and bot have different scales, because only the shapes are compared.
    var text: String {
        guard human.contains(where: { $0 > 0 }) || bot.contains(where: { $0 > 0 }) else {
            return localized("no posts to plot yet")
        }
        let availableColumns = min(Self.widest, terminal.columns)
        let layout =
            Self.layouts.first { $0.columns <= availableColumns }
            ?? Self.layouts[Self.layouts.count - 1]
        let axis = Self.axis(layout)
        return [
            bars(human, layout, terminal.blue), Self.label(localized("human")) + terminal.dim(axis),
            bars(bot, layout, terminal.magenta), Self.label(localized("bot")) + terminal.dim(axis),
        ].joined(separator: "\n")
    }

    /// A name to the left of an axis.
    private static func label(_ name: String) -> String { Printable.padded(name, to: margin) }

    private static func axis(_ layout: Layout) -> String {
        let barsPerLabel = layout.hoursPerLabel / layout.hoursPerBar
        let step = barsPerLabel * (layout.barWidth + layout.gapWidth)
        let labels = stride(from: 0, to: 24, by: layout.hoursPerLabel).map {
            Printable.padded(String($0), to: step)
        }
        return withoutTrailingBlanks(labels.joined())
    }

    private func bars(_ shares: [Double], _ layout: Layout, _ color: (String) -> String) -> String {
        let sums = stride(from: 0, to: shares.count, by: layout.hoursPerBar).map { first in
            shares[first..<min(first + layout.hoursPerBar, shares.count)].reduce(0, +)
        }
        let peak = max(sums.max() ?? 0, .leastNormalMagnitude)
        // A height counts eighths of a row.
        let steps = Self.levels.count - 1
        let heights = sums.map { sum in
            Int((sum / peak * Double(Self.rows * steps)).rounded())
        }
        return (0..<Self.rows).reversed().map { row in
            let cells = heights.map { height -> String in
                let level = min(max(height - row * steps, 0), steps)
                return String(repeating: Self.levels[level], count: layout.barWidth)
            }
            let line = Self.withoutTrailingBlanks(
                cells.joined(separator: String(repeating: " ", count: layout.gapWidth)))
            return line.isEmpty ? "" : String(repeating: " ", count: Self.margin) + color(line)
        }.joined(separator: "\n")
    }

    /// The line without trailing blanks, which a narrow terminal would break.
    private static func withoutTrailingBlanks(_ line: String) -> String {
        String(line.reversed().drop { $0 == " " }.reversed())
    }
}
