import ArgumentParser
import Commit
import Control
import Foundation
import Mirroring
import Settings

/// `mirror-bot status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the mirror knows, did last and waits for.",
        discussion: """
            With --check one line, for programs that watch over others: 0 while the mirror does its work or pauses as \
            it was told, else 69 (database, money for X, or the worker cannot begin, send or hear), 75 (no worker), 77 \
            (credentials refused) or 78 (settings, or nothing was learned yet).

            --metrics prints Prometheus' text format: of the mirror that --mirror or \(Setting.mirror.name) names, else of the mirror of \
            the database, or where there are several, totals of all; with --all each of them by its name. Where the \
            database cannot be read, mirrorbot_up is 0, and the exit code tells why. For the textfile collector of a \
            node exporter, from cron:

              mirror-bot status --metrics --output FILE.prom

            --all lists all mirrors of the database, the worst first, in one line each; with --check it says whether all \
            of them do their work, with the exit code of the worst.
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Say in one line, and by the exit code, whether the mirror does its work.")
    var check = false

    @Flag(help: "Print metrics in Prometheus' text format.")
    var metrics = false

    @Option(
        help: ArgumentHelp(
            "With --metrics: the file to write, which is replaced as a whole and readable for everybody.",
            valueName: "file"))
    var output: String?

    @Flag(help: "Show all mirrors of the database, the worst first.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "With --all: only mirrors whose name or handles contain these words.",
            valueName: "words"))
    var search: String?

    @Option(
        help: ArgumentHelp("With --all: which page of 50 mirrors, from 1.", valueName: "number"))
    var page: Int?

    @Option(
        help: ArgumentHelp(
            "With --check: how old the worker's last beat, or the last run --once, may be; 60 for a beat unless given.",
            valueName: "seconds"))
    var maxAge: Int?

    func validate() throws {
        if maxAge != nil, !check { throw ValidationError("--max-age needs --check") }
        if check, json { throw ValidationError("--check and --json do not go together") }
        if output != nil, !metrics { throw ValidationError("--output needs --metrics") }
        if output?.isEmpty == true { throw ValidationError("--output is empty") }
        if !all, search != nil || page != nil {
            throw ValidationError("--search and --page need --all")
        }
        if metrics, search != nil || page != nil {
            throw ValidationError("--metrics goes with neither --search nor --page")
        }
        if all, options.mirror != nil {
            throw ValidationError("--all and --mirror do not go together")
        }
        if all, check, page != nil {
            throw ValidationError("--check and --page do not go together")
        }
        if let page, page < 1 {
            throw ValidationError("--page is \(page); expected a number from 1")
        }
        if metrics, check || json {
            throw ValidationError("--metrics goes with neither --check nor --json")
        }
        if let maxAge, !(1...86_400).contains(maxAge) {
            throw ValidationError("--max-age is \(maxAge); expected seconds from 1 to 86400")
        }
    }

    func run() async throws {
        if metrics { return try await printMetrics() }
        if all { return try await showAll() }
        do {
            try await show()
        } catch let error as ConfigurationError
            where !check && [.database, .mirror].contains(error.part)
        {
            // Without a mirror, only the steps to create one are shown.
            let report = try await options.withMirrorOrEmpty { mirror in
                try await StatusReporter(mirror: mirror).report(now: mirror.clock.now)
            }
            if json {
                try JSONOutput.print(report)
            } else {
                for line in StatusView.setup(report, terminal: .output) { print(line) }
            }
            try Console.current.output.flush()
            throw error
        }
    }

    private func show() async throws {
        try await options.withMirror(allowsMoved: true) { mirror in
            guard !check else { return try await printCheck(mirror) }
            let report = try await StatusReporter(mirror: mirror).report(now: mirror.clock.now)
            if json {
                try JSONOutput.print(report)
            } else {
                for line in StatusView.lines(report, terminal: .output) { print(line) }
            }
        }
    }

    private func showAll() async throws {
        try await options.withInstallation { installation in
            var query = MirrorsStatus.Query(words: search, page: page ?? 1)
            query.silence = maxAge.map(TimeInterval.init)
            let status = try await MirrorsStatus(
                of: installation, query, now: installation.clock.now)
            if check {
                let line = Printable.line(status.check.text)
                guard let cause = status.check.failure else { return print(line) }
                throw CommandError(ExitStatus(cause), line)
            }
            if json { return try JSONOutput.print(status) }
            for line in MirrorsStatusView.lines(status, terminal: .output) { print(line) }
        }
    }

    /// Prints the metrics, even if the database cannot be read; the error is reported too.
    private func printMetrics() async throws {
        let file = OutputFile(output ?? OutputFile.standardOutput, isForced: true, mode: 0o644)
        try file.check()
        let build = MetricsReport.Build(version: Version.current, commit: SourceCommit.name)
        do {
            let isNamed = try await options.configuration().mirror.isNamed
            let report =
                if isNamed, !all {
                    try await options.withMirror(allowsMoved: true) { mirror in
                        try await MetricsReport(of: mirror, build: build, now: mirror.clock.now)
                    }
                } else {
                    try await options.withInstallation { installation in
                        try await MetricsReport(
                            of: installation, all ? .each : .together, build: build,
                            now: installation.clock.now)
                    }
                }
            try file.write(report.exposition.text)
        } catch let error where !(error is CommandError) && !(error is ValidationError) {
            try file.write(MetricsReport.down(build).text)
            throw error
        }
    }

    private func printCheck(_ mirror: HumanMirror) async throws {
        let health = try await mirror.health(
            now: mirror.clock.now, silence: maxAge.map(TimeInterval.init))
        let line = Printable.line(health.checkLine(of: mirror.name))
        guard let cause = health.failure else { return print(line) }
        throw CommandError(ExitStatus(cause), line)
    }
}

extension ExitStatus {
    /// The exit code for the cause of a finding.
    init(_ cause: Finding.Cause) {
        self =
            switch cause {
            case .refused: .refused
            case .unavailable: .unavailable
            case .later: .tryLater
            case .configuration: .configuration
            }
    }
}

extension Finding {
    /// The exit code for this finding.
    var status: ExitStatus { ExitStatus(cause ?? .configuration) }
}
