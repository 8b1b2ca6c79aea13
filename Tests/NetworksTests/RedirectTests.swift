import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Bluesky
@testable import Mastodon
@testable import Networks
@testable import X

/// A redirect is an outage, unless it leads a read to the same server.
@Suite struct RedirectTests {
    private static let statuses = [301, 302, 303, 307, 308]

    private static func redirect(_ status: Int, to location: String) -> Answer {
        Answer(status: status, headers: [("Location", location)])
    }

    private static func draft() -> Draft {
        Draft(text: "text", visibility: .unlisted, key: "k", createdAt: Loopback.start)
    }

    /// The write itself is neither sent again nor anywhere else.
    @Test(arguments: statuses) func aWriteIsNeverRedirected(status: Int) async throws {
        let answer = Self.redirect(status, to: "/elsewhere")
        let mastodon = try Loopback { $0.method == "POST" ? answer : nil }
        let bluesky = try BlueskyLoopback { $0.method("com.atproto.repo.putRecord") ? answer : nil }
        let x = try XLoopback { $0.method == "POST" ? answer : nil }
        let networks: [(any SocialNetwork, LoopbackServer)] = [
            (mastodon.network, mastodon.server), (bluesky.network, bluesky.server),
            (x.network, x.server),
        ]
        for (network, server) in networks {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await network.publish(Self.draft())
            }
            #expect(error.code == .redirected)
            #expect(error.outcome == (status == 303 ? .unknown : .refused))
            #expect(!error.isPermanent)
            #expect(!error.stopsActor)
            #expect(
                error.description.contains("if this lasts, configure the server by the address"))
            #expect(error.description.contains("tried again") || status == 303)
            expect(server.requests) { !$0.contains { $0.path == "/elsewhere" } }
        }
    }

    @Test(arguments: statuses) func aReadFollowsWithinItsServer(status: Int) async throws {
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v1/timelines/home": Self.redirect(status, to: "/api/v9/home?limit=40")
            case "/api/v9/home": Self.redirect(status, to: "home2")
            case "/api/v9/home2":
                Self.redirect(status, to: "http://\(request.header("Host") ?? "")/home3#part")
            case "/home3": .json(Wire.list([Wire.status("9")]))
            default: nil
            }
        }
        let page = try await loopback.network.page(.home, .newest)
        #expect(page.items.map(\.address) == ["9"])
        expect(loopback.requests) {
            $0.allSatisfy { $0.header("Authorization") == "Bearer \(Loopback.token)" }
        }
    }

    @Test func aReadFollowsThreeTimesAtMost() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/timelines/home"
                ? Self.redirect(302, to: "/api/v1/timelines/home") : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newest)
        }
        #expect(error.code == .redirected)
        #expect(loopback.requests.count == 4)
    }

    /// Credentials go nowhere else: not to another host, port or scheme, nor to a name that only
    /// looks like it.
    @Test(arguments: [
        "http://127.0.0.1:1/x", "https://127.0.0.1:PORT/x", "http://localhost:PORT/x",
        "//evil.example/x",
        "http://127.0.0.1:PORT@evil.example/x", "http://user:pass@127.0.0.1:PORT/x",
        "ftp://127.0.0.1:PORT/x",
        "javascript:alert(1)", "http://127.0.0.1.evil.example:PORT/x", "http://[::1]:PORT/x", "",
        "http://127.0.0.1:PORT\\@evil.example/x",
    ])
    func aReadDoesNotLeaveItsServer(location: String) async throws {
        let other = try LoopbackServer { _, connection in
            try connection.respond(status: 200, body: Array("[]".utf8))
        }
        for place in [location, location.replacing("127.0.0.1:1", with: "127.0.0.1:\(other.port)")]
        {
            let loopback = try Loopback { request in
                guard request.path == "/api/v1/timelines/home" else { return nil }
                let port = request.header("Host")?.split(separator: ":").last.map(String.init) ?? ""
                return Self.redirect(302, to: place.replacing("PORT", with: port))
            }
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.page(.home, .newest)
            }
            #expect(!error.stopsActor)
            #expect(loopback.requests.count == 1)
        }
        #expect(other.requests.isEmpty)
    }

    /// X's signature is for one address.
    @Test func aReadOfXIsNotRedirected() async throws {
        let loopback = try XLoopback { request in
            request.path == "/2/users/42/mentions"
                ? Self.redirect(302, to: "/2/users/42/mentions") : nil
        }
        let error = try await XLoopback.failure(of: loopback.network, .readMentions)
        #expect(error.code == .redirected)
        #expect(!error.stopsActor)
        #expect(loopback.requests.count == 1)
    }
}
