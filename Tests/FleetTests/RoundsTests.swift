import Expectations
import Fixtures
import Foundation
import Logging
import ServiceLifecycle
import Testing

@testable import Fleet
@testable import Mirroring

@Suite struct RoundsTests {
    private static let start = Date(timeIntervalSince1970: 1_780_239_600)

    private let clock = VirtualClock(startingAt: Self.start)
    private let events = Recorder<String>()

    /// Runs rounds until `seconds` have passed on the clock.
    private func run(_ rounds: Rounds, for seconds: TimeInterval) async {
        clock.join()
        defer { clock.leave() }
        // A participant of its own, who joins before the first pass begins.
        clock.join()
        async let end: Void = {
            try? await clock.sleep(until: Self.start + seconds)
            rounds.stop()
            clock.leave()
        }()
        await rounds.run()
        await end
    }

    private func note(_ event: String) {
        events.add("\(Int(clock.now.timeIntervalSince(Self.start).rounded())) \(event)")
    }

    /// A pass that notes when it begins, every so many seconds.
    private func pass(_ name: String, _ lane: Rounds.Lane = .bot, every interval: TimeInterval)
        -> Rounds.Pass
    {
        Rounds.Pass(name: name, lane: lane) { [self] in
            note(name)
            return clock.now + interval
        }
    }

    /// A pass that waits for a server for so many seconds, each time.
    private func hanging(_ name: String, _ lane: Rounds.Lane = .bot, for seconds: TimeInterval)
        -> Rounds.Pass
    {
        Rounds.Pass(name: name, lane: lane) { [self] in
            note("\(name) begins")
            try await clock.sleep(until: clock.now + seconds)
            note("\(name) ends")
            return clock.now + 1_000
        }
    }

    @Test func beginsEachPassWhenItIsDueAndOfSeveralTheFirstAdded() async {
        let rounds = Rounds(limit: 4, clock: clock)
        let group = rounds.group { _ in }
        rounds.add([pass("a", every: 20), pass("b", .human, every: 30)], to: group)
        await run(rounds, for: 65)
        #expect(events.values == ["0 a", "0 b", "20 a", "30 b", "40 a", "60 b", "60 a"])
    }

