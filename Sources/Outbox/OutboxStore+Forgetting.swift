package import Foundation
package import Posts
import Storage

/// Forgetting a person.
extension OutboxStore {
    /// The numbers of changed actions.
    package struct Forgetting: Equatable, Sendable {
        /// Waiting actions that were removed.
        package var dropped = 0
        /// Ended actions that were reduced to their outcome.
        package var ended = 0
        /// Actions in flight or with a request to undo, which stay until their request ends.
        package var underWay = 0
        /// The human's posts whose texts the actions under way contain.
        package var inUse: Set<PostID> = []

        package init() {}
    }

    /// Returns the digest that replaces the subject of a forgotten person's action, or the name of
    /// a conversation, which contains the name of its author.
    ///
    /// With the digest the subject still counts as decided.
    static func forgotten(_ subject: String) -> String {
        guard !subject.hasPrefix("#") else { return subject }
        return "#" + StableHash.digest(of: "forgotten/1", "subject", subject).prefix(16).hexadecimal
    }

    /// Removes waiting actions for these accounts, and the recipient, the text and the reasons of
    /// ended ones.
    ///
    /// Needs no lease: a worker finds unsent actions skipped, and actions in flight or with a
    /// request to undo are not changed.
    ///
    /// - Parameters:
    ///   - accounts: All accounts of a person.
    ///   - posts: The human's posts that answer or name them, whose texts are removed everywhere.
    /// - Returns: The numbers of changed actions.
    package func forget(
        _ accounts: [AccountID], quoting posts: [PostID] = [], now: Date
    ) async throws -> Forgetting {
        try await storage.transaction { connection in
            var result = Forgetting()
            for account in accounts {
                for action in try self.actions(about: [account], on: connection) {
                    guard !action.isUnderWay else {
                        result.underWay += 1
                        continue
                    }
                    let isWaiting = Self.waitingStates.contains(action.state)
                    result.dropped += isWaiting ? 1 : 0
                    result.ended += isWaiting ? 0 : 1
                    try reduceToOutcome(
                        action, of: account, isWaiting: isWaiting, now: now, on: connection)
                }
                result.underWay += try removeBystander(account, on: connection)
                try replaceUndecidableSubjects(of: account, on: connection)
            }
            for action in try actions(madeOf: posts, on: connection) {
                if let author = action.target?.author, accounts.contains(author) { continue }
                if action.isUnderWay {
                    result.underWay += 1
                    result.inUse.formUnion([action.wording?.source].compactMap(\.self))
                } else {
                    try removeText(of: action, now: now, on: connection)
                }
            }
            try replaceThreadNames(on: connection)
            return result
        }
    }

    /// Reduces an action to its outcome, and for a reply the id of the bot's post.
    private func reduceToOutcome(
        _ action: Action, of account: AccountID, isWaiting: Bool, now: Date,
        on connection: any StorageConnection
    ) throws {
        let digest = Self.forgotten(action.subject)
        if isWaiting {
            try connection.execute(
                """
                \(Self.changing) state = 'skipped', reason = \(Action.Reason.forgotten), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id)
                """)
        }
        try connection.execute(
            """
            \(Self.changing) subject = \(digest), target_post_id = \(digest), target_author = \(account.forgottenID.value),
                target_address = '', target_name = NULL, \(Self.settled), text = NULL, warning = NULL,
                note = NULL,
                thread = \(action.payload.reply.map { Self.forgotten($0.thread) }),
                source_network = NULL, source_post_id = NULL, visibility = NULL, language = NULL, explanation = NULL,
                next_attempt_ms = NULL, remote_id = CASE WHEN kind = 'reply' THEN remote_id END,
                remote_address = CASE WHEN kind = 'reply' THEN remote_address END
            WHERE mirror = \(mirror) AND id = \(action.id)
            """)
    }

    /// Removes an account from the bystanders of replies to others.
    ///
    /// - Returns: The number of waiting replies that still need it.
    private func removeBystander(
        _ account: AccountID, on connection: any StorageConnection
    ) throws -> Int {
        let namesAccount: SQL = """
            mirror = \(mirror) AND kind = 'reply' AND target_network = \(account.network.rawValue)
            AND bystanders IS NOT NULL
            AND REPLACE(' ' || bystanders || ' ', \(" \(account.value) "), '') <> ' ' || bystanders || ' '
            """
        let hasEnded: SQL = "state IN ('done', 'skipped', 'expired', 'failed', 'undone')"
        try connection.execute(
            "\(Self.noting) bystanders = NULL WHERE \(namesAccount) AND \(hasEnded)")
        let rows = try connection.query(
            "SELECT COUNT(*) AS number FROM actions WHERE \(namesAccount)")
        return try rows.first?.int("number") ?? 0
    }

