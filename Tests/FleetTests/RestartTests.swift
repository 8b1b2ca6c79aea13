import Control
import Expectations
import Fixtures
import Fleet
import Foundation
import Logging
import Mirroring
import Outbox
import Posts
import Sandbox
import ServiceLifecycle
import Storage
import TestSupport
import Testing

/// Workers that end and begin again, and workers that meet.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct RestartTests {
    @Test func keepsThePlanOfADayAcrossARestart() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5)
        try await fixture.live(until: 12.1)
        let planned = try await fixture.slots()
        let remaining = planned.filter { $0.state == .planned }
        #expect(!remaining.isEmpty)
        expect(planned) { $0.contains { $0.state == .done } }
        // What the human writes meanwhile would change a plan drawn anew.
        let mirror = try await fixture.reopened()
        try await fixture.worker(on: mirror).run(until: Sample.hour(14))
        let slots = try await fixture.slots()
        #expect(slots.map(\.subject) == planned.map(\.subject))
        #expect(slots.map(\.text) == planned.map(\.text))
        #expect(slots.map(\.due) == planned.map(\.due))
        let texts = await fixture.sandbox.ledger.deliveries.filter { $0.replyTo == nil }.map(\.text)
        #expect(texts == planned.filter { $0.due < Sample.hour(14) }.map(\.text))
        #expect(texts.count > planned.count { $0.state == .done })
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.duplicateSends + summary.unsolicited + summary.errors == 0)
    }

    @Test func doesNotRepeatWhatItDidWhenFeedsAreReadAgain() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 12)
        #expect(try await fixture.worker().runOnce())
        let before = await fixture.sandbox.ledger
        #expect(before.summary.replies > 0)
        #expect(before.summary.favorites > 0)
        // As after a database was restored without its positions.
        try await fixture.mirror.storage.lenient.execute("UPDATE feeds SET position = NULL")
        #expect(try await fixture.worker().runOnce())
        let after = await fixture.sandbox.ledger
        #expect(after.deliveries == before.deliveries)
        #expect(after.favorites == before.favorites)
        #expect(after.duplicates.isEmpty)
    }

    @Test func letsOneWorkerActAtATime() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, rehearsal: .meeting)
        let leases = fixture.leases
        let other = try #require(
            try await leases.take(owner: "other", after: try await leases.record(), now: 0))
        let worker = fixture.worker()
        let waiting = Task { try await worker.run(until: Sample.hour(8)) }
        try await fixture.log.wait { $0.contains("Another worker holds this mirror") }
        try await expect(fixture.actions()) { $0.isEmpty }
        try await expect(fixture.mirror.table.record().activated, equals: nil)
        try await expect(fixture.leaseHolder(), equals: "other")
        try await leases.release(other, now: 0)
        try await waiting.value
        await expect(fixture.sandbox.ledger.summary.posted) { $0 > 0 }
        await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        try await expect(fixture.leaseHolder(), equals: nil)
    }

    @Test func takesOverFromAWorkerThatEnds() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, rehearsal: .meeting)
        let mirror = try await fixture.reopened()
        let second = fixture.worker(on: mirror)
        let takeover = Recorder<Task<Void, any Error>>()
        // The second begins at eleven, while the first lives, and waits for its end.
        try await fixture.live(
            until: 11.5,
            events: [
                (
                    11,
                    {
                        takeover.add(Task { try await second.run(until: Sample.hour(12.5)) })
                        try await fixture.log.wait {
                            $0.contains("Another worker holds this mirror")
                        }
                        // Whoever takes over goes by the settings of then.
                        try await fixture.mirror.set(
                            ["FAVORITE_MODE": "off"], now: fixture.clock.now)
                    }
                )
            ])
        let sentByFirst = await fixture.sandbox.ledger.summary.posted
        try await #require(takeover.values.first).value
        #expect(sentByFirst > 0)
        let planned = try await fixture.slots().count { $0.due < Sample.hour(12.5) }
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.posted > sentByFirst)
        #expect(summary.posted == planned)
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.duplicateSends + summary.unsolicited + summary.errors == 0)
        #expect(fixture.log.values.count { $0.contains("Plan made") } == 1)
        let favorites = try await fixture.actions().filter { $0.kind == .favorite }
        #expect(!favorites.isEmpty)
        expect(favorites) { $0.allSatisfy { $0.created < Sample.hour(11) + 120 } }
    }

    @Test func actsNoMoreOnceItsLeaseIsTakenAwayAndGoesOnWhenItIsFree() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, rehearsal: .meeting)
        let thief = Recorder<Lease>()
        let robbed = Task {
            try await fixture.live(
                until: 12.5,
                events: [
                    (
                        9,
                        {
                            // Unless a beat comes between.
                            while thief.values.isEmpty {
                                let record = try await fixture.leases.record()
                                let taken = try await fixture.leases.take(
                                    owner: "thief", after: record, now: 0)
                                if let taken { thief.add(taken) }
                            }
                        }
                    )
                ])
        }
        try await fixture.log.wait { $0.contains("Lease lost to another worker") }
        let stolen = try #require(thief.values.first)
        try await expect(fixture.leaseHolder(), equals: "thief")
        await expect(fixture.sandbox.ledger.deliveries) {
            $0.allSatisfy { $0.date <= Sample.hour(9) }
        }
        try await fixture.leases.release(stolen, now: 0)
        try await robbed.value
        try await expect(fixture.leaseHolder(), equals: nil)
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.posted > 0)
        #expect(summary.duplicateSends + summary.unsolicited + summary.errors == 0)
    }

    @Test func goesOnWithTheSettingsOfNowAfterALeaseLostForAMoment() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, rehearsal: .meeting)
        try await fixture.live(
            until: 12.5,
            events: [
                (
                    11,
                    {
                        try await fixture.mirror.set(
                            ["FAVORITE_MODE": "off"], now: fixture.clock.now)
                        var stolen: Lease?
                        // Unless a beat comes between.
                        while stolen == nil {
                            let record = try await fixture.leases.record()
                            stolen = try await fixture.leases.take(
                                owner: "thief", after: record, now: 0)
                        }
                        try await fixture.leases.release(try #require(stolen), now: 0)
                        try await fixture.log.wait { $0.contains("Lease lost to another worker") }
                    }
                )
            ])
        let favorites = try await fixture.actions().filter { $0.kind == .favorite }
        #expect(!favorites.isEmpty)
        expect(favorites) { $0.allSatisfy { $0.created < Sample.hour(11) + 120 } }
    }

    @Test func endsGracefullyAndGivesTheLeaseBack() async throws {
        let fixture = try await MirrorFixture.start()
        let logger = Logger(label: "test") { _ in LogRecorder(lines: fixture.log) }
        let group = ServiceGroup(services: [MirrorFleet(of: fixture.worker())], logger: logger)
        fixture.clock.join()
        let morning = Task {
            // Nobody but this task would hold the clock before that.
            try await fixture.log.wait { $0.contains("Worker started") }
            try await fixture.clock.sleep(until: Sample.hour(9))
            await group.triggerGracefulShutdown()
            // The clock stands still from here on: what is sent later would be a mistake.
        }
        try await group.run()
        try await morning.value
        fixture.clock.leave()
        try await expect(fixture.leaseHolder(), equals: nil)
        #expect(fixture.clock.now == Sample.hour(9))
        expect(fixture.log.values) { $0.contains { $0.contains("Worker stopped") } }
        try await expect(fixture.actions()) {
            $0.allSatisfy { $0.state != .claimed && $0.state != .sending }
        }
    }

    @Test func onePassSendsWhatIsDueAndNoMore() async throws {
        let fixture = try await MirrorFixture.start()
        let worker = fixture.worker()
        #expect(try await worker.runOnce())
        let slots = try await fixture.slots()
        let first = try #require(slots.first)
        await expect(fixture.sandbox.ledger.deliveries) { $0.isEmpty }
        try await fixture.wait(until: first.due + 60)
        #expect(try await worker.runOnce())
        await expect(fixture.sandbox.ledger.deliveries.map(\.text), equals: [first.text])
        #expect(try await worker.runOnce())
        await expect(fixture.sandbox.ledger.deliveries.count, equals: 1)
        // Much later the missed slots are too old, and mentions are still answered.
        try await fixture.wait(until: Sample.hour(20))
        #expect(try await worker.runOnce())
        let later = try await fixture.slots().filter {
            $0.due > first.due && $0.expires < Sample.hour(20)
        }
        #expect(!later.isEmpty)
        expect(later) { $0.allSatisfy { $0.state == .expired && $0.reason == "too-late" } }
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.replies > 0)
        #expect(summary.favorites > 0)
        #expect(summary.unsolicited + summary.duplicateSends + summary.errors == 0)
    }

    @Test func onePassDoesNothingWhileAnotherWorkerHoldsTheMirror() async throws {
        let fixture = try await MirrorFixture.start(from: 12, rehearsal: .meeting)
        let leases = fixture.leases
        let other = try #require(
            try await leases.take(owner: "other", after: try await leases.record(), now: 0))
        // A holder that lives shows it by a beat.
        let beating = Task {
            while !Task.isCancelled {
                try await leases.beat(other, now: 0)
                await Task.yield()
            }
        }
        #expect(try await !fixture.worker().runOnce())
        try await expect(fixture.actions()) { $0.isEmpty }
        beating.cancel()
        _ = await beating.result
        try await leases.release(other, now: 0)
        #expect(try await fixture.worker().runOnce())
        try await expect(fixture.slots()) { !$0.isEmpty }
        try await expect(fixture.leaseHolder(), equals: nil)
    }
}
