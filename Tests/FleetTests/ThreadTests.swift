import Archive
import Conduct
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// The human's own threads, said again whole.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ThreadTests {
    private static let texts = [
        "A walk begins at the station.", "It goes up into the hills.", "There is soup at the end.",
    ]

    /// A mirror at noon that is to say a thread of three.
    private func start(
        on network: NetworkName, variables: [String: String] = [:]
    ) async throws -> (fixture: MirrorFixture, head: Post) {
        let fixture = try await MirrorFixture.start(
            from: 12, bot: network,
            variables: ["THREADS": "whole", "MIN_AGE_DAYS": "0", "MAX_PER_DAY": "0"].merging(
                variables
            ) { $1 })
        let author = AccountID(network: .mastodon, value: SamplePeople.human.handle)
        func id(_ number: Int) -> PostID {
            PostID(network: .mastodon, value: "https://elsewhere.example/thread/\(number)")
        }
        let posts = Self.texts.enumerated().map { number, text in
            Post(
                id: id(number), author: author, text: text,
                createdAt: Sample.origin - 86_400 + Double(number) * 60,
                replyTo: number == 0 ? nil : ReplyTarget(author: author, post: id(number - 1)))
        }
        _ = try await fixture.mirror.archive.store(posts, timeZone: Sample.zone, limit: nil)
        return (fixture, posts[0])
    }

    private func publish(_ head: Post, _ fixture: MirrorFixture) async throws -> Action {
        try await Desk(fixture.mirror, zone: Sample.zone).slot(
            after: PublishPost(post: head.id.value))
    }

    private func said(_ fixture: MirrorFixture) async -> [SandboxLedger.Delivery] {
        await fixture.sandbox.ledger.deliveries.filter { Self.texts.contains($0.text) }
    }

    /// Each answers the one before, and nobody is told.
    private func expectChain(_ fixture: MirrorFixture) async throws {
        let said = await said(fixture)
        #expect(said.map(\.text) == Self.texts)
        #expect(said.map(\.replyTo) == [nil] + said.dropLast().map(\.id))
        #expect(said.flatMap(\.mentioned).isEmpty)
        let ledger = await fixture.sandbox.ledger
        #expect(
            ledger.summary.duplicateSends + ledger.summary.unsolicited + ledger.summary.errors == 0)
    }

    @Test(arguments: [NetworkName.mastodon, .bluesky]) func aThreadIsSaidInItsOrder(
        network: NetworkName
    ) async throws {
        let (fixture, head) = try await start(on: network)
        let action = try await publish(head, fixture)
        let plan = try await PlanReporter(mirror: fixture.mirror, zone: Sample.zone)
            .report(on: Sample.day, now: fixture.clock.now)
        #expect(plan?.slots.first { $0.id == action.id }?.parts == 3)
        try await fixture.live(until: 13)
        try await expectChain(fixture)
        let slots = try await fixture.slots()
        #expect(slots.map(\.state) == [.done, .done, .done])
        #expect(slots.map(\.subject) == ["", "/2", "/3"].map { action.subject + $0 })
    }

    /// Of each part in its turn: an answer that is lost, and a request.
    @Test(arguments: [NetworkName.mastodon, .bluesky], [SandboxFault.dropAnswer, .dropRequest])
    func noPartIsLostOrDoubled(network: NetworkName, fault: SandboxFault) async throws {
        let (fixture, head) = try await start(on: network)
        let path = network == .mastodon ? "/api/v1/statuses" : "/xrpc/com.atproto.repo.putRecord"
        _ = try await publish(head, fixture)
        if fault == .dropAnswer {
            fixture.sandbox.faults.failNext(fault, count: 3, method: "POST", path: path)
        } else {
            // Or all three would be the first part's.
            for hour in [12.2, 12.5, 12.8] {
                fixture.sandbox.faults.failNext(fault, method: "POST", path: path)
                try await fixture.live(until: hour)
            }
        }
        try await fixture.live(until: 14)
        try await expectChain(fixture)
        #expect(fixture.sandbox.faults.applied == 3)
    }

    /// Where a second attempt would be published again, the look alone tells that a part is there.
    @Test func aPartIsFoundWhereItAnswersTheOneBefore() async throws {
        let (fixture, head) = try await start(on: .mastodon)
        fixture.sandbox.faults.mastodon = .gotosocial
        _ = try await publish(head, fixture)
        fixture.sandbox.faults.failNext(
            .dropAnswer, count: 3, method: "POST", path: "/api/v1/statuses")
        try await fixture.live(until: 14)
        await expect(said(fixture).map(\.text), equals: Self.texts)
        try await expect(fixture.slots().map(\.state), equals: [.done, .done, .done])
    }

    @Test(arguments: ["off", "whole"]) func theFirstPostOfAThreadIsNotSaidAlone(rule: String)
        async throws
    {
        let (fixture, head) = try await start(
            on: rule == "off" ? .mastodon : .x, variables: ["THREADS": rule])
        await #expect(throws: ChangeRefusal.self) { _ = try await publish(head, fixture) }
        let judge = fixture.mirror.textJudge(zone: Sample.zone, limits: .usual(of: .mastodon))
        try await fixture.mirror.archive.prepare(by: judge)
        let unsent = try await fixture.mirror.archive.unsent(Archive.TextFilter(longest: 500))
        #expect(unsent.unfit["thread-head"] == 1)
    }

    /// What a plan draws is said as what a person chooses is.
    @Test func aPlanDrawsAThreadAsOneText() async throws {
        let (fixture, head) = try await start(on: .mastodon)
        try await fixture.mirror.storage.lenient.execute(
            "DELETE FROM posts WHERE post_id NOT LIKE '%/thread/%'")
        let planner = fixture.mirror.planMaker(
            zone: Sample.zone, store: fixture.mirror.outbox(lease: nil),
            limits: .usual(of: .mastodon))
        var texts = try await TextPool(maker: planner, planned: [], now: fixture.clock.now)
        let minute = try #require(MinuteOfDay(clock: "12:00"))
        let wording = try #require(try await texts.next(at: minute, of: Sample.day).wording)
        #expect(wording.source == head.id)
        #expect(wording.rest.map(\.text) == Array(Self.texts.dropFirst()))
        try await expect(texts.next(at: minute, of: Sample.day).wording, equals: nil)
    }

    @Test func aThreadOfWhichAPartIsGoneIsNotBegun() async throws {
        let (fixture, head) = try await start(on: .mastodon)
        let action = try await publish(head, fixture)
        try await fixture.mirror.archive.forget([
            PostID(network: .mastodon, value: "https://elsewhere.example/thread/2")
        ])
        try await fixture.live(until: 13)
        await expect(said(fixture)) { $0.isEmpty }
        let ended = try await fixture.slots().first { $0.id == action.id }
        #expect(ended?.state == .skipped)
        #expect(ended?.reason == .outbox(.sourceGone))
    }

    @Test func whatIsGoneMeanwhileEndsTheThread() async throws {
        let (fixture, head) = try await start(on: .mastodon)
        _ = try await publish(head, fixture)
        // Nobody knows yet that the first part is out when the second is taken back.
        fixture.sandbox.faults.failNext(.dropAnswer, method: "POST", path: "/api/v1/statuses")
        try await fixture.live(until: 12.02)
        try await fixture.mirror.archive.forget([
            PostID(network: .mastodon, value: "https://elsewhere.example/thread/1")
        ])
        try await fixture.live(until: 13)
        // Whole or not at all.
        let said = await said(fixture)
        #expect(said.map(\.text) == [Self.texts[0]])
        await expect(fixture.sandbox.ledger.removals.map(\.postID), equals: said.map(\.id))
        let slots = try await fixture.slots()
        #expect(slots.map(\.state) == [.undone, .skipped, .skipped])
        #expect(
            slots.map(\.reason) == [
                .outbox(.threadCut), .outbox(.sourceGone), .outbox(.threadEnded),
            ])
    }

    /// A part that the human changes is changed where it stands, and what follows it stays.
    @Test func aPartIsChangedWithItsOriginal() async throws {
        let paper = try await PaperMirror(
            bot: .mastodon, human: .mastodon, variables: ["THREADS": "whole", "MAX_PER_DAY": "0"])
        paper.bot.with { $0.capabilities.canEdit = true }
        let author = AccountID(network: .mastodon, value: "human")
        let posts = Self.texts.enumerated().map { number, text in
            Post(
                id: PostID(network: .mastodon, value: "\(number)"), author: author, text: text,
                createdAt: PaperMirror.now - 86_400 + Double(number) * 60,
                replyTo: number == 0
                    ? nil
                    : ReplyTarget(
                        author: author, post: PostID(network: .mastodon, value: "\(number - 1)")),
                address: "address-\(number)")
        }
        try await paper.archive(posts)
        paper.human?.add(
            posts.map { post in
                var seen = paperPost(
                    post.id.value, by: "human", on: .mastodon, post.text, at: post.createdAt)
                seen.post.replyTo = post.replyTo
                return seen
            }, to: .ownPosts)
        let parts = try await paper.parts()
        _ = try await Desk(paper.mirror, zone: PaperMirror.zone).perform(PublishPost(post: "0"))
        for _ in 0..<8 {
            try await parts.courier.deliverDue([.post])
            try await paper.wait(60)
        }
        try #require(paper.bot.with { $0.published.map(\.text) } == Self.texts)
        paper.human?.with { state in
            state.feeds[.ownPosts]?[1].post.text = "It goes up into the green hills."
            state.feeds[.ownPosts]?[1].editedAt = paper.clock.now - 1
        }
        _ = try await parts.originals.look()
        #expect(
            paper.bot.with { $0.edited.map(\.draft.text) } == ["It goes up into the green hills."])
        try await expect(paper.actions(.post)) {
            $0.allSatisfy { $0.undo == nil && $0.state == .done }
        }
    }

    /// Of a thread that is not begun, each part is compared with what its original says now.
    @Test func aThreadOfWhichAPartWasChangedIsNotBegunAsItWas() async throws {
        let (fixture, head) = try await start(on: .mastodon)
        let action = try await publish(head, fixture)
        var part = try #require(
            try await fixture.mirror.archive.post(
                PostID(network: .mastodon, value: "https://elsewhere.example/thread/1")))
        part.address = "address-1"
        let rest = try #require(action.wording?.rest.first)
        let human = PaperNetwork(.mastodon, account: "human")
        var seen = paperPost(
            "1", by: "human", on: .mastodon, "It goes up into the green hills.", at: part.createdAt)
        seen.post.replyTo = part.replyTo
        seen.editedAt = fixture.clock.now - 1
        human.add([seen], to: .ownPosts)
        let parts = try await fixture.worker().parts(
            bot: PaperNetwork(.mastodon), human: human, lease: nil, deliverer: nil)
        try await expect(parts.originals.find(part, for: action, part: rest), equals: .edited)
        part.text = "It goes up into the green hills."
        // The archive knows, and what was planned before does not.
        try await expect(parts.originals.find(part, for: action, part: rest), equals: .edited)
        var now = rest
        now.text = part.text
        try await expect(parts.originals.find(part, for: action, part: now), equals: .kept)
    }

    @Test func takingAThreadBackTakesTheNewestFirst() async throws {
        let (fixture, head) = try await start(on: .bluesky)
        let action = try await publish(head, fixture)
        try await fixture.live(until: 13)
        let said = await said(fixture).map(\.id)
        _ = try await fixture.mirror.outbox(lease: nil).askUndos(
            [action.id], now: fixture.clock.now)
        try await fixture.live(until: 14)
        await expect(fixture.sandbox.ledger.removals.map(\.postID), equals: said.reversed())
        try await expect(fixture.slots().map(\.state), equals: [.undone, .undone, .undone])
    }

    @Test func aPauseHoldsAThreadWhereItIs() async throws {
        let (fixture, head) = try await start(on: .mastodon)
        let action = try await publish(head, fixture)
        try await fixture.mirror.table.pause(until: nil, reason: nil, now: fixture.clock.now)
        try await fixture.live(until: 12.1)
        await expect(said(fixture)) { $0.isEmpty }
        try await expect(fixture.slots().map(\.id), equals: [action.id])
    }
}
