package import Foundation
package import Posts
import Storage

/// Forgetting a person.
extension OutboxStore {
    /// What came of it.
    package struct Forgetting: Equatable, Sendable {
        /// What was to be said or favorited, and is not any more.
        package var dropped = 0
        /// What was done or decided, of which only that is left.
        package var ended = 0
        /// What may be under way, or is to be taken back: it stays as it is until that has ended.
        package var underWay = 0
        /// The human's posts that those say.
        package var inUse: Set<PostID> = []

        package init() {}
    }

    /// What is left of the name of what an action is about, once that is forgotten, so that it is never done twice; and
    /// what is kept of a conversation, which has the name of who began it.
    static func forgotten(_ subject: String) -> String {
        guard !subject.hasPrefix("#") else { return subject }
        return "#" + StableHash.digest(of: "forgotten/1", "subject", subject).prefix(16).hexadecimal
    }

    /// Drops what waits for any of these accounts, and takes from what was done or decided for them whom it was for, what
    /// was said and why.
    ///
    /// Needs no lease: what a worker has not sent yet it finds skipped, and what may be under way, or is to be taken back,
    /// is left alone.
    ///
    /// - Parameters:
    ///   - accounts: All accounts of a person.
    ///   - posts: The human's posts that answer or name them, whose text is to be nowhere.
    /// - Returns: How much there was.
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
                    try strip(action, of: account, isWaiting: isWaiting, now: now, on: connection)
                }
                result.underWay += try leaveOut(account, on: connection)
                try hideUndecided(of: account, on: connection)
            }
            for action in try actions(madeOf: posts, on: connection) {
                if let author = action.target?.author, accounts.contains(author) { continue }
                if action.isUnderWay {
                    result.underWay += 1
                    result.inUse.formUnion([action.wording?.source].compactMap(\.self))
                } else {
                    try blank(action, now: now, on: connection)
                }
            }
            try hideThreads(on: connection)
            return result
        }
    }

    /// Leaves of an action how it ended, and of an answer what the bot's own post is called.
    private func strip(
        _ action: Action, of account: AccountID, isWaiting: Bool, now: Date, on connection: any StorageConnection
    ) throws {
        let name = Self.forgotten(action.subject)
        if isWaiting {
            try connection.execute(
                """
                UPDATE actions SET state = 'skipped', reason = \(Action.Reason.forgotten), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id)
                """)
        }
        try connection.execute(
            """
            UPDATE actions SET subject = \(name), target_post_id = \(name), target_author = \(account.forgotten.value),
                target_address = '', target_name = NULL, \(Self.settled), text = NULL, warning = NULL,
                thread = \(action.payload.reply.map { Self.forgotten($0.thread) }),
                source_network = NULL, source_post_id = NULL, visibility = NULL, language = NULL, explanation = NULL,
                next_attempt_ms = NULL, remote_id = CASE WHEN kind = 'reply' THEN remote_id END,
                remote_address = CASE WHEN kind = 'reply' THEN remote_address END
            WHERE mirror = \(mirror) AND id = \(action.id)
            """)
    }

    /// Takes an account out of those whom answers to others were not to notify.
    ///
    /// - Returns: How many answers wait, and need it still.
    private func leaveOut(_ account: AccountID, on connection: any StorageConnection) throws -> Int {
        let named: SQL = """
            mirror = \(mirror) AND kind = 'reply' AND target_network = \(account.network.rawValue)
            AND bystanders IS NOT NULL
            AND REPLACE(' ' || bystanders || ' ', \(" \(account.value) "), '') <> ' ' || bystanders || ' '
            """
        let ended: SQL = "state IN ('done', 'skipped', 'expired', 'failed', 'undone')"
        try connection.execute("UPDATE actions SET bystanders = NULL WHERE \(named) AND \(ended)")
        return try connection.query("SELECT COUNT(*) AS number FROM actions WHERE \(named)").first?.int("number") ?? 0
    }

    /// Leaves of an action that says what the human said to or of somebody that it happened, and drops one that waits.
    private func blank(_ action: Action, now: Date, on connection: any StorageConnection) throws {
        if Self.waitingStates.contains(action.state) {
            try connection.execute(
                """
                UPDATE actions SET state = 'skipped', reason = \(Action.Reason.forgotten), rest = NULL,
                    \(Self.settled), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id)
                """)
        }
        try connection.execute(
            """
            UPDATE actions SET text = '', warning = NULL, pictures = NULL, uploads = NULL, next_attempt_ms = NULL
            WHERE mirror = \(mirror) AND id = \(action.id)
            """)
    }

    /// What was made of some of the human's posts, and not for the one who is forgotten.
    private func actions(madeOf posts: [PostID], on connection: any StorageConnection) throws -> [Action] {
        var found: [Action] = []
        for (network, group) in Dictionary(grouping: posts, by: \.network) {
            for (kind, part) in group.map(\.value).portions.flatMap({ [(ActionKind.post, $0), (.reply, $0)] }) {
                found += try actions(
                    where: """
                        kind = \(kind.rawValue) AND source_network = \(network.rawValue)
                        AND source_post_id IN \(list: part) AND text <> ''
                        """, order: "due_ms ASC, id ASC", limit: 1_000_000, on: connection)
            }
        }
        return found
    }

    /// Hides mentions that no database can hold, of which nothing is kept but a name, if that tells who wrote them.
    private func hideUndecided(of account: AccountID, on connection: any StorageConnection) throws {
        let rows = try connection.query(
            """
            SELECT id, subject FROM actions
            WHERE mirror = \(mirror) AND kind = 'reply' AND state = 'skipped' AND target_author IS NULL
            """)
        for row in rows {
            let subject = try row.text("subject")
            guard PostID(network: account.network, value: subject).author == account else { continue }
            try connection.execute(
                """
                UPDATE actions SET subject = \(Self.forgotten(subject))
                WHERE mirror = \(mirror) AND id = \(try row.text("id"))
                """)
        }
    }

    /// Hides who began the conversations that an earlier program kept by their names.
    private func hideThreads(on connection: any StorageConnection) throws {
        let rows = try connection.query(
            """
            SELECT DISTINCT thread FROM actions
            WHERE mirror = \(mirror) AND kind = 'reply' AND SUBSTR(thread, 1, 1) <> '#'
            """)
        for thread in try rows.map({ try $0.text("thread") }) {
            try connection.execute(
                """
                UPDATE actions SET thread = \(Self.forgotten(thread))
                WHERE mirror = \(mirror) AND kind = 'reply' AND \(Self.isPart(of: thread))
                """)
        }
    }

    /// A condition on actions of a conversation, whoever wrote its name.
    static func isPart(of thread: String) -> SQL {
        let names = [thread, forgotten(thread)]
        // The index has what a thread's name begins with.
        let starts = names.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(200))) }
        return "SUBSTR(thread, 1, 200) IN \(list: starts) AND COALESCE(thread, '') IN \(list: names)"
    }

    /// What was done, decided or is planned about any of these accounts, the oldest first.
    package func actions(about accounts: [AccountID]) async throws -> [Action] {
        try await storage.read { try actions(about: accounts, on: $0) }
    }

    private func actions(about accounts: [AccountID], on connection: any StorageConnection) throws -> [Action] {
        var found: [Action] = []
        for kind in [ActionKind.reply, .favorite] {
            for target in Self.targets(accounts) {
                found += try actions(
                    where: "kind = \(kind.rawValue) AND \(target)", order: "due_ms ASC, id ASC", limit: 1_000_000,
                    on: connection)
            }
        }
        return found.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }
}

extension Action {
    /// Whether what it says, or whom it is for, is needed yet: to look for it, or to take it back.
    fileprivate var isUnderWay: Bool { state == .sending || awaitsUndo && (state != .done || kind == .favorite) }
}
