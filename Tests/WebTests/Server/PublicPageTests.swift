import Archive
import Expectations
import Foundation
import Outbox
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Web

/// The page for everybody: closed unless it is wanted, and a door to nothing else.
@Suite(.timeLimit(.minutes(30))) struct PublicPageTests {
    private static let open = ["WEB_PASSWORD": WebStand.password, "PUBLIC_PAGE": "yes"]
    private static let pal = Account(
        id: AccountID(network: .mastodon, value: "pal@home.example"), handle: "pal@home.example")

    /// A page with a password and a public part, of mirrors that know their accounts.
    private func with(
        _ mirrors: [String] = ["mika"], _ variables: [String: String] = open,
        isReadOnly: Bool = false,
        _ body: (WebStand) async throws -> Void
    ) async throws {
        try await WebStand.with(mirrors, variables: variables, isReadOnly: isReadOnly) { stand in
            for name in mirrors {
                let storage = try await stand.mirror(name).storage
                try await storage.execute(
                    """
                    UPDATE mirrors SET human_account = 'mastodon:mika@social.example',
                        human_handle = 'mika@social.example', bot_account = \("mastodon:\(name)_mirror@bots.example"),
                        bot_handle = \("\(name)_mirror@bots.example")
                    WHERE mirror = \(name)
                    """)
            }
            try await body(stand)
        }
    }

    /// Asks for a proof of an account, and returns the words.
    ///
    /// - Parameter agrees: Whether the box is ticked that says so.
    private func ask(
        _ client: WebClient, _ account: String = "@pal@home.example", at mirror: String = "mika",
        agrees: Bool = false
    ) async throws -> String {
        let page = try await client.send("/public/\(mirror)")
        let token = try #require(page.field("csrf"))
        let consent = agrees ? [("agrees", "yes")] : []
        let answer = try await client.send(
            "/public/\(mirror)/proof", form: [("csrf", token), ("account", account)] + consent)
        #expect(answer.status == 303)
        #expect(answer["Location"] == "/public/\(mirror)#you")
        return try words(try await client.send("/public/\(mirror)"))
    }

    private func words(_ page: WebClient.Answer) throws -> String {
        String(try #require(page.body.firstMatch(of: #/translate="no">([a-z ]+)</#)?.output.1))
    }

    /// Does what a worker does when it reads a mention.
    private func hear(_ words: String, by author: Account = pal, of mirror: HumanMirror)
        async throws
    {
        let now = mirror.clock.now
        let candidate = ProofTable.Candidate(
            PostID(network: .mastodon, value: "said"), by: author, "@bot \(words)", written: now)
        try await mirror.storage.transaction { [name = mirror.name] connection in
            let matches = try ProofTable.matches(
                [candidate].compactMap(\.self), of: name, on: connection, now: now)
            for match in matches.values {
                try ProofTable.prove(match, of: name, on: connection, now: now)
            }
        }
    }

    private func isProven(_ client: WebClient) async throws -> Bool {
        try await client.send("/public/mika").body.contains(
            "This is what is stored about its owner")
    }

    // MARK: The human

    private static let human = Account(
        id: AccountID(network: .mastodon, value: "mika@social.example"),
        handle: "mika@social.example")

    /// The words agree if the box was ticked, and the button ends that; for anybody else they show
    /// what is stored.
    @Test func theHumanAgreesAndStopsHere() async throws {
        try await with { stand in
            let client = stand.client
            let mirror = try await stand.mirror()
            func ground() async throws -> HumanConsent.Ground? {
                try await mirror.table.record().consent?.ground
            }
            try await mirror.storage.execute("UPDATE mirrors SET consent = NULL")
            try await expect(client.send("/public/mika").body) { $0.contains(#"name="agrees""#) }
            try await hear(try await ask(client, agrees: true), of: mirror)
            try await expect(ground(), equals: nil)
            try await expect(client.send("/public/mika").body) { !$0.contains("Stop mirroring me") }
            let other = WebClient(port: client.port)
            let words = try await ask(other, "@mika@social.example", agrees: true)
            try await expect(other.send("/public/mika").body) {
                $0.contains("the words agree to this mirror")
            }
            try await hear(words, by: Self.human, of: mirror)
            try await expect(ground(), equals: .words)
            let page = try await other.send("/public/mika")
            expect(page.body) {
                $0.contains("Stop mirroring me") && !$0.contains(#"name="agrees""#)
            }
            let token = try #require(page.field("csrf"))
            try await expect(
                other.send("/public/mika/stop", form: [("csrf", token)]).status, equals: 303)
            try await expect(ground(), equals: nil)
            try await expect(mirror.table.record().stopped) { $0 != nil }
            try await expect(mirror.people.stance(of: Self.human.id)) { $0 != .deny }
            try await expect(other.send("/public/mika").body) {
                $0.contains("stopped this mirror") && !$0.contains(">Stop mirroring me<")
            }
        }
    }

    // MARK: What is shown

    @Test func everybodyIsToldWhatItIsAndNothingElse() async throws {
        try await with { stand in
            let mirror = try await stand.mirror()
            let about = Action.Target(post: "theirs", author: Self.pal.id, address: "theirs")
            _ = try await mirror.outbox(lease: nil).propose(
                Intent(.favorite(about), due: WebStand.now, expires: WebStand.now + 3_600),
                now: WebStand.now)
            let page = try await stand.client.send("/public/mika")
            #expect(page.status == 200)
            let words = page.body.replacing("<wbr>", with: "")
            for text in [
                "@mika@social.example", "@mika_mirror@bots.example", "Make it leave you alone",
                "Who runs it",
                "What is stored, and for how long", "What it does, and what it never does",
            ] {
                #expect(words.contains(text), "\(text)")
            }
            for text in [
                "Post number", "pal@", "2026", "12:00", "Healthy", "/m/mika", "<script", "<time",
                "Berlin",
            ] {
                #expect(!page.body.contains(text), "\(text)")
            }
            #expect(
                page["Content-Security-Policy"]?.hasPrefix("default-src 'none'; style-src 'self'")
                    == true)
            #expect(page["Cache-Control"] == "no-store")
            #expect(page.body.utf8.count < 30_000)
            let style = try #require(
                page.body.firstMatch(of: #/href="(\/style\.css\?v=[0-9a-f]+)"/#)?.output.1)
            try await #expect(stand.client.send(String(style)).status == 200)
        }
    }

    @Test func eachSaysItOfTheOtherOnlyIfThatWasSeen() async throws {
        try await with { stand in
            let mirror = try await stand.mirror()
            func page() async throws -> String { try await stand.client.send("/public/mika").body }
            try await expect(page()) { $0.contains("Look at both profiles") }
            try await mirror.keep([.ok("link", "a"), .ok("profile", "b")], now: WebStand.now)
            try await expect(page()) { $0.contains("Each says it of the other") }
            for findings: [Finding] in [
                [.warn("link", "a"), .ok("profile", "b")],
                [.ok("link", "a"), .warn("profile", "b")],
                [.ok("profile", "b")],
            ] {
                try await mirror.keep(findings, now: WebStand.now)
                try await expect(page()) { !$0.contains("Each says it of the other") }
            }
        }
    }

    @Test(arguments: ["no", nil, "stored"]) func withoutTheSettingThereIsNoSuchPage(
        _ value: String?
    ) async throws {
        var variables = ["WEB_PASSWORD": WebStand.password]
        variables["PUBLIC_PAGE"] = value == "stored" ? "yes" : value
        try await with(["mika"], variables) { stand in
            if value == "stored" {
                try await stand.mirror().storage.execute(
                    """
                    INSERT INTO settings (mirror, name, value, updated_ms) VALUES ('mika', 'PUBLIC_PAGE', 'no', 1)
                    """)
            }
            let none = try await stand.client.send("/public/nobody")
            #expect(none.status == 404)
            #expect(none.all("Set-Cookie").isEmpty)
            for name in [
                "mika", "mika/", "Mika", "mik%00a", "%ff", "a%2F..%2Fmika",
                String(repeating: "m", count: 99),
            ] {
                let answer = try await stand.client.send("/public/\(name)")
                #expect(answer.status == 404, "\(name)")
                #expect(answer.body == none.body, "\(name)")
                #expect(answer.all("Set-Cookie").isEmpty)
            }
            try await #expect(stand.client.send("/public/mika/report.html").body == none.body)
            // A form with a right token, as from the page of another mirror.
            let visitor = WebSession.new()
            for (name, path) in [
                ("mika", "proof"), ("mika", "stop"), ("nobody", "proof"), ("nobody", "stop"),
            ] {
                let answer = try await stand.client.send(
                    "/public/\(name)/\(path)",
                    form: [("csrf", visitor.csrf), ("account", "@pal@home.example")],
                    headers: ["Cookie": "mirror-bot-visitor=\(visitor.id)"])
                #expect(answer.status == 404)
                #expect(answer.body == none.body)
            }
        }
    }

    /// Answers about mirrors that show nobody anything are the same to the byte, and lead to
    /// nothing private.
    @Test func aStrangerIsLedNowherePrivate() async throws {
        try await with(["mika", "sora"]) { stand in
            let storage = try await stand.mirror("sora").storage
            func set(_ value: String) async throws {
                try await storage.execute(
                    """
                    INSERT INTO settings (mirror, name, value, updated_ms) VALUES ('sora', 'PUBLIC_PAGE', \(value), 1)
                    ON CONFLICT (mirror, name) DO UPDATE SET value = excluded.value
                    """)
            }
            let none = try await stand.client.send("/public/nobody")
            #expect(none.status == 404)
            #expect(none.body.contains("There is no such page"))
            #expect(!none.body.contains("<a "))
            for value in ["no", "perhaps"] {
                try await set(value)
                let answer = try await stand.client.send("/public/sora")
                #expect(answer.status == 404)
                #expect(answer.body == none.body, "\(value)")
            }
            try await #expect(stand.client.send("/public/nobody/further/down").body == none.body)
            // What is refused on a page that is there leads back to it.
            let foreign = try await stand.client.send(
                "/public/mika/stop", form: [("csrf", WebSession.new().csrf)])
            #expect(foreign.status == 403)
            #expect(foreign.body.contains("<a class=\"button\" href=\"/public/mika\">Back</a>"))
            // The owner's pages still have the way back.
            try await stand.logIn()
            try await expect(stand.client.send("/m/nobody").body) {
                $0.contains("href=\"/\">Back</a>")
            }
        }
    }

    /// The page of the owner stays closed to a visitor, whatever their cookie is called.
    @Test func aVisitorGetsNothingElse() async throws {
        try await with { stand in
            let client = stand.client
            let words = try await ask(client)
            try await hear(words, of: try await stand.mirror())
            try await #expect(isProven(client))
            #expect(client.cookieNames == ["mirror-bot-visitor"])
            for path in [
                "/", "/m/mika", "/m/mika/people", "/m/mika/events", "/metrics", "/public/../m/mika",
                "/live.js",
            ] {
                let answer = try await client.send(path)
                #expect([401, 404].contains(answer.status), "\(path)")
                #expect(!answer.body.contains("pal@home.example"))
            }
            let page = try await client.send("/public/mika")
            let token = try #require(page.field("csrf"))
            try await #expect(
                client.send("/m/mika/pause", form: [("csrf", token), ("until", "3h")]).status == 403
            )
            // The number of the visitor as a session of the owner.
            let cookie = try #require(
                try await WebClient(port: client.port).send("/public/mika")["Set-Cookie"])
            let id = cookie.prefix { $0 != ";" }.drop { $0 != "=" }.dropFirst()
            for name in ["mirror-bot", "__Host-mirror-bot"] {
                try await #expect(
                    client.send("/m/mika", headers: ["Cookie": "\(name)=\(id)"]).status == 401)
            }
            for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
                #expect(cookie.contains("; \(flag)"))
            }
            #expect(!cookie.contains("Max-Age"))
            // Nor is the session of the owner one of a visitor.
            let owner = WebClient(port: client.port)
            _ = try await owner.send(
                "/login", form: [("password", WebStand.password), ("next", "/")])
            try await #expect(!isProven(owner))
        }
    }

    @Test func overHTTPSTheCookieIsTheHostsAlone() async throws {
        try await with(["mika"], Self.open.merging(["WEB_HOSTS": "mirror.example"]) { $1 }) {
            stand in
            let answer = try await stand.client.send(
                "/public/mika", headers: ["Host": "mirror.example", "X-Forwarded-Proto": "https"])
            let cookie = try #require(answer["Set-Cookie"])
            #expect(cookie.hasPrefix("__Host-mirror-bot-visitor="))
            #expect(cookie.contains("; Secure"))
            try await #expect(
                stand.client.send("/public/mika", headers: ["Host": "evil.example"]).status == 421)
        }
    }

    // MARK: The proof

    @Test func whoProvesAnAccountSeesWhatIsStoredAndStopsIt() async throws {
        try await with { stand in
            let client = stand.client
            let mirror = try await stand.mirror()
            let thanks = Post(
                id: PostID(network: .mastodon, value: "https://social.example/@mika/thanks"),
                author: AccountID(network: .mastodon, value: "mika@social.example"),
                text: "thank you <b>for the cake",
                createdAt: WebStand.now - 100 * 86_400, replyTo: ReplyTarget(author: Self.pal.id))
            _ = try await mirror.archive.store([thanks], timeZone: .gmt, limit: 10_000)
            let words = try await ask(client)
            #expect(words.split(separator: " ").count == 3)
            // A second look shows the same words, also in another tab.
            try await #expect(self.words(client.send("/public/mika")) == words)
            try await #expect(client.send("/public/mika/report.html").status == 404)
            let foreign = WebSession.new().csrf
            try await #expect(
                client.send("/public/mika/stop", form: [("csrf", foreign)]).status == 403)
            try await expect(mirror.people.stance(of: Self.pal.id), equals: .none)
            try await hear(words, of: mirror)
            let page = try await client.send("/public/mika")
            #expect(page.body.contains("thank you &lt;b&gt;for the cake"))
            #expect(page.body.contains("pal@home.example"))
            #expect(page.body.utf8.count < 36_000)
            let file = try await client.send("/public/mika/report.html")
            #expect(file.status == 200)
            #expect(file["Content-Disposition"]?.hasPrefix("attachment") == true)
            #expect(file.body.contains("thank you &lt;b&gt;for the cake"))
            let own = try #require(page.field("csrf"))
            let stopped = try await client.send("/public/mika/stop", form: [("csrf", own)])
            #expect(stopped.status == 303)
            let person = try #require(try await mirror.people.person(Self.pal.id))
            #expect(person.stance == .deny)
            #expect(person.reason == "asked-to-stop")
            let after = try await client.send("/public/mika").body
            #expect(after.contains("The bot leaves you alone"))
            #expect(!after.contains("/public/mika/stop"))
            // Twice is once.
            try await #expect(client.send("/public/mika/stop", form: [("csrf", own)]).status == 303)
            // An hour later the browser shows nothing more.
            try await stand.clock.sleep(until: WebStand.now + 3_700)
            try await #expect(!isProven(client))
            try await #expect(client.send("/public/mika/report.html").status == 404)
            try await #expect(client.send("/public/mika/stop", form: [("csrf", own)]).status == 409)
        }
    }

    /// The operator's word is not replaced, and whom the operator left alone sees it.
    @Test func whoWasDeniedKeepsThatReason() async throws {
        try await with { stand in
            let mirror = try await stand.mirror()
            try await mirror.people.set(
                .deny, for: Self.pal.id, reason: "operator", at: WebStand.now)
            try await hear(try await ask(stand.client), of: mirror)
            let page = try await stand.client.send("/public/mika")
            #expect(page.body.contains("The bot leaves you alone"))
            let token = try #require(page.field("csrf") ?? self.token(of: stand.client))
            _ = try await stand.client.send("/public/mika/stop", form: [("csrf", token)])
            try await expect(mirror.people.person(Self.pal.id)?.reason, equals: "operator")
        }
    }

    private func token(of client: WebClient) -> String? {
        client.cookie("mirror-bot-visitor").map { WebSession(id: $0).csrf }
    }

    /// Whoever else has the words, or another cookie, sees nothing.
    @Test func theProofIsOfOneBrowserAndOneAccount() async throws {
        try await with { stand in
            let client = stand.client
            let mirror = try await stand.mirror()
            let words = try await ask(client)
            let other = WebClient(port: client.port)
            _ = try await other.send("/public/mika")
            try await hear(
                words,
                by: Account(id: AccountID(network: .mastodon, value: "x@y.example"), handle: "x"),
                of: mirror)
            try await #expect(!isProven(client))
            try await hear(words, of: mirror)
            try await #expect(!isProven(other))
            try await #expect(!isProven(WebClient(port: client.port)))
            for cookie in [
                "mirror-bot-visitor=", "mirror-bot-visitor=AAAAAAAAAAAAAAAAAAAAAA",
                "mirror-bot-visitor=%00",
            ] {
                let page = try await WebClient(port: client.port).send(
                    "/public/mika", headers: ["Cookie": cookie])
                #expect(page.status == 200)
                #expect(!page.body.contains("pal@home.example"))
            }
            try await #expect(isProven(client))
        }
    }

    /// Known and unknown accounts are answered alike, so that the page tells nobody of whom
    /// something is stored.
    @Test func nobodyLearnsWhoIsKnown() async throws {
        try await with { stand in
            let mirror = try await stand.mirror()
            try await mirror.people.set(
                .deny, for: Self.pal.id, handle: "pal@home.example", at: WebStand.now)
            var pages: [String] = []
            for name in ["pal", "nix"] {
                let client = WebClient(port: stand.client.port)
                let words = try await ask(client, "@\(name)@home.example")
                let page = try await client.send("/public/mika").body
                let token = try #require(self.token(of: client))
                pages.append(
                    page.replacing(words, with: "WORDS").replacing(token, with: "TOKEN").replacing(
                        name, with: "NAME"))
            }
            #expect(pages[0] == pages[1])
        }
    }

    @Test func twoMirrorsAreTwoProofs() async throws {
        try await with(["mika", "sora"]) { stand in
            let client = stand.client
            let first = try await ask(client)
            let second = try await ask(client, at: "sora")
            #expect(first != second)
            try await hear(first, of: try await stand.mirror("sora"))
            try await #expect(!client.send("/public/sora").body.contains("This is what is stored"))
            try await hear(second, of: try await stand.mirror("sora"))
            try await #expect(client.send("/public/sora").body.contains("This is what is stored"))
            try await #expect(!isProven(client))
            try await expect(stand.mirror("mika").people.all(), equals: [])
        }
    }

    // MARK: Forms

    @Test func onlyItsOwnFormsAreTaken() async throws {
        try await with { stand in
            let client = stand.client
            let token = try #require(try await client.send("/public/mika").field("csrf"))
            let other = WebClient(port: client.port)
            _ = try await other.send("/public/mika")
            let form = [("csrf", token), ("account", "@pal@home.example")]
            for headers in [
                ["Origin": "https://evil.example"], ["Origin": "null"], ["Origin": ""],
                ["Origin": "", "Sec-Fetch-Site": "cross-site"], ["Cookie": ""],
            ] {
                try await #expect(
                    client.send("/public/mika/proof", form: form, headers: headers).status == 403,
                    "\(headers)")
            }
            try await #expect(other.send("/public/mika/proof", form: form).status == 403)
            for csrf in ["", token + "x", String(token.dropLast())] {
                let answer = try await client.send(
                    "/public/mika/proof", form: [("csrf", csrf), ("account", "@pal@home.example")])
                #expect(answer.status == 403)
                #expect(answer.body.contains("href=\"/public/mika\""))
            }
            try await #expect(
                client.send("/public/mika/proof", form: form, method: "PUT").status != 303)
            let much = form + [("x", String(repeating: "x", count: 100_000))]
            try await #expect(client.send("/public/mika/proof", form: much).status == 413)
            let rows = try await stand.mirror().storage.query("SELECT 1 AS found FROM proofs")
            #expect(rows.isEmpty)
        }
    }

    @Test func whatIsNoAccountIsShownAgain() async throws {
        try await with { stand in
            let token = try #require(try await stand.client.send("/public/mika").field("csrf"))
            for text in [
                "", "\"><script>alert(1)</script>", "x:4711", "*@home.example",
                "a\u{202E}b@c.example",
            ] {
                let answer = try await stand.client.send(
                    "/public/mika/proof", form: [("csrf", token), ("account", text)])
                #expect(answer.status == 400, "\(text)")
                #expect(answer.body.contains("aria-invalid=\"true\""))
                #expect(!answer.body.contains("<script"))
                #expect(!answer.body.contains("\u{202E}"))
            }
        }
    }

    @Test func manyProofsAreTooMany() async throws {
        try await with { stand in
            let most = ProofTable.mostOfAccount
            for number in 0...most {
                let client = WebClient(port: stand.client.port)
                let token = try #require(try await client.send("/public/mika").field("csrf"))
                let answer = try await client.send(
                    "/public/mika/proof", form: [("csrf", token), ("account", "@pal@home.example")])
                #expect(answer.status == (number < most ? 303 : 429))
                if number == most { #expect(answer["Retry-After"] == "600") }
            }
            #expect(!stand.log.all.contains("pal@"))
        }
    }

    @Test func readOnlyAsksForNothing() async throws {
        try await with(isReadOnly: true) { stand in
            let page = try await stand.client.send("/public/mika")
            #expect(page.status == 200)
            #expect(!page.body.contains("<form"))
            let token = try #require(self.token(of: stand.client))
            let form = [("csrf", token), ("account", "@pal@home.example")]
            try await #expect(stand.client.send("/public/mika/proof", form: form).status == 403)
        }
    }

    /// The page is whole in every state: each name that its template asks for is there, and ids are
    /// used once.
    @Test func everyStateIsWhole() async throws {
        let report = PersonReport(
            mirror: "mika", made: WebStand.now, timeZone: "GMT",
            accounts: [
                PersonReport.KnownAccount(
                    account: "pal@home.example", handle: "pal", stance: nil, reason: nil,
                    onDenied: nil,
                    lastContact: WebStand.now, isForgotten: false, seen: nil)
            ],
            deeds: (0..<30).map {
                PersonReport.Deed(
                    id: "\($0)", kind: "reply", at: WebStand.now, state: "suggested", about: "a",
                    text: Self.hostile,
                    link: nil, why: Self.hostile)
            },
            mentions: (0..<30).map {
                PersonReport.Mention(
                    post: "\($0)", written: WebStand.now, isReply: true, text: Self.hostile)
            },
            learned: (0..<30).map {
                PersonReport.Learned(
                    post: "\($0)", text: Self.hostile, state: "seen", noted: WebStand.now)
            })
        try await with { stand in
            let mirror = try await stand.mirror()
            let account = try ProvedAccount("@pal@home.example", on: .mastodon, localHost: nil)
            let nonce = [UInt8](repeating: 7, count: ProofTable.nonceSize)
            try await mirror.proofs.ask(
                for: account, by: "visitor", nonce: nonce, now: WebStand.now - 541)
            let open = try #require(
                try await mirror.proofs.latest(of: "visitor", now: WebStand.now))
            let states: [(ProofTable.Proof.Progress?, PersonReport?)] = [
                (nil, nil), (open.progress, nil), (.over, nil), (.proven(Self.pal.id), report),
            ]
            for (progress, person) in states {
                for (isReadOnly, wrong) in [(false, nil), (false, Self.hostile), (true, nil)] {
                    let page = PublicPage(
                        report: try await PublicReport(of: mirror, try await mirror.table.record()),
                        proof: progress.map {
                            ProofTable.Proof(account: account, progress: $0, agrees: isReadOnly)
                        },
                        isHuman: wrong != nil, person: person, now: WebStand.now,
                        base: "/public/mika",
                        csrf: "token", isReadOnly: isReadOnly, typed: Self.hostile, wrong: wrong)
                    try check(page)
                }
            }
        }
    }

    private static let hostile =
        "\"'><script>alert(1)</script>\u{202E}"
        + String(repeating: "&<\u{1F469}\u{200D}\u{1F467}", count: 2_000)

    private func check(_ page: PublicPage) throws {
        let missing = TemplateKeys(.everybody, page.context, [.everybody]).missing
        #expect(missing.isEmpty)
        let html = TemplateLibrary.standard.render(.everybody, page.context).text
        // With the style sheet and the icon below 60 kB.
        #expect(html.utf8.count < 36_000, "\(html.utf8.count)")
        #expect(!html.contains("<script"))
        #expect(!html.contains("\u{202E}"))
        let ids = html.matches(of: #/ id="([^"]*)"/#).map { String($0.output.1) }
        #expect(Set(ids).count == ids.count)
        for label in html.matches(of: #/ (?:for|aria-labelledby|aria-describedby)="([^"]*)"/#) {
            #expect(ids.contains(String(label.output.1)))
        }
    }
}
