import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Fleet
@testable import Mirroring

/// Feeds as accounts can read them, and servers that send things again.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct WatchedFeedTests {
    private func names(_ parts: WorkerParts) -> [String] { Passes(parts: parts).all.map(\.name) }

    @Test func onlyReadableFeedsAreWatched() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .bluesky)
        try await expect(
            names(paper.parts()),
            equals: [
                "publisher", "bot-mentions", "bot-home", "human-posts", "human-favorites",
                "seen-home", "originals",
            ])
        // As without an app password.
        paper.human?.with { $0.capabilities.feeds = [.ownPosts, .favorites] }
        try await expect(
            names(paper.parts()),
            equals: [
                "publisher", "bot-mentions", "bot-home", "human-posts", "human-favorites",
                "originals",
            ])
        paper.bot.with { $0.capabilities.feeds = [.mentions, .ownPosts] }
        let parts = try await paper.parts()
        #expect(
            names(parts) == [
                "publisher", "bot-mentions", "human-posts", "human-favorites", "originals",
            ])
        #expect(
            Passes(parts: parts).inOrder.map(\.name) == [
                "human-posts", "human-favorites", "originals", "bot-mentions", "publisher",
            ])
        expect(paper.log.values) {
            $0.contains { $0.hasPrefix("info No favorites: the bot's home timeline is not read") }
        }
    }

    @Test(arguments: [true, false]) func exactlyOneHomeCountsAsSeen(humanHomeIsReadable: Bool)
        async throws
    {
        let paper = try await PaperMirror(
            bot: .mastodon, human: .mastodon, variables: ["FAVORITE_MODE": "off"])
        if !humanHomeIsReadable { paper.human?.with { _ = $0.capabilities.feeds.remove(.home) } }
        paper.bot.add([paperPost("bots", on: .mastodon, at: PaperMirror.now - 60)], to: .home)
        paper.human?.add([paperPost("humans", on: .mastodon, at: PaperMirror.now - 60)], to: .home)
        let parts = try await paper.parts()
        for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
        let rows = try await paper.mirror.storage.lenient.query("SELECT post_id FROM examples")
        try expect(
            rows.map { try $0.text("post_id") }, equals: [humanHomeIsReadable ? "humans" : "bots"])
    }

    @Test func withoutAHomeNothingCountsAsSeen() async throws {
        let paper = try await PaperMirror(bot: .x, human: .x)
        for network in [paper.bot, paper.human] {
            network?.with { _ = $0.capabilities.feeds.remove(.home) }
        }
        let feeds = try await paper.parts().feeds
        #expect(feeds.humanHome == nil)
        #expect(feeds.botHome == nil)
    }

    /// A server that knows no cursors, and sends everything again and again.
    @Test func whatIsSentAgainDoesNothingTwice() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let friend = AccountID(network: .mastodon, value: "friend")
        try await paper.teachTea(on: .mastodon)
        try await paper.archive(
            (0..<5).map { pastReply("r\($0)", to: friend, "thank you number \($0)") })
        let parts = try await paper.parts()
        for network in [paper.bot, paper.human] { network?.with { $0.ignoresCursors = true } }
        let later = PaperMirror.now + 60
        paper.bot.add(
            [
                // Older than the mirror, and older than anybody waits for an answer.
                paperPost("before", on: .mastodon, at: PaperMirror.now - 60),
                paperPost("mention", on: .mastodon, at: later),
            ], to: .mentions)
        paper.bot.add(
            [paperPost("tea", on: .mastodon, "green tea in my garden", at: later)], to: .home)
        paper.human?.add(
            [paperPost("said", by: "human", on: .mastodon, "my own words", at: later)],
            to: .ownPosts)
        paper.human?.add(
            [paperPost("liked", on: .mastodon, "green tea again", at: later)], to: .favorites)
        paper.human?.add([paperPost("saw", on: .mastodon, "train again", at: later)], to: .home)
        try await paper.wait(120)
        let classifier = try #require(try await parts.classifiers.classifier())
        let before = try await classifier.status()
        for _ in 0..<4 {
            for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
            try await paper.wait(600)
        }
        #expect(paper.human?.looks.count ?? 0 >= 12)
        try await expect(paper.actions(.reply).map(\.subject), equals: ["mention"])
        try await expect(paper.actions(.favorite).map(\.subject), equals: ["tea"])
        #expect(paper.bot.with { $0.published.count } == 1)
        #expect(paper.bot.with { $0.favorited.map(\.address) } == ["address-tea"])
        try await expect(paper.mirror.archive.count(), equals: 6)
        let after = try await classifier.status()
        #expect(after.favorites == before.favorites + 1)
        #expect(after.seen == before.seen + 1)
        #expect(after.counts == .current)
    }

    @Test func aPositionThatTheServerNoLongerTakesIsReplaced() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let bot = paper.bot
        bot.add([paperPost("1", on: .mastodon, at: PaperMirror.now + 1)], to: .mentions)
        let parts = try await paper.parts()
        let feed = try #require(parts.feeds.mentions)
        _ = try await Passes(parts: parts).mentions(feed)
        bot.add([paperPost("2", on: .mastodon, at: PaperMirror.now + 2)], to: .mentions)
        bot.with {
            $0.failure = { operation, position in
                position == .newer(than: "1") ? bot.error(.rejected, operation) : nil
            }
        }
        _ = try await Passes(parts: parts).mentions(feed)
        try await expect(paper.actions(.reply).map(\.subject), equals: ["1", "2"])
        try await expect(
            paper.mirror.feeds.progress(of: FeedName.botMentions).position, equals: "2")
        // A server that refuses everything is an error.
        bot.with { $0.failure = { operation, _ in bot.error(.rejected, operation) } }
        await #expect(throws: NetworkError.self) { try await Passes(parts: parts).mentions(feed) }
    }

    @Test func mentionsThatAreTooOldAreNotAnswered() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let friend = AccountID(network: .mastodon, value: "friend")
        try await paper.archive(
            (0..<5).map { pastReply("r\($0)", to: friend, "thank you number \($0)") })
        let parts = try await paper.parts()
        paper.bot.add([paperPost("stale", on: .mastodon, at: PaperMirror.now + 60)], to: .mentions)
        paper.bot.add(
            [paperPost("fresh", on: .mastodon, at: PaperMirror.now + 86_400)], to: .mentions)
        // The worker was away for more than a day.
        try await paper.wait(86_400 + 120)
        for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
        let replies = try await paper.actions(.reply)
        #expect(
            Dictionary(uniqueKeysWithValues: replies.map { ($0.subject, $0.state) }) == [
                "stale": .skipped, "fresh": .done,
            ])
        #expect(replies.first { $0.subject == "stale" }?.reason == "too-old")
    }

    @Test func aLookStopsWhenTheShareRunsLowAndTheRestComesAfterTheReset() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let human = try #require(paper.human)
        let parts = try await paper.parts()
        let feed = try #require(parts.feeds.humanPosts)
        _ = try await Passes(parts: parts).humanPosts(feed)
        human.add(
            (0..<100).map { paperPost("p\($0)", by: "human", on: .mastodon, "post \($0)") },
            to: .ownPosts)
        let reset = paper.clock.now + 400
        human.with { $0.rateLimit = RateLimit(limit: 300, remaining: 20, resetsAt: reset) }
        let before = human.looks.count
        let resume = try await Passes(parts: parts).humanPosts(feed)
        #expect(resume > reset)
        #expect(resume < reset + 60)
        #expect(human.looks.count == before + 1)
        // The other feeds of the token wait too, and those of the other account do not.
        let favorites = try #require(parts.feeds.humanFavorites)
        try await expect(Passes(parts: parts).humanFavorites(favorites), equals: resume)
        #expect(human.looks.count == before + 1)
        _ = try await Passes(parts: parts).mentions(try #require(parts.feeds.mentions))
        #expect(paper.bot.looks.count == 1)
        human.with { $0.rateLimit = nil }
        try await paper.wait(460)
        _ = try await Passes(parts: parts).humanPosts(feed)
        // Nothing was lost in between.
        try await expect(paper.mirror.archive.count(), equals: 100)
    }

    @Test func anAccountWithoutMoneyWaitsAndTheOtherGoesOn() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .x)
        let human = try #require(paper.human)
        try await paper.archive(
            (0..<60).map { number in
                Post(
                    id: PostID(network: .x, value: "\(number)"),
                    author: AccountID(network: .x, value: "human"),
                    text: "thought number \(number)",
                    createdAt: PaperMirror.now - 2 * 86_400 - Double(number) * 3_600)
            })
        let parts = try await paper.parts()
        let until = paper.clock.now + 7_200
        human.with {
            $0.failure = { operation, _ in
                human.error(.creditsDepleted, operation, retryAfter: until)
            }
        }
        for _ in 0..<3 {
            for pass in Passes(parts: parts).inOrder where pass.name.hasPrefix("human") {
                try await expect(pass.run(), equals: until)
            }
            try await paper.wait(60)
        }
        #expect(paper.log.values.count { $0.contains("Account pauses") } == 1)
        #expect(human.with { $0.calls.filter { $0 != .verifyAccount } } == [.readOwnPosts])
        // A day passes on the bot's side.
        for _ in 0..<288 {
            _ = try await Passes(parts: parts).publish()
            try await paper.wait(300)
        }
        #expect(paper.bot.with { $0.published.count } > 0)
    }
}
