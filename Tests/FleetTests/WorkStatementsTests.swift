import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// How many statements a worker sends from a mention that it reads to its answer, and from a due
/// slot to its post.
///
/// Counted is what the passes of a worker ask of the database between their beginning and their
/// end, its reading of the feed and its look for other work included. Each transaction counts two
/// more, for `BEGIN` and `COMMIT`.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct WorkStatementsTests {
    /// A worker whose first pass is over, and which has made the plan of the day.
    private struct Stage {
        let fixture: MirrorFixture
        let counter: CountingEngine
        let parts: WorkerParts

        var passes: Passes { Passes(parts: parts) }

        init(_ engine: Engine, from hour: Double) async throws {
            let opened = Recorder<CountingEngine>()
            fixture = try await MirrorFixture.start(engine, from: hour) { place in
                let counter = CountingEngine(try await Storage.open(place))
                opened.add(counter)
                return counter
            }
            counter = try #require(opened.values.last)
            let lease = try await fixture.leases.take(
                owner: "test", after: fixture.leases.record(), now: 0)
            parts = try await fixture.worker().parts(lease: lease, deliverer: nil)
            for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
        }

        /// Waits and counts what a pass asks then, with the actions of a kind that it changed.
        func counting(
            _ kind: ActionKind, at time: Date, _ pass: @escaping (Passes) async throws -> Void
        ) async throws -> (numbers: CountingEngine.Numbers, changed: [Action]) {
            try await fixture.wait(until: time)
            let before = Set(try await fixture.actions(kind).map(\.seen))
            let numbers = try await counter.counting { try await pass(passes) }
            return (numbers, try await fixture.actions(kind).filter { !before.contains($0.seen) })
        }
    }

    @Test(arguments: Engine.allCases) func anAnswerTakesFewStatements(_ engine: Engine) async throws
    {
        let stage = try await Stage(engine, from: 8)
        let feed = try #require(stage.parts.feeds.mentions)
        var answers: [CountingEngine.Numbers] = []
        for number in 1...96 where answers.count < 4 {
            let (numbers, changed) = try await stage.counting(
                .reply, at: Sample.hour(8 + Double(number) / 12)
            ) {
                _ = try await $0.mentions(feed)
            }
            // A pass with one mention, which is answered.
            if changed.map(\.state) == [.done] { answers.append(numbers) }
        }
        #expect(answers.count >= 2)
        let most = answers.map(\.all).max() ?? 0
        // The first use of a text that is known from an archive notes its address. Two statements
        // read what the human usually answers, and how well that was measured to fit.
        #expect(most <= 28, "\(answers)")
    }

    /// The facts of a page are read at once, and its decisions are stored together: a row each.
    @Test(arguments: Engine.allCases) func aPageOfMentionsIsReadAtOnce(_ engine: Engine)
        async throws
    {
        let stage = try await Stage(engine, from: 8)
        func deciding(_ names: Range<Int>) async throws -> CountingEngine.Numbers {
            let now = stage.fixture.clock.now
            let mentions = names.map { number in
                paperPost(
                    "https://far.example/\(number)", by: "stranger\(number)@far.example",
                    on: .mastodon, "good morning",
                    at: now)
            }
            return try await stage.counter.counting {
                let decided = try await stage.parts.mentionDecider.decide(
                    mentions, now: now, tries: 0
                ).decided
                #expect(decided.map(\.action.state) == names.map { _ in .skipped })
            }
        }
        let one = try await deciding(0..<1)
        let many = try await deciding(1..<21)
        #expect(one.all <= 12, "\(one)")
        #expect(many.all == one.all + 19, "\(many), and \(one) for one")
    }

    @Test(arguments: Engine.allCases) func aPostTakesFewStatements(_ engine: Engine) async throws {
        let stage = try await Stage(engine, from: 6)
        var posts: [CountingEngine.Numbers] = []
        for slot in try await stage.fixture.slots() where slot.state == .planned {
            let (numbers, changed) = try await stage.counting(.post, at: slot.due + 1) {
                _ = try await $0.publish()
            }
            // The human may be posting, and a slot may have been moved.
            if changed.map(\.state) == [.done] { posts.append(numbers) }
        }
        #expect(posts.count >= 2)
        // The first post of a mirror is looked at once more.
        let most = posts.dropFirst().map(\.all).max() ?? 0
        #expect(most <= 15, "\(posts)")
    }
}
