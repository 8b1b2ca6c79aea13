import Foundation
import Testing

@testable import Posts

@Suite struct PostTimeTests {
    private static let noticed = Date(milliseconds: 1_795_000_000_000)
    private static let keyed = Date(milliseconds: 1_700_000_000_000)

    private func time(_ text: String?, keyed: Date? = nil) -> PostTime {
        PostTime(text, keyed: keyed, noticedAt: Self.noticed)
    }

    @Test func aWrittenTimeWithItsZoneIsTrusted() {
        #expect(time("2026-11-01T08:15:30+09:00", keyed: Self.keyed).isTrusted)
        #expect(time("2026-11-01T08:15Z").date == Date(rfc3339: "2026-11-01T08:15:00Z"))
        #expect(time("2026-11-01T08:15Z").isTrusted)
        let zoneless = time("2026-11-01T08:15:30")
        #expect(zoneless.date == Date(rfc3339: "2026-11-01T08:15:30Z"))
        #expect(!zoneless.isTrusted)
    }

    @Test(
        arguments: [nil, "", "yesterday", "0001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]
            as [String?])
    func aTimeThatCannotBeIsThatOfTheKeyOrOfTheNotice(text: String?) {
        #expect(time(text, keyed: Self.keyed) == time(nil, keyed: Self.keyed))
        #expect(time(text, keyed: Self.keyed).date == Self.keyed)
        #expect(time(text).date == Self.noticed)
        #expect(!time(text, keyed: Self.keyed).isTrusted)
        // A key may lie too.
        #expect(time(text, keyed: .distantFuture).date == Self.noticed)
    }

    @Test func aClockThatIsALittleAheadIsBelieved() {
        let ahead = time((Self.noticed + 300).rfc3339)
        #expect(ahead.isTrusted)
        #expect(ahead.date == Self.noticed)
        #expect(!time((Self.noticed + 700).rfc3339).isTrusted)
    }

    @Test func keysHoldTimes() {
        // 109000000000000000 >> 16 is 2022-10-12.
        let status = PostTime.keyed(
            mastodon: "https://social.example/users/ann/statuses/109000000000000000")
        #expect(status == Date(milliseconds: 109_000_000_000_000_000 >> 16))
        #expect(PostTime.keyed(mastodon: "https://social.example/users/ann/statuses/1017") == nil)
        #expect(PostTime.keyed(mastodon: "https://social.example/objects/2f0a-11") == nil)
        #expect(PostTime.keyed(mastodon: "") == nil)
        #expect(
            PostTime.keyed(misskey: "9abcdefgh0")
                == Date(milliseconds: 946_684_800_000 + 727_731_208_780))
        #expect(PostTime.keyed(misskey: "1") == nil)
    }
}
