import Archive
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Storage
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks

/// Words of links, from the human's post to the bot's.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct LinkWordsTests {
    private static let text = "why I left the city (https://blog.example/left), at last"

    @Test(arguments: [(NetworkName.bluesky, ["why I left the city"]), (.mastodon, []), (.x, [])])
    func leadToTheAddressWhereTheNetworkLetsThem(network: NetworkName, words: [String]) async throws
    {
        let paper = try await PaperMirror(
            bot: network,
            variables: ["FITNESS": "off", "LINKS": "on", "X_ACKNOWLEDGE_POLICY": "yes"])
        paper.bot.with { $0.capabilities.linksWords = network == .bluesky }
        var post = Post(
            id: PostID(network: .mastodon, value: "1"),
            author: AccountID(network: .mastodon, value: "human"),
            text: Self.text, createdAt: PaperMirror.now - 86_400 * 60)
        post.linkWords = ["why I left the city"]
        try await paper.archive([post])
        try await expect(paper.mirror.archive.post(post.id), equals: post)
        let parts = try await paper.parts()
        let now = paper.clock.now
        let day = LocalTime(now, in: PaperMirror.zone).day
        let wording = Action.Wording(source: post.id, text: Self.text, visibility: .unlisted)
        _ = try await parts.planner.store.propose(
            Intent(
                .post(Slot.Name(day: day, number: 1), wording), state: .planned, due: now,
                expires: now + 900),
            now: now)
        try await parts.courier.deliverDue([.post])
        let drafts = paper.bot.with { $0.published }
        #expect(drafts.map(\.text) == [Self.text])
        #expect(drafts.map(\.linkWords) == [words])
    }

    /// A post that was archived before its words were kept learns them when it is read again.
    @Test func areLearnedByAnotherSighting() async throws {
        let paper = try await PaperMirror(bot: .bluesky)
        var post = Post(
            id: PostID(network: .mastodon, value: "1"),
            author: AccountID(network: .mastodon, value: "human"),
            text: Self.text, createdAt: PaperMirror.now - 86_400 * 60)
        try await paper.archive([post])
        post.linkWords = ["why I left the city"]
        try await paper.archive([post])
        try await expect(paper.mirror.archive.post(post.id)?.linkWords, equals: post.linkWords)
        post.linkWords = ["two\nlines", "", "fine"]
        try await paper.mirror.archive.rewrite(post)
        try await expect(paper.mirror.archive.post(post.id)?.linkWords, equals: ["fine"])
    }
}
