package import Control
import Foundation
import Mirroring
import Outbox
import Posts

/// A report of a mirror as one file.
package struct ReportPage: Sendable {
    /// The most characters of a text that are shown.
    private static let maximumText = 300

    private let report: MirrorReport
    private let words: Words

    package init(_ report: MirrorReport) {
        self.report = report
        let zone = TimeZone(identifier: report.stats.timeZone) ?? .gmt
        words = Words(zone: zone, now: report.stats.made)
    }

    private var stats: StatsReport { report.stats }
    private var status: StatusReport { report.status }

    /// The HTML of the whole file.
    package var html: String {
        FilePage(.report, title: title, subtitle: subtitle, context).html
    }

    private var title: String {
        let mirror = status.mirror == "default" ? "The mirror" : "The mirror \(status.mirror)"
        return stats.human.map { "\(mirror) of @\($0)" } ?? mirror
    }

    private var subtitle: Markup {
        let bot: Markup = stats.bot.map { "The bot is <bdi>@\($0)</bdi>. " } ?? ""
        return "\(bot)Seen on \(words.dated(stats.made)), clock of \(stats.timeZone)."
    }

    // MARK: What it shows

    /// The values of its template.
    var context: PageContext {
        var context: PageContext = [
            "verdict": .sentence(status.verdict.map { Words.capitalized($0.text) + "." }),
            "isRunning": .flag(status.isRunning),
            "next": .markup(status.nextSlot.map { words.dated($0) }),
            "posts": .number(status.archive.posts), "learned": .text(learned),
            "suggestions": .number(status.suggestions),
            "isIdle": .flag(!status.idle.isEmpty), "idle": .sentences(status.idle),
            "hasPlan": .flag(!report.days.isEmpty), "plan": .list(report.days.map { plan($0) }),
            "hasActions": .flag(!status.recent.isEmpty),
            "actions": .list(status.recent.map { action($0) }),
            "favorites": .fields(favorites),
            "hasLeftOut": .flag(!stats.leftOut.isEmpty),
            "leftOut": .list(stats.leftOut.map { Self.line($0) }),
            "stored": .list(
                stats.stored.map {
                    [
                        "what": .text($0.what), "count": .number($0.count),
                        "keeps": .sentence($0.keeps),
                    ]
                }),
        ]
        let drawings = HoursPage.drawings(
            stats.times, zone: stats.timeZone, words: words, hand: nil, hasSums: true)
        context.merge(drawings) { present, _ in present }
        context["days"] = .list(stats.days.reversed().map { Self.day($0) })
        return context
    }

    private var learned: String {
        guard let state = status.classifier else { return "cannot be reached" }
        return "\(Words.number(state.favorites)) and \(Words.number(state.normals))"
    }

    private static func day(_ day: StatsReport.Day) -> PageContext {
        [
            "day": .text("\(day.day)"), "human": .number(day.humanPosts),
            "posts": .number(day.posts), "replies": .number(day.replies),
            "favorites": .number(day.favorites),
        ]
    }

    // MARK: Actions

    private func plan(_ day: PlanReport) -> PageContext {
        [
            "day": .text("\(day.day)"), "isPreview": .flag(!day.isStored),
            "hasSlots": .flag(!day.slots.isEmpty),
            "slots": .list(
                day.slots.map { slot in
                    [
                        "time": .text(slot.time), "state": .text(slot.state),
                        "id": .text(Self.short(slot.id)), "text": .text(slot.text.map(Self.cut)),
                        "language": .text(slot.language.flatMap(LanguageTag.naming)),
                        "why": .sentence(slot.reasonText ?? slot.why), "judged": .none,
                    ]
                }),
        ]
    }

    private func action(_ action: ReportedAction) -> PageContext {
        [
            "kind": .text(action.kind.rawValue), "isReply": .flag(action.kind == .reply),
            "person": .text(action.person?.name), "state": .text(action.state.rawValue),
            "at": .markup(words.dated(action.at)), "id": .text(Self.short(action.id)),
            "text": .text(action.text.map(Self.cut)),
            "language": .text(action.language.flatMap(LanguageTag.naming)),
            "why": .sentence(action.reasonText ?? action.why),
            "judged": .text(Self.judged(action)),
        ]
    }

    /// The rate of a favorite, with the words of the other person's post that determined it.
    private static func judged(_ action: ReportedAction) -> String? {
        guard action.reasonText == nil, let rate = action.rate, let words = action.words,
            !words.isEmpty
        else { return nil }
        return "rate \(Words.rate(rate)), for \(words.joined(separator: ", "))"
    }

    private static func cut(_ text: String) -> String {
        text.count > maximumText ? text.prefix(maximumText) + "…" : text
    }

    private static func short(_ id: String) -> String {
        String(id.prefix(ActionNameError.shortIDLength))
    }

    // MARK: Favorites and the rest

    private var favorites: PageContext {
        let tables = FavoritesPage.tables(stats.wordsFor, stats.wordsAgainst, hasExamples: false)
        let hasWords = !stats.wordsFor.isEmpty || !stats.wordsAgainst.isEmpty
        let isLearned = hasWords || !stats.authors.isEmpty
        return [
            "problem": .sentence(stats.wordsProblem),
            "isUnlearned": .flag(stats.wordsProblem == nil && !isLearned),
            "hasAuthors": .flag(stats.wordsProblem == nil && !stats.authors.isEmpty),
            "authors": .list(
                stats.authors.map {
                    [
                        "name": .text($0.name), "favorites": .number(Int($0.favorites)),
                        "others": .number(Int($0.normals)), "given": .number($0.given),
                    ]
                }),
            "hasWordTables": .flag(stats.wordsProblem == nil && hasWords),
            "wordsFor": .fields(tables.for), "wordsAgainst": .fields(tables.against),
        ]
    }

    private static let parts: [StatsReport.LeftOut.Part: String] = [
        .archive: "old post", .post: "post", .reply: "reply", .favorite: "favorite",
        .feed: "item of a feed",
    ]

    private static func line(_ line: StatsReport.LeftOut) -> PageContext {
        let part = parts[line.part] ?? line.part.rawValue
        return [
            "what": .text(line.state.map { "\(part), \($0)" } ?? part),
            "why": .sentence(line.reason.text), "count": .number(line.count),
        ]
    }
}
