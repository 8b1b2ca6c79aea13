import Control
import Foundation
import Localization
import Mirroring
import Outbox
import Posts

extension PageTemplate {
    static let everybody = PageTemplate("public")
}

/// The public page of a mirror, with the stored data about a visitor who has proven an account.
struct PublicPage {
    let report: PublicReport
    /// The visitor's latest proof.
    let proof: ProofTable.Proof?
    /// Whether the proven account is the human's.
    let isHuman: Bool
    /// The stored data about the owner of the proven account.
    let person: PersonReport?
    let now: Date
    /// The path of the public page, `/public/NAME`.
    let base: String
    let csrf: String
    let isReadOnly: Bool
    /// The typed account, if it is shown again with an error.
    let typed: String?
    /// The reason why the typed account was refused.
    let wrong: String?

    var title: String { localized("A mirror of \(human)") }

    private var human: String {
        ListWords.name(report.human?.name ?? localized("a person without an account"))
    }
    private var bot: String { ListWords.name(report.bot?.name ?? localized("The account")) }

    var context: PageContext {
        var context: PageContext = [
            "human": .account(human), "humanPage": .text(report.human?.page),
            "bot": .account(bot),
            "agreement": .text(agreement), "agreementState": .text(isAgreed ? "healthy" : "unset"),
            "agreementTitle": .text(
                localized(isAgreed ? "Each says it of the other" : "Look at both profiles")),
            "hasBot": .flag(report.bot != nil), "canAsk": .flag(report.bot != nil && !isReadOnly),
            "base": .text(base), "network": .text(report.network),
            "token": .markup("<input type=\"hidden\" name=\"csrf\" value=\"\(csrf)\">"),
            "asksConsent": .flag(!report.isAgreedByHuman), "isStopped": .flag(report.isStopped),
            "typed": .text(typed.map { ListWords.cut($0, bytes: 300) } ?? ""),
            "wrong": .sentence(wrong.map { ListWords.cut($0, bytes: 600) }),
            "isWrong": .flag(wrong != nil),
            "isPrivate": .flag(report.hasPrivateMentions),
            "minutes": .text(Words.span(ProofTable.wordsLast)),
            "every": .text(Words.span(report.readsEvery)),
            "posts": .text(posts), "replies": .text(replies), "favorites": .text(favorites),
            "archived": .text(
                localized("public posts, the newest \(Words.number(report.archiveLimit))")),
            "exampleDays": .text(Words.count(report.exampleDays, "day")),
            "historyDays": .text(Words.count(report.historyDays, "day")),
            "contact": .text(report.contact.map { ListWords.cut($0, bytes: 300) }),
            "contactLink": .text(contactLink),
        ]
        addProof(to: &context)
        return context
    }

    // MARK: What it is

    private var isAgreed: Bool { report.humanNamesBot == true && report.botNamesHuman == true }

    private var agreement: String {
        if isAgreed {
            return localized(
                "The profile of \(human) names the bot, and the bot’s profile names \(human).")
        }
        if report.humanNamesBot == false {
            return localized("The profile of \(human) does not name the bot.")
        }
        return localized(
            "A mirror is \(human)’s own if their profile names it, and its profile names them.")
    }

    private var posts: String {
        guard report.postsPerDay > 0 else { return localized("none: it only answers") }
        let number = Words.number(report.postsPerDay)
        guard report.minimumAgeDays > 0 else {
            return localized(
                report.arePostsApproved
                    ? "only what \(human) posted in public, unlisted where the network has that; \(number) a day at most; each approved by a person"
                    : "only what \(human) posted in public, unlisted where the network has that; \(number) a day at most"
            )
        }
        let age = Words.count(report.minimumAgeDays, "day")
        return localized(
            report.arePostsApproved
                ? "only what \(human) posted in public, \(age) old or older, unlisted where the network has that; \(number) a day at most; each approved by a person"
                : "only what \(human) posted in public, \(age) old or older, unlisted where the network has that; \(number) a day at most"
        )
    }

    private var replies: String {
        guard report.repliesPerPerson > 0 else { return localized("none") }
        let number = Words.number(report.repliesPerPerson)
        return localized(
            report.areRepliesApproved
                ? "only to who mentions it and was answered by \(human) before; \(number) a day at most; each approved by a person"
                : "only to who mentions it and was answered by \(human) before; \(number) a day at most"
        )
    }

    private var favorites: String {
        guard report.favoritesPerDay > 0 else { return localized("none") }
        let number = Words.number(report.favoritesPerDay)
        return switch report.favorites {
        case .none: localized("none")
        case .approved: localized("\(number) a day at most, each approved by a person")
        case .automatic: localized("\(number) a day at most")
        }
    }

