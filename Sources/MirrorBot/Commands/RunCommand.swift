import ArgumentParser
import Daemon
import Foundation
import Logging
import Outbox
import ServiceLifecycle
import UnixSignals

/// `mirror-bot run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Be the mirror: post, reply, favorite and keep learning until stopped.",
        discussion: """
            SIGTERM and SIGINT end it within ten seconds. Several processes may run for one mirror: one works, the \
            others wait.
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(name: .shortAndLong, help: "Decide once, print what would be sent, and keep nothing.")
    var dryRun = false

    @Flag(help: "Make one pass over everything and exit, for cron.")
    var once = false

    func run() async throws {
        try await options.withMirror(waitsForDatabase: !once && !dryRun) { stores in
            let configuration = stores.configuration
            try configuration.requireLastingStorage()
            let clock = stores.clock
            let registry = NetworkRegistry(version: Version.current, clock: clock)
            defer { registry.shutdown() }
            let logger = Logger(label: "mirror-bot")
            let worker = Worker(stores: stores, registry: registry, clock: clock, logger: logger)
            if dryRun {
                try await pretend(worker)
            } else if once {
                guard try await worker.runOnce() else {
                    throw CommandError(.tryLater, "could not run: another worker holds mirror \(configuration.mirror)")
                }
            } else {
                try await serve(worker, logger)
            }
        }
    }

    private func pretend(_ worker: Worker) async throws {
        let printed = PrintedActions()
        let plan = try await worker.dryRun { action in printed.add(action) }
        for line in plan.map(DryRunView.lines) ?? ["no plan: the archive is empty"] { print(line) }
        for action in printed.all { print(DryRunView.line(action)) }
        print("dry run: nothing was sent, nothing was kept")
    }

    private func serve(_ worker: Worker, _ logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(
                    service: worker, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup),
                // The last one is told first.
                .init(
                    service: ShutdownWatchdog(logger: logger), successTerminationBehavior: .ignore,
                    failureTerminationBehavior: .ignore),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(8)
        try await ServiceGroup(configuration: configuration).run()
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
