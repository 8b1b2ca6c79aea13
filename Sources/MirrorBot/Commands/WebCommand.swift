import ArgumentParser
import Commit
import Control
import Foundation
import Mirroring
import ServiceLifecycle
import Settings
import Web

/// `mirror-bot web`.
struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Show and steer the mirrors in a browser.",
        discussion: """
            Serves the page of all mirrors of the database until SIGTERM, SIGINT or SIGHUP; run --web does it \
            beside the worker. It listens on 127.0.0.1:8080, where only this machine reaches it. On any other \
            address it starts only with WEB_PASSWORD, or with WEB_USER_HEADER behind a reverse proxy that logs \
            people in; docs/web.md tells how.
            """)

    @OptionGroup var page: WebOptions
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await ServiceProcess.run { _ in RunningWeb(options: options, page: page) }
    }
}

/// How the web page is served.
struct WebOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where to listen; overrides WEB_LISTEN.", valueName: "address:port"))
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

    /// Where the page is served with these options.
    ///
    /// - Throws: `ConfigurationError` for a page that would be open to other machines.
    func settings(_ process: ProcessSettings) throws -> WebSettings {
        var settings = process.web
        if let listen { settings.listening = try WebSettings.listening(listen, named: "--listen") }
        try settings.requireSafe()
        return settings
    }

    /// The page of the mirrors of an open installation.
    ///
    /// - Throws: As ``settings(_:)``.
    func server(_ installation: Installation) throws -> WebServer {
        try WebServer(
            installation, try settings(installation.process), isReadOnly: readOnly,
            build: MetricsReport.Build(version: Version.current, commit: SourceCommit.name))
    }
}

/// The web page of a process, until it is told to stop.
struct RunningWeb: Service {
    let options: MirrorOptions
    let page: WebOptions

    func run() async throws {
        // Refused before anything is opened.
        _ = try page.settings(try await options.configuration().process)
        do {
            try await options.withInstallation(opening: RunningFleet.open) { installation in
                try await page.server(installation).run()
            }
        } catch is StoppedBeforeItBegan {
            RunningFleet.noteStop()
        }
    }
}

extension WebOptions {
    /// Runs `work`, and beside it the web page, until the work ends or one of them fails.
    ///
    /// A process that is told to stop waits for the work, which puts things away, longer than for
    /// the page.
    ///
    /// - Parameter page: Nil for no page: then nothing of it is made.
    /// - Throws: What either throws.
    static func beside(
        _ page: WebOptions?, _ installation: Installation,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let page else { return try await work() }
        let server = try page.server(installation)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await server.run()
                return false
            }
            group.addTask {
                try await work()
                return true
            }
            while let isWork = try await group.next(), !isWork {}
            group.cancelAll()
        }
    }
}
