package import Foundation
import Posts

/// X's ids: decimal numbers that grow with time.
package enum XID {
    /// The first post id that contains its time; earlier ids were sequential.
    private static let firstWithTime: UInt64 = 29_700_859_247
    /// 2010-11-04T01:42:54.657Z, the epoch of the time in ids.
    private static let epochMilliseconds: Int64 = 1_288_834_974_657
    /// The number of bits below the time.
    private static let timeShift: UInt64 = 22

    /// The value of a decimal id; nil for any other text.
    package static func number(_ text: String) -> UInt64? {
        guard !text.isEmpty, text.utf8.count <= 20, text.utf8.allSatisfy(\.isASCIIDigit) else {
            return nil
        }
        return UInt64(text)
    }

    /// Whether `text` is an id, which is safe in a path and can be compared.
    package static func isUsable(_ text: String) -> Bool { number(text) != nil }

    /// Whether `id` is newer than `other`.
    package static func isNewer(_ id: String, than other: String) -> Bool {
        (number(id) ?? 0) > (number(other) ?? 0)
    }

    package static func newest(of ids: [String]) -> String? {
        ids.max { first, second in isNewer(second, than: first) }
    }

    package static func oldest(of ids: [String]) -> String? {
        ids.min { first, second in isNewer(second, than: first) }
    }

    /// The time at which the post with this id was created; nil for ids without a time.
    package static func time(of id: String) -> Date? {
        guard let number = number(id), number >= firstWithTime else { return nil }
        let milliseconds = Int64(number >> timeShift) + epochMilliseconds
        return Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// The id of a time `seconds` before that of `id`; nil for ids without a time.
    package static func id(_ seconds: Int, secondsBefore id: String) -> String? {
        guard let number = number(id), number >= firstWithTime, seconds >= 0,
            seconds < 1_000_000_000
        else { return nil }
        let distance = UInt64(seconds) * 1_000 << timeShift
        return number > distance ? String(number - distance) : nil
    }
}
