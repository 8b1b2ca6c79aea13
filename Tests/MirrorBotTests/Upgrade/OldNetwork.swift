import Control
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox
import Storage
import TestSupport
import Transport

/// A network that has seen what an old database says of one mirror: what people said, what the bot
/// did, and when.
///
/// Everything is made again in the order of time, and is called what the database calls it. Beyond
/// that, the network tells of every mention as if it were new, so that nothing but the table keeps
/// the bot from answering again.
struct OldNetwork: Sendable {
    /// More than what told the bot of anything when the database was left.
    private static let staleNotices = 600
    /// Who has said something long before the bot was there.
    private static let stranger = "ferry@elsewhere.example"

    let sandbox: Sandbox
    let mirror: String
    let network: NetworkName
    private let roles: [SandboxRole]
    private let clock: StageClock
    /// The sandbox's numbers of what the bot had published.
    private(set) var published: Set<String> = []

    /// Makes the network.
    ///
    /// - Parameters:
    ///   - old: What it has seen.
    ///   - mirror: The mirror that it is for.
    ///   - network: Where its bot lives.
    ///   - arrived: The states in which an action of unknown outcome has arrived.
    ///   - roles: Whose accounts the mirror has.
    /// - Throws: `TestSupportError` if something is called otherwise than in the database.
    init(
        _ old: OldDatabase, mirror: String, on network: NetworkName, arrived: Set<String>,
        roles: [SandboxRole] = SandboxRole.allCases
    ) async throws {
        let end = old.end(of: mirror)
        var world = SandboxWorld.Configuration(
            seed: 1, origin: end, days: 3,
            timeZone: TimeZone(identifier: OldDatabase.timeZone) ?? .gmt, friends: [],
            humanPosts: [])
        world.botNetwork = network
        let people = SandboxWorld(configuration: world).population
        world.humanPosts = old.rows("posts", of: mirror).compactMap { Self.post($0, by: people) }
        let clock = StageClock()
        clock.freeze(at: end - 22 * 86_400)
        sandbox = try await Sandbox.start(
            world: SandboxWorld(configuration: world), rateLimits: .unlimited, now: { clock.now })
        self.mirror = mirror
        self.network = network
        self.roles = roles
        self.clock = clock
        await sandbox.say(
            (0..<Self.staleNotices).map { SandboxUtterance(Self.stranger, "number \($0)") })
        let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "the past"))
        defer { client.shutdown() }
        for event in Self.events(old.rows("actions", of: mirror), on: network, arrived) {
            clock.freeze(at: event.date)
            switch event.kind {
            case .said(let author, let notice): try await say(event, by: author, notice)
            case .published(let action):
                try await publish(action, event.id, client)
                published.insert(String(event.id))
            case .favorited: try await send("/api/v1/statuses/\(event.id)/favourite", [:], client)
            }
        }
    }

    /// The accounts' settings, and those of a clock that begins at `date` and goes as the system's
    /// does.
    func settings(at date: Date) -> [String: String] {
        var settings = clock.start(at: date).variables
        for role in roles { settings.merge(sandbox.settings(of: role, on: network)) { $1 } }
        return settings
    }

    // MARK: What happened

    private struct Event {
        enum Kind {
            case said(AccountID, SandboxNotice)
            case published(OldDatabase.Row)
            case favorited
        }

        var date: Date
        /// The sandbox's number of the post.
        var id: Int64
        /// What the database calls it.
        var name: String
        var kind: Kind
    }

    private static func events(
        _ actions: [OldDatabase.Row], on network: NetworkName, _ arrived: Set<String>
    ) -> [Event] {
        var events: [Int64: Event] = [:]
        var deeds: [Event] = []
        for action in actions where action["kind"] != .text("post") {
            let name = action.words("subject")
            guard let id = number(of: name, on: network), action["target_author"] != .null else {
                continue
            }
            let author = AccountID(network: network, value: action.words("target_author"))
            let notice: SandboxNotice =
                action["kind"] != .text("reply") && events[id] == nil ? .never : .atOnce
            events[id] = Event(date: date(of: id), id: id, name: name, kind: .said(author, notice))
            if action["kind"] == .text("favorite"), action["state"] == .text("done") {
                deeds.append(
                    Event(date: action.date("updated_ms"), id: id, name: name, kind: .favorited))
            }
        }
        for action in actions where action["kind"] != .text("favorite") {
            let name = action.words("remote_id")
            if let id = number(of: name, on: network) {
                deeds.append(
                    Event(date: date(of: id), id: id, name: name, kind: .published(action)))
            } else if arrived.contains(action.words("state")) {
                let date = action.date("sending_ms") + 1
                deeds.append(
                    Event(
                        date: date, id: date.milliseconds << 16, name: "", kind: .published(action))
                )
            }
        }
        return (events.values + deeds).sorted { ($0.date, $0.id) < ($1.date, $1.id) }
    }

    private func say(_ event: Event, by author: AccountID, _ notice: SandboxNotice) async throws {
        let person = sandbox.world.population.people.first { $0.id(on: network) == author }
        guard let person else { throw TestSupportError("nobody in the sandbox is \(author.value)") }
        var utterance = SandboxUtterance(person.handle, "what do you think?")
        utterance.notice = notice
        let mention = await sandbox.say([utterance]).first
        guard mention?.identity == event.name else {
            throw TestSupportError(
                "\(event.name) is called \(mention?.identity ?? "nothing") by the sandbox")
        }
    }

    private func publish(_ action: OldDatabase.Row, _ id: Int64, _ client: HTTPClient) async throws
    {
        var fields = [
            "status": action.words("text"), "visibility": action.words("visibility"),
        ]
        if case .text(let language) = action["language"] { fields["language"] = language }
        if action["kind"] == .text("reply") {
            fields["in_reply_to_id"] = Self.number(of: action.words("subject"), on: network)
                .map { String($0) }
        }
        let answer = try await send("/api/v1/statuses", fields, client, key: action.words("key"))
        guard answer["id"] as? String == String(id) else {
            throw TestSupportError("\(id) is called \(answer["id"] ?? "nothing") by the sandbox")
        }
    }

    @discardableResult
    private func send(
        _ path: String, _ fields: [String: String], _ client: HTTPClient, key: String? = nil
    ) async throws -> [String: Any] {
        var headers = HTTPHeaders([
            ("Authorization", "Bearer \(sandbox.botToken)"), ("Content-Type", "application/json"),
        ])
        headers["Idempotency-Key"] = key
        let response = try await client.send(
            HTTPRequest(
                method: .post, url: sandbox.url + path, headers: headers,
                body: Array(try JSONEncoder().encode(fields))))
        guard response.status == 200 else {
            throw TestSupportError(
                "\(path) got \(response.status): \(String(decoding: response.body, as: UTF8.self))")
        }
        return try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any] ?? [:]
    }

    // MARK: Names

    /// A post of the human as the sandbox takes it: under its Mastodon name.
    private static func post(_ row: OldDatabase.Row, by people: SandboxPopulation) -> Post? {
        func text(_ column: String) -> String? {
            if case .text(let text) = row[column] { text } else { nil }
        }
        guard let network = text("network").flatMap(NetworkName.init(rawValue:)),
            let id = text("post_id").flatMap({ number(of: $0, on: network) })
        else { return nil }
        let human = people.people[SandboxPopulation.human].handle
        var answered: ReplyTarget?
        if row["is_reply"] == .boolean(true) {
            let author = people.people.first { $0.id(on: network).value == text("reply_to_author") }
            guard let author else { return nil }
            answered = ReplyTarget(author: AccountID(network: .mastodon, value: author.handle))
        }
        return Post(
            id: SandboxIdentity.post(id, by: human, on: .mastodon),
            author: AccountID(network: .mastodon, value: human), text: text("text") ?? "",
            createdAt: row.date("created_ms"), replyTo: answered,
            visibility: text("visibility").flatMap(Visibility.init(rawValue:)) ?? .public,
            language: text("language"),
            hasMedia: row["has_media"] == .boolean(true),
            isSensitive: row["sensitive"] == .boolean(true))
    }

    /// The sandbox's number of a post, which is in its name on Mastodon and is its name on X.
    private static func number(of name: String, on network: NetworkName) -> Int64? {
        name.split(separator: "/").last.flatMap { Int64($0) }
    }

    /// When a post with this number was made.
    private static func date(of id: Int64) -> Date { Date(milliseconds: id >> 16) }
}

/// A clock that stands still where it is put, or goes on from there.
final class StageClock: @unchecked Sendable {
    // Sendable because every access to `reading` holds the lock.
    private let lock = NSLock()
    private var reading: @Sendable () -> Date = { .distantPast }

    var now: Date { lock.withLock { reading }() }

    func freeze(at date: Date) { lock.withLock { reading = { date } } }

    /// Lets it go on from `date`, or from where it is if that is later, for a network's clock never
    /// goes back.
    ///
    /// - Returns: What a program has to know to have the same time.
    func start(at date: Date) -> Rehearsal.Settings {
        let started = Date(milliseconds: Date().milliseconds)
        let origin = Date(timeIntervalSince1970: max(date, now).timeIntervalSince1970.rounded(.up))
        let clock = AcceleratedClock(origin: origin, started: started, factor: 1)
        lock.withLock { reading = { clock.now } }
        return Rehearsal.Settings(origin: origin, started: started, factor: 1, leaseSeconds: 0.3)
    }
}
