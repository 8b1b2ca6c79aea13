import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

/// One request and its answer on a connection, sent completely or with a fault.
struct SandboxExchange {
    /// The largest accepted body, in bytes: larger than the largest picture in JSON.
    private static let maximumBodyBytes = 24 << 20
    private static let endlessPiece = ByteBuffer(repeating: UInt8(ascii: " "), count: 16_384)

    let channel: any Channel
    let network: SandboxNetwork

    func respond(to request: Request, with writer: consuming ResponseWriter) async throws {
        let body = try await request.body.collect(upTo: Self.maximumBodyBytes)
        var headers = request.headers.map { (name: $0.name.canonicalName, value: $0.value) }
        if let authority = request.head.authority { headers.append(("host", authority)) }
        let outcome = await network.outcome(
            of: WireRequest(
                method: request.method.rawValue, target: request.head.path ?? "/", headers: headers,
                body: Array(buffer: body)))
        if outcome.delay > .zero { try await ContinuousClock().sleep(for: outcome.delay) }
        let result: Result<Bool, any Error>
        do {
            result = .success(try await send(outcome, with: writer))
        } catch {
            result = .failure(error)
        }
        if let write = outcome.write {
            // An error (nil here) means that the answer was not sent completely.
            await network.recordAnswerEnd(
                of: write, isWhole: (try? result.get()) ?? false)
        }
        _ = try result.get()
    }

    /// Sends the answer, or the part of it that the fault allows.
    ///
    /// - Returns: Whether the whole answer was handed to the connection while the client was still
    ///   connected.
    private func send(
        _ outcome: SandboxNetwork.Outcome, with writer: consuming ResponseWriter
    ) async throws -> Bool {
        // The delivery of an answer is recorded only for writes.
        let witness = outcome.write == nil ? nil : await SandboxWitness.of(channel)
        switch outcome.manner {
        case .whole:
            try await writer.write(
                response: head(of: outcome.answer, length: outcome.answer.body.count),
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: outcome.answer.body)))
            return await witness?.hasSentEverything() ?? false
        case .unmeasured:
            return try await sendUnmeasured(outcome.answer)
        case .nothing(let isReset):
            try await hangUp(isReset: isReset)
            return false
        case .silence:
            try await channel.closeFuture.get()
            return false
        case .truncated:
            try await truncate(outcome.answer, with: writer)
            return false
        case .dripping(let bytesPerSecond):
            return try await drip(
                outcome.answer, bytesPerSecond: bytesPerSecond, with: writer, seenBy: witness)
        case .endless:
            try await flood(outcome.answer, with: writer)
            return false
        }
    }

    /// Sends an answer past the encoder, which would add a length or chunks, and ends the
    /// connection.
    private func sendUnmeasured(_ answer: WireAnswer) async throws -> Bool {
        let head = self.head(of: answer, length: nil)
        var lines = ["HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)"]
        lines += head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }
        let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + answer.body
        guard let witness = await SandboxWitness.of(channel) else { return false }
        try await witness.write(bytes, to: channel)
        let isWhole = await witness.hasSentEverything()
        try await channel.close()
        return isWhole
    }

    private func truncate(_ answer: WireAnswer, with writer: consuming ResponseWriter) async throws
    {
        let announced = max(1, answer.body.count)
        var body = try await writer.writeHead(head(of: answer, length: announced))
        try await body.write(ByteBuffer(bytes: answer.body.prefix(announced / 2)))
        try await hangUp(isReset: false)
    }

    private func drip(
        _ answer: WireAnswer, bytesPerSecond: Int, with writer: consuming ResponseWriter,
        seenBy witness: SandboxWitness?
    ) async throws -> Bool {
        // Ten pieces a second, or single bytes at lower rates.
        let usedRate = max(1, bytesPerSecond)
        let pieceSize = max(1, usedRate / 10)
        let pause = Duration.seconds(1) * pieceSize / usedRate
        var body = try await writer.writeHead(head(of: answer, length: answer.body.count))
        var unsentBytes = answer.body[...]
        while !unsentBytes.isEmpty {
            try await ContinuousClock().sleep(for: pause)
            guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
            try await body.write(ByteBuffer(bytes: unsentBytes.prefix(pieceSize)))
            unsentBytes = unsentBytes.dropFirst(pieceSize)
        }
        let isWhole = await witness?.hasSentEverything() ?? false
        // A client that has all announced bytes may have left by now; the error is ignored.
        try? await body.finish(nil)
        return isWhole
    }

    private func flood(_ answer: WireAnswer, with writer: consuming ResponseWriter) async throws {
        var body = try await writer.writeHead(head(of: answer, length: nil))
        try await body.write(ByteBuffer(bytes: answer.body))
        while channel.isActive {
            try await body.write(Self.endlessPiece)
            // The event loop finishes all its work before it checks its connections. So without a
            // pause it would never notice that a client has left, nor serve other connections.
            try await ContinuousClock().sleep(for: .milliseconds(1))
        }
    }

    private func hangUp(isReset: Bool) async throws {
        if isReset, let options = channel as? any SocketOptionProvider {
            // With a linger time of zero, closing sends a reset; see socket(7).
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close()
    }

    /// The head of an answer; without a length the body is sent in chunks.
    private func head(of answer: WireAnswer, length: Int?) -> HTTPResponse {
        var fields = HTTPFields()
        for header in answer.headers {
            if let name = HTTPField.Name(header.name) {
                fields.append(HTTPField(name: name, value: header.value))
            }
        }
        fields[.contentLength] = length.map { String($0) }
        return HTTPResponse(status: .init(code: answer.status), headerFields: fields)
    }
}

/// Observes the output of a connection, to find out later whether an answer was sent completely.
///
/// A client may hang up as soon as it has its answer, so a closed connection proves nothing.
final class SandboxWitness: ChannelOutboundHandler, @unchecked Sendable {
    // Sendable: `lastWrite` is touched on the event loop of the connection only.
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let eventLoop: any EventLoop
    private var lastWrite: EventLoopFuture<Void>

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.lastWrite = eventLoop.makeSucceededVoidFuture()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let promise = promise ?? context.eventLoop.makePromise()
        lastWrite = promise.futureResult
        context.write(data, promise: promise)
    }

    /// Writes bytes unchanged.
    func write(_ bytes: [UInt8], to channel: any Channel) async throws {
        try await eventLoop.flatSubmit {
            let promise = self.eventLoop.makePromise(of: Void.self)
            do {
                let context = try channel.pipeline.syncOperations.context(handler: self)
                self.lastWrite = promise.futureResult
                context.writeAndFlush(
                    self.wrapOutboundOut(.byteBuffer(ByteBuffer(bytes: bytes))), promise: promise)
            } catch {
                promise.fail(error)
            }
            return promise.futureResult
        }.get()
    }

    /// The witness of a connection; nil once the connection is closed.
    static func of(_ channel: any Channel) async -> SandboxWitness? {
        try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.handler(type: SandboxWitness.self)
        }.get()
    }

    /// Whether everything written so far was handed to the connection while the client was still
    /// connected.
    func hasSentEverything() async -> Bool {
        do {
            // Writes complete in order, so all are complete when the last one is.
            try await eventLoop.flatSubmit { self.lastWrite }.get()
            return true
        } catch {
            return false
        }
    }
}
