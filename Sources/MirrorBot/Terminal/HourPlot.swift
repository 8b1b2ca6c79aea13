/// A plot of the hours of a day: the human's share above, the bot's below.
struct HourPlot {
    private static let levels = Array(" ▁▂▃▄▅▆▇█")
    /// How many rows of the terminal a full bar takes.
    private static let rows = 4

    let human: [Double]
    let bot: [Double]
    let terminal: Terminal

    /// The plot, with both rows of bars on one scale.
    var text: String {
        let peak = max(human.max() ?? 0, bot.max() ?? 0)
        guard peak > 0 else { return "no posts to plot yet" }
        let axis = (0..<24).map { $0 % 3 == 0 ? Printable.padded(String($0), to: 3) : "   " }.joined()
        return [
            bars(human, peak, terminal.blue), "human  " + terminal.dim(axis),
            bars(bot, peak, terminal.magenta), "bot    " + terminal.dim(axis),
        ].joined(separator: "\n")
    }

    private func bars(_ shares: [Double], _ peak: Double, _ color: (String) -> String) -> String {
        let full = Self.rows * (Self.levels.count - 1)
        let heights = shares.map { Int(($0 / peak * Double(full)).rounded()) }
        return (0..<Self.rows).reversed().map { row in
            let cells = heights.map { height -> String in
                let level = min(max(height - row * (Self.levels.count - 1), 0), Self.levels.count - 1)
                return String(repeating: Self.levels[level], count: 2) + " "
            }
            return "       " + color(cells.joined())
        }.joined(separator: "\n")
    }
}
