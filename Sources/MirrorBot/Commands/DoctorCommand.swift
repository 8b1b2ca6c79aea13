import ArgumentParser
import Foundation
import Mirroring

/// `mirror-bot doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine everything the mirror needs, and say how to mend it.",
        discussion: """
            Settings, database, Redis, dictionary, clock, both accounts, the bot's profile, money and rules. Asks every \
            server and changes nothing; on X, whose the credentials are costs a cent. Ends with the code of the first \
            thing that failed.

            With --probe the bot publishes an unlisted post and an answer to it, reads them with and without a login, \
            changes one and deletes both; what the server was found to do is kept and shown from then on. Recommended \
            once for every server that does not run Mastodon. Followers of the bot may see the post for a moment.
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Try out the bot's server with one unlisted post, which is deleted again.")
    var probe = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let (_, problems) = try await options.checkedValues()
        var findings = problems.map { Finding.fail("settings", $0) }
        if findings.isEmpty {
            findings.append(.ok("settings", "every value can be used"))
            findings += await examine()
        }
        let report = DoctorReport(findings: findings)
        if json {
            try JSONOutput.print(report)
        } else {
            for line in report.lines(terminal: .output) { print(line) }
        }
        if let failed = findings.first(where: { $0.verdict == .fail }) { throw ExitCode(failed.status.rawValue) }
    }

    /// What only an open mirror can tell; why it cannot be opened, if so.
    private func examine() async -> [Finding] {
        do {
            return try await options.withMirror(looksOnly: !probe) {
                await Doctor(mirror: $0, probes: probe).findings(now: $0.clock.now)
            }
        } catch {
            return [.fail("database", error)]
        }
    }
}

/// What was found, as it is printed.
private struct DoctorReport: Encodable {
    let schema = "mirror-bot/doctor/1"
    let findings: [Finding]

    func lines(terminal: Terminal) -> [String] {
        let width = findings.map(\.subject.count).max() ?? 0
        let columns = max(20, terminal.columns - width - 4)
        return findings.flatMap { finding -> [String] in
            let text = FigureGroup.wrapped(Printable.line(finding.text), columns: columns)
            let fix = finding.fix.map { FigureGroup.wrapped("→ " + Printable.line($0), columns: columns) } ?? []
            let head = mark(finding.verdict, terminal) + " " + Printable.padded(finding.subject, to: width) + "  "
            let indent = String(repeating: " ", count: width + 4)
            return (text + fix).enumerated().map { $0 == 0 ? head + $1 : indent + $1 }
        }
    }

    private func mark(_ verdict: Finding.Verdict, _ terminal: Terminal) -> String {
        switch verdict {
        case .ok: terminal.green("✔")
        case .warn: terminal.yellow("!")
        case .fail: terminal.bold("✖")
        }
    }
}
