import ArgumentParser
import Fleet
import Foundation
import Localization
import Mirroring
import Outbox

/// `mirror-bot run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Be the mirror: post, reply, favorite and keep learning until stopped.",
        discussion: """
            SIGTERM, SIGINT and SIGHUP (a closed terminal) end it within ten seconds, with 0, whatever it waits for. \
            Under nohup SIGHUP is ignored. Several processes may run for one mirror: one works, the others wait. With \
            --all, any number of processes share the mirrors of a database, and what only a person can mend about one mirror leaves the others alone; status --all shows them.
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(name: .shortAndLong, help: "Decide once, print what would be sent, and keep nothing.")
    var dryRun = false

    @Flag(help: "Make one pass over everything and exit, for cron.")
    var once = false

    @Flag(help: "Work for every mirror of the database, shared with other processes that do so.")
    var all = false

    @Option(help: ArgumentHelp("Work for these mirrors alone.", valueName: "a,b"))
    var mirrors: String?

    @Flag(help: "Serve the web page from this process, as mirror-bot web does.")
    var web = false

    @OptionGroup var page: WebOptions

    func validate() throws {
        if web, once || dryRun {
            throw ValidationError("--web goes with neither --once nor --dry-run")
        }
        if !web, page.listen != nil || page.readOnly {
            throw ValidationError("--listen and --read-only need --web")
        }
        guard all || mirrors != nil else { return }
        let flag = all ? "--all" : "--mirrors"
        if all, mirrors != nil { throw ValidationError("--all and --mirrors exclude each other") }
        if once || dryRun {
            throw ValidationError("\(flag) goes with neither --once nor --dry-run")
        }
        if options.mirror != nil {
            throw ValidationError("\(flag) and --mirror exclude each other")
        }
        if mirrorNames.isEmpty, !all {
            throw ValidationError("--mirrors is empty; expected names, as a,b")
        }
    }

    /// The names that `--mirrors` lists.
    private var mirrorNames: [String] {
        (mirrors ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter
        { !$0.isEmpty }
    }

    func run() async throws {
        if all || mirrors != nil {
            let selection: MirrorFleet.Selection = all ? .all : .named(mirrorNames)
            return try await ServiceProcess.run {
                RunningFleet(
                    options: options, selection: selection, manager: $0, page: web ? page : nil)
            }
        }
        guard once || dryRun else {
            return try await ServiceProcess.run {
                RunningMirror(options: options, manager: $0, page: web ? page : nil)
            }
        }
        try await options.withMirror(making: .database) { mirror in
            try await mirror.withWorker(sendsNotices: !dryRun) { worker in
                if let retirement = try await mirror.table.record().retirement {
                    if retirement.isOver { throw retirement.retiredError(of: mirror.name) }
                    guard !dryRun || !retirement.isDue(at: mirror.clock.now) else {
                        return print(
                            localized("nothing would be sent: mirror \(mirror.name) retires"))
                    }
                }
                if dryRun { return try await printDryRun(worker) }
                if let pause = try await mirror.table.pause(at: mirror.clock.now) {
                    worker.notePause()
                    await worker.notePass()
                    let pauseEnd = pause.ending(in: try await mirror.knownTimeZone())
                    return print(
                        localized("nothing was done: mirror \(mirror.name) pauses \(pauseEnd)"))
                }
                guard try await worker.runOnce() else {
                    throw CommandError(
                        .tryLater,
                        localized("could not run: another worker holds mirror \(mirror.name)"))
                }
            }
        }
    }

    private func printDryRun(_ worker: Worker) async throws {
        let printed = PrintedActions()
        let plan = try await worker.dryRun { action in printed.add(action) }
        for line in plan.map(DryRunView.lines) ?? [
            localized("no plan: the human's past has not been read, or the archive is empty")
        ] { print(line) }
        for action in printed.all { print(DryRunView.line(action)) }
        print(localized("dry run: nothing was sent, nothing was kept"))
    }
}

/// The actions of a dry run, in the order in which they would be sent.
final class PrintedActions: @unchecked Sendable {
    // Sendable because the list is only touched under `lock`.
    private let lock = NSLock()
    private var actions: [Action] = []

    var all: [Action] { lock.withLock { actions } }

    func add(_ action: Action) { lock.withLock { actions.append(action) } }
}
