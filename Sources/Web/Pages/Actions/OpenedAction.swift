import Control
import Foundation
import Localization
import Outbox
import Posts

/// The details of one action: the times of its states, the rules that were applied, and the
/// judgement of a favorite.
struct OpenedAction: Sendable {
    private let report: ExplainReport
    private let request: MirrorRequest
    private let query: ActionQuery
    private let state: ActionState?

    /// The most bytes of the text.
    private static let textSize = 2_400
    /// The most bytes of the post that the text answers.
    private static let aboutSize = 1_200
    /// The most bytes of a further part of the text.
    private static let partSize = 500
    /// The most bytes of a sentence.
    private static let sentenceSize = 240

    init(_ report: ExplainReport, _ request: MirrorRequest, _ query: ActionQuery) {
        self.report = report
        self.request = request
        self.query = query
        state = report.state.flatMap(ActionState.init(rawValue:))
    }

    private var words: Words { request.words }

    /// - Parameters:
    ///   - level: The level of its heading.
    ///   - isAlone: Whether the action is shown alone, instead of below its row in the list.
    func context(level: Int, isAlone: Bool) -> PageContext {
        let marks = ActionMarks(
            report.kind, state ?? .planned, reason: report.rules.first?.code,
            whom: report.person.map { ListWords.name($0.name) })
        let id = report.id ?? ""
        let denyPath = report.person.map {
            request.link("/confirm/people-deny", [("account", $0.account)])
        }
        return [
            "level": .text("\(level)"), "isAlone": .flag(isAlone),
            "title": .text(
                isAlone
                    ? localized("\(marks.what)\(marks.whom), \(marks.state)") : localized("Why")),
            "shortID": .text(String(id.prefix(ActionNameError.shortIDLength))),
            "close": .text(request.link("/actions", query.fields())), "lead": .markup(lead),
            "asked": .text(isAlone || report.kind == .reply ? answeredText : nil),
            "text": .text(isAlone ? text : nil),
            "language": .none, "rest": .texts(furtherTexts), "facts": .list(facts),
            "steps": .fields(steps),
            "now": .sentence(judgedNow), "canChange": .flag(!request.access.isReadOnly),
            "undoPath": .text(undoVerb == nil ? nil : request.link("/confirm/undo", [("id", id)])),
            "undoVerb": .text(undoVerb), "leavePath": .text(denyPath),
            "leaveName": .account(report.person.map { ListWords.name($0.name) }),
            "unchangeable": .text(unchangeable),
        ]
    }

    // MARK: Texts

    private var answeredText: String? {
        report.kind == .post
            ? nil : report.target?.text.map { ListWords.cut($0, bytes: Self.aboutSize) }
    }

    private var text: String? { report.text.map { ListWords.cut($0, bytes: Self.textSize) } }

    /// The note and the further parts, which are shown below the text.
    private var furtherTexts: [String] {
        [report.note].compactMap(\.self)
            + (report.rest ?? []).prefix(3).map { ListWords.cut($0, bytes: Self.partSize) }
    }

    private var lead: Markup? {
        guard report.kind == .favorite, let judgement = report.judgement else {
            return report.why.map {
                "\(sentence: FavoriteWords.sentence(ListWords.cut($0, bytes: Self.sentenceSize)))"
            }
        }
        let rate = Words.rate(judgement.rate)
        let threshold = Words.rate(judgement.threshold)
        let chance = Words.chance(ofOdds: judgement.rate)
        return Markup(
            rendered: judgement.isAboveThreshold
                ? localized(
                    "The human would favorite it: <b>rate \(rate)</b>, above your threshold of \(threshold). \(chance)"
                )
                : localized(
                    "The human would not favorite it: <b>rate \(rate)</b>, not above your threshold of \(threshold). \(chance)"
                ))
    }

