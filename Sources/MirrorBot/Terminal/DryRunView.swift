import Control
import Foundation
import Localization
import Mirroring
import Outbox
import Posts

/// The output of a dry run.
enum DryRunView {
    /// Today's plan.
    static func lines(_ plan: PlanReport) -> [String] {
        [localized("plan of \(plan.day), \(plan.timeZone)")]
            + PlanView.slots(plan.slots, terminal: .output)
    }

    /// One action that would be sent now.
    static func line(_ action: Action) -> String {
        let target = action.target.map { Printable.line($0.author.value) }
        var line = deed(action.kind, target)
        switch action.wording?.pictures.count ?? 0 {
        case 0: break
        case 1: line = localized("\(line) with a picture")
        case let count: line = localized("\(line) with \(count) pictures")
        }
        return action.wording.map { localized("\(line): \(Printable.line($0.published))") } ?? line
    }

    /// Names the action that a worker would do, and its target.
    private static func deed(_ kind: ActionKind, _ target: String?) -> String {
        switch (kind, target) {
        case (.post, nil): localized("would post")
        case (.post, let target?): localized("would post to \(target)")
        case (.reply, nil): localized("would reply")
        case (.reply, let target?): localized("would reply to \(target)")
        case (.favorite, nil): localized("would favorite a post")
        case (.favorite, let target?): localized("would favorite a post to \(target)")
        }
    }
}
