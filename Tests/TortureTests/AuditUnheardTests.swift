import Expectations
import Foundation
import Networks
import Posts
import TestSupport
import Testing

@testable import Outbox
@testable import Sandbox
@testable import Torture

/// Of everybody who spoke to the bot somebody can see what became of it.
@Suite struct AuditUnheardTests {
    // MARK: No row

    @Test(arguments: NetworkName.allCases) func aMentionWithoutARowIsUnheard(network: NetworkName) {
        var run = AuditRun(network)
        run.mention(hour: 5)
        let report = run.report
        #expect((report.unheard, report.lost, report.mentions) == (1, 0, 1))
        #expect(!report.isClean)
    }

    @Test func evenAMentionThatDeservesNoAnswerIsDecidedAbout() {
        var run = AuditRun(.x)
        for kind in [SandboxMention.Kind.stranger, .automated, .optedOut, .stop, .afterStop] {
            run.mention(hour: 5, kind: kind)
        }
        #expect(run.report.unheard == 5)
    }

    @Test func aMentionThatNobodyHadTheTimeToReadIsNotJudged() {
        var run = AuditRun(.x)
        run.mention(hour: 23.99)
        run.mention(hour: 12)
        run.disturb(.noServer, hours: 11.9...23.9)
        #expect(run.report.findings == [])
        #expect(run.report.mentions == 0)
    }

    @Test func aFeedThatCannotBeReadExcusesForAsLongAsThat() {
        var run = AuditRun(.mastodon)
        run.mention(hour: 12)
        run.disturb(.noFeed, hours: 11.9...23.97)
        #expect(run.report.unheard == 0)
        run.input.disturbances = []
        run.disturb(.noFeed, hours: 11.9...20)
        #expect(run.report.unheard == 1)
    }

