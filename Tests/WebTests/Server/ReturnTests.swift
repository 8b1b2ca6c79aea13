import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import Settings
import TestSupport
import Testing

@testable import Web

/// The way back from the page of a server, where a person allowed a login, to the set-up.
@Suite(.timeLimit(.minutes(30))) struct ReturnTests {
    private static let setup = "/m/default/setup"
    private static let back = setup + "/return"
    private static let guarded = ["WEB_PASSWORD": WebStand.password]

    /// A person who sets a mirror up, and the server at which they log in.
    private struct Person {
        let stand: WebStand
        let sandbox: Sandbox
        var client: WebClient { stand.client }

        /// Makes the mirror.
        func begin(_ headers: [String: String] = [:]) async throws {
            let answer = try await submit("/setup", [("name", "default")], from: "/", headers)
            #expect(answer["Location"] == ReturnTests.setup)
        }

        /// Sends a form with the token of a page.
        func submit(
            _ path: String, _ fields: [(String, String)], from page: String,
            _ headers: [String: String] = [:]
        ) async throws -> WebClient.Answer {
            let shown = try await client.send(
                page, headers: headers.filter { $0.key != "Origin" })
            let token = try #require(shown.field("csrf"), "\(shown.body)")
            return try await client.send(path, form: [("csrf", token)] + fields, headers: headers)
        }

        /// Begins a login by its form.
        ///
        /// - Returns: The page that is shown then.
        func logIn(_ role: SandboxRole, _ headers: [String: String] = [:]) async throws
            -> WebClient.Answer
        {
            let step = "\(ReturnTests.setup)?step=\(role.rawValue)"
            let answer = try await submit(
                "\(ReturnTests.setup)/login",
                [
                    ("step", role.rawValue), ("role", role.rawValue), ("network", "mastodon"),
                    ("server", sandbox.url),
                ], from: step + "&on=mastodon", headers)
            #expect(answer.status == 303, "\(answer.body)")
            return try await client.send(
                step, headers: headers.filter { $0.key != "Origin" })
        }

        /// The address of the server's page, as a page shows it.
        func address(_ page: WebClient.Answer) throws -> String {
            let link = try #require(
                page.body.firstMatch(of: #/href="([^"]+)"[^>]*>Open the page of/#), "\(page.body)")
            return String(link.output.1).replacing("&amp;", with: "&")
        }

        /// Opens the server's page, and says yes or no there.
        func open(_ address: String, as role: SandboxRole, _ more: String = "") async throws
            -> WebClient.Answer
        {
            try #require(address.hasPrefix(sandbox.url + "/oauth/authorize?"), "\(address)")
            let path = address.dropFirst(sandbox.url.count)
            return try await WebClient(port: sandbox.port).send(
                "\(path)&as=\(role.rawValue)\(more)")
        }

        /// The path and query to which the server leads back.
        func wayBack(
            _ page: WebClient.Answer, as role: SandboxRole, _ more: String = ""
        ) async throws -> String {
            let answer = try await open(try address(page), as: role, more)
            #expect(answer.status == 302)
            let origin = "http://127.0.0.1:\(client.port)"
            let location = try #require(answer["Location"])
            try #require(location.hasPrefix(origin + ReturnTests.back + "?"), "\(location)")
            return String(location.dropFirst(origin.count))
        }

        /// What a browser sends that another site leads here: no cookie.
        func comeBack(_ path: String) async throws -> WebClient.Answer {
            try await client.send(path, headers: ["Cookie": ""])
        }

        /// The sentence on top of the page to which an answer leads.
        func said(_ answer: WebClient.Answer) async throws -> String {
            #expect(answer.status == 303, "\(answer.body)")
            let page = try await client.send(try #require(answer["Location"]))
            return page.body.firstMatch(of: #/class="flash" role="status"><p>([^<]*)</#).map {
                String($0.output.1)
            } ?? ""
        }

        func isStored(_ role: AccountRole) async throws -> Bool {
            try await stand.mirror("default").vault.login(of: role) != nil
        }
    }

    private static func run(
        _ variables: [String: String] = [:],
        _ body: (Person) async throws -> Void
    ) async throws {
        let sandbox = try await SetupSandbox.start()
        do {
            let all = SetupSandbox.variables(at: sandbox).merging(variables) { $1 }
            try await WebStand.with([], variables: all) { stand in
                try await body(Person(stand: stand, sandbox: sandbox))
            }
        } catch {
            await sandbox.stop()
            throw error
        }
        await sandbox.stop()
    }

    /// The return address that a link to the server's page names.
    private static func redirect(_ address: String) -> String? {
        URLComponents(string: address)?.queryItems?.first { $0.name == "redirect_uri" }?.value
    }

    private static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    // MARK: It comes back

    /// The first request comes without a cookie, and the page lets the browser ask once more.
    @Test func aServerLeadsBackToTheNextStep() async throws {
        try await Self.run { person in
            try await person.begin()
            for role in SandboxRole.allCases {
                let page = try await person.logIn(role)
                #expect(page.body.contains("The server leads you back here."))
                #expect(!page.body.contains("name=\"code\""))
                #expect(!page.body.contains("target=\"_blank\""))
                let path = try await person.wayBack(page, as: role)
                let first = try await person.comeBack(path)
                #expect(first.status == 200)
                #expect(first["Refresh"] == "0;url=\(path)&again=1")
                #expect(first["Cache-Control"] == "no-store")
                #expect(first["Referrer-Policy"] == "same-origin")
                #expect(first.all("Set-Cookie").isEmpty)
                #expect(first.body.contains(">Go on</a>"))
                #expect(!first.body.contains("<script"))
                let account: AccountRole = role == .human ? .human : .bot
                try await expect(person.isStored(account), equals: false)

                let second = try await person.client.send(path + "&again=1")
                #expect(second["Location"] == Self.setup)
                #expect(second["Cache-Control"] == "no-store")
                #expect(second["Refresh"] == nil)
                let said = try await person.said(second)
                #expect(said.hasPrefix("The \(role.rawValue) is @"), "\(said)")
                try await expect(person.isStored(account), equals: true)

                let fields = try #require(WebFields(encoded: path.drop { $0 != "?" }.dropFirst()))
                for name in ["code", "state"] {
                    let value = try #require(fields[name])
                    #expect(!person.stand.log.all.contains(value), "\(name)")
                }
            }
            await expect(person.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    @Test func aBrowserWithItsCookieIsNotAskedTwice() async throws {
        try await Self.run(Self.guarded) { person in
            try await person.stand.logIn()
            try await person.begin()
            let path = try await person.wayBack(try await person.logIn(.human), as: .human)
            let said = try await person.said(try await person.client.send(path))
            #expect(said.hasPrefix("The human is @"), "\(said)")
        }
    }

    /// Whoever has no session logs in, and the login at the server goes on then.
    @Test func withoutASessionThePasswordIsAskedForOnce() async throws {
        try await Self.run(Self.guarded) { person in
            try await person.stand.logIn()
            try await person.begin()
            let path = try await person.wayBack(try await person.logIn(.bot), as: .bot)
            let first = try await person.comeBack(path)
            #expect(first.status == 200)
            #expect(!first.body.contains("password"))
            let next = path + "&again=1"
            #expect(first["Refresh"] == "0;url=\(next)")
            let second = try await person.comeBack(next)
            #expect(second.status == 401)
            #expect(second["Refresh"] == nil)
            #expect(second.body.contains("Log in to mirror-bot"))
            try await expect(person.isStored(.bot), equals: false)
            let asked = try #require(second.field("next")).replacing("&amp;", with: "&")
            #expect(asked == next)
            let opened = try await person.client.send(
                "/login", form: [("password", WebStand.password), ("next", asked)])
            #expect(opened["Location"] == next)
            let said = try await person.said(try await person.client.send(next))
            #expect(said.hasPrefix("The bot is @"), "\(said)")
            #expect(!person.stand.log.all.contains("code="))
        }
    }

    // MARK: It is not that login

    @Test(arguments: ["", "?code=abc", "?code=abc&state=", "?code=abc&state=wrong", "?state=wrong"])
    func withoutItsStateNothingIsDone(query: String) async throws {
        try await Self.run { person in
            try await person.begin()
            let page = try await person.logIn(.human)
            let answer = try await person.client.send(Self.back + query)
            #expect(answer["Location"] == Self.setup)
            let said = try await person.said(answer)
            #expect(said == "That login waits for nothing any more; begin it again.")
            // The login waits as before, and no code was given to the server.
            let path = try await person.wayBack(page, as: .human)
            let done = try await person.said(try await person.client.send(path))
            #expect(done.hasPrefix("The human is @"), "\(done)")
            await expect(person.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    /// The state of one mirror's login is none of another's.
    @Test func theStateOfAnotherMirrorIsNone() async throws {
        try await Self.run { person in
            try await person.begin()
            let path = try await person.wayBack(try await person.logIn(.human), as: .human)
            try await person.stand.add("other")
            let other = path.replacing("/m/default/", with: "/m/other/")
            let answer = try await person.client.send(other)
            #expect(answer["Location"] == "/m/other/setup")
            try await expect(person.isStored(.human), equals: false)
        }
    }

    @Test func aCodeIsGivenToTheServerOnce() async throws {
        try await Self.run { person in
            try await person.begin()
            let path = try await person.wayBack(try await person.logIn(.human), as: .human)
            let client = person.client
            async let first = client.send(path)
            async let second = client.send(path)
            let answers = try await [first, second]
            #expect(answers.map(\.status) == [303, 303])
            try await expect(person.isStored(.human), equals: true)
            let said = try await person.said(try await client.send(path))
            #expect(said == "That login waits for nothing any more; begin it again.")
            await expect(person.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    @Test func aLoginWaitsForAnHour() async throws {
        try await Self.run { person in
            try await person.begin()
            let path = try await person.wayBack(try await person.logIn(.human), as: .human)
            try await person.stand.clock.sleep(until: WebStand.now + 3_601)
            let said = try await person.said(try await person.client.send(path))
            #expect(said == "That login waits for nothing any more; begin it again.")
            try await expect(person.isStored(.human), equals: false)
        }
    }

    // MARK: It is refused

    /// The same page of the server can be opened again; nothing is registered anew.
    @Test(arguments: [
        ("access_denied", "Access was not allowed at the server."),
        ("temporarily_unavailable", "The server gave no access."),
    ])
    func whoSaysNoMaySayYesLater(error: String, expected: String) async throws {
        try await Self.run { person in
            try await person.begin()
            let page = try await person.logIn(.bot)
            let address = try person.address(page)
            let path = try await person.wayBack(page, as: .bot, "&allow=no")
                .replacing("error=access_denied", with: "error=\(error)")
            let refused = try await person.client.send(path)
            let step = Self.setup + "?step=bot"
            #expect(refused["Location"] == step)
            let said = try await person.said(refused)
            #expect(said.hasPrefix(expected), "\(said)")
            #expect(!said.contains("resource owner"))
            let again = try await person.client.send(step)
            try #expect(person.address(again) == address)
            let done = try await person.said(
                try await person.client.send(try await person.wayBack(again, as: .bot)))
            #expect(done.hasPrefix("The bot is @"), "\(done)")
        }
    }

    /// A code that the server does not take leaves the login as it was.
    @Test func aWrongCodeIsSaidSo() async throws {
        try await Self.run { person in
            try await person.begin()
            let page = try await person.logIn(.human)
            let path = try await person.wayBack(page, as: .human)
            let code = try #require(
                WebFields(encoded: path.drop { $0 != "?" }.dropFirst())?["code"])
            let answer = try await person.client.send(path.replacing(code, with: "planted-code"))
            #expect(answer["Location"] == Self.setup + "?step=human")
            let said = try await person.said(answer)
            #expect(said.contains("the code was not accepted"), "\(said)")
            #expect(!said.contains("planted"))
            #expect(!person.stand.log.all.contains("planted"))
            let done = try await person.said(try await person.client.send(path))
            #expect(done.hasPrefix("The human is @"), "\(done)")
        }
    }

    /// The token of a login that cannot be kept is given back.
    @Test func theAccountOfTheOtherIsRefused() async throws {
        try await Self.run { person in
            try await person.begin()
            let bot = try await person.wayBack(try await person.logIn(.bot), as: .bot)
            _ = try await person.said(try await person.client.send(bot))
            let same = try await person.wayBack(try await person.logIn(.human), as: .bot)
            let answer = try await person.client.send(same)
            #expect(answer["Location"] == Self.setup + "?step=human")
            let said = try await person.said(answer)
            #expect(said.contains("own account"), "\(said)")
            try await expect(person.isStored(.human), equals: false)
        }
    }

    // MARK: A code is shown

    @Test func aServerThatOnlyShowsCodesIsAskedForOne() async throws {
        try await Self.run { person in
            person.sandbox.faults.mastodon.showsCodesOnly = true
            try await person.begin()
            let page = try await person.logIn(.human)
            let address = try person.address(page)
            #expect(Self.redirect(address) == Self.outOfBand)
            #expect(!address.contains("state="))
            #expect(!page.body.contains("leads you back"))
            #expect(page.body.contains("target=\"_blank\" rel=\"noopener noreferrer\""))
            let shown = try await person.open(address, as: .human)
            let code = try #require(shown.body.firstMatch(of: /<code>([^<]+)<\/code>/)).output.1
            let answer = try await person.submit(
                Self.setup + "/code",
                [("step", "human"), ("role", "human"), ("code", String(code))],
                from: Self.setup + "?step=human")
            let said = try await person.said(answer)
            #expect(said.hasPrefix("The human is @"), "\(said)")
            await expect(person.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    /// The server leads to the address by which the browser opened the page, if it said so.
    @Test(
        arguments: [
            ("localhost:PORT", "http://localhost:PORT", nil, "http://localhost:PORT"),
            ("[::1]:PORT", "http://[::1]:PORT", nil, "http://[::1]:PORT"),
            ("mirror.example", "https://mirror.example", "https", "https://mirror.example"),
            (
                "mirror.example:8443", "https://MIRROR.example:8443", "https",
                "https://mirror.example:8443"
            ),
            // The proxy calls the page by another name.
            ("127.0.0.1:PORT", "https://mirror.example", "https", "https://mirror.example"),
            ("127.0.0.1:PORT", "", nil, nil),
        ] as [(String, String, String?, String?)])
    func theAddressIsTheBrowsers(host: String, origin: String, told: String?, expected: String?)
        async throws
    {
        try await Self.run(["WEB_HOSTS": "mirror.example"]) { person in
            func named(_ text: String) -> String {
                text.replacing("PORT", with: "\(person.client.port)")
            }
            var headers = ["Host": named(host), "Origin": named(origin)]
            headers["X-Forwarded-Proto"] = told
            if origin.isEmpty { headers["Sec-Fetch-Site"] = "same-origin" }
            try await person.begin(headers)
            let page = try await person.logIn(.human, headers)
            let address = try person.address(page)
            let redirect = expected.map { named($0) + Self.back } ?? Self.outOfBand
            #expect(Self.redirect(address) == redirect)
            #expect(address.contains("&state=") == (expected != nil))
        }
    }

    /// Another address of the page needs another way back; the same answers begin nothing anew.
    @Test func eachAddressOfThePageHasItsOwnLogin() async throws {
        try await Self.run { person in
            try await person.begin()
            let first = try person.address(try await person.logIn(.human))
            let again = try person.address(try await person.logIn(.human))
            #expect(first == again)
            let name = "localhost:\(person.client.port)"
            let headers = ["Host": name, "Origin": "http://\(name)"]
            let other = try person.address(try await person.logIn(.human, headers))
            #expect(Self.redirect(other) == "http://\(name)\(Self.back)")
            // The login before waits no more.
            let state = try #require(first.firstMatch(of: #/&state=([^&]+)/#)).output.1
            let old = try await person.client.send(Self.back + "?code=a&state=\(state)")
            let said = try await person.said(old)
            #expect(said.hasPrefix("That login waits for nothing"), "\(said)")
        }
    }

    // MARK: Odd requests

    /// Nothing of a query becomes markup, a header or another address.
    @Test func theFirstAnswerRepeatsNothingAsItIs() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let path = "/m/mika/setup/return"
            let answer = try await stand.client.send(
                path + "?code=%22%3E%3Cscript%3E&state=a%0d%0aX:b&x=//evil.example&error=")
            #expect(answer.status == 200)
            let next = "\(path)?code=%22%3E%3Cscript%3E&state=a%0D%0AX%3Ab&error=&again=1"
            #expect(answer["Refresh"] == "0;url=\(next)")
            #expect(answer["X"] == nil)
            #expect(!answer.body.contains("<script"))
            #expect(!answer.body.contains("evil"))
            for other in [
                "/m/mika/setup", path + "/x", "/m/mika/x/setup/return", path + "?again=1",
            ] {
                let answer = try await stand.client.send(other)
                #expect(answer.status == 401, "\(other)")
                #expect(answer["Refresh"] == nil, "\(other)")
            }
        }
    }

    /// A request that only asks whether something is there finishes nothing.
    @Test func aHeadRequestFinishesNothing() async throws {
        try await Self.run { person in
            try await person.begin()
            let path = try await person.wayBack(try await person.logIn(.human), as: .human)
            let head = try await person.client.send(path, method: "HEAD")
            #expect(head.status == 405)
            try await expect(person.isStored(.human), equals: false)
            let said = try await person.said(try await person.client.send(path))
            #expect(said.hasPrefix("The human is @"), "\(said)")
        }
    }

    @Test func aPageThatOnlyShowsFinishesNothing() async throws {
        try await WebStand.with(isReadOnly: true) { stand in
            _ = try await stand.client.send("/m/mika")
            let answer = try await stand.client.send("/m/mika/setup/return?code=a&state=b")
            #expect(answer.status == 403)
        }
    }
}
