import Foundation
import Localization
import Posts
package import Storage

/// The mapping of a post to a row of the table `posts`.
package enum PostRow {
    /// The columns written when a post is archived.
    ///
    /// The programs that the benchmarks compare with this one write the same columns.
    package static let columns: [(name: String, type: ColumnType)] = [
        ("mirror", .text), ("network", .text), ("post_id", .text), ("author", .text),
        ("address", .text),
        ("text", .text), ("created_ms", .integer), ("minute", .integer), ("local_day", .text),
        ("is_reply", .boolean), ("reply_to_author", .text), ("reply_to_post", .text),
        ("visibility", .text),
        ("language", .text), ("has_media", .boolean), ("mentions", .text),
        ("sensitive", .boolean), ("time_trusted", .boolean),
        ("warning", .text), ("client", .text), ("pictures", .text), ("utc_offset", .integer),
        ("is_quote", .boolean), ("link_words", .text),
    ]

    /// The columns that ``post(_:)`` reads.
    static let fields: SQL = """
        network, post_id, author, address, text, created_ms, is_reply, reply_to_author, reply_to_post,
        visibility, language, has_media, mentions, sensitive, time_trusted, warning, client, pictures,
        utc_offset, is_quote, link_words
        """

    /// The beginning of a query for posts.
    static let selection: SQL = "SELECT \(fields) FROM posts"

    /// The values of ``columns``.
    static func values(_ post: Post, mirror: String, zones: ZoneHistory) -> [SQLValue] {
        let time = zones.time(of: post)
        return [
            mirror.sqlValue, post.id.network.rawValue.sqlValue, post.id.value.sqlValue,
            post.author.value.sqlValue,
            post.address.sqlValue, post.text.sqlValue, post.createdAt.sqlValue,
            time.minute.value.sqlValue,
            time.day.description.sqlValue, post.isReply.sqlValue,
            post.replyTo?.author?.value.sqlValue ?? .null,
            post.replyTo?.post?.value.sqlValue ?? .null,
            post.visibility.rawValue.sqlValue, post.language.sqlValue, post.hasMedia.sqlValue,
            post.mentions.map(\.value).joined(separator: " ").sqlValue, post.isSensitive.sqlValue,
            post.isTimeTrusted.sqlValue, post.warning.sqlValue, post.client.sqlValue,
            post.pictures.stored.sqlValue,
            post.utcOffset.sqlValue, post.isQuote.sqlValue, post.storedLinkWords.sqlValue,
        ]
    }

    static func post(_ row: SQLRow) throws -> Post {
        guard let network = NetworkName(rawValue: try row.text("network")) else {
            throw ArchiveError(column: "network")
        }
        guard let visibility = Visibility(rawValue: try row.text("visibility")) else {
            throw ArchiveError(column: "visibility")
        }
        func account(_ value: String) -> AccountID { AccountID(network: network, value: value) }
        let answered = ReplyTarget(
            author: try row.optionalText("reply_to_author").map(account),
            post: try row.optionalText("reply_to_post").map { PostID(network: network, value: $0) })
        var post = Post(
            id: PostID(network: network, value: try row.text("post_id")),
            author: account(try row.optionalText("author") ?? ""), text: try row.text("text"),
            createdAt: try row.date("created_ms"), isTimeTrusted: try row.boolean("time_trusted"),
            replyTo: try row.boolean("is_reply") ? answered : nil, isRepost: false,
            visibility: visibility,
            language: try row.optionalText("language"), hasMedia: try row.boolean("has_media"),
            isSensitive: try row.boolean("sensitive"),
            mentions: try row.text("mentions").split(separator: " ").map { account(String($0)) },
            address: try row.optionalText("address"), warning: try row.optionalText("warning"),
            client: try row.optionalText("client"),
            pictures: [Picture](stored: try row.optionalText("pictures")),
            utcOffset: try row.optionalInteger("utc_offset").map(Int.init),
            isQuote: try row.boolean("is_quote"))
        post.linkWords =
            try row.optionalText("link_words")?.split(separator: "\n").map(String.init) ?? []
        return post
    }

    /// Deletes posts, a few hundred in one statement.
    static func delete(_ ids: [PostID], of mirror: String, on connection: any StorageConnection)
        throws
    {
        try forEachPortion(of: ids) { network, values in
            try connection.execute(
                "DELETE FROM posts WHERE mirror = \(mirror) AND network = \(network) AND post_id IN \(list: values)"
            )
            try connection.execute(
                "DELETE FROM pictures WHERE mirror = \(mirror) AND network = \(network) AND post_id IN \(list: values)"
            )
            // The person's verdicts on a deleted post's text are removed too.
            try connection.execute(
                "DELETE FROM text_labels WHERE mirror = \(mirror) AND network = \(network) AND post_id IN \(list: values)"
            )
        }
    }

    /// Calls `body` for portions of the ids; each portion has at most 500 ids of one network.
    static func forEachPortion(
        of ids: [PostID], _ body: (_ network: String, _ values: [String]) throws -> Void
    ) throws {
        for (network, group) in Dictionary(grouping: ids, by: \.network) {
            for values in group.map(\.value).portions { try body(network.rawValue, values) }
        }
    }
}

