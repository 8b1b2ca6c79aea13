import Foundation
import Posts
import Sandbox
import TestSupport

/// The benchmark of a fleet: its measures one after the other.
struct FleetBench: Sendable {
    /// How long the first start of a fleet may take before the run gives up, in seconds.
    private static let startSeconds = 900.0
    private static let mebibytesAllowed = 1_024.0
    /// The local time at which the measure `day` begins.
    private static let dayBegin: TimeInterval = 21 * 3_600
    /// After this time Postgres has counted what it was asked, in seconds.
    private static let statisticsSeconds = 12
    /// By how much the cost of one mirror may exceed that of the program before.
    private static let tolerance = 1.1

    let plan: FleetPlan
    /// Told how far it has come.
    let say: @Sendable (String) -> Void

    func run() async throws -> FleetReport {
        var report = FleetReport(judgesGoals: plan.judgesGoals)
        if plan.measures.contains(.one) { try await one(&report) }
        if plan.measures.contains(.idle) { try await idle(&report) }
        if plan.measures.contains(.sizes) { try await sizes(&report) }
        if plan.measures.contains(.day) { try await day(&report) }
        return report
    }

    private func town(_ mirrors: Int, origin: Date = Date(), _ pace: TownPlan.Pace = .still)
        -> TownPlan
    {
        TownPlan(seed: plan.seed, mirrors: mirrors, hosts: plan.hosts, origin: origin, pace: pace)
    }

    // MARK: Idle

    /// What workers used while nothing happened.
    private struct Idle {
        var firstStart: Duration
        var start: Duration
        var end: Duration
        var usage: FleetUsage
        /// Seconds of processor time a second.
        var processor: Double
        var requests: Double
        var commits: Double
        var statements: Double
        var connections: Int
        /// Mirrors whose mentions nobody read in the measured span.
        var starved: Int
        var longestPollGap: TimeInterval
        var recorded: [TownRequest]
    }

    /// Measures workers for the plan's seconds while nothing happens.
    private func idle(on stage: FleetStage) async throws -> Idle {
        let mirrors = stage.town.plan.mirrors
        say("starting a fleet of \(mirrors) …")
        stage.town.resetFigures()
        try stage.start()
        let first = try await stage.waitForPolls(seconds: Self.startSeconds)
        try await stage.stop()
        say("first polled after \(Self.text(first)); starting again …")
        stage.town.resetFigures()
        try stage.start()
        let again = try await stage.waitForPolls(seconds: Self.startSeconds)
        say("polled after \(Self.text(again)); measuring for \(plan.seconds) s …")
        // One round of every feed that is read often, so that the start is over. An idle connection
        // of Postgres tells its commits after ten seconds.
        try await ContinuousClock().sleep(
            for: .seconds(max(Self.statisticsSeconds, min(plan.poll * 2, plan.seconds))))
        stage.town.resetFigures()
        stage.town.record(atMost: 50_000)
        let usage = try stage.usage()
        let counted = try await stage.database.counted()
        let begin = ContinuousClock.now
        try await ContinuousClock().sleep(for: .seconds(plan.seconds))
        let seconds = Self.seconds(begin.duration(to: .now))
        let figures = stage.town.figures
        let after = try stage.usage()
        let asked = try await stage.database.counted() - counted
        let recorded = stage.town.takeRecorded()
        let end = try await stage.stop()
        return Idle(
            firstStart: first, start: again, end: end, usage: after,
            processor: (after.processor - usage.processor) / seconds,
            requests: Double(figures.requests) / seconds,
            commits: Double(asked.commits) / seconds,
            statements: Double(asked.statements) / seconds,
            connections: figures.connections, starved: mirrors - figures.polled,
            longestPollGap: figures.longestPollGap, recorded: recorded)
    }

