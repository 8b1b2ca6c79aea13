import Archive
import Conduct
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Sandbox
import Storage
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks

/// The human's custom emoji on the bot's server, which may lack them.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct CustomEmojiTests {
    private static let text = "so :blobcat: happy :other: today"

    /// A slot with a text of the human's, published.
    private func publish(
        _ text: String = Self.text, from human: NetworkName = .mastodon, on network: NetworkName,
        emoji: Set<String> = [], failing: NetworkError.Operation? = nil
    ) async throws -> (PaperMirror, Action) {
        let paper = try await PaperMirror(
            bot: network, human: human,
            variables: ["FITNESS": "off", "X_ACKNOWLEDGE_POLICY": "yes"])
        paper.bot.with { $0.emoji = emoji }
        paper.bot.fail(failing)
        let post = Post(
            id: PostID(network: human, value: "1"),
            author: AccountID(network: human, value: "human"),
            text: text, createdAt: PaperMirror.now - 86_400 * 60, address: "address-1")
        try await paper.archive([post])
        paper.human?.add(
            [paperPost("1", by: "human", on: human, text, at: post.createdAt)], to: .ownPosts)
        let parts = try await paper.parts()
        let now = paper.clock.now
        let day = LocalTime(now, in: PaperMirror.zone).day
        let wording = Action.Wording(
            source: post.id, text: text, language: nil, visibility: .unlisted, warning: nil)
        let intent = Intent(
            .post(Slot.Name(day: day, number: 1), wording), state: .planned, due: now,
            expires: now + 900)
        _ = try await parts.planner.store.propose(intent, now: now)
        try await parts.courier.deliverDue([.post])
        return (
            paper,
            try #require(
                try await parts.planner.store.action(.post, subject: intent.payload.subject))
        )
    }

    @Test(arguments: [
        (NetworkName.mastodon, "", "so happy today"),
        (.mastodon, "blobcat", "so :blobcat: happy today"),
        (.mastodon, "blobcat other", Self.text), (.bluesky, "", "so happy today"),
        (.x, "", "so happy today"),
    ])
    func whatTheServerLacksIsLeftOut(network: NetworkName, emoji: String, text: String) async throws
    {
        let (paper, action) = try await publish(
            on: network, emoji: Set(emoji.split(separator: " ").map(String.init)))
        #expect(action.state == .done)
        #expect(paper.bot.with { $0.published.map(\.text) } == [text])
        // What is kept is what the human wrote.
        #expect(action.text == Self.text)
    }

    /// Elsewhere `:name:` is what it looks like.
    @Test(arguments: [NetworkName.x, .bluesky]) func aTextFromElsewhereStaysAsItIs(
        human: NetworkName
    ) async throws {
        let (paper, _) = try await publish(from: human, on: .mastodon)
        #expect(paper.bot.with { $0.published.map(\.text) } == [Self.text])
        #expect(!paper.bot.with { $0.calls.contains(.readEmoji) })
    }

    @Test func noServerIsAskedForATextWithoutAny() async throws {
        let (paper, action) = try await publish("at 12:30:45 so happy", on: .mastodon)
        #expect(action.state == .done)
        #expect(!paper.bot.with { $0.calls.contains(.readEmoji) })
    }

    @Test func aServerThatCannotBeAskedIsWaitedFor() async throws {
        let (paper, action) = try await publish(on: .mastodon, failing: .readEmoji)
        #expect(action.state == .planned)
        #expect(paper.bot.with { $0.published.isEmpty })
    }

    /// The post is found again though it lost its emoji on the way.
    @Test(arguments: [true, false]) func aLostAnswerDoublesNothing(keepsKeys: Bool) async throws {
        let fixture = try await MirrorFixture.start(
            from: 12, bot: .mastodon, variables: ["MIN_AGE_DAYS": "0", "MAX_PER_DAY": "0"])
        if !keepsKeys { fixture.sandbox.faults.mastodon.software = .gotosocial }
        if !keepsKeys { fixture.sandbox.faults.mastodon.keys = .ignored }
        var post = try #require(
            try await fixture.mirror.archive.standalonePosts().first {
                !$0.hasMedia && $0.text.count < 100 && !$0.isSensitive
            })
        post.id = PostID(network: .mastodon, value: "https://elsewhere.example/emoji")
        post.address = nil
        post.text = "A walk :blobcat: in the :tree: hills."
        _ = try await fixture.mirror.archive.store([post], timeZone: Sample.zone, limit: nil)
        let action = try await Desk(fixture.mirror, zone: Sample.zone).slot(
            after: PublishPost(post: post.id.value))
        fixture.sandbox.faults.failNext(.dropAnswer, method: "POST", path: "/api/v1/statuses")
        try await fixture.live(until: 13)
        let ended = try #require(try await fixture.slots().first { $0.id == action.id })
        #expect(ended.state == .done)
        let texts = await fixture.sandbox.ledger.deliveries.map(\.text)
        #expect(texts.filter { $0.hasPrefix("A walk") } == ["A walk :blobcat: in the hills."])
    }
}
