import Control
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox
import TestSupport

/// What the mirrors of ``SecretLife`` have learned: some of the sample archive, laid over a week
/// and all its hours.
enum SecretPast {
    /// Nine in the morning of a Monday in Tokyo.
    static let origin = Date(timeIntervalSince1970: 1_780_272_000)
    static let zone = SamplePeople.timeZoneIdentifier
    /// How many people the human has answered, and who therefore mention the bot.
    static let people = 60

    /// What it takes to learn it, and to find always something to do.
    static let settings = [
        "TIME_ZONE": zone, "POLL_SECONDS": "20", "MIN_AGE_DAYS": "0", "MAX_PER_DAY": "300",
        "FAVORITES_PER_DAY": "300",
        "REPLIES_PER_PERSON": "100", "REPLIES_PER_THREAD": "100", "FAVORITE_RATE_THRESHOLD": "1",
    ]

    /// Has the program learn, with these settings of stores.
    static func learn(_ network: NetworkName, in stage: Stage, _ stores: [String: String] = [:])
        async throws
    {
        let posts = try stage.folder.write(
            Data(postLines(network).utf8), to: "posts-\(network.rawValue).jsonl")
        let examples = try stage.folder.write(
            Data(exampleLines(network).utf8), to: "examples-\(network.rawValue).jsonl")
        let rehearsal = Rehearsal.Settings(origin: origin - 3_600, started: Date(), factor: 1)
        let all = settings.merging(stores) { $1 }.merging(rehearsal.variables) { $1 }
            .merging(["NETWORK": network.rawValue]) { $1 }
        for words in [
            ["train", "scheduler", "--from", posts], ["train", "classifier", "--from", examples],
        ] {
            let ending = try await stage.start(words, environment: all).ending()
            guard ending.status == 0 else { throw StageError(ending) }
        }
    }

    /// A home in which a mirror of the network has learned; made once.
    static func home(_ network: NetworkName) async throws -> String {
        guard let learning = homes[network] else {
            throw TestSupportError("nothing is learned on \(network)")
        }
        return try await learning.value.home
    }

    private static let homes = Dictionary(
        uniqueKeysWithValues: NetworkName.allCases.map { network in
            (
                network,
                Task {
                    let stage = try Stage()
                    try await learn(network, in: stage)
                    return stage
                }
            )
        })

    /// The human's posts: an answer to each of the people, and what else it takes to post often.
    private static func postLines(_ network: NetworkName) -> String {
        let sample = SampleArchive(endingAt: origin, people: people).posts
        var answered: Set<String> = []
        let answers = sample.filter { post in
            post.replyTo.map { answered.insert($0.handle).inserted } ?? false
        }
        let others = sample.filter { $0.replyTo == nil }.prefix(500)
        var generator = SampleGenerator(seed: 4)
        return (answers + others).enumerated().map { line($1, number: $0, on: network, &generator) }
            .joined()
    }

    /// What the human favorited and did not favorite.
    private static func exampleLines(_ network: NetworkName) -> String {
        let sample = SampleArchive(endingAt: origin)
        let all =
            sample.favorites.prefix(60).map { ($0, true) }
            + sample.normals.prefix(60).map { ($0, false) }
        var generator = SampleGenerator(seed: 5)
        return all.enumerated().map { number, example in
            line(example.0, number: 10_000 + number, on: network, isFavorite: example.1, &generator)
        }.joined()
    }

    /// One line, with everybody under the names of the network.
    private static func line(
        _ sample: SamplePost, number: Int, on network: NetworkName, isFavorite: Bool? = nil,
        _ generator: inout SampleGenerator
    ) -> String {
        let date = origin - TimeInterval(86_400 + generator.number(below: 7 * 86_400))
        let id = SamplePost.id(at: date, sequence: number)
        let post = SandboxIdentity.carried(
            Post(
                id: PostID(
                    network: .mastodon, value: SamplePost.uri(id: id, author: sample.author)),
                author: AccountID(network: .mastodon, value: sample.author.handle),
                text: sample.text,
                createdAt: date,
                replyTo: sample.replyTo.map {
                    ReplyTarget(author: AccountID(network: .mastodon, value: $0.handle))
                }),
            to: network)
        let line = Line(
            id: post.id.value, author: post.author.value, text: post.text, createdAt: date.rfc3339,
            favorite: isFavorite, replyToAuthor: post.replyTo?.author?.value)
        return String(decoding: (try? JSONEncoder().encode(line)) ?? Data(), as: UTF8.self) + "\n"
    }

    private struct Line: Encodable {
        var id: String
        var author: String
        var text: String
        var createdAt: String
        var favorite: Bool?
        var replyToAuthor: String?

        enum CodingKeys: String, CodingKey {
            case id, author, text, favorite
            case createdAt = "created_at"
            case replyToAuthor = "reply_to_author"
        }
    }
}
