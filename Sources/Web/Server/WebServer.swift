package import Control
import Foundation
import Hummingbird
import HummingbirdCore
import Localization
import Logging
package import Mirroring
import NIOCore
import ServiceLifecycle
package import Settings

/// The web page of the mirrors of a database; runs until the process is shut down.
package struct WebServer: Service {
    /// The interval of checks for clients that exceed a timeout.
    private static let sweepInterval: Duration = .seconds(1)
    /// Limits of a request's headers, in bytes and in number.
    private static let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: 16 * 1_024, maxHeaderListSize: 32 * 1_024, maxHeaderFieldCount: 100)

    private let installation: Installation
    private let settings: WebSettings
    private let isReadOnly: Bool
    private let build: MetricsReport.Build
    private let demo: (@Sendable () -> DemoMoment)?
    private let setup: SetupWork
    private let onListening: @Sendable (Int) async -> Void
    private let connections: ConnectionBook

    /// - Parameters:
    ///   - installation: The open database; it is not closed here.
    ///   - settings: The address, and the access rules.
    ///   - isReadOnly: Whether changes are forbidden.
    ///   - build: The version and commit of the program, for the metrics.
    ///   - onBegin: Asks the worker to begin with a mirror, and returns whether it does; nil for a
    ///     process without a worker.
    ///   - demo: Returns the progress of the shown demo; nil for no demo.
    ///   - onListening: A function that is called with the port once connections are accepted.
    /// - Throws: `ConfigurationError` if the page would be accessible from other machines without a
    ///   login.
    package init(
        _ installation: Installation, _ settings: WebSettings, isReadOnly: Bool,
        build: MetricsReport.Build,
        onBegin: (@Sendable (_ mirror: String) -> Bool)? = nil,
        demo: (@Sendable () -> DemoMoment)? = nil,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws {
        try self.init(
            installation, settings, isReadOnly: isReadOnly, build: build, demo: demo,
            setup: SetupWork(begin: onBegin),
            connections: ConnectionBook(share: { Caller.share(ofConnection: $0, settings) }),
            onListening: onListening)
    }

    /// - Parameters:
    ///   - setup: The state of set-ups in this process.
    ///   - connections: Admits connections, and closes those whose clients exceed a timeout.
    /// - Throws: As ``init(_:_:isReadOnly:build:onBegin:demo:onListening:)``.
    init(
        _ installation: Installation, _ settings: WebSettings, isReadOnly: Bool,
        build: MetricsReport.Build,
        demo: (@Sendable () -> DemoMoment)?, setup: SetupWork = SetupWork(),
        connections: ConnectionBook,
        onListening: @escaping @Sendable (Int) async -> Void
    ) throws {
        try settings.requireSafe()
        self.installation = installation
        self.settings = settings
        self.isReadOnly = isReadOnly
        self.build = build
        self.demo = demo
        self.setup = setup
        self.connections = connections
        self.onListening = onListening
    }

    /// Serves the page.
    ///
    /// - Throws: `WebServer.Unavailable` if the address cannot be listened on.
    package func run() async throws {
        let site = try await WebSite(
            installation, settings, isReadOnly: isReadOnly, build: build, demo: demo,
            setup: setup, connections: connections)
        let application = Application(
            router: site.router(),
            server: HTTPServerBuilder { [connections] responder in
                AdmittedChannel(
                    connections: connections,
                    http: HTTP1Channel(
                        responder: responder,
                        configuration: .init(httpDecoderConfiguration: Self.decoder)))
            },
            configuration: ApplicationConfiguration(
                address: .hostname(settings.listening.host, port: settings.listening.port)),
            onServerRunning: {
                [onListening, listening = settings.listening, logger = installation.logger] channel
                in
                let port = channel.localAddress?.port ?? listening.port
                logger.info(
                    "Web page opened", metadata: ["address": "http://\(listening.at(port))/"])
                await onListening(port)
            },
            logger: Logger(label: "mirror-bot.web") { _ in SwiftLogNoOpLogHandler() })
        let sweeper = Task { [connections] in
            // Sleeping fails only when the task is cancelled.
            while (try? await Task.sleep(for: Self.sweepInterval)) != nil { connections.sweep() }
        }
        defer {
            sweeper.cancel()
            connections.closeAll()
        }
        do {
            try await application.run()
            // Ends the running trainings; the data that they have read stays stored.
            await setup.end()
        } catch {
            await setup.end()
            guard let error = error as? IOError else { throw error }
            let isTaken = error.errnoCode == EADDRINUSE
            throw Unavailable(
                address: "\(settings.listening)",
                cause: isTaken ? localized("another program listens there") : "\(error)")
        }
    }

    /// The address cannot be listened on.
    package struct Unavailable: Error, CustomStringConvertible {
        package let address: String
        package let cause: String

        package var description: String {
            localized(
                "could not listen on \(address): \(cause); \(Setting.webListen.name) or --listen name another"
            )
        }
    }
}

extension WebSettings.Listening {
    /// The address to listen on, with another port.
    package func at(_ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// The context of a request: its connection, session and form.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The IP address of the connection's other end.
    let peer: String
    let channel: any Channel
    /// The session; `nil` if the request needs none.
    var session: WebSession?
    /// The visitor of the public page; `nil` for all other requests.
    var visitor: WebSession?
    /// The fields of a POST.
    var form = WebFields.none

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        peer = source.channel.remoteAddress?.ipAddress ?? ""
    }

    /// Returns a part of the path that the route's pattern names, decoded.
    ///
    /// - Throws: ``WebProblem`` with 404 if the part is invalid.
    func parameter(_ name: String) throws -> String {
        guard let text = parameters.get(name).flatMap({ WebFields.decodedPath($0) }) else {
            throw WebProblem.notFound
        }
        return text
    }
}
