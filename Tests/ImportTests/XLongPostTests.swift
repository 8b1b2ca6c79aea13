import Expectations
import Import
import TestSupport
import Testing

/// Long posts as archives write them: `tweets.js` with entities and cut off, `note-tweet.js` raw
/// and whole.
@Suite struct XLongPostTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static func note(
        _ text: String, at time: String = "2023-02-18T12:33:11.000Z", urls: String = ""
    ) -> String {
        #"""
        {"noteTweet":{"noteTweetId":"11","updatedAt":"\#(time)","lifecycle":{"value":"1","name":"Draft"},\#
        "createdAt":"\#(time)","core":{"styletags":[],"urls":[\#(urls)],"text":"\#(text)","mentions":[],\#
        "cashtags":[],"hashtags":[]}}}
        """#
    }

    private func texts(_ tweets: [String], notes: [String]) throws -> [String] {
        let list = "window.YTD.note_tweet.part0 = [ \(notes.joined(separator: ",")) ]"
        let folder = try Fixture.folder(
            ["data/tweets.js": Fixture.tweets(tweets), "data/note-tweet.js": list], in: directory)
        let reading = try Reading(folder)
        #expect(reading.summary.problems == [])
        return reading.texts
    }

    private static let rest =
        " and so on past the mill, where the water runs backwards in spring, to the pier"

    @Test(arguments: [
        ("Plans: sleep &lt; read &amp; walk &gt;&gt; work…", "Plans: sleep < read & walk >> work"),
        ("Bread &amp; butter and a map… https://t.co/self", "Bread & butter and a map"),
        ("The old ferry still leaves at seven…", "The old ferry still leaves at seven"),
        // What looks like an entity was typed so.
        ("Write &amp;amp; for an ampersand…", "Write &amp; for an ampersand"),
        // Cut within an entity, and within a character of two halves.
        ("Old bridges and new ones &am…", "Old bridges and new ones & ferries"),
        (#"Old bridges and new ones \ud83d…"#, "Old bridges and new ones 🚃"),
        ("https://t.co/a tells of the sea…", "https://t.co/a tells of the sea"),
        ("@you Rivers &amp; seas of the north…", "Rivers & seas of the north"),
    ])
    func aLongPostIsWhole(cut: String, beginning: String) throws {
        let whole = beginning + Self.rest
        try expect(texts([Fixture.tweet("1", cut)], notes: [Self.note(whole)]), equals: [whole])
    }

    @Test func aLongPostKeepsItsLinks() throws {
        let urls =
            #"{"expandedUrl":"https://example.org/?a=1&b=2","toIndex":"40","shortUrl":"https://t.co/x"}"#
        let notes = [Self.note("Salt & pepper: https://t.co/x" + Self.rest, urls: urls)]
        try expect(
            texts(
                [
                    Fixture.tweet(
                        "1", "Salt &amp; pepper: https://t.co/x and so on… https://t.co/self")
                ], notes: notes),
            equals: ["Salt & pepper: https://example.org/?a=1&b=2" + Self.rest])
    }

    @Test func aPostOfAnotherSecondOrTextStaysAsItIs() throws {
        let tweets = [
            Fixture.tweet("1", "Another thought &amp; of the same second"),
            Fixture.tweet(
                "2", "Bread &amp; butter and a map…", at: "Sat Feb 18 12:34:11 +0000 2023"),
        ]
        try expect(
            texts(tweets, notes: [Self.note("Bread & butter and a map" + Self.rest)]),
            equals: ["Another thought & of the same second", "Bread & butter and a map…"])
    }
}
