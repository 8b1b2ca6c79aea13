import Foundation

/// The rules of one time zone, read from a compiled zone file (TZif, RFC 9636).
///
/// Parsed once, so that looking up an instant costs a binary search.
struct ZoneFile: Equatable, Sendable {
    /// The largest accepted UTC offset, in seconds; no zone has ever had a larger one.
    private static let maximumOffset = 16 * 3_600

    /// Instants at which the UTC offset changes, ascending, in seconds since 1970.
    private let transitions: [Int]
    /// The UTC offset from each transition on, in seconds.
    private let offsets: [Int]
    /// The UTC offset before the first transition, in seconds.
    private let firstOffset: Int
    /// The rule after the last transition; `nil` if the last offset stays.
    private let rule: ZoneRule?

    /// Nil if the bytes are no zone file, or count leap seconds.
    init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes)
        guard var counts = reader.header() else { return nil }
        var hasLongTimes = false
        if counts.version >= UInt8(ascii: "2") {
            reader.position += counts.size(timeWidth: 4)
            guard let second = reader.header() else { return nil }
            counts = second
            hasLongTimes = true
        }
        guard counts.leapSeconds == 0, counts.types > 0,
            reader.position + counts.size(timeWidth: hasLongTimes ? 8 : 4) <= bytes.count
        else { return nil }
        let times = (0..<counts.times).compactMap { _ in reader.integer(bytes: hasLongTimes ? 8 : 4)
        }
        let indices = (0..<counts.times).compactMap { _ in reader.integer(bytes: 1) }
        let types = (0..<counts.types).compactMap { _ -> Int? in
            let offset = reader.integer(bytes: 4)
            // The flag for summer time and the index of the abbreviation are not needed.
            reader.position += 2
            return offset
        }
        guard types.count == counts.types, types.allSatisfy({ abs($0) <= Self.maximumOffset }),
            indices.allSatisfy(types.indices.contains),
            zip(times, times.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        reader.position +=
            counts.characters + counts.standardIndicators + counts.universalIndicators
        transitions = times
        offsets = indices.map { types[$0] }
        firstOffset = types[0]
        rule = hasLongTimes ? reader.footer().flatMap(ZoneRule.init) : nil
    }

    /// The UTC offset at an instant, in seconds: positive east of Greenwich.
    func offset(at second: Int) -> Int {
        guard let last = transitions.last else { return rule?.offset(at: second) ?? firstOffset }
        if second >= last { return rule?.offset(at: second) ?? offsets[offsets.count - 1] }
        var low = 0
        var high = transitions.count
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle] <= second { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? firstOffset : offsets[low - 1]
    }

    /// The counts of a header.
    private struct Counts {
        let version: UInt8
        /// The number of types that say whether their transitions are in universal time.
        let universalIndicators: Int
        /// The number of types that say whether their transitions are in standard time.
        let standardIndicators: Int
        let leapSeconds: Int
        /// The number of transitions.
        let times: Int
        /// The number of kinds of local time, each with its UTC offset.
        let types: Int
        /// The bytes of the abbreviations.
        let characters: Int

        /// The bytes of the data after the header, if a time takes `timeWidth` bytes.
        func size(timeWidth: Int) -> Int {
            times * (timeWidth + 1) + types * 6 + characters + leapSeconds * (timeWidth + 4)
                + standardIndicators + universalIndicators
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// Reads a number of `count` bytes, the highest first; it is signed if it has 4 or 8 bytes.
        mutating func integer(bytes count: Int) -> Int? {
            guard position + count <= bytes.count else { return nil }
            defer { position += count }
            let number = bytes[position..<position + count].reduce(UInt64(0)) {
                $0 << 8 | UInt64($1)
            }
            return count == 4
                ? Int(Int32(truncatingIfNeeded: number)) : Int(truncatingIfNeeded: number)
        }

        mutating func header() -> Counts? {
            guard position + 44 <= bytes.count,
                bytes[position..<position + 4].elementsEqual("TZif".utf8)
            else {
                return nil
            }
            let version = bytes[position + 4]
            position += 20
            let numbers = (0..<6).compactMap { _ in integer(bytes: 4) }
            // A real file has at most some hundreds of transitions and types.
            guard numbers.count == 6, numbers.allSatisfy({ (0...100_000).contains($0) }) else {
                return nil
            }
            return Counts(
                version: version, universalIndicators: numbers[0], standardIndicators: numbers[1],
                leapSeconds: numbers[2],
                times: numbers[3], types: numbers[4], characters: numbers[5])
        }

        /// The text between the two line breaks at the end.
        func footer() -> String? {
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\n") else { return nil }
            let following = bytes[(position + 1)...]
            guard let end = following.firstIndex(of: UInt8(ascii: "\n")), end > following.startIndex
            else {
                return nil
            }
            return String(decoding: following[..<end], as: UTF8.self)
        }
    }
}

