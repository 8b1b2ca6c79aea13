import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Networks
@testable import X

/// What time it is at the network, whatever single answers say and whatever is done to the local
/// clock.
@Suite struct ServerClockTests {
    /// A world with a true time, in seconds; a clock that nobody sets shows it too, from another
    /// beginning.
    private final class World: Sendable {
        private let lock = NSLock()
        // Sendable: every access holds the lock.
        nonisolated(unsafe) private var seconds: TimeInterval = 1_795_208_400
        nonisolated(unsafe) private var localError: TimeInterval = 0

        var time: TimeInterval { lock.withLock { seconds } }

        /// What the local clock shows.
        var local: Date { lock.withLock { Date(timeIntervalSince1970: seconds + localError) } }

        func pass(_ duration: TimeInterval) { lock.withLock { seconds += duration } }

        /// Makes the local clock wrong by so many seconds.
        func setLocal(_ error: TimeInterval) { lock.withLock { localError = error } }

        func clock() -> ServerClock { ServerClock(uptime: { self.time - 1_000_000_000 }) }

        /// What a server says whose clock is wrong by so many seconds.
        func answer(wrongBy error: TimeInterval = 0) -> HTTPHeaders {
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(identifier: "GMT")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            return HTTPHeaders([
                ("Date", format.string(from: Date(timeIntervalSince1970: time + error)))
            ])
        }
    }

    @Test func nothingIsKnownBeforeAnAnswer() {
        let world = World()
        #expect(world.clock().lead(at: world.local) == nil)
    }

    /// Each answer but the first may be wrong by forty minutes, as long as most are right.
    @Test(arguments: 0..<20) func wrongMinoritiesDecideNothing(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let world = World()
        world.setLocal(90)
        let clock = world.clock()
        var errors: [TimeInterval] = []
        for _ in 0..<200 {
            let wrong = errors.suffix(8).count { $0 != 0 }
            let mayBeWrong = wrong + 1 < (min(errors.count + 1, 9) + 1) / 2
            let error: TimeInterval =
                if mayBeWrong && Bool.random(using: &random) {
                    Bool.random(using: &random) ? 2_400 : -2_400
                } else {
                    0
                }
            errors.append(error)
            clock.note(world.answer(wrongBy: errors.last ?? 0))
            #expect(clock.lead(at: world.local) == 90)
            world.pass(TimeInterval(Int.random(in: 0..<60, using: &random)))
        }
        expect(errors) { $0.contains { $0 != 0 } }
    }

    /// Nearly all local clocks are right.
    @Test(arguments: [2_400.0, -2_400]) func ofTwoTheLikelierIsBelieved(error: TimeInterval) {
        let world = World()
        let clock = world.clock()
        clock.note(world.answer())
        clock.note(world.answer(wrongBy: error))
        #expect(clock.lead(at: world.local) == 0)
    }

    /// Be it that no answer came since.
    @Test(arguments: [3_600.0, -86_400]) func aLocalClockThatWasSetIsKnownAtOnce(jump: TimeInterval)
    {
        let world = World()
        let clock = world.clock()
        for _ in 0..<9 {
            clock.note(world.answer())
            world.pass(60)
        }
        #expect(clock.lead(at: world.local) == 0)
        world.setLocal(jump)
        #expect(clock.lead(at: world.local) == jump)
    }

    @Test func oldAnswersCountUntilThereAreNewOnes() {
        let world = World()
        let clock = world.clock()
        for _ in 0..<9 { clock.note(world.answer(wrongBy: 500)) }
        world.pass(3_601)
        #expect(clock.lead(at: world.local) == -500)
        clock.note(world.answer())
        #expect(clock.lead(at: world.local) == 0)
    }

    /// X refuses a signature whose time is wrong by minutes.
    @Test func requestsToXAreSignedByItsClockAfterAJump() async throws {
        let world = World()
        let refusals = Counter()
        let server = try LoopbackServer { request, connection in
            let authorization = request.header("Authorization") ?? ""
            let stamp = authorization.firstRange(of: "oauth_timestamp=\"")
                .flatMap { TimeInterval(authorization[$0.upperBound...].prefix { $0 != "\"" }) }
            let isTimely = abs((stamp ?? 0) - world.time) < 300
            if !isTimely { _ = refusals.next() }
            let body =
                isTimely
                ? #"{"data":{"id":"42","username":"me","name":"Me"}}"#
                : #"{"errors":[{"code":135,"message":"Timestamp out of bounds"}]}"#
            try connection.respond(
                status: isTimely ? 200 : 401, headers: [("Date", world.answer()["Date"] ?? "")],
                body: Array(body.utf8))
        }
        let network = try XNetwork(
            credentials: XLoopback.credentials, options: XOptions(apiBaseURL: server.url),
            book: MemoryBook(),
            client: HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")),
            now: { world.local }, uptime: { world.time - 5 })
        for jump in [3_600.0, -7_200, 0] {
            world.setLocal(jump)
            world.pass(60)
            try await expect(network.verifyAccount().handle, equals: "me")
        }
        // Only the first request could not know better.
        #expect(refusals.next() == 2)
    }
}
