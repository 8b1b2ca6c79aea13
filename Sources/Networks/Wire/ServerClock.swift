import Foundation
import Transport

/// How far the local clock is from that of the server that answered last.
final class ServerClock: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    private var known: TimeInterval?

    /// By how many seconds the local clock was ahead of the server's when it answered last; nil before it told.
    var lead: TimeInterval? { lock.withLock { known } }

    /// Reads the server's clock off an answer, if it tells.
    ///
    /// - Parameters:
    ///   - headers: The answer's.
    ///   - receivedAt: When the answer came, on the local clock.
    func note(_ headers: HTTPHeaders, receivedAt: Date) {
        guard let lead = headers.clockLead(receivedAt: receivedAt) else { return }
        lock.withLock { known = lead }
    }
}

extension HTTPHeaders {
    /// By how many seconds the local clock is ahead of the server's (`Date`; RFC 9110, section 6.6.1).
    ///
    /// - Parameter receivedAt: When the answer came, on the local clock.
    /// - Returns: Nil if the answer does not tell, or comes out of a cache and tells when it went in there (`Age`; RFC
    ///   9111, section 5.1).
    func clockLead(receivedAt: Date) -> TimeInterval? {
        guard self["Age"].map({ $0 == "0" }) ?? true else { return nil }
        return date.map { receivedAt.timeIntervalSince($0) }
    }

    /// When the answer was made, on the server's clock; nil if it does not tell.
    var date: Date? { self["Date"].flatMap { Date(httpDate: $0) } }
}
