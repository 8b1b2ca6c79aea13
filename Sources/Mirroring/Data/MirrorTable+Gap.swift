package import Foundation
import Posts
package import Storage

/// The gap in a mirror's knowledge of its own actions, after an older state was restored.
extension MirrorTable {
    /// The counter with the time until which a restored mirror knows its actions.
    private static let gap = "restored.known-until"

    /// The time from which the database does not know the mirror's actions, after an older state
    /// was restored; nil if it knows all.
    ///
    /// - Throws: The store's error.
    package func gap() async throws -> Date? {
        try await storage.read { [mirror] in try Self.gap(of: mirror, on: $0) }
    }

    /// The same, read in the transaction that relies on it.
    package static func gap(of mirror: String, on connection: any StorageConnection) throws -> Date?
    {
        try connection.query(
            "SELECT value FROM counters WHERE mirror = \(mirror) AND name = \(gap)"
        )
        .first?.optionalDate("value")
    }

    /// Stores the time from which the database does not know the mirror's actions.
    ///
    /// - Throws: The store's error.
    package static func note(
        gap time: Date, of mirror: String, on connection: any StorageConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(gap), \(time.milliseconds))
            ON CONFLICT (mirror, name) DO UPDATE SET value = excluded.value
            """)
    }

    /// Stores that the database knows all actions of the mirror.
    ///
    /// - Throws: The store's error.
    package func closeGap() async throws {
        try await storage.execute(
            "DELETE FROM counters WHERE mirror = \(mirror) AND name = \(Self.gap)")
    }
}
