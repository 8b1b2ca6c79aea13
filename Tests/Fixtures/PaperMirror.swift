import Archive
import Favorites
package import Fleet
package import Foundation
package import Logging
package import Mirroring
package import Networks
package import Outbox
package import Posts
import Settings
import TestSupport
import Testing

/// A mirror between networks on paper.
package struct PaperMirror {
    package static let now = Date(timeIntervalSince1970: 1_780_290_000)
    package static let zone = TimeZone(identifier: "Asia/Tokyo") ?? .gmt

    package let mirror: HumanMirror
    package let clock: VirtualClock
    package let log = Recorder<String>()
    package let bot: PaperNetwork
    package let human: PaperNetwork?

    /// - Parameters:
    ///   - engine: Where the data is.
    ///   - bot: Where the bot is.
    ///   - human: Where the human is; nil if nobody is watched.
    ///   - variables: Settings besides the networks and the zone.
    /// - Throws: What went wrong.
    package init(
        _ engine: Engine = .sqlite, bot: NetworkName, human: NetworkName? = nil,
        variables: [String: String] = [:]
    ) async throws {
        let settings = [
            "TIME_ZONE": Self.zone.identifier, "BOT_NETWORK": bot.rawValue,
            "HUMAN_NETWORK": (human ?? bot).rawValue, "MIN_AGE_DAYS": "0",
            // Most mirrors on paper have nobody to ask.
            "TRUST_ARCHIVE": "yes",
            // Nor has anybody on paper a login.
            "HUMAN_CONSENT": "agreed",
            // Most tests compare the human's words alone.
            "FIRST_REPLY_NOTE": "off",
        ]
        clock = VirtualClock(startingAt: Self.now)
        mirror = try await BareMirror(engine, variables: settings.merging(variables) { $1 })
            .open(log: log, clock: clock)
        self.bot = PaperNetwork(bot)
        self.human = human.map { PaperNetwork($0, account: "human") }
        _ = try await mirror.table.notePast(.whole, now: Self.now)
        try await mirror.table.noteStatement(mirror.configuration.statedConsent, now: Self.now)
    }

    package var logger: Logger { Logger(label: "test") { [log] _ in LogRecorder(lines: log) } }

    package func worker() throws -> Worker { Worker(mirror: mirror) }

    /// The parts of a worker that sends for real, on paper.
    package func parts() async throws -> WorkerParts {
        try await worker().parts(
            bot: bot, human: human, lease: try await takeLease(), deliverer: nil)
    }

    /// Takes the mirror from whoever has it.
    package func takeLease() async throws -> Lease {
        let leases = LeaseTable(storage: mirror.storage, mirror: "test")
        let record = try await leases.record()
        return try #require(try await leases.take(owner: "test", after: record, now: 0))
    }

    /// Lets time pass.
    package func wait(_ seconds: TimeInterval) async throws {
        try await clock.sleep(until: clock.now + seconds)
    }

    package func actions(_ kind: ActionKind) async throws -> [Action] {
        try await mirror.outbox(lease: nil).recent(10_000).filter { $0.kind == kind }
            .sorted { ($0.due, $0.subject) < ($1.due, $1.subject) }
    }

    /// Archives what the human said.
    package func archive(_ posts: [Post]) async throws {
        _ = try await mirror.archive.store(
            posts, timeZone: Self.zone, limit: 10_000)
    }

    /// Teaches the classifier that the human loves tea and does not care for trains.
    package func teachTea(on network: NetworkName) async throws {
        let favorites = try mirror.favorites()
        let events = (0..<40).flatMap { number -> [FavoriteEvent] in
            let liked = Example(
                id: PostID(network: network, value: "liked-\(number)"), author: "a",
                text: "green tea in the garden")
            let seen = Example(
                id: PostID(network: network, value: "seen-\(number)"), author: "b",
                text: "delayed train at platform")
            return [.seen(liked), .favorited(liked), .seen(seen)]
        }
        _ = try await favorites.learn(events, at: clock.now)
    }
}

/// A post on paper.
package func paperPost(
    _ id: String, by author: String = "friend", on network: NetworkName,
    _ text: String = "hello there",
    at date: Date = PaperMirror.now, mentions: [String] = [], visibility: Visibility = .public,
    bio: String = "",
    replyTo: String? = nil, isBot: Bool = false
) -> ObservedPost {
    let person = AccountID(network: network, value: author)
    var observed = ObservedPost(
        post: Post(
            id: PostID(network: network, value: id), author: person, text: text, createdAt: date,
            replyTo: replyTo.map {
                ReplyTarget(author: nil, post: PostID(network: network, value: $0))
            },
            visibility: visibility,
            mentions: mentions.map { AccountID(network: network, value: $0) },
            address: "address-\(id)"),
        author: Account(id: person, handle: author, isBot: isBot, bio: bio),
        address: "address-\(id)")
    observed.replyToAddress = replyTo.map { "address-\($0)" }
    return observed
}

/// What the human once answered somebody.
package func pastReply(_ id: String, to person: AccountID, _ text: String, daysAgo: Int = 100)
    -> Post
{
    Post(
        id: PostID(network: person.network, value: id),
        author: AccountID(network: person.network, value: "human"),
        text: text, createdAt: PaperMirror.now - Double(daysAgo) * 86_400,
        replyTo: ReplyTarget(author: person))
}
