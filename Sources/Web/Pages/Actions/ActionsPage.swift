import Control
import Foundation
import Localization
import Mirroring
import Outbox
import Posts
import Settings

extension PageTemplate {
    static let actions = PageTemplate("actions")
    static let action = PageTemplate("action")
    /// The table of a favorite rate's composition, which ``action`` and the page Favorites contain.
    static let steps = PageTemplate("steps")
}

/// The list of actions that the bot did or skipped, and the page of one action with its reasons.
enum ActionsPage: MirrorPage {
    static let section = PageSection.actions
    static let templates = [PageTemplate.actions, .action, .steps]
    static let liveParts = ["actions"]
    static let routes: [MirrorRoute] = [
        .get("/actions") { request in
            try await request.attempt(refusedBy: { try await page($0, ActionQuery()) }) {
                let query = try ActionQuery(request.query)
                if let id = try await query.idInWords(request.mirror) {
                    return .seeOther(request.link("/actions/\(id)"))
                }
                return try await page(request, query)
            }
        },
        .get("/actions/:id") { request in
            try await request.attempt(refusedBy: { try await page($0, ActionQuery()) }) {
                try await page(
                    request, try ActionQuery(request.query), opening: request.parameters["id"])
            }
        },
        .post("/actions/undo") { try await undo($0) },
    ]
    static let confirmations: [String: @Sendable (MirrorRequest) async throws -> Confirmation] = [
        AskUndo.name: { try await confirmation($0) }
    ]

    private static let rowsShown = 25
    /// The most bytes of a text in a row.
    private static let textSize = 240

    // MARK: The list

    static func page(
        _ request: MirrorRequest, _ query: ActionQuery, opening id: String? = nil
    ) async throws -> WebReply {
        let mirror = request.mirror
        let search = try query.search(in: request.zone)
        // An opened action takes up a part of the page's size, so the list gets less.
        let list = try await ListWords.fitting(rowsShown, budget: id == nil ? 18_000 : 8_000) {
            limit in
            var search = search
            search.limit = limit
            return try await ActionList(of: mirror, search)
        } texts: { list in
            list.actions.map {
                [
                    ListWords.cut(rowText($0) ?? "", bytes: textSize),
                    ListWords.cut(rowWhy($0) ?? "", bytes: textSize),
                ]
            }
        }
        var report: ExplainReport?
        if let id {
            do {
                report = try await ExplainReporter(mirror: mirror).report(on: id, now: request.now)
            } catch let error as ActionNameError {
                return .missing(error.text.page)
            }
        }
        let opened = report.map { OpenedAction($0, request, query) }
        let isListed =
            if let report { list.actions.contains { $0.id == report.id } } else { false }
        let only = query.only
        let context: PageContext = [
            "base": .text(request.base), "q": .text(query.words ?? ""),
            "kinds": .list(query.kindOptions), "states": .list(query.stateOptions),
            "person": .text(query.person), "day": .text(query.day?.description),
            "only": .flag(only != nil), "onlyWords": .text(only?.words),
            "onlyName": .text(only?.name),
            "without": .text(only.map { request.link("/actions", $0.without) }),
            "withoutWords": .text(only?.link),
            "single": .fields(isListed ? nil : opened?.context(level: 2, isAlone: true)),
            "isEmpty": .flag(list.actions.isEmpty),
            "nothing": .text(
                localized(
                    query.isPlain
                        ? "The bot has not done anything yet." : "Nothing of the kind is stored.")),
            "days": .list(days(list.actions, report, opened, request, query)),
            "hasPages": .flag(query.before != nil || list.next != nil),
            "shown": .text(countWords(list)), "totals": .fields(totals(list, request, query)),
            "first": .text(
                query.before.map { _ in request.link("/actions", query.fields(before: nil)) }),
            "next": .text(list.next.map { request.link("/actions", query.fields(before: $0)) }),
        ]
        return .page(PageContent(.actions, in: section, context))
    }

    /// Returns the number of listed actions, as `25 of 5,512 actions`.
    private static func countWords(_ list: ActionList) -> String {
        guard let total = list.totals?.total else {
            return Words.count(list.actions.count, "action")
        }
        let shown = Words.number(list.actions.count)
        return total == 1
            ? localized("\(shown) of \(Words.number(total)) action")
            : localized("\(shown) of \(Words.number(total)) actions")
    }

