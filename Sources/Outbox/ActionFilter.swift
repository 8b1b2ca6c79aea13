package import Foundation
package import Posts
import Storage

/// A filter of actions; every given part must match.
package struct ActionFilter: Sendable {
    /// The kinds of actions to include; empty for all.
    package var kinds: [ActionKind]
    /// The states of actions to include; empty for all.
    package var states: [ActionState]
    /// The accounts to whom the actions are addressed; nil for all.
    package var people: [AccountID]?
    /// The earliest time of an action's last change; nil for no limit.
    package var since: Date?
    /// The time before which an action was last changed; nil for no limit.
    package var until: Date?
    /// The position after which to continue, in the order of
    /// ``OutboxStore/history(_:limit:where:)``.
    package var place: Place?

    package init(kinds: [ActionKind] = [], states: [ActionState] = [], since: Date? = nil) {
        self.kinds = kinds
        self.states = states
        self.since = since
    }

    /// A position in the order of the last changes, newest first.
    package struct Place: Equatable, Sendable {
        private let changed: Int64
        private let id: String

        package init(_ action: Action) {
            changed = action.updated.milliseconds
            id = action.id
        }

        init(_ row: SQLRow) throws {
            changed = try row.integer("updated_ms")
            id = try row.text("id")
        }

        /// Parses a stored position; nil if it is invalid.
        package init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, let changed = Int64(parts[0]), parts[1].allSatisfy(\.isHexDigit)
            else { return nil }
            self.changed = changed
            id = String(parts[1])
        }

        package var text: String { "\(changed)-\(id)" }

        fileprivate var condition: SQL {
            "(updated_ms < \(changed) OR (updated_ms = \(changed) AND id > \(id)))"
        }
    }

    /// The condition of the actions after a position.
    func condition(behind place: Place?) -> SQL {
        // This condition is present even if it excludes nothing, because it makes a database read
        // in the order of changes.
        let firstCondition: SQL = "updated_ms >= \(since?.milliseconds ?? 0)"
        var conditions = parts
        if let place { conditions.append(place.condition) }
        return conditions.reduce(firstCondition) { $0 + " AND " + $1 }
    }

    /// The condition of all actions, without the position.
    var condition: SQL {
        let firstCondition: SQL = since.map { "updated_ms >= \($0.milliseconds)" } ?? "TRUE"
        return parts.reduce(firstCondition) { $0 + " AND " + $1 }
    }

    /// The conditions, except for the earliest time and the position.
    private var parts: [SQL] {
        var parts: [SQL] = []
        if let until { parts.append("updated_ms < \(until.milliseconds)") }
        if !kinds.isEmpty { parts.append("kind IN \(list: kinds.map(\.rawValue))") }
        if !states.isEmpty { parts.append("state IN \(list: states.map(\.rawValue))") }
        if let people {
            let personConditions = people.map { person -> SQL in
                "(target_network = \(person.network.rawValue) AND target_author = \(person.value))"
            }
            if let first = personConditions.first {
                let isOneOfThem = personConditions.dropFirst().reduce(first) { $0 + " OR " + $1 }
                parts.append("(\(isOneOfThem))")
            } else {
                parts.append("FALSE")
            }
        }
        return parts
    }
}
