package import Foundation

/// The time at which a post was made, determined from its record, its key and the time of its
/// discovery.
///
/// A record's time comes from its author or the author's program: it may be missing, empty, the
/// year 1 or in the future. The post is kept in all these cases. Its time is then the time in its
/// key, or else the time of its discovery. It is not trusted: the schedule learns nothing from it.
package struct PostTime: Equatable, Sendable {
    /// The seconds by which the author's clock may be ahead of this machine's.
    package static let clockMargin: TimeInterval = 600
    /// The first time in Mastodon's ids, 2016-01-01: before, the ids were sequential and contained
    /// no time.
    private static let firstTimeInIDs: Int64 = 1_451_606_400_000
    /// The time from which Misskey counts, 2000-01-01.
    private static let misskeyEpoch: Int64 = 946_684_800_000

    package let date: Date
    /// Whether the schedule may learn from the time.
    package let isTrusted: Bool

    /// - Parameters:
    ///   - text: The written time in the form of RFC 3339; without an offset it is read as UTC and
    ///     not trusted.
    ///   - keyed: The time in the post's key; `nil` if it contains none.
    ///   - noticedAt: The latest time at which the post may have been seen first.
    package init(_ text: String?, keyed: Date? = nil, noticedAt: Date) {
        let dateWithZone = text.flatMap { Date(rfc3339: $0) }
        let date = dateWithZone ?? text.flatMap { Date(rfc3339: $0 + "Z") }
        self.init(date, isExact: dateWithZone != nil, keyed: keyed, noticedAt: noticedAt)
    }

    /// - Parameters:
    ///   - written: The written time; `nil` if it is missing or invalid.
    ///   - isExact: Whether its zone is known.
    package init(_ written: Date?, isExact: Bool = true, keyed: Date? = nil, noticedAt: Date) {
        guard let written, written <= noticedAt + Self.clockMargin else {
            date = min(keyed ?? noticedAt, noticedAt)
            isTrusted = false
            return
        }
        date = min(written, noticedAt)
        isTrusted = isExact
    }

    // MARK: Keys

    /// The time in the number at the end of a Mastodon post's address; `nil` if the number is too
    /// small to contain one.
    package static func keyed(mastodon address: String) -> Date? {
        let number = address.split(separator: "/").last.flatMap { UInt64($0) } ?? 0
        let milliseconds = Int64(number >> 16)
        return milliseconds >= firstTimeInIDs ? Date(milliseconds: milliseconds) : nil
    }

    /// The time in an id of Misskey (`aid` and `aidx`): eight characters of base 36.
    package static func keyed(misskey id: String) -> Date? {
        guard [10, 16].contains(id.utf8.count), let count = Int64(id.prefix(8), radix: 36) else {
            return nil
        }
        return Date(milliseconds: misskeyEpoch + count)
    }
}
