import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What the human deleted is not repeated, and nothing is forgotten because of one wrong answer.
@Suite(.mirrors) struct TakenBackTests {
    /// A mirror whose human has written so many posts, of which the network still shows some.
    private func paper(
        posts count: Int, shown: Set<Int>, _ variables: [String: String] = [:], canEdit: Bool = true
    ) async throws -> (PaperMirror, WorkerParts) {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon, variables: variables)
        paper.bot.with { $0.capabilities.canEdit = canEdit }
        let posts = (0..<count).map { number in
            Post(
                id: Self.id(number), author: AccountID(network: .mastodon, value: "human"),
                text: "thought number \(number) of many",
                createdAt: PaperMirror.now - 86_400 * Double(50 + number),
                address: "address-\(number)")
        }
        try await paper.archive(posts)
        paper.human?.add(
            posts.enumerated().filter { shown.contains($0.offset) }.map { number, post in
                paperPost("\(number)", by: "human", on: .mastodon, post.text, at: post.createdAt)
            }, to: .ownPosts)
        return (paper, try await paper.parts())
    }

    private static func id(_ number: Int) -> PostID {
        PostID(network: .mastodon, value: "\(number)")
    }

    /// Lets a slot with one of the posts be due now, and returns it as it ends.
    private func deliver(_ number: Int, slot: Int, of paper: PaperMirror, _ parts: WorkerParts)
        async throws -> Action
    {
        let now = paper.clock.now
        let day = LocalTime(now, in: PaperMirror.zone).day
        let wording = Action.Wording(
            source: Self.id(number), text: "thought number \(number) of many", visibility: .unlisted
        )
        let intent = Intent(
            .post(Slot.Name(day: day, number: slot), wording), due: now, expires: now + 900)
        _ = try await parts.planner.store.propose(intent, now: now)
        try await parts.courier.deliverDue([.post])
        return try #require(
            try await parts.planner.store.action(.post, subject: intent.payload.subject))
    }

    private func isArchived(_ number: Int, in paper: PaperMirror) async throws -> Bool {
        try await paper.mirror.archive.post(Self.id(number)) != nil
    }

    @Test func onlyASecondAnswerMakesAPostForgotten() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: Set(1..<6))
        let ended = try await deliver(0, slot: 1, of: paper, parts)
        #expect(ended.state == .done)
        #expect(ended.wording?.source != Self.id(0))
        #expect(try await isArchived(0, in: paper))
        try await paper.wait(540)
        try await parts.courier.deliverDue([.post])
        #expect(try await isArchived(0, in: paper))
        try await paper.wait(120)
        try await parts.courier.deliverDue([.post])
        #expect(try await !isArchived(0, in: paper))
        #expect(paper.bot.with { $0.published.count } == 1)
    }

    @Test func aServerThatDeniesTheAccountIsNotBelieved() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: Set(1..<6))
        _ = try await deliver(0, slot: 1, of: paper, parts)
        let human = try #require(paper.human)
        human.fail(.verifyAccount, .unavailable)
        for _ in 0..<6 {
            try await paper.wait(660)
            try await parts.courier.deliverDue([.post])
        }
        #expect(try await isArchived(0, in: paper))
        let asked = human.with { $0.lookedUp.count { $0 == "address-0" } }
        #expect(asked <= 7, "a doubt is no reason to ask all the time")
    }

    /// Whether the account is verified decides about forgetting; what is not there is not said in
    /// either case.
    @Test func whatIsDeniedIsNotSaidWhileTheAccountCannotBeVerified() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: Set(1..<6))
        _ = try await deliver(0, slot: 1, of: paper, parts)
        let human = try #require(paper.human)
        human.fail(.verifyAccount, .unavailable)
        try await paper.wait(660)
        let ended = try await deliver(0, slot: 2, of: paper, parts)
        #expect(ended.wording?.source != Self.id(0))
        #expect(
            paper.bot.with { $0.published.allSatisfy { $0.text != "thought number 0 of many" } })
        #expect(try await isArchived(0, in: paper))
    }

    /// A server that lets each call wait does not let what is due wait behind forty of them.
    @Test func doubtsAreNotAskedAboutOneAfterTheOtherWhereNobodyAnswers() async throws {
        let (paper, parts) = try await published(13)
        let human = try #require(paper.human)
        // One is left that tells that the server is not out of order.
        human.with { state in state.feeds[.ownPosts]?.removeAll { $0.address != "address-12" } }
        _ = try await parts.originals.look()
        for silent in [NetworkError.Operation.readPost, .verifyAccount] {
            human.fail(silent, .transport)
            human.with { $0.lookedUp = [] }
            try await paper.wait(660)
            for _ in 0..<3 { try await parts.originals.askAgain() }
            #expect(human.with { $0.lookedUp.count } == 1)
        }
        human.fail(nil)
        try await paper.wait(660)
        try await parts.originals.askAgain()
        try await expect(paper.mirror.archive.count(), equals: 2)
    }

    @Test func aPostThatComesBackIsNotForgotten() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: Set(1..<6))
        _ = try await deliver(0, slot: 1, of: paper, parts)
        paper.human?.add([paperPost("0", by: "human", on: .mastodon)], to: .ownPosts)
        try await paper.wait(660)
        try await parts.courier.deliverDue([.post])
        paper.human?.with { $0.feeds[.ownPosts]?.removeAll { $0.address == "address-0" } }
        try await paper.wait(660)
        try await parts.courier.deliverDue([.post])
        #expect(try await isArchived(0, in: paper))
    }

    /// What stands in for a deleted post is looked at as closely.
    @Test func aReplacementMustBeThereToo() async throws {
        let (paper, parts) = try await paper(posts: 30, shown: [7, 11])
        var used: Set<PostID> = []
        for slot in 1...4 {
            let ended = try await deliver(0, slot: slot, of: paper, parts)
            if ended.state == .done {
                used.insert(try #require(ended.wording).source)
            } else {
                #expect(ended.state == .skipped)
                #expect(["source-gone", "no-text"].contains(ended.reason))
            }
            try await paper.wait(120)
        }
        #expect(used.isSubset(of: [Self.id(7), Self.id(11)]))
        let looks = paper.human?.with { $0.lookedUp.count } ?? 0
        #expect(looks <= 4 * 4, "its own text, and three others")
    }

    @Test func whatIsNoLongerForEverybodyIsNotUsed() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: [])
        let secret = (0..<6).map {
            paperPost("\($0)", by: "human", on: .mastodon, visibility: .private)
        }
        paper.human?.add(secret, to: .ownPosts)
        let ended = try await deliver(0, slot: 1, of: paper, parts)
        #expect(ended.state == .skipped)
        #expect(ended.reason == "source-gone")
        #expect(paper.bot.with { $0.published.isEmpty })
    }

    @Test func aCallThatWasCutOffTellsNothing() async throws {
        let (paper, parts) = try await paper(posts: 3, shown: [])
        paper.human?.with { $0.cutsCallsOff = true }
        try await expect(deliver(0, slot: 1, of: paper, parts).state, equals: .done)
        #expect(try await isArchived(0, in: paper))
    }

    /// On a later page its author may have asked to stop.
    @Test func anAnswerWaitsUntilWhatWasSaidBeforeIsRead() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: Set(0..<6))
        let now = paper.clock.now
        let wording = Action.Wording(
            source: Self.id(1), text: "thought number 1 of many", visibility: .unlisted)
        func answer(_ name: String) async throws -> Action {
            paper.bot.add([paperPost(name, on: .mastodon)], to: .mentions)
            let target = Action.Target(
                post: name, author: .mastodon("pal@a.example", localHost: ""),
                address: "address-\(name)")
            let intent = Intent(
                .reply(Action.Reply(to: target, thread: name, wording: wording)), due: now,
                expires: now + 86_400)
            return try await parts.planner.store.propose(intent, now: now).action
        }
        func state(_ action: Action) async throws -> ActionState? {
            try await parts.planner.store.action(.reply, subject: action.subject)?.state
        }
        let first = try await answer("one")
        try await parts.courier.deliverDue([.reply], mentionsRead: nil)
        try await parts.courier.deliverDue([.reply], mentionsRead: now - 1)
        try await expect(state(first), equals: .planned)
        try await parts.courier.deliverDue([.reply], mentionsRead: now)
        try await expect(state(first), equals: .done)
        // However long that takes.
        let second = try await answer("two")
        try await paper.wait(80_000)
        try await parts.courier.deliverDue([.reply], mentionsRead: now - 1)
        try await expect(state(second), equals: .planned)
        try await parts.courier.deliverDue([.reply], mentionsRead: paper.clock.now)
        try await expect(state(second), equals: .done)
    }

    /// Answers that wait to be heard keep no post from leaving, and call nobody every second.
    @Test func answersThatWaitHoldUpNothingElse() async throws {
        let (paper, parts) = try await paper(posts: 2, shown: [0, 1])
        let now = paper.clock.now
        for number in 0..<30 {
            let author = AccountID(network: .mastodon, value: "friend-\(number)")
            let reply = Action.Reply(
                to: Action.Target(
                    post: "m\(number)", author: author, address: "address-m\(number)"),
                thread: "m\(number)",
                wording: Action.Wording(
                    source: Self.id(1), text: "thank you", visibility: .unlisted))
            _ = try await parts.store.propose(
                Intent(.reply(reply), due: now - 60, expires: now + 86_400), now: now)
        }
        let slot = Action.Wording(
            source: Self.id(0), text: "thought number 0 of many", visibility: .unlisted)
        let day = LocalTime(now, in: PaperMirror.zone).day
        _ = try await parts.store.propose(
            Intent(.post(Slot.Name(day: day, number: 1), slot), due: now, expires: now + 900),
            now: now)
        let nextWorkTime = try await parts.courier.deliverDue(
            ActionKind.allCases, mentionsRead: now - 60)
        #expect(paper.bot.with { $0.published.map(\.text) } == ["thought number 0 of many"])
        #expect(nextWorkTime.map { $0 > now } ?? true)
        // Once everything is heard they leave.
        try await parts.courier.deliverDue(ActionKind.allCases, mentionsRead: now)
        #expect(paper.bot.with { $0.published.count } > 1)
    }

    // MARK: What was published before

    /// Publishes so many posts of a human who shows them all.
    private func published(
        _ count: Int, _ variables: [String: String] = [:], canEdit: Bool = true
    ) async throws -> (PaperMirror, WorkerParts) {
        let (paper, parts) = try await paper(
            posts: count + 1, shown: Set(0...count), variables, canEdit: canEdit)
        for number in 0..<count {
            let ended = try await deliver(number, slot: number + 1, of: paper, parts)
            try #require(ended.state == .done && ended.wording?.source == Self.id(number))
            try await paper.wait(60)
        }
        return (paper, parts)
    }

    private func change(
        _ number: Int, of paper: PaperMirror, _ change: (inout ObservedPost) -> Void
    ) {
        paper.human?.with { state in
            guard
                let place = state.feeds[.ownPosts]?.firstIndex(where: {
                    $0.address == "address-\(number)"
                })
            else {
                return
            }
            change(&state.feeds[.ownPosts, default: []][place])
        }
    }

    private func slots(of paper: PaperMirror) async throws -> [Action] {
        try await paper.actions(.post).sorted { $0.due < $1.due }
    }

    /// One answer may be wrong; what is asked for later, by another worker, is as good as at once.
    @Test(arguments: [false, true]) func aCopyGoesWithItsOriginal(restarts: Bool) async throws {
        var (paper, parts) = try await published(2)
        paper.human?.with { $0.feeds[.ownPosts]?.removeAll { $0.address == "address-0" } }
        _ = try await parts.originals.look()
        try await expect(slots(of: paper)) { $0.allSatisfy { $0.undo == nil } }
        try await paper.wait(restarts ? 3_700 : 660)
        if restarts {
            parts = try await paper.worker().parts(
                bot: paper.bot, human: paper.human, lease: nil, deliverer: nil)
            _ = try await parts.originals.look()
        } else {
            try await parts.originals.askAgain()
        }
        try await expect(slots(of: paper).map { $0.undo?.reason }, equals: ["source-gone", nil])
        #expect(try await !isArchived(0, in: paper))
        #expect(try await isArchived(1, in: paper))
    }

    /// Young copies are looked after every hour, and none twice as often.
    @Test func originalsAreLookedAtInTurn() async throws {
        let (paper, parts) = try await published(3)
        paper.human?.with { $0.lookedUp = [] }
        for _ in 0..<3 { _ = try await parts.originals.look() }
        #expect(
            paper.human?.with { $0.lookedUp.sorted() } == ["address-0", "address-1", "address-2"])
        try await paper.wait(3_601)
        _ = try await parts.originals.look()
        #expect(paper.human?.with { $0.lookedUp.count } == 6)
        try await paper.wait(31 * 86_400)
        _ = try await parts.originals.look()
        try await paper.wait(3_601)
        _ = try await parts.originals.look()
        #expect(paper.human?.with { $0.lookedUp.count } == 9)
        try await paper.wait(86_400)
        _ = try await parts.originals.look()
        #expect(paper.human?.with { $0.lookedUp.count } == 12)
    }

    /// A human who deletes everything may want to keep the mirror.
    @Test func aPersonIsAskedAboutMoreThanTenInAnHour() async throws {
        let (paper, parts) = try await published(14)
        // One is left that tells that the server is not out of order.
        paper.human?.with { state in
            state.feeds[.ownPosts]?.removeAll { $0.address != "address-13" }
        }
        _ = try await parts.originals.look()
        try await paper.wait(660)
        try await parts.originals.askAgain()
        let store = parts.store
        try await expect(slots(of: paper).count { $0.undo != nil }, equals: 10)
        try await expect(
            ReportNumbers(of: paper.mirror, now: paper.clock.now).undo.proposed, equals: 3)
        try await expect(store.proposedUndos()) {
            $0.allSatisfy { $0.undo == nil && $0.state == .done }
        }
        expect(paper.log.values) { $0.contains { $0.contains("Not taken back without a person") } }
        try await expect(store.rejectProposedUndos(), equals: 3)
        try await expect(
            ReportNumbers(of: paper.mirror, now: paper.clock.now).undo.proposed, equals: 0)
        try await paper.wait(2 * 86_400)
        _ = try await parts.originals.look()
        try await expect(slots(of: paper).count { $0.undo != nil }, equals: 10)
    }

    /// A list shows the change before the turn of the original comes, as news or as what was read
    /// before.
    @Test(arguments: [true, false]) func aChangeThatAListShowsIsFollowedAtOnce(isNews: Bool)
        async throws
    {
        let (paper, parts) = try await published(2)
        // Both have had their turn, and the next one is an hour away.
        _ = try await parts.originals.look()
        let passes = Passes(parts: parts)
        let feed = try #require(parts.feeds.humanPosts)
        _ = try await passes.humanPosts(feed)
        try await paper.wait(60)
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 1
        }
        let human = try #require(paper.human)
        let shown = human.with { $0.feeds[.ownPosts] ?? [] }
        if isNews { human.add(shown, to: .ownPosts) } else { human.with { $0.shownAgain = shown } }
        human.with { $0.lookedUp = [] }
        _ = try await passes.humanPosts(feed)
        #expect(
            paper.bot.with { $0.edited.map(\.draft.text) } == ["thought number zero, said better"])
        #expect(human.with { $0.lookedUp } == ["address-0"])
        // Once, although the list shows it with every look.
        try await paper.wait(60)
        _ = try await passes.humanPosts(feed)
        try await parts.originals.noteShown(shown)
        #expect(human.with { $0.lookedUp } == ["address-0"])
        try await expect(slots(of: paper).map(\.text)) {
            $0.contains("thought number zero, said better")
        }
    }

    /// The publisher may sleep for hours, and is told of what a list led to.
    @Test func aWishThatAListLedToHurriesThePublisher() async throws {
        let (paper, parts) = try await published(1, ["FOLLOW_EDITS": "delete"])
        _ = try await parts.originals.look()
        let hurries = Recorder<Date>()
        let passes = Passes(parts: parts, onNews: { hurries.add(paper.clock.now) })
        let feed = try #require(parts.feeds.humanPosts)
        let human = try #require(paper.human)
        _ = try await passes.humanPosts(feed)
        // Nothing is new, and what is shown again is as it was.
        human.with { $0.shownAgain = $0.feeds[.ownPosts] ?? [] }
        try await paper.wait(60)
        let before = hurries.values.count
        _ = try await passes.humanPosts(feed)
        try #require(hurries.values.count == before)
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 1
        }
        human.with { $0.shownAgain = $0.feeds[.ownPosts] ?? [] }
        try await paper.wait(60)
        _ = try await passes.humanPosts(feed)
        try await expect(slots(of: paper).map { $0.undo?.reason }, equals: ["source-edited"])
        #expect(hurries.values.count == before + 1)
    }

    /// What the publisher itself finds out is due at once, and not when it looks again.
    @Test func aWishOfThePublisherIsDueAtOnce() async throws {
        let (paper, parts) = try await published(2)
        paper.human?.with { $0.feeds[.ownPosts]?.removeAll { $0.address == "address-0" } }
        _ = try await parts.originals.look()
        try await paper.wait(660)
        let next = try await parts.courier.deliverDue(ActionKind.allCases)
        try await expect(slots(of: paper).map { $0.undo?.reason }, equals: ["source-gone", nil])
        expect(next) { next in next.map { $0 <= paper.clock.now } == true }
        try await parts.courier.deliverDue(ActionKind.allCases)
        try await expect(slots(of: paper).map(\.state), equals: [.undone, .done])
    }

    /// What a list shows is not enough: the post itself decides.
    @Test func aListAloneChangesNothing() async throws {
        let (paper, parts) = try await published(1)
        var shown = try #require(paper.human?.with { $0.feeds[.ownPosts]?.first })
        shown.post.text = "words that nobody has written"
        try await parts.originals.noteShown([shown])
        #expect(paper.bot.with { $0.edited.isEmpty })
        try await expect(slots(of: paper)) { $0.allSatisfy { $0.undo == nil } }
    }

    @Test func aCopyIsChangedWithItsOriginal() async throws {
        let (paper, parts) = try await published(2)
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 1
        }
        for _ in 0..<2 {
            _ = try await parts.originals.look()
            try await paper.wait(3_601)
        }
        let edited = paper.bot.with { $0.edited }
        #expect(edited.map(\.0) == ["published-1"])
        #expect(edited.map(\.1.text) == ["thought number zero, said better"])
        let slots = try await slots(of: paper)
        #expect(
            slots.map(\.text) == ["thought number zero, said better", "thought number 1 of many"])
        expect(slots) { $0.allSatisfy { $0.undo == nil && $0.state == .done } }
        try await expect(
            paper.mirror.archive.post(Self.id(0))?.text, equals: "thought number zero, said better")
    }

    @Test(
        arguments: [
            ([:], false, false, "source-edited"),
            (["FOLLOW_EDITS": "delete"], true, false, "source-edited"),
            ([:], true, true, "source-edited"), (["FOLLOW_EDITS": "off"], true, false, nil),
        ] as [([String: String], Bool, Bool, String?)])
    func whatCannotBeChangedIsTakenBack(
        settings: [String: String], canEdit: Bool, hasPicture: Bool, reason: String?
    ) async throws {
        let (paper, parts) = try await published(1, settings, canEdit: canEdit)
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.post.hasMedia = hasPicture
            post.editedAt = paper.clock.now - 1
        }
        for _ in 0..<2 {
            _ = try await parts.originals.look()
            try await paper.wait(3_601)
        }
        try await expect(slots(of: paper).map { $0.undo?.reason.rawValue }, equals: [reason])
        #expect(paper.bot.with { $0.edited.isEmpty })
    }

    /// An archive may not have told that the post quotes another.
    @Test func whatTheNetworkKnowsToQuoteIsNotUsed() async throws {
        let (paper, parts) = try await published(1)
        change(0, of: paper) { $0.post.isQuote = true }
        let post = try #require(try await paper.mirror.archive.post(Self.id(0)))
        try await expect(parts.originals.find(post)) { $0 == .withheld }
    }

    @Test func aChangeThatBringsAQuoteIsTakenBack() async throws {
        let (paper, parts) = try await published(1)
        change(0, of: paper) { post in
            post.post.isQuote = true
            post.editedAt = paper.clock.now - 1
        }
        _ = try await parts.originals.look()
        try await expect(slots(of: paper).map { $0.undo?.reason }, equals: ["source-edited"])
        try await expect(paper.mirror.archive.post(Self.id(0))?.isQuote, equals: true)
    }

    /// Words that are never to be said do not come in by an edit.
    @Test func aChangeThatBringsAMutedWordIsTakenBack() async throws {
        let (paper, parts) = try await published(1)
        _ = try await paper.mirror.archive.mute("word", "better", now: paper.clock.now)
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 1
        }
        _ = try await parts.originals.look()
        try await expect(slots(of: paper).map { $0.undo?.reason }, equals: ["source-edited"])
        #expect(paper.bot.with { $0.edited.isEmpty })
    }

    @Test func nothingIsChangedWhileTheMirrorPauses() async throws {
        let (paper, parts) = try await published(1)
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 1
        }
        try await paper.mirror.table.pause(until: nil, reason: nil, now: paper.clock.now)
        let error = await #expect(throws: OutboxError.self) { try await parts.originals.look() }
        #expect(error?.code == .paused)
        #expect(paper.bot.with { $0.edited.isEmpty })
        _ = try await paper.mirror.table.resume(now: paper.clock.now)
        _ = try await parts.originals.look()
        #expect(paper.bot.with { $0.edited.count } == 1)
    }

    /// A server that promises changes and refuses this one for good, or for now.
    @Test(
        arguments: [(NetworkError.Code.rejected, "source-edited"), (.unavailable, nil)]
            as [(_, String?)])
    func aRefusedChangeIsTakenBackOrTriedAgain(code: NetworkError.Code, reason: String?)
        async throws
    {
        let (paper, parts) = try await published(1)
        let bot = paper.bot
        bot.fail(.edit, code, outcome: .refused)
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 1
        }
        _ = try await parts.originals.look()
        try await expect(slots(of: paper).map { $0.undo?.reason.rawValue }, equals: [reason])
        bot.fail(nil)
        try await paper.wait(3_601)
        _ = try await parts.originals.look()
        #expect(bot.with { $0.edited.count } == (reason == nil ? 1 : 0))
    }

    /// No network lets an author narrow what was posted, so that one such answer may be a mistake.
    @Test func whatIsNoLongerForEverybodyGoesAfterASecondAnswer() async throws {
        let (paper, parts) = try await published(1)
        change(0, of: paper) { $0.post.visibility = .private }
        _ = try await parts.originals.look()
        try await expect(slots(of: paper).map { $0.undo?.reason }, equals: [nil])
        try await paper.wait(660)
        try await parts.originals.askAgain()
        try await expect(slots(of: paper).map { $0.undo?.reason }, equals: ["source-gone"])
    }

    /// What the human has corrected is not sent uncorrected.
    @Test func aTextThatWasChangedIsNotSentAsItWas() async throws {
        let (paper, parts) = try await paper(posts: 2, shown: [0, 1])
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 1
        }
        let ended = try await deliver(0, slot: 1, of: paper, parts)
        #expect(ended.state == .done)
        #expect(ended.text != "thought number 0 of many")
        try await expect(
            paper.mirror.archive.post(Self.id(0))?.text, equals: "thought number zero, said better")
    }

    /// A second request leaves only while what it says may still be said.
    @Test(arguments: ["deleted", "never"]) func whatIsNoLongerWantedIsNotSentAgain(why: String)
        async throws
    {
        let (paper, parts) = try await paper(posts: 2, shown: [0, 1])
        let bot = paper.bot
        bot.fail(.publish, .transport, outcome: .unknown)
        let sent = try await deliver(0, slot: 1, of: paper, parts)
        #expect(sent.state == .sending)
        bot.fail(nil)
        if why == "deleted" {
            paper.human?.with { $0.feeds[.ownPosts]?.removeAll { $0.address == "address-0" } }
        } else {
            let post = try #require(try await paper.mirror.archive.post(Self.id(0)))
            let archive = paper.mirror.archive
            let key = parts.planner.judge.rules.neverKey(of: post)
            let now = paper.clock.now
            _ = try await paper.mirror.storage.transaction {
                try archive.neverUse(key, of: Self.id(0), now: now, on: $0)
            }
        }
        for _ in 0..<20 {
            try await paper.wait(60)
            try await parts.courier.deliverDue([.post])
        }
        #expect(bot.with { $0.published.count } == 1)
        try await expect(parts.store.action(.post, subject: sent.subject)?.state, equals: .failed)
        // It may still be seen, and is taken back then.
        if why == "never" {
            try await expect(parts.store.copies(of: Self.id(0)).map(\.id), equals: [sent.id])
        }
    }

    /// What was changed just before a copy left, and could not be known, is followed all the same.
    @Test func aCopyThatLeftBetweenAChangeAndItsNewsFollows() async throws {
        let (paper, parts) = try await paper(posts: 2, shown: [0, 1])
        let human = try #require(paper.human)
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 300
        }
        human.fail(.readPost, .unavailable)
        let ended = try await deliver(0, slot: 1, of: paper, parts)
        #expect(ended.state == .done)
        #expect(ended.text == "thought number 0 of many")
        human.fail(nil)
        for _ in 0..<2 {
            try await paper.wait(3_601)
            _ = try await parts.originals.look()
        }
        #expect(
            paper.bot.with { $0.edited.map(\.draft.text) } == ["thought number zero, said better"])
    }

    /// One post that the server cannot show keeps nobody from asking about the others.
    @Test func onePostThatCannotBeShownHoldsUpNoOther() async throws {
        let (paper, parts) = try await published(5)
        let human = try #require(paper.human)
        human.with { $0.unreadable = ["address-0"] }
        human.with {
            $0.feeds[.ownPosts]?.removeAll {
                ["address-1", "address-2", "address-3"].contains($0.address)
            }
        }
        for _ in 0..<6 {
            try await paper.wait(660)
            _ = try await parts.originals.look()
            try await parts.originals.askAgain()
        }
        for number in 1...3 { #expect(try await !isArchived(number, in: paper)) }
        #expect(try await isArchived(0, in: paper))
    }

    /// A server that lets each look wait is not asked about forty posts in a row.
    @Test func aLookThatGetsNoAnswerIsTheLastForNow() async throws {
        let (paper, parts) = try await published(5)
        let human = try #require(paper.human)
        human.fail(.readPost, .transport)
        human.with { $0.lookedUp = [] }
        try await paper.wait(3_601)
        _ = try await parts.originals.look()
        #expect(human.with { $0.lookedUp.count } == 1)
        human.fail(nil)
        _ = try await parts.originals.look()
        #expect(Set(human.with { $0.lookedUp }).count == 5)
    }

    /// Whoever learned of the change first: it may be another action, or a worker that ended then.
    @Test func aChangeThatTheArchiveKnowsCountsForWhatWasPlannedBefore() async throws {
        let (paper, parts) = try await paper(posts: 3, shown: [0, 1, 2])
        change(0, of: paper) { post in
            post.post.text = "thought number zero, said better"
            post.editedAt = paper.clock.now - 1
        }
        let before = try #require(try await paper.mirror.archive.post(Self.id(0)))
        try await expect(parts.originals.find(before), equals: .edited)
        let after = try #require(try await paper.mirror.archive.post(Self.id(0)))
        try await expect(parts.originals.find(after), equals: .kept)
        let ended = try await deliver(0, slot: 1, of: paper, parts)
        #expect(ended.state == .done)
        #expect(paper.bot.with { $0.published.map(\.text) } != ["thought number 0 of many"])
    }

    @Test(arguments: [true, false]) func theHumansFavoriteDeletesWhereThatIsWanted(isWanted: Bool)
        async throws
    {
        let (paper, parts) = try await published(2, isWanted ? ["DELETE_ON_FAVORITE": "yes"] : [:])
        let bots = paperPost("published-1", by: "bot", on: .mastodon)
        try await parts.originals.noteFavorites([paperPost("published-2", on: .mastodon), bots])
        try await expect(
            slots(of: paper).map { $0.undo?.reason },
            equals: [isWanted ? "human-favorite" : nil, nil])
    }
}
