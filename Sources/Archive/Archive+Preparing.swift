package import Foundation
package import Posts
package import Storage

/// Preparation of texts, by applying the rules to them before a plan needs a text.
extension Archive {
    /// The outcome of applying the rules to a post's text.
    package struct Preparation: Sendable {
        let textKey: String
        let unfit: String?
        let length: Int
        let fitness: StoredFitness

        /// - Parameters:
        ///   - textKey: The key shared by all texts that read the same.
        ///   - unfit: Why the text may not be sent; nil if it may.
        ///   - length: Length of the text to be sent, as the bot's server counts it.
        ///   - fitness: The verdict on whether the text can be understood by itself.
        package init(
            textKey: String, unfit: String?, length: Int, fitness: StoredFitness = StoredFitness()
        ) {
            self.textKey = textKey
            self.unfit = unfit
            self.length = length
            self.fitness = fitness
        }
    }

    /// The rules' verdict on whether a text can be understood by itself.
    package struct StoredFitness: Equatable, Sendable {
        /// The rank of the text: 0 for one that is fit without concessions.
        ///
        /// Texts of lower ranks are used first; ranks may be negative.
        package var grade = 0
        /// The days or hours at which the text is fit, in the rules' notation; empty for always.
        package var window = ""
        /// The stable name of the first rule against it; nil for none.
        package var reason: String?

        package init(grade: Int = 0, window: String = "", reason: String? = nil) {
            self.grade = grade
            self.window = window
            self.reason = reason
        }
    }

    /// An earlier verdict on a text, possibly by other rules.
    package struct EarlierVerdict: Equatable, Sendable {
        /// The name of the rules that judged the text; empty if none have judged it.
        package let rules: String
        package let fitness: StoredFitness
    }

    /// The conditions that a text must meet to be used.
    package struct TextFilter: Hashable, Sendable {
        /// The maximum length of a text, in the units of the rules.
        package var longest: Int
        /// The earliest creation time.
        package var start: Date
        /// The latest creation time.
        package var end: Date
        /// The highest grade of fitness that is accepted.
        package var grade: Int
        /// The accepted values of `StoredFitness.window` besides the empty one; nil accepts all.
        package var windows: [String]?

        package init(
            longest: Int, after start: Date = .distantPast, before end: Date = .distantFuture,
            grade: Int = .max,
            windows: [String]? = nil
        ) {
            self.longest = longest
            self.start = start
            self.end = end
            self.grade = grade
            self.windows = windows
        }

        /// The filter as an SQL condition.
        ///
        /// The plus before a column keeps SQLite from choosing an index on that column.
        fileprivate var condition: SQL {
            let sendable: SQL = "text_key IS NOT NULL AND unfit IS NULL AND length <= \(longest)"
            let time: SQL = " AND +created_ms >= \(start) AND +created_ms <= \(end)"
            let graded: SQL = grade < .max ? " AND grade <= \(grade)" : ""
            return sendable + time + graded
                + (windows.map { " AND fit_when IN \(list: $0 + [""])" } ?? "")
        }
    }

    /// The permitted use of an archived text, by the rules that prepared it and a ``TextFilter``.
    package enum TextUse: String, CaseIterable, Sendable {
        /// Posted at any time.
        case fit
        /// Posted on some days or at some hours only.
        case sometimes
        /// Not posted by itself; `reason` names the rule.
        case unfit
        /// Longer than the bot's server accepts.
        case tooLong = "too-long"
        /// Not judged yet; the worker does it soon.
        case unjudged
        /// A reply.
        case answer
    }

    /// The number of texts of one grade and window for each minute of the day.
    package struct TextCount: Equatable, Sendable {
        package let grade: Int
        package let window: String
        /// The number of texts in each of the 1,440 minutes.
        package internal(set) var minutes = [Int](repeating: 0, count: MinuteOfDay.count)
    }

    /// A text that may be sent, without its content.
    package struct StoredText: Equatable, Sendable {
        package let id: PostID
        /// The minute at which the human posted the text; nil if the time of day was lost.
        package let minute: MinuteOfDay?
        package let textKey: String
        package let createdAt: Date
    }

    /// A post, not a reply, that was never prepared, or was prepared by other rules.
    package struct Unprepared: Sendable {
        package let post: Post
        /// The posts that follow it in its thread.
        package let sequel: Sequel
        /// The earlier verdict on its text.
        package let earlier: EarlierVerdict
        /// Whether the human wrote another post, not a reply, less than `Post.closeTogether` before
        /// this one.
        package let followsClosely: Bool
    }