    @Test func aFeedThatCannotBeReadKeepsNoPostFromItsTime() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 12), as: .expired)
        run.disturb(.noFeed, hours: 11...14)
        #expect(run.report.lost == 1)
    }

    @Test func anotherActionAboutTheSamePostIsNoDecision() throws {
        var run = AuditRun(.mastodon)
        let favorite = run.favorite(hour: 5)
        var mention = run.mention(hour: 5)
        mention.identity = try #require(run[favorite].target).post
        run.ledger.mentions = [mention]
        #expect(run.report.unheard == 1)
    }

    // MARK: Late, or never

    @Test(arguments: [SandboxNotice.late(3_600), .never])
    func whatIsSweptOnceADayHasADay(_ notice: SandboxNotice) {
        var run = AuditRun(.mastodon)
        run.mention(hour: 5, notice: notice)
        #expect(run.report.findings == [])
        run.input.now += 12 * 3_600
        #expect(run.report.unheard == 1)
    }

    /// What nobody told of can only be found below the bot's own post.
    @Test func whatIsBelowWhatIsNeverGivenOutCountsIfStatusTells() {
        var run = AuditRun(.mastodon)
        run.mention(hour: 1, notice: .never, below: "own")
        run.input.now += 12 * 3_600
        run.refuse(.thread, "own", hours: 1)
        run.feed.waiting = 1
        #expect(run.report.unheard == 1)
        run.refuse(.thread, "own")
        #expect((run.report.unheard, run.report.unreached) == (0, 1))
        run.feed.waiting = 0
        #expect(run.report.unheard == 1)
        run.mention(hour: 1, below: "own")
        #expect(run.report.unheard == 2)
    }

    @Test func whatCameLateMayBeTooOld() {
        var run = AuditRun(.mastodon)
        let index = run.answer(hour: 5)
        run.end(index, as: .skipped, reason: "too-old")
        #expect(run.report.unexplained == 1)
        run.ledger.mentions[0].notice = .late(7_200)
        #expect(run.report.findings == [])
    }

    // MARK: Notes

    @Test(arguments: [Hearing.Item.State.unreadable, .waiting, .givenUp])
    func aNoteNamesTheReason(_ state: Hearing.Item.State) {
        var run = AuditRun(.mastodon)
        let mention = run.mention(hour: 5, burden: .flaw(.half))
        run.note(mention.identity, state)
        let other = run.mention(hour: 6, burden: .padding(bytes: 9 << 20))
        run.note(other.notification ?? "", state)
        #expect(run.report.findings == [])
        #expect(run.report.mentions == 2)
    }

    @Test func eachNoteNamesOneMention() {
        var run = AuditRun(.mastodon)
        for hour in [5.0, 6, 7] { run.mention(hour: hour, burden: .flaw(.noName)) }
        run.note("#a1", .unreadable)
        run.note("#b2", .unreadable)
        #expect(run.report.unheard == 1)
        run.note("#c3", .unreadable)
        #expect(run.report.findings == [])
    }

    /// Nothing tells one null from another.
    @Test func oneNoteNamesAllThatSayNothing() {
        var run = AuditRun(.x)
        for hour in [5.0, 6, 7] { run.mention(hour: hour, burden: .flaw(.null)) }
        #expect(run.report.unheard == 3)
        run.note("#a1", .unreadable)
        #expect(run.report.findings == [])
        run.mention(hour: 8, burden: .flaw(.noName))
        run.mention(hour: 9, burden: .flaw(.noName))
        #expect(run.report.unheard == 1)
    }

    @Test func aNamelessNoteExplainsNothingThatCouldBeRead() {
        var run = AuditRun(.mastodon)
        run.mention(hour: 5)
        run.mention(hour: 6, burden: .padding(bytes: 1 << 20))
        run.mention(hour: 7, burden: .crowd(posts: 4_096))
        for name in ["#a1", "#b2", "#c3"] { run.note(name, .unreadable) }
        #expect(run.report.unheard == 3)
    }

    @Test func whatWaitsWithoutANameExplainsNothing() {
        var run = AuditRun(.mastodon)
        run.mention(hour: 5, burden: .flaw(.null))
        run.note("#a1", .waiting)
        #expect(run.report.unheard == 1)
    }

    @Test func aSoundMentionIsNotLeftWaiting() {
        var run = AuditRun(.mastodon)
        let mention = run.mention(hour: 5)
        run.note(mention.identity, .waiting)
        let report = run.report
        #expect((report.lost, report.unheard) == (1, 0))
        run.refuse(.thread, mention.id)
        #expect(run.report.findings == [])
    }

    @Test func aMentionThatTheNetworkRefusedForAMomentMayWait() {
        var run = AuditRun(.mastodon)
        let mention = run.mention(hour: 5)
        run.note(mention.identity, .waiting)
        run.input.postponedChecks = ["/api/v1/statuses/\(mention.id)0"]
        #expect(run.report.lost == 1)
        run.input.postponedChecks = ["/api/v1/statuses/\(mention.id)/context"]
        #expect(run.report.findings == [])
    }

    @Test func aNoteThatStatusDoesNotShowIsNoReason() {
        var run = AuditRun(.mastodon)
        let mention = run.mention(hour: 5, burden: .flaw(.half))
        run.note(mention.identity, .unreadable)
        run.feed.unreadable = 0
        #expect(run.report.unexplained == 1)
    }

    // MARK: Out of reach

    @Test func aStretchOutOfReachCountsWhereTheNetworkRefusesAPage() {
        var run = AuditRun(.mastodon)
        let mention = run.mention(hour: 5)
        run.feed.unreached = [.init(from: mention.date - 60, to: mention.date + 60)]
        #expect(run.report.unheard == 1)
        run.refuse(.mentions, "min_id=7", .badRequest)
        let report = run.report
        #expect(report.findings == [])
        #expect(report.unreached == 1)
        run.mention(hour: 6)
        #expect(run.report.unheard == 1)
    }

    @Test func aPageThatMayComeBackIsNotOutOfReach() {
        var run = AuditRun(.mastodon)
        let mention = run.mention(hour: 5)
        run.feed.unreached = [.init(from: mention.date - 60, to: mention.date + 60)]
        run.refuse(.mentions, "min_id=7", .gone, hours: 1)
        #expect(run.report.unheard == 1)
    }

    /// Only where it shows so few, and only of what so many have pushed out.
    @Test(arguments: [
        (NetworkName.mastodon, MastodonHabits.Software.mastodon, nil), (.mastodon, .snac, 57),
        (.bluesky, .mastodon, nil), (.x, .mastodon, 700),
    ])
    func aStretchCountsWhereTheNetworkShowsNoMore(
        network: NetworkName, software: MastodonHabits.Software, shown: Int?
    ) {
        var run = AuditRun(network)
        run.input.rules = AuditRules(network, software)
        #expect(run.input.rules.mentionsShown == shown)
        let first = run.mention(hour: 5)
        run.feed.unreached = [.init(from: first.date - 60, to: first.date + 60)]
        #expect(run.report.unheard == 1)
        for number in 0..<(shown ?? 700) {
            let other = run.mention(hour: 5.1 + Double(number) / 3_600)
            run.note(other.identity, .unreadable)
            run.refuse(.thread, other.id)
        }
        let report = run.report
        #expect((report.unheard, report.unreached) == (shown != nil ? (0, 1) : (1, 0)))
    }

    // MARK: Answers that are owed

    @Test(arguments: [SandboxBurden.crowd(posts: 4_096), .padding(bytes: 1 << 20)])
    func whatCanBeReadIsAnswered(_ burden: SandboxBurden) {
        var run = AuditRun(.mastodon)
        let index = run.answer(hour: 5)
        run.burden(index, with: burden)
        run.end(index, as: .skipped, reason: "thread-cap")
        #expect(run.report.unexplained == 1)
    }

    @Test(arguments: [SandboxBurden.flaw(.noAuthor), .padding(bytes: 9 << 20)])
    func whatCannotBeReadIsSkippedForAReason(_ burden: SandboxBurden) {
        var run = AuditRun(.mastodon)
        let index = run.answer(hour: 5)
        run.burden(index, with: burden)
        run.end(index, as: .skipped, reason: "too-large")
        #expect(run.report.findings == [])
        run.end(index, as: .skipped)
        #expect(run.report.unexplained == 1)
    }

    @Test(arguments: NetworkName.allCases) func aRefusedPersonMayBeLeftAlone(network: NetworkName) {
        var run = AuditRun(network)
        let index = run.answer(hour: 5)
        run.end(index, as: .skipped, reason: "author-unknown")
        #expect(run.report.unexplained == 1)
        run.refuse(.person, SandboxIdentity.account(AuditRun.friend, on: network).value)
        #expect(run.report.findings == [])
    }

    @Test func aRefusedConversationIsNoReasonForSilence() {
        var run = AuditRun(.mastodon)
        let index = run.answer(hour: 5)
        run.end(index, as: .skipped, reason: "thread-unavailable")
        run.refuse(.thread, run.ledger.mentions[0].id)
        #expect(run.report.unexplained == 1)
    }

    // MARK: What status prints

    @Test func theFeedsAreReadOutOfTheStatus() throws {
        let feeds = try Hearing.feeds(
            in: """
                {
                  "feeds" : [
                    {
                      "error" : "503",
                      "feed" : "bot-mentions",
                      "lag_seconds" : 4.5,
                      "last_success" : "2026-11-22T10:00:00Z",
                      "unreached" : [ { "from" : "2026-11-22T08:00:00Z", "to" : "2026-11-22T09:00:00Z" } ],
                      "unreadable" : 2,
                      "waiting" : 1
                    }
                  ],
                  "mirror" : "torture"
                }
                """)
        let feed = try #require(feeds.first)
        #expect(
            (feed.feed, feed.error, feed.unreadable, feed.waiting) == ("bot-mentions", "503", 2, 1))
        let hour = try Date("2026-11-22T08:30:00Z", strategy: .iso8601)
        #expect(feed.unreached.map { $0.contains(hour) } == [true])
        #expect(feed.unreached.map { $0.contains(hour + 3_600) } == [false])
        try expect(Hearing.feeds(in: "{\"mirror\": \"torture\"}"), equals: [])
        #expect(throws: (any Error).self) { try Hearing.feeds(in: "error: no such mirror") }
    }
}
