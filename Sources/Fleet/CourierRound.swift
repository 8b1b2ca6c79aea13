import Foundation
import Mirroring
import Outbox
import Posts
import Tracing

/// The decisions of this process that wait to be sent, without a clock, a network or a store.
struct ExpectedActions: Sendable {
    /// A decision, and the tracing span in which it was made.
    struct Expected: Sendable {
        let decision: Decision
        let context: InstrumentationContext?
    }

    /// The maximum age, in seconds, of the facts behind a decision before they are read again.
    private static let factsLifetime: TimeInterval = 60

    private var expected: [Expected] = []

    /// Adds a decision, if it decides to send something.
    mutating func add(_ decision: Decision, in context: InstrumentationContext?) {
        guard decision.action.state == .planned else { return }
        expected.append(Expected(decision: decision, context: context))
    }

    /// Removes the actions of a kind, and returns those that are due; the publisher sends the ones
    /// that are due later.
    ///
    /// - Parameters:
    ///   - mentionsRead: When the mentions were last read completely; nil for never.
    /// - Returns: The due actions; the decision lacks its facts if these are too old.
    mutating func take(_ kind: ActionKind, mentionsRead: Date?, at now: Date) -> [Expected] {
        func isCandidate(_ entry: Expected) -> Bool {
            let action = entry.decision.action
            return action.kind == kind && action.mayLeave(mentionsRead: mentionsRead, at: now)
        }
        let due = expected.filter { isCandidate($0) && $0.decision.action.due <= now }
        expected.removeAll(where: isCandidate)
        return due.map { entry in
            let action = entry.decision.action
            let isFresh = (0..<Self.factsLifetime).contains(
                now.timeIntervalSince(action.created))
            return isFresh
                ? entry : Expected(decision: Decision(of: action), context: entry.context)
        }
    }
}

/// The order of the steps of one delivery round, without a clock, a network or a store.
///
/// ``next(at:)`` returns each step, nil after the last one. The courier performs the step. It
/// reports the outcomes on which later steps depend to ``expired(_:)`` and ``settled()``:
///
/// ```swift
/// var round = CourierRound(nextWorkTimes)
/// while let step = round.next(at: clock.now) {
///     switch step {
///     case .expire: round.expired(try await store.expire(now: clock.now).count)
///     …
///     }
/// }
/// ```
///
/// Other work that becomes due through a step is left to the next round, which follows immediately.
struct CourierRound: Sendable {
    enum Step: CaseIterable, Sendable {
        /// Mark the actions whose time has passed as expired.
        case expire
        /// Create the actions for the next parts of threads.
        case continueThreads
        /// Check whether the account can be used; the round ends if it cannot.
        case open
        /// Look up the actions whose answer was lost.
        case lookUp
        /// Carry out requests to undo.
        case takeBack
        /// Send what is due.
        case send
        /// Check originals again that seemed to be gone.
        case askOriginals
    }

    private let nextWorkTimes: OutboxStore.NextWorkTimes
    private var steps = Step.allCases[...]
    private var hasExpired = false
    private var hasNewOutcome = false

    /// - Parameter nextWorkTimes: The times of the next work, read just now.
    init(_ nextWorkTimes: OutboxStore.NextWorkTimes) { self.nextWorkTimes = nextWorkTimes }

    /// Returns the next step; nil if the round is over.
    mutating func next(at now: Date) -> Step? {
        while let step = steps.popFirst() {
            guard isDue(step, at: now) else { continue }
            // This step may request undos, because a thread that ends early is undone completely.
            // An earlier worker may have ended after it sent a part and before it created the next
            // one.
            if step == .continueThreads { hasNewOutcome = true }
            return step
        }
        return nil
    }

    private func isDue(_ step: Step, at now: Date) -> Bool {
        func hasCome(_ time: Date?) -> Bool { if let time { time <= now } else { false } }
        return switch step {
        case .expire: hasCome(nextWorkTimes.expiry)
        case .continueThreads: hasCome(nextWorkTimes.thread) || hasExpired
        case .lookUp: hasCome(nextWorkTimes.lookUp)
        case .takeBack: hasCome(nextWorkTimes.undo) || hasNewOutcome
        case .open, .send, .askOriginals: true
        }
    }

    /// A number of actions was marked as expired.
    mutating func expired(_ count: Int) { hasExpired = count > 0 }

    /// The outcome of an action became known, so that there may be something to undo.
    mutating func settled() { hasNewOutcome = true }
}

/// The due actions of one round, of which at most one post is sent.
struct SendingQueue: Sendable {
    private var waiting: ArraySlice<ExpectedActions.Expected>
    private var postsLeft = 1

    init(_ due: [ExpectedActions.Expected]) { waiting = due[...] }

    /// Removes and returns the next action to send, leaving out further posts; nil for none.
    mutating func next() -> ExpectedActions.Expected? {
        while let expected = waiting.popFirst() {
            guard expected.decision.action.kind == .post else { return expected }
            guard postsLeft > 0 else { continue }
            postsLeft -= 1
            return expected
        }
        return nil
    }
}

/// The search for a text that may be sent as a due post, without a clock, a network or a store.
///
/// ``candidate`` is judged, and the verdict is reported to ``judged(_:)``; another text that was
/// drawn in its place is reported to ``drew(_:)``.
struct TextSearch: Sendable {
    enum Step: Equatable, Sendable {
        /// Judge ``TextSearch/candidate``.
        case judge
        /// Draw a text other than those of ``TextSearch/tried``.
        case draw
        case send(Action)
        case skip(ReasonCode)
    }

    /// The most texts that are tried in place of a text that may not be sent.
    static let replacementsAtMost = 3

    /// The post with its first text, and with each text that was drawn for it.
    private(set) var tried: [Action]

    var candidate: Action { tried[tried.count - 1] }

    init(for action: Action) { tried = [action] }

    /// Decides after a verdict on the candidate.
    ///
    /// - Parameter reason: Why its text may not be sent; nil if it may.
    func judged(_ reason: ReasonCode?) -> Step {
        guard let reason else { return .send(candidate) }
        // A text that a person chose is sent or skipped, but not replaced. If one text cannot be
        // verified, no other can.
        if candidate.keepsText || reason == .outbox(.sourceUnverified) { return .skip(reason) }
        // The first of the tried texts is no replacement.
        guard tried.count - 1 < Self.replacementsAtMost else { return .skip(.outbox(.sourceGone)) }
        return .draw
    }

    /// Decides after a draw.
    ///
    /// - Parameter replacement: The post with the drawn text; nil if no text was left to draw.
    mutating func drew(_ replacement: Action?) -> Step {
        guard let replacement else { return .skip(.outbox(.noText)) }
        tried.append(replacement)
        return .judge
    }
}
