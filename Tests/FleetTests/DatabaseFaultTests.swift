import Control
import Expectations
import Fixtures
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

/// Half a day of a mirror in which the Postgres server does what servers do.
///
/// The worker goes on by itself, does nothing twice, and loses nothing that was not too late by
/// then.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct DatabaseFaultTests {
    /// A mirror whose way to its own database leads through a relay.
    ///
    /// - Parameters:
    ///   - own: A server of the test's own, on which the mirror is trained; nil for a copy of a
    ///     trained one's database on the server that all tests share.
    ///   - hour: When the test begins.
    ///   - settings: What the database's URL ends with.
    /// - Returns: The mirror, the relay, and the database.
    /// - Throws: What went wrong.
    private func start(
        on own: PostgresServer? = nil, from hour: Double = 6.5,
        settings: String = PostgresServer.patience
    ) async throws -> (fixture: MirrorFixture, relay: Relay, database: String) {
        let (server, database) =
            if let own {
                (own, try await own.makeDatabase())
            } else {
                (try await PostgresServer.shared(), try await TrainedDatabase.onPostgres(.mastodon))
            }
        let relay = try Relay(to: server.port)
        let fixture = try await MirrorFixture.start(
            .postgres, from: hour, isTrained: own != nil,
            variables: [
                "DATABASE_URL": server.url(database, through: relay) + settings,
                "FAVORITES_PER_DAY": "1000",
            ],
            // Faults are counted by statements and answers, which a strict engine would double.
            opening: { try await Storage.open($0) })
        // Not before the fixture's own end: closing it talks to the server.
        OpenMirrors.current?.add { withExtendedLifetime(relay) {} }
        return (fixture, relay, database)
    }

    @Test(arguments: [PostgresServer.Ending.fast, .immediate])
    func survivesAServerThatIsGoneForAnHour(_ ending: PostgresServer.Ending) async throws {
        let server = try await PostgresServer.start()
        let (fixture, _, _) = try await start(on: server)
        try await fixture.live(
            until: 13,
            events: [
                (8.2, { try await server.restart(ending) }),
                (9, { await server.stop(ending) }),
                (10, { try await server.restart() }),
                (11.3, { try await server.restart(ending) }),
            ])
        await expect(fixture.sandbox.ledger.deliveries) {
            $0.allSatisfy { !Self.hours(9, 10).contains($0.date) }
        }
        try await fixture.expectNothingTwiceOrLost(outages: [Self.hours(9, 10)])
        await server.stop()
    }

    @Test func survivesSessionsThatAreEndedAllTheTime() async throws {
        let server = try await PostgresServer.shared()
        let (fixture, relay, database) = try await start()
        let connections = relay.connections
        // Sessions end by themselves too, in the middle of a transaction or at its commit.
        try await server.chaos(
            in: database, every: 60, "PERFORM pg_terminate_backend(pg_backend_pid())")
        try await fixture.live(
            until: 13,
            events: stride(from: 7.0, to: 12.5, by: 0.4).enumerated().map { number, hour in
                (
                    hour,
                    {
                        if number.isMultiple(of: 2) {
                            relay.cut()
                        } else {
                            try await server.terminateConnections(to: database)
                        }
                    }
                )
            })
        try await server.calm(database)
        // What was cut between two statements is not even noticed by a pass; each of the 14 cuts
        // needs a new connection.
        #expect(relay.connections - connections >= 14)
        try await fixture.expectNothingTwiceOrLost(outages: [], isDisturbed: false)
    }

    @Test func survivesCommitsWhoseAnswersAreLost() async throws {
        let (fixture, relay, _) = try await start()
        // Not every one: what changes nothing is repeated once, and would lose its answer again.
        relay.loseAnswers(to: "COMMIT", count: 1_000, every: 3)
        try await fixture.live(until: 12)
        #expect(relay.lostAnswers > 50)
        relay.loseAnswers(to: "COMMIT", count: 0)
        // Each was looked up, so none is of unknown outcome.
        #expect(fixture.log.values.filter { $0.contains("look before doing it again") } == [])
        try await fixture.expectNothingTwiceOrLost(outages: [], isDisturbed: false)
    }

    @Test func livesBehindAPooler() async throws {
        let server = try await PostgresServer.shared()
        let pooler = try await PoolerServer.start(before: server)
        let database = try await TrainedDatabase.onPostgres(.mastodon)
        let fixture = try await MirrorFixture.start(
            .postgres, isTrained: false,
            variables: ["DATABASE_URL": pooler.url(database), "FAVORITES_PER_DAY": "1000"])
        OpenMirrors.current?.add { withExtendedLifetime(pooler) {} }
        try await fixture.live(until: 24)
        try await fixture.expectNothingTwiceOrLost(outages: [], isDisturbed: false)
        let sessions = try await server.run(
            """
            SELECT COUNT(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
            """, database: database)
        #expect(sessions == "3\n")
    }

    @Test func survivesAStandbyThatTakesOver() async throws {
        let pair = try await PostgresPair.start()
        let fixture = try await MirrorFixture.start(
            .postgres, from: 6.5,
            variables: ["DATABASE_URL": pair.makeDatabase(), "FAVORITES_PER_DAY": "1000"])
        try await fixture.live(
            until: 13,
            events: [
                (8.2, { try await pair.failOver() }), (9.1, { try await pair.restore() }),
                (10.4, { try await pair.failOver() }), (11, { try await pair.restore() }),
            ])
        try await fixture.expectNothingTwiceOrLost(outages: [], isDisturbed: false)
    }

    @Test func survivesTransactionsThatOthersMakeImpossible() async throws {
        let server = try await PostgresServer.shared()
        let (fixture, _, database) = try await start()
        try await server.chaos(
            in: database, every: 75, "RAISE EXCEPTION 'no' USING ERRCODE = '40001'")
        try await fixture.live(
            until: 12,
            events: [
                (
                    9,
                    {
                        try await server.chaos(
                            in: database, every: 80, "RAISE EXCEPTION 'no' USING ERRCODE = '40P01'")
                    }
                )
            ])
        try await server.calm(database)
        try await fixture.expectNothingTwiceOrLost(outages: [], isDisturbed: false)
    }

    @Test func survivesADatabaseThatTakesNoChangesForAnHour() async throws {
        let server = try await PostgresServer.shared()
        let (fixture, _, database) = try await start()
        try await fixture.live(
            until: 13,
            events: [
                (
                    9,
                    {
                        try await server.set(
                            "default_transaction_read_only", to: "on", in: database)
                        try await server.terminateConnections(to: database)
                    }
                ),
                (
                    10,
                    { try await server.set("default_transaction_read_only", to: nil, in: database) }
                ),
            ])
        expect(fixture.log.values) {
            $0.contains { $0.contains("Pass failed") && $0.contains("25006") }
        }
        try await fixture.expectNothingTwiceOrLost(outages: [Self.hours(9, 10)])
    }

    @Test(arguments: ["53100", "XX000", "57014"])
    func survivesADatabaseThatRefusesForAnHour(_ sqlState: String) async throws {
        let server = try await PostgresServer.shared()
        let (fixture, _, database) = try await start(from: 8)
        try await fixture.live(
            until: 12,
            events: [
                (
                    9,
                    {
                        try await server.chaos(
                            in: database, every: 1,
                            "RAISE EXCEPTION 'no' USING ERRCODE = '\(sqlState)'")
                    }
                ),
                (10, { try await server.calm(database) }),
            ])
        expect(fixture.log.values) {
            $0.contains { $0.contains("Pass failed") && $0.contains(sqlState) }
        }
        try await fixture.expectNothingTwiceOrLost(outages: [Self.hours(9, 10)])
    }

    @Test func survivesRightsThatAreMissingForAMoment() async throws {
        let server = try await PostgresServer.shared()
        let (fixture, _, database) = try await start(from: 8)
        try await fixture.live(
            until: 12,
            events: [
                (
                    9,
                    {
                        try await server.chaos(
                            in: database, every: 1, "RAISE EXCEPTION 'no' USING ERRCODE = '42501'")
                    }
                ),
                (9.15, { try await server.calm(database) }),
            ])
        try await fixture.expectNothingTwiceOrLost(
            outages: [Self.hours(9, 9.15)], isDisturbed: false)
    }

    @Test func endsWhenTheDatabaseRefusesItForGoodAndTheNextWorkerGoesOn() async throws {
        let server = try await PostgresServer.shared()
        let (fixture, _, database) = try await start(from: 8)
        let error = await #expect(throws: StorageError.self) {
            try await fixture.live(
                until: 14,
                events: [
                    (
                        9,
                        {
                            try await server.chaos(
                                in: database, every: 1,
                                "RAISE EXCEPTION 'no' USING ERRCODE = '42501'")
                        }
                    )
                ])
        }
        #expect(error?.code == .authentication)
        #expect((Sample.hour(9.2)...Sample.hour(10)).contains(fixture.clock.now))
        try await server.calm(database)
        let end = fixture.clock.now
        // The lease could not be given back; its holder is silent now.
        try await fixture.leases.free()
        try await fixture.live(until: 12)
        try await fixture.expectNothingTwiceOrLost(
            outages: [Sample.hour(9)..<end], isDisturbed: false)
    }

    @Test func survivesAServerThatHangsForAMinute() async throws {
        // Waiting for the server takes real time, again and again while the clock of the mirror
        // stands still.
        let (fixture, relay, _) = try await start(from: 8, settings: "?connect_timeout=1")
        try await fixture.live(
            until: 11,
            events: [
                (
                    9,
                    {
                        // New connections find nobody; the ones that wait are cut, as the kernel
                        // does in the end.
                        relay.behave(.silent)
                        relay.cut()
                    }
                ),
                (9.02, { relay.behave(.pass) }),
            ])
        try await fixture.expectNothingTwiceOrLost(
            outages: [Self.hours(9, 9.02)], isDisturbed: false)
    }

    private static func hours(_ from: Double, _ to: Double) -> Range<Date> {
        Sample.hour(from)..<Sample.hour(to)
    }
}

