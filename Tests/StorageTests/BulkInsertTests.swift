import Expectations
import Storage
import TestSupport
import Testing

@Suite struct BulkInsertTests {
    @Test(arguments: EngineUnderTest.allCases)
    func tenThousandRowsGoInAndComeOut(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let rows = (0..<10_000).map { (number: Int) -> [SQLValue] in
                let words = number % 2 == 0 ? nil : "語\(number)"
                return thing("k\(number)", number % 3 == 0 ? nil : Int64(number), words: words)
            }
            try await expect(engine.transaction { try $0.insert(things(rows)) }, equals: 10_000)
            let last = try #require(
                try await engine.query("SELECT * FROM things WHERE key = \("k9998")").first)
            try expect(last.optionalInteger("number"), equals: 9_998)
            try expect(last.optionalText("words"), equals: nil)
            let nulls = try await engine.query(
                "SELECT COUNT(*) AS count FROM things WHERE number IS NULL")
            try expect(nulls.first?.int("count"), equals: 3_334)
            let odd = try await engine.query("SELECT words FROM things WHERE key = \("k1")").first
            try expect(odd?.text("words"), equals: "語1")
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func everyTypeGoesThroughABatch(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let batch = BulkInsert(
                into: "things",
                columns: [
                    ("key", .text), ("number", .integer), ("share", .real), ("flag", .boolean),
                ],
                rows: [
                    [.text(""), .integer(.min), .real(-0.5), .boolean(true)],
                    [.text("{\",}"), .null, .null, .null],
                    [.text("z"), .integer(.max), .real(1e300), .boolean(false)],
                ])
            try await expect(engine.transaction { try $0.insert(batch) }, equals: 3)
            let rows = try await engine.query("SELECT * FROM things ORDER BY share NULLS FIRST")
            try expect(rows.map { try $0.text("key") }, equals: ["{\",}", "", "z"])
            try expect(rows.map { try $0.optionalInteger("number") }, equals: [nil, .min, .max])
            try expect(rows.map { try $0.optionalReal("share") }, equals: [nil, -0.5, 1e300])
            try expect(rows.map { try $0.optionalBoolean("flag") }, equals: [nil, true, false])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func conflictsFailAreIgnoredOrUpdate(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            try await engine.transaction { try $0.insert(things([thing("a", 1, words: "old")])) }
            let again = [thing("a", 2, words: "new"), thing("b", 3, words: "new")]

            let error = try await #require(throws: StorageError.self) {
                try await engine.transaction { try $0.insert(things(again)) }
            }
            #expect(error.code == .uniqueViolation)
            try await expect(engine.keys(), equals: ["a"])

            try await expect(
                engine.transaction { try $0.insert(things(again, onConflict: .ignore)) }, equals: 1)
            let update = BulkInsert.Conflict.update(key: ["key"], set: ["words"])
            try await expect(
                engine.transaction { try $0.insert(things(again, onConflict: update)) }, equals: 2)
            let rows = try await engine.query("SELECT * FROM things ORDER BY key")
            try expect(rows.map { try $0.integer("number") }, equals: [1, 3])
            try expect(rows.map { try $0.text("words") }, equals: ["new", "new"])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func ofTheSameKeyTwiceInABatchTheFirstIsKeptOrTheLastCounts(on tested: EngineUnderTest)
        async throws
    {
        let twice = [thing("a", 1, words: "first"), thing("b", 2), thing("a", 3, words: "last")]
        try await tested.withThings { engine in
            try await expect(
                engine.transaction { try $0.insert(things(twice, onConflict: .ignore)) }, equals: 2)
            let kept = try await engine.query("SELECT words FROM things WHERE key = 'a'").first
            try expect(kept?.text("words"), equals: "first")
            let update = BulkInsert.Conflict.update(key: ["key"], set: ["words"])
            try await expect(
                engine.transaction { try $0.insert(things(twice, onConflict: update)) }, equals: 2)
            let last = try await engine.query("SELECT words FROM things WHERE key = 'a'").first
            try expect(last?.text("words"), equals: "last")
        }
    }

    /// Swift takes them for one text; a database does not.
    @Test(arguments: EngineUnderTest.allCases)
    func keysThatOnlyLookAlikeAreTwo(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let rows = [
                thing("\u{E9}", 1, words: "composed"), thing("e\u{301}", 2, words: "decomposed"),
            ]
            let batch = things(rows, onConflict: .update(key: ["key"], set: ["number", "words"]))
            try await expect(engine.transaction { try $0.insert(batch) }, equals: 2)
            let words = try await engine.query("SELECT words FROM things ORDER BY number").map {
                try $0.text("words")
            }
            #expect(words == ["composed", "decomposed"])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func rowsThatDoNotFitAreRefusedBeforeAnythingIsSent(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            for row in [
                [SQLValue.text("a")], [.text("a"), .text("1"), .null], [.integer(1), .null, .null],
            ] {
                let error = try await #require(throws: StorageError.self) {
                    try await engine.transaction { try $0.insert(things([thing("ok"), row])) }
                }
                #expect(error.code == .invalidValue)
            }
            try await expect(engine.transaction { try $0.insert(things([])) }, equals: 0)
            try await expect(engine.keys()) { $0.isEmpty }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func ofManyRowsTheKnownOnesAreIgnoredOrFail(on tested: EngineUnderTest) async throws {
        let many = (0..<2_500).map { thing("k\($0)", Int64($0), words: $0 % 2 == 0 ? nil : "") }
        try await tested.withThings { engine in
            try await engine.transaction {
                try $0.insert(things([thing("k1700", 1_700, words: "old")]))
            }
            let error = try await #require(throws: StorageError.self) {
                try await engine.transaction { try $0.insert(things(many)) }
            }
            #expect(error.code == .uniqueViolation)
            try await expect(engine.keys(), equals: ["k1700"])

            // What is done before and after in the same transaction stays.
            let inserted = try await engine.transaction { connection in
                try connection.execute("INSERT INTO things (key) VALUES ('before')")
                let inserted = try connection.insert(things(many, onConflict: .ignore))
                try connection.execute("INSERT INTO things (key) VALUES ('after')")
                return inserted
            }
            #expect(inserted == 2_499)
            try await expect(
                engine.transaction { try $0.insert(things(many, onConflict: .ignore)) }, equals: 0)
            let rows = try await engine.query(
                "SELECT words FROM things WHERE key IN ('k1', 'k2', 'k1700') ORDER BY key")
            try expect(rows.map { try $0.optionalText("words") }, equals: ["", "old", nil])
            try await expect(engine.keys().count, equals: 2_502)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func rowsMadeWhenTheirTurnComesMayStillBeRefused(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let batch = BulkInsert(into: "things", columns: [("key", .text)], count: 3_000) {
                number in
                number == 2_200 ? [.integer(1)] : [.text("k\(number)")]
            }
            let error = try await #require(throws: StorageError.self) {
                try await engine.transaction { try $0.insert(batch) }
            }
            #expect(error.code == .invalidValue)
            try await expect(engine.keys()) { $0.isEmpty }
            let good = BulkInsert(into: "things", columns: [("key", .text)], count: 3_000) {
                [.text("k\($0)")]
            }
            try await expect(engine.transaction { try $0.insert(good) }, equals: 3_000)
        }
    }
}
