import Foundation
import Outbox
import Posts
import Sandbox

/// What there is twice.
extension Audit {
    var duplicates: [AuditFinding] {
        actions.flatMap(surplus) + repeatedRows + repeatedTexts(of: .post)
            + repeatedTexts(of: .reply)
    }

    /// Everything beyond one thing for one action.
    ///
    /// Counted twice and the larger number taken: what the network has, and what it says that it
    /// made, for a second like of a post shows in the records alone.
    private func surplus(of action: Action) -> [AuditFinding] {
        let made = writes(of: action).count { $0.effect == .created }
        let number = max(things(of: action).count, made)
        guard number > 1 else { return [] }
        return (2...number).map {
            AuditFinding(.duplicate, action, "the network has it for the \(ordinal($0)) time")
        }
    }

    /// Two rows about one thing, which the table's own key forbids.
    private var repeatedRows: [AuditFinding] {
        Dictionary(grouping: actions) { "\($0.kind.rawValue) \($0.subject)" }
            .sorted { $0.key < $1.key }
            .flatMap { name, rows in
                rows.dropFirst().map { _ in AuditFinding(.duplicate, name, "has more than one row")
                }
            }
    }

    /// Texts that came again too soon: as a post of its own, or to the same person.
    ///
    /// Counted by the minute for which they were meant, between the actions that the network has.
    /// After ``AuditRules/repeatAfterDays`` a text may come again if there was nothing else to
    /// choose from.
    private func repeatedTexts(of kind: ActionKind) -> [AuditFinding] {
        let sent = actions.filter { $0.kind == kind && $0.text != nil && !things(of: $0).isEmpty }
        let groups = Dictionary(grouping: sent) {
            SaidText(text: $0.text ?? "", to: $0.target?.author)
        }
        return groups.values.flatMap { group in
            let inOrder = group.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
            return zip(inOrder, inOrder.dropFirst()).compactMap { earlier, later in
                let days = later.due.timeIntervalSince(earlier.due) / 86_400
                return days > Double(rules.repeatAfterDays)
                    ? nil
                    : AuditFinding(
                        .duplicate, later, "says what \(earlier.subject) (\(earlier.id)) said")
            }
        }.sorted { $0.about < $1.about }
    }

    private func ordinal(_ number: Int) -> String {
        switch number {
        case 2: "2nd"
        case 3: "3rd"
        default: "\(number)th"
        }
    }
}

/// A text and whom it was said to; nobody for a post of its own.
private struct SaidText: Hashable {
    var text: String
    var to: AccountID?
}
