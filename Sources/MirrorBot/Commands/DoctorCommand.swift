import ArgumentParser
import Blocking
import Control
import Foundation
import Logging
import Mirroring
import Posts
import ServiceLifecycle
import UnixSignals

/// `mirror-bot doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything the mirror needs, and say how to mend it.",
        discussion: """
            Checks settings, database, Redis, dictionary, clock, both accounts, the bot's profile, money and rules. \
            It asks every server and changes nothing; on X, checking the credentials costs a cent. It ends with the \
            exit code of the first failure.

            With --probe the bot publishes an unlisted post and a direct answer to it, reads them with and without \
            a login, changes the post, deletes both and looks whether they are gone. The result is stored, and the \
            worker goes by it. Run it once for every server that does not run Mastodon. Followers of the bot may see the post for a moment. Ctrl-C ends the \
            probe and deletes the posts; after a second one, a worker or mirror-bot undo --resume deletes them.
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Test the bot's server with an unlisted post, which is deleted again.")
    var probe = false

    @Flag(help: "Show the last result and its time, without any request.")
    var last = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if last, probe { throw ValidationError("--last and --probe do not go together") }
    }

    func run() async throws {
        if last { return try await showLast() }
        guard probe else { return try await check() }
        try await SignalledWork.run { try await check() }
    }

    private func check() async throws {
        let (_, problems) = try await options.checkedValues()
        var findings = problems.map { Finding.fail("settings", $0) }
        if findings.isEmpty {
            findings.append(.ok("settings", "every value can be used"))
            findings += await examine()
        }
        try show(DoctorReport(findings: findings))
    }

    private func show(_ report: DoctorReport) throws {
        if json {
            try JSONOutput.print(report)
        } else {
            for line in report.lines(terminal: .output) { print(line) }
        }
        if let failed = report.findings.first(where: { $0.verdict == .fail }) {
            throw ExitCode(failed.status.rawValue)
        }
    }

    private func showLast() async throws {
        let (lastFindings, zone) = try await options.withMirror(allowsMoved: true) { mirror in
            (try await mirror.lastFindings(), try await mirror.knownTimeZone())
        }
        guard let (findings, at) = lastFindings else {
            throw CommandError(
                .configuration, "doctor never examined this mirror; run mirror-bot doctor")
        }
        if !json { print("found \(LocalTime(at, in: zone ?? .gmt))") }
        try show(DoctorReport(findings: findings, at: at))
    }

    /// Returns the findings that need an open mirror, or the reason why it cannot be opened.
    private func examine() async -> [Finding] {
        do {
            return try await options.withMirror(allowsMoved: !probe) {
                await Doctor(mirror: $0, probes: probe).examine(now: $0.clock.now)
            }
        } catch {
            return [.fail("database", error)]
        }
    }
}

/// Work that can clean up before a signal ends the process.
///
/// After the first signal, a graceful shutdown begins, and the process ends when the work has
/// ended. A second signal ends the process at once.
private struct SignalledWork: Service {
    let work: @Sendable () async throws -> Void

    func run() async throws { try await work() }

    /// Runs the work, and handles signals if the process runs only this command.
    static func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
        guard Console.current.ownsProcess else { return try await work() }
        let service = ServiceGroupConfiguration.ServiceConfiguration(
            service: SignalledWork(work: work),
            successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .cancelGroup)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [service],
                logger: Logger(label: "mirror-bot") { _ in SwiftLogNoOpLogHandler() }))
        let signals = await UnixSignalsSequence(trapping: EndingSignals.trapped)
        let received = ReceivedSignal()
        let listener = Task {
            for await signal in signals {
                let isFirst = received.note(signal.rawValue)
                if !isFirst { end(by: signal.rawValue) }
                await group.triggerGracefulShutdown()
            }
        }
        try await afterwards({
            listener.cancel()
            if let signal = received.first { end(by: signal) }
        }) { try await group.run() }
    }

    /// Ends the process as the signal would by default.
    private static func end(by number: Int32) {
        // The signal ends the process, even if the output fails.
        try? Console.process.output.flush()
        fflush(nil)
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}

/// The first signal that a process received.
private final class ReceivedSignal: @unchecked Sendable {
    // Sendable because `firstSignal` is only touched under `lock`.
    private let lock = NSLock()
    private var firstSignal: Int32?

    var first: Int32? { lock.withLock { firstSignal } }

    /// Remembers a signal.
    ///
    /// - Returns: False if another signal was received before.
    func note(_ signal: Int32) -> Bool {
        lock.withLock {
            guard firstSignal == nil else { return false }
            firstSignal = signal
            return true
        }
    }
}

/// The findings in their printed form.
private struct DoctorReport: Encodable {
    let schema = "mirror-bot/doctor/1"
    let findings: [Finding]
    /// The time of stored findings; `nil` for new ones.
    var at: Date?

    func lines(terminal: Terminal) -> [String] {
        let width = findings.map(\.subject.count).max() ?? 0
        let columns = max(20, terminal.columns - width - 4)
        return findings.flatMap { finding -> [String] in
            let text = Printable.wrapped(Printable.line(finding.text), columns: columns)
            let fix =
                finding.fix.map { Printable.wrapped("→ " + Printable.line($0), columns: columns) }
                ?? []
            let lineStart =
                mark(finding.verdict, terminal) + " " + Printable.padded(finding.subject, to: width)
                + "  "
            let indent = String(repeating: " ", count: width + 4)
            return (text + fix).enumerated().map { index, line in
                (index == 0 ? lineStart : indent) + line
            }
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
