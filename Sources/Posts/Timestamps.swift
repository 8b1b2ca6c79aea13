package import Foundation

/// Timestamps of networks and archives.
///
/// Parsed by hand on UTF-8: `DateFormatter` is about 700 times slower, and an
/// archive holds millions of dates.
extension Date {
    /// Parses a timestamp of RFC 3339, such as `2026-11-20T08:15:30.250+09:00`.
    ///
    /// As the RFC allows, `t` and `z` may be lower case and a space may separate date and time.
    /// Seconds are optional, because some programs omit them. The offset is required. A leap second
    /// counts as the second before it; digits beyond the millisecond are dropped. Nil for any other
    /// text and for years outside 1970 through 9999.
    package init?(rfc3339 text: some StringProtocol) {
        var scanner = TimestampScanner(text)
        guard let day = scanner.day(),
            scanner.skip(oneOf: "Tt "),
            let secondOfDay = scanner.secondOfDay(needsSeconds: false),
            let millisecond = scanner.fraction(),
            let offset = scanner.offset(hasColon: true),
            scanner.isAtEnd
        else { return nil }
        self.init(
            day: day, secondOfDay: secondOfDay, millisecond: millisecond, offset: offset)
    }

    /// The minutes by which the clock of a timestamp of RFC 3339 is ahead of UTC.
    ///
    /// Nil for an offset of zero, because many programs write times in UTC for all users.
    package static func utcOffset(rfc3339 text: some StringProtocol) -> Int? {
        guard Date(rfc3339: text) != nil else { return nil }
        var scanner = TimestampScanner(text.suffix(6))
        guard let offset = scanner.offset(hasColon: true), scanner.isAtEnd, offset != 0 else {
            return nil
        }
        return offset / 60
    }

    /// Parses a timestamp of X, such as `Sat Feb 18 12:33:11 +0000 2023`.
    ///
    /// The form of the archives before 2014, `2010-11-03 12:33:11 +0000`, is accepted too. The
    /// weekday is not checked. Nil for any other text and for years outside 1970 through 9999.
    package init?(xTimestamp text: some StringProtocol) {
        if let date = Date(currentXTimestamp: text) ?? Date(oldXTimestamp: text) {
            self = date
        } else {
            return nil
        }
    }

    /// The instant in the form of RFC 3339, in UTC with milliseconds: `2026-11-19T23:15:30.250Z`.
    package var rfc3339: String {
        let total = milliseconds
        let ordinal = Int((Double(total) / 86_400_000).rounded(.down))
        let millisecondsOfDay = Int(total) - ordinal * 86_400_000
        let (year, month, day) = LocalDay(ordinal: ordinal).components
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        func append(_ number: Int, width: Int, then separator: Character) {
            let digits = Array(String(max(0, number)).utf8)
            bytes.append(
                contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, width - digits.count)))
            bytes.append(contentsOf: digits)
            bytes.append(contentsOf: String(separator).utf8)
        }
        append(year, width: 4, then: "-")
        append(month, width: 2, then: "-")
        append(day, width: 2, then: "T")
        append(millisecondsOfDay / 3_600_000, width: 2, then: ":")
        append(millisecondsOfDay / 60_000 % 60, width: 2, then: ":")
        append(millisecondsOfDay / 1_000 % 60, width: 2, then: ".")
        append(millisecondsOfDay % 1_000, width: 3, then: "Z")
        return String(decoding: bytes, as: UTF8.self)
    }

    private init?(currentXTimestamp text: some StringProtocol) {
        var scanner = TimestampScanner(text)
        guard scanner.name(from: TimestampScanner.weekdays) != nil, scanner.skip(oneOf: " "),
            let month = scanner.name(from: TimestampScanner.months), scanner.skip(oneOf: " "),
            let dayOfMonth = scanner.number(digits: 2), scanner.skip(oneOf: " "),
            let secondOfDay = scanner.secondOfDay(), scanner.skip(oneOf: " "),
            let offset = scanner.offset(hasColon: false), scanner.skip(oneOf: " "),
            let year = scanner.number(digits: 4), year >= 1970,
            let day = LocalDay(year: year, month: month, day: dayOfMonth),
            scanner.isAtEnd
        else { return nil }
        self.init(day: day, secondOfDay: secondOfDay, millisecond: 0, offset: offset)
    }

    private init?(oldXTimestamp text: some StringProtocol) {
        var scanner = TimestampScanner(text)
        guard let day = scanner.day(), scanner.skip(oneOf: " "),
            let secondOfDay = scanner.secondOfDay(), scanner.skip(oneOf: " "),
            let offset = scanner.offset(hasColon: false),
            scanner.isAtEnd
        else { return nil }
        self.init(day: day, secondOfDay: secondOfDay, millisecond: 0, offset: offset)
    }

    private init(day: LocalDay, secondOfDay: Int, millisecond: Int, offset: Int) {
        let seconds = day.ordinal * 86_400 + secondOfDay - offset
        self.init(milliseconds: Int64(seconds) * 1_000 + Int64(millisecond))
    }
}

