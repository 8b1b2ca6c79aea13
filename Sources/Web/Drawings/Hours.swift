import Control
import Foundation
import Localization
import Posts

/// The hours of human and bot as a 24-hour dial with noon on top, so that day is above and night
/// below.
///
/// The human's spokes point outwards from the ring, the bot's inwards, both as shares on one scale.
/// The number in the middle is their likeness.
struct Dial: Sendable {
    /// The radius at which the human's spokes begin.
    private static let outerRadius = 95.0
    /// The radius of the ring between human and bot.
    private static let ringRadius = 92.0
    /// The radius at which the bot's spokes begin.
    private static let innerRadius = 89.0
    /// The length of the longest spoke.
    private static let longestSpoke = 53.0
    /// The radius of the numbers of the hours.
    private static let labelRadius = 164.0

    let human: StatsReport.Rhythm
    let bot: StatsReport.Rhythm
    let likeness: StatsReport.Likeness?
    /// The time of the hand; nil for none.
    let now: MinuteOfDay?

    var drawing: Drawing {
        Drawing(
            name: "clock", title: localized("The hours of human and bot"), finding: finding,
            size: .scaled(box: "-176 -176 352 352"),
            body: circles + [
                spokes(human, .human), spokes(bot, .bot),
                "<circle class=\"axis\" r=\"\(Self.ringRadius)\"/>",
            ]
                + hand + hours + middle)
    }

    // MARK: Description

    private var finding: String {
        var sentences = [
            localized("A dial of 24 hours with noon on top."),
            localized(
                "Outside the ring the human’s posts of each hour, inside it the bot’s, both as shares of all."
            ),
        ]
        switch (human.busiest, bot.busiest) {
        case (nil, nil): sentences.append(localized("Neither has any posts."))
        case (let human?, nil):
            sentences.append(
                localized(
                    "The human posts most from \(human.hour):00 on, \(Self.share(human)); the bot has no posts yet."
                ))
        case (nil, let bot?):
            sentences.append(
                localized(
                    "The bot posts most from \(bot.hour):00 on, \(Self.share(bot)); no posts of the human are archived."
                ))
        case (let human?, let bot?):
            sentences.append(
                localized(
                    """
                    The human posts most from \(human.hour):00 on, \(Self.share(human)); \
                    the bot from \(bot.hour):00 on, \(Self.share(bot)).
                    """))
            if let silentHours {
                sentences.append(
                    localized(
                        "Both are silent from \(silentHours.lowerBound):00 to \(silentHours.upperBound % 24):00."
                    ))
            }
        }
        return (sentences + [localized("The table has every number.")]).joined(by: .sentence)
    }

    private static func share(_ busiest: (hour: Int, share: Double)) -> String {
        Words.percent(busiest.share, digits: 1)
    }

    /// The longest silence of both: from its first hour to the hour at which it ends; nil for none.
    ///
    /// The end exceeds 24 if the silence crosses midnight.
    private var silentHours: ClosedRange<Int>? {
        let isSilent = (0..<24).map { human.hours[$0] == 0 && bot.hours[$0] == 0 }
        guard let start = isSilent.firstIndex(of: false) else { return nil }
        var longest: ClosedRange<Int>? = nil
        var startOfSilence: Int? = nil
        // The search goes once around the dial from an hour with posts, so that it cuts no silence
        // in two.
        for hour in start...start + 24 {
            if isSilent[hour % 24] {
                startOfSilence = startOfSilence ?? hour
            } else if let first = startOfSilence {
                if hour - first > (longest.map { $0.upperBound - $0.lowerBound } ?? 0) {
                    longest = first...hour
                }
                startOfSilence = nil
            }
        }
        guard let longest else { return nil }
        // The search may have reached the next day, whose hours count from 24 on: 25 becomes 1.
        let firstHour = longest.lowerBound % 24
        return firstHour...firstHour + longest.count - 1
    }

    // MARK: Shapes

    private enum Side { case human, bot }

    private var largestShare: Double { max(human.shares.max() ?? 0, bot.shares.max() ?? 0) }

