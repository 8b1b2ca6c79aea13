package import Foundation
package import Posts
import Storage

/// The end of a mirror: waiting actions are skipped, and one last post follows.
extension OutboxStore {
    /// Begins the mirror's retirement if its date has come: one transaction skips all waiting
    /// actions, ends threads, and adds the last post.
    ///
    /// From then on only the last post that the mirror's row names may be sent. A second call
    /// changes nothing.
    ///
    /// - Parameters:
    ///   - last: The last post's text; nil for none.
    ///   - day: The day of the human's clock.
    ///   - expires: The time until which the last post may be sent.
    ///   - now: The present, at which the last post is due.
    /// - Returns: Whether this call began the retirement.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    @discardableResult
    package func beginRetirement(
        saying last: Action.Wording?, on day: LocalDay, expires: Date, now: Date
    ) async throws -> Bool {
        try await write { connection in
            let changedRows = try connection.execute(
                """
                UPDATE mirrors SET retire_begun_ms = \(now.milliseconds), version = version + 1
                WHERE mirror = \(mirror) AND retire_ms <= \(now.milliseconds) AND retire_begun_ms IS NULL
                """)
            guard changedRows == 1 else { return false }
            let waiting = try actions(
                where: Self.waiting, order: "id ASC", limit: 10_000, on: connection)
            try connection.execute(
                """
                \(Self.changing) state = 'skipped', reason = \(Action.Reason.retired), next_attempt_ms = NULL,
                    \(Self.settled), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND \(Self.waiting)
                """)
            try connection.execute(
                "\(Self.noting) rest = NULL WHERE mirror = \(mirror) AND rest IS NOT NULL")
            try noteUses(by: waiting, on: connection)
            guard let last else { return true }
            let action = try lastPost(
                saying: last, on: day, expires: expires, now: now, on: connection)
            try noteUses(by: [action], on: connection)
            try connection.execute(
                "UPDATE mirrors SET retire_post = \(action.id) WHERE mirror = \(mirror)")
            return true
        }
    }

    /// Adds the last post under the next free number of its day.
    private func lastPost(
        saying wording: Action.Wording, on day: LocalDay, expires: Date, now: Date,
        on connection: any StorageConnection
    ) throws -> Action {
        let subjects = try connection.query(
            """
            SELECT subject FROM actions
            WHERE mirror = \(mirror) AND kind = 'post' AND SUBSTR(subject, 1, 10) = \(day.description)
            """)
        var number =
            try subjects.compactMap { Slot.Name(try $0.text("subject"))?.number }.max() ?? 0
        while true {
            number += 1
            var intent = Intent(
                .post(Slot.Name(day: day, number: number), wording), due: now, expires: expires,
                explanation: Explanation("the mirror's last post"))
            intent.isPinned = true
            let action = Action(intent, of: mirror, at: now)
            // A number whose row this version cannot parse is skipped.
            if try insert(action, on: connection) { return action }
        }
    }

    /// Whether a retirement must wait, because its last post is not sent yet, or the outcome of a
    /// request is unknown.
    ///
    /// - Parameter last: The id of the last post; nil for none.
    /// - Throws: The store's error.
    package func isSending(last: String?) async throws -> Bool {
        try await !storage.query(
            """
            SELECT 1 AS found FROM actions
            WHERE mirror = \(mirror) AND (state = 'sending' OR id = \(last ?? "") AND \(Self.waiting)) LIMIT 1
            """
        ).isEmpty
    }

    /// The condition that no retirement is planned; that it is later and has not begun; or that it
    /// is not completed and the action is its last post.
    ///
    /// - Parameter action: The id of the action as a value, or its column.
    static func retirementPermits(_ action: SQL, at now: Date) -> SQL {
        """
        (mirrors.retire_ms IS NULL
            OR (mirrors.retire_begun_ms IS NULL AND mirrors.retire_ms > \(now.milliseconds))
            OR (mirrors.retired_ms IS NULL AND mirrors.retire_post = \(action)))
        """
    }

    /// An SQL expression for the retirement's time: at once if it has begun; null if none is
    /// planned, or if it is completed.
    func retirement(at now: Date) -> SQL {
        """
        (SELECT CASE WHEN retire_begun_ms IS NULL THEN retire_ms ELSE CAST(\(now.milliseconds) AS BIGINT) END
        FROM mirrors WHERE mirrors.mirror = \(mirror) AND retired_ms IS NULL)
        """
    }
}

extension Action.Wording {
    private static let typed = "typed-by-a-person"

    /// The source of a text that a person typed for the bot, which is in no archive.
    package static func typedSource(on network: NetworkName) -> PostID {
        PostID(network: network, value: typed)
    }

    /// Whether a person typed the text, so that there is no original at the human's network.
    package var isTyped: Bool { source.value == Self.typed }
}
