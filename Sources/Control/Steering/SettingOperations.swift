package import Mirroring
package import Posts
import Settings

/// Sets values for the mirror, all or none; they win over what the process is told.
package struct SetValues: PersonOperation {
    package static let name = "set"
    /// By the names of the variables.
    package var values: [String: String]

    package init(_ values: [String: String]) { self.values = values }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SettingsChange {
        try await desk.mirror.set(values, seen: seen, now: desk.now)
        return try await SettingsChange(of: desk.mirror, changed: values.keys.sorted())
    }
}

/// Forgets values that were set for the mirror.
package struct UnsetValues: PersonOperation {
    package static let name = "unset"
    package var names: [String]

    package init(_ names: [String]) { self.names = names }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SettingsChange {
        let table = SettingTable(storage: desk.mirror.storage, mirror: desk.mirror.name)
        let removed = try await table.remove(names, seen: seen)
        return try await SettingsChange(of: desk.mirror, changed: removed)
    }
}

/// What is set for a mirror, after a change.
package struct SettingsChange: PersonOutcome {
    /// A variable and its value.
    package struct Entry: Codable, Equatable, Sendable {
        package let name: String
        package let value: String
        /// The digest of what is set, for who changes it.
        package let seen: Seen
    }

    package private(set) var schema = "mirror-bot/set/1"
    package let mirror: String
    /// All that is set now, by name.
    package let settings: [Entry]
    /// The names of those that were set or forgotten.
    package let changed: [String]

    /// What is set now.
    ///
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, changed: [String] = []) async throws {
        let all = try await SettingTable(storage: mirror.storage, mirror: mirror.name).all()
        settings = all.sorted { $0.key < $1.key }.map { name, value in
            Entry(name: name, value: value, seen: SettingTable.seen([name], in: all))
        }
        (self.mirror, self.changed) = (mirror.name, changed)
    }
}
