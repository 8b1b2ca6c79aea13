import Foundation

/// A TCP port of 127.0.0.1, reserved while this value lives, whether or not a server listens on it.
///
/// A socket that is bound and does not listen refuses connections, keeps others from getting the
/// port, and lets those listen on it that allow the address to be used again, as all servers do. So
/// a server can be stopped and started on its port beside any number of neighbors.
package final class LoopbackPort: Sendable {
    package let number: UInt16
    private let descriptor: Int32

    /// Takes a free port.
    ///
    /// - Throws: ``TestSupportError`` if there is none.
    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw TestSupportError("could not open a socket") }
        // A server that is started meanwhile must not keep the port.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var enabled: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &enabled, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            throw TestSupportError("could not bind a loopback port")
        }
        self.descriptor = descriptor
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
