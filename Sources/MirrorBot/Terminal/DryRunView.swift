import Control
import Foundation
import Mirroring
import Outbox
import Posts

/// The output of a dry run.
enum DryRunView {
    /// Today's plan.
    static func lines(_ plan: PlanReport) -> [String] {
        ["plan of \(plan.day), \(plan.timeZone)"] + PlanView.slots(plan.slots, terminal: .output)
    }

    /// One action that would be sent now.
    static func line(_ action: Action) -> String {
        let target = action.target.map { " to \(Printable.line($0.author.value))" } ?? ""
        let text = action.wording.map { ": \(Printable.line($0.published))" } ?? ""
        let count = action.wording?.pictures.count ?? 0
        let pictures = count > 0 ? " with \(count == 1 ? "a picture" : "\(count) pictures")" : ""
        return "would \(verb(action.kind))\(target)\(pictures)\(text)"
    }

    private static func verb(_ kind: ActionKind) -> String {
        switch kind {
        case .post: "post"
        case .reply: "reply"
        case .favorite: "favorite a post"
        }
    }
}
