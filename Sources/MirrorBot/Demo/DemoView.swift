import Control
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import Settings

/// The printed result of a demo, no wider than the terminal.
struct DemoView {
    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    /// The least width at which the kinds of actions are written out; below it they are only signs.
    private static let wide = 60
    /// The number of features in the reason of a favorite.
    private static let maximumFeatures = 2

    let result: DemoResult
    let terminal: Terminal

    var lines: [String] {
        Array([learned, timeline, hours, figures, next].joined(separator: [""]))
    }

    private var zone: TimeZone { result.past.zone.zone }

    // MARK: What it knows

    private var learned: [String] {
        let past = result.past
        let span =
            "\(LocalTime(past.oldest, in: zone).day) to \(LocalTime(past.newest, in: zone).day)"
        var facts = [
            "\(past.posts) posts, \(span), clock of \(zone.identifier)",
            result.favoritesLearned > 0
                ? "\(result.favoritesLearned) favorites and \(result.normalsLearned) other posts"
                : "no favorites: the archive holds no likes with a text, so the bot favorites nothing",
        ]
        if let assumption = past.zone.assumption {
            facts.append("the time zone is assumed (\(assumption)); --time-zone sets another")
        }
        facts.append(result.from == nil ? Self.sample : Self.simulated(besides: past.friends.count))
        return [terminal.bold("what it learned")] + facts.flatMap { wrapped($0) }
    }

    private static let sample =
        "simulated: the network, its clock, the human and everybody else; all was written for this"

    private static func simulated(besides friends: Int) -> String {
        let people = "simulated: the network, its clock, and everybody in it with what they write"
        guard friends > 0 else { return people }
        return people
            + "; \(friends) of them stand for the people whom you answered most, as friend_ and their id"
    }

    // MARK: What happened

    /// All actions of the first day, and the number of actions on each later day.
    private var timeline: [String] {
        let days = Dictionary(grouping: result.actions) { LocalTime($0.due, in: zone).day }
        let firstDay = LocalTime(result.past.origin, in: zone).day
        let laterDays = (1..<max(1, result.summary.days)).map { firstDay.advanced(by: $0) }
        return [
            terminal.bold("what it did")
                + terminal.dim(isWide ? " (a date: when the text was first written)" : "")
        ]
            + eachAction(of: firstDay, days[firstDay] ?? [])
            + laterDays.flatMap { summed($0, days[$0] ?? []) }
    }

    private func eachAction(of day: LocalDay, _ actions: [Action]) -> [String] {
        let silences = silences(actions).flatMap { group in
            wrapped("· \(group)", indent: isWide ? 10 : 2, style: terminal.dim)
        }
        return ["  " + terminal.bold(Self.name(of: day))]
            + actions.filter(Self.isDone).flatMap(lines(of:)) + silences
    }

    private func summed(_ day: LocalDay, _ actions: [Action]) -> [String] {
        let doneActions = actions.filter(Self.isDone)
        let parts = [
            Self.count(doneActions.count { $0.kind == .post }, "post"),
            Self.count(doneActions.count { $0.kind == .reply }, "reply"),
            Self.count(doneActions.count { $0.kind == .favorite && $0.state == .done }, "favorite"),
            Self.count(doneActions.count(where: \.isSuggestion), "suggestion"),
            Self.count(actions.count - doneActions.count, "silence"),
        ].compactMap(\.self)
        let text = parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
        return wrapped("\(Self.name(of: day))  \(text)")
    }

    /// Returns a number of actions in words, as `3 replies`; nil for none.
    private static func count(_ number: Int, _ name: String) -> String? {
        guard number != 0 else { return nil }
        guard number != 1 else { return "1 \(name)" }
        let plural = name.hasSuffix("y") ? "\(name.dropLast())ies" : "\(name)s"
        return "\(number) \(plural)"
    }

    /// Whether the action was sent, or waits for a person's decision.
    private static func isDone(_ action: Action) -> Bool {
        action.state == .done || action.isSuggestion
    }

    private static func name(of day: LocalDay) -> String { "\(weekdays[day.weekday - 1]) \(day)" }

    // MARK: One action

    private var isWide: Bool { terminal.columns >= Self.wide }

