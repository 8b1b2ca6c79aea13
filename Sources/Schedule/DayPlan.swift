package import Foundation
package import Posts

/// When the bot posts on one local day.
package struct DayPlan: Equatable, Sendable {
    /// One time at which the bot posts.
    package struct Slot: Equatable, Sendable {
        /// The place in the day's order, from 1.
        package let number: Int
        package let minute: MinuteOfDay
        /// The instant at which the minute begins.
        package let date: Date

        package init(number: Int, minute: MinuteOfDay, date: Date) {
            self.number = number
            self.minute = minute
            self.date = date
        }
    }

    package let day: LocalDay
    /// The IANA name of the zone whose clocks the minutes are read on.
    package let timeZoneIdentifier: String
    /// The seed from which the plan was drawn.
    package let seed: UInt64
    /// The slots in the order of time; none on a day without posts.
    package let slots: [Slot]

    package init(day: LocalDay, timeZoneIdentifier: String, seed: UInt64, slots: [Slot]) {
        self.day = day
        self.timeZoneIdentifier = timeZoneIdentifier
        self.seed = seed
        self.slots = slots
    }

    /// The subject of a slot's action, for example `2026-11-20#3`.
    package func subject(of slot: Slot) -> String { "\(day)#\(slot.number)" }
}
