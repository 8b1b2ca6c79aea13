import Control
import Localization
import Posts

/// The coming week as one drawing: each day has a lane of 24 hours, with the human's hours above
/// its line and the bot's posts below.
///
/// `week.js` places handles over the posts, at the coordinates ``top``, ``laneHeight``, ``left``
/// and ``postDepth``.
struct WeekStrip: Sendable {
    /// The top of the first lane, in pixels.
    static let top = 16
    /// The height of each lane, in pixels.
    static let laneHeight = 44
    /// The left edge of the hours, in per cent of the width.
    static let left = 14.0
    /// The distance of the posts' middle from the top of their lane, in pixels.
    static let postDepth = 32
    /// The distance of the line between human and bot from the top of its lane, in pixels.
    private static let lineDepth = 22
    /// The most posts of a day that are drawn; a number stands for the others.
    static let mostShown = 12
    /// The height of the human's highest bar.
    private static let highestBar = 20.0

    let week: WeekAhead
    let words: Words

    /// Returns the horizontal place of a minute of the day, in per cent of the width.
    static func place(of minute: Int) -> Double {
        left + (100 - left) * Double(minute) / Double(MinuteOfDay.count)
    }

    private var height: Int { Self.top + week.days.count * Self.laneHeight }

    var drawing: Drawing {
        Drawing(
            name: "strip", title: localized("The coming week"), finding: finding,
            size: .stretched(height: height + 4), body: quiet + hours + lanes + now)
    }

    private var finding: String {
        let planned = week.days.filter(\.isStored)
        let posts = planned.flatMap(\.slots).count { SlotState($0).isAhead }
        let expected = week.days.filter { !$0.isStored }.flatMap(\.slots).count
        let count = Words.count(posts, "post")
        let more = Words.number(expected)
        let counts =
            switch (posts, expected) {
            case (1, 1):
                localized("\(count) to come is planned, \(more) more is expected.")
            case (1, _):
                localized("\(count) to come is planned, \(more) more are expected.")
            case (_, 1):
                localized("\(count) to come are planned, \(more) more is expected.")
            default:
                localized("\(count) to come are planned, \(more) more are expected.")
            }
        return [
            localized(
                """
                A lane for each day, from midnight to midnight; above its line the human’s usual hours, below it the \
                bot’s posts.
                """), counts, localized("The list below says the same."),
        ].joined(by: .sentence)
    }

    private var quiet: [Markup] {
        week.quiet.map { span in
            let from = Self.place(of: span.from)
            return """
                <rect class="quiet" x="\(from)%" y="\(Self.top)" width="\(Self.place(of: span.to) - from)%" \
                height="\(height - Self.top)"/>
                """
        }
    }

    private var hours: [Markup] {
        stride(from: 0, through: 24, by: 3).map { hour in
            let x = Self.place(of: hour * 60)
            let isWide: Markup = hour % 6 == 0 ? "" : " class=\"wide-only\""
            let anchor: Markup = hour == 24 ? "end" : "middle"
            return """
                <g\(isWide)><line class="tick" x1="\(x)%" x2="\(x)%" y1="\(Self.top)" y2="\(height)"/>\
                <text x="\(x)%" y="11" text-anchor="\(anchor)">\(hour)</text></g>
                """
        }
    }

    private var lanes: [Markup] {
        week.days.enumerated().flatMap { index, day in
            let top = Self.top + index * Self.laneHeight
            let label: Markup = """
                <text\(index == 0 ? " class=\"strong\"" as Markup : "") x="0" y="\(top + Self.lineDepth - 4)">\
                \(StatsReport.weekdays[day.day.weekday - 1])</text><text x="0" y="\(top + Self.lineDepth + 12)">\
                \(words.shortDay(day.day))</text>
                """
            let line: Markup = """
                <line class="axis" x1="\(Self.left)%" x2="100%" y1="\(top + Self.lineDepth)" y2="\(top + Self.lineDepth)"/>
                """
            let postMarks = day.slots.prefix(Self.mostShown).map { slot in
                SlotState(slot).mark(
                    x: Self.place(of: LocalTime(slot.due, in: words.zone).minute.value),
                    y: top + Self.postDepth)
            }
            let hiddenPosts = day.slots.count - Self.mostShown
            let hiddenCount: Markup =
                hiddenPosts > 0
                ? "<text x=\"100%\" y=\"\(top + Self.lineDepth + 12)\" text-anchor=\"end\">+\(hiddenPosts)</text>"
                : ""
            return [label, bars(of: day.day, top: top), line] + postMarks + [hiddenCount]
        }
    }

    /// Returns the bars of the human's posts by hour on a weekday, as strokes of one path.
    private func bars(of day: LocalDay, top: Int) -> Markup {
        let shares = week.humanHours[day.weekday - 1]
        let largestShare = week.humanHours.joined().max() ?? 0
        guard largestShare > 0 else { return "" }
        let strokes = shares.enumerated().compactMap { hour, share -> Markup? in
            guard share > 0 else { return nil }
            let barTop = Self.highestBar - max(1, share / largestShare * Self.highestBar)
            return "M\(Double(hour) + 0.5) 20V\(barTop.rounded())"
        }
        return """
            <svg x="\(Self.left)%" y="\(top + 2)" width="\(100 - Self.left)%" height="20" viewBox="0 0 24 20" \
            preserveAspectRatio="none" stroke-width=".86"><path class="hl" d="\(strokes)"/></svg>
            """
    }

    private var now: [Markup] {
        guard week.days.first?.day == words.today else { return [] }
        let x = Self.place(of: LocalTime(words.now, in: words.zone).minute.value)
        return [
            "<line class=\"now\" x1=\"\(x)%\" x2=\"\(x)%\" y1=\"\(Self.top)\" y2=\"\(Self.top + Self.laneHeight)\"/>"
        ]
    }
}
