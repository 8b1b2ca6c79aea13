package import Foundation

/// A time of a local day at which the bot posts, as it was drawn with the day's plan.
package struct Slot: Equatable, Sendable {
    /// What a slot is called, for good: its day and its place there, as `2026-11-20#3`.
    ///
    /// Spelled and read here only.
    package struct Name: Hashable, Sendable, CustomStringConvertible {
        package let day: LocalDay
        /// Counted from 1; a number is never used for another slot of the day.
        package let number: Int

        package init(day: LocalDay, number: Int) { (self.day, self.number) = (day, number) }

        /// Nil unless `text` is what ``description`` makes of a name.
        package init?(_ text: String) {
            let parts = text.split(separator: "#", omittingEmptySubsequences: false)
            guard parts.count == 2, let day = LocalDay(parts[0]), let number = Int(parts[1]) else { return nil }
            self.init(day: day, number: number)
            guard number > 0, description == text else { return nil }
        }

        /// A name as a person types it: in full, or as `#3` for a slot of today.
        package init?(typed text: String, today: LocalDay) {
            self.init(text.hasPrefix("#") ? "\(today)\(text)" : text)
        }

        package var description: String { "\(day)#\(number)" }
    }

    package let name: Name
    /// On the human's clock.
    package let minute: MinuteOfDay
    /// An instant of that minute.
    package let due: Date

    package init(name: Name, minute: MinuteOfDay, due: Date) {
        (self.name, self.minute, self.due) = (name, minute, due)
    }
}
