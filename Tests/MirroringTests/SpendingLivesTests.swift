import Expectations
import Fixtures
import Foundation
import Networks
import Posts
import Sandbox
import Settings
import TestSupport
import Testing

@testable import Mirroring

/// Eighty months of chance on X: what is read and said, lost answers, refusals, processes that end
/// and begin.
///
/// The sandbox writes its own bill.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct SpendingLivesTests {
    private static let months = 10
    private static let stepsPerMonth = 20

    /// No month costs more than its budget, and no bill more than what was noted for it.
    @Test(arguments: 0..<8 as Range<UInt64>) func noMonthCostsMoreThanItsBudget(seed: UInt64)
        async throws
    {
        var generator = SeededGenerator(seed: seed)
        let dollars = ["0.10", "0.40", "1", "5"][Int(seed % 4)]
        let owner = seed < 4 ? [:] : ["X_APP_OWNER": "human"]
        let fixture = try await MirrorFixture.start(
            seed: seed, isTrained: false, human: .x, bot: .x,
            variables: ["X_BUDGET_USD_PER_MONTH": dollars, "X_HOME_POSTS_PER_DAY": "40"].merging(
                owner
            ) { $1 })
        if seed >= 4 { fixture.sandbox.faults.x.appOwner = .human }
        var hasRefused = false
        for _ in 0..<Self.months {
            let start = await fixture.sandbox.ledger.spentMicrodollars
            // What the process before had in memory is gone.
            let mirror = try await fixture.reopened()
            let end = SpendingPeriod.month(of: fixture.clock.now).end
            // What happened so far, for whoever reads of a failure.
            var story: [String] = []
            for step in 0..<Self.stepsPerMonth {
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    story += [Self.plan(&generator, fixture.sandbox)]
                }
                let deed = Int.random(in: 0..<8, using: &generator)
                var outcome = "done"
                do {
                    try await Self.act(deed, "\(seed)-\(step)", &generator, mirror, fixture)
                } catch let error as NetworkError {
                    outcome = "\(error)"
                    if error.code == .overBudget { hasRefused = true }
                }
                let spending = try await mirror.spending.spending(at: fixture.clock.now)
                let billed = await fixture.sandbox.ledger.spentMicrodollars - start
                story.append(
                    "\(fixture.clock.now.rfc3339) deed \(deed): \(billed), \(spending.byPurpose), \(outcome)"
                )
                try #require(spending.total <= spending.budget, "\(story.joined(separator: "\n"))")
                try #require(
                    billed <= spending.total.microdollars, "\(story.joined(separator: "\n"))")
                let pause = TimeInterval(Int.random(in: 60...100_000, using: &generator))
                let next = min(fixture.clock.now + pause, end - 60)
                try await fixture.wait(until: next)
            }
            fixture.sandbox.faults.clearPlanned()
            try await fixture.wait(until: end + 60)
        }
        // Otherwise nothing was tried.
        await expect(fixture.sandbox.ledger.spentMicrodollars) { $0 > 0 }
        #expect(hasRefused || dollars == "5")
    }

    /// - Returns: What will fail, in words.
    private static func plan(_ generator: inout SeededGenerator, _ sandbox: Sandbox) -> String {
        let faults: [SandboxFault] = [
            .dropAnswer, .dropRequest, .resetAnswer, .truncateAnswer, .html(status: 503),
            .error(status: 429, message: "Too Many Requests"),
            .error(status: 500, message: "Internal Error"),
        ]
        let fault = faults.randomElement(using: &generator) ?? .dropAnswer
        let count = Int.random(in: 1...2, using: &generator)
        sandbox.faults.failNext(fault, count: count)
        return "\(count) times \(fault)"
    }

    /// One thing that a worker, a training or a command does.
    private static func act(
        _ deed: Int, _ key: String, _ generator: inout SeededGenerator, _ mirror: HumanMirror,
        _ fixture: MirrorFixture
    ) async throws {
        let human = try await mirror.requiredNetwork(of: .human)
        let bot = try await mirror.requiredNetwork(of: .bot)
        let now = fixture.clock.now
        switch deed {
        case 0: _ = try await bot.page(.mentions, .newest, size: nil)
        case 1:
            _ = try await bot.page(.home, .newest, size: Int.random(in: 5...100, using: &generator))
        case 2:
            let page = try await human.page(
                .ownPosts, .newest, size: Int.random(in: 5...100, using: &generator))
            if let older = page.older {
                _ = try await human.page(.ownPosts, .older(older), size: nil)
            }
        case 3:
            _ = try await human.page(
                .favorites, .newest, size: Int.random(in: 5...100, using: &generator))
        case 4:
            _ = try await bot.publish(
                Draft(text: "Fog over the bay \(key)", key: key, createdAt: now))
        case 5:
            _ = try await bot.publish(
                Draft(text: "See https://example.org/\(key)", key: key, createdAt: now))
        case 6:
            let mention = try await bot.page(.mentions, .newest, size: nil).items.randomElement(
                using: &generator)
            guard let mention else { return }
            let answer = Draft(
                text: "Indeed \(key)", replyTo: mention.address, key: key, createdAt: now)
            _ = try await bot.publish(answer)
        default:
            let posts = try await bot.page(.ownPosts, .newest, size: nil).items
            guard let post = posts.randomElement(using: &generator) else { return }
            _ = try await bot.lookUp(post.address)
            _ = try await bot.delete(post.address) { _ in true }
        }
    }
}
