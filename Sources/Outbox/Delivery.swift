package import Foundation

/// What became of one request.
package enum DeliveryOutcome: Sendable {
    /// The network confirmed it.
    case delivered(remoteID: String?, remoteAddress: String?)
    /// Nothing happened at the network, and trying again may help.
    case notSent(reason: String, retryAfter: Date?)
    /// The network refused it for good.
    case refused(reason: String)
    /// The network says that this text was published already; true only if a look-up finds it.
    case duplicate
    /// The answer was lost: it may or may not have happened.
    case unknown(reason: String)
}

/// What looking an action up at the network found.
package enum LookUpOutcome: Sendable {
    case found(remoteID: String?, remoteAddress: String?)
    case absent
    /// The network could not be asked; ask again later.
    case unavailable(reason: String, retryAfter: Date?)
}

/// The side of a network that delivery needs.
package protocol Deliverer: Sendable {
    /// Sends the action once. Never throws: a lost answer is an outcome.
    func send(_ action: Action) async -> DeliveryOutcome
    /// Reads the bot's own posts (or the favorite) back to before `action.sending`.
    func lookUp(_ action: Action) async -> LookUpOutcome
    /// How long a request may take before its answer counts as lost.
    var requestDeadline: Duration { get }
    /// How long after the first attempt the network still recognises the same key; nil if a text must never be sent twice.
    var resendWindow: Duration? { get }
}

/// What an action looks like right before it is sent.
package enum Preparation: Sendable {
    /// Send this, with its final text.
    case ready(Action)
    /// Do not send, for this reason.
    case skip(reason: String)
}

/// Delivers actions exactly once, as far as the network allows.
///
/// The row with the final text is committed as `sending` before a request
/// leaves. A lost answer is settled by looking the action up after the
/// request's deadline and a margin; only then may the same key be sent again.
package struct Delivery: Sendable {
    /// Added to the request's deadline before a lost answer is looked up.
    package static let lookUpMargin: Duration = .seconds(60)
    /// Attempts to look an action up before it is given up as unconfirmed.
    static let lookUpLimit: TimeInterval = 24 * 3_600

    private let store: OutboxStore
    private let deliverer: any Deliverer
    private let retry: RetryPolicy

    package init(store: OutboxStore, deliverer: any Deliverer, retry: RetryPolicy = RetryPolicy()) {
        self.store = store
        self.deliverer = deliverer
        self.retry = retry
    }

    /// Claims, prepares and sends one action and returns it as it is stored then.
    ///
    /// - Parameters:
    ///   - action: A planned action whose time has come.
    ///   - now: Reads the wall clock.
    ///   - prepare: Checks the claimed action once more and gives its final text.
    /// - Returns: The action in its new state.
    /// - Throws: ``OutboxError`` if the lease is lost or the action changed meanwhile; the store's error.
    package func deliver(
        _ action: Action, now: @Sendable () -> Date, prepare: @Sendable (Action) async throws -> Preparation
    ) async throws -> Action {
        let claimed = try await store.claim(action, now: now())
        switch try await prepare(claimed) {
        case .skip(let reason):
            return try await store.end(claimed, as: .skipped, reason: reason, now: now())
        case .ready(let final):
            let sending = try await store.beginSending(final, now: now())
            return try await send(sending, now: now)
        }
    }

    /// Settles the actions whose answer was lost and whose time to look has come.
    ///
    /// - Returns: The actions whose state changed.
    package func reconcile(now: @Sendable () -> Date) async throws -> [Action] {
        var settled: [Action] = []
        for action in try await store.unresolved() where lookUpTime(of: action) <= now() {
            settled.append(try await settle(action, now: now))
        }
        return settled
    }

    /// When the next unresolved action wants to be looked up.
    package func nextLookUp() async throws -> Date? {
        try await store.unresolved().map(lookUpTime(of:)).min()
    }

    /// How long after an attempt its lost answer is looked up, in seconds.
    private var lookUpWait: TimeInterval { (deliverer.requestDeadline + Self.lookUpMargin).timeInterval }

    private func lookUpTime(of action: Action) -> Date {
        max((action.sending ?? action.updated) + lookUpWait, action.nextAttempt ?? .distantPast)
    }

    /// Sends once and stores what came of it; with `mayHaveActed` an earlier request of the same action may have acted.
    private func send(
        _ action: Action, mayHaveActed: Bool = false, now: @Sendable () -> Date
    ) async throws -> Action {
        let outcome = await deliverer.send(action)
        let time = now()
        switch outcome {
        case .delivered(let remoteID, let remoteAddress):
            return try await store.confirm(action, remoteID: remoteID, remoteAddress: remoteAddress, now: time)
        case .notSent(let reason, let after):
            let until = max(after ?? .distantPast, retry.nextAttempt(after: action.attempts, id: action.id, now: time))
            return mayHaveActed
                ? try await store.takeBackResend(action, at: until, reason: reason, now: time)
                : try await store.postpone(action, until: until, reason: reason, now: time)
        case .refused(let reason):
            return try await store.end(action, as: .failed, reason: reason, now: time)
        case .duplicate:
            return try await store.awaitLookUp(action, at: time, reason: "duplicate", now: time)
        case .unknown(let reason):
            return try await store.awaitLookUp(action, at: lookUpTime(of: action), reason: reason, now: time)
        }
    }

    private func settle(_ action: Action, now: @Sendable () -> Date) async throws -> Action {
        let outcome = await deliverer.lookUp(action)
        let time = now()
        switch outcome {
        case .found(let remoteID, let remoteAddress):
            return try await store.confirm(action, remoteID: remoteID, remoteAddress: remoteAddress, now: time)
        case .unavailable(let reason, let after):
            guard time.timeIntervalSince(action.sending ?? action.updated) < Self.lookUpLimit else {
                return try await store.end(action, as: .failed, reason: "unconfirmed", now: time)
            }
            let again = max(after ?? .distantPast, retry.nextAttempt(after: action.attempts, id: action.id, now: time))
            return try await store.awaitLookUp(action, at: again, reason: reason, now: time)
        case .absent where mayResend(action, at: time):
            let resent = try await store.resend(action, lookUp: time + lookUpWait, now: time)
            return try await send(resent, mayHaveActed: true, now: now)
        case .absent:
            return try await store.end(action, as: .failed, reason: "unconfirmed", now: time)
        }
    }

    /// A second attempt, with the same key, is allowed once, while the network
    /// still knows the key and the action has not expired.
    private func mayResend(_ action: Action, at time: Date) -> Bool {
        guard let window = deliverer.resendWindow, let sending = action.sending else { return false }
        return action.attempts < 2 && action.reason != "duplicate" && time <= action.expires
            && time.timeIntervalSince(sending) < window.timeInterval
    }
}

extension Duration {
    /// The duration in seconds.
    package var timeInterval: TimeInterval {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