    /// Thin circles that mark half and the whole length of the longest spoke, on both sides.
    private var circles: [Markup] {
        [
            Self.outerRadius + Self.longestSpoke / 2, Self.outerRadius + Self.longestSpoke,
            Self.innerRadius - Self.longestSpoke / 2,
            Self.innerRadius - Self.longestSpoke,
        ].map { "<circle class=\"tick\" r=\"\($0)\"/>" }
    }

    private func spokes(_ rhythm: StatsReport.Rhythm, _ side: Side) -> Markup {
        guard largestShare > 0 else { return "" }
        var path = ""
        for (hour, share) in rhythm.shares.enumerated() where share > 0 {
            let length = Self.longestSpoke * share / largestShare
            let (from, to) =
                side == .human
                ? (Self.outerRadius, Self.outerRadius + length)
                : (Self.innerRadius, Self.innerRadius - length)
            path +=
                "M\(Self.point(from, hour: Double(hour) + 0.5))L\(Self.point(to, hour: Double(hour) + 0.5))"
        }
        return side == .human
            ? "<path class=\"hl\" stroke-width=\"11\" d=\"\(path)\"/>"
            : "<path class=\"bl\" stroke-width=\"6.5\" d=\"\(path)\"/>"
    }

    private var hand: [Markup] {
        guard let now else { return [] }
        let hour = Double(now.value) / 60
        return [
            "<path class=\"now\" d=\"M\(Self.point(36, hour: hour))L\(Self.point(150, hour: hour))\"/>"
        ]
    }

    private var hours: [Markup] {
        stride(from: 0, to: 24, by: 3).map { hour in
            let (x, y) = Self.place(Self.labelRadius, hour: Double(hour))
            return """
                <text\(hour % 6 == 0 ? " class=\"strong\"" as Markup : "") x="\(Drawing.short(x))" \
                y="\(Drawing.short(y + 4))" text-anchor="middle">\(hour)</text>
                """
        }
    }

    private var middle: [Markup] {
        guard let share = likeness?.share else { return [] }
        return [
            "<text class=\"strong mid\" x=\"0\" y=\"0\" text-anchor=\"middle\">\(Words.percent(share))</text>",
            "<text x=\"0\" y=\"14\" text-anchor=\"middle\">\(localized("alike"))</text>",
        ]
    }

    private static func point(_ radius: Double, hour: Double) -> String {
        let (x, y) = place(radius, hour: hour)
        return Drawing.short(x) + " " + Drawing.short(y)
    }

    /// Returns the point at an hour of the dial, on which noon is on top and time runs clockwise.
    private static func place(_ radius: Double, hour: Double) -> (x: Double, y: Double) {
        let angle = (hour - 12) * .pi / 12
        return (radius * sin(angle), -radius * cos(angle))
    }
}

/// The week as 7 rows of 24 cells; each cell shows the human above and the bot below, in a color
/// that is stronger the more posts there are.
struct WeekGrid: Sendable {
    private static let strengthCount = 5
    private static let topEdge = 20
    private static let rowHeight = 30
    private static let cellHeight = 25
    /// The left edge of the hours, in per cent of the width.
    private static let leftEdge = 9.5

    let human: StatsReport.Rhythm
    let bot: StatsReport.Rhythm

    var drawing: Drawing {
        Drawing(
            name: "week", title: localized("The week of human and bot"), finding: finding,
            size: .stretched(height: Self.topEdge + 7 * Self.rowHeight + 2),
            body: hours + days + [cells])
    }

    private var finding: String {
        let explanation = localized(
            """
            A row for each weekday, a column for each hour; in each cell the human above and the bot below, the stronger \
            the color the more posts.
            """)
        let humanPeak =
            human.busiestOfWeek.map {
                localized("The human posts most on \(Self.days($0.day)) from \($0.hour):00 on.")
            } ?? localized("The human has no posts.")
        let botPeak =
            bot.busiestOfWeek.map {
                localized("The bot posts most on \(Self.days($0.day)) from \($0.hour):00 on.")
            } ?? localized("The bot has no posts.")
        return [
            explanation, humanPeak, botPeak, localized("The tables have every number."),
        ].joined(by: .sentence)
    }

