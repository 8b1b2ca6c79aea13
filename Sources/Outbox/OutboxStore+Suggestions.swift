package import Foundation
import Posts
import Storage

/// Actions that wait for a person.
///
/// None of these needs the lease: a person decides, and each change is one statement that only touches a suggestion.
extension OutboxStore {
    /// The suggestions that nobody has decided about, newest first.
    package func suggestions(limit: Int) async throws -> [Action] {
        try await actions(where: "state = 'suggested'", order: "created_ms DESC, id ASC", limit: limit)
    }

    /// Lets the worker deliver a suggestion.
    ///
    /// - Parameters:
    ///   - id: The action's short identifier.
    ///   - now: When it becomes due.
    ///   - expires: Until when it may be delivered.
    /// - Returns: False if there is no such suggestion.
    /// - Throws: The store's error.
    package func approve(_ id: String, now: Date, expires: Date) async throws -> Bool {
        try await decide(
            id,
            """
            state = 'planned', due_ms = \(now.milliseconds), expires_ms = \(expires.milliseconds),
                updated_ms = \(now.milliseconds)
            """)
    }

    /// Decides against a suggestion.
    ///
    /// - Returns: False if there is no such suggestion.
    package func dismiss(_ id: String, now: Date) async throws -> Bool {
        try await decide(id, "state = 'skipped', reason = 'dismissed', updated_ms = \(now.milliseconds)")
    }

    private func decide(_ id: String, _ assignments: SQL) async throws -> Bool {
        let mirror = mirror
        return try await storage.transaction { connection in
            try connection.execute(
                "UPDATE actions SET \(assignments) WHERE mirror = \(mirror) AND id = \(id) AND state = 'suggested'")
                == 1
        }
    }
}
