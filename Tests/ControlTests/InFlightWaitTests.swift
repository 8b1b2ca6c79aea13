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

/// Once a person's command has returned, nothing leaves that it forbids.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct InFlightWaitTests {
    private static let friend = AccountID(network: .mastodon, value: "friend")

    /// What a person may say while something is about to leave.
    enum Word: CaseIterable {
        case pause, deny, denyServer, forgetPerson, skip, never, forgetPost, mute
    }

    /// A mirror with a post and an answer that are due now.
    private func paper(_ engine: Engine = .sqlite) async throws -> (PaperMirror, WorkerParts) {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        try await paper.archive([
            Post(
                id: PostID(network: .mastodon, value: "thought"),
                author: AccountID(network: .mastodon, value: "human"),
                text: "a thought about the harbour",
                createdAt: PaperMirror.now - 90 * 86_400),
            pastReply("past", to: Self.friend, "thank you for the harbour"),
        ])
        let parts = try await paper.parts()
        let day = LocalTime(paper.clock.now, in: PaperMirror.zone).day
        let now = paper.clock.now
        let post = Action.Wording(
            source: PostID(network: .mastodon, value: "thought"),
            text: "a thought about the harbour",
            visibility: .unlisted)
        _ = try await parts.store.propose(
            Intent(.post(Slot.Name(day: day, number: 1), post), due: now, expires: now + 900),
            now: now)
        let reply = Action.Reply(
            to: Action.Target(post: "mention", author: Self.friend, address: "address-mention"),
            thread: "thread",
            wording: Action.Wording(
                source: PostID(network: .mastodon, value: "past"),
                text: "@friend thank you for the harbour",
                visibility: .unlisted))
        _ = try await parts.store.propose(
            Intent(.reply(reply), due: now, expires: now + 900), now: now)
        return (paper, parts)
    }

    private func say(_ word: Word, in mirror: HumanMirror) async throws {
        let desk = Desk(mirror, zone: PaperMirror.zone)
        let forgetting = Forgetting(mirror: mirror, zone: PaperMirror.zone)
        switch word {
        case .pause: try await mirror.table.pause(until: nil, reason: nil, now: mirror.clock.now)
        case .deny:
            try await mirror.people.set(
                .deny, for: Self.friend, reason: "operator", at: mirror.clock.now)
        case .denyServer:
            try await mirror.people.link(Self.friend, .mastodon("ann@a.far.example", localHost: ""))
            _ = try await desk.perform(DenyPeople(account: "*@far.example"))
        case .forgetPerson: _ = try await mirror.forget(Self.friend, now: mirror.clock.now)
        case .skip: _ = try await desk.perform(SkipSlot(slot: "#1"))
        case .never: _ = try await desk.perform(NeverSend(post: "thought"))
        case .forgetPost:
            _ = try await forgetting.forget(
                try await forgetting.subject(post: "thought"), now: mirror.clock.now)
        case .mute:
            _ = try await forgetting.forget(
                try Forgetting.subject(word: "harbour"), now: mirror.clock.now)
        }
    }

    private func kind(forbiddenBy word: Word) -> [ActionKind] {
        switch word {
        case .pause, .mute: [.post, .reply]
        case .deny, .denyServer, .forgetPerson: [.reply]
        case .skip, .never, .forgetPost: [.post]
        }
    }

    /// What had to be read before a request took its time, and meanwhile a person spoke.
    @Test(arguments: Engine.allCases, Word.allCases)
    func whatIsBeingPreparedDoesNotLeave(_ engine: Engine, _ word: Word) async throws {
        for kind in kind(forbiddenBy: word) {
            let (paper, parts) = try await paper(engine)
            let mirror = paper.mirror
            let spoken = Recorder<Bool>()
            paper.bot.with { state in
                state.onPrepare = {
                    guard spoken.values.isEmpty else { return }
                    spoken.add(true)
                    try await say(word, in: mirror)
                }
            }
            do { try await parts.courier.deliverDue([kind]) } catch let error as OutboxError {
                #expect(error.code == .paused)
            }
            #expect(spoken.values.count == 1)
            #expect(paper.bot.with { $0.published.isEmpty })
            #expect(paper.bot.with { $0.withdrawn } == 1)
        }
    }

    /// An answer that was decided just now is sent without being read again, unless a person has
    /// spoken since.
    @Test(arguments: Engine.allCases, [Word.pause, .mute, .deny, .denyServer, .forgetPerson])
    func anAnswerThatWasJustDecidedDoesNotLeave(_ engine: Engine, _ word: Word) async throws {
        let (paper, parts) = try await paper(engine)
        let mirror = paper.mirror
        try await paper.archive([pastReply("other", to: Self.friend, "to the harbour, then")])
        paper.bot.add(
            [
                paperPost(
                    "fresh", on: .mastodon, "@bot hello", at: paper.clock.now, mentions: ["bot"])
            ], to: .mentions)
        let spoken = Recorder<Bool>()
        paper.bot.with { state in
            state.onPrepare = {
                guard spoken.values.isEmpty else { return }
                spoken.add(true)
                try await say(word, in: mirror)
            }
        }
        let feed = try #require(parts.feeds.mentions)
        do { _ = try await Passes(parts: parts).mentions(feed) } catch let error as OutboxError {
            #expect(error.code == .paused)
        }
        #expect(spoken.values.count == 1)
        #expect(paper.bot.with { $0.published.isEmpty })
        #expect(paper.bot.with { $0.withdrawn } == 1)
    }

    /// A planned post is not claimed while it is prepared, and what a person makes of it meanwhile
    /// is what leaves.
    @Test(arguments: Engine.allCases) func aTextThatIsChosenMeanwhileLeaves(_ engine: Engine)
        async throws
    {
        let (paper, parts) = try await paper(engine)
        let other = Post(
            id: PostID(network: .mastodon, value: "evening"),
            author: AccountID(network: .mastodon, value: "human"),
            text: "an evening by the sea", createdAt: PaperMirror.now - 80 * 86_400)
        try await paper.archive([other])
        let slot = try #require(try await parts.store.due([.post], now: paper.clock.now).first)
        let store = paper.mirror.outbox(lease: nil)
        let now = paper.clock.now
        let spoken = Recorder<Bool>()
        paper.bot.with { state in
            state.onPrepare = {
                guard spoken.values.isEmpty else { return }
                spoken.add(true)
                let wording = Action.Wording(
                    source: other.id, text: other.text, visibility: .unlisted)
                _ = try await store.pin(slot.id, wording, now: now)
            }
        }
        try await parts.courier.deliverDue([.post])
        #expect(spoken.values.count == 1)
        #expect(paper.bot.with { $0.published.isEmpty })
        try await parts.courier.deliverDue([.post])
        #expect(paper.bot.with { $0.published.map(\.text) } == [other.text])
    }

    /// The request has left: the person waits for its end and is told of it.
    @Test(arguments: Engine.allCases) func whatHasLeftIsWaitedFor(_ engine: Engine) async throws {
        let (paper, parts) = try await paper(engine)
        let mirror = paper.mirror
        let left = Recorder<Bool>()
        let go = Recorder<Bool>()
        paper.bot.with { state in
            state.onSend = {
                left.add(true)
                try await go.wait { $0 }
            }
        }
        let delivery = Task { try await parts.courier.deliverDue([.post]) }
        try await left.wait { $0 }
        try await say(.pause, in: mirror)
        let clock = PollingClock {
            go.add(true)
            _ = try await delivery.value
        }
        let actions = try await InFlightWait(mirror: mirror, clock: clock).wait()
        #expect(actions.map(\.kind) == [.post])
        #expect(actions.map(\.state) == [.done])
        #expect(clock.sleeps.values.count >= 1)
        try await expect(InFlightWait(mirror: mirror).wait().count, equals: 0)
    }

    /// Records the first due post as leaving, and makes no request.
    private func recordDeparture(of parts: WorkerParts, at now: Date) async throws {
        let slot = try #require(try await parts.store.due([.post], now: now).first)
        let claimed = try await parts.store.claim(slot, now: now)
        _ = try await parts.store.beginSending(
            claimed, lookUp: now + 90, deadline: .seconds(30), now: now)
    }

    /// The departure is being stored while a person speaks: the person is told of it, or nothing
    /// leaves.
    @Test(arguments: [Word.pause, .deny])
    func whatIsBeingStoredAsLeavingIsToldOrDoesNotLeave(_ word: Word) async throws {
        let (paper, parts) = try await paper(.postgres)
        let mirror = paper.mirror
        let storage = paper.mirror.storage
        let now = paper.clock.now
        let due = try await parts.store.due([try #require(kind(forbiddenBy: word).last)], now: now)
        let claimed = try await parts.store.claim(try #require(due.first), now: now)
        // A row that is locked holds the departure up between its look at what is forbidden and its
        // commit.
        let isLocked = Recorder<Bool>()
        let mayEnd = DispatchSemaphore(value: 0)
        let lock = Task {
            try await storage.lenient.transaction { connection in
                // It may be repeated, when the departure was in its way.
                guard isLocked.values.isEmpty else { return }
                _ = try connection.query(
                    "SELECT id FROM actions WHERE id = \(claimed.id) FOR UPDATE")
                isLocked.add(true)
                mayEnd.wait()
            }
        }
        try await isLocked.wait { $0 }
        let departure = Task {
            try await parts.store.beginSending(
                claimed, lookUp: now + 90, deadline: .seconds(30), now: now)
        }
        while try await !storage.hasBlockedTransaction {}
        try await say(word, in: mirror)
        // It is told at once, and then nothing may leave, or when the departure is stored.
        async let telling = parts.store.flights(now: now)
        for _ in 0..<20 { _ = try await storage.hasBlockedTransaction }
        mayEnd.signal()
        try await lock.value
        let told = try await telling
        let hasLeft = await (try? departure.value) != nil
        #expect(told.map(\.id) == (hasLeft ? [claimed.id] : []))
    }

    /// A worker that died in the middle holds nobody for longer than its request could have taken.
    @Test func aDeadWorkersRequestIsWaitedForUntilItsDeadline() async throws {
        let (paper, parts) = try await paper()
        try await recordDeparture(of: parts, at: paper.clock.now)
        let clock = PollingClock {}
        let actions = try await InFlightWait(mirror: paper.mirror, clock: clock).wait()
        #expect(actions.map(\.state) == [.sending])
        #expect(clock.slept == .seconds(30))
        // Long afterwards nobody waits at all.
        try await paper.wait(3_600)
        let later = PollingClock {}
        try await expect(InFlightWait(mirror: paper.mirror, clock: later).wait().count, equals: 0)
        #expect(later.slept == .zero)
    }

    @Test func onlyWhatIsMeantIsWaitedFor() async throws {
        let (paper, parts) = try await paper()
        try await recordDeparture(of: parts, at: paper.clock.now)
        let clock = PollingClock {}
        let waited = try await InFlightWait(mirror: paper.mirror, clock: clock).wait {
            $0.target?.author == Self.friend
        }
        #expect(waited.isEmpty)
        #expect(clock.slept == .zero)
    }

    /// An edit that follows the human is a change as well.
    @Test func anEditThatIsBeingPreparedDoesNotLeave() async throws {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        paper.bot.with { $0.capabilities.canEdit = true }
        let post = Post(
            id: PostID(network: .mastodon, value: "thought"),
            author: AccountID(network: .mastodon, value: "human"),
            text: "a thought about the harbour", createdAt: PaperMirror.now - 90 * 86_400,
            address: "address-thought")
        try await paper.archive([post])
        let parts = try await paper.parts()
        let day = LocalTime(paper.clock.now, in: PaperMirror.zone).day
        let now = paper.clock.now
        var shown = paperPost("thought", by: "human", on: .mastodon, post.text, at: post.createdAt)
        paper.human?.add([shown], to: .ownPosts)
        let wording = Action.Wording(source: post.id, text: post.text, visibility: .unlisted)
        _ = try await parts.store.propose(
            Intent(.post(Slot.Name(day: day, number: 1), wording), due: now, expires: now + 900),
            now: now)
        try await parts.courier.deliverDue([.post])
        shown.post.text = "a better thought about the harbour"
        shown.editedAt = now + 60
        paper.human?.with { [shown] in $0.feeds[.ownPosts] = [shown] }
        try await paper.wait(3_700)
        let mirror = paper.mirror
        paper.bot.with { state in state.onPrepare = { try await say(.pause, in: mirror) } }
        let error = await #expect(throws: OutboxError.self) { _ = try await parts.originals.look() }
        #expect(error?.code == .paused)
        #expect(paper.bot.with { $0.edited.isEmpty })
        _ = try await mirror.table.resume(now: paper.clock.now)
        paper.bot.with { $0.onPrepare = {} }
        try await paper.wait(3_700)
        _ = try await parts.originals.look()
        #expect(
            paper.bot.with { $0.edited.map(\.draft.text) } == ["a better thought about the harbour"]
        )
        try await expect(InFlightWait(mirror: mirror).wait().count, equals: 0)
    }
}

/// A clock whose sleeps end at once.
private final class PollingClock: Clock, @unchecked Sendable {
    typealias Instant = ContinuousClock.Instant

    // Sendable because `sleeps` is.
    let sleeps = Recorder<Duration>()
    private let onSleep: @Sendable () async throws -> Void

    init(onSleep: @escaping @Sendable () async throws -> Void) { self.onSleep = onSleep }

    var slept: Duration { sleeps.values.reduce(.zero, +) }

    let origin = ContinuousClock.now

    var now: Instant { origin + slept }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        sleeps.add(now.duration(to: deadline))
        try await onSleep()
    }
}
