import Archive
import Control
import Foundation
import Localization
import Mirroring
import Outbox
import Posts

extension PageTemplate {
    static let people = PageTemplate("people")
    static let person = PageTemplate("person")
}

/// The list of people who are answered or left alone, and the page of one person.
enum PeoplePage: MirrorPage {
    static let section = PageSection.people
    static let templates = [PageTemplate.people, .person]
    static let liveParts = ["people", "person"]
    static let routes: [MirrorRoute] = [
        .get("/people") { request in
            try await request.attempt(refusedBy: { try await page($0, after: nil) }) {
                try await page(request, after: request.query.typed("after"))
            }
        },
        .get("/people/:account") { try await personPage($0) },
        .get("/people/:account/report.html") { try await file($0) },
        .post("/people") { try await change($0) },
        .post("/people/link") { try await link($0) },
        .post("/people/unlink") { try await unlink($0) },
        .post("/people/forget") { try await forget($0) },
    ]
    static let confirmations: [String: @Sendable (MirrorRequest) async throws -> Confirmation] = [
        DenyPeople.name: { try await confirmDenial($0) },
        ForgetPerson.name: { try await confirmForgetting($0) },
    ]

    /// The most people on a page.
    private static let rowsShown = 25
    /// The most denied servers that are listed.
    private static let serversShown = 10

    // MARK: The list

    static func page(_ request: MirrorRequest, after cursor: String?) async throws -> WebReply {
        let stance =
            request.query.typed("stance").flatMap(PeopleList.Search.Stance.init(rawValue:)) ?? .all
        let typedWords = request.query.typed("q")
        let list = try await ListWords.fitting(rowsShown) { limit in
            var search = PeopleList.Search()
            search.stance = stance
            search.words = typedWords
            search.cursor = cursor
            search.limit = limit
            return try await PeopleList(of: request.mirror, search)
        } texts: { list in
            // The account counts several times, because a row repeats it in addresses and in a
            // form.
            list.people.map {
                [
                    $0.account, $0.account, ListWords.name(PersonWords.name($0)),
                    ListWords.name($0.account),
                ]
            }
        }
        func path(to stance: PeopleList.Search.Stance, after cursor: String?) -> String {
            let fields: [(String, String?)] = [
                ("q", typedWords), ("stance", stance == .all ? nil : stance.rawValue),
                ("after", cursor),
            ]
            return request.link("/people", fields)
        }
        func typedField(_ field: String) -> PageValue { .text(request.typed(field) ?? "") }
        let isInputWrong = request.refusal?.isMisuse == true
        let words = request.words
        var context: PageContext = [
            "base": .text(request.base), "canChange": .flag(!request.access.isReadOnly),
            "token": .markup(request.hidden()), "q": .text(typedWords ?? ""),
            "stance": .text(stance == .all ? nil : stance.rawValue),
            "tabs": .list(
                tabs(list.counts, chosen: stance) { path(to: $0, after: nil) }),
            "isForgotten": .flag(stance == .forgotten && !list.people.isEmpty),
            "isEmpty": .flag(list.people.isEmpty), "nothing": .text(nothing(stance, typedWords)),
            "people": .list(list.people.map { row($0, words, request) }),
            "hasPages": .flag(cursor != nil || list.next != nil),
            "shown": .text(Words.count(list.people.count, "person", "people")),
            "first": .text(cursor.map { _ in path(to: stance, after: nil) }),
            "next": .text(list.next.map { path(to: stance, after: $0) }),
        ]
        context["choices"] = .sentence(
            try await request.mirror.replyMeasure().map { measure in
                [
                    FavoriteWords.sentence(measure.inWords),
                    localized("Measured \(words.moment(measure.measured))."),
                ].joined(by: .sentence)
            })
        let servers = list.servers.prefix(serversShown)
        context["hasServers"] = .flag(!servers.isEmpty)
        context["servers"] = .list(
            servers.map { server -> PageContext in
                [
                    "name": .text(
                        ListWords.name(ServerName(reference: server.server)?.shown ?? server.server)
                    ),
                    "known": .number(server.known), "account": .text(server.server),
                    "token": .markup(request.hidden(seen: server.seen)),
                ]
            })
        let furtherServers = list.servers.count - servers.count
        context["serversRest"] = .text(
            furtherServers > 0
                ? localized("\(Words.count(furtherServers, "more server")).") : nil)
        context["typedAccount"] = typedField("account")
        context["accountWrong"] = .flag(isInputWrong && request.form["account"] != nil)
        context["typedFirst"] = typedField("first")
        context["typedSecond"] = typedField("second")
        context["linkWrong"] = .flag(isInputWrong && request.form["first"] != nil)
        return .page(PageContent(.people, in: section, context))
    }

