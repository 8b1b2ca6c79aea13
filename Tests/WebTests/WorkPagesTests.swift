import Archive
import Expectations
import Foundation
import HTTPTypes
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Web

/// The pages Waiting, Actions, People and Health: from the form to the row, whatever strangers
/// wrote.
@Suite(.timeLimit(.minutes(30))) struct WorkPagesTests {
    // MARK: Waiting

    /// The button counts alone, whatever is ticked beside it.
    @Test(arguments: ["approve", "decline"]) func aButtonDecidesItsRowAlone(_ verb: String)
        async throws
    {
        let stage = try await WorkStage.open()
        let shown = try await stage.waiting()
        let ticked = shown.map { ("id", $0.id) }
        let reply = try await stage.post(
            WaitingPage.self, "/waiting", [(verb, shown[1].id)] + ticked + seen(shown))
        #expect(try #require(reply.way).path == "/m/test/waiting")
        let states = try await stage.states(shown.map(\.id))
        #expect(states == [.suggested, verb == "approve" ? .planned : .skipped, .suggested])
        await stage.close()
    }

    /// Many means those that are ticked and were shown.
    @Test func manyAreThoseThatAreTickedAndWereShown() async throws {
        let stage = try await WorkStage.open()
        let shown = try await stage.waiting()
        // The third is ticked, and was not shown: its digest is missing.
        let form = [("all", "approve")] + shown.map { ("id", $0.id) } + seen(Array(shown.prefix(2)))
        let said = try #require(try await stage.post(WaitingPage.self, "/waiting", form).way?.said)
        #expect(said.text.contains("1 of 3"), "\(said.text)")
        try await expect(stage.states(shown.map(\.id)), equals: [.planned, .planned, .suggested])
        let rest = try await stage.waiting()
        #expect(rest.map(\.id) == [shown[2].id])
        await stage.close()
    }

    @Test func nothingTickedIsSaid() async throws {
        let stage = try await WorkStage.open()
        let shown = try await stage.waiting()
        for form in [[("all", "decline")], [("all", "burn"), ("id", shown[0].id)], []] {
            let content = try #require(
                try await stage.post(WaitingPage.self, "/waiting", form + seen(shown)).content)
            #expect(content.refusal?.isMisuse == true)
            let page = try stage.rendered(content, WaitingPage.self)
            #expect(page.count(" checked") == form.count { $0.0 == "id" })
        }
        try await expect(stage.waiting().count, equals: 3)
        await stage.close()
    }

    /// What was declined waits again at the press of a button, and a form that comes twice is no
    /// error.
    @Test func declinedWaitsAgainAndTwiceIsOnce() async throws {
        let stage = try await WorkStage.open()
        let shown = try await stage.waiting()
        let form = [("decline", shown[0].id)] + seen(shown)
        let said = try #require(try await stage.post(WaitingPage.self, "/waiting", form).way?.said)
        let twice = try #require(try await stage.post(WaitingPage.self, "/waiting", form).way?.said)
        #expect(twice.text.hasPrefix("Declined before"), "\(twice.text)")
        let button = try #require(said.wayBack)
        #expect(button.action == "/m/test/waiting")
        let back = try #require(
            try await stage.post(WaitingPage.self, "/waiting", button.fields).way?.said)
        #expect(back.text.hasPrefix("Waits again"), "\(back.text)")
        try await expect(stage.states([shown[0].id]), equals: [.suggested])
        await stage.close()
    }

    /// What has another text than was seen is not sent.
    @Test func whatWasNotSeenIsNotSent() async throws {
        let stage = try await WorkStage.open()
        let shown = try await stage.waiting()
        try await stage.mirror.storage.execute(
            "UPDATE actions SET text = 'another' WHERE mirror = 'test' AND id = \(shown[0].id)")
        let content = try #require(
            try await stage.post(
                WaitingPage.self, "/waiting", [("approve", shown[0].id)] + seen(shown)
            ).content)
        #expect(content.refusal?.isMisuse == false)
        try expect(stage.rendered(content, WaitingPage.self).count("another"), equals: 1)
        try await expect(stage.states([shown[0].id]), equals: [.suggested])
        await stage.close()
    }

    @Test func onlyTickedCopiesStay() async throws {
        let stage = try await WorkStage.open()
        let copies = try await stage.proposeCopies(3)
        let digests = copies.map { ("seen-\($0.id)", $0.seen.description) }
        let none = try #require(
            try await stage.post(WaitingPage.self, "/undo/keep", [("do", "keep")] + digests).content
        )
        #expect(none.refusal?.isMisuse == true)
        let form = [("do", "keep"), ("id", copies[0].id), ("id", copies[2].id)] + digests
        let said = try #require(
            try await stage.post(WaitingPage.self, "/undo/keep", form).way?.said)
        #expect(said.text == "2 copies stay for good.")
        try await expect(
            stage.mirror.outbox(lease: nil).proposedUndos().map(\.id), equals: [copies[1].id])
        let asked = try await stage.post(
            WaitingPage.self, "/undo/keep", [("do", "back"), ("id", copies[1].id)] + digests)
        #expect(try #require(asked.way).path == "/m/test/confirm/undo?id=\(copies[1].id)")
        await stage.close()
    }

    // MARK: Actions

    @Test func oneActionOpensInItsListAndAlone() async throws {
        let stage = try await WorkStage.open()
        try await stage.fillHistory()
        let list = try await ActionList(of: stage.mirror, .init(limit: 100)).actions
        #expect(list.count > 20)
        for action in list {
            let content = try #require(
                try await stage.get(ActionsPage.self, "/actions/:id", ["id": action.id]).content)
            let page = try stage.rendered(content, ActionsPage.self)
            #expect(page.count("id=\"why\"") == 1)
            #expect(page.count(String(action.id.prefix(7))) >= 1)
        }
        guard
            case .missing = try await stage.get(
                ActionsPage.self, "/actions/:id", ["id": "ffffffffffff"])
        else {
            _ = Issue.record("an action that is not there is shown")
            return
        }
        let found = try await stage.get(ActionsPage.self, "/actions", query: [("q", list[0].id)])
        #expect(found.way?.path == "/m/test/actions/\(list[0].id)")
        await stage.close()
    }

    /// Each number is a link to a list of as many.
    @Test func totalsLeadToAsManyActions() async throws {
        let stage = try await WorkStage.open()
        try await stage.fillHistory()
        var search = ActionList.Search()
        search.states = ActionQuery.Ending.all.states
        let totals = try #require(try await ActionList(of: stage.mirror, search).totals)
        let content = try #require(try await stage.get(ActionsPage.self, "/actions").content)
        let page = try stage.rendered(content, ActionsPage.self)
        #expect(page.html.contains("of \(Words.count(totals.total, "action"))"))
        let links = page.html.matches(
            of: #/<a href="\/m\/test\/actions\?(kind|state)=(\w+)">([0-9,]+) [a-z ]+<\/a>/#)
        #expect(links.count >= 4)
        for link in links {
            let field = String(link.output.1)
            let value = String(link.output.2)
            let found = try #require(
                try await stage.get(ActionsPage.self, "/actions", query: [(field, value)]).content)
            let list = try stage.rendered(found, ActionsPage.self)
            #expect(
                list.html.contains("<p class=\"small soft\">\(link.output.3) action"),
                "\(field)=\(value)")
        }
        await stage.close()
    }

    /// Each row is on one page, while others come in.
    @Test func aPageShowsNothingTwice() async throws {
        let stage = try await WorkStage.open()
        try await stage.fillHistory()
        var shown: [String] = []
        var place: String? = nil
        repeat {
            let query = [("state", "skipped")] + (place.map { [("before", $0)] } ?? [])
            let content = try #require(
                try await stage.get(ActionsPage.self, "/actions", query: query).content)
            let html = try stage.rendered(content, ActionsPage.self).html
            shown += html.matches(of: #/<li id="a-([0-9a-f]+)"/#).map { String($0.output.1) }
            place = html.firstMatch(of: #/rel="next" href="[^"]*before=([^"&]+)"/#).map {
                String($0.output.1)
            }
            try await stage.life.addSkipped()
        } while place != nil
        #expect(shown.count == Set(shown).count)
        #expect(shown.count >= MirrorLife.skipped)
        await stage.close()
    }

    @Test(arguments: [
        [("kind", "like")], [("state", "burnt")], [("day", "2026-02-30")], [("before", "nowhere")],
        [("person", "?")],
    ])
    func aFilterThatIsNoneIsRefused(_ query: [(String, String)]) async throws {
        let stage = try await WorkStage.open()
        let content = try #require(
            try await stage.get(ActionsPage.self, "/actions", query: query).content)
        #expect(content.refusal?.isMisuse == true)
        _ = try stage.rendered(content, ActionsPage.self)
        await stage.close()
    }

    /// Shown first, with what it means; then asked for in the database, once.
    @Test func takingBackIsShownThenAskedFor() async throws {
        let stage = try await WorkStage.open()
        let copies = try await stage.proposeCopies(2)
        let ids = copies.map { ("id", $0.id) }
        let question = try await stage.confirmation(ActionsPage.self, AskUndo.name, ids)
        #expect(question.verb == "Take back 2")
        #expect(question.things.count == 2)
        let form = question.fields + [("seen", try #require(question.seen).description)]
        let store = stage.mirror.outbox(lease: nil)
        // A mirror has a version from its first row on.
        try await stage.mirror.storage.agree(to: stage.mirror.name)
        let version = try await store.wishVersion()
        let said = try #require(
            try await stage.post(ActionsPage.self, question.action, form).way?.said)
        #expect(said.text.hasPrefix("2 will be taken back"), "\(said.text)")
        try await expect(store.wantedUndos().count, equals: 2)
        // A worker sees that, and need not wait for its publisher's next look.
        try await expect(store.wishVersion()) { $0 > version }
        let twice = try #require(
            try await stage.post(ActionsPage.self, question.action, form).way?.said)
        #expect(twice.text.hasPrefix("2 will be taken back"), "\(twice.text)")
        await stage.close()
    }

    @Test func whatChangedMeanwhileIsNotTakenBack() async throws {
        let stage = try await WorkStage.open()
        let copies = try await stage.proposeCopies(2)
        let question = try await stage.confirmation(
            ActionsPage.self, AskUndo.name, copies.map { ("id", $0.id) })
        try await stage.mirror.storage.execute(
            "UPDATE actions SET remote_id = 'other' WHERE mirror = 'test' AND id = \(copies[0].id)")
        let form = question.fields + [("seen", try #require(question.seen).description)]
        let content = try #require(
            try await stage.post(ActionsPage.self, question.action, form).content)
        #expect(content.refusal?.isMisuse == false)
        #expect(content.title == question.question)
        try await expect(stage.mirror.outbox(lease: nil).wantedUndos(), equals: [])
        await stage.close()
    }

    // MARK: People

    @Test func aPersonIsLeftAloneAndAllowedAgain() async throws {
        let stage = try await WorkStage.open()
        let typed = [("account", "@Pal@Far.Example"), ("do", "deny")]
        let way = try #require(try await stage.post(PeoplePage.self, "/people", typed).way)
        #expect(way.path == "/m/test/confirm/people-deny?account=%40Pal%40Far.Example")
        let question = try await stage.confirmation(
            PeoplePage.self, DenyPeople.name, [("account", "@Pal@Far.Example")])
        let form = question.fields + [("seen", try #require(question.seen).description)]
        let said = try #require(
            try await stage.post(PeoplePage.self, question.action, form).way?.said)
        let pal = WorkStage.pal
        try await expect(stage.mirror.people.stance(of: pal), equals: .deny)
        let button = try #require(said.wayBack)
        _ = try #require(try await stage.post(PeoplePage.self, "/people", button.fields).way)
        try await expect(stage.mirror.people.stance(of: pal), equals: .allow)
        await stage.close()
    }

    /// Who somebody else spoke of meanwhile is shown again before anything is said.
    @Test func whoChangedMeanwhileIsShownAgain() async throws {
        let stage = try await WorkStage.open()
        let question = try await stage.confirmation(
            PeoplePage.self, DenyPeople.name, [("account", "pal@far.example")])
        let form = question.fields + [("seen", try #require(question.seen).description)]
        try await stage.mirror.people.set(
            .allow, for: WorkStage.pal, reason: "said so", at: PageStage.now)
        let content = try #require(
            try await stage.post(PeoplePage.self, question.action, form).content)
        #expect(content.refusal?.isMisuse == false)
        #expect(content.title == question.question)
        try await expect(stage.mirror.people.stance(of: WorkStage.pal), equals: .allow)
        await stage.close()
    }

    @Test(arguments: ["", "  ", "<script> x", "@", "*@", "two words"])
    func whatIsNoAccountIsKeptInItsField(_ typed: String) async throws {
        let stage = try await WorkStage.open()
        for verb in ["allow", "deny"] {
            let reply = try await stage.post(
                PeoplePage.self, "/people", [("account", typed), ("do", verb)])
            let content = try #require(reply.content)
            #expect(content.refusal?.isMisuse == true)
            let page = try stage.rendered(content, PeoplePage.self)
            #expect(page.html.contains("aria-invalid=\"true\""))
            #expect(page.html.contains("value=\"\(Markup.escaped(typed))\""))
        }
        try await expect(stage.mirror.people.all().filter { $0.stance != .none }.count, equals: 0)
        await stage.close()
    }

    @Test func accountsAreLinkedAndPartedAgain() async throws {
        let stage = try await WorkStage.open()
        let form = [("first", "pal@far.example"), ("second", "mastodon:other@near.example")]
        let said = try #require(
            try await stage.post(PeoplePage.self, "/people/link", form).way?.said)
        try await expect(stage.mirror.people.linked(to: WorkStage.pal).count, equals: 2)
        let button = try #require(said.wayBack)
        _ = try #require(try await stage.post(PeoplePage.self, "/people/unlink", button.fields).way)
        try await expect(stage.mirror.people.linked(to: WorkStage.pal).count, equals: 1)
        for wrong in [
            ("pal@far.example", "pal@far.example"), ("pal@far.example", ""), ("", ""), ("a b", "c"),
        ] {
            let form = [("first", wrong.0), ("second", wrong.1)]
            let content = try #require(
                try await stage.post(PeoplePage.self, "/people/link", form).content)
            #expect(content.refusal?.isMisuse == true)
            _ = try stage.rendered(content, PeoplePage.self)
        }
        await stage.close()
    }

    /// The typed account is read as the command line reads one.
    @Test func onlyTheTypedAccountIsForgotten() async throws {
        let stage = try await WorkStage.open()
        let question = try await stage.confirmation(
            PeoplePage.self, ForgetPerson.name, [("account", "pal@far.example")])
        #expect(question.lead?.hasPrefix("2 posts of the human") == true, "\(question.lead ?? "-")")
        let form = question.fields + [("seen", try #require(question.seen).description)]
        for typed in ["", "pal", "pal@near.example", "*@far.example"] {
            let reply = try await stage.post(
                PeoplePage.self, question.action, form + [("sure", typed)])
            #expect(reply.content?.refusal?.isMisuse == true, "\(typed)")
        }
        try await expect(stage.mirror.people.posts(about: WorkStage.pal).count, equals: 2)
        let reply = try await stage.post(
            PeoplePage.self, question.action, form + [("sure", "@PAL@far.Example ")])
        #expect(
            try #require(reply.way?.said).text.hasPrefix("Forgotten; removed: 2 posts of the human")
        )
        try await expect(stage.mirror.people.posts(about: WorkStage.pal).count, equals: 0)
        await stage.close()
    }

    @Test func aPersonIsShownAndSavedAsAFile() async throws {
        let stage = try await WorkStage.open()
        try await stage.fillHistory()
        let content = try #require(
            try await stage.get(PeoplePage.self, "/people/:account", ["account": "pal@far.example"])
                .content)
        let page = try stage.rendered(content, PeoplePage.self)
        #expect(page.count("id=\"person\"") == 1)
        let reply = try await stage.get(
            PeoplePage.self, "/people/:account/report.html", ["account": "pal@far.example"])
        guard case .file(let text, let type, _) = reply else {
            _ = Issue.record("no file")
            return
        }
        #expect(type == "text/html; charset=utf-8")
        #expect(text.contains("pal@far.example"))
        guard
            case .missing = try await stage.get(
                PeoplePage.self, "/people/:account", ["account": "x:nobody"])
        else {
            _ = Issue.record("nobody is shown")
            return
        }
        await stage.close()
    }

    /// Of whom only a digest is kept may be met again, once somebody types who it was.
    @Test func whoWasForgottenIsAllowedAgainByTheirAccount() async throws {
        let stage = try await WorkStage.open()
        let pal = WorkStage.pal
        _ = try await stage.mirror.forget(pal, now: PageStage.now)
        let tab = try await stage.stage.content(
            PeoplePage.self, "/people", query: [("stance", "forgotten")])
        let page = try stage.rendered(tab, PeoplePage.self)
        #expect(page.count("value=\"readmit\">Allow again") == 1)
        #expect(page.count(pal.value) == 0)
        func readmit(_ account: String) async throws -> WebReply {
            try await stage.post(
                PeoplePage.self, "/people", [("do", "readmit"), ("account", account)])
        }
        for other in ["somebody@else.example", "", "x"] {
            try await #expect(readmit(other).content?.refusal?.isMisuse == true)
        }
        try await expect(stage.mirror.people.forgotten(among: [pal]), equals: [pal])
        let said = try #require(try await readmit("@Pal@Far.example").way?.said)
        #expect(said.text.hasPrefix("Allowed again"), "\(said.text)")
        try await expect(stage.mirror.people.forgotten(among: [pal]), equals: [])
        try await expect(stage.mirror.people.stance(of: pal), equals: .allow)
        await stage.close()
    }

    // MARK: Health

    @Test func whatIsFoundIsKept() async throws {
        let stage = try await WorkStage.open()
        let said = try #require(try await stage.post(HealthPage.self, "/health/look", []).way?.said)
        #expect(said.text.hasPrefix("Looked at"))
        let findings = try #require(try await stage.mirror.lastFindings()).findings
        #expect(findings.contains { $0.subject == "database" && $0.verdict == .ok })
        let content = try #require(try await stage.get(HealthPage.self, "/health").content)
        let page = try stage.rendered(content, HealthPage.self)
        #expect(page.count("<tr><th scope=\"row\"><span class=\"tag") >= min(12, findings.count))
        await stage.close()
    }

    /// The bot's handle is compared as the command line does.
    @Test func everythingNeedsTheBotsHandle() async throws {
        let stage = try await WorkStage.open()
        _ = try await stage.proposeCopies(3)
        let question = try await stage.confirmation(HealthPage.self, AskUndoEverything.name, [])
        #expect(question.verb == "Take back all 3")
        let form = question.fields + [("seen", try #require(question.seen).description)]
        for typed in ["", "human", "@"] {
            let reply = try await stage.post(
                HealthPage.self, question.action, form + [("sure", typed)])
            #expect(reply.content?.refusal?.isMisuse == true, "\(typed)")
        }
        let store = stage.mirror.outbox(lease: nil)
        try await expect(store.wantedUndos(), equals: [])
        // A mirror has a version from its first row on.
        try await stage.mirror.storage.agree(to: stage.mirror.name)
        let version = try await store.wishVersion()
        let reply = try await stage.post(
            HealthPage.self, question.action, form + [("sure", "@BOT")])
        #expect(try #require(reply.way?.said).text.hasPrefix("3 will be taken back"))
        try await expect(store.wantedUndos().count, equals: 3)
        try await expect(store.wishVersion()) { $0 > version }
        await stage.close()
    }

    // MARK: All of them

    /// Long, hostile and in every script: a page stays light, whole, and text.
    @Test func pagesStayLightWithTheWorstThatComes() async throws {
        let stage = try await WorkStage.open(isHostile: true)
        try await stage.fillHistory()
        _ = try await stage.proposeCopies(12)
        try await stage.mirror.keep(
            (0..<20).map {
                .warn(
                    MirrorLife.hostile(40, $0), MirrorLife.hostile(4_000, $0),
                    fix: MirrorLife.hostile(900, $0))
            },
            now: PageStage.now)
        let list = try await ActionList(of: stage.mirror, .init(limit: 3)).actions
        var pages: [(any MirrorPage.Type, WebReply)] = [
            (WaitingPage.self, try await stage.get(WaitingPage.self, "/waiting")),
            (ActionsPage.self, try await stage.get(ActionsPage.self, "/actions")),
            (HealthPage.self, try await stage.get(HealthPage.self, "/health")),
            (
                PeoplePage.self,
                try await stage.get(
                    PeoplePage.self, "/people/:account",
                    ["account": MirrorLife.hostilePerson(1).reference])
            ),
        ]
        for stance in PeopleList.Search.Stance.allCases {
            let query = [("stance", stance.rawValue)]
            pages.append(
                (PeoplePage.self, try await stage.get(PeoplePage.self, "/people", query: query)))
        }
        for action in list {
            pages.append(
                (
                    ActionsPage.self,
                    try await stage.get(ActionsPage.self, "/actions/:id", ["id": action.id])
                ))
        }
        for (type, reply) in pages {
            _ = try stage.rendered(try #require(reply.content), type)
        }
        await stage.close()
    }

    /// Who may only look finds nothing to press.
    @Test func aPageThatOnlyShowsHasNoForm() async throws {
        let stage = try await WorkStage.open()
        try await stage.fillHistory()
        _ = try await stage.proposeCopies(2)
        let action = try #require(
            try await ActionList(of: stage.mirror, .init(limit: 1)).actions.first)
        let pages: [(any MirrorPage.Type, WebReply)] = [
            (WaitingPage.self, try await stage.get(WaitingPage.self, "/waiting", isReadOnly: true)),
            (ActionsPage.self, try await stage.get(ActionsPage.self, "/actions", isReadOnly: true)),
            (
                ActionsPage.self,
                try await stage.get(
                    ActionsPage.self, "/actions/:id", ["id": action.id], isReadOnly: true)
            ),
            (PeoplePage.self, try await stage.get(PeoplePage.self, "/people", isReadOnly: true)),
            (
                PeoplePage.self,
                try await stage.get(
                    PeoplePage.self, "/people/:account", ["account": "pal@far.example"],
                    isReadOnly: true)
            ),
            (HealthPage.self, try await stage.get(HealthPage.self, "/health", isReadOnly: true)),
        ]
        for (type, reply) in pages {
            let page = try stage.rendered(try #require(reply.content), type)
            #expect(!page.html.contains("method=\"post\""), "\(type)")
            #expect(!page.html.contains("/confirm/"), "\(type)")
            #expect(!page.html.contains("type=\"checkbox\""), "\(type)")
        }
        await stage.close()
    }

    @Test func emptyPagesAreWhole() async throws {
        let stage = try await WorkStage.open(isEmpty: true)
        for (type, pattern) in [
            (WaitingPage.self, "/waiting"), (ActionsPage.self, "/actions"),
            (PeoplePage.self, "/people"),
            (HealthPage.self, "/health"),
        ] as [(any MirrorPage.Type, String)] {
            let reply = try await stage.get(type, pattern)
            _ = try stage.rendered(try #require(reply.content), type)
        }
        await stage.close()
    }

    /// The digests that the page's form holds.
    private func seen(_ shown: [SuggestionList.Suggestion]) -> [(String, String)] {
        shown.map { ("seen-\($0.id)", $0.seen.description) }
    }
}

/// A mirror with people, a history and things that wait.
private struct WorkStage {
    static let pal = MirrorLife.pal

    let stage: PageStage
    let life: MirrorLife

    var mirror: HumanMirror { stage.mirror }

    static func open(isHostile: Bool = false, isEmpty: Bool = false) async throws -> WorkStage {
        // Nobody listens there: whatever is asked of the network fails at once.
        let stage = try await PageStage.open([
            "BOT_SERVER": "http://127.0.0.1:9", "BOT_ACCESS_TOKEN": "planted", "MIN_AGE_DAYS": "0",
        ])
        let life = MirrorLife(
            mirror: stage.mirror, human: PageStage.human, now: PageStage.now, isHostile: isHostile)
        if !isEmpty {
            try await stage.archive((0..<5).map { "a day at the lake, the \($0)th" })
            try await life.begin()
        }
        return WorkStage(stage: stage, life: life)
    }

    func close() async { await stage.close() }

    func fillHistory() async throws { try await life.fillHistory() }

    func proposeCopies(_ count: Int) async throws -> [Action] {
        try await life.proposeCopies(count)
    }

    /// What waits, as the page lists it.
    func waiting() async throws -> [SuggestionList.Suggestion] {
        var search = SuggestionList.Search()
        search.order = .urgent
        return try await SuggestionList(of: mirror, search).suggestions
    }

    func states(_ ids: [String]) async throws -> [ActionState] {
        let stored = try await mirror.outbox(lease: nil).actions(withIDs: ids)
        return ids.compactMap { stored[$0]?.state }
    }

    // MARK: Requests

    func get(
        _ page: any MirrorPage.Type, _ pattern: String, _ parameters: [String: String] = [:],
        query: [(String, String)] = [], isReadOnly: Bool = false
    ) async throws -> WebReply {
        try await stage.answer(
            page, .get, pattern, parameters, query: query, isReadOnly: isReadOnly)
    }

    func post(_ page: any MirrorPage.Type, _ pattern: String, _ form: [(String, String)])
        async throws -> WebReply
    {
        try await stage.answer(page, .post, pattern, form: form)
    }

    func confirmation(
        _ page: any MirrorPage.Type, _ operation: String, _ query: [(String, String)]
    ) async throws -> Web.Confirmation {
        let make = try #require(page.confirmations[operation])
        return try await make(try await stage.request("/confirm/\(operation)", query: query))
    }

    func rendered(
        _ content: PageContent, _ page: any MirrorPage.Type,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> RenderedPage {
        try RenderedPage(content, of: page, sourceLocation: sourceLocation)
    }
}
