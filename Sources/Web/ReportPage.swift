package import Control
import Foundation
import Mirroring
import Outbox
import Posts

/// A report of a mirror that a person can open and forward: one file without scripts or external
/// resources.
///
/// It is readable without its styles, and is well-formed XML. Texts of others are escaped; see
/// ``Markup``.
package struct ReportPage: Sendable {
    /// The most characters of a text that are shown.
    private static let textShown = 300

    let report: MirrorReport
    private let zone: TimeZone

    package init(_ report: MirrorReport) {
        self.report = report
        zone = TimeZone(identifier: report.stats.timeZone) ?? .gmt
    }

    private var stats: StatsReport { report.stats }
    private var status: StatusReport { report.status }

    /// The whole file.
    package var html: String {
        Page.html(title: title, subtitle: subtitle, sections: sections)
    }

    private var title: String {
        let mirror = status.mirror == "default" ? "The mirror" : "The mirror \(status.mirror)"
        return stats.human.map { "\(mirror) of @\($0)" } ?? mirror
    }

    private var subtitle: Markup {
        let bot: Markup = stats.bot.map { "The bot is <bdi>@\($0)</bdi>. " } ?? ""
        return "\(bot)Seen on \(time(stats.made)), clock of \(stats.timeZone)."
    }

    private var sections: [Markup] {
        [
            Page.section("state", "How it is", state),
            Page.section("hours", "The hours of human and bot", hours),
            Page.section("week", "The week", week), Page.section("plan", "The coming plan", plan),
            Page.section("days", "The last four weeks", days),
            Page.section("actions", "The last actions, and why", actions),
            Page.section("favorites", "What is favorited", favorites),
            Page.section("left-out", "What is left out, and why", leftOut),
            Page.section("stored", "What is stored", stored),
        ]
    }

    // MARK: How it is

    private var state: [Markup] {
        let next =
            status.nextSlot.map { "<p>The next post comes on \(time($0)).</p>" as Markup } ?? ""
        let facts: [(String, String)] = [
            ("Posts of the human that are known", "\(status.archive.posts)"),
            ("Favorites and other posts that were learned", learned),
            ("Waiting for a person", "\(status.suggestions)"),
        ]
        let list = facts.map { "<dt>\($0)</dt><dd>\($1)</dd>" as Markup }
        let verdict: Markup =
            status.verdict.map {
                "<p class=\"verdict\">\(sentence: Words.capitalized($0.text)).</p>"
            } ?? ""
        let running: Markup = status.isRunning ? "<p>A worker is running.</p>" : ""
        let worker: Markup = "\(verdict)\(running)"
        guard !status.idle.isEmpty else { return [worker, next, "<dl>\(list)</dl>"] }
        let reasons = status.idle.map { "<li>\(sentence: $0)</li>" as Markup }
        return [
            worker, next, "<dl>\(list)</dl>", "<h3>Why something does not happen</h3>",
            "<ul>\(reasons)</ul>",
        ]
    }

    private var learned: String {
        guard let state = status.classifier else { return "cannot be reached" }
        return "\(state.favorites) and \(state.normals)"
    }

    // MARK: Rhythms

    private var hours: [Markup] {
        let human = Self.shares(stats.humanPosts.hours)
        let bot = Self.shares(stats.botPosts.hours)
        let rows = (0..<24).map { hour in ["\(hour):00", human[hour], bot[hour]] as [Markup] }
        return [
            figure(
                Chart.hours(stats),
                "\(stats.humanPosts.posts) posts of the human, \(stats.botPosts.posts) of the bot; each has its own scale."
            ),
            details(
                "The hours as a table",
                Page.table("Share of posts by hour", ["hour", "human", "bot"], rows)),
        ]
    }

    private static func shares(_ numbers: [Int]) -> [Markup] {
        let sum = numbers.reduce(0, +)
        return numbers.map { sum == 0 ? "–" : "\(percent($0, of: sum))" }
    }

    private static func percent(_ number: Int, of sum: Int) -> String {
        String(format: "%.1f %%", 100 * Double(number) / Double(sum))
    }

    private var week: [Markup] {
        let grids = Chart.weeks(stats).map(\.element)
        let tables = [("human", stats.humanPosts), ("bot", stats.botPosts)].map { who, rhythm in
            let rows: [[Markup]] =
                (0..<24).map { hour in ["\(hour):00"] + rhythm.week.map { "\($0[hour])" as Markup }
                }
                + [["all"] + rhythm.weekdays.map { "\($0)" }]
            return Page.table(
                "Posts of the \(who) by hour and weekday", ["hour"] + StatsReport.weekdays, rows)
        }
        return [
            "<figure class=\"pair\">\(grids)\n<figcaption>The stronger the color, the more posts at that hour.</figcaption></figure>",
            details("The week as tables", "\(tables)"),
        ]
    }

    private var days: [Markup] {
        let rows = stats.days.reversed().map { day in
            [
                "\(day.day.description)", "\(day.humanPosts)", "\(day.posts)", "\(day.replies)",
                "\(day.favorites)",
            ]
                as [Markup]
        }
        let headings = ["day", "human", "posts", "replies", "favorites"]
        return [
            figure(Chart.days(stats), "Posts of the human and of the bot; each has its own scale."),
            details(
                "The days as a table",
                Page.table("Posts of the human, and what the bot did", headings, rows)),
        ]
    }

    // MARK: Actions

    private var plan: [Markup] {
        guard !report.days.isEmpty else { return ["<p>No day can be planned yet.</p>"] }
        return report.days.map { day in
            guard !day.slots.isEmpty else { return "<p>No posts on \(day.day.description).</p>" }
            let note = day.isStored ? "" : ", a preview: the plan is made when the day begins"
            let rows = day.slots.map { slot in
                [
                    "\(slot.time), \(slot.state) <code>\(short(slot.id))</code>",
                    words(
                        slot.text, slot.language,
                        (slot.reasonText ?? slot.why).map { "\(sentence: $0)" }),
                ] as [Markup]
            }
            return Page.table(
                "\(day.day)\(note)", ["when", "text, and how it was chosen"], rows, isText: true)
        }
    }

    private var actions: [Markup] {
        guard !status.recent.isEmpty else { return ["<p>Nothing was done or decided yet.</p>"] }
        let rows = status.recent.map { action in
            let person = action.person.map {
                " \(action.kind == .reply ? "to" : "for") <bdi>\($0.name)</bdi>" as Markup
            }
            return [
                """
                \(action.kind.rawValue)\(person ?? ""), \(action.state.rawValue)
                <p class="why">\(time(action.at)) <code>\(short(action.id))</code></p>
                """,
                words(action.text, action.language, why(action)),
            ] as [Markup]
        }
        return [
            Page.table("The newest first", ["what", "text, and why"], rows, isText: true),
            "<p>Behind each time stands an id; <code>mirror-bot explain ID</code> tells more of the action.</p>",
        ]
    }

    private func why(_ action: ReportedAction) -> Markup? {
        if let reason = action.reasonText { return "\(sentence: reason)" }
        guard let rate = action.rate, let words = action.words, !words.isEmpty else {
            return action.why.map { "\(sentence: $0)" }
        }
        // The words are those of somebody else's post.
        let judged = "rate \(String(format: "%.3g", rate)), for \(words.joined(separator: ", "))"
        return "\(sentence: action.why ?? ""): \(judged)"
    }

    /// Returns the text with the reason below it.
    private func words(_ text: String?, _ language: String?, _ why: Markup?) -> Markup {
        let tag: Markup = language.flatMap(LanguageTag.naming).map { " lang=\"\($0)\"" } ?? ""
        let said: Markup =
            text.map { "<p class=\"said\"><bdi\(tag)>\(Self.cut($0))</bdi></p>" } ?? ""
        let reason: Markup = why.map { "<p class=\"why\">\($0)</p>" } ?? ""
        return "\(said)\(reason)"
    }

    private static func cut(_ text: String) -> String {
        text.count > textShown ? text.prefix(textShown) + "…" : text
    }

    private func short(_ id: String) -> String { String(id.prefix(ActionNameError.usualLength)) }

    // MARK: Favorites and the rest

    private var favorites: [Markup] {
        if let problem = stats.wordsProblem {
            return ["<p>Nothing can be said of it: \(sentence: problem)</p>"]
        }
        let authors = stats.authors.map {
            ["<bdi>\($0.name)</bdi>", "\(Int($0.favorites))", "\(Int($0.normals))", "\($0.given)"]
                as [Markup]
        }
        func words(_ words: [StatsReport.Word]) -> [[Markup]] {
            words.map { ["<bdi>\($0.word)</bdi>", "\(Int($0.favorites))", "\(Int($0.normals))"] }
        }
        let headings = ["word", "in favorites", "in other posts"]
        let tables: [Markup?] = [
            authors.isEmpty
                ? nil
                : Page.table(
                    "By author",
                    ["author", "favorites of the human", "other posts", "favorites of the bot"],
                    authors),
            stats.wordsFor.isEmpty
                ? nil
                : Page.table("Words that speak for a favorite", headings, words(stats.wordsFor)),
            stats.wordsAgainst.isEmpty
                ? nil
                : Page.table("Words that speak against one", headings, words(stats.wordsAgainst)),
        ]
        let there = tables.compactMap(\.self)
        return there.isEmpty ? ["<p>Nothing was learned yet.</p>"] : there
    }

    private static let parts: [StatsReport.LeftOut.Part: String] = [
        .archive: "old post", .post: "post", .reply: "reply", .favorite: "favorite",
        .feed: "item of a feed",
    ]

    private var leftOut: [Markup] {
        guard !stats.leftOut.isEmpty else { return ["<p>Nothing was left out.</p>"] }
        let rows = stats.leftOut.map { line in
            let state = line.state.map { ", \($0)" } ?? ""
            return [
                "\((Self.parts[line.part] ?? line.part.rawValue) + state)",
                "\(sentence: line.reason.text)",
                "\(line.count)",
            ]
                as [Markup]
        }
        return [
            Page.table(
                "What did not happen, by reason", ["what", "why", "how often"], rows, isText: true)
        ]
    }

    private var stored: [Markup] {
        let rows = stats.stored.map {
            ["\($0.what)", "\($0.count)", "\(sentence: $0.keeps)"] as [Markup]
        }
        return [
            Page.table(
                "All of it lies in the operator's own database", ["what", "how many", "kept"], rows,
                isText: true)
        ]
    }

    // MARK: Elements

    private func time(_ date: Date) -> Markup {
        Page.time(date, in: zone)
    }

    private func figure(_ chart: Chart, _ caption: String) -> Markup {
        "<figure>\(chart.element)\n<figcaption>\(caption)</figcaption></figure>"
    }

    private func details(_ summary: String, _ body: Markup) -> Markup {
        "<details><summary>\(summary)</summary>\n\(body)\n</details>"
    }
}
