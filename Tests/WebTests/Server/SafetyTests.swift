import Configuration
import Control
import Foundation
import HTTPTypes
import Mirroring
import Outbox
import Posts
import Settings
import Testing

@testable import Web

/// Every rule of the page's safety, by who breaks it.
@Suite(.timeLimit(.minutes(5))) struct SafetyTests {
    private static let guarded = ["WEB_PASSWORD": WebStand.password]

    // MARK: Who may call

    /// A name that an attacker lets resolve to this machine is no name of the page.
    @Test(arguments: ["evil.example", "evil.example:80", "localhost.evil.example", "", "127.0.0.1.evil.example"])
    func aForeignHostIsRefused(_ host: String) async throws {
        try await WebStand.with { stand in
            for path in ["/", "/m/mika", "/style.css", "/login", "/healthz"] {
                let answer = try await stand.client.send(path, headers: ["Host": host])
                #expect(host.isEmpty ? [400, 421].contains(answer.status) : answer.status == 421, "\(path)")
                #expect(!answer.body.contains("Post number"))
            }
        }
    }

    @Test func itsOwnNamesAndAddressesAreAnswered() async throws {
        try await WebStand.with(variables: ["WEB_HOSTS": "mirror.example, other.example"]) { stand in
            for host in ["localhost:1", "LOCALHOST", "127.0.0.1", "[::1]:8080", "mirror.example", "Other.Example.:443"]
            {
                try await #expect(stand.client.send("/m/mika", headers: ["Host": host]).status == 200, "\(host)")
            }
        }
    }

    /// Another site's form comes with its own origin, whatever else it knows.
    @Test(arguments: ["http://evil.example", "https://127.0.0.1.evil.example", "null", "http://localhost", "file://"])
    func aForeignOriginIsRefused(_ origin: String) async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let form = [("csrf", try #require(page.field("csrf"))), ("until", "3h")]
            let answer = try await stand.client.send("/m/mika/pause", form: form, headers: ["Origin": origin])
            #expect(answer.status == 403)
            #expect(try await stand.mirror().table.pause(at: WebStand.now) == nil)
        }
    }

    @Test func aFormWithoutAnyOriginIsRefused() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let form = [("csrf", try #require(page.field("csrf"))), ("until", "3h")]
            let bare = try await stand.client.send("/m/mika/pause", form: form, headers: ["Origin": ""])
            #expect(bare.status == 403)
            let fetched = try await stand.client.send(
                "/m/mika/pause", form: form, headers: ["Origin": "", "Sec-Fetch-Site": "cross-site"])
            #expect(fetched.status == 403)
        }
    }

    @Test func aMissingOrForeignTokenIsRefused() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let token = try #require(page.field("csrf"))
            let other = WebClient(port: stand.client.port)
            _ = try await other.send("/m/mika")
            for form in [[], [("csrf", "")], [("csrf", token + "x")], [("csrf", String(token.dropLast()))]] {
                let answer = try await stand.client.send("/m/mika/pause", form: form + [("until", "3h")])
                #expect(answer.status == 403)
            }
            // The token of another session.
            let answer = try await other.send("/m/mika/pause", form: [("csrf", token), ("until", "3h")])
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
        let cookie = WebSessions(key: key).cookie(session, isLong: false, isSecure: true, now: WebStand.now)
        let again = WebSessions(key: key).session(
            of: [.cookie: String(cookie.prefix { $0 != ";" })], now: WebStand.now + 60)
        #expect(again?.csrf == session.csrf)
    }

    // MARK: Log-in

    /// Without a session there is the log-in, the style and the icon, and nothing of a mirror.
    @Test func nothingIsShownWithoutASession() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            for path in ["/", "/m/mika", "/m/mika/events", "/m/mika/confirm/pause", "/m/other", "/live.js", "/nothing"]
            {
                let answer = try await stand.client.send(path)
                #expect(answer.status == 401, "\(path)")
                #expect(answer.body.contains("Log in to mirror-bot"))
                #expect(!answer.body.contains("mika@"))
                #expect(answer.all("Set-Cookie").isEmpty)
            }
            for path in ["/style.css", "/icon.svg", "/login", "/healthz", "/readyz"] {
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
                try await stand.client.send("/login", form: [("password", password), ("next", "/")])
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
        try await WebStand.with(variables: Self.guarded.merging(["WEB_HOSTS": "mirror.example"]) { $1 }) { stand in
            let form = [("password", WebStand.password), ("next", "/m/mika")]
            let plain = try await stand.client.send("/login", form: form)
            #expect(plain["Location"] == "/m/mika")
            let cookie = try #require(plain["Set-Cookie"])
            #expect(cookie.hasPrefix("mirror-bot="))
            for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(cookie.contains("; \(flag)")) }
            #expect(!cookie.contains("Max-Age"))
            let secure = try await stand.client.send(
                "/login", form: form + [("stay", "yes")],
                headers: ["Host": "mirror.example", "Origin": "https://mirror.example"])
            let kept = try #require(secure["Set-Cookie"])
            #expect(kept.hasPrefix("__Host-mirror-bot="))
            for flag in ["HttpOnly", "SameSite=Strict", "Path=/", "Secure", "Max-Age=2592000"] {
                #expect(kept.contains("; \(flag)"))
            }
            #expect(!kept.contains("Domain"))
        }
    }

    @Test(arguments: ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nX: y"])
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
                .cookie(session, isLong: true, isSecure: false, now: WebStand.now).prefix { $0 != ";" }
            for cookie in ["mirror-bot=\(session.id)", String(other), "mirror-bot=", "mirror-bot=a.b.c"] {
                try await #expect(stand.client.send("/m/mika", headers: ["Cookie": cookie]).status == 401)
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

    /// A cookie that somebody copied does not outlive the log-out.
    @Test func aLoggedOutSessionIsOver() async throws {
        let (sessions, session) = (WebSessions(key: [UInt8](repeating: 1, count: 32)), WebSession.new())
        let cookie = String(
            sessions.cookie(session, isLong: true, isSecure: false, now: WebStand.now).prefix { $0 != ";" })
        #expect(sessions.session(of: [.cookie: cookie], now: WebStand.now)?.id == session.id)
        sessions.end(session, now: WebStand.now)
        #expect(sessions.session(of: [.cookie: cookie], now: WebStand.now) == nil)
    }

    @Test func aProxyLetsInWhomItNames() async throws {
        try await WebStand.with(variables: ["WEB_USER_HEADER": "Remote-User"]) { stand in
            try await #expect(stand.client.send("/m/mika").status == 401)
            try await #expect(stand.client.send("/m/mika", headers: ["Remote-User": "ann"]).status == 200)
            // The cookie alone is no log-in there.
            try await #expect(stand.client.send("/m/mika").status == 401)
        }
    }

    // MARK: Starting

    @Test func itDoesNotStartOpenToOthers() throws {
        func settings(_ variables: [String: String]) throws -> WebSettings {
            let provider = EnvironmentVariablesProvider(environmentVariables: variables)
            return try WebSettings(try SettingValues(environment: provider), environment: [:])
        }
        for address in [
            "0.0.0.0:8080", "[::]:8080", "192.168.1.5:80", "mirror.example:80", "128.0.0.1:80",
            "127.0.0.1.evil.example:80",
        ] {
            #expect(throws: ConfigurationError.self) { try settings(["WEB_LISTEN": address]).requireSafe() }
            try settings(["WEB_LISTEN": address, "WEB_PASSWORD": WebStand.password]).requireSafe()
            try settings(["WEB_LISTEN": address, "WEB_USER_HEADER": "Remote-User"]).requireSafe()
        }
        for address in ["127.0.0.1:8080", "[::1]:8080", "localhost:80", "127.9.9.9:1"] {
            try settings(["WEB_LISTEN": address]).requireSafe()
        }
        for address in ["8080", ":8080", "127.0.0.1", "127.0.0.1:99999", "::1:80", "a b:80", "http://127.0.0.1:80"] {
            #expect(throws: ConfigurationError.self) { try settings(["WEB_LISTEN": address]) }
        }
        #expect(throws: ConfigurationError.self) { try settings(["WEB_PASSWORD": "short"]) }
    }

    // MARK: What browsers may do

    @Test func everyAnswerHasThePolicy() async throws {
        try await WebStand.with { stand in
            for (path, host) in [("/m/mika", nil), ("/style.css", nil), ("/nothing", nil), ("/", "evil.example")] {
                let answer = try await stand.client.send(path, headers: host.map { ["Host": $0] } ?? [:])
                let policy = try #require(answer["Content-Security-Policy"], "\(path)")
                #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; script-src 'self';"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(policy.contains("form-action 'self'"))
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["Cross-Origin-Opener-Policy"] == "same-origin")
                // With no-referrer a browser would send "Origin: null" with every form.
                #expect(answer["Referrer-Policy"] == "same-origin")
            }
            try await #expect(stand.client.send("/m/mika")["Cache-Control"] == "no-store")
            let page = try await stand.client.send("/m/mika").body
            let style = try #require(page.firstMatch(of: #/href="(\/style\.css\?v=[0-9a-f]+)"/#)?.output.1)
            try await #expect(stand.client.send(String(style))["Cache-Control"]?.contains("immutable") == true)
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
                "/m/mika/pause", "/m/mika/resume", "/m/mika/slots/x/skip", "/look", "/m/mika/days/2026-05-28/reroll",
            ] {
                try await #expect(stand.client.send(path, form: [("until", "3h")]).status == 403, "\(path)")
            }
            try await #expect(stand.client.send("/m/mika/confirm/pause").status == 403)
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
                "/m/%ff", "/m/none", "/m/mika/nothing", "/m/mika/slots/zzz", "/m/mika?day=2026-99-99",
                "/m/..%2f..%2fetc",
            ] {
                try await #expect(stand.client.send(path).status == 404, "\(path)")
            }
            for method in ["PUT", "DELETE", "PATCH"] {
                let answer = try await stand.client.send("/m/mika/pause", form: [("csrf", token)], method: method)
                #expect([403, 404, 405].contains(answer.status), "\(method)")
            }
            #expect(try await stand.mirror().table.pause(at: WebStand.now) == nil)
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
            for _ in 0..<4 { try await #expect(stand.client.send("/metrics", headers: wrong).status == 401) }
            try await #expect(stand.client.send("/metrics", headers: wrong).status == 429)
        }
    }
}
