package import Foundation
package import Posts
package import Storage

/// Digests of forgotten posts and people.
///
/// Of a forgotten post or person only the digest is kept. It recognizes the post or person when a
/// feed or an archive contains them again.
extension Archive {
    /// One thing that was forgotten or muted.
    package struct Note: Equatable, Sendable {
        /// `post` or `person` for a forgotten item, or the kind of a muted item.
        package let kind: String
        /// The digest of a forgotten item, or the muted value.
        package let value: String
        /// When the item was forgotten or muted.
        package let noted: Date
    }

    // MARK: Posts

    /// Removes posts for good: no feed or archive brings them in again.
    ///
    /// - Parameters:
    ///   - ids: The posts; those that are not archived yet are kept out too.
    ///   - seen: The digest (``Kept/seen``) of the first post, as the user was shown it; the call
    ///     fails if the post differs now. Nil skips this check.
    /// - Throws: `SeenChanged`; the store's error.
    package func forgetForGood(_ ids: [PostID], seen: Seen? = nil, now: Date) async throws {
        let mirror = mirror
        let digests = ids.map(\.forgottenDigest)
        try await storage.transaction { connection in
            if let first = ids.first { try Self.require(seen, of: first, mirror, connection) }
            try Self.note(digests, as: "post", of: mirror, on: connection, now: now)
            try Self.remove(ids, of: mirror, on: connection)
        }
    }

    static func note(
        _ digests: [String], as kind: String, of mirror: String,
        on connection: any StorageConnection, now: Date
    ) throws {
        for digest in digests {
            try connection.execute(
                """
                INSERT INTO forgotten (mirror, kind, digest, noted_ms) VALUES (\(mirror), \(kind), \(digest), \(now))
                ON CONFLICT (mirror, kind, digest) DO NOTHING
                """)
        }
    }

    /// Whether a post was forgotten for good.
    package func isForgotten(_ id: PostID) async throws -> Bool {
        try await !storage.query(
            """
            SELECT 1 AS one FROM forgotten
            WHERE mirror = \(mirror) AND kind = 'post' AND digest = \(id.forgottenDigest)
            """
        ).isEmpty
    }

    /// Allows a forgotten post to be archived again, as soon as a feed or an archive contains it.
    ///
    /// - Parameter digest: The digest of the post, or a beginning that no other digest shares.
    /// - Returns: False if no forgotten post, or more than one, has such a digest.
    package func readmit(_ digest: String) async throws -> Bool {
        let mirror = mirror
        guard !digest.isEmpty, digest.allSatisfy({ "0123456789abcdef".contains($0) }) else {
            return false
        }
        return try await storage.transaction { connection in
            let matches = try connection.query(
                """
                SELECT digest FROM forgotten
                WHERE mirror = \(mirror) AND kind = 'post' AND digest LIKE \(digest + "%") LIMIT 2
                """)
            guard matches.count == 1 else { return false }
            return try connection.execute(
                """
                DELETE FROM forgotten
                WHERE mirror = \(mirror) AND kind = 'post' AND digest = \(try matches[0].text("digest"))
                """) == 1
        }
    }

    /// Returns the notes of forgotten posts and people, the latest first.
    package func forgotten() async throws -> [Note] {
        try await storage.query(
            """
            SELECT kind, digest AS value, noted_ms FROM forgotten WHERE mirror = \(mirror)
            ORDER BY noted_ms DESC, kind, digest
            """
        ).map(Self.note)
    }

    /// Returns the posts of a batch without forgotten ones and without those that answer or mention
    /// a forgotten person.
    static func withoutForgotten(
        _ posts: [Post], of mirror: String, on connection: any StorageConnection
    ) throws -> [Post] {
        // Most mirrors have forgotten nothing, and need no further query.
        let anyForgotten = try connection.query(
            "SELECT 1 AS one FROM forgotten WHERE mirror = \(mirror) LIMIT 1")
        guard !anyForgotten.isEmpty, !posts.isEmpty else { return posts }
        var digestsOfPosts: [[String]] = []
        for post in posts {
            let people = post.mentions + [post.replyTo?.author].compactMap(\.self)
            digestsOfPosts.append([post.id.forgottenDigest] + people.map(\.forgottenDigest))
        }
        var forgotten: Set<String> = []
        for portion in Array(Set(digestsOfPosts.joined())).portions {
            let rows = try connection.query(
                """
                SELECT digest FROM forgotten
                WHERE mirror = \(mirror) AND kind IN ('post', 'person') AND digest IN \(list: portion)
                """)
            forgotten.formUnion(try rows.map { try $0.text("digest") })
        }
        return zip(posts, digestsOfPosts).filter { forgotten.isDisjoint(with: $1) }.map(\.0)
    }

