import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

@Suite struct MastodonAccountTests {
    @Test func verifiesWhoseTokenItIs() async throws {
        // The shape of Mastodon 4.4, with what is of no use here left out.
        let body = #"""
            {"id":"14715","username":"Trwnh","acct":"Trwnh","display_name":"inf\u0000inite 愛","locked":false,"bot":true,
            "created_at":"2016-11-24T10:02:12.085Z","note":"<p>mirror of <span class=\"h-card\"><a \#
            href=\"https://far.example/@ann\" class=\"u-url mention\">@<span>ann</span></a></span> \#
            <a href=\"https://home.example/tags/nobot\" class=\"mention hashtag\" rel=\"tag\">#<span>nobot</span></a></p>",
            "source":{"privacy":"unlisted","sensitive":false,"language":"","note":"plain","fields":[]},
            "fields":[{"name":"Pro<nouns","value":"they &amp; them","verified_at":null},{"name":"x"},7],
            "roles":[],"future_field":{"a":[1]}}
            """#
        let loopback = try Loopback { $0.path.hasSuffix("/verify_credentials") ? .json(body) : nil }
        let account = try await loopback.network.verifyAccount()
        #expect(account.id == AccountID(network: .mastodon, value: "trwnh@home.example"))
        #expect(account.handle == "Trwnh@home.example")
        #expect(account.displayName == "infinite 愛")
        #expect(account.isBot)
        #expect(account.bio == "mirror of @ann #nobot\nPro<nouns: they & them\nx:")
        #expect(account.address == "14715")
    }

    @Test(arguments: [
        (["bot": "true"], true), (["bot": "1"], true), (["bot": "\"true\""], true),
        (["group": "true"], true),
        (["bot": "null"], false), (["bot": "", "group": ""], false), (["bot": "[]"], false),
    ])
    func readsTheBotFlag(fields: [String: String], expected: Bool) async throws {
        let loopback = try Loopback { request in
            request.path.hasSuffix("/verify_credentials")
                ? .json(Wire.account("1", acct: "bot", fields)) : nil
        }
        try await expect(loopback.network.verifyAccount().isBot, equals: expected)
    }

    @Test(arguments: [
        // A local name with and without its host is the same person; case does not count.
        (#""ann""#, "ann@home.example", "ann@home.example"),
        (#""Ann@HOME.example""#, "ann@home.example", "Ann@home.example"),
        (#""Bob@Far.Example""#, "bob@far.example", "Bob@far.example"),
        // Some servers leave the field out.
        ("", "user@home.example", "user@home.example"),
        ("null", "user@home.example", "user@home.example"),
    ])
    func completesNames(acct: String, id: String, handle: String) async throws {
        let fields = ["acct": acct, "username": "\"user\"", "id": "7"]
        let loopback = try Loopback { request in
            request.path.hasSuffix("/verify_credentials")
                ? .json(Wire.account("7", acct: "x", fields)) : nil
        }
        let account = try await loopback.network.verifyAccount()
        #expect(account.id.value == id)
        #expect(account.handle == handle)
        #expect(account.address == "7")
    }

    @Test(arguments: [
        // Mastodon 4.x, GoToSocial, Pleroma, nothing, nonsense.
        (
            #"{"domain":"home.example","api_versions":{"mastodon":6},"configuration":{"statuses":{"max_characters":700,"#
                + #""characters_reserved_per_url":25}}}"#,
            PublishingLimits(maximumCharacters: 700, charactersPerURL: 25, unit: .graphemes)
        ),
        (
            #"{"domain":"api.example","account_domain":"home.example","configuration":{"statuses":"#
                + #"{"max_characters":5000,"characters_reserved_per_url":25}}}"#,
            PublishingLimits(maximumCharacters: 5_000, charactersPerURL: nil, unit: .codePoints)
        ),
        (
            #"{"uri":"https://Home.example/","max_toot_chars":"4000"}"#,
            PublishingLimits(maximumCharacters: 4_000, charactersPerURL: nil, unit: .codePoints)
        ),
        ("{}", PublishingLimits(maximumCharacters: 500, charactersPerURL: nil, unit: .codePoints)),
        (
            #"{"domain":"<b>","configuration":{"statuses":{"max_characters":-1,"characters_reserved_per_url":1e9}}}"#,
            PublishingLimits(maximumCharacters: 500, charactersPerURL: nil, unit: .codePoints)
        ),
        (
            #"{"domain":"","configuration":null,"api_versions":null}"#,
            PublishingLimits(maximumCharacters: 500, charactersPerURL: nil, unit: .codePoints)
        ),
    ])
    func readsTheInstance(body: String, limits: PublishingLimits) async throws {
        let loopback = try Loopback { $0.path == "/api/v2/instance" ? .json(body) : nil }
        try await expect(loopback.network.limits(), equals: limits)
        try await expect(loopback.network.verifyAccount().id.value, equals: "bot@home.example")
        #expect(loopback.server.requests.filter { $0.path.hasSuffix("/instance") }.count == 1)
    }

    @Test(arguments: [
        Answer.notFound, Answer(status: 404, body: "<html>"), Answer(status: 400, body: ""),
        Answer(status: 405, body: "405 method not allowed"), Answer(status: 200, body: "<html>"),
        .json("[]"),
        .json(#"{"error":"x"}"#, status: 500), .json("{}", status: 401),
    ])
    func fallsBackToTheOlderInstance(answer: Answer) async throws {
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v2/instance": answer
            case "/api/v1/instance": .json(#"{"uri":"home.example","max_toot_chars":999}"#)
            default: nil
            }
        }
        try await expect(loopback.network.limits().maximumCharacters, equals: 999)
        try await expect(loopback.network.verifyAccount().id.value, equals: "bot@home.example")
    }

    @Test func aServerWithoutInstanceHasTheUsualLimits() async throws {
        let loopback = try Loopback { $0.path.hasSuffix("/instance") ? .notFound : nil }
        try await expect(loopback.network.limits().maximumCharacters, equals: 500)
        try await expect(loopback.network.verifyAccount().id.value, equals: "bot@home.example")
    }

    /// A wrong domain would make other people of all local names, so none is guessed while the
    /// server is out of order.
    @Test(arguments: [
        (503, 404), (404, 503), (500, 500), (429, 200), (503, 429), (401, 401), (301, 301),
    ])
    func aServerOutOfOrderIsAnError(second: Int, first: Int) async throws {
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v2/instance": .json(#"{"error":"x"}"#, status: second)
            case "/api/v1/instance": .json(#"{"uri":"old.example"}"#, status: first)
            default: nil
            }
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.limits()
        }
        #expect(error.operation == .readLimits)
        await #expect(throws: NetworkError.self) { _ = try await loopback.network.verifyAccount() }
    }

    @Test func asksForTheInstanceOnceADay() async throws {
        let clock = TestClock(Loopback.start)
        let broken = Flag()
        let loopback = try Loopback(now: { clock.now }) { request in
            guard request.path.hasSuffix("/instance") else { return nil }
            let count = Int(clock.now.timeIntervalSince(Loopback.start))
            return broken.isSet
                ? .json("{}", status: 503)
                : .json(
                    #"{"domain":"home.example","configuration":{"statuses":{"max_characters":\#(500 + count)}}}"#
                )
        }
        let network = loopback.network
        try await expect(network.limits().maximumCharacters, equals: 500)
        clock.advance(86_399)
        try await expect(network.limits().maximumCharacters, equals: 500)
        clock.advance(1)
        try await expect(network.limits().maximumCharacters, equals: 500 + 86_400)
        // A refresh that fails keeps what is known, and is tried again an hour later.
        broken.isSet = true
        clock.advance(86_400)
        try await expect(network.limits().maximumCharacters, equals: 500 + 86_400)
        let asked = loopback.server.requests.count
        clock.advance(3_599)
        _ = try await network.limits()
        #expect(loopback.server.requests.count == asked)
        broken.isSet = false
        clock.advance(1)
        try await expect(network.limits().maximumCharacters, equals: 500 + 86_400 * 2 + 3_600)
    }

    @Test func tellsWhatItCan() throws {
        let capabilities = try Loopback { _ in nil }.network.capabilities
        #expect(capabilities.feeds == Set(Feed.allCases))
        #expect(capabilities.visibilities.count == 4)
        #expect(capabilities.automaticFavorites == .anyone)
        #expect(
            !capabilities.supportsIdempotencyKey, "nobody knows yet which program the server runs")
        #expect(capabilities.replies == .anyone)
        #expect(capabilities.resendWindow == .seconds(3_000))
    }
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var date: Date

    init(_ date: Date) {
        self.date = date
    }

    var now: Date { lock.withLock { date } }

    func advance(_ seconds: TimeInterval) {
        lock.withLock { date += seconds }
    }
}

/// A switch between a test and its server.
final class Flag: Sendable {
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var value = false

    var isSet: Bool {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
    }
}
