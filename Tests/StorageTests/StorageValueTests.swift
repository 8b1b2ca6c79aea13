import Expectations
import Foundation
import Storage
import TestSupport
import Testing

/// Values and statements mean the same on every engine.
@Suite struct StorageValueTests {
    @Test(arguments: EngineUnderTest.allCases)
    func everyTypeComesBackAsItWentIn(on tested: EngineUnderTest) async throws {
        let numbers: [Int64] = [0, 1, -1, .max, .min]
        let texts = [
            "", " ", "a", "日本語の投稿 🚃👨‍👩‍👧", "it's $1 ? \"q\" \\ % _", "e\u{301}", "\u{10FFFF}", "\n\r\t",
        ]
        let reals = [0.0, 0.1, -1.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi]
        try await tested.withThings { engine in
            for (index, number) in numbers.enumerated() {
                try await engine.execute(
                    """
                    INSERT INTO things (key, number, share, flag, words)
                    VALUES (\("n\(index)"), \(number), \(reals[index]), \(index % 2 == 0), \(texts[index]))
                    """)
            }
            let rows = try await engine.query("SELECT * FROM things ORDER BY key")
            try expect(rows.map { try $0.integer("number") }, equals: numbers)
            try expect(rows.map { try $0.real("share") }, equals: Array(reals.prefix(5)))
            try expect(
                rows.map { try $0.boolean("flag") }, equals: [true, false, true, false, true])
            try expect(rows.map { try $0.text("words") }, equals: Array(texts.prefix(5)))
            for text in texts {
                let row = try await engine.query("SELECT CAST(\(text) AS TEXT) AS same").first
                try expect(row?.text("same").unicodeScalars) {
                    $0?.elementsEqual(text.unicodeScalars) == true
                }
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func nullsComeBackAsNil(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            try await engine.execute(
                """
                INSERT INTO things (key, number, share, flag, words)
                VALUES (\("k"), \(Int?.none), \(Double?.none), \(Bool?.none), \(String?.none))
                """)
            let row = try #require(try await engine.query("SELECT * FROM things").first)
            try expect(row.optionalInteger("number"), equals: nil)
            try expect(row.optionalReal("share"), equals: nil)
            try expect(row.optionalBoolean("flag"), equals: nil)
            try expect(row.optionalText("words"), equals: nil)
            try expect(row.optionalDate("number"), equals: nil)
            let error = try #require(throws: StorageError.self) { try row.text("words") }
            #expect(error.code == .decoding)
            #expect("\(error)" == "could not read column words: it is null")
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func readingAnotherTypeOrColumnIsAnError(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            try await engine.execute("INSERT INTO things (key, number) VALUES (\("k"), \(3))")
            let row = try #require(try await engine.query("SELECT key, number FROM things").first)
            try expect(row.int("number"), equals: 3)
            try expect(row.real("number"), equals: 3)
            for wrong in [
                { try row.integer("key") as Any }, { try row.text("number") },
                { try row.text("other") },
            ] {
                #expect(throws: StorageError.self) { _ = try wrong() }
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func bindsKeepTheirPlacesWhenStatementsAreNested(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let inner: SQL =
                "SELECT CAST(\("inner") AS TEXT) AS word, CAST(\(2) AS BIGINT) AS number"
            let outer: SQL =
                "SELECT CAST(\("outer") AS TEXT) AS a, word, number, CAST(\(false) AS BOOLEAN) AS b"
            let row = try #require(
                try await engine.query(outer + " FROM (\(inner)) AS s WHERE number < \(9)").first)
            try expect(row.text("a"), equals: "outer")
            try expect(row.text("word"), equals: "inner")
            try expect(row.integer("number"), equals: 2)
            try expect(row.boolean("b"), equals: false)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func longListsOfValuesWork(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            try await engine.transaction { connection in
                try connection.insert(things((0..<1_000).map { thing("k\($0)", Int64($0)) }))
            }
            let wanted = (500..<1_500).map { "k\($0)" }
            for _ in 0..<2 {
                let rows = try await engine.query(
                    "SELECT number FROM things WHERE key IN \(list: wanted)")
                #expect(rows.count == 500)
            }
            try await expect(
                engine.query("SELECT key FROM things WHERE key IN \(list: [String]())")
            ) { $0.isEmpty }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func sumsAndCountsAreIntegers(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            try await engine.transaction {
                try $0.insert(things([thing("a", 40), thing("b", 2), thing("c")]))
            }
            let row = try #require(
                try await engine.query(
                    "SELECT SUM(number) AS sum, COUNT(*) AS count, MAX(number) AS top FROM things"
                )
                .first)
            try expect(row.integer("sum"), equals: 42)
            try expect(row.int("count"), equals: 3)
            try expect(row.integer("top"), equals: 40)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func whatOneEngineCannotStoreIsRefusedByBoth(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let refused: [SQLValue] = [.text("a\u{0}b"), .real(.nan)]
            for value in refused {
                let error = try await #require(throws: StorageError.self) {
                    try await engine.execute("INSERT INTO things (key) VALUES (\(value))")
                }
                #expect(error.code == .invalidValue)
                #expect(!"\(error)".contains("a\u{0}b"))
            }
            let bulk = try await #require(throws: StorageError.self) {
                try await engine.transaction { try $0.insert(things([thing("a\u{0}b")])) }
            }
            #expect(bulk.code == .invalidValue)
            try await expect(engine.keys()) { $0.isEmpty }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func datesAreMilliseconds(on tested: EngineUnderTest) async throws {
        try await tested.withThings { engine in
            let date = Date(timeIntervalSince1970: 1_795_000_000.123)
            try await engine.execute("INSERT INTO things (key, number) VALUES (\("d"), \(date))")
            let row = try #require(try await engine.query("SELECT number FROM things").first)
            try expect(row.integer("number"), equals: 1_795_000_000_123)
            try expect(abs(row.date("number").timeIntervalSince(date))) { $0 < 0.0005 }
        }
        #expect(Date.distantFuture.sqlValue == .integer(64_092_211_200_000))
        #expect(Date(timeIntervalSince1970: .infinity).sqlValue == .integer(.max))
    }

    @Test func aStatementShowsPlaceholdersAndNeverValues() {
        let statement: SQL = "SELECT x FROM t WHERE a = \("secret") AND b IN \(list: [1, 2])"
        #expect(statement.text == "SELECT x FROM t WHERE a = $1 AND b IN ($2, $3)")
        #expect("\(statement)" == statement.text)
        #expect(statement.binds == [.text("secret"), .integer(1), .integer(2)])
    }
}
