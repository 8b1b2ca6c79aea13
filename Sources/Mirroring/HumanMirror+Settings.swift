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
        try given.check(values, besides: try await table.all())
        try await self.table.add(now: now)
        try await table.store(values, seen: seen, now: now)
    }
}
