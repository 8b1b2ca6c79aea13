import Evaluation
import Foundation
import Posts
import Web

/// The HTML page of a rehearsed year, in one file.
///
/// Both years are strips: a column for each day, with each post at its time. Below them are some
/// weeks with their texts, side by side.
struct RehearsalPage {
    /// The limit of the page's size, in bytes.
    ///
    /// Only a page with the least detail may be larger.
    private static let largest = 80_000

    /// The level of detail of the page.
    private struct Detail {
        let weeks: Int
        /// The most posts of one day that are shown of the human, and of the bot.
        let postsPerDay: Int
        /// The most characters of a text.
        let characters: Int
        /// The most replies, and the most favorites, that are shown.
        let samples: Int
        /// The most marks of a strip; adjacent posts share a mark.
        let maximumMarks: Int

        /// The first level whose page fits the size limit is used, else the last one.
        static let all = [
            Detail(weeks: 4, postsPerDay: 6, characters: 140, samples: 12, maximumMarks: 1_500),
            Detail(weeks: 3, postsPerDay: 5, characters: 120, samples: 10, maximumMarks: 1_200),
            Detail(weeks: 2, postsPerDay: 4, characters: 100, samples: 8, maximumMarks: 1_000),
            Detail(weeks: 1, postsPerDay: 3, characters: 80, samples: 5, maximumMarks: 800),
            Detail(weeks: 1, postsPerDay: 2, characters: 60, samples: 3, maximumMarks: 500),
        ]
    }

    let report: RehearsedYear

    init(_ report: RehearsedYear) { self.report = report }

    /// The HTML of the whole file.
    var html: String {
        var html = ""
        for detail in Detail.all {
            html = page(detail)
            if html.utf8.count <= Self.largest { break }
        }
        return html
    }

    private func page(_ detail: Detail) -> String {
        let mirror = report.mirror == "default" ? "the mirror" : "the mirror \(report.mirror)"
        return FilePage(
            .rehearsal, title: "\(report.year), lived twice",
            subtitle: """
                The year of the human beside the one that \(mirror) would have lived, clock of \(report.timeZone). \
                It began with \(report.postsBefore) older posts and learned each day once it was over.
                """,
            context(detail)
        ).html
    }

    private func context(_ detail: Detail) -> PageContext {
        let weeks = chosenWeeks(detail.weeks)
        return [
            "sentences": .texts(
                RehearsalWords.sentences(report).map { Words.capitalized($0) + "." }),
            "strips": .markup(YearStrips(report, maximumMarks: detail.maximumMarks).element),
            "months": .list(months), "hasWeeks": .flag(!weeks.isEmpty),
            "weeks": .list(weeks.map { week($0, detail) }),
            "repliesMissing": .text(Self.missing(report.replies)),
            "replies": .fields(report.replies.scores.map { replies($0.simulated, detail) }),
            "favoritesMissing": .text(Self.missing(report.favorites)),
            "favorites": .fields(report.favorites.scores.map { favorites($0.choices, detail) }),
        ]
    }

    // MARK: The year

    private var months: [PageContext] {
        let months = Dictionary(grouping: report.days) { $0.day.components.month }
        return months.keys.sorted().map { month in
            let days = months[month] ?? []
            return [
                "month": .text(YearStrips.months[month - 1]),
                "human": .number(days.reduce(0) { $0 + $1.human.count }),
                "bot": .number(days.reduce(0) { $0 + $1.bot.count }),
                "humanDays": .number(days.count { !$0.human.isEmpty }),
                "botDays": .number(days.count { !$0.bot.isEmpty }),
            ]
        }
    }

    // MARK: Weeks

    private func week(_ days: [RehearsedYear.Day], _ detail: Detail) -> PageContext {
        [
            "from": .text("\(days[0].day)"), "until": .text("\(days[days.count - 1].day)"),
            "days": .list(
                days.map { day -> PageContext in
                    let date = String("\(day.day)".dropFirst(5))
                    return [
                        "day": .text("\(Self.weekdays[day.day.weekday - 1]) \(date)"),
                        "sides": .list([
                            side("the human", day.human, detail), side("the bot", day.bot, detail),
                        ]),
                    ]
                }),
        ]
    }

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    /// Returns `count` weeks, from Monday on, that are spread over the year; human and bot both
    /// have posts in each of them.
    private func chosenWeeks(_ count: Int) -> [[RehearsedYear.Day]] {
        let mondays = report.days.indices.filter {
            report.days[$0].day.weekday == 1 && $0 + 7 <= report.days.count
        }
        let weeks = mondays.map { Array(report.days[$0..<$0 + 7]) }
            .filter { week in
                week.contains { !$0.human.isEmpty } && week.contains { !$0.bot.isEmpty }
            }
        return Self.spread(weeks, count)
    }

