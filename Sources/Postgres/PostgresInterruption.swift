import Foundation

/// A request to stop waiting, sent from another thread.
///
/// It is a flag and a pipe, so that a thread that waits for a socket notices it
/// at once.
final class PostgresInterruption: @unchecked Sendable {
    // The lock makes every access to `requested` exclusive; the descriptors never change.
    private let lock = NSLock()
    private var requested = false
    private let readEnd: Int32
    private let writeEnd: Int32

    init() throws(PostgresError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgresError(.connect, "no pipe could be made: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    var isRequested: Bool { lock.withLock { requested } }

    /// Asks for the interruption; from any thread.
    func request() {
        lock.withLock {
            requested = true
            var byte: UInt8 = 1
            _ = write(writeEnd, &byte, 1)
        }
    }

    /// Forgets a request; before each unit of work.
    func reset() {
        lock.withLock {
            requested = false
            drain()
        }
    }

    /// Waits until `events` happen on `socket` or an interruption is requested.
    ///
    /// - Parameters:
    ///   - events: Of poll(2).
    ///   - socket: A descriptor; negative waits for the interruption only.
    ///   - milliseconds: The longest wait; negative waits without end.
    ///   - ignoring: Whether an interruption that was already seen counts.
    /// - Returns: False when the time is over.
    func wait(for events: Int32, on socket: Int32, milliseconds: Int, ignoring: Bool = false) -> Bool {
        var descriptors = [
            pollfd(fd: socket, events: Int16(truncatingIfNeeded: events), revents: 0),
            pollfd(fd: ignoring ? -1 : readEnd, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&descriptors, 2, Int32(clamping: milliseconds))
        // A signal ends the wait early; the caller looks and waits again.
        return ready != 0
    }

    private func drain() {
        var buffer = [UInt8](repeating: 0, count: 64)
        while read(readEnd, &buffer, buffer.count) > 0 {}
    }
}
