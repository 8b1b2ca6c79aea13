import Foundation
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Mastodon
@testable import Networks

/// What accounts say of themselves, on the wire.
@Suite struct AccountProfileTests {
    private static func own(_ note: String, _ fields: String = "[]", shown: String = "[]") -> Answer
    {
        .json(
            Wire.account(
                "1", acct: "bot",
                ["source": #"{"note":"\#(note)","fields":\#(fields)}"#, "fields": shown]))
    }

    private static let rows = #"[{"name":"Home","value":"https://e.org","verified_at":null}]"#
    private static let verified =
        #"[{"name":"Home","value":"<a href='https://e.org'>e.org</a>","verified_at":"2026-11-01T00:00:00.000Z"}]"#

    @Test func mastodonTellsTheOwnersWords() async throws {
        let loopback = try Loopback { request in
            request.path.hasSuffix("/verify_credentials")
                ? Self.own("a\\nb", Self.rows, shown: Self.verified) : nil
        }
        let profile = try await loopback.network.profile()
        #expect(profile.bio == "a\nb")
        #expect(profile.page == "https://home.example/@bot")
        #expect(
            profile.fields.map(\.name) == ["Home"] && profile.fields[0].value == "https://e.org")
        #expect(profile.fields[0].verified == Date(rfc3339: "2026-11-01T00:00:00Z"))
        #expect(profile.limits == .init(bio: 500, bioBytes: nil, fields: 4, field: 255))
    }

    @Test func mastodonIsSentBothAndMustTakeBoth() async throws {
        let isTaken = Counter()
        let loopback = try Loopback { request in
            if request.path.hasSuffix("/verify_credentials") { return Self.own("old", Self.rows) }
            guard request.path.hasSuffix("/update_credentials") else { return nil }
            return isTaken.next() == 1 ? Self.own("new", Self.rows) : Self.own("old", Self.rows)
        }
        let known = try await loopback.network.profile()
        var wanted = known
        wanted.bio = "new"
        try await loopback.network.setProfile(wanted, insteadOf: known)
        #expect(
            loopback.requests.last?.bodyText == "note=new",
            "the table is as it was and is not touched")
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.setProfile(wanted, insteadOf: known)
        }
        #expect(error.code == .capability)
        #expect(error.operation == .changeProfile)
        // Somebody was faster.
        var stale = known
        stale.bio = "older"
        let conflict = try await #require(throws: NetworkError.self) {
            try await loopback.network.setProfile(wanted, insteadOf: stale)
        }
        #expect(conflict.code == .conflict)
        #expect(conflict.outcome == .notSent)
        #expect(loopback.requests.count == 2)
    }

    @Test func aServerWithoutTheOwnersWordsIsLeftAlone() async throws {
        let loopback = try Loopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.profile()
        }
        #expect(error.code == .capability)
    }

    @Test func blueskyKeepsEverythingElse() async throws {
        let record =
            #"{"$type":"app.bsky.actor.profile","description":"old","future":[1],"pinnedPost":{"cid":"c"}}"#
        let loopback = try BlueskyLoopback { request in
            if request.method("com.atproto.repo.putRecord") { return .json("{}") }
            guard request.method("com.atproto.repo.getRecord") else { return nil }
            let uri = "at://\(BlueskyLoopback.did)/app.bsky.actor.profile/self"
            return .json(#"{"uri":"\#(uri)","cid":"bafyold","value":\#(record)}"#)
        }
        let known = try await loopback.network.profile()
        #expect(known.bio == "old")
        #expect(known.limits.fields == 0)
        var wanted = known
        wanted.bio = "new"
        try await loopback.network.setProfile(wanted, insteadOf: known)
        let body = loopback.requests.last?.bodyText ?? ""
        #expect(body.contains(#""record":\#(record.replacing("old", with: "new"))"#), "\(body)")
        #expect(body.contains(#""swapRecord":"bafyold""#))
        var stale = known
        stale.bio = "older"
        let conflict = try await #require(throws: NetworkError.self) {
            try await loopback.network.setProfile(wanted, insteadOf: stale)
        }
        #expect(conflict.code == .conflict)
        #expect(loopback.count("com.atproto.repo.putRecord") == 1)
    }

    @Test func lengthIsCountedAsStrictlyAsAnyServerDoes() {
        let points = AccountProfile.Limits(bio: 4, bioBytes: nil, fields: 0, field: 0)
        let graphemes = AccountProfile.Limits(bio: 4, bioBytes: 20, fields: 0, field: 0)
        #expect(points.hold(bio: "abcd"))
        #expect(!points.hold(bio: "abcde"))
        #expect(!points.hold(bio: "e\u{301}e\u{301}e"))
        #expect(graphemes.hold(bio: "e\u{301}e\u{301}e\u{301}"))
        #expect(!graphemes.hold(bio: "👩‍👩‍👧‍👦"))
    }
}
