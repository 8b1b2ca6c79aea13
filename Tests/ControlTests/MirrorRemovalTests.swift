import Expectations
import Fixtures
import Foundation
import Outbox
import Redis
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// Removing a mirror with everything that is stored of it, whatever interrupts that.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct MirrorRemovalTests {
    /// Rows of a table that several transactions remove.
    private static let rows = 2 * RemoveMirror.batchSize + 3

    private struct Interruption: Error {}

    /// A database with rows of two mirrors in every table.
    private struct FilledDatabase {
        let bare: BareMirror
        let mirror: HumanMirror
        let shapes: [TableShape]

        init(
            _ engine: Engine, rows: Int = MirrorRemovalTests.rows, variables: [String: String] = [:]
        ) async throws {
            bare = try await BareMirror(
                engine, variables: ["MIRROR": "gone"].merging(variables) { $1 })
            mirror = try await bare.open(rehearsal: .meeting)
            shapes = try await TableShape.ofMirrors(in: mirror.storage)
            for (name, count) in [("gone", rows), ("stays", 3)] {
                for shape in shapes {
                    try await mirror.storage.transaction {
                        [shapes = Self.batch(shape, name, count)] connection in
                        try connection.insert(shapes)
                    }
                }
            }
        }

        private static func batch(_ shape: TableShape, _ mirror: String, _ count: Int) -> BulkInsert
        {
            let single = shape.key.map(\.name) == ["mirror"]
            let rows = (0..<(single ? 1 : count)).map { number in
                shape.columns.map { column -> SQLValue in
                    switch column.name {
                    case "mirror": return .text(mirror)
                    case "human_account", "bot_account":
                        return .text("mastodon:\(mirror)-\(column.name)@home.example")
                    case "released": return .boolean(true)
                    case let name
                    where ["move_", "pause", "retire", "standing"].contains(where: name.hasPrefix)
                        && column.type != .boolean:
                        return .null
                    case "flight_ms": return .null
                    default: break
                    }
                    switch column.type {
                    case .text: return .text("\(number)")
                    case .integer: return .integer(Int64(number))
                    case .real: return .real(Double(number))
                    case .boolean: return .boolean(false)
                    }
                }
            }
            return BulkInsert(
                into: shape.name, columns: shape.columns.map { ($0.name, $0.type) }, rows: rows)
        }

        /// How many rows of a mirror each table has that names a mirror; tables without any are
        /// left out.
        ///
        /// The database is asked which tables those are.
        func counts(of mirror: String) async throws -> [String: Int] {
            let storage = self.mirror.storage
            let tables: SQL =
                storage.kind == .sqlite
                ? "SELECT m.name AS home FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS p WHERE p.name = 'mirror'"
                : """
                SELECT CAST(table_name AS TEXT) AS home FROM information_schema.columns
                WHERE table_schema = 'public' AND column_name = 'mirror'
                """
            return try await storage.read { connection in
                var counts: [String: Int] = [:]
                for name in try connection.query(tables).map({ try $0.text("home") }) {
                    let rows = try connection.query(
                        "SELECT COUNT(*) AS rows FROM \(unsafe: name) WHERE mirror = \(mirror)")
                    if let number = try rows.first?.int("rows"), number > 0 {
                        counts[name] = number
                    }
                }
                return counts
            }
        }

        /// The rows of the other mirror, each as text.
        func others() async throws -> [String: [String]] {
            try await TableContents(of: mirror.storage).tables.mapValues {
                $0.filter { $0.contains("stays") }
            }
        }

        func remove(stoppingAfter steps: Int? = nil) async throws -> MirrorRemoval {
            let counter = Recorder<Int>()
            return try await RemoveMirror().perform(at: Desk(mirror, zone: nil), seen: nil) {
                removed in
                counter.add(removed)
                if let steps, counter.values.count > steps { throw Interruption() }
            }
        }
    }

    @Test(arguments: Engine.allCases) func everyRowOfTheMirrorGoesAndNoOther(_ engine: Engine)
        async throws
    {
        let place = try await FilledDatabase(engine)
        let others = try await place.others()
        try await expect(place.counts(of: "gone").count, equals: place.shapes.count)
        let removal = try await place.remove()
        #expect(!removal.wasInterrupted)
        #expect(removal.rows["posts"] == Self.rows)
        try await expect(place.counts(of: "gone"), equals: [:])
        try await expect(place.others(), equals: others)
        try await expect(MirrorTable.names(in: place.mirror.storage), equals: ["stays"])
    }

    /// An interrupted removal leaves a mirror that cannot act and is still listed; the same
    /// operation continues.
    @Test(arguments: Engine.allCases, [0, 1, 4, 17, 40])
    func anInterruptedRemovalContinues(_ engine: Engine, _ steps: Int) async throws {
        let place = try await FilledDatabase(engine)
        let others = try await place.others()
        await #expect(throws: Interruption.self) { try await place.remove(stoppingAfter: steps) }
        let left = try await place.counts(of: "gone")
        #expect(left["mirrors"] == 1 && left["credentials"] == nil && left["settings"] == nil)
        let list = try await MirrorList(in: place.mirror.storage, now: BareMirror.now)
        #expect(list.mirrors.map(\.state) == [.removing, .stopped])
        await #expect(throws: ChangeRefusal.self) {
            try await Desk(place.mirror, zone: nil).perform(ResumeMirror())
        }
        let refused = try await MirrorRegister(place.mirror.installation).importMirrors(
            Data(#"{"name":"gone"}"#.utf8))
        #expect(refused.problems.map(\.field) == ["name"])
        // A pause with an end does not let it go on.
        _ = try await place.mirror.table.pause(
            until: BareMirror.now + 1, reason: nil, now: BareMirror.now)
        try await expect(place.mirror.table.record().pause?.code, equals: .removing)

        let removal = try await place.remove()
        #expect(removal.wasInterrupted)
        try await expect(place.counts(of: "gone"), equals: [:])
        try await expect(place.others(), equals: others)
        // Once more there is nothing to remove, and nothing stays.
        _ = try await place.remove()
        try await expect(place.counts(of: "gone"), equals: [:])
    }

    /// No transaction removes more rows than a batch.
    @Test func eachStepIsBounded() async throws {
        let place = try await FilledDatabase(.sqlite)
        let removed = Recorder<Int>()
        _ = try await RemoveMirror().perform(at: Desk(place.mirror, zone: nil), seen: nil) {
            removed.add($0)
        }
        let steps = zip([0] + removed.values, removed.values).map { $1 - $0 }
        #expect(steps.count > 2 * (place.shapes.count - 10))
        #expect(steps.allSatisfy { (1...RemoveMirror.batchSize).contains($0) })
    }

    @Test(arguments: Engine.allCases) func aMirrorWithALivingWorkerIsKept(_ engine: Engine)
        async throws
    {
        let place = try await FilledDatabase(engine, rows: 3)
        let before = try await place.counts(of: "gone")
        let keeper = LeaseKeeper(
            table: LeaseTable(storage: place.mirror.storage, mirror: "gone"), clock: SystemClock(),
            timing: Rehearsal.meeting.leaseTiming, logger: place.mirror.logger)
        let refusal = try await keeper.holdingNow { _ in
            await #expect(throws: ChangeRefusal.self) { try await place.remove() }
        }
        #expect(refusal??.code == .busy)
        try await expect(place.counts(of: "gone"), equals: before)
        // Released, it can be removed.
        _ = try await place.remove()
        try await expect(place.counts(of: "gone"), equals: [:])
    }

    /// A worker that takes the mirror at the last moment keeps its row; nothing else is left.
    @Test func theRowStaysWhileAWorkerHoldsIt() async throws {
        let place = try await FilledDatabase(.sqlite, rows: 3)
        _ = try await place.remove()
        let table = LeaseTable(storage: place.mirror.storage, mirror: "gone")
        try await place.mirror.table.add(now: BareMirror.now)
        let lease = try #require(try await table.take(owner: "worker", after: nil, now: 1))
        let isFree = try await place.mirror.storage.read {
            try MirrorOwnership.isFree("gone", on: $0)
        }
        #expect(!isFree)
        try await table.release(lease, now: 2)
        let isFreeAgain = try await place.mirror.storage.read {
            try MirrorOwnership.isFree("gone", on: $0)
        }
        #expect(isFreeAgain)
    }

    @Test func whatHasChangedSinceItWasSeenStays() async throws {
        let place = try await FilledDatabase(.sqlite, rows: 3)
        let before = try await place.counts(of: "gone")
        let subject = try await RemovalSubject(place.mirror)
        try await place.mirror.storage.execute(
            "UPDATE mirrors SET bot_account = 'mastodon:other@home.example' WHERE mirror = 'gone'")
        let request = PersonRequest(RemoveMirror(), seen: subject.seen)
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await Desk(place.mirror, zone: nil).perform(request)
        }
        #expect(refusal?.code == .changed)
        try await expect(place.counts(of: "gone"), equals: before)
        let fresh = try await RemovalSubject(place.mirror)
        _ = try await Desk(place.mirror, zone: nil).perform(
            PersonRequest(RemoveMirror(), seen: fresh.seen))
        try await expect(place.counts(of: "gone"), equals: [:])
    }

    @Test func theCountsInRedisGoToo() async throws {
        let server = try await RedisServer.start()
        let place = try await FilledDatabase(.sqlite, rows: 3, variables: ["REDIS_URL": server.url])
        let client = try #require(try place.mirror.installation.redis())
        let parts = ["categories", "features:favorite", "features:normal"]
        for name in ["gone", "stays"] {
            for part in parts {
                _ = try await client.command(
                    RedisCommand("HSET", "mirror-bot:{\(name)}:\(part)", "a", "1"))
            }
        }
        _ = try await place.remove()
        for part in parts {
            try await expect(
                client.command(RedisCommand("EXISTS", "mirror-bot:{gone}:\(part)")).integer,
                equals: 0)
            try await expect(
                client.command(RedisCommand("EXISTS", "mirror-bot:{stays}:\(part)")).integer,
                equals: 1)
        }
        await server.stop()
    }

    /// Without Redis the row stays, so that the counts are not forgotten.
    @Test func withoutRedisTheRemovalIsNotOver() async throws {
        let server = try await RedisServer.start()
        let place = try await FilledDatabase(.sqlite, rows: 3, variables: ["REDIS_URL": server.url])
        await server.stop()
        await #expect(throws: (any Error).self) { try await place.remove() }
        try await expect(place.counts(of: "gone")["mirrors"], equals: 1)
    }
}
