package import Blocking
import CCurl
import Foundation

/// A bidirectional byte stream, with or without TLS.
///
/// libcurl makes the connection and, with `CURLOPT_CONNECT_ONLY`, hands it over without speaking
/// HTTP. Calls block, and must all come from one thread (an executor's); another thread ends a wait
/// through the `Interruption`. Proxies are not used.
package final class ByteStream {
    private let multi: MultiHandle
    private let easy: EasyHandle
    private let socket: Int32
    private let host: String

    /// Connects, TLS handshake included.
    ///
    /// - Parameters:
    ///   - endpoint: The server.
    ///   - deadline: The time at which the attempt ends with an error.
    ///   - interruption: Ends the attempt early.
    /// - Throws: ``TransportError``, or `CancellationError` when interrupted.
    package init(
        to endpoint: ByteStreamEndpoint, deadline: ContinuousClock.Instant,
        interruption: Interruption? = nil
    ) throws {
        let multi = try MultiHandle()
        let easy = try EasyHandle()
        try easy.prepareStream(to: endpoint, timeout: ContinuousClock.now.duration(to: deadline))
        guard curl_multi_add_handle(multi.pointer, easy.pointer) == CURLM_OK else {
            throw TransportError.refused(
                .other, host: endpoint.host, "libcurl took no more connections")
        }
        do {
            try Self.connect(easy, on: multi, host: endpoint.host, interruption)
            guard let socket = easy.socket(CURLINFO_ACTIVESOCKET) else {
                throw TransportError.refused(
                    .connect, host: endpoint.host, "libcurl gave no socket")
            }
            self.socket = socket
        } catch {
            // The initializer failed, so deinit does not run; curl_multi_cleanup(3) requires that
            // the easy handle is removed first.
            curl_multi_remove_handle(multi.pointer, easy.pointer)
            throw error
        }
        self.multi = multi
        self.easy = easy
        host = endpoint.host
    }

    deinit { curl_multi_remove_handle(multi.pointer, easy.pointer) }

    /// The server's certificate in PEM form; nil without TLS.
    package var peerCertificate: String? { easy.peerCertificate }

    /// Sends as many of the bytes as the connection accepts now.
    ///
    /// If it returns zero, the next call must pass the same bytes again, because TLS may have begun
    /// to send them.
    ///
    /// - Returns: The number of sent bytes; zero if the connection is congested.
    /// - Throws: ``TransportError`` with code `.interrupted` when the connection is lost.
    package func sendSome(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Int {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return 0 }
        var sent = 0
        let result = curl_easy_send(easy.pointer, start, bytes.count, &sent)
        switch result {
        case CURLE_OK: return sent
        case CURLE_AGAIN: return 0
        default: throw lost(result)
        }
    }

    /// Receives the available bytes.
    ///
    /// - Returns: The number of stored bytes; zero at the end of the stream, nil if none are
    ///   available.
    /// - Throws: ``TransportError`` with code `.interrupted` when the connection is lost.
    package func receiveSome(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError)
        -> Int?
    {
        var received = 0
        let result = curl_easy_recv(easy.pointer, buffer.baseAddress, buffer.count, &received)
        switch result {
        case CURLE_OK: return received
        case CURLE_AGAIN: return nil
        default: throw lost(result)
        }
    }

    /// Waits until bytes arrive or, on request, until bytes can be sent.
    ///
    /// Call it only after ``receiveSome(into:)`` returned nil: it does not notice bytes that TLS
    /// has already decrypted.
    ///
    /// - Returns: False if the deadline passed first.
    /// - Throws: `CancellationError` when interrupted.
    package func wait(
        toSend: Bool = false, until deadline: ContinuousClock.Instant,
        interruption: Interruption? = nil
    ) throws -> Bool {
        let events = toSend ? POLLIN | POLLOUT : POLLIN
        var watched = [pollfd(fd: socket, events: Int16(events), revents: 0)]
        if let interruption {
            watched.append(pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0))
        }
        while true {
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard remaining > .zero else { return false }
            let count = poll(
                &watched, nfds_t(watched.count), Int32(clamping: remaining.curlMilliseconds))
            if watched.count > 1, watched[1].revents != 0 { throw CancellationError() }
            if count > 0 { return true }
        }
    }

    private func lost(_ result: CURLcode) -> TransportError {
        TransportError(
            .interrupted, requestDidNotLeave: false, host: host, message: "the connection was lost")
    }

    private static func connect(
        _ easy: EasyHandle, on multi: MultiHandle, host: String, _ interruption: Interruption?
    ) throws {
        var watched = curl_waitfd(
            fd: interruption?.descriptor ?? -1, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        while true {
            var active: Int32 = 0
            guard curl_multi_perform(multi.pointer, &active) == CURLM_OK else {
                throw TransportError.refused(.other, host: host, "libcurl stopped while connecting")
            }
            if let (_, result) = multi.nextResult() {
                guard result == CURLE_OK else { throw TransportError(result, easy, host: host) }
                return
            }
            let watchedCount: UInt32 = interruption == nil ? 0 : 1
            let longestWait: Int32 = 10_000
            curl_multi_poll(multi.pointer, &watched, watchedCount, longestWait, nil)
            if watched.revents != 0 { throw CancellationError() }
        }
    }
}