    private func side(_ who: String, _ entries: [RehearsedYear.Entry], _ detail: Detail)
        -> PageContext
    {
        let shownEntries = entries.prefix(detail.postsPerDay)
        let furtherCount = entries.count - shownEntries.count
        return [
            "who": .text(who), "more": furtherCount > 0 ? .number(furtherCount) : .none,
            "posts": .list(
                shownEntries.map { entry -> PageContext in
                    let text = entry.text.map { Self.cut($0, to: detail.characters) }
                    return [
                        "time": .text(entry.minute.description),
                        "language": .text(entry.language.flatMap(LanguageTag.naming)),
                        "text": .text(text ?? "(a text that is never to be sent)"),
                    ]
                }),
        ]
    }

    private static func cut(_ text: String, to length: Int) -> String {
        text.count > length ? text.prefix(length) + "…" : text
    }

    // MARK: Replies and favorites

    private func replies(_ answers: [RehearsedReplies.Answer], _ detail: Detail) -> PageContext {
        let shownAnswers = Self.spread(answers, detail.samples)
        return [
            "shown": .number(shownAnswers.count), "all": .number(answers.count),
            "rows": .list(
                shownAnswers.map { answer -> PageContext in
                    let silenceText =
                        answer.isDoubtful
                        ? "(silence: the best old reply hardly fitted)" : "(silence)"
                    return [
                        "mention": .text(Self.cut(answer.mention, to: detail.characters)),
                        "human": .text(Self.cut(answer.human, to: detail.characters)),
                        "bot": .text(
                            answer.bot.map { Self.cut($0, to: detail.characters) } ?? silenceText),
                    ]
                }),
        ]
    }

    private func favorites(_ choices: [RehearsedFavorites.Choice], _ detail: Detail) -> PageContext
    {
        let shownChoices = Self.spread(choices, detail.samples)
        return [
            "shown": .number(shownChoices.count), "all": .number(choices.count),
            "rows": .list(
                shownChoices.map { choice in
                    [
                        "author": .text(choice.author.map { "@\($0)" }),
                        "text": .text(Self.cut(choice.text, to: detail.characters)),
                        "human": .text(choice.isHumans ? "yes" : "no"),
                        "bot": .text(choice.isBots ? "yes" : "no"),
                    ]
                }),
        ]
    }

    /// Returns the reason why a part has no scores; nil if it has some.
    private static func missing<Scores>(_ part: ScoreReport.Part<Scores>) -> String? {
        guard case .missing(let reason) = part else { return nil }
        return reason
    }

    /// Returns the middle elements of `count` equal parts of a list; all elements if there are
    /// fewer.
    private static func spread<Element>(_ elements: [Element], _ count: Int) -> [Element] {
        guard elements.count > count else { return elements }
        return (0..<count).map { part in
            // The middle of a part is at an odd number of half parts.
            elements[(2 * part + 1) * elements.count / (2 * count)]
        }
    }
}

/// A year of the human above a year of the bot: days from left to right, midnight at the top.
private struct YearStrips {
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// The left edge of the days, in units of the drawing.
    private static let leftEdge = 34
    private static let dayWidth = 2
    /// The minutes of one unit of height.
    private static let minutesPerUnit = 8
    private static let height = MinuteOfDay.count / minutesPerUnit
    /// The possible heights of a mark, in units: the fewer posts there are, the finer they can be
    /// shown.
    private static let markHeights = [2, 3, 4, 6, 10, 15, 20]
    /// The top of the human's strip.
    private static let humanTop = 48
    /// The top of the bot's strip.
    private static let botTop = humanTop + height + 44
    /// The height of the whole drawing.
    private static let drawingHeight = botTop + height + 8
    private static let daysAcross = 366

    private let report: RehearsedYear
    private let maximumMarks: Int

    /// - Parameter maximumMarks: The most marks of each strip.
    init(_ report: RehearsedYear, maximumMarks: Int) {
        self.report = report
        self.maximumMarks = maximumMarks
    }

