import Control
import Foundation
import Mirroring
import Outbox
import Posts
import Settings

extension PageTemplate {
    static let health = PageTemplate("health")
}

/// The page with the health of the mirror and its parts, and with the button to undo everything.
enum HealthPage: MirrorPage {
    static let section = PageSection.health
    static let templates = [PageTemplate.health]
    static let liveParts = ["verdict", "parts", "feeds", "limits", "told"]
    static let routes: [MirrorRoute] = [
        .get("/health") { try await page($0) }, .post("/health/look") { try await look($0) },
        .post("/undo/everything") { try await takeEverythingBack($0) },
        .post("/retire") { try await retire($0) },
        .post("/retire/cancel") { try await cancelRetirement($0) },
    ]
    static let confirmations: [String: @Sendable (MirrorRequest) async throws -> Confirmation] = [
        AskUndoEverything.name: { try await confirmUndoOfEverything($0) },
        RetireMirror.name: { try await confirmRetirement($0) },
    ]

    /// The most sent notices that are listed.
    private static let toldShown = 8
    /// The most obstacles that are listed besides the verdict.
    private static let obstaclesShown = 4
    /// The most parts that are listed.
    private static let partsShown = 12
    /// The most bytes of a sentence.
    private static let textSize = 240

    // MARK: The page

    static func page(_ request: MirrorRequest) async throws -> WebReply {
        let mirror = request.mirror
        let words = request.words
        let status = try await StatusReporter(mirror: mirror, recentShown: 0, countsAll: false)
            .report(
                now: request.now)
        let lastExamination = try await mirror.lastFindings()
        let sentNotices = try await mirror.notices.told(limit: toldShown)
        let stored = try await StatsReporter(mirror: mirror, zone: request.zone ?? .gmt).stored()
        let outlook = try await Undoing(mirror: mirror).outlookOnEverything()
        let problems = (lastExamination?.findings ?? []).count { $0.verdict != .ok }
        var view = VerdictView(status, request).context
        if status.verdict?.state == .healthy, problems > 0 {
            view["word"] = "Healthy,"
            view["rest"] = .text("and \(Words.count(problems, "thing")) to look at")
        }
        let otherObstacles = (status.obstacles ?? []).filter {
            $0.weight != .note && $0.code != status.verdict?.code
        }
        let limits =
            (status.limits ?? []).map { HealthWords.limit($0) } + HealthWords.money(status.spending)
        let feeds = status.feeds.map { feed($0, words) }
        let parts = (lastExamination?.findings ?? []).prefix(partsShown).map(partRow)
        var context: PageContext = [
            "base": .text(request.base), "canChange": .flag(!request.access.isReadOnly),
            "token": .markup(request.hidden()), "verdict": .fields(view),
            "works": .text(
                HealthWords.works(status.obstacles ?? [], last: lastExamination?.at, words)),
            "obstacles": .list(otherObstacles.prefix(obstaclesShown).map { obstacle($0, words) }),
            "lookHint": .text(HealthWords.lookHint(status)),
            "looked": .text(
                lastExamination.map { "looked at \(ListWords.shortMoment($0.at, words))" } ?? ""),
            "hasParts": .flag(!parts.isEmpty), "parts": .list(Array(parts)),
            "hasFeeds": .flag(!feeds.isEmpty), "feeds": .list(feeds),
            "hasLimits": .flag(!limits.isEmpty), "limits": .list(limits),
            "hasTold": .flag(!sentNotices.isEmpty),
            "told": .list(sentNotices.map { notice($0, words) }),
            "isSilent": .flag(!mirror.process.notices.sendsNotices),
        ]
        context["stored"] = .list(
            stored.map { row -> PageContext in
                [
                    "count": .number(row.count), "what": .text(row.what),
                    "keeps": .sentence(row.keeps),
                ]
            })
        context["everything"] = .text(HealthWords.everything(outlook))
        context["canTakeBack"] = .flag(!request.access.isReadOnly && outlook.requests > 0)
        let retirement = request.record.retirement
        context["retirement"] = .text(HealthWords.retirement(retirement, at: request.now, words))
        context["canRetire"] = .flag(!request.access.isReadOnly && retirement == nil)
        context["canGoOn"] = .flag(
            !request.access.isReadOnly && retirement?.isDue(at: request.now) == false)
        context["goOnToken"] = .markup(request.hidden(seen: Retirement.seen(retirement)))
        return .page(PageContent(.health, in: section, showsVerdict: true, context))
    }

