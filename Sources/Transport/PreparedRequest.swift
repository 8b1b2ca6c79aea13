import CCurl
import Foundation

/// A request that passed every check, with the memory libcurl will read from.
struct PreparedRequest {
    private let request: HTTPRequest
    private let configuration: HTTPClientConfiguration
    private let url: RequestURL
    private let headers: HeaderList

    var host: String { url.host }
    var maximumBodyBytes: Int { max(0, request.maximumBodyBytes) }

    /// - Throws: ``TransportError`` with code `.invalidURL`, `.forbiddenScheme` or `.invalidHeader`.
    init(_ request: HTTPRequest, configuration: HTTPClientConfiguration) throws(TransportError) {
        self.request = request
        self.configuration = configuration
        url = try RequestURL(request.url)
        headers = HeaderList()
        for (name, value) in request.headers.pairs {
            try headers.append(HeaderList.line(name: name, value: value))
        }
        // libcurl would announce a body it was given as a form, and hold back large ones until the server agrees.
        if request.headers["Content-Type"] == nil { try headers.append("Content-Type:") }
        try headers.append("Expect:")
    }

    /// Sets every option but the callbacks.
    func apply(to easy: EasyHandle) throws(TransportError) {
        try easy.recordErrors()
        try easy.set(CURLOPT_CURLU, pointer: UnsafeMutableRawPointer(url.handle.pointer))
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        try easy.set(CURLOPT_NOSIGNAL, 1)
        try easy.closeInChildren()
        try easy.set(CURLOPT_USERAGENT, configuration.userAgent)
        try easy.set(CURLOPT_ACCEPT_ENCODING, "")
        try easy.set(CURLOPT_HTTPHEADER, pointer: UnsafeMutableRawPointer(headers.pointer))
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // A set but empty proxy overrides the environment.
        if url.isLoopback { try easy.set(CURLOPT_PROXY, "") }
        if request.isPublicOnly, !Self.hasProxy { try easy.openPublicAddressesOnly() }
        try applySecurity(to: easy)
        try applyLimits(to: easy)
        try applyMethod(to: easy)
    }

    /// Whether the environment names a proxy, whose own address is then the one that is connected to.
    private static var hasProxy: Bool {
        ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { (name: String) in
            getenv(name).map { $0.pointee != 0 } ?? false
        }
    }

    private func applySecurity(to easy: EasyHandle) throws(TransportError) {
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        try easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        if let path = configuration.caBundlePath { try easy.set(CURLOPT_CAINFO, path) }
    }

    private func applyLimits(to easy: EasyHandle) throws(TransportError) {
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.curlMilliseconds)
        try easy.set(CURLOPT_TIMEOUT_MS, request.timeout.curlMilliseconds)
        try easy.set(CURLOPT_LOW_SPEED_LIMIT, 1)
        try easy.set(CURLOPT_LOW_SPEED_TIME, max(1, configuration.stallTimeout.curlMilliseconds / 1_000))
    }

    private func applyMethod(to easy: EasyHandle) throws(TransportError) {
        try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        let needsBody = request.body != nil || [.post, .put, .patch].contains(request.method)
        if needsBody {
            try easy.set(CURLOPT_POST, 1)
            try easy.setBody(request.body ?? [])
        } else {
            try easy.set(CURLOPT_HTTPGET, 1)
        }
        try easy.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        if request.method == .get, !needsBody {
            try easy.set(CURLOPT_PIPEWAIT, 1)
        } else {
            // Such a connection goes with its request: the next one makes its own, and they would pile up.
            try easy.set(CURLOPT_FRESH_CONNECT, 1)
            try easy.set(CURLOPT_FORBID_REUSE, 1)
        }
    }
}
