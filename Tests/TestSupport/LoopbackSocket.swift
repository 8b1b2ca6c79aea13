import Foundation
import Glibc

/// Sockets of the loopback interface, which no process that is started later inherits.
package enum LoopbackSocket {
    /// Listens on a free port of an address of the loopback interface.
    ///
    /// - Throws: ``TestSupportError`` if no port can be had there.
    package static func listen(on host: String = "127.0.0.1") throws -> (
        descriptor: Int32, port: UInt16
    ) {
        let descriptor = make()
        var address = address(host, 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0
                    && getsockname(descriptor, generic, &length) == 0
                    && Glibc.listen(descriptor, 256) == 0
            }
        }
        guard isListening else {
            close(descriptor)
            throw TestSupportError("could not listen on \(host)")
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Connects to a port of 127.0.0.1; nil if nobody listens there.
    package static func connect(to port: UInt16) -> Int32? {
        let descriptor = make()
        var address = address("127.0.0.1", port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                Glibc.connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    static func receive(from descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Prepares a socket that was accepted as those are that are made here.
    package static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var enabled: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled,
            socklen_t(MemoryLayout<Int32>.size))
    }

    private static func make() -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        prepare(descriptor)
        return descriptor
    }

    private static func address(_ host: String, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        address.sin_port = port.bigEndian
        return address
    }
}