    private static func obstacle(_ obstacle: Obstacle, _ words: Words) -> PageContext {
        let remedy = obstacle.remedy
        let cause = [obstacle.code.consequence, obstacle.cause].compactMap(\.self).joined(
            separator: ": ")
        return [
            "cause": .sentence(FavoriteWords.sentence(ListWords.cut(cause, bytes: textSize))),
            "since": .text(
                obstacle.since.map { "Since \(words.moment($0)), \(words.relative($0))." }),
            "remedy": .sentence(
                remedy?.text.map { FavoriteWords.sentence(ListWords.cut($0, bytes: textSize)) }),
            "command": .text(remedy?.command), "setting": .text(remedy?.setting),
        ]
    }

    private static func partRow(_ finding: Finding) -> PageContext {
        let (mark, verdict) =
            switch finding.verdict {
            case .ok: ("healthy", "well")
            case .warn: ("hindered", "look at it")
            case .fail: ("failing", "broken")
            }
        return [
            "mark": .text(mark), "verdict": .text(verdict), "subject": .text(finding.subject),
            "text": .sentence(FavoriteWords.sentence(ListWords.cut(finding.text, bytes: textSize))),
            "fix": .sentence(
                finding.fix.map { FavoriteWords.sentence(ListWords.cut($0, bytes: textSize)) }),
        ]
    }

    private static func feed(_ feed: FeedHealth, _ words: Words) -> PageContext {
        let nameAndPurpose = HealthWords.feed(feed.feed)
        var notes: [String] = []
        if let error = feed.error {
            let since = feed.errorSince.map { "since \(words.moment($0)), " } ?? ""
            notes.append("\(since)\(ListWords.cut(error, bytes: textSize))")
        }
        for gap in feed.unreached.prefix(3) {
            let end = ListWords.shortMoment(gap.to, words)
            notes.append(
                gap.isBeginning
                    ? "not read: everything before \(end), which only a downloaded archive has"
                    : "not read: \(ListWords.shortMoment(gap.from, words)) to \(end)")
        }
        if feed.unreached.count > 3 {
            notes.append("and \(Words.count(feed.unreached.count - 3, "more gap"))")
        }
        if feed.waiting > 0 {
            notes.append("\(Words.count(feed.waiting, "item")) to be decided at another try")
        }
        if feed.unreadable > 0 {
            notes.append("\(Words.count(feed.unreadable, "item")) could not be read")
        }
        if feed.givenUp > 0 { notes.append("\(Words.count(feed.givenUp, "item")) given up") }
        let (mark, state) =
            if feed.error != nil {
                ("failing", "not heard")
            } else if feed.lastSuccess == nil {
                ("unset", "not read yet")
            } else if notes.isEmpty {
                ("healthy", "heard")
            } else {
                ("hindered", "heard, but for a part")
            }
        return [
            "name": .text(nameAndPurpose.name), "purpose": .text(nameAndPurpose.purpose),
            "read": .text(feed.lastSuccess.map { words.relative($0) } ?? "–"), "mark": .text(mark),
            "state": .text(state), "notes": .sentences(notes),
        ]
    }

    private static func notice(_ notice: ToldNotice, _ words: Words) -> PageContext {
        let state =
            switch notice.state {
            case .began: "began"
            case .continues: "goes on"
            case .resolved: "over"
            case .test: "a test"
            }
        return [
            "at": .markup(words.time(notice.at, showing: ListWords.shortMoment(notice.at, words))),
            "state": .text(state),
            "title": .text(Words.capitalized(notice.title)),
            "text": .sentence(ListWords.cut(notice.text, bytes: textSize)),
        ]
    }

    // MARK: Operations

    /// Examines the mirror, as `mirror-bot doctor` does: contacts every server.
    private static func look(_ request: MirrorRequest) async throws -> WebReply {
        let findings = await Doctor(mirror: request.mirror).examine(now: request.now)
        let problems = findings.count { $0.verdict != .ok }
        let text =
            problems == 0
            ? "Looked at \(Words.count(findings.count, "part")): all well."
            : "Looked at \(Words.count(findings.count, "part")): \(Words.number(problems)) to look at."
        return .seeOther(request.link("/health"), saying: Said(text))
    }

