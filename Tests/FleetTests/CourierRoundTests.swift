import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Testing

@testable import Fleet

/// What a courier does next, without a server, a clock or a database.
@Suite struct CourierRoundTests {
    private static let now = Date(timeIntervalSince1970: 1_780_239_600)

    private static func wording(_ text: String) -> Action.Wording {
        Action.Wording(
            source: PostID(network: .mastodon, value: text), text: text, visibility: .unlisted)
    }

    private static func post(
        _ number: Int = 1, text: String = "hello", state: ActionState = .planned, due: Date = now,
        at decided: Date = now
    ) -> Action {
        Action(
            Intent(
                .post(Slot.Name(day: .earliest, number: number), wording(text)), state: state,
                due: due, expires: due + 3_600),
            of: "test", at: decided)
    }

    private static func reply(
        _ mention: String, state: ActionState = .planned, due: Date = now, at decided: Date = now
    ) -> Action {
        let target = Action.Target(
            post: mention, author: AccountID(network: .mastodon, value: "pal@far.example"),
            address: mention)
        return Action(
            Intent(
                .reply(Action.Reply(to: target, thread: mention, wording: wording("hi"))),
                state: state, due: due, expires: due + 3_600),
            of: "test", at: decided)
    }

    private static func subjects(_ expected: [ExpectedActions.Expected]) -> [String] {
        expected.map(\.decision.action.subject)
    }

    // MARK: What was just decided

    @Test func decidedActionsOfAKindAreTakenOnce() {
        var decided = ExpectedActions()
        for action in [
            Self.reply("a"), Self.reply("later", due: Self.now + 60),
            Self.reply("skipped", state: .skipped), Self.post(),
        ] {
            decided.add(Decision(of: action, asOf: 3), in: nil)
        }
        let taken = decided.take(.reply, mentionsRead: .distantFuture, at: Self.now)
        #expect(Self.subjects(taken) == ["a"])
        #expect(taken.first?.decision.version == 3)
        // The publisher sends what was due later.
        let later = decided.take(.reply, mentionsRead: .distantFuture, at: Self.now + 60)
        #expect(later.isEmpty)
        let posts = decided.take(.post, mentionsRead: nil, at: Self.now)
        #expect(posts.count == 1)
    }

    @Test func aReplyStaysUntilAllEarlierMentionsAreRead() {
        var decided = ExpectedActions()
        decided.add(Decision(of: Self.reply("a")), in: nil)
        for mentionsRead in [nil, Self.now - 1] {
            let early = decided.take(.reply, mentionsRead: mentionsRead, at: Self.now)
            #expect(early.isEmpty)
        }
        let taken = decided.take(.reply, mentionsRead: Self.now, at: Self.now + 1)
        #expect(Self.subjects(taken) == ["a"])
    }

    /// The facts of an older decision are read again before it is sent.
    @Test(arguments: [(0.0, true), (59.0, true), (60.0, false), (3_000.0, false), (-1.0, false)])
    func factsAreUsedForAMinute(_ age: TimeInterval, _ isUsed: Bool) {
        var decided = ExpectedActions()
        let action = Self.post(due: Self.now - 3_600, at: Self.now - age)
        decided.add(Decision(of: action, asOf: 3), in: nil)
        let taken = decided.take(.post, mentionsRead: nil, at: Self.now)
        #expect(taken.count == 1)
        #expect(taken.first?.decision.version == (isUsed ? 3 : nil))
    }

    // MARK: One look

    /// The steps of a look with these times, at which nothing happens but what `report` says.
    private func steps(
        _ change: (inout OutboxStore.NextWorkTimes) -> Void = { _ in },
        _ report: (CourierRound.Step, inout CourierRound) -> Void = { _, _ in }
    ) -> [CourierRound.Step] {
        var nextWorkTimes = OutboxStore.NextWorkTimes()
        change(&nextWorkTimes)
        var round = CourierRound(nextWorkTimes)
        var steps: [CourierRound.Step] = []
        while let step = round.next(at: Self.now) {
            steps.append(step)
            report(step, &round)
        }
        let last = round.next(at: Self.now)
        #expect(last == nil)
        return steps
    }

