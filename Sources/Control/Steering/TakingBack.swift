import Archive
import Conduct
import Foundation
import Logging
package import Mirroring
package import Networks
package import Outbox
import Posts
import ServiceLifecycle
import Settings

/// Carries out requests to undo, no faster than the network permits.
///
/// The same deletion may be requested twice: by a process after a crash, or by two processes in
/// parallel. Deleting a deleted post is no error. So the post is not looked up first, and a request
/// whose answer was lost is simply repeated.
package struct TakingBack: Sendable {
    /// The outcome of one pass over the undo requests.
    package struct Round: Sendable {
        /// The attempted actions, as stored afterwards.
        package var tried: [Action] = []
        /// The number of completed effects of interrupted commands.
        package var effects = 0
        /// The error because of which some actions have to wait; nil for none.
        package var obstacle: NetworkError?

        package init() {}

        /// The number of actions that are undone now.
        package var takenBack: Int { tried.count { $0.state == .undone } }
    }

    /// The time after a request's deadline, in seconds, before another worker may repeat the
    /// request.
    private static let margin: TimeInterval = 60

    private let store: OutboxStore
    private let network: any SocialNetwork
    private let people: People
    private let clock: any WallClock
    private let logger: Logger
    private let onStep: @Sendable (UndoStep) -> Void

    /// - Parameters:
    ///   - mirror: The mirror.
    ///   - network: The bot's network, with verified credentials.
    ///   - lease: The lease of the worker; nil for a command, which may work beside a worker.
    package init(_ mirror: HumanMirror, network: any SocialNetwork, lease: Lease?) {
        store = mirror.outbox(lease: lease)
        self.network = network
        people = mirror.people
        clock = mirror.clock
        logger = mirror.logger
        onStep = { [faultPoints = mirror.rehearsal.faultPoints] in faultPoints.pass(.undo($0)) }
    }

    /// Undoes due actions, a few at most.
    ///
    /// - Parameter limit: The most actions.
    /// - Returns: The outcome; a network's refusal or failure is not thrown.
    /// - Throws: `OutboxError` if the lease is lost; the store's error; `CancellationError`.
    package func carryOut(limit: Int = 10) async throws -> Round {
        var round = Round()
        for action in try await store.dueUndos(now: clock.now, limit: limit) {
            // The remaining actions are left to the next pass.
            if Task.isCancelled || Task.isShuttingDownGracefully { break }
            let (kinds, pace) = allowance(for: action.kind)
            let nextAllowed = try await store.nextRoom(kinds, within: pace, now: clock.now)
            guard nextAllowed <= clock.now else {
                try await store.putOffUndos(kinds, until: nextAllowed, now: clock.now)
                continue
            }
            let requestLifetime = network.capabilities.requestDeadline.timeInterval + Self.margin
            guard
                let begunAction = try await store.beginUndo(
                    action, until: clock.now + requestLifetime, now: clock.now)
            else {
                continue
            }
            onStep(.begun)
            guard try await carryOut(begunAction, in: &round) else { break }
        }
        return round
    }

    /// The kinds that share a limit of the network, and the limit.
    private func allowance(for kind: ActionKind) -> (kinds: [ActionKind], pace: Pace) {
        switch kind {
        case .post, .reply: ([.post, .reply], network.capabilities.deletionPace)
        case .favorite: ([.favorite], network.capabilities.unfavoritePace)
        }
    }

    // MARK: One action

    /// Makes the request, and stores its outcome.
    ///
    /// - Returns: Whether the next action may be tried.
    private func carryOut(_ action: Action, in round: inout Round) async throws -> Bool {
        let stored: Action?
        do {
            let removal = try await remove(action)
            onStep(.answered)
            stored = try await store.undone(
                action.id, outcome: try await outcome(of: removal, action), now: clock.now)
        } catch let error as NetworkError {
            onStep(.answered)
            stored = try await store(error, of: action)
            if !error.dropsItem { round.obstacle = error }
        } catch let error as UndoObstacle {
            stored = try await store.undoFailed(
                action, error.description, next: nil, now: clock.now)
        }
        onStep(.outcomeStored)
        guard let stored else { return round.obstacle == nil }
        round.tried.append(stored)
        await log(stored)
        return round.obstacle == nil
    }

    /// Returns the outcome of a deletion, after checking whether the server still shows the text.
    ///
    /// The server has confirmed the deletion, so a failed check changes nothing.
    private func outcome(of removal: Removal, _ action: Action) async throws -> String {
        let confirmed = removal == .removed ? Undo.removed : Undo.gone
        guard action.kind != .favorite, let address = action.remoteAddress else { return confirmed }
        do {
            return try await network.showsDeleted(address) ? Undo.shown : confirmed
        } catch is NetworkError {
            return confirmed
        }
    }

    private func remove(_ action: Action) async throws -> Removal {
        if case .favorite(let target) = action.payload {
            guard !target.address.isEmpty else {
                throw UndoObstacle(description: "its recipient is forgotten")
            }
            return try await network.unfavorite(
                FavoriteDraft(
                    address: target.address, key: action.key,
                    createdAt: action.sending ?? action.due))
        }
        guard let address = action.remoteAddress else {
            throw UndoObstacle(
                description: "the network never returned the id of the \(action.kind.rawValue)")
        }
        guard let text = action.wording?.published else { return try await network.delete(address) }
        return try await network.delete(address) { TextRules.areAlike($0.post.text, text) }
    }

    /// Stores why an action is not undone, and when to try again; a permanent error is not retried.
    private func store(_ error: NetworkError, of action: Action) async throws -> Action? {
        let now = clock.now
        let asked = action.undo?.asked ?? now
        let cause = error.retryCause
        let rule = RetryRule.undo(cause)
        guard !error.dropsItem, !rule.isOver(since: asked, now: now) else {
            return try await store.undoFailed(action, error.description, next: nil, now: now)
        }
        let next = rule.next(
            after: action.undo?.attempts ?? 1, key: action.id, retryAfter: error.retryAfter,
            now: now)
        let stored = try await store.undoFailed(action, error.description, next: next, now: now)
        // A failure for one post says nothing about others; these causes affect all of them.
        switch cause {
        case .tooBusy:
            try await store.putOffUndos(allowance(for: action.kind).kinds, until: next, now: now)
        case .unreachable, .limit, .credentials:
            try await store.putOffUndos(ActionKind.allCases, until: next, now: now)
        case .serverTrouble, .conflict, .other: break
        }
        return stored
    }

    private func log(_ action: Action) async {
        var metadata = await people.metadata(of: action)
        metadata[LogKeys.reason] = "\(action.undo?.reason.rawValue ?? "-")"
        guard action.state != .undone else {
            return logger.info("Action taken back", metadata: metadata)
        }
        metadata[LogKeys.error] = "\(action.undo?.outcome ?? "-")"
        guard let next = action.undo?.next else {
            return logger.warning("Action not taken back, and not tried again", metadata: metadata)
        }
        metadata[LogKeys.until] = "\(next.rfc3339)"
        logger.notice("Action not taken back yet", metadata: metadata)
    }
}

/// Why an action cannot be undone, independently of the network.
private struct UndoObstacle: Error, CustomStringConvertible { let description: String }
