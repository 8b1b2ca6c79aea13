import Control
import Fleet
import Foundation
import Logging
import Mirroring
import Networks
import Posts
import Settings
import Storage
import TestSupport

/// A worker that lives through some days in this process, measured at the end of each.
struct Soak: Sendable {
    let plan: SoakPlan
    /// Told how far it has come.
    let say: @Sendable (String) -> Void

    /// Idle threads of the system's pool end after five seconds.
    private static let rest: Duration = .seconds(7)

    func run() async throws -> SoakReport {
        let folder = try TemporaryDirectory()
        switch plan.store {
        case .sqlite:
            return try await run(home: folder.path, store: [:])
        case .postgres:
            let postgres = try await PostgresServer.start()
            let redis = try await RedisServer.start()
            let store = ["DATABASE_URL": try await postgres.makeDatabase(), "REDIS_URL": redis.url]
            let report = try await run(home: folder.path, store: store)
            await postgres.stop()
            await redis.stop()
            return report
        }
    }

    private func run(home: String, store: [String: String]) async throws -> SoakReport {
        let instant = try SharedInstant(path: home + "/clock")
        say("preparing a mirror on \(plan.network.rawValue) and \(plan.store.rawValue) …")
        let sandbox = try await SoakSandboxProcess(
            plan, program: nil, home: home, clock: home + "/clock", store: store)
        defer { sandbox.stop() }
        let configuration = try SoakMirror.configuration(
            home: home, store.merging(sandbox.opening.variables) { $1 })
        let clock = VirtualClock(startingAt: SoakPast.origin) { instant.set($0) }
        let log = SoakLog()
        let started = ContinuousClock.now
        let logger = Logger(label: "soak") { _ in log }
        let days = try await HumanMirror.open(configuration, clock: clock, logger: logger).closing {
            mirror in
            say("living through \(plan.days) days …")
            return try await live(
                Worker(mirror: mirror), on: clock, until: sandbox.opening.end, log: log
            ) { day in
                let rests = plan.rests(on: day)
                if rests {
                    try await ContinuousClock().sleep(for: Self.rest)
                    // As the worker does within the hour.
                    ProcessHeap.returnMemory()
                }
                let process = try ProcessFigures.current()
                let tables = try await TableFigures.current(
                    of: SoakMirror.name, in: mirror.storage, home: home)
                return SoakDay(day: day, isRested: rests, process: process, tables: tables)
            }
        }
        return SoakReport(
            plan: plan, days: days, ledger: try await sandbox.ledger(),
            people: sandbox.opening.people,
            log: log.counts, duration: started.duration(to: .now),
            processorTime: ProcessFigures.processorTime)
    }

    /// Runs the worker and measures at each midnight, when it and the clock stand still.
    private func live(
        _ worker: Worker, on clock: VirtualClock, until end: Date, log: SoakLog,
        measure: @escaping @Sendable (Int) async throws -> SoakDay
    ) async throws -> [SoakDay] {
        // Who measures takes part in the clock from the start, so that it does not run away.
        clock.join()
        return try await withThrowingTaskGroup(of: [SoakDay]?.self) { group in
            group.addTask {
                // A little longer, so that the last day is measured while the worker still works.
                try await worker.run(until: end + 60)
                return nil
            }
            group.addTask {
                defer { clock.leave() }
                await log.workerHasStarted()
                var days: [SoakDay] = []
                for day in 1...plan.days {
                    try await clock.sleep(until: SoakPast.origin + Double(day) * 86_400)
                    let measured = try await measure(day)
                    days.append(measured)
                    say(measured.line)
                }
                return days
            }
            var days: [SoakDay] = []
            while let ending = try await group.next() { days = ending ?? days }
            return days
        }
    }
}

/// What was measured at the end of a day.
struct SoakDay: Codable, Equatable, Sendable {
    /// From 1.
    var day: Int
    /// Nothing had happened for some seconds, so that what is held for work only was let go.
    var isRested: Bool
    var process: ProcessFigures
    var tables: TableFigures

    var line: String {
        "day \(day): RssAnon \(process.memory) kB, of that SQLite \(process.cache), \(process.threads) threads, "
            + "\(process.descriptors) descriptors, "
            + "files \(tables.fileSize) kB, rows "
            + TableFigures.tables.map { "\($0) \(tables.rows[$0] ?? 0)" }.joined(separator: ", ")
    }
}
