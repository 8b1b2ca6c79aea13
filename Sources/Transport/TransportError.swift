import CCurl

/// The reason why an exchange with a server failed.
///
/// Safe to print: of the request it contains at most the host, never a path, a query, a header or a
/// password.
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
        /// The response is not HTTP, or its encoding is broken.
        package static let malformedResponse = Code("malformed-response")
        /// The URL is invalid.
        package static let invalidURL = Code("invalid-url")
        /// Not `https:`, and not `http:` to a loopback host.
        package static let forbiddenScheme = Code("forbidden-scheme")
        /// A header name or value that cannot be sent safely.
        package static let invalidHeader = Code("invalid-header")
        /// The client was shut down.
        package static let shutdown = Code("shutdown")
        /// None of the above.
        package static let other = Code("other")
    }

    package let code: Code
    /// True only if certainly no byte of the request reached the server.
    package let requestDidNotLeave: Bool
    /// The host of the request, if known.
    package let host: String?
    /// The cause, in words.
    package let message: String
    /// For a body that is larger than the request allows: the status, the headers and the first 64
    /// KiB.
    package let beginning: HTTPResponse?

    package init(
        _ code: Code, requestDidNotLeave: Bool, host: String? = nil, message: String,
        beginning: HTTPResponse? = nil
    ) {
        self.code = code
        self.requestDidNotLeave = requestDidNotLeave
        self.host = host
        self.message = message
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

extension TransportError {
    /// The error for a transfer that libcurl ended with `result`.
    ///
    /// - Parameters:
    ///   - result: libcurl's result.
    ///   - easy: The handle, with its transfer information still in place.
    ///   - host: The host of the request.
    ///   - refusal: The reason why our own callback aborted the transfer, if it did.
    ///   - beginning: The part that had been received by then.
    init(
        _ result: CURLcode, _ easy: EasyHandle, host: String, refusal: String? = nil,
        beginning: HTTPResponse? = nil
    ) {
        let tunnelStatus = easy.integer(CURLINFO_HTTP_CONNECTCODE)
        let isTunnelRefused = tunnelStatus != 0 && !(200...299).contains(tunnelStatus)
        // libcurl sets the pre-transfer time when a connection is ready, just before the request is
        // written. The request size is the number of bytes written in all attempts. If both are
        // zero, nothing was sent. Bytes sent to a proxy that refused the tunnel are counted too,
        // but never reach the server.
        let isUnsent =
            easy.offset(CURLINFO_PRETRANSFER_TIME_T) == 0
            && easy.integer(CURLINFO_REQUEST_SIZE) == 0
        var code = refusal != nil ? Code.tooLarge : Self.code(for: result)
        if isTunnelRefused || isUnsent && code == .interrupted { code = .connect }
        self.init(
            code,
            requestDidNotLeave: isUnsent || isTunnelRefused,
            host: host,
            message: refusal
                ?? (isTunnelRefused
                    ? "the proxy answered with status \(tunnelStatus)"
                    : Self.message(for: result, easy.errorText)),
            beginning: beginning)
    }

    private static func code(for result: CURLcode) -> Code {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            .resolve
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY:
            .connect
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED,
            CURLE_SSL_SHUTDOWN_FAILED:
            .tls
        case CURLE_OPERATION_TIMEDOUT:
            .timeout
        case CURLE_FILESIZE_EXCEEDED:
            .tooLarge
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
            .interrupted
        case CURLE_OK, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
            CURLE_UNSUPPORTED_PROTOCOL,
            CURLE_WRITE_ERROR, CURLE_HTTP_RETURNED_ERROR, CURLE_CHUNK_FAILED:
            .malformedResponse
        default:
            .other
        }
    }

    /// A description of the cause that cannot contain a secret.
    ///
    /// libcurl's own message is more specific than the fixed text for a code, but some messages
    /// repeat a proxy's URL with its password, or bytes of the response. Only messages that are
    /// known to contain nothing but hosts, addresses and certificate problems are passed on.
    private static func message(for result: CURLcode, _ errorText: String) -> String {
        guard result != CURLE_OK else { return "the response has no valid status" }
        let isHarmless =
            switch code(for: result) {
            case .tls: true
            case .connect: errorText.hasPrefix("Failed to connect to ")
            case .resolve: errorText.hasPrefix("Could not resolve host: ")
            default: false
            }
        let message = isHarmless && !errorText.isEmpty ? errorText : result.text
        return String(
            message.unicodeScalars.prefix(200).map {
                $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0)
            })
    }
}
