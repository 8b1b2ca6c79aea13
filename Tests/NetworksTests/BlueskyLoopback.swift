import Foundation
import Posts
import TestSupport
import Transport

@testable import Bluesky
@testable import Mastodon
@testable import Networks

/// Keeps a session in memory, and counts.
final class MemoryCredentials: CredentialStore {
    struct Failure: Error {}

    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var secret: Secret?
    nonisolated(unsafe) private var saves = 0
    nonisolated(unsafe) private var failing = false

    var saved: String? { lock.withLock { secret?.reveal() } }
    var saveCount: Int { lock.withLock { saves } }

    /// Puts a session there as another process would.
    func replace(_ new: String) { lock.withLock { secret = Secret(new) } }

    func fail(_ isFailing: Bool) { lock.withLock { failing = isFailing } }

    func load() async throws -> Secret? {
        try lock.withLock {
            if failing { throw Failure() }
            return secret
        }
    }

    func save(_ credentials: Secret) async throws {
        try lock.withLock {
            if failing { throw Failure() }
            secret = credentials
            saves += 1
        }
    }
}

/// A server on loopback that stands for all of Bluesky, and a network that uses it.
struct BlueskyLoopback {
    static let did = "did:plc:botbotbotbotbotbotbotbot"
    static let handle = "bot.home.example"
    static let password = "planted-pass-word-9a7b"
    /// What the usual answers give at the first log-in, and for a renewal.
    static let access = "planted.access.1"
    static let refresh = "planted.refresh.1"
    static let renewedAccess = "planted.access.2"
    static let renewedRefresh = "planted.refresh.2"
    static let secrets = [password, access, refresh, renewedAccess, renewedRefresh]
    /// The instant 2026-11-20T21:00:00Z.
    static let start = Loopback.start

    let server: LoopbackServer
    let network: BlueskyNetwork
    let store: MemoryCredentials

