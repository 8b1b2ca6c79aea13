import Archive
import Control
import Favorites
import Foundation
import Mirroring
import NetworkNames
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// Where the program keeps its data.
enum StoreUnderTest: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgres = "PostgreSQL"

    var testDescription: String { rawValue }

    /// A machine with an empty database of this kind.
    func stage(_ environment: [String: String] = [:]) async throws -> Stage {
        guard self == .postgres else {
            let stage = try Stage(environment)
            try await stage.makeDatabase()
            return stage
        }
        return try await Stage.onServer(environment)
    }
}

/// What a mirror has behind it, told by the test.
enum Life {
    static let human = AccountID(network: .mastodon, value: "me@home.example")
    static let bot = AccountID(network: .mastodon, value: "mirror@home.example")
    static let ann = AccountID(network: .mastodon, value: "ann@pal.example")
    /// An account that no request is made for.
    static let botSettings = ["BOT_SERVER": "https://home.example", "BOT_ACCESS_TOKEN": "planted"]

    static func post(
        _ name: String, _ text: String, at date: Date, to person: AccountID? = nil,
        hasMedia: Bool = false
    ) -> Post {
        Post(
            id: PostID(network: .mastodon, value: "https://home.example/@me/\(name)"),
            author: human, text: text,
            createdAt: date, replyTo: person.map { ReplyTarget(author: $0) }, hasMedia: hasMedia)
    }

    static func target(_ name: String, of author: AccountID = ann) -> Action.Target {
        Action.Target(post: "https://pal.example/@ann/\(name)", author: author, address: name)
    }
}

extension HumanMirror {
    /// Archives posts, whose minutes are those of a zone.
    func remember(_ posts: [Post], zone: TimeZone = .gmt) async throws {
        try await table.notePast(.whole, now: Date())
        _ = try await archive.store(posts, timeZone: zone, limit: nil)
    }

    /// Says whose the mirror is.
    func belong(toHandle handle: String = Life.human.value) async throws {
        try await table.bind(
            human: Account(id: Life.human, handle: handle),
            bot: Account(id: Life.bot, handle: Life.bot.value),
            now: Date())
    }

    /// Stores an action as it stands, and when its request left if that is told.
    @discardableResult
    func note(
        _ payload: Action.Payload, _ state: ActionState, at date: Date, sent: Date? = nil,
        published: String? = nil,
        reason: ReasonCode? = nil, why: Explanation? = nil
    ) async throws -> Action {
        let intent = Intent(
            payload, state: state, due: date, expires: date + 86_400, reason: reason,
            explanation: why)
        let action = try await outbox(lease: nil).propose(intent, now: date).action
        if sent != nil || published != nil {
            try await storage.execute(
                """
                UPDATE actions SET sending_ms = \(sent), remote_id = \(published), attempts = 1
                WHERE mirror = \(name) AND id = \(action.id)
                """)
        }
        return action
    }

    /// Teaches 40 favorites and 40 other posts, 70 of all having been seen, 30 of those favorites.
    func learnBread() async throws {
        func example(_ number: Int, _ author: String, _ text: String) -> Example {
            Example(
                id: PostID(network: .mastodon, value: "https://pal.example/e\(number)"),
                author: author, text: text)
        }
        var events: [FavoriteEvent] = []
        for number in 0..<30 {
            let bread = example(number, "pal@pal.example", "fresh bread")
            events += [.seen(bread), .favorited(bread)]
        }
        for number in 30..<70 {
            events.append(.seen(example(number, Life.ann.value, "rain meeting")))
        }
        for number in 70..<80 {
            events.append(.favorited(example(number, "pal@pal.example", "fresh rain")))
        }
        _ = try await favorites().learn(events, at: Date())
    }
}

/// The favorite rate by its definition, with numbers that the test counted itself.
struct ExpectedRate {
    let favorites: Double
    let normals: Double
    let seen: Double
    let seenFavorites: Double

    /// After ``Mirroring/HumanMirror/learnBread()``.
    static let ofBread = ExpectedRate(favorites: 40, normals: 40, seen: 70, seenFavorites: 30)

    /// ln of the rate of any post.
    var base: Double {
        let share = (0.5 + seenFavorites) / (5 + seen)
        return log(share / (1 - share))
    }

    /// What one feature adds by itself, with its counts in both categories.
    func evidence(_ favorite: Double, _ normal: Double) -> Double {
        let share = (0.5 + favorites) / (5 + favorites + normals)
        return log((5 * share + favorite) / (5 * (1 - share) + normal)) - log(share / (1 - share))
    }
}
