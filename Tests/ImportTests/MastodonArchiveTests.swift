import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

@Suite struct MastodonArchiveTests {
    private typealias Archive = MastodonFixture

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func read(_ items: [String], localHost: String? = nil) throws -> Reading {
        try Reading(try Archive.folder(items, in: directory), localHost: localHost)
    }

    private func post(_ item: String) throws -> Post { try #require(try read([item]).posts.first) }

    // MARK: A post

    @Test func namesPostsAndPeopleAsTheServerDoes() throws {
        let reading = try read([Archive.create("1", "<p>one</p>")])
        let post = try #require(reading.posts.first)
        #expect(
            post.id
                == PostID(
                    network: .mastodon, value: "https://social.example/users/Haruka/statuses/1"))
        #expect(post.author == AccountID(network: .mastodon, value: "haruka@social.example"))
        #expect(post.text == "one")
        #expect(post.createdAt == Date(rfc3339: "2023-02-18T12:33:11Z"))
        #expect(post.language == "ja")
        #expect(post.visibility == .public)
        #expect(!post.hasMedia)
        #expect(!post.isSensitive)
        #expect(!post.isReply)
        #expect(!post.isRepost)
        #expect(reading.summary.format == "Mastodon archive")
        #expect(reading.summary.owner == post.author)
        #expect(reading.summary.ownerName == "haruka")
        #expect(reading.summary.timeZone == nil)
    }

