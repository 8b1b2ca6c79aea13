import Expectations
import Foundation
import Posts
import Testing

@testable import Networks
@testable import X

/// Compares the fields of a post that are asked for with those that are read.
@Suite struct XFieldTests {
    /// The fields of a post that the program reads; `id` and `text` come unasked.
    private static let post = [
        "attachments": #"{"media_keys":["3_1"]}"#, "author_id": #""7""#, "conversation_id": #""3""#,
        "created_at": #""2026-11-20T20:00:00.000Z""#,
        "entities": #"{"urls":[{"url":"https://t.co/a"}],"mentions":[{"id":"8"}]}"#,
        "in_reply_to_user_id": #""8""#, "lang": #""en""#,
        "note_tweet": #"{"text":"longer than the text"}"#,
        "possibly_sensitive": "true", "referenced_tweets": #"[{"type":"replied_to","id":"5"}]"#,
        "reply_settings": #""following""#,
    ]
    private static let user = [
        "description": #""likes https://t.co/b""#,
        "entities":
            #"{"description":{"urls":[{"url":"https://t.co/b","expanded_url":"https://example.net/"}]}}"#,
        "name": #""Ann""#, "protected": "false", "username": #""ann""#,
    ]
    /// The fields that come with what they name in the newer spelling.
    private static let named: Set<String> = [
        "author_id", "in_reply_to_user_id", "referenced_tweets",
    ]

    private static func name(_ field: String, _ names: XFieldNames) -> String {
        names == .post ? field.replacing("tweet", with: "post") : field
    }

