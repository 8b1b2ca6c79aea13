package import Foundation
import Posts

/// Single objects that the server refuses while it returns all others.
///
/// The seed and the objects' names determine which objects are refused, how, and for how long.
package struct SandboxRefusals: Equatable, Sendable {
    /// A kind of object that can be refused while others are returned.
    package enum Object: String, CaseIterable, Sendable {
        case post
        /// The conversation around a post.
        case thread
        case person
        /// A page of the bot's mentions.
        case mentions
        case home
        /// A page of a person's own posts, or of favorites.
        case list

        /// Whether it is a page of a list.
        var isPage: Bool { [.mentions, .home, .list].contains(self) }
    }

    /// The answer in place of a refused object.
    package enum Answer: String, CaseIterable, Sendable {
        case badRequest = "400"
        case unauthorized = "401"
        case forbidden = "403"
        case notFound = "404"
        case gone = "410"
        case failure = "500"
        /// A web page with status 200 in place of the JSON.
        case webPage = "web-page"
    }

    /// The rule for refusing objects of one kind.
    package struct Rule: Equatable, Sendable {
        /// The share of objects that are refused, from 0 to 1.
        package var share: Double
        /// The answers for objects that are refused permanently; empty for none.
        ///
        /// The newest page of a list is never refused permanently.
        package var forGood: [Answer]
        /// The answers for objects that are refused temporarily; empty for none.
        package var passing: [Answer]
        /// The seconds of a temporary refusal, from the first request for the object; the newest
        /// page is refused in stretches of this length.
        package var lasting: TimeInterval

        package init(
            share: Double, forGood: [Answer] = Answer.allCases, passing: [Answer] = Answer.allCases,
            lasting: TimeInterval = 600
        ) {
            self.share = share
            self.forGood = forGood
            self.passing = passing
            self.lasting = lasting
        }
    }

    package var seed: UInt64
    package var rules: [Object: Rule]

    package init(seed: UInt64 = 0, rules: [Object: Rule] = [:]) {
        self.seed = seed
        self.rules = rules
    }

    /// The requested object, if it can be refused individually.
    struct Target: Hashable, Sendable {
        var object: Object
        var name: String
        /// Whether it is a page at the beginning of a list.
        var isNewest = false
    }

    /// Returns the answer in place of a requested object; `nil` if the object is returned.
    ///
    /// - Parameters:
    ///   - target: The requested object.
    ///   - now: The sandbox's clock.
    /// - Returns: The same for every request of an object; for a newest page, the same during one
    ///   stretch of ``Rule/lasting`` seconds. `lasting` is the length of the refusal in seconds,
    ///   from the first request for the object; `nil` for a permanent refusal.
    func verdict(on target: Target, at now: Date) -> (answer: Answer, lasting: TimeInterval?)? {
        guard let rule = rules[target.object] else { return nil }
        var name = "\(seed) \(target.object.rawValue) \(target.name)"
        if target.isNewest { name += " \(Int(now.timeIntervalSince1970 / max(1, rule.lasting)))" }
        let draw = SandboxIdentity.hash(name + " drawn")
        // The upper 53 bits as a number from 0 to less than 1.
        let fraction = Double(draw >> 11) / Double(1 << 53)
        guard fraction < rule.share else { return nil }
        let forGood = target.isNewest ? [] : rule.forGood
        let choices: [(answer: Answer, lasting: TimeInterval?)] =
            forGood.map { (answer: $0, lasting: nil) }
            + rule.passing.map { (answer: $0, lasting: rule.lasting) }
        return choices.isEmpty
            ? nil : choices[Int(SandboxIdentity.hash(name + " answered") % UInt64(choices.count))]
    }
}

