import CPostgres
import Foundation

/// Asks the server, over a connection of its own, to stop a statement.
///
/// libpq waits for the server's reaction as long as that takes, for ever if
/// need be, so it does that on a thread of its own.
final class PostgresCancelRequest: @unchecked Sendable {
    // Unchecked because of `pointer`, which only the one sending thread uses, and `isOver`, under the condition.
    private let pointer: OpaquePointer
    private let condition = NSCondition()
    private var isOver = false

    /// Sends the request for whatever runs on a connection; nil if there is no connection.
    init?(stopping handle: OpaquePointer) {
        guard let pointer = PQgetCancel(handle) else { return nil }
        self.pointer = pointer
        // The thread inherits from the client's that a closed connection raises no signal.
        Thread.detachNewThread { self.send() }
    }

    deinit { PQfreeCancel(pointer) }

    /// Waits until the server has taken the request, or cannot be asked.
    ///
    /// Until then the request may still stop a later statement of the same
    /// connection.
    ///
    /// - Returns: False if that takes longer than `milliseconds`.
    func isOver(within milliseconds: Int) -> Bool {
        let limit = Date(timeIntervalSinceNow: Double(milliseconds) / 1_000)
        return condition.withLock {
            while !isOver {
                guard condition.wait(until: limit) else { return isOver }
            }
            return true
        }
    }

    private func send() {
        var complaint = [CChar](repeating: 0, count: 256)
        // A request that does not arrive shows as an answer that does not come.
        _ = PQcancel(pointer, &complaint, Int32(complaint.count))
        condition.withLock {
            isOver = true
            condition.broadcast()
        }
    }
}
