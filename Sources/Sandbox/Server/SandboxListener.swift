import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// The HTTP server in front of a ``SandboxNetwork``, which can go and come back on the same port.
///
/// Every connection gets its task the moment it is set up. A server that first lines connections up for somebody to take
/// would lose those in the line when it closes, and a connection that nobody has taken must not be lost.
actor SandboxListener {
    private struct Opening {
        var server: any Channel
        var connections: SandboxConnections
    }

    let port: Int
    private let network: SandboxNetwork
    /// Nil once the port is given back for good.
    private var reserved: SandboxPort?
    private var opening: Opening?

    /// Nobody listens yet.
    ///
    /// - Throws: ``SandboxError`` when no port is free.
    init(_ network: SandboxNetwork) throws {
        let reserved = try SandboxPort()
        self.port = reserved.number
        self.reserved = reserved
        self.network = network
    }

    deinit {
        opening?.server.close(promise: nil)
        opening?.connections.end()
    }

    /// Listens; does nothing if it does so already.
    ///
    /// - Throws: ``SandboxError`` when the port cannot be opened or was given back.
    func open() async throws {
        guard opening == nil else { return }
        guard reserved != nil else {
            throw SandboxError(description: "could not reopen port \(port): it was given back")
        }
        let connections = SandboxConnections()
        do {
            let server = try await Self.bootstrap(network, connections).bind(host: "127.0.0.1", port: port).get()
            opening = Opening(server: server, connections: connections)
        } catch {
            throw SandboxError(description: "could not open port \(port) on 127.0.0.1: \(error)")
        }
    }

    /// Refuses new connections, ends those there are, and waits until nothing is under way.
    func close() async {
        guard let opening else { return }
        self.opening = nil
        // Somebody else may have closed it already; then it is closed.
        try? await opening.server.close().get()
        await opening.connections.close()
    }

    /// Closes for good.
    func stop() async {
        await close()
        reserved = nil
    }

    private static func bootstrap(_ network: SandboxNetwork, _ connections: SandboxConnections) -> ServerBootstrap {
        let logger = Logger(label: "sandbox") { _ in SwiftLogNoOpLogHandler() }
        let http = HTTP1Channel(responder: { request, writer, channel in
            try await SandboxExchange(channel: channel, network: network).respond(to: request, with: writer)
        })
        return ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(ChannelOptions.backlog, value: 256)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            // A client that leaves ends the connection, even while its answer is being made.
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(SandboxWitness(on: channel.eventLoop))
                }
                .flatMap { http.setup(channel: channel, logger: logger) }
                .map { value in connections.serve(channel) { await http.handle(value: value, logger: logger) } }
            }
    }
}