/// Finds the requested object, on each network.
extension SandboxRefusals.Target {
    /// `nil` if the request writes, or is about the client's own account or about the server.
    init?(_ request: WireRequest) {
        guard request.method == "GET" else { return nil }
        let segments = request.path.split(separator: "/").map(String.init)
        let objectAndName =
            switch segments.first {
            case "api": Self.mastodon(segments)
            case "2": Self.x(segments, request.query)
            case "xrpc": Self.bluesky(segments.last ?? "", request.query)
            default: nil as (SandboxRefusals.Object, String)?
            }
        guard let (object, name) = objectAndName else { return nil }
        self.init(object: object, name: name)
        guard object.isPage else { return }
        let position = request.query.filter { Self.cursors.contains($0.name) }.map {
            "\($0.name)=\($0.value)"
        }
        isNewest = position.isEmpty
        self.name = ([name] + position.sorted()).joined(separator: " ")
    }

    /// The parameters with the position of a page.
    private static let cursors: Set = [
        "max_id", "since_id", "min_id", "until_id", "pagination_token", "cursor", "start_time",
        "end_time",
    ]

    private static func mastodon(_ segments: [String]) -> (SandboxRefusals.Object, String)? {
        let apiPath = segments.dropFirst(2)
        guard let first = apiPath.first else { return nil }
        switch (first, apiPath.count) {
        case ("statuses", 2): return (.post, segments[3])
        case ("statuses", 3) where segments[4] == "context": return (.thread, segments[3])
        case ("accounts", 2) where segments[3].first?.isNumber == true:
            return (.person, segments[3])
        case ("accounts", 3) where segments[4] == "statuses": return (.list, segments[3])
        case ("notifications", 1): return (.mentions, "")
        case ("timelines", 2): return (.home, "")
        case ("favourites", 1): return (.list, "favorites")
        default: return nil
        }
    }

    private static func x(
        _ segments: [String], _ query: [(name: String, value: String)]
    ) -> (SandboxRefusals.Object, String)? {
        guard segments.count > 1 else { return nil }
        let ids = query.first { $0.name == "ids" }?.value ?? ""
        switch (segments[1], segments.count) {
        case ("tweets", 2) where !ids.isEmpty && !ids.contains(","): return (.post, ids)
        case ("tweets", 3): return (.post, segments[2])
        case ("users", 5) where segments[2] == "by": return (.person, segments[4])
        case ("users", 3) where segments[2] != "me": return (.person, segments[2])
        case ("users", 4) where segments[3] == "mentions": return (.mentions, "")
        case ("users", 4) where segments[2] != "by": return (.list, segments[2] + segments[3])
        case ("users", 5): return (.home, "")
        default: return nil
        }
    }

    private static func bluesky(
        _ method: String, _ query: [(name: String, value: String)]
    ) -> (SandboxRefusals.Object, String)? {
        func value(_ name: String) -> String { query.first { $0.name == name }?.value ?? "" }
        switch method {
        case "app.bsky.feed.getPostThread": return (.thread, value("uri"))
        case "app.bsky.feed.getPosts" where query.count { $0.name == "uris" } == 1:
            return (.post, value("uris"))
        case "app.bsky.actor.getProfile": return (.person, value("actor"))
        case "app.bsky.notification.listNotifications": return (.mentions, "")
        case "app.bsky.feed.getTimeline": return (.home, "")
        case "app.bsky.feed.getAuthorFeed", "app.bsky.feed.getActorLikes":
            return (.list, method + value("actor"))
        default: return nil
        }
    }
}

extension SandboxRefusals.Answer {
    /// The answer in the form of the network's servers.
    func fault(on request: WireRequest) -> SandboxFault {
        guard let status = Int(rawValue) else { return .html(status: 200) }
        let message = "This object is not for you"
        if XWire.owns(request) {
            return .answer(
                status: status, contentType: "application/problem+json",
                body: String(
                    decoding: XRefusal.problem(status, "Refused", message).body.bytes, as: UTF8.self
                ),
                headers: [:])
        }
        if BlueskyWire.owns(request) { return .xrpc(status: status, error: name, message: message) }
        return .error(status: status, message: message)
    }

    /// The name of the error in the AT Protocol.
    private var name: String {
        switch self {
        case .badRequest: "InvalidRequest"
        case .unauthorized: "AuthenticationRequired"
        case .forbidden: "Forbidden"
        case .notFound, .gone: "NotFound"
        case .failure, .webPage: "InternalServerError"
        }
    }
}
