package import Control
import Mirroring
import Posts

/// A chart of a report's numbers: SVG that is readable also without colors and without styles.
///
/// The human's bars stand on the axis, the bot's hang below it, as in a mirror.
package struct Chart: Sendable {
    /// In the units of the drawing, which is as wide as a small screen.
    static let width = 360.0

    /// The side that gives a shape its `class` attribute and its color.
    private enum Side: String {
        case human
        case bot

        /// A color for viewers that do not support styles.
        private var color: Markup { self == .human ? "#1f5fd6" : "#a3279f" }

        /// Shapes in the color of the side.
        func group(_ shapes: [Markup]) -> Markup {
            "<g fill=\"\(color)\" class=\"\(rawValue)\">\n\(shapes)\n</g>"
        }
    }

    /// A prefix for the ids of its elements, unique on the page.
    let name: String
    let title: String
    /// The description of the chart, in one sentence.
    let summary: String
    let height: Double
    private let body: [Markup]

    /// The drawing as an element of a page.
    package var element: Markup { element(at: nil) }

    private func element(at y: Double?) -> Markup {
        let place: Markup = y.map { " y=\"\($0)\"" } ?? ""
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(height)" width="\(Self.width)" \
            height="\(height)"\(place) role="img" aria-labelledby="\(name)-title \(name)-summary" \
            font-family="sans-serif" font-size="12">
            <title id="\(name)-title">\(title)</title>
            <desc id="\(name)-summary">\(summary)</desc>
            \(body)
            </svg>
            """
    }

    // MARK: The charts

    package static func hours(_ stats: StatsReport) -> Chart {
        let labels = stride(from: 0, to: 24, by: 3).map { ($0, String($0)) }
        return mirrored(
            "hours", "The hours of human and bot",
            "Posts by hour of the day. \(peak(stats.humanPosts, "human")) \(peak(stats.botPosts, "bot"))",
            stats.humanPosts.hours, stats.botPosts.hours, labels: labels)
    }

    package static func days(_ stats: StatsReport) -> Chart {
        let days = stats.days
        let labels = stride(from: 0, to: days.count, by: 7).map {
            ($0, String("\(days[$0].day)".dropFirst(5)))
        }
        let span = days.isEmpty ? "" : "from \(days[0].day) to \(days[days.count - 1].day)"
        let human = days.map(\.humanPosts)
        let bot = days.map(\.posts)
        return mirrored(
            "days", "The last days of human and bot",
            "Posts by day \(span): \(human.reduce(0, +)) of the human, \(bot.reduce(0, +)) of the bot.",
            human, bot, labels: labels)
    }

    /// One grid for the human and one for the bot.
    package static func weeks(_ stats: StatsReport) -> [Chart] {
        [week(stats.humanPosts, .human), week(stats.botPosts, .bot)]
    }

    /// The hour in which the most posts come.
    private static func peak(_ rhythm: StatsReport.Rhythm, _ who: String) -> String {
        guard rhythm.posts > 0, let most = rhythm.hours.max(),
            let hour = rhythm.hours.firstIndex(of: most)
        else {
            return "The \(who) has no posts."
        }
        return "The \(who) posts most from \(hour):00 on: \(most) of \(rhythm.posts)."
    }

    // MARK: Bars

    /// Bars above an axis and others below it, each to the scale of its own maximum.
    private static func mirrored(
        _ name: String, _ title: String, _ summary: String, _ human: [Int], _ bot: [Int],
        labels: [(index: Int, text: String)]
    ) -> Chart {
        let top = 16.0
        let room = 64.0
        let axis = 18.0
        let step = (width - 24) / Double(max(1, human.count))
        func x(_ index: Int) -> Double { 12 + Double(index) * step }
        func bars(_ numbers: [Int], _ side: Side) -> Markup {
            let highest = Double(max(1, numbers.max() ?? 1))
            let bars = numbers.enumerated().compactMap { index, number -> Markup? in
                guard number > 0 else { return nil }
                let height = max(1, Double(number) / highest * room)
                let y = side == .human ? top + room - height : top + room + axis
                return
                    "<rect x=\"\(x(index))\" y=\"\(y)\" width=\"\(step - 2)\" height=\"\(height)\" />"
            }
            return side.group(bars)
        }
        let texts: [Markup] = labels.map { index, text in
            "<text x=\"\(x(index))\" y=\"\(top + room + 13)\">\(text)</text>"
        }
        let bottom = top + 2 * room + axis
        let names: [Markup] = [
            "<text x=\"12\" y=\"11\">human</text>",
            "<text x=\"12\" y=\"\(bottom + 14)\">bot</text>",
        ]
        return Chart(
            name: name, title: title, summary: summary, height: bottom + 20,
            body: names + [bars(human, .human)] + texts + [bars(bot, .bot)])
    }

    // MARK: Grids

    /// The days of the week with their hours; a stronger color means more posts.
    private static func week(_ rhythm: StatsReport.Rhythm, _ side: Side) -> Chart {
        let left = 32.0
        let top = 32.0
        let cell = 13.5
        let row = 18.0
        let highest = Double(max(1, rhythm.week.joined().max() ?? 1))
        var body: [Markup] = ["<text x=\"\(left)\" y=\"11\">\(side.rawValue)</text>"]
        body += stride(from: 0, to: 24, by: 3).map { hour in
            "<text x=\"\(left + Double(hour) * cell)\" y=\"\(top - 5)\">\(hour)</text>"
        }
        var cells: [Markup] = []
        for (day, hours) in rhythm.week.enumerated() {
            let y = top + Double(day) * row
            body.append("<text x=\"4\" y=\"\(y + 12)\">\(StatsReport.weekdays[day])</text>")
            func stretch(_ hour: Int, _ width: Double, _ opacity: Double) -> Markup {
                """
                <rect x="\(left + Double(hour) * cell)" y="\(y)" width="\(width)" height="\(row - 2)" \
                fill-opacity="\(opacity)" />
                """
            }
            cells.append(stretch(0, 24 * cell - 1.5, 0.07))
            for (hour, number) in hours.enumerated() where number > 0 {
                cells.append(stretch(hour, cell - 1.5, 0.2 + 0.8 * Double(number) / highest))
            }
        }
        body.append(side.group(cells))
        return Chart(
            name: "week-\(side.rawValue)", title: "The week of the \(side.rawValue)",
            summary: "Posts by hour and weekday, the stronger the color the more. "
                + peakOfWeek(rhythm, side.rawValue),
            height: top + 7 * row, body: body)
    }

    private static func peakOfWeek(_ rhythm: StatsReport.Rhythm, _ who: String) -> String {
        guard rhythm.posts > 0, let most = rhythm.weekdays.max(),
            let day = rhythm.weekdays.firstIndex(of: most)
        else {
            return "The \(who) has no posts."
        }
        return "The \(who) posts most on \(StatsReport.weekdays[day]): \(most) of \(rhythm.posts)."
    }
}

// MARK: A drawing of its own

extension Chart {
    private static let gap = 20.0

    /// All charts in one standalone drawing, light or dark by the viewer's preference.
    ///
    /// - Parameter stats: The numbers.
    /// - Returns: A whole SVG document.
    package static func document(_ stats: StatsReport) -> String {
        let charts = [hours(stats)] + weeks(stats) + [days(stats)]
        var y = gap
        var elements = [Markup]()
        for chart in charts {
            elements.append(
                "<text x=\"12\" y=\"\(y)\" font-size=\"13\" font-weight=\"bold\">\(chart.title)</text>"
            )
            elements.append(chart.element(at: y + 8))
            y += chart.height + gap + 24
        }
        let document: Markup = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(y)" width="\(2 * width)" height="\(2 * y)" \
            role="img" aria-labelledby="all-title">
            <title id="all-title">When \(stats.human ?? "the human") and \(stats.bot ?? "the bot") post</title>
            <style>
            .paper { fill: #fff } text { fill: #1b1f24 }
            @media (prefers-color-scheme: dark) {
            .paper { fill: #14171c } text { fill: #e6edf3 } .human { fill: #79a8ff } .bot { fill: #e88be4 }
            }
            </style>
            <rect class="paper" width="\(width)" height="\(y)" fill="#fff" />
            \(elements)
            </svg>

            """
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + document.text
    }
}

extension StatsReport {
    /// The names of the weekdays, Monday first.
    package static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
}
