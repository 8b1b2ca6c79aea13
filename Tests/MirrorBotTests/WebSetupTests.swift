import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import TestSupport
import Testing

/// `mirror-bot web` in an empty home: the page leads from nothing to the first post, without
/// script.
@Suite(.timeLimit(.minutes(30))) struct WebSetupTests {
    /// 2026-05-28, 09:00.
    private static let begin = Date(timeIntervalSince1970: 1_779_958_800)

    /// The page of an empty home, by a clock on which an hour takes twelve seconds.
    private struct Place {
        let sandbox: Sandbox
        let stage: Stage
        let program: RunningProgram
        let browser: FormBrowser

        init(_ environment: [String: String] = [:]) async throws {
            let rehearsal = Rehearsal.Settings(
                origin: WebSetupTests.begin, started: Date(), factor: 300)
            let clock = AcceleratedClock(
                origin: rehearsal.origin, started: rehearsal.started, factor: rehearsal.factor)
            sandbox = try await SetupPast.sandbox(at: WebSetupTests.begin) { clock.now }
            let usual = [
                "MIN_AGE_DAYS": "0", "HUMAN_CONSENT": "", "TRUST_ARCHIVE": "",
                "HUMAN_API_BASE_URL": sandbox.url, "BOT_API_BASE_URL": sandbox.url,
            ]
            stage = try Stage(
                rehearsal.variables.merging(usual) { $1 }.merging(environment) { $1 })
            program = try stage.start(["web", "--listen", "127.0.0.1:0"])
            browser = try await FormBrowser(program)
        }

        func end() async {
            program.send(SIGTERM)
            let ending = await program.ending()
            #expect(ending.status == 0, "\(ending.error)")
            await sandbox.stop()
        }

        /// Logs an account in by the forms of its step.
        func logIn(_ role: SandboxRole, on network: NetworkName) async throws {
            let base = "/m/default/setup"
            try await browser.open("\(base)?step=\(role.rawValue)&on=\(network.rawValue)")
            var fields = [
                "role": role.rawValue, "network": network.rawValue, "step": role.rawValue,
            ]
            switch network {
            case .mastodon: fields["server"] = sandbox.url
            case .x:
                let keys = sandbox.xKeys(role)
                fields["consumerKey"] = keys.consumerKey
                fields["consumerSecret"] = keys.consumerSecret
            default:
                let login = sandbox.blueskyLogin(role)
                fields["identifier"] = login.handle
                fields["appPassword"] = role == .human ? "" : login.appPassword
            }
            try await browser.submit("\(base)/login", fields)
            guard network != .bluesky else { return }
            let name = role == .human ? sandbox.world.humanHandle : sandbox.world.botHandle
            let whose =
                network == .x
                ? "&screen_name=\(name.split(separator: "@").first ?? "")" : "&as=\(role.rawValue)"
            let page = try browser.link("Open the page of") + whose
            if browser.page.contains("leads you back here") {
                try await browser.comeBack(try await BrowsedPage.wayBack(from: page))
                return
            }
            let code = try await BrowsedPage.code(at: page)
            try await browser.submit(
                "\(base)/code", ["role": role.rawValue, "step": role.rawValue, "code": code])
        }

        /// Lets something be read, and waits until the step is done.
        func learn(_ what: String, _ fields: [String: String] = [:]) async throws {
            try await browser.submit(
                "/m/default/setup/learn", fields.merging(["what": what, "step": what]) { $1 })
            while browser.page.contains("class=\"button\" href=\"/m/default/setup?step=\(what)\">")
            {
                await Task.yield()
                try await browser.open("/m/default/setup?step=\(what)")
            }
        }
    }

    @Test(arguments: [NetworkName.mastodon, .x, .bluesky])
    func anEmptyHomeLeadsToTheFirstPost(_ network: NetworkName) async throws {
        let place = try await Place()
        let browser = place.browser
        let base = "/m/default/setup"
        try await browser.open("/")
        #expect(browser.page.contains("There is no mirror here yet"))
        try await browser.submit("/setup", ["name": "default"])
        #expect(browser.path == base)
        for role in SandboxRole.allCases {
            try await place.logIn(role, on: network)
            #expect(browser.page.contains("The \(role.rawValue) is @"), "\(browser.page)")
            #expect(browser.path == base)
        }
        if network == .bluesky {
            // Without a password nobody has agreed yet.
            try await browser.open("\(base)?step=consent")
            try await browser.submit("\(base)/set", ["HUMAN_CONSENT": "self", "step": "consent"])
        }
        if network == .x {
            #expect(browser.page.contains("I know these rules"))
            try await browser.submit("\(base)/set", ["X_ACKNOWLEDGE_POLICY": "yes"])
        }
        try await browser.open("\(base)?step=posts")
        try await place.learn("posts")
        #expect(browser.page.contains("The archive holds "), "\(browser.page)")
        try await browser.open("\(base)?step=time-zone")
        try await browser.submit("\(base)/set", ["TIME_ZONE": "Nowhere/Else", "step": "time-zone"])
        #expect(browser.page.contains("value=\"Nowhere/Else\""), "\(browser.page)")
        try await browser.submit("\(base)/set", ["TIME_ZONE": "UTC", "step": "time-zone"])
        try await browser.open("\(base)?step=favorites")
        try await browser.submit("\(base)/set", ["FAVORITE_MODE": "off", "step": "favorites"])
        try await browser.open("\(base)?step=profile")
        let seen = browser.page.firstMatch(of: /name="seen" value="([^"]+)"/)
        try await browser.submit(
            "\(base)/profile",
            seen.map { ["do": "write", "seen": String($0.output.1)] } ?? ["do": "leave"])
        try await browser.open(base)
        #expect(browser.page.contains("Tomorrow, as it would be"), "\(browser.page)")
        try await browser.submit("\(base)/begin")
        try await place.program.waitForFirstPost()
        await expect(place.sandbox.ledger.deliveries) { !$0.isEmpty }
        await place.end()
    }

    @Test func aWrongAnswerIsAskedAgainAndNothingIsRegisteredTwice() async throws {
        let place = try await Place()
        place.sandbox.faults.mastodon.showsCodesOnly = true
        let browser = place.browser
        let base = "/m/default/setup"
        try await browser.open("/")
        try await browser.submit("/setup", ["name": "default"])
        let fields = ["role": "bot", "network": "mastodon", "step": "bot"]
        try await browser.open("\(base)?step=bot&on=mastodon")
        try await browser.submit("\(base)/login", fields.merging(["server": "not a server"]) { $1 })
        #expect(browser.page.contains("value=\"not a server\""), "\(browser.page)")
        try await browser.submit(
            "\(base)/login", fields.merging(["server": place.sandbox.url]) { $1 })
        let first = try browser.link("Open the page of")
        let code = ["role": "bot", "step": "bot", "code": "wrong-code"]
        try await browser.submit("\(base)/code", code)
        #expect(browser.page.contains("not accepted"), "\(browser.page)")
        #expect(!browser.page.contains("wrong-code"))
        // The same server is not asked for another application.
        try #expect(browser.link("Open the page of") == first)
        let right = try await BrowsedPage.code(at: first + "&as=bot")
        try await browser.submit("\(base)/code", code.merging(["code": right]) { $1 })
        // The other account with the same login is none.
        try await browser.open("\(base)?step=human&on=mastodon")
        try await browser.submit(
            "\(base)/login",
            ["role": "human", "network": "mastodon", "step": "human", "server": place.sandbox.url])
        let same = try await BrowsedPage.code(
            at: try browser.link("Open the page of") + "&as=bot")
        try await browser.submit(
            "\(base)/code", ["role": "human", "step": "human", "code": same])
        #expect(browser.page.contains("own account"), "\(browser.page)")
        #expect(!browser.page.contains("mirror-bot login"))
        await place.end()
    }

    @Test func aLoginOfAnotherAccountTakesItsPlaceAfterOneQuestion() async throws {
        let place = try await Place()
        let browser = place.browser
        let base = "/m/default/setup"
        try await browser.open("/")
        try await browser.submit("/setup", ["name": "default"])
        try await place.logIn(.human, on: .mastodon)
        try await place.logIn(.human, on: .bluesky)
        #expect(browser.page.contains("in the place of"), "\(browser.page)")
        try await browser.submit(
            "\(base)/account", ["role": "human", "step": "human", "do": "keep"])
        try await place.logIn(.human, on: .bluesky)
        try await browser.submit(
            "\(base)/account", ["role": "human", "step": "human", "do": "replace"])
        #expect(browser.page.contains("The human is @"), "\(browser.page)")
        await place.end()
    }

    @Test func anArchiveIsReadWithoutAnAccount() async throws {
        let place = try await Place()
        let browser = place.browser
        let base = "/m/default/setup"
        let archive = try place.stage.folder.write(
            Data(Fixture.lines(days: 30, perDay: 8).utf8), to: "posts.jsonl")
        try await browser.open("/")
        try await browser.submit("/setup", ["name": "default"])
        try await browser.open("\(base)?step=human&on=archive")
        try await browser.submit(
            "\(base)/learn", ["what": "posts", "step": "posts", "archive": "posts.jsonl"])
        #expect(browser.page.contains("whole path"), "\(browser.page)")
        try await browser.open("\(base)?step=human&on=archive")
        try await place.learn("posts", ["archive": archive])
        #expect(browser.page.contains("The archive holds 240 posts."), "\(browser.page)")
        try await browser.open("\(base)?step=trust")
        try await browser.submit("\(base)/set", ["TRUST_ARCHIVE": "no", "step": "trust"])
        try await browser.open(base)
        #expect(!browser.page.contains("step=trust"), "\(browser.page)")
        await place.end()
    }

    /// With a password a person may be anywhere, and names no file of the server's disk.
    @Test func behindAPasswordNoPathOfTheServerIsRead() async throws {
        let password = "plums behind the old library"
        let place = try await Place(["WEB_PASSWORD": password])
        let browser = place.browser
        let base = "/m/default/setup"
        let archive = try place.stage.folder.write(
            Data(Fixture.lines(days: 30, perDay: 8).utf8), to: "posts.jsonl")
        try await browser.open("/login")
        try await browser.logIn(password)
        try await browser.submit("/setup", ["name": "default"])
        try await browser.open("\(base)?step=human&on=archive")
        #expect(browser.page.contains("data-upload=\"\(base)/upload\""), "\(browser.page)")
        #expect(!browser.page.contains("Path of a downloaded archive"), "\(browser.page)")
        try await browser.force(
            "\(base)/learn", ["what": "posts", "step": "posts", "archive": archive])
        #expect(browser.page.contains("Only who is at the machine"), "\(browser.page)")
        // Nothing is being read.
        #expect(browser.page.contains("<div id=\"setup-learning\"></div>"), "\(browser.page)")
        await place.end()
    }

    @Test func whatOnlyShowsMakesNothing() async throws {
        let stage = try Stage()
        let ending = try await stage.run("web", "--read-only", "--listen", "127.0.0.1:0")
        #expect(ending.status == 78)
        #expect(!FileManager.default.fileExists(atPath: stage.home))
    }
}