    /// Returns the plural of a weekday, as `Mondays` for 0.
    private static func days(_ weekday: Int) -> String {
        switch weekday {
        case 0: localized("Mondays")
        case 1: localized("Tuesdays")
        case 2: localized("Wednesdays")
        case 3: localized("Thursdays")
        case 4: localized("Fridays")
        case 5: localized("Saturdays")
        default: localized("Sundays")
        }
    }

    private var hours: [Markup] {
        stride(from: 0, to: 24, by: 3).map { hour in
            let x = Self.leftEdge + (100 - Self.leftEdge) * Double(hour) / 24
            return
                "<text\(hour % 6 == 0 ? "" : " class=\"wide-only\"" as Markup) x=\"\(x)%\" y=\"11\">\(hour)</text>"
        }
    }

    private var days: [Markup] {
        (0..<7).map { day in
            let name = StatsReport.weekdays[day]
            let y = Self.topEdge + day * Self.rowHeight
            return """
                <text x="0" y="\(y + 17)">\(name)</text>\
                <rect class="cell" x="\(Self.leftEdge)%" y="\(y)" width="\(100 - Self.leftEdge)%" height="\(Self.cellHeight)"/>
                """
        }
    }

    /// The cells: for each side and each strength of color one path, with a stroke for each hour.
    private var cells: Markup {
        var paths: [Markup] = []
        // The class of each side, its posts by weekday and hour, and the middle of its half of a
        // cell, in pixels.
        for (side, week, y) in [("hl", human.week, 6), ("bl", bot.week, 19)] {
            // Human and bot have separate scales, because the few posts of a new bot would be too
            // pale on the human's scale.
            let mostPosts = Double(max(1, week.joined().max() ?? 1))
            func strengthOfColor(for posts: Int) -> Int {
                Int((Double(posts) / mostPosts * Double(Self.strengthCount)).rounded(.up))
            }
            for strength in 1...Self.strengthCount {
                var path = ""
                for (day, hours) in week.enumerated() {
                    for (hour, posts) in hours.enumerated()
                    where posts > 0 && strengthOfColor(for: posts) == strength {
                        path += "M\(hour) \(y + day * Self.rowHeight)h.94"
                    }
                }
                let opacity = 0.33 + 0.67 * Double(strength - 1) / Double(Self.strengthCount - 1)
                guard !path.isEmpty else { continue }
                paths.append(
                    "<path class=\"\(side)\" stroke-opacity=\"\(opacity)\" d=\"\(path)\"/>")
            }
        }
        return """
            <svg x="\(Self.leftEdge)%" y="\(Self.topEdge)" width="\(100 - Self.leftEdge)%" height="\(7 * Self.rowHeight)" \
            viewBox="0 0 24 \(7 * Self.rowHeight)" preserveAspectRatio="none" stroke-width="12">\(paths)</svg>
            """
    }
}

/// The last weeks as bars above a line for the human and below it for the bot, on one scale.
struct DayBars: Sendable {
    /// The vertical position of the line between human and bot.
    private static let axisHeight = 70.5
    /// The height of the highest bar.
    private static let highestBar = 56.0

    let days: [StatsReport.Day]
    /// The words of the page, which format a day as a heading and as a short label.
    let words: Words

