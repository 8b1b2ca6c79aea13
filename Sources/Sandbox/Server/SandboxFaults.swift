package import Foundation

/// What goes wrong with a request on purpose.
package enum SandboxFault: Equatable, Sendable {
    /// The connection ends before the server has done anything.
    case dropRequest
    /// The server acts, and the connection ends before an answer.
    case dropAnswer
    /// An answer instead of acting.
    case answer(status: Int, contentType: String, body: String, headers: [String: String])

    /// An error page as a proxy in front of the server sends it.
    package static func html(status: Int) -> SandboxFault {
        .answer(
            status: status, contentType: "text/html", body: "<html><body><h1>\(status)</h1></body></html>",
            headers: [:])
    }

    /// An error as the server itself reports it.
    package static func error(status: Int, message: String, headers: [String: String] = [:]) -> SandboxFault {
        .answer(
            status: status, contentType: "application/json; charset=utf-8",
            body: String(decoding: (["error": .string(message)] as WireJSON).bytes, as: UTF8.self), headers: headers)
    }
}

/// The fault switchboard of a sandbox.
///
/// Everything can be switched while requests run. Faults apply to the next
/// requests that match, in the order they were planned.
package final class SandboxFaults: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private struct Planned {
        var fault: SandboxFault
        var method: String?
        var path: String
        var remaining: Int
    }

    private let lock = NSLock()
    private var planned: [Planned] = []
    private var currentMastodon = MastodonHabits()
    private var currentX = XHabits()
    private var currentBluesky = BlueskyHabits()
    private var skew: TimeInterval = 0

    package init() {}

    /// How the Mastodon-compatible server differs from Mastodon.
    package var mastodon: MastodonHabits {
        get { lock.withLock { currentMastodon } }
        set { lock.withLock { currentMastodon = newValue } }
    }

    /// How X's interface differs from its documentation.
    package var x: XHabits {
        get { lock.withLock { currentX } }
        set { lock.withLock { currentX = newValue } }
    }

    /// How the Bluesky server differs from the reference implementation.
    package var bluesky: BlueskyHabits {
        get { lock.withLock { currentBluesky } }
        set { lock.withLock { currentBluesky = newValue } }
    }

    /// How far the server's own clock is ahead of the world's, in seconds; its answers are dated by it.
    package var clockSkew: TimeInterval {
        get { lock.withLock { skew } }
        set { lock.withLock { skew = newValue } }
    }

    /// Lets the next requests fail.
    ///
    /// - Parameters:
    ///   - fault: What happens to them.
    ///   - count: How many requests.
    ///   - method: Only requests with this method; nil for any.
    ///   - path: Only requests whose path begins so.
    package func failNext(_ fault: SandboxFault, count: Int = 1, method: String? = nil, path: String = "/") {
        lock.withLock {
            planned.append(Planned(fault: fault, method: method, path: path, remaining: max(0, count)))
        }
    }

    /// Forgets all planned faults and habits.
    package func clear() {
        lock.withLock {
            planned = []
            currentMastodon = MastodonHabits()
            currentX = XHabits()
            currentBluesky = BlueskyHabits()
            skew = 0
        }
    }

    /// The fault for a request, which is thereby used up.
    func take(method: String, path: String) -> SandboxFault? {
        lock.withLock {
            let index = planned.firstIndex { plan in
                plan.remaining > 0 && plan.method ?? method == method && path.hasPrefix(plan.path)
            }
            guard let index else { return nil }
            planned[index].remaining -= 1
            return planned[index].fault
        }
    }
}
