import CCurl
import Foundation

/// One request with the task that waits for it.
final class Transfer: @unchecked Sendable {
    // Unchecked because `phase` is accessed only while `lock` is held, constants never change, and
    // only the loop's thread accesses the other variables.
    private enum Phase {
        case created
        case waiting(CheckedContinuation<HTTPResponse, any Error>)
        case over
    }

    private let request: HTTPRequest
    private let configuration: HTTPClientConfiguration
    /// The time by which the whole exchange must end, including the wait for a slot.
    let deadline: ContinuousClock.Instant
    /// The URL that libcurl reads while the transfer is in the loop.
    private let url: RequestURL
    private let headers: HeaderList
    private let lock = NSLock()
    private var phase = Phase.created

    /// The handle in use, while the transfer is in the loop.
    var easy: EasyHandle?
    private var reader: ResponseReader
    /// Whether ``HTTPRequest/mayLeave`` returned false.
    private var isRefusedByCaller = false

    /// - Throws: ``TransportError`` with code `.invalidURL`, `.forbiddenScheme` or
    ///   `.invalidHeader`.
    init(_ request: HTTPRequest, configuration: HTTPClientConfiguration) throws(TransportError) {
        self.request = request
        self.configuration = configuration
        deadline = .now + request.timeout
        url = try RequestURL(request.url, allowsPlainNearby: request.allowsPlainNearby)
        headers = HeaderList()
        reader = ResponseReader(maximumBodyBytes: max(0, request.maximumBodyBytes))
        for (name, value) in request.headers.pairs {
            try headers.append(HeaderList.line(name: name, value: value))
        }
        // By default libcurl would label a body as a form (`Content-Type`), and wait for the
        // server's consent before it sends a large one (`Expect`).
        if request.headers["Content-Type"] == nil { try headers.append("Content-Type:") }
        try headers.append("Expect:")
    }

    var host: String { url.host }

    /// Scheme, host and port.
    var origin: String { url.origin }

    /// Whether the request only reads, so that it may wait in the queue; a request that changes
    /// something is sent at once.
    var mayWait: Bool { request.method == .get && request.body == nil }

    var isOver: Bool {
        lock.withLock {
            if case .over = phase { true } else { false }
        }
    }

    /// Stores the continuation; if the transfer was cancelled before, resumes it instead and
    /// returns false.
    func wait(with continuation: CheckedContinuation<HTTPResponse, any Error>) -> Bool {
        let isStarting = lock.withLock {
            guard case .created = phase else { return false }
            phase = .waiting(continuation)
            return true
        }
        if !isStarting { continuation.resume(throwing: CancellationError()) }
        return isStarting
    }

    /// Wakes the waiting task; only the first call counts.
    ///
    /// - Parameter result: The result for the task.
    /// - Returns: True if a task was waiting, which means that the loop may have the transfer.
    @discardableResult
    func finish(_ result: Result<HTTPResponse, any Error>) -> Bool {
        let waitingTask: CheckedContinuation<HTTPResponse, any Error>? = lock.withLock {
            defer { phase = .over }
            if case .waiting(let continuation) = phase { return continuation }
            return nil
        }
        waitingTask?.resume(with: result)
        return waitingTask != nil
    }

    /// Sets the options and the callbacks, which identify the transfer by its address: it must stay
    /// alive while it is in the multi handle.
    func prepare(_ easy: EasyHandle) throws(TransportError) {
        try apply(to: easy)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.set(CURLOPT_HEADERFUNCTION, callback: receiveHeaderLine)
        try easy.set(CURLOPT_HEADERDATA, pointer: context)
        try easy.set(CURLOPT_WRITEFUNCTION, callback: receiveBodyBytes)
        try easy.set(CURLOPT_WRITEDATA, pointer: context)
        if request.mayLeave != nil { try easy.checkBeforeSending(mayDepart, context) }
    }

