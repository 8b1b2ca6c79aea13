import Archive
import Conduct
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks
@testable import Settings

/// Content warnings that go along with the texts they are about.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct WarningTests {
    /// A mirror whose human once posted something with a warning.
    private func paper(
        _ network: NetworkName, _ warning: String, shown: String? = nil,
        variables: [String: String] = [:]
    ) async throws -> (PaperMirror, WorkerParts, Post) {
        let settings = ["CONTENT_WARNINGS": "carry"].merging(variables) { $1 }
        let paper = try await PaperMirror(bot: network, human: network, variables: settings)
        let post = Post(
            id: PostID(network: network, value: "1"),
            author: AccountID(network: network, value: "human"),
            text: "the night was long", createdAt: PaperMirror.now - 86_400 * 60, isSensitive: true,
            address: "address-1", warning: warning)
        try await paper.archive([post])
        var seen = paperPost("1", by: "human", on: network, post.text, at: post.createdAt)
        seen.post.isSensitive = true
        seen.post.warning = shown ?? warning
        paper.human?.add([seen], to: .ownPosts)
        return (paper, try await paper.parts(), post)
    }

    /// Lets a slot with the only text be due now, and returns it as it ends.
    private func deliver(_ paper: PaperMirror, _ parts: WorkerParts) async throws -> Action {
        let now = paper.clock.now
        let day = LocalTime(now, in: PaperMirror.zone).day
        var texts = try await TextPool(maker: parts.planner, planned: [], now: now)
        let wording = try await texts.next(at: LocalTime(now, in: PaperMirror.zone).minute, of: day)
            .wording
        let state: ActionState = wording == nil ? .skipped : .planned
        let intent = Intent(
            .post(Slot.Name(day: day, number: 1), wording), state: state, due: now,
            expires: now + 900)
        _ = try await parts.planner.store.propose(intent, now: now)
        try await parts.courier.deliverDue([.post])
        return try #require(
            try await parts.planner.store.action(.post, subject: intent.payload.subject))
    }

    @Test(arguments: [
        (NetworkName.mastodon, "Dark thoughts, @pal"), (.bluesky, "nudity graphic-media"),
    ])
    func aWarningGoesAlong(network: NetworkName, warning: String) async throws {
        let (paper, parts, post) = try await paper(network, warning)
        let ended = try await deliver(paper, parts)
        #expect(ended.state == .done)
        let drafts = paper.bot.with { $0.published }
        #expect(drafts.map(\.text) == [post.text])
        // Nobody is named in it.
        #expect(drafts.map(\.warning) == [warning.replacing("@", with: "")])
        #expect(ended.wording?.warning == drafts.first?.warning)
    }

    @Test(arguments: [
        (NetworkName.mastodon, "leave", "dark"), (.bluesky, "carry", "dark thoughts"),
        (.x, "carry", "dark"),
    ])
    func whatHasNoPlaceForAWarningIsLeftOut(network: NetworkName, mode: String, warning: String)
        async throws
    {
        let variables = ["CONTENT_WARNINGS": mode, "X_ACKNOWLEDGE_POLICY": "yes"]
        let (paper, parts, _) = try await paper(network, warning, variables: variables)
        try await expect(deliver(paper, parts).wording, equals: nil)
        #expect(paper.bot.with { $0.published.isEmpty })
        let unsent = try await paper.mirror.archive.unsent(Archive.TextFilter(longest: 500))
        #expect(unsent.unfit == ["sensitive": 1])
    }

    /// The copy's warning is that of the original without its mentions, also when the original is
    /// edited.
    @Test func anEditThatChangesNothingIsNotFollowedForItsWarning() async throws {
        let (paper, parts, _) = try await paper(.mastodon, "Dark thoughts, @pal")
        paper.bot.with { $0.capabilities.canEdit = true }
        _ = try await deliver(paper, parts)
        try await paper.wait(3_700)
        paper.human?.with { $0.feeds[.ownPosts]?[0].editedAt = paper.clock.now - 1 }
        _ = try await parts.originals.look()
        #expect(paper.bot.with { $0.edited.isEmpty })
        try await paper.wait(3_700)
        paper.human?.with { state in
            state.feeds[.ownPosts]?[0].editedAt = paper.clock.now - 1
            state.feeds[.ownPosts]?[0].post.text = "the night was very long"
        }
        _ = try await parts.originals.look()
        #expect(paper.bot.with { $0.edited.map(\.draft.warning) } == ["Dark thoughts, pal"])
    }

    @Test func anotherWarningThanTheArchivedOneIsNotSent() async throws {
        let (paper, parts, _) = try await paper(.mastodon, "dark", shown: "darker")
        let ended = try await deliver(paper, parts)
        #expect(ended.state == .skipped)
        #expect(paper.bot.with { $0.published.isEmpty })
    }

    @Test func aMutedWordOfAWarningCountsToo() async throws {
        let (paper, parts, _) = try await paper(.mastodon, "Dark thoughts")
        _ = try await paper.mirror.archive.mute("word", "dark", now: paper.clock.now)
        try await expect(deliver(paper, parts).wording, equals: nil)
        let outcome = try await Forgetting(mirror: paper.mirror, zone: PaperMirror.zone).forget(
            .muted(kind: "word", value: "dark"), now: paper.clock.now)
        #expect(outcome.removed == 1)
    }

    /// Read from a server, sent to one, lost, and found again.
    @Test func aWarningSurvivesALostAnswer() async throws {
        let fixture = try await MirrorFixture.start(
            isTrained: false, variables: ["MIN_AGE_DAYS": "0", "CONTENT_WARNINGS": "carry"])
        let human = try await fixture.mirror.requiredNetwork(of: .human)
        _ = try await SchedulerTrainer(mirror: fixture.mirror, zone: Sample.zone) { _ in }.train(
            from: human)
        let rules = TextRules(fixture.mirror.configuration, limits: .usual(of: .mastodon))
        let plain = try await fixture.mirror.archive.standalonePosts().first {
            rules.text(for: $0).isSuccess
        }
        let id = try #require(plain).id
        try await fixture.mirror.storage.lenient.execute(
            "UPDATE posts SET sensitive = TRUE, warning = 'dark thoughts' WHERE post_id = \(id.value)"
        )
        let post = try #require(try await fixture.mirror.archive.post(id))
        let desk = Desk(fixture.mirror, zone: Sample.zone)
        let action = try await desk.slot(after: PublishPost(post: post.id.value))
        #expect(action.wording?.warning == "dark thoughts")
        fixture.sandbox.faults.failNext(.dropAnswer, count: 1, method: "POST")
        try await fixture.live(until: 1)
        let ended = try #require(try await fixture.slots().first { $0.id == action.id })
        #expect(ended.state == .done)
        let sent = await fixture.sandbox.ledger.deliveries.filter {
            $0.idempotencyKey == action.key
        }
        #expect(sent.count == 1)
        let bot = try await fixture.mirror.requiredNetwork(of: .bot)
        let shown = try await bot.ownPosts(since: Sample.origin - 60).first {
            $0.post.text == action.text
        }
        #expect(shown?.post.warning == "dark thoughts")
        expect(shown?.post) { $0?.isSensitive == true }
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