    /// A reading of the sample with some of its fields.
    private func read(
        _ fields: Set<String>, for reader: XReader, _ names: XFieldNames = .tweet,
        user: Set<String> = Set(Self.user.keys)
    ) throws -> ObservedPost? {
        var object = ["id": #""9""#, "text": #""text""#]
        for (field, value) in Self.post where fields.contains(field) {
            object[Self.name(field, names)] = value
        }
        if reader == .own, fields.contains("author_id") { object["author_id"] = #""42""# }
        var person = ["id": #""7""#]
        for (field, value) in Self.user where user.contains(field) { person[field] = value }
        let wire = try #require(JSONBody.decoded(XPost.self, Array(Wire.object(object).utf8)))
        let users = [JSONBody.decoded(XUser.self, Array(Wire.object(person).utf8))].compactMap(
            \.self)
        let own = Account(id: AccountID(network: .x, value: "42"), handle: "mirror", address: "42")
        let hasUsers = reader.expansions(names).contains("author_id")
        let translator = XTranslator(
            own: own, isOwnProtected: false, users: hasUsers ? users : [], now: { XLoopback.start })
        return translator.post(wire, for: reader)
    }

    private func fieldsAsked(by reader: XReader, _ names: XFieldNames) -> Set<String> {
        let fields = Set(
            reader.postFields(names).map { $0.replacing("note_post", with: "note_tweet") })
        return names == .post ? fields.union(Self.named) : fields
    }

    @Test(arguments: XReader.allCases, XFieldNames.allCases)
    func eachFieldThatIsAskedForIsRead(reader: XReader, names: XFieldNames) throws {
        let asked = fieldsAsked(by: reader, names)
        let whole = try #require(try read(asked, for: reader, names))
        let fields = names == .post ? asked.subtracting(Self.named) : asked
        // The account's own id is known without it in its own list, and tells a repost there.
        for field in fields where !(reader == .own && field == "author_id") {
            let part = try read(asked.subtracting([field]), for: reader, names)
            #expect(part != whole, "\(field) is asked for and not read")
        }
    }

    /// What is not asked for is the thread and who may answer, of which only a reader of people
    /// knows a use.
    @Test(arguments: XReader.allCases, XFieldNames.allCases)
    func eachFieldThatIsReadIsAskedFor(reader: XReader, names: XFieldNames) throws {
        let part = try #require(try read(fieldsAsked(by: reader, names), for: reader, names))
        var whole = try #require(try read(Set(Self.post.keys), for: reader, names))
        if reader != .others {
            whole.conversation = nil
            whole.replyNeedsApproval = false
        }
        #expect(part == whole)
    }

    @Test func eachFieldOfAPersonIsRead() throws {
        let asked = XNetwork.userFields.value.split(separator: ",").map(String.init)
        #expect(Set(asked) == Set(Self.user.keys))
        let fields = fieldsAsked(by: .others, .tweet)
        let whole = try read(fields, for: .others)
        for field in asked {
            let part = try read(fields, for: .others, user: Set(asked).subtracting([field]))
            #expect(part != whole, "\(field) is asked for and not read")
        }
    }

    /// Each account and each other post in an answer has a price, so only who reads them asks for
    /// them.
    @Test func onlyAReaderOfPeopleBuysThem() {
        #expect(XReader.own.expansions(.tweet).isEmpty)
        #expect(XReader.learned.expansions(.tweet).isEmpty)
        #expect(XReader.others.expansions(.tweet) == ["author_id"])
    }

    // MARK: Favorites without their authors

    @Test func aFavoritesAuthorIsKnownByTheID() async throws {
        let body = XWire.list([XWire.post("9")], users: [])
        let loopback = try XLoopback { $0.path == "/2/users/42/liked_tweets" ? .json(body) : nil }
        let page = try await loopback.network.page(.favorites, .newest)
        let item = try #require(page.items.first)
        #expect(item.author.id == AccountID(network: .x, value: "7"))
        #expect(item.post.isOpen)
        #expect(loopback.book.spent == Money(microdollars: 10_000 + 5_000))
    }

    /// Where the profile came along, it counts.
    @Test func aProtectedAuthorThatIsKnownIsNotLearnedFrom() async throws {
        let body = XWire.list(
            [XWire.post("9")], users: [XWire.user("7", "ann", ["protected": "true"])])
        let loopback = try XLoopback(options: XOptions(fieldNames: .post)) {
            $0.path == "/2/users/42/liked_tweets" ? .json(body) : nil
        }
        let page = try await loopback.network.page(.favorites, .newest)
        #expect(page.items.map(\.post.isOpen) == [false])
    }

    // MARK: Lists of posts

    @Test func ownPostsAreAskedForInLists() async throws {
        let problem = XWire.problem(
            "resource-not-found",
            ["resource_type": #""tweet""#, "resource_id": #""9""#, "parameter": #""ids""#])
        let post = XWire.post("8", ["author_id": #""42""#])
        let body = Wire.object(["data": "[\(post)]", "errors": "[\(problem)]"])
        let loopback = try XLoopback { $0.path == "/2/tweets" ? .json(body) : nil }
        let answer = try await loopback.network.ownPosts(at: ["9", "8"])
        #expect(answer.asked == ["9", "8"])
        #expect(answer.shown.map(\.address) == ["8"])
        #expect(loopback.requests.map { $0.query["ids"] } == ["9,8"])
        expect(loopback.requests) { $0.allSatisfy { $0.query["expansions"] == nil } }
        // The account, and the post that is there.
        #expect(loopback.book.spent == Money(microdollars: 10_000 + 5_000))
        #expect(loopback.book.entries.map(\.purpose) == [.lookUp, .originals, .originals])
    }

    @Test func aListIsAsLongAsTheMoney() async throws {
        let book = MemoryBook(limit: Money(microdollars: 10_000 + 30_000))
        let loopback = try XLoopback(book: book) { request in
            let ids = request.query["ids"]?.split(separator: ",").map(String.init) ?? []
            return request.path == "/2/tweets"
                ? .json(XWire.list(ids.map { XWire.post($0) }, users: [])) : nil
        }
        let ids = (100..<120).map(String.init)
        let answer = try await loopback.network.ownPosts(at: ids)
        #expect(answer.asked == Array(ids.prefix(5)))
        #expect(book.spent == Money(microdollars: 10_000 + 25_000))
    }

    /// An answer without posts that says something else is wrong is none.
    @Test func aListThatIsRefusedTellsNothing() async throws {
        let loopback = try XLoopback {
            $0.path == "/2/tweets" ? XWire.refusal(503, "capacity") : nil
        }
        await #expect(throws: NetworkError.self) { try await loopback.network.ownPosts(at: ["9"]) }
    }
}
