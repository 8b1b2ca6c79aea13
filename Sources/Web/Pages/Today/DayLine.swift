import Control
import Foundation
import Localization
import Outbox
import Posts

/// The drawing of a day: above the line the human's posts on days of the same weekday, below it the
/// bot's posts of the day.
struct DayLine {
    let report: DayReport
    let words: Words
    /// The id of the slot that is sent next; nil for none.
    let next: String?

    private static let minutes = Double(MinuteOfDay.count)
    /// The height of the human's highest bar, in pixels.
    private static let highestBar = 52.0
    /// The vertical position of the line, in pixels.
    private static let axis = 64.0

    private var isToday: Bool { report.day == words.today }

    var markup: Markup {
        """
        <svg class="draw" height="164" role="img" aria-labelledby="day-t day-d"><title id="day-t">\(localized("The day as a line"))</title>\
        <desc id="day-d">\(description)</desc>
        \(spans + ticks)\(bars)<line class="axis" x1="0" x2="100%" y1="64.5" y2="64.5"/>\
        \(marks + actionsForOthers)\(now)</svg>
        """
    }

    private static func percent(_ minute: Int) -> Double { Double(minute) / minutes * 100 }

    /// The text anchor at a position, which keeps a label inside the drawing.
    private static func anchor(at percent: Double) -> Markup {
        if percent < 5 { return "start" }
        return percent > 95 ? "end" : "middle"
    }

    private func minute(of date: Date) -> Int { LocalTime(date, in: words.zone).minute.value }

    // MARK: Background

    /// The quiet hours and a pause, as hatched areas.
    private var spans: [Markup] {
        (report.quiet + [report.pause].compactMap(\.self)).map { span in
            """
            <rect class="quiet" x="\(Self.percent(span.from))%" y="8" width="\(Self.percent(span.to - span.from))%" \
            height="126"/>
            """
        }
    }

    private var ticks: [Markup] {
        stride(from: 0, through: 24, by: 3).map { hour in
            let anchor: Markup =
                switch hour {
                case 0: "start"
                case 24: "end"
                default: "middle"
                }
            let x = Self.percent(hour * 60)
            let isWide: Markup = hour % 6 == 0 ? "" : " class=\"wide-only\""
            return """
                <g\(isWide)><line class="tick" x1="\(x)%" x2="\(x)%" y1="64" y2="134"/>\
                <text x="\(x)%" y="150" text-anchor="\(anchor)">\(hour)</text></g>
                """
        }
    }

    /// The bars of the human's posts by half hour, as strokes of one path.
    private var bars: Markup {
        let highestShare = report.humanHalfHours.max() ?? 0
        guard highestShare > 0 else { return "" }
        let strokes = report.humanHalfHours.enumerated().compactMap { index, share -> Markup? in
            guard share > 0 else { return nil }
            let top = Self.axis - max(1, share / highestShare * Self.highestBar)
            return "M\(Double(index) + 0.5) 64V\(top.rounded())"
        }
        return """
            <svg width="100%" height="64" viewBox="0 0 48 64" preserveAspectRatio="none" stroke-width=".86">\
            <path class="hl" d="\(strokes)"/></svg>
            """
    }

    private var now: Markup {
        guard isToday else { return "" }
        let x = Self.percent(minute(of: words.now))
        let anchor = Self.anchor(at: x)
        return """
            <line class="now" x1="\(x)%" x2="\(x)%" y1="4" y2="134"/>\
            <text class="strong" x="\(x)%" y="162" text-anchor="\(anchor)">\(localized("now"))</text>
            """
    }

    // MARK: What the bot does

    private var slots: [PlanReport.Slot] { report.plan?.slots ?? [] }

    private var marks: [Markup] {
        slots.map { slot in
            let x = Self.percent(minute(of: slot.due))
            if slot.id == next {
                let anchor = Self.anchor(at: x)
                return """
                    <line class="bl" x1="\(x)%" x2="\(x)%" y1="64" y2="94"/><circle class="hollow" cx="\(x)%" cy="86" r="8"/>\
                    <circle class="b" cx="\(x)%" cy="86" r="3"/>\
                    <text class="strong" x="\(x)%" y="112" text-anchor="\(anchor)">\(slot.time)</text>
                    """
            }
            return SlotState(slot).mark(x: x, y: 86)
        }
    }

    private var actionsForOthers: [Markup] {
        report.toOthers.filter { $0.state == .done }.map { action in
            let x = Self.percent(minute(of: action.due ?? action.at))
            let symbol: Markup = action.kind == .favorite ? "a-favorite" : "a-reply"
            return """
                <svg x="\(x)%" y="116" overflow="visible"><use class="b" href="#\(symbol)" x="-5.5" y="0" width="11" \
                height="11"/></svg>
                """
        }
    }

    // MARK: In words

