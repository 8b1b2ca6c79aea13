import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Posts that are known from an archive alone, and posts that were not meant for everybody or not
/// to stay.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct UnaskedPostsTests {
    private static let human = AccountID(network: .mastodon, value: "human")

    private static func id(_ number: Int) -> PostID {
        PostID(network: .mastodon, value: "note-\(number)")
    }

    private static func text(_ number: Int) -> String { "thought number \(number) of many" }

    /// A post as an archive tells of it: without an address.
    private static func archived(_ number: Int, daysAgo: Int = 60) -> Post {
        Post(
            id: id(number), author: human, text: text(number),
            createdAt: PaperMirror.now - 86_400 * Double(daysAgo + number))
    }

    /// The same post as a network shows it.
    private static func shown(_ number: Int, visibility: Visibility = .public) -> ObservedPost {
        var post = paperPost(
            "note-\(number)", by: "human", on: .mastodon, text(number),
            at: archived(number).createdAt,
            visibility: visibility)
        post.post.author = human
        return post
    }

    private func paper(
        hasHuman: Bool = true, trust: String = "", known: [ObservedPost]? = nil, posts: Int = 4
    ) async throws -> (PaperMirror, WorkerParts) {
        let paper = try await PaperMirror(
            bot: .mastodon, human: hasHuman ? .mastodon : nil, variables: ["TRUST_ARCHIVE": trust])
        try await paper.archive((0..<posts).map { Self.archived($0) })
        paper.human?.with {
            $0.known = known.map { Dictionary($0.map { ($0.post.id, $0) }) { $1 } }
        }
        return (paper, try await paper.parts())
    }

    /// Lets a slot with the first post be due now, and returns it as it is then.
    private func deliver(_ number: Int = 0, of paper: PaperMirror, _ parts: WorkerParts)
        async throws -> Action
    {
        let now = paper.clock.now
        let day = LocalTime(now, in: PaperMirror.zone).day
        let wording = Action.Wording(
            source: Self.id(number), text: Self.text(number), visibility: .unlisted)
        var intent = Intent(
            .post(Slot.Name(day: day, number: number + 1), wording), due: now, expires: now + 7_200)
        intent.isPinned = true
        _ = try await parts.planner.store.propose(intent, now: now)
        try await parts.courier.deliverDue([.post])
        return try #require(
            try await parts.planner.store.action(.post, subject: intent.payload.subject))
    }

    private func published(_ paper: PaperMirror) -> [String] {
        paper.bot.with { $0.published.map(\.text) }
    }

    // MARK: Nobody can be asked

    /// Without the human's account the operator's word decides, and until it is said nothing
    /// leaves.
    @Test(arguments: [("", false), ("no", false), ("yes", true)])
    func theOperatorDecidesWhereNobodyCanBeAsked(trust: String, leaves: Bool) async throws {
        let (paper, parts) = try await paper(hasHuman: false, trust: trust)
        let ended = try await deliver(of: paper, parts)
        #expect(ended.state == (leaves ? .done : .skipped))
        #expect(ended.reason == (leaves ? nil : "source-unverified"))
        #expect(published(paper) == (leaves ? [Self.text(0)] : []))
    }

    /// The same for a network that cannot look a post up, and whose list does not decide.
    @Test(arguments: [("", false), ("yes", true)])
    func theOperatorDecidesWhereTheNetworkCannotTell(trust: String, leaves: Bool) async throws {
        let (paper, parts) = try await paper(trust: trust)
        try await expect(deliver(of: paper, parts).state, equals: leaves ? .done : .skipped)
        #expect(published(paper).isEmpty == !leaves)
    }

    /// An answer is a text of the human's too.
    @Test func noAnswerLeavesOfAPostThatNobodyCanBeAskedAbout() async throws {
        let (paper, parts) = try await paper(hasHuman: false)
        let target = Action.Target(
            post: "m", author: AccountID(network: .mastodon, value: "friend"), address: "address-m")
        let wording = Action.Wording(source: Self.id(0), text: Self.text(0), visibility: .unlisted)
        let now = paper.clock.now
        let intent = Intent(
            .reply(Action.Reply(to: target, thread: "m", wording: wording)), due: now,
            expires: now + 900)
        _ = try await parts.planner.store.propose(intent, now: now)
        try await parts.courier.deliverDue([.reply], mentionsRead: now)
        let ended = try #require(
            try await parts.planner.store.action(.reply, subject: intent.payload.subject))
        #expect(ended.reason == "source-unverified")
        #expect(published(paper).isEmpty)
    }

    /// While the human's server does not answer, a text waits; its time may pass.
    @Test(arguments: [("", false), ("yes", true)])
    func aTextWaitsForAnAnswer(trust: String, leaves: Bool) async throws {
        let (paper, parts) = try await paper(trust: trust, known: [Self.shown(0)])
        paper.human?.fail(.readPost, .transport)
        let waiting = try await deliver(of: paper, parts)
        #expect(waiting.state == (leaves ? .done : .planned))
        #expect(published(paper).isEmpty == !leaves)
        guard !leaves else { return }
        #expect(waiting.reason == "source-unasked")
        paper.human?.fail(nil)
        try await paper.wait(3_600)
        try await parts.courier.deliverDue([.post])
        #expect(published(paper) == [Self.text(0)])
    }

    // MARK: Asked by identity

    @Test func aPostThatIsThereLeavesAndIsAskedForByItsAddressThen() async throws {
        let (paper, parts) = try await paper(known: [Self.shown(0)])
        try await expect(deliver(of: paper, parts).state, equals: .done)
        try await expect(paper.mirror.archive.post(Self.id(0))?.address, equals: "address-note-0")
    }

    @Test(arguments: [false, true]) func aPostThatIsGoneDoesNotLeave(isHidden: Bool) async throws {
        let hidden = isHidden ? [Self.shown(0, visibility: .local)] : []
        let (paper, parts) = try await paper(known: hidden + [Self.shown(1)])
        let ended = try await deliver(of: paper, parts)
        #expect(ended.state == .skipped)
        #expect(ended.reason == "source-gone")
        #expect(published(paper).isEmpty)
        // It is forgotten as any other that the network denies twice.
        try await paper.wait(660)
        try await parts.originals.askAgain()
        try await expect(paper.mirror.archive.post(Self.id(0)) == nil, equals: true)
    }

    /// What a list that was read whole lacks is gone, if it shows an older one and a newer one.
    @Test(arguments: [true, false]) func aListThatWasReadWholeDecides(isWhole: Bool) async throws {
        let (paper, parts) = try await paper(trust: "yes")
        try await paper.archive(
            [Self.shown(3).post, Self.shown(0).post].map { shown in
                var post = shown
                post.address = "address"
                return post
            })
        try await paper.mirror.storage.transaction { connection in
            try connection.execute(
                "INSERT INTO feeds (mirror, feed, position) VALUES ('test', \(FeedName.humanPosts), 'cursor')"
            )
            guard !isWhole else { return }
            try connection.execute(
                """
                INSERT INTO feed_stretches (mirror, feed, part, cursor)
                VALUES ('test', \(FeedName.humanPosts), 'past', 'older')
                """)
        }
        let ended = try await deliver(1, of: paper, parts)
        #expect(ended.state == (isWhole ? .skipped : .done))
        #expect(ended.reason == (isWhole ? "source-gone" : nil))
    }

    // MARK: Copies

    /// A copy of a post that was only known from an archive goes with its original; also where the
    /// archive let it go.
    @Test(arguments: [false, true]) func aCopyGoesWithItsOriginal(isArchived: Bool) async throws {
        let (paper, parts) = try await paper(known: (0..<4).map { Self.shown($0) })
        let copy = try await deliver(of: paper, parts)
        try #require(copy.state == .done)
        if !isArchived { try await paper.mirror.archive.forget([Self.id(0)]) }
        paper.human?.with { $0.known?[Self.id(0)] = nil }
        paper.human?.add([], to: .ownPosts)
        _ = try await parts.originals.look()
        try await paper.wait(660)
        try await parts.originals.askAgain()
        let after = try #require(try await parts.planner.store.action(.post, subject: copy.subject))
        #expect(after.undo?.reason == "source-gone")
    }

    // MARK: What is not to stay, or not for everybody

    @Test func aPostWithAnEndDoesNotLeave() async throws {
        var limited = Self.shown(0)
        limited.post.isTimeLimited = true
        let (paper, parts) = try await paper(trust: "yes", known: [limited, Self.shown(1)])
        try await expect(deliver(of: paper, parts).reason, equals: "source-gone")
        // Nor is it archived, and one that was leaves.
        var known = Self.archived(1)
        known.isTimeLimited = true
        try await paper.archive([known])
        try await expect(paper.mirror.archive.post(Self.id(1)) == nil, equals: true)
    }

    /// An answer to a mention of the bot's own server would be seen elsewhere.
    @Test(arguments: [(Visibility.local, false), (.direct, true), (.unlisted, true)])
    func aLocalMentionIsNotAnswered(visibility: Visibility, isAnswered: Bool) async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let person = AccountID(network: .mastodon, value: "friend")
        try await paper.archive([pastReply("r", to: person, "thanks a lot, dear")])
        let parts = try await paper.parts()
        paper.bot.add(
            [
                paperPost(
                    "1", by: "friend", on: .mastodon, mentions: ["bot"], visibility: visibility)
            ], to: .mentions)
        for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
        let reply = try #require(try await paper.actions(.reply).first)
        #expect(reply.state == (isAnswered ? .done : .skipped))
        #expect(reply.reason == (isAnswered ? nil : "not-open"))
        #expect(
            paper.bot.with { $0.published.map(\.visibility) } == (isAnswered ? [visibility] : []))
    }

    private static let narrowings: [NarrowedPosts.Field] = [
        .flag("local_only", true), .text("visibility_ex", "login"),
        .text("expires_at", "2030-01-01T00:00:00Z"),
        .pleroma("expires_at", "2030-01-01T00:00:00Z"), .text("visibility", "local"),
    ]

    /// Over the wire of a sandbox: what its author narrowed is not archived, and does not leave if
    /// an archive has it.
    @Test(arguments: narrowings) func narrowedPostsDoNotLeave(field: NarrowedPosts.Field)
        async throws
    {
        let fixture = try await MirrorFixture.start(from: 9)
        fixture.sandbox.faults.mastodon.restrictedAudiences = [NarrowedPosts(field)]
        try await fixture.live(until: 20)
        let ledger = await fixture.sandbox.ledger
        expect(ledger.deliveries) { $0.isEmpty }
        try await expect(fixture.actions(.post)) { $0.contains { $0.reason == "source-gone" } }
    }

    @Test func narrowedPostsAreNotArchived() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let hidden = Array(Sample.served.filter { !$0.isReply }.prefix(3))
        fixture.sandbox.faults.mastodon.restrictedAudiences = hidden.map {
            NarrowedPosts(saying: $0.text, .flag("local_only", true))
        }
        let trainer = SchedulerTrainer(mirror: fixture.mirror, zone: Sample.zone) { _ in }
        _ = try await trainer.train(from: try await fixture.mirror.requiredNetwork(of: .human))
        for post in hidden {
            try await expect(fixture.mirror.archive.post(post.id) == nil, equals: true)
        }
        try await expect(fixture.mirror.archive.count()) { $0 > 50 }
    }
}
