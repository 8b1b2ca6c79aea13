import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// The HTTP server of a town: the same port on the address of every host.
///
/// Requests are answered on the event loops, without a task for each: a fleet with a fast clock
/// makes thousands a second.
actor TownListener {
    /// The most ports that are tried, because one may be in use on one of the addresses.
    private static let attempts = 20

    nonisolated let port: Int
    private let reserved: SandboxPort
    private var channels: [any Channel]

    private init(reserved: SandboxPort, channels: [any Channel]) {
        self.reserved = reserved
        self.channels = channels
        port = reserved.number
    }

    /// Listens on all addresses.
    ///
    /// - Parameters:
    ///   - addresses: The loopback addresses, in the order of the hosts' numbers.
    ///   - connections: The counter of the open connections.
    ///   - answer: A function that answers a request; it is called on an event loop.
    /// - Throws: ``SandboxError`` when no port is free on all addresses.
    static func open(
        addresses: [String], connections: TownConnections,
        answer: @escaping @Sendable (_ request: WireRequest, _ host: Int) -> WireAnswer
    ) async throws -> TownListener {
        var failure: (any Error)?
        for _ in 0..<attempts {
            let reserved = try SandboxPort()
            var channels: [any Channel] = []
            do {
                for (host, address) in addresses.enumerated() {
                    let bootstrap = bootstrap(connections) { answer($0, host) }
                    channels.append(
                        try await bootstrap.bind(host: address, port: reserved.number).get())
                }
                return TownListener(reserved: reserved, channels: channels)
            } catch {
                failure = error
                // An error means that the channel is closed already, and is ignored.
                for channel in channels { try? await channel.close().get() }
            }
        }
        throw SandboxError(
            description: "could not open a port on \(addresses.count) loopback addresses: "
                + (failure.map { "\($0)" } ?? "none is free"))
    }

    /// Refuses new connections and ends the open ones.
    func stop(_ connections: TownConnections) async {
        // An error means that the channel is closed already, and is ignored.
        for channel in channels { try? await channel.close().get() }
        channels = []
        for channel in connections.all { try? await channel.close().get() }
    }

    private static func bootstrap(
        _ connections: TownConnections, answer: @escaping @Sendable (WireRequest) -> WireAnswer
    ) -> ServerBootstrap {
        ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(ChannelOptions.backlog, value: 4_096)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try pipeline.addHandler(TownHandler(connections: connections, answer: answer))
                }
            }
    }
}

/// The open connections of a town.
final class TownConnections: @unchecked Sendable {
    // Sendable because `open` is only touched under `lock`.
    private let lock = NSLock()
    private var open: [ObjectIdentifier: any Channel] = [:]

    var count: Int { lock.withLock { open.count } }
    var all: [any Channel] { lock.withLock { Array(open.values) } }

    func add(_ channel: any Channel) { lock.withLock { open[ObjectIdentifier(channel)] = channel } }

    func remove(_ channel: any Channel) { lock.withLock { open[ObjectIdentifier(channel)] = nil } }
}

/// Answers the requests of one connection, one after another.
private final class TownHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let maximumBodyBytes = 1 << 20

    private let connections: TownConnections
    private let answer: @Sendable (WireRequest) -> WireAnswer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(connections: TownConnections, answer: @escaping @Sendable (WireRequest) -> WireAnswer) {
        self.connections = connections
        self.answer = answer
    }

    func channelActive(context: ChannelHandlerContext) {
        connections.add(context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        connections.remove(context.channel)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let buffer):
            body += buffer.readableBytesView
            if body.count > Self.maximumBodyBytes { context.close(promise: nil) }
        case .end:
            guard let head else { return }
            self.head = nil
            let request = WireRequest(
                method: head.method.rawValue, target: head.uri,
                headers: head.headers.map { (name: $0.name.lowercased(), value: $0.value) },
                body: body)
            send(answer(request), to: head, context)
        }
    }

    private func send(
        _ answer: WireAnswer, to request: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        headers.add(name: "content-length", value: String(answer.body.count))
        let head = HTTPResponseHead(
            version: request.version, status: HTTPResponseStatus(statusCode: answer.status),
            headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(
            wrapOutboundOut(
                .body(.byteBuffer(context.channel.allocator.buffer(bytes: answer.body)))),
            promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if !request.isKeepAlive { context.close(promise: nil) }
    }
}
