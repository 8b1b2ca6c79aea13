import Foundation
import NetworkNames
import Posts
import Sandbox
import TestSupport

extension Work {
    /// `mirror-bot run` beside a network on which little happens, with everything learned: SQLite,
    /// no other servers.
    ///
    /// All processor time since its start counts, and of its private memory the most that was seen.
    static let idle = Work(name: "idle") { bench, report in
        let stage = try await IdleStage(bench)
        let (starts, length, span) =
            switch bench.effort {
            case .full: (11, Duration.seconds(300), "5 minutes")
            case .quick: (3, .seconds(60), "1 minute")
            case .smoke: (1, .seconds(3), "3 seconds")
            }
        if bench.effort != .full { Bench.say("idle for \(span) instead of 5 minutes") }
        await report.measure("idle") {
            let (worker, _) = try await bench.blocking { try stage.start() }
            let watch = try await bench.blocking { try IdleWatch(worker, for: length) }
            try await bench.blocking { worker.stop() }
            let title = "idle `run` for \(span)"
            return [
                .limited(
                    "idle_memory", "\(title): private memory", [watch.privateMemory], limit: 20,
                    unit: "MiB"),
                .limited(
                    "idle_cpu", "\(title): processor", [watch.processorShare * 100], limit: 0.05,
                    unit: "%"),
            ]
        }
        await report.measure("idle_start") {
            var times: [Double] = []
            for _ in 0..<starts {
                let (worker, time) = try await bench.blocking { try stage.start() }
                times.append(time.seconds * 1_000)
                try await bench.blocking { worker.stop() }
            }
            return [
                .limited(
                    "idle_start", "from exec to the line that says that it works", times,
                    limit: 100, unit: "ms")
            ]
        }
        await stage.close()
    }
}

/// A network in this process and a mirror that has learned its past there.
final class IdleStage: Sendable {
    private static let zone = TimeZone(identifier: SamplePeople.timeZoneIdentifier) ?? .gmt

    private let mirrorBot: String
    private let sandbox: Sandbox
    private let environment: [String: String]
    private let folder: TemporaryDirectory

    init(_ bench: Bench) async throws {
        mirrorBot = try Beside.mirrorBot()
        folder = try TemporaryDirectory(in: bench.folder.path)
        let origin = Date(milliseconds: Date().milliseconds)
        sandbox = try await Self.startSandbox(at: origin)
        environment = Self.environment(in: folder, on: sandbox)
        let past = try folder.write(
            Data(SampleArchive(endingAt: origin).postLines.utf8), to: "past.jsonl")
        for command in [["train", "scheduler", "--from", past], ["train", "classifier"]] {
            let words = [mirrorBot] + command
            let variables = environment
            let log = folder.path("train.log")
            try await bench.blocking {
                _ = try Program.run(words, environment: variables, outputPath: log)
            }
        }
    }

    /// A network on which little happens.
    static func startSandbox(at origin: Date) async throws -> Sandbox {
        try await Sandbox.start(
            world: SandboxWorld(
                configuration: .init(seed: 1, origin: origin, days: 1, timeZone: zone)),
            now: { Date() }
        )
    }

    /// The variables of a process whose home is a folder, and whose accounts are on such a network.
    static func environment(in folder: TemporaryDirectory, on sandbox: Sandbox) -> [String: String]
    {
        var environment = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path, "LANG": "C.UTF-8",
            "MIRROR_BOT_HOME": folder.path, "TIME_ZONE": zone.identifier, "LOG_LEVEL": "info",
        ]
        for role in SandboxRole.allCases {
            environment.merge(sandbox.settings(of: role, on: .mastodon)) { $1 }
        }
        for name in ["MECAB_DICTIONARY", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        return environment
    }

    /// Starts a worker and returns it with the time until it said that it works.
    func start() throws -> (worker: Program, time: Duration) {
        let start = ContinuousClock.now
        let worker = try Program(
            [mirrorBot, "run"], environment: environment, outputPath: folder.path("run.log"))
        _ = try worker.wait(for: "Worker started")
        return (worker, start.duration(to: .now))
    }

    func close() async { await sandbox.stop() }
}

/// What a worker was seen to use.
private struct IdleWatch {
    /// In MiB, the most of all looks.
    private(set) var privateMemory = 0.0
    /// How much of one processor it took since its start.
    let processorShare: Double

    /// Looks at a worker once a second.
    ///
    /// - Throws: `TestSupportError` if it ends.
    init(_ worker: Program, for length: Duration) throws {
        let start = ContinuousClock.now
        var processorTime = Duration.zero
        while start.duration(to: .now) < length {
            sleep(1)
            guard !worker.isOver, let figures = ProcessFigures(of: worker.pid) else {
                throw TestSupportError(
                    "mirror-bot ended while it was idle: \(worker.output.suffix(2_000))")
            }
            privateMemory = max(privateMemory, figures.privateMemory)
            processorTime = figures.processorTime
        }
        processorShare = processorTime / start.duration(to: .now)
    }
}
