import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

/// What mastodon-archive and Pixelfed save.
@Suite struct SavedStatusesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let host = "https://social.example"

    /// An account as mastodon-archive saves it, with an id as a number as old versions wrote it.
    private static func account(
        _ name: String = "haruka", id: String = "17", note: String = "<p>hi</p>"
    ) -> String {
        let parts = name.split(separator: "@")
        let home = parts.count > 1 ? "https://\(parts[1])" : host
        return #"""
            {"id":\#(id),"username":"\#(parts[0])","acct":"\#(name)","display_name":"N","locked":false,"bot":false,\#
            "created_at":"2017-04-05T00:00:00+00:00","note":"\#(note)","url":"\#(home)/@\#(parts[0])","fields":[]}
            """#
    }

    /// A status as the program saves it: times by `isoformat`, keys indented by two spaces.
    private static func status(
        _ id: String, _ html: String, by author: String = account(),
        at time: String = "2017-04-05T12:33:11.250000+00:00",
        visibility: String = "public",
        _ more: String = #""in_reply_to_id":null,"in_reply_to_account_id":null"#
    ) -> String {
        let content = html.replacing("\"", with: "\\\"")
        let name =
            author.contains("@b.example\"") ? "https://b.example/users/bob" : "\(host)/users/haruka"
        return #"""
            {"id":\#(id),"created_at":"\#(time)","sensitive":false,"spoiler_text":"","visibility":"\#(visibility)",\#
            "language":"en","uri":"\#(name)/statuses/\#(id)","url":"\#(host)/@haruka/\#(id)","content":"\#(content)",\#
            "reblog":null,"application":{"name":"Tusky","website":null},"account":\#(author),"media_attachments":[],\#
            "mentions":[],"tags":[],"emojis":[],"card":null,"poll":null,\#(more)}
            """#
    }

    private static func backup(
        _ statuses: [String], favorites: [String] = [], hasAccount: Bool = true
    ) -> String {
        func list(_ items: [String]) -> String {
            "[\n    " + items.joined(separator: ",\n    ") + "\n  ]"
        }
        return """
            {
            \(hasAccount ? "  \"account\": \(account()),\n" : "")  "statuses": \(list(statuses)),
              "favourites": \(list(favorites)),
              "bookmarks": \(list([status("90", "<p>kept for later</p>", by: account("bob@b.example", id: "3"))])),
              "mentions": [], "followers": [], "following": [], "mutes": [], "blocks": []
            }
            """
    }

    private func read(
        _ contents: String, for purpose: ImportPurpose = .scheduler, localHost: String? = nil
    ) throws
        -> Reading
    {
        let path = try directory.write(Data(contents.utf8), to: "any name.json")
        return try Reading(path, for: purpose, localHost: localHost)
    }

    // MARK: mastodon-archive

    @Test func readsTheHumansOwnPosts() throws {
        let reading = try read(Self.backup([Self.status("101", "<p>Bread &amp; trains</p>")]))
        #expect(reading.summary.format == "mastodon-archive backup")
        #expect(reading.summary.problems == [])
        #expect(
            reading.summary.owner == AccountID(network: .mastodon, value: "haruka@social.example"))
        let post = try #require(reading.posts.first)
        #expect(reading.posts.count == 1)
        #expect(
            post.id == PostID(network: .mastodon, value: "\(Self.host)/users/haruka/statuses/101"))
        #expect(post.author == reading.summary.owner)
        #expect(post.text == "Bread & trains")
        #expect(post.createdAt == Date(rfc3339: "2017-04-05T12:33:11.250Z"))
        #expect(post.isTimeTrusted)
        #expect(post.language == "en")
        #expect(post.client == "Tusky")
        #expect(!post.isReply && !post.hasMedia && !post.isSensitive)
    }

    @Test func namesBelongToTheDomainOfTheServer() throws {
        let contents = Self.backup([Self.status("101", "x")])
        try expect(read(contents, localHost: "example").summary.ownerName, equals: "haruka@example")
        try expect(
            read(contents, localHost: "other.example").summary.ownerName,
            equals: "haruka@social.example")
    }

    @Test func tellsRepliesAndWhomTheyName() throws {
        let bob =
            #"{"id":3,"username":"bob","acct":"Bob@b.example","url":"https://b.example/@bob"}"#
        let html =
            #"<p><span class="h-card"><a href="https://b.example/@bob" class="u-url mention">@<span>bob</span></a></span> yes</p>"#
        let reading = try read(
            Self.backup([
                Self.status(
                    "104", html,
                    #""in_reply_to_id":77,"in_reply_to_account_id":3,"mentions":[\#(bob)]"#
                )
                .replacing(#""mentions":[],"#, with: ""),
                Self.status(
                    "103", "<p>and on</p>", #""in_reply_to_id":"102","in_reply_to_account_id":"17""#
                ),
                Self.status(
                    "102", "<p>whose?</p>", #""in_reply_to_id":78,"in_reply_to_account_id":4"#),
            ]))
        #expect(reading.summary.problems == [])
        #expect(reading.texts == ["@Bob@b.example yes", "and on", "whose?"])
        #expect(
            reading.posts.map { $0.replyTo?.author?.value } == [
                "bob@b.example", "haruka@social.example", nil,
            ])
        #expect(
            reading.posts.map { $0.replyTo?.post?.value } == [
                nil, "\(Self.host)/users/haruka/statuses/102", nil,
            ])
        #expect(reading.posts.map(\.isReply) == [true, true, true])
        #expect(reading.posts.map { $0.mentions.map(\.value) } == [["bob@b.example"], [], []])
    }

    @Test func leavesOutRepostsAndPostsForFew() throws {
        let original = Self.status(
            "88", "<p>theirs</p>", by: Self.account("bob@b.example", id: "3"))
        let reading = try read(
            Self.backup([
                Self.status("105", "<p>theirs</p>").replacing(
                    #""reblog":null"#, with: #""reblog":\#(original)"#),
                Self.status("104", "<p>for followers</p>", visibility: "private"),
                Self.status("103", "<p>to one</p>", visibility: "direct"),
                Self.status("102", "<p>?</p>", visibility: "local"),
                Self.status("101", "<p>quiet</p>", visibility: "unlisted"),
            ]))
        #expect(reading.texts == ["quiet"])
        #expect(reading.posts.map(\.visibility) == [.unlisted])
        #expect(reading.summary.reposts == 1)
        #expect(reading.summary.notOpen == 3)
    }

    /// The second field of a fork counts as the first one does; docs/audience.md lists them.
    @Test(
        arguments: [
            #""local_only":true"#, #""local_only":"maybe""#, #""federated":false"#,
            #""visibility_ex":"login""#,
            #""visibility_ex":"mutual""#, #""limited_scope":"circle""#,
            #""expires_at":"2026-12-01T00:00:00Z""#,
            #""pleroma":{"local":true,"expires_at":"2026-12-01T00:00:00Z"}"#,
        ])
    func aFurtherFieldLeavesAPostOut(field: String) throws {
        let bob = Self.account("bob@b.example", id: "3")
        let statuses = [
            Self.status("101", "<p>quiet</p>"), Self.status("102", "<p>few</p>", field),
        ]
        let liked = [
            Self.status("86", "<p>few</p>", by: bob, field),
            Self.status("85", "<p>all</p>", by: bob),
        ]
        let backup = Self.backup(statuses, favorites: liked)
        let reading = try read(backup)
        #expect(reading.texts == ["quiet"])
        #expect(reading.summary.notOpen == 1)
        let favorites = try read(backup, for: .classifier)
        let texts = favorites.items.compactMap { item in
            if case .favorite(let example) = item { example.text } else { nil }
        }
        #expect(texts == ["all"])
        #expect(favorites.summary.notOpen == 1)
    }

    @Test(arguments: [
        #""local_only":false"#, #""visibility_ex":"public_unlisted""#, #""expires_at":null"#,
        #""pleroma":{"local":true,"expires_at":null}"#, #""searchability":"direct""#,
        #""limited_scope":null"#,
    ])
    func aFieldThatNarrowsNothingDoesNot(field: String) throws {
        try expect(
            read(Self.backup([Self.status("102", "<p>all</p>", field)])).texts, equals: ["all"])
    }

    @Test func anEyeAtTheEndKeepsAPostAtItsServer() throws {
        let reading = try read(
            Self.backup([Self.status("1", "<p>at nine 👁️</p>"), Self.status("2", "<p>eyes</p>")]))
        #expect(reading.texts == ["eyes"])
    }

    @Test func picturesAndPollsAreMediaAndQuotesAreQuotes() throws {
        let picture =
            #"{"type":"image","url":"https://files.example/1.png","description":"a \"cat\"","meta":{"original":{"width":4,"height":3}}}"#
        func status(_ more: String, without: String) -> String {
            Self.status("101", "<p>see</p>", more).replacing(without, with: "")
        }
        let reading = try read(
            Self.backup([
                status(#""media_attachments":[\#(picture)]"#, without: #""media_attachments":[],"#),
                status(#""poll":{"id":"1","options":[]}"#, without: #""poll":null,"#),
                status(#""quote":{"state":"accepted"}"#, without: "\u{0}"),
                status(#""spoiler_text":"food""#, without: #""spoiler_text":"","#),
            ]))
        #expect(reading.summary.problems == [])
        #expect(reading.posts.map(\.hasMedia) == [true, true, false, false])
        #expect(reading.posts.map(\.isQuote) == [false, false, true, false])
        #expect(reading.posts.map(\.pictures.count) == [1, 0, 0, 0])
        #expect(reading.posts.first?.pictures.first?.alt == "a \"cat\"")
        #expect(reading.posts.map(\.warning) == [nil, nil, nil, "food"])
        #expect(reading.posts.map(\.isSensitive) == [false, false, false, true])
    }

    @Test func timesWithoutAZoneAndTimesThatCannotBeAreNotTrusted() throws {
        let reading = try read(
            Self.backup([
                Self.status("103", "<p>no zone</p>", at: "2017-04-05T12:33:11"),
                Self.status("102", "<p>long ago</p>", at: "0001-01-01T00:00:00+00:00"),
                Self.status("101", "<p>some day</p>", at: "10000-01-01T00:00:00+00:00"),
            ]))
        #expect(reading.texts == ["no zone", "long ago", "some day"])
        #expect(reading.posts.map(\.isTimeTrusted) == [false, false, false])
        #expect(reading.summary.problems.isEmpty)
    }

    @Test func learnsFavoritesWithTheirTextsAndAuthors() throws {
        let bob = Self.account("Bob@b.example", id: "3", note: "<p>painter, #nobot</p>")
        let favorites = [
            Self.status("88", "<p>ships &amp; seas</p>", by: bob), Self.status("87", "<p>mine</p>"),
            Self.status("86", "<p>for friends</p>", by: bob, visibility: "private"),
            Self.status("85", "", by: bob),
            Self.status("84", "<p>of the same server</p>", by: Self.account("pal", id: "5"))
                .replacing("users/haruka", with: "users/pal"),
        ]
        let reading = try read(
            Self.backup([Self.status("101", "<p>own</p>")], favorites: favorites), for: .classifier)
        let examples = reading.items.compactMap { item in
            if case .favorite(let example) = item { example } else { nil }
        }
        #expect(examples.map(\.text) == ["ships & seas", "of the same server"])
        #expect(examples.map(\.author) == ["bob@b.example", "pal@social.example"])
        #expect(examples.map(\.authorID?.value) == ["bob@b.example", "pal@social.example"])
        #expect(examples.map(\.authorBio) == ["painter, #nobot", "hi"])
        #expect(examples.map(\.isSeen) == [false, false])
        #expect(reading.summary.favorites == 2)
        #expect(reading.summary.own == 1)
        #expect(reading.summary.notOpen == 1)
        #expect(reading.summary.withoutText == 1)
        #expect(reading.summary.ownerName == "haruka@social.example")
        #expect(reading.posts.isEmpty)
    }

    /// As the program's folder looks, with the older posts that `split` moved away and the secrets
    /// beside them.
    @Test func readsTheFolderOfTheProgramAndNoSecrets() throws {
        let folder = try Fixture.folder(
            [
                "social.example.user.haruka.json": Self.backup([Self.status("102", "<p>new</p>")]),
                "social.example.user.haruka.0.json": Self.backup(
                    [Self.status("101", "<p>old</p>")], hasAccount: false),
                "social.example.user.haruka.secret": "token",
                "social.example.client.secret": "token",
                "social.example.user.haruka/media/1.png": "picture",
            ], in: directory)
        let reading = try Reading(folder)
        #expect(reading.texts.sorted() == ["new", "old"])
        #expect(reading.summary.filesRead.count == 2)
        expect(reading.summary.filesRead) { $0.allSatisfy { $0.hasSuffix(".json") } }
    }

    @Test func aSecondPersonsPostsAreNotTaken() throws {
        let reading = try read(
            Self.backup([
                Self.status("102", "<p>mine</p>"),
                Self.status("101", "<p>theirs</p>", by: Self.account("bob@b.example", id: "3")),
            ]))
        #expect(reading.texts == ["mine"])
        #expect(reading.summary.problems.map(\.reason) == ["somebody else made it"])
    }

    @Test func aBackupWithoutPostsOrFavoritesSaysSo() throws {
        let empty = Self.backup([])
        let error = try importError { _ = try read(empty) }
        #expect(error.code == .nothingToRead)
        #expect(error.reason == "its lists are empty")
        try expect(
            importError { _ = try read(empty, for: .classifier) }.code, equals: .nothingToRead)
    }

    // MARK: Pixelfed

    /// As `pixelfed-statuses.json` has it: pieces of a thousand, each printed apart.
    private static func pixelfed(
        _ id: String, caption: String, rendered: String? = nil, _ more: String = ""
    ) -> String {
        func quoted(_ text: String) -> String {
            "\"" + text.replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
        }
        return """
                {
                    "_v": 1,
                    "id": "\(id)",
                    "shortcode": "abc",
                    "uri": "https://pixel.example/p/haruka/\(id)",
                    "url": "https://pixel.example/p/haruka/\(id)",
                    "in_reply_to_id": "",
                    "in_reply_to_account_id": "",
                    "reblog": null,
                    "content": \(quoted(rendered ?? caption)),
                    "content_text": \(quoted(caption)),
                    "created_at": "2021-05-01T10:00:00.000Z",
                    "sensitive": false,
                    "spoiler_text": "",
                    "visibility": "public",
                    "application": { "name": "web", "website": null },
                    "language": null,
                    "mentions": [],
                    "pf_type": "photo",
                    "media_attachments": [ { "id": "1", "type": "image", "url": "https://pixel.example/1.jpg",
                        "description": "a pier", "meta": { "original": { "width": 800, "height": 600 } } } ],
                    "account": { "id": "9", "username": "haruka", "acct": "haruka", "url": "https://pixel.example/haruka" },
                    "poll": null\(more)
                }
            """
    }

    @Test func readsPixelfedsExport() throws {
        let items = [
            Self.pixelfed("1", caption: "two\nlines <3"),
            Self.pixelfed(
                "2", caption: "hi #sea",
                rendered:
                    #"hi <a href="https://pixel.example/discover/tags/sea" class="u-url hashtag">#sea</a>"#
            ),
            Self.pixelfed("3", caption: "shared").replacing(
                #""pf_type": "photo""#, with: #""pf_type": "share""#),
            Self.pixelfed("4", caption: "hidden").replacing(
                #""visibility": "public""#, with: #""visibility": "archived""#),
        ]
        let reading = try read(
            "[\n" + items[0] + "\n\n,\n" + items[1...].joined(separator: ",\n") + "\n\n]")
        #expect(reading.summary.problems == [])
        #expect(reading.summary.format == "saved Mastodon posts")
        #expect(reading.summary.ownerName == "haruka@pixel.example")
        #expect(reading.texts == ["two\nlines <3", "hi #sea"])
        #expect(reading.posts.map(\.isReply) == [false, false])
        #expect(reading.posts.map { $0.pictures.map(\.alt) } == [["a pier"], ["a pier"]])
        #expect(reading.summary.reposts == 1)
        #expect(reading.summary.notOpen == 1)
    }

    @Test func pixelfedsExportTeachesNoFavorites() throws {
        let error = try importError {
            _ = try read("[\n\(Self.pixelfed("1", caption: "own"))\n]", for: .classifier)
        }
        #expect(error.code == .nothingToRead)
        #expect(error.reason.hasPrefix("it holds no favorites"))
    }
}
