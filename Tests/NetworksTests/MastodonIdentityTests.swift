import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// Who an account is follows only from what is certain: a wrong name would be bound for good.
@Suite struct MastodonIdentityTests {
    /// What a server says about itself, its account, and to others.
    struct Server: Sendable, CustomTestStringConvertible {
        var name: String
        var instance: Answer = .notFound
        var account: [String: String] = [:]
        var webFinger: Answer = .notFound
        /// Nil: it is not certain.
        var host: String?

        var testDescription: String { name }

        func answer(_ request: LoopbackServer.Request) -> Answer? {
            switch request.path {
            case "/api/v2/instance", "/api/v1/instance": instance
            case "/api/v1/accounts/verify_credentials":
                .json(Wire.account("1", acct: "Bot", account))
            case "/.well-known/webfinger": webFinger
            default: nil
            }
        }
    }

    private static let html = Answer(
        status: 200, headers: [("Content-Type", "text/html")], body: "<html>hello</html>")

    private static func instance(_ domain: String) -> Answer { .json(#"{"domain":"\#(domain)"}"#) }

    private static func webFinger(_ name: String) -> Answer {
        .json(#"{"subject":"acct:\#(name)","links":[]}"#)
    }

    private static let certain = [
        Server(name: "both agree", instance: instance("home.example"), host: "home.example"),
        Server(
            name: "only the name for other servers", instance: instance("home.example"),
            account: ["url": "null", "uri": #""https://home.example/users/bot""#],
            host: "home.example"),
        Server(
            name: "with a port", instance: instance("home.example:8443"),
            account: ["url": #""https://Home.example:8443/@bot""#], host: "home.example:8443"),
        Server(
            name: "names have another host", instance: instance("short.example"),
            webFinger: webFinger("bot@short.example"), host: "short.example"),
        Server(
            name: "the instance names the host of the pages' proxy",
            instance: instance("proxy.example"),
            webFinger: webFinger("Bot@home.example"), host: "home.example"),
        Server(name: "no instance, no webfinger", host: "home.example"),
        Server(
            name: "no instance, names have another host", webFinger: webFinger("bot@short.example"),
            host: "short.example"),
        Server(name: "an instance without a name", instance: .json("{}"), host: "home.example"),
        Server(
            name: "a name with its host", instance: instance("snac.example"),
            account: ["acct": #""bot@snac.example""#, "url": #""https://snac.example/bot""#],
            host: "snac.example"),
    ]

    private static let doubtful = [
        Server(name: "403 for the instance", instance: .json("{}", status: 403)),
        Server(name: "401 for the instance", instance: .json("{}", status: 401)),
        Server(name: "a page of 404", instance: Answer(status: 404, body: "<html>no</html>")),
        Server(name: "a page", instance: html),
        Server(name: "no JSON", instance: .json(#"{"domain":"#)),
        Server(
            name: "a redirect",
            instance: Answer(status: 302, headers: [("Location", "https://evil.example/")])),
        Server(name: "they disagree", instance: instance("short.example")),
        Server(
            name: "they disagree, and a page", instance: instance("short.example"), webFinger: html),
        Server(
            name: "they disagree, and a third", instance: instance("short.example"),
            webFinger: webFinger("bot@third.example")),
        Server(
            name: "they disagree, and another account", instance: instance("short.example"),
            webFinger: webFinger("eve@short.example")),
        Server(
            name: "they disagree, and 503", instance: instance("short.example"),
            webFinger: Answer(status: 503)),
        Server(name: "nothing tells", account: ["url": "null"]),
        Server(name: "no addresses of the web", account: ["url": #""javascript:home.example""#]),
    ]

    @Test(arguments: certain) func isTakenFromWhatIsCertain(server: Server) async throws {
        let loopback = try Loopback { server.answer($0) }
        let account = try await loopback.network.verifyAccount()
        expect(account.id.value, equals: "bot@\(try #require(server.host))")
        for request in loopback.server.requests where request.path == "/.well-known/webfinger" {
            #expect(request.header("Authorization") == nil)
            expect(request.query["resource"]?.lowercased()) { $0?.hasPrefix("acct:bot@") == true }
        }
    }

    /// Neither the worker ends nor is anything bound: what is doubtful waits.
    @Test(arguments: doubtful) func whatIsDoubtfulWaits(server: Server) async throws {
        let loopback = try Loopback { server.answer($0) }
        for _ in 0..<2 {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.verifyAccount()
            }
            #expect(!error.stopsActor)
            #expect(!error.isPermanent)
            await #expect(throws: NetworkError.self) {
                _ = try await loopback.network.page(.mentions, .newest)
            }
        }
    }

    /// What was certain once is not made doubtful by an instance that says something else a day
    /// later.
    @Test func aLaterInstanceChangesNoNames() async throws {
        let clock = TestClock(Loopback.start)
        let isOdd = Flag()
        let loopback = try Loopback(now: { clock.now }) { request in
            if request.path == "/api/v2/instance", isOdd.isSet {
                return Self.instance("odd.example")
            }
            return request.path == "/api/v1/timelines/home"
                ? .json(Wire.list([Wire.status("9")])) : nil
        }
        try await expect(loopback.network.verifyAccount().id.value, equals: "bot@home.example")
        isOdd.isSet = true
        clock.advance(86_401)
        _ = try await loopback.network.limits()
        let item = try #require(try await loopback.network.page(.home, .newest).items.first)
        #expect(item.author.id.value == "ann@home.example")
    }
}
