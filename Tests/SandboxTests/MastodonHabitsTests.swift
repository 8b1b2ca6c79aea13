import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// What real servers do, one habit after the other.
@Suite struct MastodonHabitsTests {
    private static let home = "/api/v1/timelines/home"
    private static let verify = "/api/v1/accounts/verify_credentials"

    private static func run(
        _ change: (inout MastodonHabits) -> Void, rateLimits: SandboxRateLimits = .unlimited,
        _ body: (SandboxFixture) async throws -> Void
    ) async throws {
        try await SandboxFixture.run(rateLimits: rateLimits) { (fixture) async throws in
            var habits = MastodonHabits()
            change(&habits)
            fixture.sandbox.faults.mastodon = habits
            try await body(fixture)
        }
    }

    private static func time(_ status: [String: Any]) -> String {
        status["created_at"] as? String ?? ""
    }

    // MARK: Lists

    @Test(arguments: MastodonHabits.Software.allCases)
    func everyFlavourCanBeWalkedToTheEnd(software: MastodonHabits.Software) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reference = try await fixture.walk(Self.home + "?limit=40", as: .bot)
            let expected = reference.flatMap(\.list).compactMap { $0["uri"] as? String }
            fixture.sandbox.faults.mastodon = .habits(of: software)
            var uris: [String] = []
            var target = Self.home + "?limit=40"
            for _ in 0..<100 {
                let page = try await fixture.send("GET", target)
                guard let last = page.ids.last else { break }
                uris += page.list.compactMap { $0["uri"] as? String }
                target = Self.home + "?limit=40&max_id=\(last)"
            }
            #expect(!expected.isEmpty)
            #expect(Set(uris) == Set(expected))
            await expect(fixture.sandbox.ledger.rejections) { $0.isEmpty }
        }
    }

    @Test func repeatsAHomeThatIsShorterThanAskedFor() async throws {
        try await Self.run({ $0.repeatsShortHome = true }) { (fixture) async throws in
            let full = try await fixture.send("GET", Self.home + "?limit=10").ids
            #expect(Set(full).count == 10)
            #expect(full.count == 10)
            let short = try await fixture.send("GET", Self.home + "?limit=10&min_id=\(full[3])").ids
            #expect(short == Array(full[0..<3] + full[0..<3]))
            let none = try await fixture.send("GET", Self.home + "?limit=10&min_id=\(full[0])").ids
            #expect(none.isEmpty)
            let other = try await fixture.send("GET", "/api/v1/notifications?limit=80").ids
            #expect(Set(other).count == other.count)
        }
    }

    @Test func takesBoundsForOtherOnes() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let newest = try await fixture.send("GET", Self.home + "?limit=5").ids
            func page(_ bound: String) async throws -> [String] {
                try await fixture.send("GET", Self.home + "?limit=2&\(bound)=\(newest[4])").ids
            }
            try await expect(page("min_id"), equals: Array(newest[2...3]))
            try await expect(page("since_id"), equals: Array(newest[0...1]))
            fixture.sandbox.faults.mastodon.takesMinIDForSinceID = [.home]
            try await expect(page("min_id"), equals: Array(newest[0...1]))
            fixture.sandbox.faults.mastodon = MastodonHabits()
            fixture.sandbox.faults.mastodon.ignoresMinID = [.home]
            let ignored = try await fixture.send("GET", Self.home + "?limit=5&min_id=\(newest[0])")
                .ids
            #expect(ignored == newest)
            let respected = try await fixture.send(
                "GET", Self.home + "?limit=5&since_id=\(newest[0])"
            ).ids
            #expect(respected.isEmpty)
        }
    }

    @Test func leadsOnFromTheLastPage() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            _ = try await fixture.publish("one")
            let target =
                "/api/v1/accounts/\(MastodonEntities.accountID(SandboxPopulation.bot))/statuses"
            try await expect(fixture.send("GET", target).link("next"), equals: nil)
            fixture.sandbox.faults.mastodon.links = .untilEmpty
            let next = try #require(try await fixture.send("GET", target).link("next"))
            let empty = try await fixture.send("GET", next)
            #expect(empty.list.isEmpty)
            #expect(empty.headers["link"] == nil)
        }
    }

    @Test func pagesAreAsLongAsTheServerLikes() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            func count(_ query: String) async throws -> Int {
                try await fixture.send("GET", Self.home + query).ids.count
            }
            fixture.sandbox.faults.mastodon.pageSizes = [.home: .init(standard: 3, maximum: 5)]
            try await expect(count(""), equals: 3)
            try await expect(count("?limit=40"), equals: 5)
            try await expect(count("?limit=4"), equals: 4)
            fixture.sandbox.faults.mastodon.fixedPageSize = 7
            try await expect(count("?limit=40"), equals: 7)
            try await expect(count("?limit=1"), equals: 7)
        }
    }

    @Test func mayGiveAllKindsOfNotifications() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.advance(hours: 60)
            func kinds() async throws -> Set<String> {
                let reply = try await fixture.send(
                    "GET", "/api/v1/notifications?limit=80&types[]=mention")
                return Set(reply.list.compactMap { $0["type"] as? String })
            }
            try await expect(kinds(), equals: ["mention"])
            fixture.sandbox.faults.mastodon.ignoresNotificationTypes = true
            let all = try await kinds()
            #expect(all.count > 1)
        }
    }

    @Test func mayShowNothingWithoutAToken() async throws {
        try await Self.run({ $0.needsTokenToRead = MastodonHabits.everything }) {
            (fixture) async throws in
            try await expect(
                fixture.send("GET", "/api/v1/accounts/lookup?acct=aoi", as: .nobody).status,
                equals: 401)
            try await expect(
                fixture.send("GET", "/api/v1/accounts/lookup?acct=aoi").status, equals: 200)
            try await expect(
                fixture.send("GET", "/api/v2/instance", as: .nobody).status, equals: 200)
        }
    }

    // MARK: Refusals

    @Test(
        arguments: [
            (
                MastodonHabits.mastodon, 401, "application/json; charset=utf-8",
                "The access token is invalid"
            ),
            (
                .gotosocial, 401, "application/json; charset=utf-8",
                "Unauthorized: token not supplied"
            ),
            (.pleroma, 403, "application/json; charset=utf-8", "Invalid credentials."),
            (.takahe, 400, "text/html; charset=utf-8", "Invalid Bearer token"),
            (.snac, 422, "text/html", ""),
            (.friendica, 403, "application/json; charset=utf-8", "Token is not authorized"),
            (.wordpress, 401, "application/json; charset=utf-8", "token-required"),
        ] as [(MastodonHabits, Int, String?, String)])
    func refusesTokensInTheServersWay(
        habits: MastodonHabits, status: Int, type: String?, text: String
    ) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.mastodon = habits
            let reply = try await fixture.send("GET", Self.verify, as: .token("wrong"))
            #expect(reply.status == status)
            #expect(reply.headers["content-type"] == type)
            #expect(text.isEmpty ? reply.body.isEmpty : reply.text.contains(text))
            let rejection = await fixture.sandbox.ledger.rejections.first
            #expect(rejection?.status == status)
            expect(rejection) { $0?.isExpected == false }
        }
    }

    @Test(arguments: MastodonHabits.ErrorForm.allCases)
    func writesRefusalsInEveryForm(form: MastodonHabits.ErrorForm) async throws {
        try await Self.run({ $0.errorForm = form }) { (fixture) async throws in
            let reply = try await fixture.send("GET", "/api/v1/statuses/1")
            #expect(reply.status == 404)
            switch form {
            case .json: #expect(reply.error == "Record not found")
            case .plainText: #expect(reply.text == "Record not found")
            case .html: #expect(reply.text.hasPrefix("<!DOCTYPE html>"))
            case .empty:
                #expect(reply.body.isEmpty)
                #expect(reply.headers["content-length"] == "0")
            }
        }
    }

    @Test func refusesNonsenseWithAnotherStatus() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.mastodon = .gotosocial
            let reply = try await fixture.send("POST", "/api/v1/statuses", json: #"{"status":""}"#)
            #expect(reply.status == 400)
            #expect(reply.error == "Bad Request: text can't be blank")
        }
    }

    @Test func knowsTwoKindsOfTooMany() async throws {
        let limits = SandboxRateLimits(requests: 3, period: 300, posts: 300, postPeriod: 300)
        try await Self.run({ $0.limitsByAddress = true }, rateLimits: limits) {
            (fixture) async throws in
            for _ in 0..<3 { try await expect(fixture.send("GET", Self.home).status, equals: 200) }
            let other = try await fixture.send("GET", Self.home, as: .human)
            #expect(other.status == 429)
            #expect(other.headers["retry-after"] == nil)
            #expect(other.headers["x-ratelimit-reset"] == "2026-11-19T15:05:00.000Z")
            fixture.sandbox.faults.mastodon = .gotosocial
            let own = try await fixture.send("GET", Self.home)
            #expect(own.error == "rate limit reached")
            fixture.clock.advance(hours: 1)
            fixture.sandbox.faults.mastodon.overloadEvery = 1
            let busy = try await fixture.send("GET", Self.home)
            #expect(busy.status == 429)
            #expect(busy.error == "server capacity exceeded")
            #expect(busy.headers["retry-after"] == "30")
            #expect(busy.headers["x-ratelimit-reset"] == nil)
            await expect(
                fixture.sandbox.ledger.rejections.map(\.isExpected), equals: [false, false, true])
        }
    }

    @Test func tellsTheResetByItsOwnClock() async throws {
        let limits = SandboxRateLimits(requests: 30, period: 300, posts: 300, postPeriod: 300)
        try await Self.run({ $0.tellsResetAsNumber = true }, rateLimits: limits) {
            (fixture) async throws in
            let right = try await fixture.send("GET", Self.home)
            #expect(right.headers["x-ratelimit-reset"] == "1795100700")
            fixture.sandbox.faults.clockSkew = 3_600
            let wrong = try await fixture.send("GET", Self.home)
            #expect(wrong.headers["x-ratelimit-reset"] == "1795104300")
            #expect(wrong.headers["date"] == "Thu, 19 Nov 2026 16:00:00 GMT")
            fixture.sandbox.faults.mastodon.tellsLimits = false
            let silent = try await fixture.send("GET", Self.home)
            #expect(silent.headers["x-ratelimit-reset"] == nil)
            #expect(silent.headers["x-ratelimit-limit"] == nil)
        }
    }

    // MARK: Writing

    @Test func aKeyMayBeAnError() async throws {
        try await Self.run({ $0.keys = .failing }) { (fixture) async throws in
            _ = try await fixture.publish("hello", key: "k")
            let again = try await fixture.send(
                "POST", "/api/v1/statuses", json: #"{"status":"hello"}"#, key: "k")
            #expect(again.status == 500)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.deliveries.count == 1)
            #expect(ledger.summary.errors == 0)
        }
    }

    @Test func aKeyMayBeBusy() async throws {
        try await Self.run({ $0.keys = .busy }) { (fixture) async throws in
            let id = try await fixture.publish("hello", key: "k")
            fixture.clock.advance(hours: 4.0 / 3_600)
            let early = try await fixture.send(
                "POST", "/api/v1/statuses", json: #"{"status":"hello"}"#, key: "k")
            #expect(early.status == 409)
            fixture.clock.advance(hours: 1.5 / 3_600)
            try await expect(fixture.publish("hello", key: "k"), equals: id)
            await expect(fixture.sandbox.ledger.deliveries.count, equals: 1)
        }
    }

    @Test func aReplyMayLoseItsPost() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let parent = try await fixture.publish("parent")
            let kept = try await fixture.publish("answer", replyTo: parent)
            _ = try await fixture.send("DELETE", "/api/v1/statuses/\(parent)")
            let lost = #"{"status":"lost","in_reply_to_id":"\#(parent)"}"#
            try await expect(
                fixture.send("POST", "/api/v1/statuses", json: lost).status, equals: 404)
            #expect(
                try await fixture.send("GET", "/api/v1/statuses/\(kept)").object["in_reply_to_id"]
                    is NSNull)
            fixture.sandbox.faults.mastodon.publishesLostReplies = true
            fixture.sandbox.faults.mastodon.keepsLostParents = true
            let published = try await fixture.send("POST", "/api/v1/statuses", json: lost)
            #expect(published.status == 200)
            #expect(published.object["in_reply_to_id"] is NSNull)
            let dangling = try await fixture.send("GET", "/api/v1/statuses/\(kept)")
            #expect(dangling.object["in_reply_to_id"] as? String == parent)
        }
    }

    @Test func postsMayBeUnlistedUnlessItIsSaid() async throws {
        try await Self.run({ $0.defaultVisibility = .unlisted }) { (fixture) async throws in
            let silent = try await fixture.send(
                "POST", "/api/v1/statuses", json: #"{"status":"a"}"#)
            #expect(silent.object["visibility"] as? String == "unlisted")
            let said = try await fixture.send(
                "POST", "/api/v1/statuses", json: #"{"status":"b","visibility":"public"}"#)
            #expect(said.object["visibility"] as? String == "public")
            let own = try await fixture.send("GET", Self.verify)
            #expect((own.object["source"] as? [String: Any])?["privacy"] as? String == "unlisted")
        }
    }

    @Test func linksMayCountInFull() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let link = "https://e.org/" + String(repeating: "x", count: 490)
            let body = #"{"status":"\#(link)"}"#
            try await expect(
                fixture.send("POST", "/api/v1/statuses", json: body).status, equals: 200)
            fixture.sandbox.faults.mastodon.charactersPerLink = nil
            try await expect(
                fixture.send("POST", "/api/v1/statuses", json: body).status, equals: 422)
            fixture.sandbox.faults.mastodon = .gotosocial
            try await expect(
                fixture.send("POST", "/api/v1/statuses", json: body).status, equals: 200)
            let long = #"{"status":"\#(String(repeating: "x", count: 5_001))"}"#
            try await expect(
                fixture.send("POST", "/api/v1/statuses", json: long).status, equals: 400)
        }
    }

    @Test func labelsTheAccount() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/api/v1/accounts/update_credentials"
            let off = try await fixture.send("PATCH", target, form: "bot=false&actor_type=Service")
            #expect(off.object["bot"] as? Bool == false)
            try await expect(fixture.send("GET", Self.verify).object["bot"] as? Bool, equals: false)
            fixture.sandbox.faults.mastodon = .pleroma
            let on = try await fixture.send("PATCH", target, form: "actor_type=Service")
            #expect(on.object["bot"] as? Bool == true)
            try await expect(
                fixture.send("PATCH", target, as: .human, form: "bot=true").status, equals: 403)
        }
    }

    // MARK: Entities

    @Test func writesTimesAndNamesAsEachServerDoes() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let usual = try await fixture.send("GET", Self.home + "?limit=1")
            #expect(Self.time(usual.list[0]).wholeMatch(of: /.*T..:..:..\.\d{3}Z/) != nil)
            fixture.sandbox.faults.mastodon.times = .seconds
            fixture.sandbox.faults.mastodon.namesPeopleInFull = true
            let other = try await fixture.send("GET", Self.home + "?limit=1")
            #expect(Self.time(other.list[0]) == Self.time(usual.list[0]).prefix(19) + "Z")
            fixture.sandbox.faults.mastodon.times = .zeros
            let third = try await fixture.send("GET", Self.home + "?limit=1")
            #expect(Self.time(third.list[0]) == Self.time(usual.list[0]).prefix(19) + ".000Z")
            let lookup = try await fixture.send("GET", "/api/v1/accounts/lookup?acct=aoi")
            #expect(lookup.object["acct"] as? String == "aoi@sandbox.example")
            // The same server, another form.
            try await expect(
                fixture.send("GET", Self.verify).object["acct"] as? String, equals: "mirror")
        }
    }

    @Test(arguments: [
        (MastodonHabits.Software.mastodon, "4.4.0"), (.gotosocial, "git-"),
        (.pleroma, "(compatible; Pleroma"),
        (.takahe, "takahe/"), (.snac, "really snac/"),
    ])
    func saysWhatItRuns(software: MastodonHabits.Software, version: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let habits = MastodonHabits.habits(of: software)
            fixture.sandbox.faults.mastodon = habits
            let first = try await fixture.send("GET", "/api/v1/instance", as: .nobody)
            expect((first.object["version"] as? String)) { $0?.contains(version) == true }
            let second = try await fixture.send("GET", "/api/v2/instance", as: .nobody)
            #expect(second.status == (habits.lacksInstanceV2 ? 404 : 200))
            #expect((second.object["api_versions"] != nil) == (software == .mastodon))
            let text = first.text + second.text
            #expect(text.contains("\(habits.maximumCharacters)"))
            await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    @Test func mayEndEveryConnection() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.mastodon = .snac
            let reply = try await fixture.send("GET", Self.home)
            #expect(reply.headers["connection"] == "close")
        }
    }

    @Test func idsLeadToWhatTheyName() async throws {
        for ids in MastodonIDs.allCases {
            try await Self.run({ $0.ids = ids }) { (fixture) async throws in
                let parent = try await fixture.publish("parent")
                let child = try await fixture.publish("child", replyTo: parent)
                let read = try await fixture.send("GET", "/api/v1/statuses/\(child)")
                #expect(read.object["in_reply_to_id"] as? String == parent)
                let account = try #require(read.object["account"] as? [String: Any])
                let author = try #require(account["id"] as? String)
                let own = try await fixture.send(
                    "GET", "/api/v1/accounts/\(author)/statuses?max_id=\(child)")
                #expect(own.ids == [parent])
                let missing = try await fixture.send("GET", "/api/v1/statuses/\(author)x")
                #expect(missing.status == 404)
            }
        }
    }
}
