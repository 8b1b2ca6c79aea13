import Control
import Foundation
import Localization
import Mirroring
import Settings

/// The first lines of `mirror-bot run` at a terminal.
enum RunView {
    /// Prints the next events and useful commands, if the output is a terminal and the mirror can
    /// start.
    static func greet(_ mirror: HumanMirror) async {
        let terminal = Terminal.output
        guard terminal.isInteractive else { return }
        let now = mirror.clock.now
        // The worker starts even if the report cannot be made.
        guard let report = try? await StatusReporter(mirror: mirror).report(now: now),
            report.canStart
        else { return }
        let flags = mirror.configuration.flagWords
        for line in lines(report, now: now, flags: flags, terminal: terminal) { print(line) }
        // The worker starts even if the lines cannot be written.
        try? Console.current.output.flush()
    }

    /// - Parameters:
    ///   - report: The state of the mirror before the start.
    ///   - now: The present.
    ///   - flags: The flags that commands need to find the mirror.
    ///   - terminal: The terminal of the output.
    static func lines(_ report: StatusReport, now: Date, flags: [String], terminal: Terminal)
        -> [String]
    {
        func row(_ name: String, _ value: String) -> [String] {
            Printable.rows(name, value, indent: 7, columns: terminal.columns)
        }
        func command(_ word: String) -> String {
            (["mirror-bot", word] + flags).joined(separator: " ")
        }
        let next =
            if let obstacle = report.obstacleToPosts { localized("no post: \(obstacle)") } else {
                report.nextPost(now: now).map { localized("a post \($0)") }
                    ?? localized("no post is planned; plan --date shows other days")
            }
        let headline =
            report.isRunning
            ? localized("Another worker works for mirror \(report.mirror); this one waits")
            : localized("Working for mirror \(report.mirror)")
        var lines = Printable.wrapped(headline, columns: terminal.columns).map { terminal.bold($0) }
        lines += row(localized("next"), next)
        lines += row(localized("look"), localized("in another terminal:"))
        // Each command is on one line, so that it can be copied.
        lines += [command("status"), command("plan")].map { "       " + Printable.line($0) }
        return lines + row(localized("stop"), "Ctrl-C")
    }
}
