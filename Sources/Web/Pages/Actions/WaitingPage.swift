import Control
import Foundation
import Localization
import Mirroring
import Outbox
import Posts
import Settings

extension PageTemplate {
    static let waiting = PageTemplate("waiting")
}

/// The page with the items that wait for a person's decision, the most urgent first, and with the
/// copies that may have to be undone because their originals are gone.
enum WaitingPage: MirrorPage {
    static let section = PageSection.waiting
    static let templates = [PageTemplate.waiting]
    static let liveParts = ["waiting", "waiting-count", "proposed"]
    static let routes: [MirrorRoute] = [
        .get("/waiting") { request in
            try await request.attempt(refusedBy: { try await page($0, after: nil) }) {
                try await page(request, after: request.query.typed("after"))
            }
        },
        .post("/waiting") { try await decide($0) },
        .post("/undo/keep") { try await answerProposal($0) },
    ]

    /// The most waiting items on a page.
    private static let rowsShown = 20
    /// The most copies on a page.
    private static let proposedShown = 10
    /// The most bytes of a text to send.
    private static let textSize = 6_000
    /// The most bytes of a further part of the text.
    private static let partSize = 1_500
    /// The most bytes of the post that the text answers.
    private static let aboutSize = 2_400

    // MARK: The page

    static func page(_ request: MirrorRequest, after cursor: String?) async throws -> WebReply {
        let list = try await ListWords.fitting(rowsShown, budget: 12_000) { limit in
            var search = SuggestionList.Search(limit: limit)
            search.order = .urgent
            search.cursor = cursor
            return try await SuggestionList(of: request.mirror, search)
        } texts: { (list: SuggestionList) -> [[String?]] in
            list.suggestions.map { row -> [String?] in
                let mainTexts: [String?] = [
                    row.about.map { ListWords.cut($0, bytes: aboutSize) },
                    row.text.map { ListWords.cut($0, bytes: textSize) },
                    row.address, row.why,
                ]
                let furtherTexts: [String] =
                    row.words
                    + (row.rest ?? []).prefix(2).map { ListWords.cut($0, bytes: partSize) }
                return mainTexts + furtherTexts.map { Optional($0) }
            }
        }
        let ticked = Set(request.refusal == nil ? [] : request.form.all("id"))
        let undoing = Undoing(mirror: request.mirror)
        let proposed = try await undoing.actions(
            .proposed, kinds: ActionKind.allCases, now: request.now)
        let persons = try await request.mirror.persons(of: Array(proposed.prefix(proposedShown)))
        let words = request.words
        let settings = request.mirror.configuration
        let hasPages = cursor != nil || list.next != nil
        var context: PageContext = [
            "base": .text(request.base), "canChange": .flag(!request.access.isReadOnly),
            "token": .markup(request.hidden()), "count": .text(count(list.total)),
            "isEmpty": .flag(list.suggestions.isEmpty), "hasPages": .flag(hasPages),
            "shown": .text(
                localized("\(list.suggestions.count) of \(Words.number(list.total))")),
            "first": .text(cursor.map { _ in request.link("/waiting") }),
            "next": .text(list.next.map { request.link("/waiting", [("after", $0)]) }),
            "items": .list(
                list.suggestions.map { suggestion in
                    itemRow(suggestion, words, request, isTicked: ticked.contains(suggestion.id))
                }),
        ]
        let canApprove = list.suggestions.contains { $0.obstacle == nil }
        let canNote = list.suggestions.contains(where: \.isByHand)
        context["canApprove"] = .flag(canApprove)
        context["canNote"] = .flag(canNote)
        context["lesson"] = .text(lesson(list.suggestions, request))
        context["whatComes"] = .sentence(whatComes(settings.favoriteMode == .suggest, list.total))
        let reviewsPosts = settings.review.contains(.post)
        let reviewsReplies = settings.review.contains(.reply)
        let reviewed =
            switch (reviewsPosts, reviewsReplies) {
            case (true, true): localized("posts and replies")
            case (true, false): localized("posts")
            case (false, true): localized("replies")
            case (false, false): localized("none")
            }
        context["review"] = .text(reviewed)
        context["reviewMeans"] = .text(
            localized(
                reviewsPosts || reviewsReplies
                    ? "these wait here." : "posts and replies leave without being asked about."))
        context["proposedCount"] = .text(
            proposed.isEmpty ? localized("none") : Words.number(proposed.count))
        context["hasProposed"] = .flag(!proposed.isEmpty)
        context["proposed"] = .list(
            proposed.prefix(proposedShown).map {
                copyRow($0, persons[$0.id]?.name, words, isTicked: ticked.contains($0.id))
            })
        let furtherCopies = proposed.count - proposedShown
        context["proposedRest"] = .text(
            furtherCopies > 0
                ? localized(
                    "\(Words.count(furtherCopies, "more copy", "more copies")) will be asked about after these."
                )
                : nil)
        let title =
            list.total > 0
            ? localized("Waiting (\(Words.number(list.total)))") : localized("Waiting")
        return .page(PageContent(.waiting, title: title, in: section, context))
    }

