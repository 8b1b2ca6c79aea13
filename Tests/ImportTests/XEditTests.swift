import Expectations
import Import
import Posts
import TestSupport
import Testing

/// Edits, reposts and times as archives of X write them.
@Suite struct XEditTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let first = "1595500000000000001"
    private static let second = "1595500000000000002"
    private static let third = "1595500000000000003"

    /// A version of a post as archives have it since edits exist.
    private static func version(_ id: String, _ text: String, of ids: [String]) -> String {
        let list = ids.map { #""\#($0)""# }.joined(separator: ",")
        let control =
            #"{"editTweetIds":[\#(list)],"editableUntil":"2022-11-23T20:00:00.000Z","editsRemaining":"4","isEditEligible":true}"#
        let info =
            id == ids.first
            ? #"{"initial":\#(control)}"#
            : #"{"edit":{"initialTweetId":"\#(ids.first ?? "")","editControlInitial":\#(control)}}"#
        return Fixture.tweet(
            id, text, at: "Wed Nov 23 19:30:00 +0000 2022", #""edit_info":\#(info)"#)
    }

    private func read(_ tweets: [String]) throws -> Reading {
        try Reading(try Fixture.folder(tweets: Fixture.tweets(tweets), in: directory))
    }

    @Test(arguments: [false, true])
    func ofAnEditedPostTheLastVersionCounts(isNewestFirst: Bool) throws {
        let ids = [Self.first, Self.second, Self.third]
        let versions = zip(ids, ["helo", "hello", "hello world"]).map {
            Self.version($0, $1, of: ids)
        }
        let other = Self.version("1595600000000000001", "never edited", of: ["1595600000000000001"])
        let reading = try read((isNewestFirst ? versions.reversed() : versions) + [other])
        #expect(reading.texts == ["hello world", "never edited"])
        #expect(reading.summary.replaced == 2)
        #expect(reading.summary.problems == [])
    }

    /// A version that was written down before it was edited knows nothing of the later ones.
    @Test func anOlderVersionThatKnowsOfNoOtherIsLeftOutBehindTheNewest() throws {
        let reading = try read([
            Self.version(Self.second, "hello", of: [Self.first, Self.second]),
            Self.version(Self.first, "helo", of: [Self.first]),
        ])
        #expect(reading.texts == ["hello"])
        #expect(reading.summary.replaced == 1)
    }

    // MARK: Times

    @Test(arguments: [
        ("2010-05-01 10:20:30 +0000", true), ("2010-05-01 10:20:30", false),
        ("Sat May 01 10:20:30 +0000 2010", true), ("Sat May 01 00:00:00 +0000 2010", false),
    ])
    func aTimeWithoutAZoneOrAClockIsNotTrusted(time: String, isTrusted: Bool) throws {
        let reading = try read([Fixture.tweet("20", "old", at: time)])
        #expect(reading.posts.map(\.isTimeTrusted) == [isTrusted])
        #expect(reading.summary.problems == [])
    }

    @Test(arguments: [
        "Sat May 01 10:20:30 +0000 1969", "10000-05-01 10:20:30 +0000", "2010-13-01 10:20:30 +0000",
    ])
    func aTimeOutOfRangeIsAProblemOfItsPostAlone(time: String) throws {
        let reading = try read([Fixture.tweet("20", "lost", at: time), Fixture.tweet("21", "kept")])
        #expect(reading.texts == ["kept"])
        #expect(reading.summary.problems.map(\.reason) == ["created_at is not a date"])
    }

    // MARK: Reposts

    /// As archives write a repost: `retweeted` is false, and the text begins with `RT`.
    @Test func aRepostIsOneByItsText() throws {
        let reading = try read([
            Fixture.tweet(
                "1595500000000000009", "RT @friend: somebody else's words that were cut of…",
                at: "Wed Nov 23 19:30:00 +0000 2022",
                #""retweeted":false,"truncated":false,"entities":{"user_mentions":[{"name":"F","screen_name":"friend","indices":["3","10"],"id_str":"5","id":"5"}]}"#
            )
        ])
        #expect(reading.posts.map(\.isRepost) == [true])
    }
}
