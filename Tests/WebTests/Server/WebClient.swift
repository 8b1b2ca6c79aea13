import Foundation
import TestSupport

/// A client that sends whatever a test wants, also what no browser would, and keeps cookies as one
/// does.
final class WebClient: @unchecked Sendable {
    // Unchecked because the cookies are only touched under `lock`.

    /// What the server answered.
    struct Answer: Sendable {
        let status: Int
        let headers: [(name: String, value: String)]
        let bytes: [UInt8]

        /// The bytes as text.
        var body: String { String(decoding: bytes, as: UTF8.self) }

        subscript(name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        func all(_ name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        /// The value of the first hidden field of that name.
        func field(_ name: String) -> String? {
            guard let start = body.range(of: "name=\"\(name)\" value=\"") else { return nil }
            return String(body[start.upperBound...].prefix { $0 != "\"" })
        }
    }

    let port: Int
    private let lock = NSLock()
    private var cookies: [String: String] = [:]

    init(port: Int) { self.port = port }

    var cookieNames: [String] { lock.withLock { cookies.keys.sorted() } }

    /// The value of a cookie.
    func cookie(_ name: String) -> String? { lock.withLock { cookies[name] } }

    func forgetCookies() { lock.withLock { cookies = [:] } }

    /// Sends a request and reads the answer to its end.
    ///
    /// - Parameters:
    ///   - path: With the query.
    ///   - form: The fields of a POST; nil for a GET.
    ///   - headers: Besides `Host`, `Cookie` and `Origin`, or in their place; an empty value leaves
    ///     one out.
    func send(
        _ path: String, form: [(String, String)]? = nil, headers: [String: String] = [:],
        method: String? = nil,
        body: String? = nil
    ) async throws -> Answer {
        let body =
            body
            ?? form.map { fields in
                fields.map { Self.encoded($0.0) + "=" + Self.encoded($0.1) }.joined(separator: "&")
            }
        var all = ["Host": "127.0.0.1:\(port)"]
        if let body {
            all["Origin"] = "http://127.0.0.1:\(port)"
            all["Content-Type"] = "application/x-www-form-urlencoded"
            all["Content-Length"] = String(body.utf8.count)
        }
        let jar = lock.withLock { cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        if !jar.isEmpty { all["Cookie"] = jar }
        all.merge(headers) { $1 }
        let lines = all.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }.sorted()
            .joined()
        let method = method ?? (body == nil ? "GET" : "POST")
        let request = "\(method) \(path) HTTP/1.1\r\n\(lines)Connection: close\r\n\r\n\(body ?? "")"
        let answer = try Self.parsed(try await Self.exchange(Array(request.utf8), port: port))
        keep(answer.all("Set-Cookie"))
        return answer
    }

    private func keep(_ headers: [String]) {
        lock.withLock {
            for header in headers {
                let pair = header.prefix { $0 != ";" }.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard pair.count == 2 else { continue }
                cookies[String(pair[0])] = header.contains("Max-Age=0") ? nil : String(pair[1])
            }
        }
    }

    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    private static func parsed(_ bytes: [UInt8]) throws -> Answer {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw TestSupportError("no answer")
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(
            separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else {
            throw TestSupportError("no status in \(lines[0])")
        }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (
                String(line[..<colon]),
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            )
        }
        return Answer(status: status, headers: headers, bytes: Array(bytes[end.upperBound...]))
    }

    private static func exchange(_ request: [UInt8], port: Int) async throws -> [UInt8] {
        try await WebConnection(port: port).apart {
            try $0.open()
            try $0.send(request)
            return $0.rest()
        }
    }
}

/// A connection to a server of this machine.
final class WebConnection: @unchecked Sendable {
    // Unchecked because it is used by one thread at a time; only ``end()`` may be called from
    // others.
    private let descriptor: Int32
    private let port: Int
    /// What has come since the last text that was waited for.
    private var unread: [UInt8] = []

    /// A connection that is not open yet.
    ///
    /// - Parameter source: The address of this machine that it comes from.
    init(port: Int, from source: String = "127.0.0.1") throws {
        self.port = port
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard Self.with(source, 0, { bind(descriptor, $0, $1) == 0 }) else {
            close(descriptor)
            throw TestSupportError("could not bind to \(source)")
        }
    }

    /// Connects, which waits for the server while many others do.
    func open() throws {
        guard Self.with("127.0.0.1", port, { connect(descriptor, $0, $1) == 0 }) else {
            throw TestSupportError("could not connect to port \(port)")
        }
    }

    /// Opens a connection without a wait on a thread that the server may need.
    static func opened(to port: Int, from source: String = "127.0.0.1") async throws
        -> WebConnection
    {
        let connection = try WebConnection(port: port, from: source)
        try await connection.apart { try $0.open() }
        return connection
    }

    private static func with<Value>(
        _ address: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(port).bigEndian
        place.sin_addr.s_addr = inet_addr(address)
        return withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Ends both directions, so that every call returns.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Uses the connection on a thread of its own, as its calls block, until the task is cancelled.
    func apart<Value: Sendable>(
        _ body: @escaping @Sendable (WebConnection) throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread { continuation.resume(with: Result { try body(self) }) }.start()
            }
        } onCancel: {
            end()
        }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // A server may answer, and close, before it has read a request to its end.
            guard count > 0 else { return }
            sent += count
        }
    }

    /// The next bytes, however long they take; empty at the end.
    func read() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    /// Everything until the end.
    func rest() -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let next = read()
            guard !next.isEmpty else { return bytes }
            bytes += next
        }
    }

    /// Reads until a text has come; false at the end, or after a mebibyte without it.
    func waits(for text: String) -> Bool { self.text(before: text) != nil }

    /// Reads until a text has come, and returns what came before it; nil at the end, or after a
    /// mebibyte without it.
    func text(before end: String) -> String? {
        while true {
            if let found = unread.firstRange(of: Array(end.utf8)) {
                defer { unread.removeSubrange(..<found.upperBound) }
                return String(decoding: unread[..<found.lowerBound], as: UTF8.self)
            }
            let next = read()
            guard !next.isEmpty, unread.count < 1 << 20 else { return nil }
            unread += next
        }
    }
}