    @Test func turnsHTMLIntoTextAndNamesPeopleInFull() throws {
        let html =
            #"<p><span class="h-card"><a href="https://far.example/@Mei" class="u-url mention">@<span>Mei</span></a>"#
            + #"</span> see <a href="https://e.org/long/path"><span class="invisible">https://</span>e.org/lo…</a>"#
            + "<br>&amp; <a href=\"https://social.example/@yuki\" class=\"u-url mention\">@yuki</a></p>"
        let item = Archive.create("1", html).replacing(
            #""tag":[]"#,
            with:
                #""tag":[{"type":"Mention","href":"https://far.example/users/Mei","name":"@Mei@far.example"},"#
                + #"{"type":"Hashtag","href":"https://social.example/tags/x","name":"x"},"#
                + #"{"type":"Mention","href":"https://social.example/users/yuki","name":"@yuki"}]"#)
        let post = try post(item)
        #expect(post.text == "@Mei@far.example see https://e.org/long/path\n& @yuki@social.example")
        #expect(post.mentions.map(\.value) == ["mei@far.example", "yuki@social.example"])
        #expect(!post.isReply)
    }

    /// A field besides the addresses narrows, and so does what glitch-soc has in the text alone.
    @Test(
        arguments: [
            #""localOnly":true"#, #""directMessage":true"#, #""limitedScope":"Circle""#,
            #""expiry":"2026-12-01T00:00:00Z""#,
        ])
    func aFurtherFieldLeavesAPostOut(field: String) throws {
        let reading = try read([
            Archive.create("1", "<p>few</p>", field), Archive.create("2", "<p>at nine 👁</p>"),
            Archive.create("3", "<p>here</p>", to: #"["https://social.example/#Public"]"#),
            Archive.create("4", "<p>all</p>"),
        ])
        #expect(reading.texts == ["all"])
        #expect(reading.summary.notOpen == 3)
    }

    /// What names nobody is for nobody else, whatever its other fields say.
    @Test func aNoteWithoutAddressesIsForFew() throws {
        let item = Archive.create("1", "<p>x</p>", to: "[]", cc: "[]", #""visibility":"public""#)
        try expect(read([item, Archive.create("2", "<p>all</p>")]).texts, equals: ["all"])
    }

    @Test(arguments: [
        (#""sensitive":true"#, #""sensitive":false"#),
        (#""summary":"careful""#, #""summary":null"#),
    ])
    func seesWarnings(with: String, replacing: String) throws {
        try expect(post(Archive.create("1", "x").replacing(replacing, with: with))) {
            $0.isSensitive
        }
    }

    @Test(arguments: [
        (#""attachment":[{"type":"Document","url":"/a.png"}]"#, #""attachment":[]"#),
        (#""attachment":{"type":"Image","url":"/a.png"}"#, #""attachment":[]"#),
        (#""type":"Question","oneOf":[]"#, #""type":"Note""#),
        (#""type":"Note","anyOf":[{"name":"a"}]"#, #""type":"Note""#),
    ])
    func seesMedia(with: String, replacing: String) throws {
        try expect(post(Archive.create("1", "x").replacing(replacing, with: with))) { $0.hasMedia }
    }

    private static let quote = "https://other.example/users/bob/statuses/109"

    @Test(arguments: [
        #""quote":"\#(quote)""#, #""quote":{"type":"Tombstone"}"#, #""quoteUri":"\#(quote)""#,
        #""quoteUrl":"\#(quote)""#, #""_misskey_quote":"\#(quote)""#, #""quoteUrl":["\#(quote)"]"#,
    ])
    func seesThatAPostQuotesOne(field: String) throws {
        let post = try post(Archive.create("1", "<p>This is exactly what I say</p>", field))
        #expect(post.isQuote)
        #expect(post.text == "This is exactly what I say")
    }

    @Test(arguments: [
        (
            #"{"type":"Link","mediaType":"application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"","#
                + #""href":"\#(quote)","name":"RE: \#(quote)"}"#, true
        ),
        (#"{"type":"Link","mediaType":"application/activity+json","href":"\#(quote)"}"#, true),
        (
            #"{"type":"Link","rel":["https://misskey-hub.net/ns#_misskey_quote"],"href":"\#(quote)"}"#,
            true
        ),
        (#"{"type":"Link","mediaType":"text/html","href":"https://e.org/"}"#, false),
        (#"{"type":"Link","mediaType":"application/activity+json"}"#, false),
        (#"{"type":"Hashtag","mediaType":"application/activity+json","href":"\#(quote)"}"#, false),
    ])
    func aTagMayBeTheLinkToAQuotedPost(tag: String, expected: Bool) throws {
        let item = Archive.create("1", "x").replacing(#""tag":[]"#, with: #""tag":[\#(tag)]"#)
        try expect(post(item).isQuote, equals: expected)
    }

    @Test(arguments: [
        (#""quote":false"#, #""inReplyTo":false"#), (#""quoteUrl":"""#, #""inReplyTo":0"#),
        (#""_misskey_quote":null"#, #""inReplyTo":[]"#), (#""oneOf":null"#, #""inReplyTo":7"#),
        (#""anyOf":false"#, #""inReplyTo":true"#),
    ])
    func aValueOfTheWrongTypeChangesNothing(field: String, answered: String) throws {
        let item = Archive.create("1", "x", field).replacing(#""inReplyTo":null"#, with: answered)
            .replacing(#""attachment":[]"#, with: #""attachment":[false,"x",null]"#)
        let post = try post(item)
        #expect(!post.isQuote)
        #expect(!post.isReply)
        #expect(!post.hasMedia)
    }

    @Test func theCardOfALinkIsNoMedia() throws {
        let card = #""attachment":[{"type":"Link","href":"https://e.org/1"}]"#
        let item = Archive.create("1", "x").replacing(#""attachment":[]"#, with: card)
        try expect(post(item)) { !$0.hasMedia }
        let video = card.replacing(#""href""#, with: #""mediaType":"video/mp4","href""#)
        try expect(post(Archive.create("1", "x").replacing(#""attachment":[]"#, with: video))) {
            $0.hasMedia
        }
    }

    @Test func aTextThatCannotBeReadIsAProblem() throws {
        let item = Archive.create("1", "x").replacing(#""content":"x""#, with: #""content":["x"]"#)
        let reading = try read([item, Archive.create("2", "y")])
        #expect(reading.texts == ["y"])
        #expect(reading.summary.problems.map(\.reason) == ["content has the wrong type"])
    }

    @Test(
        arguments: [
            (#""contentMap":{"ja":"x"}"#, "ja"),
            (#""contentMap":{"de":"y","en":"x","fr":"z"}"#, "en"),
            (#""contentMap":{"de":"y","en":"z"}"#, nil), (#""contentMap":{"und":"x"}"#, nil),
            (#""contentMap":{}"#, nil),
            (#""contentMap":null"#, nil), (#""contentMap":{"../..":"x"}"#, nil),
            (#""contentMap":{"ja":7,"en":"x"}"#, "en"),
        ] as [(String, String?)])
    func readsTheLanguage(map: String, expected: String?) throws {
        let post = try post(
            Archive.create("1", "x").replacing(#""contentMap":{"ja":"x"}"#, with: map))
        #expect(post.text == "x")
        #expect(post.language == expected)
    }

    @Test func takesTheTextFromTheMapIfItIsNowhereElse() throws {
        let item = Archive.create("1", "x").replacing(#""content":"x","#, with: "")
        try expect(post(item).text, equals: "x")
    }

    // MARK: Visibility

    private static let followers = #"["https://social.example/users/Haruka/followers"]"#
    private static let everybody = #"["https://www.w3.org/ns/activitystreams#Public"]"#

    @Test(arguments: [
        (everybody, followers, Visibility.public), (followers, everybody, .unlisted),
        (#"["as:Public"]"#, "[]", .public),
        (#""https://www.w3.org/ns/activitystreams#Public""#, "null", .public),
        ("[]", #""Public""#, .unlisted),
    ])
    func readsOpenPosts(to: String, cc: String, expected: Visibility) throws {
        try expect(post(Archive.create("1", "x", to: to, cc: cc)).visibility, equals: expected)
    }

    @Test(arguments: [
        (followers, "[]"), (followers, #"["https://far.example/users/mei"]"#),
        (#"["https://far.example/users/mei"]"#, "[]"),
        ("[]", "[]"), ("null", "null"), ("7", "{}"), (#"["https://social.example/#Public"]"#, "[]"),
        (#"["https://www.w3.org/ns/activitystreams#public "]"#, "[]"),
    ])
    func dropsAndCountsPostsForFew(to: String, cc: String) throws {
        let reading = try read([
            Archive.create("1", "a secret", to: to, cc: cc), Archive.create("2", "open"),
        ])
        #expect(reading.texts == ["open"])
        #expect(reading.summary.notOpen == 1)
        #expect(reading.summary.posts == 1)
        #expect(!"\(reading.summary)".contains("secret"))
    }

    @Test func believesTheNarrowerAudience() throws {
        let wide = Archive.create("1", "x")
        let object = try #require(wide.range(of: #""object""#))
        let activity = String(wide[..<object.lowerBound])
        let note = String(wide[object.lowerBound...])
        let narrowNote = note.replacing(Self.everybody, with: Self.followers)
        let narrowActivity = activity.replacing(Self.everybody, with: Self.followers)
        let reading = try read([
            activity + narrowNote, narrowActivity + note, Archive.create("2", "y"),
        ])
        #expect(reading.texts == ["y"])
        #expect(reading.summary.notOpen == 2)
    }

    // MARK: Replies

    private func target(_ uri: String, _ mentions: [(href: String, name: String)]) throws -> String?
    {
        let post = try post(Archive.reply("1", to: uri, mentions: mentions))
        let target = try #require(post.replyTo)
        #expect(target.post == PostID(network: .mastodon, value: uri))
        return target.author?.value
    }

    @Test func findsTheAnsweredPersonAmongSeveral() throws {
        let people = [
            (href: "https://far.example/users/ann", name: "@ann@far.example"),
            (href: "https://far.example/users/mei", name: "@mei@far.example"),
            (href: "https://mis.example/users/9x", name: "@kai@mis.example"),
            (href: "https://social.example/users/yuki", name: "@yuki"),
        ]
        try expect(
            target("https://far.example/users/mei/statuses/7", people), equals: "mei@far.example")
        try expect(target("https://far.example/@mei/7", people), equals: "mei@far.example")
        try expect(
            target("https://far.example/users/MEI/statuses/7", people), equals: "mei@far.example")
        try expect(target("https://mis.example/notes/abc", people), equals: "kai@mis.example")
        try expect(
            target("https://social.example/users/yuki/statuses/7", people),
            equals: "yuki@social.example")
        try expect(target("https://gone.example/objects/1", people), equals: "ann@far.example")
        try expect(target("https://gone.example/objects/1", []), equals: nil)
        // The name of one must not be found in the longer name of another.
        try expect(
            target("https://far.example/users/meiko/statuses/7", Array(people[1...])),
            equals: "mei@far.example")
    }

    @Test func knowsAnswersToOneself() throws {
        let mention = (href: "https://far.example/users/mei", name: "@mei@far.example")
        try expect(target("\(Archive.me)/statuses/3", [mention]), equals: "haruka@social.example")
        try expect(
            target("https://social.example/@Haruka/3", [mention]), equals: "haruka@social.example")
    }

    @Test func knowsAnswersToOnesOwnPostsByTheirIDs() throws {
        let first = Archive.create("1", "x").replacing(
            "\(Archive.me)/statuses/1\"", with: "https://social.example/objects/aa\"")
        let mention = (href: "https://far.example/users/mei", name: "@mei@far.example")
        let second = Archive.reply(
            "2", to: "https://social.example/objects/aa", mentions: [mention])
        let posts = try read([first, second]).posts
        #expect(posts.map(\.replyTo?.author?.value) == [nil, "haruka@social.example"])
    }

    @Test func anAnswerToNothingKnownIsStillAnAnswer() throws {
        let post = try post(
            Archive.reply(
                "1", to: "",
                mentions: [(href: "https://far.example/users/mei", name: "@mei@far.example")]))
        #expect(
            post.replyTo
                == ReplyTarget(author: AccountID(network: .mastodon, value: "mei@far.example")))
    }

    @Test(
        arguments: [
            (#"{"type":"Mention","href":"https://far.example/users/Mei"}"#, "mei@far.example"),
            (
                #"{"type":"Mention","href":"https://far.example/users/Mei","name":"@Mei"}"#,
                "mei@far.example"
            ),
            (#"{"type":"Mention","name":"@Mei@far.example"}"#, "mei@far.example"),
            (
                #"{"type":"Mention","href":"https://web.far.example/@Mei","name":"@Mei@far.example"}"#,
                "mei@far.example"
            ),
            (
                #"{"type":"Mention","href":"https://far.example/@Mei","name":"@a b@c"}"#,
                "mei@far.example"
            ),
            (
                #"{"type":"Mention","href":"https://social.example/users/Mei","name":"Mei"}"#,
                "mei@social.example"
            ),
            (#"{"type":"Mention","href":"https://far.example/objects/1","name":"@@@"}"#, nil),
            (#"{"type":"Mention"}"#, nil),
            (#"{"href":"https://far.example/users/Mei","name":"@Mei"}"#, nil),
            ("7", nil),
        ] as [(String, String?)])
    func namesPeopleFromWhatIsThere(tag: String, expected: String?) throws {
        let item = Archive.create("1", "x").replacing(#""tag":[]"#, with: #""tag":[\#(tag)]"#)
        try expect(post(item).mentions.map(\.value), equals: [expected].compactMap(\.self))
        let alone = Archive.create("1", "x").replacing(#""tag":[]"#, with: #""tag":\#(tag)"#)
        try expect(post(alone).mentions.map(\.value), equals: [expected].compactMap(\.self))
    }

    // MARK: The owner

    @Test(
        arguments: [
            ("example.org", "haruka@example.org"),
            ("social.example.org", "haruka@social.example.org"),
            ("other.org", "haruka@social.example.org"), ("ample.org", "haruka@social.example.org"),
            (nil, "haruka@social.example.org"), ("", "haruka@social.example.org"),
        ] as [(String?, String)])
    func theHostOfNamesMayStandAboveTheServer(localHost: String?, expected: String) throws {
        let files = [
            "actor.json": Archive.actor,
            "outbox.json": Archive.outbox([
                Archive.create("1", "x").replacing(
                    #""tag":[]"#,
                    with:
                        #""tag":{"type":"Mention","href":"https://social.example/users/yuki","name":"@yuki"}"#
                )
            ]),
        ].mapValues { $0.replacing("social.example", with: "social.example.org") }
        let reading = try Reading(try Fixture.folder(files, in: directory), localHost: localHost)
        #expect(reading.posts.map(\.author.value) == [expected])
        #expect(
            reading.posts.flatMap(\.mentions).map(\.value) == [
                expected.replacing("haruka", with: "yuki")
            ])
    }

    @Test(arguments: ["haruka@example.net", "acct:Haruka@example.net", "@haruka@EXAMPLE.net"])
    func theActorMayTellItsFullName(webfinger: String) throws {
        let actor = Archive.actor.replacing(
            #""name":"#, with: #""webfinger":"\#(webfinger)","name":"#)
        let folder = try Fixture.folder(
            ["actor.json": actor, "outbox.json": Archive.outbox([Archive.create("1", "x")])],
            in: directory)
        try expect(Reading(folder).posts.map(\.author.value), equals: ["haruka@example.net"])
    }

    @Test func doesWithoutAnActorWhereAddressesTellTheName() throws {
        let folder = try Fixture.folder(
            ["outbox.json": Archive.outbox([Archive.create("1", "x")])], in: directory)
        try expect(Reading(folder).posts.map(\.author.value), equals: ["haruka@social.example"])
    }

    @Test(arguments: [
        "{}", "", "[1]", #"{"id":"https://social.example/"}"#,
        #"{"id":"x","preferredUsername":"a"}"#,
        #"{"id":"https://social.example/ap/users/1","preferredUsername":"a b"}"#,
    ])
    func anActorThatTellsNothingIsNoActor(actor: String) throws {
        let folder = try Fixture.folder(
            ["actor.json": actor, "outbox.json": Archive.outbox([Archive.create("1", "x")])],
            in: directory)
        try expect(Reading(folder).posts.map(\.author.value), equals: ["haruka@social.example"])
    }

    @Test func reportsPostsOfWhichNobodyIsTheAuthor() throws {
        let item = Archive.create("1", "x").replacing(
            Archive.me, with: "https://social.example/ap/1")
        let folder = try Fixture.folder(["outbox.json": Archive.outbox([item])], in: directory)
        let error = try importError { _ = try Reading(folder) }
        #expect(error.code == .nothingToRead)
        #expect(error.description.contains("actor.json"))
    }

    @Test func leavesOutWhatSomebodyElseMade() throws {
        let foreign = Archive.create("1", "foreign").replacing(
            #""attributedTo":"\#(Archive.me)""#,
            with: #""attributedTo":"https://far.example/users/mei""#)
        let shared = Archive.create("2", "shared").replacing(
            #""attributedTo":"\#(Archive.me)""#,
            with: #""attributedTo":[{"id":"https://far.example/c"},"\#(Archive.me)"]"#)
        let reading = try read([foreign, shared])
        #expect(reading.texts == ["shared"])
        #expect(reading.summary.problems.map(\.reason) == ["somebody else made it"])
    }

    // MARK: What is no post

    @Test func dropsRepostsAndOtherActivities() throws {
        let follow = #"{"type":"Follow","object":"https://far.example/users/mei"}"#
        let video = Archive.create("3", "v").replacing(#""type":"Note""#, with: #""type":"Video""#)
        let reading = try read([
            Archive.announce("https://far.example/1"), follow, video, Archive.create("1", "x"),
        ])
        #expect(reading.texts == ["x"])
        #expect(reading.summary.reposts == 1)
        #expect(reading.summary.unrelated == 2)
        #expect(reading.summary.problemCount == 0)
    }

    @Test func readsPostsThatStandInTheListThemselves() throws {
        let item = Archive.create("1", "x")
        let object = try #require(item.range(of: #""object":"#))
        try expect(read([String(item[object.upperBound...].dropLast())]).texts, equals: ["x"])
    }

    /// An unreadable time, the year 1 and a time to come cost the time alone.
    @Test(arguments: ["yesterday", "", "0001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
    func aTimeThatCannotBeLosesNothingButTheTime(time: String) throws {
        let reading = try read([Archive.create("2", "kept"), Archive.create("1", "x", at: time)])
        #expect(reading.texts == ["kept", "x"])
        #expect(reading.posts.map(\.isTimeTrusted) == [true, false])
        #expect(reading.summary.problems.isEmpty)
    }

    @Test(arguments: [
        (
            #"{"type":"Create","object":"https://social.example/1"}"#,
            "the post is not in it, only its address"
        ),
        (#"{"type":"Create"}"#, "the post is not in it, only its address"),
        ("{}", "type is missing"),
        ("7", "not a JSON object"),
        (#"{"type":"Create","object":{"type":"Note"}}"#, "id is missing"),
        (#"{"type":"Note","id":"https://social.example/1"}"#, "id of the author"),
        (#"{"type":"Create","object":"#, "not valid JSON"),
    ])
    func reportsWhatCannotBeRead(item: String, reason: String) throws {
        let reading = try read([Archive.create("2", "x"), item])
        #expect(reading.texts.first == "x")
        if reason != "id of the author" {
            #expect(reading.texts == ["x"])
            #expect(reading.summary.problems.first?.reason == reason)
        } else {
            // No audience and no author: for nobody.
            #expect(reading.summary.notOpen == 1)
        }
    }

    @Test func anEmptyOutboxIsNothing() throws {
        try expect(importError { _ = try read([]) }.code, equals: .nothingToRead)
    }

    @Test func listsMayHaveNoOrder() throws {
        let outbox = Archive.outbox([Archive.create("1", "x")]).replacing(
            "orderedItems", with: "items")
        let folder = try Fixture.folder(
            ["actor.json": Archive.actor, "outbox.json": outbox], in: directory)
        try expect(Reading(folder).texts, equals: ["x"])
    }

    @Test func survivesFieldsOfEveryWrongType() throws {
        let item = Archive.create("1", "x")
        let values = [
            "null", "7", "true", "[]", "{}", "[[]]", #""""#, "[null]", #"{"id":7}"#, "-1e999",
            #"["\u0000"]"#,
        ]
        let keys = [
            "id", "type", "actor", "published", "to", "cc", "object", "summary", "inReplyTo", "url",
            "attributedTo",
            "sensitive", "content", "contentMap", "attachment", "tag",
        ]
        for key in keys {
            let items = values.map { value in
                item.replacing("\"\(key)\":", with: "\"\(key)\":\(value),\"was-\(key)\":")
            }
            let reading = try read(items + [Archive.create("2", "last")])
            #expect(reading.texts.last == "last")
        }
    }

    // MARK: Likes

    @Test func countsLikesThatHoldOnlyAddresses() throws {
        let likes = Archive.likes([
            "https://far.example/1", "https://far.example/2", "has space", "",
        ])
        let folder = try Fixture.folder(
            ["actor.json": Archive.actor, "likes.json": likes], in: directory)
        let reading = try Reading(folder, for: .classifier)
        #expect(reading.items.isEmpty)
        #expect(reading.summary.likesWithoutPost == 2)
        #expect(reading.summary.problemCount == 2)
        #expect(reading.summary.owner?.value == "haruka@social.example")
        #expect(
            reading.summary.hints == [
                "2 likes hold only an address; train the classifier from the account instead"
            ])
        #expect(try importError { _ = try Reading(folder) }.description.contains("outbox.json"))
    }

    @Test func saysThatThereAreNoLikes() throws {
        let folder = try Archive.folder([Archive.create("1", "x")], in: directory)
        let error = try importError { _ = try Reading(folder, for: .classifier) }
        #expect(error.code == .nothingToRead)
        #expect(error.description.contains("likes.json"))
    }
}
