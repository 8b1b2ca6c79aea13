package import Foundation
package import Posts
package import Storage

/// A mirror's earlier decisions about mentions, their authors and their conversations.
package struct EarlierReplies: Sendable {
    /// The mentions that have an action.
    package fileprivate(set) var decided: Set<String> = []
    /// The replies to each account that count for the cap of a day.
    private var repliesByAccount: [AccountID: Int] = [:]
    /// The uses of each old reply for each account.
    private var usesByAccount: [AccountID: [PostID: ReplyUse]] = [:]
    /// The conversations of replies, by their addresses at the bot's server.
    private var threadsByAddress: [String: String] = [:]
    /// The replies in each conversation that count for its cap, by the conversation's digest.
    private var countsOfAskedThreads: [String: Int] = [:]
    /// The same counts for the conversations in `threadsByAddress`.
    private var countsOfPublishedThreads: [String: Int] = [:]
    /// The number of replies that the caller added since the rows were read, by the conversation's
    /// digest.
    private var addedCounts: [String: Int] = [:]

    package init() {}

    /// Returns the number of replies to any of these accounts on this day that count for the cap.
    package func repliesToday(to accounts: [AccountID]) -> Int {
        Set(accounts).map { repliesByAccount[$0] ?? 0 }.reduce(0, +)
    }

    /// Returns the uses of old replies for any of these accounts, by the old reply.
    package func uses(for accounts: [AccountID]) -> [PostID: ReplyUse] {
        accounts.compactMap { usesByAccount[$0] }.reduce(into: [:]) { merged, usesForAccount in
            merged.merge(usesForAccount) { $0.merged(with: $1) }
        }
    }

    /// Returns the conversation of the reply published under this address; nil if there is none.
    package func thread(ofReplyPublishedAs address: String) -> String? { threadsByAddress[address] }

    /// Returns the number of replies in a conversation that count for its cap.
    package func replies(inThread thread: String) -> Int {
        let digest = OutboxStore.forgotten(thread)
        let stored = max(countsOfAskedThreads[digest] ?? 0, countsOfPublishedThreads[digest] ?? 0)
        return stored + (addedCounts[digest] ?? 0)
    }

    /// Adds a decision that is about to be stored, so that later decisions take it into account.
    package mutating func add(_ intent: Intent, since midnight: Date) {
        guard case .reply(let reply) = intent.payload,
            [.planned, .suggested].contains(intent.state)
        else { return }
        let person = reply.target.author
        if intent.due >= midnight { repliesByAccount[person, default: 0] += 1 }
        addedCounts[OutboxStore.forgotten(reply.thread), default: 0] += 1
        guard intent.state == .planned, let source = reply.wording?.source else { return }
        let use = ReplyUse(last: intent.due, isInFlight: true)
        usesByAccount[person, default: [:]].merge([source: use]) { $0.merged(with: $1) }
    }

    fileprivate mutating func add(_ row: SQLRow) throws {
        let name = try row.text("name")
        switch HistoryPart(rawValue: try row.int("part")) {
        case .decided: decided.insert(name)
        case .publishedThread:
            let thread = try row.text("source")
            threadsByAddress[name] = threadsByAddress[name] ?? thread
            countsOfPublishedThreads[thread] = try row.int("number")
        case .threadCount:
            countsOfAskedThreads[OutboxStore.forgotten(name), default: 0] += try row.int("number")
        case .use:
            guard let network = NetworkName(rawValue: try row.text("network")) else { return }
            let person = AccountID(network: network, value: name)
            repliesByAccount[person, default: 0] += try row.int("number")
            guard let last = try row.optionalDate("last_ms"),
                let origin = NetworkName(rawValue: try row.text("source_network"))
            else { return }
            let source = PostID(network: origin, value: try row.text("source"))
            usesByAccount[person, default: [:]][source] = ReplyUse(
                last: last, isInFlight: try row.int("in_flight") > 0)
        case nil: return
        }
    }
}

/// The content of a row of the statement that reads earlier replies: its column `part`.
private enum HistoryPart: Int {
    /// The mention `name` was decided.
    case decided = 0
    /// The reply that was published as `name` is in the conversation `source`, which has `number`
    /// replies.
    case publishedThread = 1
    /// The conversation `name` has `number` replies.
    case threadCount = 2
    /// The account `name` got `number` replies today from the source; the last one at `last_ms`.
    case use = 3
}

extension ReplyUse {
    fileprivate func merged(with other: ReplyUse) -> ReplyUse {
        ReplyUse(last: max(last, other.last), isInFlight: isInFlight || other.isInFlight)
    }
}