    private var contactLink: String? {
        guard let contact = report.contact else { return nil }
        if ["https://", "http://", "mailto:"].contains(where: { contact.hasPrefix($0) }) {
            return contact
        }
        return contact.contains("@") && !contact.hasPrefix("@") ? "mailto:\(contact)" : nil
    }

    // MARK: Whose account it is

    private func addProof(to context: inout PageContext) {
        context["account"] = .text(proof.map { ListWords.name($0.account.shown) })
        switch proof?.progress {
        case .open(let words, let end):
            let minutesLeft = (end.timeIntervalSince(now) / 60).rounded(.up)
            context["open"] = [
                "words": .text("\(words)"), "left": .text(localized("\(Int(minutesLeft)) min")),
                "agrees": .flag(proof?.agrees == true),
            ]
        case .over: context["isOver"] = true
        case .proven: context["proven"] = .fields(person.map(stored))
        case nil: break
        }
        let isWaiting = context["open"] != nil
        context["isNew"] = .flag(!isWaiting && context["proven"] == nil)
        for key in ["open", "isOver", "proven"] { context[key] = context[key] ?? PageValue.none }
    }

    private func stored(_ person: PersonReport) -> PageContext {
        let words = Words(zone: .gmt, now: now)
        let firstAccount = person.accounts.first
        // Without a stored account there is nobody to answer.
        let isLeftAlone =
            if let firstAccount { firstAccount.isForgotten || firstAccount.stance == "deny" } else {
                true
            }
        var context: PageContext = [
            "accounts": .list(
                person.accounts.prefix(PeoplePage.accountsShown).map { account -> PageContext in
                    [
                        "account": .text(ListWords.cut(account.account, bytes: 300)),
                        "handle": .text(account.handle.map { ListWords.name("@\($0)") }),
                        "said": .text(stanceWords(of: account)),
                        "last": .text(
                            account.lastContact.map { ListWords.shortMoment($0, words) } ?? "–"),
                    ]
                }),
            "isLeftAlone": .flag(isLeftAlone),
            "canStop": .flag(!isLeftAlone && !isHuman && !isReadOnly),
            "canStopMirror": .flag(isHuman && !report.isStopped && !isReadOnly),
            "isHuman": .flag(isHuman),
        ]
        add("deeds", person.deeds.reversed(), to: &context) { deedRow($0, words) }
        add("mentions", person.mentions.sorted { $0.written > $1.written }, to: &context) {
            partRow($0.written, localized($0.isReply ? "answer" : "post"), $0.text, words)
        }
        add("learned", person.learned.sorted { $0.noted > $1.noted }, to: &context) {
            partRow($0.noted, PersonWords.learned($0.state), $0.text, words)
        }
        return context
    }

    /// Adds the newest rows of a part of the report, and their total number.
    private func add<Element>(
        _ key: String, _ elements: some Collection<Element>, to context: inout PageContext,
        row: (Element) -> PageContext
    ) {
        let rows = elements.prefix(PeoplePage.partShown).map(row)
        let listedPart: PageContext = [
            "rows": .list(rows),
            "count": .text(
                elements.count > rows.count
                    ? localized("the newest \(rows.count) of \(Words.number(elements.count))")
                    : Words.number(elements.count)),
        ]
        context[key] = rows.isEmpty ? PageValue.none : .fields(listedPart)
    }

    private func deedRow(_ deed: PersonReport.Deed, _ words: Words) -> PageContext {
        let kind = ActionKind(rawValue: deed.kind) ?? .reply
        let state = ActionState(rawValue: deed.state) ?? .done
        let marks = ActionMarks(kind, state, whom: nil)
        return [
            "at": .markup(words.time(deed.at, showing: ListWords.short(deed.at, words))),
            "state": .text(state == .suggested ? localized("waits for approval") : marks.state),
            "what": .text(marks.what),
            "text": .text(deed.text.map { ListWords.cut($0, bytes: PeoplePage.textSize) }),
            "why": .sentence(
                deed.why.map {
                    FavoriteWords.sentence(ListWords.cut($0, bytes: PeoplePage.textSize))
                }),
        ]
    }

    private func partRow(_ at: Date, _ state: String, _ text: String, _ words: Words) -> PageContext
    {
        [
            "at": .markup(words.time(at, showing: ListWords.short(at, words))),
            "state": .text(state),
            "text": .text(ListWords.cut(text, bytes: PeoplePage.textSize)),
        ]
    }

    private func stanceWords(of account: PersonReport.KnownAccount) -> String {
        if account.isForgotten { return localized("forgotten: only a digest is kept") }
        switch account.stance {
        case "deny":
            return localized(
                account.reason == DenyPeople.Wish.stop.rawValue
                    ? "you said “stop”" : "left alone")
        case "allow": return localized("you agreed")
        default:
            return localized(
                account.onDenied == nil ? "nothing" : "left alone, with the whole server")
        }
    }
}