    /// The number of found actions, and how many of them have each kind and ending, with links to
    /// searches for only these.
    private static func totals(
        _ list: ActionList, _ request: MirrorRequest, _ query: ActionQuery
    ) -> PageContext? {
        guard let totals = list.totals, totals.total > 0 else { return nil }
        return [
            "total": .text(Words.count(totals.total, "action")),
            "counts": .list(
                query.narrower(totals).filter { $0.count > 0 }.map { search -> PageContext in
                    [
                        "words": .text(search.words),
                        "link": .text(request.link("/actions", search.query.fields(before: nil))),
                    ]
                }),
        ]
    }

    /// The rows, grouped under headings of their days.
    private static func days(
        _ actions: [ReportedAction], _ report: ExplainReport?, _ opened: OpenedAction?,
        _ request: MirrorRequest,
        _ query: ActionQuery
    ) -> [PageContext] {
        let words = request.words
        var days: [(day: LocalDay, rows: [PageContext])] = []
        for action in actions {
            let day = words.day(of: action.at)
            if days.last?.day != day { days.append((day, [])) }
            let isOpen = report?.id == action.id
            days[days.count - 1].rows.append(
                row(
                    action, isOpen ? opened : nil, words,
                    link: request.link("/actions/\(action.id)", query.fields())))
        }
        return days.map { day, rows in
            ["key": .text("d\(day)"), "heading": .text(words.heading(day)), "rows": .list(rows)]
        }
    }

    private static func row(
        _ action: ReportedAction, _ opened: OpenedAction?, _ words: Words, link: String
    ) -> PageContext {
        let marks = ActionMarks(action)
        return [
            "id": .text(action.id), "isOpen": .flag(opened != nil),
            "at": .markup(words.time(action.at)),
            "state": .text(marks.state), "mark": .text(marks.mark), "symbol": .text(marks.symbol),
            "what": .text(marks.what), "whom": .account(marks.whom),
            "link": .text(link + (opened == nil ? "#why" : "")),
            "asked": .text(
                action.text == nil ? nil : action.about.map { ListWords.cut($0, bytes: textSize) }),
            "text": .text(rowText(action).map { ListWords.cut($0, bytes: textSize) }),
            "language": .text(action.language.flatMap(LanguageTag.naming)),
            "why": why(action),
            "written": .text(words.written(action.written, copied: action.due ?? action.at)),
            "opened": .fields(opened?.context(level: 4, isAlone: false)),
        ]
    }

    private static func rowText(_ action: ReportedAction) -> String? { action.text ?? action.about }

    private static func why(_ action: ReportedAction) -> PageValue {
        let why = rowWhy(action).map { FavoriteWords.sentence(ListWords.cut($0, bytes: textSize)) }
        // The words of a favorite come from another person's post, so they are not a sentence of
        // the program.
        let hasWords = action.reasonText == nil && action.words?.isEmpty == false
        return hasWords ? .text(why) : .sentence(why)
    }

    /// The reason; for a favorite, its rate and the words that spoke most for it, instead of the
    /// sentence that all favorites have.
    private static func rowWhy(_ action: ReportedAction) -> String? {
        if let reason = action.reasonText { return reason }
        guard action.kind == .favorite, let rate = action.rate else { return action.why }
        let words = action.words ?? []
        return words.isEmpty
            ? localized("rate \(Words.rate(rate))")
            : localized("rate \(Words.rate(rate)) for \(words.joined(by: .comma))")
    }

    // MARK: Taking back

