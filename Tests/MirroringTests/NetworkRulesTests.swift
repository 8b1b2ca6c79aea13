import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import TestSupport
import Testing

@testable import Fleet
@testable import Mirroring

/// What the mirror decides where networks differ in what they allow.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct NetworkRulesTests {
    private static let summary = "the human favorites posts like this one"

    private func replies(_ paper: PaperMirror) async throws -> [String: Action] {
        Dictionary(uniqueKeysWithValues: try await paper.actions(.reply).map { ($0.subject, $0) })
    }

    private func run(_ parts: WorkerParts) async throws {
        for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
    }

    // MARK: Replies

    @Test(arguments: NetworkName.allCases) func onlyWhoMustSummonTheBotHasTo(network: NetworkName)
        async throws
    {
        let paper = try await PaperMirror(bot: network)
        let people = ["named", "thread", "stopping"].map { AccountID(network: network, value: $0) }
        try await paper.archive(
            people.flatMap { person in
                (0..<2).map {
                    pastReply("\(person.value)-\($0)", to: person, "my thanks \($0) times, dear")
                }
            })
        let parts = try await paper.parts()
        paper.bot.add(
            [
                paperPost("1", by: "named", on: network, "hello @bot", mentions: ["bot", "other"]),
                paperPost("2", by: "thread", on: network, "I think so too", mentions: ["other"]),
                paperPost("3", by: "stopping", on: network, "stop"),
            ], to: .mentions)
        try await run(parts)
        let replies = try await replies(paper)
        #expect(replies["1"]?.state == .done)
        #expect(replies["2"]?.reason == (network == .x ? "not-mentioned" : nil))
        #expect(replies["2"]?.state == (network == .x ? .skipped : .done))
        // Who wants the bot to stop need not summon it for that.
        #expect(replies["3"]?.reason == "asked-to-stop")
        try await expect(paper.mirror.people.stance(of: people[2]), equals: .deny)
        let draft = try #require(
            paper.bot.with { state in state.published.first { $0.replyTo == "address-1" } })
        #expect(draft.text.hasPrefix("@named ") == (network == .mastodon))
        #expect(draft.text.hasSuffix("times, dear"))
    }

    /// Stored with the decision, so that a restart before sending notifies no stranger.
    @Test func whomAMentionNamesBesidesIsNotForgotten() async throws {
        let paper = try await PaperMirror(bot: .x, variables: ["X_ACKNOWLEDGE_POLICY": "yes"])
        let friend = AccountID(network: .x, value: "friend")
        try await paper.archive([pastReply("r1", to: friend, "you are right about that")])
        _ = try await paper.parts()
        try await paper.wait(60)
        paper.bot.add(
            [
                paperPost(
                    "1", on: .x, at: paper.clock.now,
                    mentions: ["bot", "stranger", "friend", "other", "stranger"])
            ], to: .mentions)
        try await run(try await paper.parts())
        let strangers = ["stranger", "other"].map { AccountID(network: .x, value: $0) }
        #expect(paper.bot.with { $0.published.map(\.bystanders) } == [strangers])
        // Once it is sent, nobody needs to know.
        try await expect(paper.actions(.reply).map(\.payload.reply?.bystanders), equals: [[]])
    }

    @Test func anAnswerIsNeverMorePublicThanTheMention() async throws {
        for network in NetworkName.allCases {
            let paper = try await PaperMirror(bot: network)
            let person = AccountID(network: network, value: "shy")
            try await paper.archive([pastReply("r", to: person, "thanks a lot, dear")])
            let parts = try await paper.parts()
            let mention = paperPost(
                "1", by: "shy", on: network, mentions: ["bot"], visibility: .private)
            paper.bot.add([mention], to: .mentions)
            try await run(parts)
            let reply = try #require(try await replies(paper)["1"])
            #expect(reply.state == (network == .mastodon ? .done : .skipped))
            #expect(reply.reason == (network == .mastodon ? nil : "not-open"))
            #expect(
                paper.bot.with { $0.published.map(\.visibility) }
                    == (network == .mastodon ? [.private] : []))
        }
    }

    @Test func anAuthorWhoChoosesWhoAnswersIsLeftAlone() async throws {
        let paper = try await PaperMirror(bot: .bluesky)
        let person = AccountID(network: .bluesky, value: "shy")
        try await paper.archive([pastReply("r", to: person, "thanks a lot, dear")])
        let parts = try await paper.parts()
        var mention = paperPost("1", by: "shy", on: .bluesky)
        mention.replyNeedsApproval = true
        paper.bot.add([mention], to: .mentions)
        try await run(parts)
        try await expect(replies(paper)["1"]?.reason, equals: "closed-to-replies")
        #expect(paper.bot.with { $0.published.isEmpty })
    }

    /// Bluesky tells who wrote the posts above of an answer, too.
    @Test(
        arguments: [
            (["carol"], nil), (["friend"], "done"), (["bot", "human"], "done"),
            (["friend", "carol"], nil),
        ] as [([String], String?)])
    func nobodyAboveAMentionIsTold(above: [String], state: String?) async throws {
        let paper = try await PaperMirror(bot: .bluesky, human: .bluesky)
        paper.bot.with { $0.capabilities.repliesNotifyAncestors = true }
        let person = AccountID(network: .bluesky, value: "friend")
        try await paper.archive([pastReply("r", to: person, "thanks a lot, dear")])
        let parts = try await paper.parts()
        var mention = paperPost("1", by: "friend", on: .bluesky, replyTo: "0")
        mention.threadAuthors = Set(above.map { AccountID(network: .bluesky, value: $0) })
        paper.bot.add([mention], to: .mentions)
        try await run(parts)
        let reply = try #require(try await replies(paper)["1"])
        #expect(reply.state.rawValue == state ?? "skipped")
        #expect(reply.reason == (state == nil ? "others-thread" : nil))
    }

    /// Caps hold for what two feeds bring at once.
    @Test func twoPagesAreDecidedOneAfterTheOther() async throws {
        let paper = try await PaperMirror(bot: .mastodon, variables: ["REPLIES_PER_PERSON": "1"])
        let person = AccountID(network: .mastodon, value: "friend")
        try await paper.archive([pastReply("r", to: person, "thanks a lot, dear")])
        let decider = try await paper.parts().mentionDecider
        let now = paper.clock.now
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let page = [paperPost("\(number)", on: .mastodon)]
                group.addTask { _ = try? await decider.decide(page, now: now, tries: 0) }
            }
        }
        try await expect(replies(paper).values.count { $0.state == .planned }, equals: 1)
    }

    @Test func peopleOfAnotherNetworkAreAnsweredOnlyIfTheyAreLinked() async throws {
        let paper = try await PaperMirror(bot: .bluesky, human: .x)
        let aoi = AccountID(network: .x, value: "101")
        let ren = AccountID(network: .x, value: "102")
        try await paper.archive([
            pastReply("1", to: aoi, "thanks, dear Aoi"),
            pastReply("2", to: ren, "thanks, dear Ren"),
        ])
        // The same letters are no proof.
        try await paper.mirror.people.link(AccountID(network: .bluesky, value: "did:plc:aoi"), aoi)
        let parts = try await paper.parts()
        paper.bot.add(
            [
                paperPost("a", by: "did:plc:aoi", on: .bluesky),
                paperPost("b", by: "102", on: .bluesky),
            ], to: .mentions)
        try await run(parts)
        let replies = try await replies(paper)
        #expect(replies["a"]?.state == .done)
        #expect(replies["a"]?.text == "thanks, dear Aoi")
        #expect(replies["b"]?.state == .skipped)
        #expect(replies["b"]?.reason == "not-linked")
        let why = try #require(replies["b"]?.explanation).summary
        #expect(why.contains("answered people on X"))
        #expect(why.contains("mirror-bot people link"))
    }

    @Test func aPersonWithTwoAccountsIsStillOnePerson() async throws {
        let paper = try await PaperMirror(bot: .mastodon, variables: ["REPLIES_PER_PERSON": "2"])
        let accounts = ["one@a.example", "two@b.example"].map {
            AccountID(network: .mastodon, value: $0)
        }
        try await paper.mirror.people.link(accounts[0], accounts[1])
        try await paper.archive(
            (0..<5).map { pastReply("r\($0)", to: accounts[0], "thanks \($0) times, dear") })
        let parts = try await paper.parts()
        paper.bot.add(
            (0..<4).map {
                paperPost(
                    "\($0)", by: accounts[$0 % 2].value, on: .mastodon, "hello @bot",
                    mentions: ["bot"])
            }, to: .mentions)
        try await run(parts)
        let all = try await replies(paper).values
        #expect(all.count { $0.state == .done } == 2)
        #expect(all.count { $0.reason == "person-cap" } == 2)
    }

    @Test func strangersOfTheSameNetworkAreNotToBeLinked() async throws {
        let paper = try await PaperMirror(bot: .bluesky)
        try await paper.archive([
            pastReply(
                "1", to: AccountID(network: .bluesky, value: "did:plc:aoi"), "thanks, dear Aoi")
        ])
        let parts = try await paper.parts()
        paper.bot.add([paperPost("b", by: "did:plc:ren", on: .bluesky)], to: .mentions)
        try await run(parts)
        try await expect(replies(paper)["b"]?.reason, equals: "no-past-reply")
    }

    // MARK: Publishing

    @Test func nothingIsPublishedUntilTheOperatorKnowsTheRules() async throws {
        let paper = try await PaperMirror(bot: .x)
        let friend = AccountID(network: .x, value: "friend")
        try await paper.archive(
            [pastReply("r", to: friend, "thanks, dear friend")]
                + (0..<60).map { number in
                    Post(
                        id: PostID(network: .x, value: "\(number)"),
                        author: AccountID(network: .x, value: "human"),
                        text: "thought number \(number)",
                        createdAt: PaperMirror.now - 40 * 86_400 - Double(number) * 3_600)
                })
        paper.bot.with { $0.capabilities.canPublish = false }
        let parts = try await paper.parts()
        #expect(
            paper.log.values.count {
                $0.hasPrefix("warning Nothing is published: set X_ACKNOWLEDGE_POLICY=yes")
            } == 1)
        paper.bot.add([paperPost("m", on: .x, mentions: ["bot"])], to: .mentions)
        for _ in 0..<288 {
            try await run(parts)
            try await paper.wait(300)
        }
        let reply = try #require(try await replies(paper)["m"])
        #expect(reply.state == .skipped)
        #expect(reply.reason == "policy-not-acknowledged")
        let slots = try await paper.actions(.post).filter {
            $0.due < paper.clock.now - 900 && $0.reason != "before-start"
        }
        #expect(slots.count > 3)
        expect(slots) {
            $0.allSatisfy { $0.state == .skipped && $0.reason == "policy-not-acknowledged" }
        }
        #expect(paper.bot.with { $0.published.isEmpty })
        #expect(paper.log.values.count { $0.contains("Nothing is published") } == 1)
        // Once the operator agrees, the rest goes out, and nothing of the past.
        paper.bot.with { $0.capabilities.canPublish = true }
        let agreed = try await paper.parts()
        let since = paper.clock.now
        for _ in 0..<288 {
            try await run(agreed)
            try await paper.wait(300)
        }
        let sent = try await paper.actions(.post).filter { $0.state == .done }
        #expect(sent.count > 3)
        expect(sent) { $0.allSatisfy { $0.due >= since - 900 } }
        #expect(paper.bot.with { $0.published.count } == sent.count)
    }

    @Test func textsFollowTheCustomsOfTheBotsNetwork() async throws {
        let text = "#cats and @aoi: https://example.org/1"
        for (network, links, expected) in [
            (NetworkName.x, "", nil), (.x, "on", "cats and aoi: https://example.org/1"),
            (.mastodon, "", "#cats and aoi: https://example.org/1"), (.mastodon, "off", nil),
            (.bluesky, "off", nil),
            (.bluesky, "on", "#cats and aoi: https://example.org/1"),
        ] {
            let paper = try await PaperMirror(
                bot: network, human: .mastodon, variables: ["LINKS": links, "FITNESS": "off"])
            let human = AccountID(network: .mastodon, value: "human")
            let date = PaperMirror.now - 40 * 86_400
            try await paper.archive([
                Post(
                    id: PostID(network: .mastodon, value: "1"), author: human, text: text,
                    createdAt: date)
            ])
            let parts = try await paper.parts()
            var pool = try await TextPool(maker: parts.planner, planned: [], now: PaperMirror.now)
            let today = LocalTime(PaperMirror.now, in: PaperMirror.zone).day
            let choice = try await pool.next(
                at: LocalTime(date, in: PaperMirror.zone).minute, of: today)
            #expect(choice.wording?.text == expected, "\(network) \(links)")
        }
    }

    @Test func onlyTheNetworkOfAPostIsAskedWhetherItIsStillThere() async throws {
        for human in [NetworkName.mastodon, .x] {
            let paper = try await PaperMirror(bot: .mastodon, human: human)
            let friend = AccountID(network: .mastodon, value: "friend")
            var past = pastReply("r", to: AccountID(network: .x, value: "7"), "thanks, dear friend")
            past.address = "address-r"
            try await paper.archive([past])
            try await paper.mirror.people.link(friend, AccountID(network: .x, value: "7"))
            let parts = try await paper.parts()
            paper.bot.add([paperPost("m", on: .mastodon)], to: .mentions)
            try await run(parts)
            let reply = try #require(try await replies(paper)["m"])
            // On X the post is gone; Mastodon cannot know.
            #expect(paper.human?.with { $0.lookedUp } == (human == .x ? ["address-r"] : []))
            #expect(reply.state == (human == .x ? .skipped : .done))
            #expect(reply.reason == (human == .x ? "source-gone" : nil))
        }
    }

    // MARK: Favorites

    /// The state of each favorite after a look at posts about tea by these people.
    private func favorites(
        _ network: NetworkName, mode: String = "auto",
        _ prepare: (PaperMirror) async throws -> Void = { _ in }
    ) async throws -> (PaperMirror, [String: Action]) {
        let paper = try await PaperMirror(
            bot: network, variables: ["FAVORITE_MODE": mode, "CONFIRM_STOP": "no"])
        try await paper.teachTea(on: network)
        try await prepare(paper)
        let parts = try await paper.parts()
        paper.bot.add(
            ["stranger", "allowed", "caller", "denied", "weary"].map { name in
                paperPost("tea-\(name)", by: name, on: network, "green tea in my garden")
            } + [paperPost("train", by: "stranger", on: network, "delayed train at a platform")],
            to: .home)
        try await run(parts)
        let actions = try await paper.actions(.favorite)
        return (paper, Dictionary(uniqueKeysWithValues: actions.map { ($0.subject, $0) }))
    }

    private func prepare(_ paper: PaperMirror) async throws {
        let network = paper.bot.name
        let people = paper.mirror.people
        try await people.set(
            .allow, for: AccountID(network: network, value: "allowed"), at: PaperMirror.now)
        try await people.set(
            .deny, for: AccountID(network: network, value: "denied"), at: PaperMirror.now)
        paper.bot.add(
            [
                paperPost("m1", by: "caller", on: network, "hello @bot", mentions: ["bot"]),
                paperPost("m2", by: "weary", on: network, "stop", mentions: ["bot"]),
            ], to: .mentions)
    }

    @Test func onMastodonFavoritesAreGivenToAnybody() async throws {
        let (paper, actions) = try await favorites(.mastodon, prepare)
        #expect(Set(actions.keys) == ["tea-stranger", "tea-allowed", "tea-caller"])
        expect(actions.values) { $0.allSatisfy { $0.state == .done } }
        #expect(paper.bot.with { $0.favorited.count } == 3)
    }

    @Test func onBlueskyOnlyThoseWhoWantItGetFavoritesByThemselves() async throws {
        let (paper, actions) = try await favorites(.bluesky, prepare)
        #expect(
            actions.mapValues(\.state) == [
                "tea-stranger": .suggested, "tea-allowed": .done, "tea-caller": .done,
            ])
        #expect(
            Set(paper.bot.with { $0.favorited.map(\.address) }) == [
                "address-tea-allowed", "address-tea-caller",
            ])
        let why = actions["tea-stranger"]?.explanation?.summary
        #expect(why == Self.summary + "; the author has not asked for the bot's attention")
        #expect(actions["tea-caller"]?.explanation?.summary == Self.summary)
        // The bot favorites what is at most six hours old; a person is left a week.
        #expect(actions["tea-caller"]?.expires == PaperMirror.now + 6 * 3_600)
        #expect(actions["tea-stranger"]?.expires == paper.clock.now + 7 * 86_400)
    }

    @Test func onXFavoritesAreLeftToAPerson() async throws {
        let (paper, actions) = try await favorites(.x, prepare)
        #expect(actions.count == 3)
        expect(actions.values) { $0.allSatisfy { $0.state == .suggested } }
        #expect(paper.bot.with { $0.favorited.isEmpty })
        let why = actions["tea-allowed"]?.explanation?.summary
        #expect(
            why == Self.summary
                + "; the network does not let software give favorites, so do it by hand")
        // A person who agrees does not change what the network refuses.
        let id = try #require(actions["tea-allowed"]?.id)
        #expect(
            try await paper.mirror.outbox(lease: nil).approve(
                id, now: paper.clock.now, expires: paper.clock.now + 60) != nil)
        let parts = try await paper.parts()
        try await parts.courier.deliverDue([.favorite])
        let ended = try await paper.actions(.favorite).first { $0.id == id }
        #expect(ended?.state == .skipped)
        #expect(ended?.reason == "by-hand")
        #expect(paper.bot.with { $0.favorited.isEmpty })
    }

    @Test func whoSuggestsSuggestsToEverybody() async throws {
        for network in [NetworkName.mastodon, .bluesky] {
            let (_, actions) = try await favorites(network, mode: "suggest", prepare)
            #expect(actions.count == 3)
            expect(actions.values) { $0.allSatisfy { $0.state == .suggested } }
            expect(actions.values) { $0.allSatisfy { $0.explanation?.summary == Self.summary } }
        }
    }
}
