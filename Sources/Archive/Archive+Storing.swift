package import Foundation
package import Posts
import Storage

extension Archive {
    /// Stores the open posts of a batch and removes the oldest posts above the limit, in one
    /// transaction.
    ///
    /// A known post is not overwritten; only missing facts are filled in: its author, address,
    /// language, warning, client, pictures, the words of its links, the answered post, whether it
    /// quotes a post, its UTC offset, and a trusted time of day. A known post that is no longer
    /// open is removed.
    ///
    /// - Parameters:
    ///   - posts: The human's posts, in any order.
    ///   - timeZone: The zone for minute and day if no other is known, see ``zones(home:)``.
    ///   - limit: The number of posts to keep: the newest by time, and among equal times those with
    ///     the higher id. Nil removes none and leaves that to a later call, because removing takes
    ///     longer the higher the limit is.
    /// - Throws: `StorageError` or `CancellationError`; then nothing was stored.
    package func store(
        _ posts: [Post], timeZone: TimeZone, limit: Int?
    ) async throws -> StoreSummary {
        let (open, hidden) = Self.splitByVisibility(posts)
        var counts = StoreSummary()
        counts.notOpen = hidden.count
        counts.reposts = posts.count - open.count - hidden.count
        let mirror = mirror
        let initialSummary = counts
        let summary = try await storage.transaction { connection in
            var summary = initialSummary
            let wanted = try Self.withoutForgotten(open, of: mirror, on: connection)
            summary.unwanted = open.count - wanted.count
            let zones = try Self.zones(mirror, home: timeZone, connection)
            let batch = BulkInsert(
                into: "posts", columns: PostRow.columns, count: wanted.count, onConflict: .ignore
            ) {
                PostRow.values(wanted[$0], mirror: mirror, zones: zones)
            }
            var days = try Self.days(of: hidden, mirror, connection)
            try PostRow.delete(hidden, of: mirror, on: connection)
            summary.stored = try connection.insert(batch)
            summary.alreadyKnown = wanted.count - summary.stored
            if summary.stored > 0 {
                days.formUnion(try Self.days(of: wanted.map(\.id), mirror, connection))
            }
            // Usually all posts are new, and there is nothing to complete.
            if summary.alreadyKnown > 0 {
                days.formUnion(try Self.complete(wanted, of: mirror, in: zones, on: connection))
            }
            try Self.unjudgeHeads(of: wanted, mirror, connection)
            // An empty batch is a call that only prunes.
            if let limit, summary.stored > 0 || wanted.isEmpty {
                summary.pruned = try Self.prune(mirror, to: limit, on: connection)
            }
            try Self.repack(days, mirror, connection)
            return summary
        }
        await storage.analyse(["posts"], of: mirror, after: summary.stored)
        return summary
    }

    /// Updates the text, the language and the kind of a known post; its times stay unchanged.
    package func rewrite(_ post: Post) async throws {
        let post = post.storable
        let mirror = mirror
        try await storage.transaction { connection in
            _ = try connection.execute(
                """
                UPDATE posts SET text = \(post.text), language = \(post.language), has_media = \(post.hasMedia),
                    sensitive = \(post.isSensitive), mentions = \(post.mentions.map(\.value).joined(separator: " ")),
                    warning = \(post.warning), pictures = \(post.pictures.stored), is_quote = \(post.isQuote),
                    link_words = \(post.storedLinkWords),
                    text_key = NULL, unfit = NULL, rules = ''
                WHERE mirror = \(mirror) AND network = \(post.id.network.rawValue) AND post_id = \(post.id.value)
                """)
        }
    }

    /// Returns the human's own posts that everybody may read, and the ids of their own posts that
    /// not everybody may read; reposts are left out.
    private static func splitByVisibility(_ posts: [Post]) -> (open: [Post], hidden: [PostID]) {
        var open: [Post] = []
        open.reserveCapacity(posts.count)
        var hidden: [PostID] = []
        for post in posts where !post.isRepost {
            let post = post.storable
            if post.isOpen { open.append(post) } else { hidden.append(post.id) }
        }
        return (open, hidden)
    }