    private static func confirmation(_ request: MirrorRequest) async throws -> Confirmation {
        let fields = request.refusal == nil ? request.query : request.form
        let ids = fields.all("id").uniqued()
        let undoing = Undoing(mirror: request.mirror)
        let storedActions = try await request.mirror.outbox(lease: nil).actions(withIDs: ids)
        let actions = ids.compactMap { storedActions[$0] }
        guard !actions.isEmpty, actions.count <= mostAtOnce else {
            throw ChangeRefusal(
                .unknown,
                actions.isEmpty
                    ? localized("there is no such action")
                    : localized("these are too many at once: \(actions.count)"))
        }
        let outlook = try await undoing.outlook(on: actions, now: request.now)
        let persons = try await request.mirror.persons(of: actions)
        let things = actions.map { action -> Confirmation.Thing in
            let marks = ActionMarks(
                action.kind, action.state, reason: action.reason,
                whom: persons[action.id].map { ListWords.name($0.name) })
            return Confirmation.Thing(
                at: action.sending ?? action.due, symbol: marks.symbol, marks.what,
                whom: marks.whom.isEmpty ? nil : marks.whom,
                text: action.text.map { ListWords.cut($0, bytes: 300) },
                language: action.wording?.language)
        }
        let number = outlook.total
        var confirmation = Confirmation(
            in: section,
            actions.count == 1
                ? localized("Take this back?") : localized("Take back these \(actions.count)?"),
            action: "/actions/undo", verb: localized("Take back \(number)"),
            otherWay: localized(actions.count == 1 ? "Keep it" : "Keep them"), back: "/actions")
        confirmation.lead = UndoWords.lead(
            outlook, server: request.mirror.configuration.botNetwork.displayName)
        confirmation.things = things
        confirmation.notes = UndoWords.notes(outlook)
        confirmation.fields = actions.map { ("id", $0.id) }
        confirmation.seen = outlook.seen
        return confirmation
    }

    /// The most actions in one confirmation: as many as one page has checkboxes.
    private static let mostAtOnce = 50

    private static func undo(_ request: MirrorRequest) async throws -> WebReply {
        let ids = request.form.all("id").uniqued()
        return try await request.attempt(refusedBy: { .confirm(try await confirmation($0)) }) {
            guard !ids.isEmpty else {
                throw ChangeRefusal(
                    .unusable, localized("nothing is named that is to be taken back"))
            }
            guard let seen = try request.seen() else {
                throw ChangeRefusal(
                    .unusable,
                    localized("the form does not say what the page showed; reload the page"))
            }
            let wishes = try await request.desk.perform(
                PersonRequest(AskUndo(ids: ids), seen: seen))
            let isAtWork = try await request.mirror.isAtWork(now: request.now)
            return .seeOther(
                request.link("/actions"), saying: Said(UndoWords.said(wishes, isAtWork: isAtWork)))
        }
    }
}

/// The search criteria for actions.
struct ActionQuery: Sendable {
    private(set) var kind: ActionKind?
    private(set) var ending = Ending.all
    private(set) var person: String?
    private(set) var words: String?
    private(set) var day: LocalDay?
    /// The cursor of the listed page: only actions before it are listed.
    private(set) var before: String?

    /// The groups of states that the form offers: how an action ended.
    enum Ending: String, CaseIterable {
        case all, done, skipped, failed, undone

        var label: String {
            switch self {
            case .all: localized("all")
            case .done: localized("done")
            case .skipped: localized("left alone")
            case .failed: localized("failed or unconfirmed")
            case .undone: localized("taken back")
            }
        }

        /// A number of actions with the ending, as `12 done`.
        fileprivate func words(_ number: String) -> String {
            switch self {
            case .all: localized("\(number) actions")
            case .done: localized("\(number) done")
            case .skipped: localized("\(number) left alone")
            case .failed: localized("\(number) failed or unconfirmed")
            case .undone: localized("\(number) taken back")
            }
        }

        /// The states that the ending covers; waiting actions are on other pages.
        var states: [ActionState] {
            switch self {
            case .all: [.sending, .done, .skipped, .expired, .failed, .undone]
            case .done: [.done]
            case .skipped: [.skipped, .expired]
            case .failed: [.failed]
            case .undone: [.undone]
            }
        }
    }

    init() {}

    /// - Throws: `ChangeRefusal` for an invalid part.
    init(_ fields: WebFields) throws {
        if let text = fields.typed("kind"), text != "all" {
            guard let kind = ActionKind(rawValue: text) else {
                throw Self.unusable(localized("kind"), text)
            }
            self.kind = kind
        }
        if let text = fields.typed("state") {
            guard let ending = Ending(rawValue: text) else {
                throw Self.unusable(localized("state"), text)
            }
            self.ending = ending
        }
        if let text = fields.typed("day") {
            guard let day = LocalDay(text) else { throw Self.unusable(localized("day"), text) }
            self.day = day
        }
        person = fields.typed("person")
        words = fields.typed("q")
        before = fields.typed("before")
    }

