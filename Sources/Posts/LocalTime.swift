package import Foundation

/// A minute of a day: 0 is 00:00, 60 is 01:00, 1439 is 23:59.
package struct MinuteOfDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of minutes in a day of the clock face, 1,440.
    package static let count = 1_440

    /// The number of minutes since midnight: 0 through 1439.
    package let value: Int

    /// Nil unless `value` is 0 through 1439.
    package init?(_ value: Int) {
        guard (0..<Self.count).contains(value) else { return nil }
        self.value = value
    }

    /// The minute at which a clock shows `hour` and `minute`; both wrap around.
    package init(hour: Int, minute: Int) {
        let total = ((hour % 24) * 60 + minute % Self.count) % Self.count
        self.value = total < 0 ? total + Self.count : total
    }

    /// Nil unless `text` is a time of day such as `7:05` or `07:05`.
    package init?(clock text: some StringProtocol) {
        guard let minutes = Self.minutes(ofClock: text) else { return nil }
        self.init(minutes)
    }

    /// Minutes since midnight of a time written as `H:MM` or `HH:MM`, 0 through 1440;
    /// 1440 (`24:00`) is the end of the day.
    package static func minutes(ofClock text: some StringProtocol) -> Int? {
        let parts = Array(text.utf8).split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) })
        else { return nil }
        let numbers = parts.map { digits in
            digits.reduce(0) { number, digit in number * 10 + Int(digit - 0x30) }
        }
        let minute = numbers[0] * 60 + numbers[1]
        return numbers[1] < 60 && minute <= count ? minute : nil
    }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    /// The shorter way round the clock between two minutes, 0 through 720.
    package func circularDistance(to other: MinuteOfDay) -> Int {
        let distance = abs(value - other.value)
        return min(distance, Self.count - distance)
    }

    /// The time of day as `HH:MM`.
    package var description: String { Self.padded(value / 60) + ":" + Self.padded(value % 60) }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}

/// A date of the proleptic Gregorian calendar, without a time zone: 0001-01-01 through 9999-12-31.
package struct LocalDay: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The first day of the calendar, 0001-01-01.
    package static let earliest = LocalDay(ordinal: -719_162)
    /// The last day of the calendar, 9999-12-31.
    package static let latest = LocalDay(ordinal: 2_932_896)

    /// The number of days since 1970-01-01.
    package let ordinal: Int

    /// The day this many days after 1970-01-01, clamped to the calendar.
    package init(ordinal: Int) { self.ordinal = min(max(ordinal, -719_162), 2_932_896) }

    /// Nil unless the three numbers are a date of the calendar.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...9_999).contains(year), (1...12).contains(month), (1...31).contains(day) else {
            return nil
        }
        let candidate = LocalDay(ordinal: Self.ordinal(year: year, month: month, day: day))
        guard candidate.components == (year, month, day) else { return nil }
        self = candidate
    }

    /// Nil unless `text` is a date written as `YYYY-MM-DD`.
    package init?(_ text: some StringProtocol) {
        // The text is parsed by hand for speed, because a plan reads thousands of days.
        var numbers = (year: 0, month: 0, day: 0)
        var length = 0
        for byte in text.utf8 {
            let digit = Int(byte) - 0x30
            switch (length, digit) {
            case (0...3, 0...9): numbers.year = numbers.year * 10 + digit
            case (5...6, 0...9): numbers.month = numbers.month * 10 + digit
            case (8...9, 0...9): numbers.day = numbers.day * 10 + digit
            case (4, _) where byte == UInt8(ascii: "-"), (7, _) where byte == UInt8(ascii: "-"):
                break
            default: return nil
            }
            length += 1
        }
        guard length == 10 else { return nil }
        self.init(year: numbers.year, month: numbers.month, day: numbers.day)
    }

    package static func < (left: Self, right: Self) -> Bool { left.ordinal < right.ordinal }

    /// The day this many days later, clamped to the calendar.
    package func advanced(by days: Int) -> LocalDay {
        let (sum, overflow) = ordinal.addingReportingOverflow(days)
        guard overflow else { return LocalDay(ordinal: sum) }
        return days < 0 ? .earliest : .latest
    }

    /// The number of days from `other` to this day.
    package func days(since other: LocalDay) -> Int { ordinal - other.ordinal }

    /// The day of the week: 1 is Monday, 7 is Sunday (ISO 8601).
    package var weekday: Int {
        // 1970-01-01 was a Thursday.
        let shifted = (ordinal + 3) % 7
        return (shifted < 0 ? shifted + 7 : shifted) + 1
    }

    /// Year, month and day of the month.
    package var components: (year: Int, month: Int, day: Int) {
        // Inverse of `ordinal(year:month:day:)`: eras of 400 years from 0000-03-01.
        let shifted = ordinal + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Any five months from March on have 153 days.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The date as `YYYY-MM-DD`.
    package var description: String {
        let (year, month, day) = components
        func padded(_ number: Int, width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(year, width: 4) + "-" + padded(month, width: 2) + "-" + padded(day, width: 2)
    }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let day = LocalDay(text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected a date as YYYY-MM-DD"))
        }
        self = day
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Counts years from March, so that a leap day is the last day of its year.
    private static func ordinal(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

/// The day and minute that a wall clock in a time zone shows at an instant.
package struct LocalTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var day: LocalDay
    package var minute: MinuteOfDay

    /// The day and the minute in the form `2026-11-20 14:05`.
    package var description: String { "\(day) \(minute)" }

    package init(day: LocalDay, minute: MinuteOfDay) {
        self.day = day
        self.minute = minute
    }

    /// - Parameters:
    ///   - date: The instant; clamped to the years 1 to 9999.
    ///   - zone: The zone whose rules at that instant apply, daylight saving included.
    package init(_ date: Date, in zone: TimeZone) {
        let instant = Date(milliseconds: date.milliseconds)
        self.init(instant, offsetSeconds: zone.offset(at: instant))
    }

    /// - Parameters:
    ///   - date: The instant; clamped to the years 1 to 9999.
    ///   - utcOffset: The minutes by which the clock is ahead of UTC; at most a day.
    package init(_ date: Date, utcOffset: Int) {
        self.init(
            Date(milliseconds: date.milliseconds),
            offsetSeconds: min(max(utcOffset, -1_440), 1_440) * 60)
    }

    private init(_ instant: Date, offsetSeconds: Int) {
        let local = Int(instant.timeIntervalSince1970.rounded(.down)) + offsetSeconds
        let ordinal = Int((Double(local) / 86_400).rounded(.down))
        self.day = LocalDay(ordinal: ordinal)
        self.minute = MinuteOfDay(hour: 0, minute: (local - ordinal * 86_400) / 60)
    }

    /// Compares day and minute; when a clock is set back, two instants may be equal.
    package static func < (left: Self, right: Self) -> Bool {
        (left.day, left.minute) < (right.day, right.minute)
    }
}

extension TimeZone {
    /// The zone's name for people: Foundation turns `UTC` into `GMT`.
    package var name: String { identifier == "GMT" ? "UTC" : identifier }
}

extension Date {
    /// Whole milliseconds since 1970-01-01T00:00:00Z, as the database stores instants.
    ///
    /// Clamped to the years 1 to 9999; NaN becomes 1970. Dates come from archives and servers and
    /// must not be able to crash the process.
    package var milliseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1_000).rounded()
        guard !exact.isNaN else { return 0 }
        return Int64(min(max(exact, -62_135_596_800_000), 253_402_300_799_999))
    }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
