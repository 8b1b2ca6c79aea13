package import Foundation
import Posts

/// The ids of X: decimal numbers, larger for what is newer.
package enum XID {
    /// The first id of a post that holds its own time; the ids before it counted up.
    private static let firstTimed: UInt64 = 29_700_859_247
    /// 2010-11-04T01:42:54.657Z, where the time in ids begins.
    private static let epochMilliseconds: Int64 = 1_288_834_974_657
    /// The bits below the time.
    private static let timeShift: UInt64 = 22

    /// The number that `text` writes; nil for what is no id.
    package static func number(_ text: String) -> UInt64? {
        guard !text.isEmpty, text.utf8.count <= 20, text.utf8.allSatisfy(\.isASCIIDigit) else {
            return nil
        }
        return UInt64(text)
    }

    /// Whether `text` can stand in a path and be compared.
    package static func isUsable(_ text: String) -> Bool { number(text) != nil }

    /// Whether `id` was given later than `other`.
    package static func isNewer(_ id: String, than other: String) -> Bool {
        (number(id) ?? 0) > (number(other) ?? 0)
    }

    package static func newest(of ids: [String]) -> String? {
        ids.max { isNewer($1, than: $0) }
    }

    package static func oldest(of ids: [String]) -> String? {
        ids.min { isNewer($1, than: $0) }
    }

    /// When the post with this id was made; nil for ids that do not tell.
    package static func time(of id: String) -> Date? {
        guard let number = number(id), number >= firstTimed else { return nil }
        let milliseconds = Int64(number >> timeShift) + epochMilliseconds
        return Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// The id of something `seconds` earlier; nil for ids that do not tell their time.
    package static func id(_ seconds: Int, secondsBefore id: String) -> String? {
        guard let number = number(id), number >= firstTimed, seconds >= 0, seconds < 1_000_000_000
        else { return nil }
        let distance = UInt64(seconds) * 1_000 << timeShift
        return number > distance ? String(number - distance) : nil
    }
}
