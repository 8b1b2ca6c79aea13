import ArgumentParser
import Foundation
import Mirroring

/// `mirror-bot status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the mirror knows, did last and waits for.",
        discussion: """
            With --check one line, for programs that watch over others: 0 while the mirror does its work, else 69 \
            (database, or the worker cannot begin, send or hear), 75 (no worker), 77 (credentials refused) or 78 \
            (settings).
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Say in one line, and by the exit code, whether the mirror does its work.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "With --check: how old the worker's last beat may be; 60 unless given.", valueName: "seconds"))
    var maxAge: Int?

    func validate() throws {
        if maxAge != nil, !check { throw ValidationError("--max-age needs --check") }
        if check, json { throw ValidationError("--check and --json do not go together") }
        if let maxAge, !(1...86_400).contains(maxAge) {
            throw ValidationError("--max-age is \(maxAge); expected seconds from 1 to 86400")
        }
    }

    func run() async throws {
        try await options.withMirror(looksOnly: true) { mirror in
            guard !check else { return try await checkUp(mirror) }
            let report = try await StatusReporter(mirror: mirror).report(now: mirror.clock.now)
            if json {
                try JSONOutput.print(report)
            } else {
                for line in StatusView.lines(report, terminal: .output) { print(line) }
            }
        }
    }

    private func checkUp(_ mirror: HumanMirror) async throws {
        let silence = maxAge.map(TimeInterval.init) ?? HumanMirror.usualSilence
        if let found = try await mirror.impediment(now: mirror.clock.now, silence: silence) {
            throw CommandError(found.status, "mirror \(mirror.name), \(found.subject): \(found.text)")
        }
        guard try await mirror.table.pause(at: mirror.clock.now) == nil else {
            return print("mirror \(mirror.name) pauses, as it was told")
        }
        let rest = try await mirror.workTroubles().map { ", but " + Printable.line($0.text) }
        print("mirror \(mirror.name) does its work" + rest.joined())
    }
}

extension Finding {
    /// The exit code of a command that found this.
    var status: ExitStatus {
        switch cause {
        case .refused: .refused
        case .unavailable: .unavailable
        case .later: .tryLater
        case .configuration, nil: .configuration
        }
    }
}
