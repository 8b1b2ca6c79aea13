package import Foundation
package import Posts
package import Storage

extension Archive {
    /// A person whom the human has answered.
    package struct RepliedAuthor: Equatable, Sendable {
        package let author: AccountID
        /// The number of archived posts that answer them.
        package let replies: Int
    }

    /// The number of archived posts.
    package func count() async throws -> Int {
        let rows = try await storage.query(
            "SELECT COUNT(*) AS count FROM posts WHERE mirror = \(mirror)")
        return try rows.first?.int("count") ?? 0
    }

    /// The number of posts from one instant until just before another.
    package func count(from start: Date, to end: Date) async throws -> Int {
        let rows = try await storage.query(
            """
            SELECT COUNT(*) AS count FROM posts
            WHERE mirror = \(mirror) AND created_ms >= \(start) AND created_ms < \(end)
            """)
        return try rows.first?.int("count") ?? 0
    }

    /// The times of the oldest and newest post; nil for an empty archive.
    package func span() async throws -> (oldest: Date, newest: Date)? {
        let rows = try await storage.query(
            "SELECT MIN(created_ms) AS oldest, MAX(created_ms) AS newest FROM posts WHERE mirror = \(mirror)"
        )
        guard let row = rows.first, let oldest = try row.optionalDate("oldest"),
            let newest = try row.optionalDate("newest")
        else { return nil }
        return (oldest, newest)
    }

    /// The language of most posts, as a BCP 47 tag; nil if no post names one.
    package func commonestLanguage() async throws -> String? {
        let rows = try await storage.query(
            """
            SELECT language, COUNT(*) AS number FROM posts WHERE mirror = \(mirror) AND language IS NOT NULL
            GROUP BY language ORDER BY number DESC, language ASC LIMIT 1
            """)
        return try rows.first?.optionalText("language")
    }

    /// One post, if it is in the archive.
    package func post(_ id: PostID) async throws -> Post? {
        try await posts(where: "network = \(id.network.rawValue) AND post_id = \(id.value)").first
    }

    /// Returns the posts with these ids that are in the archive.
    package func posts(_ ids: some Sequence<PostID>) async throws -> [PostID: Post] {
        var postsByID: [PostID: Post] = [:]
        for (network, ids) in Dictionary(grouping: ids, by: \.network) {
            for portion in Array(Set(ids.map(\.value))).portions {
                let posts = try await posts(
                    where: "network = \(network.rawValue) AND post_id IN \(list: portion)")
                for post in posts { postsByID[post.id] = post }
            }
        }
        return postsByID
    }

    /// The creation times of the posts with these ids that are in the archive.
    package func dates(of ids: some Sequence<PostID>) async throws -> [PostID: Date] {
        var dates: [PostID: Date] = [:]
        for (network, ids) in Dictionary(grouping: ids, by: \.network) {
            for portion in Array(Set(ids.map(\.value))).portions {
                // `text` is selected although it is not used: without it SQLite scans the covering
                // index `posts_by_age`, which has no text column, instead of the primary key.
                let rows = try await storage.query(
                    """
                    SELECT post_id, created_ms, text FROM posts
                    WHERE mirror = \(mirror) AND network = \(network.rawValue) AND post_id IN \(list: portion)
                    """)
                for row in rows {
                    dates[PostID(network: network, value: try row.text("post_id"))] = try row.date(
                        "created_ms")
                }
            }
        }
        return dates
    }

    /// An archived post with what is known of its text.
    package struct Original: Equatable, Sendable {
        package let post: Post
        /// The rules' verdict on the text, and the name of these rules; the name is empty if no
        /// rules have judged the text.
        package let judged: EarlierVerdict
        /// When the human's network first denied that the post exists; nil while the network shows
        /// it.
        package let denied: Date?
    }

    /// One post with what is known of its text, in one statement; nil if it is not in the archive.
    package func original(_ id: PostID) async throws -> Original? {
        try await storage.query(
            """
            SELECT \(Original.fields) FROM posts
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND post_id = \(id.value)
            """
        ).first.map(Original.init)
    }

    /// The posts that are not replies, oldest first.
    package func standalonePosts() async throws -> [Post] {
        try await posts(where: "is_reply = \(false)", "ORDER BY created_ms, post_id, network")
    }

