import ArgumentParser
import Foundation

/// `Torture fleet`: what many mirrors cost, and whether they keep their times.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Measure workers with thousands of mirrors against a town on this machine.",
        discussion: """
            Starts Postgres, Redis and a town of as many humans and bots as there are mirrors, teaches every mirror its \
            past, starts the workers and measures them. What the town received and what the database says must agree. \
            Ends with 1 when a goal is missed, or when a bot did something twice, told somebody who had not asked, or \
            lost something. With --smoke only the latter counts.
            """)

    @Option(help: ArgumentHelp("Mirrors of the measures `idle` and `start`.", valueName: "number"))
    var mirrors = 10_000

    @Option(help: ArgumentHelp("Seconds that a measure of resources lasts.", valueName: "number"))
    var seconds = 180

    @Option(help: ArgumentHelp("Hosts that the mirrors are spread over.", valueName: "number"))
    var hosts = 100

    @Option(
        help: ArgumentHelp(
            "Which of idle, day, sizes, one to run, separated by commas; all, or idle and day with --smoke.",
            valueName: "names"),
        transform: Self.measures)
    var measures: Set<FleetMeasure>?

    @Option(
        help: ArgumentHelp(
            "Mirrors of the measure `sizes`, separated by commas.", valueName: "numbers"))
    var sizes = "100,1000,10000"

    @Option(help: ArgumentHelp("Mirrors of the measure `day`.", valueName: "number"))
    var dayMirrors = 1_000

    @Option(help: ArgumentHelp("Workers of the measure `day`.", valueName: "number"))
    var dayWorkers = 3

    @Option(
        help: ArgumentHelp(
            "Hours of the mirrors' clock that the measure `day` lasts.", valueName: "number"))
    var hours = 27.0

    @Option(
        help: ArgumentHelp(
            "How many times as fast the clocks of `day` run, 1 to 300.", valueName: "number"))
    var factor = 300.0

    @Option(help: ArgumentHelp("POLL_SECONDS of every mirror.", valueName: "number"))
    var poll = 60

    @Option(help: ArgumentHelp("Another seed makes other people.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "The program; the one built beside this one if left out.", valueName: "path"))
    var binary: String?

    @Option(
        help: ArgumentHelp(
            "A program to compare the measure `one` with, such as the last release.",
            valueName: "path"))
    var before: String?

    @Option(
        help: ArgumentHelp("What a worker of many mirrors is started with.", valueName: "words"))
    var command = "run --all"

    @Flag(
        help:
            "Start a worker for each mirror, by its environment, in place of workers of many mirrors."
    )
    var each = false

    @Flag(help: "Tiny sizes, a minute or two in all; no goal is judged.")
    var smoke = false

    @Flag(help: "End with one JSON object on a line of its own.")
    var json = false

    @Flag(help: "Keep the folders of the runs.")
    var keep = false

    func validate() throws {
        guard (1...300).contains(factor) else {
            throw ValidationError("--factor is \(factor); expected a number from 1 to 300")
        }
        guard mirrors > 0, dayMirrors > 0, dayWorkers > 0, seconds > 0, hosts > 0, hours > 0,
            poll > 0
        else {
            throw ValidationError("sizes and times must be above 0")
        }
        guard !Self.numbers(sizes).isEmpty else {
            throw ValidationError("--sizes is \"\(sizes)\"; expected numbers such as 100,1000")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        Self.raiseFileLimit()
        let bench = FleetBench(plan: try plan, say: Self.say)
        let report = try await Interruption.cancelling { try await bench.run() }
        report.lines.forEach { print($0) }
        if json { print(try report.jsonLine()) }
        guard report.isPassed else { throw ExitCode.failure }
    }

    private var plan: FleetPlan {
        get throws {
            var plan = FleetPlan(program: try binary ?? WorkerProgram.path(), seed: seed)
            plan.before = before
            plan.measures = measures ?? (smoke ? [.idle, .day] : Set(FleetMeasure.allCases))
            plan.mirrors = mirrors
            plan.hosts = hosts
            plan.seconds = seconds
            plan.poll = poll
            plan.sizes = Self.numbers(sizes)
            plan.dayMirrors = dayMirrors
            plan.dayWorkers = dayWorkers
            plan.hours = hours
            plan.factor = factor
            plan.launch = each ? .each : .all(command.split(separator: " ").map(String.init))
            plan.keepsFolders = keep
            plan.judgesGoals = !smoke
            if smoke {
                plan.mirrors = 20
                plan.hosts = 5
                plan.seconds = 12
                plan.poll = 10
                plan.sizes = [5, 20]
                plan.dayMirrors = 20
                plan.hours = 3.2
            }
            return plan
        }
    }

    private static func numbers(_ list: String) -> [Int] {
        let numbers = list.split(separator: ",").map { Int($0) }
        return numbers.allSatisfy { $0 ?? 0 > 0 } ? numbers.compactMap(\.self) : []
    }

    private static func measures(_ list: String) throws -> Set<FleetMeasure> {
        Set(
            try list.split(separator: ",").map { name in
                guard let measure = FleetMeasure(rawValue: String(name)) else {
                    throw ValidationError(
                        "\"\(name)\" is no measure; expected idle, day, sizes or one")
                }
                return measure
            })
    }

    /// The town has a descriptor for every connection of every worker.
    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    @Sendable private static func say(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}

/// A part of the benchmark.
enum FleetMeasure: String, CaseIterable, Sendable {
    /// Resources of one worker while nothing happens, and the time from its start to the first poll
    /// of every mirror.
    case idle
    /// Mirrors that live a day on a fast clock.
    case day
    /// The cost of a mirror in fleets of different sizes.
    case sizes
    /// One mirror alone.
    case one
}

/// What the benchmark is to do.
struct FleetPlan: Sendable {
    /// How workers are started.
    enum Launch: Equatable, Sendable {
        /// With these arguments, each for all mirrors of the database.
        case all([String])
        /// With `run`, one for each mirror, whose settings are in the environment.
        case each
    }

    var program: String
    var before: String?
    var seed: UInt64
    var measures = Set(FleetMeasure.allCases)
    var mirrors = 10_000
    var hosts = 100
    var seconds = 180
    var sizes = [100, 1_000, 10_000]
    var dayMirrors = 1_000
    var dayWorkers = 3
    var hours = 27.0
    var factor = 300.0
    var poll = 60
    var launch = Launch.all(["run", "--all"])
    var keepsFolders = false
    var judgesGoals = true

    init(program: String, seed: UInt64) {
        self.program = program
        self.seed = seed
    }
}