    /// Where `answer` gives nil, the usual answers are given.
    init(
        identifier: String = Self.handle, password: String? = Self.password,
        store: MemoryCredentials = MemoryCredentials(), gates: BlueskyGates = BlueskyGates(),
        now: @escaping @Sendable () -> Date = { Self.start },
        answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?
    ) throws {
        server = try LoopbackServer { request, connection in
            let answer = answer(request) ?? Self.usual(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        self.store = store
        network = try Self.network(
            of: server, identifier: identifier, password: password, store: store, gates: gates,
            now: now)
    }

    static func network(
        of server: LoopbackServer, identifier: String = Self.handle,
        password: String? = Self.password,
        store: MemoryCredentials = MemoryCredentials(), gates: BlueskyGates = BlueskyGates(),
        now: @escaping @Sendable () -> Date = { Self.start }
    ) throws -> BlueskyNetwork {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        return try BlueskyNetwork(
            identifier: identifier, appPassword: password.map { Secret($0) },
            apiBaseURL: server.url, sessions: store,
            gates: gates, client: client, now: now)
    }

    /// The requests that are not about the session.
    var requests: [LoopbackServer.Request] {
        server.requests.filter { !$0.path.contains("com.atproto.server.") }
    }

    func count(_ name: String) -> Int { server.requests.count { $0.method(name) } }

    static func usual(_ request: LoopbackServer.Request) -> Answer {
        switch request.path {
        case "/xrpc/com.atproto.server.createSession": .json(BlueskyJSON.session(access, refresh))
        case "/xrpc/com.atproto.server.refreshSession":
            .json(BlueskyJSON.session(renewedAccess, renewedRefresh))
        case "/xrpc/com.atproto.server.getSession":
            .json(#"{"did":"\#(did)","handle":"\#(handle)","active":true}"#)
        case "/xrpc/com.atproto.identity.resolveHandle": .json(#"{"did":"\#(did)"}"#)
        case "/xrpc/app.bsky.actor.getProfile": .json(BlueskyJSON.author(did, handle))
        case "/xrpc/app.bsky.actor.getProfiles": .json(#"{"profiles":[]}"#)
        default: .xrpc("MethodNotImplemented", status: 501)
        }
    }

    /// The text of a session as the network saves it.
    static func saved(
        access: String = Self.access, refresh: String = Self.refresh, at base: String,
        identifier: String = Self.handle
    ) -> String {
        #"{"access":"\#(access)","did":"\#(did)","entryway":"\#(base)","handle":"\#(handle)","identifier":"\#(identifier)","pds":"\#(base)","refresh":"\#(refresh)"}"#
    }
}

extension Answer {
    /// An error as XRPC has it.
    static func xrpc(_ name: String, _ message: String = "", status: Int = 400) -> Answer {
        .json(#"{"error":"\#(name)","message":"\#(message)"}"#, status: status)
    }
}

extension LoopbackServer.Request {
    /// Whether the request is for a method of XRPC.
    func method(_ name: String) -> Bool { path == "/xrpc/\(name)" }

    /// All values of a parameter.
    func values(_ name: String) -> [String] {
        (URLComponents(string: target)?.queryItems ?? []).filter { $0.name == name }.map {
            $0.value ?? ""
        }
    }

    var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// A text field of a JSON body.
    func field(_ name: String) -> String? {
        ((try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any])?[name] as? String
    }
}

/// JSON in the shapes of Bluesky.
enum BlueskyJSON {
    static let cid = "bafyreia111"

    static func session(_ access: String, _ refresh: String, did: String = BlueskyLoopback.did)
        -> String
    {
        #"{"accessJwt":"\#(access)","refreshJwt":"\#(refresh)","did":"\#(did)","handle":"\#(BlueskyLoopback.handle)","email":"a@b.example","active":true}"#
    }

    static func author(_ did: String, _ handle: String, _ overrides: [String: String] = [:])
        -> String
    {
        Wire.object(
            [
                "did": "\"\(did)\"", "handle": "\"\(handle)\"",
                "displayName": "\"Name of \(handle)\"", "labels": "[]",
            ],
            overrides)
    }

    static let ann = author("did:plc:ann", "ann.example")

    static func uri(
        _ key: String, by did: String = "did:plc:ann", _ collection: String = "app.bsky.feed.post"
    )
        -> String
    {
        "at://\(did)/\(collection)/\(key)"
    }

    static func reference(_ key: String, by did: String = "did:plc:ann", cid: String = Self.cid)
        -> String
    {
        #"{"uri":"\#(uri(key, by: did))","cid":"\#(cid)"}"#
    }

    static func record(_ text: String = "hello", _ overrides: [String: String] = [:]) -> String {
        Wire.object(
            [
                "$type": "\"app.bsky.feed.post\"", "text": "\"\(text)\"",
                "createdAt": "\"2026-11-20T20:00:00.000Z\"",
                "langs": "[\"en\"]",
            ], overrides)
    }

    static func listed(
        _ key: String, by did: String = BlueskyLoopback.did, _ value: String = record()
    ) -> String {
        #"{"uri":"\#(uri(key, by: did))","cid":"\#(cid)","value":\#(value)}"#
    }

    static func like(_ key: String, of uri: String) -> String {
        let value =
            #"{"$type":"app.bsky.feed.like","subject":{"uri":"\#(uri)","cid":"\#(cid)"},"createdAt":"2026-11-20T20:00:00Z"}"#
        return
            #"{"uri":"at://\#(BlueskyLoopback.did)/app.bsky.feed.like/\#(key)","cid":"\#(cid)","value":\#(value)}"#
    }

    static func records(_ elements: [String], cursor: String? = nil) -> String {
        page("records", elements, cursor: cursor)
    }

    static func page(_ name: String, _ elements: [String], cursor: String? = nil) -> String {
        let cursor = cursor.map { ",\"cursor\":\"\($0)\"" } ?? ""
        return "{\"\(name)\":\(Wire.list(elements))\(cursor)}"
    }

    static func view(
        _ key: String, _ record: String = record(), _ overrides: [String: String] = [:]
    ) -> String {
        Wire.object(
            [
                "uri": "\"\(uri(key))\"", "cid": "\"\(cid)\"", "author": ann, "record": record,
                "indexedAt": "\"2026-11-20T20:00:01.000Z\"", "viewer": "{}", "labels": "[]",
                "likeCount": "3",
            ], overrides)
    }

    static func item(_ view: String, reason: String? = nil) -> String {
        reason.map { #"{"post":\#(view),"reason":\#($0)}"# } ?? #"{"post":\#(view)}"#
    }

    static func notification(
        _ key: String, _ reason: String = "mention", _ overrides: [String: String] = [:]
    )
        -> String
    {
        Wire.object(
            [
                "uri": "\"\(uri(key))\"", "cid": "\"\(cid)\"", "author": ann,
                "reason": "\"\(reason)\"",
                "record": record(), "isRead": "false", "indexedAt": "\"2026-11-20T20:00:01.000Z\"",
            ], overrides)
    }

    static func reply(to parent: String, root: String, by did: String = BlueskyLoopback.did)
        -> String
    {
        #"{"root":\#(reference(root, by: did)),"parent":\#(reference(parent, by: did))}"#
    }
}
