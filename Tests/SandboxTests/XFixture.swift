import Foundation
import NetworkNames
import Posts

@testable import Sandbox

/// Signs requests as a client of X does.
struct XSigner {
    var keys: SandboxXKeys
    var nonce = String(UInt64.random(in: 1 << 40 ... .max), radix: 36)
    var timestamp: Date
    var method = "HMAC-SHA1"
    var version: String? = "1.0"
    /// More protocol parameters, such as the callback.
    var extra: [(name: String, value: String)] = []
    /// Without it only the app signs.
    var sendsToken = true

    init(_ keys: SandboxXKeys, at timestamp: Date) {
        self.keys = keys
        self.timestamp = timestamp
    }

    /// The value of the `Authorization` header.
    func header(_ request: WireRequest) throws -> String {
        var pairs = [
            ("oauth_consumer_key", keys.consumerKey), ("oauth_nonce", nonce),
            ("oauth_signature_method", method),
            ("oauth_timestamp", String(Int64(timestamp.timeIntervalSince1970))),
        ]
        if sendsToken { pairs.append(("oauth_token", keys.accessToken)) }
        if let version { pairs.append(("oauth_version", version)) }
        pairs += extra.map { ($0.name, $0.value) }
        guard let authorization = XAuthorization(Self.text(pairs)) else {
            throw LoopbackConnection.Failure(description: "the header cannot be read")
        }
        let signature = XSignature(request, authorization: authorization)
            .text(
                consumerSecret: keys.consumerSecret,
                tokenSecret: sendsToken ? keys.accessTokenSecret : "")
        return Self.text(pairs + [("oauth_signature", signature)])
    }

    private static func text(_ pairs: [(String, String)]) -> String {
        "OAuth " + pairs.map { "\($0.0)=\"\(XSignature.escaped($0.1))\"" }.joined(separator: ", ")
    }
}

extension SandboxFixture {
    /// Sends a signed request; `target` is path and query as sent, `change` may spoil how it is
    /// signed.
    func x(
        _ method: String = "GET", _ target: String, as role: SandboxRole = .bot,
        json: String? = nil,
        form: String? = nil, change: (inout XSigner) -> Void = { _ in }
    ) async throws -> Reply {
        var signer = XSigner(sandbox.xKeys(role), at: clock.now)
        change(&signer)
        return try await x(method, target, signer: signer, json: json, form: form)
    }

    func x(
        _ method: String, _ target: String, signer: XSigner, json: String? = nil,
        form: String? = nil
    ) async throws -> Reply {
        let request = wireRequest(method, target, json: json, form: form)
        return try await send(
            method, target, as: .nobody, json: json, form: form,
            headers: ["Authorization": try signer.header(request)])
    }

    func wireRequest(_ method: String, _ target: String, json: String? = nil, form: String? = nil)
        -> WireRequest
    {
        let type = form == nil ? "application/json" : "application/x-www-form-urlencoded"
        return WireRequest(
            method: method, target: target,
            headers: [("host", "127.0.0.1:\(sandbox.port)"), ("content-type", type)],
            body: Array((form ?? json ?? "").utf8))
    }

    func xID(_ role: SandboxRole) -> String {
        sandbox.world.population.people[role.person].id(on: .x).value
    }

    /// Publishes as the bot.
    func xPublish(_ text: String, replyTo: String? = nil) async throws -> Reply {
        var body: [String: Any] = ["text": text]
        if let replyTo { body["reply"] = ["in_reply_to_tweet_id": replyTo] }
        let json = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        return try await x("POST", "/2/tweets", json: json)
    }

    /// Follows `next_token` to the end.
    func xWalk(_ target: String, as role: SandboxRole) async throws -> [Reply] {
        var pages: [Reply] = []
        var token: String?
        repeat {
            let next = token.map { "&pagination_token=\($0)" } ?? ""
            let page = try await x("GET", target + next, as: role)
            guard page.status == 200 else {
                throw LoopbackConnection.Failure(description: "\(page.status) \(page.text)")
            }
            pages.append(page)
            token = page.meta["next_token"] as? String
        } while token != nil && pages.count < 500
        return pages
    }

    /// A world whose human has posted these texts, a minute apart, the last one just before the
    /// run.
    static func world(humanTexts texts: [String], change: (Int, inout Post) -> Void = { _, _ in })
        -> SandboxWorld
    {
        let author = AccountID(network: .mastodon, value: "haruka@sandbox.example")
        return world(
            humanPosts: texts.enumerated().map { index, text in
                var post = Post(
                    id: PostID(network: .mastodon, value: "urn:\(index)"), author: author,
                    text: text,
                    createdAt: humanDate(index, of: texts.count))
                change(index, &post)
                return post
            })
    }

    /// When the human wrote a post of such a world.
    static func humanDate(_ index: Int, of count: Int) -> Date {
        origin.addingTimeInterval(-60 * Double(count - index))
    }

    /// The id of a post of such a world.
    static func humanID(_ index: Int, of count: Int) -> String {
        String(SandboxPost.id(at: humanDate(index, of: count)))
    }
}

extension Reply {
    var data: [[String: Any]] { object["data"] as? [[String: Any]] ?? [] }
    var single: [String: Any] { object["data"] as? [String: Any] ?? [:] }
    var meta: [String: Any] { object["meta"] as? [String: Any] ?? [:] }
    var errors: [[String: Any]] { object["errors"] as? [[String: Any]] ?? [] }
    var includes: [String: Any] { object["includes"] as? [String: Any] ?? [:] }
    var texts: [String] { data.compactMap { $0["text"] as? String } }
    var xIDs: [String] { data.compactMap { $0["id"] as? String } }

    /// The last part of the problem's address.
    var problem: String? {
        (object["type"] as? String)?.split(separator: "/").last.map(String.init)
    }
}
