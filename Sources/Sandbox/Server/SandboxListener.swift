import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The HTTP server in front of a ``SandboxNetwork``.
enum SandboxListener {
    private static let maximumBodyBytes = 1 << 20

    /// Starts listening; returns once the port is known.
    static func run(_ network: SandboxNetwork) async throws -> (port: Int, server: Task<Void, any Error>) {
        let (ports, bound) = AsyncStream.makeStream(of: Int.self)
        let service = try HTTPServerBuilder.http1().buildServer(
            configuration: ServerConfiguration(address: .hostname("127.0.0.1", port: 0)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "sandbox") { _ in SwiftLogNoOpLogHandler() },
            responder: { request, writer, channel in
                try await respond(to: request, with: writer, on: channel, by: network)
            },
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { bound.yield(port) }
                bound.finish()
            })
        let server = Task {
            defer { bound.finish() }
            try await service.run()
        }
        guard let port = await ports.first(where: { _ in true }) else {
            server.cancel()
            guard case .failure(let error) = await server.result else {
                throw SandboxError(description: "could not open a port on 127.0.0.1: the server ended")
            }
            throw SandboxError(description: "could not open a port on 127.0.0.1: \(error)")
        }
        return (port, server)
    }

    private static func respond(
        to request: Request, with writer: consuming ResponseWriter, on channel: any Channel,
        by network: SandboxNetwork
    ) async throws {
        let body = try await request.body.collect(upTo: maximumBodyBytes)
        var headers = request.headers.map { (name: $0.name.canonicalName, value: $0.value) }
        if let authority = request.head.authority { headers.append(("host", authority)) }
        let outcome = await network.outcome(
            of: WireRequest(
                method: request.method.rawValue, target: request.head.path ?? "/", headers: headers,
                body: Array(buffer: body)))
        switch outcome {
        case .hangUp:
            try await channel.close()
        case .answer(let answer):
            try await writer.write(
                response: head(of: answer), body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
        }
    }

    private static func head(of answer: WireAnswer) -> HTTPResponse {
        var fields = HTTPFields()
        for header in answer.headers {
            if let name = HTTPField.Name(header.name) { fields.append(HTTPField(name: name, value: header.value)) }
        }
        fields[.contentLength] = String(answer.body.count)
        return HTTPResponse(status: .init(code: answer.status), headerFields: fields)
    }
}