    private static func nothing(_ stance: PeopleList.Search.Stance, _ words: String?) -> String {
        if words != nil { return localized("Nobody here has such a name.") }
        return switch stance {
        case .all: localized("Nobody yet: the archive holds no replies of the human.")
        case .denied: localized("Nobody is left alone.")
        case .allowed: localized("Nobody agreed yet.")
        case .forgotten: localized("Nobody was forgotten.")
        case .none: localized("Of everybody something was said.")
        }
    }

    private static func tabs(
        _ counts: PeopleList.Counts, chosen: PeopleList.Search.Stance,
        _ path: (PeopleList.Search.Stance) -> String
    ) -> [PageContext] {
        let tabs: [(PeopleList.Search.Stance, String, Int, mark: String, symbol: String?)] = [
            (.all, localized("Answered most"), counts.all, mark: "", symbol: nil),
            (.denied, localized("Left alone"), counts.denied, mark: "failing", symbol: "s-failing"),
            (.allowed, localized("Agreed"), counts.allowed, mark: "healthy", symbol: "s-healthy"),
            (.forgotten, localized("Forgotten"), counts.forgotten, mark: "", symbol: nil),
        ]
        return tabs.map { stance, label, count, mark, symbol in
            [
                "path": .text(path(stance)), "isChosen": .flag(stance == chosen),
                "mark": .text(mark),
                "symbol": .text(symbol), "label": .text(label), "count": .number(count),
            ]
        }
    }

    private static func row(_ line: PeopleList.Line, _ words: Words, _ request: MirrorRequest)
        -> PageContext
    {
        let stanceWords = PersonWords.stanceWords(
            stance: line.stance, reason: line.reason, onDenied: line.onDenied,
            isForgotten: line.isForgotten)
        let isDenied = line.stance == "deny"
        let name = ListWords.name(PersonWords.name(line))
        let otherNames = line.sameAs.prefix(3).map { ListWords.name(PersonWords.name($0)) }
        return [
            "name": .account(name),
            "path": .text(
                line.isForgotten ? nil : request.link("/people/\(WebFields.encoded(line.account))")),
            "same": .text(
                otherNames.isEmpty
                    ? nil : localized("one person: \(([name] + otherNames).joined(by: .comma))")),
            "mark": .text(stanceWords.mark), "symbol": .text(stanceWords.symbol),
            "said": .text(stanceWords.text),
            "replies": .text(line.replies > 0 ? Words.number(line.replies) : "–"),
            "last": .text(line.lastContact.map { ListWords.short($0, words) } ?? "–"),
            "deny": .text(
                line.isForgotten || isDenied
                    ? nil : request.link("/confirm/\(DenyPeople.name)", [("account", line.account)])
            ),
            "allow": .text(!line.isForgotten && isDenied ? line.account : nil),
            "seen": .text(line.seen.description),
        ]
    }

    // MARK: One person

    private static func account(_ request: MirrorRequest) async throws -> AccountID {
        try await PeopleBook(mirror: request.mirror).account(request.parameters["account"] ?? "")
    }

    /// The most rows of each part of a person's page.
    static let partShown = 8
    /// The most accounts that are listed on a person's page.
    static let accountsShown = 6
    /// The most bytes of a text on a person's page.
    static let textSize = 240

    static func personPage(_ request: MirrorRequest) async throws -> WebReply {
        let id: AccountID
        do {
            id = try await account(request)
        } catch let refusal as ChangeRefusal {
            return .missing(refusal.text.page)
        }
        return try await personPage(request, id)
    }

