import Expectations
import Fixtures
import Foundation
import Outbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// Moving a mirror between databases, with every table full of whatever fits into it.
@Suite(.timeLimit(.minutes(30))) struct MirrorMoveTests {
    @Test func everyRowOfEveryTableGoesThereAndBack() async throws {
        let place = try await FullDatabase.large()
        let before = try await place.contents("moved")
        let others = try await place.contents("stays")
        #expect(before.tables.count > 15)
        expect(before.tables) {
            $0.allSatisfy {
                FullDatabase.single.contains($0.key) || $0.value.count > MirrorMove.pageSize
            }
        }

        let server = try await EmptyDatabase(.postgres)
        let there = try await place.move(to: server)
        #expect(there.written == before.rowCount)
        #expect(there.rows.values.reduce(0, +) == before.rowCount)
        try await expect(server.contents("moved"), equals: before)
        try await expect(server.contents("stays").rowCount, equals: 0)
        await #expect(throws: ConfigurationError.self) { try await place.table.requireHere() }
        try await server.table.requireHere()

        let file = try await EmptyDatabase(.sqlite)
        let back = try await server.move(to: file)
        #expect(back.written == before.rowCount)
        try await expect(file.contents("moved"), equals: before)
        await #expect(throws: ConfigurationError.self) { try await server.table.requireHere() }

        // Home again, over the copy that stayed behind: nothing of it has changed.
        let home = try await file.move(to: place, replacing: true)
        #expect(home.written == 0)
        try await place.table.requireHere()
        try await expect(place.contents("moved"), equals: before)
        try await expect(place.contents("stays"), equals: others)
    }

    @Test(arguments: [1, 9, 20, 28]) func whatWasInterruptedGoesOn(pages: Int) async throws {
        let place = try await FullDatabase.large()
        let before = try await place.contents("moved")
        let server = try await EmptyDatabase(.postgres)
        let counter = Countdown(pages)
        let moving = Task {
            try await place.move(to: server) { _, _ in
                guard counter.isOver() else { return }
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: (any Error).self) { try await moving.value }
        // One of the two can be used, and it is the whole one.
        try await place.table.requireHere()
        await #expect(throws: ConfigurationError.self) { try await server.table.requireHere() }
        try await expect(place.contents("moved"), equals: before)

        let receipt = try await place.move(to: server)
        #expect(receipt.written > 0)
        #expect(receipt.written < before.rowCount)
        try await expect(server.contents("moved"), equals: before)
    }

    /// Cut at its very beginning, a move leaves no tables in which a worker would begin anew.
    @Test(arguments: Engine.allCases) func theNewPlaceIsMarkedFromItsFirstTableOn(_ engine: Engine)
        async throws
    {
        let place = try await FullDatabase(seed: 6, rows: 5)
        let folder = try TemporaryDirectory()
        let storage =
            engine == .sqlite
            ? try await Storage.open(.sqlite(path: folder.path("new.sqlite")))
            : try await Storage.open(
                .postgres(url: try await PostgresServer.shared().makeDatabase()))
        let names = try await MirrorTable.names(in: place.storage)
        #expect(names.count > 1)
        try await MirrorMove.announce(
            names, from: place.place, to: .init(storage, name: "new"), now: .now)
        for name in names {
            let table = MirrorTable(storage: storage, mirror: name)
            await #expect(throws: ConfigurationError.self) { try await table.requireHere() }
            try await MirrorTable(storage: place.storage, mirror: name).requireHere()
        }
        // The move goes on without asking whether to write over what it has made itself.
        let move = MirrorMove(of: "moved", from: place.place, to: .init(storage, name: "new"))
        try await expect(move.leftover() == nil, equals: true)
        let outcome = try await move.run()
        guard case .moved(let receipt) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(receipt.written > 0)
        try await MirrorTable(storage: storage, mirror: "moved").requireHere()
        await storage.close()
    }

    /// A mirror of which the new place has posts alone is one of its own all the same.
    @Test func whatLivesThereAlreadyIsNotMarked() async throws {
        let place = try await FullDatabase(seed: 7, rows: 5)
        let there = try await FullDatabase(seed: 8, rows: 5)
        try await there.storage.execute("DELETE FROM mirrors WHERE mirror = 'moved'")
        let before = try await there.contents("moved")
        try await MirrorMove.announce(["moved"], from: place.place, to: there.place, now: .now)
        try await expect(there.contents("moved"), equals: before)
        let move = MirrorMove(of: "moved", from: place.place, to: there.place, replaces: true)
        await #expect(throws: ConfigurationError.self) { try await move.run() }
    }

    @Test func whatChangesMeanwhileIsTakenAlong() async throws {
        let place = try await FullDatabase.large()
        let server = try await EmptyDatabase(.postgres)
        let storage = place.storage
        let counter = Countdown(1)
        let receipt = try await place.move(to: server) { table, _ in
            guard table == "posts", counter.isOver() else { return }
            // In tables that are compared already, in those that are not, and in this one.
            for statement in [
                "DELETE FROM actions WHERE mirror = 'moved' AND attempts % 7 = 0",
                "UPDATE actions SET text = 'late' WHERE mirror = 'moved' AND attempts % 7 = 1",
                "INSERT INTO people (mirror, network, account_id) VALUES ('moved', 'mastodon', 'late@example.social')",
                "UPDATE posts SET text = text || '!' WHERE mirror = 'moved'",
                "DELETE FROM spending WHERE mirror = 'moved'",
            ] as [SQL] {
                _ = try? await storage.execute(statement)
            }
        }
        let after = try await place.contents("moved")
        expect(after.tables["people"]) {
            $0?.contains { $0.contains(MirrorContents.exact(.text("late@example.social"))) } == true
        }
        expect(after.tables["actions"]) {
            $0?.contains { $0.contains("text=" + MirrorContents.exact(.text("late"))) } == true
        }
        #expect(receipt.rows["spending"] == nil)
        try await expect(server.contents("moved"), equals: after)
    }

    @Test func whatNeverRestsStaysWhereItIs() async throws {
        let place = try await FullDatabase(seed: 4, rows: 20)
        let server = try await EmptyDatabase(.sqlite)
        let storage = place.storage
        let outcome = try await MirrorMove(
            of: "moved", from: place.place, to: server.place,
            report: { _, _ in
                _ = try? await storage.execute(
                    "UPDATE mirrors SET created_ms = (created_ms + 1) % 1000000")
            }
        ).run()
        #expect(outcome == .keepsChanging)
        try await place.table.requireHere()
        await #expect(throws: ConfigurationError.self) { try await server.table.requireHere() }
    }

    @Test func aMirrorAtWorkIsNotMoved() async throws {
        let place = try await FullDatabase(seed: 5, rows: 20)
        let server = try await EmptyDatabase(.sqlite)
        let leases = LeaseTable(storage: place.storage, mirror: "moved")
        let held = try await leases.take(
            owner: "a worker", after: try await leases.record(), now: 1)
        let lease = try #require(held)
        let beating = Task {
            while !Task.isCancelled { try await leases.beat(lease, now: 2) }
        }
        let here = try await place.contents("moved")
        let there = try await server.contents("moved")
        let outcome = try await MirrorMove(
            of: "moved", from: place.place, to: server.place, timing: Rehearsal.meeting.leaseTiming
        ).run()
        beating.cancel()
        _ = await beating.result
        #expect(outcome == .held)
        try await expect(place.contents("moved"), equals: here)
        try await expect(server.contents("moved"), equals: there)
    }

    @Test func ofSeveralCopiesOneCanBeUsed() async throws {
        let place = try await FullDatabase(seed: 6, rows: 20)
        let first = try await EmptyDatabase(.sqlite)
        let second = try await EmptyDatabase(.sqlite)
        let copies: [any MoveTestDatabase] = [place, first, second]
        func used() async -> [Int] {
            var used: [Int] = []
            for (index, copy) in copies.enumerated() {
                do {
                    try await copy.table.requireHere()
                    if try await copy.contents("moved").rowCount > 0 { used.append(index) }
                } catch {}
            }
            return used
        }
        let moving = Task {
            try await place.move(to: first) { _, _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: (any Error).self) { try await moving.value }
        await expect(used(), equals: [0])
        _ = try await place.move(to: second)
        await expect(used(), equals: [2])
        // The first one was begun under another number.
        await #expect(throws: ConfigurationError.self) { try await place.move(to: first) }
        await expect(used(), equals: [2])
        let leftover = try await MirrorMove(of: "moved", from: second.place, to: first.place)
            .leftover()
        #expect(leftover?.state == .arriving)
        await #expect(throws: ConfigurationError.self) { try await second.move(to: first) }
        _ = try await second.move(to: first, replacing: true)
        await expect(used(), equals: [1])
        // Nor can a copy be moved that was left, or did not arrive.
        await #expect(throws: ConfigurationError.self) { try await second.move(to: place) }
        await expect(used(), equals: [1])
    }

    @Test func anEndThatWasCutOffIsMadeUpFor() async throws {
        let place = try await FullDatabase(seed: 7, rows: 20)
        let server = try await EmptyDatabase(.postgres)
        let whole = try await place.move(to: server)
        // As it was between the two marks.
        try await server.storage.execute(
            "UPDATE mirrors SET move_state = 'arriving' WHERE mirror = 'moved'")
        await #expect(throws: ConfigurationError.self) { try await server.table.requireHere() }
        await #expect(throws: ConfigurationError.self) { try await place.table.requireHere() }
        let again = try await place.move(to: server)
        #expect(again.rows == whole.rows)
        #expect(again.written == 0)
        try await server.table.requireHere()
        // What it has done there since is not undone by asking once more.
        try await server.storage.execute("DELETE FROM posts WHERE mirror = 'moved'")
        try await expect(place.move(to: server).rows["posts"], equals: nil)
        try await expect(place.contents("moved").tables["posts"]) { $0?.isEmpty == false }
    }

    @Test func whatLivesThereIsLeftAlone() async throws {
        let place = try await FullDatabase(seed: 8, rows: 20)
        let other = try await FullDatabase(seed: 9, rows: 20)
        let before = try await other.contents("moved")
        await #expect(throws: ConfigurationError.self) {
            try await place.move(to: other, replacing: true)
        }
        try await expect(other.contents("moved"), equals: before)
        try await place.table.requireHere()

        // The database where it lives, by another way.
        let same = try await place.again()
        await #expect(throws: ConfigurationError.self) {
            try await place.move(to: same, replacing: true)
        }
        try await place.table.requireHere()

        // Another mirror there has the same bot.
        let server = try await EmptyDatabase(.sqlite)
        try await place.storage.execute(
            "UPDATE mirrors SET bot_account = 'mastodon:b@c' WHERE mirror = 'moved'")
        try await server.storage.execute(
            "INSERT INTO mirrors (mirror, bot_account, created_ms) VALUES ('else', 'mastodon:b@c', 1)"
        )
        await #expect(throws: ConfigurationError.self) { try await place.move(to: server) }
        try await place.table.requireHere()
    }

    @Test func whoStaysIsNeverTakenForTheOther() async throws {
        let place = try await FullDatabase(seed: 10, rows: 20)
        let server = try await EmptyDatabase(.sqlite)
        try await expect(place.table.stay(), equals: nil)
        _ = try await place.move(to: server)
        try await expect(server.table.stay(), equals: nil)
        try await expect(place.table.stay(), equals: "the empty one")
        try await place.table.requireHere()
        // The copy there is one that lives: it is not written over.
        await #expect(throws: ConfigurationError.self) {
            try await place.move(to: server, replacing: true)
        }
    }
}

