import Configuration
import Expectations
import Foundation
import Outbox
import TestSupport
import Testing

@testable import Mirroring
@testable import Settings

@Suite struct RehearsalTests {
    private static let settings = Rehearsal.Settings(
        origin: Date(timeIntervalSince1970: 1_780_000_000),
        started: Date(timeIntervalSince1970: 1_763_700_000),
        factor: 120, leaseSeconds: 0.6, fault: "kill@delivery.answered#2")

    private static func open(
        _ variables: [String: String],
        account: [String: String] = ["BOT_SERVER": "http://127.0.0.1:4000"]
    ) async throws -> Rehearsal {
        let folder = try TemporaryDirectory()
        var settings = account.merging(["MIRROR_BOT_HOME": folder.path]) { $1 }
        if account["BOT_SERVER"] != nil { settings["BOT_ACCESS_TOKEN"] = "t" }
        let configuration = try MirrorConfiguration(
            try SettingValues(environment: .init(environmentVariables: settings)),
            environment: variables)
        let mirror = try await HumanMirror.open(configuration)
        let rehearsal = mirror.rehearsal
        await mirror.close()
        return rehearsal
    }

    @Test func isOffWithoutItsVariables() async throws {
        let rehearsal = try await Self.open(
            ["HOME": "/nowhere"], account: ["BOT_SERVER": "https://social.example"])
        #expect(rehearsal.clock == nil)
        #expect(rehearsal.leaseTiming.silenceLimit == .seconds(30))
        #expect(rehearsal.leaseTiming.interval == .seconds(5))
    }

    @Test func readsWhatTheHarnessWrites() async throws {
        let rehearsal = try await Self.open(Self.settings.variables)
        let clock = try #require(rehearsal.clock as? AcceleratedClock)
        let elapsed = Date().timeIntervalSince(Self.settings.started) * 120
        #expect(abs(clock.now.timeIntervalSince(Self.settings.origin) - elapsed) < 120 * 60)
        #expect(rehearsal.leaseTiming.silenceLimit == .seconds(0.6))
    }

    @Test(arguments: [
        ["BOT_SERVER": "https://social.example"],
        ["BOT_SERVER": "https://127.0.0.1.social.example"],
        ["BOT_NETWORK": "bluesky", "BOT_HANDLE": "bot.example", "BOT_APP_PASSWORD": "p"],
        ["BOT_SERVER": "http://localhost:1", "BOT_API_BASE_URL": "https://social.example"],
        [
            "BOT_SERVER": "http://127.0.0.1:1", "HUMAN_SERVER": "https://social.example",
            "HUMAN_ACCESS_TOKEN": "t",
        ],
    ])
    func refusesToRehearseWithAnAccountElsewhere(account: [String: String]) async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            try await Self.open(Self.settings.variables, account: account)
        }
        #expect(error?.setting == "REHEARSAL_FACTOR")
        expect(error?.description) { $0?.contains("account is elsewhere") == true }
    }

    @Test(arguments: [
        ("REHEARSAL_ORIGIN", "yesterday"), ("REHEARSAL_STARTED", "soon"),
        ("REHEARSAL_STARTED", "99999999999999999999"),
        ("REHEARSAL_FACTOR", "301"), ("REHEARSAL_FACTOR", "0.5"), ("REHEARSAL_FACTOR", "nan"),
        ("REHEARSAL_LEASE_SECONDS", "0"), ("REHEARSAL_LEASE_SECONDS", "inf"),
        ("REHEARSAL_FAULT", "kill"),
        ("REHEARSAL_FAULT", "kill@nowhere#1"), ("REHEARSAL_FAULT", "kill@plan.stored#0"),
        ("REHEARSAL_FAULT", "term@plan.stored#1"), ("REHEARSAL_FAULT", "kill@plan.stored"),
        ("REHEARSAL_CLOCK_FILE", "clock"),
    ])
    func namesTheVariableThatHasNoMeaning(name: String, value: String) async throws {
        let variables = Self.settings.variables.merging([name: value]) { $1 }
        let error = await #expect(throws: ConfigurationError.self) {
            try await Self.open(variables)
        }
        #expect(error?.setting == name)
    }

    @Test(arguments: ["REHEARSAL_ORIGIN", "REHEARSAL_STARTED"])
    func wantsBothEndsOfTheClock(missing: String) async throws {
        let variables = Self.settings.variables.filter { $0.key != missing }
        let error = await #expect(throws: ConfigurationError.self) {
            try await Self.open(variables)
        }
        #expect(error?.setting == "REHEARSAL_ORIGIN")
    }

    @Test func theClockCanBeSetWhileItRuns() async throws {
        let folder = try TemporaryDirectory()
        var settings = Self.settings
        settings.clockFile = folder.path("clock")
        let clock = try #require(try await Self.open(settings.variables).clock)
        let setting = ClockSetting(path: folder.path("clock"))
        // Until somebody sets it, and where nobody can tell by how much, it is right.
        let right = AcceleratedClock(
            origin: settings.origin, started: settings.started, factor: settings.factor)
        #expect(abs(clock.now.timeIntervalSince(right.now)) < 120 * 60)
        try folder.write(Data("a while".utf8), to: "clock")
        #expect(abs(clock.now.timeIntervalSince(right.now)) < 120 * 60)
        for seconds: TimeInterval in [86_400 * 30, 86_400 * 20, -86_400 * 30] {
            try setting.set(to: seconds)
            #expect(abs(clock.now.timeIntervalSince(right.now) - seconds) < 120 * 60)
        }
    }

    @Test func everyFaultPointHasANameOfItsOwn() {
        #expect(Set(FaultPoint.all.map(\.name)).count == FaultPoint.all.count)
        expect(FaultPoint.all) { $0.allSatisfy { FaultTrap("stop@\($0.name)#3") != nil } }
    }
}

@Suite struct NapTests {
    /// A clock that somebody sets back by an hour while it is waited for.
    private final class ResetClock: WallClock, @unchecked Sendable {
        // Sendable because the variable is only touched under `lock`.
        private let lock = NSLock()
        private var looks = 0

        var now: Date {
            lock.withLock {
                looks += 1
                return looks == 1 ? Date() : Date() - 3_600
            }
        }

        func sleep(until deadline: Date) async throws {}
    }

    @Test func endsThoughTheClockWasSetBack() async throws {
        let start = ContinuousClock.now
        try await Nap(rate: 1).sleep(until: Date() + 0.05, on: ResetClock())
        // By the clock that was set back it would have been an hour.
        #expect(start.duration(to: .now) < .seconds(3_000))
    }

    @Test func waitsAsLongAsTheFasterClockNeeds() async throws {
        let clock = AcceleratedClock(
            origin: Date(timeIntervalSince1970: 0), started: Date(), factor: 300)
        let deadline = clock.now + 30
        try await clock.sleep(until: deadline)
        #expect(clock.now >= deadline)
    }

    @Test func returnsAtOnceWhenTheTimeHasPassed() async throws {
        try await SystemClock().sleep(until: .distantPast)
    }
}
