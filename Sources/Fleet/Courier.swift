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
import Tracing

/// Sends due actions, one at a time.
///
/// The passes of a worker share one courier. Its turnstile lets one pass send at a time, so that
/// limits and the order of planned posts are kept. `ExpectedActions`, `CourierRound`,
/// `SendingQueue` and `TextSearch` decide what comes next, and the courier performs it.
package actor Courier {
    /// The age, in seconds, from which on a decision about another person's post is checked again.
    private static let decisionLifetime: TimeInterval = 3_600

    private let mirror: String
    private let delivery: Delivery
    /// Nil for a dry run.
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
    private let continueForgetting: @Sendable () async throws -> Void
    private let clock: any WallClock
    private let logger: Logger
    /// The actions decided since the last sending.
    private var expectedActions = ExpectedActions()
    private let turnstile = Turnstile()

    /// The parts that make changes at the bot's network.
    struct NetworkParts {
        let delivery: Delivery
        /// Nil for a dry run.
        let takingBack: TakingBack?
        /// Nil for a dry run.
        let firstPostLook: FirstPostLook?
    }

    init(
        of mirror: HumanMirror, networkParts: NetworkParts, store: OutboxStore, planner: PlanMaker,
        hold: SlotHold, bot: AccountGate,
        originals: Originals, continueForgetting: @escaping @Sendable () async throws -> Void
    ) {
        delivery = networkParts.delivery
        takingBack = networkParts.takingBack
        firstPostLook = networkParts.firstPostLook
        self.store = store
        self.planner = planner
        self.hold = hold
        self.bot = bot
        self.originals = originals
        self.continueForgetting = continueForgetting
        givesFavorites = mirror.configuration.favoriteMode != .off
        self.mirror = mirror.name
        archive = mirror.archive
        people = mirror.people
        clock = mirror.clock
        logger = mirror.logger
    }

    /// Sends the replies or favorites that were decided just now; the publisher sends those that
    /// have to wait or that fail.
    ///
    /// - Parameters:
    ///   - mentionsRead: As for ``deliverDue(_:mentionsRead:)``.
    /// - Throws: As ``deliverDue(_:mentionsRead:)``.
    func deliverDecided(_ kind: ActionKind, mentionsRead: Date? = .distantFuture) async throws {
        let due = expectedActions.take(kind, mentionsRead: mentionsRead, at: clock.now)
        guard !due.isEmpty else { return }
        try await inTurn {
            guard try await bot.isOpen() else { return }
            try await send(due)
        }
    }

    /// Records a decided action.
    func expect(_ decision: Decision) {
        expectedActions.add(decision, in: .current)
    }

    /// The times of the next work, see ``deliverDue(_:mentionsRead:knowing:)``.
    ///
    /// - Throws: The store's error.
    func nextWorkTimes(_ kinds: [ActionKind], mentionsRead: Date?) async throws
        -> OutboxStore.NextWorkTimes
    {
        try await delivery.nextWorkTimes(kinds, mentionsRead: mentionsRead, now: clock.now)
    }

    /// Marks expired actions, continues threads, looks up lost answers, carries out requests to
    /// undo, then sends the due actions of these kinds.
    ///
    /// A call sends at most one post, and only a few of those missed in an outage; see
    /// ``OutboxStore/spreadLate(_:now:)``.
    ///
    /// While the bot's network refuses its credentials nothing is sent, and actions expire. A reply
    /// waits until all earlier mentions are read, because a later page may contain a "stop" of its
    /// author.
    ///
    /// - Parameters:
    ///   - mentionsRead: When the mentions were last read completely; nil for never.
    ///   - readBefore: The result of ``nextWorkTimes(_:mentionsRead:)`` for the same kinds, read
    ///     just now; nil to read it here.
    /// - Returns: The time of the next work; nil for none.
    /// - Throws: ``UnusableAccount`` after the bot's credentials are given up; the store's error.
    @discardableResult
    func deliverDue(
        _ kinds: [ActionKind], mentionsRead: Date? = .distantFuture,
        knowing readBefore: OutboxStore.NextWorkTimes? = nil
    ) async throws -> Date? {
        try await inTurn {
            let nextWorkTimes =
                if let readBefore { readBefore } else {
                    try await self.nextWorkTimes(kinds, mentionsRead: mentionsRead)
                }
            guard let next = nextWorkTimes.next, next <= clock.now else {
                // Credentials are verified when that is due, even if no other work is.
                _ = try await bot.isOpen()
                let undoRequestsBefore = await originals.undoRequestCount
                try await originals.askAgain()
                // There are new requests to undo, which the next call carries out at once.
                guard await originals.undoRequestCount == undoRequestsBefore else {
                    return clock.now
                }
                return nextWorkTimes.next
            }
            try await deliver(kinds, mentionsRead: mentionsRead, nextWorkTimes)
            return try await delivery.nextWorkTime(
                kinds, mentionsRead: mentionsRead, now: clock.now)
        }
    }

    /// Runs `work` when its turn has come: calls that send are serialized.
    private func inTurn<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        try await turnstile.pass {
            do {
                return try await work()
            } catch is CancellationError where !Task.isCancelled {
                throw StrayCancellation()
            }
        }
    }

    /// Does only the work that is due at the beginning; work that becomes due meanwhile is left to
    /// the next call, which follows immediately.
    private func deliver(
        _ kinds: [ActionKind], mentionsRead: Date?, _ nextWorkTimes: OutboxStore.NextWorkTimes
    )
        async throws
    {
        var round = CourierRound(nextWorkTimes)
        while let step = round.next(at: clock.now) {
            switch step {
            case .expire:
                let expired = try await store.expire(now: clock.now)
                for action in expired { await log(action) }
                round.expired(expired.count)
            case .continueThreads:
                let parts = try await store.continueThreads(now: clock.now, grace: planner.grace)
                for action in parts { await log(action) }
            case .open: guard try await bot.isOpen() else { return }
            case .lookUp:
                let settledActions = try await delivery.reconcile(
                    now: { [clock] in clock.now }, allows: mayBeSentAgain)
                for action in settledActions {
                    round.settled()
                    try await recordOutcome(of: action)
                }
            case .takeBack: _ = try await takingBack?.carryOut()
            case .send: try await sendDue(kinds, mentionsRead: mentionsRead)
            case .askOriginals: try await originals.askAgain()
            }
        }
    }

    /// Sends the stored actions that are due.
    private func sendDue(_ kinds: [ActionKind], mentionsRead: Date?) async throws {
        try bot.check()
        let (ready, version) = try await store.dueAsOf(
            kinds, mentionsRead: mentionsRead, now: clock.now)
        let due = try await store.spreadLate(ready, now: clock.now)
        for action in due.expired { await log(action) }
        try await send(
            due.ready.map {
                ExpectedActions.Expected(decision: Decision(of: $0, asOf: version), context: nil)
            })
    }

    /// Sends one action after the other, at most one post, until the network refuses or the worker
    /// ends.
    private func send(_ due: [ExpectedActions.Expected]) async throws {
        var queue = SendingQueue(due)
        while let expected = queue.next() {
            let decision = expected.decision
            let action = expected.decision.action
            // Actions that are not begun are left to the next worker.
            if Task.isCancelled || Task.isShuttingDownGracefully { return }
            if bot.pause(at: clock.now) != nil { return }
            do {
                let circumstances = action.kind == .post ? try await planner.circumstances() : nil
                if let postponed = try await heldBack(action, circumstances) {
                    await log(postponed)
                    continue
                }
                // Facts that are read after the version are valid as long as the version is
                // unchanged.
                let validCircumstances = decision.version == nil ? nil : circumstances
                let sent = try await WorkStage.deliver.traced(
                    mirror: mirror, kind: action.kind.rawValue, host: bot.host,
                    parent: expected.context,
                    outcome: { $0.state.rawValue }
                ) {
                    try await delivery.deliver(
                        action, asOf: decision.version, now: { [clock] in clock.now },
                        prepare: { try await prepare($0, decision, validCircumstances) })
                }
                try await recordOutcome(of: sent)
            } catch let error as OutboxError where error.code == .stateChanged {
                // Another process settled it; nothing was sent here.
                let metadata = await people.metadata(of: action)
                logger.debug("Action changed meanwhile", metadata: metadata)
            }
            try bot.check()
        }
    }

    /// Holds a post back while the human is posting or in quiet hours, and returns it as stored;
    /// nil if it may be sent.
    private func heldBack(_ action: Action, _ circumstances: Archive.Circumstances?) async throws
        -> Action?
    {
        guard action.kind == .post else { return nil }
        let now = clock.now
        var due: Date?
        switch try await hold.verdict(
            on: action, lastActivity: circumstances?.lastActivity, now: now)
        {
        case .send: return nil
        case .move(let later): due = later
        case .skip: break
        }
        return try await store.holdBack(action, until: due, reason: hold.reason(at: now), now: now)
    }

    /// Whether an action that was sent but not found may be sent again.
    private func mayBeSentAgain(_ action: Action) async throws -> Bool {
        if try await store.isDenied(action) { return false }
        if action.kind == .favorite { return givesFavorites && bot.capabilities.canFavorite }
        guard bot.capabilities.canPublish else { return false }
        do {
            return try await reasonAgainstText(of: action, readUnwanted()) == nil
        } catch is OriginalUnanswered {
            // This was checked right before the text was sent the first time.
            return true
        }
    }

    /// Reads which texts must not be sent now, because a person does not want them.
    private func readUnwanted() async throws -> Unwanted {
        Unwanted(try await planner.circumstances())
    }

    /// Checks right before sending whether the action is still allowed.
    ///
    /// A reply that was decided just now needs no new check as long as the mirror's version is
    /// unchanged. The transaction that stores the state `sending` checks the version.
    private func prepare(
        _ action: Action, _ decision: Decision, _ circumstances: Archive.Circumstances?
    ) async throws -> Preparation {
        if decision.source == nil, try await store.isDenied(action) {
            return .skip(reason: .outbox(.denied))
        }
        let prepared: Preparation
        do {
            prepared = try await prepareAsDecided(action, decision, circumstances)
        } catch is OriginalUnanswered {
            return .wait(reason: .outbox(.sourceUnasked), cause: .unreachable, retryAfter: nil)
        }
        guard case .ready(let ready) = prepared, let target = action.target else { return prepared }
        do {
            if let reason = try await reasonAgainst(target, decided: action.created) {
                return .skip(reason: reason)
            }
            return .ready(try await withoutRepeatedNote(ready, to: target.author))
        } catch let error as NetworkError {
            return .wait(
                reason: .network(error.code), cause: error.retryCause, retryAfter: error.retryAfter)
        }
    }

    /// Returns a reply without its note if its person was answered before, because the note is sent
    /// once.
    private func withoutRepeatedNote(_ reply: Action, to person: AccountID) async throws -> Action {
        guard case .reply(var payload) = reply.payload, payload.wording?.note != nil else {
            return reply
        }
        let acquaintance = try await people.acquaintance(with: person)
        let accounts = acquaintance?.accounts ?? [person]
        let wasAnswered =
            if acquaintance?.wasAnswered == true { true } else {
                try await store.hasAnswered(accounts, besides: reply)
            }
        guard wasAnswered else { return reply }
        payload.wording?.note = nil
        var replyWithoutNote = reply
        replyWithoutNote.payload = .reply(payload)
        return replyWithoutNote
    }

    /// Returns why an older decision about another person's post is no longer valid: the post is
    /// gone, or its author now refuses bots.
    ///
    /// Returns nil if the decision is still valid.
    private func reasonAgainst(_ target: Action.Target, decided: Date) async throws
        -> ReasonCode?
    {
        guard clock.now.timeIntervalSince(decided) >= Self.decisionLifetime else { return nil }
        do {
            guard let post = try await bot.lookUp(target.address) else {
                return .outbox(.targetGone)
            }
            return OptOut.isOptedOut(post.author) ? .rule(.optedOut) : nil
        } catch let error as NetworkError where error.dropsItem {
            return .outbox(.targetGone)
        }
    }

    private func prepareAsDecided(
        _ action: Action, _ decision: Decision, _ circumstances: Archive.Circumstances?
    ) async throws -> Preparation {
        switch action.kind {
        case .favorite:
            if !givesFavorites { return .skip(reason: .outbox(.noFavorites)) }
            // A person may have approved an action that the network does not support.
            return bot.capabilities.canFavorite
                ? .ready(action) : .skip(reason: .rule(.byHand))
        case .post, .reply:
            // Checked here and not when the plan is made, so that the rest of a day is posted once
            // the operator agrees.
            guard bot.capabilities.canPublish else {
                return .skip(reason: .rule(.policyNotAcknowledged))
            }
            if let source = decision.source {
                if let reason = try await reasonAgainst(source, of: action) {
                    return .skip(reason: reason)
                }
                return .ready(action)
            }
            let unwanted =
                if let circumstances { Unwanted(circumstances) } else { try await readUnwanted() }
            return action.kind == .reply
                ? try await prepareReply(action, unwanted) : try await preparePost(action, unwanted)
        }
    }

    private func prepareReply(_ action: Action, _ unwanted: Unwanted) async throws -> Preparation {
        if let reason = try await reasonAgainstText(of: action, unwanted) {
            return .skip(reason: reason)
        }
        return .ready(action)
    }

    /// Logs the outcome of an action, and stores when a person was answered.
    private func recordOutcome(of action: Action) async throws {
        await log(action)
        guard let author = action.target?.author else {
            try await noteLength(of: action)
            try await firstPostLook?.look(at: action)
            return
        }
        let isLeftAlone =
            if action.kind == .reply, action.state == .done {
                try await !people.recordContact(author, handle: action.target?.name, at: clock.now)
            } else {
                try await people.isDeniedItself(author)
            }
        // A person whose actions were in flight can now be forgotten completely.
        if isLeftAlone { try await continueForgetting() }
    }

    /// Records that the server found a text too long, so that it is not chosen again: servers count
    /// some scripts in their own ways.
    private func noteLength(of action: Action) async throws {
        guard action.state == .failed, action.reason == .outbox(.tooLong),
            let wording = action.wording, wording.note == nil
        else { return }
        let source = wording.source
        try await archive.noteLength(of: source, above: bot.limits().maximumCharacters)
    }

    /// Returns the post with its text, or with another one if the human deleted the original.
    private func preparePost(_ action: Action, _ unwanted: Unwanted) async throws -> Preparation {
        if planner.makesNoPosts, !action.isPinned {
            return .skip(reason: .outbox(.onlyAnswers))
        }
        var planner = planner
        planner.limits = try await bot.limits()
        // A person may have sent the text while this post waited. A further part of a thread is not
        // compared, because it belongs to the first part.
        var sentKeys: Set<String> = []
        if action.parent == nil {
            let sentTexts = try await store.textsSent(besides: action, since: action.created)
            sentKeys = Set(sentTexts.map(TextRules.textKey))
        }
        var search = TextSearch(for: action)
        var step = TextSearch.Step.judge
        while true {
            switch step {
            case .judge:
                let candidate = search.candidate
                let wasSent = candidate.texts.contains { sentKeys.contains(TextRules.textKey($0)) }
                let reason: ReasonCode? =
                    wasSent
                    ? .outbox(.saidMeanwhile) : try await reasonAgainstText(of: candidate, unwanted)
                step = search.judged(reason)
            case .draw:
                step = search.drew(
                    try await planner.replacement(
                        for: action, besides: search.tried, now: clock.now))
            case .send(let ready): return .ready(ready)
            case .skip(let reason): return .skip(reason: reason)
            }
        }
    }

    /// Returns why the text of an action is no longer usable: the human deleted it, or a person
    /// excluded it; nil if it is usable.
    private func reasonAgainstText(of action: Action, _ unwanted: Unwanted) async throws
        -> ReasonCode?
    {
        // A pinned post may have lost its text, for a recorded reason.
        guard let wording = action.wording else { return action.reason ?? .outbox(.sourceGone) }
        if wording.isTyped { return nil }
        let original = try await archive.original(wording.source)
        // A person who pinned a text has read it.
        if action.kind == .post, !action.isPinned, let original,
            let reason = try await planner.unfitness(of: original, unwanted, at: clock.now)
        {
            return reason
        }
        // A thread begins only if all its parts may be sent; after that each part is checked at its
        // turn.
        let laterParts = action.parent == nil ? wording.rest : []
        if let reason = try await reasonAgainst(original, of: action, wording, unwanted) {
            return reason
        }
        for part in laterParts {
            let original = try await archive.original(part.source)
            if let reason = try await reasonAgainst(
                original, of: action, part: part, part.wording, unwanted)
            {
                return reason
            }
        }
        return nil
    }

    private func reasonAgainst(
        _ original: Archive.Original?, of action: Action, part: Action.Part? = nil,
        _ wording: Action.Wording,
        _ unwanted: Unwanted
    ) async throws -> ReasonCode? {
        guard let original else { return .outbox(.sourceGone) }
        if let reason = planner.objection(to: original.post, unwanted) { return reason }
        if !wording.pictures.isEmpty, let refusal = planner.refusalOfMedia(original.post) {
            return .rule(refusal.reason)
        }
        return try await reasonAgainst(original, of: action, part: part)
    }

    /// Returns why the human's network contradicts a text; nil if it does not.
    ///
    /// - Throws: ``OriginalUnanswered`` if the network does not answer now and the operator does
    ///   not trust the archive instead.
    private func reasonAgainst(
        _ original: Archive.Original, of action: Action, part: Action.Part? = nil
    ) async throws -> ReasonCode? {
        switch try await originals.find(
            original.post, mayBeDenied: original.denied != nil, for: action, part: part)
        {
        case .kept: nil
        case .unanswered: if originals.trustsArchive { nil } else { throw OriginalUnanswered() }
        case .unverifiable: .outbox(.sourceUnverified)
        case .edited: .outbox(.sourceEdited)
        case .withheld: .outbox(.sourceGone)
        }
    }

    /// Logs the state of an action; a failed action is logged as a warning with the network's
    /// answer.
    private func log(_ action: Action) async {
        var metadata = await people.metadata(of: action)
        guard action.state == .failed else {
            return logger.info("Action changed", metadata: metadata)
        }
        if let outcome = action.explanation?.outcome { metadata[LogKeys.error] = "\(outcome)" }
        logger.warning("Action failed", metadata: metadata)
    }
}

/// The error of a call that was cancelled although the worker was not; it must not end the worker.
struct StrayCancellation: Error, CustomStringConvertible {
    let description = "could not deliver: a call was cut off that nobody had cancelled"
}

/// The human's network does not answer now, so it is unknown whether a post still exists.
private struct OriginalUnanswered: Error {}