    /// Sets every option but the callbacks.
    private func apply(to easy: EasyHandle) throws(TransportError) {
        try easy.recordErrors()
        try easy.set(CURLOPT_CURLU, pointer: UnsafeMutableRawPointer(url.handle.pointer))
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        try easy.set(CURLOPT_NOSIGNAL, 1)
        try easy.closeInChildren()
        try easy.set(CURLOPT_USERAGENT, configuration.userAgent(naming: request.contact))
        try easy.set(CURLOPT_ACCEPT_ENCODING, "")
        try easy.set(CURLOPT_HTTPHEADER, pointer: UnsafeMutableRawPointer(headers.pointer))
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // A set but empty proxy overrides the environment.
        if url.isLoopback { try easy.set(CURLOPT_PROXY, "") }
        if request.isPublicOnly { try reachPublicAddressesOnly(easy) }
        try applySecurity(to: easy)
        try applyLimits(to: easy)
        try applyMethod(to: easy)
    }

    /// Sets the options for ``HTTPRequest/isPublicOnly``.
    ///
    /// If the environment names a proxy, the request goes through it regardless of `no_proxy`,
    /// because the proxy limits the addresses that it connects to. Without a proxy, the addresses
    /// are checked here.
    private func reachPublicAddressesOnly(_ easy: EasyHandle) throws(TransportError) {
        if Self.hasProxy, !url.isLoopback {
            try easy.set(CURLOPT_NOPROXY, "")
        } else {
            try easy.openPublicAddressesOnly()
        }
    }

    /// Whether the environment names a proxy, so that connections go to the proxy's address.
    private static var hasProxy: Bool {
        ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { (name: String) in
            // An empty variable names no proxy.
            guard let value = getenv(name) else { return false }
            return value.pointee != 0
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
        try easy.set(
            CURLOPT_TIMEOUT_MS, ContinuousClock.now.duration(to: deadline).curlMilliseconds)
        try easy.set(CURLOPT_LOW_SPEED_LIMIT, 1)
        try easy.set(
            CURLOPT_LOW_SPEED_TIME, max(1, configuration.stallTimeout.curlMilliseconds / 1_000))
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
        if mayWait {
            // Waits for a connection that is being opened, because over TLS it may carry several
            // requests. A connection without TLS never does, but libcurl would wait for its first
            // response to find that out.
            try easy.set(CURLOPT_PIPEWAIT, url.isSecure ? 1 : 0)
        } else {
            // The connection is closed after this request. The next such request opens its own, so
            // connections that stayed open would accumulate unused.
            try easy.set(CURLOPT_FRESH_CONNECT, 1)
            try easy.set(CURLOPT_FORBID_REUSE, 1)
        }
    }

    /// Whether the request may still be sent.
    func mayLeave() -> Bool {
        if let mayLeave = request.mayLeave { isRefusedByCaller = !mayLeave() }
        return !isRefusedByCaller
    }

    func receive(headerLine: UnsafeRawBufferPointer) -> Bool {
        reader.receive(headerLine: headerLine)
    }

    func receive(body: UnsafeRawBufferPointer) -> Bool { reader.receive(body: body) }

    /// Ends the transfer with libcurl's result.
    func complete(_ result: CURLcode) {
        guard let easy else { return }
        guard !isRefusedByCaller else {
            finish(
                .failure(
                    TransportError.refused(.timeout, host: host, "the time to send it was over")))
            return
        }
        let status = easy.integer(CURLINFO_RESPONSE_CODE)
        if result == CURLE_OK, (100...999).contains(status) {
            finish(.success(reader.response(status: status)))
        } else {
            let beginning = reader.beginning(status: status)
            finish(
                .failure(
                    TransportError(
                        result, easy, host: host, refusal: reader.refusal, beginning: beginning)))
        }
    }
}

/// libcurl calls this on the loop's thread just before a request is written
/// (CURLOPT_PREREQFUNCTION(3)).
private func mayDepart(
    context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?,
    _: UnsafeMutablePointer<CChar>?, _: Int32,
    _: Int32
) -> Int32 {
    guard let context else { return CURL_PREREQFUNC_ABORT }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.mayLeave() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// libcurl calls this on the loop's thread with one complete header line
/// (CURLOPT_HEADERFUNCTION(3)).
private func receiveHeaderLine(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let data, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    return transfer.receive(headerLine: bytes) ? bytes.count : 0
}

/// libcurl calls this on the loop's thread with decoded bytes of the body
/// (CURLOPT_WRITEFUNCTION(3)).
private func receiveBodyBytes(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let data, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    return transfer.receive(body: bytes) ? bytes.count : 0
}

/// The header lines of one request as a list of libcurl, which this object owns.
final class HeaderList {
    private(set) var pointer: UnsafeMutablePointer<curl_slist>?

    init() {}

    deinit { curl_slist_free_all(pointer) }

    /// Adds one line.
    ///
    /// - Throws: ``TransportError`` when memory ran out.
    func append(_ line: String) throws(TransportError) {
        guard let extended = curl_slist_append(pointer, line) else {
            throw .refused(
                .other, "libcurl could not keep a header; the process is short of memory")
        }
        pointer = extended
    }

    /// Headers that determine the end of a message, or that libcurl sets from the request itself.
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "transfer-encoding",
    ]

    /// The line for a header field.
    ///
    /// - Throws: ``TransportError`` with code `.invalidHeader` for anything that could end the line
    ///   early or change the end of the request (RFC 9110, section 5).
    static func line(name: String, value: String) throws(TransportError) -> String {
        guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else {
            throw .refused(
                .invalidHeader, "a header name has a character that is not allowed in one")
        }
        guard !reserved.contains(name.lowercased()) else {
            throw .refused(.invalidHeader, "the header \(name) is set by the client itself")
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
            throw .refused(
                .invalidHeader, "the value of the header \(name) has a control character")
        }
        // libcurl omits the header for "Name:" and sends it empty for "Name;"
        // (CURLOPT_HTTPHEADER(3)).
        return value.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 })
            ? "\(name);" : "\(name): \(value)"
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// Collects the header lines and the body of a response within its limits.
struct ResponseReader {
    /// Size limit of the header lines of all blocks together; servers send a few kilobytes.
    static let maximumHeaderBytes = 256 << 10
    /// The number of bytes of a body that are returned if the whole body is too large.
    static let maximumBeginning = 64 << 10

