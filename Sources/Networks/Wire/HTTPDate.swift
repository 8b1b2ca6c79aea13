import Foundation
import Posts

extension Date {
    /// The instant in a header such as `Date`: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    ///
    /// Nil for every other text, the two obsolete forms included.
    init?(httpDate text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
            let month = Self.httpMonths.firstIndex(of: words[2]),
            let year = Int(words[3]), (1970...9_999).contains(year), let dayOfMonth = Int(words[1]),
            let day = LocalDay(year: year, month: month + 1, day: dayOfMonth)
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, time.allSatisfy({ $0.utf8.count == 2 }),
            let hour = Int(time[0]), (0..<24).contains(hour),
            let minute = Int(time[1]), (0..<60).contains(minute),
            let second = Int(time[2]), (0...60).contains(second)
        else { return nil }
        self.init(timeIntervalSince1970: Double(day.ordinal * 86_400 + hour * 3_600 + minute * 60 + min(second, 59)))
    }

    private static let httpMonths: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
