import Foundation
import TestSupport

/// Stands between mirror-bot and a server, and writes down every token, code and password that
/// passes.
///
/// Without a server behind it, or where `answer` wants it so, it answers itself.
final class SecretTap: Sendable {
    typealias Answer = @Sendable (LoopbackServer.Request, LoopbackServer.Connection) throws -> Void

    private let server: LoopbackServer

    /// - Parameters:
    ///   - book: Takes what passes.
    ///   - port: The server behind; nil if there is none.
    ///   - troubles: What goes wrong with some of the requests.
    ///   - answer: Answers a request itself where it returns something.
    /// - Throws: ``TestSupportError`` if no port can be opened.
    init(
        _ book: SecretBook, port: Int?, troubles: SecretTroubles = SecretTroubles(),
        answer: @escaping @Sendable (LoopbackServer.Request) -> Answer? = { _ in nil }
    ) throws {
        server = try LoopbackServer { request, connection in
            book.note(request)
            if let answer = answer(request) { return try answer(request, connection) }
            let trouble = troubles.next(for: request)
            if let trouble, !trouble.acts { return try trouble.answer(request, connection) }
            guard let port else { return connection.reset() }
            let bytes = try Self.forward(request, to: port)
            book.note(answer: Self.body(of: bytes), to: request)
            if let trouble { return try trouble.answer(request, connection) }
            try connection.send(bytes)
            connection.close()
        }
    }

    var url: String { server.url }
    var port: Int { server.port }
    /// How many requests have come.
    var count: Int { server.requests.count }

    private static func body(of answer: [UInt8]) -> [UInt8] {
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else { return [] }
        return Array(answer[end.upperBound...])
    }

    /// Sends the request as it is and reads the answer to its end.
    private static func forward(_ request: LoopbackServer.Request, to port: Int) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw TestSupportError("could not make a socket") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                connect(descriptor, raw, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw TestSupportError("the server behind is gone") }
        let kept = request.headers.filter { $0.name.lowercased() != "connection" }
        let lines = kept.map { "\($0.name): \($0.value)\r\n" }.joined()
        let head =
            "\(request.method) \(request.target) HTTP/1.1\r\n\(lines)Connection: close\r\n\r\n"
        var unsent = Array(head.utf8) + request.body
        while !unsent.isEmpty {
            let count = Glibc.send(descriptor, unsent, unsent.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { throw TestSupportError("the server behind is gone") }
            unsent.removeFirst(count)
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return answer }
            answer += buffer[..<count]
        }
    }
}