    private func lines(of action: Action) -> [String] {
        let minute = LocalTime(action.due, in: zone).minute
        let (sign, verb, color) =
            switch action.kind {
            case .post: ("●", "post", terminal.blue)
            case .reply: ("↩", "reply", terminal.green)
            case .favorite:
                action.isSuggestion
                    ? ("☆", "suggests", terminal.yellow) : ("★", "favorite", terminal.yellow)
            }
        let lineStart =
            isWide
            ? "    \(minute) \(sign) \(Printable.padded(verb, to: 10))" : "  \(minute) \(sign) "
        let columns = terminal.columns - Printable.width(lineStart)
        let texts = texts(of: action, columns: columns)
        let furtherLines = texts.dropFirst().map {
            String(repeating: " ", count: Printable.width(lineStart)) + $0
        }
        return [
            lineStart.replacing(sign, with: color(sign), maxReplacements: 1) + (texts.first ?? "")
        ]
            + furtherLines
    }

    private func texts(of action: Action, columns: Int) -> [String] {
        let author = (action.target?.author).map(name) ?? ""
        let subject = action.target.flatMap { result.texts[$0.post] }.map(Self.withoutAddress)
        let about = subject.map { "\(author): \($0)" } ?? author
        let date = action.wording.flatMap { result.written[$0.source] }.map {
            LocalTime($0, in: zone).day.description
        }
        switch action.kind {
        case .post:
            return [clipped(action.text ?? "", note: date, columns: columns)]
        case .reply:
            return [
                clipped(about, note: nil, columns: columns),
                clipped(
                    "→ " + Self.withoutAddress(action.text ?? ""), note: date,
                    columns: columns),
            ]
        case .favorite:
            return [
                clipped(
                    about,
                    note: why(action).map { Printable.line($0, columns: max(12, columns / 3)) },
                    columns: columns)
            ]
        }
    }

    /// The text in `columns` cells, followed by the note in parentheses if that takes at most half
    /// of them.
    private func clipped(_ text: String, note: String?, columns: Int) -> String {
        guard let note, Printable.width(note) + 3 <= columns / 2 else {
            return Printable.line(text, columns: columns)
        }
        let shownText = Printable.line(text, columns: columns - Printable.width(note) - 3)
        return shownText + terminal.dim(" (\(Printable.line(note)))")
    }

    /// The strongest features for a favorite.
    private func why(_ action: Action) -> String? {
        let features = action.explanation?.tellingFeatures ?? []
        let strongest = features.filter { $0.logOdds > 0 }.prefix(Self.maximumFeatures)
        guard !strongest.isEmpty else { return nil }
        return strongest.map { $0.name.hasPrefix("@") ? Self.short($0.name.dropFirst()) : $0.name }
            .joined(separator: ", ")
    }

    /// Returns a person's handle; the identity if no handle is known.
    private func name(of author: AccountID) -> String {
        Printable.line(Self.short(result.names[author] ?? author.value), columns: 24)
    }

    /// A name without the sandbox's own server.
    private static func short(_ handle: some StringProtocol) -> String {
        for separator in ["@", "."] where handle.hasSuffix(separator + SamplePeople.host) {
            return String(handle.dropLast(SamplePeople.host.count + 1))
        }
        return String(handle)
    }

