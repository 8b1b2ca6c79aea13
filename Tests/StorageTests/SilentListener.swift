import Foundation
import TestSupport

/// A loopback port that takes connections and never says a word.
final class SilentListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0
                    && getsockname(descriptor, generic, &length) == 0
                    && listen(descriptor, 8) == 0
            }
        }
        guard isListening else { throw TestSupportError("could not listen on a loopback port") }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// Returns when somebody has connected.
    func awaitConnection() async throws {
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, any Error>) in
            Thread {
                var waiting = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
                let isThere = poll(&waiting, 1, 180_000) == 1
                let result: Result<Void, any Error> =
                    isThere ? .success(()) : .failure(TestSupportError("nobody connected"))
                continuation.resume(with: result)
            }.start()
        }
    }
}
