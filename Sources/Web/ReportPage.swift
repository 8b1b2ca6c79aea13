import Foundation
package import Mirroring
import Outbox
import Posts

/// A mirror on one page that a person can open and send on: one file, no script, nothing from elsewhere.
///
/// It reads well without its styles, and is well-formed XML. Texts of others are texts; see ``Markup``.
package struct ReportPage: Sendable {
    /// Longer texts are cut there.
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
        let page: Markup = """
            <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
            <head>
            <meta charset="utf-8" />
            <title>\(title)</title>
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="color-scheme" content="light dark" />
            <meta name="referrer" content="no-referrer" />
            <meta name="robots" content="noindex" />
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
            base-uri 'none'; form-action 'none'" />
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <header>
            <h1>\(title)</h1>
            <p>\(subtitle)</p>
            </header>
            <main>
            \(sections)
            </main>
            </body>
            </html>

            """
        return "<!DOCTYPE html>\n" + page.text
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
            section("state", "How it is", state), section("hours", "The hours of human and bot", hours),
            section("week", "The week", week), section("plan", "The coming plan", plan),
            section("days", "The last four weeks", days), section("actions", "The last actions, and why", actions),
            section("favorites", "What is favorited", favorites),
            section("left-out", "What is left out, and why", leftOut), section("stored", "What is stored", stored),
        ]
    }

    private func section(_ name: String, _ title: String, _ body: [Markup]) -> Markup {
        """
        <section aria-labelledby="\(name)">
        <h2 id="\(name)">\(title)</h2>
        \(body)
        </section>
        """
    }

    // MARK: How it is

    private var state: [Markup] {
        let next = status.nextSlot.map { "<p>The next post comes on \(time($0)).</p>" as Markup } ?? ""
        let facts: [(String, String)] = [
            ("Posts of the human that are known", "\(status.archive.posts)"),
            ("Favorites and other posts that were learned", learned),
            ("Waiting for a person", "\(status.suggestions)"),
        ]
        let list = facts.map { "<dt>\($0)</dt><dd>\($1)</dd>" as Markup }
        let worker: Markup = status.isRunning ? "<p>A worker is running.</p>" : ""
        guard !status.idle.isEmpty else { return [worker, next, "<dl>\(list)</dl>"] }
        let reasons = status.idle.map { "<li>\($0)</li>" as Markup }
        return [worker, next, "<dl>\(list)</dl>", "<h3>Why something does not happen</h3>", "<ul>\(reasons)</ul>"]
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
            details("The hours as a table", table("Share of posts by hour", ["hour", "human", "bot"], rows)),
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
                (0..<24).map { hour in ["\(hour):00"] + rhythm.week.map { "\($0[hour])" as Markup } }
                + [["all"] + rhythm.weekdays.map { "\($0)" }]
            return table("Posts of the \(who) by hour and weekday", ["hour"] + StatsReport.weekdays, rows)
        }
        return [
            "<figure class=\"pair\">\(grids)\n<figcaption>The stronger the color, the more posts at that hour.</figcaption></figure>",
            details("The week as tables", "\(tables)"),
        ]
    }

    private var days: [Markup] {
        let rows = stats.days.reversed().map { day in
            ["\(day.day.description)", "\(day.humanPosts)", "\(day.posts)", "\(day.replies)", "\(day.favorites)"]
                as [Markup]
        }
        let headings = ["day", "human", "posts", "replies", "favorites"]
        return [
            figure(Chart.days(stats), "Posts of the human and of the bot; each has its own scale."),
            details("The days as a table", table("Posts of the human, and what the bot did", headings, rows)),
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
                    words(slot.text, slot.language, slot.reasonText ?? slot.why),
                ] as [Markup]
            }
            return table("\(day.day)\(note)", ["when", "text, and how it was chosen"], rows, isText: true)
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
                words(action.text, action.language, action.reasonText ?? why(action)),
            ] as [Markup]
        }
        return [
            table("The newest first", ["what", "text, and why"], rows, isText: true),
            "<p>Behind each time stands an id; <code>mirror-bot explain ID</code> tells more of the action.</p>",
        ]
    }

    private func why(_ action: StatusReport.Recent) -> String? {
        guard let rate = action.rate, let words = action.words, !words.isEmpty else { return action.why }
        return "\(action.why ?? ""): rate \(String(format: "%.3g", rate)), for \(words.joined(separator: ", "))"
    }

    /// What is said, and below it why.
    private func words(_ text: String?, _ language: String?, _ why: String?) -> Markup {
        let tag: Markup = language.flatMap(LanguageTag.naming).map { " lang=\"\($0)\"" } ?? ""
        let said: Markup = text.map { "<p class=\"said\"><bdi\(tag)>\(Self.cut($0))</bdi></p>" } ?? ""
        let reason: Markup = why.map { "<p class=\"why\">\($0)</p>" } ?? ""
        return "\(said)\(reason)"
    }

    private static func cut(_ text: String) -> String {
        text.count > textShown ? text.prefix(textShown) + "…" : text
    }

    private func short(_ id: String) -> String { String(id.prefix(ActionNameError.usualLength)) }

    // MARK: Favorites and the rest

    private var favorites: [Markup] {
        if let problem = stats.wordsProblem { return ["<p>Nothing can be said of it: \(problem)</p>"] }
        let authors = stats.authors.map {
            ["<bdi>\($0.name)</bdi>", "\(Int($0.favorites))", "\(Int($0.normals))", "\($0.given)"] as [Markup]
        }
        func words(_ words: [StatsReport.Word]) -> [[Markup]] {
            words.map { ["<bdi>\($0.word)</bdi>", "\(Int($0.favorites))", "\(Int($0.normals))"] }
        }
        let headings = ["word", "in favorites", "in other posts"]
        let tables: [Markup?] = [
            authors.isEmpty
                ? nil
                : table(
                    "By author",
                    ["author", "favorites of the human", "other posts", "favorites of the bot"], authors),
            stats.wordsFor.isEmpty ? nil : table("Words that speak for a favorite", headings, words(stats.wordsFor)),
            stats.wordsAgainst.isEmpty
                ? nil : table("Words that speak against one", headings, words(stats.wordsAgainst)),
        ]
        let there = tables.compactMap(\.self)
        return there.isEmpty ? ["<p>Nothing was learned yet.</p>"] : there
    }

    private static let parts: [StatsReport.LeftOut.Part: String] = [
        .archive: "old post", .post: "post", .reply: "reply", .favorite: "favorite", .feed: "item of a feed",
    ]

    private var leftOut: [Markup] {
        guard !stats.leftOut.isEmpty else { return ["<p>Nothing was left out.</p>"] }
        let rows = stats.leftOut.map { line in
            let state = line.state.map { ", \($0)" } ?? ""
            return ["\((Self.parts[line.part] ?? line.part.rawValue) + state)", "\(line.reason.text)", "\(line.count)"]
                as [Markup]
        }
        return [
            table("What did not happen, by reason", ["what", "why", "how often"], rows, isText: true)
        ]
    }

    private var stored: [Markup] {
        let rows = stats.stored.map { ["\($0.what)", "\($0.count)", "\($0.keeps)"] as [Markup] }
        return [
            table("All of it lies in the operator's own database", ["what", "how many", "kept"], rows, isText: true)
        ]
    }

    // MARK: Elements

    private func time(_ date: Date) -> Markup {
        let local = LocalTime(date, in: zone)
        let shown = "\(local.day) \(local.minute)"
        return "<time datetime=\"\(date.rfc3339)\">\(shown)</time>"
    }

    private func figure(_ chart: Chart, _ caption: String) -> Markup {
        "<figure>\(chart.element)\n<figcaption>\(caption)</figcaption></figure>"
    }

    private func details(_ summary: String, _ body: Markup) -> Markup {
        "<details><summary>\(summary)</summary>\n\(body)\n</details>"
    }

    /// A table whose first cells are the headings of their rows; `isText` where the cells are texts and not numbers.
    private func table(_ caption: String, _ headings: [String], _ rows: [[Markup]], isText: Bool = false) -> Markup {
        let head = headings.map { "<th scope=\"col\">\($0)</th>" as Markup }
        let body = rows.map { cells in
            let rest = cells.dropFirst().map { "<td>\($0)</td>" as Markup }
            return "<tr><th scope=\"row\">\(cells.first ?? "")</th>\(rest)</tr>" as Markup
        }
        return """
            <table\(isText ? " class=\"texts\"" as Markup : "")>
            <caption>\(caption)</caption>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(body)
            </tbody>
            </table>
            """
    }

    private static let style: Markup = """
        :root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --human: #1f5fd6; --bot: #a3279f }
        @media (prefers-color-scheme: dark) {
        :root { --paper: #14171c; --ink: #e6edf3; --soft: #9da7b3; --line: #3a424c; --human: #79a8ff; --bot: #e88be4 }
        }
        * { box-sizing: border-box }
        body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
        h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 }
        h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; padding-top: .5rem; border-top: 1px solid var(--line) }
        h3 { font-size: 1rem }
        p { margin: .5rem 0 }
        header p, figcaption, caption, .why, dt { color: var(--soft) }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem }
        dd { margin: 0 }
        figure { margin: 0 }
        svg { display: block; width: 100%; max-width: 34rem; height: auto }
        svg text { fill: var(--ink) }
        .human { fill: var(--human) }
        .bot { fill: var(--bot) }
        .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem }
        .pair figcaption { grid-column: 1 / -1 }
        details { margin: .75rem 0 }
        summary { cursor: pointer; width: max-content; max-width: 100% }
        table { border-collapse: collapse; width: 100%; margin: .75rem 0 1.5rem; font-variant-numeric: tabular-nums }
        details table { width: auto }
        caption { text-align: start; padding: .25rem 0 }
        th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: end; vertical-align: top; font-weight: 400 }
        th:first-child, .texts td, .texts th { text-align: start }
        thead th { color: var(--soft) }
        .texts th:first-child { width: 36% }
        .said, .why { margin: 0 }
        .said { white-space: pre-line }
        code { font-size: .9em; color: var(--soft) }
        @media (max-width: 40rem) { th, td { padding: .25rem } dl { grid-template-columns: 1fr } dd { margin-bottom: .5rem } }
        """
}
