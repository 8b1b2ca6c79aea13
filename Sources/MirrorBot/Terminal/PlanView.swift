import Control
import Foundation
import Localization
import Mirroring
import Outbox

/// A day's plan as a timeline.
enum PlanView {
    /// The whole answer of `mirror-bot plan`.
    static func lines(_ plan: PlanReport, terminal: Terminal) -> [String] {
        let lineStart = "\(plan.day)  \(plan.timeZone)"
        let note =
            plan.isStored
            ? "" : " " + localized("(a preview: the plan is made when the day begins)")
        let isOneLine = Printable.width(lineStart + note) <= terminal.columns
        var lines = [
            terminal.bold("\(plan.day)") + "  \(plan.timeZone)"
                + (isOneLine ? terminal.dim(note) : "")
        ]
        if !isOneLine { lines += dimmed(note, terminal) }
        if let pattern = plan.pattern {
            lines += dimmed(localized("planned \(pattern.inWords)"), terminal)
        }
        lines.append("")
        lines +=
            plan.slots.isEmpty
            ? Printable.wrapped(
                plan.note.map { localized("no posts on this day: \(Printable.line($0))") }
                    ?? localized("no posts on this day"),
                columns: terminal.columns)
            : slots(plan.slots, terminal: terminal)
        lines += [
            "", localized("share of posts by hour"),
            HourPlot(human: plan.humanHours, bot: plan.botHours, terminal: terminal).text,
        ]
        return lines
    }

    private static func dimmed(_ text: String, _ terminal: Terminal) -> [String] {
        Printable.wrapped(text, columns: terminal.columns).map { terminal.dim($0) }
    }

    /// The least width for a text on the line of its time and state, in cells.
    private static let leastTextColumns = 20

    /// One line for each slot; two on a narrow terminal.
    static func slots(_ slots: [PlanReport.Slot], terminal: Terminal) -> [String] {
        let now = Date()
        let states = slots.map(state)
        let width = states.map { Printable.width($0) }.max() ?? 0
        // Slots are named by their numbers, which are not in order after a slot was moved.
        let numbers = slots.map { String($0.subject.split(separator: "#").last ?? "") }
        let digits = numbers.map(\.count).max() ?? 0
        return slots.indices.flatMap { index -> [String] in
            let slot = slots[index]
            let state = states[index]
            let name = Printable.padded(Printable.line(numbers[index]), to: digits)
            let lineStart = "\(slot.time) \(mark(of: slot, now: now)) \(name) "
            let id = ActionID.short(slot.id)
            let remainingColumns =
                terminal.columns - Printable.width(lineStart) - Printable.width(id) - width - 5
            guard remainingColumns >= leastTextColumns else {
                let text = Printable.line(words(of: slot), columns: terminal.columns - 8)
                return [lineStart + id + " " + terminal.dim(state), "        " + text]
            }
            return [
                lineStart + id + " " + terminal.dim(Printable.padded(state, to: width)) + "  "
                    + Printable.line(words(of: slot), columns: remainingColumns)
            ]
        }
    }

    /// The text, preceded by notes on its attachments.
    static func words(of slot: PlanReport.Slot) -> String {
        (slot.parts.map { localized("(thread, \($0) parts)") + " " } ?? "")
            + Self.pictures(slot.pictures)
            + (slot.text ?? "-")
    }

    /// Returns the number of pictures in words, as `(2 pictures) `; empty for none.
    static func pictures(_ count: Int?) -> String {
        count.map { localized($0 == 1 ? "(1 picture)" : "(\($0) pictures)") + " " } ?? ""
    }

    private static func state(of slot: PlanReport.Slot) -> String {
        let state = stateWord(of: slot)
        return Printable.line(slot.reason.map { localized("\(state), \($0)") } ?? state)
    }

    /// Returns the state in one word.
    ///
    /// A state that this version does not know, because a later version stored it, is returned as
    /// it is stored.
    private static func stateWord(of slot: PlanReport.Slot) -> String {
        switch slot.state {
        case "preview": localized("preview")
        case "planned": localized(slot.isPinned == true ? "pinned" : "planned")
        case "claimed": localized("claimed")
        case "sending": localized("sending")
        case "done": localized("done")
        case "skipped": localized("skipped")
        case "expired": localized("expired")
        case "failed": localized("failed")
        case "suggested": localized("suggested")
        case "undone": localized("undone")
        default: slot.state
        }
    }

    /// Returns the sign of a slot; past and coming slots differ by their sign, not by color alone.
    private static func mark(of slot: PlanReport.Slot, now: Date) -> String {
        switch slot.state {
        case "done": "●"
        case "skipped", "expired", "failed", "undone": "×"
        default: slot.due <= now ? "◐" : "○"
        }
    }
}

/// Identifiers of actions for people.
enum ActionID {
    /// Returns the beginning of an identifier, which is nearly always unique.
    static func short(_ id: String) -> String {
        Printable.line(String(id.prefix(ActionNameError.shortIDLength)))
    }
}
