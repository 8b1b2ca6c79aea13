import Expectations
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite struct MigrationsTests {
    private static let tables = [
        "actions", "counters", "credentials", "effects", "ended_sessions", "examples",
        "feature_counts",
        "feed_gaps", "feed_items", "feed_stretches", "feeds", "findings", "forgotten", "leases",
        "measures", "mirrors", "muted", "never_texts", "notices", "people", "pictures", "plans",
        "posting_days", "posts", "probes", "proofs", "push_devices", "refusals",
        "schema_migrations",
        "server_rules",
        "settings",
        "spending", "text_labels", "told", "used_addresses", "waits", "weights", "workers", "zones",
    ]

    private func tables(of engine: any StorageEngine) async throws -> [String] {
        let list: SQL =
            switch engine.kind {
            case .sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            case .postgres:
                "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
            }
        return try await engine.query(list).map { try $0.text("name") }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func anEmptyDatabaseGetsAllTablesOnce(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        try await expect(Migrations.pending(in: engine), equals: Migrations.all.map(\.id))
        let error = try await #require(throws: StorageError.self) {
            try await Migrations.check(engine)
        }
        #expect(error.code == .outOfDate)
        #expect("\(error)".contains("`mirror-bot migrate`"))

        try await expect(Migrations.apply(to: engine), equals: Migrations.all.map(\.id))
        try await expect(Migrations.apply(to: engine)) { $0.isEmpty }
        try await expect(Migrations.pending(in: engine)) { $0.isEmpty }
        try await Migrations.check(engine)
        try await expect(tables(of: engine), equals: Self.tables)
        await engine.close()
    }

    @Test(
        arguments: EngineUnderTest.allCases,
        ["CREATE TABLE schema_migrations (version TEXT)", "CREATE TABLE actions (id BIGINT)"])
    func anotherProgramsTablesAreNotTakenOver(on tested: EngineUnderTest, _ table: String)
        async throws
    {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        try await engine.execute("\(unsafe: table)")
        let before = try await tables(of: engine)
        let error = try await #require(throws: StorageError.self) {
            try await Migrations.apply(to: engine)
        }
        #expect(error.code == .configuration)
        #expect("\(error)".contains("; give mirror-bot a database, or a schema, of its own"))
        try await expect(tables(of: engine), equals: before)
        await engine.close()
    }

    @Test(arguments: EngineUnderTest.allCases)
    func processesThatMigrateAtOnceDoItOnce(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let applied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let engine = try await Storage.open(database.location)
                    let applied = try await Migrations.apply(to: engine)
                    try await Migrations.check(engine)
                    await engine.close()
                    return applied
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied == Migrations.all.map(\.id))
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aLaterStepIsAppliedToADatabaseWithTheEarlierOnes(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        try await Migrations.apply(to: engine)
        let next = Migration(id: "9999_more", source: Array("CREATE TABLE more (x BIGINT);\n".utf8))
        try await expect(
            Migrations.apply(Migrations.all + [next], to: engine), equals: ["9999_more"])
        try await expect(tables(of: engine), equals: (Self.tables + ["more"]).sorted())

        // This program does not know the step that the newer one applied.
        let checking = try await #require(throws: StorageError.self) {
            try await Migrations.check(engine)
        }
        let applying = try await #require(throws: StorageError.self) {
            try await Migrations.apply(to: engine)
        }
        for error in [checking, applying] {
            #expect(error.code == .outOfDate)
            #expect("\(error)".contains("9999_more"))
            #expect("\(error)".contains("update mirror-bot"))
        }
        await engine.close()
    }

    // MARK: The steps of earlier programs

    /// A database as the program before the steps were joined left it.
    private func withEarlierSteps(
        on tested: EngineUnderTest, upTo last: String = Migrations.lastEarlierStep,
        _ body: (any StorageEngine) async throws -> Void
    ) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        let steps = try EarlierSteps.read().map { Migration(id: $0.id, source: $0.source) }
        try await expect(
            Migrations.apply(steps.filter { $0.id <= last }, to: engine).last, equals: last)
        try await body(engine)
        await engine.close()
    }

    /// The columns, keys and indexes of a database, and its tables' names, each as a line.
    private func schema(of engine: any StorageEngine) async throws -> [String] {
        let queries: [SQL] =
            switch engine.kind {
            case .sqlite:
                [
                    """
                    SELECT home.name || ' ' || part.cid || ' ' || part.name || ' ' || part.type || ' ' || part."notnull"
                        || ' ' || COALESCE(part.dflt_value, '-') || ' ' || part.pk AS line
                    FROM sqlite_master AS home JOIN pragma_table_info(home.name) AS part WHERE home.type = 'table'
                    """,
                    """
                    SELECT home.name || ' ' || list.name || ' ' || list."unique" || ' ' || list.origin || ' '
                        || list.partial || ' ' || part.seqno || ' ' || COALESCE(part.name, '-') || ' ' || part."desc"
                        || ' ' || part.coll AS line
                    FROM sqlite_master AS home JOIN pragma_index_list(home.name) AS list
                        JOIN pragma_index_xinfo(list.name) AS part WHERE home.type = 'table'
                    """,
                    "SELECT sql AS line FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL",
                ]
            case .postgres:
                [
                    """
                    SELECT CAST(relname AS TEXT) || ' '
                        || CAST(ROW_NUMBER() OVER (PARTITION BY relname ORDER BY attnum) AS TEXT) || ' '
                        || CAST(attname AS TEXT) || ' ' || format_type(atttypid, atttypmod) || ' '
                        || CAST(attnotnull AS TEXT) || ' ' || COALESCE(pg_get_expr(adbin, adrelid), '-') AS line
                    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                        JOIN pg_attribute ON attrelid = pg_class.oid
                        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
                    WHERE nspname = 'public' AND relkind IN ('r', 'p', 'v', 'm', 'S') AND attnum > 0
                        AND NOT attisdropped
                    """,
                    """
                    SELECT CAST(relname AS TEXT) || ' ' || CAST(conname AS TEXT) || ' '
                        || pg_get_constraintdef(pg_constraint.oid) AS line
                    FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
                        JOIN pg_namespace ON pg_namespace.oid = relnamespace
                    WHERE nspname = 'public' AND contype <> 'n'
                    """,
                    "SELECT indexdef AS line FROM pg_indexes WHERE schemaname = 'public'",
                ]
            }
        var lines: [String] = []
        for query in queries {
            lines += try await engine.query(query).map { row in
                try row.text("line").split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
        }
        return lines.sorted()
    }

    @Test func theEarlierStepsAreTheJoinedOnes() throws {
        let steps = try EarlierSteps.read().map { Migration(id: $0.id, source: $0.source) }
        #expect(steps.map(\.id).max() == Migrations.lastEarlierStep)
        let recorded = Dictionary(uniqueKeysWithValues: steps.map { ($0.id, $0.checksum) })
        #expect(Migrations.checksum(of: recorded) == Migrations.earlierChecksum)
        expect(Migrations.all.map(\.id)) { $0.allSatisfy { $0 > Migrations.lastEarlierStep } }
    }

    /// The first step makes exactly the tables that the earlier steps made.
    @Test(arguments: EngineUnderTest.allCases)
    func theJoinedTablesAreThoseOfTheEarlierSteps(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        _ = try await Migrations.apply(Array(Migrations.all.prefix(1)), to: engine)
        let joined = try await schema(of: engine)
        await engine.close()
        #expect(joined.count > 300)
        try await withEarlierSteps(on: tested) { earlier in
            let found = try await schema(of: earlier)
            #expect(Set(found).subtracting(joined) == [])
            #expect(Set(joined).subtracting(found) == [])
            #expect(found.count == joined.count)
        }
    }

    /// The program goes on with such a database, and applies only what is new.
    @Test(arguments: EngineUnderTest.allCases)
    func aDatabaseWithAllEarlierStepsGoesOn(on tested: EngineUnderTest) async throws {
        try await withEarlierSteps(on: tested) { engine in
            try await engine.execute(
                "INSERT INTO mirrors (mirror, created_ms) VALUES ('m', 5)")
            let later = Migrations.all.dropFirst().map(\.id)
            try await expect(Migrations.pending(in: engine), equals: later)
            try await expect(Migrations.isEmpty(engine), equals: false)
            try await expect(Migrations.apply(to: engine), equals: later)
            try await Migrations.check(engine)
            let next = Migration(
                id: "9998_more", source: Array("CREATE TABLE more (x BIGINT);\n".utf8))
            try await expect(
                Migrations.apply(Migrations.all + [next], to: engine), equals: ["9998_more"])
            try await expect(
                Migrations.apply(Migrations.all + [next], to: engine)
            ) { $0.isEmpty }
            try await expect(tables(of: engine), equals: (Self.tables + ["more"]).sorted())
            let rows = try await engine.query("SELECT created_ms FROM mirrors")
            try expect(rows.map { try $0.integer("created_ms") }, equals: [5])
        }
    }

    /// A database between the earlier steps, or with another one among them, is left as it is.
    @Test(
        arguments: EngineUnderTest.allCases,
        ["0003_server_time", "0040_departures", "0055_first_replies"])
    func aDatabaseWithSomeEarlierStepsIsRefused(on tested: EngineUnderTest, _ last: String)
        async throws
    {
        try await withEarlierSteps(on: tested, upTo: last) { engine in
            let before = try await schema(of: engine)
            let attempts: [(any StorageEngine) async throws -> Void] = [
                { try await Migrations.check($0) }, { try await Migrations.apply(to: $0) },
            ]
            for attempt in attempts {
                let error = try await #require(throws: StorageError.self) {
                    try await attempt(engine)
                }
                #expect(error.code == .outOfDate)
                #expect("\(error)".contains("at step \(last); "))
                #expect("\(error)".contains("docs/deploy.md says under Upgrade"))
            }
            try await expect(schema(of: engine), equals: before)
        }
    }

    @Test func anotherStepAmongTheEarlierOnesIsRefused() async throws {
        try await withEarlierSteps(on: .sqlite) { engine in
            try await engine.execute(
                "INSERT INTO schema_migrations (id, checksum) VALUES ('0044_tried', 'x')")
            let error = try await #require(throws: StorageError.self) {
                try await Migrations.check(engine)
            }
            #expect(error.code == .outOfDate)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aFailingStepLeavesNothing(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        let broken = Migration(
            id: "0003_broken", source: Array("CREATE TABLE half (x BIGINT);\nNONSENSE;\n".utf8))
        await #expect(throws: StorageError.self) {
            try await Migrations.apply(Migrations.all + [broken], to: engine)
        }
        try await expect(tables(of: engine)) { $0.isEmpty }
        try await expect(Migrations.apply(to: engine), equals: Migrations.all.map(\.id))
        await engine.close()
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aShippedStepMustNotChange(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        let shipped = Migration(id: "0001", source: Array("CREATE TABLE a (x BIGINT);\n".utf8))
        try await expect(Migrations.apply([shipped], to: engine), equals: ["0001"])
        let commented = Migration(
            id: "0001", source: Array("-- why\nCREATE TABLE a (x BIGINT);\n".utf8))
        try await expect(Migrations.apply([commented], to: engine)) { $0.isEmpty }
        let changed = Migration(id: "0001", source: Array("CREATE TABLE a (y BIGINT);\n".utf8))
        let error = try await #require(throws: StorageError.self) {
            try await Migrations.apply([changed], to: engine)
        }
        #expect(error.code == .outOfDate)
        await engine.close()
    }

    @Test func everyFileOfTheFolderIsAStep() throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let root = here.appendingPathComponent("../../migrations")
        let files = try FileManager.default.contentsOfDirectory(atPath: root.path).filter {
            $0.hasSuffix(".sql")
        }
        #expect(files.sorted().map { String($0.dropLast(4)) } == Migrations.all.map(\.id))
        for step in Migrations.all {
            let text = try String(
                contentsOf: root.appendingPathComponent(step.id + ".sql"), encoding: .utf8)
            #expect(Migration(id: step.id, source: Array(text.utf8)).checksum == step.checksum)
        }
    }

    @Test func statementsAreSplitAtLineEnds() {
        let source =
            "-- a; comment;\nCREATE TABLE a (\n    x TEXT DEFAULT ';x'\n);\n\n  -- more\nSELECT 1;\nSELECT 2"
        let step = Migration(id: "x", source: Array(source.utf8))
        #expect(
            step.statements == [
                "CREATE TABLE a (\n    x TEXT DEFAULT ';x'\n)", "SELECT 1", "SELECT 2",
            ])
    }
}