extension Post {
    /// The link words as they are stored, one per line; nil for none.
    ///
    /// Words of more than one line are skipped; of the first 100 words the others are stored.
    var storedLinkWords: String? {
        let words = linkWords.prefix(100).filter {
            !$0.isEmpty && !$0.contains(where: \.isNewline) && !$0.containsNUL
        }
        return words.isEmpty ? nil : words.joined(separator: "\n")
    }

    /// The post in a form that every database accepts: without NUL characters, and with a time
    /// within the years that a calendar writes with four digits.
    var storable: Post { isStorable ? self : cleaned }

    /// Whether the post can certainly be stored unchanged, as nearly every post can.
    ///
    /// This test is fast. It is also false for a post that ``cleaned`` may leave unchanged.
    private var isStorable: Bool {
        !id.value.containsNUL && !author.value.containsNUL && address?.containsNUL != true
            && !text.containsNUL
            && language?.containsNUL != true && warning?.containsNUL != true
            && client?.containsNUL != true
            && replyTo?.author?.value.containsNUL != true
            && replyTo?.post?.value.containsNUL != true
            && Self.storableTimes.contains(createdAt.timeIntervalSince1970)
            && mentions.allSatisfy { $0.value.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
    }

    /// The times that can be stored, in seconds since 1970: 0001-01-02 to 9999-12-30.
    ///
    /// The first and the last day of these years are left out, so that the local time has a year
    /// of four digits in each time zone.
    private static let storableTimes = -62_135_510_400...253_402_128_000.0

    /// The post without NUL characters and unstorable mentions, with its time moved into
    /// `storableTimes`.
    private var cleaned: Post {
        var post = self
        post.id.value = id.value.withoutNUL
        post.author.value = author.value.withoutNUL
        post.address = address?.withoutNUL
        post.text = text.withoutNUL
        post.language = language?.withoutNUL
        post.warning = warning?.withoutNUL
        post.client = client?.withoutNUL
        post.replyTo?.author?.value = replyTo?.author?.value.withoutNUL ?? ""
        post.replyTo?.post?.value = replyTo?.post?.value.withoutNUL ?? ""
        // The accounts are stored separated by spaces, so names with a space are dropped; no
        // account has one.
        post.mentions = mentions.filter {
            !$0.value.contains(where: \.isWhitespace) && !$0.value.containsNUL
        }
        let seconds = createdAt.timeIntervalSince1970
        if !Self.storableTimes.contains(seconds) {
            let range = Self.storableTimes
            post.createdAt = Date(
                timeIntervalSince1970: seconds > 0 ? range.upperBound : range.lowerBound)
            post.isTimeTrusted = false
        }
        return post
    }
}

extension String {
    fileprivate var withoutNUL: String {
        containsNUL ? replacingOccurrences(of: "\0", with: "") : self
    }
}

/// An error for a row that the archive cannot parse, because another program changed the database.
package struct ArchiveError: Error, CustomStringConvertible, Sendable {
    /// The column that holds an unknown value.
    package let column: String
    /// The table of the column.
    package let table: String

    package init(column: String, of table: String = "posts") {
        self.column = column
        self.table = table
    }

    package var description: String {
        // The other tables hold a person's decisions, which no training restores.
        let isLearned = ["posts", "posting_days", "pictures"].contains(table)
        return localized(
            isLearned
                ? "could not read the archive: column \(column) of table \(table) holds an unknown value; run `mirror-bot train scheduler --again`"
                : "could not read the archive: column \(column) of table \(table) holds an unknown value; mend or delete its row"
        )
    }
}
