import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// Requests that the server acts on long after the client has given up.
@Suite struct LateActTests {
    private static let origin = SandboxFixture.origin

    @Test(arguments: NetworkName.allCases)
    func actsWhenItsTimeHasCome(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.fail(.actLate(after: 1_200))
            let lost = try await bot.drain(bot.publishing("late"))
            #expect(lost.bytes.isEmpty)
            #expect(lost.ending == .closed)
            var ledger = await bot.sandbox.ledger
            #expect(ledger.writes.isEmpty)
            #expect(ledger.deliveries.isEmpty)
            #expect(ledger.pendingWrites.map(\.text) == ["late"])
            #expect(ledger.cutAnswers == 1)
            bot.fixture.clock.now = Self.origin + 1_199
            await expect(bot.sandbox.ledger.deliveries) { $0.isEmpty }
            // Nobody looks at the moment itself: it counts all the same.
            bot.fixture.clock.now = Self.origin + 5_000
            ledger = await bot.sandbox.ledger
            #expect(ledger.deliveries.map(\.date) == [Self.origin + 1_200])
            let write = try #require(ledger.writes.first)
            #expect(ledger.writes.count == 1)
            #expect(ledger.pendingWrites.isEmpty)
            #expect(write.arrived == Self.origin)
            #expect(write.date == Self.origin + 1_200)
            #expect(write.effect == .created)
            #expect(!write.isAnswered)
            #expect(write.status == bot.publishedStatus)
            #expect(write.postID == ledger.deliveries.first?.id)
            #expect(write.fault == .actLate(after: 1_200))
            #expect(ledger.cutAnswers == 1)
        }
    }

    @Test func actsInTheOrderOfTime() async throws {
        try await BotRequests.run(.mastodon) { bot in
            for (number, delay) in [54_000.0, 36_000, 45_000, 36_000].enumerated() {
                bot.fail(.actLate(after: delay))
                _ = try await bot.drain(bot.publishing("late \(number)", key: number))
            }
            bot.fixture.clock.now = Self.origin + 50_000
            _ = try await bot.send(bot.publishing("in time", key: 9))
            bot.fixture.clock.now = Self.origin + 86_400
            let ledger = await bot.sandbox.ledger
            #expect(
                ledger.deliveries.map(\.text) == [
                    "late 1", "late 3", "late 2", "in time", "late 0",
                ])
            #expect(ledger.writes.map(\.text) == ledger.deliveries.map(\.text))
            let ids = ledger.deliveries.compactMap { Int64($0.id) }
            #expect(ids == ids.sorted())
            #expect(ids.count == 5)
            // What the others did in between has its place between them.
            let world = try await bot.fixture.send(
                "GET", "/api/v1/timelines/home?limit=40&min_id=\(ids[0])")
            let between = world.ids.compactMap { Int64($0) }.filter { $0 > ids[0] && $0 < ids[4] }
            #expect(between.count > 4)
        }
    }

    @Test func countsOneOfTwoWithTheSameKeyWhicheverComesFirst() async throws {
        for isResentFirst in [true, false] {
            try await BotRequests.run(.mastodon) { bot in
                bot.fail(.actLate(after: 600))
                _ = try await bot.drain(bot.publishing("once"))
                bot.fixture.clock.now = Self.origin + (isResentFirst ? 300 : 900)
                let again = try await bot.send(bot.publishing("once"))
                #expect(again?.status == 200)
                bot.fixture.clock.now = Self.origin + 2_000
                await bot.sandbox.close()
                let ledger = await bot.sandbox.ledger
                #expect(ledger.deliveries.count == 1)
                #expect(again?.object["id"] as? String == ledger.deliveries.first?.id)
                #expect(ledger.writes.map(\.effect) == [.created, .repeated])
                #expect(
                    ledger.writes.map(\.isAnswered)
                        == (isResentFirst ? [true, false] : [false, true]))
                #expect(ledger.duplicates.isEmpty)
            }
        }
    }

    /// The key of Mastodon is forgotten after an hour.
    @Test func publishesTwiceWhenTheKeyIsTooOld() async throws {
        try await BotRequests.run(.mastodon) { bot in
            bot.fail(.actLate(after: 3_700))
            _ = try await bot.drain(bot.publishing("twice"))
            _ = try await bot.send(bot.publishing("twice"))
            bot.fixture.clock.now = Self.origin + 4_000
            let ledger = await bot.sandbox.ledger
            #expect(ledger.writes.map(\.effect) == [.created, .created])
            #expect(ledger.duplicates.map(\.kind) == [.text])
        }
    }

    @Test func refusesAKeyThatIsUnderWayWherePleromaRuns() async throws {
        try await BotRequests.run(.mastodon) { bot in
            bot.sandbox.faults.mastodon = .pleroma
            bot.fail(.actLate(after: 600))
            _ = try await bot.drain(bot.publishing("once"))
            bot.fixture.clock.now = Self.origin + 300
            let busy = try await bot.send(bot.publishing("once"))
            #expect(busy?.status == 409)
            bot.fixture.clock.now = Self.origin + 900
            let known = try await bot.send(bot.publishing("once"))
            #expect(known?.status == 200)
            let ledger = await bot.sandbox.ledger
            #expect(ledger.writes.map(\.effect) == [.refused, .created, .repeated])
            #expect(ledger.deliveries.count == 1)
            #expect(ledger.summary.errors == 0)
        }
    }

    @Test func writesTheSameRecordOnceOnBluesky() async throws {
        try await BotRequests.run(.bluesky) { bot in
            bot.fail(.actLate(after: 600))
            _ = try await bot.drain(bot.publishing("once"))
            let again = try await bot.send(bot.publishing("once"))
            #expect(again?.status == 200)
            bot.fixture.clock.now = Self.origin + 900
            let ledger = await bot.sandbox.ledger
            #expect(ledger.deliveries.count == 1)
            #expect(ledger.writes.map(\.effect) == [.created, .repeated])
            #expect(Set(ledger.writes.map(\.postID)) == [ledger.deliveries.first?.id])
            #expect(ledger.summary.errors == 0)
        }
    }

    @Test(arguments: [false, true])
    func refusesOnXWhatItHasGotMeanwhile(publishesRepeats: Bool) async throws {
        try await BotRequests.run(.x) { bot in
            bot.sandbox.faults.x.publishesRepeats = publishesRepeats
            bot.fail(.actLate(after: 600))
            _ = try await bot.drain(bot.publishing("again"))
            let again = try await bot.send(bot.publishing("again"))
            #expect(again?.status == 201)
            bot.fixture.clock.now = Self.origin + 900
            let ledger = await bot.sandbox.ledger
            #expect(
                ledger.writes.map(\.effect) == [.created, publishesRepeats ? .created : .refused])
            #expect(ledger.writes.map(\.status) == [201, publishesRepeats ? 201 : 403])
            #expect(ledger.deliveries.count == (publishesRepeats ? 2 : 1))
        }
    }

    @Test(arguments: NetworkName.allCases)
    func makesALateFavorite(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.sandbox.faults.x.allowsFavorites = true
            bot.fixture.clock.advance(hours: 24)
            let target = try await bot.newestMention()
            bot.sandbox.faults.failNext(.actLate(after: 60), method: "POST")
            _ = try await bot.drain(bot.favoriting(target))
            let again = try await bot.send(bot.favoriting(target))
            #expect(again?.status == 200)
            bot.fixture.clock.now += 60
            let ledger = await bot.sandbox.ledger
            #expect(ledger.favorites.map(\.identity) == [target.identity])
            #expect(ledger.writes.map(\.effect) == [.created, .repeated])
            #expect(ledger.writes.map(\.target) == [target.id, target.id])
        }
    }
}