    /// Applies what was forgotten and excluded again, after an older state of the archive was
    /// restored.
    ///
    /// Removes the posts that were forgotten for good, and excludes the texts that a person never
    /// wants to be sent. Marks forgotten people as being forgotten, see
    /// ``People/beingForgotten()``.
    ///
    /// - Parameter now: The time that is stored with the people.
    package static func forgetAgain(
        of mirror: String, on connection: any StorageConnection, now: Date
    ) throws {
        let digests = Set(
            try connection.query("SELECT digest FROM forgotten WHERE mirror = \(mirror)").map {
                try $0.text("digest")
            })
        if !digests.isEmpty {
            let posts = try connection.query(
                """
                SELECT network, post_id FROM posts WHERE mirror = \(mirror)
                UNION SELECT network, post_id FROM text_labels WHERE mirror = \(mirror)
                """)
            let forgottenPosts = try posts.compactMap { row -> PostID? in
                guard let network = NetworkName(rawValue: try row.text("network")) else {
                    return nil
                }
                let id = PostID(network: network, value: try row.text("post_id"))
                return digests.contains(id.forgottenDigest) ? id : nil
            }
            try remove(forgottenPosts, of: mirror, on: connection)
            try People.forgetAgain(digests, of: mirror, on: connection, now: now)
        }
        try connection.execute(
            """
            UPDATE posts SET unfit = \(never) WHERE mirror = \(mirror) AND text_key IS NOT NULL
                AND text_key IN (SELECT text_key FROM never_texts WHERE mirror = \(mirror))
            """)
    }

    // MARK: Words and days

    /// Returns the muted items, in the order in which they were muted.
    package func muted() async throws -> [Note] {
        try await storage.query(
            "SELECT kind, value, noted_ms FROM muted WHERE mirror = \(mirror) ORDER BY noted_ms, kind, value"
        ).map(Self.note)
    }

    /// The conditions that apply to all texts when one is chosen or sent.
    package struct Circumstances: Sendable {
        /// The keys of texts that are never sent.
        package fileprivate(set) var never: Set<String> = []
        package fileprivate(set) var muted: [Note] = []
        /// The time zones in which the human lived.
        package fileprivate(set) var zones: ZoneHistory
        /// When the human last posted, as far as the bot has seen.
        package fileprivate(set) var lastActivity: Date?
        /// How much of the human's past is known, in the form stored with the mirror; nil if
        /// nothing is stored.
        package fileprivate(set) var past: String?
        /// The number of texts with a label.
        package fileprivate(set) var labels = 0
        /// The mirror's version, which operations of a person raise.
        package fileprivate(set) var version: Int64 = 0
    }