    private static func confirmUndoOfEverything(_ request: MirrorRequest) async throws
        -> Confirmation
    {
        let outlook = try await Undoing(mirror: request.mirror).outlookOnEverything()
        let handle = request.record.botHandleToType
        var confirmation = Confirmation(
            in: section, "Take everything back?", action: "/undo/everything",
            verb: "Take back all \(Words.number(outlook.requests))", otherWay: "Keep it",
            back: "/health")
        confirmation.lead = HealthWords.everything(outlook)
        confirmation.notes =
            UndoWords.notes(outlook) + [
                "What the bot did before it had this database is not included."
            ]
        confirmation.seen = outlook.seen
        confirmation.typed = Confirmation.Typed(
            "sure", "Type the bot's handle to say yes: @\(handle)")
        return confirmation
    }

    @Sendable private static func confirmRetirement(_ request: MirrorRequest) async throws
        -> Confirmation
    {
        let subject = try await RetirementSubject(request.mirror)
        var confirmation = Confirmation(
            in: section, "Retire the mirror?", action: "/retire", verb: "Retire it",
            otherWay: "Let it go on",
            back: "/health")
        confirmation.lead =
            "From its date on nothing leaves but the last post. Then the bot’s profile says so, and the logins are removed."
        confirmation.inputs = [
            .init("on", "When", hint: "2026-12-31, 2026-12-31 18:00 or 30d; empty for now"),
            .init(
                "last", "The last post",
                hint: "a text, or the address of an archived post; empty for none"),
            .init(
                "undo", "Take everything else back?",
                hint:
                    "yes deletes \(Words.count(subject.outlook.requests, "post, reply or favorite", "posts, replies and favorites")); empty leaves them"
            ),
        ]
        confirmation.notes = [
            "Until that date you can let it go on after all; afterwards it is for good.",
            "What the human deletes later is not followed any more: there is no login.",
        ]
        confirmation.seen = subject.seen
        let handle = request.record.botHandleToType
        confirmation.typed = Confirmation.Typed(
            "sure", "Type the bot's handle to say yes: @\(handle)")
        return confirmation
    }

    private static func retire(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: { .confirm(try await confirmRetirement($0)) }) {
            guard let seen = try request.seen() else {
                throw ChangeRefusal(
                    .unusable, "the form does not say what the page showed; reload the page")
            }
            guard request.record.isBotHandle(request.form.typed("sure") ?? "") else {
                throw ChangeRefusal(
                    .unusable,
                    "that is not the bot's handle, which is @\(request.record.botHandleToType)")
            }
            let undo = request.form.typed("undo")?.lowercased()
            guard undo == nil || undo == "yes" || undo == "no" else {
                throw ChangeRefusal(
                    .unusable, "whether everything else is taken back is yes, no or empty")
            }
            let wish = RetireMirror(
                date: request.form.typed("on"), last: request.form.typed("last"),
                takesBack: undo == "yes")
            let change = try await request.desk.perform(PersonRequest(wish, seen: seen))
            let date = change.date.map { request.words.moment($0) } ?? "now"
            return .seeOther(request.link("/health"), saying: Said("It retires at \(date)."))
        }
    }

    private static func cancelRetirement(_ request: MirrorRequest) async throws -> WebReply {
        try await request.perform(
            CancelRetirement(), backTo: "/health", refusedBy: page,
            saying: { _ in Said("It goes on.") })
    }

    private static func takeEverythingBack(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: { .confirm(try await confirmUndoOfEverything($0)) }) {
            guard let seen = try request.seen() else {
                throw ChangeRefusal(
                    .unusable, "the form does not say what the page showed; reload the page")
            }
            let operation = AskUndoEverything(bot: request.form.typed("sure") ?? "")
            let wishes = try await request.desk.perform(PersonRequest(operation, seen: seen))
            let isAtWork = try await request.mirror.isAtWork(now: request.now)
            return .seeOther(
                request.link("/health"), saying: Said(UndoWords.said(wishes, isAtWork: isAtWork)))
        }
    }
}

/// The words of the page Health.
enum HealthWords {
    /// Returns a sentence with the kinds of work that are done, and when every part was examined.
    static func works(_ obstacles: [Obstacle], last: Date?, _ words: Words) -> String {
        let stoppedWork = Set(
            obstacles.filter { [.stops, .wanted].contains($0.weight) }.flatMap(\.stops))
        let verbs: [(work: Obstacle.Work, verb: String)] = [
            (.sending, "sends"), (.hearing, "hears"), (.favorites, "favorites"),
            (.learning, "learns"),
        ]
        let workingVerbs = verbs.filter { !stoppedWork.contains($0.work) }.map(\.verb)
        var work = "Does nothing now."
        if let last = workingVerbs.last {
            let others = workingVerbs.dropLast().joined(separator: ", ")
            work = Words.capitalized(others.isEmpty ? last : "\(others) and \(last)") + "."
        }
        let lastLook = last.map {
            " A full look at every part was taken at \(words.moment($0)), \(words.relative($0))."
        }
        return work + (lastLook ?? " A full look at every part was never taken.")
    }

