import NIOCore

/// Sees what leaves a connection, so that one can ask later whether an answer has left as a whole.
///
/// A client may hang up the moment it has its answer; that the connection is gone says nothing.
final class SandboxWitness: ChannelOutboundHandler, @unchecked Sendable {
    // Sendable: `last` is touched on the event loop of the connection only.
    typealias OutboundIn = IOData

    private let eventLoop: any EventLoop
    private var last: EventLoopFuture<Void>

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.last = eventLoop.makeSucceededVoidFuture()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let promise = promise ?? context.eventLoop.makePromise()
        last = promise.futureResult
        context.write(data, promise: promise)
    }

    /// The witness of a connection; nil once the connection is over.
    static func of(_ channel: any Channel) async -> SandboxWitness? {
        try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.handler(type: SandboxWitness.self)
        }.get()
    }

    /// Whether everything that was written so far was handed to the connection while the client was still there.
    func hasSeenAllLeave() async -> Bool {
        do {
            // Pieces leave in their order, so that the last one stands for all.
            try await eventLoop.flatSubmit { self.last }.get()
            return true
        } catch {
            return false
        }
    }
}