    /// Reads the conditions in one statement.
    ///
    /// - Parameter home: The zone of all times for which no other zone is noted.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func circumstances(home: TimeZone) async throws -> Circumstances {
        try Circumstances(home: home, try await storage.query(Circumstances.selection(of: mirror)))
    }

    /// Reads the conditions inside a transaction.
    package static func circumstances(
        of mirror: String, home: TimeZone, on connection: any StorageConnection
    ) throws -> Circumstances {
        try Circumstances(home: home, try connection.query(Circumstances.selection(of: mirror)))
    }

    fileprivate static func note(_ row: SQLRow) throws -> Note {
        Note(
            kind: try row.text("kind"), value: try row.text("value"),
            noted: try row.date("noted_ms"))
    }

    /// Mutes a word or another item.
    ///
    /// - Returns: False if it was muted already.
    package func mute(_ kind: String, _ value: String, seen: Seen? = nil, now: Date) async throws
        -> Bool
    {
        try await execute(
            """
            INSERT INTO muted (mirror, kind, value, noted_ms) VALUES (\(mirror), \(kind), \(value), \(now))
            ON CONFLICT (mirror, kind, value) DO NOTHING
            """, muting: (kind, value), seen: seen)
    }

    /// The digest of the facts that a person is shown about an item: its kind, its value, and
    /// whether it is muted.
    package static func seen(_ kind: String, _ value: String, isMuted: Bool) -> Seen {
        Seen(of: kind, value, "\(isMuted)")
    }

    /// Mutes or unmutes an item, unless its state differs from the one that the person saw.
    private func execute(
        _ statement: SQL, muting subject: (kind: String, value: String), seen: Seen?
    ) async throws -> Bool {
        let mirror = mirror
        let kind = subject.kind
        let value = subject.value
        return try await storage.transaction { connection in
            if seen != nil {
                let mutedRows = try connection.query(
                    "SELECT 1 AS one FROM muted WHERE mirror = \(mirror) AND kind = \(kind) AND value = \(value)"
                )
                try seen.require(Self.seen(kind, value, isMuted: !mutedRows.isEmpty))
            }
            return try connection.execute(statement) == 1
        }
    }

    /// Unmutes an item.
    ///
    /// - Returns: False if it was not muted.
    package func unmute(_ kind: String, _ value: String, seen: Seen? = nil) async throws -> Bool {
        try await execute(
            "DELETE FROM muted WHERE mirror = \(mirror) AND kind = \(kind) AND value = \(value)",
            muting: (kind, value), seen: seen)
    }

    /// Returns the ids of the posts, replies included, that a rule selects.
    ///
    /// The rule gets the creation time and a text: the content warning, the post's text and the
    /// descriptions of its pictures, joined by line breaks.
    ///
    /// - Throws: ``ArchiveError``, or the store's error.
    package func ids(
        where isSelected: @escaping @Sendable (_ text: String, _ created: Date) -> Bool
    ) async throws -> [PostID] {
        let mirror = mirror
        return try await storage.read { connection in
            var ids: [PostID] = []
            try connection.forEach(
                "SELECT network, post_id, text, warning, pictures, created_ms FROM posts WHERE mirror = \(mirror)"
            ) { row in
                let texts =
                    [try row.optionalText("warning"), try row.text("text")].compactMap(\.self)
                    + [Picture](stored: try row.optionalText("pictures")).map(\.alt)
                guard isSelected(texts.joined(separator: "\n"), try row.date("created_ms")) else {
                    return
                }
                guard let network = NetworkName(rawValue: try row.text("network")) else {
                    throw ArchiveError(column: "network")
                }
                ids.append(PostID(network: network, value: try row.text("post_id")))
            }
            return ids
        }
    }

    // MARK: The human's presence

    fileprivate static let activityCounter = "human.active"

    /// Notes when the human posted; ignores a time that is earlier than the known one.
    package func noteActivity(at time: Date) async throws {
        try await storage.execute(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(Self.activityCounter), \(time.milliseconds))
            ON CONFLICT (mirror, name) DO UPDATE SET value = excluded.value WHERE counters.value < excluded.value
            """)
    }
}

extension Archive.Circumstances {
    /// The content of a row of ``selection(of:)``: its column `part`.
    private enum Part: Int {
        /// The key `value` of a text that a person excluded.
        case neverText = 0
        /// A muted word or day.
        case muted = 1
        /// The first day, the last day and the name of a time zone, in `value`.
        case zone = 2
        /// The human's last activity, at `noted_ms`.
        case activity = 3
        /// The number of a person's labels, in `noted_ms`.
        case labelCount = 4
        /// The known past of the mirror, in `value`, and its version, in `noted_ms`.
        case mirror = 5
    }

    /// Selects rows of six kinds; the column `part` tells the kind, as in ``Part``.
    fileprivate static func selection(of mirror: String) -> SQL {
        """
        SELECT 0 AS part, '' AS kind, text_key AS value, noted_ms FROM never_texts WHERE mirror = \(mirror)
        UNION ALL SELECT 1, kind, value, noted_ms FROM muted WHERE mirror = \(mirror)
        UNION ALL SELECT 2, '', first_day || ' ' || last_day || ' ' || time_zone, noted_ms FROM zones
        WHERE mirror = \(mirror)
        UNION ALL SELECT 3, '', '', value FROM counters WHERE mirror = \(mirror) AND name = \(Archive.activityCounter)
        UNION ALL SELECT 4, '', '', COUNT(*) FROM text_labels WHERE mirror = \(mirror)
        UNION ALL SELECT 5, '', COALESCE(past, ''), version FROM mirrors WHERE mirror = \(mirror)
        """
    }

    fileprivate init(home: TimeZone, _ rows: [SQLRow]) throws {
        var spans: [ZoneSpan] = []
        zones = ZoneHistory(home: home)
        for row in rows {
            let value = try row.text("value")
            switch Part(rawValue: try row.int("part")) {
            case .neverText: never.insert(value)
            case .muted: muted.append(try Archive.note(row))
            case .zone:
                spans.append(
                    try Archive.zoneSpan(value.split(separator: " ", maxSplits: 2).map(String.init))
                )
            case .activity: lastActivity = try row.date("noted_ms")
            case .labelCount: labels = try row.int("noted_ms")
            case .mirror, nil:
                past = value.isEmpty ? nil : value
                version = try row.integer("noted_ms")
            }
        }
        zones = ZoneHistory(home: home, spans: spans)
    }
}
