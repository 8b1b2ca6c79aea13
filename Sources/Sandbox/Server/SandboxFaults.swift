package import Foundation

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
        var parameters: Set<String>
        var remaining: Int
        var whenMet: (@Sendable () -> Void)?
    }

    private let lock = NSLock()
    private var planned: [Planned] = []
    private var currentMastodon = MastodonHabits()
    private var currentX = XHabits()
    private var currentBluesky = BlueskyHabits()
    private var currentRefusals = SandboxRefusals()
    private var skew: TimeInterval = 0
    private var taken = 0

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

    /// Which objects are refused alone.
    package var refusals: SandboxRefusals {
        get { lock.withLock { currentRefusals } }
        set { lock.withLock { currentRefusals = newValue } }
    }

    /// How far the server's own clock is ahead of the world's, in seconds; its answers are dated by it.
    package var clockSkew: TimeInterval {
        get { lock.withLock { skew } }
        set { lock.withLock { skew = newValue } }
    }

    /// How many planned faults have happened.
    package var applied: Int { lock.withLock { taken } }

    /// Lets the next requests fail.
    ///
    /// - Parameters:
    ///   - fault: What happens to them.
    ///   - count: How many requests.
    ///   - method: Only requests with this method; nil for any.
    ///   - path: Only requests whose path begins so.
    ///   - parameters: Only requests with one of these in their query; empty for any.
    ///   - whenMet: Called for every request that meets the fault; must return at once.
    package func failNext(
        _ fault: SandboxFault, count: Int = 1, method: String? = nil, path: String = "/",
        having parameters: Set<String> = [], whenMet: (@Sendable () -> Void)? = nil
    ) {
        lock.withLock {
            guard count > 0 else { return }
            planned.append(
                Planned(
                    fault: fault, method: method, path: path, parameters: parameters, remaining: count,
                    whenMet: whenMet))
        }
    }

    /// Forgets the faults that have not happened yet; habits and the clock's skew stay.
    package func clearPlanned() { lock.withLock { planned = [] } }

    /// Forgets all planned faults and habits.
    package func clear() {
        lock.withLock {
            planned = []
            currentMastodon = MastodonHabits()
            currentX = XHabits()
            currentBluesky = BlueskyHabits()
            currentRefusals = SandboxRefusals()
            skew = 0
        }
    }

    /// The fault for a request, which is thereby used up.
    func take(for request: WireRequest) -> SandboxFault? {
        let met = lock.withLock { () -> Planned? in
            guard !planned.isEmpty else { return nil }
            let (method, path) = (request.method, request.path)
            let names = request.query.map(\.name)
            let index = planned.firstIndex { plan in
                plan.method ?? method == method && path.hasPrefix(plan.path)
                    && (plan.parameters.isEmpty || !plan.parameters.isDisjoint(with: names))
            }
            guard let index else { return nil }
            taken += 1
            planned[index].remaining -= 1
            let met = planned[index]
            if met.remaining == 0 { planned.remove(at: index) }
            return met
        }
        met?.whenMet?()
        return met?.fault
    }
}
