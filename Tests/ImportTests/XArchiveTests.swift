import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

@Suite struct XArchiveTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func read(_ tweets: [String]) throws -> Reading {
        try Reading(try Fixture.folder(tweets: Fixture.tweets(tweets), in: directory))
    }

    private func readOne(_ tweet: String) throws -> Post {
        let reading = try read([tweet])
        #expect(reading.summary.problems == [])
        return try #require(reading.posts.first)
    }

    @Test func readsAPostWithItsFields() throws {
        let post = try readOne(
            Fixture.tweet(
                "20", "Bread &amp; trains", at: "Sat Feb 18 12:33:11 +0000 2023",
                #""lang": "en", "possibly_sensitive": true"#))
        #expect(post.id == PostID(network: .x, value: "20"))
        #expect(post.author == AccountID(network: .x, value: "4242"))
        #expect(post.text == "Bread & trains")
        #expect(post.createdAt == Date(rfc3339: "2023-02-18T12:33:11Z"))
        #expect(post.isTimeTrusted)
        #expect(post.language == "en")
        #expect(post.isSensitive)
        #expect(post.visibility == .public)
        #expect(!post.isReply)
        #expect(!post.isRepost)
        #expect(!post.hasMedia)
    }

    @Test func decodesEntitiesOnceAndAmpersandsLast() throws {
        try expect(
            readOne(Fixture.tweet("20", "a &lt;b&gt; &amp;lt;c &amp;amp;")).text,
            equals: "a <b> &lt;c &amp;")
    }

    @Test func expandsLinksAndDropsLinksToOwnPictures() throws {
        let post = try readOne(
            Fixture.tweet(
                "20", "Look https://t.co/abc and https://t.co/pic",
                at: "Sat Feb 18 12:33:11 +0000 2023",
                #"""
                "entities": {
                  "urls": [{"url": "https://t.co/abc", "expanded_url": "https://example.org/a?b=1&amp=2"}, 5],
                  "media": [{"url": "https://t.co/pic", "expanded_url": "https://x.com/1/photo/1", "type": "photo"}]
                }
                """#))
        #expect(post.text == "Look https://example.org/a?b=1&amp=2 and")
        #expect(post.hasMedia)
    }

    @Test(
        arguments: [
            (#""in_reply_to_status_id_str": "7", "in_reply_to_user_id_str": "8""#, "8", "7"),
            (#""in_reply_to_user_id_str": "8""#, "8", nil),
            (#""in_reply_to_status_id_str": "7""#, nil, "7"),
            (#""in_reply_to_screen_name": "gone""#, nil, nil),
            (#""entities": {"user_mentions": [{"id_str": "9", "indices": ["0", "5"]}]}"#, "9", nil),
            (#""lang": "en""#, nil, nil),
        ] as [(String, String?, String?)])
    func takesAPostToSomebodyForAReply(fields: String, author: String?, answered: String?) throws {
        let post = try readOne(
            Fixture.tweet("20", "@name hello", at: "Sat Feb 18 12:33:11 +0000 2023", fields))
        let target = try #require(post.replyTo)
        #expect(target.author == author.map { AccountID(network: .x, value: $0) })
        #expect(target.post == answered.map { PostID(network: .x, value: $0) })
    }

    @Test(arguments: [
        ("RT @someone: hello", true), ("RT @some_1: x", true), ("RT @someone hello", false),
        ("RT: @someone", false),
        ("RT @: x", false), ("Quoting RT @someone: x", false), ("RT @", false),
    ])
    func tellsRepostsByTheirBeginning(text: String, isRepost: Bool) throws {
        try expect(readOne(Fixture.tweet("20", text)).isRepost, equals: isRepost)
    }

    @Test func takesTheTimeFromTheIDWhereItHoldsOne() throws {
        // (1626897512345600000 >> 22) + 1288834974657 ms
        let post = try readOne(
            Fixture.tweet("1626897512345600000", "late", at: "Sun Feb 19 23:00:00 +0000 2023"))
        #expect(
            post.createdAt.milliseconds == Int64(1_626_897_512_345_600_000 >> 22)
                + 1_288_834_974_657)
        #expect(post.isTimeTrusted)
    }

    @Test func doesNotTrustMidnightOfPostsWithoutATimeInTheirID() throws {
        let old = try readOne(
            Fixture.tweet("9999999999", "old", at: "Tue Mar 02 00:00:00 +0000 2010"))
        #expect(!old.isTimeTrusted)
        let later = try readOne(
            Fixture.tweet("9999999998", "old", at: "Tue Mar 02 00:00:01 +0000 2010"))
        #expect(later.isTimeTrusted)
    }

    @Test func countsMalformedItemsAndKeepsTheRest() throws {
        let reading = try read([
            Fixture.tweet("1", "first"),
            #"{"tweet": {"id_str": "2", "full_text": "no time"}}"#,
            #"{"tweet": {"id_str": "x2", "full_text": "bad id", "created_at": "Sat Feb 18 12:33:11 +0000 2023"}}"#,
            #"{"tweet": {"id_str": "3", "full_text": broken, }}"#,
            "5",
            Fixture.tweet("4", "fourth", at: "yesterday"),
            Fixture.tweet("5", "last"),
        ])
        #expect(reading.texts == ["first", "last"])
        #expect(reading.summary.problemCount == 5)
        #expect(
            reading.summary.problems.map(\.reason) == [
                "created_at is missing", "id_str is not a number", "not valid JSON",
                "not a JSON object",
                "created_at is not a date",
            ])
        let second = try #require(reading.summary.problems.first)
        #expect(second.file == "data/tweets.js")
        let start =
            Fixture.tweets([Fixture.tweet("1", "first")]).utf8.count - "\n]\n".utf8.count
            + ",\n".utf8.count
        #expect(second.position == .element(1, byte: start))
        #expect(
            second.description
                == "data/tweets.js, element 1 at byte \(start): created_at is missing")
    }

    @Test func neverQuotesAPostInAProblem() throws {
        let reading = try read([
            Fixture.tweet("1", "fine"), #"{"tweet": {"id_str": ["secret"], "full_text": secret}}"#,
        ])
        #expect(reading.summary.problemCount == 1)
        expect(reading.summary.problems) { !$0.contains { $0.description.contains("secret") } }
    }

    @Test func keepsOnlyTheFirstProblemsInDetail() throws {
        var limits = ImportLimits()
        limits.problems = 3
        let folder = try Fixture.folder(
            tweets: Fixture.tweets([Fixture.tweet("1", "fine")] + (0..<50).map { "\($0)" }),
            in: directory)
        let reading = try Reading(folder, limits: limits)
        #expect(reading.summary.problemCount == 50)
        #expect(reading.summary.problems.count == 3)
        #expect(reading.texts == ["fine"])
    }

    @Test func acceptsByteOrderMarkSemicolonAndCarriageReturns() throws {
        let tweets = Fixture.tweets([Fixture.tweet("1", "one"), Fixture.tweet("2", "two")])
            .replacing("\n", with: "\r\n")
        let folder = try Fixture.folder(tweets: "\u{FEFF}\(tweets);\r\n", in: directory)
        let reading = try Reading(folder)
        #expect(reading.texts == ["one", "two"])
        #expect(reading.summary.problems == [])
    }

    @Test func readsBareItemsPartsAndOldNames() throws {
        let bare =
            #"[ {"id_str": "3", "text": "three", "created_at": "Sat Feb 18 12:33:11 +0000 2023"} ]"#
        let folder = try Fixture.folder(
            [
                "data/tweet.js": Fixture.tweets([Fixture.tweet("1", "one")]),
                "data/tweets-part2.js": Fixture.tweets([Fixture.tweet("2", "two")]),
                "data/tweets-part10.js": bare,
                "data/js/tweets/2013_05.js": """
                Grailbird.data.tweets_2013_05 =
                 [ {"id_str": "4", "text": "four", "created_at": "2010-05-01 00:00:00 +0000"} ]
                """,
                "data/js/user_details.js":
                    #"var user_details = {"screen_name": "Old", "id": "77", "bio": "x"}"#,
            ], in: directory)
        let reading = try Reading(folder)
        #expect(reading.texts == ["one", "two", "three", "four"])
        #expect(reading.posts.map(\.isTimeTrusted) == [true, true, true, false])
        #expect(reading.summary.owner == AccountID(network: .x, value: "77"))
        #expect(reading.summary.ownerName == "old")
    }

    @Test func dropsDeletedPosts() throws {
        let folder = try Fixture.folder(
            [
                "data/tweets.js": Fixture.tweets([
                    Fixture.tweet("1", "kept"), Fixture.tweet("2", "deleted"),
                ]),
                "data/deleted-tweets.js": Fixture.tweets([Fixture.tweet("2", "deleted")]),
            ], in: directory)
        let reading = try Reading(folder)
        #expect(reading.texts == ["kept"])
        #expect(reading.summary.deleted == 1)
    }

    /// The list of posts has those for a circle too, and does not tell them apart.
    @Test func postsForACircleAreLeftOut() throws {
        let folder = try Fixture.folder(
            [
                "data/tweets.js": Fixture.tweets([
                    Fixture.tweet("1", "all"), Fixture.tweet("2", "few"),
                ]),
                "data/twitter-circle-tweet.js": Fixture.tweets([Fixture.tweet("2", "few")]),
            ], in: directory)
        let reading = try Reading(folder)
        #expect(reading.texts == ["all"])
        #expect(reading.summary.notOpen == 1)
    }

    @Test func aPostWithHalfAnEmojiIsRead() throws {
        try expect(
            readOne(Fixture.tweet("20", #"Trains \ud83d and bread"#)).text,
            equals: "Trains \u{FFFD} and bread")
    }

    @Test func completesLongPosts() throws {
        let full =
            "A very long thought about branch lines & bread that goes on and on until its end"
        let note = """
            window.YTD.note_tweet.part0 = [ { "noteTweet" : {
              "noteTweetId" : "1", "createdAt" : "2023-02-18T12:33:11.000Z",
              "core" : { "text" : "\(full) https://t.co/x", "mentions" : [ ],
                "urls" : [ { "shortUrl" : "https://t.co/x", "expandedUrl" : "https://example.org" } ] } } } ]
            """
        let folder = try Fixture.folder(
            [
                "data/tweets.js": Fixture.tweets([
                    Fixture.tweet(
                        "1", "A very long thought about branch lines &amp; bread… https://t.co/self"
                    ),
                    Fixture.tweet("2", "Another thought of the same second"),
                    Fixture.tweet(
                        "3", "A very long thought about", at: "Sat Feb 18 12:34:11 +0000 2023"),
                    Fixture.tweet("4", "@you A very long thought about branch…"),
                ]),
                "data/note-tweet.js": note,
            ], in: directory)
        let reading = try Reading(folder)
        let whole =
            "A very long thought about branch lines & bread that goes on and on until its end https://example.org"
        #expect(
            reading.texts == [
                whole, "Another thought of the same second", "A very long thought about", whole,
            ])
    }

    /// What only followers may read is not made public by way of a download.
    @Test(arguments: [
        (["Protect"], true), (["Protect", "Unprotect"], false), (["Unprotect", "Protect"], true),
    ])
    func postsOfAHiddenAccountAreForNobody(actions: [String], isHidden: Bool) throws {
        let changes = actions.enumerated().map { number, action in
            #"{"protectedHistory":{"protectedAt":"2026-1\#(number)-01T00:00:00.000Z","action":"\#(action)"}}"#
        }
        // In whatever order they stand.
        let history =
            "window.YTD.protected_history.part0 = [\(changes.reversed().joined(separator: ","))]"
        let folder = try Fixture.folder(
            [
                "data/tweets.js": Fixture.tweets([Fixture.tweet("1", "for friends")]),
                "data/protected-history.js": history,
            ], in: directory)
        let reading = try Reading(folder)
        #expect(reading.posts.map(\.visibility.isOpen) == [!isHidden])
        #expect(reading.summary.hints.isEmpty == !isHidden)
    }

    @Test func proposesTheTimeZoneOfTheSettings() throws {
        let zone =
            #"window.YTD.account_timezone.part0 = [{"accountTimezone": {"accountId": "1", "timeZone": "Tokyo"}}]"#
        let tweets = Fixture.tweets([Fixture.tweet("1", "one")])
        let folder = try Fixture.folder(
            ["data/account-timezone.js": zone, "data/tweets.js": tweets], in: directory)
        try expect(Reading(folder).summary.timeZone, equals: "Asia/Tokyo")
    }

    @Test func saysWhichListedFilesAreMissing() throws {
        let manifest = """
            window.__THAR_CONFIG = { "userInfo" : { "accountId" : "5", "userName" : "me" }, "dataTypes" : {
              "tweets" : { "files" : [ { "fileName" : "data/tweets.js", "count" : "1" },
                                       { "fileName" : "data/tweets-part1.js", "count" : "9" } ] },
              "directMessages" : { "files" : [ { "fileName" : "data/direct-messages.js" } ] } } }
            """
        let folder = try Fixture.folder(
            [
                "data/manifest.js": manifest,
                "data/tweets.js": Fixture.tweets([Fixture.tweet("1", "one")]),
            ],
            in: directory)
        let summary = try Reading(folder).summary
        #expect(summary.problems.map(\.file) == ["data/tweets-part1.js"])
        #expect(summary.owner == AccountID(network: .x, value: "5"))
    }

    @Test func readsLikesWithText() throws {
        let folder = try Fixture.folder(
            [
                "data/tweets.js": Fixture.tweets([Fixture.tweet("1", "own")]),
                "data/like.js": Fixture.likes([
                    #"{"like": {"tweetId": "1626897512345600000", "fullText": "cats &amp; bread", "expandedUrl": "u"}}"#,
                    #"{"like": {"tweetId": "11", "expandedUrl": "u"}}"#,
                    #"{"like": {"tweetId": "12", "fullText": "You’re unable to view this Post because"}}"#,
                    #"{"like": {"fullText": "no id"}}"#,
                    #"{"like": {"tweetId": "13", "fullText": "old"}}"#,
                ]),
                "data/like-part1.js": Fixture.likes([
                    #"{"like": {"tweetId": "14", "fullText": "part"}}"#
                ]),
            ], in: directory)
        let reading = try Reading(folder, for: .classifier)
        let examples = reading.items.compactMap { item in
            if case .favorite(let example) = item { example } else { nil }
        }
        #expect(examples.map(\.text) == ["cats & bread", "old", "part"])
        #expect(examples.map(\.author) == [nil, nil, nil])
        #expect(examples.map { $0.createdAt == nil } == [false, true, true])
        #expect(reading.summary.favorites == 3)
        #expect(reading.summary.withoutText == 2)
        #expect(reading.summary.problems.map(\.reason) == ["tweetId is missing"])
        #expect(reading.posts.isEmpty)
    }

    @Test func refusesAnArchiveWithoutWhatIsAskedFor() throws {
        let folder = try Fixture.folder(
            tweets: Fixture.tweets([Fixture.tweet("1", "one")]), in: directory)
        let error = try importError { _ = try Reading(folder, for: .classifier) }
        #expect(error.code == .nothingToRead)
        #expect(error.description == "could not import \(folder): it holds no likes (data/like.js)")
    }

    @Test(arguments: [
        "window.YTD.tweets.part0 = [ ]", "window.YTD.tweets.part0 = [ {\"tweet\": 1} ]", "",
        "nothing",
    ])
    func refusesAnArchiveWithoutASinglePost(tweets: String) throws {
        let folder = try Fixture.folder(tweets: tweets, in: directory)
        try expect(importError { _ = try Reading(folder) }.code, equals: .nothingToRead)
    }

    @Test func passesOnTheErrorOfTheCaller() throws {
        struct Stop: Error {}
        let folder = try Fixture.folder(
            tweets: Fixture.tweets([Fixture.tweet("1", "one"), Fixture.tweet("2", "two")]),
            in: directory)
        var count = 0
        #expect(throws: Stop.self) {
            _ = try ArchiveReader(path: folder, purpose: .scheduler).read { _ in
                count += 1
                throw Stop()
            }
        }
        #expect(count == 1)
    }
}