    private static func unusable(_ field: String, _ text: String) -> ChangeRefusal {
        ChangeRefusal(
            .unusable, localized("\(field) cannot be \"\(text.prefix(60))\"; all are shown"))
    }

    func search(in zone: TimeZone?) throws -> ActionList.Search {
        var search = ActionList.Search()
        search.kinds = kind.map { [$0] } ?? []
        search.states = ending.states
        search.person = person
        search.words = words
        search.cursor = before
        if let day, !search.restrict(to: day, in: zone ?? .gmt) {
            throw ChangeRefusal(
                .unusable, localized("there was no \(day) by the human's clock; all are shown"))
        }
        return search
    }

    /// Returns the id of the action if the search words are its id or the beginning of it; nil if
    /// no action or several actions match.
    func idInWords(_ mirror: HumanMirror) async throws -> String? {
        guard let words, words.count >= ActionNameError.shortIDLength,
            words.allSatisfy(\.isHexDigit)
        else { return nil }
        let matchingActions = try await mirror.outbox(lease: nil).actions(
            identifiedBy: words.lowercased(), limit: 2)
        return matchingActions.count == 1 ? matchingActions[0].id : nil
    }

    /// Whether no filter is set.
    var isPlain: Bool {
        kind == nil && ending == .all && person == nil && words == nil && day == nil
    }

    /// The query of a link that keeps the position in the list.
    func fields() -> [(String, String?)] { fields(before: before) }

    func fields(before cursor: String?) -> [(String, String?)] {
        [
            ("kind", kind?.rawValue), ("state", ending == .all ? nil : ending.rawValue),
            ("person", person),
            ("q", words), ("day", day?.description), ("before", cursor),
        ]
    }

    var kindOptions: [PageContext] {
        let kinds = ActionKind.allCases.map { ($0.rawValue, Self.label(of: $0)) }
        return ([("all", localized("all"))] + kinds).map { value, label in
            [
                "value": .text(value), "label": .text(label),
                "isChosen": .flag((kind?.rawValue ?? "all") == value),
            ]
        }
    }

    var stateOptions: [PageContext] {
        Ending.allCases.map {
            [
                "value": .text($0.rawValue), "label": .text($0.label),
                "isChosen": .flag($0 == ending),
            ]
        }
    }

    /// Returns the searches that narrow this one by a kind or by an ending, with their labels and
    /// numbers of results.
    ///
    /// A search that selects a kind already is not narrowed by kind; the same holds for the ending.
    func narrower(_ totals: ActionTotals) -> [(query: ActionQuery, words: String, count: Int)] {
        var searches: [(query: ActionQuery, words: String, count: Int)] = []
        for kind in ActionKind.allCases where self.kind == nil {
            var search = self
            search.kind = kind
            let count = totals.count(of: kind)
            searches.append((search, Self.words(count, of: kind), count))
        }
        for ending in Ending.allCases where self.ending == .all && ending != .all {
            var search = self
            search.ending = ending
            let count = totals.count(in: ending.states)
            searches.append((search, ending.words(Words.number(count)), count))
        }
        return searches
    }

    private static func label(of kind: ActionKind) -> String {
        switch kind {
        case .post: localized("posts")
        case .reply: localized("replies")
        case .favorite: localized("favorites")
        }
    }

    private static func words(_ count: Int, of kind: ActionKind) -> String {
        let number = Words.number(count)
        return switch kind {
        case .post: localized("\(number) posts")
        case .reply: localized("\(number) replies")
        case .favorite: localized("\(number) favorites")
        }
    }

    /// The filter by person or by day, for which the form has no field, and the link that removes
    /// it.
    var only: (words: String, name: String, link: String, without: [(String, String?)])? {
        var withoutFilter = self
        withoutFilter.before = nil
        withoutFilter.person = nil
        withoutFilter.day = nil
        if let person {
            return (
                localized("Only about "),
                [ListWords.name(PersonWords.name(person)), day?.description]
                    .compactMap(\.self).joined(by: .comma),
                localized("About everybody"),
                withoutFilter.fields()
            )
        }
        return day.map {
            (localized("Only of "), "\($0)", localized("Of all days"), withoutFilter.fields())
        }
    }
}