// MARK: - Databases

/// A database that takes part in a move.
private protocol MoveTestDatabase: Sendable {
    var storage: any StorageEngine { get }
    var name: String { get }
}

extension MoveTestDatabase {
    var place: MirrorMove.Place { .init(storage, name: name) }
    var table: MirrorTable { MirrorTable(storage: storage, mirror: "moved") }

    func contents(_ mirror: String) async throws -> MirrorContents {
        try await MirrorContents(of: mirror, in: storage)
    }

    func move(
        to other: any MoveTestDatabase, replacing: Bool = false,
        report: @escaping @Sendable (String, Int) async -> Void = { _, _ in }
    ) async throws -> MirrorMove.Receipt {
        let move = MirrorMove(
            of: "moved", from: place, to: other.place, replaces: replacing, report: report)
        guard case .moved(let receipt) = try await move.run() else { throw MirrorNotMoved() }
        return receipt
    }
}

private struct MirrorNotMoved: Error {}

/// A database with the tables, and nothing in them.
private struct EmptyDatabase: MoveTestDatabase {
    let storage: any StorageEngine
    let name = "the empty one"
    private let folder: TemporaryDirectory

    init(_ engine: Engine) async throws {
        folder = try TemporaryDirectory()
        storage =
            engine == .sqlite
            ? try await MigratedDatabase.openCopy(at: folder.path("mirror-bot.sqlite"))
            : try await Storage.open(.postgres(url: try await MigratedDatabase.onPostgres()))
    }
}