    /// Reduces an action with a text to or about the person to its outcome, and removes a waiting
    /// one.
    private func removeText(
        of action: Action, now: Date, on connection: any StorageConnection
    ) throws {
        if Self.waitingStates.contains(action.state) {
            try connection.execute(
                """
                \(Self.changing) state = 'skipped', reason = \(Action.Reason.forgotten), rest = NULL,
                    \(Self.settled), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id)
                """)
        }
        try connection.execute(
            """
            \(Self.changing) text = '', warning = NULL, pictures = NULL, uploads = NULL, next_attempt_ms = NULL
            WHERE mirror = \(mirror) AND id = \(action.id)
            """)
    }

    /// Returns the posts and replies with the text of some of the human's posts.
    private func actions(madeOf posts: [PostID], on connection: any StorageConnection) throws
        -> [Action]
    {
        var found: [Action] = []
        for (network, group) in Dictionary(grouping: posts, by: \.network) {
            for portion in group.map(\.value).portions {
                for kind in [ActionKind.post, .reply] {
                    found += try actions(
                        where: """
                            kind = \(kind.rawValue) AND source_network = \(network.rawValue)
                            AND source_post_id IN \(list: portion) AND text <> ''
                            """, order: "due_ms ASC, id ASC", limit: 1_000_000, on: connection)
                }
            }
        }
        return found
    }

    /// Replaces the identity of undecidable mentions by a digest if it names the account as author.
    private func replaceUndecidableSubjects(
        of account: AccountID, on connection: any StorageConnection
    ) throws {
        let rows = try connection.query(
            """
            SELECT id, subject FROM actions
            WHERE mirror = \(mirror) AND kind = 'reply' AND state = 'skipped' AND target_author IS NULL
            """)
        for row in rows {
            let subject = try row.text("subject")
            guard PostID(network: account.network, value: subject).author == account else {
                continue
            }
            try connection.execute(
                """
                \(Self.noting) subject = \(Self.forgotten(subject))
                WHERE mirror = \(mirror) AND id = \(try row.text("id"))
                """)
        }
    }

    /// Replaces the names of conversations that an earlier version stored by digests.
    private func replaceThreadNames(on connection: any StorageConnection) throws {
        let rows = try connection.query(
            """
            SELECT DISTINCT thread FROM actions
            WHERE mirror = \(mirror) AND kind = 'reply' AND SUBSTR(thread, 1, 1) <> '#'
            """)
        for thread in try rows.map({ try $0.text("thread") }) {
            try connection.execute(
                """
                \(Self.noting) thread = \(Self.forgotten(thread))
                WHERE mirror = \(mirror) AND kind = 'reply' AND \(Self.isPart(of: thread))
                """)
        }
    }

    /// Condition: the action belongs to a conversation, stored by its name or its digest.
    static func isPart(of thread: String) -> SQL {
        let names = [thread, forgotten(thread)]
        // The index contains the beginning of a thread's name.
        let beginnings = names.map {
            String(String.UnicodeScalarView($0.unicodeScalars.prefix(200)))
        }
        return
            "SUBSTR(thread, 1, 200) IN \(list: beginnings) AND COALESCE(thread, '') IN \(list: names)"
    }

    /// Returns all actions about any of these accounts, oldest first.
    package func actions(about accounts: [AccountID]) async throws -> [Action] {
        try await storage.read { try actions(about: accounts, on: $0) }
    }

    private func actions(about accounts: [AccountID], on connection: any StorageConnection) throws
        -> [Action]
    {
        var found: [Action] = []
        for kind in [ActionKind.reply, .favorite] {
            for target in Self.targets(accounts) {
                found += try actions(
                    where: "kind = \(kind.rawValue) AND \(target)", order: "due_ms ASC, id ASC",
                    limit: 1_000_000,
                    on: connection)
            }
        }
        return found.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }
}

extension Action {
    /// Whether its text or recipient is still needed, to look it up or undo it.
    fileprivate var isUnderWay: Bool {
        state == .sending || awaitsUndo && (state != .done || kind == .favorite)
    }
}
