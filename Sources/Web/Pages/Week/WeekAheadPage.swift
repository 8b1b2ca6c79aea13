import Control
import Foundation
import Localization
import Mirroring
import Posts

extension PageTemplate {
    fileprivate static let comingWeek = PageTemplate("coming-week")
    static let weekTabs = PageTemplate("week-tabs")
}

/// The coming week as one strip, where posts are moved within their days.
enum WeekAheadPage: MirrorPage {
    static let section = PageSection.today
    static let path = "/week"
    static let templates: [PageTemplate] = [.comingWeek, .weekTabs]
    static let liveParts = ["ahead"]
    static let routes: [MirrorRoute] = [.get(path, page), .post("/week/move", move)]

    /// The most slots that the form offers to move.
    static let maximumOffered = 30
    /// The most bytes of a text in the list.
    private static let textSize = 70

    /// Returns the number of slots of a day that are listed: fewer if the week has many, so that
    /// the page stays small.
    static func listed(of days: [PlanReport]) -> Int {
        let slotCount = days.map(\.slots.count).reduce(0, +)
        let hasFewSlots = slotCount <= 4 * WeekAhead.length
        return hasFewSlots ? 6 : 2
    }

    // MARK: Looking

    @Sendable static func page(_ request: MirrorRequest) async throws -> WebReply {
        let week: WeekAhead? =
            if let zone = request.zone {
                try await WeekAhead(of: request.mirror, zone: zone, now: request.now)
            } else {
                nil
            }
        return .page(
            PageContent(
                .comingWeek, title: localized("The week ahead"), in: section, at: path,
                context(week, of: request)))
    }

    static func context(_ week: WeekAhead?, of request: MirrorRequest) -> PageContext {
        let words = request.words
        let days = week?.days ?? []
        let movableSlots = request.access.isReadOnly ? [] : days.map { movable($0, request.now) }
        return [
            "base": .text(request.base), "isAhead": true,
            "hasDays": .flag(!days.isEmpty),
            "nothing": .text(
                localized(
                    request.zone == nil
                        ? "Nobody knows yet by which clock the human lives."
                        : "There is no post of the human’s to plan from yet.")),
            "strip": .markup(week.map { WeekStrip(week: $0, words: words).drawing.element }),
            "top": .number(WeekStrip.top), "lane": .number(WeekStrip.laneHeight),
            "left": .text(Drawing.short(WeekStrip.left)), "below": .number(WeekStrip.postDepth),
            "hasQuiet": .flag(week?.quiet.isEmpty == false),
            "canMove": .flag(movableSlots.contains { !$0.isEmpty }),
            "token": .markup(request.hidden()),
            "options": .markup("\(options(days, movableSlots, request))"),
            "time": .text(request.typed("time") ?? ""),
            "isWrong": .flag(request.refusal?.isMisuse == true),
            "days": .list(days.map { day($0, listed: listed(of: days), request) }),
            "script": .text(WebAsset.week.address),
        ]
    }

    /// The slots that can still be moved.
    private static func movable(_ plan: PlanReport, _ now: Date) -> [PlanReport.Slot] {
        plan.slots.filter { SlotState($0).canChange && $0.due > now }
    }

    /// Returns the options of the form: the slots that it offers to move.
    ///
    /// The value of an option is the slot's name and digest: the person chooses the slot in the
    /// form, so no hidden field can have the digest.
    private static func options(
        _ days: [PlanReport], _ movableSlots: [[PlanReport.Slot]], _ request: MirrorRequest
    ) -> [Markup] {
        let words = request.words
        let chosen = request.typed("slot")
        let options = zip(days, movableSlots).enumerated().flatMap { lane, day -> [Markup] in
            let (plan, slots) = day
            let name = words.shortDayWithWeekday(plan.day)
            let presentMinute = LocalTime(request.now, in: words.zone).minute.value
            let earliestMinute: Markup =
                plan.day == words.today ? " data-least=\"\(presentMinute + 1)\"" : ""
            return slots.map { slot in
                let value = "\(slot.subject) \(slot.seen?.description ?? "")"
                let isChosen: Markup = value == chosen ? " selected" : ""
                let minute = LocalTime(slot.due, in: words.zone).minute.value
                return """
                    <option value="\(value)"\(isChosen) data-lane="\(lane)" data-minute="\(minute)"\(earliestMinute)>\
                    \(localized("\(name), \(slot.time)"))</option>
                    """
            }
        }
        return Array(options.prefix(maximumOffered))
    }

