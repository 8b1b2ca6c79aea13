import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

@Suite struct BlueskyRecordsTests {
    private static let me = "did:plc:z72i7hdynmk6r22z27h6tvur"
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static func uri(
        _ key: String, _ collection: String = "app.bsky.feed.post", of did: String = me
    ) -> String {
        "at://\(did)/\(collection)/\(key)"
    }

    private static func record(_ key: String, _ text: String, _ more: String = "") -> String {
        let extra = more.isEmpty ? "" : ",\(more)"
        return
            #"{"uri":"\#(uri(key))","cid":"bafyrei\#(key)","value":{"$type":"app.bsky.feed.post","text":"\#(text)","#
            + #""createdAt":"2023-02-18T12:33:11.250Z","langs":["ja"]\#(extra)}}"#
    }

    private static func page(_ records: [String], cursor: String? = "3k") -> String {
        let tail = cursor.map { #","cursor":"\#($0)""# } ?? ""
        return #"{"records":[\#(records.joined(separator: ","))]\#(tail)}"#
    }

    private func read(_ text: String, for purpose: ImportPurpose = .scheduler) throws -> Reading {
        try Reading(try directory.write(Data(text.utf8), to: "posts.json"), for: purpose)
    }

    private func post(_ more: String, text: String = "x") throws -> Post {
        try #require(try read(Self.page([Self.record("3a", text, more)])).posts.first)
    }

    // MARK: Shapes of the file

    private static let records = [record("3a", "one"), record("3b", "two"), record("3c", "three")]

    private static let indented = """
        {
          "records": [
            {
              "uri": "\(uri("3a"))",
              "value": {
                "text": "one", "createdAt": "2023-02-18T12:33:11Z"
              }
            }
          ],
          "cursor": "3a"
        }
        {
          "cursor": "3b",
          "records": [ \(records[1]), \(records[2]) ]
        }
        """

    /// Kept apart from the test, with its type, as the compiler takes seconds for such a list
    /// without one.
    private static let shapes: [String] = [
        page(records), page(records, cursor: nil), page([records[0]]) + page(Array(records[1...])),
        records.map { page([$0]) }.joined(separator: "\n"), page(records) + page([], cursor: nil),
        "[\(records.joined(separator: ","))]", "[\n\(records.joined(separator: ",\n"))\n]\n",
        records.joined(separator: "\n"), records.joined(separator: "\r\n") + "\r\n",
        records.joined(),
        "[\(page([records[0]])),\(page(Array(records[1...])))]",
        #"{"cursor":"a","records":[\#(records.joined(separator: ","))]}"#,
        "\u{FEFF}" + page(records), indented, " \n " + page(records) + "\n\n",
        "\u{FEFF}" + records.joined(separator: "\n"),
    ]

    @Test(arguments: shapes)
    func readsEveryShape(text: String) throws {
        let reading = try read(text)
        #expect(reading.texts == ["one", "two", "three"])
        #expect(reading.summary.problemCount == 0)
        #expect(reading.summary.format == "Bluesky records")
    }

    @Test func labelsForFewLeaveAPostOut() throws {
        func labels(_ name: String) -> String {
            #""labels":{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"\#(name)"}]}"#
        }
        let reading = try read(
            Self.page([
                Self.record("3a", "few", labels("!no-unauthenticated")),
                Self.record("3b", "nobody", labels("!hide")),
                Self.record("3c", "all", labels("bot")),
            ]))
        #expect(reading.texts == ["all"])
        #expect(reading.summary.notOpen == 2)
    }

    // MARK: A post

    @Test func namesPostsAndPeopleAsTheNetworkDoes() throws {
        let reading = try read(Self.page([Self.record("3a", "one")]))
        let post = try #require(reading.posts.first)
        #expect(post.id == PostID(network: .bluesky, value: Self.uri("3a")))
        #expect(post.author == AccountID(network: .bluesky, value: Self.me))
        #expect(post.createdAt == Date(rfc3339: "2023-02-18T12:33:11.250Z"))
        #expect(post.language == "ja")
        #expect(post.visibility == .public)
        #expect(!post.hasMedia)
        #expect(!post.isSensitive)
        #expect(!post.isReply)
        #expect(reading.summary.owner == post.author)
    }

    @Test(arguments: [("Z", nil), ("+00:00", nil), ("-05:00", -300), ("+09:00", 540)])
    func believesAnOffsetThatSaysSomething(written: String, minutes: Int?) throws {
        let record = Self.record("3a", "one").replacing(".250Z", with: ".250\(written)")
        let post = try #require(try read(Self.page([record])).posts.first)
        #expect(post.utcOffset == minutes)
        #expect(post.createdAt == Date(rfc3339: "2023-02-18T12:33:11.250\(written)"))
    }

    @Test func replacesLinksAndSeesMentions() throws {
        let facets =
            #""facets":[{"index":{"byteStart":4,"byteEnd":9},"features":[{"$type":"app.bsky.richtext.facet#link","#
            + #""uri":"https://e.org/full"}]},{"index":{"byteStart":10,"byteEnd":12},"features":[{"$type":"#
            + #""app.bsky.richtext.facet#mention","did":"did:plc:mei"}]},{"index":{"byteStart":"a"}},7,{"features":[]},"#
            + #"{"index":{"byteStart":0,"byteEnd":99},"features":[{"uri":"https://bad.org","did":"no did"}]}]"#
        let post = try post(facets, text: "猫 e.org @m")
        #expect(post.text == "猫 https://e.org/full @m")
        #expect(post.mentions.map(\.value) == ["did:plc:mei"])
    }

    @Test func aLinkKeepsItsWords() throws {
        let facets =
            #""facets":[{"index":{"byteStart":8,"byteEnd":18},"features":[{"$type":"app.bsky.richtext.facet#link","#
            + #""uri":"https://blog.example/leaving"}]}]"#
        let post = try post(facets, text: "I wrote why I left, it took a year")
        #expect(post.text == "I wrote why I left (https://blog.example/leaving), it took a year")
    }

    @Test(arguments: [
        ("app.bsky.embed.record", true), ("app.bsky.embed.recordWithMedia", true),
        ("app.bsky.embed.images", false),
        ("app.bsky.embed.external", false),
    ])
    func seesQuotes(embed: String, expected: Bool) throws {
        try expect(post(#""embed":{"$type":"\#(embed)"}"#).isQuote, equals: expected)
    }

    @Test func readsWhoIsAnswered() throws {
        let parent = Self.uri("3z", of: "did:plc:mei")
        let post = try post(
            #""reply":{"root":{"uri":"\#(Self.uri("3r"))"},"parent":{"uri":"\#(parent)","cid":"b"}}"#
        )
        #expect(
            post.replyTo
                == ReplyTarget(
                    author: AccountID(network: .bluesky, value: "did:plc:mei"),
                    post: PostID(network: .bluesky, value: parent)))
    }

    @Test(arguments: [
        #""reply":{}"#, #""reply":{"parent":{"uri":"at://mei.example/app.bsky.feed.post/3"}}"#,
        #""reply":{"parent":{"uri":7}}"#, #""reply":{"parent":"x"}"#,
    ])
    func anAnswerToNobodyKnownIsStillAnAnswer(reply: String) throws {
        try expect(post(reply).replyTo, equals: ReplyTarget(author: nil))
    }

    @Test(arguments: [
        ("app.bsky.embed.images", true), ("app.bsky.embed.video", true),
        ("app.bsky.embed.recordWithMedia", true),
        ("app.bsky.embed.external", false), ("app.bsky.embed.record", true),
        ("org.example.hologram", true),
    ])
    func seesMedia(embed: String, expected: Bool) throws {
        try expect(post(#""embed":{"$type":"\#(embed)"}"#).hasMedia, equals: expected)
    }

    @Test(arguments: [("porn", true), ("graphic-media", true), ("made-up", true), ("bot", false)])
    func seesWarnings(label: String, expected: Bool) throws {
        let labels =
            #""labels":{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"\#(label)"}]}"#
        try expect(post(labels).isSensitive, equals: expected)
    }

    // MARK: Other records

    @Test func countsLikesThatHoldOnlyAddresses() throws {
        let like =
            #"{"uri":"\#(Self.uri("3l", "app.bsky.feed.like"))","value":{"subject":{"uri":"\#(Self.uri("3q"))"}}}"#
        let repost = like.replacing("app.bsky.feed.like", with: "app.bsky.feed.repost")
        let follow = like.replacing("app.bsky.feed.like", with: "app.bsky.graph.follow")
        let text = Self.page([like, Self.record("3a", "one"), repost, follow, like])
        let liked = try read(text, for: .classifier)
        #expect(liked.items.isEmpty)
        #expect(liked.summary.likesWithoutPost == 2)
        #expect(liked.summary.hints.count == 1)
        let posts = try read(text)
        #expect(posts.texts == ["one"])
        #expect(posts.summary.reposts == 1)
        #expect(posts.summary.unrelated == 3)
        #expect(
            try importError { _ = try read(Self.page([like])) }.description.contains(
                "app.bsky.feed.post"))
        #expect(
            try importError { _ = try read(Self.page([Self.record("3a", "x")]), for: .classifier) }
                .description
                .contains("app.bsky.feed.like"))
    }

    @Test func takesOneRepositoryOnly() throws {
        let foreign = Self.record("3b", "foreign").replacing(Self.me, with: "did:plc:mei")
        let reading = try read(Self.page([Self.record("3a", "one"), foreign]))
        #expect(reading.texts == ["one"])
        #expect(
            reading.summary.problems.map(\.reason) == [
                "it is from another repository than the first"
            ])
    }

    @Test(arguments: [
        (#"{"value":{"text":"x"}}"#, "uri is missing"),
        (
            #"{"uri":"at://haruka.example/app.bsky.feed.post/3","value":{}}"#,
            "uri is not the address of a record"
        ),
        (#"{"uri":"at://did:plc:a/app.bsky.feed.post/3/4"}"#, "uri is not the address of a record"),
        (
            #"{"uri":"at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.feed.post/3"}"#,
            "value is missing"
        ),
        (
            record("3", "x").replacing(#""text":"x""#, with: #""text":["x"]"#),
            "text has the wrong type"
        ),
        ("7", "not a JSON object"), (#""text""#, "not a JSON object"), ("[1]", "not a JSON object"),
    ])
    func reportsWhatCannotBeRead(record: String, reason: String) throws {
        let reading = try read(
            Self.page([Self.record("3a", "one"), record, Self.record("3b", "two")]))
        #expect(reading.texts == ["one", "two"])
        #expect(reading.summary.problems.map(\.reason) == [reason])
    }

    /// The key of the record holds a time of its own.
    @Test(arguments: ["noon", "0001-02-18T", "12023-02-18T", "2999-02-18T", ""])
    func aTimeThatCannotBeIsThatOfTheKey(day: String) throws {
        let time = Date(milliseconds: 1_676_723_591_250)
        let key = try #require(TimestampID(microseconds: time.milliseconds * 1_000, clock: 1))
            .description
        let record = Self.record(key, "x").replacing("2023-02-18T", with: day)
        let reading = try read(Self.page([record, Self.record("3b", "other")]))
        #expect(reading.texts == ["x", "other"])
        #expect(reading.posts.map(\.isTimeTrusted) == [false, true])
        #expect(reading.posts.first?.createdAt == time)
        #expect(reading.summary.problems.isEmpty)
    }

    @Test func aTimeWithoutSecondsIsRead() throws {
        let record = Self.record("3a", "x").replacing(":11.250Z", with: "Z")
        let post = try #require(try read(Self.page([record])).posts.first)
        #expect(post.isTimeTrusted)
        #expect(post.createdAt == Date(rfc3339: "2023-02-18T12:33:00Z"))
    }

    @Test func aTimeWithoutAZoneIsNotTrusted() throws {
        let record = Self.record("3a", "old app").replacing("11.250Z", with: "11.250")
        let reading = try read(Self.page([record, Self.record("3b", "new app")]))
        #expect(reading.posts.map(\.isTimeTrusted) == [false, true])
        #expect(
            reading.posts.map(\.createdAt)
                == Array(repeating: Date(rfc3339: "2023-02-18T12:33:11.250Z"), count: 2))
        #expect(reading.summary.problems == [])
    }

    @Test func survivesFieldsOfEveryWrongType() throws {
        let item = Self.record(
            "3a", "x",
            #""reply":{"parent":{"uri":"a"}},"embed":{},"labels":{"values":[]},"facets":[]"#)
        let values = [
            "null", "7", "true", "[]", "{}", "[[]]", #""""#, "[null]", "-1e999", #"["\u0000"]"#,
        ]
        for key in [
            "uri", "value", "text", "createdAt", "langs", "reply", "parent", "embed", "labels",
            "values", "facets",
        ] {
            let items = values.map {
                item.replacing("\"\(key)\":", with: "\"\(key)\":\($0),\"was-\(key)\":")
            }
            try expect(
                read(Self.page([Self.record("3b", "first")] + items)).texts.first, equals: "first")
        }
    }

    @Test func goesOnBehindALineThatWasCutOff() throws {
        let cut = Self.record("3b", "two").dropLast(20)
        let reading = try read(
            [Self.record("3a", "one"), String(cut), Self.record("3c", "three")].joined(
                separator: "\n"))
        #expect(reading.texts == ["one", "three"])
        #expect(reading.summary.problemCount == 1)
    }

    @Test func goesOnBehindAPageThatWasCutOff() throws {
        let cut = Self.page([Self.record("3a", "one"), Self.record("3b", "two")]).dropLast(30)
        let reading = try read(String(cut) + "\n" + Self.page([Self.record("3c", "three")]))
        #expect(reading.texts == ["one", "three"])
        #expect(reading.summary.problemCount == 1)
    }

    // MARK: Files that are not this

    @Test func anEmptyPageIsNothing() throws {
        try expect(importError { _ = try read(Self.page([])) }.code, equals: .nothingToRead)
    }

    @Test func otherLinesStayLines() throws {
        let line =
            #"{"id":"1","author":"a","text":"about \"app.bsky.feed.post\"","created_at":"2023-02-18T12:33:11Z"}"#
        try expect(read(line).summary.format, equals: "JSON Lines")
        let listed = line.dropLast() + #","records":[1]}"#
        try expect(read(String(listed)).summary.format, equals: "JSON Lines")
    }
}
