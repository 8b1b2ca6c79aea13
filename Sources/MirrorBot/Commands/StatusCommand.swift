import ArgumentParser
import Control
import Foundation
import Mirroring

/// `mirror-bot status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the mirror knows, did last and waits for.",
        discussion: """
            With --check one line, for programs that watch over others: 0 while the mirror does its work or pauses as \
            it was told, else 69 (database, money for X, or the worker cannot begin, send or hear), 75 (no worker), 77 \
            (credentials refused) or 78 (settings, or nothing was learned yet).
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Say in one line, and by the exit code, whether the mirror does its work.")
    var check = false

    @Flag(help: "Print the mirror's health as metrics, for the textfile collector of a Prometheus node exporter.")
    var metrics = false

    @Option(
        help: ArgumentHelp(
            "With --check: how old the worker's last beat, or the last run --once, may be; 60 for a beat unless given.",
            valueName: "seconds"))
    var maxAge: Int?

    func validate() throws {
        if maxAge != nil, !check { throw ValidationError("--max-age needs --check") }
        if check, json { throw ValidationError("--check and --json do not go together") }
        if metrics, check || json { throw ValidationError("--metrics goes with neither --check nor --json") }
        if let maxAge, !(1...86_400).contains(maxAge) {
            throw ValidationError("--max-age is \(maxAge); expected seconds from 1 to 86400")
        }
    }

    func run() async throws {
        try await options.withMirror(looksOnly: true) { mirror in
            guard !check else { return try await checkUp(mirror) }
            if metrics {
                let health = try await mirror.health(now: mirror.clock.now)
                return print(health.metrics(of: mirror.name).joined(separator: "\n"))
            }
            let report = try await StatusReporter(mirror: mirror).report(now: mirror.clock.now)
            if json {
                try JSONOutput.print(report)
            } else {
                let terminal = Terminal.output
                for line in StatusView.lines(report, terminal: terminal) { print(terminal.shown(line)) }
            }
        }
    }

    private func checkUp(_ mirror: HumanMirror) async throws {
        let health = try await mirror.health(now: mirror.clock.now, silence: maxAge.map(TimeInterval.init))
        let line = Printable.line(health.checkLine(of: mirror.name))
        guard let cause = health.failure else { return print(line) }
        throw CommandError(ExitStatus(cause), line)
    }
}

extension ExitStatus {
    /// The exit code of a command that found what only this ends.
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
    /// The exit code of a command that found this.
    var status: ExitStatus { ExitStatus(cause ?? .configuration) }
}
