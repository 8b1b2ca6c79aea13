import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

/// `tweets.csv` of the archives from 2013 to 2018.
@Suite struct XTableTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let header = """
        "tweet_id","in_reply_to_status_id","in_reply_to_user_id","timestamp","source","text","retweeted_status_id",\
        "retweeted_status_user_id","retweeted_status_timestamp","expanded_urls"
        """

    private static func row(
        _ id: String, _ text: String, at time: String = "2017-08-01 16:23:56 +0000",
        answers: (String, String) = ("", ""),
        reposts: String = "", urls: String = ""
    ) -> String {
        let source =
            #"<a href=""http://twitter.com/download/iphone"" rel=""nofollow"">Twitter for iPhone</a>"#
        let fields = [
            id, answers.0, answers.1, time, source, text.replacing("\"", with: "\"\""), reposts,
            reposts.isEmpty ? "" : "9", reposts.isEmpty ? "" : "2017-08-01 10:00:00 +0000", urls,
        ]
        return fields.map { "\"\($0)\"" }.joined(separator: ",")
    }

    private func read(_ rows: [String], header: String = header) throws -> Reading {
        let table = ([header] + rows).joined(separator: "\n") + "\n"
        return try Reading(try directory.write(Data(table.utf8), to: "tweets.csv"))
    }

    @Test func readsAPostWithItsFields() throws {
        let reading = try read([Self.row("892420643555336193", "Bread &amp; \"trains\",\nand more")]
        )
        #expect(reading.summary.format == "X archive")
        #expect(reading.summary.problems == [])
        let post = try #require(reading.posts.first)
        #expect(post.id == PostID(network: .x, value: "892420643555336193"))
        #expect(post.text == "Bread & \"trains\",\nand more")
        #expect(post.createdAt.rfc3339.hasPrefix("2017-08-01T16:23:56"))
        #expect(post.isTimeTrusted)
        #expect(post.client == "Twitter for iPhone")
        #expect(post.visibility == .public)
        #expect(!post.isReply && !post.isRepost && !post.hasMedia)
    }

    @Test func tellsRepliesAndReposts() throws {
        let reading = try read([
            Self.row("892420643555336193", "@pal yes", answers: ("7", "8")),
            Self.row("892420643555336194", "@gone yes"),
            Self.row("892420643555336195", "RT @pal: cut of…", reposts: "5"),
            Self.row("892420643555336196", "words alone", reposts: "6"),
        ])
        #expect(reading.posts.map { $0.replyTo?.author?.value } == ["8", nil, nil, nil])
        #expect(reading.posts.map { $0.replyTo?.post?.value } == ["7", nil, nil, nil])
        #expect(reading.posts.map(\.isReply) == [true, true, false, false])
        #expect(reading.posts.map(\.isRepost) == [false, false, true, true])
    }

    @Test func expandsLinksWhereTheirNumberAgrees() throws {
        let photo = "https://twitter.com/me/status/892420643555336193/photo/1"
        let reading = try read([
            Self.row(
                "892420643555336193", "See https://t.co/a https://t.co/b",
                urls: "https://a.example/x,\(photo),\(photo)"
            ),
            Self.row(
                "892420643555336194", "See https://t.co/a",
                urls: "https://a.example/x,https://b.example/y"),
        ])
        #expect(reading.texts == ["See https://a.example/x", "See https://t.co/a"])
        #expect(reading.posts.map(\.hasMedia) == [true, false])
    }

    @Test func aBadLineCostsOnlyItself() throws {
        let reading = try read([
            Self.row("8.92E+17", "made by a spreadsheet"), "too,few",
            Self.row("20", "no time", at: ""),
            Self.row("21", "kept", at: "2010-05-01 10:20:30"), Self.row("892420643555336193", ""),
        ])
        #expect(reading.texts == ["kept"])
        #expect(reading.posts.map(\.isTimeTrusted) == [false])
        #expect(
            reading.summary.problems.map(\.reason) == [
                "tweet_id is not a number",
                "the number of its fields is 2, that of the first line 10",
                "timestamp is missing", "text is missing",
            ])
        #expect(
            reading.summary.problems.map(\.position) == [.line(2), .line(3), .line(4), .line(6)])
    }

    @Test func whatStandsBeforeABrokenLineIsKept() throws {
        let reading = try read([
            Self.row("892420643555336193", "kept"), "\"1\"x,2",
            Self.row("892420643555336194", "lost"),
        ])
        #expect(reading.texts == ["kept"])
        #expect(reading.summary.problems.map(\.position) == [.line(3)])
        expect(reading.summary.problems.first?.reason) {
            $0?.hasSuffix("nothing behind it was read") ?? false
        }
    }

    /// The same archive has the same posts as JSON with more in it.
    @Test func theTableIsLeftWhereThePostsAreThereTwice() throws {
        let month = """
            Grailbird.data.tweets_2013_05 =
             [ {"id_str": "335000000000000000", "text": "four", "created_at": "2013-05-16 12:33:11 +0000"} ]
            """
        let user = #"var user_details = {"screen_name": "Old", "id": "77"}"#
        let table = [Self.header, Self.row("335000000000000000", "four")].joined(separator: "\n")
        let folder = try Fixture.folder(
            [
                "tweets.csv": table, "data/js/tweets/2013_05.js": month,
                "data/js/user_details.js": user,
            ], in: directory)
        let reading = try Reading(folder)
        #expect(reading.texts == ["four"])
        #expect(reading.summary.filesLeft == ["tweets.csv"])
        #expect(reading.summary.ownerName == "old")
        // Alone, it is read, and what stands beside it tells whose it is.
        let alone = try Reading(directory.path("tweets.csv"))
        #expect(alone.texts == ["four"])
        #expect(alone.posts.map(\.author.value) == ["77"])
    }

    @Test func aTableOfEventsIsNoArchive() throws {
        let path = try directory.write(
            Data("author,timestamp\nada,2026-11-20T08:15:30Z\n".utf8), to: "events.csv")
        try expect(importError { _ = try Reading(path) }.code, equals: .notAnArchive)
    }
}
