package import Foundation
package import Posts
import Settings

extension HumanMirror {
    /// Sets values for this mirror, all or none.
    ///
    /// - Parameters:
    ///   - values: By the names of their variables.
    ///   - seen: `SettingTable.seen(_:in:)` of these names that the person was shown; nil to change without comparing.
    ///   - now: Recorded with them.
    /// - Throws: `ConfigurationError` for the first that cannot be set or used; `SeenChanged`; the store's error.
    package func set(_ values: [String: String], seen: Seen? = nil, now: Date) async throws {
        let table = SettingTable(storage: storage, mirror: name)
        let stored = try await table.all().merging(values) { $1 }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            try SettingValues.requireOfMirror(name, value)
        }
        // What only shows when values are put together, such as a zone that is none.
        _ = try given.with(stored: stored)
        try await self.table.add(now: now)
        try await table.store(values, seen: seen, now: now)
    }
}
