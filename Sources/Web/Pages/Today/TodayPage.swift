import Control
import Foundation
import HTTPTypes
import Localization
import Mirroring
import Outbox
import Posts

extension PageTemplate {
    fileprivate static let today = PageTemplate("today")
    fileprivate static let slot = PageTemplate("slot")
    fileprivate static let oneSlot = PageTemplate("one-slot")
}

/// The first page of a mirror: its health, the next slots, and the waiting items.
package enum TodayPage: MirrorPage {
    package static let section = PageSection.today
    package static let templates: [PageTemplate] = [.today, .slot, .oneSlot]
    package static let liveParts = [
        "verdict", "facts", "line", "coming-list", "past-list", "others",
    ]

    package static let routes: [MirrorRoute] = [
        .get("", page), .get("/slots/:id", oneSlot),
        .post("/slots/:id/skip", skip), .post("/slots/:id/restore", restore),
        .post("/slots/:id/move", move),
        .post("/slots/:id/pin", pin), .post("/days/:day/reroll", reroll), .post("/pause", pause),
        .post("/resume", resume), .post("/first-post", sendFirst),
    ]

    package static let confirmations:
        [String: @Sendable (MirrorRequest) async throws -> Confirmation] = [
            "reroll": confirmReroll, "pause": confirmPause,
        ]

    /// The most slots in the list with a form to change them; for each further slot the form is on
    /// a page of its own.
    private static let slotsWithControls = 8
    /// The most slots in the list.
    private static let maximumListed = 40

    // MARK: The page

    @Sendable static func page(_ request: MirrorRequest) async throws -> WebReply {
        let words = request.words
        let now = request.now
        let day: LocalDay
        if let text = request.query["day"] {
            guard let namedDay = LocalDay(text) else {
                return .missing(localized("There is no day \(text.prefix(40))."))
            }
            day = namedDay
        } else {
            day = words.today
        }
        let status = try await StatusReporter(
            mirror: request.mirror, recentShown: 0, countsAll: false
        ).report(
            now: now)
        var context: PageContext = [
            "verdict": .fields(VerdictView(status, request).context), "base": .text(request.base),
        ]
        if let zone = request.zone {
            let report = try await DayReporter(mirror: request.mirror, zone: zone).report(
                on: day, now: now)
            context.merge(dayContext(report, status, request)) { _, new in new }
            if let offer = try await offer(report, status, request) {
                context["offer"] = .fields(offer)
            }
        }
        return .page(
            PageContent(
                .today, title: day == words.today ? nil : words.heading(day), in: .today,
                showsVerdict: true, context))
    }

    private static func dayContext(
        _ report: DayReport, _ status: StatusReport, _ request: MirrorRequest
    ) -> PageContext {
        let words = request.words
        let day = report.day
        let isToday = day == words.today
        let slots = report.plan?.slots ?? []
        // The slots are divided into past and future by their time; one that is being sent is
        // future. Both parts may have skipped slots.
        let ahead = slots.filter { $0.due > request.now || SlotState($0) == .sending }
        let past = slots.filter { slot in !ahead.contains { $0.id == slot.id } }.reversed()
        let nextSlot =
            isToday ? ahead.first { SlotState($0).canChange && $0.due == status.nextSlot } : nil
        let isSpent = (status.obstacles ?? []).contains { obstacle in
            obstacle.code == .budgetSpent && obstacle.stops.contains(.sending)
        }
        // While the budget is spent, there is money only for slots after its renewal.
        let paidFrom = isSpent ? status.spending?.renews : nil
        let coming = ahead.prefix(maximumListed).enumerated().map { index, slot in
            let isUnpaid = if let paidFrom { slot.due < paidFrom } else { false }
            return SlotView(
                slot, day: day, request, isNext: slot.id == nextSlot?.id, isUnpaid: isUnpaid,
                hasControls: index < slotsWithControls
            ).context
        }
        let earlier = past.prefix(maximumListed).map { slot in
            SlotView(slot, day: day, request, isNext: false, hasControls: false).context
        }
        let sentCount = past.count { SlotState($0) == .done }
        let canDraw = !request.access.isReadOnly && ahead.contains { SlotState($0).canChange }
        let comingTitle =
            if isToday {
                localized("Still to come")
            } else if day > words.today {
                localized("To come")
            } else {
                localized("Left")
            }
        return [
            "hasDay": true, "facts": isToday ? .fields(facts(report, status, request)) : .none,
            "heading": .text(words.heading(day)),
            "previous": .text(
                request.base + WebFields.query([("day", day.advanced(by: -1).description)])),
            "following": .text(
                request.base + WebFields.query([("day", day.advanced(by: 1).description)])),
            "previousWords": .text(
                isToday ? localized("Yesterday") : words.heading(day.advanced(by: -1))),
            "followingWords": .text(
                isToday ? localized("Tomorrow") : words.heading(day.advanced(by: 1))),
            "week": .text(request.base + WeekAheadPage.path),
            "line": .markup(DayLine(report: report, words: words, next: nextSlot?.id).markup),
            "weekday": .text(localized("\(Words.weekday(of: day))s")),
            "hasQuiet": .flag(!report.quiet.isEmpty),
            "hasPause": .flag(report.pause != nil),
            "comingTitle": .text(comingTitle),
            "comingCount": .text(Words.count(ahead.count { SlotState($0).isAhead }, "post")),
            "coming": .list(coming), "hasComing": .flag(!coming.isEmpty),
            "showsComing": .flag(day >= words.today || !coming.isEmpty),
            "nothingComing": .sentence(nothingComing(report, status, isToday: isToday)),
            "offer": .none,
            "isPreview": .flag(report.plan?.isStored == false && !coming.isEmpty),
            "draw": canDraw && day >= words.today
                ? .text(
                    request.base + "/confirm/reroll" + WebFields.query([("day", day.description)]))
                : .none,
            "drawWords": .text(localized(isToday ? "Draw the rest anew…" : "Draw the day anew…")),
            "earlierTitle": .text(localized(isToday ? "Earlier today" : "The day")),
            "earlier": .list(Array(earlier)),
            "hasEarlier": .flag(!past.isEmpty),
            "earlierCount": .text(
                localized(
                    "\(Words.number(sentCount)) posted, \(Words.number(past.count - sentCount)) left out"
                )),
            "toOthersTitle": .text(localized(isToday ? "To others today" : "To others")),
            "toOthers": .list(report.toOthers.map { toOthers($0, request) }),
            "hasToOthers": .flag(!report.toOthers.isEmpty),
            "actions": .text(request.base + "/actions"),
        ]
    }

    // MARK: A post for a day without one

    /// The most texts that a person may be offered.
    private static let maximumOffers = 20

    /// A text that could be sent now; it is offered if the mirror works, but nothing was posted
    /// today and nothing more is planned.
    private static func offer(
        _ report: DayReport, _ status: StatusReport, _ request: MirrorRequest
    ) async throws -> PageContext? {
        let states = (report.plan?.slots ?? []).map { SlotState($0) }
        guard report.day == request.words.today, !request.access.isReadOnly,
            report.plan?.isStored == true,
            !states.contains(where: { $0.isAhead || $0 == .done }),
            [.healthy, .hindered].contains(status.verdict?.state)
        else { return nil }
        let requestedNumber = request.query["other"].flatMap { Int($0) } ?? 0
        let number = min(max(requestedNumber, 0), maximumOffers)
        guard let offer = try await PublishForecast.proposal(at: request.desk, number: number)
        else { return nil }
        let nextOffer = WebFields.query([("other", "\(number + 1)")]) + "#coming-list"
        return [
            "text": .text(Words.cut(offer.says.joined(separator: "\n"), to: 600)),
            "language": .text(offer.post.language),
            "written": .text(request.words.moment(offer.post.created)),
            "cost": .text(offer.cost.map { localized("Costs \(Words.dollars($0)) at most.") }),
            "action": .text(request.base + "/first-post"), "post": .text(offer.post.post),
            "token": .markup(request.hidden(seen: offer.post.seen)),
            "other": number < maximumOffers ? .text(request.base + nextOffer) : .none,
        ]
    }

    @Sendable private static func sendFirst(_ request: MirrorRequest) async throws -> WebReply {
        guard let post = request.form.typed("post") else {
            return .missing(localized("No post is named."))
        }
        return try await request.perform(PublishPost(post: post), backTo: "", refusedBy: page) {
            change in
            guard change.isNew, !change.slots.isEmpty else {
                return Said(localized("It is sent already."))
            }
            return Said(
                localized("It is sent as soon as the worker comes to it."),
                wayBack: request.button(localized("Do not send it"), change.wayBack))
        }
    }

    private static func nothingComing(_ report: DayReport, _ status: StatusReport, isToday: Bool)
        -> String
    {
        if let note = report.plan?.note { return Words.sentence(note) }
        guard let plan = report.plan else {
            return localized("There is no post of the human's to plan from yet.")
        }
        guard plan.slots.isEmpty else { return localized("Nothing more is planned for this day.") }
        return localized("No post: the plan drew a day of silence, as the human has some.")
    }

    private static func facts(
        _ report: DayReport, _ status: StatusReport, _ request: MirrorRequest
    ) -> PageContext {
        func counted(_ counts: [(number: Int, singular: String, plural: String)]) -> String {
            Words.counts(counts).joined(by: .comma)
        }
        let posts = report.count(of: .post)
        let replies = report.count(of: .reply)
        let favorites = report.count(of: .favorite)
        let leftAlone = report.counts.map(\.leftAlone).reduce(0, +)
        let day = report.day.description
        return [
            "waiting": .number(status.suggestions), "waitingHref": .text(request.base + "/waiting"),
            "deadline": .text(
                report.firstDeadline.map {
                    localized("the first until \(request.words.moment($0))")
                }),
            "done": .text(Words.count(posts?.done ?? 0, "post")),
            "doneHref": .text(
                request.base + "/actions" + WebFields.query([("state", "done"), ("day", day)])),
            "doneMore": .text(
                counted([
                    (replies?.done ?? 0, "reply", "replies"),
                    (favorites?.done ?? 0, "favorite", "favorites"),
                ])),
            "left": .number(leftAlone),
            "leftHref": .text(
                request.base + "/actions" + WebFields.query([("state", "skipped"), ("day", day)])),
            "leftMore": .text(
                counted([
                    (replies?.leftAlone ?? 0, "mention", "mentions"),
                    (posts?.leftAlone ?? 0, "post", "posts"),
                    (favorites?.leftAlone ?? 0, "favorite", "favorites"),
                ])),
        ]
    }

    private static func toOthers(_ action: ReportedAction, _ request: MirrorRequest) -> PageContext
    {
        let date = action.due ?? action.at
        let isUndone = action.state == .undone
        return [
            "at": .markup(request.words.time(date)),
            "symbol": .text(action.kind == .favorite ? "a-favorite" : "a-reply"),
            "tag": .text(isUndone ? "undone" : "done"),
            "what": .text(what(action.kind, isUndone: isUndone)),
            "whom": .account(action.person?.name ?? localized("somebody")),
            "about": .text(action.about.map { Words.cut($0, to: 300) }),
            "text": .text(action.text.map { Words.cut($0) }),
            "language": .text(action.language.flatMap(LanguageTag.naming)),
            "rate": .text(action.rate.map { localized("Rate \(String(format: "%.2g", $0))") }),
            "href": .text("\(request.base)/actions/\(WebFields.encoded(action.id))"),
            "time": .text(request.words.clock(date)),
        ]
    }

    /// Returns the words for the action before the person's name.
    private static func what(_ kind: ActionKind, isUndone: Bool) -> String {
        switch kind {
        case .favorite: localized(isUndone ? "Taken back: favorite for" : "Favorite for")
        case .reply, .post: localized(isUndone ? "Taken back: reply to" : "Reply to")
        }
    }

    /// Whether a person skipped the slot and its time is still to come.
    static func canRestore(_ slot: PlanReport.Slot, _ request: MirrorRequest) -> Bool {
        SlotState(slot) == .skipped && slot.reason == .outbox(.byPerson)
            && slot.due > request.now
    }

    // MARK: One slot

    @Sendable static func oneSlot(_ request: MirrorRequest) async throws -> WebReply {
        guard let id = request.parameters["id"], let (slot, day) = try await slot(id, request)
        else {
            return .missing(
                localized("There is no such slot (any more): its day may have been drawn anew."))
        }
        let view = SlotView(slot, day: day, request, isNext: false, hasControls: true, isOpen: true)
        return .page(
            PageContent(
                .oneSlot, title: slot.time, in: .today,
                [
                    "time": .text(slot.time), "day": .text(request.words.heading(day)),
                    "slot": .fields(view.context),
                    "dayHref": .text(request.base + WebFields.query([("day", day.description)])),
                ]))
    }

    /// The days whose previews are searched for a slot that is not stored.
    private static let searchedDays = 0..<WeekAhead.length

    private static func slot(_ id: String, _ request: MirrorRequest) async throws -> (
        PlanReport.Slot, LocalDay
    )? {
        guard let zone = request.zone else { return nil }
        let reporter = PlanReporter(mirror: request.mirror, zone: zone)
        let storedAction = try await request.mirror.outbox(lease: nil).actions(withIDs: [id])[id]
        var days = searchedDays.map { request.words.today.advanced(by: $0) }
        if case .post(let name, _)? = storedAction?.payload { days = [name.day] }
        for day in days {
            let report = try await reporter.report(on: day, now: request.now, looksUpDates: true)
            if let slot = report?.slots.first(where: { $0.id == id }) { return (slot, day) }
        }
        return nil
    }

    // MARK: Operations on slots

    /// Returns the page after a refusal: the slot with the typed values, or the day if the slot is
    /// gone.
    @Sendable private static func refused(_ request: MirrorRequest) async throws -> WebReply {
        let reply = try await oneSlot(request)
        if case .missing = reply { return try await page(request) }
        return reply
    }

    /// Returns the query that shows the day of a slot; empty for today.
    private static func back(to slot: String, _ request: MirrorRequest) async throws -> String {
        guard let (_, day) = try await self.slot(slot, request), day != request.words.today else {
            return ""
        }
        return WebFields.query([("day", day.description)])
    }

    @Sendable private static func skip(_ request: MirrorRequest) async throws -> WebReply {
        let id = request.parameters["id"] ?? ""
        return try await request.perform(
            SkipSlot(slot: id), backTo: try await back(to: id, request), refusedBy: refused,
            saying: { change in
                guard let slot = change.slots.first else {
                    return Said(localized("It is left out."))
                }
                guard change.isNew else {
                    return Said(localized("\(slot.time) is left out already."))
                }
                return Said(
                    localized("\(slot.time) is left out."),
                    wayBack: request.button(localized("Send it after all"), change.wayBack))
            })
    }

    @Sendable private static func restore(_ request: MirrorRequest) async throws -> WebReply {
        let id = request.parameters["id"] ?? ""
        return try await request.perform(
            RestoreSlot(slot: id), backTo: try await back(to: id, request), refusedBy: refused,
            saying: { change in
                guard let slot = change.slots.first else {
                    return Said(localized("It is planned again."))
                }
                guard change.isNew else {
                    return Said(localized("\(slot.time) is planned already."))
                }
                return Said(
                    localized("\(slot.time) is planned again."),
                    wayBack: request.button(localized("Skip"), change.wayBack))
            })
    }

    @Sendable private static func move(_ request: MirrorRequest) async throws -> WebReply {
        let id = request.parameters["id"] ?? ""
        let time = request.form.typed("time") ?? ""
        return try await request.perform(
            MoveSlot(slot: id, time: time), backTo: try await back(to: id, request),
            refusedBy: refused,
            saying: { change in
                guard let slot = change.slots.first else { return Said(localized("It is moved.")) }
                guard change.isNew else { return Said(localized("It is at \(slot.time) already.")) }
                let former = (change.wayBack?.operation as? MoveSlot)?.time ?? ""
                return Said(
                    localized("It comes at \(slot.time) now."),
                    wayBack: request.button(localized("Back to \(former)"), change.wayBack))
            })
    }

    @Sendable private static func pin(_ request: MirrorRequest) async throws -> WebReply {
        let id = request.parameters["id"] ?? ""
        let post = request.form["keep"] == nil ? request.form.typed("post") : nil
        guard post != nil || request.form["keep"] != nil else {
            return try await request.attempt(refusedBy: refused) {
                throw ChangeRefusal(.unusable, localized("no old post is named; type its address"))
            }
        }
        return try await request.perform(
            PinSlot(slot: id, post: post), backTo: try await back(to: id, request),
            refusedBy: refused,
            saying: { change in
                let time = change.slots.first?.time ?? localized("It")
                guard change.isNew else {
                    return Said(localized("\(time) is kept as it is already."))
                }
                return Said(
                    localized(
                        post == nil
                            ? "\(time) stays as it is; only you change it."
                            : "\(time) has the text that you chose."
                    ))
            })
    }

    // MARK: A day anew

    @Sendable private static func confirmReroll(_ request: MirrorRequest) async throws
        -> Confirmation
    {
        let dayText = request.parameters["day"] ?? request.query["day"]
        let namedDay: LocalDay? =
            if let dayText { LocalDay(dayText) } else { request.words.today }
        guard let day = namedDay else {
            throw ChangeRefusal(.unusable, localized("the day is no date such as 2026-11-24"))
        }
        guard let zone = request.zone else { throw try await request.mirror.missingTimeZone() }
        let report = try await PlanReporter(mirror: request.mirror, zone: zone).report(
            on: day, now: request.now)
        let slots = report?.slots ?? []
        let replacedSlots = slots.filter {
            [.planned, .preview].contains(SlotState($0)) && $0.due > request.now
        }
        let keptCount = slots.count {
            [.pinned, .textless].contains(SlotState($0)) && $0.due > request.now
        }
        let isToday = day == request.words.today
        var confirmation = Confirmation(
            in: .today,
            localized(
                isToday
                    ? "Draw the rest of today anew?"
                    : "Draw \(request.words.heading(day)) anew?"),
            action: "/days/\(day)/reroll", verb: localized("Draw anew"),
            otherWay: localized("Keep it"),
            back: isToday ? "" : WebFields.query([("day", day.description)]))
        confirmation.lead =
            replacedSlots.isEmpty
            ? localized("Nothing of it is left to replace.")
            : localized("\(Words.count(replacedSlots.count, "post")) will be replaced:")
        confirmation.things = replacedSlots.map { slot in
            Confirmation.Thing(
                at: slot.due, symbol: SlotState(slot).symbol, localized("Planned"), text: slot.text,
                language: slot.language)
        }
        confirmation.notes = [localized("The texts that leave may come on another day.")]
        if keptCount > 0 {
            let keptPosts = Words.count(keptCount, "post")
            confirmation.notes.append(
                localized(
                    keptCount == 1
                        ? "\(keptPosts) that you moved or kept stays."
                        : "\(keptPosts) that you moved or kept stay."))
        }
        confirmation.seen = report?.seen
        confirmation.isGrave = false
        return confirmation
    }

    @Sendable private static func reroll(_ request: MirrorRequest) async throws -> WebReply {
        guard let day = request.parameters["day"].flatMap({ LocalDay($0) }) else {
            return .missing(localized("There is no such day."))
        }
        // A button that is pressed twice in the same second draws the same slots, because the seed
        // is the same.
        let seed = "page \(request.form["seen"] ?? "") \(Int(request.now.timeIntervalSince1970))"
        return try await request.perform(
            RerollDay(day: day, seed: seed),
            backTo: day == request.words.today ? "" : WebFields.query([("day", day.description)]),
            refusedBy: { .confirm(try await confirmReroll($0)) },
            saying: { change in
                Said(
                    localized(
                        "Drawn anew: \(Words.count(change.added, "post")) instead of \(Words.number(change.taken))."
                    )
                )
            })
    }

    // MARK: A pause

    @Sendable private static func confirmPause(_ request: MirrorRequest) async throws
        -> Confirmation
    {
        var confirmation = Confirmation(
            in: .today, localized("Pause until when?"), action: "/pause", verb: localized("Pause"),
            otherWay: localized("Do not"),
            back: "")
        confirmation.lead = localized("Nothing is read, decided or sent meanwhile.")
        confirmation.inputs = [
            .init(
                "until", localized("Until"),
                hint: localized(
                    "18:30, 2026-11-24, 2026-11-24 18:30, 6h or 3d; empty for until you go on")),
            .init("reason", localized("Why, for yourself")),
        ]
        confirmation.notes = [
            localized(
                "Afterwards mentions of the last 24 hours are answered; posts that were planned meanwhile are left out."
            )
        ]
        confirmation.seen = request.record.pauseSeen(at: request.now)
        confirmation.isGrave = false
        return confirmation
    }

    @Sendable private static func pause(_ request: MirrorRequest) async throws -> WebReply {
        let until = request.form.typed("until")
        return try await request.perform(
            PauseMirror(until: until, reason: request.form.typed("reason")), backTo: "",
            refusedBy: { .confirm(try await confirmPause($0)) },
            saying: { change in
                guard change.wasPaused == nil else { return Said(localized("It pauses already.")) }
                let paused =
                    change.until.map { localized("Paused until \(request.words.moment($0)).") }
                    ?? localized("Paused until you go on.")
                let requests = Words.count(change.left.count, "request")
                let underWay =
                    change.left.isEmpty ? [] : [localized("\(requests) was under way.")]
                return Said(
                    ([paused] + underWay).joined(by: .sentence),
                    wayBack: request.button(localized("Go on now"), change.wayBack))
            })
    }

    @Sendable private static func resume(_ request: MirrorRequest) async throws -> WebReply {
        try await request.perform(
            ResumeMirror(knowing: request.form["knowing"] == "yes"), backTo: "", refusedBy: page,
            saying: { change in
                if change.isHeld, let human = change.human {
                    return Said(
                        localized("It does not pause any more, but nothing is sent: \(human)."))
                }
                let goesOn = change.wasPaused == true || change.human != nil
                return Said(
                    localized(
                        goesOn
                            ? "It goes on; a worker notices within a minute."
                            : "It does not pause any more."))
            })
    }
}
