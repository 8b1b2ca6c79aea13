import Foundation
import Outbox
import Posts
import Sandbox

/// What one ledger holds and no other accounts for.
extension Audit {
    var disagreements: [AuditFinding] {
        strays + unplannedSlots + actions.flatMap(objections)
            + actions.flatMap(objectionsToRequests)
            + objectionsOfNetwork + excess
    }

    private var strays: [AuditFinding] {
        attribution.strays.map {
            AuditFinding(
                .unexplained, "\($0.kind.rawValue) \($0.identity)",
                "is on the network, and no action is about it")
        }
            + attribution.strayWrites.filter { $0.effect != .created }.map {
                AuditFinding(.unexplained, $0.summary, "belongs to no action")
            }
    }

    /// Rows that no plan announced.
    private var unplannedSlots: [AuditFinding] {
        let announced = input.plans.flatMap { plan in
            (0..<(input.slots[plan.day] ?? 0)).map {
                Slot.Name(day: plan.day, number: $0 + 1).description
            }
        }
        let known = Set(announced)
        // A day that a person had drawn anew has numbers beyond those of its plan.
        return actions.filter { action in
            action.kind == .post && !known.contains(action.subject)
                && !input.person.rerolled.contains(String(action.subject.prefix(10)))
        }
        .map { AuditFinding(.unexplained, $0, "no plan announced this slot") }
    }

    /// What the row of an action says and the network does not bear out.
    private func objections(to action: Action) -> [AuditFinding] {
        let things = things(of: action)
        let why: String? =
            switch action.state {
            case .done, .undone: objection(toName: action)
            case .failed where action.isUnconfirmed:
                isSighted(action) ? "counts as unconfirmed, and the bot's own posts show it" : nil
            case .failed where things.isEmpty: objection(toFailure: action)
            case .skipped where things.isEmpty: objection(toSkipping: action)
            case .planned, .claimed, .skipped, .expired, .failed, .suggested:
                things.isEmpty ? nil : "is \(action.state.rawValue), and the network has it"
            case .sending: nil
            }
        return why.map { [AuditFinding(.unexplained, action, $0)] } ?? []
    }

    private func objection(toName action: Action) -> String? {
        let identities = things(of: action).map(\.identity)
        guard let remote = action.remoteID, !identities.isEmpty, !identities.contains(remote) else {
            return nil
        }
        return "is recorded under another name than the network gave it"
    }

    /// What is wrong with an action that failed for another reason than that it is not known what
    /// became of it.
    private func objection(toFailure action: Action) -> String? {
        if wasRefusedOnPurpose(action) || wasDenied(action) { return nil }
        let isRepetition = action.reason == .outbox(.duplicate) && isSaidElsewhere(action)
        return isRepetition && writes(of: action).contains(where: \.isRefusal)
            ? nil : "failed with \(action.reason?.rawValue ?? "no reason"), which nothing provoked"
    }

    /// Whether the bot has the text on the network in another place.
    private func isSaidElsewhere(_ action: Action) -> Bool {
        ledger.deliveries.contains { $0.text == action.wording?.published }
    }

    /// More given up than the run can explain: each needs a worker that died or a request that got
    /// no answer.
    private var excess: [AuditFinding] {
        let number = actions.count(where: \.isUnconfirmed)
        // Where the network did not act either, it does not count the answer as cut.
        let unanswered = ledger.writes.count {
            $0.effect == .notActed && $0.mayHaveActed || $0.leavesOpen
        }
        let causes = input.kills + input.cutAnswers + unanswered
        guard number > causes else { return [] }
        return [
            AuditFinding(
                .unexplained, "\(number) unconfirmed actions",
                "are more than \(causes) kills and unanswered requests explain")
        ]
    }
}