/// A database in which two mirrors have rows in every table.
private struct FullDatabase: MoveTestDatabase {
    let storage: any StorageEngine
    let name = "the full one"
    /// Tables with one row a mirror.
    static let single = ["measures", "mirrors", "weights"]
    private let folder: TemporaryDirectory

    /// One with more rows in each table than a move takes at a time, made once for all tests.
    private static let original = Task {
        let made = try await FullDatabase(seed: 1, rows: MirrorMove.pageSize + 20)
        await made.storage.close()
        return made.folder
    }

    /// A copy of one with more rows in each table than a move takes at a time.
    static func large() async throws -> FullDatabase {
        let folder = try TemporaryDirectory()
        let path = folder.path("mirror-bot.sqlite")
        // The file is whole once it is closed.
        try FileManager.default.copyItem(
            atPath: try await original.value.path("mirror-bot.sqlite"), toPath: path)
        return FullDatabase(storage: try await Storage.open(.sqlite(path: path)), folder: folder)
    }

    init(seed: UInt64, rows: Int) async throws {
        folder = try TemporaryDirectory()
        storage = try await MigratedDatabase.openCopy(at: folder.path("mirror-bot.sqlite"))
        for (offset, mirror) in ["moved", "stays"].enumerated() {
            try await fill(mirror, rows: rows, SeededGenerator(seed: seed &+ UInt64(offset) << 32))
        }
    }