    /// Fills in missing facts of known posts and returns the days of these posts.
    private static func complete(
        _ posts: [Post], of mirror: String, in zones: ZoneHistory,
        on connection: any StorageConnection
    ) throws -> Set<String> {
        var days: Set<String> = []
        var storedPosts: [PostID: Post] = [:]
        try PostRow.forEachPortion(of: posts.map(\.id)) { network, values in
            let rows = try connection.query(
                PostRow.selection
                    + " WHERE mirror = \(mirror) AND network = \(network) AND post_id IN \(list: values)"
            )
            for post in try rows.map(PostRow.post) { storedPosts[post.id] = post }
        }
        for post in posts {
            guard let stored = storedPosts[post.id] else { continue }
            let completed = stored.completed(by: post)
            guard completed != stored else { continue }
            storedPosts[post.id] = completed
            // A trusted time may put the post on another day, so both days change.
            for version in [stored, completed] {
                days.insert(zones.time(of: version).day.description)
            }
            try update(completed, of: mirror, in: zones, on: connection)
        }
        return days
    }

    private static func update(
        _ post: Post, of mirror: String, in zones: ZoneHistory, on connection: any StorageConnection
    ) throws {
        let time = zones.time(of: post)
        try connection.execute(
            """
            UPDATE posts SET author = \(post.author.value), address = \(post.address), language = \(post.language),
                warning = \(post.warning), client = \(post.client), pictures = \(post.pictures.stored),
                is_reply = \(post.isReply), reply_to_author = \(post.replyTo?.author?.value),
                reply_to_post = \(post.replyTo?.post?.value), time_trusted = \(post.isTimeTrusted),
                created_ms = \(post.createdAt), minute = \(time.minute.value), local_day = \(time.day.description),
                utc_offset = \(post.utcOffset), is_quote = \(post.isQuote),
                link_words = \(post.storedLinkWords),
                text_key = NULL, unfit = NULL, rules = ''
            WHERE mirror = \(mirror) AND network = \(post.id.network.rawValue) AND post_id = \(post.id.value)
            """)
    }

    /// Deletes all but the newest `limit` posts and returns the number of deleted ones.
    private static func prune(_ mirror: String, to limit: Int, on connection: any StorageConnection)
        throws -> Int
    {
        guard limit > 0 else {
            try unpack(mirror, connection)
            try deletePictures(where: "TRUE", of: mirror, on: connection)
            return try connection.execute("DELETE FROM posts WHERE mirror = \(mirror)")
        }
        let oldestKept = try connection.query(
            """
            SELECT created_ms, post_id, network FROM posts WHERE mirror = \(mirror)
            ORDER BY created_ms DESC, post_id DESC, network DESC LIMIT 1 OFFSET \(limit - 1)
            """
        ).first
        guard let oldestKept else { return 0 }
        let time = try oldestKept.integer("created_ms")
        let id = try oldestKept.text("post_id")
        // The condition with `<=` follows from the others, but only it can use the index.
        let older: SQL = """
            mirror = \(mirror) AND created_ms <= \(time) AND (created_ms < \(time)
                OR (created_ms = \(time) AND post_id < \(id))
                OR (created_ms = \(time) AND post_id = \(id) AND network < \(try oldestKept.text("network"))))
            """
        let days = try connection.query("SELECT DISTINCT local_day FROM posts WHERE \(older)")
        guard !days.isEmpty else { return 0 }
        let pruned = try connection.execute("DELETE FROM posts WHERE \(older)")
        try deletePictures(where: orphaned, of: mirror, on: connection)
        try repack(Set(try days.map { try $0.text("local_day") }), mirror, connection)
        return pruned
    }
}

extension Post {
    /// Merges the fields that only `other`, a second reading of the same post, has.
    fileprivate func completed(by other: Post) -> Post {
        var post = self
        if author.value.isEmpty { post.author = other.author }
        post.address = address ?? other.address
        post.language = language ?? other.language
        post.client = client ?? other.client
        if isSensitive { post.warning = warning ?? other.warning }
        post.complete(picturesFrom: other)
        post.isQuote = isQuote || other.isQuote
        if text == other.text, linkWords.isEmpty { post.linkWords = other.linkWords }
        if let answered = other.replyTo {
            post.replyTo = ReplyTarget(
                author: replyTo?.author ?? answered.author, post: replyTo?.post ?? answered.post)
        }
        if !isTimeTrusted && other.isTimeTrusted {
            post.createdAt = other.createdAt
            post.isTimeTrusted = true
        }
        if createdAt == other.createdAt || !isTimeTrusted {
            post.utcOffset = utcOffset ?? other.utcOffset
        }
        return post
    }
}