    /// Which posts are to be prepared.
    package enum PreparationNeed: Sendable {
        /// Posts that were never prepared.
        case unjudged
        /// Posts that were never prepared, or were prepared by other rules.
        case outdated
    }

    /// Stores the results of preparing posts, in one transaction; skips a post that was changed
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - prepared: The posts from ``unprepared(_:by:atMost:)``, with their results.
    ///   - version: The name of the rules.
    ///   - lastUse: An SQL expression for the time at which a row of `posts` was last used.
    ///   - uses: An SQL expression for the number of times that the row was used.
    package func store(
        _ prepared: [(post: Unprepared, preparation: Preparation)], by version: String,
        lastUse: SQL, uses: SQL = "0"
    ) async throws {
        guard !prepared.isEmpty else { return }
        var rows: SQL = ""
        for (index, (unprepared, preparation)) in prepared.enumerated() {
            let id = unprepared.post.id
            let fitness = preparation.fitness
            let row: [SQLValue] = [
                id.network.rawValue.sqlValue, id.value.sqlValue, preparation.textKey.sqlValue,
                preparation.unfit.sqlValue, preparation.length.sqlValue, fitness.grade.sqlValue,
                fitness.window.sqlValue, fitness.reason.sqlValue, unprepared.earlier.rules.sqlValue,
            ]
            rows += index == 0 ? "\(list: row)" : ", \(list: row)"
        }
        try await storage.execute(
            """
            UPDATE posts SET text_key = prepared.column3, unfit = prepared.column4, length = prepared.column5,
                grade = prepared.column6, fit_when = prepared.column7, fit_reason = prepared.column8,
                rules = \(version), last_used_ms = \(lastUse), uses = \(uses)
            FROM (VALUES \(rows)) AS prepared
            WHERE posts.mirror = \(mirror) AND posts.network = prepared.column1
                AND posts.post_id = prepared.column2 AND posts.is_reply = FALSE
                AND posts.rules = prepared.column9
            """)
    }

