import Foundation
import Posts

extension Date {
    /// The instant in a header such as `Date`: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    ///
    /// Nil for every other text, the two obsolete forms included.
    init?(httpDate text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 6, Self.httpWeekdays.contains(words[0]), words[5] == "GMT",
            let month = Self.httpMonths.firstIndex(of: words[2]),
            let year = Self.number(words[3], digits: 4...4), year >= 1970,
            let dayOfMonth = Self.number(words[1], digits: 1...2),
            let day = LocalDay(year: year, month: month + 1, day: dayOfMonth)
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
            .map { Self.number($0, digits: 2...2) }
        guard time.count == 3, let hour = time[0], hour < 24, let minute = time[1], minute < 60,
            let second = time[2], second <= 60
        else { return nil }
        self.init(timeIntervalSince1970: Double(day.ordinal * 86_400 + hour * 3_600 + minute * 60 + min(second, 59)))
    }

    /// A number without a sign.
    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        digits.contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    private static let httpWeekdays: Set<Substring> = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let httpMonths: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
