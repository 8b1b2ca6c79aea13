package import Foundation

/// A time of a local day at which the bot posts, as it was drawn with the day's plan.
package struct Slot: Equatable, Sendable {
    /// The permanent name of a slot: its day and its number there, as `2026-11-20#3`; the further
    /// parts of a thread in the slot are named as `2026-11-20#3/2`.
    ///
    /// Spelled and read here only; ``TypedSlot`` reads what a person types.
    package struct Name: Hashable, Sendable, CustomStringConvertible {
        package let day: LocalDay
        /// Counted from 1; a number is never used for another slot of the day.
        package let number: Int
        /// Which part of a thread; 1 for the first, and for a post that is none.
        package let part: Int

        package init(day: LocalDay, number: Int, part: Int = 1) {
            self.day = day
            self.number = number
            self.part = part
        }

        /// The part after this one.
        package var next: Name { Name(day: day, number: number, part: part + 1) }

        /// Nil unless `text` is what ``description`` makes of a name.
        package init?(_ text: String) {
            let parts = text.split(separator: "#", omittingEmptySubsequences: false)
            guard parts.count == 2, let day = LocalDay(parts[0]) else { return nil }
            let places = parts[1].split(separator: "/", omittingEmptySubsequences: false).map {
                Int($0)
            }
            guard (1...2).contains(places.count), let number = places[0],
                let part = places.count > 1 ? places[1] : 1
            else { return nil }
            self.init(day: day, number: number, part: part)
            guard number > 0, part > 0, description == text else { return nil }
        }

        package var description: String {
            part > 1 ? "\(day)#\(number)/\(part)" : "\(day)#\(number)"
        }
    }

    package let name: Name
    /// On the human's clock.
    package let minute: MinuteOfDay
    /// An instant of that minute.
    package let due: Date

    package init(name: Name, minute: MinuteOfDay, due: Date) {
        self.name = name
        self.minute = minute
        self.due = due
    }
}
