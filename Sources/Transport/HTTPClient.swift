import Foundation

/// An HTTP client over libcurl.
///
/// All transfers run on one thread of the client's own; connections are kept and reused, and HTTP/2
/// is used over TLS if the server offers it. Nothing is retried, and a response with any status is
/// returned. Redirects are followed only if a request allows it, and only within the same origin. A
/// request other than a GET without a body always gets a new connection: if a reused connection
/// turns out dead, libcurl repeats the request by itself, and such a request must not arrive twice.
///
/// One client serves a whole process. Requests share only connections: no cookies are kept, and
/// each request has its own credentials, contact and limits. GET requests beyond the configured
/// numbers are queued by host; the wait counts towards the request's timeout. Other requests never
/// wait.
package final class HTTPClient: Sendable {
    private static let maximumRedirects = 3

    private let configuration: HTTPClientConfiguration
    private let loop: TransferLoop

    package init(configuration: HTTPClientConfiguration) {
        self.configuration = configuration
        loop = TransferLoop(
            name: "mirror-bot.http",
            queue: TransferQueue(
                maximumPerHost: configuration.maximumPerHost,
                maximumTotal: configuration.maximumTotal))
    }

    deinit { loop.stop() }

    /// Whether a text can be the contact of a request: 1 through 200 visible ASCII characters,
    /// without parentheses and backslashes.
    package static func isContact(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"()\\".utf8.contains($0) }
    }

    /// Sends a request and returns the whole response.
    ///
    /// Cancellation returns at once and closes the connection; the server may still have received
    /// the request.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` when the task was cancelled.
    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let deadline = ContinuousClock.now + request.timeout
        var request = request
        var response = try await exchange(request)
        for _ in 0..<Self.maximumRedirects {
            guard let next = request.redirected(by: response) else { break }
            request.url = next
            request.timeout = max(.milliseconds(1), ContinuousClock.now.duration(to: deadline))
            response = try await exchange(request)
        }
        return response
    }

    /// Sends a request once.
    private func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let transfer = try Transfer(request, configuration: configuration)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard transfer.wait(with: continuation) else { return }
                loop.start(transfer)
            }
        } onCancel: {
            if transfer.finish(.failure(CancellationError())) { loop.abandon(transfer) }
        }
    }

    /// Ends the thread; requests under way and later ones fail with
    /// ``TransportError/Code/shutdown``.
    ///
    /// Returns when the thread has ended, which takes some milliseconds: call it
    /// before the process exits.
    package func shutdown() {
        loop.stopAndWait()
    }
}

/// The settings that all requests of an ``HTTPClient`` share.
///
/// Proxies are taken from the environment as libcurl reads it (`https_proxy`, `all_proxy`,
/// `no_proxy`); loopback hosts are never reached through one.
package struct HTTPClientConfiguration: Sendable {
    /// Sent with every request.
    ///
    /// Characters that are not printable ASCII are dropped; an empty text becomes `mirror-bot`.
    package var userAgent: String
    /// The time limit for the name look-up, the connection and the TLS handshake together.
    package var connectTimeout: Duration
    /// The longest time without a byte in either direction, after which a transfer fails.
    package var stallTimeout: Duration
    /// The most concurrent transfers with one host; further GET requests to it wait.
    package var maximumPerHost: Int
    /// The most concurrent transfers; a host without any may still begin one beyond this limit.
    package var maximumTotal: Int
    /// A PEM file of the authorities to trust instead of the system's.
    package var caBundlePath: String?

    package init(
        userAgent: String,
        connectTimeout: Duration = .seconds(10),
        stallTimeout: Duration = .seconds(60),
        maximumPerHost: Int = 32,
        maximumTotal: Int = 256,
        caBundlePath: String? = nil
    ) {
        let printable = String(userAgent.unicodeScalars.filter { (0x20...0x7e).contains($0.value) })
        self.userAgent = printable.allSatisfy { $0 == " " } ? "mirror-bot" : printable
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
        self.maximumPerHost = maximumPerHost
        self.maximumTotal = maximumTotal
        self.caBundlePath = caBundlePath
    }

    /// The user agent, followed by the contact if that is valid.
    func userAgent(naming contact: String?) -> String {
        guard let contact, HTTPClient.isContact(contact) else { return userAgent }
        return "\(userAgent) (+\(contact))"
    }
}
