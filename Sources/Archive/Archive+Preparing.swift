package import Foundation
package import Posts
package import Storage

/// Texts made ready before a plan asks for them.
extension Archive {
    /// What the rules make of a post's text.
    package struct Preparation: Sendable {
        let textKey: String
        let unfit: String?
        let length: Int

        /// - Parameters:
        ///   - textKey: What texts that read the same have in common.
        ///   - unfit: Why the text may not be sent; nil if it may.
        ///   - length: How long a server finds what would be sent.
        package init(textKey: String, unfit: String?, length: Int) {
            self.textKey = textKey
            self.unfit = unfit
            self.length = length
        }
    }

    /// A text that may be sent, without its words.
    package struct StoredText: Equatable, Sendable {
        package let id: PostID
        package let minute: MinuteOfDay
        package let textKey: String
        package let createdAt: Date
    }

    /// How many posts are prepared in one transaction.
    private static let batch = 500

    /// Prepares some posts that no rules, or other ones, have prepared.
    ///
    /// - Parameters:
    ///   - version: Names the rules.
    ///   - lastUse: An expression for when a row of `posts` was last used.
    ///   - uses: An expression for how often it was.
    ///   - prepare: Applies the rules to a post that is no reply.
    /// - Returns: Whether there may be more.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func prepareSome(
        version: String, lastUse: SQL, uses: SQL = "0", _ prepare: (Post) -> Preparation
    ) async throws -> Bool {
        let posts = try await unprepared(by: version)
        guard !posts.isEmpty else { return false }
        var rows: SQL = ""
        for (index, post) in posts.enumerated() {
            let prepared = prepare(post)
            let row: [SQLValue] = [
                post.id.network.rawValue.sqlValue, post.id.value.sqlValue, prepared.textKey.sqlValue,
                prepared.unfit.sqlValue, prepared.length.sqlValue,
            ]
            rows += index == 0 ? "\(list: row)" : ", \(list: row)"
        }
        try await storage.execute(
            """
            UPDATE posts SET text_key = prepared.column3, unfit = prepared.column4, length = prepared.column5,
                rules = \(version), last_used_ms = \(lastUse), uses = \(uses)
            FROM (VALUES \(rows)) AS prepared
            WHERE posts.mirror = \(mirror) AND posts.network = prepared.column1
                AND posts.post_id = prepared.column2 AND posts.is_reply = FALSE
            """)
        return posts.count >= Self.batch
    }

    private func unprepared(by version: String) async throws -> [Post] {
        let (mirror, selection) = (mirror, PostRow.selection)
        return try await storage.read { connection in
            var posts: [Post] = []
            // Two ranges of an index, since "another one" is none.
            for condition in ["rules < \(version)", "rules > \(version)"] as [SQL] where posts.count < Self.batch {
                posts += try connection.query(
                    selection + """
                         WHERE mirror = \(mirror) AND is_reply = FALSE AND \(condition)
                        ORDER BY rules LIMIT \(Self.batch - posts.count)
                        """
                ).map(PostRow.post)
            }
            return posts
        }
    }

    /// When texts were last used by whichever post they came from, as far as that was after `time`; by their keys.
    package func usedTexts(since time: Date) async throws -> [String: Date] {
        let rows = try await storage.query(
            """
            SELECT text_key, MAX(last_used_ms) AS used_ms FROM posts
            WHERE mirror = \(mirror) AND last_used_ms > \(time) AND text_key IS NOT NULL GROUP BY text_key
            """)
        return Dictionary(try rows.map { (try $0.text("text_key"), try $0.date("used_ms")) }) { first, _ in first }
    }

    /// How often texts were used by whichever posts they came from, and those only that were; by their keys.
    package func uses() async throws -> [String: Int] {
        let rows = try await storage.query(
            """
            SELECT text_key, CAST(SUM(uses) AS BIGINT) AS uses FROM posts
            WHERE mirror = \(mirror) AND uses > 0 AND text_key IS NOT NULL GROUP BY text_key
            """)
        return Dictionary(try rows.map { (try $0.text("text_key"), try $0.int("uses")) }) { first, _ in first }
    }

    /// How many posts of the archive are not sent as posts of the bot, and why not.
    package struct Unsent: Equatable, Sendable {
        /// Answers to somebody.
        package var replies = 0
        /// By the stable names of the rules that left them out.
        package var unfit: [String: Int] = [:]
        /// Longer than the bot's server takes.
        package var tooLong = 0
        /// Not judged yet; the next plan does it.
        package var unjudged = 0
    }

    /// Counts what is not sent, for a person who asks.
    ///
    /// - Parameter longest: The longest text, in the units of the rules.
    /// - Returns: The numbers.
    /// - Throws: The store's error.
    package func unsent(longest: Int) async throws -> Unsent {
        let rows = try await storage.query(
            """
            SELECT is_reply, COALESCE(unfit, '') AS unfit, CASE WHEN rules = '' THEN 1 ELSE 0 END AS unjudged,
                CASE WHEN unfit IS NULL AND length > \(longest) THEN 1 ELSE 0 END AS too_long, COUNT(*) AS number
            FROM posts WHERE mirror = \(mirror) GROUP BY 1, 2, 3, 4
            """)
        var unsent = Unsent()
        for row in rows {
            let (number, reason) = (try row.int("number"), try row.text("unfit"))
            if try row.boolean("is_reply") {
                unsent.replies += number
            } else if try row.int("unjudged") == 1 {
                unsent.unjudged += number
            } else if !reason.isEmpty {
                unsent.unfit[reason, default: 0] += number
            } else if try row.int("too_long") == 1 {
                unsent.tooLong += number
            }
        }
        return unsent
    }

    /// How many posts of each minute of the day have a text that may be sent.
    ///
    /// - Parameters:
    ///   - longest: The longest text, in the units of the rules.
    ///   - start: Older posts do not count.
    ///   - time: Younger posts do not count.
    /// - Returns: 1,440 numbers.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func textCounts(
        longest: Int, after start: Date = .distantPast, before time: Date
    ) async throws -> [Int] {
        let rows = try await storage.query(
            """
            SELECT minute, COUNT(*) AS number FROM posts
            WHERE mirror = \(mirror) AND \(Self.fit(longest)) AND +created_ms >= \(start) AND +created_ms <= \(time)
            GROUP BY minute
            """)
        var counts = [Int](repeating: 0, count: MinuteOfDay.count)
        for row in rows {
            guard let minute = MinuteOfDay(try row.int("minute")) else { throw ArchiveError(column: "minute") }
            counts[minute.value] = try row.int("number")
        }
        return counts
    }

    /// The texts of these minutes that may be sent.
    ///
    /// - Parameters:
    ///   - minutes: Ranges that do not overlap.
    ///   - longest: The longest text, in the units of the rules.
    ///   - start: Older posts are left out.
    ///   - time: Younger posts are left out.
    /// - Returns: The texts in any order, those that read the same too.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func texts(
        in minutes: [ClosedRange<Int>], longest: Int, after start: Date = .distantPast, before time: Date
    ) async throws -> [StoredText] {
        var texts: [StoredText] = []
        for range in minutes {
            texts += try await storage.query(
                """
                SELECT network, post_id, minute, text_key, created_ms FROM posts
                WHERE mirror = \(mirror) AND \(Self.fit(longest)) AND minute BETWEEN \(range.lowerBound)
                    AND \(range.upperBound) AND +created_ms >= \(start) AND +created_ms <= \(time)
                """
            ).map(Self.text)
        }
        return texts
    }

    /// One of the texts of a minute, by its number from 0 in order of their time.
    ///
    /// - Returns: Nil if there are fewer.
    package func text(
        at minute: Int, number: Int, longest: Int, after start: Date = .distantPast, before time: Date
    ) async throws -> StoredText? {
        try await storage.query(
            """
            SELECT network, post_id, minute, text_key, created_ms FROM posts
            WHERE mirror = \(mirror) AND \(Self.fit(longest)) AND minute = \(minute)
                AND created_ms >= \(start) AND created_ms <= \(time)
            ORDER BY created_ms, post_id, network LIMIT 1 OFFSET \(number)
            """
        ).first.map(Self.text)
    }

    /// Whether no other post of these minutes with the same text comes before.
    package func isFirst(
        _ text: StoredText, in minutes: [ClosedRange<Int>], longest: Int, after start: Date = .distantPast,
        before time: Date
    ) async throws -> Bool {
        let rows = try await storage.query(
            """
            SELECT network, post_id, minute, text_key, created_ms FROM posts
            WHERE mirror = \(mirror) AND text_key = \(text.textKey) AND unfit IS NULL AND length <= \(longest)
                AND +created_ms >= \(start) AND +created_ms <= \(time)
            """)
        let same = try rows.map(Self.text).filter { other in minutes.contains { $0.contains(other.minute.value) } }
        return !same.contains { $0.order < text.order }
    }

    /// The conditions of the index by minute.
    ///
    /// A plus before a column keeps SQLite from another index, on that column.
    private static func fit(_ longest: Int) -> SQL {
        "text_key IS NOT NULL AND unfit IS NULL AND length <= \(longest)"
    }

    private static func text(_ row: SQLRow) throws -> StoredText {
        guard let network = NetworkName(rawValue: try row.text("network")) else {
            throw ArchiveError(column: "network")
        }
        guard let minute = MinuteOfDay(try row.int("minute")) else { throw ArchiveError(column: "minute") }
        return StoredText(
            id: PostID(network: network, value: try row.text("post_id")), minute: minute,
            textKey: try row.text("text_key"), createdAt: try row.date("created_ms"))
    }
}

extension Archive.StoredText {
    fileprivate var order: (Date, String, String) { (createdAt, id.value, id.network.rawValue) }
}
