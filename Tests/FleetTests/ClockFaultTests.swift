import Expectations
import Fixtures
import Foundation
import Logging
import Networks
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// Clocks that are set, and machines that sleep.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ClockFaultTests {
    private func expectNothingTwice(_ fixture: MirrorFixture) async throws {
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.duplicates.isEmpty)
        #expect(
            ledger.summary.duplicateSends + ledger.summary.unsolicited + ledger.summary.errors == 0)
        let texts = ledger.deliveries.filter { $0.replyTo == nil }.map(\.text)
        #expect(Set(texts).count == texts.count)
    }

    private func plans(_ fixture: MirrorFixture) -> [String] {
        fixture.log.values.filter { $0.contains("Plan made") }
            .compactMap { $0.split(separator: " ").first { $0.hasPrefix("plan.day=") } }.map {
                String($0.dropFirst(9))
            }
    }

    /// As on a laptop that was closed: the servers went on.
    @Test func makesNothingUpAfterADayOfSleep() async throws {
        let fixture = try await MirrorFixture.start(
            days: 3, from: 6.5, variables: ["FAVORITE_MODE": "off"])
        try await fixture.live(until: 10)
        let missed = try await fixture.slots().filter { $0.state == .planned }
        #expect(!missed.isEmpty)
        let awake = Sample.hour(24 + 24 + 10)
        // Nobody lives for two days; then the same process goes on where it was.
        try await fixture.wait(until: awake)
        try await fixture.live(until: 24 + 24 + 22)
        let ledger = await fixture.sandbox.ledger
        let late = try await fixture.slots()
        expect(late.filter { slot in missed.contains { $0.subject == slot.subject } }) {
            $0.allSatisfy { $0.state == .expired }
        }
        try await expect(fixture.slots(ofDay: 1)) { $0.isEmpty }
        #expect(plans(fixture) == [Sample.day, Sample.day.advanced(by: 2)].map(\.description))
        // What was due before it woke is not made up for in a burst.
        let today = try await fixture.slots(ofDay: 2)
        expect(today.filter { $0.expires < awake }) {
            $0.allSatisfy { $0.state == .skipped && $0.reason == "before-start" }
        }
        let first = ledger.deliveries.filter {
            $0.replyTo == nil && $0.date >= awake && $0.date < awake + 600
        }
        #expect(first.count <= 1)
        expect(today) { $0.contains { $0.state == .done } }
        try await expectNothingTwice(fixture)
    }

    /// While the loops sleep: they wake at once, and go by what the clock shows.
    @Test func goesByAClockThatJumpsForward() async throws {
        let fixture = try await MirrorFixture.start(
            days: 3, from: 6.5, variables: ["FAVORITE_MODE": "off"])
        try await fixture.live(
            until: 24 + 20, events: [(10, { fixture.clock.jump(by: 86_400) })])
        let jumped = Sample.hour(24 + 10)
        let old = try await fixture.slots()
        expect(old) { $0.contains { $0.state == .done } }
        expect(old) { $0.contains { $0.state == .expired } }
        expect(old) { !$0.contains { $0.state == .planned } }
        let today = try await fixture.slots(ofDay: 1)
        expect(today.filter { $0.expires < jumped }) { $0.allSatisfy { $0.state == .skipped } }
        let due = today.filter { (jumped..<Sample.hour(24 + 19.8)).contains($0.due) }
        #expect(!due.isEmpty)
        expect(due) { $0.allSatisfy { $0.state == .done } }
        #expect(plans(fixture).count == 2)
        try await expectNothingTwice(fixture)
    }

    @Test func sendsNothingTwiceWhenTheClockGoesBack() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        try await fixture.live(until: 16, events: [(10, { fixture.clock.jump(by: -3_600) })])
        // Whoever waits for four o'clock has waited six hours at three.
        #expect(abs(fixture.clock.now.timeIntervalSince(Sample.hour(15))) < 0.01)
        // Mentions come from the future now, and are answered when that has come, or the clock is
        // right again.
        let before = await fixture.sandbox.ledger.summary
        #expect(before.replies > 0)
        fixture.clock.jump(by: 3_600)
        try await fixture.live(until: 16.5)
        let slots = try await fixture.slots().filter { $0.due < Sample.hour(14.8) }
        expect(slots) { $0.contains { $0.due > Sample.hour(10) } }
        expect(slots) { $0.allSatisfy { $0.state == .done } }
        let ledger = await fixture.sandbox.ledger
        // By the servers' clock the rest of the day is an hour late, and not later.
        for slot in slots where slot.due > Sample.hour(10) && slot.updated < Sample.hour(15) {
            let delivery = try #require(ledger.deliveries.first { $0.id == slot.remoteAddress })
            #expect((3_590..<3_600 + 660).contains(delivery.date.timeIntervalSince(slot.due)))
        }
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        #expect(plans(fixture).count == 1)
        try await expectNothingTwice(fixture)
    }

    @Test func aDayThatComesTwiceIsLivedOnce() async throws {
        let fixture = try await MirrorFixture.start(
            days: 2, from: 6.5, variables: ["QUIET_HOURS": "none", "FAVORITES_PER_DAY": "3"])
        // Half an hour into the second day the first one comes back, for as long.
        try await fixture.live(until: 24 + 12, events: [(24.5, { fixture.clock.jump(by: -3_600) })])
        #expect(plans(fixture) == [Sample.day, Sample.day.advanced(by: 1)].map(\.description))
        for day in 0...1 {
            let slots = try await fixture.slots(ofDay: day).filter {
                $0.due < Sample.hour(24 + 11.8)
            }
            expect(slots) { $0.allSatisfy { [.done, .skipped].contains($0.state) } }
            let favorites = try await fixture.actions(.favorite).filter {
                LocalTime($0.due, in: Sample.zone).day == Sample.day.advanced(by: day)
            }
            #expect(favorites.count <= 3)
        }
        try await expectNothingTwice(fixture)
    }

    /// A wrong time from a time server, and the right one again.
    @Test func aWrongTimeForAWhileLeavesNoPauseBehind() async throws {
        let fixture = try await MirrorFixture.start(
            days: 2, from: 6.5, variables: ["FAVORITE_MODE": "off"])
        let busy = SandboxFault.error(
            status: 429, message: "Too many requests", headers: ["Retry-After": "900"])
        try await fixture.live(
            until: 24 + 16,
            events: [
                (
                    10,
                    {
                        fixture.clock.jump(by: 86_400)
                        fixture.sandbox.faults.failNext(busy, count: 20)
                    }
                ),
                // A quarter of an hour later, on a clock that is a day ahead.
                (24 + 10.25, { fixture.clock.jump(by: -86_400) }),
            ])
        #expect(abs(fixture.clock.now.timeIntervalSince(Sample.hour(16))) < 0.01)
        let back = Sample.hour(10.25)
        let ledger = await fixture.sandbox.ledger
        expect(ledger.deliveries) { $0.contains { $0.replyTo != nil && $0.date > back + 1_800 } }
        let slots = try await fixture.slots().filter {
            (back + 1_800..<Sample.hour(15.8)).contains($0.due)
        }
        // What the wrong time let expire stays so: what a clock says is all that there is to go by.
        expect(slots) { $0.allSatisfy { [.done, .expired].contains($0.state) } }
        try await expectNothingTwice(fixture)
    }

    @Test func sleepersWakeWhenTheClockShowsItOrTheirTimeHasPassed() async throws {
        let start = Sample.origin
        for (jump, wakes) in [
            (3_600.0, start + 3_660), (-3_600, start - 3_600 + 600), (300, start + 600),
        ] {
            let clock = VirtualClock(startingAt: start)
            clock.join()
            clock.join()
            let sleeper = Task { try await clock.sleep(until: start + 600) }
            // This one is woken only once both sleep.
            try await clock.sleep(until: start + 60)
            clock.jump(by: jump)
            clock.leave()
            try await sleeper.value
            #expect(clock.now == wakes)
            #expect(clock.steadyNow == wakes - jump)
        }
    }

    @Test func aPauseOfAWrongTimeIsOver() async throws {
        let network = PaperNetwork(.mastodon)
        network.with {
            $0.failure = { operation, _ in
                network.error(.creditsDepleted, operation, retryAfter: Sample.hour(25))
            }
        }
        let gate = AccountGate(
            network, account: "bot", now: { Sample.hour(24) }, logger: Logger(label: "test"))
        await #expect(throws: NetworkError.self) { try await gate.page(.home, .newest) }
        #expect(gate.pause(of: .home, at: Sample.hour(24.9)) == Sample.hour(25))
        #expect(gate.pause(of: .home, at: Sample.hour(25)) == nil)
        #expect(gate.pause(of: .home, at: Sample.hour(23.9)) == nil)
    }
}