    private static func personPage(_ request: MirrorRequest, _ id: AccountID) async throws
        -> WebReply
    {
        let mirror = request.mirror
        let words = request.words
        let report = try await PersonReport(
            on: id, in: mirror, zone: request.zone ?? .gmt, now: request.now)
        guard let firstAccount = report.accounts.first else {
            return .missing(localized("nobody has this account"))
        }
        let isDenied = firstAccount.stance == "deny"
        let account = firstAccount.account
        let name = PersonWords.name(account, handle: firstAccount.handle)
        let isLinked = report.accounts.count > 1
        var context: PageContext = [
            "base": .text(request.base), "canChange": .flag(!request.access.isReadOnly),
            "token": .markup(request.hidden()), "name": .account(ListWords.name(name)),
            "accounts": .list(
                report.accounts.prefix(accountsShown).map {
                    accountRow($0, words, request, canUnlink: isLinked)
                }),
            "deny": .text(
                isDenied || firstAccount.isForgotten
                    ? nil : request.link("/confirm/\(DenyPeople.name)", [("account", account)])),
            "allow": .text(
                isDenied || firstAccount.isForgotten || firstAccount.stance == nil ? account : nil),
            "allowVerb": .text(
                localized(
                    isDenied || firstAccount.isForgotten ? "Allow again" : "Note that they agreed")),
            "allowToken": .markup(request.hidden(seen: firstAccount.seen)),
            "file": .text(request.link("/people/\(WebFields.encoded(account))/report.html")),
            "actions": .text(request.link("/actions", [("person", account)])),
            "forget": .text(
                firstAccount.isForgotten
                    ? nil : request.link("/confirm/\(ForgetPerson.name)", [("account", account)])),
        ]
        let deeds = report.deeds.reversed().prefix(partShown).map { deedRow($0, words) }
        add("deeds", singular: "deed", deeds, of: report.deeds.count, to: &context)
        let mentions = report.mentions.sorted { $0.written > $1.written }.prefix(partShown).map {
            mention in
            partRow(
                mention.written, localized(mention.isReply ? "answer" : "post"), mention.text,
                mention.post, words)
        }
        add("mentions", singular: "mention", mentions, of: report.mentions.count, to: &context)
        let learned = report.learned.sorted { $0.noted > $1.noted }.prefix(partShown).map { post in
            partRow(post.noted, PersonWords.learned(post.state), post.text, post.post, words)
        }
        add("learned", singular: "learned", learned, of: report.learned.count, to: &context)
        return .page(PageContent(.person, title: ListWords.name(name), in: section, context))
    }

    /// Adds the rows of a part, a flag whether there are any, and the words for their number.
    ///
    /// - Parameters:
    ///   - key: The key of the rows.
    ///   - singular: The key of the words for the number, without `Count`.
    ///   - count: The number of all rows, listed or not.
    private static func add(
        _ key: String, singular: String, _ rows: [PageContext], of count: Int,
        to context: inout PageContext
    ) {
        context[key] = .list(rows)
        context["has\(Words.capitalized(key))"] = .flag(!rows.isEmpty)
        let text =
            count > rows.count
            ? localized("the newest \(rows.count) of \(Words.number(count))") : Words.number(count)
        context["\(singular)Count"] = .text(count == 0 ? "" : text)
    }

    private static func accountRow(
        _ account: PersonReport.KnownAccount, _ words: Words, _ request: MirrorRequest,
        canUnlink: Bool
    ) -> PageContext {
        let stanceWords = PersonWords.stanceWords(
            stance: account.stance, reason: account.reason, onDenied: account.onDenied,
            isForgotten: account.isForgotten
        )
        let name = PersonWords.name(account.account, handle: account.handle)
        return [
            "name": .account(ListWords.name(name)),
            "account": .text(
                PersonWords.account(account.account, named: name).map {
                    ListWords.cut($0, bytes: 300)
                }),
            "mark": .text(stanceWords.mark), "symbol": .text(stanceWords.symbol),
            "said": .text(stanceWords.text),
            "last": .text(account.lastContact.map { ListWords.shortMoment($0, words) } ?? "–"),
            "unlink": .text(canUnlink ? account.account : nil),
            "token": .markup(request.hidden(seen: account.seen)),
        ]
    }

    private static func deedRow(_ deed: PersonReport.Deed, _ words: Words) -> PageContext {
        let marks = ActionMarks(
            ActionKind(rawValue: deed.kind) ?? .reply, ActionState(rawValue: deed.state) ?? .done,
            whom: nil)
        return [
            "id": .text(deed.id),
            "at": .markup(words.time(deed.at, showing: ListWords.short(deed.at, words))),
            "state": .text(marks.state), "mark": .text(marks.mark), "symbol": .text(marks.symbol),
            "what": .text(marks.what),
            "text": .text(deed.text.map { ListWords.cut($0, bytes: textSize) }),
            "why": .sentence(
                deed.why.map { FavoriteWords.sentence(ListWords.cut($0, bytes: textSize)) }),
            "link": .text(deed.link),
        ]
    }

