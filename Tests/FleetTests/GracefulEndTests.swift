import Control
import Expectations
import Fixtures
import Fleet
import Foundation
import Logging
import Mirroring
import Outbox
import Sandbox
import ServiceLifecycle
import Storage
import TestSupport
import Testing

/// Workers that are told to end, whatever they are at.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct GracefulEndTests {
    /// Longer than a test may take: what must be cancelled to end does not end.
    private static let forever: Duration = .seconds(36_000)
    /// Soon over, where what was begun goes on until it is cancelled.
    private static let moment: Duration = .milliseconds(500)

    /// Runs a worker as the program does, ends it when `moment` returns, and returns when it has
    /// ended.
    ///
    /// - Parameters:
    ///   - fixture: The mirror; its clock goes on when the worker has ended.
    ///   - grace: How long what was begun may go on before it is cancelled.
    ///   - moment: Joins the clock, so that it stands still from then on, and returns.
    /// - Throws: What the worker or `moment` throws.
    private func end(
        _ fixture: MirrorFixture, grace: Duration = forever,
        when moment: @escaping @Sendable () async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in LogRecorder(lines: fixture.log) }
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(
                    service: MirrorFleet(of: fixture.worker()),
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup)
            ], logger: logger)
        configuration.maximumGracefulShutdownDuration = grace
        let group = ServiceGroup(configuration: configuration)
        let told = Task {
            try await moment()
            await group.triggerGracefulShutdown()
        }
        try await group.run()
        try await told.value
        fixture.clock.leave()
    }

    /// Ends a worker at the moment in which a line is logged.
    private func end(_ fixture: MirrorFixture, at line: String) async throws {
        try await end(fixture) {
            try await fixture.log.wait(meanwhile: { fixture.clock.join() }) { $0.contains(line) }
        }
    }

    /// Waits until more faults than `known` hit a request, and lets the clock stand still.
    private func wait(forFaults known: Int = 0, in fixture: MirrorFixture) async throws {
        let faults = fixture.sandbox.faults
        while faults.applied == known { try await ContinuousClock().sleep(for: .milliseconds(5)) }
        fixture.clock.join()
    }

    /// No request was waited for until its own time was up.
    private func expectNoTimeout(_ fixture: MirrorFixture) {
        #expect(fixture.log.values.filter { $0.contains("Timeout was reached") } == [])
    }

    /// A worker that follows finds everything as it should be.
    private func expectNothingLost(_ fixture: MirrorFixture) async throws {
        fixture.sandbox.faults.clear()
        let end = max(fixture.clock.now, Sample.hour(9.5)) + 3_600
        try await fixture.live(until: end.timeIntervalSince(Sample.origin) / 3_600)
        let ledger = await fixture.sandbox.ledger
        let slots = try await fixture.slots().filter { $0.due < end - 1_800 }
        #expect(!slots.isEmpty)
        expect(slots) { $0.allSatisfy { $0.state == .done } }
        let sent = ledger.deliveries.filter { $0.replyTo == nil }.map(\.text)
        #expect(sent.count { text in slots.contains { $0.text == text } } == slots.count)
        // The last look for mentions may lie ten minutes back.
        let heard = ledger.mentions.filter { $0.deservesReply && $0.date < end - 1_200 }
        let answered = Set(ledger.deliveries.filter(\.isHeard).compactMap(\.replyTo))
        #expect(!heard.isEmpty)
        #expect(heard.filter { !answered.contains($0.id) } == [])
        #expect(ledger.summary.duplicateSends + ledger.summary.unsolicited == 0)
        #expect(ledger.duplicates.isEmpty)
    }

    private func start(rehearsal: Rehearsal = .off) async throws -> MirrorFixture {
        try await MirrorFixture.start(
            from: 6.5, variables: ["FAVORITES_PER_DAY": "100"], rehearsal: rehearsal)
    }

    @Test(arguments: [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144]) func atAnyRequest(number: Int)
        async throws
    {
        let fixture = try await start()
        let known = fixture.requests.values.count
        try await end(fixture) {
            try await fixture.requests.wait(
                forMore: known + number - 1, meanwhile: { fixture.clock.join() }
            ) { _ in
                true
            }
        }
        try await expect(fixture.leaseHolder(), equals: nil)
        try await expectNothingLost(fixture)
    }

    @Test(arguments: ["Worker started", "Plan made", "Decision made", "Action changed"])
    func atAnyEvent(event: String) async throws {
        let fixture = try await start()
        try await end(fixture, at: event)
        try await expect(fixture.leaseHolder(), equals: nil)
        try await expectNothingLost(fixture)
    }

    @Test(arguments: [
        ("GET", "/api/v1/accounts/verify_credentials"), ("GET", "/api/v2/instance"),
        ("GET", "/api/v1/notifications"),
        ("GET", "/api/v1/timelines/home"), ("GET", "/api/v1/favourites"),
        ("GET", "/api/v1/statuses/"),
        ("POST", "/api/v1/statuses"), ("POST", "/api/v1/statuses/"),
    ])
    func whileAServerHangs(method: String, path: String) async throws {
        let fixture = try await start()
        fixture.sandbox.faults.failNext(.hang, count: 1_000, method: method, path: path)
        // A question is given up at once, and what may have acted is waited for as long as there is
        // time.
        try await end(fixture, grace: method == "POST" ? Self.moment : Self.forever) {
            try await wait(in: fixture)
        }
        expectNoTimeout(fixture)
        try await expect(fixture.leaseHolder(), equals: nil)
        try await expectNothingLost(fixture)
    }

    @Test func whileItLooksForWhatItSent() async throws {
        let fixture = try await start()
        fixture.sandbox.faults.failNext(.resetAnswer, method: "POST", path: "/api/v1/statuses")
        let slots = Recorder<Int>()
        try await end(fixture) {
            let faults = fixture.sandbox.faults
            let known = Recorder<Int>()
            let hang: @Sendable () -> Void = {
                known.add(faults.applied)
                faults.failNext(.hang, count: 1_000, method: "GET", path: "/api/v1/accounts/")
            }
            // Before it looks for the first time.
            try await fixture.log.wait(meanwhile: hang) { $0.contains("action.state=sending") }
            try await wait(forFaults: try #require(known.values.first), in: fixture)
            slots.add(1)
        }
        #expect(slots.values == [1])
        expectNoTimeout(fixture)
        try await expectNothingLost(fixture)
    }

    @Test func whileNoServerIsThere() async throws {
        let fixture = try await start()
        await fixture.sandbox.close()
        try await end(fixture, at: "Start failed")
        try await expect(fixture.leaseHolder(), equals: nil)
    }

    @Test func whileAnotherWorkerHoldsTheMirror() async throws {
        let fixture = try await start(rehearsal: .meeting)
        let other = try #require(
            try await fixture.leases.take(
                owner: "other", after: try await fixture.leases.record(), now: 0))
        try await end(fixture, at: "Another worker holds")
        try await expect(fixture.leaseHolder(), equals: "other")
        try await fixture.leases.release(other, now: 0)
        await expect(fixture.sandbox.ledger.deliveries) { $0.isEmpty }
    }

    /// Finds what waits for a lock in this database: other tests have databases on the same server.
    private static let waitsHere =
        "NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"

    /// Somebody else's transaction holds up every change.
    @Test(arguments: Engine.allCases) func whileTheDatabaseDoesNotAnswer(engine: Engine)
        async throws
    {
        let fixture = try await MirrorFixture.start(
            engine, from: 6.5, variables: ["FAVORITES_PER_DAY": "100"])
        let other = try await fixture.reopened()
        let held = Recorder<Int>()
        let released = DispatchSemaphore(value: 0)
        let holding = Recorder<Task<Void, any Error>>()
        let began = ContinuousClock.now
        try await end(fixture, grace: Self.moment) {
            try await fixture.log.wait { $0.contains("Plan made") }
            holding.add(
                Task {
                    try await other.storage.lenient.transaction { connection in
                        if engine == .postgres {
                            try connection.execute(
                                "LOCK TABLE actions, leases, feeds, people IN ACCESS EXCLUSIVE MODE"
                            )
                        }
                        held.add(1)
                        released.wait()
                    }
                })
            try await held.wait { _ in true }
            if engine == .postgres {
                while try await other.storage.query(
                    "SELECT pid FROM pg_locks WHERE \(unsafe: Self.waitsHere)"
                ).isEmpty {}
            } else {
                // Nobody tells that a change waits for the lock. Usually one does by then; nothing
                // is expected of that.
                try await ContinuousClock().sleep(for: .milliseconds(300))
            }
            fixture.clock.join()
        }
        // The database is held until after this; what waits for it would do so for a minute on
        // Postgres.
        #expect(ContinuousClock.now - began < .seconds(50))
        released.signal()
        for task in holding.values { try await task.value }
        // Nobody could give the lease back.
        if let holder = try await fixture.leaseHolder(),
            let record = try await fixture.leases.record()
        {
            let lease = try #require(
                try await fixture.leases.take(owner: holder, after: record, now: 0))
            try await fixture.leases.release(lease, now: 0)
        }
        try await expectNothingLost(fixture)
    }
}
