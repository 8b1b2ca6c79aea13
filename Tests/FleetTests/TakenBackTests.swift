import Archive
import Foundation
import Networks
import Outbox
import Posts
import Testing

@testable import Fleet
@testable import Mirroring

/// What the human deleted is not repeated, and nothing is forgotten because of one wrong answer.
@Suite(.mirrors) struct TakenBackTests {
    /// A mirror whose human has written so many posts, of which the network still shows some.
    private func paper(posts count: Int, shown: Set<Int>) async throws -> (PaperMirror, WorkerParts) {
        let paper = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let posts = (0..<count).map { number in
            Post(
                id: Self.id(number), author: AccountID(network: .mastodon, value: "human"),
                text: "thought number \(number) of many", createdAt: PaperMirror.now - 86_400 * Double(50 + number),
                address: "address-\(number)")
        }
        try await paper.archive(posts)
        paper.human?.add(
            posts.enumerated().filter { shown.contains($0.offset) }.map { number, post in
                paperPost("\(number)", by: "human", on: .mastodon, post.text, at: post.createdAt)
            }, to: .ownPosts)
        return (paper, try await paper.parts())
    }

    private static func id(_ number: Int) -> PostID { PostID(network: .mastodon, value: "\(number)") }

    /// Lets a slot with one of the posts be due now, and returns it as it ends.
    private func deliver(_ number: Int, slot: Int, of paper: PaperMirror, _ parts: WorkerParts) async throws -> Action {
        let now = paper.clock.now
        let day = LocalTime(now, in: PaperMirror.zone).day
        let wording = Action.Wording(
            source: Self.id(number), text: "thought number \(number) of many", visibility: .unlisted)
        let intent = Intent(.post(Slot.Name(day: day, number: slot), wording), due: now, expires: now + 900)
        _ = try await parts.planner.store.propose(intent, now: now)
        try await parts.courier.deliverDue([.post])
        return try #require(try await parts.planner.store.action(.post, subject: intent.payload.subject))
    }

    private func isArchived(_ number: Int, in paper: PaperMirror) async throws -> Bool {
        try await paper.mirror.archive.post(Self.id(number)) != nil
    }

    @Test func onlyASecondAnswerMakesAPostForgotten() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: Set(1..<6))
        let ended = try await deliver(0, slot: 1, of: paper, parts)
        #expect(ended.state == .done && ended.wording?.source != Self.id(0))
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
        human.with { state in
            state.failure = { operation, _ in operation == .verifyAccount ? human.error(.unavailable, operation) : nil }
        }
        for _ in 0..<6 {
            try await paper.wait(660)
            try await parts.courier.deliverDue([.post])
        }
        #expect(try await isArchived(0, in: paper))
        let asked = human.with { $0.lookedUp.count { $0 == "address-0" } }
        #expect(asked <= 7, "a doubt is no reason to ask all the time")
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
                #expect(ended.state == .skipped && ["source-gone", "no-text"].contains(ended.reason))
            }
            try await paper.wait(120)
        }
        #expect(used.isSubset(of: [Self.id(7), Self.id(11)]))
        let looks = paper.human?.with { $0.lookedUp.count } ?? 0
        #expect(looks <= 4 * 4, "its own text, and three others")
    }

    @Test func whatIsNoLongerForEverybodyIsNotUsed() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: [])
        let secret = (0..<6).map { paperPost("\($0)", by: "human", on: .mastodon, visibility: .private) }
        paper.human?.add(secret, to: .ownPosts)
        let ended = try await deliver(0, slot: 1, of: paper, parts)
        #expect(ended.state == .skipped && ended.reason == "source-gone")
        #expect(paper.bot.with { $0.published.isEmpty })
    }

    @Test func aCallThatWasCutOffTellsNothing() async throws {
        let (paper, parts) = try await paper(posts: 3, shown: [])
        paper.human?.with { $0.cutsCallsOff = true }
        #expect(try await deliver(0, slot: 1, of: paper, parts).state == .done)
        #expect(try await isArchived(0, in: paper))
    }

    /// On a later page its author may have asked to stop.
    @Test func anAnswerWaitsUntilWhatWasSaidBeforeIsRead() async throws {
        let (paper, parts) = try await paper(posts: 6, shown: Set(0..<6))
        let now = paper.clock.now
        let wording = Action.Wording(source: Self.id(1), text: "thought number 1 of many", visibility: .unlisted)
        func answer(_ name: String) async throws -> Action {
            let target = Action.Target(
                post: name, author: .mastodon("pal@a.example", localHost: ""), address: "address-\(name)")
            let intent = Intent(
                .reply(Action.Reply(to: target, thread: name, wording: wording)), due: now, expires: now + 86_400)
            return try await parts.planner.store.propose(intent, now: now).action
        }
        func state(_ action: Action) async throws -> ActionState? {
            try await parts.planner.store.action(.reply, subject: action.subject)?.state
        }
        let first = try await answer("one")
        try await parts.courier.deliverDue([.reply], heard: nil)
        try await parts.courier.deliverDue([.reply], heard: now - 1)
        #expect(try await state(first) == .planned)
        try await parts.courier.deliverDue([.reply], heard: now)
        #expect(try await state(first) == .done)
        // Mentions that cannot be read hold nothing up for long.
        let second = try await answer("two")
        try await paper.wait(3_590)
        try await parts.courier.deliverDue([.reply], heard: now - 1)
        #expect(try await state(second) == .planned)
        try await paper.wait(20)
        try await parts.courier.deliverDue([.reply], heard: now - 1)
        #expect(try await state(second) == .done)
    }
}
