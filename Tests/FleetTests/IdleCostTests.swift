import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Settings
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// How long the passes of an idle mirror wait in a process of many mirrors.
///
/// Each of these passes queries the database, which ten thousand mirrors may share.
@Suite(.mirrors) struct IdleCostTests {
    private let thought = Post(
        id: PostID(network: .mastodon, value: "0"),
        author: AccountID(network: .mastodon, value: "human"),
        text: "thought number 0 of many", createdAt: PaperMirror.now - 86_400 * 50,
        address: "address-0")

    /// A mirror at two in the afternoon.
    ///
    /// - Parameter isPosting: Whether it posts by itself.
    private func paper(isPosting: Bool = false) async throws -> (PaperMirror, WorkerParts) {
        let paper = try await PaperMirror(
            bot: .mastodon, human: .mastodon, variables: isPosting ? [:] : ["MAX_PER_DAY": "0"])
        try await paper.archive([thought])
        let shown = paperPost("0", by: "human", on: .mastodon, thought.text, at: thought.createdAt)
        paper.human?.add([shown], to: .ownPosts)
        return (paper, try await paper.parts())
    }

    /// Stores a post that is due now.
    private func propose(_ paper: PaperMirror, _ parts: WorkerParts) async throws {
        let now = paper.clock.now
        let slot = Slot.Name(day: LocalTime(now, in: PaperMirror.zone).day, number: 1)
        let wording = Action.Wording(source: thought.id, text: thought.text, visibility: .unlisted)
        _ = try await parts.store.propose(
            Intent(.post(slot, wording), due: now, expires: now + 900), now: now)
    }

    @Test func thePublisherWaitsForHoursWhileNothingIsOpen() async throws {
        let (paper, parts) = try await paper()
        let now = paper.clock.now
        let passes = Passes(parts: parts)
        // The first look asks what is open.
        _ = try await passes.publish()
        let wait = Cadence.idleWait(of: paper.mirror.configuration.mirror)
        try await expect(passes.publish(), equals: now + wait)
        // A plan is made in time all the same.
        try await paper.clock.sleep(until: now + 8 * 3_600)
        let day = LocalTime(paper.clock.now, in: PaperMirror.zone).day
        let minute = parts.planner.minuteToPlanAhead(of: day)
        try await expect(passes.publish()) { next in
            let local = LocalTime(next, in: PaperMirror.zone)
            return local.day == day && local.minute.value == minute
        }
    }

    /// Those that began together do not ask together again three hours later.
    @Test func mirrorsWaitForDifferentTimes() {
        let waits = (0..<1_000).map { Cadence.idleWait(of: "mirror-\($0)") }
        expect(waits) { $0.allSatisfy { (9_000..<12_600).contains($0) } }
        // In each minute of the hour there are some 17.
        let minutes = Dictionary(grouping: waits) { Int($0 / 60) }.mapValues(\.count)
        #expect(minutes.count == 60)
        expect(minutes.values.max()) { $0.map { $0 < 50 } == true }
        #expect(abs(waits.reduce(0, +) / 1_000 - 10_800) < 120)
    }

    /// The human's network may have to be asked once more whether a post is gone.
    @Test func aDoubtIsLookedAtSooner() async throws {
        let (paper, parts) = try await paper()
        let passes = Passes(parts: parts)
        _ = try await passes.publish()
        paper.human?.with { $0.feeds[.ownPosts] = [] }
        try await expect(parts.originals.find(thought), equals: .withheld)
        try await expect(passes.publish(), equals: paper.clock.now + 900)
    }

    /// A reply that was decided before a worker ended waits until the next one has read the
    /// mentions.
    @Test func aReplyThatWaitsIsLookedAtSooner() async throws {
        let (paper, parts) = try await paper()
        let now = paper.clock.now
        let friend = AccountID(network: .mastodon, value: "friend")
        let target = Action.Target(
            post: "https://far.example/1", author: friend, address: "1", name: nil, text: "hi")
        let wording = Action.Wording(source: thought.id, text: "thank you", visibility: .unlisted)
        let reply = Action.Reply(to: target, thread: "1", wording: wording)
        _ = try await parts.store.propose(
            Intent(.reply(reply), due: now, expires: now + 900), now: now)
        let passes = Passes(parts: parts)
        _ = try await passes.publish()
        try await expect(passes.publish(), equals: now + 900)
        try await expect(paper.actions(.reply).map(\.state), equals: [.planned])
    }

    @Test func originalsAreLookedAtWhenOneIsDue() async throws {
        let (paper, parts) = try await paper(isPosting: true)
        let now = paper.clock.now
        let copies = Recorder<Int>()
        let passes = Passes(parts: parts, onCopy: { copies.add(1) })
        let wait = Cadence.idleWait(of: paper.mirror.configuration.mirror)
        try await expect(parts.originals.look()) { $0 == (now + wait, 0) }
        #expect(copies.values.isEmpty)
        try await propose(paper, parts)
        _ = try await passes.publish()
        #expect(copies.values.count == 1)
        try await expect(paper.actions(.post).count { $0.state == .done }, equals: 1)
        // The new copy's original, and once more for what one pass left.
        try await expect(parts.originals.look()) { $0 == (now + Originals.interval, 1) }
        // An hour later, as long as the copy is young.
        try await expect(parts.originals.look()) { $0 == (now + 3_600, 0) }
    }
}