    /// All posts that were made before an instant, oldest first.
    package func posts(before date: Date) async throws -> [Post] {
        try await posts(where: "created_ms < \(date)", "ORDER BY created_ms, post_id, network")
    }

    /// Returns the human's replies to a person, newest first.
    ///
    /// Accounts that the operator linked count as the same person.
    package func replies(to person: AccountID) async throws -> [Post] {
        let mirror = mirror
        let selection = PostRow.selection
        return try await storage.read { connection in
            let accounts = try People.linked(to: person, of: mirror, on: connection)
            var posts: [Post] = []
            for account in accounts {
                let rows = try connection.query(
                    selection + """
                         WHERE mirror = \(mirror) AND reply_to_author = \(account.value)
                            AND network = \(account.network.rawValue) AND is_reply = \(true)
                        """)
                posts += try rows.map(PostRow.post)
            }
            return posts.sorted { $0.isNewer(than: $1) }
        }
    }

    /// One of the human's replies, with the text that it answered.
    package struct PastReply: Equatable, Sendable {
        package let original: Original
        /// The text of the answered post; nil if it is not known.
        package let answered: String?

        package init(original: Original, answered: String?) {
            self.original = original
            self.answered = answered
        }
    }

    /// Returns the human's replies to some accounts, by the account answered, newest first.
    ///
    /// - Parameters:
    ///   - accounts: The answered accounts, some hundred at most.
    ///   - answered: An SQL expression for the text that a row of `posts` answers, or null.
    /// - Throws: ``ArchiveError``, or the store's error.
    package static func replies(
        to accounts: [AccountID], answered: SQL, of mirror: String,
        on connection: any StorageConnection
    ) throws -> [AccountID: [PastReply]] {
        var replies: [AccountID: [PastReply]] = [:]
        for (network, group) in Dictionary(grouping: Set(accounts), by: \.network) {
            let rows = try connection.query(
                """
                SELECT \(Original.fields), \(answered) AS answered FROM posts
                WHERE mirror = \(mirror) AND reply_to_author IN \(list: group.map(\.value))
                    AND network = \(network.rawValue) AND is_reply = TRUE
                """)
            for row in rows {
                let reply = PastReply(
                    original: try Original(row), answered: try row.optionalText("answered"))
                if let person = reply.original.post.replyTo?.author {
                    replies[person, default: []].append(reply)
                }
            }
        }
        return replies.mapValues { $0.sorted { $0.original.post.isNewer(than: $1.original.post) } }
    }

    /// The newest of the human's replies to others, newest first.
    ///
    /// - Parameters:
    ///   - limit: The largest number of replies to return.
    ///   - answered: As for ``replies(to:answered:of:on:)``.
    /// - Throws: ``ArchiveError``, or the store's error.
    package static func newestReplies(
        _ limit: Int, answered: SQL, of mirror: String, on connection: any StorageConnection
    ) throws -> [PastReply] {
        try connection.query(
            """
            SELECT \(Original.fields), \(answered) AS answered FROM posts
            WHERE mirror = \(mirror) AND is_reply = TRUE AND reply_to_author IS NOT NULL
                AND reply_to_author <> COALESCE(author, '')
            ORDER BY created_ms DESC, post_id DESC, network DESC LIMIT \(limit)
            """
        ).map { PastReply(original: try Original($0), answered: try $0.optionalText("answered")) }
    }

    /// The newest of the human's replies to others, as ``newestReplies(_:answered:of:on:)``.
    package func newestReplies(_ limit: Int, answered: SQL) async throws -> [PastReply] {
        try await storage.read { [mirror] in
            try Self.newestReplies(limit, answered: answered, of: mirror, on: $0)
        }
    }

    /// Returns the people whom the human answered, except the human, the most often answered first.
    package func repliedAuthors(limit: Int) async throws -> [RepliedAuthor] {
        let rows = try await storage.query(
            """
            SELECT network, reply_to_author, COUNT(*) AS replies FROM posts
            WHERE mirror = \(mirror) AND reply_to_author IS NOT NULL AND reply_to_author <> COALESCE(author, '')
            GROUP BY network, reply_to_author
            ORDER BY replies DESC, reply_to_author, network LIMIT \(max(0, limit))
            """)
        return try rows.map { row in
            guard let network = NetworkName(rawValue: try row.text("network")) else {
                throw ArchiveError(column: "network")
            }
            let author = AccountID(network: network, value: try row.text("reply_to_author"))
            return RepliedAuthor(author: author, replies: try row.int("replies"))
        }
    }