    private var judgedNow: String? {
        guard report.kind == .favorite else { return nil }
        if let judgement = report.judgementNow {
            return localized(
                "By what is known today the rate would be \(Words.rate(judgement.rate)).")
        }
        return report.judgementProblem.map {
            localized(
                "It cannot be judged by what is known today: \(ListWords.cut($0, bytes: Self.sentenceSize))."
            )
        }
    }

    // MARK: Facts

    private var facts: [PageContext] {
        let namedFacts: [(String, Markup?)] = [
            (localized("Post"), post), (localized("Author"), author),
            (localized("Original"), original), (localized("Published"), published),
            (localized("Course"), course), (localized("Chosen"), chosen),
            (localized("Pictures"), pictures), (localized("Rules"), rules),
            (localized("Waits for"), obstacles), (localized("Costs"), cost),
            (localized("Taken back"), undo),
        ]
        return namedFacts.compactMap { name, body in
            body.map { ["name": .text(name), "body": .markup($0)] }
        }
    }

    private var post: Markup? {
        guard report.kind != .post else { return nil }
        return report.target.map { target in
            target.link.map { Self.link($0, localized("Open it there")) }
                ?? "<bdi>\(ListWords.cut(target.post, bytes: Self.sentenceSize))</bdi>"
        }
    }

    private var author: Markup? {
        report.person.map { person in
            let path = request.link("/people/\(WebFields.encoded(person.account))")
            let name = Markup.account(ListWords.name(person.name))
            return "<a href=\"\(path)\"><bdi>\(name)</bdi></a>"
        }
    }

    private var original: Markup? {
        report.original.map { original in
            let written =
                original.writtenTime.map { localized("written \($0) by the human's clock") }
                ?? localized("not kept here any more")
            let escaped = Markup.escaped(written)
            guard let address = original.link else { return Markup(rendered: escaped) }
            let link = Self.link(address, localized("Open it there"))
            return Markup(rendered: localized("\(escaped). \(link.text)"))
        }
    }

    private var published: Markup? {
        report.published.map { Self.link($0, localized("Seen there")) }
    }

    private static func link(_ address: String, _ words: String) -> Markup {
        "<a href=\"\(address)\" rel=\"noreferrer\">\(words)</a>"
    }

    private var course: Markup? {
        var parts: [Markup] = [
            report.decided.map { Markup(rendered: localized("decided \(time($0).text)")) },
            report.due.map { Markup(rendered: localized("due \(time($0).text)")) },
            report.sent.map { Markup(rendered: localized("sent \(time($0).text)")) },
            report.changed.map { Markup(rendered: localized("changed \(time($0).text)")) },
        ].compactMap(\.self)
        if let attempts = report.attempts, attempts > 1 {
            parts.append("\(Words.count(attempts, "request"))")
        }
        return parts.isEmpty ? nil : Self.joined(parts, by: localized(", "))
    }

    private func time(_ date: Date) -> Markup {
        words.time(date, showing: ListWords.shortMoment(date, words))
    }

    private var chosen: Markup? {
        var parts: [String] = []
        if let choice = report.choice {
            parts.append(
                localized(
                    "one of \(Words.count(choice.replies, "old reply", "old replies")) to this person"
                ))
            if let matchingWords = choice.words, !matchingWords.isEmpty {
                let shownWords = matchingWords.prefix(8).map { ListWords.cut($0, bytes: 40) }
                parts.append(localized("words that met: \(shownWords.joined(by: .comma))"))
            }
        }
        if let pattern = report.pattern {
            parts.append(localized("the day is planned \(pattern.inWords)"))
        }
        return parts.isEmpty ? nil : "\(parts.joined(by: .semicolon))"
    }

    private var pictures: Markup? {
        report.pictures.map { pictures in
            let texts = pictures.prefix(4).map {
                $0.alt.map { localized("“\(ListWords.cut($0, bytes: 100))”") }
                    ?? localized("without a description")
            }
            let list = localized("\(Words.number(pictures.count)): \(texts.joined(by: .comma))")
            return "\(list)"
        }
    }