    /// Returns whether decisions on the listed favorites are learned; `nil` if none are listed.
    private static func lesson(_ rows: [SuggestionList.Suggestion], _ request: MirrorRequest)
        -> String?
    {
        let favorites = rows.filter { $0.kind == .favorite }
        guard !favorites.isEmpty else { return nil }
        let learned = favorites.count { $0.isLearned != false }
        if learned == favorites.count { return localized("What you say of a favorite is learned.") }
        let network = request.mirror.configuration.botNetwork.displayName
        return learned == 0
            ? localized(
                "Nothing is learned of what you say of favorites here: what posts say is not kept, and \(network) is not asked again."
            )
            : localized(
                "Something is learned of only \(learned) of what you say of favorites here: what posts say is not kept, and \(network) is not asked again."
            )
    }

    private static func count(_ total: Int) -> String {
        switch total {
        case 0: localized("nothing")
        case 1: localized("one")
        default: localized("\(Words.number(total)), the most urgent first")
        }
    }

    private static func whatComes(_ suggestsFavorites: Bool, _ total: Int) -> String {
        if total > 0 {
            return localized(
                "What waited on this page was decided or ended meanwhile; there is more before it.")
        }
        return suggestsFavorites
            ? localized(
                "Posts that the human would favorite come here, and what \(Setting.review.name) names."
            )
            : localized(
                "What the network or a setting does not let the bot do without you comes here.")
    }

    private static func itemRow(
        _ row: SuggestionList.Suggestion, _ words: Words, _ request: MirrorRequest, isTicked: Bool
    ) -> PageContext {
        let symbol =
            switch row.kind {
            case .post: "a-suggested"
            case .reply: "a-reply"
            case .favorite: "a-favorite"
            }
        let marks = ActionMarks(
            row.kind, .suggested, whom: row.person.map { ListWords.name($0.name) })
        let isPost = row.kind == .post
        let furtherParts = row.rest ?? []
        let isFavorite = row.kind == .favorite
        let text = isFavorite ? row.about : row.text
        let isUrgent = row.expires.timeIntervalSince(words.now) < 86_400
        return [
            "id": .text(row.id), "seen": .text(row.seen.description), "isTicked": .flag(isTicked),
            "until": .markup(words.time(row.expires, showing: ListWords.short(row.expires, words))),
            "untilNote": .text(
                isUrgent
                    ? words.relative(row.expires)
                    : localized(
                        "waits for \(Words.span(words.now.timeIntervalSince(row.created)))")),
            "symbol": .text(symbol),
            "what": .text(
                isPost
                    ? localized("Post for \(ListWords.shortMoment(row.due, words))") : marks.what),
            "whom": .text(marks.whom), "name": .account(marks.whom),
            "asked": .text(
                isFavorite ? nil : row.about.map { ListWords.cut($0, bytes: aboutSize) }),
            "text": .text(text.map { ListWords.cut($0, bytes: isFavorite ? aboutSize : textSize) }),
            "language": .text(isFavorite ? nil : row.language.flatMap(LanguageTag.naming)),
            "rest": .texts(
                furtherParts.prefix(2).map { ListWords.cut($0, bytes: partSize) }
                    + (furtherParts.count > 2
                        ? [localized("and \(Words.count(furtherParts.count - 2, "more part"))")]
                        : [])),
            "notKept": .text(
                isFavorite && row.about == nil ? localized("Its text is not kept here.") : nil),
            "why": .sentence(why(row, words)), "hasWords": .flag(isFavorite && !row.words.isEmpty),
            "words": .texts(isFavorite ? row.words.map { ListWords.cut($0, bytes: 90) } : []),
            "isByHand": .flag(row.isByHand), "canApprove": .flag(row.obstacle == nil),
            "address": .text(row.address),
            "network": .text(request.mirror.configuration.botNetwork.displayName),
            "yes": .text(localized(isFavorite ? "Favorite" : "Send it")),
            "no": .text(localized(row.kind == .reply ? "Decline" : "Not this one")),
        ]
    }