    @Test func passesOfOneLaneRunOneAfterTheOtherAndThoseOfTheOtherGoOn() async {
        let rounds = Rounds(limit: 8, clock: clock)
        let group = rounds.group { _ in }
        rounds.add(
            [
                hanging("slow", .human, for: 50), pass("human", .human, every: 100),
                pass("bot", every: 20),
            ], to: group)
        await run(rounds, for: 55)
        #expect(
            events.values == [
                "0 slow begins", "0 bot", "20 bot", "40 bot", "50 slow ends", "50 human",
            ])
    }

    /// As many mirrors as may run at once wait for a server that does not answer.
    @Test func serversThatHangDelayOtherMirrorsByASecondAtMost() async {
        let rounds = Rounds(limit: 2, clock: clock)
        for number in 1...5 {
            rounds.add([hanging("hung \(number)", for: 300)], to: rounds.group { _ in })
        }
        let lateness = Recorder<TimeInterval>()
        let well = Rounds.Pass(name: "well", lane: .bot) { [self] in
            note("well")
            lateness.add(rounds.worstLateness)
            return clock.now + 60
        }
        rounds.add([well], to: rounds.group { _ in })
        await run(rounds, for: 130)
        #expect(events.values.prefix(2) == ["0 hung 1 begins", "0 hung 2 begins"])
        #expect(
            events.values.contains("1 hung 3 begins") && events.values.contains("2 hung 5 begins"))
        // The first time behind five who all began in its place, later at its time.
        #expect(events.values.filter { $0.hasSuffix("well") } == ["2 well", "62 well", "122 well"])
        #expect(lateness.values == [2, 0, 0])
    }

    @Test func aClockThatIsSetBackDelaysNothing() async {
        let rounds = Rounds(limit: 2, clock: clock)
        let uptimes = Recorder<Int>()
        let begun = clock.uptime
        let pass = Rounds.Pass(name: "a", lane: .bot) { [clock] in
            uptimes.add(Int((clock.uptime - begun).rounded()))
            if uptimes.values.count == 2 { clock.jump(by: -7_200) }
            return clock.now + 30
        }
        // What was waiting when the clock was set back is due after as long as it would have been.
        let other = Rounds.Pass(name: "b", lane: .human) { [clock] in
            uptimes.add(1_000 + Int((clock.uptime - begun).rounded()))
            return clock.now + 40
        }
        rounds.add([pass, other], to: rounds.group { _ in })
        clock.join()
        async let end: Void = {
            try? await clock.sleep(until: Self.start + 3_600)
            rounds.stop()
        }()
        clock.join()
        await rounds.run()
        await end
        #expect(uptimes.values.filter { $0 < 1_000 }.prefix(5) == [0, 30, 60, 90, 120])
        #expect(uptimes.values.filter { $0 >= 1_000 }.prefix(3) == [1_000, 1_040, 1_080])
    }

    @Test func aClockThatIsSetAheadBringsPassesCloser() async {
        let rounds = Rounds(limit: 2, clock: clock)
        let uptimes = Recorder<Int>()
        let begun = clock.uptime
        let late = Rounds.Pass(name: "late", lane: .human) { [clock] in
            uptimes.add(Int((clock.uptime - begun).rounded()))
            return clock.now + 3_600
        }
        let setting = Rounds.Pass(name: "setting", lane: .bot) { [clock] in
            if clock.uptime - begun >= 10 {
                clock.jump(by: 3_500)
                return nil
            }
            return clock.now + 10
        }
        rounds.add([late, setting], to: rounds.group { _ in })
        await run(rounds, for: 3_700)
        #expect(uptimes.values == [0, 100])
    }

    @Test func theErrorOfAPassEndsItsGroupAloneAndIsToldWhenAllHaveEnded() async {
        let rounds = Rounds(limit: 8, clock: clock)
        let group = rounds.group { [self] error in note("ended \(error.map { "\($0)" } ?? "-")") }
        let failing = Rounds.Pass(name: "failing", lane: .bot) { [self] in
            guard clock.now > Self.start else { return Self.start + 10 }
            throw Failure()
        }
        let stubborn = Rounds.Pass(name: "stubborn", lane: .human) { [self] in
            try? await clock.sleep(until: Self.start + 100)
            note(Task.isCancelled ? "stubborn cancelled" : "stubborn ends")
            return clock.now + 1
        }
        rounds.add([failing, stubborn, pass("never", .human, every: 1)], to: group)
        rounds.add([pass("other", every: 15)], to: rounds.group { _ in })
        await run(rounds, for: 40)
        #expect(
            events.values == [
                "0 other", "10 stubborn cancelled", "10 ended out of luck", "15 other", "30 other",
            ])
    }

    @Test func aGroupThatIsEndedWithoutAnErrorFinishesWhatItHasBegun() async {
        let rounds = Rounds(limit: 8, clock: clock)
        let group = rounds.group { [self] error in note("ended \(error.map { "\($0)" } ?? "-")") }
        let other = rounds.group { _ in }
        rounds.add([hanging("a", for: 20), pass("b", .human, every: 8)], to: group)
        let ending = Rounds.Pass(name: "ending", lane: .bot) { [self] in
            if clock.now > Self.start { await rounds.end(group) }
            return clock.now + 10
        }
        rounds.add([ending], to: other)
        await run(rounds, for: 30)
        #expect(events.values == ["0 a begins", "0 b", "8 b", "20 a ends", "20 ended -"])
        // Nothing runs that could tell of the end later.
        let idle = rounds.group { [self] _ in note("idle ended") }
        await rounds.end(idle)
        await rounds.end(idle)
        #expect(events.values.count { $0.hasSuffix("idle ended") } == 1)
    }

    @Test func aPassThatIsHurriedIsDueNowAndLaterWhenItWantsTo() async {
        let rounds = Rounds(limit: 4, clock: clock)
        let group = rounds.group { _ in }
        let slow = Rounds.Pass(name: "slow", lane: .bot) { [self] in
            note("slow")
            try await clock.sleep(until: clock.now + 5)
            return clock.now + 100
        }
        let hurrying = Rounds.Pass(name: "hurrying", lane: .human) { [self] in
            // Nobody knows the third.
            for name in ["b", "slow", "c"] { rounds.hurry(name, of: group) }
            return clock.now + 30
        }
        rounds.add([slow, hurrying, pass("b", .human, every: 40)], to: group)
        await run(rounds, for: 75)
        // While it ran, and when it waited; which of two lanes is first at one time is not said.
        #expect(
            events.values.sorted() == [
                "0 b", "0 slow", "30 b", "30 slow", "5 slow", "60 b", "60 slow",
            ])
    }

    @Test func aPassMayBeHurriedToATimeAndNeverDelayed() async {
        let rounds = Rounds(limit: 4, clock: clock)
        let group = rounds.group { _ in }
        let slow = Rounds.Pass(name: "slow", lane: .bot) { [self] in
            note("slow")
            try await clock.sleep(until: clock.now + 5)
            return clock.now + 100
        }
        let hurrying = Rounds.Pass(name: "hurrying", lane: .human) { [self] in
            // The earliest time counts, also for one that runs.
            for seconds in [20.0, 10, 30] {
                for name in ["b", "slow"] { rounds.hurry(name, of: group, to: clock.now + seconds) }
            }
            return clock.now + 1_000
        }
        rounds.add([slow, hurrying, pass("b", .human, every: 40)], to: group)
        await run(rounds, for: 45)
        #expect(events.values.sorted() == ["0 b", "0 slow", "10 slow", "40 b"])
    }

    @Test func endsWhenItIsCancelledWhileItWaits() async {
        let rounds = Rounds(limit: 1, clock: clock)
        // A participant who never sleeps keeps the rounds waiting.
        clock.join()
        clock.join()
        rounds.add([pass("a", every: 1)], to: rounds.group { _ in })
        let running = Task { await rounds.run() }
        running.cancel()
        await running.value
        #expect(events.values.count <= 1)
    }

    @Test func finishesThePassThatHasBegunWhenItIsToEndGracefully() async throws {
        let rounds = Rounds(limit: 1, clock: clock)
        clock.join()
        let ended = Recorder<ServiceGroup>()
        let passes = Recorder<String>()
        let pass = Rounds.Pass(name: "a", lane: .bot) { [clock] in
            passes.add("began")
            if let group = ended.values.first {
                await group.triggerGracefulShutdown()
                // The word takes a moment to come here.
                while !Task.isShuttingDownGracefully { await Task.yield() }
            }
            try Task.checkCancellation()
            passes.add("finished")
            return clock.now + 60
        }
        rounds.add([pass], to: rounds.group { _ in })
        let service = ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: RunningRounds(rounds: rounds),
                        successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        ended.add(service)
        try await service.run()
        #expect(passes.values == ["began", "finished"])
    }

    /// Every mirror gets its turn, however busy the others are.
    @Test func aThousandMirrorsEachGetTheirTurn() async {
        let rounds = Rounds(limit: 4, clock: clock)
        let turns = Recorder<Int>()
        for number in 0..<1_000 {
            let pass = Rounds.Pass(name: "poll", lane: .bot) { [clock] in
                turns.add(number)
                return clock.now + (number == 0 ? 0.001 : 60)
            }
            rounds.add([pass], to: rounds.group { _ in })
        }
        await run(rounds, for: 1)
        #expect(Set(turns.values).count == 1_000)
    }

    private struct Failure: Error, CustomStringConvertible {
        let description = "out of luck"
    }

    private struct RunningRounds: Service {
        let rounds: Rounds

        func run() async throws { await rounds.run() }
    }
}