    private var rules: Markup? {
        guard !report.rules.isEmpty else {
            return report.state == nil ? nil : "\(localized("Nothing stood against it."))"
        }
        return Self.joined(
            report.rules.prefix(8).map { rule in
                let text = FavoriteWords.sentence(
                    ListWords.cut(rule.text, bytes: Self.sentenceSize))
                let sentence: Markup = "\(sentence: text)"
                return rule.setting.map {
                    Markup(
                        rendered: localized(
                            "\(sentence.text) \(settingLink($0).text) decides that."))
                } ?? sentence
            }, by: " ")
    }

    private var obstacles: Markup? {
        guard let obstacles = report.obstacles, !obstacles.isEmpty else { return nil }
        return Self.joined(
            obstacles.prefix(3).map { obstacle in
                let text = FavoriteWords.sentence(
                    ListWords.cut(obstacle.sentence, bytes: Self.sentenceSize))
                return obstacle.remedy?.setting.map { "\(sentence: text) \(settingLink($0))" }
                    ?? "\(sentence: text)"
            }, by: " ")
    }

    private func settingLink(_ name: String) -> Markup {
        "<a href=\"\(request.link("/settings"))#\(name)\"><code>\(name)</code></a>"
    }

    private var cost: Markup? {
        report.cost.map { "\(localized("\(Words.dollars($0)) at most"))" }
    }

    private var undo: Markup? {
        report.undo.map { undo in
            let requested = Markup(rendered: localized("asked \(time(undo.asked).text)"))
            var parts: [Markup] = [
                "\(ListWords.cut(undo.reason.text, bytes: Self.sentenceSize))", requested,
            ]
            if let deletionTime = undo.done {
                let shownTime = time(deletionTime).text
                parts.append(
                    Markup(
                        rendered: undo.wasGone
                            ? localized("gone already \(shownTime)")
                            : localized("deleted \(shownTime)")))
            }
            if undo.isStillShown == true { parts.append("\(ExplainReport.TakingBack.stillShown)") }
            if let nextTime = undo.next {
                parts.append(Markup(rendered: localized("asked next \(time(nextTime).text)")))
            }
            if let cause = undo.cause {
                let shownCause = ListWords.cut(cause, bytes: Self.sentenceSize)
                parts.append("\(localized("the network answered: \(shownCause)"))")
            }
            return Self.joined(parts, by: localized(", "))
        }
    }

    private static func joined(_ parts: [Markup], by separator: String) -> Markup {
        var joinedParts = parts.first ?? ""
        for part in parts.dropFirst() { joinedParts = "\(joinedParts)\(separator)\(part)" }
        return joinedParts
    }

    // MARK: What can be done

    private var undoVerb: String? {
        // An undo that waits for its next attempt, or that is done, needs no button.
        guard report.id != nil,
            report.undo == nil || report.undo?.next == nil && report.undo?.done == nil
        else {
            return nil
        }
        switch state {
        case .done, .sending: return localized("Take it back…")
        case .planned, .claimed: return report.kind == .post ? nil : localized("Cancel it…")
        case .failed where report.rules.first?.code == .outbox(.unconfirmed):
            return localized("Take it back if it arrived…")
        default: return nil
        }
    }

    /// The reason why the action cannot be changed here.
    private var unchangeable: String? {
        switch state {
        case .undone: localized("It was taken back, and never comes again.")
        case .suggested: localized("It waits for you: the page Waiting has it.")
        case .planned where report.kind == .post, .claimed where report.kind == .post:
            localized("Today has it, with the ways to skip, move or keep it.")
        default: nil
        }
    }

    // MARK: How it was judged

    private var steps: PageContext? {
        guard let judgement = report.judgement, !judgement.features.isEmpty else { return nil }
        let decided = report.decided.map { ListWords.shortMoment($0, words) }
        return judgement.steps(
            caption: decided.map {
                localized(
                    "From any post to this one: each word moves the odds. As decided on \($0).")
            } ?? localized("From any post to this one: each word moves the odds."))
    }
}