    private var description: String {
        var sentences = [localized("From midnight to midnight.")]
        let weekday = Words.weekday(of: report.day)
        if let highestShare = report.humanHalfHours.max(), highestShare > 0,
            let index = report.humanHalfHours.firstIndex(of: highestShare)
        {
            let from = MinuteOfDay(hour: 0, minute: index * 30)
            sentences.append(
                localized(
                    "Above, when the human posts on \(weekday)s, mostly around \(from)."
                ))
        } else {
            sentences.append(
                localized("Above, nothing: no post of the human on a \(weekday) is known."))
        }
        let parts = [
            times(of: [.done]).map { localized("posted at \($0)") },
            times(of: [.skipped, .expired, .undone]).map { localized("left out at \($0)") },
            times(of: [.failed]).map { localized("failed at \($0)") },
            times(of: [.planned, .pinned, .preview, .sending]).map {
                localized("to come at \($0)")
            },
            times(of: [.suggested]).map { localized("waiting for you at \($0)") },
        ].compactMap(\.self)
        let listedParts = parts.joined(by: .semicolon)
        sentences.append(
            parts.isEmpty
                ? localized("Below, the bot has no posts.")
                : localized("Below, the bot: \(listedParts)."))
        let replies = report.count(of: .reply)?.done ?? 0
        let favorites = report.count(of: .favorite)?.done ?? 0
        if replies + favorites > 0 {
            sentences.append(
                localized(
                    "\(Words.count(replies, "reply", "replies")) and \(Words.count(favorites, "favorite"))."
                )
            )
        }
        if !report.quiet.isEmpty {
            let spans = report.quiet.map { localized("\(clock($0.from)) to \(clock($0.to))") }
                .joined(by: .and)
            sentences.append(localized("Quiet hours are from \(spans)."))
        }
        if let pause = report.pause {
            sentences.append(
                localized("It pauses from \(clock(pause.from)) to \(clock(pause.to))."))
        }
        if isToday { sentences.append(localized("It is \(words.clock(words.now)).")) }
        sentences.append(localized("The list below says the same."))
        return sentences.joined(by: .sentence)
    }

    /// Returns the times of the slots in some states, as a list; nil for none.
    private func times(of states: Set<SlotState>) -> String? {
        let times = slots.filter { states.contains(SlotState($0)) }.map(\.time)
        return times.isEmpty ? nil : times.joined(by: .comma)
    }

    private func clock(_ minute: Int) -> String {
        minute == MinuteOfDay.count ? "24:00" : MinuteOfDay(hour: 0, minute: minute).description
    }
}

/// The state of a slot as pages show it; each state has a shape and a word.
enum SlotState: String, Sendable {
    case planned, pinned, preview, suggested, sending, done, skipped, expired, failed, undone
    /// A slot that a person moved or kept and that has no text: nothing is sent unless a person
    /// chooses a text.
    case textless

    init(_ slot: PlanReport.Slot) {
        switch ActionState(rawValue: slot.state) {
        case .planned, .claimed:
            if slot.text == nil {
                self = .textless
            } else {
                self = slot.isPinned == true ? .pinned : .planned
            }
        case .sending: self = .sending
        case .done: self = .done
        case .skipped: self = .skipped
        case .expired: self = .expired
        case .failed: self = .failed
        case .suggested: self = .suggested
        case .undone: self = .undone
        case nil: self = .preview
        }
    }

    /// The shape in a drawing of days.
    ///
    /// - Parameters:
    ///   - x: The horizontal place, in per cent of the width.
    ///   - y: The vertical place, in pixels.
    func mark(x: Double, y: Int) -> Markup {
        let path: Markup
        switch self {
        case .done: return "<circle class=\"b\" cx=\"\(x)%\" cy=\"\(y)\" r=\"6\"/>"
        case .planned, .sending:
            return "<circle class=\"hollow\" cx=\"\(x)%\" cy=\"\(y)\" r=\"5.5\"/>"
        case .preview:
            return "<circle class=\"hollow expected\" cx=\"\(x)%\" cy=\"\(y)\" r=\"5.5\"/>"
        case .pinned: path = "<path class=\"hollow\" d=\"M-5-5h10v10h-10z\"/>"
        case .suggested: path = "<path class=\"hollow\" d=\"M0-7L7 0 0 7-7 0z\"/>"
        case .failed: path = "<path class=\"hollow\" d=\"M0-7L7 6H-7z\"/>"
        case .skipped, .expired, .undone, .textless:
            path = "<path class=\"gone-mark\" d=\"M-4-4L4 4M4-4L-4 4\"/>"
        }
        return "<svg x=\"\(x)%\" y=\"\(y)\" overflow=\"visible\">\(path)</svg>"
    }

    /// The id of the symbol.
    var symbol: String {
        switch self {
        case .planned, .sending: "a-planned"
        case .preview: "a-expired"
        case .textless: "a-skipped"
        default: "a-\(rawValue)"
        }
    }

    /// The CSS class of its words.
    var tag: String {
        switch self {
        case .pinned, .preview, .sending: "planned"
        case .textless: "skipped"
        default: rawValue
        }
    }

    /// Whether a slot in this state may still be sent.
    var isAhead: Bool { [.planned, .pinned, .preview, .suggested, .sending].contains(self) }
    /// Whether a person can change a slot in this state.
    var canChange: Bool { [.planned, .pinned, .preview, .textless].contains(self) }
}
