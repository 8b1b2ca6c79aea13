import Expectations
import Foundation
import Storage
import TestSupport
import Testing

/// Transactions mean the same on every engine.
@Suite struct StorageTransactionTests {
    private struct Refusal: Error {}

    @Test(arguments: EngineUnderTest.allCases)
    func aThrownErrorRollsBack(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            await #expect(throws: Refusal.self) {
                try await engine.transaction { connection in
                    try connection.execute("INSERT INTO things (key) VALUES (\("a"))")
                    let seen = try connection.query("SELECT key FROM things").count
                    throw seen == 1 ? Refusal() as any Error : CancellationError()
                }
            }
            let left = try await engine.keys()
            #expect(left.isEmpty)
            try await expect(engine.execute("INSERT INTO things (key) VALUES (\("b"))"), equals: 1)
            try await expect(engine.keys(), equals: ["b"])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aFailedStatementCannotBeIgnored(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let error = try await #require(throws: StorageError.self) {
                try await engine.transaction { connection in
                    try connection.execute("INSERT INTO things (key) VALUES (\("a"))")
                    _ = try? connection.execute("INSERT INTO things (key) VALUES (\("a"))")
                    _ = try? connection.execute("INSERT INTO things (key) VALUES (\("b"))")
                }
            }
            #expect(error.code == .uniqueViolation)
            try await expect(engine.keys()) { $0.isEmpty }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func violationsHaveTheirCodes(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            try await engine.execute("INSERT INTO things (key, number) VALUES (\("a"), \(1))")
            let cases: [(SQL, StorageError.Code)] = [
                ("INSERT INTO things (key) VALUES (\("a"))", .uniqueViolation),
                ("INSERT INTO things (key, number) VALUES (\("b"), \(1))", .uniqueViolation),
                ("INSERT INTO things (key) VALUES (\(String?.none))", .constraint),
                ("INSERT INTO nothing (key) VALUES (\("a"))", .other),
                ("SELEKT \("a")", .other),
            ]
            for (statement, code) in cases {
                let error = try await #require(throws: StorageError.self) {
                    try await engine.execute(statement)
                }
                #expect(error.code == code, "\(statement)")
                #expect(!error.isTransient)
                #expect(error.nativeCode != nil)
                #expect(error.statement == statement.text)
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func executeCountsTheRowsItChanged(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let rows = (1...5).map { (number: Int64) in thing("k\(number)", number) }
            try await engine.transaction { try $0.insert(things(rows)) }
            try await expect(
                engine.execute("UPDATE things SET words = \("w") WHERE number > \(2)"), equals: 3)
            try await expect(
                engine.execute("UPDATE things SET words = \("w") WHERE number > \(9)"), equals: 0)
            try await expect(
                engine.execute("INSERT INTO things (key) VALUES (\("k1")) ON CONFLICT DO NOTHING"),
                equals: 0)
            try await expect(engine.execute("DELETE FROM things"), equals: 5)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aReadSeesOneStateAndCannotWrite(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let inside = DispatchSemaphore(value: 0)
            let written = DispatchSemaphore(value: 0)
            async let counts = engine.read { connection in
                let before = try connection.query("SELECT key FROM things").count
                inside.signal()
                written.wait()
                return [before, try connection.query("SELECT key FROM things").count]
            }
            try await engine.transaction { connection in
                inside.wait()
                try connection.execute("INSERT INTO things (key) VALUES (\("a"))")
            }
            written.signal()
            try await expect(counts, equals: [0, 0])
            try await expect(engine.keys(), equals: ["a"])

            let error = try await #require(throws: StorageError.self) {
                try await engine.read { try $0.execute("DELETE FROM things") }
            }
            #expect(error.code == .readOnly)
            try await expect(engine.keys(), equals: ["a"])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aLoneQueryCannotWriteAndLeavesTheConnectionUsable(on tested: EngineUnderTest) async throws
    {
        try await tested.withThings { engine in
            try await engine.execute("INSERT INTO things (key) VALUES (\("a"))")
            let refused = try await #require(throws: StorageError.self) {
                try await engine.query("DELETE FROM things RETURNING key")
            }
            #expect(refused.code == .readOnly)
            try await expect(engine.keys(), equals: ["a"])
            await #expect(throws: StorageError.self) {
                try await engine.query("SELECT key FROM nothing_of_that_name")
            }
            try await expect(engine.keys(), equals: ["a"])
            try await expect(
                engine.read { try $0.query("SELECT key FROM things").count }, equals: 1)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func processesThatReadAndWriteTheSameRowLoseNothing(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engines = try await [Storage.open(database.location), Storage.open(database.location)]
        try await engines[0].execute(
            "CREATE TABLE counts (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL)")
        try await engines[0].execute("INSERT INTO counts (name, value) VALUES (\("c"), \(0))")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                let engine = engines[number % 2]
                group.addTask {
                    try await engine.transaction { connection in
                        let value =
                            try connection.query("SELECT value FROM counts").first?.integer("value")
                            ?? 0
                        try connection.execute("UPDATE counts SET value = \(value + 1)")
                    }
                }
            }
            try await group.waitForAll()
        }
        try await expect(
            engines[1].query("SELECT value FROM counts").first?.integer("value"), equals: 60)
        for engine in engines { await engine.close() }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func onlyOneOfManyTakesAUniqueSubject(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engines = try await [Storage.open(database.location), Storage.open(database.location)]
        try await Migrations.apply(to: engines[0])
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                let engine = engines[number % 2]
                group.addTask {
                    try await engine.execute(
                        """
                        INSERT INTO plans (mirror, local_day, time_zone, seed, slots, made_ms)
                        VALUES (\("m"), \("2026-11-20"), \("UTC"), \("\(number)"), \(3), \(0)) ON CONFLICT DO NOTHING
                        """)
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(taken == 1)
        for engine in engines { await engine.close() }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func forEachStreamsAndMayWriteMeanwhile(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let sum = try await engine.transaction { connection in
                try connection.insert(things((0..<2_500).map { thing("k\($0)", Int64($0)) }))
                var sum: Int64 = 0
                try connection.forEach(
                    "SELECT key, number FROM things WHERE number >= \(1) ORDER BY number"
                ) { row in
                    sum += try row.integer("number")
                    try connection.execute(
                        "UPDATE things SET words = \("seen") WHERE key = \(try row.text("key"))")
                }
                return sum
            }
            #expect(sum == 2_499 * 2_500 / 2)
            try await expect(
                engine.query("SELECT key FROM things WHERE words = \("seen")").count, equals: 2_499)
            await #expect(throws: Refusal.self) {
                try await engine.read { connection in
                    try connection.forEach("SELECT key FROM things") { _ in throw Refusal() }
                }
            }
            try await expect(engine.keys().count, equals: 2_500)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func cancellingATaskStopsItsStatementAndRollsBack(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let endless: SQL = """
                WITH RECURSIVE n (i) AS (SELECT CAST(\(1) AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < \(1 << 50))
                SELECT COUNT(*) AS count FROM n
                """
            let task = Task {
                try await engine.transaction { connection in
                    try connection.execute("INSERT INTO things (key) VALUES (\("a"))")
                    start.yield()
                    return try connection.query(endless).count
                }
            }
            for await _ in started { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await expect(engine.keys()) { $0.isEmpty }
            try await engine.execute("INSERT INTO things (key) VALUES (\("b"))")
            try await expect(engine.keys(), equals: ["b"])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aConnectionThatEscapesIsOfNoUse(on tested: EngineUnderTest) async throws {
        final class Escaped: @unchecked Sendable { var connection: (any StorageConnection)? }
        try await tested.withThings { engine in
            let escaped = Escaped()
            try await engine.read { escaped.connection = $0 }
            let error = try #require(throws: StorageError.self) {
                try escaped.connection?.query("SELECT 1")
            }
            #expect(error.code == .closed)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aClosedEngineSaysSoAndMayBeClosedAgain(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        await engine.close()
        await engine.close()
        let error = try await #require(throws: StorageError.self) {
            try await engine.query("SELECT 1 AS one")
        }
        #expect(error.code == .closed)
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aScratchEngineSeesTheDataAndLeavesNothing(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        try await Migrations.apply(to: engine)
        let insert: SQL =
            "INSERT INTO settings (mirror, name, value, updated_ms) VALUES ('m', 'home', '1', 0)"
        try await engine.execute(insert)
        let foreign: SQL =
            "INSERT INTO settings (mirror, name, value, updated_ms) VALUES ('other', 'home', '9', 0)"

        let scratch = try await engine.scratch(of: "m")
        #expect(scratch.kind == engine.kind)
        try await Migrations.check(scratch)
        await #expect(throws: StorageError.self) { try await scratch.execute(insert) }
        try await scratch.execute("UPDATE settings SET value = '2'")
        try await scratch.transaction { connection in
            try connection.execute(
                "INSERT INTO settings (mirror, name, value, updated_ms) VALUES ('m', 'own', '1', 0)"
            )
        }
        if engine.kind == .postgres {
            // Another mirror's rows are not even copied.
            try await engine.execute(foreign)
            let other = try await engine.scratch(of: "other")
            try await expect(
                other.query("SELECT mirror FROM settings").map { try $0.text("mirror") },
                equals: ["other"])
            await other.close()
            try await engine.execute("DELETE FROM settings WHERE mirror = 'other'")
        }
        // A working mirror is not held up by a dry run beside it.
        try await expect(engine.execute("UPDATE settings SET value = '3'"), equals: 1)
        let seen = try await scratch.query("SELECT value FROM settings ORDER BY value")
        try expect(seen.map { try $0.text("value") }, equals: ["1", "2"])
        await scratch.close()

        let left = try await engine.query("SELECT name, value FROM settings")
        try expect(left.map { try $0.text("value") }, equals: ["3"])
        await engine.close()
    }
}
