import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

/// The everyday tasks of a program with a language model: it reads a report of `mirror-bot mcp`,
/// and changes what it saw there.
@Suite(.timeLimit(.minutes(30))) struct McpTaskTests {
    private let stage: Stage
    /// In whole seconds, as JSON has them.
    private let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

    init() throws { stage = try Stage(["TIME_ZONE": "Asia/Tokyo"]) }

    private var tomorrow: LocalDay {
        get throws {
            let zone = try #require(TimeZone(identifier: "Asia/Tokyo"))
            return LocalTime(now, in: zone).day.advanced(by: 1)
        }
    }

    /// A client that may make changes, of a mirror that knows ninety posts.
    private func client(allowsChanges: Bool = true) async throws -> McpClient {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        return try await McpClient.begun(on: stage, allowsChanges: allowsChanges)
    }

    private func seen(of item: JSONNode) throws -> String { try #require(item["seen"].text) }

    private func end(_ client: McpClient) async throws {
        let (status, rest) = try await client.end()
        #expect(status == 0, "\(client.errorText)")
        #expect(rest == [])
    }

    // MARK: Looking

    /// How the mirror is, what hinders it, and how much it may still do today.
    @Test func itTellsHowTheMirrorIs() async throws {
        let client = try await client(allowsChanges: false)
        let status = try await client.read("mirror-bot://status")
        #expect(status["schema"].text == "mirror-bot/status/2")
        #expect(status["mirror"].text == "default")
        #expect(status["verdict"]["text"].text != nil)
        expect(status.names) { $0.contains("obstacles") && $0.contains("pause_seen") }
        expect(status["limits"].list.compactMap { $0["what"].text }) { $0.contains("posts") }
        // The last examination, which never was.
        let doctor = try await client.ask("resources/read", #"{"uri":"mirror-bot://doctor"}"#)
        #expect(doctor["error"]["code"] == .number(-32603))
        expect(doctor["error"]["message"].text) { $0?.contains("run mirror-bot doctor") == true }
        try await end(client)
    }

    /// What comes tomorrow, and why this text? A resource is what the command prints.
    @Test func itTellsThePlanAndWhyATextIsInIt() async throws {
        let client = try await client(allowsChanges: false)
        let address = "mirror-bot://plan?date=\(try tomorrow)"
        let text = try await client.document(address)
        try await expect(
            stage.run("plan", "--date", "\(tomorrow)", "--json").output, equals: text + "\n")
        let slot = try await client.read(address)["slots"][0]
        #expect(slot["text"].text?.hasPrefix("Loaf") == true)
        #expect(slot["why"].text != nil)
        let today = try await client.read("mirror-bot://plan")
        #expect(today["schema"].text == "mirror-bot/plan/2")
        try await end(client)
    }

    /// Why a mention was answered as it was, and what was done lately.
    @Test func itTellsWhyAMentionWasAnswered() async throws {
        let reply = try await answeredMention()
        let client = try await McpClient.begun(on: stage)
        let history = try await client.read("mirror-bot://history?kind=reply")
        #expect(history["actions"].list.map { $0["id"].text } == [reply.id])
        let why = try await client.read("mirror-bot://explain?id=\(reply.id.prefix(7))")
        #expect(why["id"].text == reply.id)
        #expect(why["text"].text == "@ann@pal.example Thank you 2")
        #expect(why["why"].text == "one of 3 old replies to this person")
        let nothing = try await client.read("mirror-bot://history?words=no-such-word&limit=5")
        #expect(nothing["actions"] == .list([]))
        try await end(client)
    }

    private func answeredMention() async throws -> Action {
        try await stage.makeDatabase()
        let written = now - 100 * Fixture.day
        return try await stage.withMirror { mirror in
            try await mirror.belong()
            try await mirror.remember(
                (1...3).map {
                    Life.post(
                        "r\($0)", "@ann@pal.example Thank you \($0)", at: written + Double($0),
                        to: Life.ann)
                })
            let wording = Action.Wording(
                source: Life.post("r2", "", at: now).id, text: "@ann@pal.example Thank you 2",
                visibility: .unlisted)
            return try await mirror.note(
                .reply(Action.Reply(to: Life.target("7"), thread: "t", wording: wording)), .done,
                at: now - 600, sent: now - 540, published: "https://home.example/@mirror/9",
                why: Explanation("one of 3 old replies to this person", pool: 3))
        }
    }

    /// Which texts are about something, page by page? Who is known, and what is stored about them?
    /// The hours, the settings, the zones and the notices.
    @Test func itFindsTextsPeopleAndSettings() async throws {
        let client = try await client(allowsChanges: false)
        let first = try await client.read("mirror-bot://texts?words=LOAF%201&limit=7")
        #expect(first["texts"].list.count == 7)
        let next = try #require(first["next"].text)
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let place = try #require(next.addingPercentEncoding(withAllowedCharacters: allowed))
        let second = try await client.read(
            "mirror-bot://texts?words=LOAF%201&limit=7&after=\(place)")
        expect(Set(second["texts"].list.compactMap { $0["post"].text })) {
            $0.isDisjoint(with: first["texts"].list.compactMap { $0["post"].text })
        }
        try await expect(stage.run("people", "deny", "pal@near.example").status, equals: 0)
        let denied = try await client.read("mirror-bot://people?stance=denied")
        #expect(denied["people"].list.map { $0["account"].text } == ["pal@near.example"])
        let person = try await client.read("mirror-bot://person?account=pal@near.example")
        #expect(person["accounts"][0]["stance"].text == "deny")
        try await expect(
            client.read("mirror-bot://stats")["schema"].text
        ) { $0?.hasPrefix("mirror-bot/stats/") == true }
        for (address, words) in [
            ("config?word=MAX_PER_DAY", ["config", "MAX_PER_DAY"]), ("zones", ["zones"]),
            ("notices", ["notify"]), ("people", ["people", "list"]),
            ("suggestions", ["suggestions"]),
            ("history?state=skipped", ["history", "--state", "skipped"]),
        ] {
            let text = try await client.document("mirror-bot://" + address)
            try await expect(stage.run(words: words + ["--json"]).output, equals: text + "\n")
        }
        try await end(client)
    }

    /// For a model that cannot read resources there is a tool.
    @Test func aToolReadsTheSame() async throws {
        let client = try await client(allowsChanges: false)
        let tools = try await client.ask("tools/list")["result"]["tools"].list
        #expect(tools.map { $0["name"].text } == ["read"])
        #expect(tools[0]["annotations"]["readOnlyHint"] == .truth(true))
        let zones = try await client.perform("read", #"{"uri":"mirror-bot://zones"}"#)
        try await expect(client.read("mirror-bot://zones"), equals: zones)
        try await expect(client.refusal("read", #"{"uri":"mirror-bot://explain?id=nothing"}"#)) {
            $0.contains("nothing")
        }
        try await end(client)
    }

    // MARK: The plan

    /// Leave a slot out, send it after all, move it, pin it, draw the day anew.
    @Test func itChangesThePlan() async throws {
        let client = try await client()
        let address = "mirror-bot://plan?date=\(try tomorrow)"
        let slot = try await client.read(address)["slots"][0]
        let id = try #require(slot["subject"].text)
        let skipped = try await client.perform(
            "plan-skip", #"{"slot":"\#(id)","seen":"\#(try seen(of: slot))"}"#)
        #expect(skipped["slots"][0]["state"].text == "skipped")

        // Its way back is the call of another tool.
        let back = skipped["way_back"]
        #expect(back["operation"].text == "plan-restore")
        let whole = try #require(back["request"]["slot"].text)
        let restored = try await client.perform(
            "plan-restore", #"{"slot":"\#(whole)","seen":"\#(try seen(of: back))"}"#)
        #expect(restored["slots"][0]["state"].text == "planned")

        let moved = try await client.perform(
            "plan-move",
            #"{"slot":"\#(whole)","time":"23:48","seen":"\#(try seen(of: restored["slots"][0]))"}"#)
        #expect(moved["slots"][0]["time"].text == "23:48")
        let pinned = try await client.perform(
            "plan-pin", #"{"slot":"\#(whole)","seen":"\#(try seen(of: moved["slots"][0]))"}"#)
        #expect(pinned["slots"][0]["is_pinned"] == .truth(true))
        let day = try await client.read(address)
        let drawn = try await client.perform(
            "plan-reroll",
            #"{"day":"\#(try tomorrow)","seed":"again","seen":"\#(try seen(of: day))"}"#)
        #expect(drawn["schema"].text == "mirror-bot/reroll/1")
        let after = try await client.read(address)["slots"].list.first { $0["id"].text == whole }
        #expect(after?["time"].text == "23:48")
        try await end(client)
    }

    /// What somebody changed meanwhile stays as it is, and the model is told to look again.
    @Test func whatHasChangedIsLeftAlone() async throws {
        let client = try await client()
        let address = "mirror-bot://plan?date=\(try tomorrow)"
        let slot = try await client.read(address)["slots"][0]
        let name = try #require(slot["subject"].text)
        try await expect(stage.run("plan", "move", name, "23:48").status, equals: 0)
        let call = #"{"slot":"\#(name)","seen":"\#(try seen(of: slot))"}"#
        try await expect(
            client.refusal("plan-skip", call),
            equals:
                "changed: it has changed since it was shown; nothing was done, look again")
        try await expect(client.read(address)["slots"].list.map { $0["state"].text }) {
            !$0.contains("skipped")
        }
        try await end(client)
    }

    // MARK: Pauses, texts, suggestions

    /// Pause it for a reason, and go on.
    @Test func itPausesAndResumes() async throws {
        let client = try await client()
        let seen = try #require(try await client.read("mirror-bot://status")["pause_seen"].text)
        let paused = try await client.perform(
            "pause", #"{"until":"3d","reason":"a holiday","seen":"\#(seen)"}"#)
        #expect(paused["is_paused"] == .truth(true))
        #expect(paused["reason"].text == "a holiday")
        try await expect(stage.status().pauseSeen?.description, equals: self.seen(of: paused))
        let resumed = try await client.perform(
            "resume", #"{"knowing":false,"seen":"\#(try self.seen(of: paused))"}"#)
        #expect(resumed["is_paused"] == .truth(false))
        try await end(client)
    }

    /// Exclude a text, take that back, keep it, send it now, and take that back.
    @Test func itDecidesAboutTexts() async throws {
        let client = try await client()
        // One that is old enough to be posted.
        let text = try await client.read("mirror-bot://texts?limit=90")["texts"][70]
        let post = try #require(text["post"].text)
        let never = try await client.perform(
            "never", #"{"post":"\#(post)","seen":"\#(try seen(of: text))"}"#)
        #expect(never["is_new"] == .truth(true))
        #expect(never["way_back"]["operation"].text == "never-undo")
        let excluded = try await client.read("mirror-bot://texts?only=never")["texts"]
        #expect(excluded.list.map { $0["post"].text } == [post])
        _ = try await client.perform(
            "never-undo", #"{"post":"\#(post)","seen":"\#(try seen(of: excluded[0]))"}"#)
        let again = try await client.read("mirror-bot://texts?limit=90")["texts"][70]
        let kept = try await client.perform(
            "texts-keep", #"{"post":"\#(post)","seen":"\#(try seen(of: again))"}"#)
        #expect(kept["is_kept"] == .truth(true))
        let sent = try await client.perform(
            "post", #"{"post":"\#(post)","seen":"\#(try seen(of: again))"}"#)
        let slot = sent["slots"][0]
        #expect(slot["state"].text == "planned")
        let id = try #require(slot["id"].text)
        let undone = try await client.perform(
            "undo", #"{"ids":["\#(id)"],"seen":"\#(try seen(of: slot))"}"#)
        #expect(undone["answers"].names == [id])
        let after = try await client.read("mirror-bot://explain?id=\(id)")
        #expect(after["state"].text == "skipped")
        try await end(client)
    }

    /// Approve what waits, or dismiss it and think again.
    @Test func itDecidesAboutSuggestions() async throws {
        let sandbox = try await Sandbox.live()
        try await stage.makeDatabase()
        let ids = try await stage.withMirror { mirror in
            var ids: [String] = []
            for number in 1...2 {
                let target = Action.Target(
                    post: "https://a.example/@pal/\(number)",
                    author: AccountID(network: .mastodon, value: "pal"), address: "\(number)")
                let intent = Intent(
                    .favorite(target), state: .suggested, due: now, expires: now + 3_600)
                ids.append(
                    try await mirror.outbox(lease: nil).propose(intent, now: now).action.id)
            }
            return ids
        }
        let client = try await McpClient.begun(
            on: stage, allowsChanges: true, environment: sandbox.botSettings)
        let waiting = try await client.read("mirror-bot://suggestions")["suggestions"].list
        #expect(Set(waiting.compactMap { $0["id"].text }) == Set(ids))
        func call(_ item: JSONNode) throws -> String {
            #"{"id":"\#(try #require(item["id"].text))","seen":"\#(try seen(of: item))"}"#
        }
        let approved = try await client.perform("suggestion-approve", try call(waiting[0]))
        #expect(approved["decision"].text == "approved")
        let dismissed = try await client.perform("suggestion-dismiss", try call(waiting[1]))
        #expect(dismissed["decision"].text == "dismissed")
        let history = try await client.read("mirror-bot://history?state=skipped")["actions"][0]
        let reopened = try await client.perform("suggestion-reopen", try call(history))
        #expect(reopened["decision"].text == "reopened")
        try await end(client)
        let states = try await stage.withMirror { try await $0.outbox(lease: nil).recent(10) }
        #expect(Set(states.map(\.state)) == [.planned, .suggested])
        await sandbox.stop()
    }

    // MARK: People, settings, zones

    /// Leave a person alone, allow them again, and forget them.
    @Test func itDecidesAboutPeople() async throws {
        let client = try await client()
        let address = "mirror-bot://person?account=pal@near.example"
        func call() async throws -> String {
            let account = try await client.read(address)["accounts"][0]
            return #"{"account":"pal@near.example","seen":"\#(try seen(of: account))"}"#
        }
        let denied = try await client.perform("people-deny", try await call())
        #expect(denied["stance"].text == "deny")
        let allowed = try await client.perform("people-allow", try await call())
        #expect(allowed["stance"].text == "allow")
        let forgotten = try await client.perform("people-forget", try await call())
        #expect(forgotten["schema"].text?.hasPrefix("mirror-bot/") == true)
        try await expect(
            client.read("mirror-bot://people?stance=forgotten")["people"].list.count, equals: 1)
        try await end(client)
    }

    /// Fewer posts a day, and back; a year in another zone, and back.
    @Test func itChangesASetting() async throws {
        let client = try await client()
        let address = "mirror-bot://config?word=MAX_PER_DAY"
        func line() async throws -> JSONNode {
            try #require(
                try await client.read(address)["groups"].list.flatMap { $0["settings"].list }
                    .first { $0["name"].text == "MAX_PER_DAY" })
        }
        let set = try await client.perform(
            "set", #"{"values":{"MAX_PER_DAY":"3"},"seen":"\#(try seen(of: try await line()))"}"#)
        #expect(set["settings"][0]["value"].text == "3")
        #expect(set["way_back"]["operation"].text == "unset")
        try await expect(line()["value"].text, equals: "3")
        let wrong =
            #"{"values":{"MAX_PER_DAY":"many"},"seen":"\#(try seen(of: try await line()))"}"#
        try await expect(client.refusal("set", wrong)) { $0.contains("MAX_PER_DAY") }
        _ = try await client.perform(
            "unset", #"{"names":["MAX_PER_DAY"],"seen":"\#(try seen(of: try await line()))"}"#)
        let zones = try await client.read("mirror-bot://zones")
        let added = try await client.perform(
            "zones-add",
            #"{"zone":"Europe/Berlin","to":"2019-02-28","seen":"\#(try seen(of: zones))"}"#)
        #expect(added["zones"][0]["time_zone"].text == "Europe/Berlin")
        let removed = try await client.perform(
            "zones-remove", #"{"time":"2019-02-28","seen":"\#(try seen(of: added))"}"#)
        #expect(removed["zones"] == .list([]))
        try await end(client)
    }

    // MARK: Who may

    /// Without `--allow-changes` no change is listed, and each is refused with how to allow it.
    @Test func nothingIsChangedUnlessItIsAllowed() async throws {
        let client = try await client(allowsChanges: false)
        let before = try await documents(client)
        for tool in DeskTool.all {
            let sentence = try await client.refusal(tool.name, Self.call(of: tool))
            #expect(sentence.hasPrefix("\(tool.name) changes the mirror"))
            #expect(sentence.contains("mirror-bot mcp --allow-changes"))
        }
        try await expect(documents(client), equals: before)
        try await end(client)
    }

    /// What the reports of all that can be changed say.
    private func documents(_ client: McpClient) async throws -> [String] {
        var documents: [String] = []
        for name in ["config", "history", "people", "suggestions", "texts", "zones"] {
            documents.append(try await client.document("mirror-bot://" + name))
        }
        return documents
    }

    /// Arguments of the right forms.
    static func call(of tool: DeskTool) -> String {
        let members = tool.arguments.map { argument in
            let value =
                switch argument.form {
                case .text: #""1""#
                case .day: #""2030-01-01""#
                case .boolean: "false"
                case .texts: #"["1"]"#
                case .values: #"{"MAX_PER_DAY":"1"}"#
                }
            return #""\#(argument.name)":\#(value)"#
        }
        return "{" + (members + [#""seen":"0123456789abcdef""#]).joined(separator: ",") + "}"
    }
}
