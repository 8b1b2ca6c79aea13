package import Foundation
import NetworkNames
package import Posts
package import Sandbox

/// The human of the sandbox, her past and her worlds, each made once for all tests.
package enum Sample {
    /// Monday 2026-06-01, midnight in Tokyo.
    package static let origin = Date(timeIntervalSince1970: 1_780_239_600)
    package static let zone = TimeZone(identifier: SamplePeople.timeZoneIdentifier) ?? .gmt
    /// The first day of every world.
    package static let day = LocalTime(origin, in: zone).day

    private static let archive = SampleArchive(endingAt: origin)

    /// Her last months: enough to learn from, little enough to be quick.
    package static let posts = Array(archive.posts.suffix(500))

    /// How many favorites, and how many normals, ``exampleLines`` holds.
    package static let exampleCount = 120

    /// Her last months as JSON Lines, for the scheduler.
    package static let postLines = posts.map { $0.jsonLine() + "\n" }.joined()

    /// Posts of others that she favorited or did not, as JSON Lines, for the classifier.
    package static let exampleLines =
        (archive.favorites.suffix(exampleCount).map { $0.jsonLine(favorite: true) + "\n" }
        + archive.normals.suffix(exampleCount).map { $0.jsonLine(favorite: false) + "\n" }).joined()

    /// The newest of her posts as the sandbox's server lists them.
    package static let served = Array(all.suffix(130))

    /// Those before, which the server has too.
    package static let older = Array(all.dropLast(130))

    private static let all = posts.map { sample in
        Post(
            id: PostID(network: .mastodon, value: sample.uri),
            author: AccountID(network: .mastodon, value: sample.author.handle), text: sample.text,
            createdAt: sample.createdAt,
            replyTo: sample.replyTo.map {
                ReplyTarget(author: AccountID(network: .mastodon, value: $0.handle))
            },
            visibility: sample.visibility, language: sample.language.rawValue)
    }

    /// The instant `hours` after the beginning of the first day.
    package static func hour(_ hours: Double) -> Date { origin + hours * 3_600 }

    /// The worldwide identity of somebody in the sandbox.
    package static func person(_ userName: String) -> AccountID {
        AccountID(network: .mastodon, value: "\(userName)@\(SamplePeople.host)")
    }

    /// A world of these days; the same configuration is written once.
    package static func world(seed: UInt64 = 1, days: Int = 1, bot: NetworkName = .mastodon) async
        -> SandboxWorld
    {
        await worlds.world(seed: seed, days: days, bot: bot)
    }

    private static let worlds = Worlds()

    private actor Worlds {
        private var written: [String: SandboxWorld] = [:]

        func world(seed: UInt64, days: Int, bot: NetworkName) -> SandboxWorld {
            let key = "\(seed) \(days) \(bot.rawValue)"
            if let world = written[key] { return world }
            var configuration = SandboxWorld.Configuration(
                seed: seed, origin: Sample.origin, days: days, timeZone: Sample.zone,
                humanPosts: Sample.served)
            configuration.olderPosts = Sample.older
            configuration.botNetwork = bot
            let world = SandboxWorld(configuration: configuration)
            written[key] = world
            return world
        }
    }
}