    /// Returns some of the posts, without replies, that need to be prepared.
    ///
    /// - Parameters:
    ///   - need: The kind of posts to return.
    ///   - version: The name of the current rules.
    ///   - limit: The largest number of posts to return.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func unprepared(
        _ need: PreparationNeed = .outdated, by version: String, atMost limit: Int
    ) async throws -> [Unprepared] {
        // An index cannot search for "not equal", so the rows below and above are read.
        let conditions: [SQL] =
            switch need {
            case .unjudged: ["rules = ''"]
            case .outdated: ["rules < \(version)", "rules > \(version)"]
            }
        var rows: [SQLRow] = []
        for condition in conditions where rows.count < limit {
            rows += try await storage.query(
                """
                SELECT \(PostRow.fields), rules, grade, fit_when, fit_reason,
                    time_trusted AND EXISTS (
                        SELECT 1 FROM posts AS before
                        WHERE before.mirror = posts.mirror AND before.created_ms < posts.created_ms
                            AND before.created_ms > posts.created_ms - \(Int64(Post.closeTogether * 1_000))
                            AND before.is_reply = FALSE
                    ) AS follows_closely
                FROM posts
                WHERE mirror = \(mirror) AND is_reply = FALSE AND \(condition)
                ORDER BY rules LIMIT \(limit - rows.count)
                """)
        }
        guard !rows.isEmpty else { return [] }
        let posts = try rows.map(PostRow.post)
        let mirror = mirror
        let sequels = try await storage.read { try Self.sequels(of: posts, mirror, $0) }
        return try zip(posts, rows).map { post, row in
            Unprepared(
                post: post, sequel: sequels[post.id] ?? Sequel(),
                earlier: EarlierVerdict(
                    rules: try row.text("rules"), fitness: try StoredFitness(row)),
                followsClosely: try row.boolean("follows_closely"))
        }
    }

    /// The time of the last use of each text that was used after `time`, by text key.
    ///
    /// The latest use of any post with that text counts.
    package func usedTexts(since time: Date) async throws -> [String: Date] {
        let rows = try await storage.query(
            """
            SELECT text_key, MAX(last_used_ms) AS used_ms FROM posts
            WHERE mirror = \(mirror) AND last_used_ms > \(time) AND text_key IS NOT NULL GROUP BY text_key
            """)
        return Dictionary(try rows.map { (try $0.text("text_key"), try $0.date("used_ms")) }) {
            first, _ in first
        }
    }

    /// How often each used text was used, by text key; the uses of all posts with that text are
    /// added.
    package func uses() async throws -> [String: Int] {
        let rows = try await storage.query(
            """
            SELECT text_key, CAST(SUM(uses) AS BIGINT) AS uses FROM posts
            WHERE mirror = \(mirror) AND uses > 0 AND text_key IS NOT NULL GROUP BY text_key
            """)
        return Dictionary(try rows.map { (try $0.text("text_key"), try $0.int("uses")) }) {
            first, _ in first
        }
    }

    /// The numbers of archived posts by their use, with the reasons why posts are not sent.
    package struct Unsent: Equatable, Sendable {
        /// Replies.
        package var replies = 0
        /// Posts that are not used, by the stable name of the rule.
        package var unfit: [String: Int] = [:]
        /// Posts that are used on some days or at some hours only, by the stable name of the rule.
        package var sometimes: [String: Int] = [:]
        /// Posts that are used at any time.
        package var fit = 0
        /// The posts in ``fit`` with a grade below 0, which are used first.
        package var plain = 0
        /// Posts that are longer than the bot's server accepts.
        package var tooLong = 0
        /// Posts that are not judged yet; the worker does it soon.
        package var unjudged = 0
    }

    /// Whether the archive has a text that is used at any time or sometimes, or is not judged yet.
    ///
    /// - Parameter filter: As for ``unsent(_:)``.
    package func hasText(_ filter: TextFilter) async throws -> Bool {
        try await !storage.query("\(Self.text(of: "\(mirror)", filter)) LIMIT 1").isEmpty
    }

    /// Returns the mirrors among these for which ``hasText(_:)`` is true, in one statement.
    ///
    /// - Parameters:
    ///   - mirrors: The names, some hundred at most.
    ///   - filter: As for ``hasText(_:)``.
    package static func havingText(
        _ mirrors: [String], _ filter: TextFilter, in storage: any StorageEngine
    ) async throws -> Set<String> {
        guard !mirrors.isEmpty else { return [] }
        let rows = try await storage.query(
            """
            SELECT asked.column1 AS name FROM \(SQL.asked(mirrors))
            WHERE EXISTS (\(text(of: "asked.column1", filter)))
            """)
        return Set(try rows.map { try $0.text("name") })
    }

    /// Selects one text that is used at any time or sometimes, or is not judged yet.
    private static func text(of mirror: SQL, _ filter: TextFilter) -> SQL {
        let uses: [TextUse] = [.fit, .sometimes, .unjudged]
        return """
            SELECT 1 AS one FROM posts WHERE mirror = \(mirror) AND is_reply = FALSE
                AND \(filter.use) IN \(list: uses.map(\.rawValue))
            """
    }

    /// Counts the posts by their use and the reason for it.
    ///
    /// - Parameter filter: Its creation times are ignored.
    package func unsent(_ filter: TextFilter) async throws -> Unsent {
        let rows = try await storage.query(
            """
            SELECT text_use, reason, plain, COUNT(*) AS number FROM (
                SELECT \(filter.use) AS text_use, COALESCE(\(filter.reason), '') AS reason,
                    CASE WHEN grade < 0 THEN 1 ELSE 0 END AS plain
                FROM posts WHERE mirror = \(mirror)
            ) AS texts GROUP BY text_use, reason, plain
            """)
        var unsent = Unsent()
        for row in rows {
            let number = try row.int("number")
            let reason = try row.text("reason")
            switch try TextUse(row) {
            case .answer: unsent.replies += number
            case .unjudged: unsent.unjudged += number
            case .unfit: unsent.unfit[reason, default: 0] += number
            case .tooLong: unsent.tooLong += number
            case .sometimes: unsent.sometimes[reason, default: 0] += number
            case .fit:
                unsent.fit += number
                unsent.plain += try row.int("plain") == 1 ? number : 0
            }
        }
        return unsent
    }

    /// The alphabetically first and last of the names of the rules that prepared the posts.
    ///
    /// Replies are left out. An unprepared post counts with an empty name.
    ///
    /// - Returns: Nil if the archive holds only replies or nothing.
    package func preparedBy() async throws -> (first: String, last: String)? {
        let rules: SQL = "SELECT rules FROM posts WHERE mirror = \(mirror) AND is_reply = FALSE"
        let row = try await storage.query(
            """
            SELECT (\(rules) ORDER BY rules LIMIT 1) AS first, (\(rules) ORDER BY rules DESC LIMIT 1) AS last
            """
        ).first
        guard let row, let first = try row.optionalText("first"),
            let last = try row.optionalText("last")
        else {
            return nil
        }
        return (first, last)
    }

    /// A post that shows habits of the human: its client program is known, or it may have hashtags.
    package struct PostWithHabits: Sendable {
        package let text: String
        package let client: String?
        package let time: Date
        package let isReply: Bool
    }

    /// Returns the posts of a range of time that show habits of the human, replies included.
    ///
    /// - Parameters:
    ///   - previousEnd: The end of the previous range; nil to begin with the oldest posts.
    ///   - number: About how many posts the range has, with habits or without.
    /// - Returns: The posts that show habits, and the end of the range; nil if it is the last one.
    package func postsWithHabits(after previousEnd: Int64?, atMost number: Int) async throws -> (
        posts: [PostWithHabits], end: Int64?
    ) {
        let mirror = mirror
        return try await storage.read { connection in
            let isLater: SQL = "mirror = \(mirror) AND created_ms > \(previousEnd ?? .min)"
            let end = try connection.query(
                """
                SELECT created_ms FROM posts WHERE \(isLater)
                ORDER BY created_ms LIMIT 1 OFFSET \(number - 1)
                """
            ).first?.integer("created_ms")
            let posts = try connection.query(
                """
                SELECT text, client, created_ms, is_reply FROM posts
                WHERE \(isLater) AND created_ms <= \(end ?? .max)
                    AND (client IS NOT NULL
                        OR text LIKE '%#%' OR text LIKE '%＃%' OR text LIKE '%﹟%')
                """
            ).map { row in
                PostWithHabits(
                    text: try row.text("text"), client: try row.optionalText("client"),
                    time: try row.date("created_ms"), isReply: try row.boolean("is_reply"))
            }
            return (posts, end)
        }
    }

    /// Returns the rules' verdict on a post's text; `nil` if they have not judged it.
    package func fitness(of id: PostID) async throws -> StoredFitness? {
        let rows = try await storage.query(
            """
            SELECT grade, fit_when, fit_reason FROM posts
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND post_id = \(id.value) AND rules <> ''
            """)
        return try rows.first.map(StoredFitness.init)
    }

    /// How many posts of each minute of the day have a text that may be sent; posts whose time of
    /// day was lost are left out.
    ///
    /// - Returns: The numbers, for each grade and window that occurs, in any order.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func textCounts(_ filter: TextFilter) async throws -> [TextCount] {
        // The columns are grouped in the order of the index that covers the query.
        let rows = try await storage.query(
            """
            SELECT minute, grade, fit_when, COUNT(*) AS number FROM posts
            WHERE mirror = \(mirror) AND time_trusted = TRUE AND \(filter.condition)
            GROUP BY minute, grade, fit_when
            """)
        var counts: [String: [Int: TextCount]] = [:]
        for row in rows {
            guard let minute = MinuteOfDay(try row.int("minute")) else {
                throw ArchiveError(column: "minute")
            }
            let grade = try row.int("grade")
            let window = try row.text("fit_when")
            counts[window, default: [:]][grade, default: TextCount(grade: grade, window: window)]
                .minutes[minute.value] = try row.int("number")
        }
        return counts.values.flatMap(\.values)
    }

    /// The texts of these minutes of the day that may be sent; texts whose time of day was lost are
    /// left out.
    ///
    /// - Parameters:
    ///   - minutes: Ranges of minutes of the day that do not overlap.
    /// - Returns: The texts in any order, duplicates included.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func texts(in minutes: [ClosedRange<Int>], _ filter: TextFilter) async throws
        -> [StoredText]
    {
        var texts: [StoredText] = []
        for range in minutes {
            let minutes: SQL = "minute BETWEEN \(range.lowerBound) AND \(range.upperBound)"
            texts += try await self.texts(
                where: "time_trusted = TRUE AND \(minutes) AND \(filter.condition)")
        }
        return texts
    }

    /// The texts that may be sent and were posted between the filter's `start` and `end`; texts
    /// whose time of day was lost are left out.
    ///
    /// - Returns: The texts in any order, duplicates included.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func texts(ofEra filter: TextFilter) async throws -> [StoredText] {
        try await texts(
            where: """
                time_trusted = TRUE AND created_ms BETWEEN \(filter.start) AND \(filter.end)
                    AND \(filter.condition)
                """)
    }

    /// The creation time of the post whose text was the last to be used before an instant; `nil` if
    /// none was.
    package func dateOfText(usedBefore date: Date) async throws -> Date? {
        try await storage.query(
            """
            SELECT created_ms FROM posts WHERE mirror = \(mirror) AND last_used_ms < \(date)
            ORDER BY last_used_ms DESC, post_id, network LIMIT 1
            """
        ).first?.date("created_ms")
    }

    /// The texts that may be sent and whose time of day was lost.
    ///
    /// - Throws: ``ArchiveError``, or the store's error.
    package func textsOfLostTimes(_ filter: TextFilter) async throws -> [StoredText] {
        try await texts(where: "time_trusted = FALSE AND \(filter.condition)")
    }

    /// One of the texts of a minute, by its position from 0 in order of creation.
    ///
    /// - Returns: Nil if there are fewer.
    package func text(at minute: Int, number: Int, _ filter: TextFilter) async throws -> StoredText?
    {
        try await texts(
            where: """
                time_trusted = TRUE AND minute = \(minute) AND \(filter.condition)
                ORDER BY +created_ms, post_id, network LIMIT 1 OFFSET \(number)
                """
        ).first
    }

    /// Whether no earlier post in these minutes of the day has the same text.
    package func isFirst(
        _ text: StoredText, in minutes: [ClosedRange<Int>], _ filter: TextFilter
    ) async throws -> Bool {
        let sameTexts = try await texts(
            where: "text_key = \(text.textKey) AND \(filter.condition)")
        return !sameTexts.contains { other in
            guard let minute = other.minute, other.order < text.order else { return false }
            return minutes.contains { range in range.contains(minute.value) }
        }
    }

    private func texts(where condition: SQL) async throws -> [StoredText] {
        try await storage.query(
            """
            SELECT network, post_id, minute, time_trusted, text_key, created_ms FROM posts
            WHERE mirror = \(mirror) AND \(condition)
            """
        ).map(Self.text)
    }

    private static func text(_ row: SQLRow) throws -> StoredText {
        guard let network = NetworkName(rawValue: try row.text("network")) else {
            throw ArchiveError(column: "network")
        }
        guard let minute = MinuteOfDay(try row.int("minute")) else {
            throw ArchiveError(column: "minute")
        }
        return StoredText(
            id: PostID(network: network, value: try row.text("post_id")),
            minute: try row.boolean("time_trusted") ? minute : nil,
            textKey: try row.text("text_key"),
            createdAt: try row.date("created_ms"))
    }
}

