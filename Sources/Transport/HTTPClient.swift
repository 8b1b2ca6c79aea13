/// An HTTP client over libcurl.
///
/// All transfers run on one thread of the client's own; connections are kept and reused, HTTP/2 is spoken over TLS when
/// the server offers it. Redirects are not followed and nothing is retried: any status is a response. A request other
/// than a GET without a body always gets a connection of its own making, because libcurl repeats a request by itself
/// when a reused connection turns out dead, and such a request must never arrive twice.
package final class HTTPClient: Sendable {
    private let configuration: HTTPClientConfiguration
    private let loop: TransferLoop

    package init(configuration: HTTPClientConfiguration) {
        self.configuration = configuration
        loop = TransferLoop(name: "mirror-bot.http")
    }

    deinit { loop.stop() }

    /// Sends a request and returns the whole response.
    ///
    /// Cancellation returns at once and closes the connection; the server may have received the request all the same.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` when the task was cancelled.
    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let transfer = Transfer(try PreparedRequest(request, configuration: configuration))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard transfer.wait(with: continuation) else { return }
                loop.start(transfer)
            }
        } onCancel: {
            if transfer.finish(.failure(CancellationError())) { loop.abandon(transfer) }
        }
    }

    /// Ends the thread; requests under way and later ones fail with ``TransportError/Code/shutdown``.
    ///
    /// Returns when the thread has ended, which takes some milliseconds: call it
    /// before the process exits.
    package func shutdown() {
        loop.stopAndWait()
    }
}
