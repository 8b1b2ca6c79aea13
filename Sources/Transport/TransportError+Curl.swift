import CCurl

extension TransportError {
    /// The error for a transfer that libcurl ended with `result`.
    ///
    /// - Parameters:
    ///   - result: libcurl's result.
    ///   - easy: The handle, with its transfer information still in place.
    ///   - host: The host of the request.
    ///   - refusal: Why our own callback stopped the transfer, if it did.
    ///   - beginning: What had come by then.
    init(
        _ result: CURLcode, _ easy: EasyHandle, host: String, refusal: String? = nil, beginning: HTTPResponse? = nil
    ) {
        let tunnelStatus = easy.integer(CURLINFO_HTTP_CONNECTCODE)
        let isTunnelRefused = tunnelStatus != 0 && !(200...299).contains(tunnelStatus)
        // libcurl sets the pre-transfer time when a connection is ready, just before the request is written, and
        // counts the bytes written over all attempts: both zero means that nothing left. Bytes sent to a proxy that
        // refused the tunnel are counted too, but never reach the server.
        let isUnsent = easy.offset(CURLINFO_PRETRANSFER_TIME_T) == 0 && easy.integer(CURLINFO_REQUEST_SIZE) == 0
        var code = refusal != nil ? Code.tooLarge : Self.code(for: result)
        if isTunnelRefused || isUnsent && code == .interrupted { code = .connect }
        self.init(
            code,
            requestDidNotLeave: isUnsent || isTunnelRefused,
            host: host,
            message: refusal
                ?? (isTunnelRefused
                    ? "the proxy answered with status \(tunnelStatus)" : Self.message(for: result, easy.errorText)),
            curlCode: Int(result.rawValue), beginning: beginning)
    }

    private static func code(for result: CURLcode) -> Code {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            .resolve
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY:
            .connect
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED:
            .tls
        case CURLE_OPERATION_TIMEDOUT:
            .timeout
        case CURLE_FILESIZE_EXCEEDED:
            .tooLarge
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
            .interrupted
        case CURLE_OK, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_UNSUPPORTED_PROTOCOL,
            CURLE_WRITE_ERROR, CURLE_HTTP_RETURNED_ERROR, CURLE_CHUNK_FAILED:
            .malformedResponse
        default:
            .other
        }
    }

    /// The cause in words that cannot hold a secret.
    ///
    /// libcurl's own sentence says more than the fixed text for a code, but some of its sentences repeat a proxy's URL
    /// with its password, or bytes of the response. Only the kinds known to name nothing but hosts, addresses and
    /// certificate problems are passed on.
    private static func message(for result: CURLcode, _ text: String) -> String {
        guard result != CURLE_OK else { return "the response has no valid status" }
        let isHarmless =
            switch code(for: result) {
            case .tls: true
            case .connect: text.hasPrefix("Failed to connect to ")
            case .resolve: text.hasPrefix("Could not resolve host: ")
            default: false
            }
        let chosen = isHarmless && !text.isEmpty ? text : CurlLibrary.text(for: result)
        return String(
            chosen.unicodeScalars.prefix(200).map { $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0) })
    }
}
