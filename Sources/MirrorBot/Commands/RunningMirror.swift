import Control
import Fleet
import Foundation
import Logging
import Mirroring
import ServiceLifecycle
import Settings
import Storage
import UnixSignals

/// A mirror that runs until the process is shut down.
///
/// Reading the settings and waiting for a database are parts of the service too, so that signals
/// are handled from the first moment.
struct RunningMirror: Service {
    let options: MirrorOptions
    /// The service manager to notify; nil for none.
    let manager: ServiceManager?
    /// The web page to serve beside the worker; nil for none.
    let page: WebOptions?

    func run() async throws {
        // Invalid settings of the page are reported before anything is opened.
        if let page { _ = try page.settings(try await options.configuration().process) }
        do {
            try await options.withMirror(isWorker: true, making: .database, opening: open) {
                mirror in
                await RunView.greet(mirror)
                let started = StartedMirrors()
                try await WebOptions.runWithPage(
                    page, mirror.installation,
                    onBegin: { name in name == mirror.name && started.begin(name) }
                ) {
                    // A person sets the mirror up on the page, and starts it there.
                    if page != nil, try await !mirror.setupPosition().isReady {
                        mirror.logger.notice("Mirror not set up yet, the page leads through it")
                        guard await started.waitsFor(mirror.name) else { return }
                    }
                    try await Worker(
                        mirror: try await mirror.withCurrentSettings(), manager: manager
                    ).run()
                }
            }
        } catch is StoppedBeforeStart {
            Logger(label: "mirror-bot").info("Stopped before the database was reached")
        }
    }

    private func open(_ configuration: MirrorConfiguration, _: HumanMirror.Making) async throws
        -> HumanMirror
    {
        try await StoppedBeforeStart.watching {
            try await HumanMirror.openWhenReachable(configuration)
        }
    }
}

/// The mirrors of a process, which run until it is shut down.
struct RunningFleet: Service {
    let options: MirrorOptions
    let selection: MirrorFleet.Selection
    /// The service manager to notify; nil for none.
    let manager: ServiceManager?
    /// The web page to serve beside the worker; nil for none.
    let page: WebOptions?

    func run() async throws {
        // Invalid settings of the page are reported before anything is opened.
        if let page { _ = try page.settings(try await options.configuration().process) }
        do {
            try await options.withInstallation(opening: Self.open) { installation in
                try await WebOptions.runWithPage(
                    page, installation, onBegin: { [selection] in selection.has($0) }
                ) {
                    try await MirrorFleet(
                        installation, selection, rehearsal: try installation.rehearsal(),
                        manager: manager
                    ).run()
                }
            }
        } catch is StoppedBeforeStart {
            Self.noteStop()
        }
    }

    static func noteStop() {
        Logger(label: "mirror-bot").info("Stopped before the database was reached")
    }

    static func open(_ configuration: MirrorConfiguration) async throws -> Installation {
        try await StoppedBeforeStart.watching {
            try await Installation.openWhenReachable(configuration, logsEveryName: true)
        }
    }
}

/// Thrown if a process is shut down while it waits for its database.
struct StoppedBeforeStart: Error {
    /// Opens a database, waiting for its server; a shutdown ends the wait.
    static func watching<Value: Sendable>(_ opening: @escaping @Sendable () async throws -> Value)
        async throws -> Value
    {
        do {
            return try await cancelWhenGracefulShutdown(opening)
        } catch let error where Task.isShuttingDownGracefully && mayBeCausedByShutdown(error) {
            throw StoppedBeforeStart()
        }
    }

    /// Whether an error may be caused by the shutdown; all other errors keep their exit code.
    private static func mayBeCausedByShutdown(_ error: any Error) -> Bool {
        error is CancellationError || (error as? StorageError)?.isTransient == true
    }
}

/// Runs a service as the only work of a process.
enum ServiceProcess {
    /// Runs a service until it ends, or until the process receives one of
    /// ``EndingSignals/trapped``.
    ///
    /// - Parameter service: Returns the service. Its argument is the service manager that started
    ///   the process; nil for none.
    /// - Throws: An error that ends the service.
    static func run(_ service: (ServiceManager?) -> any Service) async throws {
        let manager = ServiceManager(environment: Console.current.environment)
        let ownsProcess = Console.current.ownsProcess
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(
                    service: service(manager), successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup)
            ],
            gracefulShutdownSignals: ownsProcess ? EndingSignals.trapped : [],
            // The settings of logging are not read yet, and a group logs only its own steps.
            logger: Logger(label: "mirror-bot") { _ in SwiftLogNoOpLogHandler() })
        // Services are shut down from the last to the first, so the watchdog and the manager learn
        // of a shutdown before the service.
        if ownsProcess {
            configuration.services.append(
                .init(
                    service: ShutdownWatchdog(), successTerminationBehavior: .ignore,
                    failureTerminationBehavior: .ignore))
        }
        if let manager {
            configuration.services.append(
                .init(
                    service: manager, successTerminationBehavior: .ignore,
                    failureTerminationBehavior: .ignore))
        }
        // The group cancels what still runs after this time, which is shorter than the watchdog's
        // limit.
        configuration.maximumGracefulShutdownDuration = .seconds(8)
        try await ServiceGroup(configuration: configuration).run()
    }
}

extension HumanMirror {
    /// Runs `body` with a worker of this mirror, for one pass.
    ///
    /// - Parameters:
    ///   - sendsNotices: Whether to send the configured notices.
    ///   - body: Uses the worker.
    /// - Throws: The error of `body`.
    func withWorker(sendsNotices: Bool, _ body: (Worker) async throws -> Void) async throws {
        let worker = Worker(mirror: self)
        guard sendsNotices, let herald = Herald(installation, clock: clock) else {
            return try await body(worker)
        }
        try await herald.accompany({ [name] in Notifier.Watch(name, worker.pulse) }, endsFor: name)
        {
            try await body(worker)
        }
    }
}