extension Archive.StoredText {
    /// The sort key of texts by creation, the oldest first.
    fileprivate var order: (Date, String, String) { (createdAt, id.value, id.network.rawValue) }
}

extension Archive.StoredFitness {
    init(_ row: SQLRow) throws {
        self.init(
            grade: try row.int("grade"), window: try row.text("fit_when"),
            reason: try row.optionalText("fit_reason"))
    }
}

extension Archive.TextUse {
    init(_ row: SQLRow) throws {
        guard let use = Self(rawValue: try row.text("text_use")) else {
            throw ArchiveError(column: "text_use")
        }
        self = use
    }
}

extension Archive.TextFilter {
    /// A filter that every text passes.
    static let all = Self(longest: .max)

    /// An expression over a row of `posts`: the ``Archive/TextUse`` of its text.
    var use: SQL {
        let timed: SQL = windows == nil ? "" : " WHEN fit_when <> '' THEN 'sometimes'"
        return """
            CASE WHEN is_reply = TRUE THEN 'answer' WHEN rules = '' THEN 'unjudged' WHEN unfit IS NOT NULL THEN 'unfit'
                WHEN length > \(longest) THEN 'too-long' WHEN grade > \(grade) THEN 'unfit'\(timed) ELSE 'fit' END
            """
    }

    /// An expression over a row of `posts`: the stable code of the rule that decides ``use``,
    /// `too-long` for a long one; null if no rule does.
    var reason: SQL {
        """
        CASE WHEN is_reply = TRUE OR rules = '' THEN NULL WHEN unfit IS NOT NULL THEN unfit
            WHEN length > \(longest) THEN \(Archive.TextUse.tooLong.rawValue) WHEN grade > \(grade) OR fit_when <> '' THEN fit_reason END
        """
    }
}
