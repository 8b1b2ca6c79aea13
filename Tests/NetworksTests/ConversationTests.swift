import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Mastodon
@testable import Networks
@testable import X

/// What is asked about the posts around a post.
@Suite struct ConversationTests {
    /// A thread of thousands must not be read for the sake of one mention.
    @Test(arguments: [(100, true), (62_000, true), (66_000, false), (9 << 20, false)])
    func aThreadIsReadUpToALimit(size: Int, isRead: Bool) async throws {
        let post = Wire.status("7", ["content": "\"\(String(repeating: "x", count: size))\""])
        let loopback = try Loopback { request in
            request.path == "/api/v1/statuses/9/context"
                ? .json(#"{"ancestors":[\#(Wire.status("1"))],"descendants":[\#(post)]}"#) : nil
        }
        let author = Account(id: .mastodon("ann", localHost: "h"), handle: "ann@h")
        let mention = ObservedPost(
            post: Post(
                id: PostID(network: .mastodon, value: "https://h/9"), author: author.id, text: "",
                createdAt: Loopback.start),
            author: author, address: "9", replyToAddress: "1")
        guard isRead else {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.conversation(of: mention)
            }
            #expect(error.code == .tooLarge)
            #expect(error.operation == .readConversation)
            #expect(!error.stopsActor)
            return
        }
        let conversation = try await loopback.network.conversation(of: mention)
        #expect(conversation == "https://home.example/users/ann/statuses/1")
    }

    /// One that names somebody else, or nobody, is not for the bot.
    @Test func repliesOfMastodonAreDirectAndNameTheBot() async throws {
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/statuses/9/context" else { return nil }
            func reply(_ id: String, to parent: String, naming names: String...) -> String {
                let mentions = names.map { #"{"id":"\#($0)","acct":"a\#($0)@away.example"}"# }
                return Wire.status(
                    id, ["in_reply_to_id": "\"\(parent)\"", "mentions": Wire.list(mentions)])
            }
            let bot = "1"
            let descendants = [
                reply("10", to: "9", naming: bot), reply("11", to: "10", naming: bot), "7",
                reply("12", to: "9", naming: "31", bot), reply("13", to: "9", naming: "31"),
                reply("14", to: "9"),
            ]
            return .json(
                #"{"ancestors":[\#(Wire.status("1"))],"descendants":\#(Wire.list(descendants))}"#)
        }
        try await expect(loopback.network.replies(to: "9").map(\.address), equals: ["10", "12"])
        try await expect(loopback.network.replies(to: "8")) { $0.isEmpty }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.replies(to: "")
        }
        #expect(error.code == .rejected)
    }

    @Test func repliesOfBlueskyAreDirect() async throws {
        @Sendable func reply(_ key: String, to parent: String) -> String {
            let record = BlueskyJSON.record(
                "hello", ["reply": BlueskyJSON.reply(to: parent, root: "r")])
            return
                #"{"$type":"app.bsky.feed.defs#threadViewPost","post":\#(BlueskyJSON.view(key, record))}"#
        }
        let own = BlueskyJSON.uri("own", by: BlueskyLoopback.did)
        let loopback = try BlueskyLoopback { request in
            guard request.method("app.bsky.feed.getPostThread") else { return nil }
            guard request.query["uri"] == own else { return .xrpc("NotFound", "Post not found") }
            let gone =
                #"{"$type":"app.bsky.feed.defs#notFoundPost","uri":"at://x","notFound":true}"#
            let replies = Wire.list([
                reply("a", to: "own"), gone, reply("b", to: "other"), reply("c", to: "own"),
            ])
            return .json(#"{"thread":{"post":\#(BlueskyJSON.view("own")),"replies":\#(replies)}}"#)
        }
        let found = try await loopback.network.replies(to: "\(own) \(BlueskyJSON.cid)")
        #expect(found.map(\.post.id.value) == [BlueskyJSON.uri("a"), BlueskyJSON.uri("c")])
        expect(found) {
            $0.allSatisfy {
                $0.author.handle == "ann.example" && $0.post.replyTo?.post?.value == own
            }
        }
        let request = try #require(
            loopback.requests.first { $0.method("app.bsky.feed.getPostThread") })
        #expect(request.query == ["uri": own, "depth": "1", "parentHeight": "0"])
        let gone = try await loopback.network.replies(
            to: "\(BlueskyJSON.uri("gone")) \(BlueskyJSON.cid)")
        #expect(gone.isEmpty)
    }

    /// Asking X costs money.
    @Test func repliesOfXAreNotAskedFor() async throws {
        let loopback = try XLoopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.replies(to: "9")
        }
        #expect(error.code == .capability)
        #expect(loopback.requests.isEmpty)
    }
}
