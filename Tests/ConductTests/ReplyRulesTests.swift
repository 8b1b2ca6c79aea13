import Conduct
import Foundation
import Posts
import Testing

@Suite struct ReplyRulesTests {
    private static let facts = MentionFacts(
        post: post("hello there", author: friend),
        author: Account(id: friend, handle: "aoi@example.org"), bot: botID)

    @Test func ordinaryMentionIsAnswered() {
        #expect(ReplyRules().refusal(of: Self.facts, at: noon) == nil)
    }

    @Test(
        arguments: [
            Change("own-post") { $0.author.id = botID },
            Change("own-post") { $0.post.author = botID },
            Change("is-repost") { $0.post.isRepost = true },
            Change("not-mentioned") { $0.mentionsBot = false },
            Change("asked-to-stop") { $0.post.text = "@bot stop" },
            Change("denied") { $0.isDenied = true },
            Change("opted-out") { $0.author.bio = "#nobot" },
            Change("bot-author") { $0.author.isBot = true },
            Change("person-cap") { $0.repliesToPersonToday = 3 },
            Change("thread-cap") { $0.repliesInThread = 5 },
            Change("too-old") { $0.post.createdAt = noon.addingTimeInterval(-24 * 3_600 - 1) },
            Change("bad-time") { $0.post.createdAt = noon.addingTimeInterval(26 * 3_600) },
        ] as [Change<MentionFacts>])
    func otherMentionIsNot(change: Change<MentionFacts>) {
        var facts = Self.facts
        change.apply(&facts)
        #expect(ReplyRules().refusal(of: facts, at: noon)?.code == change.code)
    }

    @Test func limitsAreReachedNotPassed() {
        var facts = Self.facts
        facts.repliesToPersonToday = 2
        facts.repliesInThread = 4
        facts.post.createdAt = noon.addingTimeInterval(-24 * 3_600)
        #expect(ReplyRules().refusal(of: facts, at: noon) == nil)
        #expect(ReplyRules(perPersonPerDay: 2).refusal(of: facts, at: noon)?.code == "person-cap")
        #expect(ReplyRules(perThread: 4).refusal(of: facts, at: noon)?.code == "thread-cap")
        #expect(
            ReplyRules(maximumAge: .seconds(60)).refusal(of: facts, at: noon)?.code == "too-old")
    }

    @Test func requestToStopIsSeenEvenWhenItComesLate() {
        var facts = Self.facts
        facts.post.text = "やめて"
        facts.post.createdAt = noon.addingTimeInterval(-9 * 86_400)
        facts.repliesToPersonToday = 99
        #expect(ReplyRules().refusal(of: facts, at: noon)?.code == "asked-to-stop")
    }
}
