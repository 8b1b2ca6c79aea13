import Foundation
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport

/// The past of a mirror that has worked for years.
struct WebData: Sendable {
    private let origin: Date
    private let postCount: Int
    private let exampleCount: Int
    private let actionCount: Int

    init(_ bench: Bench, endingAt origin: Date) {
        self.origin = origin
        postCount = bench.amount(10_000, smoke: 300)
        exampleCount = bench.amount(50_000, smoke: 300)
        actionCount = bench.amount(100_000, smoke: 300)
    }

    private struct PostLine: Encodable {
        let id: String
        let author: String
        let text: String
        let createdAt: String
        let favorite: Bool?

        enum CodingKeys: String, CodingKey {
            case id, author, text, favorite
            case createdAt = "created_at"
        }
    }

    private static func lines(_ lines: some Sequence<PostLine>) throws -> Data {
        let encoder = JSONEncoder()
        return try lines.reduce(into: Data()) { data, line in
            data += try encoder.encode(line)
            data.append(UInt8(ascii: "\n"))
        }
    }

    /// The human's posts, three a day.
    var postLines: Data {
        get throws {
            var generator = SampleGenerator(seed: 8)
            return try Self.lines(
                Timeline(count: postCount, seed: 6).posts.enumerated().map { number, post in
                    let time =
                        origin - 3_600 - Double(number) * 28_800
                        - Double(generator.number(below: 20_000))
                    return PostLine(
                        id: "https://social.example/posts/\(number)", author: "human",
                        text: post.text,
                        createdAt: time.rfc3339, favorite: nil)
                })
        }
    }

    /// The classifier's examples: posts of others, each with whether the human favorited it.
    var exampleLines: Data {
        get throws {
            try Self.lines(
                Timeline(count: exampleCount, seed: 7).posts.enumerated().map { number, post in
                    PostLine(
                        id: "https://social.example/others/\(number)", author: post.author,
                        text: post.text,
                        createdAt: (origin - 86_400).rfc3339, favorite: post.isFavorite)
                })
        }
    }

    /// Posts of others from which the worker has learned, and which its network has.
    static func targets(in storage: any StorageEngine) async throws -> [Action.Target] {
        try await storage.query("SELECT network, post_id, author FROM examples ORDER BY post_id")
            .compactMap { row in
                let identity = try row.text("post_id")
                guard let network = NetworkName(rawValue: try row.text("network")),
                    let address = identity.split(separator: "/").last,
                    let author = try row.optionalText("author")
                else { return nil }
                return Action.Target(
                    post: identity, author: AccountID(network: network, value: author),
                    address: String(address))
            }
    }

    /// Stores what the bot has done and left alone in eleven months.
    func storeActions(in storage: any StorageEngine, at now: Date) async throws {
        let count = actionCount
        try await storage.transaction { connection in
            try connection.insert(
                BulkInsert(into: "actions", columns: Self.columns, count: count) {
                    Self.action($0, of: count, at: now)
                }
            )
        }
    }

    private static let columns: [(name: String, type: ColumnType)] = [
        ("mirror", .text), ("id", .text), ("kind", .text), ("subject", .text), ("state", .text),
        ("due_ms", .integer),
        ("expires_ms", .integer), ("pinned", .boolean), ("source_network", .text),
        ("source_post_id", .text),
        ("target_network", .text), ("target_post_id", .text), ("target_author", .text),
        ("target_address", .text),
        ("thread", .text), ("visibility", .text), ("text", .text), ("key", .text),
        ("sending_ms", .integer),
        ("remote_id", .text), ("remote_address", .text), ("attempts", .integer), ("reason", .text),
        ("created_ms", .integer), ("updated_ms", .integer),
    ]

    /// One of some actions: a fifth are posts, as many replies as favorites, and a quarter of all
    /// were left alone.
    private static func action(_ number: Int, of count: Int, at now: Date) -> [SQLValue] {
        let time = now - 90_000 - Double(number) * 330 * 86_400 / Double(count)
        let milliseconds = time.milliseconds
        let isDone = number % 4 != 3
        let isPost = number % 5 == 0
        let isFavorite = number % 5 > 2
        let kind: ActionKind =
            if isPost { .post } else if isFavorite { .favorite } else { .reply }
        let state: ActionState =
            if isDone { .done } else if number % 40 == 39 { .expired } else { .skipped }
        let asked = "https://social.example/asked/\(number)"
        func text(_ value: String?) -> SQLValue { value.map { $0.sqlValue } ?? .null }
        let subject = isPost ? "\(LocalTime(time, in: .gmt).day)#\(10_000 + number)" : asked
        let what: [SQLValue] = [
            text("default"), text(String(format: "%012x", number)), text(kind.rawValue),
            text(subject),
            text(state.rawValue), milliseconds.sqlValue, (milliseconds + 900_000).sqlValue,
            false.sqlValue,
        ]
        let source: [SQLValue] =
            isFavorite
            ? [.null, .null]
            : [text("mastodon"), text("https://social.example/posts/\(number % 10_000)")]
        let target: [SQLValue] =
            isPost
            ? [.null, .null, .null, .null]
            : [
                text("mastodon"), text(asked), text("person\(number % 600)@social.example"),
                text("\(number)"),
            ]
        let said: [SQLValue] = [
            text(kind == .reply ? "thread-\(number)" : nil), text(isFavorite ? nil : "unlisted"),
            text(isFavorite ? nil : "What was said the time before, number \(number)."),
            text("key-\(number)"),
        ]
        let remote = text(isDone ? "remote-\(number)" : nil)
        let ending: [SQLValue] = [
            isDone ? milliseconds.sqlValue : .null, remote, remote, 0.sqlValue,
            text(isDone ? nil : "reason-\(number % 12)"), milliseconds.sqlValue,
            milliseconds.sqlValue,
        ]
        return what + source + target + said + ending
    }
}