    private let maximumBodyBytes: Int
    private var headers = HTTPHeaders()
    private var headerBytes = 0
    private var isBlockComplete = true
    private var body: [UInt8] = []
    /// The reason why a header line or body bytes were refused; nil if none were.
    private(set) var refusal: String?
    private var isCut = false

    init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }

    func response(status: Int) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: body)
    }

    /// Returns the beginning of a response whose body is too large; `nil` for any other.
    func beginning(status: Int) -> HTTPResponse? {
        guard isCut else { return nil }
        return HTTPResponse(
            status: status, headers: headers, body: Array(body.prefix(Self.maximumBeginning)),
            isCut: true)
    }

    /// Returns false if the transfer is to be aborted.
    mutating func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.maximumHeaderBytes else {
            refusal = "the header is larger than \(Self.maximumHeaderBytes) bytes"
            return false
        }
        let text = line.prefix { $0 != 0x0d && $0 != 0x0a }
        if text.starts(with: "HTTP/".utf8), isBlockComplete {
            // A new block begins: the previous one belonged to an interim response.
            headers = HTTPHeaders()
            isBlockComplete = false
        } else if text.isEmpty {
            isBlockComplete = true
        } else if !isBlockComplete {
            // Lines after a complete block are trailers behind the body, which are not used.
            appendField(text)
        }
        return true
    }

    private mutating func appendField(_ line: Slice<UnsafeRawBufferPointer>) {
        if let first = line.first, first == 0x20 || first == 0x09 {
            headers.extendLast(Self.trimmed(line))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            headers.append(Self.trimmed(line[..<colon]), Self.trimmed(line[(colon + 1)...]))
        }
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }

    /// Returns false if the transfer is to be aborted.
    mutating func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        let remainingBytes = maximumBodyBytes - body.count
        guard bytes.count <= remainingBytes else {
            refusal = "the body is larger than \(maximumBodyBytes) bytes"
            isCut = true
            body.append(contentsOf: bytes.prefix(remainingBytes))
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }
}
