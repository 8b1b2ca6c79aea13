package import Foundation
import Localization
package import Posts

/// Formats times and numbers for pages.
package struct Words: Sendable {
    package let zone: TimeZone
    package let now: Date

    package init(zone: TimeZone, now: Date) {
        self.zone = zone
        self.now = now
    }

    package var today: LocalDay { day(of: now) }

    package func day(of date: Date) -> LocalDay { LocalTime(date, in: zone).day }

    // MARK: Times

    /// Formats a time of day, as `20:13`.
    package func clock(_ date: Date) -> String { LocalTime(date, in: zone).minute.description }

    /// Formats a time of day with its seconds, as `20:13:05`.
    package func clockWithSeconds(_ date: Date) -> String {
        let localSeconds = Int(date.timeIntervalSince1970.rounded(.down)) + zone.offset(at: date)
        // The remainder is negative before 1970.
        let secondOfMinute = ((localSeconds % 60) + 60) % 60
        return clock(date) + (secondOfMinute < 10 ? ":0\(secondOfMinute)" : ":\(secondOfMinute)")
    }

    /// Formats a time as `20:13` if it is today, otherwise as `Friday, 27 November, 18:00`.
    package func moment(_ date: Date) -> String {
        let day = day(of: date)
        if day == today { return clock(date) }
        return switch Language.current {
        case .english: "\(heading(day)), \(clock(date))"
        case .japanese: "\(heading(day))\(clock(date))"
        }
    }

    /// Formats a day as `Wednesday, 25 November`, with the year if it is not the present one.
    package func heading(_ day: LocalDay) -> String {
        let (year, month, number) = day.components
        let weekday = Self.weekday(of: day)
        let isPresentYear = year == today.components.year
        switch Language.current {
        case .english:
            let words = "\(weekday), \(number) \(Self.months[month - 1])"
            return isPresentYear ? words : "\(words) \(year)"
        case .japanese:
            let words = "\(month)月\(number)日（\(weekday)）"
            return isPresentYear ? words : "\(year)年\(words)"
        }
    }

    /// Returns a sentence that says when an original was written.
    ///
    /// If that was on the same day of an earlier year, the sentence says so too: `Written on
    /// Saturday, 30 November 2019, 20:11, seven years ago today.`
    ///
    /// - Parameters:
    ///   - written: The time at which the original was written; nil for no sentence.
    ///   - copied: The time at which the copy is due, or was sent.
    func written(_ written: Date?, copied: Date) -> String? {
        guard let written else { return nil }
        let day = day(of: written)
        guard let anniversary = anniversary(of: day, on: self.day(of: copied)) else {
            return localized("Written on \(heading(day)), \(clock(written)).")
        }
        return localized("Written on \(heading(day)), \(clock(written)), \(anniversary).")
    }

    /// Returns how many years ago the original was written, as `two years ago today`; nil unless
    /// `day` is the same day of a later year.
    private func anniversary(of original: LocalDay, on day: LocalDay) -> String? {
        let (year, month, number) = original.components
        let dayOfCopy = day.components
        guard dayOfCopy.month == month, dayOfCopy.day == number, dayOfCopy.year > year else {
            return nil
        }
        let years = dayOfCopy.year - year
        let span = localized(years == 1 ? "a year" : "\(Self.numeral(years)) years")
        return localized(day == today ? "\(span) ago today" : "\(span) before that day")
    }

    /// Formats a time relative to now, as `in 2 h 5 min`, `40 s ago` or `now`.
    package func relative(_ date: Date) -> String {
        let seconds = date.timeIntervalSince(now)
        guard abs(seconds) >= 1 else { return localized("now") }
        let span = Self.span(abs(seconds))
        return localized(seconds > 0 ? "in \(span)" : "\(span) ago")
    }

    /// Returns the machine-readable time with a text, as `<time datetime="…">20:13</time>`.
    package func time(_ date: Date, showing words: String? = nil) -> Markup {
        "<time datetime=\"\(date.rfc3339)\">\(words ?? clock(date))</time>"
    }

    /// Formats a duration in at most two units, as `2 h 5 min`, `3 days 4 h` or `40 s`.
    package static func span(_ seconds: TimeInterval) -> String {
        let total = Int(min(max(0, seconds), 1e9).rounded())
        let days = total / 86_400
        let hours = total % 86_400 / 3_600
        let minutes = total % 3_600 / 60
        if days > 0 {
            let words = count(days, "day")
            return hours > 0 && days < 7 ? localized("\(words) \(hours) h") : words
        }
        if hours > 0 { return localized(minutes > 0 ? "\(hours) h \(minutes) min" : "\(hours) h") }
        return localized(minutes > 0 ? "\(minutes) min" : "\(total) s")
    }

    private static let weekdays: [LocalizedText] = [
        LocalizedText("Monday"), LocalizedText("Tuesday"), LocalizedText("Wednesday"),
        LocalizedText("Thursday"), LocalizedText("Friday"), LocalizedText("Saturday"),
        LocalizedText("Sunday"),
    ]
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November",
        "December",
    ]

    /// Returns the name of the day's weekday, as `Wednesday`.
    package static func weekday(of day: LocalDay) -> String {
        weekdays[day.weekday - 1].description
    }

    // MARK: Numbers

    /// Formats a number with commas between groups of three digits, as `1,284`.
    package static func number(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var grouped = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { grouped.append(",") }
            grouped.append(digit)
        }
        return number < 0 ? "−" + grouped : grouped
    }

    /// Returns a number with a noun, as `1 post` or `1,284 posts`.
    ///
    /// An irregular word needs its `plural`.
    ///
    /// The keys of its translations are `{0} post` and `{0} posts`.
    package static func count(_ number: Int, _ word: String, _ plural: String? = nil) -> String {
        let noun = number == 1 ? word : plural ?? word + "s"
        return LocalizedText(key: "{0} \(noun)", values: [Self.number(number)]).description
    }

    /// Returns ``count(_:_:_:)`` of each number that is not 0.
    static func counts(
        _ counts: [(number: Int, singular: String, plural: String)]
    ) -> [String] {
        counts.filter { $0.number > 0 }.map { count($0.number, $0.singular, $0.plural) }
    }

    /// Formats a share, from 0 to 1, in per cent, as `96 %`.
    package static func percent(_ share: Double, digits: Int = 0) -> String {
        guard share.isFinite else { return "–" }
        return localized("\(String(format: "%.\(digits)f", share * 100)) %")
    }

    /// Formats an amount with at least two decimals, and up to four if needed, as `$5.00` or
    /// `$0.015`.
    package static func dollars(_ amount: Double) -> String {
        guard amount.isFinite else { return "–" }
        var digits = String(format: "%.4f", amount)
        // Two decimals are kept.
        while digits.hasSuffix("0"), !digits.dropLast(2).hasSuffix(".") { digits.removeLast() }
        return "$" + digits
    }

    /// Returns the text with a capital first letter, unless it begins with a command.
    package static func capitalized(_ text: String) -> String {
        text.hasPrefix("mirror-bot ") ? text : text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Returns a text without a full stop as a sentence.
    static func sentence(_ text: String) -> String { localized("\(capitalized(text)).") }

    /// Returns the beginning of a text: at most `length` characters and four times as many bytes,
    /// because a single character may have thousands of bytes.
    package static func cut(_ text: String, to length: Int = 500) -> String {
        let beginning = String(text.prefix(length))
        guard beginning.utf8.count > 4 * length else {
            return beginning.utf8.count < text.utf8.count ? beginning + "…" : beginning
        }
        var scalars = String.UnicodeScalarView()
        var bytes = 0
        for scalar in beginning.unicodeScalars {
            bytes += scalar.utf8.count
            guard bytes <= 4 * length else { break }
            scalars.append(scalar)
        }
        return String(scalars) + "…"
    }
}