    /// The text without the names at its beginning.
    private static func withoutAddress(_ text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace)
        let otherWords = words.drop { $0.hasPrefix("@") }
        return (otherWords.isEmpty ? words[...] : otherWords).joined(separator: " ")
    }

    // MARK: Silence

    /// Returns the actions that were not sent, by reason, the most frequent first.
    private func silences(_ actions: [Action]) -> [String] {
        let groups = Dictionary(grouping: actions.filter { !Self.isDone($0) }) { action in
            [action.kind.rawValue, action.state.rawValue, action.reason?.rawValue ?? ""]
        }
        // The groups with most actions come first; equal ones are in the order of their keys.
        let sortedGroups = groups.sorted { one, other in
            one.value.count != other.value.count
                ? one.value.count > other.value.count : one.key.joined() < other.key.joined()
        }
        return sortedGroups.compactMap { _, actions in
            actions.first.map { first in silence(first, count: actions.count) }
        }
    }

    private func silence(_ action: Action, count: Int) -> String {
        let summary = action.explanation?.summary ?? action.reason?.rawValue ?? ""
        guard action.kind == .reply, action.state == .skipped else {
            let actionCount = Self.count(count, action.kind.rawValue) ?? ""
            return "\(actionCount) \(action.state.rawValue)"
                + (summary.isEmpty ? "" : ": \(Printable.line(summary))")
        }
        let mentions = count == 1 ? "1 mention" : "\(count) mentions"
        guard let kind = Self.unansweredMentions[action.reason?.rawValue ?? ""] else {
            return "\(mentions) (\(Printable.line(summary))): silence"
        }
        return "\(mentions) \(kind): silence"
    }

    /// Descriptions of the mentions that a rule left unanswered, by the code of the rule.
    private static let unansweredMentions = [
        "no-past-reply": "of people never answered before",
        "not-linked": "of people never answered before",
        "unlikely-reply": "that no old reply fits",
        "bot-author": "by bots",
        "opted-out": "by people who want no bots",
        "asked-to-stop": "that asked the bot to stop",
        "denied": "by people who had asked it to stop",
        "person-cap": "by people who had their replies of the day",
        "proves-account": "that showed whose account it is",
        "thread-cap": "in conversations that had their replies",
    ]

    // MARK: Figures

    private var hours: [String] {
        let title = "when it posts: \(DemoResult.drawnDays) drawn days beside all of the human's"
        return wrapped(title, indent: 0, style: terminal.bold)
            + HourPlot(human: result.humanHours, bot: result.botHours, terminal: terminal).text
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private var figures: [String] {
        let summary = result.summary
        var rows = [
            (
                "posts",
                "\(summary.posted) of \(summary.planned) planned, \(summary.skipped) skipped"
            ),
            ("replies", "\(summary.replies) of \(summary.expectedReplies) expected"),
            summary.suggested > 0
                ? ("suggested", "\(summary.suggested) favorites, for the human to give")
                : ("favorites", favorites(summary)),
            ("unsolicited", "\(summary.unsolicited)"),
            ("sent twice", "\(summary.duplicateSends)"),
            ("errors", "\(summary.errors)"),
        ]
        if let cost = summary.cost {
            let days = summary.days == 1 ? "this day" : "these \(summary.days) days"
            let month = cost / Double(summary.days) * 30
            rows.append(
                (
                    "cost on X",
                    "\(dollars(cost)) for \(days), at this pace \(dollars(month)) a month; here nothing"
                ))
        }
        return [terminal.bold("what the network received")]
            + rows.flatMap { name, value in row(name, value) }
            + notes
            + result.complaints.map { "  ! " + Printable.line($0) }
    }

    /// Notes on the assumptions behind the costs, and on a network that does not distinguish bots
    /// from people.
    private var notes: [String] {
        var notes: [String] = []
        if let costs = result.costs {
            let month = costs.home / Double(result.summary.days) * 30
            let home =
                month > 0
                ? "; \(dollars(month)) a month is for home timelines, which are not read by default"
                : ""
            notes.append("the cost assumes " + costs.assumptions.joined(separator: ", ") + home)
        }
        if !result.network.traits.returnsBotMark {
            notes.append(
                "\(result.network.displayName) does not tell which accounts are bots: they are taken for people"
            )
        }
        return notes.flatMap { wrapped($0) }
    }

    private func dollars(_ amount: Double) -> String { String(format: "$%.2f", amount) }

    private func favorites(_ summary: DemoSummary) -> String {
        guard let precision = summary.favoritePrecision, let base = summary.baseRate else {
            return "\(summary.favorites)"
        }
        return "\(summary.favorites), \(percent(precision)) of them what the human would favorite "
            + "(by chance: \(percent(base)))"
    }

    private func percent(_ share: Double) -> String {
        share.formatted(.percent.precision(.fractionLength(0)))
    }

    private func row(_ name: String, _ value: String) -> [String] {
        Printable.wrapped(value, columns: terminal.columns - 15).enumerated().map { index, part in
            "  " + Printable.padded(index == 0 ? name : "", to: 13) + part
        }
    }

    // MARK: What is next

    private var next: [String] {
        guard let from = result.from else {
            return [
                terminal.bold("next, with your own download"),
                "  mirror-bot demo --from archive.zip",
            ]
        }
        return [
            terminal.bold("next, for real"),
            "  mirror-bot train scheduler --from \(Self.quoted(from))",
        ]
    }

    /// The path quoted for a shell.
    static func quoted(_ path: String) -> String { ShellWord.quoted(Printable.line(path)) }

    /// The text in lines that fit; lines after the first are indented further.
    private func wrapped(
        _ text: String, indent: Int = 2, style: (String) -> String = { $0 }
    ) -> [String] {
        let columns = terminal.columns - indent - 2
        return Printable.wrapped(text, columns: columns).enumerated().map { index, part in
            String(repeating: " ", count: index == 0 ? indent : indent + 2)
                + style(Printable.line(part, columns: columns))
        }
    }
}
