package import Foundation
import Posts

/// A point in the delivery of an action, reported to an observer such as the crash harness.
package enum DeliveryStep: String, CaseIterable, Sendable {
    /// The action is claimed, or read under a version of a person's operations.
    case claimed
    /// The action is checked again and has its final text.
    case prepared
    /// The row is committed as `sending`; no byte is sent.
    case sendingStored = "sending-stored"
    /// The network answered, or the answer was lost; the outcome is not stored yet.
    case answered
    case outcomeStored = "outcome-stored"
    /// The action was looked up at the network; the result is not stored yet.
    case lookedUp = "looked-up"
    /// A second request with the same key is recorded; no byte of it is sent.
    case resendStored = "resend-stored"
}

/// Delivers actions exactly once, as far as the network allows.
///
/// The row with the final text is committed as `sending` before a request is sent. After a lost
/// answer the action is looked up, at the request's deadline plus a grace period; only then may the
/// same key be sent again, while the network still remembers it.
///
/// If the database fails, the outcome of a request is kept in memory and written before anything
/// else is done. One delivery belongs to one lease, and its calls must not overlap.
package struct Delivery: Sendable {
    /// Grace period after a request's deadline before a lost answer is looked up.
    package static let lookUpMargin: Duration = .seconds(60)
    /// Seconds of an unreachable network after which an action ends unconfirmed.
    static let lookUpLimit = RetryRule.lookUpTimeLimit
    /// The number of requests that may have acted after which an action is not sent again.
    ///
    /// All have the same key, and each is sent only after a look-up that found nothing, so a
    /// network that honors the key creates one post. More than two are needed if a crash or a lost
    /// answer hits the second one too.
    static let maximumSends = 5
    /// Tolerated difference in seconds between the clocks of two workers, or of one clock before
    /// and after it is set: the margin of the networks' windows for sending again.
    static let clockMargin: TimeInterval = 600
    /// The pause between a commit and its request after which a worker checks its lease again.
    static let longPause: TimeInterval = 5

    let store: OutboxStore
    let deliverer: any Deliverer
    let memory: DeliveryMemory
    let onStep: @Sendable (DeliveryStep) -> Void
    let onUpload: @Sendable (UploadStep) -> Void

    /// - Parameters:
    ///   - store: The outbox with the worker's lease.
    ///   - uptime: Returns the monotonic clock.
    package init(
        store: OutboxStore, deliverer: any Deliverer,
        onStep: @escaping @Sendable (DeliveryStep) -> Void = { _ in },
        onUpload: @escaping @Sendable (UploadStep) -> Void = { _ in },
        uptime: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.store = store
        self.deliverer = deliverer
        self.onStep = onStep
        self.onUpload = onUpload
        memory = DeliveryMemory(uptime: uptime)
    }

    /// Takes up, prepares and sends one action, and returns it as stored.
    ///
    /// An action that was read under a version of a person's operations need not be claimed: it is
    /// sent only if that version is still current when it is committed as `sending`.
    ///
    /// - Parameters:
    ///   - action: A due planned action.
    ///   - version: ``OutboxStore/wishVersion()`` at the moment when the action was read; nil to
    ///     claim it first.
    ///   - prepare: Checks the action again and returns its final text.
    /// - Throws: ``OutboxError`` if the lease is lost or the action changed meanwhile; the store's
    ///   error.
    package func deliver(
        _ action: Action, asOf version: Int64? = nil, now: @escaping @Sendable () -> Date,
        prepare: @Sendable (Action) async throws -> Preparation
    ) async throws -> Action {
        // This may change the action itself, which is then read again before it is sent.
        _ = try await storeKeptChanges()
        let claimed: Claimed
        if let version {
            claimed = try store.claim(action, asOf: version)
        } else {
            claimed = try await store.claim(action, now: now())
        }
        onStep(.claimed)
        let checkedVersion = if let version { version } else { try await store.wishVersion() }
        switch try await prepare(claimed.action) {
        case .skip(let reason):
            return try await store.end(claimed, as: .skipped, reason: reason, now: now())
        case .wait(let reason, let cause, let retryAfter):
            let postpone = postponement(
                of: claimed, reason, cause, retryAfter: retryAfter, at: now())
            return try await postpone()
        case .ready(let final):
            onStep(.prepared)
            switch try await uploadPictures(of: final, claimed, now: now) {
            case .complete(let complete, let claimed):
                return try await send(complete, claimed: claimed, asOf: checkedVersion, now: now)
            case .ended(let action): return action
            }
        }
    }

    /// Returns the change that postpones an action according to its error, and counts the attempt.
    func postponement(
        of claimed: Claimed, _ reason: ReasonCode, _ cause: RetryRule.Cause, retryAfter: Date?,
        at time: Date
    ) -> DeliveryMemory.Change {
        let attempts = claimed.attempts + 1
        let until = RetryRule.action(cause).next(
            after: attempts, key: claimed.id, retryAfter: retryAfter, now: time)
        return { [store] in
            try await store.postpone(
                claimed, until: until, reason: reason, attempts: attempts, now: time)
        }
    }

    /// Seconds after a request at which its lost answer is looked up.
    var lookUpWait: TimeInterval { (deliverer.requestDeadline + Self.lookUpMargin).timeInterval }

    // MARK: Sending

    /// Sends a claimed action with its final text, unless it has expired.
    private func send(
        _ final: Action, claimed: Claimed, asOf version: Int64, now: @escaping @Sendable () -> Date
    ) async throws -> Action {
        guard now() <= final.expires else {
            return try await store.end(
                claimed, as: .expired, reason: .outbox(.tooLate), now: now())
        }
        var final = final
        final.sending = now()
        let request: PreparedRequest
        switch await deliverer.prepare(final) {
        case .ready(let ready): request = ready
        case .notNow(let reason, let cause, let retryAfter):
            let postpone = postponement(
                of: claimed, reason, cause, retryAfter: retryAfter, at: now())
            return try await store(claimed.id, postpone)
        case .refused(let reason, let detail):
            return try await store.end(
                claimed, as: .failed, reason: reason, outcome: detail ?? reason.rawValue, now: now()
            )
        }
        let pending: PendingRequest
        do {
            // The check and the uploads before this point may have taken long.
            guard now() <= final.expires else {
                await request.withdraw()
                return try await store.end(
                    claimed, as: .expired, reason: .outbox(.tooLate), now: now())
            }
            pending = try await beginSending(final, claimed: claimed, asOf: version, now: now)
        } catch {
            await request.withdraw()
            switch (error as? OutboxError)?.code {
            case .denied:
                return try await store.end(
                    claimed, as: .skipped, reason: .outbox(.denied), now: now())
            case .superseded, .unagreed, .humanAway, .retired:
                return try await store.postpone(
                    claimed, until: nil, reason: claimed.reason, now: now())
            default: throw error
            }
        }
        return try await send(pending, request, now: now)
    }

    /// Commits the row as `sending`, and reverts that if no request is sent.
    private func beginSending(
        _ final: Action, claimed: Claimed, asOf version: Int64, now: @escaping @Sendable () -> Date
    ) async throws -> PendingRequest {
        let withdraw: DeliveryMemory.Change = { [store] in
            try await store.withdraw(claimed, now: now())
        }
        let pending = try await recordDeparture(claimed.id, orElse: withdraw) { [self] in
            let time = now()
            return try await store.beginSending(
                claimed, as: final, lookUp: time + lookUpWait, deadline: deliverer.requestDeadline,
                asOf: version,
                now: time, serverTime: serverTime(at: time))
        } then: {
            onStep(.sendingStored)
        }
        memory.noteFirstRequest(of: pending.departed.id)
        return pending
    }

    /// A request that is recorded as sent, but is not sent yet.
    struct PendingRequest {
        let departed: Departed
        /// The instant before the request was recorded.
        let since: ContinuousClock.Instant
    }

    /// Records a request before it is sent; if it is uncertain whether it was recorded, or the
    /// worker ends, no request is sent.
    ///
    /// - Parameters:
    ///   - withdraw: Reverts the record.
    ///   - then: Called after the record is made.
    /// - Throws: The store's error; ``OutboxError``; `CancellationError`.
    func recordDeparture(
        _ id: String, orElse withdraw: @escaping DeliveryMemory.Change,
        record: @escaping @Sendable () async throws -> Departed, then: () -> Void
    ) async throws -> PendingRequest {
        try Task.checkCancellation()
        let began = memory.instant
        let departed: Departed
        do {
            departed = try await uncancelled(record)
            then()
            // After a pause another worker may have taken over, and this request must not be sent.
            if began.duration(to: memory.instant).timeInterval > Self.longPause {
                try await uncancelled { [store] in try await store.requireLease() }
            }
        } catch let error as OutboxError {
            throw error
        } catch {
            memory.keepUnstored(id, withdraw)
            throw error
        }
        guard !Task.isCancelled else {
            _ = try await store(id, withdraw)
            throw CancellationError()
        }
        return PendingRequest(departed: departed, since: began)
    }

    /// Makes the request of a recorded action, and stores its outcome.
    ///
    /// The request must not leave after the time limit of its row: if a process or machine was
    /// suspended, its successor has looked for the request by then.
    func send(
        _ pending: PendingRequest, _ request: PreparedRequest, now: @escaping @Sendable () -> Date
    ) async throws -> Action {
        let departed = pending.departed
        let outcome = await request.send { [memory, deliverer] in
            pending.since.duration(to: memory.instant) < deliverer.requestDeadline
        }
        onStep(.answered)
        if case .notSent = outcome { memory.noteNoEffect(of: departed.id) }
        return try await finish(departed, change(for: outcome, of: departed, at: now()))
    }

    /// Stores the outcome of an action that was sent or looked up.
    func finish(_ departed: Departed, _ change: @escaping DeliveryMemory.Change) async throws
        -> Action
    {
        let stored = try await store(departed.id, change)
        if stored.state != .sending { memory.forget(departed.id) }
        onStep(.outcomeStored)
        return stored
    }

    /// Returns the change of an action that follows from an outcome.
    private func change(
        for outcome: DeliveryOutcome, of departed: Departed, at time: Date
    ) -> DeliveryMemory.Change {
        let store = store
        switch outcome {
        case .delivered(let remoteID, let remoteAddress):
            return confirmation(of: departed, remoteID, remoteAddress, at: time)
        case .notSent(let reason, let cause, let retryAfter):
            let until = RetryRule.action(cause).next(
                after: departed.attempts, key: departed.id, retryAfter: retryAfter, now: time)
            guard departed.sends > 1 else {
                return {
                    try await store.giveBack(departed, until: until, reason: reason, now: time)
                }
            }
            // The previous request may have acted.
            return wait(of: departed, until: until, reason, sends: departed.sends - 1, at: time)
        case .refused(let reason, let detail):
            guard departed.sends > 1 else {
                return {
                    try await store.end(
                        departed, as: .failed, reason: reason, outcome: detail ?? reason.rawValue,
                        now: time)
                }
            }
            // Only this request is refused; the previous one may have acted.
            return giveUp(
                departed,
                "the answer to the first request was lost; sent again: \(detail ?? reason.rawValue)",
                at: time)
        case .duplicate:
            return wait(of: departed, until: time + lookUpWait, .outbox(.duplicate), at: time)
        case .unknown(let reason):
            let planned = departed.nextAttempt ?? time + lookUpWait
            let earliest = time + Self.lookUpMargin.timeInterval
            return wait(of: departed, until: max(planned, earliest), reason, at: time)
        }
    }

    /// Returns the change for a confirmed action.
    func confirmation(
        of departed: Departed, _ remoteID: String?, _ remoteAddress: String?, at time: Date
    ) -> DeliveryMemory.Change {
        { [store] in
            try await store.confirm(
                departed, remoteID: remoteID, remoteAddress: remoteAddress, now: time)
        }
    }

    /// Returns the change that keeps an action with an unknown outcome until it is looked up.
    ///
    /// - Parameter sends: The number of requests that may have acted; nil to keep the number that
    ///   was read.
    func wait(
        of departed: Departed, until lookUp: Date, _ reason: ReasonCode?, sends: Int? = nil,
        at time: Date
    ) -> DeliveryMemory.Change {
        { [store] in
            try await store.awaitLookUp(
                departed, at: lookUp, reason: reason, sends: sends, now: time)
        }
    }

    /// Returns the change that ends an action unconfirmed.
    func giveUp(_ departed: Departed, _ outcome: String, at time: Date) -> DeliveryMemory.Change {
        // If the only request was refused as a duplicate, it has published nothing.
        let wasRefused = departed.reason == .outbox(.duplicate) && departed.sends < 2
        let reason: Action.Reason = wasRefused ? .duplicate : .unconfirmed
        let sighting = Sightings.next(
            sending: departure(of: departed.action, at: time), now: time, wasAsked: false)
        return { [store] in
            try await store.end(
                departed, as: .failed, reason: .outbox(reason), outcome: outcome,
                sighting: sighting, now: time)
        }
    }

    // MARK: Storing

    /// Stores a change of an action, or keeps it in memory until the database is available.
    func store(_ id: String, _ change: @escaping DeliveryMemory.Change) async throws -> Action {
        try await store(id, orLater: change, change)
    }

    /// Stores a change of an action, or keeps the equivalent `change` in memory until the database
    /// is available.
    func store<Value: Sendable>(
        _ id: String, orLater change: @escaping DeliveryMemory.Change,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await uncancelled(work)
        } catch let error as OutboxError {
            throw error
        } catch {
            memory.keepUnstored(id, change)
            throw error
        }
    }

    /// Stores the changes kept in memory.
    ///
    /// - Returns: The actions that changed.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error while it still fails.
    func storeKeptChanges() async throws -> [Action] {
        var storedActions: [Action] = []
        while let unstored = memory.unstoredChange {
            do {
                let action = try await uncancelled(unstored.change)
                if action.state != .sending { memory.forget(unstored.id) }
                storedActions.append(action)
            } catch let error as OutboxError where error.code == .stateChanged {
                // The change was stored after all; only the database's answer was lost.
            }
            memory.dropUnstored(unstored.id)
        }
        return storedActions
    }

    /// Stores a change even if the worker is cancelled, so that no outcome is lost.
    private func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value)
        async throws
        -> Value
    {
        try await Task { try await work() }.value
    }
}
