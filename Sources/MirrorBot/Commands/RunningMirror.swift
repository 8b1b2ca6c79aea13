import Fleet
import Foundation
import Logging
import Mirroring
import ServiceLifecycle
import Settings
import Storage
import UnixSignals

/// A mirror that runs until it is told to stop.
///
/// All of it is a service, the reading of settings and the waiting for a database included: who listens to signals does so
/// from the first moment.
struct RunningMirror: Service {
    let options: MirrorOptions
    /// Who started the process and wants to know how it is; nil for nobody.
    private let manager = ServiceManager(environment: Console.current.environment)

    init(options: MirrorOptions) { self.options = options }

    /// Runs until SIGTERM or SIGINT.
    ///
    /// - Throws: What ends it for another reason.
    func runAsGroup() async throws {
        let ownsProcess = Console.current.ownsProcess
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(
                    service: self, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup)
            ],
            gracefulShutdownSignals: ownsProcess ? [.sigterm, .sigint] : [],
            // The settings say how to log, and are not read yet. A group has nothing to tell but its own steps.
            logger: Logger(label: "mirror-bot") { _ in SwiftLogNoOpLogHandler() })
        // Services are told to stop from the last to the first.
        if ownsProcess {
            configuration.services.append(
                .init(
                    service: ShutdownWatchdog(), successTerminationBehavior: .ignore,
                    failureTerminationBehavior: .ignore))
        }
        if let manager {
            configuration.services.append(
                .init(
                    service: manager, successTerminationBehavior: .ignore, failureTerminationBehavior: .ignore))
        }
        configuration.maximumGracefulShutdownDuration = .seconds(8)
        try await ServiceGroup(configuration: configuration).run()
    }

    func run() async throws {
        do {
            try await options.withMirror(lasts: true, making: .database, opening: open) { mirror in
                await RunView.greet(mirror)
                try await mirror.withWorker(manager: manager) { try await $0.run() }
            }
        } catch is StoppedBeforeItBegan {
            Logger(label: "mirror-bot").info("Stopped before the database was reached")
        }
    }

    /// Opens the mirror, waiting for its server; told to stop, it waits no longer.
    private func open(_ configuration: MirrorConfiguration, _: HumanMirror.Making) async throws -> HumanMirror {
        do {
            return try await cancelWhenGracefulShutdown { try await HumanMirror.openWhenReachable(configuration) }
        } catch let error where Task.isShuttingDownGracefully && Self.mayComeOfStopping(error) {
            throw StoppedBeforeItBegan()
        }
    }

    /// Anything else is worth an exit code even now.
    private static func mayComeOfStopping(_ error: any Error) -> Bool {
        error is CancellationError || (error as? StorageError)?.isTransient == true
    }
}

/// It was told to stop while it waited for its database.
private struct StoppedBeforeItBegan: Error {}

extension HumanMirror {
    /// Runs `body` with a worker of this mirror.
    ///
    /// - Parameters:
    ///   - manager: Whom the worker tells how it is; nil for nobody.
    ///   - isAccompanied: Whether a person is told what they should know, where that is set.
    ///   - body: Uses the worker.
    /// - Throws: What `body` throws.
    func withWorker(
        manager: ServiceManager? = nil, isAccompanied: Bool = true, _ body: (Worker) async throws -> Void
    ) async throws {
        try await tellContact()
        guard isAccompanied, let herald = Herald(of: self) else {
            return try await body(Worker(mirror: self, manager: manager))
        }
        try await herald.accompany { try await body(Worker(mirror: self, manager: manager, pulse: $0)) }
    }
}
