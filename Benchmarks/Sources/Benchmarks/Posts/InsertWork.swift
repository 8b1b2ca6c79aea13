import Archive
import Foundation
import Mirroring
import Posts
import Storage
import TestSupport

/// A million posts that are new, in batches as an imported archive comes: the archive's own way
/// into the table.
private enum Insertion {
    static func posts(_ bench: Bench) -> [Post] {
        PastPosts.make(count: bench.amount(1_000_000, smoke: 3_000))
    }

    static func title(_ posts: [Post], _ database: String) -> String {
        "insert \(Figure.text(Double(posts.count), "posts")) into \(database)"
    }

    /// Stores the posts, each batch in a transaction of its own, and closes the database.
    static func run(_ posts: [Post], into location: StorageLocation) async throws {
        let storage = try await Storage.open(location)
        let archive = Archive(storage: storage, mirror: "default")
        // No limit is reached: the archive would hold ten million.
        for start in stride(from: 0, to: posts.count, by: SchedulerTrainer.batchSize) {
            let batch = Array(posts[start..<min(start + SchedulerTrainer.batchSize, posts.count)])
            let summary = try await archive.store(
                batch,
                timeZone: TimeZone(identifier: "Asia/Tokyo") ?? .gmt, limit: nil)
            guard summary.stored == batch.count else {
                throw BaselineError(description: "a post was not new")
            }
        }
        await storage.close()
    }

    static func migrate(_ location: StorageLocation) async throws {
        let storage = try await Storage.open(location)
        try await Migrations.apply(to: storage)
        await storage.close()
    }
}

extension Work {
    /// The same rows in the same order with `psql -c '\copy posts from …'`, one transaction.
    ///
    /// Both fill the same empty table with its indexes on a server with its usual settings, and are
    /// done when everything is on disk. Ours finds out which posts are known, which `\copy` cannot.
    static let insertPostgres = Work(name: "insert_postgres") { bench, report in
        let psql = try Tool.locate("psql", package: "postgresql-client")
        let posts = Insertion.posts(bench)
        let server = try await DurablePostgres.start()
        let url = try await server.makeDatabase()
        try await Insertion.migrate(.postgres(url: url))
        let rows = bench.folder.path("posts.tsv")
        let log = bench.folder.path("psql.log")
        @Sendable func copy(_ direction: String) throws -> Duration {
            try Program.run(
                [
                    psql, url, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c",
                    "\\copy posts (\(PostColumns.list)) \(direction) '\(rows)'",
                ], outputPath: log)
        }
        func fingerprint() async throws -> String {
            try await server.run(PostColumns.postgresFingerprint, database: url)
        }
        func empty() async throws {
            try await server.run("TRUNCATE posts", database: url)
            try await server.run("CHECKPOINT", database: url)
        }
        try await Insertion.run(posts, into: .postgres(url: url))
        _ = try await bench.blocking { try copy("to") }
        let ours = try await fingerprint()
        let comparison = try await bench.compare(pairs: bench.heavyPairs) {
            try await empty()
            return try await bench.elapsed {
                try await Insertion.run(posts, into: .postgres(url: url))
            }
        } baseline: {
            try await empty()
            return try await bench.blocking { try copy("from") }
        }
        try await empty()
        _ = try await bench.blocking { try copy("from") }
        guard try await fingerprint() == ours else {
            throw BaselineError(description: "\\copy made other rows")
        }
        await server.stop()
        report.add(
            comparison.line(
                "insert_postgres", Insertion.title(posts, "Postgres"), amount: posts.count,
                unit: "posts",
                target: .atLeast(0.7)))
    }

    /// The same rows in the same order with the sqlite3 command's `.import`, one transaction.
    ///
    /// Both fill the same empty table with its indexes, in a file with a write-ahead log and
    /// `synchronous = FULL`, and are done when the file is closed. `.import` writes an empty text
    /// where ours writes null.
    static let insertSQLite = Work(name: "insert_sqlite") { bench, report in
        let stage = try SQLiteInsertion(bench)
        let posts = Insertion.posts(bench)
        try await stage.empty()
        try await Insertion.run(posts, into: .sqlite(path: stage.path))
        try await bench.blocking { try stage.export() }
        let ours = try await bench.blocking { try stage.fingerprint() }
        let comparison = try await bench.compare(pairs: bench.heavyPairs) {
            try await stage.empty()
            return try await bench.elapsed {
                try await Insertion.run(posts, into: .sqlite(path: stage.path))
            }
        } baseline: {
            try await stage.empty()
            return try await bench.blocking { try stage.importRows() }
        }
        try await stage.empty()
        try await bench.blocking { _ = try stage.importRows() }
        guard try await bench.blocking({ try stage.fingerprint() }) == ours else {
            throw BaselineError(description: ".import made other rows")
        }
        report.add(
            comparison.line(
                "insert_sqlite", Insertion.title(posts, "SQLite"), amount: posts.count,
                unit: "posts",
                target: .atLeast(0.7)))
    }
}

/// The sqlite3 command and the file that both sides fill.
private final class SQLiteInsertion: Sendable {
    let path: String
    private let command: String
    private let rows: String
    private let log: String

    init(_ bench: Bench) throws {
        command = try Tool.locate("sqlite3", package: "sqlite3")
        path = bench.folder.path("posts.sqlite")
        rows = bench.folder.path("posts.csv")
        log = bench.folder.path("sqlite3.log")
    }

    /// Puts a database with empty tables in place.
    func empty() async throws {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        try await Insertion.migrate(.sqlite(path: path))
        sync()
    }

    /// Writes all rows, in the order in which they were inserted, as `.import` reads them.
    func export() throws {
        try Program.run(
            [command, "-csv", path, "SELECT * FROM posts ORDER BY rowid"], outputPath: rows)
    }

    func importRows() throws -> Duration {
        try Program.run(
            [
                command, "-bail", path, "PRAGMA synchronous = FULL",
                ".import --csv '\(rows)' posts",
            ], outputPath: log)
    }

    /// A number over all rows, for which null and an empty text are the same.
    func fingerprint() throws -> String {
        try Program.run([command, path, PostColumns.sqliteFingerprint], outputPath: log)
        return try String(contentsOfFile: log, encoding: .utf8)
    }
}
