/// When the human posted, as the clock on their wall showed it.
package struct PostingTime: Hashable, Comparable, Codable, Sendable {
    package var day: LocalDay
    package var minute: MinuteOfDay

    package init(day: LocalDay, minute: MinuteOfDay) {
        self.day = day
        self.minute = minute
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.day, left.minute) < (right.day, right.minute)
    }
}
