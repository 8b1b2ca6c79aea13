import Foundation
import Outbox
import Posts
import Sandbox

/// The ledgers of a run as text, for a person who looks into a finding.
struct Transcript {
    private let input: AuditInput

    init(_ input: AuditInput) { self.input = input }

    /// A line for everything, each part in the order of time.
    var text: String {
        let parts: [(title: String, lines: [String])] = [
            ("plans", input.plans.map { "\($0), \(input.slots[$0.day] ?? 0) slots" }),
            ("actions", input.actions.sorted { $0.due < $1.due }.map(Self.line)),
            ("taken back", input.ledger.removals.map { "\($0)" }),
            ("unwanted", input.person.unwanted.sorted()),
            ("requests", input.ledger.writes.map { "\($0)" }),
            ("rejections", input.ledger.rejections.filter { !$0.isExpected }.map { "\($0)" }),
            ("mentions", input.ledger.mentions.map { "\($0)" }),
            ("feeds", input.hearing.feeds.map { "\($0)" }),
            ("items", input.hearing.items.map { "\($0)" }),
            ("refused objects", input.ledger.refusedObjects.map { "\($0)" }),
            (
                "disturbances",
                input.disturbances.sorted { $0.interval < $1.interval }.map(Self.line)
            ),
            ("wrong clocks", input.wrongClocks.map { "\($0.seconds) s, \($0.interval)" }),
            ("stopped workers", input.stoppedWorkers.map { "\($0)" }),
        ]
        return parts.map { part in (["# " + part.title] + part.lines).joined(separator: "\n") + "\n"
        }
        .joined(separator: "\n")
    }

    private static func line(_ action: Action) -> String {
        let times = [
            ("due", action.due), ("expires", action.expires), ("sending", action.sending),
            ("next", action.nextAttempt), ("updated", action.updated),
        ].compactMap { name, date in date.map { "\(name) \($0.rfc3339)" } }
        return "\(action.id) \(action.kind.rawValue) \(action.subject) \(action.state.rawValue) "
            + "\(action.reason?.rawValue ?? "-") attempts \(action.attempts) sends \(action.sends) "
            + times.joined(separator: " ") + " remote \(action.remoteID ?? "-") "
            + (action.undo.map { "undo \($0) " } ?? "")
            + (action.explanation.map { "\($0.summary), outcome: \($0.outcome ?? "-")" } ?? "")
    }

    private static func line(_ disturbance: Disturbance) -> String {
        let interval = disturbance.interval
        return "\(disturbance.cause.rawValue) \(interval.start.rfc3339) \(interval.end.rfc3339)"
    }
}