    private static func day(_ plan: PlanReport, listed: Int, _ request: MirrorRequest)
        -> PageContext
    {
        let words = request.words
        let furtherSlots = plan.slots.count - listed
        return [
            "weekday": .text(StatsReport.weekdays[plan.day.weekday - 1]),
            "date": .text(words.shortDay(plan.day)), "heading": .text(words.heading(plan.day)),
            "href": .text(request.base + WebFields.query([("day", plan.day.description)])),
            "standing": .text(dayState(plan)),
            "slots": .list(plan.slots.prefix(listed).map { slot($0, request) }),
            "rest": .text(
                furtherSlots > 0 ? localized("and \(Words.number(furtherSlots)) more") : nil),
        ]
    }

    /// Says whether the day is planned or only expected, and how many posts it has.
    private static func dayState(_ plan: PlanReport) -> String {
        let count = plan.slots.count { SlotState($0).isAhead || SlotState($0) == .done }
        let posts = count == 0 ? localized("no post") : Words.count(count, "post")
        return localized(
            plan.isStored ? "Planned: \(posts)" : "Expected, as far as one can tell: \(posts)")
    }

    private static func slot(_ slot: PlanReport.Slot, _ request: MirrorRequest) -> PageContext {
        let state = SlotState(slot)
        return [
            "time": .text(slot.time), "symbol": .text(state.symbol), "tag": .text(state.tag),
            "state": .text(word(for: state)),
            "href": .text("\(request.base)/slots/\(WebFields.encoded(slot.id))"),
            "text": .text(slot.text.map { ListWords.cut($0, bytes: textSize) }),
            "language": .text(slot.language.flatMap(LanguageTag.naming)),
        ]
    }

    private static func word(for state: SlotState) -> String {
        switch state {
        case .planned: localized("planned")
        case .pinned: localized("kept by you")
        case .preview: localized("expected")
        case .suggested: localized("waits for you")
        case .sending: localized("being sent")
        case .done: localized("posted")
        case .skipped, .expired: localized("left out")
        case .failed: localized("failed")
        case .undone: localized("taken back")
        case .textless: localized("without a text")
        }
    }

    // MARK: Moving

    /// Moves the chosen slot; a day that was only expected is stored as it was shown.
    @Sendable private static func move(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            let parts = (request.form["slot"] ?? "").split(separator: " ").map(String.init)
            guard let slot = parts.first else {
                throw ChangeRefusal(.unusable, localized("no post is chosen"))
            }
            guard parts.count == 2, let seen = Seen(parts[1]) else {
                throw ChangeRefusal(
                    .unusable, localized("the form does not say what was seen; look again"))
            }
            let operation = MoveSlot(slot: slot, time: request.form.typed("time") ?? "")
            let change = try await request.desk.perform(PersonRequest(operation, seen: seen))
            return .seeOther(request.base + path, saying: said(change, request))
        }
    }

    private static func said(_ change: SlotsChange, _ request: MirrorRequest) -> Said {
        guard let slot = change.slots.first else { return Said(localized("It is moved.")) }
        let day = request.words.heading(request.words.day(of: slot.due))
        guard change.isNew else {
            return Said(localized("It is at \(slot.time) already, on \(day)."))
        }
        let former = (change.wayBack?.operation as? MoveSlot)?.time ?? ""
        return Said(
            localized("It comes at \(slot.time) now, on \(day)."),
            wayBack: request.button(localized("Back to \(former)"), change.wayBack))
    }
}

extension Words {
    /// Formats a day with its weekday, as `Mon, 2 Dec`.
    func shortDayWithWeekday(_ day: LocalDay) -> String {
        let weekday = StatsReport.weekdays[day.weekday - 1]
        return switch Language.current {
        case .english: "\(weekday), \(shortDay(day))"
        case .japanese: "\(shortDay(day))（\(weekday)）"
        }
    }
}
