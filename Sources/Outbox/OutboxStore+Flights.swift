package import Foundation
import Posts
import Storage

/// The request of an action that was recorded as leaving and of whose end nothing is recorded.
package struct Flight: Equatable, Sendable {
    /// The action's identifier.
    package let id: String
    /// How long the request may take; then it has ended, whatever became of it.
    package let deadline: Duration
}

extension OutboxStore {
    /// The clocks of two machines are taken to differ by no more than this, in seconds.
    private static let clockMargin: TimeInterval = 600

    /// What may be leaving now, whichever process sends it.
    ///
    /// A worker that was killed leaves its record behind, which counts no longer than its request could have taken on a
    /// machine whose clock differs.
    package func flights(now: Date) async throws -> [Flight] {
        let margin = Int64(Self.clockMargin * 1_000)
        let rows = try await storage.query(
            """
            SELECT id, flight_ms FROM actions
            WHERE mirror = \(mirror) AND flight_ms IS NOT NULL
                AND COALESCE(edit_ms, departed_ms) + flight_ms + \(margin) > \(now.milliseconds)
            ORDER BY id
            """)
        return try rows.map { row in
            Flight(id: try row.text("id"), deadline: .milliseconds(try row.integer("flight_ms")))
        }
    }

    /// Records that a copy is given another text now, unless the mirror pauses or the person answered is to be left alone.
    ///
    /// - Parameters:
    ///   - deadline: How long the request may take.
    /// - Returns: Whether it stands and nobody wants it taken back.
    /// - Throws: ``OutboxError`` if the mirror pauses, the person is denied or the lease is lost; the store's error.
    package func beginEdit(of copy: Action, deadline: Duration, now: Date) async throws -> Bool {
        try await write { connection in
            try requireNoObjection(to: copy, at: now, on: connection)
            return try connection.execute(
                """
                UPDATE actions SET edit_ms = \(now.milliseconds), flight_ms = \(deadline.milliseconds)
                WHERE mirror = \(mirror) AND id = \(copy.id) AND state = 'done' AND undo_asked_ms IS NULL
                """) == 1
        }
    }

    /// Records that the request that gave a copy another text has ended.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func endEdit(of id: String) async throws {
        try await write { connection in
            _ = try connection.execute(
                "UPDATE actions SET flight_ms = NULL WHERE mirror = \(mirror) AND id = \(id) AND state = 'done'")
        }
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded up.
    var milliseconds: Int64 { Int64((timeInterval * 1_000).rounded(.up)) }
}
