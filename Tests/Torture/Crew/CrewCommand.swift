import ArgumentParser
import Foundation

/// `Torture crew`.
struct CrewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crew",
        abstract:
            "Kill workers that share many mirrors, and fail over everything that they store in.",
        discussion: """
            Starts Postgres with a synchronous standby under pg_auto_failover behind two poolers, a Redis Cluster of \
            six, a network for each mirror, and workers that share the mirrors. Workers die, are held for less and \
            for more than their leases last, come and go; the primary and masters are lost, slots move, poolers die. \
            In the end the ledgers of every mirror must agree, every mirror must have had a worker again within a lease \
            and five seconds, none may have been taken from a worker that lived, and all must have been looked after \
            alike. The last line of the output is one JSON object.

            Beside them a worker with another SECRET_KEY begins again and again: it must hold no mirror and end with 78. \
            Another one, whose database and Redis are reachable and no network is, must hand back what it took. No \
            mirror may wait for a look longer than its poll and 40 seconds while an able worker lives (with leases of \
            30 seconds; 10 seconds and a lease with shorter ones).

            With --upgrade-from, workers of an older program begin each time, which has made the database. It is \
            migrated while they run, or after they have ended or died, and they are replaced together or one after the \
            other. --mirrors counts for each upgrade.
            """)

    @Option(help: ArgumentHelp("Mirrors, 1 to 1000.", valueName: "number"))
    var mirrors = 200

    @Option(help: ArgumentHelp("Workers in the beginning, 2 to 5.", valueName: "number"))
    var workers = 3

    @Option(help: ArgumentHelp("Kills, 1 to 100000.", valueName: "number"))
    var kills = 300

    @Option(
        help: ArgumentHelp(
            "How many of them with leases as long as in earnest.", valueName: "number"))
    var killsInEarnest = 6

    @Option(help: ArgumentHelp("Another seed makes other events.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: "all for `run --all`, or single for a process for each mirror and worker.")
    var mode = CrewMode.all

    @Option(
        help: ArgumentHelp(
            "The program; the one built beside this one if left out.", valueName: "path"))
    var binary: String?

    @Option(
        help: ArgumentHelp(
            "An older program: instead of kills, workers of it are upgraded to the other one under load.",
            valueName: "path"))
    var upgradeFrom: String?

    @Option(
        help: ArgumentHelp(
            "Upgrades, 1 to 1000, each with mirrors of its own.", valueName: "number"))
    var upgrades = 20

    @Option(
        help: ArgumentHelp(
            "How many times as fast the clocks run, 1 to 300; by default what two processors manage.",
            valueName: "number"))
    var factor: Double?

    @Option(help: ArgumentHelp("How long most leases last, 0.5 to 30.", valueName: "seconds"))
    var leaseSeconds = 5.0

    /// As many that something is always being sent, in a day of the networks' clock.
    private static let mentionsWhileUpgrading = 240.0

    @Flag(help: "Only workers that can do their share.")
    var withoutUnable = false

    @Flag(name: .shortAndLong, help: "Tell of every event.")
    var verbose = false

    @Flag(help: "Keep the folder of the run even if nothing was found.")
    var keep = false

    @Option(help: .hidden, transform: Self.kinds)
    var only: Set<CrewEvent.Kind> = []

    func validate() throws {
        guard (1...1_000).contains(mirrors) else {
            throw ValidationError("--mirrors is \(mirrors); expected a number from 1 to 1000")
        }
        guard (2...5).contains(workers) else {
            throw ValidationError("--workers is \(workers); expected a number from 2 to 5")
        }
        guard (1...100_000).contains(kills), (0...kills).contains(killsInEarnest) else {
            throw ValidationError(
                "--kills is \(kills), --kills-in-earnest is \(killsInEarnest); expected 1 to 100000, and 0 to that"
            )
        }
        guard (1...1_000).contains(upgrades), upgradeFrom == nil || upgrades * mirrors <= 60_000
        else {
            throw ValidationError("--upgrades is \(upgrades); expected a number from 1 to 1000")
        }
        if let upgradeFrom, !FileManager.default.isExecutableFile(atPath: upgradeFrom) {
            throw ValidationError("--upgrade-from is \(upgradeFrom), which is no program")
        }
        guard (1...300).contains(factor ?? 1) else {
            throw ValidationError("--factor is \(factor ?? 1); expected a number from 1 to 300")
        }
        guard (0.5...30).contains(leaseSeconds) else {
            throw ValidationError(
                "--lease-seconds is \(leaseSeconds); expected a number from 0.5 to 30")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        var settings = CrewSettings()
        settings.mode = mode
        settings.mirrors = mirrors
        settings.workers = workers
        settings.seed = seed
        settings.kills = kills
        settings.killsInEarnest = killsInEarnest
        settings.program = try binary ?? WorkerProgram.path()
        settings.factor = factor ?? CrewSettings.factor(for: mirrors)
        settings.leaseSeconds = leaseSeconds
        settings.only = only
        settings.hasUnableWorkers = !withoutUnable
        settings.isVerbose = verbose
        settings.keepsFolder = keep
        if let upgradeFrom {
            settings.oldProgram = upgradeFrom
            settings.upgrades = upgrades
            settings.mentionsPerDay = Self.mentionsWhileUpgrading
        }
        let report = try await Interruption.cancelling { [settings] in
            guard settings.oldProgram != nil else {
                return try await CrewRun(settings: settings, say: Self.say).run()
            }
            return try await UpgradeRun(settings: settings, say: Self.say).run()
        }
        for line in report.complaints + report.audit.findings { Self.say(line) }
        print(try report.jsonLine())
        guard report.isPassed else { throw ExitCode.failure }
    }

    @Sendable private static func say(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    private static func kinds(_ list: String) throws -> Set<CrewEvent.Kind> {
        Set(
            try list.split(separator: ",").map { name in
                guard let kind = CrewEvent.Kind(rawValue: String(name)) else {
                    throw ValidationError("nothing is called \(name)")
                }
                return kind
            })
    }
}

extension CrewMode: ExpressibleByArgument {}