extension PostgresServer {
    /// Does something at every `period`-th change of a table of the mirror, in the middle of the
    /// transaction.
    func chaos(in database: String, every period: Int, _ statement: String) async throws {
        try await calm(database)
        let changes = [
            "actions", "plans", "leases", "workers", "feeds", "examples", "counters", "posts",
        ].map { table in
            """
            CREATE TRIGGER chaos BEFORE INSERT OR UPDATE ON \(table) FOR EACH STATEMENT EXECUTE FUNCTION chaos();
            """
        }
        try await run(
            """
            CREATE SEQUENCE IF NOT EXISTS chaos_number;
            CREATE OR REPLACE FUNCTION chaos() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('chaos_number') % \(period) = 0 THEN \(statement); END IF;
                RETURN NULL;
            END $$;
            \(changes.joined(separator: "\n"))
            """, database: database)
    }

    /// Ends what ``chaos(in:every:_:)`` began.
    func calm(_ database: String) async throws {
        try await run(
            "SET client_min_messages = error; DROP FUNCTION IF EXISTS chaos() CASCADE",
            database: database)
    }
}

extension MirrorFixture {
    /// Checks what a mirror has done by now, and what it says of itself.
    ///
    /// - Parameters:
    ///   - outages: When its database could not be used: what was due then may have expired.
    ///   - isDisturbed: Whether passes must have failed.
    /// - Throws: What the database throws.
    func expectNothingTwiceOrLost(outages: [Range<Date>], isDisturbed: Bool = true) async throws {
        let ledger = await sandbox.ledger
        let summary = ledger.summary
        if isDisturbed { expect(log.values) { $0.contains { $0.contains("Pass failed") } } }
        #expect(summary.duplicateSends + summary.unsolicited + summary.errors == 0)
        #expect(summary.replies > 0)
        #expect(summary.replies == summary.expectedReplies)
        #expect(ledger.duplicates.isEmpty)
        // Every slot was filled, unless it was due while nothing could be done, or so late before
        // that no try was left.
        let slots = try await slots().filter {
            $0.due < clock.now - 60 && $0.reason != "before-start"
        }
        #expect(!slots.isEmpty)
        for slot in slots where slot.state != .done {
            let isExcused = outages.contains { $0.overlaps(slot.due..<slot.expires) }
            #expect(
                slot.state == .expired, "\(slot.subject) is \(slot.state), \(slot.reason ?? "-")")
            #expect(isExcused, "\(slot.subject) is \(slot.state), \(slot.reason ?? "-")")
        }
        let texts = ledger.deliveries.filter { $0.replyTo == nil }.map(\.text).sorted()
        #expect(texts == slots.filter { $0.state == .done }.compactMap(\.text).sorted())
        let replies = try await actions(.reply)
        #expect(replies.count { $0.state == .done } == summary.replies)
        let favorites = try await actions(.favorite).filter { $0.state == .done }
        #expect(
            favorites.compactMap(\.target?.address).sorted()
                == ledger.favorites.map(\.postID).sorted())
        try await expect(leaseHolder(), equals: nil)
        let plans = try await mirror.storage.lenient.query("SELECT local_day FROM plans")
        #expect(plans.count == 1)
        let report = try await StatusReporter(mirror: mirror).report(now: clock.now)
        #expect(report.idle.filter { !$0.contains("no worker is running") } == [])
        #expect(report.classifier?.waiting == nil)
    }
}
