import Archive
import Blocking
import Conduct
import Control
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings

/// Sends what is due, one action at a time.
///
/// The loops share one courier; its turnstile keeps them from sending at once, so
/// that caps and the order of slots hold.
package actor Courier {
    /// How many other texts are tried in place of one that is gone.
    private static let replacementsAtMost = 3
    /// How old a decision about somebody's post may be before that is looked at once more, in seconds.
    private static let decisionsLast: TimeInterval = 3_600

    private let delivery: Delivery
    /// Nil for a run that only pretends.
    private let takingBack: TakingBack?
    private let store: OutboxStore
    private let planner: PlanMaker
    private let hold: SlotHold
    private let archive: Archive
    private let people: People
    private let bot: AccountGate
    private let originals: Originals
    private let givesFavorites: Bool
    private let firstPostLook: FirstPostLook?
    private let goOnForgetting: @Sendable () async throws -> Void
    private let clock: any WallClock
    private let logger: Logger
    /// What was decided since it was last sent.
    private var decided: [Action] = []
    private let turnstile = Turnstile()

    /// What changes something at the bot's network.
    struct Hands {
        let delivery: Delivery
        /// Nil for a run that only pretends.
        let takingBack: TakingBack?
        /// Nil for a run that only pretends.
        let firstPostLook: FirstPostLook?
    }

    init(
        of mirror: HumanMirror, hands: Hands, store: OutboxStore, planner: PlanMaker, hold: SlotHold, bot: AccountGate,
        originals: Originals, goOnForgetting: @escaping @Sendable () async throws -> Void
    ) {
        (delivery, takingBack, firstPostLook) = (hands.delivery, hands.takingBack, hands.firstPostLook)
        self.store = store
        self.planner = planner
        self.hold = hold
        self.bot = bot
        self.originals = originals
        self.goOnForgetting = goOnForgetting
        givesFavorites = mirror.configuration.favoriteMode != .off
        (archive, people) = (mirror.archive, mirror.people)
        (clock, logger) = (mirror.clock, mirror.logger)
    }

    /// Sends the replies or favorites that were decided just now; what has to wait, or fails, is for the publisher.
    ///
    /// - Parameters:
    ///   - heard: As for ``deliverDue(_:heard:)``.
    /// - Throws: As ``deliverDue(_:heard:)``.
    func deliverDecided(_ kind: ActionKind, heard: Date? = .distantFuture) async throws {
        let now = clock.now
        func mayLeave(_ action: Action) -> Bool { action.kind == kind && action.mayLeave(heard: heard, at: now) }
        let due = decided.filter { mayLeave($0) && $0.due <= now }
        decided.removeAll(where: mayLeave)
        guard !due.isEmpty else { return }
        try await passing {
            guard try await bot.isOpen() else { return }
            try await send(due)
        }
    }

    /// Notes that an action was decided.
    func expect(_ action: Action) {
        if action.state == .planned { decided.append(action) }
    }

    /// Settles lost answers, marks what is too late, goes on with threads, takes back what is unwanted, then sends what
    /// is due of these kinds.
    ///
    /// At most one post leaves a call, and after an outage few of the missed ones leave at all; see
    /// ``OutboxStore/spreadLate(_:now:)``.
    ///
    /// While the bot's network refuses its credentials nothing leaves; what cannot wait expires. An answer waits until
    /// all that was said before it was decided has been read: its author may have asked to stop on a later page.
    ///
    /// - Parameters:
    ///   - heard: When the mentions were last read to their end; nil if they were not yet.
    /// - Returns: When the next action wants attention; nil if none does.
    /// - Throws: ``UnusableAccount`` once the bot's credentials are given up; the store's error.
    @discardableResult
    func deliverDue(_ kinds: [ActionKind], heard: Date? = .distantFuture) async throws -> Date? {
        try await passing {
            let attention = try await delivery.nextAttention(kinds, heard: heard, now: clock.now)
            guard let attention, attention <= clock.now else {
                // Credentials are verified again when that is due, also while nothing else is.
                _ = try await bot.isOpen()
                try await originals.askAgain()
                return attention
            }
            try await deliver(kinds, heard: heard)
            return try await delivery.nextAttention(kinds, heard: heard, now: clock.now)
        }
    }

    /// Lets one call after the other send.
    private func passing<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        try await turnstile.pass {
            do {
                return try await work()
            } catch is CancellationError where !Task.isCancelled {
                throw StrayCancellation()
            }
        }
    }

    private func deliver(_ kinds: [ActionKind], heard: Date?) async throws {
        for action in try await store.expire(now: clock.now) { await log(action) }
        // A part that is out may have been the last thing that a worker saw.
        for action in try await store.continueThreads(now: clock.now, grace: planner.grace) { await log(action) }
        guard try await bot.isOpen() else { return }
        for action in try await delivery.reconcile(now: { [clock] in clock.now }, allows: isAllowed) {
            try await note(action)
        }
        _ = try await takingBack?.carryOut()
        try bot.check()
        let ready = try await store.due(kinds, heard: heard, now: clock.now)
        let due = try await store.spreadLate(ready, now: clock.now)
        for action in due.expired { await log(action) }
        try await send(due.ready)
        try await originals.askAgain()
    }

    /// Sends one action after the other, one post at most, until the network or the worker's end says no.
    private func send(_ due: [Action]) async throws {
        var postsLeft = 1
        for action in due {
            // What is not begun is left to the next worker.
            if Task.isCancelled || Task.isShuttingDownGracefully { return }
            if bot.pause(at: clock.now) != nil { return }
            if action.kind == .post {
                guard postsLeft > 0 else { continue }
                postsLeft -= 1
            }
            do {
                if let held = try await heldBack(action) {
                    await log(held)
                    continue
                }
                try await note(try await delivery.deliver(action, now: { [clock] in clock.now }, prepare: prepare))
            } catch let error as OutboxError where error.code == .stateChanged {
                // Somebody else settled it; nothing was sent from here.
                let metadata = await people.metadata(of: action)
                logger.debug("Action changed meanwhile", metadata: metadata)
            }
            try bot.check()
        }
    }

    /// A post that does not leave now, for the human is posting or wants quiet, as it is then; nil if it leaves.
    private func heldBack(_ action: Action) async throws -> Action? {
        guard action.kind == .post else { return nil }
        let now = clock.now
        var due: Date?
        switch try await hold.verdict(on: action, now: now) {
        case .leaves: return nil
        case .moves(let later): due = later
        case .falls: break
        }
        return try await store.holdBack(action, until: due, reason: hold.reason(at: now), now: now)
    }

    /// Whether what was sent once, and left no trace, may be sent again.
    private func isAllowed(_ action: Action) async throws -> Bool {
        if let author = action.target?.author, try await people.stance(of: author) == .deny { return false }
        if action.kind == .favorite { return givesFavorites && bot.capabilities.canFavorite }
        guard bot.capabilities.canPublish else { return false }
        return try await reasonAgainstText(of: action) == nil
    }

    /// Checks right before sending that the action may still happen.
    private func prepare(_ action: Action) async throws -> Preparation {
        if let author = action.target?.author, try await people.stance(of: author) == .deny {
            return .skip(reason: Action.Reason.denied)
        }
        let prepared = try await prepareAsDecided(action)
        guard case .ready = prepared, let target = action.target else { return prepared }
        do {
            return try await reasonAgainst(target, decided: action.created).map { .skip(reason: $0) } ?? prepared
        } catch let error as NetworkError {
            return .wait(reason: error.code.rawValue, cause: error.retryCause, retryAfter: error.retryAfter)
        }
    }

    /// Why what was decided a while ago about somebody's post is not done: the post is gone, or its author has asked
    /// bots to stay away since; nil if nothing speaks against it.
    private func reasonAgainst(_ target: Action.Target, decided: Date) async throws -> String? {
        guard clock.now.timeIntervalSince(decided) >= Self.decisionsLast else { return nil }
        do {
            guard let post = try await bot.lookUp(target.address) else { return Action.Reason.targetGone }
            return OptOut.isOptedOut(bio: post.author.bio) ? Refusal.Reason.optedOut.rawValue : nil
        } catch let error as NetworkError where error.dropsItem {
            return Action.Reason.targetGone
        }
    }

    private func prepareAsDecided(_ action: Action) async throws -> Preparation {
        switch action.kind {
        case .favorite:
            if !givesFavorites { return .skip(reason: Action.Reason.noFavorites) }
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
        if let reason = try await reasonAgainstText(of: action) { return .skip(reason: reason) }
        return .ready(action)
    }

    /// Remembers when a person was answered, and logs what became of an action.
    private func note(_ action: Action) async throws {
        await log(action)
        guard let author = action.target?.author else {
            try await firstPostLook?.look(at: action)
            return
        }
        if try await people.stance(of: author) == .deny {
            // Who was forgotten while this was under way can be forgotten wholly now.
            try await goOnForgetting()
        } else if action.kind == .reply, action.state == .done {
            try await people.recordContact(author, handle: action.target?.name, at: clock.now)
        }
    }

    /// The post with its own text, or with another where the human has taken that back.
    private func preparePost(_ action: Action) async throws -> Preparation {
        if planner.makesNoPosts, !action.isPinned { return .skip(reason: Action.Reason.onlyAnswers) }
        var planner = planner
        planner.limits = try await bot.limits()
        // A person may have sent the text while it waited here; a further part of a thread goes with the first.
        let left =
            action.parent == nil
            ? Set(try await store.textsLeft(besides: action, since: action.created).map(TextRules.textKey)) : []
        var tried = [action]
        while true {
            let candidate = tried[tried.count - 1]
            let isSaid = candidate.texts.contains { left.contains(TextRules.textKey($0)) }
            let reason = isSaid ? Action.Reason.saidMeanwhile : try await reasonAgainstText(of: candidate)
            guard let reason else { return .ready(candidate) }
            // What a person chose is sent or not, and nothing else in its place.
            if candidate.isPinned { return .skip(reason: reason) }
            guard tried.count <= Self.replacementsAtMost else { return .skip(reason: Action.Reason.sourceGone) }
            let other = try await planner.replacement(for: action, besides: tried, now: clock.now)
            guard let other else { return .skip(reason: "no-text") }
            tried.append(other)
        }
    }

    /// Why the text of an action can no longer be used: the human took it back, or a person does not want it; nil if it
    /// can.
    private func reasonAgainstText(of action: Action) async throws -> String? {
        // What a person pinned may have lost its text, for a reason that is known.
        guard let wording = action.wording else { return action.reason ?? Action.Reason.sourceGone }
        // A person who pins a text has read it.
        if action.kind == .post, !action.isPinned,
            let reason = try await planner.unfitness(of: wording.source, at: clock.now)
        {
            return reason
        }
        // A thread is begun only while all of it may be said; once it is, each part is looked at in its turn.
        let rest = action.parent == nil ? wording.rest : []
        if let reason = try await reasonAgainstText(of: action, part: nil, wording) { return reason }
        for part in rest {
            if let reason = try await reasonAgainstText(of: action, part: part, part.wording) { return reason }
        }
        return nil
    }

    private func reasonAgainstText(
        of action: Action, part: Action.Part?, _ wording: Action.Wording
    ) async throws -> String? {
        guard let post = try await archive.post(wording.source) else { return Action.Reason.sourceGone }
        if let reason = try await planner.objection(to: post) { return reason }
        if !wording.pictures.isEmpty, let reason = planner.refusalOfMedia(post)?.code { return reason }
        return switch try await originals.find(post, for: action, part: part) {
        case .kept, .unasked: nil
        case .edited: Action.Reason.sourceEdited
        case .withheld: Action.Reason.sourceGone
        }
    }

    /// What failed for good, or may have, is a warning that says what the network answered.
    private func log(_ action: Action) async {
        var metadata = await people.metadata(of: action)
        guard action.state == .failed else { return logger.info("Action changed", metadata: metadata) }
        if let outcome = action.explanation?.outcome { metadata[LogKeys.error] = "\(outcome)" }
        logger.warning("Action failed", metadata: metadata)
    }
}

/// A call inside was cancelled though nobody cancelled the worker, who must not take it for its own end.
struct StrayCancellation: Error, CustomStringConvertible {
    let description = "could not deliver: a call was cut off that nobody had cancelled"
}
