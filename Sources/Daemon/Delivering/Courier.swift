import Archive
import Conduct
import Foundation
import Logging
import Networks
import Outbox
import Posts
import ServiceLifecycle

/// Sends what is due, one action at a time.
///
/// The loops share one courier; its gate keeps them from sending at once, so
/// that caps and the order of slots hold.
package actor Courier {
    private let delivery: Delivery
    private let store: OutboxStore
    private let planner: PlanMaker
    private let archive: Archive
    private let people: People
    private let bot: GuardedNetwork
    private let human: (any SocialNetwork)?
    private let clock: any WallClock
    private let logger: Logger
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(
        delivery: Delivery, store: OutboxStore, planner: PlanMaker, archive: Archive, people: People,
        bot: GuardedNetwork, human: (any SocialNetwork)?, clock: any WallClock, logger: Logger
    ) {
        self.delivery = delivery
        self.store = store
        self.planner = planner
        self.archive = archive
        self.people = people
        self.bot = bot
        self.human = human
        self.clock = clock
        self.logger = logger
    }

    /// Settles lost answers, marks what is too late, then sends what is due of these kinds.
    ///
    /// At most one post leaves a call: after an outage the missed slots do not
    /// come in a burst.
    ///
    /// While the bot's network refuses its credentials nothing leaves; what cannot wait expires.
    ///
    /// - Throws: ``UnusableAccount`` once the bot's credentials are given up; the store's error.
    func deliverDue(_ kinds: [ActionKind]) async throws {
        await enter()
        defer { leave() }
        for action in try await store.expire(now: clock.now) { log(action) }
        guard try await bot.isOpen() else { return }
        for action in try await delivery.reconcile(now: { [clock] in clock.now }, allows: isAllowed) { log(action) }
        try bot.standing.check()
        var postsLeft = 1
        for action in try await store.due(kinds, now: clock.now) {
            // What is not begun is left to the next worker.
            if Task.isCancelled || Task.isShuttingDownGracefully { return }
            if bot.standing.pause(at: clock.now) != nil { return }
            if action.kind == .post {
                guard postsLeft > 0 else { continue }
                postsLeft -= 1
            }
            do {
                log(try await delivery.deliver(action, now: { [clock] in clock.now }, prepare: prepare))
            } catch let error as OutboxError where error.code == .stateChanged {
                // Somebody else settled it; nothing was sent from here.
                logger.debug("Action changed meanwhile", metadata: [LogKeys.action: "\(action.id)"])
            }
            try bot.standing.check()
        }
    }

    /// When the next action wants attention.
    func nextAttention(_ kinds: [ActionKind]) async throws -> Date? {
        let dates = [try await store.nextDue(kinds), try await delivery.nextLookUp()].compactMap(\.self)
        return dates.min()
    }

    /// Whether what was sent once, and left no trace, may be sent again.
    private func isAllowed(_ action: Action) async throws -> Bool {
        if let author = action.targetAuthor, try await people.stance(of: author) == .deny { return false }
        return action.kind == .favorite ? bot.capabilities.canFavorite : bot.capabilities.canPublish
    }

    /// Checks right before sending that the action may still happen.
    private func prepare(_ action: Action) async throws -> Preparation {
        if let author = action.targetAuthor, try await people.stance(of: author) == .deny {
            return .skip(reason: Refusal.Reason.denied.rawValue)
        }
        switch action.kind {
        case .favorite:
            // A person may have agreed to what the network then refuses.
            return bot.capabilities.canFavorite ? .ready(action) : .skip(reason: Refusal.Reason.byHand.rawValue)
        case .post, .reply:
            // Asked here and not when the plan is made, so that the rest of a day goes on once the operator agrees.
            guard bot.capabilities.canPublish else {
                return .skip(reason: Refusal.Reason.policyNotAcknowledged.rawValue)
            }
            return action.kind == .reply ? try await prepareReply(action) : try await preparePost(action)
        }
    }

    private func prepareReply(_ action: Action) async throws -> Preparation {
        guard let source = action.sourcePost, try await isStillThere(source) else {
            return .skip(reason: "source-gone")
        }
        if let author = action.targetAuthor {
            try await people.recordContact(author, at: clock.now)
        }
        return .ready(action)
    }

    private func preparePost(_ action: Action) async throws -> Preparation {
        if let source = action.sourcePost, try await isStillThere(source) { return .ready(action) }
        guard let other = try await planner.replacement(for: action, now: clock.now), let source = other.source else {
            return .skip(reason: "no-text")
        }
        var replaced = action
        replaced.sourcePost = source.id
        replaced.text = other.text
        replaced.language = source.language
        replaced.visibility = VisibilityRules.postVisibility(original: source.visibility)
        replaced.explanation = other.explanation.json
        return .ready(replaced)
    }

    /// Whether the human has kept the post; one that is gone is forgotten.
    private func isStillThere(_ id: PostID) async throws -> Bool {
        guard let post = try await archive.post(id) else { return false }
        guard let human, human.name == id.network, let address = post.address else { return true }
        do {
            if let found = try await human.lookUp(address) { return found.post.visibility.isOpen }
            try await archive.forget([id])
            return false
        } catch is NetworkError {
            // The human's server does not answer, or not this account; the archive is the best knowledge there is.
            return true
        }
    }

    /// What failed for good, or may have, is a warning that says what the network answered.
    private func log(_ action: Action) {
        var metadata: Logger.Metadata = [
            LogKeys.action: "\(action.id)", LogKeys.kind: "\(action.kind.rawValue)",
            LogKeys.state: "\(action.state.rawValue)", LogKeys.reason: "\(action.reason ?? "-")",
        ]
        guard action.state == .failed else { return logger.info("Action changed", metadata: metadata) }
        if let outcome = Explanation(json: action.explanation)?.outcome { metadata[LogKeys.error] = "\(outcome)" }
        logger.warning("Action failed", metadata: metadata)
    }

    private func enter() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
