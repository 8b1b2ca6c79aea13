import Foundation
import NetworkNames
import Posts
import Testing

@testable import Sandbox

/// A logged in account of a running sandbox, on Bluesky.
struct BlueskyClient {
    static let posts = "app.bsky.feed.post"
    static let likes = "app.bsky.feed.like"
    static let profiles = "app.bsky.actor.profile"

    let fixture: SandboxFixture
    let did: String
    var access: String
    var refresh: String

    /// Runs the body with the bot logged in.
    static func run<Value>(
        world: SandboxWorld = SandboxFixture.standard, rateLimits: SandboxRateLimits = .unlimited,
        _ body: (BlueskyClient) async throws -> Value
    ) async throws -> Value {
        try await SandboxFixture.run(world: world, rateLimits: rateLimits) { fixture in
            try await body(try await logIn(.bot, to: fixture))
        }
    }

    static func logIn(_ role: SandboxRole, to fixture: SandboxFixture) async throws -> BlueskyClient
    {
        let login = fixture.sandbox.blueskyLogin(role)
        let reply = try await fixture.call(
            "com.atproto.server.createSession",
            ["identifier": login.handle, "password": login.appPassword])
        return BlueskyClient(
            fixture: fixture, did: try #require(reply.object["did"] as? String),
            access: try #require(reply.object["accessJwt"] as? String),
            refresh: try #require(reply.object["refreshJwt"] as? String))
    }

    /// Asks with the access token.
    func get(_ name: String, _ query: String = "") async throws -> Reply {
        try await fixture.ask(name, query, token: access)
    }

    /// Acts with the access token.
    func post(_ name: String, _ body: [String: Any]) async throws -> Reply {
        try await fixture.call(name, body, token: access)
    }

    /// What `post` would be written as.
    func record(_ text: String, _ more: [String: Any] = [:]) -> [String: Any] {
        var record: [String: Any] = [
            "$type": Self.posts, "text": text, "createdAt": "2026-11-20T00:00:00.000Z",
        ]
        record.merge(more) { $1 }
        return record
    }

    /// Puts a record where none must be.
    func put(
        _ record: [String: Any], key: String = "3ke6kg3wk2222", in collection: String = posts,
        swap: Any? = NSNull()
    )
        async throws -> Reply
    {
        var body: [String: Any] = [
            "repo": did, "collection": collection, "rkey": key, "record": record,
        ]
        body["swapRecord"] = swap
        return try await post("com.atproto.repo.putRecord", body)
    }

    /// Publishes and gives address and identifier.
    func publish(
        _ text: String, key: String = "3ke6kg3wk2222", answering parent: [String: Any]? = nil
    ) async throws
        -> [String: String]
    {
        let reply = try await put(
            record(text, try parent.map { ["reply": try Self.reply(to: $0)] } ?? [:]), key: key)
        guard reply.status == 200 else {
            throw LoopbackConnection.Failure(
                description: "not published: \(reply.status) \(reply.text)")
        }
        return Self.reference(reply.object)
    }

    /// Likes a post as a client does, at a key of its own.
    func like(_ subject: [String: String], key: String) async throws -> Reply {
        let record: [String: Any] = [
            "$type": Self.likes, "subject": subject, "createdAt": "2026-11-20T00:00:00.000Z",
        ]
        return try await put(record, key: key, in: Self.likes)
    }

    /// The newest mention by the person with the handle on Bluesky.
    func newestMention(by handle: String) async throws -> [String: Any] {
        let reply = try await get(
            "app.bsky.notification.listNotifications", "reasons=mention&reasons=reply&limit=100")
        let match = reply.items("notifications").first { $0.author["handle"] as? String == handle }
        return try #require(match)
    }

    /// `uri` and `cid` of anything that has them.
    static func reference(_ object: [String: Any]) -> [String: String] {
        ["uri": object["uri"] as? String ?? "", "cid": object["cid"] as? String ?? ""]
    }

    /// What a record holds that answers a post.
    static func reply(to post: [String: Any]) throws -> [String: Any] {
        let record = try #require(post["record"] as? [String: Any])
        let root = (record["reply"] as? [String: Any])?["root"] as? [String: Any]
        return ["root": reference(root ?? post), "parent": reference(post)]
    }
}

extension SandboxFixture {
    func ask(_ name: String, _ query: String = "", token: String? = nil) async throws -> Reply {
        try await send(
            "GET", "/xrpc/" + name + (query.isEmpty ? "" : "?" + query),
            as: token.map { .token($0) } ?? .nobody)
    }

    /// Calls a procedure; without a body if `body` is nil.
    func call(_ name: String, _ body: [String: Any]?, token: String? = nil) async throws -> Reply {
        let json = try body.map {
            String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self)
        }
        return try await send(
            "POST", "/xrpc/" + name, as: token.map { .token($0) } ?? .nobody, json: json)
    }

    /// All pages of a list, as guest or with a token.
    func pages(_ name: String, _ query: String, token: String? = nil) async throws -> [Reply] {
        var pages: [Reply] = []
        var cursor: String?
        repeat {
            let more = cursor.map { "&cursor=\($0)" } ?? ""
            let page = try await ask(name, query + more, token: token)
            guard page.status == 200 else {
                throw LoopbackConnection.Failure(
                    description: "no page: \(page.status) \(page.text)")
            }
            pages.append(page)
            cursor = page.object["cursor"] as? String
        } while cursor != nil && pages.count < 400
        return pages
    }

    /// Where the human's records are.
    var humanDID: String {
        sandbox.world.population.people[SandboxPopulation.human].id(on: .bluesky).value
    }
}

extension Reply {
    /// The list that the answer holds under a name.
    func items(_ name: String) -> [[String: Any]] { object[name] as? [[String: Any]] ?? [] }

    var message: String { object["message"] as? String ?? "" }
}

extension [String: Any] {
    var author: [String: Any] { self["author"] as? [String: Any] ?? [:] }
    var record: [String: Any] { self["record"] as? [String: Any] ?? [:] }
    var post: [String: Any] { self["post"] as? [String: Any] ?? [:] }
    var viewer: [String: Any] { self["viewer"] as? [String: Any] ?? [:] }
    var uri: String { self["uri"] as? String ?? "" }
    var cid: String { self["cid"] as? String ?? "" }

    /// The values of the labels.
    var labels: [String] {
        (self["labels"] as? [[String: Any]] ?? []).compactMap { $0["val"] as? String }
    }
}
