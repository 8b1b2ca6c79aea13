import Expectations
import Fixtures
import Foundation
import Logging
import Networks
import Outbox
import Posts
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings
@testable import Storage

@Suite struct RepeatedPassTests {
    private static let start = Date(timeIntervalSince1970: 1_780_239_600)

    /// Runs a pass in rounds on a virtual clock; what `pass` returns is when it wants to be called
    /// again.
    private func run(
        log: Recorder<String> = Recorder(),
        _ pass: @escaping @Sendable (_ number: Int, _ now: Date) throws -> Date?
    ) async throws -> [TimeInterval] {
        let clock = VirtualClock(startingAt: Self.start)
        clock.join()
        let calls = Recorder<Date>()
        let errors = Recorder<any Error>()
        let rounds = Rounds(limit: 1, clock: clock)
        let single = Rounds.Pass(name: "test", lane: .bot) {
            let now = clock.now
            calls.add(now)
            // A pass without a wish ends the run.
            guard let next = try pass(calls.values.count, now) else {
                rounds.stop()
                return nil
            }
            return next
        }
        let repeated = RepeatedPass(
            single, clock: clock,
            logger: Logger(label: "test") { _ in LogRecorder(lines: log) })
        let group = rounds.group { error in
            if let error { errors.add(error) }
            rounds.stop()
        }
        rounds.add([Rounds.Pass(name: "test", lane: .bot) { try await repeated.run() }], to: group)
        await rounds.run()
        if let error = errors.values.first { throw error }
        return calls.values.map { $0.timeIntervalSince(Self.start) }
    }

    /// A call inside was cut off, and nobody wants the passes to end.
    @Test func aStrayCancellationIsAFailureLikeOthers() async throws {
        let log = Recorder<String>()
        let calls = try await run(log: log) { number, _ in
            guard number < 3 else { return nil }
            throw CancellationError()
        }
        #expect(calls.count == 3)
        #expect(log.values.count { $0.hasPrefix("warning Pass failed, trying again") } == 2)
    }

    @Test func comesBackWhenThePassWantsTo() async throws {
        let calls = try await run { number, now in number == 4 ? nil : now + Double(number) * 10 }
        #expect(calls == [0, 10, 30, 60])
    }

    @Test func waitsLongerAfterEachFailureUpToFiveMinutes() async throws {
        let log = Recorder<String>()
        let calls = try await run(log: log) { number, _ in
            guard number < 12 else { return nil }
            throw Failure()
        }
        let waits = zip(calls.dropFirst(), calls).map { $0 - $1 }
        for (index, wait) in waits.enumerated() {
            let plain = min(5 * Double(1 << index), 300)
            #expect(wait >= plain)
            #expect(wait < plain * 1.25)
        }
        let lines = log.values
        #expect(lines.count == 11)
        expect(lines.first) {
            $0?.hasPrefix("warning Pass failed, trying again error=out of luck feed=test") == true
        }
        expect(lines.last) { $0?.contains("retry.attempt=11") == true }
    }

    @Test func forgetsItsFailuresAfterASuccess() async throws {
        let calls = try await run { number, now in
            switch number {
            case 6: return now + 1_000
            case 8: return nil
            default: throw Failure()
            }
        }
        let waits = zip(calls.dropFirst(), calls).map { $0 - $1 }
        #expect(waits[4] >= 80)
        #expect(waits[5] == 1_000)
        #expect((5..<6.25).contains(waits[6]))
    }

    @Test func waitsAsLongAsTheNetworkAsks() async throws {
        let calls = try await run { number, now in
            guard number == 1 else { return nil }
            throw Self.error(.rateLimited, retryAfter: now + 777)
        }
        // And a little longer, as everybody comes back then.
        #expect(calls.count == 2 && calls[1] >= 779 && calls[1] < 777 + 5 + 78)
    }

    @Test func doesNotHurryForAnEarlyRetry() async throws {
        let calls = try await run { number, now in
            guard number == 1 else { return nil }
            throw Self.error(.unavailable, retryAfter: now + 1)
        }
        try expect(#require(calls.last)) { $0 >= 5 }
    }

    @Test func endsForAnAccountThatIsGivenUp() async throws {
        await #expect(throws: UnusableAccount.self) {
            try await run { _, _ in throw UnusableAccount(cause: Self.error(.unauthorized)) }
        }
    }

    /// Databases refuse whom they know while they fail over.
    @Test func toleratesADatabaseThatRefusesItForAQuarterOfAnHour() async throws {
        let refusal = StorageError(
            .authentication, "connect", because: "password authentication failed")
        let calls = try await run { number, now in
            switch number {
            case 1...4, 6...9: throw refusal
            case 5: now + 600
            default: nil
            }
        }
        #expect(calls.count == 10)
        let tries = Recorder<Date>()
        await #expect(throws: StorageError.self) {
            try await run { _, now in
                tries.add(now)
                throw refusal
            }
        }
        let last = try #require(tries.values.last)
        #expect((900..<1_300).contains(last.timeIntervalSince(Self.start)))
    }

    @Test(
        arguments: [
            .rateLimited, .unavailable, .transport, .malformedResponse, .notFound, .forbidden,
            .rejected, .unauthorized,
        ]
            as [NetworkError.Code])
    func goesOnAfterWhatMayPass(_ code: NetworkError.Code) async throws {
        let calls = try await run { number, _ in
            guard number < 3 else { return nil }
            throw Self.error(code)
        }
        #expect(calls.count == 3)
    }

    @Test func endsForAWrongConfiguration() async throws {
        await #expect(throws: ConfigurationError.self) {
            try await run { _, _ in throw ConfigurationError("TIME_ZONE", "is not set") }
        }
    }

    @Test(arguments: [1, 2, 7, 8, 40, 1_000, Int.max]) func staysWithinBounds(_ failures: Int) {
        for name in ["", "publisher", "bot-mentions", "human-favorites"] {
            let next = RetryRule.work.next(after: failures, of: name, Failure(), now: Self.start)
            let wait = next.timeIntervalSince(Self.start)
            #expect(wait >= (failures == 1 ? 5 : 10))
            #expect(wait < 375)
        }
    }

    private static func error(_ code: NetworkError.Code, retryAfter: Date? = nil) -> NetworkError {
        NetworkError(
            code: code, network: .mastodon, host: "sandbox.example", operation: .readHome,
            retryAfter: retryAfter,
            outcome: .refused)
    }

    private struct Failure: Error, CustomStringConvertible {
        let description = "out of luck"
    }
}
