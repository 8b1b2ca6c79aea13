package import Foundation
import Posts

/// Looking up actions whose answer was lost.
extension Delivery {
    /// Looks up the due actions whose answer was lost, and settles them.
    ///
    /// Changes kept in memory are stored first. Actions that ended unconfirmed are looked up a few
    /// times more.
    ///
    /// - Parameters:
    ///   - allows: Returns whether an action may be sent again.
    /// - Returns: The actions that changed.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func reconcile(
        now: @escaping @Sendable () -> Date,
        allows: @Sendable (Action) async throws -> Bool = { _ in true }
    ) async throws -> [Action] {
        var changed = try await storeKeptChanges()
        _ = memory.monotonicTime(for: now())
        for departed in try await store.unresolved() {
            let settled = try await unlessChanged {
                try await settleIfDue(departed, now: now, allows: allows)
            }
            if let settled { changed.append(settled) }
        }
        for departed in try await store.dueUnconfirmed(now: now()) {
            let confirmed = try await unlessChanged {
                try await lookUpOnceMore(departed, now: now)
            }
            if let confirmed { changed.append(confirmed) }
        }
        return changed
    }

    /// Looks up actions with a request to undo and an unknown outcome; sends nothing.
    ///
    /// - Parameters:
    ///   - ids: Actions to look up now, besides the due ones. If such an action is not found, it is
    ///     looked up again when due, because a lost request may act late.
    /// - Returns: The actions that changed.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func lookUpUnknownUndos(
        atOnce ids: Set<String> = [], now: @escaping @Sendable () -> Date
    ) async throws -> [Action] {
        var changed = try await storeKeptChanges()
        for departed in try await store.unknownUndos() {
            let isDue = lookUpTime(of: departed) <= now()
            guard isDue || ids.contains(departed.id) else { continue }
            let changedAction = try await unlessChanged {
                isDue && departed.state == .sending
                    ? try await settle(departed, now: now, allows: { _ in false })
                    : try await lookUpOnceMore(departed, now: now)
            }
            if let changedAction { changed.append(changedAction) }
        }
        return changed
    }

    /// Returns the result of `work`; nil if another process settled the action meanwhile.
    private func unlessChanged(_ work: () async throws -> Action?) async throws -> Action? {
        do {
            return try await work()
        } catch let error as OutboxError where error.code == .stateChanged {
            return nil
        }
    }

    /// Returns the first of the times of ``nextWorkTimes(_:mentionsRead:now:)``; nil if nothing is
    /// due.
    package func nextWorkTime(
        _ kinds: [ActionKind], mentionsRead: Date? = .distantFuture, now: Date
    ) async throws -> Date? {
        try await nextWorkTimes(kinds, mentionsRead: mentionsRead, now: now).next
    }

    /// Returns the times of the next work: sending an action of these kinds, marking one as
    /// expired, a look-up, or storing a change kept in memory, which is a look-up that is due.
    package func nextWorkTimes(
        _ kinds: [ActionKind], mentionsRead: Date? = .distantFuture, now: Date
    ) async throws -> OutboxStore.NextWorkTimes {
        _ = memory.monotonicTime(for: now)
        var nextWorkTimes = try await store.nextWorkTimes(
            kinds, mentionsRead: mentionsRead, lookUpAfter: lookUpWait, now: now)
        if memory.unstoredChange != nil { nextWorkTimes.lookUp = now }
        return nextWorkTimes
    }

    private func lookUpTime(of departed: Departed) -> Date {
        if let next = departed.nextAttempt { return next }
        let sent = departed.sending ?? departed.updated
        return sent + lookUpWait
    }

    private func settleIfDue(
        _ departed: Departed, now: @escaping @Sendable () -> Date,
        allows: @Sendable (Action) async throws -> Bool
    ) async throws -> Action? {
        let time = now()
        if departed.updated > time { return try await reschedule(departed, at: time) }
        guard lookUpTime(of: departed) <= time else { return nil }
        return try await settle(departed, now: now, allows: allows)
    }

    /// Reschedules a look-up that was planned by a clock that was ahead.
    ///
    /// The clock was set back, or another worker's is ahead. The planned wait is kept. If the age
    /// of the first request is unknown, sending again becomes impossible, which is recorded before
    /// the local time is overwritten; the network's time is kept.
    private func reschedule(_ departed: Departed, at time: Date) async throws -> Action {
        var sends = departed.sends
        if departed.serverSending == nil, try await age(of: departed.action, at: time) == nil {
            sends = max(sends, Self.maximumSends)
        }
        let lookUp = lookUpTime(of: departed) - departed.updated.timeIntervalSince(time)
        return try await store.awaitLookUp(
            departed, at: lookUp, reason: departed.reason, sends: sends, now: time)
    }

    private func settle(
        _ departed: Departed, now: @escaping @Sendable () -> Date,
        allows: @Sendable (Action) async throws -> Bool
    ) async throws -> Action {
        let outcome = try await lookUp(departed.action, at: now())
        let time = now()
        switch outcome {
        case .found(let remoteID, let remoteAddress):
            return try await finish(
                departed, confirmation(of: departed, remoteID, remoteAddress, at: time))
        case .undecided(let detail):
            return try await finish(
                departed, giveUp(departed, "no answer came, and \(detail)", at: time))
        case .unavailable(let reason, let cause, let retryAfter):
            let departure = departure(of: departed.action, at: time)
            let age = time.timeIntervalSince(departure)
            let rule = RetryRule.lookUp(cause)
            guard !rule.isOver(since: departure, now: time) else {
                let change = giveUp(departed, "the network could not be asked for a day", at: time)
                return try await finish(departed, change)
            }
            let nextLookUp = min(
                rule.next(afterAge: age, key: departed.id, retryAfter: retryAfter, now: time),
                max(departure + Self.lookUpLimit, time + 1))
            // A duplicate keeps its reason, however long the look-up takes.
            let keptReason = departed.reason == .outbox(.duplicate) ? departed.reason : reason
            return try await finish(
                departed, wait(of: departed, until: nextLookUp, keptReason, at: time))
        case .absent:
            if let later = timeOfAnotherLook(for: departed.action, at: time) {
                return try await finish(
                    departed, wait(of: departed, until: later, departed.reason, at: time))
            }
            let version = try await store.wishVersion()
            if try await mayResend(departed.action, at: time), try await allows(departed.action),
                let earliest = try await store.lateTurn(of: departed.action, now: time)
            {
                if earliest > time {
                    return try await finish(
                        departed, wait(of: departed, until: earliest, departed.reason, at: time))
                }
                if let resent = try await resend(departed, asOf: version, now: now) {
                    return resent
                }
            }
            return try await finish(
                departed,
                giveUp(departed, "no answer came, and the network does not show it", at: time))
        }
    }

    private func lookUp(_ action: Action, at time: Date) async throws -> LookUpOutcome {
        let start = searchStart(of: action, at: time)
        // Recorded times may be wrong, because clocks may have been wrong.
        let otherPosts =
            action.kind == .favorite
            ? []
            : try await store.published(besides: action, since: min(start, time) - Self.lookUpLimit)
        let outcome = await deliverer.lookUp(action, since: start, among: otherPosts)
        onStep(.lookedUp)
        return outcome
    }

    /// Looks up an action that ended unconfirmed once more.
    ///
    /// - Returns: The action if it was found.
    private func lookUpOnceMore(
        _ departed: Departed, now: @escaping @Sendable () -> Date
    ) async throws -> Action? {
        let outcome = try await lookUp(departed.action, at: now())
        let time = now()
        let wasAsked: Bool
        switch outcome {
        case .found(let remoteID, let remoteAddress):
            return try await finish(
                departed, confirmation(of: departed, remoteID, remoteAddress, at: time))
        case .absent, .undecided: wasAsked = true
        case .unavailable: wasAsked = false
        }
        let next = Sightings.next(
            sending: departure(of: departed.action, at: time), now: time, wasAsked: wasAsked)
        try await store.lookAgain(departed, at: next)
        return nil
    }

    // MARK: Sending again

    /// Sends again with the same key; nil if the person is denied, the consent has ended or the
    /// mirror has retired, or the request is no longer possible.
    private func resend(
        _ departed: Departed, asOf version: Int64, now: @escaping @Sendable () -> Date
    ) async throws -> Action? {
        let request: PreparedRequest
        switch await deliverer.prepare(departed.action) {
        case .ready(let ready): request = ready
        case .notNow(let reason, let cause, let retryAfter):
            let time = now()
            let until = RetryRule.action(cause).next(
                after: departed.attempts, key: departed.id, retryAfter: retryAfter, now: time)
            return try await finish(departed, wait(of: departed, until: until, reason, at: time))
        case .refused: return nil
        }
        let withdraw: DeliveryMemory.Change = { [store] in
            try await store.withdraw(departed, now: now())
        }
        let pending: PendingRequest
        do {
            pending = try await recordDeparture(departed.id, orElse: withdraw) {
                [store, deliverer, lookUpWait] in
                let time = now()
                return try await store.resend(
                    departed, lookUp: time + lookUpWait, deadline: deliverer.requestDeadline,
                    asOf: version, now: time)
            } then: {
                onStep(.resendStored)
            }
        } catch {
            await request.withdraw()
            switch (error as? OutboxError)?.code {
            case .denied, .unagreed, .humanAway, .retired: return nil
            // The conditions changed, so the next attempt checks the action again.
            case .superseded:
                let time = now()
                return try await finish(
                    departed, wait(of: departed, until: time, departed.reason, at: time))
            default: throw error
            }
        }
        memory.noteRepeatedRequest(of: pending.departed.id, at: now())
        return try await send(pending, request, now: now)
    }

    /// Whether the action may be sent again with the same key: a few times, while the network
    /// honors the key, before it expires, and without a request to undo.
    private func mayResend(_ action: Action, at time: Date) async throws -> Bool {
        guard let window = deliverer.resendWindow, action.sends < Self.maximumSends,
            action.undo == nil,
            action.reason != .outbox(.duplicate),
            time <= action.expires, let age = try await age(of: action, at: time)
        else { return false }
        return age < window.timeInterval
    }
}

/// The schedule of look-ups of an action that ended unconfirmed.
///
/// A request may arrive late, and a server may show its posts late. Look-ups cost requests, on X
/// money, so there are a few within a day of sending. One that the network could not answer is
/// repeated soon.
enum Sightings {
    /// The times of the look-ups, in seconds since sending.
    static let times: [TimeInterval] = [600, 3_600, 6 * 3_600, 24 * 3_600]
    /// The interval of retries while the network is unreachable, in seconds.
    static let repetition: TimeInterval = 3_600
    /// The time after sending at which the retries end, in seconds.
    static let end: TimeInterval = 48 * 3_600

    /// Returns the time of the next look-up; nil if there were enough.
    ///
    /// - Parameters:
    ///   - sending: The time of the request.
    ///   - wasAsked: Whether the network has just answered that it does not have the action.
    /// - Returns: A time after `now`, or nil.
    static func next(sending: Date, now: Date, wasAsked: Bool) -> Date? {
        let age = now.timeIntervalSince(sending)
        let planned = times.first { $0 > age }.map { sending + $0 }
        if wasAsked { return planned }
        return age < end ? min(planned ?? .distantFuture, now + repetition) : nil
    }
}
