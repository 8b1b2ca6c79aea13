package import Foundation
package import Posts
package import Settings

extension HumanMirror {
    /// Sets values for this mirror, all or none.
    ///
    /// - Parameters:
    ///   - values: The values by the names of their variables.
    ///   - seen: `SettingTable.seen(_:in:)` of the settings that the person was shown; nil to
    ///     change without comparing.
    ///   - now: The time that is stored with the values.
    /// - Throws: `ConfigurationError` for the first value that cannot be set or used;
    ///   `SeenChanged`; the store's error.
    package func set(_ values: [String: String], seen: Seen? = nil, now: Date) async throws {
        let table = SettingTable(storage: storage, mirror: name)
        try given.check(values, besides: try await table.all())
        try await self.table.add(now: now)
        try await table.store(values, seen: seen, now: now)
    }

    /// The values of all settings as they are stored now, or as they would be after a change, which
    /// is not made.
    ///
    /// - Parameters:
    ///   - changed: Values that would be set, by the names of their variables; checked as
    ///     ``set(_:seen:now:)`` does.
    ///   - removed: The names of the settings that would be removed.
    /// - Throws: `ConfigurationError` for a value that cannot be used; the store's error.
    package func settingValues(
        setting changed: [String: String] = [:], removing removed: Set<String> = []
    ) async throws -> SettingValues {
        let stored = try await SettingTable(storage: storage, mirror: name).all().filter {
            !removed.contains($0.key)
        }
        if !changed.isEmpty { try given.check(changed, besides: stored) }
        return try given.with(stored: stored.merging(changed) { _, new in new }).values
    }
}
