import Foundation
import NetworkNames
import Posts

@testable import Sandbox

/// A clock that the test sets.
final class TestClock: @unchecked Sendable {
    // Sendable: every access to `instant` holds the lock.
    private let lock = NSLock()
    private var instant: Date

    init(_ instant: Date) { self.instant = instant }

    var now: Date {
        get { lock.withLock { instant } }
        set { lock.withLock { instant = newValue } }
    }

    func advance(hours: Double) { lock.withLock { instant += hours * 3_600 } }
}

/// A running sandbox, the clock it lives by, and a client for it.
struct SandboxFixture {
    /// Friday 2026-11-20, midnight in Tokyo.
    static let origin = Date(timeIntervalSince1970: 1_795_100_400)
    static let tokyo = TimeZone(identifier: "Asia/Tokyo") ?? .gmt

    /// Three days from the origin, with the people and the archive of the sample.
    static let standard = world()

    let sandbox: Sandbox
    let clock: TestClock

    static func world(
        seed: UInt64 = 7, days: Int = 3, origin: Date = origin, friends: [String]? = nil,
        humanPosts: [Post]? = nil,
        bot: NetworkName = .mastodon
    ) -> SandboxWorld {
        var configuration = SandboxWorld.Configuration(
            seed: seed, origin: origin, days: days, timeZone: tokyo, humanPosts: humanPosts)
        if let friends { configuration.friends = friends }
        configuration.botNetwork = bot
        return SandboxWorld(configuration: configuration)
    }

    static func run<Value>(
        world: SandboxWorld = standard, rateLimits: SandboxRateLimits = .unlimited,
        _ body: (SandboxFixture) async throws -> Value
    ) async throws -> Value {
        let clock = TestClock(world.configuration.origin)
        await Turnstile.sandboxes.enter()
        let sandbox: Sandbox
        do {
            sandbox = try await Sandbox.start(world: world, rateLimits: rateLimits) { clock.now }
        } catch {
            await Turnstile.sandboxes.leave()
            throw error
        }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(SandboxFixture(sandbox: sandbox, clock: clock)))
        } catch {
            result = .failure(error)
        }
        await sandbox.stop()
        await Turnstile.sandboxes.leave()
        return try result.get()
    }

    enum Identity {
        case human
        case bot
        case nobody
        case token(String)
    }

    /// Sends one request on a connection of its own.
    func send(
        _ method: String = "GET", _ target: String, as identity: Identity = .bot,
        json: String? = nil,
        form: String? = nil, key: String? = nil, headers: [String: String] = [:]
    ) async throws -> Reply {
        let reply = try await attempt(
            method, target, as: identity, json: json, form: form, key: key, headers: headers)
        guard let reply else { throw LoopbackConnection.Failure(description: "the server hung up") }
        return reply
    }

    /// Sends one request; nil if the server hangs up without an answer.
    func attempt(
        _ method: String = "GET", _ target: String, as identity: Identity = .bot,
        json: String? = nil,
        form: String? = nil, key: String? = nil, headers: [String: String] = [:]
    ) async throws -> Reply? {
        var headers = headers
        if headers["User-Agent"] == nil { headers["User-Agent"] = "tests/1" }
        if json != nil, headers["Content-Type"] == nil {
            headers["Content-Type"] = "application/json"
        }
        if form != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        if let key { headers["Idempotency-Key"] = key }
        if let token = token(of: identity) { headers["Authorization"] = "Bearer \(token)" }
        let bytes = Self.bytes(
            method, target, port: sandbox.port, headers: headers, body: json ?? form)
        let port = sandbox.port
        return try await Self.onThread {
            let connection = try LoopbackConnection(port: port)
            try connection.send(bytes)
            return try connection.receive()
        }
    }

    static func bytes(
        _ method: String, _ target: String, port: Int, headers: [String: String], body: String?
    )
        -> [UInt8]
    {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)"]
        lines += headers.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)" }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8)
    }

    func token(of identity: Identity) -> String? {
        switch identity {
        case .human: sandbox.humanToken
        case .bot: sandbox.botToken
        case .nobody: nil
        case .token(let token): token
        }
    }

    /// Runs blocking work on a thread of its own.
    ///
    /// Not on a dispatch queue: on Linux those share their few threads with the cooperative pool
    /// that the server needs.
    static func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value)
        async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try work() }) }.start()
        }
    }

    /// Publishes as the bot and gives the id.
    func publish(
        _ text: String, replyTo: String? = nil, visibility: String = "unlisted", key: String? = nil
    )
        async throws -> String
    {
        var fields: [String: String] = ["status": text, "visibility": visibility]
        fields["in_reply_to_id"] = replyTo
        let body = String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
        let reply = try await send("POST", "/api/v1/statuses", json: body, key: key)
        guard reply.status == 200, let id = reply.object["id"] as? String else {
            throw LoopbackConnection.Failure(
                description: "not published: \(reply.status) \(reply.text)")
        }
        return id
    }

    /// Follows `next` links from `target` to their end, and returns the pages.
    func walk(_ target: String, as identity: Identity, relation: String = "next") async throws
        -> [Reply]
    {
        var pages: [Reply] = []
        var next: String? = target
        while let current = next, pages.count < 500 {
            let page = try await send("GET", current, as: identity)
            guard page.status == 200, !page.list.isEmpty else { break }
            pages.append(page)
            next = page.link(relation)
        }
        return pages
    }
}
