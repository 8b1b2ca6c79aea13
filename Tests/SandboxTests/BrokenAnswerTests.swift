import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// What becomes of connections under each fault, and what the ledger makes of it.
@Suite struct BrokenAnswerTests {
    @Test(
        arguments: NetworkName.allCases,
        [(SandboxFault.dropRequest, LoopbackConnection.Ending.closed), (.resetRequest, .reset)])
    func endsBeforeActing(
        network: NetworkName, end: (fault: SandboxFault, ending: LoopbackConnection.Ending)
    )
        async throws
    {
        try await BotRequests.run(network) { bot in
            bot.fail(end.fault)
            let lost = try await bot.drain(bot.publishing("lost"))
            #expect(lost.bytes.isEmpty)
            #expect(lost.ending == end.ending)
            let found = try await bot.send(bot.publishing("found", key: 2))
            #expect(found?.status == bot.publishedStatus)
            await bot.sandbox.close()
            let ledger = await bot.sandbox.ledger
            #expect(ledger.deliveries.map(\.text) == ["found"])
            #expect(ledger.writes.map(\.text) == ["lost", "found"])
            #expect(ledger.writes.map(\.effect) == [.notActed, .created])
            #expect(ledger.writes.map(\.isAnswered) == [false, true])
            #expect(ledger.writes.map(\.status) == [nil, bot.publishedStatus])
            #expect(ledger.writes.map(\.fault) == [end.fault, nil])
            #expect(ledger.cutAnswers == 0)
            #expect(bot.sandbox.faults.applied == 1)
        }
    }

    @Test(
        arguments: NetworkName.allCases,
        [(SandboxFault.dropAnswer, LoopbackConnection.Ending.closed), (.resetAnswer, .reset)])
    func endsAfterActing(
        network: NetworkName, end: (fault: SandboxFault, ending: LoopbackConnection.Ending)
    )
        async throws
    {
        try await BotRequests.run(network) { bot in
            bot.fail(end.fault)
            let lost = try await bot.drain(bot.publishing("acted"))
            #expect(lost.bytes.isEmpty)
            #expect(lost.ending == end.ending)
            await bot.sandbox.close()
            let ledger = await bot.sandbox.ledger
            #expect(ledger.deliveries.map(\.text) == ["acted"])
            #expect(ledger.writes.map(\.effect) == [.created])
            #expect(ledger.writes.map(\.postID) == ledger.deliveries.map(\.id))
            #expect(ledger.writes.map(\.isAnswered) == [false])
            #expect(ledger.writes.map(\.status) == [bot.publishedStatus])
            #expect(ledger.cutAnswers == 1)
            #expect(ledger.summary.errors == 0)
        }
    }

