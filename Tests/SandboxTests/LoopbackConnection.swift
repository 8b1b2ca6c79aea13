import Foundation

/// One HTTP connection to a loopback port, written on bare sockets so that every byte sent is the
/// test's own.
final class LoopbackConnection: @unchecked Sendable {
    // Sendable: a test hands a connection from thread to thread and never uses it on two at a time.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32
    private var unread: [UInt8] = []

    init(port: Int, address host: String = "127.0.0.1") throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // What is thrown here ends in `deinit` too; closing twice would hit whoever has the number
        // by then.
        guard descriptor >= 0, status == 0 else {
            throw Failure(description: "could not connect to port \(port)")
        }
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var enabled: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled,
            socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Foundation.send(
                    descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "the server is gone") }
            sent += count
        }
    }

    /// The next answer; nil if the connection ends before its first byte.
    func receive() throws -> Reply? {
        while true {
            if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
                unread.removeFirst(end.upperBound)
                return try reply(head: head)
            }
            guard try fill() else {
                guard unread.isEmpty else {
                    throw Failure(description: "the connection ended inside an answer")
                }
                return nil
            }
        }
    }

    /// How a server ends a connection.
    enum Ending: Sendable {
        case closed
        case reset
    }

    /// Everything that comes until the connection ends, or so many bytes of it; then the ending is
    /// nil.
    func drain(upTo limit: Int = .max) throws -> (bytes: [UInt8], ending: Ending?) {
        var bytes = unread
        unread = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < limit {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return (bytes, .closed) }
            if count < 0 {
                guard errno == ECONNRESET else {
                    throw Failure(
                        description: "nothing came in a minute, after \(bytes.count) bytes")
                }
                return (bytes, .reset)
            }
            bytes += buffer[..<count]
        }
        return (bytes, nil)
    }

    /// Tells the server that nothing more will come, as a client does that ends, and goes on
    /// listening.
    func leave() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func reply(head: String) throws -> Reply {
        let lines = head.components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else {
            throw Failure(description: "no status in \(lines[0])")
        }
        let headers = lines.dropFirst().compactMap { line -> (String, String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            return (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
        }
        let length = headers.first { $0.0 == "content-length" }.flatMap { Int($0.1) } ?? 0
        while unread.count < length {
            guard try fill() else {
                throw Failure(description: "the connection ended inside a body")
            }
        }
        defer { unread.removeFirst(length) }
        return Reply(
            status: status, headers: Dictionary(headers, uniquingKeysWith: { first, _ in first }),
            body: Array(unread[..<length]))
    }

    private func fill() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { unread += buffer[..<count] }
        if count < 0, errno == EAGAIN {
            throw Failure(description: "the server did not answer in a minute")
        }
        return count > 0
    }
}

/// An HTTP answer.
struct Reply: Sendable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as one object.
    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }

    /// The body as a list of objects.
    var list: [[String: Any]] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [[String: Any]] ?? []
    }

    /// What `id` is in every object of the list.
    var ids: [String] { list.compactMap { $0["id"] as? String } }

    var error: String? { object["error"] as? String }

    /// Path and query of a link to another page.
    func link(_ relation: String) -> String? {
        let links = (headers["link"] ?? "").components(separatedBy: ", ")
        guard let link = links.first(where: { $0.hasSuffix("rel=\"\(relation)\"") }),
            let address = link.split(separator: ">").first?.dropFirst(),
            let components = URLComponents(string: String(address))
        else { return nil }
        return components.percentEncodedPath
            + (components.percentEncodedQuery.map { "?\($0)" } ?? "")
    }
}