    /// The handle of a person, read from the human's latest post that contains it.
    ///
    /// Only networks that identify people by a number or a DID need this.
    ///
    /// - Returns: The handle; nil if the network's identities are handles, or if no text contains
    ///   the handle.
    package func nameInAnswers(to author: AccountID) async throws -> String? {
        switch author.network.traits.namePlace {
        case .nowhere: nil
        case .beforeAnswers: try await nameBeforeAnswers(to: author)
        case .inMentions: try await nameInMentions(of: author)
        }
    }

    /// Returns the handle at the beginning of the newest of the human's replies to an account.
    private func nameBeforeAnswers(to author: AccountID) async throws -> String? {
        let rows = try await storage.query(
            """
            SELECT text FROM posts
            WHERE mirror = \(mirror) AND network = \(author.network.rawValue) AND reply_to_author = \(author.value)
                AND text LIKE '@%'
            ORDER BY created_ms DESC LIMIT 1
            """)
        let name = try rows.first?.text("text").dropFirst().prefix {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")
        }
        return name.flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// Returns the handle in the newest post that mentions only this account and contains only one
    /// handle.
    private func nameInMentions(of account: AccountID) async throws -> String? {
        let rows = try await storage.query(
            """
            SELECT text FROM posts
            WHERE mirror = \(mirror) AND network = \(account.network.rawValue) AND mentions = \(account.value)
                AND text LIKE '%@%.%'
            ORDER BY created_ms DESC LIMIT 20
            """)
        func isHandleCharacter(_ character: Character) -> Bool {
            guard character.isASCII else { return false }
            return character.isLetter || character.isNumber || "-.".contains(character)
        }
        for row in rows {
            let names = try row.text("text").split(separator: "@", omittingEmptySubsequences: false)
                .dropFirst().map { part in part.prefix(while: isHandleCharacter) }
            guard names.count == 1, let name = names.first else { continue }
            let labels = name.split(separator: ".")
            if labels.count > 1 { return labels.joined(separator: ".").lowercased() }
        }
        return nil
    }

    /// The networks on which the human answered somebody else, as far as the archive knows.
    package func networksOfReplies() async throws -> Set<NetworkName> {
        try Self.networksOfReplies(in: try await storage.query(Self.selectionOfNetworks(mirror)))
    }

    /// Returns the networks on which the human answered somebody else, inside a transaction.
    package static func networksOfReplies(
        of mirror: String, on connection: any StorageConnection
    ) throws -> Set<NetworkName> {
        try networksOfReplies(in: try connection.query(selectionOfNetworks(mirror)))
    }

    private static func selectionOfNetworks(_ mirror: String) -> SQL {
        var columns: SQL = ""
        for network in NetworkName.known {
            columns += """
                \(unsafe: columns.text.isEmpty ? "" : ", ")EXISTS (SELECT 1 FROM posts
                    WHERE mirror = \(mirror) AND network = \(network.rawValue) AND reply_to_author IS NOT NULL
                        AND reply_to_author <> COALESCE(author, '')) AS \(unsafe: network.rawValue)
                """
        }
        return "SELECT \(columns)"
    }

    private static func networksOfReplies(in rows: [SQLRow]) throws -> Set<NetworkName> {
        guard let row = rows.first else { return [] }
        return Set(try NetworkName.known.filter { try row.boolean($0.rawValue) })
    }

    func posts(where condition: SQL, _ order: SQL = "") async throws -> [Post] {
        try await storage.query(
            PostRow.selection + " WHERE mirror = \(mirror) AND \(condition) \(order)"
        ).map(PostRow.post)
    }
}

extension Archive.Original {
    static let fields: SQL = "\(PostRow.fields), rules, grade, fit_when, fit_reason, denied_ms"

    init(_ row: SQLRow) throws {
        post = try PostRow.post(row)
        judged = Archive.EarlierVerdict(
            rules: try row.text("rules"), fitness: try Archive.StoredFitness(row))
        denied = try row.optionalDate("denied_ms")
    }
}

extension Post {
    /// Whether the post sorts before another one in a list with the newest first.
    fileprivate func isNewer(than other: Post) -> Bool {
        (createdAt, id.value) > (other.createdAt, other.id.value)
    }
}