    @Test(arguments: NetworkName.allCases)
    func promisesMoreThanItSends(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.fail(.truncateAnswer)
            let part = try await bot.drain(bot.publishing("acted"))
            let (head, body) = try Self.split(part.bytes)
            let promised = try #require(
                head.first { $0.hasPrefix("content-length: ") }?.split(separator: " ").last)
            #expect(!body.isEmpty)
            #expect(body.count < (Int(promised) ?? 0))
            #expect(part.ending == .closed)
            await bot.sandbox.close()
            let ledger = await bot.sandbox.ledger
            #expect(ledger.deliveries.count == 1)
            #expect(ledger.cutAnswers == 1)
            #expect(ledger.writes.map(\.isAnswered) == [false])
        }
    }

    @Test(arguments: NetworkName.allCases)
    func dripsAnAnswerToItsEnd(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            let rate = 1_000
            bot.fail(.drip(bytesPerSecond: rate))
            let clock = ContinuousClock()
            let start = clock.now
            let reply = try #require(try await bot.send(bot.publishing("slow")))
            let elapsed = clock.now - start
            #expect(reply.status == bot.publishedStatus)
            #expect(!reply.object.isEmpty)
            #expect(elapsed >= .milliseconds(reply.body.count * 900 / rate))
            await bot.sandbox.close()
            let ledger = await bot.sandbox.ledger
            #expect(ledger.writes.map(\.isAnswered) == [true])
            #expect(ledger.cutAnswers == 0)
        }
    }

    @Test(arguments: NetworkName.allCases)
    func stopsDrippingWhenTheClientLeaves(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.fail(.drip(bytesPerSecond: 1))
            let rest = try await Self.leaveAfter(bytes: 1, bot, try bot.publishing("slow"))
            #expect(rest.ending != nil)
            // This answer would take half a minute and more.
            await Self.expectOneCutAnswer(bot)
        }
    }

    @Test(arguments: NetworkName.allCases)
    func sendsWithoutEndUntilTheClientLeaves(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.fail(.endlessAnswer)
            let rest = try await Self.leaveAfter(bytes: 1 << 22, bot, try bot.publishing("much"))
            let (head, _) = try Self.split(rest.bytes)
            #expect(head.first?.contains(String(bot.publishedStatus)) ?? false)
            expect(head) { !$0.contains { $0.hasPrefix("content-length") } }
            #expect(rest.ending != nil)
            await Self.expectOneCutAnswer(bot)
        }
    }

    @Test(arguments: NetworkName.allCases)
    func hangsUntilTheClientLeaves(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.fail(.hang)
            let connection = try await Self.begin(try bot.publishing("silence"), bot)
            try await bot.haveCome(1)
            connection.leave()
            let rest = try await SandboxFixture.onThread { try connection.drain() }
            #expect(rest.bytes.isEmpty)
            #expect(rest.ending == .closed)
            await bot.sandbox.close()
            let ledger = await bot.sandbox.ledger
            #expect(ledger.deliveries.isEmpty)
            #expect(ledger.writes.map(\.effect) == [.notActed])
            #expect(ledger.cutAnswers == 0)
        }
    }

    @Test func stopEndsWhateverIsUnderWay() async throws {
        try await BotRequests.run(.mastodon) { bot in
            var connections: [LoopbackConnection] = []
            for (number, fault) in [SandboxFault.hang, .drip(bytesPerSecond: 1), .endlessAnswer]
                .enumerated()
            {
                bot.fail(fault)
                let bytes = try bot.publishing("number \(number)", key: number)
                connections.append(try await Self.begin(bytes, bot))
                try await bot.haveCome(number + 1)
            }
            let clock = ContinuousClock()
            let start = clock.now
            await bot.sandbox.stop()
            // The answer that drips would take ten minutes and more, the others for ever.
            #expect(clock.now - start < .seconds(60))
            for connection in connections {
                let rest = try await SandboxFixture.onThread { try connection.drain() }
                #expect(rest.ending != nil)
            }
        }
    }

    @Test(arguments: NetworkName.allCases)
    func servesOthersMeanwhile(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.fail(.hang, count: 5)
            var silent: [LoopbackConnection] = []
            for number in 0..<5 {
                let bytes = try bot.publishing("silent", key: number)
                silent.append(try await Self.begin(bytes, bot))
            }
            try await bot.haveCome(5)
            let requests = try (10..<50).map { try bot.publishing("number \($0)", key: $0) }
            let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
                for bytes in requests { group.addTask { try await bot.send(bytes)?.status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: bot.publishedStatus, count: 40))
            await bot.sandbox.close()
            let ledger = await bot.sandbox.ledger
            #expect(Set(ledger.deliveries.map(\.id)).count == 40)
            #expect(ledger.writes.count { $0.isAnswered } == 40)
            #expect(silent.count == 5)
        }
    }

    @Test func forgetsPlannedFaultsAndKeepsHabits() async throws {
        try await BotRequests.run(.mastodon) { bot in
            let faults = bot.sandbox.faults
            faults.mastodon.keys = .ignored
            faults.clockSkew = 60
            bot.fail(.dropRequest, count: 3)
            faults.clearPlanned()
            let reply = try await bot.send(bot.publishing("heard"))
            #expect(reply?.status == 200)
            #expect(faults.mastodon.keys == .ignored)
            #expect(faults.clockSkew == 60)
            #expect(faults.applied == 0)
        }
    }

    /// Sends a request over a connection of its own.
    private static func begin(_ request: [UInt8], _ bot: BotRequests) async throws
        -> LoopbackConnection
    {
        let port = bot.sandbox.port
        return try await SandboxFixture.onThread {
            let connection = try LoopbackConnection(port: port)
            try connection.send(request)
            return connection
        }
    }

    /// Waits for all answers that are under way, and finds one post whose author was never told.
    private static func expectOneCutAnswer(_ bot: BotRequests) async {
        await bot.sandbox.close()
        let ledger = await bot.sandbox.ledger
        #expect(ledger.deliveries.count == 1)
        #expect(ledger.writes.map(\.isAnswered) == [false])
        #expect(ledger.cutAnswers == 1)
    }

    /// Sends a request, takes so many bytes, leaves, and takes what else comes.
    private static func leaveAfter(
        bytes count: Int, _ bot: BotRequests, _ request: [UInt8]
    ) async throws -> (bytes: [UInt8], ending: LoopbackConnection.Ending?) {
        let connection = try await begin(request, bot)
        return try await SandboxFixture.onThread {
            let first = try connection.drain(upTo: count)
            connection.leave()
            let rest = try connection.drain()
            return (first.bytes + rest.bytes, rest.ending)
        }
    }

    /// The lines of the head in lower case, and the body.
    private static func split(_ bytes: [UInt8]) throws -> (head: [String], body: [UInt8]) {
        let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
        return (head.components(separatedBy: "\r\n"), Array(bytes[end.upperBound...]))
    }
}
