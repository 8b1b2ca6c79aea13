package import Foundation
import Posts
import Storage

/// A request in flight: recorded as sent, without a recorded end.
package struct Flight: Equatable, Sendable {
    /// The action's identifier.
    package let id: String
    /// The remaining time until the request has certainly ended.
    package let deadline: Duration
}

extension OutboxStore {
    /// Tolerated difference between the clocks of two machines, in seconds.
    private static let clockMargin: TimeInterval = 600

    /// Returns the requests in flight of all processes.
    ///
    /// A departure that is stored at the same time as the caller's ban is waited for or refused,
    /// because the transactions are serializable; a single query would miss a departure that
    /// commits a moment later. The record of a killed worker expires with the deadline of its
    /// request plus the tolerated difference of clocks.
    package func flights(now: Date) async throws -> [Flight] {
        let margin = Int64(Self.clockMargin * 1_000)
        let rows = try await storage.transaction { connection in
            try connection.query(
                """
                SELECT id, flight_ms FROM actions
                WHERE mirror = \(mirror) AND flight_ms IS NOT NULL
                    AND COALESCE(edit_ms, departed_ms) + flight_ms + \(margin) > \(now.milliseconds)
                ORDER BY id
                """)
        }
        return try rows.map { row in
            Flight(id: try row.text("id"), deadline: .milliseconds(try row.integer("flight_ms")))
        }
    }

    /// Records a request that changes a copy's text, unless the mirror is paused, has no consent or
    /// has retired, or the answered person is denied.
    ///
    /// - Parameters:
    ///   - deadline: The maximum duration of the request.
    /// - Returns: Whether the copy still exists, without a request to undo.
    /// - Throws: ``OutboxError`` if the mirror is paused, has no consent or has retired, the person
    ///   is denied or the lease is lost; the store's error.
    package func beginEdit(of copy: Action, deadline: Duration, now: Date) async throws -> Bool {
        try await write { connection in
            try requireNoObjection(to: copy, at: now, on: connection)
            return try connection.execute(
                """
                \(Self.noting) edit_ms = \(now.milliseconds), flight_ms = \(deadline.milliseconds)
                WHERE mirror = \(mirror) AND id = \(copy.id) AND state = 'done' AND undo_asked_ms IS NULL
                """) == 1
        }
    }

    /// Records the end of a request that changed a copy's text.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func endEdit(of id: String) async throws {
        try await write { connection in
            _ = try connection.execute(
                "\(Self.noting) flight_ms = NULL WHERE mirror = \(mirror) AND id = \(id) AND state = 'done'"
            )
        }
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded up.
    var milliseconds: Int64 { Int64((timeInterval * 1_000).rounded(.up)) }
}
