package import Control
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
package import Mirroring
import NIOCore
import ServiceLifecycle
package import Settings

/// The web page of the mirrors of a database, until the process is told to stop.
package struct WebServer: Service {
    /// Connections that are open at once, at most.
    private static let connections = 1_000
    /// After so many seconds without a byte a connection is closed; the event stream sends one more often.
    private static let patience: TimeAmount = .seconds(75)

    private let installation: Installation
    private let settings: WebSettings
    private let isReadOnly: Bool
    private let build: MetricsReport.Build
    private let demo: (@Sendable () -> DemoMoment)?
    private let onListening: @Sendable (Int) async -> Void

    /// - Parameters:
    ///   - installation: The open database; it is not closed here.
    ///   - settings: Where to listen, and who may look.
    ///   - isReadOnly: Whether nothing can be changed.
    ///   - build: The program.
    ///   - demo: Tells where the demo stands that is shown; nil for no demo.
    ///   - onListening: Told the port once connections are accepted.
    /// - Throws: `ConfigurationError` for a page that would be open to other machines.
    package init(
        _ installation: Installation, _ settings: WebSettings, isReadOnly: Bool, build: MetricsReport.Build,
        demo: (@Sendable () -> DemoMoment)? = nil, onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws {
        try settings.requireSafe()
        (self.installation, self.settings, self.isReadOnly) = (installation, settings, isReadOnly)
        (self.build, self.demo, self.onListening) = (build, demo, onListening)
    }

    /// Serves the page.
    ///
    /// - Throws: `WebServer.Unavailable` if the address cannot be listened on.
    package func run() async throws {
        let site = try await WebSite(installation, settings, isReadOnly: isReadOnly, build: build, demo: demo)
        let application = Application(
            router: site.router(),
            server: .http1(configuration: .init(idleTimeout: Self.patience)),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.listening.host, port: settings.listening.port),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connections)),
            onServerRunning: { [onListening, listening = settings.listening, logger = installation.logger] channel in
                let port = channel.localAddress?.port ?? listening.port
                logger.info("Web page opened", metadata: ["address": "http://\(listening.at(port))/"])
                await onListening(port)
            },
            logger: Logger(label: "mirror-bot.web") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await application.run()
        } catch let error as IOError {
            let isTaken = error.errnoCode == EADDRINUSE
            throw Unavailable(
                address: "\(settings.listening)", cause: isTaken ? "another program listens there" : "\(error)")
        }
    }

    /// The address cannot be listened on.
    package struct Unavailable: Error, CustomStringConvertible {
        package let address: String
        package let cause: String

        package var description: String {
            "could not listen on \(address): \(cause); WEB_LISTEN or --listen name another"
        }
    }
}

extension WebSettings.Listening {
    /// The same address with the port that was given.
    package func at(_ port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// What a request brings along.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The IP address of the other end of the connection.
    let peer: String
    /// Nil for what needs no session.
    var session: WebSession?
    /// Whose request of the public page it is; nil for everything else.
    var visitor: WebSession?
    /// The fields of a POST.
    var form = WebFields.none

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress?.ipAddress ?? ""
    }

    /// A part of the path that the route names, decoded.
    ///
    /// - Throws: ``WebProblem`` with 404 for one that is no text.
    func parameter(_ name: String) throws -> String {
        guard let text = parameters.get(name).flatMap({ WebFields.decodedPath($0) }) else { throw WebProblem.notFound }
        return text
    }
}
