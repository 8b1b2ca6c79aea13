import Foundation

/// A slot in user input: its number, its time, or the word `next`.
///
/// Every command with a slot parses it here. Full-width letters, digits and signs, which Japanese
/// keyboards produce, count as ASCII.
///
/// | typed | slot |
/// | --- | --- |
/// | `next` | the post that comes next |
/// | `4`, `#4`, `4.`, `No. 4`, `slot 4` | number 4 of today |
/// | `2026-11-24#2`, `2026-11-24 2`, `tomorrow#2` | number 2 of that day |
/// | `2026-11-24#2/3` | the third part of the thread in that slot |
/// | `14:05`, `2:05pm`, `2026-11-24 14:05` | the slot at that time of the human's clock |
package enum TypedSlot: Equatable, Sendable {
    case next
    case named(Slot.Name)
    case at(LocalDay, MinuteOfDay)

    /// The accepted spellings, as the end of a sentence.
    package static let forms =
        "4 or '#4' for today's, 2026-11-24#2, a time such as 14:05, next, or an id that mirror-bot plan shows"

    /// The maximum number of digits of a number without a sign; a longer one is the beginning of an
    /// identifier.
    private static let longestBareNumber = 4

    /// Nil for any other text, which may be an identifier.
    package init?(_ text: String, today: LocalDay) {
        let text = text.plainlyTyped.lowercased()
        guard text != "next" else {
            self = .next
            return
        }
        let (day, rest) = Self.split(text, today: today)
        if let (number, part) = Self.number(rest, hasNoDay: day == nil) {
            self = .named(Slot.Name(day: day ?? today, number: number, part: part))
        } else if let minute = MinuteOfDay(typed: String(rest)) {
            self = .at(day ?? today, minute)
        } else {
            return nil
        }
    }

    /// The day at the beginning of a text, if there is one, and the rest of the text.
    private static func split(_ text: String, today: LocalDay) -> (day: LocalDay?, rest: Substring)
    {
        for (word, days) in [("today", 0), ("tomorrow", 1)] where text.hasPrefix(word) {
            return (today.advanced(by: days), withoutLeadingSpaces(text.dropFirst(word.count)))
        }
        let date = text.prefix(10)
        guard let day = LocalDay(date), let sign = text[date.endIndex...].first,
            " #t".contains(sign)
        else {
            return (nil, text[...])
        }
        return (day, withoutLeadingSpaces(text[date.endIndex...].drop { $0 == "t" }))
    }

    private static func withoutLeadingSpaces(_ text: Substring) -> Substring {
        text.drop { $0 == " " }
    }

    /// The number of a slot and the part of its thread.
    private static func number(_ text: Substring, hasNoDay: Bool) -> (number: Int, part: Int)? {
        var digits = text
        for mark in ["slot", "no.", "no", "#"] where digits.hasPrefix(mark) {
            digits = withoutLeadingSpaces(digits.dropFirst(mark.count))
        }
        for mark in ["番目", "番", ".", ")"] where digits.hasSuffix(mark) {
            digits = digits.dropLast(mark.count)
        }
        if hasNoDay, digits.count == text.count, digits.count > longestBareNumber { return nil }
        let numbers = digits.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.utf8.allSatisfy(\.isASCIIDigit) ? Int(part) ?? 0 : 0
        }
        guard (1...2).contains(numbers.count), numbers.allSatisfy({ $0 > 0 }) else { return nil }
        return (numbers[0], numbers.count > 1 ? numbers[1] : 1)
    }
}

extension MinuteOfDay {
    /// Parses a typed time: `14:05`, `2:05pm`, `2 pm`, `１４：０５`; nil for any other text.
    package init?(typed text: String) {
        let text = text.plainlyTyped.lowercased()
        guard let suffix = ["am", "pm"].first(where: text.hasSuffix) else {
            self.init(clock: text)
            return
        }
        // A clock of twelve hours shows 1:00 to 12:59.
        let clock = text.dropLast(2).filter { $0 != " " }
        guard let minute = MinuteOfDay(clock: clock.contains(":") ? clock : clock + ":00"),
            (60..<13 * 60).contains(minute.value)
        else { return nil }
        self.init(minute.value % (12 * 60) + (suffix == "pm" ? 12 * 60 : 0))
    }
}

extension String {
    /// The text with full-width letters, digits and signs replaced by ASCII, and without
    /// surrounding quotes, backslashes and spaces.
    package var plainlyTyped: String {
        precomposedStringWithCompatibilityMapping
            .trimmingCharacters(in: Self.surroundingSigns)
    }

    /// The quotes and other signs that shells, editors and keyboards put around a word.
    private static let surroundingSigns = CharacterSet(charactersIn: "'\"`‘’“”„「」『』\\").union(
        .whitespacesAndNewlines)
}
