import Localization
package import Mirroring
import Posts

/// The error for a name that does not identify one action.
package struct ActionNameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number of digits that a shortened identifier has; they nearly always identify an action.
    package static let shortIDLength = 7

    package let text: SurfaceText

    /// The sentence for a terminal.
    package var description: String { text.terminal }

    static func preview(_ name: String) -> ActionNameError {
        ActionNameError(
            text: localized(
                "\(control: .typed(name)) is a slot of a day that is not planned yet; \(control: .skip) leaves it out"
            ))
    }

    static func unknown(_ name: String) -> ActionNameError {
        ActionNameError(
            text: localized(
                "\(control: .typed(name)) is no action of this mirror; \(control: .actionNames(TypedSlot.forms))"
            ))
    }

    /// - Parameter count: The number of slots on the day.
    static func noSlot(_ slot: Slot.Name, of count: Int) -> ActionNameError {
        let number = slot.part > 1 ? "\(slot.number)/\(slot.part)" : "\(slot.number)"
        return ActionNameError(
            text: localized(
                "\(slot.day) has no slot \(number), but \(count); \(control: .plan(of: slot.day)) shows them"
            ))
    }

    /// - Parameter times: The times of the day's slots.
    static func nothing(at minute: MinuteOfDay, of day: LocalDay, but times: [MinuteOfDay])
        -> ActionNameError
    {
        guard !times.isEmpty else {
            return ActionNameError(
                text: localized("\(day) has no slot; \(control: .plan(of: day)) shows the day"))
        }
        let others = times.map(\.description).joined(by: .comma)
        return ActionNameError(
            text: localized(
                "\(day) has no slot at \(minute), but at \(others); \(control: .plan(of: day)) shows the day"
            ))
    }

    /// - Parameter slots: The slots at that time.
    static func several(at minute: MinuteOfDay, _ slots: [String]) -> ActionNameError {
        ActionNameError(
            text: localized(
                "several slots are at \(minute); name one of them: \(slots.joined(by: .comma))"
            ))
    }

    static var nothingNext: ActionNameError {
        ActionNameError(
            text: localized(
                "no post is planned or to be planned in the next weeks; \(control: .health) says why"
            ))
    }

    static func ambiguous(_ name: String, _ actions: [String]) -> ActionNameError {
        ActionNameError(
            text: localized(
                "\"\(name.prefix(60))\" is the beginning of several ids; give more digits: \(actions.joined(by: .comma))"
            ))
    }
}
