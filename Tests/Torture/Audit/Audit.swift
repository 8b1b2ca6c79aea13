import Foundation
import Outbox
import Posts
import Sandbox

/// Compares what the plans said, what the network received and what `actions` says.
///
/// The network is believed before the mirror: an action is delivered when the network has exactly
/// one thing of it. What is late or missing is the worker's fault only if it had the time: see
/// ``WorkingTime``.
///
/// - Parameter input: The three ledgers, read after the last worker has ended.
/// - Returns: The figures of the run and a line for everything that is wrong.
func audit(_ input: AuditInput) -> AuditReport {
    let audit = Audit(input)
    let unheard = audit.unheard
    let findings =
        audit.duplicates + audit.losses + unheard.findings + audit.disagreements
        + audit.overwritings
    var report = audit.figures
    report.mentions = unheard.judged
    report.unreached = unheard.unreached
    report.duplicates = findings.count { $0.kind == .duplicate }
    report.lost = findings.count { $0.kind == .lost }
    report.unheard = findings.count { $0.kind == .unheard }
    report.unexplained = findings.count { $0.kind == .unexplained }
    report.overwritten = findings.count { $0.kind == .overwritten }
    report.findings = findings.map(\.description)
    return report
}

/// One comparison of the three ledgers.
struct Audit: Sendable {
    let input: AuditInput
    private let mentions: [String: SandboxLedger.Mention]
    /// The stretches in which a worker could not do its work, those with a wrong clock included.
    private let disturbances: [Disturbance]
    let attribution: Attribution
    let time: WorkingTime
    /// The same if nothing were wrong but that the machine let somebody wait.
    let starvation: WorkingTime
    /// The disturbances during which a worker tried and failed.
    let failures: [Disturbance]

    init(_ input: AuditInput) {
        self.input = input
        mentions = Dictionary(
            input.ledger.mentions.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first }
        )
        attribution = Attribution(input.actions, input.ledger, input.rules)
        let wrong = input.wrongClocks.map { Disturbance(cause: .wrongClock, interval: $0.interval) }
        disturbances = input.disturbances + wrong
        time = WorkingTime(disturbances)
        failures = disturbances.filter(\.letsFail)
        starvation = WorkingTime(disturbances.filter { $0.cause == .starvation })
    }

    var rules: AuditRules { input.rules }
    var actions: [Action] { input.actions }
    var ledger: SandboxLedger { input.ledger }

    /// The counts, without the findings.
    fileprivate var figures: AuditReport {
        var report = AuditReport()
        report.actions = actions.count
        report.delivered = actions.count {
            [.done, .undone].contains($0.state) && things(of: $0).count == 1
        }
        report.unconfirmed = actions.count(where: \.isUnconfirmed)
        report.expired = actions.count { $0.state == .expired }
        report.skipped = actions.count { $0.state == .skipped }
        report.pending = actions.count(where: isOpen)
        // Not by the machine: a slow one must not fail a run that had enough to show.
        let faults = WorkingTime(disturbances.filter { $0.cause != .starvation })
        report.unhindered = actions.count {
            $0.state != .skipped && $0.due < input.now && hadTime($0, in: faults)
        }
        return report
    }

    /// Whether an action should have come to an end by now: what came due a moment ago need not.
    private func isOpen(_ action: Action) -> Bool {
        switch action.state {
        case .claimed, .sending: true
        case .planned:
            max(action.due, action.nextAttempt ?? .distantPast) <= input.now - input.patience
        default: false
        }
    }

    /// The mention that an action answers.
    func mention(of action: Action) -> SandboxLedger.Mention? {
        action.target.flatMap { mentions[$0.post] }
    }

    /// What the network has of an action.
    func things(of action: Action) -> [NetworkThing] { attribution.things[action.id] ?? [] }

    /// What the bot took away again of an action.
    func removals(of action: Action) -> [SandboxLedger.Removal] {
        attribution.removals[action.id] ?? []
    }

    /// The requests for an action that reached the network.
    func writes(of action: Action) -> [SandboxLedger.Write] { attribution.writes[action.id] ?? [] }

    /// Whether the harness made the network say no to the action for good.
    func wasRefusedOnPurpose(_ action: Action) -> Bool {
        writes(of: action).contains { $0.isRefusal && $0.fault != nil }
    }

    /// Whether a read of a post was told on purpose that it is gone.
    func wasDenied(_ address: String) -> Bool {
        input.deniedChecks.contains { ($0.removingPercentEncoding ?? $0).contains(address) }
    }

    /// Whether a read of the post that an action answers or favorites, or of one that its text is
    /// from, was told on purpose that it is gone.
    func wasDenied(_ action: Action) -> Bool {
        let sources = action.wording.map { [$0.source] + $0.rest.map(\.source) } ?? []
        // Networks are asked by the last part of a worldwide name.
        let names = sources.compactMap { $0.value.split(separator: "/").last.map(String.init) }
        return (names + [action.target?.address].compactMap(\.self)).contains(where: wasDenied)
    }

    /// Whether a read of a post was refused on purpose for a moment.
    func wasPostponed(_ address: String) -> Bool {
        input.postponedChecks.contains { $0.split { "/?".contains($0) }.contains { $0 == address } }
    }
}

