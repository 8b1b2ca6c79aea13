import Foundation
import Mirroring

/// A day's plan as a timeline.
enum PlanView {
    /// The whole answer of `mirror-bot plan`.
    static func lines(_ plan: PlanReport, terminal: Terminal) -> [String] {
        let note = plan.isStored ? "" : terminal.dim(" (a preview: the plan is made when the day begins)")
        var lines = [terminal.bold("\(plan.day)") + "  \(plan.timeZone)" + note, ""]
        lines += plan.slots.isEmpty ? ["no posts on this day"] : slots(plan.slots, terminal: terminal)
        lines += [
            "", "share of posts by hour", HourPlot(human: plan.humanHours, bot: plan.botHours, terminal: terminal).text,
        ]
        return lines
    }

    /// One line for each slot.
    static func slots(_ slots: [PlanReport.Slot], terminal: Terminal) -> [String] {
        let now = Date()
        return slots.map { slot in
            let mark = mark(of: slot, now: now)
            let state = Printable.padded(slot.reason.map { "\(slot.state), \($0)" } ?? slot.state, to: 20)
            let text = Printable.line(slot.text ?? "-", columns: max(20, terminal.columns - 32))
            return "\(slot.time) \(mark) " + terminal.dim(state) + "  " + text
        }
    }

    /// Past and coming slots differ by their sign, not by color alone.
    private static func mark(of slot: PlanReport.Slot, now: Date) -> String {
        switch slot.state {
        case "done": "●"
        case "skipped", "expired", "failed", "undone": "×"
        default: slot.due <= now ? "◐" : "○"
        }
    }
}
