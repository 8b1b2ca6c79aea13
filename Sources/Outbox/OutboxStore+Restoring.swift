package import Foundation
package import Posts
package import Storage

/// Settles the actions of a backup, because the bot may have done more than the backup contains.
extension OutboxStore {
    /// Ends all waiting actions in the table of a backup, for all its mirrors: planned ones may
    /// have been sent since.
    ///
    /// Actions in flight are looked up a few times and never sent again; threads are not
    /// continued.
    package static func settleBackup(on connection: any StorageConnection, now: Date) throws {
        try connection.execute(
            """
            \(Self.changing) state = 'failed', reason = \(Action.Reason.unconfirmed), next_attempt_ms = \(now.milliseconds),
                flight_ms = NULL, updated_ms = \(now.milliseconds)
            WHERE state = 'sending'
            """)
        try skip("TRUE", on: connection, now: now)
        try connection.execute("\(Self.changing) rest = NULL WHERE rest IS NOT NULL")
    }

    /// Skips the waiting actions of a mirror that was restored from an older state: replies and
    /// favorites, which another mirror decided, and posts whose time has come.
    ///
    /// - Returns: The number of skipped actions.
    package static func skipWaitingActions(
        of mirror: String, on connection: any StorageConnection, now: Date
    )
        throws -> Int
    {
        try skip(
            "mirror = \(mirror) AND (kind IN ('reply', 'favorite') OR due_ms <= \(now.milliseconds))",
            on: connection,
            now: now)
    }

    /// Skips the waiting actions that match a condition, and returns their number.
    @discardableResult
    private static func skip(_ condition: SQL, on connection: any StorageConnection, now: Date)
        throws -> Int
    {
        try connection.execute(
            """
            \(Self.changing) state = 'skipped', reason = \(Action.Reason.restored), next_attempt_ms = NULL, \(settled),
                updated_ms = \(now.milliseconds)
            WHERE \(waiting) AND \(condition)
            """)
    }

    /// Updates the archive's records of when and how often posts were used, from all actions.
    package static func noteAllUses(of mirror: String, on connection: any StorageConnection) throws
    {
        try connection.execute(
            """
            UPDATE posts SET last_used_ms = \(lastUse), uses = \(useCount)
            WHERE mirror = \(mirror) AND (last_used_ms IS NOT NULL OR EXISTS (
                SELECT 1 FROM actions WHERE actions.mirror = posts.mirror AND kind = 'post'
                    AND source_network = posts.network AND source_post_id = posts.post_id))
            """)
    }

    // MARK: Posts found at the network

    /// A post of the bot that was found at its network.
    package struct Published: Sendable {
        package var wording: Action.Wording
        /// The day on the human's clock on which it was sent.
        package var day: LocalDay
        package var sent: Date
        package var remoteID: String
        package var remoteAddress: String

        package init(
            _ wording: Action.Wording, on day: LocalDay, at sent: Date, remoteID: String,
            remoteAddress: String
        ) {
            self.wording = wording
            self.day = day
            self.sent = sent
            self.remoteID = remoteID
            self.remoteAddress = remoteAddress
        }
    }

    /// The first slot number for posts that were found at the network; no plan of a day has that
    /// many slots.
    private static let firstFoundNumber = 1_001

    /// Records posts at the network that have no row as done, so that their texts count as used.
    ///
    /// If the backup contains a found post as planned, that row becomes done. Repeating the call
    /// changes nothing.
    ///
    /// - Returns: The new or changed actions.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func note(_ published: [Published], now: Date) async throws -> [Action] {
        try await write { connection in
            let skipped = try actions(
                where: "kind = 'post' AND state = 'skipped' AND reason = \(Action.Reason.restored)",
                order: "due_ms ASC, id ASC", limit: 10_000, on: connection)
            var skippedBySource = Dictionary(grouping: skipped) { $0.wording?.source }
            var noted: [Action] = []
            for post in published {
                let stored = try connection.query(
                    """
                    SELECT 1 AS found FROM actions
                    WHERE mirror = \(mirror) AND kind = 'post' AND remote_address = \(post.remoteAddress) LIMIT 1
                    """)
                guard stored.isEmpty else { continue }
                if let planned = skippedBySource[post.wording.source]?.first {
                    skippedBySource[post.wording.source]?.removeFirst()
                    try connection.execute(
                        """
                        \(Self.changing) state = 'done', reason = NULL, remote_id = \(post.remoteID),
                            remote_address = \(post.remoteAddress), due_ms = \(post.sent.milliseconds),
                            sending_ms = \(post.sent.milliseconds), updated_ms = \(now.milliseconds)
                        WHERE mirror = \(mirror) AND id = \(planned.id)
                        """)
                    noted += [try action(planned.id, on: connection)].compactMap(\.self)
                } else if let added = try add(post, now: now, on: connection) {
                    noted.append(added)
                }
            }
            try noteUses(by: noted, on: connection)
            return noted
        }
    }

    private func add(_ post: Published, now: Date, on connection: any StorageConnection) throws
        -> Action?
    {
        let usedNumbers = try connection.query(
            """
            SELECT subject FROM actions
            WHERE mirror = \(mirror) AND kind = 'post' AND SUBSTR(subject, 1, 10) = \(post.day.description)
            """
        ).compactMap { Slot.Name(try $0.text("subject"))?.number }
        let name = Slot.Name(
            day: post.day, number: max(Self.firstFoundNumber, (usedNumbers.max() ?? 0) + 1))
        let intent = Intent(
            .post(name, post.wording), state: .done, due: post.sent, expires: post.sent,
            explanation: Explanation("found at the network after a restore"))
        var action = Action(intent, of: mirror, at: now)
        action.sending = post.sent
        action.remoteID = post.remoteID
        action.remoteAddress = post.remoteAddress
        return try insert(action, on: connection) ? action : nil
    }
}
