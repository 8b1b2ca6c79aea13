import Foundation
import NetworkNames
import Posts
import Testing

@testable import Sandbox

/// The bot's requests to one of the networks, as bytes for a connection.
struct BotRequests {
    /// A post that can be answered or favorited.
    struct Target {
        var id: String
        var identity: String
        /// What Bluesky tells versions of a record apart by; empty elsewhere.
        var cid = ""
    }

    let fixture: SandboxFixture
    let network: NetworkName
    /// Of the session on Bluesky.
    private let token: String

    private static let xWorld = SandboxFixture.world(bot: .x)
    private static let blueskyWorld = SandboxFixture.world(bot: .bluesky)

    private static func world(_ network: NetworkName) -> SandboxWorld {
        switch network {
        case .mastodon: SandboxFixture.standard
        case .x: xWorld
        default: blueskyWorld
        }
    }

    /// Runs the body with a sandbox whose bot lives on the network.
    static func run<Value>(
        _ network: NetworkName, _ body: (BotRequests) async throws -> Value
    ) async throws -> Value {
        // To write a world takes seconds, in which the other sandboxes need the threads of the
        // cooperative pool.
        let world = try await SandboxFixture.onThread { Self.world(network) }
        return try await SandboxFixture.run(world: world) { fixture in
            // The tests go on for days without logging in again.
            fixture.sandbox.faults.bluesky.accessTokenLifetime = 30 * 86_400
            let token =
                network == .bluesky ? try await BlueskyClient.logIn(.bot, to: fixture).access : ""
            return try await body(BotRequests(fixture: fixture, network: network, token: token))
        }
    }

    var sandbox: Sandbox { fixture.sandbox }

    /// Where posts are made.
    var publishPath: String {
        switch network {
        case .mastodon: "/api/v1/statuses"
        case .x: "/2/tweets"
        default: "/xrpc/com.atproto.repo.putRecord"
        }
    }

    /// The status of an answer to a new post.
    var publishedStatus: Int { network == .x ? 201 : 200 }

    /// The same number gives the same idempotency key or record key.
    func key(_ number: Int) -> String? {
        switch network {
        case .mastodon: "key-\(number)"
        case .x: nil
        default:
            SandboxIdentity.recordKey(
                microseconds: 1_795_100_400_000_000 + UInt64(number), clock: 1)
        }
    }

    func publishing(_ text: String, key number: Int = 1, answering parent: Target? = nil) throws
        -> [UInt8]
    {
        switch network {
        case .mastodon:
            var body: [String: Any] = ["status": text, "visibility": "unlisted"]
            body["in_reply_to_id"] = parent?.id
            return try request("POST", publishPath, body, key: key(number))
        case .x:
            var body: [String: Any] = ["text": text]
            if let parent { body["reply"] = ["in_reply_to_tweet_id": parent.id] }
            return try request("POST", publishPath, body)
        default:
            var record: [String: Any] = ["text": text]
            if let parent {
                let reference = ["uri": parent.identity, "cid": parent.cid]
                record["reply"] = ["root": reference, "parent": reference]
            }
            return try putting(record, in: BlueskyClient.posts, key: number)
        }
    }

    func favoriting(_ post: Target, key number: Int = 1) throws -> [UInt8] {
        switch network {
        case .mastodon: return try request("POST", "\(publishPath)/\(post.id)/favourite", nil)
        case .x:
            return try request("POST", "/2/users/\(fixture.xID(.bot))/likes", ["tweet_id": post.id])
        default:
            return try putting(
                ["subject": ["uri": post.identity, "cid": post.cid]], in: BlueskyClient.likes,
                key: number)
        }
    }

    private func putting(_ record: [String: Any], in collection: String, key number: Int) throws
        -> [UInt8]
    {
        var record = record
        record["$type"] = collection
        record["createdAt"] = "2026-11-20T00:00:00.000Z"
        return try request(
            "POST", publishPath,
            [
                "repo": sandbox.world.population.people[SandboxPopulation.bot].id(on: .bluesky)
                    .value,
                "collection": collection, "rkey": key(number) ?? "", "record": record,
                "swapRecord": NSNull(),
            ])
    }

    /// The newest mention that may be answered.
    func newestMention() async throws -> Target {
        let mention = try #require(await sandbox.ledger.mentions.last { $0.kind == .friend })
        guard network == .bluesky else { return Target(id: mention.id, identity: mention.identity) }
        let uri = try #require(
            mention.identity.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let reply = try await fixture.ask("app.bsky.feed.getPosts", "uris=\(uri)")
        let post = try #require(reply.items("posts").first)
        return Target(id: mention.id, identity: mention.identity, cid: post.cid)
    }

    private func request(
        _ method: String, _ target: String, _ body: [String: Any]?, key: String? = nil
    ) throws -> [UInt8] {
        let json = try body.map {
            String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self)
        }
        var headers = ["User-Agent": "tests/1", "Content-Type": "application/json"]
        if json == nil { headers["Content-Type"] = nil }
        headers["Idempotency-Key"] = key
        switch network {
        case .mastodon: headers["Authorization"] = "Bearer \(sandbox.botToken)"
        case .x:
            headers["Authorization"] = try XSigner(sandbox.xKeys(.bot), at: fixture.clock.now)
                .header(fixture.wireRequest(method, target, json: json, form: nil))
        default: headers["Authorization"] = "Bearer \(token)"
        }
        return SandboxFixture.bytes(
            method, target, port: sandbox.port, headers: headers, body: json)
    }

    /// Sends a request on a connection of its own; nil if the server hangs up without an answer.
    func send(_ bytes: [UInt8]) async throws -> Reply? {
        let port = sandbox.port
        return try await SandboxFixture.onThread {
            let connection = try LoopbackConnection(port: port)
            try connection.send(bytes)
            return try connection.receive()
        }
    }

    /// Sends a request and takes everything that comes until the connection ends.
    func drain(_ bytes: [UInt8]) async throws -> (
        bytes: [UInt8], ending: LoopbackConnection.Ending?
    ) {
        let port = sandbox.port
        return try await SandboxFixture.onThread {
            let connection = try LoopbackConnection(port: port)
            try connection.send(bytes)
            return try connection.drain()
        }
    }

    /// Waits until so many requests to write have come.
    func haveCome(_ count: Int) async throws {
        while await sandbox.ledger.writes.count < count {
            try await ContinuousClock().sleep(for: .milliseconds(5))
        }
    }

    /// Plans a fault for the next request to publish.
    func fail(_ fault: SandboxFault, count: Int = 1) {
        sandbox.faults.failNext(fault, count: count, method: "POST", path: publishPath)
    }
}