    var element: Markup {
        let width = Self.leftEdge + Self.dayWidth * Self.daysAcross + 4
        let human = path(report.days.map(\.human), top: Self.humanTop)
        let bot = path(report.days.map(\.bot), top: Self.botTop)
        return """
            <svg class="wide" viewBox="0 0 \(width) \(Self.drawingHeight)" fill="none" role="img" \
            aria-labelledby="strips-title strips-summary">
            <title id="strips-title">\(report.year) of the human and of the bot</title>
            <desc id="strips-summary">\(summary)</desc>
            \(labels)
            <path class="tick" d="\(grid)" />
            <path class="hl" stroke-width="\(Self.dayWidth)" d="\(human)" />
            <path class="bl" stroke-width="\(Self.dayWidth)" d="\(bot)" />
            </svg>
            """
    }

    private var summary: String {
        let human = report.human
        let bot = report.bot
        return
            "Each day is a column. The human posted \(human.posts) times on \(human.daysWithPosts) days"
            + "\(peak(report.days.map(\.human))); the bot \(bot.posts) times on \(bot.daysWithPosts) days"
            + "\(peak(report.days.map(\.bot)))."
    }

    /// Returns a clause about the hour with the most posts; empty if there are no posts.
    private func peak(_ days: [[RehearsedYear.Entry]]) -> String {
        var hours = [Int](repeating: 0, count: 24)
        for entry in days.joined() { hours[entry.minute.value / 60] += 1 }
        guard let highest = hours.max(), highest > 0, let hour = hours.firstIndex(of: highest)
        else {
            return ""
        }
        return ", most of them from \(hour):00 on"
    }

    private func x(_ index: Int) -> Int {
        Self.leftEdge + Self.dayWidth * index + Self.dayWidth / 2
    }

    private var firstsOfMonths: [(index: Int, month: Int)] {
        report.days.indices.filter { report.days[$0].day.components.day == 1 }
            .map { ($0, report.days[$0].day.components.month) }
    }

    private var labels: [Markup] {
        let sides: [Markup] = [
            "<text x=\"\(Self.leftEdge)\" y=\"15\">the human</text>",
            "<text x=\"\(Self.leftEdge)\" y=\"\(Self.botTop - 12)\">the bot</text>",
        ]
        let months: [Markup] = firstsOfMonths.map { index, month in
            "<text x=\"\(x(index))\" y=\"\(Self.humanTop - 8)\">\(Self.months[month - 1])</text>"
        }
        let hours: [Markup] = [Self.humanTop, Self.botTop].flatMap { top in
            [0, 6, 12, 18].map { hour in
                "<text x=\"0\" y=\"\(top + hour * 60 / Self.minutesPerUnit + 11)\">\(hour)</text>"
                    as Markup
            }
        }
        return sides + months + hours
    }

    /// The path of the lines at the beginnings of months and at the quarters of a day.
    private var grid: String {
        let width = Self.dayWidth * report.days.count
        return [Self.humanTop, Self.botTop].map { top in
            let hours = [0, 6, 12, 18, 24].map {
                "M\(Self.leftEdge) \(top + $0 * 60 / Self.minutesPerUnit)h\(width)"
            }
            let months = firstsOfMonths.map {
                "M\(x($0.index) - Self.dayWidth / 2) \(top)v\(Self.height)"
            }
            return (hours + months).joined()
        }.joined()
    }

    /// The path of a strip's marks.
    private func path(_ days: [[RehearsedYear.Entry]], top: Int) -> String {
        var runs: [(day: Int, runs: [Range<Int>])] = []
        for markHeight in Self.markHeights {
            runs = days.enumerated().map { ($0, Self.runs($1, markHeight)) }
            if runs.reduce(0, { $0 + $1.runs.count }) <= maximumMarks { break }
        }
        return runs.flatMap { day, runs in
            runs.map { "M\(x(day)) \(top + $0.lowerBound)v\($0.count)" }
        }.joined()
    }

    /// The stretches of a day that have posts, in units from the top; adjacent ones are joined.
    private static func runs(_ entries: [RehearsedYear.Entry], _ markHeight: Int) -> [Range<Int>] {
        let positions = Set(entries.map { $0.minute.value / (minutesPerUnit * markHeight) })
            .sorted()
        var runs: [Range<Int>] = []
        for position in positions {
            let start = position * markHeight
            let end = min(start + markHeight, height)
            if let last = runs.last, last.upperBound == start {
                runs[runs.count - 1] = last.lowerBound..<end
            } else {
                runs.append(start..<end)
            }
        }
        return runs
    }
}
