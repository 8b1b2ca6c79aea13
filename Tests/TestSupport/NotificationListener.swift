import Foundation
import Synchronization

/// A service manager's end of sd_notify(3): a datagram socket at a path, or with an abstract name
/// behind `@`.
package final class NotificationListener: Sendable {
    /// What `NOTIFY_SOCKET` is to be.
    package let path: String
    private let descriptor: Int32

    /// - Parameter path: Where the socket is made; short enough for an address.
    /// - Throws: ``TestSupportError`` if it cannot be made.
    package init(path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Behind `@` is an abstract name, which is as long as its address.
        let bytes = path.hasPrefix("@") ? [0] + path.utf8.dropFirst() : Array(path.utf8) + [0]
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
            throw TestSupportError("could not make a socket: \(path) is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let prefix = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let isBound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(descriptor, raw, socklen_t(prefix + bytes.count)) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            throw TestSupportError("could not bind \(path)")
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The next word that somebody says, waited for on a thread of its own; nil if the task is
    /// cancelled.
    package func next() async -> String? {
        let wait = Wait()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    continuation.resume(returning: word(during: wait))
                }
            }
        } onCancel: {
            wait.isCancelled.withLock { $0 = true }
        }
    }

    private final class Wait: Sendable {
        let isCancelled = Mutex(false)
    }

    private func word(during wait: Wait) -> String? {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // Short waits, because cancelling must be noticed too.
        while poll(&event, 1, 50) == 0 {
            if wait.isCancelled.withLock({ $0 }) { return nil }
        }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// Listens until somebody says `word`.
    ///
    /// - Returns: Whether it was said before the task was cancelled.
    package func hears(_ word: String) async -> Bool {
        while let heard = await next() { if heard == word { return true } }
        return false
    }
}
