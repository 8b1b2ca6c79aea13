import Foundation
import Logging
import Mirroring
import Outbox
import Posts
import Sandbox
import ServiceLifecycle
import Storage
import Testing

/// Workers that are told to end, whatever they are at.
@Suite(.mirrors, .timeLimit(.minutes(5))) struct GracefulEndTests {
    /// How long what was begun may go on; the program allows more.
    private static let grace: Duration = .seconds(3)

    /// Runs a worker as the program does, and ends it when `moment` returns.
    ///
    /// - Returns: How long it took to end, in real time.
    private func end(
        _ fixture: MirrorFixture, when moment: @escaping @Sendable () async throws -> Void
    ) async throws -> Duration {
        let logger = Logger(label: "test") { _ in LogRecorder(lines: fixture.log) }
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(
                    service: fixture.worker(), successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup)
            ], logger: logger)
        configuration.maximumGracefulShutdownDuration = Self.grace
        let group = ServiceGroup(configuration: configuration)
        let told = Task {
            try await moment()
            // The clock stands still from now on, for one of its participants does not sleep.
            fixture.clock.join()
            let told = ContinuousClock.now
            await group.triggerGracefulShutdown()
            return told
        }
        try await group.run()
        let time = try await told.value.duration(to: .now)
        fixture.clock.leave()
        return time
    }

    /// A worker that follows finds everything as it should be.
    private func expectNothingLost(_ fixture: MirrorFixture) async throws {
        fixture.sandbox.faults.clear()
        let end = max(fixture.clock.now, Sample.hour(12.5)) + 3_600
        try await fixture.live(until: end.timeIntervalSince(Sample.origin) / 3_600)
        let ledger = await fixture.sandbox.ledger
        let slots = try await fixture.slots().filter { $0.due < end - 1_800 }
        #expect(!slots.isEmpty)
        #expect(slots.allSatisfy { $0.state == .done })
        let sent = ledger.deliveries.filter { $0.replyTo == nil }.map(\.text)
        #expect(sent.count { text in slots.contains { $0.text == text } } == slots.count)
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        #expect(ledger.summary.duplicateSends + ledger.summary.unsolicited == 0)
        #expect(ledger.duplicates.isEmpty)
    }

    private func start() async throws -> MirrorFixture {
        try await MirrorFixture.start(from: 6.5, variables: ["FAVORITES_PER_DAY": "100"])
    }

    @Test(arguments: [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144]) func atAnyRequest(number: Int) async throws {
        let fixture = try await start()
        let known = fixture.requests.values.count
        let time = try await end(fixture) { try await fixture.requests.wait(forMore: known + number - 1) { _ in true } }
        #expect(time < .seconds(5))
        #expect(try await fixture.leaseHolder() == nil)
        try await expectNothingLost(fixture)
    }

    @Test(arguments: ["Worker started", "Plan made", "Decision made", "Action changed"])
    func atAnyEvent(event: String) async throws {
        let fixture = try await start()
        let time = try await end(fixture) { try await fixture.log.wait { $0.contains(event) } }
        #expect(time < .seconds(5))
        #expect(try await fixture.leaseHolder() == nil)
        try await expectNothingLost(fixture)
    }

    @Test(arguments: [
        ("GET", "/api/v1/accounts/verify_credentials"), ("GET", "/api/v2/instance"), ("GET", "/api/v1/notifications"),
        ("GET", "/api/v1/timelines/home"), ("GET", "/api/v1/favourites"), ("GET", "/api/v1/statuses/"),
        ("POST", "/api/v1/statuses"), ("POST", "/api/v1/statuses/"),
    ])
    func whileAServerHangs(method: String, path: String) async throws {
        let fixture = try await start()
        fixture.sandbox.faults.failNext(.hang, count: 1_000, method: method, path: path)
        let faults = fixture.sandbox.faults
        let time = try await end(fixture) {
            while faults.applied == 0 { try await ContinuousClock().sleep(for: .milliseconds(5)) }
        }
        #expect(time < (method == "POST" ? .seconds(8) : Self.grace))
        #expect(try await fixture.leaseHolder() == nil)
        try await expectNothingLost(fixture)
    }

    @Test func whileItLooksForWhatItSent() async throws {
        let fixture = try await start()
        fixture.sandbox.faults.failNext(.resetAnswer, method: "POST", path: "/api/v1/statuses")
        let slots = Recorder<Int>()
        let time = try await end(fixture) {
            try await fixture.log.wait { $0.contains("action.state=sending") }
            fixture.sandbox.faults.failNext(.hang, count: 1_000, method: "GET", path: "/api/v1/accounts/")
            let known = fixture.sandbox.faults.applied
            while fixture.sandbox.faults.applied == known { try await ContinuousClock().sleep(for: .milliseconds(5)) }
            slots.add(1)
        }
        #expect(slots.values == [1])
        #expect(time < Self.grace)
        try await expectNothingLost(fixture)
    }

    @Test func whileNoServerIsThere() async throws {
        let fixture = try await start()
        await fixture.sandbox.close()
        let time = try await end(fixture) { try await fixture.log.wait { $0.contains("Start failed") } }
        #expect(time < Self.grace)
        #expect(try await fixture.leaseHolder() == nil)
    }

    @Test func whileAnotherWorkerHoldsTheMirror() async throws {
        let fixture = try await start()
        let other = try #require(
            try await fixture.leases.take(owner: "other", after: try await fixture.leases.record(), now: 0))
        let time = try await end(fixture) { try await fixture.log.wait { $0.contains("Another worker holds") } }
        #expect(time < Self.grace)
        #expect(try await fixture.leaseHolder() == "other")
        try await fixture.leases.release(other, now: 0)
        #expect(await fixture.sandbox.ledger.deliveries.isEmpty)
    }

    /// Somebody else's transaction holds up every change.
    @Test(arguments: Engine.allCases) func whileTheDatabaseDoesNotAnswer(engine: Engine) async throws {
        let fixture = try await MirrorFixture.start(engine, from: 6.5, variables: ["FAVORITES_PER_DAY": "100"])
        let other = try await fixture.reopened()
        let (held, released) = (Recorder<Int>(), DispatchSemaphore(value: 0))
        let holding = Recorder<Task<Void, any Error>>()
        let time = try await end(fixture) {
            try await fixture.log.wait { $0.contains("Plan made") }
            holding.add(
                Task {
                    try await other.storage.transaction { connection in
                        if engine == .postgres {
                            try connection.execute(
                                "LOCK TABLE actions, leases, cursors, people IN ACCESS EXCLUSIVE MODE")
                        }
                        held.add(1)
                        released.wait()
                    }
                })
            try await held.wait { _ in true }
            // Long enough for the next change to be waiting.
            try await ContinuousClock().sleep(for: .milliseconds(300))
        }
        #expect(time < .seconds(engine == .postgres ? 9 : 17))
        released.signal()
        for task in holding.values { try await task.value }
        // Nobody could give the lease back.
        if let holder = try await fixture.leaseHolder(), let record = try await fixture.leases.record() {
            let lease = try #require(try await fixture.leases.take(owner: holder, after: record, now: 0))
            try await fixture.leases.release(lease, now: 0)
        }
        try await expectNothingLost(fixture)
    }
}