    @Test func aLookDoesOnlyWhatIsDue() {
        #expect(steps() == [.open, .send, .askOriginals])
        let soon = Self.now + 1
        #expect(
            steps {
                $0.expiry = soon
                $0.thread = soon
                $0.lookUp = soon
                $0.undo = soon
            } == [.open, .send, .askOriginals])
        #expect(
            steps {
                $0.expiry = Self.now
                $0.thread = Self.now
                $0.lookUp = Self.now
                $0.undo = Self.now
            } == CourierRound.Step.allCases)
        #expect(steps { $0.undo = Self.now } == [.open, .takeBack, .send, .askOriginals])
    }

    /// A part of a thread that expired leaves the rest to be said or dropped.
    @Test func whatExpiredLetsThreadsContinue() {
        let expire: (inout OutboxStore.NextWorkTimes) -> Void = { $0.expiry = Self.now }
        #expect(steps(expire) == [.expire, .open, .send, .askOriginals])
        #expect(
            steps(expire) { step, round in if step == .expire { round.expired(2) } }
                == [.expire, .continueThreads, .open, .takeBack, .send, .askOriginals])
        #expect(
            steps(expire) { step, round in if step == .expire { round.expired(0) } }
                == [.expire, .open, .send, .askOriginals])
    }

    /// A lost answer that was settled may be one whose action is to be undone.
    @Test func whatWasFoundIsTakenBackInTheSameLook() {
        let lookUp: (inout OutboxStore.NextWorkTimes) -> Void = { $0.lookUp = Self.now }
        #expect(steps(lookUp) == [.open, .lookUp, .send, .askOriginals])
        #expect(
            steps(lookUp) { step, round in if step == .lookUp { round.settled() } }
                == [.open, .lookUp, .takeBack, .send, .askOriginals])
    }

    @Test func aTimeThatComesDuringALookCounts() {
        var nextWorkTimes = OutboxStore.NextWorkTimes()
        nextWorkTimes.undo = Self.now + 5
        var round = CourierRound(nextWorkTimes)
        let steps = [0.0, 5.0, 5.0].map { round.next(at: Self.now + $0) }
        #expect(steps == [.open, .takeBack, .send])
    }

    // MARK: The order of sending

    @Test func aLookSendsOnePostAndEverythingElse() {
        let due = [
            Self.reply("a"), Self.post(1), Self.post(2), Self.reply("b"), Self.post(3),
        ]
        var queue = SendingQueue(
            due.map { ExpectedActions.Expected(decision: Decision(of: $0), context: nil) })
        var sent: [ExpectedActions.Expected] = []
        while let next = queue.next() { sent.append(next) }
        #expect(Self.subjects(sent) == ["a", due[1].subject, "b"])
        let last = queue.next()
        #expect(last?.decision.action == nil)
    }

    // MARK: Another text

    @Test func aTextThatMayBeSentIsSent() {
        let action = Self.post()
        let search = TextSearch(for: action)
        #expect(search.candidate == action)
        #expect(search.judged(nil) == .send(action))
    }

    @Test func aTextThatIsGoneIsReplacedThreeTimesAtMost() {
        let gone = ReasonCode.outbox(.sourceEdited)
        var search = TextSearch(for: Self.post(text: "0"))
        for number in 1...TextSearch.replacementsAtMost {
            #expect(search.judged(gone) == .draw)
            let step = search.drew(Self.post(text: "\(number)"))
            #expect(step == .judge)
            #expect(search.candidate.text == "\(number)")
            #expect(search.tried.count == number + 1)
        }
        #expect(search.judged(nil) == .send(search.candidate))
        #expect(search.judged(gone) == .skip(.outbox(.sourceGone)))
    }

    @Test func withoutAnotherTextThePostIsSkipped() {
        var search = TextSearch(for: Self.post())
        #expect(search.judged(.outbox(.sourceGone)) == .draw)
        let step = search.drew(nil)
        #expect(step == .skip(.outbox(.noText)))
    }

    @Test func aTextOfAPersonsChoiceIsNotReplaced() {
        var pinned = Self.post()
        pinned.isPinned = true
        let gone = ReasonCode.outbox(.sourceGone)
        #expect(TextSearch(for: pinned).judged(gone) == .skip(gone))
        // One that was only moved has a text of the plan.
        pinned.explanation = Explanation("moved")
        pinned.explanation?.movedFrom = Self.now - 60
        #expect(TextSearch(for: pinned).judged(gone) == .draw)
    }

    /// If one text cannot be verified, no other can.
    @Test func anUnverifiableTextEndsTheSearch() {
        let reason = ReasonCode.outbox(.sourceUnverified)
        #expect(TextSearch(for: Self.post()).judged(reason) == .skip(reason))
    }
}
