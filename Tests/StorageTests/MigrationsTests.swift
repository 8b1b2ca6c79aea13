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
        "posting_days", "posts", "probes", "proofs", "refusals", "schema_migrations",
        "server_rules",
        "settings",
        "spending", "text_labels", "told", "waits", "weights", "workers", "zones",
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
        try expect(
            rows.map { try $0.text("subject") + $0.text("state") }, equals: ["2026-11-20#3claimed"])
        try expect(rows.map { try $0.text("text") }, equals: ["hello"])
        try expect(rows.map { try $0.int("attempts") }, equals: [1])
        await #expect(throws: StorageError.self) {
            try await engine.query("SELECT fence FROM actions")
        }
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
            (
                "bluesky", "at://did:web:a.example%3A80/app.bsky.feed.post/post",
                "did:web:a.example%3A80"
            ),
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
                "SELECT author, author_id FROM examples WHERE network = \(network) AND post_id = \(id)"
            )
            try expect(rows.map { try $0.optionalText("author_id") }, equals: [author], "\(id)")
            try expect(rows.map { try $0.text("author") }, equals: ["pal"])
        }
        await engine.close()
    }

    /// A position or stretch as an earlier program packed it into a text, and what stands in the
    /// columns for it.
    private struct PackedStretch {
        let text: String
        var cursor: String?
        var remaining: Int64?
        /// The floor, the top, and since when the next page is refused.
        var times: [Int64?] = [nil, nil, nil]

        private static let all = "9223372036854775807"

        static let known = [
            // Only a number of items, or none.
            PackedStretch(text: "5 a b", cursor: "a b", remaining: 5),
            PackedStretch(text: all + " c", cursor: "c"),
            PackedStretch(text: all + " ", cursor: ""),
            PackedStretch(text: "12 @7/8 9", cursor: "@7/8 9", remaining: 12),
            // A floor, with what may follow.
            PackedStretch(text: "@5 c", cursor: "c", times: [5, nil, nil]),
            PackedStretch(text: "@5/6 c", cursor: "c", times: [5, 6, nil]),
            PackedStretch(text: "@5//7 c", cursor: "c", times: [5, nil, 7]),
            PackedStretch(text: "@5/6/7 c", cursor: "c", times: [5, 6, 7]),
            PackedStretch(
                text: "@0//1790000000123 c", cursor: "c", times: [0, nil, 1_790_000_000_123]),
            // Times before 1970, and all of it.
            PackedStretch(text: "@-5/-6/-7 c", cursor: "c", times: [-5, -6, -7]),
            PackedStretch(
                text: "@-62135769600000 c", cursor: "c", times: [-62_135_769_600_000, nil, nil]),
            PackedStretch(text: "0@5 c", cursor: "c", remaining: 0, times: [5, nil, nil]),
            PackedStretch(text: "800@5/6 c", cursor: "c", remaining: 800, times: [5, 6, nil]),
            PackedStretch(text: "800@5//7 c", cursor: "c", remaining: 800, times: [5, nil, 7]),
            PackedStretch(text: "800@5/6/7 ", cursor: "", remaining: 800, times: [5, 6, 7]),
            // Cursors that look like what stands before them, and what networks call theirs.
            PackedStretch(text: "@5 6@7/8/9 10 ", cursor: "6@7/8/9 10 ", times: [5, nil, nil]),
            PackedStretch(text: "3@4 日本 語🎉", cursor: "日本 語🎉", remaining: 3, times: [4, nil, nil]),
            PackedStretch(
                text: #"@4/5 {"rest":{"place":"p q"},"window":{"floor":"3k@-1/2"}}"#,
                cursor: #"{"rest":{"place":"p q"},"window":{"floor":"3k@-1/2"}}"#,
                times: [4, 5, nil]),
            // What the earlier program took for nothing.
            PackedStretch(text: "5"), PackedStretch(text: ""), PackedStretch(text: "0 c"),
            PackedStretch(text: "@ c"), PackedStretch(text: " c"), PackedStretch(text: "c d"),
        ]
    }

    @Test(arguments: EngineUnderTest.allCases)
    func stretchesOfAnEarlierProgramAreUnpacked(on tested: EngineUnderTest) async throws {
        let parts = ["gap", "past", "sweep"]
        var texts: [String: String] = [:]
        for (number, packed) in PackedStretch.known.enumerated() {
            for part in parts { texts["feed-\(number)/\(part)"] = packed.text }
        }
        try await withCursors(on: tested, texts) { engine in
            for (number, packed) in PackedStretch.known.enumerated() {
                let rows = try await engine.query(
                    """
                    SELECT mirror, part, cursor, remaining, floor_ms, top_ms, refused_ms FROM feed_stretches
                    WHERE feed = \("feed-\(number)") ORDER BY part
                    """)
                try expect(
                    rows.map { try $0.text("part") }, equals: packed.cursor == nil ? [] : parts,
                    "\(packed.text)")
                for row in rows {
                    try expect(row.text("mirror"), equals: "m")
                    try expect(
                        row.text("cursor"), equals: try #require(packed.cursor), "\(packed.text)")
                    try expect(
                        row.optionalInteger("remaining"), equals: packed.remaining, "\(packed.text)"
                    )
                    let times = try ["floor_ms", "top_ms", "refused_ms"].map {
                        try row.optionalInteger($0)
                    }
                    #expect(times == packed.times, "\(packed.text)")
                }
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func positionsOfAnEarlierProgramStay(on tested: EngineUnderTest) async throws {
        let positions = [
            "bot-home": "116677603327082496",
            "bot-mentions": #"{"window":{"floor":"@1/2 3","known":["a b"]}}"#,
            "human-posts": "11;12;13", "seen-home": "@5/6 c", "gap": "", "x/gapless": " 5 ",
        ]
        let below = [
            "bot-mentions/below": "@99 -7 ", "bot-home/below": "@1790000000123 1780000000456 12 ab",
        ]
        try await withCursors(
            on: tested, positions.merging(below) { $1 },
            before: [
                "INSERT INTO feeds (mirror, feed, read_ms, arrived) VALUES ('m', 'bot-home', 7, 3)"
            ]
        ) { engine in
            let rows = try await engine.query(
                """
                SELECT feed, position, read_ms, arrived, below_ms, below_action, below_end_ms FROM feeds
                WHERE mirror = 'm'
                """)
            let found = try rows.map { (try $0.text("feed"), try $0.text("position")) }
            #expect(Dictionary(uniqueKeysWithValues: found) == positions)
            for row in rows {
                let isHome = try row.text("feed") == "bot-home"
                try expect(row.optionalInteger("read_ms"), equals: isHome ? 7 : nil)
                try expect(row.integer("arrived"), equals: isHome ? 3 : 0)
                let place = [
                    try row.optionalInteger("below_ms"), try row.optionalInteger("below_end_ms"),
                ]
                let action = try row.optionalText("below_action")
                switch try row.text("feed") {
                case "bot-home":
                    #expect(place == [1_780_000_000_456, 1_790_000_000_123])
                    #expect(action == "12 ab")
                case "bot-mentions":
                    #expect(place == [-7, 99])
                    #expect(action == "")
                default:
                    #expect(place == [nil, nil])
                    #expect(action == nil)
                }
            }
            try await expect(engine.query("SELECT feed FROM feed_stretches")) { $0.isEmpty }
            await #expect(throws: StorageError.self) {
                try await engine.query("SELECT feed FROM cursors")
            }
        }
    }

    /// A worker of an earlier version holds a row as it moves on, and is waited for; afterwards it
    /// can store nothing.
    @Test(arguments: EngineUnderTest.allCases)
    func anEarlierProgramThatWorksLosesNoPosition(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let old = try await Storage.open(database.location)
        let new = try await Storage.open(database.location)
        _ = try await Migrations.apply(Migrations.all.filter { $0.id < "0031" }, to: old)
        try await old.execute(
            "INSERT INTO cursors (mirror, feed, value, updated_ms) VALUES ('m', 'bot-home', '1', 0)"
        )
        let moves = AsyncStream<Void>.makeStream()
        let moving = Task {
            try await old.transaction { connection in
                try connection.execute("UPDATE cursors SET value = '2' WHERE feed = 'bot-home'")
                moves.continuation.finish()
                // Stands still between its two tables, so that the step begins meanwhile.
                let end = ContinuousClock.now + .milliseconds(300)
                while ContinuousClock.now < end {}
                try connection.execute(
                    """
                    INSERT INTO feeds (mirror, feed, read_ms) VALUES ('m', 'bot-home', 9)
                    ON CONFLICT (mirror, feed) DO UPDATE SET read_ms = excluded.read_ms
                    """)
            }
        }
        for await _ in moves.stream {}
        try await expect(Migrations.apply(to: new).first, equals: "0031_stretches")
        try await moving.value
        let row = try #require(try await new.query("SELECT position, read_ms FROM feeds").first)
        try expect(row.optionalText("position"), equals: "2")
        try expect(row.optionalInteger("read_ms"), equals: 9)
        await #expect(throws: StorageError.self) {
            try await old.execute("UPDATE cursors SET value = '3' WHERE feed = 'bot-home'")
        }
        await old.close()
        await new.close()
    }

    /// Brings a database of the program before the columns up to date, with these rows in
    /// `cursors`.
    private func withCursors(
        on tested: EngineUnderTest, _ cursors: [String: String], before statements: [SQL] = [],
        _ body: (any StorageEngine) async throws -> Void
    ) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        _ = try await Migrations.apply(Migrations.all.filter { $0.id < "0031" }, to: engine)
        for statement in statements { try await engine.execute(statement) }
        for (feed, value) in cursors {
            try await engine.execute(
                "INSERT INTO cursors (mirror, feed, value, updated_ms) VALUES ('m', \(feed), \(value), 5)"
            )
        }
        try await expect(Migrations.apply(to: engine).first, equals: "0031_stretches")
        try await body(engine)
        await engine.close()
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
