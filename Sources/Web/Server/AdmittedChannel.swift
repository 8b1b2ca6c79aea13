import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// HTTP for admitted connections; other connections get an error response with a retry time, and
/// are closed.
struct AdmittedChannel: ServerChildChannel {
    let connections: ConnectionBook
    let http: HTTP1Channel

    /// Returns a value even for a refused channel, because without a value the channel would be
    /// neither registered nor closed.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let isAdmitted = connections.admit(channel)
        return http.setup(channel: channel, logger: logger).map { value in
            // A cancelled server drops values that it has not started, and releasing one with an
            // open channel would crash the process.
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
            let pipeline = channel.pipeline.syncOperations
            do {
                guard isAdmitted else {
                    try pipeline.addHandler(RefusingHandler(), position: .first)
                    return value
                }
                let decoder = try pipeline.handler(
                    type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                try pipeline.addHandler(ConnectionWatch(connections), position: .after(decoder))
            } catch {
                // The channel was closed meanwhile; its value ends by itself.
                channel.close(promise: nil)
            }
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}

/// Answers a connection immediately, whatever it sends, and closes it.
private final class RefusingHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let answer =
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 10\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.answer)), promise: nil)
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}

/// Reports the events of a connection to the book.
///
/// It is placed between the decoder and the handler of requests, so that it sees `read` only while
/// that handler accepts more bytes.
private final class ConnectionWatch: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let book: ConnectionBook

    init(_ book: ConnectionBook) { self.book = book }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        switch part {
        case .head(let head):
            book.note(.headWasRead, on: context.channel)
            part = .head(Self.addingClose(to: head))
        case .body: book.noteBody(on: context.channel)
        case .end: book.note(.bodyEnded, on: context.channel)
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    /// Adds `Connection: close` to a head if the connection has to be closed after the response.
    ///
    /// The handler behind this one recognizes neither HTTP/1.0 nor other spellings of `close`. A
    /// client of HTTP/1.0 reads until the connection is closed, because no response tells it that
    /// the connection stays open.
    private static func addingClose(to head: HTTPRequestHead) -> HTTPRequestHead {
        guard head.version != .http1_1 || !head.isKeepAlive else { return head }
        var head = head
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        return head
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        book.note(.isReading(false), on: context.channel)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        book.note(.isReading(true), on: context.channel)
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let book = book
        let channel = context.channel
        if case .end = unwrapOutboundIn(data) { book.note(.answerEnded, on: channel) }
        book.note(.partIsWritten, on: channel)
        let whenWritten = promise ?? context.eventLoop.makePromise()
        whenWritten.futureResult.whenComplete { _ in book.note(.partHasLeft, on: channel) }
        context.write(data, promise: whenWritten)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A half-closed connection is treated as closed, because a client that closed its
        // connection looks the same. Its place, and the work for it, are freed at once.
        if let event = event as? ChannelEvent, event == .inputClosed {
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }
}