/// Reads the parts of a timestamp from left to right; each function returns nil if its part is
/// missing.
private struct TimestampScanner {
    static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// The longest text that is parsed; every accepted form is shorter.
    static let maximumLength = 64

    private let bytes: [UInt8]
    private var position = 0

    init(_ text: some StringProtocol) {
        bytes = Array(text.utf8.prefix(Self.maximumLength + 1))
    }

    var isAtEnd: Bool { position == bytes.count && bytes.count <= Self.maximumLength }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skip(oneOf allowed: StaticString) -> Bool {
        guard let current, allowed.withUTF8Buffer({ $0.contains(current) }) else { return false }
        position += 1
        return true
    }

    mutating func number(digits: Int) -> Int? {
        guard position + digits <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[position..<position + digits] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        position += digits
        return value
    }

    /// Reads a name of three letters; returns its position in `names`, counted from 1.
    mutating func name(from names: [String]) -> Int? {
        guard position + 3 <= bytes.count else { return nil }
        let candidate = String(decoding: bytes[position..<position + 3], as: UTF8.self)
        guard let index = names.firstIndex(of: candidate) else { return nil }
        position += 3
        return index + 1
    }

    mutating func day() -> LocalDay? {
        guard let year = number(digits: 4), year >= 1970, skip(oneOf: "-"),
            let month = number(digits: 2), skip(oneOf: "-"),
            let day = number(digits: 2)
        else { return nil }
        return LocalDay(year: year, month: month, day: day)
    }

    /// Reads a time of day, in seconds since midnight.
    mutating func secondOfDay(needsSeconds: Bool = true) -> Int? {
        guard let hour = number(digits: 2), hour < 24, skip(oneOf: ":"),
            let minute = number(digits: 2), minute < 60
        else { return nil }
        guard skip(oneOf: ":") else { return needsSeconds ? nil : hour * 3_600 + minute * 60 }
        guard let second = number(digits: 2), second <= 60 else { return nil }
        return hour * 3_600 + minute * 60 + min(second, 59)
    }

    /// Reads a fraction of a second, in milliseconds; 0 without a fraction, nil for a point without
    /// digits.
    mutating func fraction() -> Int? {
        guard skip(oneOf: ".,") else { return 0 }
        var value = 0
        var digits = 0
        while let current, (0x30...0x39).contains(current) {
            if digits < 3 { value = value * 10 + Int(current - 0x30) }
            digits += 1
            position += 1
        }
        guard digits > 0 else { return nil }
        // One digit means tenths and two mean hundredths of a second.
        for _ in digits..<max(3, digits) { value *= 10 }
        return value
    }

    /// Reads a UTC offset, in seconds east of UTC.
    mutating func offset(hasColon: Bool) -> Int? {
        if skip(oneOf: "Zz") { return 0 }
        guard let sign = current, skip(oneOf: "+-"),
            let hours = number(digits: 2), hours < 24,
            !hasColon || skip(oneOf: ":"),
            let minutes = number(digits: 2), minutes < 60
        else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }
}
