import Foundation

/// A small HTTP/1.1 server on 127.0.0.1 that does exactly what a test tells it to, mistakes
/// included.
///
/// Every connection has a thread of its own, on which the handler is called once for each request
/// that arrives. The handler writes raw bytes, so it can answer wrongly, partly, slowly or never:
///
/// ```swift
/// let server = try LoopbackServer { request, connection in
///     let headers = [("Content-Type", "text/plain")]
///     try connection.respond(status: 200, headers: headers, body: Array("hello".utf8))
/// }
/// ```
///
/// A handler that throws ends its connection. The server stops when it is released.
package final class LoopbackServer: Sendable {
    /// A request as it arrived.
    package struct Request: Sendable {
        package let method: String
        /// The request target: path and query.
        package let target: String
        package let headers: [(name: String, value: String)]
        package let body: [UInt8]
        /// Counts connections from 0, to see which requests shared one.
        package let connection: Int

        /// The first value of a header, by name without regard to case.
        package func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    /// What a server does with the next connection, one step after another, when no handler is
    /// wanted.
    package enum Step: Sendable {
        /// Reads one whole request.
        case awaitRequest
        /// Reads until the text has arrived, for protocols that are not HTTP.
        case awaitText(String)
        /// Writes bytes as they are.
        case send([UInt8])
        /// Writes the bytes one at a time with a pause between them, over and over, until the
        /// client is gone.
        case drip([UInt8], every: Duration)
        /// Writes the bytes over and over until the client is gone.
        case flood([UInt8])
        /// Answers nothing more and waits for the client to close.
        case hang
        /// Closes both directions in order.
        case close
        /// Closes so that the client sees a connection reset.
        case reset
    }

    /// What a Redis server that is in no cluster answers to a client that has just connected.
    package static let redisGreeting: [Step] = [
        .awaitText("PING\r\n"), .send(Array("+PONG\r\n".utf8)), .awaitText("SLOTS\r\n"),
        .send(Array("-ERR This instance has cluster support disabled\r\n".utf8)),
    ]

    package typealias Handler = @Sendable (Request, Connection) throws -> Void

    /// The port the system chose.
    package let port: Int
    private let listener: Listener

    /// Starts a server that calls `handler` for every request.
    package convenience init(_ handler: @escaping Handler) throws {
        try self.init { connection, record in
            while let request = try connection.readRequest() {
                record(request)
                try handler(request, connection)
            }
        }
    }

    /// Starts a server that goes through `steps` on every connection and then closes it.
    package convenience init(steps: [Step]) throws {
        try self.init { connection, record in
            for step in steps {
                if case .awaitRequest = step {
                    guard let request = try connection.readRequest() else { return }
                    record(request)
                } else {
                    try connection.perform(step)
                }
            }
        }
    }

    private init(serve: @escaping @Sendable (Connection, (Request) -> Void) throws -> Void) throws {
        listener = try Listener()
        port = listener.port
        listener.start(serve)
    }

    deinit { stop() }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    package var url: String { "http://127.0.0.1:\(port)" }

    /// The requests received so far, in order of arrival.
    package var requests: [Request] { listener.requests }

    /// How many connections were accepted so far.
    package var connectionCount: Int { listener.connectionCount }

    /// Waits until at least `count` requests arrived.
    ///
    /// - Throws: ``TestSupportError`` when they did not come within two minutes.
    package func waitForRequests(_ count: Int) async throws {
        let listener = listener
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, any Error>) in
            // A thread of its own: the wait would block one of the few that run tasks.
            Thread.detachNewThread {
                continuation.resume(with: Result { try listener.waitForRequests(count) })
            }
        }
    }

    /// Closes the listening socket and all connections; later connections are refused.
    package func stop() { listener.stop() }
}