    private init(storage: any StorageEngine, folder: TemporaryDirectory) {
        self.storage = storage
        self.folder = folder
    }

    /// The same database, opened once more.
    func again() async throws -> FullDatabase {
        FullDatabase(
            storage: try await Storage.open(.sqlite(path: folder.path("mirror-bot.sqlite"))),
            folder: folder)
    }

    private func fill(_ mirror: String, rows: Int, _ generator: SeededGenerator) async throws {
        try await storage.transaction { connection in
            var generator = generator
            let tables = try connection.query("SELECT name FROM sqlite_master WHERE type = 'table'")
                .map { try $0.text("name") }.filter {
                    !["schema_migrations", "leases", "workers", "ended_sessions"].contains($0)
                }
                .sorted()
            for table in tables {
                let columns = try connection.query(
                    """
                    SELECT name, type, "notnull" AS needed, pk FROM pragma_table_info(\(table))
                    WHERE name NOT LIKE 'move_%'
                    """)
                let names = try columns.map { try $0.text("name") }
                for number in 0..<(Self.single.contains(table) ? 1 : rows) {
                    let values = try columns.map { column -> SQLValue in
                        switch try column.text("name") {
                        case "mirror": return .text(mirror)
                        // No two mirrors have one bot.
                        case "bot_account": return .text("mastodon:\(mirror)@social.example")
                        default: break
                        }
                        return try Self.value(column, number, &generator)
                    }
                    var list: SQL = "\(values[0])"
                    for value in values.dropFirst() { list += ", \(value)" }
                    try connection.execute(
                        """
                        INSERT INTO \(unsafe: table) (\(unsafe: names.joined(separator: ", "))) VALUES (\(list))
                        """)
                }
            }
        }
    }

