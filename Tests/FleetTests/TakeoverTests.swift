import Archive
import Expectations
import Fixtures
import Fleet
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

/// The events that hurry a pass, each noted by a process that was killed before that pass.
///
/// The next owner is another process, which nothing but the row tells; docs/architecture.md lists
/// the rows. Its passes begin at its start and return after ten minutes and more, so that what it
/// does within seconds it saw first.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct TakeoverTests {
    /// Seconds of the next owner's life, which judges texts ten seconds after its start.
    private static let soon = 15.0

    /// A mirror that has begun, read everything and planned the day.
    private func begun(_ variables: [String: String] = [:]) async throws -> MirrorFixture {
        let fixture = try await MirrorFixture.start(from: 9, variables: variables)
        try await fixture.live(until: 9.01)
        return fixture
    }

    /// Lets another process own the mirror.
    private func takeOver(_ fixture: MirrorFixture) async throws {
        let worker = fixture.worker(on: try await fixture.reopened())
        try await worker.run(until: fixture.clock.now + Self.soon)
    }

    /// Lets the last slot of the day be due now.
    private func dueSlot(_ fixture: MirrorFixture) async throws -> Action {
        let slot = try #require(try await fixture.slots().last { $0.state == .planned })
        let now = fixture.clock.now
        try await fixture.mirror.storage.lenient.execute(
            """
            UPDATE actions SET due_ms = \(now.milliseconds), expires_ms = \((now + 900).milliseconds)
            WHERE id = \(slot.id)
            """)
        return slot
    }

    private func stored(_ action: Action, of fixture: MirrorFixture) async throws -> Action {
        let actions = try await fixture.mirror.outbox(lease: nil).actions(withIDs: [action.id])
        return try #require(actions[action.id])
    }

    /// A mirror that has just published a slot.
    private func published() async throws -> (fixture: MirrorFixture, copy: Action) {
        let fixture = try await begun()
        let slot = try await dueSlot(fixture)
        try await takeOver(fixture)
        let copy = try await stored(slot, of: fixture)
        try #require(copy.state == .done)
        return (fixture, copy)
    }

    /// Something was decided; or it was, and then the human posted.
    @Test(arguments: [false, true])
    func whatWasDecidedLeavesUnlessTheHumanIsPosting(isPosting: Bool) async throws {
        let fixture = try await begun(["HOLD_WHILE_ACTIVE": "2h"])
        let slot = try await dueSlot(fixture)
        let now = fixture.clock.now
        // Their network shows no post of this minute: the row alone tells.
        if isPosting { try await fixture.mirror.archive.noteActivity(at: now - 30) }
        try await takeOver(fixture)
        let after = try await stored(slot, of: fixture)
        if isPosting {
            #expect(after.state == .planned)
            #expect(after.due >= now - 30 + 7_200)
            #expect(after.reason == .outbox(.humanActive))
        } else {
            #expect(after.state == .done)
        }
    }

    /// A reply waits for the mentions to be read.
    @Test func aReplyLeavesOnceTheMentionsAreRead() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 12)
        let reply = try #require(try await fixture.actions(.reply).first { $0.state == .done })
        let now = fixture.clock.now
        try await fixture.mirror.storage.lenient.execute(
            """
            UPDATE actions SET state = 'planned', created_ms = \(now.milliseconds), due_ms = \(now.milliseconds),
                updated_ms = \(now.milliseconds), expires_ms = \((now + 86_400).milliseconds), sending_ms = NULL,
                remote_id = NULL, next_attempt_ms = NULL
            WHERE id = \(reply.id)
            """)
        try await takeOver(fixture)
        try await expect(stored(reply, of: fixture).state, equals: .done)
    }

    /// The human's network denied an original, or a person asked.
    @Test func aWishToTakeBackIsCarriedOut() async throws {
        let (fixture, copy) = try await published()
        let answers = try await fixture.mirror.outbox(lease: nil).askUndos(
            [copy.id], reason: .sourceGone, now: fixture.clock.now)
        #expect(answers == [copy.id: .asked])
        await expect(fixture.sandbox.ledger.removals) { $0.isEmpty }
        try await takeOver(fixture)
        try await expect(stored(copy, of: fixture).state, equals: .undone)
        await expect(fixture.sandbox.ledger.removals.count, equals: 1)
    }

    @Test func theOriginalOfACopyIsLookedAt() async throws {
        let (fixture, copy) = try await published()
        let source = try #require(copy.wording?.source)
        let store = fixture.mirror.outbox(lease: nil)
        func open() async throws -> [PostID] {
            try await store.originalsToFollow(on: .mastodon, now: fixture.clock.now, limit: 10)
        }
        // Its process ended before it looked.
        try await fixture.mirror.storage.lenient.execute("UPDATE actions SET follow_ms = NULL")
        try await expect(open()) { $0.contains(source) }
        try await takeOver(fixture)
        try await expect(open(), equals: [])
    }

    @Test func aTextThatIsNotJudgedIsJudged() async throws {
        let fixture = try await begun()
        let slot = try #require(try await fixture.slots().first)
        let source = try #require(slot.wording?.source)
        let storage = fixture.mirror.storage.lenient
        func rules() async throws -> String? {
            try await storage.query("SELECT rules FROM posts WHERE post_id = \(source.value)")
                .first?
                .text("rules")
        }
        try await storage.execute(
            "UPDATE posts SET rules = '', text_key = NULL, unfit = NULL WHERE post_id = \(source.value)"
        )
        try await expect(rules(), equals: "")
        try await takeOver(fixture)
        try await expect(rules()) { $0?.isEmpty == false }
    }

    /// A person paused the mirror, or changed a setting, when nobody worked for it.
    @Test(arguments: [false, true]) func whatAPersonChangedHolds(isPause: Bool) async throws {
        let fixture = try await begun()
        let slot = try await dueSlot(fixture)
        let mirror = fixture.mirror
        let now = fixture.clock.now
        let before = await fixture.sandbox.ledger.summary.posted
        if isPause {
            try await mirror.table.pause(until: nil, reason: nil, now: now)
        } else {
            // Then no slot is sent that nobody pinned.
            try await mirror.set(["MAX_PER_DAY": "0"], now: now)
        }
        try await takeOver(fixture)
        await expect(fixture.sandbox.ledger.summary.posted, equals: before)
        guard isPause else { return }
        try await expect(stored(slot, of: fixture).state, equals: .planned)
        // The end of the pause is seen as soon.
        #expect(try await mirror.table.resume(now: fixture.clock.now) != nil)
        try await takeOver(fixture)
        try await expect(stored(slot, of: fixture).state, equals: .done)
    }
}
