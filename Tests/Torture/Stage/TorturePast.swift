import Foundation
import NetworkNames
import Posts
import Sandbox

/// What the tortured mirror learns before it runs: the sample archive, made dense.
///
/// A year of the sample's human is laid over a few weeks, so that there is something to do in every
/// minute of the run, and spread over the whole clock, so that there is no night.
struct TorturePast: Sendable {
    /// How many days hold the year.
    static let days = 14
    /// How many people the human has answered, and who therefore mention the bot.
    static let people = 60

    let network: NetworkName
    let origin: Date
    /// Whom the human has answered.
    var people = Self.people
    /// Which part of the sample is learned: every so manieth line.
    var thinning = 1

    /// The human's posts under the names of the sandbox's server.
    func posts() -> [Post] {
        let sample = SampleArchive(endingAt: origin, people: people)
        var generator = SampleGenerator(seed: 4)
        return sample.posts.enumerated().filter { $0.offset % thinning == 0 }.map { index, post in
            named(post, number: index, at: instant(&generator))
        }
    }

    /// The human's posts as JSON Lines.
    func postLines() throws -> String { try posts().map { try line($0) }.joined() }

    /// What the human favorited and did not favorite as JSON Lines, oldest first.
    func exampleLines() throws -> String {
        let sample = SampleArchive(endingAt: origin)
        var generator = SampleGenerator(seed: 5)
        let all = sample.favorites.map { ($0, true) } + sample.normals.map { ($0, false) }
        let dated = all.map { (post: $0.0, isFavorite: $0.1, date: instant(&generator)) }
        let kept = dated.sorted { $0.date < $1.date }.enumerated().filter {
            $0.offset % thinning == 0
        }
        return try kept.map { index, entry in
            try line(
                named(entry.post, number: 10_000 + index, at: entry.date),
                isFavorite: entry.isFavorite)
        }.joined()
    }

    private func instant(_ generator: inout SampleGenerator) -> Date {
        let second = generator.number(below: Self.days * 86_400)
        return origin - TimeInterval(86_400 + second)
    }

    /// Every third text with signs that some servers make into something else.
    private static func marked(_ text: String, _ number: Int) -> String {
        guard number % 3 == 0 else { return text }
        return text + (number % 2 == 0 ? " :-)" : " *really*")
    }

    /// A sample post at another time, under the names of the sandbox's server.
    private func named(_ sample: SamplePost, number: Int, at date: Date) -> Post {
        let id = SamplePost.id(at: date, sequence: number)
        var post = Post(
            id: PostID(network: .mastodon, value: SamplePost.uri(id: id, author: sample.author)),
            author: AccountID(network: .mastodon, value: sample.author.handle),
            text: Self.marked(sample.text, number), createdAt: date,
            replyTo: sample.replyTo.map {
                ReplyTarget(author: AccountID(network: .mastodon, value: $0.handle))
            })
        post.visibility = sample.visibility
        post.language = sample.language.rawValue
        return post
    }

    /// One line, with everybody under the names of the network.
    private func line(_ post: Post, isFavorite: Bool? = nil) throws -> String {
        let carried = SandboxIdentity.carried(post, to: network)
        let line = Line(
            id: carried.id.value, author: carried.author.value, text: carried.text,
            createdAt: carried.createdAt.rfc3339, visibility: carried.visibility.rawValue,
            language: carried.language ?? "", favorite: isFavorite,
            replyToAuthor: carried.replyTo?.author?.value)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(line), as: UTF8.self) + "\n"
    }

    private struct Line: Encodable {
        var id: String
        var author: String
        var text: String
        var createdAt: String
        var visibility: String
        var language: String
        var favorite: Bool?
        var replyToAuthor: String?

        enum CodingKeys: String, CodingKey {
            case id, author, text, visibility, language, favorite
            case createdAt = "created_at"
            case replyToAuthor = "reply_to_author"
        }
    }
}