/// The rule of a zone for all years, in the form of POSIX: `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneRule: Equatable, Sendable {
    /// A day of each year and a time of that day.
    private struct Change: Equatable {
        enum Day: Equatable {
            /// The day of the year, 1 through 365; the 29th of February is never counted.
            case julian(Int)
            /// The day of the year, 0 through 365, leap days counted.
            case ordinal(Int)
            /// A day of the week of a month; week 5 is the last, and weekday 0 is Sunday.
            case weekday(month: Int, week: Int, day: Int)
        }

        let day: Day
        /// Seconds after midnight by the clock before the change; may be negative or more than a
        /// day.
        let time: Int

        /// Seconds since 1970 by the clock before the change.
        func localSecond(in year: Int) -> Int {
            let start = LocalDay(year: year, month: 1, day: 1)?.ordinal ?? 0
            switch day {
            case .julian(let number):
                let hasLeapDay = LocalDay(year: year, month: 2, day: 29) != nil
                let uncountedDays = hasLeapDay && number >= 60 ? 1 : 0
                return (start + number - 1 + uncountedDays) * 86_400 + time
            case .ordinal(let number): return (start + number) * 86_400 + time
            case .weekday(let month, let week, let weekday):
                let first = LocalDay(year: year, month: month, day: 1) ?? .earliest
                let next =
                    month == 12
                    ? LocalDay(year: year + 1, month: 1, day: 1)
                    : LocalDay(year: year, month: month + 1, day: 1)
                // After the last month of the calendar there is no next one.
                let end = next?.ordinal ?? first.ordinal + 31
                let length = end - first.ordinal
                let daysToWeekday = (weekday - first.weekday % 7 + 7) % 7
                var day = daysToWeekday + (week - 1) * 7
                // The last week of the month may be its fourth.
                if day >= length { day -= 7 }
                return (first.ordinal + day) * 86_400 + time
            }
        }
    }

    /// The UTC offset outside summer time, in seconds.
    private let standard: Int
    /// The UTC offset in summer time, in seconds.
    private let summer: Int
    /// The begin and the end of summer time; nil without it.
    private let changes: (begin: Change, end: Change)?

    static func == (left: ZoneRule, right: ZoneRule) -> Bool {
        left.standard == right.standard && left.summer == right.summer
            && left.changes?.begin == right.changes?.begin
            && left.changes?.end == right.changes?.end
    }

    /// Parses a rule in the form of POSIX; nil for any other text.
    init?(_ text: String) {
        var parser = Parser(text)
        guard parser.skipName(), let secondsWest = parser.time(maximumHours: 24) else { return nil }
        standard = -secondsWest
        guard !parser.isAtEnd else {
            summer = standard
            changes = nil
            return
        }
        guard parser.skipName() else { return nil }
        if parser.peek == UInt8(ascii: ",") || parser.isAtEnd {
            summer = standard + 3_600
        } else {
            guard let secondsWest = parser.time(maximumHours: 24) else { return nil }
            summer = -secondsWest
        }
        guard parser.take(","), let begin = parser.change(), parser.take(","),
            let end = parser.change(),
            parser.isAtEnd
        else { return nil }
        changes = (begin, end)
    }

    /// The UTC offset at an instant, in seconds.
    func offset(at second: Int) -> Int {
        guard let changes else { return standard }
        let year = LocalTime(Date(timeIntervalSince1970: Double(second + standard)), in: .gmt).day
            .components.year
        // On the southern hemisphere summer time begins late in the year and ends early in the next
        // one: then the time between the end and the begin of one year is standard time.
        let begin = changes.begin.localSecond(in: year) - standard
        let end = changes.end.localSecond(in: year) - summer
        let isSummer =
            begin < end ? (begin..<end).contains(second) : !(end..<begin).contains(second)
        return isSummer ? summer : standard
    }

    private struct Parser {
        private let bytes: [UInt8]
        private var position = 0

        init(_ text: String) { bytes = Array(text.utf8) }

        var isAtEnd: Bool { position == bytes.count }

        var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func take(_ character: Character) -> Bool {
            guard peek == character.asciiValue else { return false }
            position += 1
            return true
        }

        /// Skips a name: three letters or more, or anything in angle brackets.
        mutating func skipName() -> Bool {
            if take("<") {
                while let byte = peek, byte != UInt8(ascii: ">") { position += 1 }
                return take(">")
            }
            let start = position
            while let byte = peek, (byte | 0x20) >= UInt8(ascii: "a"),
                (byte | 0x20) <= UInt8(ascii: "z")
            {
                position += 1
            }
            return position - start >= 3
        }

        mutating func number(in range: ClosedRange<Int>) -> Int? {
            var value: Int?
            while let byte = peek, (0x30...0x39).contains(byte), value ?? 0 < 1_000 {
                value = (value ?? 0) * 10 + Int(byte - 0x30)
                position += 1
            }
            return value.flatMap { range.contains($0) ? $0 : nil }
        }

        /// Reads a time `[+-]hh[:mm[:ss]]`, in seconds.
        mutating func time(maximumHours: Int) -> Int? {
            let isNegative = take("-")
            if !isNegative { _ = take("+") }
            guard var seconds = number(in: 0...maximumHours).map({ $0 * 3_600 }) else { return nil }
            for unit in [60, 1] where take(":") {
                guard let part = number(in: 0...59) else { return nil }
                seconds += part * unit
            }
            return isNegative ? -seconds : seconds
        }

        mutating func change() -> Change? {
            guard let day = day() else { return nil }
            guard take("/") else { return Change(day: day, time: 7_200) }
            return time(maximumHours: 167).map { Change(day: day, time: $0) }
        }

        private mutating func day() -> Change.Day? {
            if take("J") { return number(in: 1...365).map { .julian($0) } }
            guard take("M") else { return number(in: 0...365).map { .ordinal($0) } }
            guard let month = number(in: 1...12), take("."), let week = number(in: 1...5),
                take("."),
                let day = number(in: 0...6)
            else { return nil }
            return .weekday(month: month, week: week, day: day)
        }
    }
}
