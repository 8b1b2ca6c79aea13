package import Control
import Foundation
import Localization
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
        switch (status.mirror == "default", stats.human) {
        case (true, nil): localized("The mirror")
        case (true, let human?): localized("The mirror of @\(human)")
        case (false, nil): localized("The mirror \(status.mirror)")
        case (false, let human?): localized("The mirror \(status.mirror) of @\(human)")
        }
    }

    private var subtitle: Markup {
        let made = words.dated(stats.made).text
        let zone = Markup.escaped(stats.timeZone)
        guard let handle = stats.bot else {
            return Markup(rendered: localized("Seen on \(made), clock of \(zone)."))
        }
        let bot: Markup = "<bdi>@\(handle)</bdi>"
        return Markup(
            rendered: localized("The bot is \(bot.text). Seen on \(made), clock of \(zone)."))
    }

    // MARK: What it shows

    /// The values of its template.
    var context: PageContext {
        var context: PageContext = [
            "verdict": .sentence(
                status.verdict.map { Words.sentence($0.text) }),
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
        guard let state = status.classifier else {
            return localized("cannot be reached")
        }
        return localized("\(Words.number(state.favorites)) and \(Words.number(state.normals))")
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
                        "time": .text(slot.time), "state": .text(FileWords.state(slot.state)),
                        "id": .text(Self.short(slot.id)), "text": .text(slot.text.map(Self.cut)),
                        "language": .text(slot.language.flatMap(LanguageTag.naming)),
                        "why": .sentence(slot.reasonText ?? slot.why), "judged": .none,
                    ]
                }),
        ]
    }

    private func action(_ action: ReportedAction) -> PageContext {
        [
            "kind": .text(FileWords.kind(action.kind)), "isReply": .flag(action.kind == .reply),
            "person": .text(action.person?.name), "state": .text(FileWords.state(action.state)),
            "at": .markup(words.dated(action.at)), "id": .text(Self.short(action.id)),
            "text": .text(action.text.map(Self.cut)),
            "language": .text(action.language.flatMap(LanguageTag.naming)),
            "why": .sentence(action.reasonText ?? action.why),
            "judged": .text(Self.judged(action)),
        ]
    }

    /// Returns the rate of a favorite, with the words of the favorited post that determined the
    /// rate.
    private static func judged(_ action: ReportedAction) -> String? {
        guard action.reasonText == nil, let rate = action.rate, let words = action.words,
            !words.isEmpty
        else { return nil }
        let list = words.joined(by: .comma)
        return localized("rate \(Words.rate(rate)), for \(list)")
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

    private static func name(of part: StatsReport.LeftOut.Part) -> String {
        switch part {
        case .archive: localized("old post")
        case .post: localized("post")
        case .reply: localized("reply")
        case .favorite: localized("favorite")
        case .feed: localized("item of a feed")
        }
    }

    private static func line(_ line: StatsReport.LeftOut) -> PageContext {
        let part = name(of: line.part)
        return [
            "what": .text(
                line.state.map { localized("\(part), \(FileWords.state($0))") } ?? part),
            "why": .sentence(line.reason.text), "count": .number(line.count),
        ]
    }
}
