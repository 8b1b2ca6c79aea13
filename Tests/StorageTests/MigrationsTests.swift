import Expectations
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite struct MigrationsTests {
    private static let tables = [
        "actions", "counters", "credentials", "cursors", "examples", "feature_counts", "feed_gaps", "feed_items",
        "feeds", "findings", "forgotten", "leases", "mirrors", "muted", "never_texts", "notices", "people", "pictures",
        "plans",
        "posting_days", "posts", "probes", "refusals", "schema_migrations", "settings", "spending", "weights", "zones",
    ]

    private func tables(of engine: any StorageEngine) async throws -> [String] {
        let list: SQL =
            switch engine.kind {
            case .sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            case .postgres: "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
            }
        return try await engine.query(list).map { try $0.text("name") }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func anEmptyDatabaseGetsAllTablesOnce(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        try await expect(Migrations.pending(in: engine), equals: Migrations.all.map(\.id))
        let error = try await #require(throws: StorageError.self) { try await Migrations.check(engine) }
        #expect(error.code == .outOfDate)
        #expect("\(error)".contains("`mirror-bot migrate`"))

        try await expect(Migrations.apply(to: engine), equals: Migrations.all.map(\.id))
        try await expect(Migrations.apply(to: engine)) { $0.isEmpty }
        try await expect(Migrations.pending(in: engine)) { $0.isEmpty }
        try await Migrations.check(engine)
        try await expect(tables(of: engine), equals: Self.tables)
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
        try await expect(Migrations.apply(Migrations.all + [next], to: engine), equals: ["9999_more"])
        try await expect(tables(of: engine), equals: (Self.tables + ["more"]).sorted())

        // This program does not know the step that the newer one applied.
        let checking = try await #require(throws: StorageError.self) { try await Migrations.check(engine) }
        let applying = try await #require(throws: StorageError.self) { try await Migrations.apply(to: engine) }
        for error in [checking, applying] {
            #expect(error.code == .outOfDate)
            #expect("\(error)".contains("9999_more"))
            #expect("\(error)".contains("update mirror-bot"))
        }
        await engine.close()
    }

    @Test(arguments: EngineUnderTest.allCases)
    func theActionsOfAnEarlierProgramStay(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        _ = try await Migrations.apply(Migrations.all.filter { $0.id < "0010" }, to: engine)
        try await engine.execute(
            """
            INSERT INTO actions (mirror, id, kind, subject, state, due_ms, expires_ms, pinned, text, attempts, fence,
                created_ms, updated_ms)
            VALUES ('m', 'a', 'post', '2026-11-20#3', 'claimed', 1, 2, FALSE, 'hello', 1, 7, 3, 4)
            """)
        try await expect(Migrations.apply(to: engine).first, equals: "0010_actions")
        let rows = try await engine.query("SELECT subject, state, text, attempts FROM actions")
        try expect(rows.map { try $0.text("subject") + $0.text("state") }, equals: ["2026-11-20#3claimed"])
        try expect(rows.map { try $0.text("text") }, equals: ["hello"])
        try expect(rows.map { try $0.int("attempts") }, equals: [1])
        await #expect(throws: StorageError.self) { try await engine.query("SELECT fence FROM actions") }
        await engine.close()
    }

    /// The address of a post on Bluesky tells who wrote it.
    @Test(arguments: EngineUnderTest.allCases)
    func examplesOfAnEarlierProgramTellTheirAuthors(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        _ = try await Migrations.apply(Migrations.all.filter { $0.id < "0022" }, to: engine)
        let examples = [
            ("bluesky", "at://did:plc:abc/app.bsky.feed.post/3kZ-_.~:x", "did:plc:abc"),
            ("bluesky", "at://did:web:a.example%3A80/app.bsky.feed.post/post", "did:web:a.example%3A80"),
            ("bluesky", "at://pal.example/app.bsky.feed.post/3k", nil), ("bluesky", "one", nil),
            ("mastodon", "at://did:plc:abc/app.bsky.feed.post/3k", nil), ("x", "17", nil),
        ]
        for (network, id, _) in examples {
            try await engine.execute(
                """
                INSERT INTO examples (mirror, network, post_id, author, text, state, decided_ms, sequence)
                VALUES ('m', \(network), \(id), 'pal', 'hello', 'seen', 1, 1)
                """)
        }
        try await expect(Migrations.apply(to: engine).first, equals: "0022_people")
        for (network, id, author) in examples {
            let rows = try await engine.query(
                "SELECT author, author_id FROM examples WHERE network = \(network) AND post_id = \(id)")
            try expect(rows.map { try $0.optionalText("author_id") }, equals: [author], "\(id)")
            try expect(rows.map { try $0.text("author") }, equals: ["pal"])
        }
        await engine.close()
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aFailingStepLeavesNothing(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        let broken = Migration(id: "0003_broken", source: Array("CREATE TABLE half (x BIGINT);\nNONSENSE;\n".utf8))
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
        let commented = Migration(id: "0001", source: Array("-- why\nCREATE TABLE a (x BIGINT);\n".utf8))
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
        let files = try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".sql") }
        #expect(files.sorted().map { String($0.dropLast(4)) } == Migrations.all.map(\.id))
        for step in Migrations.all {
            let text = try String(contentsOf: root.appendingPathComponent(step.id + ".sql"), encoding: .utf8)
            #expect(Migration(id: step.id, source: Array(text.utf8)).checksum == step.checksum)
        }
    }

    @Test func statementsAreSplitAtLineEnds() {
        let source = "-- a; comment;\nCREATE TABLE a (\n    x TEXT DEFAULT ';x'\n);\n\n  -- more\nSELECT 1;\nSELECT 2"
        let step = Migration(id: "x", source: Array(source.utf8))
        #expect(step.statements == ["CREATE TABLE a (\n    x TEXT DEFAULT ';x'\n)", "SELECT 1", "SELECT 2"])
    }
}