// MARK: - Time

extension Audit {
    /// Whether a worker had the time for something between two instants.
    func hadTime(for kind: ActionKind, from start: Date, to end: Date) -> Bool {
        time.longestStretch(for: kind, from: start, to: end) >= input.patience
    }

    /// Whether a worker had the time to send an action before it expired, whichever way its clock
    /// was wrong.
    ///
    /// - Parameters:
    ///   - action: What was to be sent.
    ///   - other: Tells when a worker could do its work, if that is not ``time``.
    /// - Returns: False if there was no stretch long enough.
    func hadTime(_ action: Action, in other: WorkingTime? = nil) -> Bool {
        let start = max(action.due, input.activated) + input.skew
        return hadTime(for: action, from: start, to: action.expires - input.skew, in: other)
    }

    /// Whether a worker had the time for something about an action that had failed now and then.
    ///
    /// - Parameters:
    ///   - action: Its own waits do not count.
    ///   - start: Not before this.
    ///   - end: Not after this.
    ///   - extra: What is needed besides the patience, in seconds.
    ///   - other: Tells when a worker could do its work, if that is not ``time``.
    /// - Returns: False if there was no stretch long enough.
    func hadTime(
        for action: Action, from start: Date, to end: Date, extra: TimeInterval = 0,
        in other: WorkingTime? = nil
    ) -> Bool {
        let last = min(end, input.now)
        let waits = waits(of: action, from: start, to: last)
        let stretch = (other ?? time).longestStretch(
            for: action.kind, from: start, to: last, besides: waits)
        return stretch >= input.patience + extra
    }

    /// The stretches in which an action may have waited after a failure of its own.
    ///
    /// The row alone cannot excuse itself: there is a wait only if the network knows of the
    /// failure, or if something was switched off. It is as long as the policy makes it after as
    /// many attempts as the action had at most.
    private func waits(of action: Action, from start: Date, to end: Date) -> [DateInterval] {
        let afterRequests = writes(of: action).map { write in
            guard !write.mayHaveActed else {
                return DateInterval(start: write.arrived, duration: rules.lookUpWait)
            }
            let next = RetryRule.action(write.cause).next(
                after: action.attempts, key: action.id, retryAfter: write.retryAfter,
                now: write.arrived)
            return DateInterval(start: write.arrived, end: next)
        }
        let longest = RetryRule.action(.serverTrouble).longestWait * 2
        let near = failures.filter { failure in
            failure.hinders(action.kind) && failure.interval.end + longest > start
                && failure.interval.start < end
        }
        let afterFailures = near.map { failure in
            let next = RetryRule.action(.serverTrouble).next(
                after: action.attempts, key: action.id, now: failure.interval.end)
            return DateInterval(start: failure.interval.start, end: next)
        }
        return afterRequests + afterFailures
    }
}

extension SandboxLedger.Write {
    /// Whether the mirror could not exclude, once the request was over, that the network had acted
    /// on it.
    ///
    /// A refusal counts as heard unless it was cut on purpose: whoever hangs up after the last byte
    /// has heard it too.
    var mayHaveActed: Bool {
        switch (effect, fault) {
        case (.created, _), (.repeated, _): true
        case (.refused, nil), (.notActed, nil), (.refused, .answer), (.notActed, .answer): false
        case (.refused, _), (.notActed, _): !isAnswered
        }
    }

    /// The answer was planned, and leaves open whether the network acted: an error of its own, or a
    /// page.
    var leavesOpen: Bool {
        guard case .answer(let status, let type, _, _) = fault else { return false }
        return status >= 500 || type.hasPrefix("text/html")
    }

    /// The network said that it will never do this.
    var isRefusal: Bool {
        !mayHaveActed && (400..<500).contains(status ?? 0) && ![408, 409, 429].contains(status)
    }

    /// Why the request did nothing, as the mirror sees it.
    fileprivate var cause: RetryRule.Cause {
        switch status {
        case 429: .tooBusy
        case 402: .limit
        case 409: .conflict
        default: .serverTrouble
        }
    }

    /// When the planned answer wanted to be asked again.
    fileprivate var retryAfter: Date? {
        guard case .answer(_, _, _, let headers) = fault else { return nil }
        let value = headers.first { $0.key.lowercased() == "retry-after" }?.value
        return value.flatMap { TimeInterval($0) }.map { arrived + $0 }
    }
}
