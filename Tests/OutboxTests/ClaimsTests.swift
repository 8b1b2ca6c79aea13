import Expectations
import Foundation
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Outbox

/// Workers that share a database, on monotonic clocks that only the test moves.
@Suite(.timeLimit(.minutes(30))) struct ClaimsTests {
    /// A database, and the clocks of those who work on it.
    private final class Office {
        let clock = SteppingClock()
        let storage: any StorageEngine
        private let location: StorageLocation
        private let folder: TemporaryDirectory?

        init(_ engine: OutboxFixture.Engine) async throws {
            switch engine {
            case .sqlite:
                let folder = try TemporaryDirectory()
                try await MigratedDatabase.copy(to: folder.path("test.sqlite"))
                location = .sqlite(path: folder.path("test.sqlite"))
                self.folder = folder
            case .postgres:
                location = .postgres(url: try await MigratedDatabase.onPostgres())
                folder = nil
            }
            storage = try await Storage.open(location)
        }

        /// The same database through other connections.
        func again() async throws -> any StorageEngine { try await Storage.open(location) }

        func worker(
            _ name: String, version: String = "1.0.0", _ scope: Claims.Scope = .shared,
            through engine: (any StorageEngine)? = nil, timing: LeaseTiming = LeaseTiming(),
            disability: @escaping @Sendable () -> WorkerRecord.Disability? = { nil }
        ) -> Worker {
            Worker(
                Claims(
                    storage: engine ?? storage, worker: name, version: version, scope: scope,
                    timing: timing,
                    disability: disability, now: { [clock] in clock.now },
                    instant: { [clock] in clock.instant }))
        }

        /// One interval of the workers that live, one after the other.
        func turn(_ workers: [Worker], _ wanted: [String]) async throws {
            clock.advance(5)
            for worker in workers { try await worker.turn(wanted) }
        }

        /// Who holds each mirror in the database.
        func owners() async throws -> [String: String] {
            let rows = try await storage.query(
                "SELECT mirror, worker FROM leases WHERE NOT released")
            return Dictionary(
                uniqueKeysWithValues: try rows.map {
                    (try $0.text("mirror"), try $0.text("worker"))
                })
        }

        /// Every mirror is held by one of the workers, which knows it.
        func expectWhole(_ workers: [Worker], _ wanted: [String]) async throws {
            let owners = try await owners()
            #expect(Set(owners.keys) == Set(wanted))
            for worker in workers {
                #expect(
                    worker.mirrors == Set(owners.filter { $0.value == worker.claims.worker }.keys))
            }
            #expect(workers.map(\.mirrors.count).reduce(0, +) == wanted.count)
        }
    }

    /// A condition that a test changes while workers read it.
    private final class Condition: Sendable {
        private let holds = Mutex(false)

        var value: Bool {
            get { holds.withLock(\.self) }
            set { holds.withLock { $0 = newValue } }
        }
    }

    /// A process that beats, claims, and hands back what it is asked for.
    private final class Worker {
        let claims: Claims
        /// What it works on, as it was told.
        private(set) var mirrors: Set<String> = []
        private(set) var lost: [String] = []

        init(_ claims: Claims) { self.claims = claims }

        func turn(_ wanted: [String]) async throws {
            let lost = try await claims.beat()
            self.lost += lost
            mirrors.subtract(lost)
            let turn = try await claims.claim(wanted)
            mirrors.formUnion(turn.taken.keys)
            try await claims.release(turn.surplus)
            mirrors.subtract(turn.surplus)
            #expect(mirrors == Set(claims.held.keys))
        }

        func end() async throws {
            try await claims.end()
            mirrors = []
        }

        /// Looks without a beat.
        func takes(_ mirror: String) async throws -> Bool {
            _ = try await claims.claim([mirror])
            return claims.lease(of: mirror) != nil
        }

        func store(_ storage: any StorageEngine, _ mirror: String) -> OutboxStore {
            OutboxStore(storage: storage, mirror: mirror, lease: claims.lease(of: mirror))
        }
    }

    private static func names(_ count: Int) -> [String] { (0..<count).map { "m\($0)" } }

    // MARK: Waking

    /// A worker that was held beats between the two reads of one that takes it for gone.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func aWorkerThatWakesKeepsWhatItHolds(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let wanted = Self.names(4)
        let reading = FailingEngine(try await office.again())
        let held = office.worker("a")
        let other = office.worker("b", through: reading)
        for _ in 0..<12 { try await office.turn([held, other], wanted) }
        let before = try await office.owners()
        #expect(Set(before.values) == ["a", "b"])
        let timing = held.claims.timing
        let looks = Int(timing.silenceLimit / timing.interval)
        for _ in 1..<looks { try await office.turn([other], wanted) }
        office.clock.advance(5)
        reading.interruptNextRead { [claims = held.claims] in _ = try await claims.beat() }
        _ = try await other.claims.claim(wanted)
        try await expect(office.owners(), equals: before)
        // Held once more, it loses them.
        for _ in 0...looks { try await office.turn([other], wanted) }
        try await expect(Set(office.owners().values), equals: ["b"])
    }

    // MARK: Migrations

    /// Migrates as a newer program does, by a step that this one does not know.
    private func migrate(_ storage: any StorageEngine) async throws {
        try await storage.transaction { connection in
            try connection.execute(
                "INSERT INTO schema_migrations (id, checksum) VALUES ('9999_later', 'x')")
            try LeaseTable.revokeAll(on: connection)
        }
    }

    /// Also one that has just seen that a mirror is free.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func aWorkerChangesAndTakesNothingAfterANewerProgramHasMigrated(_ engine: OutboxFixture.Engine)
        async throws
    {
        let office = try await Office(engine)
        let worker = office.worker("first", .listed)
        let standby = office.worker("standby", .listed)
        try await worker.turn(["m"])
        try await standby.turn(["m"])
        let store = worker.store(office.storage, "m")
        try await store.requireLease()
        try await migrate(office.storage)
        // Before its next beat: nothing can be sent, and a worker of the newer program may take the
        // mirror.
        let refusal = await outboxError { try await store.requireLease() }
        #expect(refusal?.code == .leaseLost)
        worker.claims.drop("m")
        for each in [worker, standby] {
            // The transaction finds no row of the worker; the look after it enters one, and then
            // knows why.
            #expect(try await !each.takes("m"))
            let look = await outboxError { _ = try await each.takes("m") }
            #expect(look?.code == .outdated)
            let beat = await outboxError { _ = try await each.claims.beat() }
            #expect(beat?.code == .outdated)
            expect(beat?.description ?? "") { $0.contains("step 9999_later of a newer mirror-bot") }
            try await each.end()
        }
        try await expect(office.owners()) { $0.isEmpty }
        try await expect(office.storage.query("SELECT worker FROM workers")) { $0.isEmpty }
        await office.storage.close()
    }

    /// The next beat tells, whatever the worker holds and whatever became of the table of workers.
    @Test(arguments: OutboxFixture.Engine.allCases, [false, true])
    func theNextBeatAfterAMigrationIsTheLast(_ engine: OutboxFixture.Engine, renamesTable: Bool)
        async throws
    {
        let office = try await Office(engine)
        let worker = office.worker("first")
        let idle = office.worker("idle", .listed)
        try await worker.turn(["m", "n"])
        _ = try await idle.claims.beat()
        try await migrate(office.storage)
        if renamesTable {
            try await office.storage.execute("ALTER TABLE workers RENAME TO processes")
        }
        office.clock.advance(5)
        for each in [worker, idle] {
            let error = await outboxError { _ = try await each.claims.beat() }
            #expect(error?.code == .outdated)
        }
        await office.storage.close()
    }

    /// Others remove the row of a worker that they believe to be dead.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func aWorkerWhoseRowWasRemovedEntersItAgain(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let worker = office.worker("first")
        try await worker.turn(["m", "n"])
        try await office.storage.execute("DELETE FROM workers")
        try await office.turn([worker], ["m", "n"])
        try await office.expectWhole([worker], ["m", "n"])
        try await expect(
            WorkerTable(storage: office.storage).records().map(\.worker), equals: ["first"])
        await office.storage.close()
    }

    // MARK: Silence

    @Test(arguments: OutboxFixture.Engine.allCases)
    func aSilentWorkerIsTakenOverAfterThePatienceAndNotBefore(_ engine: OutboxFixture.Engine)
        async throws
    {
        let office = try await Office(engine)
        let first = office.worker("first", .listed)
        let second = office.worker("second", .listed)
        #expect(try await first.takes("m"))
        var taken: [Int] = []
        for time in stride(from: 0, through: 60, by: 5) {
            if time == 20 { _ = try await first.claims.beat() }
            if try await second.takes("m") {
                taken.append(time)
                break
            }
            office.clock.advance(5)
        }
        // The look at 20 seconds was the first one that saw the last beat.
        #expect(taken == [50])
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func aFrozenWorkerFindsItsFenceLost(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let first = office.worker("first", .listed)
        let second = office.worker("second", .listed)
        try await first.turn(["m", "n"])
        let old = first.store(office.storage, "m")
        try await old.requireLease()
        while try await !second.takes("m") { office.clock.advance(5) }
        let error = await outboxError { try await old.requireLease() }
        #expect(error?.code == .leaseLost)
        try await second.store(office.storage, "m").requireLease()
        // It wakes: its first beat tells, and what nobody took is still its own.
        try await first.turn(["m", "n"])
        #expect(first.lost == ["m"])
        #expect(first.mirrors == ["n"])
        try await first.store(office.storage, "n").requireLease()
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func aLeaseThatAChangeFoundLostIsLookedUp(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let worker = office.worker("first", .listed)
        try await worker.turn(["m"])
        let lease = try #require(worker.claims.lease(of: "m"))
        worker.claims.drop("m")
        #expect(worker.claims.lease(of: "m") == nil)
        // It was a mistake: the database still has it.
        #expect(try await worker.takes("m"))
        #expect(worker.claims.lease(of: "m") == lease)
        let leases = LeaseTable(storage: office.storage, mirror: "m")
        try await expect(leases.take(owner: "thief", after: leases.record(), now: 0)) { $0 != nil }
        worker.claims.drop("m")
        #expect(try await !worker.takes("m"))
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func aWallClockThatIsSetDecidesNothing(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let first = office.worker("first", .listed)
        let second = office.worker("second", .listed)
        try await first.turn(["m"])
        for jump in [86_400.0, -172_800, 3_600, -1] {
            office.clock.set(by: jump)
            #expect(try await !second.takes("m"))
            office.clock.advance(5)
            try await first.turn(["m"])
        }
        #expect(try await !second.takes("m"))
        office.clock.set(by: -86_400)
        for _ in 0..<5 {
            office.clock.advance(5)
            #expect(try await !second.takes("m"))
        }
        office.clock.advance(5)
        #expect(try await second.takes("m"))
        await office.storage.close()
    }

    /// As after an outage of the database, in which nobody could beat.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func whoWasAwayHasSeenNobodyBeSilent(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let first = office.worker("first", .listed)
        let second = office.worker("second", .listed)
        try await first.turn(["m"])
        #expect(try await !second.takes("m"))
        office.clock.advance(600)
        #expect(try await !second.takes("m"))
        try await first.turn(["m"])
        #expect(first.lost.isEmpty)
        office.clock.advance(5)
        #expect(try await !second.takes("m"))
        await office.storage.close()
    }

    /// As an earlier version left it, or as it is after another observer removed the row of a
    /// silent worker.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func aLeaseWhoseWorkerHasNoRowIsRespectedForThePatience(_ engine: OutboxFixture.Engine)
        async throws
    {
        let office = try await Office(engine)
        try await office.storage.execute(
            "INSERT INTO leases (mirror, worker, fence, released, updated_ms) VALUES ('m', 'old', 7, FALSE, 0)"
        )
        let listed = office.worker("listed", .listed)
        let shared = office.worker("shared")
        for _ in 0..<6 {
            #expect(try await !listed.takes("m"))
            #expect(try await !shared.takes("m"))
            office.clock.advance(5)
        }
        #expect(try await shared.takes("m"))
        #expect(shared.claims.lease(of: "m")?.fence == 8)
        // What a process of an earlier version sends fails.
        for statement: SQL in [
            "UPDATE leases SET beat = beat + 1 WHERE mirror = 'm' AND owner = 'old'",
            "UPDATE leases SET released = FALSE WHERE mirror = 'm' AND owner = 'old' AND fence = 7",
            "SELECT owner, beat, fence, released, updated_ms FROM leases WHERE mirror = 'm'",
        ] {
            await #expect(throws: StorageError.self) { try await office.storage.execute(statement) }
        }
        await office.storage.close()
    }

    // MARK: Shares

    private static func unable(
        _ condition: Condition, _ extent: WorkerRecord.Disability.Extent = .all
    ) -> @Sendable () -> WorkerRecord.Disability? {
        { condition.value ? .init(since: begin, extent: extent, reason: "no server answers") : nil }
    }

    private static let begin = Date(timeIntervalSince1970: 1_795_000_000)

    /// A worker that can do nothing hands all back while another can work, and has its share again
    /// once it is able.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func aShareIsForWhoIsAble(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let wanted = Self.names(40)
        let isCut = Condition()
        let able = office.worker("a")
        let other = office.worker("b", disability: Self.unable(isCut))
        for _ in 0..<60 { try await office.turn([able, other], wanted) }
        #expect(other.mirrors.count >= 19)
        isCut.value = true
        // It hands them back, and the other takes all of them with its next look.
        for _ in 0..<2 { try await office.turn([able, other], wanted) }
        #expect(other.mirrors.isEmpty && able.mirrors.count == 40)
        let records = try await WorkerTable(storage: office.storage).records()
        #expect(records.map(\.disability) == [nil, Self.unable(isCut)()])
        for _ in 0..<60 {
            try await office.turn([able, other], wanted)
            #expect(able.mirrors.count == 40)
        }
        isCut.value = false
        for _ in 0..<60 { try await office.turn([able, other], wanted) }
        #expect(other.mirrors.count >= 19)
        try await office.expectWhole([able, other], wanted)
        try await expect(WorkerTable(storage: office.storage).records()) {
            $0.allSatisfy { $0.disability == nil }
        }
        await office.storage.close()
    }

    /// Nobody is better off without its mirrors.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func whereAllAreUnableAllKeepTheirMirrors(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let wanted = Self.names(40)
        let isCut = Condition()
        let workers = ["a", "b"].map { office.worker($0, disability: Self.unable(isCut)) }
        for _ in 0..<60 { try await office.turn(workers, wanted) }
        try await office.expectWhole(workers, wanted)
        isCut.value = true
        // One may notice a look before the other; then they share again.
        for _ in 0..<60 { try await office.turn(workers, wanted) }
        try await office.expectWhole(workers, wanted)
        expect(workers) { $0.allSatisfy { $0.mirrors.count >= 19 } }
        // The first that is able has all of them.
        let rescuer = office.worker("c")
        for _ in 0..<2 { try await office.turn([rescuer] + workers, wanted) }
        try await office.turn([rescuer], wanted)
        #expect(rescuer.mirrors.count == 40)
        await office.storage.close()
    }

    /// Also the only mirror goes to the worker that can do more, and one that can do a part is
    /// better than one that cannot do anything.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func whoCanDoMoreHasTheMirrors(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let isCut = Condition()
        let isHindered = Condition()
        let cut = office.worker("a", disability: Self.unable(isCut))
        let hindered = office.worker("b", disability: Self.unable(isHindered, .part))
        isCut.value = true
        isHindered.value = true
        try await office.turn([cut], ["m"])
        #expect(cut.mirrors == ["m"])
        for _ in 0..<2 { try await office.turn([hindered, cut], ["m"]) }
        try await office.turn([hindered], ["m"])
        #expect(hindered.mirrors == ["m"])
        let able = office.worker("c")
        for _ in 0..<2 { try await office.turn([able, hindered, cut], ["m"]) }
        try await office.turn([able], ["m"])
        #expect(able.mirrors == ["m"])
        await office.storage.close()
    }

    /// No mirror is handed to a worker of an older version or with a list, nor for long to a dead
    /// one.
    ///
    /// The older one may not take what a newer one held, and the one with a list does not share.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func mirrorsAreHandedOnlyToWhoMayTakeThem(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let wanted = Self.names(9)
        let isCut = Condition()
        isCut.value = true
        let cut = office.worker("a", version: "1.1.0", disability: Self.unable(isCut))
        let older = office.worker("b", version: "1.0.0")
        let listed = office.worker("c", version: "1.1.0", .listed)
        let dying = office.worker("d", version: "1.1.0")
        try await cut.turn(wanted)
        for _ in 0..<20 { try await office.turn([cut, older, listed], wanted) }
        #expect(cut.mirrors.count == 9)
        try await office.turn([dying], wanted)
        for _ in 0..<10 { try await office.turn([cut], wanted) }
        #expect(cut.mirrors.count == 9)
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func joiningWorkersGetTheirShareAndNobodyStarves(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let wanted = Self.names(1_000)
        let workers = ["a", "b", "c"].map { office.worker($0) }
        try await office.turn([workers[0]], wanted)
        try await office.expectWhole([workers[0]], wanted)
        var turns = 0
        var mostUnowned = 0
        while workers.contains(where: { !(300...351).contains($0.mirrors.count) }), turns < 100 {
            try await office.turn(workers, wanted)
            mostUnowned = max(mostUnowned, 1_000 - workers.map(\.mirrors.count).reduce(0, +))
            turns += 1
        }
        #expect(turns <= 60, "\(workers.map(\.mirrors.count))")
        // Slowly: a twelfth at once, and each finds its new worker with the next look.
        #expect(mostUnowned <= 60)
        for _ in 0..<3 { try await office.turn(workers, wanted) }
        try await office.expectWhole(workers, wanted)
        // Then nothing moves any more.
        let owners = try await office.owners()
        for _ in 0..<30 { try await office.turn(workers, wanted) }
        try await expect(office.owners(), equals: owners)
        expect(workers) { $0.allSatisfy { $0.lost.isEmpty && $0.claims.unowned == 0 } }
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func theMirrorsOfADeadWorkerAreSharedAmongTheOthers(_ engine: OutboxFixture.Engine) async throws
    {
        let office = try await Office(engine)
        let wanted = Self.names(900)
        let workers = ["a", "b", "c"].map { office.worker($0) }
        for _ in 0..<80 { try await office.turn(workers, wanted) }
        try await office.expectWhole(workers, wanted)
        let survivors = Array(workers.prefix(2))
        let before = survivors.map(\.mirrors.count)
        for _ in 0..<5 { try await office.turn(survivors, wanted) }
        #expect(survivors.map(\.mirrors.count) == before)
        for _ in 0..<2 { try await office.turn(survivors, wanted) }
        try await office.expectWhole(survivors, wanted)
        expect(survivors) { $0.allSatisfy { (428...472).contains($0.mirrors.count) } }
        try await expect(
            WorkerTable(storage: office.storage).records().map(\.worker), equals: ["a", "b"])
        // The dead one was only frozen.
        try await office.turn(workers, wanted)
        #expect(workers[2].lost.count >= 285)
        #expect(workers[2].mirrors.isEmpty)
        await office.storage.close()
    }

    /// Workers that look at instants of their own: one dies right after a beat, is started again at
    /// once, and dies again.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func everyMirrorOfADeadWorkerIsHeldAgainWithin35Seconds(_ engine: OutboxFixture.Engine)
        async throws
    {
        let office = try await Office(engine)
        let wanted = Self.names(300)
        let timing = LeaseTiming().sharing
        let workers = ["a", "b", "c"].map { office.worker($0, timing: timing) }
        for _ in 0..<80 { try await office.turn(workers, wanted) }
        try await office.expectWhole(workers, wanted)
        // All have looked at once for the last time: the first is dead, and the others go on out of
        // step.
        let survivors = Array(workers.dropFirst())
        let again = office.worker("again", timing: timing)
        var looks = [
            (at: 1.3, worker: survivors[0]), (at: 4.2, worker: survivors[1]),
            (at: 1.5, worker: again),
        ]
        var passed = 0.0
        func look(until end: Double) async throws {
            while let next = looks.indices.min(by: { looks[$0].at < looks[$1].at }),
                looks[next].at < end
            {
                office.clock.advance(looks[next].at - passed)
                passed = looks[next].at
                try await looks[next].worker.turn(wanted)
                looks[next].at += timing.interval.timeInterval
            }
        }
        try await look(until: 6)
        looks.removeLast()
        try await look(until: 35)
        try await expect(office.owners().values.contains("a"), equals: false)
        #expect(!again.mirrors.isEmpty)
        try await look(until: 6 + 35)
        try await office.expectWhole(survivors, wanted)
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func aReleaseHandsOverAtOnce(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let wanted = Self.names(700)
        let first = office.worker("first")
        let second = office.worker("second")
        try await office.turn([first], wanted)
        try await first.end()
        // A process that asks for few is as quick.
        let command = office.worker("command", .listed)
        #expect(try await command.takes("m0"))
        try await command.end()
        try await office.turn([second], wanted)
        try await office.expectWhole([second], wanted)
        try await expect(
            WorkerTable(storage: office.storage).records().map(\.worker), equals: ["second"])
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func aWorkerWithAListTakesAllOfItAndCountsForNoShare(_ engine: OutboxFixture.Engine)
        async throws
    {
        let office = try await Office(engine)
        let wanted = Self.names(100)
        let listed = office.worker("listed", .listed)
        let standby = office.worker("standby", .listed)
        let a = office.worker("a")
        let b = office.worker("b")
        let list = Array(wanted.prefix(20))
        try await listed.turn(list)
        try await standby.turn(list)
        for _ in 0..<20 {
            try await office.turn([a, b], wanted)
            try await listed.turn(list)
            try await standby.turn(list)
        }
        #expect(listed.mirrors == Set(list))
        #expect(standby.mirrors.isEmpty)
        expect([a, b].map(\.mirrors.count)) { $0.allSatisfy { (38...42).contains($0) } }
        try await office.expectWhole([listed, a, b], wanted)
        await office.storage.close()
    }

    /// Mirrors that are added or removed while it runs.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func whatIsWantedMayChange(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let a = office.worker("a")
        let b = office.worker("b")
        for _ in 0..<30 { try await office.turn([a, b], Self.names(600)) }
        for _ in 0..<3 { try await office.turn([a, b], Self.names(1_200)) }
        try await office.expectWhole([a, b], Self.names(1_200))
        await office.storage.close()
    }

    // MARK: Versions

    @Test(arguments: OutboxFixture.Engine.allCases)
    func anOlderVersionNeverGetsAMirrorWhileANewerLives(_ engine: OutboxFixture.Engine) async throws
    {
        let office = try await Office(engine)
        let wanted = Self.names(40)
        let new = office.worker("new", version: "0.10.0")
        let old = office.worker("old", version: "0.9.1")
        let command = office.worker("command", version: "0.9.1", .listed)
        try await office.turn([new], wanted)
        // A newer one keeps all, rather than hand them to an older one.
        for _ in 0..<20 { try await office.turn([new, old], wanted) }
        #expect(old.mirrors.isEmpty)
        #expect(new.mirrors.count == 40)
        // Released ones, too, wait for it.
        try await new.claims.release(wanted)
        for _ in 0..<100 {
            office.clock.advance(5)
            _ = try await new.claims.beat()
            try await old.turn(wanted)
            #expect(try await !command.takes("m1"))
        }
        #expect(old.mirrors.isEmpty)
        #expect(old.claims.unowned == 40)
        // After a rollback nobody is left who could take them.
        try await new.end()
        for _ in 0..<5 {
            try await office.turn([old], wanted)
            #expect(old.mirrors.isEmpty)
        }
        for _ in 0..<3 { try await office.turn([old], wanted) }
        try await office.expectWhole([old], wanted)
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func mirrorsGoToTheNewerVersion(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let wanted = Self.names(90)
        let olds = ["a", "b"].map { office.worker($0, version: "0.9.1") }
        let news = ["c", "d"].map { office.worker($0, version: "0.10.0") }
        for _ in 0..<30 { try await office.turn(olds, wanted) }
        for _ in 0..<60 { try await office.turn(olds + news, wanted) }
        try await office.expectWhole(olds + news, wanted)
        expect((olds + news).map(\.mirrors.count)) { $0.allSatisfy { $0 >= 18 } }
        // One newer one dies: the other newer one takes its mirrors, however few it ought to have.
        for _ in 0..<9 { try await office.turn(olds + [news[0]], wanted) }
        try await office.expectWhole(olds + [news[0]], wanted)
        expect(news[0].mirrors.count) { $0 >= 38 }
        for old in olds { try await old.end() }
        try await office.turn([news[0]], wanted)
        try await office.expectWhole([news[0]], wanted)
        await office.storage.close()
    }

    // MARK: Statements

    @Test(arguments: OutboxFixture.Engine.allCases)
    func tenThousandMirrorsAreClaimedInFewStatements(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let counting = CountingEngine(office.storage)
        let wanted = Self.names(10_000)
        let worker = office.worker("a", through: counting)
        try await office.turn([worker], wanted)
        #expect(worker.mirrors.count == 10_000)
        // The worker is entered and looks at the tables; then come two looks, and for each of
        // twenty portions a beat, the take and the look at what came of it.
        #expect(counting.takeStatements() == 4 + 20 * 3)
        var counts: [Int] = []
        for _ in 0..<24 {
            try await office.turn([worker], wanted)
            counts.append(counting.takeStatements())
        }
        // A beat and the workers; now and then what is its own. One of a fleet looks for what is
        // free besides.
        #expect(counts.max() == 3)
        #expect(counts.reduce(0, +) <= 2 * 24 + 2)
        try await worker.end()
        #expect(counting.takeStatements() == 2)
        let single = office.worker("single", .listed, through: counting)
        try await single.turn(["m1"])
        _ = counting.takeStatements()
        for _ in 0..<24 {
            office.clock.advance(5)
            try await single.turn(["m1"])
        }
        // Five minutes of a fleet of one: its beats.
        expect(counting.takeStatements()) { $0 <= 24 + 2 }
        await office.storage.close()
    }

    // MARK: Races and lost answers

    @Test(arguments: OutboxFixture.Engine.allCases)
    func manyThatClaimAtOnceGetEachMirrorOnce(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let wanted = Self.names(1_500)
        let held = try await withThrowingTaskGroup(
            of: [String: Lease].self, returning: [[String: Lease]].self
        ) { group in
            for name in ["a", "b", "c", "d"] {
                let storage = try await office.again()
                let claims = Claims(
                    storage: storage, worker: name, version: "1", scope: .listed,
                    now: { OutboxFixture.start })
                group.addTask {
                    try await storage.closing { _ in
                        _ = try await claims.claim(wanted)
                        return claims.held
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(held.map(\.count).reduce(0, +) == 1_500)
        var expected: [String: String] = [:]
        for leases in held {
            for (mirror, lease) in leases {
                #expect(expected.updateValue(lease.owner, forKey: mirror) == nil)
                #expect(lease.fence == 1)
            }
        }
        try await expect(office.owners(), equals: expected)
        await office.storage.close()
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func aClaimWhoseAnswerWasLostIsHeard(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let failing = FailingEngine(office.storage)
        let wanted = Self.names(1_200)
        let worker = office.worker("a", through: failing)
        // The beat and the first portion pass.
        failing.failNext([nil, nil, .after])
        await #expect(throws: StorageError.self) { try await worker.turn(wanted) }
        // What the first call took is told by the second one.
        try await office.turn([worker], wanted)
        try await office.expectWhole([worker], wanted)
        await office.storage.close()
    }

    @Test(arguments: [FailingEngine.Failure.before, .after])
    func aReleaseThatFailedIsTriedAgain(_ failure: FailingEngine.Failure) async throws {
        let office = try await Office(.sqlite)
        let failing = FailingEngine(office.storage)
        let worker = office.worker("a", .listed, through: failing)
        try await worker.turn(["m", "n"])
        failing.failNext([failure])
        await #expect(throws: StorageError.self) { try await worker.claims.release(["m"]) }
        #expect(worker.claims.lease(of: "m") == nil)
        _ = try await worker.claims.beat()
        try await expect(office.owners(), equals: ["n": "a"])
        #expect(try await office.worker("b", .listed).takes("m"))
        await office.storage.close()
    }

    // MARK: The fence

    @Test func theFenceWritesNothing() async throws {
        let office = try await Office(.postgres)
        let worker = office.worker("a", .listed)
        try await worker.turn(["m"])
        let version: SQL =
            "SELECT CAST(xmin AS TEXT) AS made, CAST(ctid AS TEXT) AS place FROM leases"
        func row() async throws -> [String] {
            try await office.storage.query(version).map {
                "\(try $0.text("made")) \(try $0.text("place"))"
            }
        }
        let before = try await row()
        let store = worker.store(office.storage, "m")
        for _ in 0..<3 { try await store.requireLease() }
        _ = try await store.propose(OutboxFixture.reply("a"), now: OutboxFixture.start)
        for _ in 0..<20 { try await office.turn([worker], ["m"]) }
        try await expect(row(), equals: before)
        await office.storage.close()
    }

    /// A change that has passed the fence is over before another worker has the lease.
    @Test func aTakeWaitsForAChangeThatPassedTheFence() async throws {
        let office = try await Office(.postgres)
        let worker = office.worker("a", .listed)
        try await worker.turn(["m"])
        let store = worker.store(try await office.again(), "m")
        let passed = Recorded<Int>()
        let mayEnd = DispatchSemaphore(value: 0)
        let change = Task {
            try await store.write { _ in
                passed.add(1)
                mayEnd.wait()
            }
        }
        while passed.values.isEmpty { await Task.yield() }
        let other = try await office.again()
        let taking = Task {
            let leases = LeaseTable(storage: other, mirror: "m")
            return try await leases.take(owner: "thief", after: leases.record(), now: 0)
        }
        while try await !office.storage.hasBlockedTransaction {}
        try await expect(office.owners(), equals: ["m": "a"])
        mayEnd.signal()
        try await change.value
        try await expect(taking.value) { $0 != nil }
        let error = await outboxError { try await store.requireLease() }
        #expect(error?.code == .leaseLost)
        for storage in [other, store.storage, office.storage] { await storage.close() }
    }

    // MARK: Figures

    @Test(arguments: OutboxFixture.Engine.allCases)
    func countsWhoHoldsHowMany(_ engine: OutboxFixture.Engine) async throws {
        let office = try await Office(engine)
        let a = office.worker("a")
        let b = office.worker("b", .listed)
        try await b.turn(Self.names(3))
        try await a.turn(Self.names(10))
        try await a.turn(Self.names(10))
        var found = try await Ownership(of: Self.names(12), in: office)
        #expect(found.workers.map(\.worker) == ["a", "b"])
        #expect(found.workers.map(\.isSharing) == [true, false])
        #expect(found.workers.map(\.version) == ["1.0.0", "1.0.0"])
        #expect(found.workers[0].mirrors == 7)
        #expect(found.owned == ["a": 7, "b": 3])
        #expect(found.unowned == 2)
        office.clock.advance(50)
        _ = try await a.claims.beat()
        office.clock.advance(20)
        found = try await Ownership(of: Self.names(12), in: office)
        #expect(found.owned == ["a": 7])
        #expect(found.unowned == 5)
        try await a.end()
        found = try await Ownership(of: Self.names(12), in: office)
        #expect(found == Ownership(workers: [], owned: [:], unowned: 12))
        await office.storage.close()
    }
}

extension ClaimsTests {
    /// Which of some mirrors are held by workers that have beaten within a minute.
    private struct Ownership: Equatable {
        /// These workers, by name.
        var workers: [WorkerRecord] = []
        /// How many of the mirrors each of them holds.
        var owned: [String: Int] = [:]
        /// How many of the mirrors none of them holds.
        var unowned = 0

        init(workers: [WorkerRecord], owned: [String: Int], unowned: Int) {
            self.workers = workers
            self.owned = owned
            self.unowned = unowned
        }

        init(of mirrors: [String], in office: Office) async throws {
            workers = try await WorkerTable(storage: office.storage).records()
                .filter { $0.silence(at: office.clock.now) < 60 }
            let living = Set(workers.map(\.worker))
            for (mirror, owner) in try await office.owners()
            where mirrors.contains(mirror) && living.contains(owner) {
                owned[owner, default: 0] += 1
            }
            unowned = mirrors.count - owned.values.reduce(0, +)
        }
    }
}

/// An engine that counts the statements that pass through it.
private final class CountingEngine: StorageEngine, @unchecked Sendable {
    private final class Connection: StorageConnection {
        private let connection: any StorageConnection
        private let count: () -> Void

        init(_ connection: any StorageConnection, count: @escaping () -> Void) {
            self.connection = connection
            self.count = count
        }

        func query(_ sql: SQL) throws -> [SQLRow] {
            count()
            return try connection.query(sql)
        }

        func execute(_ sql: SQL) throws -> Int {
            count()
            return try connection.execute(sql)
        }

        func insert(_ batch: BulkInsert) throws -> Int {
            count()
            return try connection.insert(batch)
        }

        func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws {
            count()
            try connection.forEach(sql, body)
        }
    }

    // Sendable because every access to `statements` holds the lock.
    private let lock = NSLock()
    private let engine: any StorageEngine
    private var statements = 0

    init(_ engine: any StorageEngine) { self.engine = engine }

    /// How many statements there were since the last call.
    func takeStatements() -> Int {
        lock.withLock {
            defer { statements = 0 }
            return statements
        }
    }

    var kind: StorageKind { engine.kind }

    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await engine.run(unit) { connection in
            try body(Connection(connection) { self.lock.withLock { self.statements += 1 } })
        }
    }

    func scratch(of mirror: String) async throws -> any StorageEngine {
        try await engine.scratch(of: mirror)
    }

    func backup(to path: String) async throws { try await engine.backup(to: path) }

    func close() async { await engine.close() }
}
