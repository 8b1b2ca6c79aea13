import Foundation
import NetworkNames
import Posts
import Sandbox

extension Sandbox {
    /// A network on the real clock, with strangers only, whose run began an hour ago.
    static func live() async throws -> Sandbox {
        let origin = Date() - 3_600
        let world = SandboxWorld(
            configuration: .init(
                seed: 7, origin: origin, days: 2, timeZone: .gmt, friends: [],
                humanPosts: [Self.post(at: origin)]))
        return try await start(world: world, now: { Date() })
    }

    private static func post(at origin: Date) -> Post {
        Post(
            id: PostID(network: .mastodon, value: "https://\(SamplePeople.host)/first"),
            author: AccountID(network: .mastodon, value: SamplePeople.human.handle),
            text: "The first of all posts.",
            createdAt: origin - 86_400)
    }

    /// What a person sets for the bot's account.
    var botSettings: [String: String] { settings(of: .bot, on: .mastodon) }

    /// What a person sets for the human's account.
    var humanSettings: [String: String] { settings(of: .human, on: .mastodon) }
}
