package import Foundation
import Posts

/// Settling what became of actions whose answer was lost.
extension Delivery {
    /// Settles the actions whose answer was lost and whose time to look has come.
    ///
    /// What could not be stored before is stored first. Actions that ended unconfirmed are looked for a few times more.
    ///
    /// - Parameters:
    ///   - allows: Whether an action may still be sent a second time.
    /// - Returns: The actions that changed.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func reconcile(
        now: @escaping @Sendable () -> Date,
        allows: @Sendable (Action) async throws -> Bool = { _ in true }
    ) async throws -> [Action] {
        var changed = try await payDebts()
        _ = memory.steady(now())
        for action in try await store.unresolved() {
            let settled = try await unlessChanged { try await settleIfRipe(action, now: now, allows: allows) }
            if let settled { changed.append(settled) }
        }
        for action in try await store.unsighted(now: now()) {
            if let sighted = try await unlessChanged({ try await sight(action, now: now) }) { changed.append(sighted) }
        }
        return changed
    }

    /// Looks for what somebody wants taken back and of which nobody knows whether it happened; sends nothing.
    ///
    /// - Parameters:
    ///   - ids: What is looked for now; of everything else only what is due. One of these that is not found is looked for
    ///     again when it is due: a lost request may act late.
    /// - Returns: The actions that changed.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func seekUnwanted(
        atOnce ids: Set<String> = [], now: @escaping @Sendable () -> Date
    ) async throws -> [Action] {
        var changed = try await payDebts()
        for action in try await store.unknownUndos() {
            let isDue = lookUpTime(of: action) <= now()
            guard isDue || ids.contains(action.id) else { continue }
            let sought = try await unlessChanged {
                isDue && action.state == .sending
                    ? try await settle(action, now: now, allows: { _ in false }) : try await sight(action, now: now)
            }
            if let sought { changed.append(sought) }
        }
        return changed
    }

    /// What `work` returns; nil if somebody else settled the action meanwhile.
    private func unlessChanged(_ work: () async throws -> Action?) async throws -> Action? {
        do {
            return try await work()
        } catch let error as OutboxError where error.code == .stateChanged {
            return nil
        }
    }

    /// When there is something to do: to send one of these kinds, to mark one as expired, to look one up, or to store
    /// what the database did not take before.
    ///
    /// - Returns: A time that may have passed; nil if nothing is left to do.
    package func nextAttention(
        _ kinds: [ActionKind], heard: Date? = .distantFuture, now: Date
    ) async throws -> Date? {
        _ = memory.steady(now)
        if memory.debt != nil { return now }
        return try await store.nextAttention(kinds, heard: heard, lookUpAfter: lookUpWait, now: now)
    }

    private func lookUpTime(of action: Action) -> Date {
        action.nextAttempt ?? (action.sending ?? action.updated) + lookUpWait
    }

    private func settleIfRipe(
        _ action: Action, now: @escaping @Sendable () -> Date, allows: @Sendable (Action) async throws -> Bool
    ) async throws -> Action? {
        let time = now()
        if action.updated > time { return try await reschedule(action, at: time) }
        guard lookUpTime(of: action) <= time else { return nil }
        return try await settle(action, now: now, allows: allows)
    }

    /// Moves a look-up that was planned by a clock that showed a later time.
    ///
    /// The clock was set back, or another worker's is ahead. The wait stays as long as it was meant to be. If nobody can
    /// tell how old the first request is, another one is no longer possible, and that is recorded before the evidence is
    /// overwritten; what the network's clock showed is not overwritten.
    private func reschedule(_ action: Action, at time: Date) async throws -> Action {
        var known = action
        if action.serverSending == nil, try await age(of: action, at: time) == nil {
            known.sends = max(known.sends, Self.sendsAtMost)
        }
        let lookUp = lookUpTime(of: action) - action.updated.timeIntervalSince(time)
        return try await store.awaitLookUp(known, at: lookUp, reason: action.reason, now: time)
    }

    private func settle(
        _ action: Action, now: @escaping @Sendable () -> Date, allows: @Sendable (Action) async throws -> Bool
    ) async throws -> Action {
        let outcome = try await lookUp(action, at: now())
        let time = now()
        switch outcome {
        case .found(let remoteID, let remoteAddress):
            return try await finish(action, confirmation(of: action, remoteID, remoteAddress, at: time))
        case .undecided(let detail):
            return try await finish(action, giveUp(action, "no answer came, and \(detail)", at: time))
        case .unavailable(let reason, let cause, let asked):
            let departure = departure(of: action, at: time)
            let age = time.timeIntervalSince(departure)
            let rule = RetryRule.lookUp(cause)
            guard !rule.isOver(since: departure, now: time) else {
                return try await finish(action, giveUp(action, "the network could not be asked for a day", at: time))
            }
            let again = min(
                rule.next(afterAge: age, key: action.id, asked: asked, now: time),
                max(departure + Self.lookUpLimit, time + 1))
            // A duplicate stays one, however long it takes to ask.
            let kept = action.reason == Action.Reason.duplicate ? Action.Reason.duplicate : reason
            return try await finish(action, wait(of: action, until: again, kept, at: time))
        case .absent:
            if let later = timeOfAnotherLook(for: action, at: time) {
                return try await finish(action, wait(of: action, until: later, action.reason, at: time))
            }
            let version = try await store.wishVersion()
            if try await mayResend(action, at: time), try await allows(action),
                let turn = try await store.lateTurn(of: action, now: time)
            {
                if turn > time {
                    return try await finish(action, wait(of: action, until: turn, action.reason, at: time))
                }
                if let resent = try await resend(action, asOf: version, now: now) { return resent }
            }
            return try await finish(
                action, giveUp(action, "no answer came, and the network does not show it", at: time))
        }
    }

    private func lookUp(_ action: Action, at time: Date) async throws -> LookUpOutcome {
        let start = searchStart(of: action, at: time)
        // Rows are dated by clocks that may have been wrong.
        let others =
            action.kind == .favorite
            ? [] : try await store.published(besides: action, since: min(start, time) - Self.lookUpLimit)
        let outcome = await deliverer.lookUp(action, since: start, among: others)
        onStep(.lookedUp)
        return outcome
    }

    /// Looks once more for an action that ended unconfirmed.
    ///
    /// - Returns: The action if it was found.
    private func sight(_ action: Action, now: @escaping @Sendable () -> Date) async throws -> Action? {
        let outcome = try await lookUp(action, at: now())
        let time = now()
        let wasAsked: Bool
        switch outcome {
        case .found(let remoteID, let remoteAddress):
            return try await finish(action, confirmation(of: action, remoteID, remoteAddress, at: time))
        case .absent, .undecided: wasAsked = true
        case .unavailable: wasAsked = false
        }
        let next = Sightings.next(sending: departure(of: action, at: time), now: time, wasAsked: wasAsked)
        try await store.lookAgain(action, at: next)
        return nil
    }

    // MARK: Sending again

    /// Sends with the same key; nil if the person has been denied by now, or the request cannot be made any more.
    private func resend(
        _ action: Action, asOf version: Int64, now: @escaping @Sendable () -> Date
    ) async throws -> Action? {
        let request: PreparedRequest
        switch await deliverer.prepare(action) {
        case .ready(let ready): request = ready
        case .notNow(let reason, let cause, let asked):
            let time = now()
            let until = RetryRule.action(cause).next(
                after: action.attempts, key: action.id, asked: asked, now: time)
            return try await finish(action, wait(of: action, until: until, reason, at: time))
        case .refused: return nil
        }
        let withdraw: DeliveryMemory.Change = { [store] in
            let time = now()
            return try await store.awaitLookUp(action, at: time, reason: action.reason, now: time)
        }
        let resent: Action
        do {
            resent = try await departing(action.id, orElse: withdraw) { [store, deliverer, lookUpWait] in
                let time = now()
                return try await store.resend(
                    action, lookUp: time + lookUpWait, deadline: deliverer.requestDeadline, asOf: version, now: time)
            } then: {
                onStep(.resendStored)
            }
        } catch {
            await request.withdraw()
            switch (error as? OutboxError)?.code {
            case .denied: return nil
            // The next look decides anew.
            case .superseded: return try await finish(action, wait(of: action, until: now(), action.reason, at: now()))
            default: throw error
            }
        }
        memory.leavesAgain(resent.id, at: now())
        return try await send(resent, request, now: now)
    }

    /// Another attempt, with the same key, is allowed a few times, while the network
    /// still knows the key, the action has not expired and nobody wants it taken back.
    private func mayResend(_ action: Action, at time: Date) async throws -> Bool {
        guard let window = deliverer.resendWindow, action.sends < Self.sendsAtMost, action.undo == nil,
            action.reason != Action.Reason.duplicate,
            time <= action.expires, let age = try await age(of: action, at: time)
        else { return false }
        return age < window.timeInterval
    }
}

/// When an action that ended unconfirmed is looked for again.
///
/// A request may arrive late, and a server may show late what it has. Looking costs requests, on X money, so it happens
/// a few times within a day of sending. A look that a network could not answer costs nothing and is made up for soon.
enum Sightings {
    /// Seconds since sending.
    static let times: [TimeInterval] = [600, 3_600, 6 * 3_600, 24 * 3_600]
    /// How often a network that cannot be asked is tried, and until when: seconds, since the last time and since sending.
    static let repetition: TimeInterval = 3_600
    static let end: TimeInterval = 48 * 3_600

    /// The next time to look; nil when it was done often enough.
    ///
    /// - Parameters:
    ///   - sending: When the request left.
    ///   - wasAsked: Whether the network has just told that there is nothing.
    /// - Returns: A time after `now`, or nil.
    static func next(sending: Date, now: Date, wasAsked: Bool) -> Date? {
        let age = now.timeIntervalSince(sending)
        let planned = times.first { $0 > age }.map { sending + $0 }
        if wasAsked { return planned }
        return age < end ? min(planned ?? .distantFuture, now + repetition) : nil
    }
}
