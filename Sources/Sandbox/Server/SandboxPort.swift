import Foundation

/// A port of 127.0.0.1 that stays reserved while nobody listens on it.
///
/// A socket that is bound and does not listen refuses connections, keeps others from getting the port, and lets those
/// listen on it who allow the address to be used again.
final class SandboxPort: Sendable {
    let number: Int
    private let descriptor: Int32

    /// Takes a free port.
    ///
    /// - Throws: ``SandboxError`` when there is none.
    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure() }
        var enabled: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &enabled, socklen_t(MemoryLayout<Int32>.size))
        // A child process of a test must not keep the port.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard status == 0 else {
            let failure = Self.failure()
            close(descriptor)
            throw failure
        }
        self.descriptor = descriptor
        self.number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    private static func failure() -> SandboxError {
        SandboxError(description: "could not open a port on 127.0.0.1: \(String(cString: strerror(errno)))")
    }
}
