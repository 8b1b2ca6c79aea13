import Archive
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Schedule
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// Nobody waits a day to see whether a new mirror works.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct FirstDayTests {
    private static let days = 20

    /// A mirror of a human who posts once on two days of three, mostly in the evening.
    private func paper(_ variables: [String: String] = [:]) async throws -> PaperMirror {
        let paper = try await PaperMirror(bot: .mastodon, variables: variables)
        let human = AccountID(network: .mastodon, value: "human")
        let today = LocalTime(PaperMirror.now, in: PaperMirror.zone).day
        let posts = (1...240).filter { $0 % 3 != 0 }.map { ago in
            let minute = 12 * 60 + ago * 397 % (10 * 60)
            return Post(
                id: PostID(network: .mastodon, value: "https://social.example/@human/\(ago)"),
                author: human,
                text: "Thought number \(ago) about rivers.",
                createdAt: (LocalDayMinutes(today.advanced(by: -ago), in: PaperMirror.zone).start
                    ?? PaperMirror.now)
                    + Double(minute) * 60, visibility: .public, language: "en")
        }
        try await paper.archive(posts)
        try await paper.mirror.archive.prepare(by: paper.mirror.textJudge(zone: PaperMirror.zone))
        return paper
    }

    private func noon(_ number: Int) -> (day: LocalDay, now: Date) {
        let day = LocalTime(PaperMirror.now, in: PaperMirror.zone).day.advanced(by: number)
        return (day, (LocalDayMinutes(day, in: PaperMirror.zone).start ?? PaperMirror.now) + 43_200)
    }

    private func open(_ planned: PlannedDay?, after now: Date) -> Int {
        planned?.slots.count { $0.due > now && $0.state == .planned } ?? 0
    }

    @Test func theDayOfTheFirstStartHasAPostStillToCome() async throws {
        let paper = try await paper()
        let maker = paper.mirror.planMaker(
            zone: PaperMirror.zone, store: paper.mirror.outbox(lease: nil))
        var silent = 0
        for number in 0..<Self.days {
            let (day, now) = noon(number)
            // What the day would have drawn, and what it is given.
            let own = try await maker.preview(day, now: now, watching: false)
            if open(own, after: now) == 0 { silent += 1 }
            let first = try await maker.make(day, now: now, activated: now, watching: false)
            #expect(open(first, after: now + 60) > 0, "\(day)")
        }
        // The rule has something to do.
        #expect(silent > 2)
    }

    /// Later days are as they are drawn, and who wants no posts gets none.
    @Test func otherDaysMayBeSilent() async throws {
        let paper = try await paper()
        let maker = paper.mirror.planMaker(
            zone: PaperMirror.zone, store: paper.mirror.outbox(lease: nil))
        for number in 1..<Self.days {
            let (day, now) = noon(number)
            let own = try await maker.preview(day, now: now, watching: false)
            let made = try await maker.make(day, now: now, activated: noon(0).now, watching: false)
            #expect(made?.slots.map(\.due) == own?.slots.map(\.due))
        }
        let none = try await self.paper(["MAX_PER_DAY": "0"])
        let (day, now) = noon(0)
        let planner = none.mirror.planMaker(
            zone: PaperMirror.zone, store: none.mirror.outbox(lease: nil))
        let made = try await planner.make(day, now: now, activated: now, watching: false)
        #expect(made?.slots.isEmpty == true)
        try await expect(
            PublishForecast.proposal(at: Desk(none.mirror, zone: PaperMirror.zone)) == nil,
            equals: true)
    }

    /// A text is chosen and shown; another one is another one; one word sends it.
    @Test func aFirstPostIsProposedAndSent() async throws {
        let paper = try await paper()
        let desk = Desk(paper.mirror, zone: PaperMirror.zone)
        var shown: Set<String> = []
        for number in 0..<5 {
            let proposal = try #require(
                try await PublishForecast.proposal(at: desk, number: number))
            #expect(shown.insert(proposal.says.joined()).inserted)
            // Looking changes nothing.
            try await expect(paper.actions(.post)) { $0.isEmpty }
        }
        let proposal = try #require(try await PublishForecast.proposal(at: desk))
        _ = try await desk.perform(
            PersonRequest(PublishPost(post: proposal.post.post), seen: proposal.post.seen))
        let now = paper.clock.now
        let sent = try await paper.actions(.post).filter { $0.due == now && $0.state == .planned }
        #expect(sent.map(\.text) == [proposal.says[0]])
    }
}
