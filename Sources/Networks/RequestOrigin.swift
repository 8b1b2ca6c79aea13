package import Foundation
import Transport

/// The mirror that makes requests, and the resources that it shares with the other mirrors of the
/// process.
package struct RequestOrigin: Sendable {
    /// The name of the mirror, for sharing the limits of hosts among the mirrors of a process.
    package let mirror: String
    /// The contact in the user agent.
    package let contact: RequestContact
    /// The gates of the hosts, shared by the mirrors of a process.
    package let gates: HostGates
    /// Returns a monotonic clock, in seconds.
    let uptime: @Sendable () -> TimeInterval

    /// - Parameter uptime: Returns a monotonic clock, in seconds; nil for the system's.
    package init(
        mirror: String = "", contact: RequestContact = RequestContact(),
        gates: HostGates = HostGates(),
        uptime: (@Sendable () -> TimeInterval)? = nil
    ) {
        self.mirror = mirror
        self.contact = contact
        self.gates = gates
        self.uptime = uptime ?? { ServerClock.systemUptime }
    }
}

/// The contact in the user agent of a mirror's requests; it may become known while requests are
/// made.
package final class RequestContact: @unchecked Sendable {
    // Sendable because `current` is only touched under `lock`.
    private let lock = NSLock()
    private var current: String?

    /// - Parameter text: The contact, as for ``tell(_:)``; nil if none is known yet.
    package init(_ text: String? = nil) { tell(text) }

    /// The contact; nil if none is known.
    package var text: String? { lock.withLock { current } }

    /// Replaces the contact; does nothing for nil and for a text that `HTTPClient.isContact`
    /// refuses.
    package func tell(_ text: String?) {
        guard let text, HTTPClient.isContact(text) else { return }
        lock.withLock { current = text }
    }
}
