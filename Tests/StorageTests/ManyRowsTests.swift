import Expectations
import Storage
import TestSupport
import Testing

/// Batches that are larger than what an engine handles at once.
@Suite struct ManyRowsTests {
    @Test(
        arguments: EngineUnderTest.allCases,
        [0, 1, 499, 500, 501, 999, 1_000, 1_001, 1_999, 2_000, 2_001])
    func everyRowGoesInWhateverTheirNumber(on tested: EngineUnderTest, count: Int) async throws {
        try await tested.withThings { engine in
            let rows = (0..<count).map { thing("k\($0)", Int64($0), words: "語\($0)") }
            try await expect(engine.transaction { try $0.insert(things(rows)) }, equals: count)
            let stored = try await engine.query("SELECT key, words FROM things ORDER BY number")
            try expect(stored.map { try $0.text("key") }, equals: (0..<count).map { "k\($0)" })
            try expect(stored.map { try $0.text("words") }, equals: (0..<count).map { "語\($0)" })
        }
    }

    @Test(arguments: EngineUnderTest.allCases, [1, 1_200])
    func textsOfEveryLengthStayApart(on tested: EngineUnderTest, repetitions: Int) async throws {
        // Around what a string holds in itself, a page of memory, and much more than that.
        let long = repetitions == 1 ? 3_000_000 : 5_000
        let lengths = [0, 1, 15, 16, 0, 4_095, 4_096, 4_097, long, 1, 0]
        let words = lengths.enumerated().map { number, length in
            String(repeating: String(UnicodeScalar(UInt8(97 + number))), count: length)
        }
        try await tested.withThings { engine in
            let rows = (0..<repetitions).flatMap { repetition in
                words.enumerated().map {
                    thing("\(repetition)/\($0)/\($1.prefix(20))", nil, words: $1)
                }
            }
            try await expect(engine.transaction { try $0.insert(things(rows)) }, equals: rows.count)
            let wrong = try await engine.read { connection in
                var wrong = [String]()
                var seen = 0
                try connection.forEach("SELECT key, words FROM things") { row in
                    let key = try row.text("key")
                    let text = try row.text("words")
                    let parts = key.split(separator: "/", omittingEmptySubsequences: false)
                    let isRight =
                        Int(parts[1]).map { text == words[$0] && parts[2] == text.prefix(20) }
                        ?? false
                    if !isRight { wrong.append(key) }
                    seen += 1
                }
                return seen == rows.count ? wrong : ["\(seen) rows"]
            }
            #expect(wrong.isEmpty)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aNullAfterATextIsNull(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let rows = (0..<1_500).map { (number: Int) -> [SQLValue] in
                number % 3 == 0
                    ? thing("k\(number)", 1 + Int64(number), words: "words") : thing("k\(number)")
            }
            try await engine.transaction { try $0.insert(things(rows)) }
            let nulls = try await engine.query(
                "SELECT COUNT(*) AS count FROM things WHERE words IS NULL AND number IS NULL")
            try expect(nulls.first?.int("count"), equals: 1_000)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func ofKeysThatComeAgainInTheSameBatchTheFirstStays(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let rows = (0..<2_500).map { thing("k\($0 % 1_200)", nil, words: "\($0)") }
            try await expect(
                engine.transaction { try $0.insert(things(rows, onConflict: .ignore)) },
                equals: 1_200)
            let stored = try await engine.query("SELECT key, words FROM things")
            #expect(try stored.allSatisfy { try $0.text("key") == "k" + $0.text("words") })
        }
    }

    @Test(
        arguments: EngineUnderTest.allCases,
        [(700, false), (700, true), (1_200, false), (1_200, true)])
    func aTextWithNULIsRefusedAndNothingStays(
        on tested: EngineUnderTest, bad: (row: Int, isMadeLate: Bool)
    ) async throws {
        try await tested.withThings { engine in
            let rows = (0..<1_500).map { thing("k\($0)", nil, words: $0 == bad.row ? "a\0b" : "") }
            let columns: [(name: String, type: ColumnType)] = [
                ("key", .text), ("number", .integer), ("words", .text),
            ]
            let batch =
                bad.isMadeLate
                ? BulkInsert(into: "things", columns: columns, count: rows.count) { rows[$0] }
                : things(rows)
            let error = try await #require(throws: StorageError.self) {
                try await engine.transaction { try $0.insert(batch) }
            }
            #expect(error.code == .invalidValue)
            #expect(error.description.contains("NUL"))
            try await expect(engine.keys()) { $0.isEmpty }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func afterARowThatTheTableRefusesNothingStaysAndTheNextBatchGoesIn(on tested: EngineUnderTest)
        async throws
    {
        try await tested.withThings { engine in
            let good = (0..<1_500).map { thing("k\($0)", Int64($0), words: "語") }
            let bad = good.prefix(1_300) + [[.null, .null, .null]] + good.suffix(199)
            let batch = things(Array(bad))
            let error = try await #require(throws: StorageError.self) {
                try await engine.transaction { try $0.insert(batch) }
            }
            #expect(error.code == .constraint)
            try await expect(engine.keys()) { $0.isEmpty }
            try await expect(engine.transaction { try $0.insert(things(good)) }, equals: 1_500)
            try await expect(
                engine.transaction { try $0.insert(things([thing("last")])) }, equals: 1)
            let last = try await engine.query("SELECT words FROM things WHERE key = 'last'").first
            try expect(last?.optionalText("words"), equals: nil)
            try await expect(engine.keys().count, equals: 1_501)
        }
    }

    @Test func onlyManyRowsTakeMoreMemoryAndWhatIsCommittedIsOnDiskAsBefore() async throws {
        try await EngineUnderTest.sqlite.withThings { engine in
            let before = try await Settings(of: engine)
            #expect(before.durability == 2)
            let rows = (0..<1_000).map { thing("k\($0)") }
            try await engine.transaction { try $0.insert(things(Array(rows.prefix(999)))) }
            try await expect(Settings(of: engine), equals: before)
            try await engine.transaction { try $0.insert(things(rows, onConflict: .ignore)) }
            let after = try await Settings(of: engine)
            #expect(after.durability == 2)
            #expect(after.cache == -16_000)
            #expect(after.logPages == 8_000)
        }
    }

    /// What SQLite's connection for changes is set to.
    private struct Settings: Equatable {
        let durability: Int
        let cache: Int
        let logPages: Int

        init(of engine: any StorageEngine) async throws {
            (durability, cache, logPages) = try await engine.transaction { connection in
                (
                    try connection.query("PRAGMA synchronous").first?.int("synchronous") ?? -1,
                    try connection.query("PRAGMA cache_size").first?.int("cache_size") ?? -1,
                    try connection.query("PRAGMA wal_autocheckpoint").first?.int(
                        "wal_autocheckpoint") ?? -1
                )
            }
        }
    }
}