extension OutboxStore {
    /// The mentions to decide about, a hundred at most.
    package struct Question: Sendable {
        /// The identities of the mentions.
        package var subjects: [String] = []
        /// All accounts of the mentions' authors.
        package var accounts: [AccountID] = []
        /// The addresses of the posts that the mentions answer.
        package var parents: [String] = []
        /// The known conversations of the mentions.
        package var threads: [String] = []
        /// The time before which replies to a person do not count.
        package var midnight: Date
        /// The time before which replies in a conversation do not count.
        package var threadsSince: Date

        package init(midnight: Date, threadsSince: Date) {
            self.midnight = midnight
            self.threadsSince = threadsSince
        }
    }

    /// Reads the earlier decisions, in one statement; in two if a conversation is stored under its
    /// name, as an earlier version did.
    package func earlierReplies(
        _ question: Question, on connection: any StorageConnection
    ) throws -> EarlierReplies {
        var replies = EarlierReplies()
        // Decisions about forgotten people are stored under digests.
        let names = Dictionary(question.subjects.flatMap { [($0, $0), (Self.forgotten($0), $0)] }) {
            first, _ in first
        }
        var statements: [SQL] = []
        if !names.isEmpty {
            statements.append(
                """
                SELECT 0 AS part, subject AS name, '' AS network, '' AS source_network, '' AS source, 0 AS last_ms,
                    0 AS in_flight, 0 AS number
                FROM actions WHERE mirror = \(mirror) AND kind = 'reply' AND subject IN \(list: Array(names.keys))
                """)
        }
        if !question.parents.isEmpty {
            statements.append(
                """
                SELECT 1 AS part, answered.remote_address AS name, '' AS network, '' AS source_network,
                    answered.thread AS source, 0 AS last_ms, 0 AS in_flight,
                    (SELECT COUNT(*) FROM actions AS replies
                    WHERE replies.mirror = \(mirror) AND replies.kind = 'reply'
                        AND SUBSTR(replies.thread, 1, 200) = SUBSTR(answered.thread, 1, 200)
                        AND replies.thread = answered.thread AND \(Self.countsForCap)
                        AND +replies.due_ms >= \(question.threadsSince.milliseconds)) AS number
                FROM actions AS answered
                WHERE answered.mirror = \(mirror) AND answered.kind = 'reply'
                    AND answered.remote_address IN \(list: question.parents) AND answered.thread IS NOT NULL
                """)
        }
        if !question.threads.isEmpty {
            statements.append(counts(of: question.threads, since: question.threadsSince))
        }
        for target in Self.targets(question.accounts) {
            statements.append(uses(target, since: question.midnight))
        }
        guard let first = statements.first else { return replies }
        let union = statements.dropFirst().reduce(first) { $0 + " UNION ALL " + $1 }
        for row in try connection.query(union) { try replies.add(row) }
        replies.decided = Set(replies.decided.compactMap { names[$0] })
        let furtherThreads = Set(question.parents.compactMap(replies.thread(ofReplyPublishedAs:)))
            .filter { $0 != Self.forgotten($0) }.subtracting(question.threads)
        guard !furtherThreads.isEmpty else { return replies }
        for row in try connection.query(
            counts(of: Array(furtherThreads), since: question.threadsSince))
        {
            try replies.add(row)
        }
        return replies
    }

    /// The statement that counts, for each conversation, the replies that count for its cap.
    private func counts(of threads: [String], since start: Date) -> SQL {
        let threadNames = Array(Set(threads.flatMap { [$0, Self.forgotten($0)] }))
        // The index contains the beginning of a thread's name.
        let beginnings = Array(
            Set(threadNames.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(200))) })
        )
        return """
            SELECT 2 AS part, COALESCE(thread, '') AS name, '' AS network, '' AS source_network, '' AS source,
                0 AS last_ms, 0 AS in_flight, COUNT(*) AS number
            FROM actions
            WHERE mirror = \(mirror) AND kind = 'reply' AND SUBSTR(thread, 1, 200) IN \(list: beginnings)
                AND COALESCE(thread, '') IN \(list: threadNames) AND \(Self.countsForCap)
                AND +due_ms >= \(start.milliseconds)
            GROUP BY COALESCE(thread, '')
            """
    }

    /// The statement that reads, for each account and old reply, the last use and the number of
    /// replies that count for the cap of a day.
    private func uses(_ target: SQL, since midnight: Date) -> SQL {
        """
        SELECT 3 AS part, target_author AS name, target_network AS network,
            COALESCE(source_network, '') AS source_network, COALESCE(source_post_id, '') AS source,
            MAX(CASE WHEN source_post_id IS NOT NULL AND \(Self.countsAsUse) THEN due_ms END) AS last_ms,
            MAX(CASE WHEN state IN ('done', 'undone') OR NOT \(Self.countsAsUse) THEN 0 ELSE 1 END) AS in_flight,
            SUM(CASE WHEN \(Self.countsForCap) AND due_ms >= \(midnight.milliseconds) THEN 1 ELSE 0 END) AS number
        FROM actions WHERE mirror = \(mirror) AND kind = 'reply' AND \(target)
        GROUP BY target_author, target_network, COALESCE(source_network, ''), COALESCE(source_post_id, '')
        """
    }
}
