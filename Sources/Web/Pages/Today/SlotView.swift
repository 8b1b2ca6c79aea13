import Control
import Foundation
import Localization
import Posts

/// A slot in a list: its time, its state, its text, the reason, and its controls.
struct SlotView {
    let context: PageContext

    /// - Parameters:
    ///   - isNext: Whether the slot is the next one to be sent.
    ///   - isUnpaid: Whether the budget does not suffice for the slot.
    ///   - hasControls: Whether the form to change the slot is shown in the list, rather than on a
    ///     page of its own.
    ///   - isOpen: Whether this is the slot's own page.
    init(
        _ slot: PlanReport.Slot, day: LocalDay, _ request: MirrorRequest, isNext: Bool,
        isUnpaid: Bool = false,
        hasControls: Bool, isOpen: Bool = false
    ) {
        let words = request.words
        let state = SlotState(slot)
        let path = "\(request.base)/slots/\(WebFields.encoded(slot.id))"
        let isFuture = slot.due > request.now
        let canChange = state.canChange && isFuture && !request.access.isReadOnly
        let canRestore = TodayPage.canRestore(slot, request) && !request.access.isReadOnly
        let styleClass: String? =
            if isNext {
                "next"
            } else if [.skipped, .expired, .undone].contains(state) {
                "gone"
            } else {
                nil
            }
        let timeUntil = isNext ? words.relative(slot.due) : nil
        context = [
            "id": .text(slot.id), "isNext": .flag(isNext), "class": .text(styleClass),
            "at": .markup(words.time(slot.due, showing: slot.time)), "time": .text(slot.time),
            "symbol": .text(state.symbol), "tag": .text(state.tag),
            "state": .sentence(
                isUnpaid && state.canChange
                    ? localized("Planned, no money")
                    : Self.words(slot, state, timeUntil)),
            "text": .text(
                slot.text.map { Words.cut($0, to: canChange && !hasControls ? 240 : 600) }),
            "language": .text(slot.language.flatMap(LanguageTag.naming)),
            "why": .sentence(Self.why(slot, state, words)), "address": .text(slot.address),
            "source": .text(slot.source),
            "explained": .text("\(request.base)/actions/\(WebFields.encoded(slot.id))"),
            "path": .text(path), "token": .markup(request.hidden(seen: slot.seen)),
            "canChange": .flag(canChange), "canRestore": .flag(canRestore),
            "hasControls": .flag(hasControls),
            "isOpen": .flag(isOpen), "hasText": .flag(slot.text != nil),
            "timeTyped": .text(isOpen ? request.typed("time", or: slot.time) : slot.time),
            "postTyped": .text(isOpen ? request.typed("post") : nil),
            "isTimeWrong": .flag(
                isOpen && request.refusal?.isMisuse == true && request.path.hasSuffix("/move")),
            "isPostWrong": .flag(
                isOpen && request.refusal?.isMisuse == true && request.path.hasSuffix("/pin")),
            "texts": .text(request.base + "/texts"),
            "postNow": .text(slot.source.map { Self.confirm("post", $0, request) }),
            "never": .text(slot.text.map { _ in Self.confirm("never", slot.id, request) }),
            "otherTime": .text(

                localized(
                    day == words.today ? "Another time today" : "Another time on that day")),
        ]
    }

    private static func confirm(_ operation: String, _ post: String, _ request: MirrorRequest)
        -> String
    {
        "\(request.base)/confirm/\(operation)" + WebFields.query([("post", post)])
    }

    /// Returns the state in words, with its reason if it has one.
    private static func words(_ slot: PlanReport.Slot, _ state: SlotState, _ timeUntil: String?)
        -> String
    {
        if let timeUntil {
            return localized(
                state == .pinned
                    ? "Comes next, \(timeUntil), kept by you" : "Comes next, \(timeUntil)")
        }
        let reason = slot.reasonText
        return switch state {
        case .planned: reason.map { localized("Planned: \($0)") } ?? localized("Planned")
        case .pinned: localized("Planned, kept by you")
        case .textless:
            reason.map { localized("Nothing is sent, it has no text: \($0)") }
                ?? localized("Nothing is sent, it has no text")
        case .preview: localized("Planned, as far as one can tell")
        case .suggested: localized("Waits for you")
        case .sending: localized("Being sent")
        case .done: localized("Posted")
        case .skipped: reason.map { localized("Left out: \($0)") } ?? localized("Left out")
        case .expired: localized("Left out: \(reason ?? localized("its time passed"))")
        case .failed: reason.map { localized("Failed: \($0)") } ?? localized("Failed")
        case .undone: localized("Taken back")
        }
    }

    /// Says in sentences when the text was written and how it was chosen.
    private static func why(_ slot: PlanReport.Slot, _ state: SlotState, _ words: Words) -> String?
    {
        var sentences: [String] = []
        if let written = words.written(slot.written, copied: slot.due) {
            sentences.append(written)
        }
        if let why = slot.why, state != .skipped, state != .expired {
            let isSentence = why.hasSuffix(".") || why.hasSuffix("。")
            sentences.append(isSentence ? Words.capitalized(why) : Words.sentence(why))
        }
        let pictures = slot.pictures.map { Words.count($0, "picture") }
        switch (pictures, slot.parts) {
        case (let pictures?, let parts?):
            sentences.append(localized("With \(pictures), first of \(parts) parts."))
        case (let pictures?, nil): sentences.append(localized("With \(pictures)."))
        case (nil, let parts?): sentences.append(localized("First of \(parts) parts."))
        case (nil, nil): break
        }
        return sentences.isEmpty ? nil : sentences.joined(by: .sentence)
    }
}
