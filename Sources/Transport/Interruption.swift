import Foundation

/// A signal from one thread that ends the waits of another.
///
/// Made per unit of work: once requested it stays requested. ``ByteStream`` watches it in every wait, from the first
/// step of connecting on.
package final class Interruption: Sendable {
    /// Readable once the interruption was requested.
    let descriptor: Int32
    private let trigger: Int32

    /// - Throws: ``TransportError`` when the process has no file descriptor left.
    package init() throws(TransportError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw .refused(.other, "no pipe could be opened: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        trigger = ends[1]
    }

    deinit {
        close(descriptor)
        close(trigger)
    }

    /// Ends the waits that watch this interruption, now and from now on.
    ///
    /// Any thread may call it.
    package func request() {
        var byte: UInt8 = 1
        _ = write(trigger, &byte, 1)
    }
}
