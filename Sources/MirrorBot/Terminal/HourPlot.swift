/// A plot of the hours of a day: the human's share above, the bot's below.
struct HourPlot {
    private static let levels = Array(" ▁▂▃▄▅▆▇█")
    /// How many rows of the terminal a full bar takes.
    private static let rows = 4

    let human: [Double]
    let bot: [Double]
    let terminal: Terminal

    /// The plot; each row has its own scale, for it is the shapes that are to be compared.
    var text: String {
        guard human.contains(where: { $0 > 0 }) || bot.contains(where: { $0 > 0 }) else {
            return "no posts to plot yet"
        }
        let axis = (0..<24).map { $0 % 3 == 0 ? Printable.padded(String($0), to: 3) : "   " }.joined()
        return [
            bars(human, terminal.blue), "human  " + terminal.dim(axis),
            bars(bot, terminal.magenta), "bot    " + terminal.dim(axis),
        ].joined(separator: "\n")
    }

    private func bars(_ shares: [Double], _ color: (String) -> String) -> String {
        let peak = max(shares.max() ?? 0, .leastNormalMagnitude)
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
