import Foundation
import Outbox
import Posts
import Sandbox

/// What was to happen and did not.
extension Audit {
    var losses: [AuditFinding] {
        missingDays + missingSlots + actions.compactMap(loss)
    }

    /// Days without a plan although a worker had the time to make one.
    private var missingDays: [AuditFinding] {
        let planned = Set(input.plans.map(\.day))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = input.zone
        var findings: [AuditFinding] = []
        var start = input.activated
        while start < input.now {
            let day = LocalTime(start, in: input.zone).day
            let next = calendar.dateInterval(of: .day, for: start)?.end ?? start + 86_400
            if !planned.contains(day), hadTime(for: .post, from: start, to: min(next, input.now)) {
                findings.append(
                    AuditFinding(
                        .lost, "\(day)", "has no plan although a worker had the time to make one"))
            }
            start = next
        }
        return findings
    }

    /// Slots that a plan announced and that have no row: a day that is drawn anew leaves numbers
    /// out, so they are counted.
    private var missingSlots: [AuditFinding] {
        let days = actions.compactMap { action in
            if case .post(let slot, _) = action.payload { slot.day } else { nil }
        }
        let rows = Dictionary(days.map { ($0, 1) }, uniquingKeysWith: +)
        return input.plans.sorted { $0.day < $1.day }.compactMap { plan in
            let count = input.slots[plan.day] ?? 0
            let found = rows[plan.day] ?? 0
            guard found < count else { return nil }
            return AuditFinding(
                .lost, "\(plan.day)", "has \(count) slots in its plan and rows of \(found)")
        }
    }

    /// Why an action counts as lost; nil if it does not.
    private func loss(of action: Action) -> AuditFinding? {
        let why: String? =
            switch action.state {
            case .planned, .claimed: reasonOfWaiting(action)
            case .sending: reasonOfSending(action)
            case .expired: reasonOfExpiry(action)
            case .skipped: reasonOfSkippedSlot(action)
            case .failed: action.isUnconfirmed ? reasonOfUnconfirmed(action) : nil
            case .done, .undone:
                things(of: action).isEmpty
                    ? "is \(action.state.rawValue), and the network never had it" : nil
            case .suggested: nil
            }
        return why.map { AuditFinding(.lost, action, $0) }
    }

    /// What is planned waits for its time; once that is over, somebody has to mark it.
    private func reasonOfWaiting(_ action: Action) -> String? {
        let start = min(
            max(action.due, action.nextAttempt ?? .distantPast), max(action.expires, action.due))
        guard hadTime(for: action.kind, from: start + input.skew, to: input.now) else { return nil }
        return
            "is still \(action.state.rawValue) although a worker had the time to send it or to mark it as expired"
    }

    private func reasonOfSending(_ action: Action) -> String? {
        let start = max(lookUpTime(of: action), action.nextAttempt ?? .distantPast)
        guard hadTime(for: action, from: start + input.skew, to: input.now, extra: rules.lookUpWait)
        else { return nil }
        return "is still in flight although a worker had the time to look it up"
    }

    /// A person may leave a suggestion alone until its time is over, and late posts wait for each
    /// other.
    private func reasonOfExpiry(_ action: Action) -> String? {
        guard action.reason != .outbox(.undecided), !isFromAhead(action.updated) else {
            return nil
        }
        // What waited for long is looked at again before it leaves.
        if let mention = mention(of: action), wasRefused(about: mention, [.post, .person]) {
            return nil
        }
        let start = max(action.due, input.activated) + input.skew
        let others = action.kind == .post ? min(slotsBeside(action), rules.lateAtMost) : 0
        let turns = rules.lateSpacing * Double(others)
        guard hadTime(for: action, from: start, to: action.expires - input.skew, extra: turns)
        else { return nil }
        if action.reason == .outbox(.tooManyLate), others == rules.lateAtMost { return nil }
        return "expired although a worker had the time to send it"
    }

    /// How many other slots may have been late together with one that was.
    private func slotsBeside(_ action: Action) -> Int {
        let grace = action.expires.timeIntervalSince(action.due)
        return actions.count { other in
            other.kind == .post && other.id != action.id && other.state != .skipped
                && other.due > action.updated - 2 * grace && other.due < action.updated
        }
    }

    /// A slot that was over when its plan was made; made in time, it would have been sent.
    private func reasonOfSkippedSlot(_ action: Action) -> String? {
        guard action.reason == .outbox(.beforeStart), action.due >= input.activated,
            !isFromAhead(action.created),
            hadTime(action)
        else { return nil }
        return "was over when the day was planned although a worker had the time to plan it before"
    }

    /// Where the network knows a repeated request, whatever has not expired is sent until it is
    /// there.
    ///
    /// Time for one look-up more is allowed: a worker that takes over looks when its predecessor's
    /// request is over.
    private func reasonOfUnconfirmed(_ action: Action) -> String? {
        guard rules.recognisesRepeats, things(of: action).isEmpty, let sending = action.sending
        else { return nil }
        if wasRefusedOnPurpose(action) || action.sends >= rules.sends || isOfUnknownAge(action) {
            return nil
        }
        // What is answered, or said, has to be there still.
        if wasDenied(action) { return nil }
        // To who asked to stop meanwhile nothing is sent again.
        if let mention = mention(of: action),
            askedToStop(mention.handle, by: latest(action.updated))
        {
            return nil
        }
        // Nor what a person wanted back before anybody knew whether it had arrived.
        if input.person.unwanted.union(input.person.perhapsUnwanted).contains(action.id) {
            return nil
        }
        let end = min(action.expires, sending + rules.resendWindow) - input.skew
        let start = lookUpTime(of: action) + input.skew
        guard hadTime(for: action, from: start, to: end, extra: rules.lookUpWait) else {
            return nil
        }
        return "was given up although a worker had the time to look it up and to send it again"
    }

    private func lookUpTime(of action: Action) -> Date {
        (action.sending ?? action.updated) + rules.lookUpWait
    }
}
