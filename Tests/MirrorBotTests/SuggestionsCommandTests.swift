import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import Testing

/// `mirror-bot suggestions`.
@Suite(.timeLimit(.minutes(30))) struct SuggestionsCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func nothingWaitsAtFirst() async throws {
        try await stage.makeDatabase()
        let ending = try await stage.run("suggestions")
        #expect(ending.status == 0)
        #expect(ending.output == "nothing waits for a decision\n")
    }

    @Test(arguments: [
        (NetworkName.mastodon, "https://a.example/@pal/1", "https://a.example/@pal/1"),
        (.x, "1234", "https://x.com/i/status/1234"),
        (
            .bluesky, "at://did:plc:pal/app.bsky.feed.post/3k",
            "https://bsky.app/profile/did:plc:pal/post/3k"
        ),
    ]) func eachHasItsAddress(network: NetworkName, post: String, address: String) async throws {
        try await suggest(post, on: network)
        let ending = try await stage.run("suggestions", "list")
        #expect(ending.status == 0)
        #expect(ending.output.contains("favorite, waits for 0 min  \(address)\n"))
        try await expect(stage.status().suggestions, equals: 1)
    }

    @Test func anApprovedOneIsSentByTheWorker() async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings.merging(["TIME_ZONE": "UTC"]) { $1 }
        let id = try await suggest("https://a.example/@pal/1", on: .mastodon)
        let ending = try await stage.run("suggestions", "approve", id, environment: settings)
        #expect(ending.status == 0)
        // The post is none of the sandbox's.
        #expect(
            ending.output == "approved \(id); nothing was learned from that: the post is gone\n")
        let action = try await stage.withMirror { try await $0.outbox(lease: nil).recent(10).first }
        #expect(action?.state == .planned)
        await sandbox.stop()
    }

    @Test func aDismissedOneIsGone() async throws {
        let id = try await suggest("https://a.example/@pal/1", on: .mastodon)
        try await expect(stage.run("suggestions", "dismiss", id).status, equals: 0)
        try await expect(stage.run("suggestions").output, equals: "nothing waits for a decision\n")
        let again = try await stage.run("suggestions", "dismiss", id)
        #expect(again.status == 64)
        #expect(again.error.contains("is no waiting suggestion"))
    }

    @Test func aDecisionIsToldToPrograms() async throws {
        let id = try await suggest("https://a.example/@pal/1", on: .mastodon)
        let ending = try await stage.run("suggestions", "dismiss", id, "abc", "--json")
        #expect(ending.status == 64)
        #expect(ending.error.contains("\"abc\" is no waiting suggestion"))
        let keys = try #require(
            try JSONSerialization.jsonObject(with: Data(ending.output.utf8)) as? [String: Any])
        #expect(keys["schema"] as? String == "mirror-bot/suggestion-decisions/1")
        #expect(keys["unknown"] as? [String] == ["abc"])
        let decided = try #require(keys["decided"] as? [[String: Any]])
        #expect(decided.count == 1 && decided[0]["id"] as? String == id)
        #expect(decided.first?["decision"] as? String == "dismissed")
    }

    @Test func onXAPersonFavorites() async throws {
        let id = try await suggest("1234", on: .x)
        let keys = ["CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET"]
        let settings = Dictionary(uniqueKeysWithValues: keys.map { ("BOT_\($0)", "planted-\($0)") })
            .merging(["BOT_NETWORK": "x"]) { $1 }
        let ending = try await stage.run("suggestions", "approve", id, environment: settings)
        #expect(ending.status == 78)
        #expect(ending.error.contains("X does not let software favorite"))
    }

    @discardableResult
    private func suggest(_ post: String, on network: NetworkName) async throws -> String {
        try await stage.withMirror { mirror in
            let now = Date()
            let author = AccountID(
                network: network, value: network == .bluesky ? "did:plc:pal" : "pal")
            let intent = Intent(
                .favorite(Action.Target(post: post, author: author, address: "1")),
                state: .suggested, due: now,
                expires: now + 3_600)
            return try await mirror.outbox(lease: nil).propose(intent, now: now).action.id
        }
    }
}