    /// - Parameter post: The address of the post, or its identity if it has no web page.
    private static func partRow(
        _ at: Date, _ state: String, _ text: String, _ post: String, _ words: Words
    ) -> PageContext {
        [
            "at": .markup(words.time(at, showing: ListWords.short(at, words))),
            "state": .text(state),
            "text": .text(ListWords.cut(text, bytes: textSize)),
            "link": .text(post.hasPrefix("https://") || post.hasPrefix("http://") ? post : nil),
        ]
    }

    private static func file(_ request: MirrorRequest) async throws -> WebReply {
        do {
            let id = try await account(request)
            let report = try await PersonReport(
                on: id, in: request.mirror, zone: request.zone ?? .gmt, now: request.now)
            return .file(
                PersonPage(report).html, type: "text/html; charset=utf-8", name: "report.html")
        } catch let refusal as ChangeRefusal {
            return .missing(refusal.text.page)
        }
    }

    // MARK: Changing the stance

    /// Changes the stance on an account.
    ///
    /// The account is in the field `allow` or `deny`, as a button sends it. Otherwise it was typed
    /// into the field `account`, and the field `do` is `allow`, `deny` or `readmit`.
    private static func change(_ request: MirrorRequest) async throws -> WebReply {
        let form = request.form
        return try await request.attempt(refusedBy: { refused in
            // After a refused confirmation of a denial, shows the confirmation again with the
            // present effects.
            guard refused.form["deny"] == nil else {
                return .confirm(try await confirmDenial(refused))
            }
            return try await page(refused, after: nil)
        }) {
            if let account = form["allow"] { return try await allow(account, request) }
            if let account = form["deny"] { return try await deny(account, request) }
            guard let account = form.typed("account") else {
                throw ChangeRefusal(
                    .unusable,
                    localized("no account was typed; expected user@host, x:12345 or did:plc:…"))
            }
            switch form["do"] {
            case "allow": return try await allow(account, request)
            case "readmit":
                let id = try await PeopleBook(mirror: request.mirror).account(account)
                guard try await request.mirror.people.forgotten(among: [id]).contains(id) else {
                    throw ChangeRefusal(
                        .unknown, localized("\(ListWords.name(account)) was not forgotten"))
                }
                return try await allow(account, request)
            case "deny":
                // Invalid input is refused before the redirect, so that the page with the field
                // shows it.
                _ = try await PersonHolding(of: account, in: request.mirror)
                return .seeOther(
                    request.link("/confirm/\(DenyPeople.name)", [("account", account)]))
            default:
                throw ChangeRefusal(
                    .unusable, localized("the form does not say what is to be done; look again"))
            }
        }
    }

    private static func allow(_ account: String, _ request: MirrorRequest) async throws -> WebReply
    {
        let seen =
            // A row of the list has the digest in a field of its own; other forms have it in
            // `seen`.
            request.form["seen-\(account)"] == nil
            ? try request.seen() : try request.seen(of: account)
        let change = try await request.desk.perform(
            PersonRequest(AllowPeople(account: account), seen: seen))
        return .seeOther(
            request.link("/people"), saying: PersonWords.said(change, after: "allow", request))
    }

    private static func deny(_ account: String, _ request: MirrorRequest) async throws -> WebReply {
        guard let seen = try request.seen() else {
            throw ChangeRefusal(
                .unusable, localized("the form does not say what the page showed; reload the page"))
        }
        let change = try await request.desk.perform(
            PersonRequest(DenyPeople(account: account), seen: seen))
        return .seeOther(
            request.link("/people"), saying: PersonWords.said(change, after: "deny", request))
    }

