import Control
import Foundation
import Localization
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
            view["word"] = .text(localized("Healthy,"))
            view["rest"] = .text(localized("and \(Words.count(problems, "thing")) to look at"))
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
                lastExamination.map {
                    localized("looked at \(ListWords.shortMoment($0.at, words))")
                }
                    ?? ""),
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
        let cause =
            obstacle.code.consequence.map { localized("\($0): \(obstacle.cause)") }
            ?? obstacle.cause
        return [
            "cause": .sentence(FavoriteWords.sentence(ListWords.cut(cause, bytes: textSize))),
            "since": .text(
                obstacle.since.map {
                    localized("Since \(words.moment($0)), \(words.relative($0)).")
                }),
            "remedy": .sentence(
                remedy?.text.map { FavoriteWords.sentence(ListWords.cut($0, bytes: textSize)) }),
            "command": .text(remedy?.command), "setting": .text(remedy?.setting),
        ]
    }

    private static func partRow(_ finding: Finding) -> PageContext {
        let (mark, verdict) =
            switch finding.verdict {
            case .ok: ("healthy", localized("well"))
            case .warn: ("hindered", localized("look at it"))
            case .fail: ("failing", localized("broken"))
            }
        return [
            "mark": .text(mark), "verdict": .text(verdict), "subject": .text(finding.shownSubject),
            "text": .sentence(FavoriteWords.sentence(ListWords.cut(finding.text, bytes: textSize))),
            "fix": .sentence(
                finding.fix.map { FavoriteWords.sentence(ListWords.cut($0, bytes: textSize)) }),
        ]
    }

    private static func feed(_ feed: FeedHealth, _ words: Words) -> PageContext {
        let nameAndPurpose = HealthWords.feed(feed.feed)
        var notes: [String] = []
        if let error = feed.error {
            let shownError = ListWords.cut(error, bytes: textSize)
            notes.append(
                feed.errorSince.map { localized("since \(words.moment($0)), \(shownError)") }
                    ?? shownError)
        }
        for gap in feed.unreached.prefix(3) {
            let end = ListWords.shortMoment(gap.to, words)
            notes.append(
                gap.isBeginning
                    ? localized(
                        "not read: everything before \(end), which only a downloaded archive has")
                    : localized("not read: \(ListWords.shortMoment(gap.from, words)) to \(end)"))
        }
        if feed.unreached.count > 3 {
            notes.append(localized("and \(Words.count(feed.unreached.count - 3, "more gap"))"))
        }
        if feed.waiting > 0 {
            notes.append(
                localized("\(Words.count(feed.waiting, "item")) to be decided at another try"))
        }
        if feed.unreadable > 0 {
            notes.append(localized("\(Words.count(feed.unreadable, "item")) could not be read"))
        }
        if feed.givenUp > 0 {
            notes.append(localized("\(Words.count(feed.givenUp, "item")) given up"))
        }
        let (mark, state) =
            if feed.error != nil {
                ("failing", localized("not heard"))
            } else if feed.lastSuccess == nil {
                ("unset", localized("not read yet"))
            } else if notes.isEmpty {
                ("healthy", localized("heard"))
            } else {
                ("hindered", localized("heard, but for a part"))
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
            case .began: localized("began")
            case .continues: localized("goes on")
            case .resolved: localized("over")
            case .test: localized("a test")
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
            ? localized("Looked at \(Words.count(findings.count, "part")): all well.")
            : localized(
                "Looked at \(Words.count(findings.count, "part")): \(Words.number(problems)) to look at."
            )
        return .seeOther(request.link("/health"), saying: Said(text))
    }

    private static func confirmUndoOfEverything(_ request: MirrorRequest) async throws
        -> Confirmation
    {
        let outlook = try await Undoing(mirror: request.mirror).outlookOnEverything()
        let handle = request.record.botHandleToType
        var confirmation = Confirmation(
            in: section, localized("Take everything back?"), action: "/undo/everything",
            verb: localized("Take back all \(Words.number(outlook.requests))"),
            otherWay: localized("Keep it"),
            back: "/health")
        confirmation.lead = HealthWords.everything(outlook)
        confirmation.notes =
            UndoWords.notes(outlook) + [
                localized("What the bot did before it had this database is not included.")
            ]
        confirmation.seen = outlook.seen
        confirmation.typed = Confirmation.Typed(
            "sure", localized("Type the bot's handle to say yes: @\(handle)"))
        return confirmation
    }

    @Sendable private static func confirmRetirement(_ request: MirrorRequest) async throws
        -> Confirmation
    {
        let subject = try await RetirementSubject(request.mirror)
        var confirmation = Confirmation(
            in: section, localized("Retire the mirror?"), action: "/retire",
            verb: localized("Retire it"),
            otherWay: localized("Let it go on"),
            back: "/health")
        confirmation.lead =
            localized(
                "From its date on nothing leaves but the last post. Then the bot’s profile says so, and the logins are removed."
            )
        confirmation.inputs = [
            .init(
                "on", localized("When"),
                hint: localized("2026-12-31, 2026-12-31 18:00 or 30d; empty for now")),
            .init(
                "last", localized("The last post"),
                hint: localized("a text, or the address of an archived post; empty for none")),
            .init(
                "undo", localized("Take everything else back?"),
                hint: localized(
                    "yes deletes \(Words.count(subject.outlook.requests, "post, reply or favorite", "posts, replies and favorites")); empty leaves them"
                )
            ),
        ]
        confirmation.notes = [
            localized("Until that date you can let it go on after all; afterwards it is for good."),
            localized("What the human deletes later is not followed any more: there is no login."),
        ]
        confirmation.seen = subject.seen
        let handle = request.record.botHandleToType
        confirmation.typed = Confirmation.Typed(
            "sure", localized("Type the bot's handle to say yes: @\(handle)"))
        return confirmation
    }

    private static func retire(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: { .confirm(try await confirmRetirement($0)) }) {
            guard let seen = try request.seen() else {
                throw ChangeRefusal(
                    .unusable,
                    localized("the form does not say what the page showed; reload the page"))
            }
            guard request.record.isBotHandle(request.form.typed("sure") ?? "") else {
                throw ChangeRefusal(
                    .unusable,
                    localized(
                        "that is not the bot's handle, which is @\(request.record.botHandleToType)")
                )
            }
            let undo = request.form.typed("undo")?.lowercased()
            guard undo == nil || undo == "yes" || undo == "no" else {
                throw ChangeRefusal(
                    .unusable,
                    localized("whether everything else is taken back is yes, no or empty"))
            }
            let wish = RetireMirror(
                date: request.form.typed("on"), last: request.form.typed("last"),
                takesBack: undo == "yes")
            let change = try await request.desk.perform(PersonRequest(wish, seen: seen))
            let said =
                change.date.map { localized("It retires at \(request.words.moment($0)).") }
                ?? localized("It retires at now.")
            return .seeOther(request.link("/health"), saying: Said(said))
        }
    }

    private static func cancelRetirement(_ request: MirrorRequest) async throws -> WebReply {
        try await request.perform(
            CancelRetirement(), backTo: "/health", refusedBy: page,
            saying: { _ in Said(localized("It goes on.")) })
    }

    private static func takeEverythingBack(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: { .confirm(try await confirmUndoOfEverything($0)) }) {
            guard let seen = try request.seen() else {
                throw ChangeRefusal(
                    .unusable,
                    localized("the form does not say what the page showed; reload the page"))
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
    /// Returns sentences about the kinds of work that are done, and about the time of the last
    /// examination of every part.
    static func works(_ obstacles: [Obstacle], last: Date?, _ words: Words) -> String {
        let stoppedWork = Set(
            obstacles.filter { [.stops, .wanted].contains($0.weight) }.flatMap(\.stops))
        let verbs: [(work: Obstacle.Work, verb: String)] = [
            (.sending, localized("sends")), (.hearing, localized("hears")),
            (.favorites, localized("favorites")), (.learning, localized("learns")),
        ]
        let workingVerbs = verbs.filter { !stoppedWork.contains($0.work) }.map(\.verb)
        var work = localized("Does nothing now.")
        if !workingVerbs.isEmpty { work = Words.sentence(workingVerbs.joined(by: .and)) }
        let lastLook = last.map {
            localized(
                "A full look at every part was taken at \(words.moment($0)), \(words.relative($0))."
            )
        }
        return [
            work, lastLook ?? localized("A full look at every part was never taken."),
        ].joined(by: .sentence)
    }

    static func lookHint(_ status: StatusReport) -> String {
        localized(
            status.spending == nil
                ? "Asks both servers." : "Asks both servers. On X that costs a cent.")
    }

    /// Returns the display name of a feed and the purpose it is read for.
    static func feed(_ name: String) -> (name: String, purpose: String) {
        switch name {
        case FeedName.humanPosts:
            (localized("Posts of the human"), localized("learning, silence while they post"))
        case FeedName.humanFavorites: (localized("Favorites of the human"), localized("learning"))
        case FeedName.seen: (localized("Home timeline of the human"), localized("learning"))
        case FeedName.botHome: (localized("Home timeline of the bot"), localized("favorites"))
        case FeedName.botMentions: (localized("Mentions of the bot"), localized("answers"))
        default: (ListWords.name(name), "–")
        }
    }

    static func limit(_ limit: LimitState) -> PageContext {
        let name =
            switch limit.what {
            case .favorites: localized("Favorites")
            case .repliesToOnePerson: localized("Replies to one person")
            case .posts: localized("Posts")
            case .deletions: localized("Deletions at the network")
            case .withdrawals: localized("Withdrawn favorites at the network")
            }
        let number = Words.number(limit.limit)
        let most =
            if let period = limit.period.map({ Words.span(Double($0)) }) {
                limit.what == .posts
                    ? localized("at most \(number) in \(period)")
                    : localized("\(number) in \(period)")
            } else {
                limit.what == .posts
                    ? localized("at most \(number) today") : localized("\(number) today")
            }
        return row(
            name, setting: limit.setting,
            share: Double(limit.used) / Double(max(1, limit.limit)),
            used: Words.number(limit.used),
            of: [most, limit.person.map { ListWords.name($0.name) }].compactMap(\.self).joined(
                by: .comma))
    }

    static func money(_ spending: StatusReport.SpendingState?) -> [PageContext] {
        guard let spending else { return [] }
        let share = spending.budget > 0 ? spending.spent / spending.budget : 1
        return [
            row(
                localized("Money for X"), setting: Setting.xBudget.name, share: share,
                used: Words.dollars(spending.spent),
                of: localized("\(Words.dollars(spending.budget)) in \(spending.month)"))
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
            return localized(
                "One last post, a line in the bot’s profile, then silence; what was posted stays or is taken back."
            )
        }
        if let ended = retirement.ended {
            return localized("It has retired, \(words.moment(ended)).")
        }
        let end = localized(
            retirement.takesBack ? "Then everything else is taken back." : "What was posted stays.")
        return retirement.isDue(at: now)
            ? localized("It retires since \(words.moment(retirement.date)). \(end)")
            : localized("It retires \(words.moment(retirement.date)). \(end)")
    }

    /// Returns the deletions and the duration of undoing everything, in words.
    static func everything(_ outlook: UndoOutlook) -> String {
        guard outlook.requests > 0 else {
            return localized("The bot has not sent anything, as far as this database knows.")
        }
        var parts: [String] = []
        let sentTexts = outlook.posts + outlook.replies
        if sentTexts > 0 {
            parts.append(
                localized("deletes \(Words.count(sentTexts, "post or reply", "posts and replies"))")
            )
        }
        if outlook.favorites > 0 {
            parts.append(localized("withdraws \(Words.count(outlook.favorites, "favorite"))"))
        }
        var work =
            parts.count == 2 ? localized("\(parts[0]) and \(parts[1])") : parts.first ?? ""
        if let pace = outlook.deletions {
            let period = Words.span(Double(pace.period))
            work = localized("\(work), \(Words.number(pace.count)) in \(period)")
        }
        if outlook.seconds > 0 {
            work = localized("\(work): about \(Words.span(outlook.seconds))")
        }
        return localized("\(Words.capitalized(work)). You will be asked for the bot's name.")
    }
}
