import Foundation
import Logging
import Networks
import Posts
import Testing

@testable import Daemon

@Suite struct AccountPacingTests {
    private let now = PaperMirror.now
    private let log = Recorder<String>()

    private var pacing: AccountPacing {
        AccountPacing(account: "bot", logger: Logger(label: "test") { [log] _ in LogRecorder(lines: log) })
    }

    private func error(_ code: NetworkError.Code, until: Date? = nil) -> NetworkError {
        PaperNetwork(.x).error(code, retryAfter: until)
    }

    @Test func waitsForTheResetBeforeTheShareIsUsedUp() {
        let pacing = pacing
        pacing.note(RateLimit(limit: 300, remaining: 30, resetsAt: now + 200), from: .home, at: now)
        #expect(pacing.pause(of: .home, at: now) == nil)
        pacing.note(RateLimit(limit: 300, remaining: 29, resetsAt: now + 200), from: .home, at: now)
        for feed in Feed.allCases { #expect(pacing.pause(of: feed, at: now) == now + 200) }
        #expect(pacing.pause(of: .home, at: now + 199) == now + 200)
        #expect(pacing.pause(of: .home, at: now + 200) == nil)
        pacing.note(RateLimit(limit: 300, remaining: 28, resetsAt: now + 200), from: .home, at: now + 1)
        #expect(log.values.count == 1)
        #expect(log.values.first?.hasPrefix("info Account waits for its share of requests account=bot") == true)
    }

    @Test(arguments: [
        RateLimit(), RateLimit(limit: 300, remaining: 0), RateLimit(limit: 300, resetsAt: PaperMirror.now + 60),
        RateLimit(limit: 300, remaining: 0, resetsAt: PaperMirror.now - 1),
        RateLimit(limit: 300, remaining: .max, resetsAt: PaperMirror.now + 60),
        RateLimit(limit: .min, remaining: 0, resetsAt: PaperMirror.now + 60),
        RateLimit(limit: 0, remaining: 0, resetsAt: PaperMirror.now + 60),
    ])
    func headersThatSayNothingSlowNothing(limit: RateLimit) {
        let pacing = pacing
        pacing.note(limit, from: .home, at: now)
        pacing.note(nil, from: .home, at: now)
        #expect(pacing.pause(of: .mentions, at: now) == nil)
        #expect(log.values.isEmpty)
    }

    /// Who has looked at all favorites may still look for mentions.
    @Test func whereEachFeedHasItsShareOnlyThatFeedWaits() {
        let pacing = AccountPacing(
            account: "bot", countsEachFeed: true,
            logger: Logger(label: "test") { [log] _ in LogRecorder(lines: log) })
        pacing.note(RateLimit(limit: 75, remaining: 0, resetsAt: now + 600), from: .favorites, at: now)
        pacing.note(RateLimit(limit: 75, remaining: 0, resetsAt: now + 600), from: .favorites, at: now)
        #expect(pacing.pause(of: .favorites, at: now) == now + 600)
        #expect(pacing.pause(of: .mentions, at: now) == nil)
        #expect(log.values.count == 1)
    }

    @Test func smallSharesAndHostileHeadersAreManaged() {
        let (small, unknown, hostile) = (pacing, pacing, pacing)
        small.note(RateLimit(limit: 4, remaining: 0, resetsAt: now + 60), from: .home, at: now)
        #expect(small.pause(of: .home, at: now) == now + 60)
        unknown.note(RateLimit(remaining: 5, resetsAt: now + 60), from: .home, at: now)
        #expect(unknown.pause(of: .home, at: now) == now + 60)
        hostile.note(RateLimit(limit: .max, remaining: .min, resetsAt: .distantFuture), from: .home, at: now)
        #expect(hostile.pause(of: .home, at: now) == now + 900)
    }

    @Test(arguments: [NetworkError.Code.creditsDepleted, .capReached])
    func missingMoneyPausesTheWholeAccountAndIsToldOnce(code: NetworkError.Code) {
        let pacing = pacing
        #expect(pacing.absorbs(error(code, until: now + 7_200), from: .mentions, at: now))
        #expect(pacing.absorbs(error(code, until: now + 7_200), from: .home, at: now + 1))
        for feed in Feed.allCases { #expect(pacing.pause(of: feed, at: now) == now + 7_200) }
        #expect(pacing.pause(of: .home, at: now + 7_200) == nil)
        #expect(log.values.count == 1)
        #expect(log.values.first?.hasPrefix("warning Account pauses account=bot") == true)
        // The next time is told again.
        #expect(pacing.absorbs(error(code, until: now + 20_000), from: .home, at: now + 8_000))
        #expect(log.values.count == 2)
    }

    @Test func whatOneFeedMayCostPausesThatFeed() {
        let pacing = pacing
        #expect(pacing.absorbs(error(.overBudget, until: now + 40_000), from: .home, at: now))
        #expect(pacing.pause(of: .home, at: now) == now + 40_000)
        #expect(pacing.pause(of: .mentions, at: now) == nil)
        // The month's budget is one for all feeds, and told once.
        #expect(pacing.absorbs(error(.overBudget, until: now + 90_000), from: .mentions, at: now))
        #expect(pacing.absorbs(error(.overBudget, until: now + 90_000), from: .home, at: now))
        #expect(log.values.count == 2)
        #expect(log.values.allSatisfy { $0.hasPrefix("info Account pauses") })
    }

    @Test func pausesEvenIfTheNetworkDoesNotSayHowLong() {
        let (silent, past) = (pacing, pacing)
        #expect(silent.absorbs(error(.creditsDepleted), from: .home, at: now))
        #expect(silent.pause(of: .home, at: now) == now + 3_600)
        #expect(past.absorbs(error(.capReached, until: now - 5), from: .home, at: now))
        #expect(past.pause(of: .home, at: now) == now + 60)
    }

    @Test(arguments: [NetworkError.Code.rateLimited, .unavailable, .unauthorized, .rejected, .transport])
    func otherErrorsAreFailures(code: NetworkError.Code) {
        let pacing = pacing
        #expect(!pacing.absorbs(error(code, until: now + 60), from: .home, at: now))
        #expect(pacing.pause(of: .home, at: now) == nil)
        #expect(log.values.isEmpty)
    }
}