    var drawing: Drawing {
        let highest = Double(max(1, days.map { max($0.humanPosts, $0.posts) }.max() ?? 1))
        let widthOfDay = 100 / Double(max(1, days.count))
        func bars(_ side: Markup, _ number: (StatsReport.Day) -> Int, isAbove: Bool) -> Markup {
            let bars = days.enumerated().compactMap { index, day -> Markup? in
                let height = Self.highestBar * Double(number(day)) / highest
                guard height > 0 else { return nil }
                let y = isAbove ? Self.axisHeight - 0.5 - height : Self.axisHeight + 0.5
                return """
                    <rect x="\(Double(index) * widthOfDay + 0.3)%" y="\(Drawing.short(y))" width="\(widthOfDay * 0.75)%" \
                    height="\(Drawing.short(height))"/>
                    """
            }
            return "<g class=\"\(side)\">\(bars)</g>"
        }
        let labels: [Markup] = stride(from: 0, to: days.count, by: 7).map { index in
            "<text x=\"\(Double(index) * widthOfDay)%\" y=\"146\">\(words.shortDay(days[index].day))</text>"
        }
        return Drawing(
            name: "days", title: localized("The last four weeks"), finding: finding,
            size: .stretched(height: 152),
            body: [
                "<text x=\"0\" y=\"12\">\(localized("human"))</text><text x=\"0\" y=\"130\">\(localized("bot"))</text>",
                bars("h", \.humanPosts, isAbove: true), bars("b", \.posts, isAbove: false),
                "<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"\(Self.axisHeight)\" y2=\"\(Self.axisHeight)\"/>",
            ] + labels)
    }

    private var finding: String {
        guard let first = days.first, let last = days.last else {
            return localized("There are no days to show yet.")
        }
        let human = days.map(\.humanPosts).reduce(0, +)
        let bot = days.map(\.posts).reduce(0, +)
        let explanation = localized(
            """
            Posts by day from \(words.shortDay(first.day)) to \(words.shortDay(last.day)): \(Words.number(human)) of the \
            human, \(Words.number(bot)) of the bot.
            """)
        guard let busiest = days.max(by: { $0.humanPosts < $1.humanPosts }), busiest.humanPosts > 0
        else { return explanation }
        return [
            explanation,
            localized(
                "The human’s busiest day was \(words.shortDay(busiest.day)), with \(busiest.humanPosts)."
            ),
        ].joined(by: .sentence)
    }
}

// MARK: - Shares

extension StatsReport.Rhythm {
    /// The share of each hour of the day; 0 without posts.
    var shares: [Double] { hours.map { posts > 0 ? Double($0) / Double(posts) : 0 } }

    /// The hour with the most posts, and their share; nil without posts.
    var busiest: (hour: Int, share: Double)? {
        guard posts > 0, let mostPosts = hours.max(), let hour = hours.firstIndex(of: mostPosts)
        else {
            return nil
        }
        return (hour, Double(mostPosts) / Double(posts))
    }

    /// The weekday, 0 for Monday, and the hour with the most posts; nil without posts.
    fileprivate var busiestOfWeek: (day: Int, hour: Int)? {
        guard posts > 0, let mostPosts = week.joined().max() else { return nil }
        for (day, hours) in week.enumerated() {
            if let hour = hours.firstIndex(of: mostPosts) { return (day, hour) }
        }
        return nil
    }
}

extension Words {
    /// Formats a day as `25 Nov`, or as `25 Nov 2025` if the year is not the present one.
    func shortDay(_ day: LocalDay) -> String {
        let (year, month, number) = day.components
        let isThisYear = year == today.components.year
        return switch month {
        case 1: localized(isThisYear ? "\(number) Jan" : "\(number) Jan \(year)")
        case 2: localized(isThisYear ? "\(number) Feb" : "\(number) Feb \(year)")
        case 3: localized(isThisYear ? "\(number) Mar" : "\(number) Mar \(year)")
        case 4: localized(isThisYear ? "\(number) Apr" : "\(number) Apr \(year)")
        case 5: localized(isThisYear ? "\(number) May" : "\(number) May \(year)")
        case 6: localized(isThisYear ? "\(number) Jun" : "\(number) Jun \(year)")
        case 7: localized(isThisYear ? "\(number) Jul" : "\(number) Jul \(year)")
        case 8: localized(isThisYear ? "\(number) Aug" : "\(number) Aug \(year)")
        case 9: localized(isThisYear ? "\(number) Sep" : "\(number) Sep \(year)")
        case 10: localized(isThisYear ? "\(number) Oct" : "\(number) Oct \(year)")
        case 11: localized(isThisYear ? "\(number) Nov" : "\(number) Nov \(year)")
        default: localized(isThisYear ? "\(number) Dec" : "\(number) Dec \(year)")
        }
    }
}
