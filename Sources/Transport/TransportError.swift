/// Why an exchange with a server did not happen or did not end.
///
/// Safe to print: it names the host at most, never a path, a query, a header or a password.
package struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; more kinds may be added.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// A short stable name, usable as a metric label.
        package let description: String

        private init(_ description: String) { self.description = description }

        /// The host name is unknown or the name service did not answer.
        package static let resolve = Code("resolve")
        /// No connection: refused, unreachable, or the proxy declined.
        package static let connect = Code("connect")
        /// The TLS handshake failed or the certificate was not accepted.
        package static let tls = Code("tls")
        /// A time limit passed: to connect, in total, or without a byte.
        package static let timeout = Code("timeout")
        /// The response is larger than the request allows.
        package static let tooLarge = Code("too-large")
        /// The connection was lost before the response was complete.
        package static let interrupted = Code("interrupted")
        /// The answer is not HTTP, or its encoding is broken.
        package static let malformedResponse = Code("malformed-response")
        /// The URL cannot be used as it is.
        package static let invalidURL = Code("invalid-url")
        /// Not `https:`, and not `http:` to a loopback host.
        package static let forbiddenScheme = Code("forbidden-scheme")
        /// A header name or value that could not be sent safely.
        package static let invalidHeader = Code("invalid-header")
        /// The client was shut down.
        package static let shutdown = Code("shutdown")
        /// None of the above.
        package static let other = Code("other")
    }

    package let code: Code
    /// True only when it is certain that no byte of the request reached the server.
    package let requestDidNotLeave: Bool
    /// The host that was asked, as far as it is known.
    package let host: String?
    /// The cause, in words.
    package let message: String
    /// libcurl's own result code (libcurl-errors(3)), where it gave one.
    package let curlCode: Int?
    /// For a body that is larger than the request allows: the status, the headers and the first 64 KiB.
    package let beginning: HTTPResponse?

    package init(
        _ code: Code, requestDidNotLeave: Bool, host: String? = nil, message: String, curlCode: Int? = nil,
        beginning: HTTPResponse? = nil
    ) {
        self.code = code
        self.requestDidNotLeave = requestDidNotLeave
        self.host = host
        self.message = message
        self.curlCode = curlCode
        self.beginning = beginning
    }

    /// One line for people.
    package var description: String {
        let target = host.map { " with \($0)" } ?? ""
        return "could not complete the exchange\(target): \(message)"
    }

    /// An error found before anything was sent.
    static func refused(_ code: Code, host: String? = nil, _ message: String) -> TransportError {
        TransportError(code, requestDidNotLeave: true, host: host, message: message)
    }
}
