import Foundation
import Outbox
import Posts
import Sandbox

/// What one ledger holds and no other accounts for.
extension Audit {
    var disagreements: [AuditFinding] {
        strays + unplannedSlots + actions.flatMap(objections) + actions.flatMap(objectionsToRequests)
            + objectionsOfNetwork + excess
    }

    private var strays: [AuditFinding] {
        attribution.strays.map {
            AuditFinding(
                .unexplained, "\($0.kind.rawValue) \($0.identity)", "is on the network, and no action is about it")
        }
            + attribution.strayWrites.filter { $0.effect != .created }.map {
                AuditFinding(.unexplained, $0.summary, "belongs to no action")
            }
    }

    /// Rows that no plan announced.
    private var unplannedSlots: [AuditFinding] {
        let announced = input.plans.flatMap { plan in
            (0..<(input.slots[plan.day] ?? 0)).map { StoredPlan.subject(day: plan.day, slot: $0 + 1) }
        }
        let known = Set(announced)
        return actions.filter { $0.kind == .post && !known.contains($0.subject) }
            .map { AuditFinding(.unexplained, $0, "no plan announced this slot") }
    }

    /// What the row of an action says and the network does not bear out.
    private func objections(to action: Action) -> [AuditFinding] {
        let things = things(of: action)
        let why: String? =
            switch action.state {
            case .done: objection(toName: action)
            case .failed where action.isUnconfirmed:
                isSighted(action) ? "counts as unconfirmed, and the bot's own posts show it" : nil
            case .failed where things.isEmpty: objection(toFailure: action)
            case .skipped where things.isEmpty: objection(toSkipping: action)
            case .planned, .claimed, .skipped, .expired, .failed, .suggested:
                things.isEmpty ? nil : "is \(action.state.rawValue), and the network has it"
            case .sending, .undone: nil
            }
        return why.map { [AuditFinding(.unexplained, action, $0)] } ?? []
    }

    private func objection(toName action: Action) -> String? {
        let identities = things(of: action).map(\.identity)
        guard let remote = action.remoteID, !identities.isEmpty, !identities.contains(remote) else { return nil }
        return "is recorded under another name than the network gave it"
    }

    /// Whether the network had the action at one of the times when it is looked for again, and a worker had the time to
    /// look then.
    private func isSighted(_ action: Action) -> Bool {
        guard let thing = things(of: action).first, let sending = action.sending else { return false }
        let looks = rules.sightings.map { sending + $0 }.filter { $0 > thing.date + input.skew && !mayFail(at: $0) }
        return looks.contains { hadTime(for: action, from: $0 + input.skew, to: input.now, extra: rules.lookUpWait) }
    }

    /// Whether something was wrong when the network was to be asked, or when a worker came that could ask it.
    ///
    /// Such a look is made up for within the hour, which may be after the end of the run.
    private func mayFail(at look: Date) -> Bool {
        let absences = input.disturbances.filter { $0.cause == .noWorker }.map(\.interval).sorted()
        var last = look + input.skew + input.patience
        for absence in absences where absence.start <= last && last < absence.end + input.patience {
            last = absence.end + input.patience
        }
        return failures.contains { $0.interval.start <= last && look - input.skew <= $0.interval.end }
    }

    /// What is wrong with an action that failed for another reason than that it is not known what became of it.
    private func objection(toFailure action: Action) -> String? {
        if wasRefusedOnPurpose(action) { return nil }
        let isRepetition = action.reason == Action.Reason.duplicate && isSaidElsewhere(action)
        return isRepetition && writes(of: action).contains(where: \.isRefusal)
            ? nil : "failed with \(action.reason ?? "no reason"), which nothing provoked"
    }

    /// Whether the bot has the text on the network in another place.
    private func isSaidElsewhere(_ action: Action) -> Bool {
        ledger.deliveries.contains { $0.text == action.text }
    }

    /// More given up than the run can explain: each needs a worker that died or a request that got no answer.
    private var excess: [AuditFinding] {
        let number = actions.count(where: \.isUnconfirmed)
        // Where the network did not act either, it does not count the answer as cut.
        let unanswered = ledger.writes.count { $0.effect == .notActed && $0.mayHaveActed }
        let causes = input.kills + input.cutAnswers + unanswered
        guard number > causes else { return [] }
        return [
            AuditFinding(
                .unexplained, "\(number) unconfirmed actions",
                "are more than \(causes) kills and unanswered requests explain")
        ]
    }
}