/// The verification of a server's certificate.
package enum TLSVerification: Hashable, Sendable {
    /// The certificate must have a chain to a trusted authority, and contain the host's name.
    case full
    /// Nothing is checked: protects against eavesdroppers, not against an impostor.
    case none
    /// The key must be the expected one; the certificate's issuer and name do not matter.
    case pinned(PublicKeyPin)
}

/// The SHA-256 of a server's public key (its SubjectPublicKeyInfo in DER form), as libcurl compares
/// it.
///
/// From a certificate: `openssl x509 -in cert.pem -pubkey -noout |
/// openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`.
package struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    /// 44 characters of Base64.
    let base64: String

    /// Nil unless `text` is the Base64 form of 32 bytes, with or without the prefix `sha256//`.
    package init?(_ text: some StringProtocol) {
        let digits = text.hasPrefix("sha256//") ? String(text.dropFirst(8)) : String(text)
        // 32 bytes are 42 characters of six bits, one of four, and a padding character.
        guard digits.utf8.count == 44, digits.hasSuffix("="), !digits.hasSuffix("=="),
            digits.utf8.dropLast().allSatisfy(Self.isBase64Digit)
        else { return nil }
        base64 = digits
    }

    package var description: String { "sha256//" + base64 }

    private static func isBase64Digit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "+"), UInt8(ascii: "/"): true
        default: false
        }
    }
}

/// The address and the TLS settings of a ``ByteStream``.
package struct ByteStreamEndpoint: Hashable, Sendable {
    /// A name or an IP address; an IPv6 address without brackets.
    package var host: String
    /// 1 through 65535.
    package var port: Int
    /// Nil for a connection without TLS.
    package var tls: TLSVerification?
    /// A PEM file of the authorities to trust instead of the system's.
    package var caBundlePath: String?

    package init(host: String, port: Int, tls: TLSVerification? = nil, caBundlePath: String? = nil)
    {
        self.host = host
        self.port = port
        self.tls = tls
        self.caBundlePath = caBundlePath
    }
}

extension EasyHandle {
    /// Sets all options for a byte stream.
    ///
    /// - Throws: ``TransportError`` with code `.invalidURL` when the endpoint has no usable host or
    ///   port.
    func prepareStream(to endpoint: ByteStreamEndpoint, timeout: Duration) throws(TransportError) {
        try recordErrors()
        let url = try Self.url(for: endpoint)
        // The URL is passed as text, which libcurl copies, because the URL handle is freed at the
        // end of this function.
        guard let text = url.part(CURLUPART_URL) else {
            throw .refused(.invalidURL, "the host or the port is not valid")
        }
        try set(CURLOPT_URL, text)
        try set(CURLOPT_CONNECT_ONLY, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NOSIGNAL, 1)
        try closeInChildren()
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, timeout.curlMilliseconds)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_SSL_ENABLE_ALPN, 0)
        if let tls = endpoint.tls { try setVerification(tls, caBundlePath: endpoint.caBundlePath) }
    }

    private func setVerification(_ verification: TLSVerification, caBundlePath: String?)
        throws(TransportError)
    {
        try set(CURLOPT_CERTINFO, 1)
        let isFull = verification == .full
        try set(CURLOPT_SSL_VERIFYPEER, isFull ? 1 : 0)
        try set(CURLOPT_SSL_VERIFYHOST, isFull ? 2 : 0)
        if case .pinned(let pin) = verification {
            try set(CURLOPT_PINNEDPUBLICKEY, pin.description)
        }
        if let caBundlePath { try set(CURLOPT_CAINFO, caBundlePath) }
    }

    private static func url(for endpoint: ByteStreamEndpoint) throws(TransportError) -> URLHandle {
        let url = try URLHandle()
        let isIPv6Address = endpoint.host.contains(":")
        let host = isIPv6Address ? "[\(endpoint.host)]" : endpoint.host
        let isPlain = host.utf8.allSatisfy {
            (0x21...0x7e).contains($0) && !"/?#@%\\".utf8.contains($0)
        }
        guard isPlain, (1...65_535).contains(endpoint.port),
            url.set(CURLUPART_SCHEME, endpoint.tls == nil ? "http" : "https"),
            url.set(CURLUPART_HOST, host), url.set(CURLUPART_PORT, "\(endpoint.port)")
        else { throw .refused(.invalidURL, "the host or the port is not valid") }
        return url
    }

    /// The first certificate of the chain that the server sent, in PEM form.
    var peerCertificate: String? {
        var pointer: UnsafeMutableRawPointer?
        guard mb_easy_getinfo_pointer(self.pointer, CURLINFO_CERTINFO, &pointer) == CURLE_OK,
            let info = pointer?.assumingMemoryBound(to: curl_certinfo.self).pointee,
            info.num_of_certs > 0
        else { return nil }
        var field = info.certinfo?.pointee
        while let entry = field {
            let text = String(cString: entry.pointee.data)
            if text.hasPrefix("Cert:") { return String(text.dropFirst(5)) }
            field = entry.pointee.next
        }
        return nil
    }
}
