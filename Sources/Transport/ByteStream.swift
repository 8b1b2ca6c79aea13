package import Blocking
import CCurl
import Foundation

/// A connection that carries bytes both ways, with or without TLS.
///
/// libcurl makes the connection and, with `CURLOPT_CONNECT_ONLY`, hands it over; nothing of HTTP is spoken. Calls
/// block, and all belong to one thread (an executor's); what ends a wait from elsewhere is the ``Interruption``.
/// Proxies are not used.
package final class ByteStream {
    private let multi: MultiHandle
    private let easy: EasyHandle
    private let socket: Int32
    private let host: String

    /// Connects, TLS handshake included.
    ///
    /// - Parameters:
    ///   - endpoint: Where to.
    ///   - deadline: When to give up.
    ///   - interruption: What ends the attempt early.
    /// - Throws: ``TransportError``, or `CancellationError` when interrupted.
    package init(
        to endpoint: ByteStreamEndpoint, deadline: ContinuousClock.Instant, interruption: Interruption? = nil
    ) throws {
        let multi = try MultiHandle()
        let easy = try EasyHandle()
        try easy.prepareStream(to: endpoint, timeout: ContinuousClock.now.duration(to: deadline))
        guard curl_multi_add_handle(multi.pointer, easy.pointer) == CURLM_OK else {
            throw TransportError.refused(.other, host: endpoint.host, "libcurl took no more connections")
        }
        do {
            try Self.connect(easy, on: multi, host: endpoint.host, interruption)
            guard let socket = easy.socket(CURLINFO_ACTIVESOCKET) else {
                throw TransportError.refused(.connect, host: endpoint.host, "libcurl gave no socket")
            }
            self.socket = socket
        } catch {
            // No object exists yet whose deinit would do this; the order is that of curl_multi_cleanup(3).
            curl_multi_remove_handle(multi.pointer, easy.pointer)
            throw error
        }
        self.multi = multi
        self.easy = easy
        host = endpoint.host
    }

    deinit { curl_multi_remove_handle(multi.pointer, easy.pointer) }

    /// The certificate the server showed, in PEM form; nil without TLS.
    package var peerCertificate: String? { easy.peerCertificate }

    /// Sends as many of the bytes as the connection takes now.
    ///
    /// After zero, the next call must offer the same bytes again: TLS may have begun to send them.
    ///
    /// - Returns: How many bytes were sent; zero when the connection is congested.
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

    /// Receives what has arrived.
    ///
    /// - Returns: How many bytes were stored; zero at the end of the stream, nil when nothing has arrived.
    /// - Throws: ``TransportError`` with code `.interrupted` when the connection is lost.
    package func receiveSome(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int? {
        var received = 0
        let result = curl_easy_recv(easy.pointer, buffer.baseAddress, buffer.count, &received)
        switch result {
        case CURLE_OK: return received
        case CURLE_AGAIN: return nil
        default: throw lost(result)
        }
    }

    /// Waits until bytes arrive, or, if asked, until bytes can be sent.
    ///
    /// Call it only after ``receiveSome(into:)`` returned nil: bytes that TLS has already decrypted are not waited for.
    ///
    /// - Throws: ``TransportError`` with code `.timeout` after the deadline, or `CancellationError` when interrupted.
    package func wait(
        toSend: Bool = false, until deadline: ContinuousClock.Instant, interruption: Interruption? = nil
    ) throws {
        let events = toSend ? POLLIN | POLLOUT : POLLIN
        var watched = [pollfd(fd: socket, events: Int16(events), revents: 0)]
        if let interruption { watched.append(pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0)) }
        while true {
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard remaining > .zero else {
                throw TransportError(
                    .timeout, requestDidNotLeave: false, host: host, message: "the server did not answer in time")
            }
            let count = poll(&watched, nfds_t(watched.count), Int32(clamping: remaining.curlMilliseconds))
            if watched.count > 1, watched[1].revents != 0 { throw CancellationError() }
            if count > 0 { return }
        }
    }

    private func lost(_ result: CURLcode) -> TransportError {
        TransportError(
            .interrupted, requestDidNotLeave: false, host: host, message: "the connection was lost",
            curlCode: Int(result.rawValue))
    }

    private static func connect(
        _ easy: EasyHandle, on multi: MultiHandle, host: String, _ interruption: Interruption?
    ) throws {
        var watched = curl_waitfd(fd: interruption?.descriptor ?? -1, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        while true {
            var active: Int32 = 0
            guard curl_multi_perform(multi.pointer, &active) == CURLM_OK else {
                throw TransportError.refused(.other, host: host, "libcurl stopped while connecting")
            }
            if let (_, result) = multi.nextResult() {
                guard result == CURLE_OK else { throw TransportError(result, easy, host: host) }
                return
            }
            curl_multi_poll(multi.pointer, &watched, interruption == nil ? 0 : 1, 10_000, nil)
            if watched.revents != 0 { throw CancellationError() }
        }
    }
}