    /// Says in sentences why the suggestion was made, when it expires, and what it costs.
    private static func why(_ row: SuggestionList.Suggestion, _ words: Words) -> String {
        var parts: [String] = []
        if let rate = row.rate {
            parts.append(FavoriteWords.sentence(rate, threshold: row.threshold))
        } else if let why = row.why {
            parts.append(FavoriteWords.sentence(ListWords.cut(why, bytes: 400)))
        }
        if row.isByHand {
            parts.append(localized("The network does not let software favorite, so only you can."))
        } else if let obstacle = row.obstacle {
            parts.append(FavoriteWords.sentence(obstacle))
        }
        if row.kind == .reply {
            parts.append(
                localized("After \(words.moment(row.expires)) it is too late to answer."))
        }
        if let cost = row.cost {
            parts.append(localized("It costs \(Words.dollars(cost)) at most."))
        }
        return parts.joined(by: .sentence)
    }

    private static func copyRow(_ action: Action, _ person: String?, _ words: Words, isTicked: Bool)
        -> PageContext
    {
        let marks = ActionMarks(
            action.kind, action.state, reason: action.reason,
            whom: person.map { ListWords.name($0) })
        let time = action.sending ?? action.due
        return [
            "id": .text(action.id), "seen": .text(action.seen.description),
            "isTicked": .flag(isTicked),
            "at": .markup(words.time(time, showing: ListWords.short(time, words))),
            "state": .text(marks.state),
            "mark": .text(marks.mark), "symbol": .text(marks.symbol), "what": .text(marks.what),
            "whom": .text(marks.whom), "name": .account(marks.whom),
            "text": .text(action.text.map { ListWords.cut($0, bytes: 240) }),
            "language": .text(action.wording?.language.flatMap(LanguageTag.naming)),
        ]
    }

    // MARK: Deciding

    /// Decides about one item if the form has a field `approve`, `decline`, `done` or `reopen` with
    /// its id; otherwise about the ticked items, as the field `all` says.
    private static func decide(_ request: MirrorRequest) async throws -> WebReply {
        let form = request.form
        if let id = form["approve"] {
            return try await decideOne(ApproveSuggestion(id: id), of: id, request)
        }
        if let id = form["decline"] {
            return try await decideOne(DismissSuggestion(id: id), of: id, request)
        }
        if let id = form["done"] {
            return try await decideOne(NoteSuggestionDone(id: id), of: id, request)
        }
        if let id = form["reopen"] {
            return try await decideOne(ReopenSuggestion(id: id), of: nil, request)
        }
        return try await request.attempt(refusedBy: { try await page($0, after: nil) }) {
            switch form["all"] {
            case "approve": try await decideTicked(request) { ApproveSuggestion(id: $0) }
            case "done": try await decideTicked(request) { NoteSuggestionDone(id: $0) }
            case "decline": try await decideTicked(request) { DismissSuggestion(id: $0) }
            default:
                throw ChangeRefusal(
                    .unusable, localized("the form does not say what is to be done; look again"))
            }
        }
    }

    /// - Parameter id: The id of the item whose digest the form contains; nil for an undo button,
    ///   whose form has none.
    private static func decideOne<Operation: PersonOperation>(
        _ operation: Operation, of id: String?, _ request: MirrorRequest
    ) async throws -> WebReply where Operation.Outcome == SuggestionDecision {
        try await request.attempt(refusedBy: { try await page($0, after: nil) }) {
            let seen = try id.map { try request.seen(of: $0) }
            let decision = try await request.desk.perform(PersonRequest(operation, seen: seen))
            return .seeOther(request.link("/waiting"), saying: said(decision, request))
        }
    }

