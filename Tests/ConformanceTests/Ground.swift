import Bluesky
import Foundation
import Mastodon
import NetworkNames
import Networks
import Posts
import Sandbox
import Transport
import X

/// A sandbox with one habit, and the clients of the two accounts.
///
/// The sandbox stops when this is released.
final class Ground: Sendable {
    /// Friday 2026-11-20, midnight in Tokyo.
    static let origin = Date(timeIntervalSince1970: 1_795_100_400)
    /// How many posts the human has; more than two pages on every network.
    static let pastPosts = 230

    let terrain: Terrain
    let sandbox: Sandbox
    let clock: GroundClock
    let human: any SocialNetwork
    let bot: any SocialNetwork
    let books: [SandboxRole: OpenBook]
    private let client: HTTPClient

    /// Two days in the life of a bot on each network, written once for all tests.
    private static let worlds = NetworkName.allCases.map { network in
        var configuration = SandboxWorld.Configuration(
            seed: 11, origin: origin, days: 2, timeZone: TimeZone(identifier: "Asia/Tokyo") ?? .gmt,
            humanPosts: past)
        configuration.botNetwork = network
        return SandboxWorld(configuration: configuration)
    }

    init(_ terrain: Terrain) async throws {
        self.terrain = terrain
        let clock = GroundClock(Self.origin)
        guard
            let world = Self.worlds.first(where: { $0.configuration.botNetwork == terrain.network })
        else {
            fatalError("every network has a world")
        }
        let sandbox = try await Sandbox.start(
            world: world, rateLimits: .unlimited, now: { clock.now })
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-conformance/1"))
        let books = Dictionary(uniqueKeysWithValues: SandboxRole.allCases.map { ($0, OpenBook()) })
        func network(_ role: SandboxRole) throws -> any SocialNetwork {
            try Self.network(terrain, role, of: sandbox, client, clock, books[role] ?? OpenBook())
        }
        human = try network(.human)
        bot = try network(.bot)
        self.clock = clock
        self.sandbox = sandbox
        self.client = client
        self.books = books
        terrain.set(sandbox.faults)
    }

    deinit { client.shutdown() }

    /// Reads a picture from where a network says it is.
    func read(_ url: String) async throws -> PictureReader.Finding {
        try await PictureReader(client: client, trusting: sandbox.url).read(
            url, maximumBytes: Picture.maximumBytes)
    }

    func account(_ role: SandboxRole) -> any SocialNetwork { role == .human ? human : bot }

    /// What nobody may ever read in a message.
    var secrets: [String] {
        SandboxRole.allCases.flatMap { role in
            let keys = sandbox.xKeys(role)
            return [
                keys.consumerSecret, keys.accessToken, keys.accessTokenSecret,
                sandbox.blueskyLogin(role).appPassword,
            ]
        } + [sandbox.humanToken, sandbox.botToken]
    }

    /// The identity of an account on the network.
    func identity(_ role: SandboxRole) -> AccountID {
        SandboxIdentity.account(
            role == .human ? sandbox.world.humanHandle : sandbox.world.botHandle, on: network)
    }

    var network: NetworkName { terrain.network }

    /// The path to which texts are published.
    var publishPath: String {
        switch network {
        case .mastodon: "/api/v1/statuses"
        case .x: "/2/tweets"
        default: "/xrpc/com.atproto.repo.putRecord"
        }
    }

    /// All items of a feed, from the newest to its end.
    func everything(_ feed: Feed, of account: any SocialNetwork) async throws -> (
        items: [ObservedPost], isWhole: Bool
    ) {
        var walk = FeedWalk(of: account, feed, from: .newest, maximumPages: 400)
        var items: [ObservedPost] = []
        while let page = try await walk.next() { items += page.items }
        return (items, walk.isComplete)
    }

    /// A draft that is the same for every attempt.
    func draft(_ text: String, replyTo: ObservedPost? = nil, key: String = "key-1") -> Draft {
        Draft(
            text: text, replyTo: replyTo?.address, visibility: .unlisted, language: "en", key: key,
            createdAt: clock.now)
    }

    /// The text that answers a mention, as the network wants it.
    func answer(_ text: String, to mention: ObservedPost) -> String {
        bot.capabilities.replyNeedsMention ? "@\(mention.author.handle) \(text)" : text
    }

    /// The human's posts before the run, each with its number in the text.
    private static let past: [Post] = (0..<pastPosts).map { number in
        let date = origin.addingTimeInterval(Double(number - pastPosts) * 3_600)
        let text =
            switch number % 10 {
            case 1: "Post no. \(number) & 1 < 2 #walking"
            case 2: "Post no. \(number) https://elsewhere.example/notes/\(number)?a=1&b=2"
            case 3: "Post no. \(number) " + String(repeating: "and on and on ", count: 14)
            case 4: "日本語の投稿 no. \(number) です"
            default: "Post no. \(number) of many"
            }
        return Post(
            id: PostID(network: .mastodon, value: "https://\(SamplePeople.host)/old/\(number)"),
            author: SandboxIdentity.account(SamplePeople.human.handle, on: .mastodon), text: text,
            createdAt: date,
            visibility: number % 7 == 6 ? .private : .public,
            language: number % 10 == 4 ? "ja" : "en")
    }

