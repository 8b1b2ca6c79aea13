import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct PagingTests {
    /// Walks a list to its end and checks that nothing is missing or out of order.
    private func walked(
        _ target: String, as identity: SandboxFixture.Identity, in fixture: SandboxFixture
    ) async throws -> [String] {
        let pages = try await fixture.walk(target, as: identity)
        #expect(pages.count > 1)
        let ids = pages.flatMap(\.ids)
        #expect(Set(ids).count == ids.count)
        return ids
    }

    @Test func walksTheHumansWholePast() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let human = try await fixture.send(
                "GET", "/api/v1/accounts/verify_credentials", as: .human)
            let id = try #require(human.object["id"] as? String)
            let ids = try await walked(
                "/api/v1/accounts/\(id)/statuses?limit=40", as: .human, in: fixture)
            #expect(ids.count == human.object["statuses_count"] as? Int)
            #expect(ids.count >= 1_500)
            #expect(ids == ids.compactMap { Int64($0) }.sorted(by: >).map(String.init))
            let open = try await walked(
                "/api/v1/accounts/\(id)/statuses?limit=40", as: .nobody, in: fixture)
            #expect(open.count < ids.count)
            let originals = try await walked(
                "/api/v1/accounts/\(id)/statuses?limit=40&exclude_replies=true", as: .human,
                in: fixture)
            #expect((originals.count + 100..<ids.count).contains(ids.count - 1))
        }
    }

    @Test func walksTheHomeAsFarAsItReaches() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let ids = try await walked("/api/v1/timelines/home?limit=40", as: .human, in: fixture)
            #expect(ids.count == MastodonCall.homeLength)
            let usual = try await fixture.send("GET", "/api/v1/timelines/home")
            #expect(usual.list.count == 20)
        }
    }

    @Test func walksTheFavoritesByIdsThatAreNotThoseOfPosts() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let first = try await fixture.send("GET", "/api/v1/favourites?limit=40", as: .human)
            let next = try #require(first.link("next"))
            let cursor = try #require(
                URLComponents(string: next)?.queryItems?.first { $0.name == "max_id" }?.value)
            #expect(!first.ids.contains(cursor))
            let ids = try await walked("/api/v1/favourites?limit=40", as: .human, in: fixture)
            #expect(ids.count > 150)
            expect(first.list) { $0.allSatisfy { $0["favourited"] as? Bool == true } }
        }
    }

    @Test func followsNewFavoritesFromThePreviousLink() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let known = try await fixture.send("GET", "/api/v1/favourites", as: .human)
            let previous = try #require(known.link("prev"))
            let nothing = try await fixture.send("GET", previous, as: .human)
            #expect(nothing.list.isEmpty)
            #expect(nothing.headers["link"] == nil)
            fixture.clock.now = fixture.sandbox.world.end
            let fresh = try await fixture.walk(previous, as: .human, relation: "prev")
            #expect(fresh.count > 1)
            let all = try await fixture.walk("/api/v1/favourites?limit=40", as: .human)
            let ids = fresh.flatMap { $0.ids.reversed() }
            #expect(ids == all.flatMap(\.ids).prefix(ids.count).reversed())
        }
    }

    @Test func missesNoMentionWhenWalkingForward() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/api/v1/notifications?types%5B%5D=mention&limit=5"
            let known = try await fixture.send("GET", target)
            var cursor = try #require(known.link("prev"))
            var seen: [String] = []
            while fixture.clock.now < fixture.sandbox.world.end {
                fixture.clock.advance(hours: 1)
                for page in try await fixture.walk(cursor, as: .bot, relation: "prev") {
                    seen += page.ids.reversed()
                    cursor = page.link("prev") ?? cursor
                }
            }
            #expect(seen.count == fixture.sandbox.world.mentions.count - 2)
            #expect(Set(seen).count == seen.count)
        }
    }

    @Test func keepsTheAddressOfTheClientInLinks() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.send(
                "GET", "/api/v1/notifications?types%5B%5D=mention&types%5B%5D=follow&limit=1")
            let link = try #require(reply.headers["link"])
            #expect(
                link.hasPrefix("<http://127.0.0.1:\(fixture.sandbox.port)/api/v1/notifications?"))
            #expect(link.contains("types%5B%5D=mention&types%5B%5D=follow&limit=1&max_id="))
            #expect(link.contains("rel=\"next\", <"))
        }
    }
}
