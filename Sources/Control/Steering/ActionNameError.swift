import Posts

/// A name that is not that of one action.
package struct ActionNameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// As many digits of an identifier are shown where there is little room, and nearly always
    /// enough.
    package static let usualLength = 7

    package let description: String

    static func preview(_ name: String) -> ActionNameError {
        ActionNameError(
            description: """
                "\(name.prefix(60))" is a slot of a day that is not planned yet; mirror-bot plan skip leaves it out
                """)
    }

    static func unknown(_ name: String) -> ActionNameError {
        ActionNameError(
            description: """
                "\(name.prefix(60))" is no action of this mirror; a slot is named as \(TypedSlot.forms), and other \
                actions by the ids that mirror-bot status shows
                """)
    }

    /// - Parameter count: How many slots the day has.
    static func noSlot(_ slot: Slot.Name, of count: Int) -> ActionNameError {
        let number = slot.part > 1 ? "\(slot.number)/\(slot.part)" : "\(slot.number)"
        return ActionNameError(
            description:
                "\(slot.day) has no slot \(number), but \(count); mirror-bot plan --date \(slot.day) shows them"
        )
    }

    /// - Parameter times: The times of the day's slots.
    static func nothing(at minute: MinuteOfDay, of day: LocalDay, but times: [MinuteOfDay])
        -> ActionNameError
    {
        let others =
            times.isEmpty
            ? "no slot"
            : "no slot at \(minute), but at \(times.map(\.description).joined(separator: ", "))"
        return ActionNameError(
            description: "\(day) has \(others); mirror-bot plan --date \(day) shows the day")
    }

    /// - Parameter slots: The slots of that time.
    static func several(at minute: MinuteOfDay, _ slots: [String]) -> ActionNameError {
        ActionNameError(
            description:
                "several slots are at \(minute); name one of them: \(slots.joined(separator: ", "))"
        )
    }

    static let nothingNext = ActionNameError(
        description:
            "no post is planned or to be planned in the next weeks; mirror-bot status says why")

    static func ambiguous(_ name: String, _ actions: [String]) -> ActionNameError {
        ActionNameError(
            description: """
                "\(name.prefix(60))" is the beginning of several ids; give more digits: \
                \(actions.joined(separator: ", "))
                """)
    }
}
