import Expectations
import Fixtures
import Foundation
import Logging
import MeCab
import Outbox
import Posts
import TestSupport
import Testing
import Transport

@testable import Fleet
@testable import Mirroring
@testable import Networks

/// How much of the work a process can do.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct WorkerAbilityTests {
    private static let begin = BareMirror.now

    private let clock = VirtualClock(startingAt: Self.begin)
    private let log = Recorder<String>()

    private var logger: Logger { Logger(label: "test") { [log] _ in LogRecorder(lines: log) } }

    private func wait(_ seconds: TimeInterval) async throws {
        try await clock.sleep(until: clock.now + seconds)
    }

    private func fail(_ reach: NetworkReach, server: String) throws {
        let server = try ServerAddress(server, network: .mastodon)
        let instant = NetworkReach.Instant(uptime: clock.uptime, date: clock.now)
        for _ in 0..<3 {
            reach.failed(reach.begins(at: instant), "could not connect", server: server)
        }
    }

    @Test func aWorkerThatIsCutOffRestsAndProbesThenWithoutAMirror() async throws {
        let server = try LoopbackServer { _, connection in
            try connection.respond(status: 200, headers: [], body: [])
        }
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        let reach = NetworkReach()
        let ability = WorkerAbility(
            reach: reach, client: client, parts: [], clock: clock, logger: logger)
        try fail(reach, server: server.url)
        #expect(ability.disability == nil)
        try await wait(15)
        let disability = try #require(ability.disability)
        #expect(disability.extent == .all && disability.since == Self.begin)
        #expect(disability.reason == "none of its requests is answered: could not connect")
        ability.logChange(isSharing: true)
        ability.logChange(isSharing: true)
        await ability.check(isIdle: true)
        try await wait(285)
        // Its mirrors' requests tell.
        await ability.check(isIdle: false)
        #expect(server.requests.isEmpty)
        #expect(ability.disability != nil)
        await ability.check(isIdle: true)
        #expect(server.requests.count == 1)
        #expect(ability.disability == nil)
        ability.logChange(isSharing: true)
        #expect(
            log.values.map { $0.split(separator: ",")[0] } == [
                "error This worker cannot do its share",
                "notice This worker can do its work again",
            ])
        client.shutdown()
    }

    /// A dictionary that is there again counts after the rest only.
    @Test func withoutADictionaryItCanDoAPart() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("dictionary")
        let bare = try await BareMirror(.sqlite, variables: ["MECAB_DICTIONARY": path + "/"])
        let ability = WorkerAbility(
            of: try await bare.open(clock: clock).installation, clock: clock)
        await ability.check(isIdle: false)
        #expect(ability.disability == nil)
        try await wait(60)
        await ability.check(isIdle: false)
        let disability = try #require(ability.disability)
        #expect(disability.extent == .part && disability.since == Self.begin)
        #expect(disability.reason.hasPrefix("it cannot use the dictionary: could not open"))
        let real = try DictionaryProfile.locate(DictionaryProfile.ipadic.name).folders[0]
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: real)
        try await wait(200)
        await ability.check(isIdle: true)
        #expect(ability.disability != nil)
        try await wait(40)
        await ability.check(isIdle: true)
        #expect(ability.disability == nil)
    }

    @Test func withoutRedisItCanDoAPart() async throws {
        let server = try await RedisServer.start()
        let bare = try await BareMirror(.sqlite, variables: ["REDIS_URL": server.url])
        let ability = WorkerAbility(
            of: try await bare.open(clock: clock).installation, clock: clock)
        await ability.check(isIdle: false)
        await server.stop()
        await ability.check(isIdle: false)
        #expect(ability.disability == nil)
        try await wait(60)
        let disability = try #require(ability.disability)
        #expect(disability.extent == .part && disability.reason.hasPrefix("it cannot use Redis: "))
        // A connection that comes and goes within a minute is none of it.
        try await server.restart()
        try await wait(300)
        for _ in 0..<1_000 where ability.disability != nil { await ability.check(isIdle: false) }
        #expect(ability.disability == nil)
        await server.stop()
    }
}