    /// The numbers of the past posts that everybody may read, newest first.
    static let openNumbers = (0..<pastPosts).filter { $0 % 7 != 6 }.reversed().map(\.self)

    /// The number in the text of one of the past posts; nil for others.
    static func number(of post: ObservedPost) -> Int? {
        guard let mark = post.post.text.range(of: "no. ") else { return nil }
        return Int(post.post.text[mark.upperBound...].prefix { $0.isNumber })
    }

    static let strangerSecret = "aaaa-bbbb-cccc-dddd"

    /// The bot's account with credentials that open nothing.
    func stranger() throws -> any SocialNetwork {
        let now: @Sendable () -> Date = { [clock] in clock.now }
        let secret = Secret(Self.strangerSecret)
        switch network {
        case .mastodon:
            return try MastodonNetwork(
                server: sandbox.url, accessToken: secret, client: client, now: now)
        case .x:
            var options = XOptions()
            options.apiBaseURL = sandbox.url
            return try XNetwork(
                credentials: XCredentials(
                    consumerKey: sandbox.xKeys(.bot).consumerKey, consumerSecret: secret,
                    accessToken: secret,
                    accessTokenSecret: secret),
                options: options, book: OpenBook(), client: client, now: now)
        default:
            return try BlueskyNetwork(
                identifier: sandbox.blueskyLogin(.bot).handle, appPassword: secret,
                apiBaseURL: sandbox.url,
                sessions: MemoryCredentials(), client: client, now: now)
        }
    }

    private static func network(
        _ terrain: Terrain, _ role: SandboxRole, of sandbox: Sandbox, _ client: HTTPClient,
        _ clock: GroundClock,
        _ book: OpenBook
    ) throws -> any SocialNetwork {
        let now: @Sendable () -> Date = { clock.now }
        // Time is made to pass here; nobody sets a clock.
        let uptime: @Sendable () -> TimeInterval = { clock.now.timeIntervalSince1970 }
        switch terrain.network {
        case .mastodon:
            let login = sandbox.mastodonLogin(role)
            let credentials = MastodonCredentials(
                accessToken: Secret(login.accessToken), refreshToken: Secret(login.refreshToken),
                clientID: login.clientID, clientSecret: Secret(login.clientSecret))
            // As doctor --probe finds it: WordPress is not known to keep the visibility of posts.
            let findings = [ServerPromise.keepsVisibility: !sandbox.faults.mastodon.losesVisibility]
            return try MastodonNetwork(
                server: sandbox.url, credentials: credentials, sessions: MemoryCredentials(),
                findings: findings,
                client: client, now: now, uptime: uptime)
        case .x:
            let keys = sandbox.xKeys(role)
            var options = XOptions()
            options.apiBaseURL = sandbox.url
            options.mayPublish = true
            options.homePostsPerDay = 10_000
            if terrain.asksInNewNames { options.fieldNames = .post }
            return try XNetwork(
                credentials: XCredentials(
                    consumerKey: keys.consumerKey, consumerSecret: Secret(keys.consumerSecret),
                    accessToken: Secret(keys.accessToken),
                    accessTokenSecret: Secret(keys.accessTokenSecret)),
                options: options, book: book, client: client, now: now,
                uptime: uptime)
        default:
            let login = sandbox.blueskyLogin(role)
            return try BlueskyNetwork(
                identifier: login.handle, appPassword: Secret(login.appPassword),
                apiBaseURL: sandbox.url,
                sessions: MemoryCredentials(), client: client, now: now,
                uptime: uptime)
        }
    }
}

/// A clock that the test sets; the sandbox and the clients live by it.
final class GroundClock: @unchecked Sendable {
    // Sendable: every access to `instant` holds the lock.
    private let lock = NSLock()
    private var instant: Date

    init(_ instant: Date) { self.instant = instant }

    var now: Date { lock.withLock { instant } }

    func advance(minutes: Double) { lock.withLock { instant += minutes * 60 } }
}

/// A budget without end that counts what is spent.
final class OpenBook: SpendingBook, @unchecked Sendable {
    // Sendable: every access to `sum` holds the lock.
    private let lock = NSLock()
    private var sum = Money.zero

    var spent: Money { lock.withLock { sum } }

    func reserve(_ amount: Money, for purpose: SpendingPurpose, at now: Date) async throws -> Date?
    {
        lock.withLock { sum = sum + amount }
        return nil
    }

    func charge(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws {
        lock.withLock { sum = sum + amount }
    }

    func giveBack(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws {
        lock.withLock { sum = sum - amount }
    }
}

/// Keeps tokens in memory.
final class MemoryCredentials: CredentialStore, @unchecked Sendable {
    // Sendable: every access to `saved` holds the lock.
    private let lock = NSLock()
    private var saved: Secret?

    func load() async throws -> Secret? { lock.withLock { saved } }

    func save(_ credentials: Secret) async throws { lock.withLock { saved = credentials } }
}
