package import Foundation
package import Outbox
package import Posts

/// A slot as it is after a change.
package struct ChangedSlot: Codable, Equatable, Sendable {
    package let id: String
    /// The slot's name as a person types it, such as `2026-11-24#2`.
    package let slot: String
    /// The slot's time on the human's clock, such as `20:15`.
    package let time: String
    package let due: Date
    package let state: String
    package let reason: ReasonCode?
    package let isPinned: Bool
    package let text: String?
    /// The digest of the slot after the change, for the next change to compare.
    package let seen: Seen

    /// - Parameters:
    ///   - action: The slot.
    ///   - zone: The human's time zone.
    package init(_ action: Action, in zone: TimeZone) {
        id = action.id
        slot = action.subject
        due = action.due
        time = LocalTime(action.due, in: zone).minute.description
        state = action.state.rawValue
        reason = action.reason
        isPinned = action.isPinned
        text = action.text
        seen = action.seen
    }
}
