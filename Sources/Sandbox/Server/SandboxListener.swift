import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// The HTTP server in front of a ``SandboxNetwork``, which can go offline and come back on the same
/// port.
///
/// Every connection gets its task as soon as it is set up. A server with a queue of accepted
/// connections would lose those in the queue when it closes.
actor SandboxListener {
    let port: Int
    private let network: SandboxNetwork
    /// The reserved port; nil after it was released for good.
    private var reserved: SandboxPort?
    private var openServer: (server: any Channel, connections: SandboxConnections)?

    /// Reserves a port, on which no server listens yet.
    ///
    /// - Throws: ``SandboxError`` when no port is free.
    init(_ network: SandboxNetwork) throws {
        let reserved = try SandboxPort()
        self.port = reserved.number
        self.reserved = reserved
        self.network = network
    }

    deinit {
        openServer?.server.close(promise: nil)
        openServer?.connections.end()
    }

    /// Starts to listen, unless it listens already.
    ///
    /// - Throws: ``SandboxError`` if the port cannot be opened or was released.
    func open() async throws {
        guard openServer == nil else { return }
        guard reserved != nil else {
            throw SandboxError(description: "could not reopen port \(port): it was given back")
        }
        let connections = SandboxConnections()
        do {
            let server = try await Self.bootstrap(network, connections).bind(
                host: "127.0.0.1", port: port
            ).get()
            openServer = (server, connections)
        } catch {
            throw SandboxError(description: "could not open port \(port) on 127.0.0.1: \(error)")
        }
    }

    /// Refuses new connections, ends the open ones, and waits until no request is in progress.
    func close() async {
        guard let openServer else { return }
        self.openServer = nil
        // An error means that it is closed already, and is ignored.
        try? await openServer.server.close().get()
        await openServer.connections.close()
    }

    /// Closes for good.
    func stop() async {
        await close()
        reserved = nil
    }

    private static func bootstrap(_ network: SandboxNetwork, _ connections: SandboxConnections)
        -> ServerBootstrap
    {
        let logger = Logger(label: "sandbox") { _ in SwiftLogNoOpLogHandler() }
        let http = HTTP1Channel(responder: { request, writer, channel in
            try await SandboxExchange(channel: channel, network: network).respond(
                to: request, with: writer)
        })
        return ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(ChannelOptions.backlog, value: 256)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            // A client that leaves ends the connection, even while its answer is being prepared.
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        SandboxWitness(on: channel.eventLoop))
                }
                .flatMap { http.setup(channel: channel, logger: logger) }
                .map { value in
                    connections.serve(channel) { await http.handle(value: value, logger: logger) }
                }
            }
    }
}

/// The open connections of a listener, each with the task that serves it.
final class SandboxConnections: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    private var open: [ObjectIdentifier: (channel: any Channel, task: Task<Void, Never>)] = [:]
    private var isClosed = false

    /// Serves a connection; after ``close()`` the connection ends at once.
    func serve(_ channel: any Channel, work: @escaping @Sendable () async -> Void) {
        let id = ObjectIdentifier(channel)
        lock.withLock {
            // The task cannot end before it is stored, because its removal needs the lock.
            let task = Task {
                await work()
                forget(id)
            }
            open[id] = (channel, task)
            if isClosed { channel.close(promise: nil) }
        }
    }

    /// Closes all channels, now and from now on, which ends their tasks.
    ///
    /// Cancelling a task would close one side of the channel, which NIO cannot do before the
    /// channel is fully set up.
    func end() { stopServing().forEach { $0.channel.close(promise: nil) } }

    /// Ends all connections and waits until none is served any more.
    func close() async {
        end()
        for connection in stopServing() { await connection.task.value }
    }

    /// Stops serving new connections, and returns the open ones.
    private func stopServing() -> [(channel: any Channel, task: Task<Void, Never>)] {
        lock.withLock {
            isClosed = true
            return Array(open.values)
        }
    }

    private func forget(_ id: ObjectIdentifier) {
        lock.withLock { open[id] = nil }
    }
}

/// A port of 127.0.0.1 that stays reserved while no server listens on it.
///
/// A bound socket that does not listen refuses connections and keeps other programs from getting
/// the port, but a socket that allows the reuse of addresses can listen on it.
final class SandboxPort: Sendable {
    let number: Int
    private let descriptor: Int32

    /// Reserves a free port.
    ///
    /// - Throws: ``SandboxError`` if there is none.
    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure() }
        var enabled: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &enabled, socklen_t(MemoryLayout<Int32>.size))
        // A child process of a test must not keep the port.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard status == 0 else {
            let failure = Self.failure()
            close(descriptor)
            throw failure
        }
        self.descriptor = descriptor
        self.number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    private static func failure() -> SandboxError {
        SandboxError(
            description: "could not open a port on 127.0.0.1: \(String(cString: strerror(errno)))")
    }
}