    /// Something that fits into a column; whatever belongs to a key, or might, is of this row
    /// alone.
    private static func value(
        _ column: SQLRow, _ number: Int, _ generator: inout SeededGenerator
    ) throws -> SQLValue {
        let isKey = try column.int("pk") > 0
        if try !isKey && column.int("needed") == 0 && Int.random(in: 0..<4, using: &generator) == 0
        {
            return .null
        }
        switch try column.text("type") {
        case "BIGINT":
            return .integer(
                isKey
                    ? Int64(number)
                    : [.min, .max, 0, Int64(number)].randomElement(using: &generator) ?? 0)
        case "DOUBLE PRECISION":
            return .real(
                [0.1, -1.0 / 3, 1e-300, .greatestFiniteMagnitude].randomElement(using: &generator)
                    ?? 0)
        case "BOOLEAN":
            return .boolean(Bool.random(using: &generator))
        default:
            // Two forms of one letter follow each other: the same to Swift, and two keys to a
            // database.
            let letter = number.isMultiple(of: 2) ? "\u{E9}" : "e\u{301}"
            let texts = [
                "", " ", "💡 \u{FE0F}", "'; --", "か\u{3099}", "a\tb\nc",
                String(repeating: "long ", count: 300),
            ]
            let text = texts.randomElement(using: &generator) ?? ""
            return .text(
                try column.text("name") == "subject" || isKey ? "\(number / 2)\(letter)" : text)
        }
    }
}

/// The rows of one mirror in all tables, but for what is about the copy; read with other queries
/// than a move's.
private struct MirrorContents: Equatable {
    /// The rows of each table as text, in a fixed order.
    let tables: [String: [String]]

    var rowCount: Int { tables.values.map(\.count).reduce(0, +) }

    init(of mirror: String, in storage: any StorageEngine) async throws {
        let schema: SQL =
            storage.kind == .sqlite
            ? """
            SELECT m.name AS home, t.name AS part, t.type AS type FROM sqlite_master m, pragma_table_info(m.name) t
            WHERE m.type = 'table'
            """
            : """
            SELECT CAST(table_name AS TEXT) AS home, CAST(column_name AS TEXT) AS part, CAST(data_type AS TEXT) AS type
            FROM information_schema.columns WHERE table_schema = 'public'
            """
        tables = try await storage.read { connection in
            let columns = Dictionary(grouping: try connection.query(schema)) {
                (try? $0.text("home")) ?? ""
            }
            var tables: [String: [String]] = [:]
            for (table, columns) in columns
            where !["schema_migrations", "leases", "workers", "ended_sessions"].contains(table) {
                let named = try columns.map {
                    (try $0.text("part"), try $0.text("type").lowercased() == "boolean")
                }
                .filter { !$0.0.hasPrefix("move_") }.sorted { $0.0 < $1.0 }
                let rows = try connection.query(
                    "SELECT * FROM \(unsafe: table) WHERE mirror = \(mirror)")
                tables[table] = try rows.map { row in
                    try named.map { name, isBoolean in
                        let value =
                            isBoolean ? try row.optionalBoolean(name).sqlValue : try row.value(name)
                        return "\(name)=\(Self.exact(value))"
                    }.joined(separator: "|")
                }.sorted()
            }
            return tables
        }
    }

    /// Bytes rather than characters: two forms of one letter are two texts.
    static func exact(_ value: SQLValue) -> String {
        guard case .text(let text) = value else { return "\(value)" }
        return Data(text.utf8).base64EncodedString()
    }
}

/// Says once, after so many questions, that it is over.
private final class Countdown: @unchecked Sendable {
    // Sendable because `left` is only touched under `lock`.
    private let lock = NSLock()
    private var left: Int

    init(_ number: Int) { left = number }

    func isOver() -> Bool {
        lock.withLock {
            left -= 1
            return left == 0
        }
    }
}
