import Conduct
import Foundation
import NetworkNames
import Outbox
import Posts
import Sandbox

/// Whether what was decided against was decided by a rule.
extension Audit {
    /// The reasons that end a slot or a favorite without being a rule about a post.
    private static let otherReasons: Set<ReasonCode> = [
        .outbox(.beforeStart), .outbox(.noText), .outbox(.sourceGone),
    ]
    /// Those that a person brings about.
    private static let reasonsOfPersons: Set<ReasonCode> = [
        .outbox(.byPerson), .outbox(.rerolled), .outbox(.never),
    ]

    /// What is wrong with the reason of a skipped action; nil if it is a rule, and one that
    /// applied.
    ///
    /// Only mentions can be judged closely, for the network knows who wrote them and why.
    func objection(toSkipping action: Action) -> String? {
        let reason = action.reason?.rawValue ?? "no reason"
        // Whom nobody may ask about is left alone; without its conversation a mention stands for
        // itself.
        if action.reason != nil, let mention = mention(of: action),
            mention.isHardToRead || wasRefused(about: mention, [.person])
        {
            return nil
        }
        if action.reason == .outbox(.targetGone) { return objectionToGone(action) }
        let rule = Refusal.Reason(rawValue: reason)
        guard rule != nil || isOfOtherReason(action) else {
            return "was skipped for \(reason), which is no rule"
        }
        guard action.kind == .reply, let mention = mention(of: action), mention.kind == .friend,
            let rule
        else {
            return nil
        }
        return isBorneOut(rule, action, mention)
            ? nil : "was skipped for \(reason), which is not so"
    }

    /// Whether it was skipped for a reason that is no rule and that there was.
    private func isOfOtherReason(_ action: Action) -> Bool {
        guard let reason = action.reason else { return false }
        if Self.otherReasons.contains(reason) { return true }
        return !input.person.done.isEmpty && Self.reasonsOfPersons.contains(reason)
    }

    /// The sandbox takes nothing back of what people say: only what it does not give out seems to
    /// be gone.
    private func objectionToGone(_ action: Action) -> String? {
        guard let mention = mention(of: action), !wasRefused(about: mention, [.post, .thread])
        else { return nil }
        return "was skipped for target-gone, and the network shows it"
    }

    /// Whether a rule forbade to answer somebody with whom the human has talked before.
    private func isBorneOut(
        _ rule: Refusal.Reason, _ action: Action, _ mention: SandboxLedger.Mention
    ) -> Bool {
        switch rule {
        case .personCap: answersToPerson(before: action) >= rules.repliesPerPerson
        case .threadCap: answersInThread(before: action) >= rules.repliesPerThread
        case .tooOld:
            isFromAhead(action.created) || mention.notice != .atOnce
                || !hadTime(
                    for: .reply, from: mention.date + input.skew,
                    to: mention.date + rules.mentionAge - input.skew)
        case .othersThread: action.target?.author.network == .bluesky && mention.isBelowOthers
        case .denied: askedToStop(mention.handle, by: latest(action.updated))
        // Each text is for once; who was answered often has had all of them.
        case .noPastReply: answersToPerson(before: action, onDay: false) > 0
        default: false
        }
    }

    /// Whether somebody had asked the bot to stop before an instant.
    func askedToStop(_ handle: String, by date: Date) -> Bool {
        ledger.mentions.contains {
            $0.kind == .stop && $0.handle == handle && $0.date <= date + input.skew
        }
    }

    /// The answers to the same person, whether or not they got there, that were decided before this
    /// one.
    func answersToPerson(before action: Action, onDay: Bool = true) -> Int {
        let day = LocalTime(action.due, in: input.zone).day
        return actions.count { other in
            other.kind == .reply && other.state != .skipped
                && other.target?.author == action.target?.author
                && other.id != action.id && other.created <= latest(action.created)
                && (!onDay || LocalTime(other.due, in: input.zone).day == day)
        }
    }

    /// The answers in the same conversation that were decided before this one.
    func answersInThread(before action: Action) -> Int {
        actions.count { other in
            other.kind == .reply && other.state != .skipped && other.id != action.id
                && other.payload.reply?.thread == action.payload.reply?.thread
                && other.created <= latest(action.created)
        }
    }
}
