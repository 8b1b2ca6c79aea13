import Foundation
import TestSupport

extension Work {
    /// Importing the archive that X made of ten years: a zip of 1 GB with 1 GB of posts in it, the
    /// rest pictures.
    ///
    /// Ours is `mirror-bot train scheduler --from` as people run it, a fresh process each time,
    /// with a limit that keeps all posts. The baseline is Python: zipfile, orjson and one COPY
    /// through psycopg. Both begin with an empty table that has its indexes, and end with the same
    /// rows in it, which is checked. Ours also judges the texts, for the first plan; the baseline
    /// does not.
    static let importX = Work(name: "import_x") { bench, report in
        let stage = try await XArchiveStage(bench)
        var peaks: [Double] = []
        let comparison = try await bench.compare(pairs: bench.heavyPairs) {
            try await stage.empty()
            let (time, peak) = try await bench.blocking { try stage.importWithMirrorBot() }
            peaks.append(peak)
            return time
        } baseline: {
            try await stage.empty()
            return try await bench.blocking { try stage.importWithPython() }
        }
        let posts = try await stage.checkedRowCount(bench)
        await stage.close()
        report.add(
            comparison.line(
                "import_x",
                "import an X archive, a zip of \(bench.effort == .smoke ? "2 MB" : "1 GB")",
                amount: posts,
                unit: "posts", target: .atLeast(1)))
        report.add(
            .limited(
                "import_x_memory", "peak memory of that import", peaks, limit: 100, unit: "MiB"))
    }
}

/// The zip, the two importers and the database that they fill.
final class XArchiveStage: Sendable {
    private static let mirror = "default"
    private static let zone = "Asia/Tokyo"

    private let zip: String
    private let python: String
    private let mirrorBot: String
    private let importer: String
    private let environment: [String: String]
    private let folder: TemporaryDirectory
    private let server: PostgresServer
    private let database: String
    init(_ bench: Bench) async throws {
        mirrorBot = try Beside.mirrorBot()
        importer = try Beside.script("import-x-archive.py")
        let log = bench.folder.path("making.log")
        (zip, python) = try await bench.blocking {
            (try Self.archive(bench, log), try Self.python(log))
        }
        folder = try TemporaryDirectory(in: bench.folder.path)
        server = try await DurablePostgres.start()
        database = try await server.makeDatabase()
        environment = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path, "LANG": "C.UTF-8",
            "MIRROR_BOT_HOME": folder.path, "TIME_ZONE": Self.zone, "NETWORK": "x",
            "DATABASE_URL": database,
            "ARCHIVE_LIMIT": "10000000",
        ]
        let command = [mirrorBot, "migrate"]
        let variables = environment
        let output = folder.path("migrate.log")
        try await bench.blocking {
            _ = try Program.run(command, environment: variables, outputPath: output)
        }
    }

    func close() async { await server.stop() }

    func empty() async throws {
        try await server.run("TRUNCATE posts", database: database)
        try await server.run("CHECKPOINT", database: database)
    }

    /// How long it took, and how much memory it had at most, in MiB.
    func importWithMirrorBot() throws -> (time: Duration, peak: Double) {
        let start = ContinuousClock.now
        let program = try Program(
            [mirrorBot, "train", "scheduler", "--from", zip], environment: environment,
            outputPath: folder.path("train.log"))
        var peak = 0.0
        try program.finish { peak = ProcessFigures(of: program.pid)?.peakMemory ?? peak }
        return (start.duration(to: .now), peak)
    }

    func importWithPython() throws -> Duration {
        try Program.run(
            [python, importer, zip, database, Self.mirror, Self.zone] + PostColumns.names,
            environment: environment,
            outputPath: folder.path("python.log"))
    }

    /// Makes sure that both leave the same rows, but for what ours prepares afterwards, and counts
    /// them.
    func checkedRowCount(_ bench: Bench) async throws -> Int {
        try await empty()
        _ = try await bench.blocking { try self.importWithMirrorBot() }
        let ours = try await fingerprint()
        try await empty()
        _ = try await bench.blocking { try self.importWithPython() }
        let theirs = try await fingerprint()
        guard ours == theirs, let count = ours.split(separator: " ").first.flatMap({ Int($0) }),
            count > 0
        else {
            throw BaselineError(description: "the importers made other rows: \(ours) and \(theirs)")
        }
        return count
    }

    private func fingerprint() async throws -> String {
        try await server.run(PostColumns.postgresFingerprint, database: database)
    }

    // MARK: What is kept between runs

    private static func archive(_ bench: Bench, _ log: String) throws -> String {
        let script = try Beside.script("make-x-archive.py")
        let python = try Tool.locate("python3", package: "python3")
        let bytes = "\(bench.amount(1_000_000_000, smoke: 2_000_000))"
        return try Beside.kept(bench.effort == .smoke ? "x-archive-tiny.zip" : "x-archive-1.zip") {
            path in
            try Program.run([python, script, path, "1", bytes, bytes], outputPath: log)
        }
    }

    /// A Python with the two packages.
    private static func python(_ log: String) throws -> String {
        let python = try Tool.locate("python3", package: "python3")
        let folder = try Beside.kept("python") { path in
            do {
                try Program.run([python, "-m", "venv", path], outputPath: log)
                try Program.run(
                    [
                        path + "/bin/python", "-m", "pip", "install", "-q", "orjson",
                        "psycopg[binary]",
                    ], outputPath: log)
            } catch {
                throw MissingTool(
                    name: "orjson and psycopg",
                    package: "python3-venv, and let pip reach PyPI (\(error))")
            }
        }
        return folder + "/bin/python"
    }
}
