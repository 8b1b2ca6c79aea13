import ArgumentParser
import Mirroring

/// `mirror-bot status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what the mirror knows, did last and waits for.")

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        try await options.withMirror { mirror in
            let report = try await StatusReporter(mirror: mirror).report(now: mirror.clock.now)
            if json {
                try JSONOutput.print(report)
            } else {
                for line in StatusView.lines(report, terminal: .output) { print(line) }
            }
        }
    }
}
