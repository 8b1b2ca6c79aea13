import Foundation
import Posts
import TestSupport

@testable import Mastodon
@testable import Networks

/// What servers other than Mastodon say about themselves, in the shapes they were seen to send.
enum MastodonServers {
    static let goToSocial = #"""
        {"domain":"gts.example","account_domain":"example.org","title":"GTS","version":"0.19.1+git-57cb4fe",
        "source_url":"https://codeberg.org/superseriousbusiness/gotosocial","description":"","api_versions":{},
        "configuration":{"urls":{"streaming":"wss://gts.example"},"statuses":{"max_characters":5000,
        "max_media_attachments":6,"characters_reserved_per_url":25}}}
        """#
    static let pleroma = #"""
        {"uri":"https://pl.example","title":"P","version":"2.7.2 (compatible; Pleroma 2.6.0)","max_toot_chars":5000,
        "configuration":{"statuses":{"characters_reserved_per_url":0}},"pleroma":{"metadata":{}}}
        """#
    static let takahe = #"""
        {"domain":"takahe.example","title":"T","version":"takahe/0.11.0",
        "source_url":"https://github.com/jointakahe/takahe","description":"","urls":{},"configuration":{"statuses":
        {"max_characters":800,"max_media_attachments":4,"characters_reserved_per_url":23}}}
        """#
    static let snac = #"""
        {"uri":"snac.example","domain":"snac.example","title":"snac.example",
        "version":"4.0.0 (not true; really snac/2.74)","source_url":"https://comam.es/what-is-snac","configuration":
        {"statuses":{"characters_reserved_per_url":32,"max_characters":100000,"max_media_attachments":4}}}
        """#

    /// A network that reads from a server with such an instance; `answer` goes before it.
    static func loopback(
        _ instance: String, version: String = "v2",
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?
    ) throws -> Loopback {
        try Loopback { request in
            if let answer = answer(request) { return answer }
            if request.path == "/api/\(version)/instance" { return .json(instance) }
            if request.path == "/.well-known/webfinger" {
                let told = JSONBody.decoded(MastodonInstance.self, Array(instance.utf8))?.domain
                let name = request.query["resource"]?.split(separator: "@").first ?? ""
                return told.map { .json(#"{"subject":"\#(name)@\#($0)"}"#) } ?? .notFound
            }
            return request.path.hasSuffix("/instance") ? .notFound : nil
        }
    }

    static func draft(replyTo: String? = nil) -> Draft {
        Draft(
            text: "text", replyTo: replyTo, visibility: .unlisted, key: "k",
            createdAt: Loopback.start)
    }

    /// The addresses of all posts of a feed, and whether it came to its end.
    static func walk(
        _ network: MastodonNetwork, _ feed: Feed, from start: FeedPosition = .newest
    ) async throws -> (addresses: [String], isComplete: Bool, newer: String?) {
        var walk = FeedWalk(of: network, feed, from: start)
        var addresses: [String] = []
        while let page = try await walk.next() { addresses += page.items.map(\.address) }
        return (addresses, walk.isComplete, walk.newer)
    }
}
