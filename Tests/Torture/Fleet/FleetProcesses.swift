import Foundation
import TestSupport

/// What some processes hold and have used together.
struct FleetUsage: Sendable {
    /// Resident memory, in MiB.
    var resident = 0.0
    /// Memory that belongs to the processes alone, no copy of a file, in MiB.
    var own = 0.0
    /// Processor time since their starts, in seconds.
    var processor = 0.0
    var threads = 0

    /// - Throws: ``TestSupportError`` if one of them has ended.
    init(of processes: [pid_t]) throws {
        for process in processes {
            let text = FileManager.default.contents(atPath: "/proc/\(process)/status") ?? Data()
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
            func figure(_ name: String) throws -> Double {
                let line = lines.first { $0.hasPrefix(name + ":") }
                let word = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
                guard let value = word.flatMap({ Double($0) }) else {
                    throw TestSupportError("could not measure process \(process): it has ended")
                }
                return value
            }
            resident += try figure("VmRSS") / 1_024
            own += try figure("RssAnon") / 1_024
            threads += Int(try figure("Threads"))
            var clock = clockid_t()
            var time = timespec()
            guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
                throw TestSupportError("could not measure process \(process): it has ended")
            }
            processor += Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }
}

/// What a database was asked.
struct FleetStatements: Sendable {
    var commits = 0
    /// Without those that begin and end transactions.
    var statements = 0

    static func - (left: FleetStatements, right: FleetStatements) -> FleetStatements {
        FleetStatements(
            commits: left.commits - right.commits, statements: left.statements - right.statements)
    }
}

/// The database of a fleet, on a server that counts statements.
struct FleetDatabase: Sendable {
    let server: PostgresServer
    let redis: RedisServer
    let url: String

    static func start() async throws -> FleetDatabase {
        async let redis = RedisServer.start()
        let server = try await PostgresServer.start(settings: [
            "shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": "10000",
            "shared_buffers": "256MB", "max_wal_size": "4GB",
        ])
        // In another database than the one that is measured.
        try await server.run("CREATE EXTENSION pg_stat_statements")
        return FleetDatabase(
            server: server, redis: try await redis, url: try await server.makeDatabase())
    }

    func stop() async {
        await server.stop()
        await redis.stop()
    }

    /// Runs a statement in the fleet's database and returns the fields of its rows.
    func rows(_ sql: String) async throws -> [[String]] {
        try await server.run(sql, database: url).split(separator: "\n").map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// What the fleet's database was asked so far.
    func counted() async throws -> FleetStatements {
        let name = url.split(separator: "/").last.map(String.init) ?? ""
        let text = try await server.run(
            """
            SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = '\(name)'), COALESCE((
                SELECT SUM(calls) FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid
                WHERE datname = '\(name)' AND query !~* '^\\s*(begin|start|commit|end|rollback|savepoint|release)\\M'
            ), 0)
            """)
        let numbers = text.split(whereSeparator: { "|\n".contains($0) }).compactMap { Int($0) }
        guard numbers.count == 2 else {
            throw TestSupportError("could not count statements: \(text)")
        }
        return FleetStatements(commits: numbers[0], statements: numbers[1])
    }
}
