import Expectations
import Foundation
import Storage
import TestSupport
import Testing

/// The identifier of the committed state, from which others conclude that nothing has changed.
@Suite struct StorageStateTests {
    private static let changes: [SQL] = [
        "CREATE TABLE things (key TEXT NOT NULL, number BIGINT, words TEXT, PRIMARY KEY (key))",
        "INSERT INTO things (key, number) VALUES (\("a"), \(1))",
        "UPDATE things SET number = \(2)",
        "UPDATE things SET words = \("longer than before")",
        "DELETE FROM things WHERE number = \(2)",
        "INSERT INTO things (key, number) VALUES (\("a"), \(1))",
        "DELETE FROM things",
        "DROP TABLE things",
    ]

    /// Whoever changes something, however little, and whoever asks: no state comes twice.
    @Test(arguments: EngineUnderTest.allCases)
    func everyCommitGivesAnother(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engines = [
            try await Storage.open(database.location), try await Storage.open(database.location),
        ]
        for asked in engines {
            var known = [try await asked.state()]
            for writer in engines {
                for change in Self.changes {
                    try await writer.execute(change)
                    let state = try await asked.state()
                    #expect(!known.contains(state), "\(change.text)")
                    known.append(state)
                }
            }
        }
        for engine in engines { await engine.close() }
    }

    /// A state that was read while a transaction was open is not the one after its commit.
    @Test(arguments: EngineUnderTest.allCases)
    func aCommitCountsWhenItHappens(on tested: EngineUnderTest) async throws {
        let database = try await tested.makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let asked = try await Storage.open(database.location)
        let writer = try await Storage.open(database.location)
        try await writer.execute(Self.changes[0])
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        let writing = Task {
            try await writer.transaction { connection in
                try connection.execute(Self.changes[1])
                entering.yield()
                release.wait()
            }
        }
        for await _ in entered { break }
        let open = try await asked.state()
        release.signal()
        try await writing.value
        try await expect(asked.state()) { $0 != open }
        await asked.close()
        await writer.close()
    }

    @Test func aDatabaseInMemoryCountsItsOwnChanges() async throws {
        let engine = try await Storage.openInMemory()
        var known = [try await engine.state()]
        for change in Self.changes
        where !change.text.contains(" TABLE ") || change.text.hasPrefix("CREATE") {
            try await engine.execute(change)
            let state = try await engine.state()
            if !change.text.hasPrefix("CREATE") {
                #expect(!known.contains(state), "\(change.text)")
            }
            known.append(state)
        }
        let state = try await engine.state()
        _ = try await engine.query("SELECT key FROM things")
        try await expect(engine.state(), equals: state)
        await engine.close()
    }

    /// On servers that nobody else uses: reading gives no other state, and neither does what is
    /// rolled back.
    @Test(arguments: [EngineUnderTest.sqlite, .postgres])
    func readingLeavesIt(on tested: EngineUnderTest) async throws {
        let server = tested == .postgres ? try await PostgresServer.start() : nil
        let folder = try TemporaryDirectory()
        let location: StorageLocation =
            if let server { .postgres(url: try await server.makeDatabase()) } else {
                .sqlite(path: folder.path("test.sqlite"))
            }
        let engine = try await Storage.open(location)
        for change in Self.changes.prefix(2) { try await engine.execute(change) }
        let state = try await engine.state()
        _ = try await engine.query("SELECT key FROM things")
        _ = try await engine.read { try $0.query("SELECT key FROM things").count }
        try await expect(engine.state(), equals: state)
        await engine.close()
        await server?.stop()
    }
}
