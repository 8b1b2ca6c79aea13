import CCurl

extension EasyHandle {
    /// Sets every option for a connection that carries bytes.
    ///
    /// - Throws: ``TransportError`` with code `.invalidURL` when the endpoint has no usable host or port.
    func prepareStream(to endpoint: ByteStreamEndpoint, timeout: Duration) throws(TransportError) {
        try recordErrors()
        let url = try Self.url(for: endpoint)
        // As text, which libcurl copies: the handle of the URL ends with this function.
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

    private func setVerification(_ verification: TLSVerification, caBundlePath: String?) throws(TransportError) {
        try set(CURLOPT_CERTINFO, 1)
        let isFull = verification == .full
        try set(CURLOPT_SSL_VERIFYPEER, isFull ? 1 : 0)
        try set(CURLOPT_SSL_VERIFYHOST, isFull ? 2 : 0)
        if case .pinned(let pin) = verification { try set(CURLOPT_PINNEDPUBLICKEY, pin.description) }
        if let caBundlePath { try set(CURLOPT_CAINFO, caBundlePath) }
    }

    private static func url(for endpoint: ByteStreamEndpoint) throws(TransportError) -> URLHandle {
        let url = try URLHandle()
        let isAddress6 = endpoint.host.contains(":")
        let host = isAddress6 ? "[\(endpoint.host)]" : endpoint.host
        let isPlain = host.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"/?#@%\\".utf8.contains($0) }
        guard isPlain, (1...65_535).contains(endpoint.port),
            url.set(CURLUPART_SCHEME, endpoint.tls == nil ? "http" : "https"),
            url.set(CURLUPART_HOST, host), url.set(CURLUPART_PORT, "\(endpoint.port)")
        else { throw .refused(.invalidURL, "the host or the port is not valid") }
        return url
    }

    /// The first certificate of the chain the server showed, in PEM form.
    var peerCertificate: String? {
        var pointer: UnsafeMutableRawPointer?
        guard mb_easy_getinfo_pointer(self.pointer, CURLINFO_CERTINFO, &pointer) == CURLE_OK,
            let info = pointer?.assumingMemoryBound(to: curl_certinfo.self).pointee, info.num_of_certs > 0
        else { return nil }
        var field = info.certinfo?.pointee
        while let current = field {
            let text = String(cString: current.pointee.data)
            if text.hasPrefix("Cert:") { return String(text.dropFirst(5)) }
            field = current.pointee.next
        }
        return nil
    }
}
