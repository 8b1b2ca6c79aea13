import Foundation
import NetworkNames
import Posts
import Testing

@testable import Sandbox

/// A server that goes and comes back.
@Suite struct ReopeningTests {
    private static func connect(_ sandbox: Sandbox) async throws -> LoopbackConnection {
        let port = sandbox.port
        return try await SandboxFixture.onThread { try LoopbackConnection(port: port) }
    }

    @Test func comesBackOnTheSamePortAsOftenAsAsked() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let sandbox = fixture.sandbox
            for round in 0..<5 {
                _ = try await fixture.publish("round \(round)")
                let idle = try await Self.connect(sandbox)
                await sandbox.close()
                await sandbox.close()
                let rest = try await SandboxFixture.onThread { try idle.drain() }
                #expect(rest.bytes.isEmpty)
                #expect(rest.ending != nil)
                await #expect(throws: LoopbackConnection.Failure.self) {
                    _ = try await Self.connect(sandbox)
                }
                try await sandbox.reopen()
                try await sandbox.reopen()
            }
            let ledger = await sandbox.ledger
            #expect(ledger.deliveries.map(\.text) == (0..<5).map { "round \($0)" })
        }
    }

    @Test func theWorldGoesOnMeanwhile() async throws {
        try await BotRequests.run(.mastodon) { bot in
            bot.fail(.actLate(after: 3_600))
            _ = try await bot.drain(bot.publishing("late"))
            let before = await bot.sandbox.ledger
            await bot.sandbox.close()
            bot.fixture.clock.advance(hours: 24)
            let meanwhile = await bot.sandbox.ledger
            #expect(meanwhile.deliveries.map(\.text) == ["late"])
            #expect(meanwhile.mentions.count > before.mentions.count)
            try await bot.sandbox.reopen()
            let own = try await bot.fixture.send(
                "GET",
                "/api/v1/accounts/\(MastodonEntities.accountID(SandboxPopulation.bot))/statuses")
            #expect(own.ids == meanwhile.deliveries.map(\.id))
        }
    }

    @Test func keepsThePortFromOthersWhileItIsClosed() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            await fixture.sandbox.close()
            let port = fixture.sandbox.port
            var taken: [SandboxPort] = []
            for _ in 0..<200 { taken.append(try SandboxPort()) }
            #expect(!taken.map(\.number).contains(port))
            try await fixture.sandbox.reopen()
            _ = try await fixture.publish("back")
        }
    }

    @Test func doesNotComeBackOnceItIsStopped() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            await fixture.sandbox.stop()
            await #expect(throws: SandboxError.self) { try await fixture.sandbox.reopen() }
        }
    }
}