    private func idle(_ report: inout FleetReport) async throws {
        let stage = try await FleetStage.set(plan, town: town(plan.mirrors))
        try await closing(stage) {
            let idle = try await idle(on: stage)
            let loop = try await loop(idle, on: stage)
            let title = "\(plan.mirrors) idle mirrors"
            report.rows += [
                FleetRow(
                    name: "idle_memory", title: "\(title): resident memory",
                    value: idle.usage.resident, unit: "MiB",
                    limit: Self.mebibytesAllowed),
                FleetRow(
                    name: "idle_private", title: "\(title): private memory", value: idle.usage.own,
                    unit: "MiB"),
                FleetRow(
                    name: "idle_requests", title: "\(title): requests", value: idle.requests,
                    unit: "/s"),
                FleetRow(
                    name: "idle_connections", title: "\(title): connections",
                    value: Double(idle.connections),
                    unit: ""),
                FleetRow(
                    name: "idle_processor", title: "\(title): processor",
                    value: idle.processor * 100, unit: "%"),
                FleetRow(
                    name: "idle_ratio", title: "\(title): processor, a C loop over libcurl = 1",
                    value: idle.processor / loop, unit: "", limit: 2.5),
                FleetRow(
                    name: "idle_commits", title: "\(title): commits", value: idle.commits,
                    unit: "/s", limit: 5),
                FleetRow(
                    name: "idle_statements", title: "\(title): statements", value: idle.statements,
                    unit: "/s",
                    limit: 50),
                FleetRow(
                    name: "idle_poll_gap",
                    title: "\(title): longest time between two polls of a mirror",
                    value: idle.longestPollGap, unit: "s"),
                FleetRow(
                    name: "idle_starved", title: "\(title): mirrors that were not polled",
                    value: Double(idle.starved),
                    unit: "", limit: plan.seconds > plan.poll ? 0 : nil),
                FleetRow(
                    name: "first_start", title: "\(title): first start to all polled once",
                    value: Self.seconds(idle.firstStart), unit: "s"),
                FleetRow(
                    name: "start", title: "\(title): start to all polled once",
                    value: Self.seconds(idle.start),
                    unit: "s", limit: 120),
                FleetRow(
                    name: "end", title: "\(title): SIGTERM to the end",
                    value: Self.seconds(idle.end), unit: "s",
                    limit: FleetStage.endSeconds),
            ]
            try await judge("idle", title, stage, &report)
        }
    }

