import ArgumentParser
import Commit
import Control
import Fleet
import Foundation
import Logging
import Mirroring
import ServiceLifecycle
import Settings
import Synchronization
import Web

/// `mirror-bot web`.
struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Show and steer the mirrors in a browser.",
        discussion: """
            Serves the page of all mirrors of the database until SIGTERM, SIGINT or SIGHUP; run --web does it \
            beside the worker. The page leads through the set-up of a mirror, and one that begins there works for as \
            long as this command runs. It listens on 127.0.0.1:8080, where only this machine reaches it. On any other \
            address it starts only with \(Setting.webPassword.name), or with \(Setting.webUserHeader.name) behind a reverse proxy that logs \
            people in; docs/web.md tells how.
            """)

    @OptionGroup var page: WebOptions
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await ServiceProcess.run { _ in RunningWeb(options: options, page: page) }
    }
}

/// The options of the web page.
struct WebOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where to listen; overrides \(Setting.webListen.name).", valueName: "address:port"))
    var listen: String?

    @Flag(help: "Show, but let nothing be changed from the page.")
    var readOnly = false

    func validate() throws {
        guard let listen else { return }
        do {
            _ = try WebSettings.listening(listen, named: "--listen")
        } catch let error as ConfigurationError {
            throw ValidationError(error.description)
        }
    }

    /// The settings of the page with these options.
    ///
    /// - Throws: `ConfigurationError` if the page would be accessible from other machines without a
    ///   login.
    func settings(_ process: ProcessSettings) throws -> WebSettings {
        var settings = process.web
        if let listen { settings.listening = try WebSettings.listening(listen, named: "--listen") }
        try settings.requireSafe()
        return settings
    }

    /// The page of the mirrors of an open installation.
    ///
    /// - Parameter onBegin: Asks the worker to begin with a mirror, and returns whether it does;
    ///   nil for a process without a worker.
    /// - Throws: As ``settings(_:)``.
    func server(
        _ installation: Installation, onBegin: (@Sendable (_ mirror: String) -> Bool)? = nil
    ) throws -> WebServer {
        try WebServer(
            installation, try settings(installation.process), isReadOnly: readOnly,
            build: MetricsReport.Build(version: Version.current, commit: SourceCommit.name),
            onBegin: onBegin)
    }
}

/// The web page of a process, which runs until a shutdown.
struct RunningWeb: Service {
    let options: MirrorOptions
    let page: WebOptions

    func run() async throws {
        // Invalid settings of the page are reported before anything is opened.
        _ = try page.settings(try await options.configuration().process)
        do {
            // A read-only page creates no database.
            try await options.withInstallation(
                ifMissing: page.readOnly ? .fail : .create, opening: RunningFleet.open
            ) { installation in
                let started = StartedMirrors()
                try await WebOptions.runWithPage(page, installation, onBegin: started.begin) {
                    await started.work(in: installation)
                }
            }
        } catch is StoppedBeforeStart {
            RunningFleet.noteStop()
        }
    }
}

extension WebOptions {
    /// Runs `work` and the web page together, until the work ends or one of them fails.
    ///
    /// At a shutdown, the work gets more time than the page, because it has to clean up.
    ///
    /// - Parameters:
    ///   - page: The page beside which the work runs; nil for no page.
    ///   - installation: The database of the page.
    ///   - onBegin: As in ``server(_:onBegin:)``.
    ///   - work: The work.
    /// - Throws: The error of either one.
    static func runWithPage(
        _ page: WebOptions?, _ installation: Installation,
        onBegin: (@Sendable (_ mirror: String) -> Bool)? = nil,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let page else { return try await work() }
        let server = try page.server(installation, onBegin: onBegin)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await server.run()
                return false
            }
            group.addTask {
                try await work()
                return true
            }
            // The end of the page alone does not end the work.
            while let isWork = try await group.next(), !isWork {}
            group.cancelAll()
        }
    }
}

/// The mirrors that a person starts on the page.
final class StartedMirrors: Sendable {
    private let running = Mutex<Set<String>>([])
    /// The names of the mirrors, one for each start.
    private let starts: AsyncStream<String>
    private let startsContinuation: AsyncStream<String>.Continuation

    init() { (starts, startsContinuation) = AsyncStream.makeStream(of: String.self) }

    /// Asks for work for a mirror, unless this process already works for it.
    ///
    /// - Returns: True, because this process works for every mirror that is started.
    func begin(_ mirror: String) -> Bool {
        if running.withLock({ $0.insert(mirror).inserted }) { startsContinuation.yield(mirror) }
        return true
    }

    /// Works for each started mirror, until a shutdown.
    func work(in installation: Installation) async {
        await withDiscardingTaskGroup { group in
            for await mirror in starts.cancelOnGracefulShutdown() {
                group.addTask {
                    do {
                        try await MirrorFleet(
                            installation, .named([mirror]),
                            rehearsal: try installation.rehearsal(), manager: nil
                        ).run()
                    } catch {
                        installation.logger.error(
                            "Mirror not begun", metadata: ["error": "\(error)"])
                    }
                    _ = self.running.withLock { $0.remove(mirror) }
                }
            }
        }
    }

    /// Waits until a mirror is started; returns false if the process is shut down before.
    func waitsFor(_ mirror: String) async -> Bool {
        for await name in starts.cancelOnGracefulShutdown() where name == mirror { return true }
        return false
    }
}
