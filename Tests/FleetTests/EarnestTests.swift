import Archive
import Expectations
import Fixtures
import Foundation
import Logging
import Networks
import Outbox
import Posts
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What was found when the mirror was attacked where nobody had attacked it before, on networks on
/// paper.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct EarnestTests {
    private static let human = AccountID(network: .mastodon, value: "human")
    private static let friend = AccountID(network: .mastodon, value: "friend")

    private static func thought(_ number: Int, _ text: String? = nil, daysAgo: Int = 90) -> Post {
        Post(
            id: PostID(network: .mastodon, value: "thought-\(number)"), author: human,
            text: text ?? "thought number \(number) of many about the harbour",
            createdAt: PaperMirror.now - Double(daysAgo) * 86_400 - Double(number),
            address: "address-thought-\(number)"
        )
    }

    private var day: LocalDay { LocalTime(PaperMirror.now, in: PaperMirror.zone).day }

    private func slot(
        _ number: Int, of post: Post, due: Date = PaperMirror.now, isPinned: Bool = false
    ) -> Intent {
        var intent = Intent(
            .post(
                Slot.Name(day: day, number: number),
                Action.Wording(source: post.id, text: post.text, visibility: .unlisted)),
            due: due, expires: due + 900)
        intent.isPinned = isPinned
        return intent
    }

    private func action(_ number: Int, in paper: PaperMirror) async throws -> Action {
        let name = Slot.Name(day: day, number: number).description
        return try #require(try await paper.mirror.outbox(lease: nil).action(.post, subject: name))
    }

    private func storePlan(_ slots: [Intent], _ parts: WorkerParts) async throws {
        let plan = StoredPlan(
            day: day, timeZone: PaperMirror.zone.identifier, seed: "1", made: PaperMirror.now)
        _ = try await parts.store.store(plan, slots: slots)
    }

    // MARK: The first post as others see it

    /// Who has no login is asked once; where such a person is not shown the post, the mirror waits
    /// for its operator.
    @Test(arguments: [true, false, nil] as [Bool?]) func theFirstPostIsLookedAtWithoutALogin(
        isShown: Bool?
    )
        async throws
    {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive([Self.thought(1), Self.thought(2)])
        let parts = try await paper.parts()
        paper.bot.with { $0.isShownToAnybody = isShown }
        // The bot itself sees what it has published.
        var copy = paperPost(
            "copy", by: "bot", on: .mastodon, Self.thought(1).text, at: PaperMirror.now)
        copy.address = "published-1"
        paper.bot.add([copy], to: .ownPosts)
        try await storePlan([slot(1, of: Self.thought(1)), slot(2, of: Self.thought(2))], parts)
        try await parts.courier.deliverDue([.post])
        try await expect(action(1, in: paper).state, equals: .done)
        let pause = try await paper.mirror.table.pause(at: paper.clock.now)
        #expect((pause?.reason == FirstPostLook.reason) == (isShown == false))
        let kept = try await paper.mirror.probes.findings(of: paper.bot.with { $0.account.id })?
            .kept
        // What nobody could tell is not kept.
        #expect(kept?[.showsUnlisted] == isShown.map(Bool?.some))
        // A person has looked at it: the same is not asked again.
        _ = try await paper.mirror.table.resume(now: paper.clock.now)
        try await paper.wait(120)
        try await parts.courier.deliverDue([.post])
        try await expect(action(2, in: paper).state, equals: .done)
        try await expect(paper.mirror.table.pause(at: paper.clock.now) == nil, equals: true)
    }

    // MARK: Taking back during a pause

    /// What a person wants gone is looked for first, whoever works and whoever pauses.
    @Test(arguments: Engine.allCases, [true, false])
    func whatNobodyKnowsOfIsLookedForAndTakenBack(_ engine: Engine, byWorker: Bool) async throws {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        try await paper.archive([Self.thought(1)])
        let parts = try await paper.parts()
        try await storePlan([slot(1, of: Self.thought(1))], parts)
        // The post arrives, and its answer does not.
        paper.bot.fail(.publish, .transport, outcome: .unknown)
        try await parts.courier.deliverDue([.post])
        try await expect(action(1, in: paper).state, equals: .sending)
        paper.bot.fail(nil)
        paper.bot.add(
            [
                paperPost(
                    "copy", by: "bot", on: .mastodon, Self.thought(1).text, at: PaperMirror.now)
            ], to: .ownPosts)
        try await paper.mirror.table.pause(until: nil, reason: nil, now: paper.clock.now)
        let store = paper.mirror.outbox(lease: nil)
        let id = try await action(1, in: paper).id
        try await expect(store.askUndo(id, now: paper.clock.now), equals: .remembered)
        let lease = byWorker ? try await paper.takeLease() : nil
        let recall = Recall(paper.mirror, network: paper.bot, lease: lease)
        if byWorker { try await paper.wait(120) }
        _ = try await recall.carryOut(lookingAtOnceFor: byWorker ? [] : [id])
        try await expect(action(1, in: paper).state, equals: .undone)
        #expect(paper.bot.with { $0.deleted } == ["address-copy"])
        try await expect(recall.next(), equals: nil)
    }

    /// What is not found at once may arrive late: it is looked for again when its answer could no
    /// longer come.
    @Test func whatArrivesLateIsTakenBackToo() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive([Self.thought(1)])
        let parts = try await paper.parts()
        try await storePlan([slot(1, of: Self.thought(1))], parts)
        paper.bot.fail(.publish, .transport, outcome: .unknown)
        try await parts.courier.deliverDue([.post])
        paper.bot.fail(nil)
        let id = try await action(1, in: paper).id
        _ = try await paper.mirror.outbox(lease: nil).askUndo(id, now: paper.clock.now)
        let recall = Recall(paper.mirror, network: paper.bot, lease: nil)
        _ = try await recall.carryOut(lookingAtOnceFor: [id])
        try await expect(action(1, in: paper).state, equals: .sending)
        let next = try #require(try await recall.next())
        #expect(next > paper.clock.now)
        paper.bot.add(
            [
                paperPost(
                    "copy", by: "bot", on: .mastodon, Self.thought(1).text, at: PaperMirror.now)
            ], to: .ownPosts)
        try await paper.clock.sleep(until: next)
        _ = try await recall.carryOut()
        #expect(paper.bot.with { $0.deleted } == ["address-copy"])
        #expect(paper.bot.with { $0.published.count } == 1)
    }

    // MARK: What a person pinned

    @Test(arguments: [true, false]) func aPinnedSlotKeepsItsMinute(isForgotten: Bool) async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive((0..<30).map { Self.thought($0) })
        let parts = try await paper.parts()
        let due = paper.clock.now + 1_800
        try await storePlan([slot(1, of: Self.thought(1), due: due, isPinned: true)], parts)
        let desk = Desk(paper.mirror, zone: PaperMirror.zone)
        if isForgotten {
            let forgetting = Forgetting(mirror: paper.mirror, zone: PaperMirror.zone)
            _ = try await forgetting.forget(
                try await forgetting.subject(post: "thought-1"), now: paper.clock.now)
        } else {
            _ = try await desk.perform(NeverSend(post: "thought-1"))
        }
        _ = try await desk.perform(RerollDay(day: day, seed: "another"))
        let kept = try await action(1, in: paper)
        #expect(kept.isPinned)
        #expect(kept.due == due)
        #expect(kept.state == .planned)
        #expect(kept.text == nil)
        let chosen = try await desk.slot(after: PinSlot(slot: "#1", post: "thought-2"))
        #expect(chosen.text == Self.thought(2).text)
        #expect(chosen.reason == nil)
        // Slots of the new draw may be due before it, and posts that are late leave a minute apart.
        while paper.clock.now <= due + 180 {
            try await paper.wait(60)
            try await parts.courier.deliverDue([.post])
        }
        try await expect(action(1, in: paper).state, equals: .done)
        #expect(paper.bot.with { $0.published.count { $0.text == Self.thought(2).text } } == 1)
    }

    /// A person who moves a slot chooses its time; one who pins it, its text.
    @Test(arguments: [false, true]) func aMovedSlotWhoseOriginalWentKeepsItsTime(isPinnedToo: Bool)
        async throws
    {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let posts = (0..<30).map { Self.thought($0) }
        try await paper.archive(posts)
        paper.human?.add(
            posts.dropFirst(2).map {
                paperPost($0.id.value, by: "human", on: .mastodon, $0.text, at: $0.createdAt)
            }, to: .ownPosts)
        let parts = try await paper.parts()
        try await storePlan([slot(1, of: Self.thought(1), due: paper.clock.now + 1_800)], parts)
        let desk = Desk(paper.mirror, zone: PaperMirror.zone)
        let due = paper.clock.now + 3_600
        let time = LocalTime(due, in: PaperMirror.zone).minute.description
        let moved = try await desk.slot(after: MoveSlot(slot: "#1", time: time))
        #expect(moved.due == due)
        #expect(moved.explanation?.movedFrom == PaperMirror.now + 1_800)
        if isPinnedToo { _ = try await desk.perform(PinSlot(slot: "#1")) }
        while paper.clock.now <= due + 180 {
            try await paper.wait(60)
            try await parts.courier.deliverDue([.post])
        }
        let ended = try await action(1, in: paper)
        #expect(ended.due == due)
        #expect(ended.isPinned)
        #expect(ended.state == (isPinnedToo ? .skipped : .done))
        #expect(ended.reason == (isPinnedToo ? .outbox(.sourceGone) : nil))
        #expect((ended.wording?.source == Self.thought(1).id) == isPinnedToo)
        let published = paper.bot.with { $0.published.map(\.createdAt) }
        #expect(published.count == (isPinnedToo ? 0 : 1))
        expect(published) { $0.allSatisfy { $0 >= due } }
    }

    /// The same where a person never wants the text again, or the archive has no other.
    @Test(arguments: [9, 2]) func aMovedSlotGetsAnotherTextOrWaitsForOne(texts: Int) async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive((1..<texts).map { Self.thought($0) })
        let parts = try await paper.parts()
        try await storePlan([slot(1, of: Self.thought(1), due: paper.clock.now + 1_800)], parts)
        let desk = Desk(paper.mirror, zone: PaperMirror.zone)
        let due = paper.clock.now + 3_600
        let time = LocalTime(due, in: PaperMirror.zone).minute.description
        _ = try await desk.perform(MoveSlot(slot: "#1", time: time))
        _ = try await desk.perform(NeverSend(post: "thought-1"))
        let kept = try await action(1, in: paper)
        #expect(kept.state == .planned)
        #expect(kept.isPinned)
        #expect(kept.due == due)
        #expect((kept.text == nil) == (texts == 2))
        #expect(kept.wording?.source != Self.thought(1).id)
    }

    @Test func aPinnedSlotThatNobodyGivesATextIsLeftOutWithTheReason() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive((0..<9).map { Self.thought($0) })
        let parts = try await paper.parts()
        try await storePlan([slot(1, of: Self.thought(1), isPinned: true)], parts)
        _ = try await Desk(paper.mirror, zone: PaperMirror.zone).perform(
            NeverSend(post: "thought-1"))
        try await parts.courier.deliverDue([.post])
        let ended = try await action(1, in: paper)
        #expect(ended.state == .skipped)
        #expect(ended.reason == .outbox(.never))
    }

    // MARK: The same text twice

    @Test(arguments: [true, false]) func aTextThatAPersonSendsNowIsNotSentAgainByItsSlot(
        isPinned: Bool
    ) async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive((0..<30).map { Self.thought($0) })
        let parts = try await paper.parts()
        let due = paper.clock.now + 3_600
        try await storePlan([slot(1, of: Self.thought(1), due: due, isPinned: isPinned)], parts)
        let desk = Desk(paper.mirror, zone: PaperMirror.zone)
        _ = try await desk.perform(PublishPost(post: "thought-1"))
        try await parts.courier.deliverDue([.post])
        try await paper.clock.sleep(until: due)
        try await parts.courier.deliverDue([.post])
        let texts = paper.bot.with { $0.published.map(\.text) }
        #expect(texts.first == Self.thought(1).text)
        #expect(texts.count { $0 == Self.thought(1).text } == 1)
        #expect(texts.count == (isPinned ? 1 : 2))
        if isPinned {
            try await expect(action(1, in: paper).reason, equals: .outbox(.saidMeanwhile))
        }
    }

    // MARK: A server that is dead

    @Test func nothingMoreIsSentIntoAServerThatLostAnAnswer() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive((0..<30).map { Self.thought($0) })
        let parts = try await paper.parts()
        try await storePlan(
            (1...6).map { slot($0, of: Self.thought($0), due: PaperMirror.now + Double($0) * 120) },
            parts)
        paper.bot.with { state in
            state.failure = { [bot = paper.bot] operation, _ in
                bot.error(
                    .transport, operation, outcome: operation == .publish ? .unknown : .notSent)
            }
        }
        for _ in 0..<30 {
            try await paper.wait(60)
            try await parts.courier.deliverDue([.post])
        }
        #expect(paper.bot.with { $0.published.count } == 1)
        // One answer is enough.
        paper.bot.fail(nil)
        try await storePlan([], parts)
        _ = try await parts.store.propose(
            slot(9, of: Self.thought(9), due: paper.clock.now), now: paper.clock.now)
        try await paper.wait(400)
        try await parts.courier.deliverDue([.post])
        #expect(paper.bot.with { $0.published.count } > 1)
    }

    /// Posts whose answers were lost are sent again no faster than others that are late.
    @Test func whatIsSentAgainAfterAnOutageDoesNotComeInABurst() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive((0..<30).map { Self.thought($0) })
        let parts = try await paper.parts()
        try await storePlan((1...8).map { slot($0, of: Self.thought($0)) }, parts)
        // As several workers may leave them that died one after the other.
        for number in 1...8 {
            let claimed = try await parts.store.claim(
                try await action(number, in: paper), now: paper.clock.now)
            _ = try await parts.store.beginSending(
                claimed, lookUp: paper.clock.now + 90, deadline: .seconds(30), now: paper.clock.now)
        }
        paper.bot.with { $0.capabilities.supportsIdempotencyKey = true }
        var sent: [Date] = []
        for _ in 0..<200 {
            try await paper.wait(5)
            let before = paper.bot.with { $0.published.count }
            try await parts.courier.deliverDue([.post])
            let after = paper.bot.with { $0.published.count }
            sent += Array(repeating: paper.clock.now, count: after - before)
        }
        #expect(sent.count == 3)
        let gaps = zip(sent, sent.dropFirst()).map { $1.timeIntervalSince($0) }
        expect(gaps) { $0.allSatisfy { $0 >= 60 } }
    }

    // MARK: Clocks

    @Test(arguments: [7_200.0, -7_200, 90, -90]) func mentionsAreHeardByTheNetworksClock(
        lead: TimeInterval
    )
        async throws
    {
        let paper = try await PaperMirror(bot: .mastodon, variables: ["REPLIES_PER_PERSON": "100"])
        try await paper.archive(
            (0..<9).map { pastReply("r\($0)", to: Self.friend, "thank you number \($0)") })
        paper.bot.with { $0.clockLead = lead }
        /// The network's clock.
        let present = paper.clock.now - lead
        paper.bot.add([paperPost("early", on: .mastodon, at: present - 600)], to: .mentions)
        let parts = try await paper.parts()
        #expect(abs(parts.activated.timeIntervalSince(present)) < 1)
        paper.bot.add([paperPost("late", on: .mastodon, at: present + 30)], to: .mentions)
        try await paper.wait(60)
        _ = try await Passes(parts: parts).mentions(try #require(parts.feeds.mentions))
        let decided = try await paper.actions(.reply)
        #expect(decided.map(\.subject) == ["late"])
        // What may leave now leaves now, whatever the worker's clock says.
        #expect(decided.map(\.state) == [.done])
    }

    /// A start whose network does not answer begins when the network tells the time, and reaches
    /// back to its first try.
    @Test func aStartThatHasToWaitListensFromItsFirstTry() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let gates = Gates()
        let lease = try await paper.takeLease()
        gates.begin(at: paper.clock.uptime)
        try await paper.wait(900)
        paper.bot.with { $0.clockLead = 3_600 }
        let parts = try await paper.worker().parts(
            bot: paper.bot, human: nil, lease: lease, deliverer: nil, gates: gates)
        #expect(parts.activated == PaperMirror.now - 3_600)
    }

    // MARK: Threads that hang

    /// Somebody whose threads hang holds nobody else up, and takes a few seconds of each minute at
    /// most.
    @Test func aThreadThatHangsDelaysNobodyElse() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let other = AccountID(network: .mastodon, value: "other")
        try await paper.archive(
            (0..<9).map { pastReply("r\($0)", to: Self.friend, "thank you number \($0)") }
                + [pastReply("o", to: other, "good to hear")])
        let parts = try await paper.parts()
        let clock = paper.clock
        let asked = Recorder<Date>()
        paper.bot.with { state in
            state.onThread = {
                asked.add(clock.now)
                try await clock.sleep(until: clock.now + 10)
            }
            for number in 0..<15 { state.threads["address-m\(number)"] = .unavailable }
        }
        paper.bot.add(
            (0..<15).map {
                paperPost(
                    "m\($0)", on: .mastodon, at: PaperMirror.now + Double($0) / 10,
                    replyTo: "x\($0)")
            }
                + [paperPost("innocent", by: "other", on: .mastodon, at: PaperMirror.now + 2)],
            to: .mentions)
        try await paper.wait(5)
        let began = paper.clock.now
        _ = try await Passes(parts: parts).mentions(try #require(parts.feeds.mentions))
        #expect(paper.clock.now.timeIntervalSince(began) <= 20)
        #expect(asked.values.count <= 2)
        let innocent = try #require(
            try await paper.actions(.reply).first { $0.subject == "innocent" })
        #expect(innocent.state == .done)
        #expect(innocent.created == began)
        // Each of them gets a row in the end, and the caps hold.
        for _ in 0..<60 {
            try await paper.wait(600)
            _ = try await Passes(parts: parts).mentions(try #require(parts.feeds.mentions))
        }
        let decided = try await paper.actions(.reply).filter { $0.target?.author == Self.friend }
        #expect(decided.count == 15)
        #expect(decided.count { $0.state == .done } <= 3)
    }

    // MARK: Limits

    @Test(arguments: [NetworkError.Operation.readPost, .readConversation, .favorite, .readHome])
    func aLimitCountsWhateverCallItAnswers(operation: NetworkError.Operation) async throws {
        let clock = VirtualClock(startingAt: PaperMirror.now)
        let network = PaperNetwork(.mastodon)
        let gate = AccountGate(
            network, account: "bot", now: { clock.now },
            logger: Logger(label: "test") { _ in LogRecorder(lines: .init()) })
        network.with { state in
            state.failure = { [network] asked, _ in
                asked == operation
                    ? network.error(
                        .rateLimited, asked, retryAfter: PaperMirror.now + 300, outcome: .refused)
                    : nil
            }
        }
        switch operation {
        case .readPost: _ = try? await gate.lookUp("a")
        case .readConversation: _ = try? await gate.conversation(of: paperPost("a", on: .mastodon))
        case .favorite:
            try? await gate.favorite(FavoriteDraft(address: "a", key: "k", createdAt: clock.now))
        default: _ = try? await gate.page(.home, .newest)
        }
        let calls = network.with { $0.calls.count }
        for _ in 0..<20 {
            _ = try? await gate.lookUp("b")
            _ = try? await gate.publish(Draft(text: "a", key: "k", createdAt: clock.now))
            _ = try? await gate.page(.mentions, .newest)
        }
        #expect(network.with { $0.calls.count } == calls)
        #expect(try await !gate.isOpen())
        let end = try #require(gate.pause(at: clock.now))
        #expect(end >= PaperMirror.now + 300)
        try await clock.sleep(until: end)
        _ = try await gate.publish(Draft(text: "a", key: "k", createdAt: clock.now))
    }

    // MARK: Originals

    /// A mirror with copies of some posts, all of which the human's network may deny.
    private func copies(of count: Int) async throws -> (PaperMirror, WorkerParts) {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let posts = (0..<count).map { Self.thought($0) }
        try await paper.archive(posts)
        paper.human?.add(
            posts.map {
                var shown = paperPost("", by: "human", on: .mastodon, $0.text, at: $0.createdAt)
                shown.post.id = $0.id
                shown.address = $0.address ?? ""
                shown.post.address = $0.address
                return shown
            }, to: .ownPosts)
        let parts = try await paper.parts()
        try await storePlan(posts.enumerated().map { slot($0.offset + 1, of: $0.element) }, parts)
        for _ in 0..<count {
            try await parts.courier.deliverDue([.post])
            try await paper.wait(70)
        }
        return (paper, parts)
    }

    @Test func aServerThatDeniesEverythingCostsNothing() async throws {
        let (paper, parts) = try await copies(of: 3)
        let sent = paper.bot.with { $0.published.count }
        #expect(sent > 0)
        paper.human?.with { $0.feeds[.ownPosts] = [] }
        for _ in 0..<20 {
            try await paper.wait(700)
            _ = try await parts.originals.look()
            try await parts.originals.askAgain()
        }
        #expect(paper.bot.with { $0.deleted.isEmpty })
        try await expect(paper.mirror.archive.count(), equals: 3)
        // A person is asked instead.
        let proposed = try await parts.store.proposedUndos()
        #expect(proposed.count == sent)
    }

    @Test func oneOfManyThatIsDeniedIsTakenBack() async throws {
        let (paper, parts) = try await copies(of: 3)
        paper.human?.with { state in
            state.feeds[.ownPosts]?.removeAll { $0.post.id == Self.thought(0).id }
        }
        for _ in 0..<10 {
            try await paper.wait(700)
            _ = try await parts.originals.look()
            try await parts.originals.askAgain()
            try await parts.courier.deliverDue([.post])
        }
        try await expect(paper.mirror.archive.post(Self.thought(0).id), equals: nil)
        try await expect(paper.mirror.archive.count(), equals: 2)
    }

    /// A restart does not begin the ten minutes anew.
    @Test func aDenialSurvivesARestart() async throws {
        let (paper, parts) = try await copies(of: 3)
        paper.human?.with { state in
            state.feeds[.ownPosts]?.removeAll { $0.post.id == Self.thought(0).id }
        }
        try await paper.wait(3_700)
        _ = try await parts.originals.look()
        try await expect(paper.mirror.archive.count(), equals: 3)
        try await paper.wait(660)
        let again = try await paper.worker().parts(
            bot: paper.bot, human: paper.human, lease: try await paper.takeLease(), deliverer: nil)
        try await again.originals.askAgain()
        try await expect(paper.mirror.archive.count(), equals: 2)
    }

    /// Some servers change a text and do not say so.
    @Test func aTextThatChangedIsNotSentAsItWas() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let post = Self.thought(1)
        try await paper.archive([post])
        var shown = paperPost(
            "", by: "human", on: .mastodon, "something else entirely", at: post.createdAt)
        shown.post.id = post.id
        shown.address = post.address ?? ""
        shown.post.address = post.address
        paper.human?.add([shown], to: .ownPosts)
        let parts = try await paper.parts()
        try await storePlan([slot(1, of: post)], parts)
        try await parts.courier.deliverDue([.post])
        #expect(paper.bot.with { !$0.published.contains { $0.text == post.text } })
        try await expect(
            paper.mirror.archive.post(post.id)?.text, equals: "something else entirely")
    }

    // MARK: Before anything is learned

    @Test func nothingIsPlannedOrAnsweredBeforeThePastIsKnown() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        try await paper.archive((0..<40).map { Self.thought($0, daysAgo: 2) })
        try await paper.archive([pastReply("r", to: Self.friend, "thank you", daysAgo: 1)])
        try await paper.mirror.table.forgetPast()
        let parts = try await paper.parts()
        let mention = paperPost("m", on: .mastodon, at: PaperMirror.now + 1)
        paper.bot.add([mention], to: .mentions)
        try await paper.wait(60)
        let passes = Passes(parts: parts)
        try await passes.makePlan()
        _ = try await passes.mentions(try #require(parts.feeds.mentions))
        try await expect(parts.store.plan(for: day), equals: nil)
        try await expect(paper.actions(.reply).count, equals: 0)
        let report = try await StatusReporter(mirror: paper.mirror).report(now: paper.clock.now)
        #expect(report.verdict?.state != .healthy)
        expect(report.idle) { $0.contains { $0.contains("train scheduler") } }
        expect(report.setup ?? []) {
            $0.contains { $0.command.hasPrefix("mirror-bot train scheduler") && !$0.isDone }
        }
        // Once it is known the day is planned, and who asked meanwhile is answered.
        _ = try await paper.mirror.table.notePast(.whole, now: paper.clock.now)
        try await passes.makePlan()
        try await expect(parts.store.plan(for: day)?.day, equals: day)
        try await paper.wait(700)
        _ = try await passes.mentions(try #require(parts.feeds.mentions))
        try await expect(paper.actions(.reply).map(\.state), equals: [.done])
    }

    /// Ten thousand mirrors of one zone would all plan at midnight.
    @Test func theNextDayIsPlannedInTheHoursBefore() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        try await paper.archive((0..<40).map { Self.thought($0) })
        _ = try await paper.mirror.table.notePast(.whole, now: paper.clock.now)
        let parts = try await paper.parts()
        let passes = Passes(parts: parts)
        let tomorrow = day.advanced(by: 1)
        let minute = parts.planner.minuteToPlanAhead(of: day)
        try #require((1_320..<1_425).contains(minute))
        let begin =
            paper.clock.now - Double(LocalTime(paper.clock.now, in: PaperMirror.zone).minute.value)
            * 60
        try await paper.clock.sleep(until: begin + Double(minute - 1) * 60)
        try await expect(passes.makePlan(), equals: false)
        try await expect(parts.store.plan(for: tomorrow), equals: nil)

        try await paper.wait(60)
        try await expect(passes.makePlan(), equals: true)
        let planned = try await parts.store.plan(for: tomorrow)
        #expect(planned?.day == tomorrow)
        // After midnight the plan is the one that was made.
        try await paper.wait(Double(1_440 - minute) * 60 + 1)
        try await passes.makePlan()
        let stored = try #require(try await parts.store.plan(for: tomorrow))
        #expect(stored == planned)
    }

    /// What is young is used for want of others only where there are no others.
    @Test(arguments: [KnownPast.part, .whole]) func youngTextsAreForWhoseWholePastIsKnown(
        past: KnownPast
    ) async throws {
        let paper = try await PaperMirror(bot: .mastodon, variables: ["MIN_AGE_DAYS": "30"])
        try await paper.archive((0..<40).map { Self.thought($0, daysAgo: 2) })
        try await paper.mirror.table.forgetPast()
        _ = try await paper.mirror.table.notePast(past, now: paper.clock.now)
        let parts = try await paper.parts()
        let planned = try await parts.planner.preview(day, now: paper.clock.now, watching: false)
        let texts = try #require(planned).slots.compactMap(\.payload.wording)
        #expect(texts.isEmpty == (past == .part))
    }

    // MARK: A worker that looks once

    @Test func whoLooksOnceCleansAndGoesOnForgetting() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        let mirror = fixture.mirror
        let now = fixture.clock.now
        let past = now - 500 * 86_400
        let intent = Intent(
            .post(
                Slot.Name(day: LocalTime(past, in: Sample.zone).day, number: 1),
                Action.Wording(source: Self.thought(1).id, text: "old", visibility: .unlisted)),
            state: .skipped, due: past, expires: past + 60)
        let old = try await mirror.outbox(lease: nil).propose(intent, now: past).action
        let aoi = Sample.person("aoi")
        _ = try await mirror.beginForgetting(aoi, now: now)
        #expect(try await fixture.worker().runOnce())
        try await expect(mirror.outbox(lease: nil).actions(withIDs: [old.id]).count, equals: 0)
        try await expect(mirror.people.beingForgotten().count, equals: 0)
        try await expect(mirror.archive.replies(to: aoi).count, equals: 0)
    }
}
