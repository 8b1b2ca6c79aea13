import Archive
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import TestSupport
import Testing

@testable import Fleet
@testable import Mirroring
@testable import Networks

/// Whether a person who asks the bot to stop is told once that it was understood, and nothing else
/// afterwards.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct StopConfirmationTests {
    private func run(_ parts: WorkerParts) async throws {
        for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
    }

    /// A mirror whose bot is asked to stop by this mention.
    private func asked(
        _ network: NetworkName = .mastodon, _ variables: [String: String] = [:],
        by author: String = "weary",
        bio: String = "", isBot: Bool = false, visibility: Visibility = .public,
        mentions: [String] = ["bot"],
        prepare: (PaperMirror) async throws -> Void = { _ in }
    ) async throws -> (paper: PaperMirror, parts: WorkerParts) {
        let paper = try await PaperMirror(bot: network, variables: variables)
        try await prepare(paper)
        let parts = try await paper.parts()
        paper.bot.add(
            [
                paperPost(
                    "s1", by: author, on: network, "@bot please stop replying to me",
                    mentions: mentions,
                    visibility: visibility, bio: bio, isBot: isBot)
            ], to: .mentions)
        return (paper, parts)
    }

    private func favorited(_ paper: PaperMirror) -> [String] {
        paper.bot.with { $0.favorited.map(\.address) }
    }

    @Test(arguments: NetworkName.allCases, [Visibility.public, .unlisted, .direct])
    func theRequestIsFavoritedOnceAndNothingElseIsSent(
        _ network: NetworkName, _ visibility: Visibility
    ) async throws {
        let weary = AccountID(network: network, value: "weary")
        let (paper, parts) = try await asked(network, visibility: visibility) { paper in
            try await paper.archive(
                (0..<3).map { pastReply("r\($0)", to: weary, "my thanks \($0) times, dear") })
            try await paper.teachTea(on: network)
        }
        try await run(parts)
        let expected = network == .x ? [] : ["address-s1"]
        #expect(favorited(paper) == expected)
        try await expect(paper.mirror.people.stance(of: weary), equals: .deny)
        let confirmations = try await paper.actions(.favorite)
        #expect(confirmations.map(\.state) == expected.map { _ in .done })
        expect(confirmations) { $0.allSatisfy(\.confirmsStop) }
        // They say it again, speak to the bot, and write what the human would favorite.
        try await paper.wait(600)
        let now = paper.clock.now - 1
        paper.bot.add(
            [
                paperPost(
                    "s2", by: "weary", on: network, "I said stop", at: now, mentions: ["bot"]),
                paperPost(
                    "m", by: "weary", on: network, "hello dear bot", at: now, mentions: ["bot"]),
            ], to: .mentions)
        paper.bot.add(
            [paperPost("tea", by: "weary", on: network, "green tea in my garden", at: now)],
            to: .home)
        try await run(parts)
        #expect(favorited(paper) == expected)
        #expect(paper.bot.with { $0.published.isEmpty })
        try await expect(paper.actions(.favorite).count, equals: expected.count)
        let reasons = try await paper.actions(.reply).map(\.reason)
        #expect(Set(reasons) == ["asked-to-stop", "denied"])
    }

    @Test(arguments: [
        ["CONFIRM_STOP": "no"], ["FAVORITE_MODE": "off"], ["REVIEW": "all"],
        ["FAVORITES_PER_DAY": "0"],
    ])
    func theOperatorMaySwitchItOff(_ variables: [String: String]) async throws {
        let (paper, parts) = try await asked(.mastodon, variables)
        try await run(parts)
        #expect(favorited(paper) == [])
        try await expect(paper.actions(.favorite).count, equals: 0)
        try await expect(
            paper.mirror.people.stance(of: AccountID(network: .mastodon, value: "weary")),
            equals: .deny)
    }

    /// The favorites of a day stay within their limit, whoever asks.
    @Test func theDailyLimitHolds() async throws {
        let (paper, parts) = try await asked(.mastodon, ["FAVORITES_PER_DAY": "3"])
        paper.bot.add(
            (0..<9).map {
                paperPost("n\($0)", by: "p\($0)", on: .mastodon, "stop", mentions: ["bot"])
            }, to: .mentions)
        try await run(parts)
        #expect(favorited(paper).count == 3)
        try await expect(paper.actions(.reply).count { $0.reason == "asked-to-stop" }, equals: 10)
    }

    @Test(arguments: ["#nobot", "no bots please"]) func whoKeepsBotsAwayIsNotTold(bio: String)
        async throws
    {
        let (paper, parts) = try await asked(bio: bio)
        try await run(parts)
        #expect(favorited(paper) == [])
    }

    @Test func anotherBotIsNotTold() async throws {
        let (paper, parts) = try await asked(isBot: true)
        try await run(parts)
        #expect(favorited(paper) == [])
    }

    @Test(arguments: ["deny", "server", "forget", "link"]) func whoWasDeniedBeforeIsNotTold(
        how: String
    ) async throws {
        let weary = AccountID(network: .mastodon, value: "weary@far.example")
        let (paper, parts) = try await asked(by: weary.value) { paper in
            let people = paper.mirror.people
            let now = paper.clock.now
            switch how {
            case "deny": try await people.set(.deny, for: weary, reason: "operator", at: now)
            case "server":
                _ = try await people.deny(
                    try #require(ServerName(reference: "*@far.example")), at: now)
            case "forget": _ = try await people.forget([weary], now: now)
            default:
                let other = AccountID(network: .mastodon, value: "other@far.example")
                try await people.link(weary, other)
                try await people.set(.deny, for: other, reason: "operator", at: now)
            }
        }
        try await run(parts)
        #expect(favorited(paper) == [])
        try await expect(paper.actions(.favorite).count, equals: 0)
    }

    /// What was asked while nobody listened is obeyed, and too old to be favorited.
    @Test func anOldRequestIsObeyedWithoutAWord() async throws {
        let (paper, parts) = try await asked()
        try await paper.wait(7 * 3_600)
        try await run(parts)
        #expect(favorited(paper) == [])
        try await expect(
            paper.mirror.people.stance(of: AccountID(network: .mastodon, value: "weary")),
            equals: .deny)
    }

    @Test(arguments: Engine.allCases) func theOperatorHasTheLastWord(_ engine: Engine) async throws
    {
        let weary = AccountID(network: .mastodon, value: "weary@home.example")
        let mirror = try await BareMirror(engine, variables: ["TIME_ZONE": "UTC"]).open()
        let store = mirror.outbox(lease: nil)
        let now = BareMirror.now
        try await mirror.storage.agree(to: "test")
        func sending(_ post: String, confirms: Bool) async throws -> Departed {
            var explanation = Explanation("asked")
            explanation.confirmsStop = confirms ? true : nil
            let target = Action.Target(post: post, author: weary, address: post)
            let intent = Intent(
                .favorite(target), due: now, expires: now + 900, explanation: explanation)
            let claimed = try await store.claim(
                try await store.propose(intent, now: now).action, now: now)
            return try await store.beginSending(
                claimed, lookUp: now + 60, deadline: .seconds(30), now: now)
        }
        try await mirror.people.set(.deny, for: weary, reason: "asked-to-stop", at: now)
        try await expect(sending("1", confirms: true).state, equals: .sending)
        let other = await #expect(throws: OutboxError.self) {
            try await sending("2", confirms: false)
        }
        #expect(other?.code == .denied)
        try await mirror.people.set(.deny, for: weary, reason: "operator", at: now)
        let late = await #expect(throws: OutboxError.self) {
            try await sending("3", confirms: true)
        }
        #expect(late?.code == .denied)
    }

    /// A crash between the two rows, or a lost answer, leads to no second favorite.
    @Test func aDeniedConfirmationIsSkipped() async throws {
        let (paper, parts) = try await asked()
        let decided = try await parts.mentionDecider.decide(
            [paperPost("s1", by: "weary", on: .mastodon, "stop", mentions: ["bot"])],
            now: paper.clock.now, tries: 0)
        #expect(decided.decided.map(\.action.kind) == [.reply, .favorite])
        let weary = AccountID(network: .mastodon, value: "weary")
        try await paper.mirror.people.set(
            .deny, for: weary, reason: "operator", at: paper.clock.now)
        try await parts.courier.deliverDue([.favorite])
        let confirmation = try #require(try await paper.actions(.favorite).first)
        #expect(confirmation.state == .skipped)
        #expect(confirmation.reason == "denied")
        #expect(favorited(paper) == [])
        let again = try await parts.mentionDecider.decide(
            [paperPost("s1", by: "weary", on: .mastodon, "stop", mentions: ["bot"])],
            now: paper.clock.now, tries: 0)
        expect(again.decided) { $0.isEmpty }
    }
}
