import Foundation

/// A request to stop waiting, sent from another thread.
///
/// It is a flag and a pipe, so that a thread that waits for a socket notices it at once. An
/// instance belongs to one thread and its units of work, one after the other:
/// ``ThreadExecutor/run(interrupting:_:)`` resets it before each unit of work.
package final class Interruption: @unchecked Sendable {
    // Unchecked because the mutable properties are only touched while `lock` is held.
    private let lock = NSLock()
    private var hasRequest = false
    /// The read end and the write end of the pipe; -1 if the process had no file descriptor left,
    /// in which case waits notice the flag only.
    private var pipeEnds: [Int32] = [-1, -1]

    package init() {
        openPipe()
    }

    deinit {
        for end in pipeEnds where end >= 0 { close(end) }
    }

    /// Whether an interruption was requested since the last ``reset()``.
    package var isRequested: Bool { lock.withLock { hasRequest } }

    /// A descriptor that is readable while a request stands, for callers that call `poll`
    /// themselves; -1 without a pipe.
    package var descriptor: Int32 { lock.withLock { pipeEnds[0] } }

    /// Ends the current wait and all later ones until ``reset()``; may be called from any thread.
    package func request() {
        lock.withLock {
            hasRequest = true
            var byte: UInt8 = 1
            _ = write(pipeEnds[1], &byte, 1)
        }
    }

    /// Clears a request; called before each unit of work.
    package func reset() {
        lock.withLock {
            if pipeEnds[0] < 0 { openPipe() }
            guard hasRequest else { return }
            hasRequest = false
            var buffer = [UInt8](repeating: 0, count: 64)
            while read(pipeEnds[0], &buffer, buffer.count) > 0 {}
        }
    }

    /// Waits until `events` happen on `socket` or an interruption is requested.
    ///
    /// - Parameters:
    ///   - events: The event flags of poll(2).
    ///   - socket: A descriptor; negative waits for the interruption only.
    ///   - milliseconds: The longest wait; a negative value waits without a limit.
    ///   - ignoringRequest: Whether to ignore interruptions and wait for the socket only.
    /// - Returns: False if the time ran out.
    package func wait(
        for events: Int32, on socket: Int32, milliseconds: Int, ignoringRequest: Bool = false
    ) -> Bool {
        var descriptors = [
            pollfd(fd: socket, events: Int16(truncatingIfNeeded: events), revents: 0),
            pollfd(fd: ignoringRequest ? -1 : descriptor, events: Int16(POLLIN), revents: 0),
        ]
        // A signal also ends the wait; the caller then tries its operation and waits again.
        return poll(&descriptors, 2, Int32(clamping: milliseconds)) != 0
    }

    /// Waits for a time, or until an interruption is requested.
    package func pause(milliseconds: Int) {
        _ = wait(for: 0, on: -1, milliseconds: milliseconds)
    }

    private func openPipe() {
        guard pipe(&pipeEnds) == 0 else { return pipeEnds = [-1, -1] }
        for end in pipeEnds {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }
}