    /// Decides about the ticked items, one after the other; a refusal of one does not stop the
    /// others.
    private static func decideTicked<Operation: PersonOperation>(
        _ request: MirrorRequest, _ operation: (String) -> Operation
    ) async throws -> WebReply where Operation.Outcome == SuggestionDecision {
        let ids = request.form.all("id").uniqued()
        guard !ids.isEmpty else { throw ChangeRefusal(.unusable, localized("nothing is ticked")) }
        var decisions: [SuggestionDecision] = []
        var refusals: [ChangeRefusal] = []
        for id in ids {
            do {
                let decision = PersonRequest(operation(id), seen: try request.seen(of: id))
                decisions.append(try await request.desk.perform(decision))
            } catch let refusal as ChangeRefusal {
                refusals.append(refusal)
            }
        }
        guard let first = decisions.first else { throw refusals[0] }
        var text = decisions.count == 1 ? said(first, request).text : summary(decisions)
        if let refusal = refusals.first {
            let notDone = localized(
                "Not done: \(refusals.count) of \(ids.count), \(refusal.text.page).")
            text = [text, notDone].joined(by: .sentence)
        }
        return .seeOther(request.link("/waiting"), saying: Said(text))
    }

    private static func summary(_ decisions: [SuggestionDecision]) -> String {
        let counts = ActionKind.allCases.compactMap { kind -> String? in
            let number = decisions.count { $0.kind == kind }
            guard number > 0 else { return nil }
            return switch kind {
            case .post: Words.count(number, "post")
            case .reply: Words.count(number, "reply", "replies")
            case .favorite: Words.count(number, "favorite")
            }
        }
        let list = counts.joined(by: .comma)
        return switch decisions[0].decision {
        case .approved: localized("Approved: \(list).")
        case .done: localized("Noted that you did it: \(list).")
        case .dismissed, .reopened: localized("Declined: \(list).")
        }
    }

    private static func said(_ decision: SuggestionDecision, _ request: MirrorRequest) -> Said {
        let what = ActionMarks.named(decision.kind, decision.person?.name)
        var text =
            switch decision.decision {
            case .approved where decision.isNew: localized("Approved: \(what).")
            case .approved: localized("Approved before: \(what).")
            case .done where decision.isNew: localized("Noted that you did it: \(what).")
            case .done: localized("Noted before that you did it: \(what).")
            case .dismissed where decision.isNew: localized("Declined: \(what).")
            case .dismissed: localized("Declined before: \(what).")
            case .reopened: localized("Waits again: \(what).")
            }
        if decision.isNew, decision.kind == .favorite, decision.decision != .reopened {
            let lesson = localized(
                decision.decision == .dismissed
                    ? "It was learned as a post that was passed over."
                    : "It was learned as a favorite.")
            let noLesson = decision.notLearned.map {
                localized("Nothing was learned from it: \($0).")
            }
            text = [text, noLesson ?? lesson].joined(by: .sentence)
        }
        guard decision.decision == .dismissed else { return Said(text) }
        return Said(text, wayBack: request.button(localized("Let it wait again"), decision.wayBack))
    }

    // MARK: Copies that outlived their originals

    /// Answers the form about copies without originals.
    ///
    /// If its field `do` is `keep`, the ticked copies are kept. If it is `back`, a page asks
    /// whether to undo them.
    private static func answerProposal(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: { try await page($0, after: nil) }) {
            let ids = request.form.all("id").uniqued()
            guard !ids.isEmpty else {
                throw ChangeRefusal(.unusable, localized("nothing is ticked"))
            }
            switch request.form["do"] {
            case "back": return .seeOther(request.link("/confirm/undo", ids.map { ("id", $0) }))
            case "keep":
                let seen = Seen(ofAll: try ids.map { try request.seen(of: $0) })
                let change = try await request.desk.perform(
                    PersonRequest(KeepProposed(ids: ids), seen: seen))
                let text =
                    change.kept == 0
                    ? localized("These stay: that was said before.")
                    : localized("\(Words.count(change.kept, "copy", "copies")) stay for good.")
                return .seeOther(request.link("/waiting"), saying: Said(text))
            default:
                throw ChangeRefusal(
                    .unusable, localized("the form does not say what is to be done; look again"))
            }
        }
    }
}

extension Array where Element: Hashable {
    /// The elements without repetitions, in their order.
    func uniqued() -> [Element] {
        var includedElements: Set<Element> = []
        return filter { includedElements.insert($0).inserted }
    }
}
