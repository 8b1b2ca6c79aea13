import Expectations
import Fixtures
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// What each table says of a restore, a move, a removal and forgetting, compared with a migrated
/// database.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct TableDutyTests {
    /// A new table needs a line in `TableDuty`: one with a column `mirror` and a primary key says
    /// all duties, another one is about the database.
    @Test(arguments: Engine.allCases) func everyTableSaysWhatBecomesOfItsRows(_ engine: Engine)
        async throws
    {
        let mirror = try await BareMirror(engine).open()
        let shapes = try await TableShape.ofMirrors(in: mirror.storage)
        expect(shapes.map(\.name), equals: TableDuty.all.keys.sorted())
        let tables = Set(try await TableContents(of: mirror.storage).tables.keys)
        expect(tables, equals: TableDuty.ofDatabase.union(TableDuty.all.keys))
        for shape in shapes {
            #expect(!shape.key.isEmpty && shape.key[0].name == "mirror", "\(shape.name)")
        }
    }

    /// Neither is a row deleted of a table that has no line, nor anything else before that is
    /// noticed.
    @Test(arguments: Engine.allCases) func aTableWithoutALineIsRefusedBeforeAnythingIsDeleted(
        _ engine: Engine
    ) async throws {
        let bare = try await BareMirror(engine, variables: ["MIRROR": "kept"])
        let mirror = try await bare.open(rehearsal: .meeting)
        try await mirror.table.add(now: BareMirror.now)
        try await mirror.set(["LINKS": "off"], now: BareMirror.now)
        try await mirror.storage.lenient.execute(
            "CREATE TABLE others (mirror TEXT NOT NULL, PRIMARY KEY (mirror))")
        try await mirror.storage.lenient.execute("INSERT INTO others (mirror) VALUES ('kept')")
        let before = try await TableContents(of: mirror.storage).tables
        let refused = try await #require(throws: StorageError.self) {
            try await Desk(mirror, zone: nil).perform(RemoveMirror())
        }
        expect("\(refused)") { $0.contains("the table others") }
        var after = try await TableContents(of: mirror.storage).tables
        // The removal took the lease and gave it back.
        for table in ["leases", "workers"] { after[table] = before[table] }
        expect(after, equals: before)
    }
}