    static func lookHint(_ status: StatusReport) -> String {
        status.spending == nil ? "Asks both servers." : "Asks both servers. On X that costs a cent."
    }

    /// Returns the display name of a feed and the purpose it is read for.
    static func feed(_ name: String) -> (name: String, purpose: String) {
        switch name {
        case FeedName.humanPosts: ("Posts of the human", "learning, silence while they post")
        case FeedName.humanFavorites: ("Favorites of the human", "learning")
        case FeedName.seen: ("Home timeline of the human", "learning")
        case FeedName.botHome: ("Home timeline of the bot", "favorites")
        case FeedName.botMentions: ("Mentions of the bot", "answers")
        default: (ListWords.name(name), "–")
        }
    }

    static func limit(_ limit: LimitState) -> PageContext {
        let name =
            switch limit.what {
            case .favorites: "Favorites"
            case .repliesToOnePerson: "Replies to one person"
            case .posts: "Posts"
            case .deletions: "Deletions at the network"
            case .withdrawals: "Withdrawn favorites at the network"
            }
        let period = limit.period.map { "in \(Words.span(Double($0)))" } ?? "today"
        let person = limit.person.map { ", \(ListWords.name($0.name))" } ?? ""
        let atMost = limit.what == .posts ? "at most " : ""
        return row(
            name, setting: limit.setting,
            share: Double(limit.used) / Double(max(1, limit.limit)),
            used: Words.number(limit.used),
            of: "\(atMost)\(Words.number(limit.limit)) \(period)\(person)")
    }

    static func money(_ spending: StatusReport.SpendingState?) -> [PageContext] {
        guard let spending else { return [] }
        let share = spending.budget > 0 ? spending.spent / spending.budget : 1
        return [
            row(
                "Money for X", setting: Setting.xBudget.name, share: share,
                used: Words.dollars(spending.spent),
                of: "\(Words.dollars(spending.budget)) in \(spending.month)")
        ]
    }

    /// - Parameters:
    ///   - share: The used part of the whole.
    ///   - used: The used number, in a column of its own.
    ///   - whole: The limit, in words.
    private static func row(
        _ name: String, setting: String?, share: Double, used: String, of whole: String
    ) -> PageContext {
        let width = max(0, min(1, share.isFinite ? share : 0)) * 100
        return [
            "name": .text(name), "setting": .text(setting), "used": .text(used),
            "whole": .text(whole),
            "bar": .markup(
                """
                <svg class="meter" aria-hidden="true"><rect class="cell" width="100%" y="1" height="10"/>\
                <rect class="base" width="\(width)%" y="1" height="10"/></svg>
                """ as Markup),
        ]
    }

    /// Returns a sentence about whether and when the mirror retires.
    static func retirement(_ retirement: Retirement?, at now: Date, _ words: Words) -> String {
        guard let retirement else {
            return
                "One last post, a line in the bot’s profile, then silence; what was posted stays or is taken back."
        }
        if let ended = retirement.ended { return "It has retired, \(words.moment(ended))." }
        let end =
            retirement.takesBack ? "Then everything else is taken back." : "What was posted stays."
        return retirement.isDue(at: now)
            ? "It retires since \(words.moment(retirement.date)). \(end)"
            : "It retires \(words.moment(retirement.date)). \(end)"
    }

    /// Returns the deletions and the duration of undoing everything, in words.
    static func everything(_ outlook: UndoOutlook) -> String {
        guard outlook.requests > 0 else {
            return "The bot has not sent anything, as far as this database knows."
        }
        var parts: [String] = []
        let sentTexts = outlook.posts + outlook.replies
        if sentTexts > 0 {
            parts.append("deletes \(Words.count(sentTexts, "post or reply", "posts and replies"))")
        }
        if outlook.favorites > 0 {
            parts.append("withdraws \(Words.count(outlook.favorites, "favorite"))")
        }
        let pace =
            outlook.deletions.map {
                ", \(Words.number($0.count)) in \(Words.span(Double($0.period)))"
            } ?? ""
        let time = outlook.seconds > 0 ? ": about \(Words.span(outlook.seconds))" : ""
        return
            "\(Words.capitalized(parts.joined(separator: " and ")))\(pace)\(time). You will be asked for the bot's name."
    }
}