    /// Makes the same requests with the C program and returns its processor time, in seconds a
    /// second.
    private func loop(_ idle: Idle, on stage: FleetStage) async throws -> Double {
        guard !idle.recorded.isEmpty, idle.requests > 0 else {
            throw TestSupportError("could not compare processor times: the workers made no request")
        }
        say("the same requests by a C loop …")
        // By the second the hosts come in turn, as they do from the workers.
        var generator = SampleGenerator(seed: plan.seed)
        var requests = idle.recorded
        for index in requests.indices.reversed() {
            requests.swapAt(index, generator.number(below: index + 1))
        }
        let lines = requests.map { "\(stage.town.url(ofHost: $0.host))\($0.target)\t\($0.token)\n" }
        let path = try stage.folder.write(lines.joined(), to: "requests.tsv")
        let program = Bundle.main.bundleURL.appendingPathComponent("CurlLoop").path
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw TestSupportError(
                "could not find \(program): run `swift build --product CurlLoop` first")
        }
        let output = try await ChildProcess.run([
            program, path, "\(idle.requests)", "\(plan.seconds)", "\(max(1, idle.connections))",
        ])
        struct Result: Decodable {
            var requests: Int
            var failed: Int
            var processor: Double
            var wall: Double
        }
        let result = try JSONDecoder().decode(Result.self, from: Data(output.utf8))
        guard result.failed == 0, result.processor > 0 else {
            throw TestSupportError("the C loop failed: \(output)")
        }
        return result.processor / result.wall
    }

    // MARK: Sizes

    private func sizes(_ report: inout FleetReport) async throws {
        var measured: [(mirrors: Int, idle: Idle)] = []
        for mirrors in [1] + plan.sizes.sorted().filter({ $0 > 1 }) {
            let stage = try await FleetStage.set(plan, town: town(mirrors))
            try await closing(stage) {
                measured.append((mirrors, try await idle(on: stage)))
                try await judge("sizes_\(mirrors)", "\(mirrors) mirrors", stage, &report)
            }
        }
        let figures: [(name: String, title: String, unit: String, value: (Idle) -> Double)] = [
            ("memory", "private memory", "KiB", { $0.usage.own * 1_024 }),
            ("processor", "processor", "ms/min", { $0.processor * 60_000 }),
            ("statements", "statements", "/min", { $0.statements * 60 }),
        ]
        for figure in figures {
            // What one more mirror costs, so that the process itself does not count.
            let base = figure.value(measured[0].idle)
            let costs = measured.dropFirst().map {
                (figure.value($0.idle) - base) / Double($0.mirrors - 1)
            }
            for (size, cost) in zip(measured.dropFirst(), costs) {
                report.rows.append(
                    FleetRow(
                        name: "cost_\(figure.name)_\(size.mirrors)",
                        title: "one more of \(size.mirrors) mirrors: \(figure.title)", value: cost,
                        unit: figure.unit))
            }
            guard let first = costs.first, let last = costs.last, costs.count > 1, first > 0 else {
                continue
            }
            report.rows.append(
                FleetRow(
                    name: "growth_\(figure.name)",
                    title: "\(figure.title) a mirror, largest fleet to smallest",
                    value: last / first, unit: "", limit: 1.2))
        }
    }

    // MARK: One mirror

    private func one(_ report: inout FleetReport) async throws {
        func measure(_ program: String?) async throws -> Idle {
            let stage = try await FleetStage.set(
                plan, town: town(1), program: program, launch: .each)
            return try await closing(stage) { try await idle(on: stage) }
        }
        let before = try await plan.before.asyncMap { try await measure($0) }
        let now = try await measure(nil)
        func row(_ name: String, _ title: String, _ unit: String, _ value: (Idle) -> Double) {
            report.rows.append(
                FleetRow(
                    name: "one_\(name)", title: "one mirror: \(title)", value: value(now),
                    unit: unit,
                    limit: before.map { value($0) * Self.tolerance }))
        }
        row("memory", "private memory", "MiB") { $0.usage.own }
        row("resident", "resident memory", "MiB") { $0.usage.resident }
        row("processor", "processor", "%") { $0.processor * 100 }
        row("statements", "statements", "/min") { $0.statements * 60 }
        row("commits", "commits", "/min") { $0.commits * 60 }
        row("start", "start to its first poll", "s") { Self.seconds($0.start) }
    }

    // MARK: A day

    private func day(_ report: inout FleetReport) async throws {
        // Two days ago, so that every instant of the run is one that the system's clock has seen.
        let zone = TimeZone(identifier: TownPlan.timeZoneIdentifier) ?? .gmt
        let day = LocalTime(Date(), in: zone).day.advanced(by: -2)
        let origin = TownPlan.midnight(ofDay: day.ordinal) + Self.dayBegin
        let stage = try await FleetStage.set(
            plan, town: town(plan.dayMirrors, origin: origin, .lively), factor: plan.factor)
        try await closing(stage) {
            say("\(plan.dayMirrors) mirrors live \(plan.hours) hours at factor \(plan.factor) …")
            stage.town.resetFigures()
            try stage.start(plan.dayWorkers)
            let end = origin + plan.hours * 3_600
            while stage.clock.now < end {
                try await stage.clock.sleep(until: min(end, stage.clock.now + 5 * plan.factor))
                _ = try stage.usage()
                say(progress(stage))
            }
            let figures = stage.town.figures
            let ended = stage.clock.now
            try await stage.stop()
            let oracle = try await FleetOracle.read(stage, end: ended, poll: plan.poll)
            let workers = plan.launch == .each ? plan.dayMirrors : plan.dayWorkers
            let title = "\(plan.dayMirrors) mirrors on \(workers) workers for \(plan.hours) h"
            report.rows += oracle.rows("day", title)
            report.rows += oracle.timeRows(plans: try await plans(after: day, on: stage))
            report.rows += [
                FleetRow(
                    name: "day_requests", title: "day: requests", value: Double(figures.requests),
                    unit: ""),
                FleetRow(
                    name: "day_poll_gap", title: "day: longest time between two polls of a mirror",
                    value: figures.longestPollGap, unit: "s"),
            ]
            report.complaints += oracle.complaints
        }
    }

    private func progress(_ stage: FleetStage) -> String {
        let figures = stage.town.figures
        let ledger = stage.town.ledger
        return
            "\(stage.clock.now.rfc3339): \(figures.requests) requests, \(figures.polled) mirrors polled, "
            + "\(ledger.deliveries.count) posts and answers, \(ledger.incidents.count) incidents"
    }

    /// How long after its midnight each mirror's plan of the day after `day` was made, in seconds.
    private func plans(
        after day: LocalDay, on stage: FleetStage
    ) async throws -> (mirrors: Int, made: [TimeInterval]) {
        let next = day.advanced(by: 1)
        let midnight = TownPlan.midnight(ofDay: next.ordinal)
        guard stage.clock.now > midnight + FleetOracle.planTolerance else { return (0, []) }
        let rows = try await stage.database.rows(
            "SELECT made_ms FROM plans WHERE local_day = '\(next)'")
        let made = rows.compactMap { $0.first.flatMap { Int64($0) } }.map { milliseconds in
            Date(milliseconds: milliseconds).timeIntervalSince(midnight)
        }
        return (stage.town.plan.mirrors, made)
    }

    // MARK: All measures

    private func judge(
        _ name: String, _ title: String, _ stage: FleetStage, _ report: inout FleetReport
    ) async throws {
        let oracle = try await FleetOracle.read(stage, end: stage.clock.now, poll: plan.poll)
        report.rows += oracle.rows(name, title)
        report.complaints += oracle.complaints
    }

    private func closing<Value>(_ stage: FleetStage, _ body: () async throws -> Value) async throws
        -> Value
    {
        do {
            let value = try await body()
            await stage.strike()
            return value
        } catch {
            await stage.strike()
            throw error
        }
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    private static func text(_ duration: Duration) -> String {
        String((seconds(duration) * 10).rounded() / 10) + " s"
    }
}

extension Optional {
    fileprivate func asyncMap<Value>(_ transform: (Wrapped) async throws -> Value) async rethrows
        -> Value?
    {
        if let self { try await transform(self) } else { nil }
    }
}
