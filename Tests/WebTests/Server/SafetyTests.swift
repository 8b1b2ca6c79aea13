import Configuration
import Control
import Foundation
import HTTPTypes
import Mirroring
import Outbox
import Posts
import Settings
import Storage
import Testing

@testable import Web

/// Every rule of the page's safety, by who breaks it.
@Suite(.timeLimit(.minutes(30))) struct SafetyTests {
    private static let guarded = ["WEB_PASSWORD": WebStand.password]

    // MARK: Who may call

    /// A name that an attacker lets resolve to this machine is no name of the page.
    @Test(arguments: [
        "evil.example", "evil.example:80", "localhost.evil.example", "", "127.0.0.1.evil.example",
    ])
    func aForeignHostIsRefused(_ host: String) async throws {
        try await WebStand.with { stand in
            for path in ["/", "/m/mika", "/style.css", "/login", "/public/mika"] {
                let answer = try await stand.client.send(path, headers: ["Host": host])
                #expect(
                    host.isEmpty ? [400, 421].contains(answer.status) : answer.status == 421,
                    "\(path)")
                #expect(!answer.body.contains("Post number"))
            }
        }
    }

    @Test func itsOwnNamesAndAddressesAreAnswered() async throws {
        try await WebStand.with(variables: ["WEB_HOSTS": "mirror.example, other.example"]) {
            stand in
            for host in [
                "localhost:1", "LOCALHOST", "127.0.0.1", "[::1]:8080", "mirror.example",
                "Other.Example.:443",
            ] {
                try await #expect(
                    stand.client.send("/m/mika", headers: ["Host": host]).status == 200, "\(host)")
            }
        }
    }

    /// Another site's form comes with its own origin, whatever else it knows.
    @Test(arguments: [
        "http://evil.example", "https://127.0.0.1.evil.example", "null", "http://localhost",
        "file://",
    ])
    func aForeignOriginIsRefused(_ origin: String) async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let form = [("csrf", try #require(page.field("csrf"))), ("until", "3h")]
            let answer = try await stand.client.send(
                "/m/mika/pause", form: form, headers: ["Origin": origin])
            #expect(answer.status == 403)
            #expect(try await stand.mirror().table.pause(at: WebStand.now) == nil)
        }
    }

    /// Of a listed name, too, only the page's own scheme and port are its origin.
    @Test(
        arguments: [
            ("mirror.example", nil, "http://mirror.example", true),
            ("mirror.example", nil, "http://mirror.example:80", true),
            ("mirror.example", "https", "https://mirror.example", true),
            ("mirror.example:443", "https", "https://mirror.example", true),
            ("mirror.example:8443", "https", "https://mirror.example:8443", true),
            ("mirror.example", "https, http", "https://MIRROR.example", true),
            // The proxy calls the page by another name.
            ("127.0.0.1:8080", "https", "https://mirror.example", true),
            ("localhost", nil, "http://mirror.example", true),
            ("mirror.example", nil, "http://mirror.example:8081", false),
            ("mirror.example", "https", "https://mirror.example:8443", false),
            ("mirror.example:8443", "https", "https://mirror.example", false),
            ("mirror.example", "https", "http://mirror.example", false),
            ("mirror.example", nil, "https://mirror.example", false),
            ("127.0.0.1:8080", "https", "https://mirror.example:8443", false),
            ("127.0.0.1:8080", "https", "http://mirror.example", false),
            ("mirror.example", "https", "https://other.example", false),
            ("mirror.example", nil, "http://mirror.example:port", false),
        ] as [(String, String?, String, Bool)])
    func anOriginIsSchemeNameAndPort(
        _ host: String, _ told: String?, _ origin: String, _ isOwn: Bool
    ) async throws {
        try await WebStand.with(variables: ["WEB_HOSTS": "mirror.example,other.example"]) { stand in
            var headers = ["Host": host]
            headers["X-Forwarded-Proto"] = told
            let page = try await stand.client.send("/m/mika", headers: headers)
            let token = try #require(page.field("csrf"))
            headers["Origin"] = origin
            let name = told == nil ? "mirror-bot" : "__Host-mirror-bot"
            headers["Cookie"] = "\(name)=\(try #require(stand.client.cookie(name)))"
            let form = [("csrf", token), ("until", "3h")]
            let answer = try await stand.client.send("/m/mika/pause", form: form, headers: headers)
            #expect(answer.status == (isOwn ? 303 : 403))
            #expect(try await (stand.mirror().table.pause(at: WebStand.now) != nil) == isOwn)
        }
    }

    /// A proxy in front may have looked at the other one.
    @Test(arguments: [
        "127.0.0.1\r\nHost: evil.example", "evil.example\r\nHost: localhost",
        "localhost\r\nhost: localhost",
    ])
    func twoHostsAreNone(_ hosts: String) async throws {
        try await WebStand.with { stand in
            for path in ["/m/mika", "/healthz", "/login"] {
                try await #expect(
                    stand.client.send(path, headers: ["Host": hosts]).status == 400, "\(path)")
            }
        }
    }

    @Test func aFormWithoutAnyOriginIsRefused() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let form = [("csrf", try #require(page.field("csrf"))), ("until", "3h")]
            let bare = try await stand.client.send(
                "/m/mika/pause", form: form, headers: ["Origin": ""])
            #expect(bare.status == 403)
            let fetched = try await stand.client.send(
                "/m/mika/pause", form: form,
                headers: ["Origin": "", "Sec-Fetch-Site": "cross-site"])
            #expect(fetched.status == 403)
        }
    }

    @Test func aMissingOrForeignTokenIsRefused() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let token = try #require(page.field("csrf"))
            let other = WebClient(port: stand.client.port)
            _ = try await other.send("/m/mika")
            for form in [
                [], [("csrf", "")], [("csrf", token + "x")], [("csrf", String(token.dropLast()))],
            ] {
                let answer = try await stand.client.send(
                    "/m/mika/pause", form: form + [("until", "3h")])
                #expect(answer.status == 403)
            }
            // The token of another session.
            let answer = try await other.send(
                "/m/mika/pause", form: [("csrf", token), ("until", "3h")])
            #expect(answer.status == 403)
            #expect(try await stand.mirror().table.pause(at: WebStand.now) == nil)
        }
    }

    /// A form that was open while the server restarted is still accepted.
    @Test func aTokenOutlivesARestart() async throws {
        let session = WebSession.new()
        #expect(WebSession(id: session.id).csrf == session.csrf)
        #expect(WebSession.new().csrf != session.csrf)
        let key = [UInt8](repeating: 7, count: 32)
        let cookie = WebSessions(key: key).cookie(
            session, isLong: false, isSecure: true, now: WebStand.now)
        let again = WebSessions(key: key).sessions(
            of: [.cookie: String(cookie.prefix { $0 != ";" })], now: WebStand.now + 60)
        #expect(again.map(\.csrf) == [session.csrf])
    }

    // MARK: Log-in

    /// Without a session there is the log-in, the style and the icon, and nothing of a mirror.
    @Test func nothingIsShownWithoutASession() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            for path in [
                "/", "/m/mika", "/m/mika/events", "/m/mika/confirm/pause", "/m/other", "/live.js",
                "/nothing",
            ] {
                let answer = try await stand.client.send(path)
                #expect(answer.status == 401, "\(path)")
                #expect(answer.body.contains("Log in to mirror-bot"))
                #expect(!answer.body.contains("mika@"))
                #expect(answer.all("Set-Cookie").isEmpty)
            }
            for path in [
                "/style.css", "/icon.svg", "/app.webmanifest", "/icon-192.png",
                "/apple-touch-icon.png", "/login", "/healthz", "/readyz",
            ] {
                try await #expect(stand.client.send(path).status == 200, "\(path)")
            }
            try await #expect(stand.client.send("/metrics").status == 401)
            let change = try await stand.client.send("/m/mika/pause", form: [("until", "3h")])
            #expect(change.status == 403)
            try await stand.logIn()
            try await #expect(stand.client.send("/m/mika").status == 200)
            try await #expect(stand.client.send("/live.js").status == 200)
        }
    }

    @Test func theFifthWrongPasswordWaits() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            func attempt(_ password: String) async throws -> WebClient.Answer {
                try await stand.client.send(
                    "/login", form: [("password", password), ("next", "/")])
            }
            let first = try await attempt("a guess of mine")
            #expect(first.status == 401)
            #expect(first.body.contains("Four tries more"))
            for _ in 2...4 { try await #expect(attempt("a guess of mine").status == 401) }
            let fifth = try await attempt("a guess of mine")
            #expect(fifth.status == 429)
            #expect(fifth["Retry-After"] == "60")
            // Neither the right one nor a program gets around it.
            try await #expect(attempt(WebStand.password).status == 429)
            let bearer = ["Authorization": "Bearer \(WebStand.password)"]
            try await #expect(stand.client.send("/metrics", headers: bearer).status == 429)
            try await stand.clock.sleep(until: WebStand.now + 61)
            try await #expect(attempt("a guess of mine").status == 429)
            try await stand.clock.sleep(until: WebStand.now + 130)
            try await #expect(attempt(WebStand.password).status == 303)
            #expect(!stand.log.all.contains("guess"))
            #expect(!stand.log.all.contains(WebStand.password))
        }
    }

    @Test func theCookieCannotBeTakenAway() async throws {
        try await WebStand.with(
            variables: Self.guarded.merging(["WEB_HOSTS": "mirror.example"]) { $1 }
        ) { stand in
            let form = [("password", WebStand.password), ("next", "/m/mika")]
            let plain = try await stand.client.send("/login", form: form)
            #expect(plain["Location"] == "/m/mika")
            let cookie = try #require(plain["Set-Cookie"])
            #expect(cookie.hasPrefix("mirror-bot="))
            for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
                #expect(cookie.contains("; \(flag)"))
            }
            #expect(!cookie.contains("Max-Age"))
            let secure = try await stand.client.send(
                "/login", form: form + [("stay", "yes")],
                headers: [
                    "Host": "mirror.example", "Origin": "https://mirror.example",
                    "X-Forwarded-Proto": "https",
                ])
            let kept = try #require(secure["Set-Cookie"])
            #expect(kept.hasPrefix("__Host-mirror-bot="))
            for flag in ["HttpOnly", "SameSite=Strict", "Path=/", "Secure", "Max-Age=2592000"] {
                #expect(kept.contains("; \(flag)"))
            }
            #expect(!kept.contains("Domain"))
        }
    }

    @Test(arguments: [
        "//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)",
        "/a\r\nX: y",
    ])
    func theNextPageIsOneOfThisServer(_ next: String) async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let answer = try await stand.client.send(
                "/login", form: [("password", WebStand.password), ("next", next)])
            #expect(answer["Location"] == "/")
        }
    }

    /// A cookie that was made up, changed, outlived or ended opens nothing.
    @Test func aForgedCookieOpensNothing() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            try await stand.logIn()
            let page = try await stand.client.send("/m/mika")
            let token = try #require(page.field("csrf"))
            let session = WebSession.new()
            let other = WebSessions(key: [UInt8](repeating: 1, count: 32))
                .cookie(session, isLong: true, isSecure: false, now: WebStand.now).prefix {
                    $0 != ";"
                }
            for cookie in [
                "mirror-bot=\(session.id)", String(other), "mirror-bot=", "mirror-bot=a.b.c",
            ] {
                try await #expect(
                    stand.client.send("/m/mika", headers: ["Cookie": cookie]).status == 401)
            }
            try await stand.clock.sleep(until: WebStand.now + 13 * 3_600)
            try await #expect(stand.client.send("/m/mika").status == 401)
            try await stand.logIn()
            let again = try await stand.client.send("/m/mika")
            #expect(again.field("csrf") != token)
            let own = try #require(again.field("csrf"))
            let jar = stand.client.cookieNames
            #expect(jar == ["mirror-bot"])
            try await #expect(stand.client.send("/logout", form: [("csrf", own)]).status == 303)
            #expect(stand.client.cookieNames.isEmpty)
            try await #expect(stand.client.send("/m/mika").status == 401)
        }
    }

    /// A cookie that somebody copied does not outlive the log-out, in no process and after no
    /// restart.
    @Test func aLoggedOutSessionIsOver() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            try await stand.logIn()
            let name = try #require(stand.client.cookieNames.first)
            let copied = ["Cookie": "\(name)=\(try #require(stand.client.cookie(name)))"]
            let before = try await stand.serveAgain()
            try await #expect(before.send("/m/mika", headers: copied).status == 200)
            let token = try #require(try await stand.client.send("/m/mika").field("csrf"))
            try await #expect(stand.client.send("/logout", form: [("csrf", token)]).status == 303)
            try await #expect(stand.client.send("/m/mika", headers: copied).status == 401)
            try await #expect(before.send("/m/mika", headers: copied).status == 401)
            let next = try await stand.serveAgain()
            try await #expect(next.send("/m/mika", headers: copied).status == 401)
            // A cookie cannot be told from the rows, and those of sessions that are over anyway go.
            let rows = try await stand.installation.storage.query(
                "SELECT session FROM ended_sessions")
            #expect(try rows.count == 1 && !copied.description.contains(rows[0].text("session")))
            try await stand.clock.sleep(until: WebStand.now + 31 * 86_400)
            try await stand.logIn()
            let other = try #require(try await stand.client.send("/m/mika").field("csrf"))
            try await #expect(stand.client.send("/logout", form: [("csrf", other)]).status == 303)
            let rest = try await stand.installation.storage.query(
                "SELECT session FROM ended_sessions")
            #expect(try rest.count == 1 && rest[0].text("session") != rows[0].text("session"))
        }
    }

    @Test func aProxyLetsInWhomItNames() async throws {
        try await WebStand.with(variables: ["WEB_USER_HEADER": "Remote-User"]) { stand in
            try await #expect(stand.client.send("/m/mika").status == 401)
            try await #expect(
                stand.client.send("/m/mika", headers: ["Remote-User": "ann"]).status == 200)
            // The cookie alone is no log-in there.
            try await #expect(stand.client.send("/m/mika").status == 401)
            try await #expect(
                stand.client.send("/m/mika", headers: ["Remote-User": " "]).status == 401)
            // One of them was sent by the browser.
            let two = ["Remote-User": "ann\r\nRemote-User: bob"]
            try await #expect(stand.client.send("/m/mika", headers: two).status == 401)
        }
    }

    static func settings(_ variables: [String: String]) throws -> WebSettings {
        let provider = EnvironmentVariablesProvider(environmentVariables: variables)
        return try WebSettings(try SettingValues(environment: provider), environment: [:])
    }

    /// Only from this machine and from listed addresses.
    @Test func aUserHeaderIsBelievedFromProxiesAlone() throws {
        let header = ["WEB_USER_HEADER": "Remote-User"]
        let unlisted = try Self.settings(header)
        let listed = try Self.settings(
            header.merging(["WEB_PROXIES": "172.18.0.0/16, 2001:db8::/32,192.0.2.7"]) { $1 })
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            #expect(unlisted.isLoggedIn(["ann"], by: address), "\(address)")
            for users in [[], [""], [" "], ["\u{A0}"], ["ann", "bob"]] {
                #expect(!unlisted.isLoggedIn(users, by: address), "\(address) \(users)")
            }
        }
        for address in ["172.18.255.1", "::ffff:172.18.0.9", "2001:db8:1::1", "192.0.2.7"] {
            #expect(!unlisted.isLoggedIn(["ann"], by: address), "\(address)")
            #expect(listed.isLoggedIn(["ann"], by: address), "\(address)")
        }
        for address in ["172.19.0.1", "192.0.2.8", "2001:db9::1", "::2", "", "localhost"] {
            #expect(!listed.isLoggedIn(["ann"], by: address), "\(address)")
        }
        for list in ["172.18.0.0/33", "host.example", "1.2.3", "::/129", "10.0.0.0/-1", "/8"] {
            #expect(throws: ConfigurationError.self) { try Self.settings(["WEB_PROXIES": list]) }
        }
    }

    @Test(arguments: [
        "User-Agent", "user-agent", "Accept", "Accept-Language", "Cookie", "Host", "Origin",
        "Referer", "Connection",
        "Sec-Fetch-Site", "sec-ch-ua", "Authorization", "X-Forwarded-For", "X-Real-IP", "Via",
        "If-None-Match", "TE",
        "Upgrade-Insecure-Requests", "CF-Connecting-IP", "DNT", "Priority",
    ])
    func aHeaderThatBrowsersSendNamesNobody(_ name: String) throws {
        #expect(throws: ConfigurationError.self) { try Self.settings(["WEB_USER_HEADER": name]) }
    }

    @Test(arguments: [
        "password", "Password1", "passw0rd", "P@ssw0rd!", "12345678", "1234567890", "19900101",
        "qwertyuiop",
        "1q2w3e4r5t", "iloveyou", "aaaaaaaaaa", "abcabcabc", "abcdefgh", "87654321", "football99",
        "letmein!",
        "admin123", "mirror-bot", "dragondragon", "trustno1", "11111111111111", "!@#$%^&*",
        "superman1", "zaq12wsx",
    ])
    func aPasswordThatIsGuessedOpensNothing(_ password: String) throws {
        for open in [
            ["WEB_LISTEN": "0.0.0.0:80"], ["WEB_HOSTS": "mirror.example"],
            ["WEB_PROXIES": "127.0.0.1"],
            ["PORT": "80", "WEB_LISTEN": "[::]:80"],
        ] where password.count >= 8 {
            let settings = try Self.settings(open.merging(["WEB_PASSWORD": password]) { $1 })
            let error = #expect(throws: ConfigurationError.self) { try settings.requireSafe() }
            #expect(error.map { "\($0)".hasPrefix("WEB_PASSWORD is among ") } == true)
        }
        try Self.settings(["WEB_PASSWORD": password]).requireSafe()
    }

    @Test(arguments: [
        WebStand.password, "s3cr3t-web-password", "blue-kettle-9-moth", "Xq7#pLw2",
        "rüben im garten",
        "7142 9935 2208 61",
        "dragonfly lantern", "kzhwtqbn",
    ])
    func aPasswordOfOnesOwnIsTaken(_ password: String) throws {
        try Self.settings(["WEB_LISTEN": "0.0.0.0:80", "WEB_PASSWORD": password]).requireSafe()
    }

    @Test(arguments: [
        "        ", "\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}",
        "\u{200B}\u{200B} \u{200B}\u{200B}\u{200B}\u{200B}\u{200B}",
    ])
    func aBlankPasswordIsRefusedEverywhere(_ password: String) {
        #expect(throws: ConfigurationError.self) { try Self.settings(["WEB_PASSWORD": password]) }
    }

    // MARK: Starting

    @Test func itDoesNotStartOpenToOthers() throws {
        for address in [
            "0.0.0.0:8080", "[::]:8080", "192.168.1.5:80", "mirror.example:80", "128.0.0.1:80",
            "127.0.0.1.evil.example:80",
        ] {
            #expect(throws: ConfigurationError.self) {
                try Self.settings(["WEB_LISTEN": address]).requireSafe()
            }
            try Self.settings(["WEB_LISTEN": address, "WEB_PASSWORD": WebStand.password])
                .requireSafe()
            try Self.settings(["WEB_LISTEN": address, "WEB_USER_HEADER": "Remote-User"])
                .requireSafe()
        }
        for address in ["127.0.0.1:8080", "[::1]:8080", "localhost:80", "127.9.9.9:1"] {
            try Self.settings(["WEB_LISTEN": address]).requireSafe()
        }
        for address in [
            "8080", ":8080", "127.0.0.1", "127.0.0.1:99999", "::1:80", "a b:80",
            "http://127.0.0.1:80",
        ] {
            #expect(throws: ConfigurationError.self) { try Self.settings(["WEB_LISTEN": address]) }
        }
        #expect(throws: ConfigurationError.self) { try Self.settings(["WEB_PASSWORD": "short"]) }
    }

    // MARK: What browsers may do

    @Test func everyAnswerHasThePolicy() async throws {
        try await WebStand.with { stand in
            for (path, host) in [
                ("/m/mika", nil), ("/style.css", nil), ("/nothing", nil), ("/", "evil.example"),
            ] {
                let answer = try await stand.client.send(
                    path, headers: host.map { ["Host": $0] } ?? [:])
                let policy = try #require(answer["Content-Security-Policy"], "\(path)")
                #expect(
                    policy.hasPrefix("default-src 'none'; style-src 'self'; script-src 'self';"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(policy.contains("form-action 'self'"))
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["Cross-Origin-Opener-Policy"] == "same-origin")
                // With no-referrer a browser would send "Origin: null" with every form.
                #expect(answer["Referrer-Policy"] == "same-origin")
            }
            try await #expect(stand.client.send("/m/mika")["Cache-Control"] == "no-store")
            let page = try await stand.client.send("/m/mika").body
            let style = try #require(
                page.firstMatch(of: #/href="(\/style\.css\?v=[0-9a-f]+)"/#)?.output.1)
            try await #expect(
                stand.client.send(String(style))["Cache-Control"]?.contains("immutable") == true)
        }
    }

    // MARK: Only looking

    @Test func readOnlyChangesNothing() async throws {
        try await WebStand.with(variables: Self.guarded, isReadOnly: true) { stand in
            try await stand.logIn()
            let page = try await stand.client.send("/m/mika")
            #expect(page.status == 200)
            #expect(!page.body.contains("<form"))
            #expect(page.body.contains("This page only shows"))
            for path in [
                "/m/mika/pause", "/m/mika/resume", "/m/mika/slots/x/skip", "/look",
                "/m/mika/days/2026-05-28/reroll",
            ] {
                try await #expect(
                    stand.client.send(path, form: [("until", "3h")]).status == 403, "\(path)")
            }
            for path in [
                "/m/mika/confirm/pause", "/m/mika/confirm/reroll", "/m/mika/muted?word=rain",
                "/m/mika/settings/set?name=MAX_PER_DAY&value=3",
                "/m/mika/settings/zone?zone=Asia%2FTokyo&from=2019-03-01",
            ] {
                let answer = try await stand.client.send(path)
                #expect(answer.status == 403, "\(path)")
                #expect(!answer.body.contains("<form"), "\(path)")
            }
            #expect(try await stand.mirror().table.pause(at: WebStand.now) == nil)
        }
    }

    // MARK: Odd requests

    @Test func oddRequestsAreRefused() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let token = try #require(page.field("csrf"))
            let much = [("csrf", token), ("reason", String(repeating: "x", count: 100_000))]
            try await #expect(stand.client.send("/m/mika/pause", form: much).status == 413)
            let broken = try await stand.client.send("/m/mika/pause", body: "csrf=%ff%fe")
            #expect(broken.status == 400)
            let other = try await stand.client.send(
                "/m/mika/pause", form: [("csrf", token)], headers: ["Content-Type": "text/plain"])
            #expect(other.status == 400)
            for path in [
                "/m/%ff", "/m/none", "/m/mika/nothing", "/m/mika/slots/zzz",
                "/m/mika?day=2026-99-99",
                "/m/..%2f..%2fetc", "/m/mika%00", "/m/%00", "/m/mika/people/a%00b",
                "/m/mika/slots/a%00",
            ] {
                try await #expect(stand.client.send(path).status == 404, "\(path)")
            }
            for query in ["/?q=a%00b", "/m/mika/texts?q=%00", "/m/mika/actions?q=%00"] {
                try await #expect(stand.client.send(query).status == 400, "\(query)")
            }
            let zero = try await stand.client.send(
                "/m/mika/pause", body: "csrf=\(token)&until=3h&reason=%00")
            #expect(zero.status == 400)
            for method in ["PUT", "DELETE", "PATCH"] {
                let answer = try await stand.client.send(
                    "/m/mika/pause", form: [("csrf", token)], method: method)
                #expect([403, 404, 405].contains(answer.status), "\(method)")
            }
            #expect(try await stand.mirror().table.pause(at: WebStand.now) == nil)
        }
    }

    /// Old numbers are not shown as if they were true, and programs are told.
    @Test func withoutTheDatabaseNothingIsShown() async throws {
        try await WebStand.with { stand in
            await stand.installation.storage.close()
            let page = try await stand.client.send("/m/mika")
            #expect(page.status == 503)
            #expect(page.body.contains("Nothing can be read."))
            try await #expect(stand.client.send("/").status == 503)
            try await #expect(stand.client.send("/readyz").status == 503)
            try await #expect(stand.client.send("/healthz").status == 200)
            let metrics = try await stand.client.send("/metrics")
            #expect(metrics.body.contains("mirrorbot_up 0"))
        }
    }

    @Test func metricsNeedThePassword() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let right = ["Authorization": "Bearer \(WebStand.password)"]
            for _ in 0..<7 {
                let answer = try await stand.client.send("/metrics", headers: right)
                #expect(answer.status == 200)
                #expect(answer.body.contains("mirrorbot_up 1"))
                #expect(answer["Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            }
            let wrong = ["Authorization": "Bearer nothing"]
            for _ in 0..<4 {
                try await #expect(stand.client.send("/metrics", headers: wrong).status == 401)
            }
            try await #expect(stand.client.send("/metrics", headers: wrong).status == 429)
        }
    }
}