    private static func link(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: { try await page($0, after: nil) }) {
            guard let first = request.form.typed("first"), let second = request.form.typed("second")
            else {
                throw ChangeRefusal(
                    .unusable,
                    localized("two accounts are needed; expected user@host, x:12345 or did:plc:…"))
            }
            let change = try await request.desk.perform(
                PersonRequest(
                    LinkPeople(
                        first: first, second: second, consented: request.form["consented"] != nil),
                    seen: try request.seen()))
            let accountNames = ([change.account] + change.sameAs).map {
                ListWords.name(PersonWords.name($0))
            }.joined(by: .comma)
            return .seeOther(
                request.link("/people"),
                saying: Said(
                    ([localized("One person: \(accountNames).")]
                        + PersonWords.unlearned(change.unlearned)).joined(by: .sentence),
                    wayBack: request.button(localized("They are not"), change.wayBack)))
        }
    }

    private static func unlink(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: { try await page($0, after: nil) }) {
            let account = request.form.typed("account") ?? ""
            let change = try await request.desk.perform(
                PersonRequest(UnlinkPerson(account: account), seen: try request.seen()))
            let name = ListWords.name(PersonWords.name(change.account))
            guard let wayBack = change.wayBack else {
                return .seeOther(
                    request.link("/people"), saying: Said(localized("\(name) is linked to nobody."))
                )
            }
            return .seeOther(
                request.link("/people"),
                saying: Said(
                    localized("\(name) is somebody else now."),
                    wayBack: request.button(localized("They are one"), wayBack)))
        }
    }

    // MARK: Confirmations

    /// Returns the account that a confirmation is about: from the query or, after a refusal, from
    /// the form.
    private static func namedAccount(in request: MirrorRequest) -> String {
        let fields = request.refusal == nil ? request.query : request.form
        return fields.typed("account") ?? fields.typed("deny") ?? ""
    }

    private static func confirmDenial(_ request: MirrorRequest) async throws -> Confirmation {
        let account = namedAccount(in: request)
        let holding = try await PersonHolding(of: account, in: request.mirror)
        let isServer = holding.known != nil
        let name = ListWords.name(holding.name)
        var confirmation = Confirmation(
            in: section,
            isServer
                ? localized("Leave everybody on \(name) alone?")
                : localized("Leave \(name) alone?"), action: "/people",
            verb: isServer ? localized("Leave them alone") : localized("Leave \(name) alone"),
            otherWay: localized("Do not"), back: "/people")
        confirmation.lead = localized(
            isServer
                ? "They are not answered, favorited or learned from any more."
                : "This person is not answered, favorited or learned from any more.")
        confirmation.notes = PersonWords.notesOfDenial(holding)
        confirmation.fields = [("deny", account)]
        confirmation.seen = holding.seen
        return confirmation
    }

    private static func confirmForgetting(_ request: MirrorRequest) async throws -> Confirmation {
        let id = try await PeopleBook(mirror: request.mirror).account(namedAccount(in: request))
        let holding = try await PersonHolding(of: id, in: request.mirror)
        let account = id.reference
        var confirmation = Confirmation(
            in: section, localized("Forget \(ListWords.name(holding.name)) for good?"),
            action: "/people/forget",
            verb: localized("Forget this person"), otherWay: localized("Do not"),
            back: "/people/\(WebFields.encoded(account))")
        let parts =
            holding.parts.isEmpty
            ? localized("What is known of this person") : holding.parts.joined(by: .comma)
        confirmation.lead = localized(
            "\(Words.capitalized(parts)) leave the database, and the counts change as if they had never been there."
        )
        var notes = [
            localized("A digest stays, so that nothing of theirs comes in again."),
            localized("What was posted stays at the network."),
        ]
        if holding.accounts.count > 1 {
            let accountNames = holding.accounts.prefix(5).map {
                ListWords.name(PersonWords.name($0))
            }.joined(by: .comma)
            notes.insert(localized("All their accounts are forgotten: \(accountNames)."), at: 0)
        }
        if let waiting = holding.waiting, waiting > 0 {
            notes.append(
                localized("\(Words.count(waiting, "action")) for them that wait are cancelled."))
        }
        confirmation.notes = notes
        confirmation.fields = [("account", account)]
        confirmation.seen = holding.seen
        confirmation.typed = Confirmation.Typed(
            "sure", localized("Type the account to say yes: \(account)"))
        return confirmation
    }

    private static func forget(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: { .confirm(try await confirmForgetting($0)) }) {
            let book = try await PeopleBook(mirror: request.mirror)
            let account = try book.account(request.form.typed("account") ?? "")
            guard let seen = try request.seen() else {
                throw ChangeRefusal(
                    .unusable,
                    localized("the form does not say what the page showed; reload the page"))
            }
            // The typed account is parsed as on the command line.
            guard let typed = request.form.typed("sure"), try book.account(typed) == account else {
                throw ChangeRefusal(
                    .unusable,
                    localized("nothing was forgotten: the account that was typed is another one"))
            }
            let outcome = try await request.desk.perform(
                PersonRequest(ForgetPerson(account: account.reference), seen: seen))
            return .seeOther(request.link("/people"), saying: Said(PersonWords.said(outcome)))
        }
    }
}
