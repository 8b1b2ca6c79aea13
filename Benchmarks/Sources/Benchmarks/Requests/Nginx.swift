import Foundation
import TestSupport

/// A web server with one process on a free loopback port, which answers each request with the same
/// 300 bytes of JSON.
final class Nginx: Sendable {
    let url: String
    private let program: Program
    private let folder: TemporaryDirectory

    init() throws {
        let path = try Self.path()
        let folder = try TemporaryDirectory(in: "/tmp")
        let port = try Self.freePort()
        let configuration = try folder.write(
            Data(Self.configuration(folder.path, port).utf8), to: "nginx.conf")
        self.folder = folder
        url = "http://127.0.0.1:\(port)/posts"
        program = try Program(
            [path, "-p", folder.path, "-c", configuration, "-e", folder.path("error.log")],
            outputPath: folder.path("nginx.log"))
        try waitUntilReady(port)
    }

    func stop() { program.stop() }

    private static func path() throws -> String {
        do {
            return try ServerProcess.locate("nginx", in: ["/usr/sbin", "/usr/local/sbin"])
        } catch {
            throw MissingTool(name: "nginx", package: "nginx-light")
        }
    }

    private static func configuration(_ folder: String, _ port: UInt16) -> String {
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/\($0);"
        }.joined(separator: " ")
        let body = #"{"id":"1","text":""# + String(repeating: "0123456789", count: 28) + #""}"#
        return """
            daemon off;
            worker_processes 1;
            pid \(folder)/nginx.pid;
            events { worker_connections 1024; }
            http {
                access_log off;
                keepalive_requests 100000000;
                tcp_nodelay on;
                default_type application/json;
                \(places)
                server {
                    listen 127.0.0.1:\(port);
                    location / { return 200 '\(body)'; }
                }
            }
            """
    }

    private static func freePort() throws -> UInt16 {
        let socket = try TCPSocket()
        return try socket.bindToFreePort()
    }

    private func waitUntilReady(_ port: UInt16) throws {
        for _ in 0..<1_000 {
            if program.isOver { break }
            if try TCPSocket().connects(to: port) { return }
            usleep(10_000)
        }
        throw TestSupportError("could not start nginx: \(program.output)")
    }
}

/// A socket of the system, closed with its last reference.
private final class TCPSocket {
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw TestSupportError("could not open a socket") }
    }

    deinit { close(descriptor) }

    func connects(to port: UInt16) -> Bool {
        withAddress(port) { connect(descriptor, $0, $1) == 0 }
    }

    /// A port of 127.0.0.1 on which nobody listened a moment ago.
    func bindToFreePort() throws -> UInt16 {
        guard withAddress(0, { bind(descriptor, $0, $1) == 0 }) else {
            throw TestSupportError("could not bind a loopback port")
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private func withAddress<Value>(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                body(pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
