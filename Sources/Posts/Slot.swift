package import Foundation

/// A planned posting time of a local day.
package struct Slot: Equatable, Sendable {
    /// The permanent name of a slot: its day and its number on that day, as in `2026-11-20#3`.
    ///
    /// The second part of a thread in the slot is named `2026-11-20#3/2`, and so on.
    ///
    /// Formatted and parsed only here; ``TypedSlot`` parses user input.
    package struct Name: Hashable, Sendable, CustomStringConvertible {
        package let day: LocalDay
        /// The number of the slot on its day, from 1; never used for another slot of the day.
        package let number: Int
        /// The part of a thread; 1 for the first part, and for a single post.
        package let part: Int

        package init(day: LocalDay, number: Int, part: Int = 1) {
            self.day = day
            self.number = number
            self.part = part
        }

        /// The name of the next part of the same thread.
        package var next: Name { Name(day: day, number: number, part: part + 1) }

        /// Parses a ``description``; nil for any other text.
        package init?(_ text: String) {
            let parts = text.split(separator: "#", omittingEmptySubsequences: false)
            guard parts.count == 2, let day = LocalDay(parts[0]) else { return nil }
            let numbers = parts[1].split(separator: "/", omittingEmptySubsequences: false).map {
                Int($0)
            }
            guard (1...2).contains(numbers.count), let number = numbers[0],
                let part = numbers.count > 1 ? numbers[1] : 1
            else { return nil }
            self.init(day: day, number: number, part: part)
            guard number > 0, part > 0, description == text else { return nil }
        }

        package var description: String {
            part > 1 ? "\(day)#\(number)/\(part)" : "\(day)#\(number)"
        }
    }

    package let name: Name
    /// The minute of the slot, by the human's clock.
    package let minute: MinuteOfDay
    /// The instant at which the slot is due, which is in its minute.
    package let due: Date

    package init(name: Name, minute: MinuteOfDay, due: Date) {
        self.name = name
        self.minute = minute
        self.due = due
    }
}
