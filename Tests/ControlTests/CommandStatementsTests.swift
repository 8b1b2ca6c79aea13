import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Storage
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// How many statements the short commands send, from the opening of the database on.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct CommandStatementsTests {
    private let clock = VirtualClock(startingAt: BareMirror.now)

    /// A mirror with stored logins, a setting, and plans for today and tomorrow.
    private func prepared(_ engine: Engine) async throws -> BareMirror {
        let bare = try await BareMirror(
            engine,
            variables: [
                "TIME_ZONE": "Asia/Tokyo", "SECRET_KEY": String(repeating: "planted-", count: 8),
            ])
        let mirror = try await bare.open(clock: clock)
        for role in AccountRole.allCases {
            let login = StoredLogin(
                credentials: .bluesky(identifier: "did:plc:\(role)", appPassword: Secret("planted"))
            )
            try await mirror.vault.store(login, for: role, at: clock.now)
        }
        try await mirror.set(["NO_REPEAT_DAYS": "30"], now: clock.now)
        let opened = try await bare.open(clock: clock)
        try await opened.beginWorking()
        try await opened.holdByAWorker()
        let zone = try #require(try await opened.recordedTimeZone(now: clock.now))
        let today = LocalTime(clock.now, in: zone).day
        let maker = opened.planMaker(zone: zone, store: opened.outbox(lease: nil))
        for day in [today, today.advanced(by: 1)] {
            _ = try await maker.make(day, now: clock.now, activated: clock.now, watching: true)
        }
        return bare
    }

    /// Opens the mirror as a command does, and counts from the first statement to the last.
    private func counting(
        _ bare: BareMirror, _ body: (HumanMirror) async throws -> Void = { _ in }
    ) async throws -> CountingEngine.Numbers {
        var counter: CountingEngine?
        let mirror = try await HumanMirror.open(
            try bare.configuration(), making: .database, clock: clock
        ) { place in
            let engine = CountingEngine(try await Storage.open(place))
            counter = engine
            return engine
        }
        return try await mirror.closing { mirror in
            #expect(mirror.configuration.botNetwork == .bluesky)
            #expect(mirror.configuration.noRepeatDays == 30)
            try await body(mirror)
            return try #require(counter).counted
        }
    }

    @Test(arguments: Engine.allCases) func openingReadsEachThingOnce(_ engine: Engine) async throws
    {
        let numbers = try await counting(try await prepared(engine)) {
            _ = try await $0.table.requireHere()
        }
        #expect(numbers.all <= 3, "\(numbers)")
        #expect(numbers.changes == 0)
    }

    @Test(arguments: Engine.allCases) func aStatusWritesNothing(_ engine: Engine) async throws {
        let bare = try await prepared(engine)
        let numbers = try await counting(bare) {
            _ = try await StatusReporter(mirror: $0).report(now: clock.now)
        }
        // Four of them tell when the plain texts are used up, and from how many posts a day.
        #expect(numbers.statements <= 32, "\(numbers)")
        #expect(numbers.changes == 0)
    }

    @Test(arguments: Engine.allCases) func skippingASlotAsksLittle(_ engine: Engine) async throws {
        let bare = try await prepared(engine)
        let numbers = try await counting(bare) { mirror in
            let record = try await mirror.table.requireHere()
            let zone = try #require(try await mirror.recordedTimeZone(record, now: clock.now))
            let change = try await Desk(mirror, zone: zone).perform(SkipSlot(slot: "next"))
            let skipped = try #require(change.slots.first)
            #expect(skipped.state == ActionState.skipped.rawValue)
            #expect(skipped.due > clock.now)
            // Nothing is to be cut into words, and opening a dictionary takes longer than all else.
            #expect(mirror.installation.openTokenizer == nil)
            try await mirror.table.requireHere()
        }
        // One of them is the label of its text.
        #expect(numbers.all <= 15, "\(numbers)")
        #expect(numbers.changes == 1)
    }

    @Test(arguments: Engine.allCases) func aPauseAsksLittle(_ engine: Engine) async throws {
        let bare = try await prepared(engine)
        let numbers = try await counting(bare) { mirror in
            try await mirror.table.requireHere()
            let pause = try await mirror.table.pause(
                until: clock.now + 60, reason: "rest", now: clock.now)
            try await expect(InFlightWait(mirror: mirror).wait(), equals: [])
            try await expect(mirror.table.requireHere().pause, equals: pause)
        }
        #expect(numbers.all <= 10, "\(numbers)")
        // The pause, and the look at what is being stored as leaving meanwhile.
        #expect(numbers.changes == 2)
    }
}
