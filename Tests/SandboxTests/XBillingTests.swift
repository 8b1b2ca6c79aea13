import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct XBillingTests {
    private static let few = SandboxFixture.world(humanTexts: (0..<12).map { "post \($0)" })

    /// What a request adds to the bill.
    private func cost(_ fixture: SandboxFixture, _ request: () async throws -> Reply) async throws
        -> Int
    {
        let before = await fixture.sandbox.ledger.spentMicrodollars
        let reply = try await request()
        guard (200..<300).contains(reply.status) else {
            throw LoopbackConnection.Failure(description: "\(reply.status) \(reply.text)")
        }
        return await fixture.sandbox.ledger.spentMicrodollars - before
    }

    @Test func billsEachThingOnceADay() async throws {
        try await SandboxFixture.run(world: Self.few) { (fixture) async throws in
            let target = "/2/users/\(fixture.xID(.human))/tweets?max_results="
            let five = try await cost(fixture) { try await fixture.x("GET", target + "5") }
            #expect(five == 25_000)
            let twelve = try await cost(fixture) {
                try await fixture.x("GET", target + "12", as: .human)
            }
            #expect(twelve == 35_000)
            let again = try await cost(fixture) { try await fixture.x("GET", target + "12") }
            #expect(again == 0)
            let me = try await cost(fixture) { try await fixture.x("GET", "/2/users/me") }
            #expect(me == 10_000)
            let empty = try await cost(fixture) {
                try await fixture.x(
                    "GET", "/2/users/\(fixture.xID(.bot))/mentions?since_id=1795100400000000000")
            }
            #expect(empty == 0)
            // Half past midnight in UTC.
            fixture.clock.now = Date(timeIntervalSince1970: 1_795_134_600)
            let nextDay = try await cost(fixture) {
                try await fixture.x(
                    "GET", target + "12&until_id=\(SandboxFixture.humanID(11, of: 12))")
            }
            #expect(nextDay == 55_000)
        }
    }

    @Test func billsWhatComesAlong() async throws {
        try await SandboxFixture.run(world: Self.few) { (fixture) async throws in
            let target = "/2/users/\(fixture.xID(.human))/tweets?expansions=author_id&max_results="
            let five = try await cost(fixture) { try await fixture.x("GET", target + "5") }
            #expect(five == 35_000)
            fixture.sandbox.faults.x.billsIncludes = false
            fixture.clock.advance(hours: 24)
            let next = try await cost(fixture) { try await fixture.x("GET", target + "5") }
            #expect(next == 25_000)
        }
    }

    @Test(arguments: [SandboxRole.human, .bot]) func givesTheOwnerALowerPrice(owner: SandboxRole)
        async throws
    {
        try await SandboxFixture.run(world: Self.few) { (fixture) async throws in
            fixture.sandbox.faults.x.appOwner = owner
            let target = "/2/users/\(fixture.xID(.human))/tweets?max_results=5"
            let posts = try await cost(fixture) { try await fixture.x("GET", target, as: .human) }
            #expect(posts == (owner == .human ? 5_000 : 25_000))
            fixture.clock.advance(hours: 24)
            // The price is for the owner's own reading only.
            let others = try await cost(fixture) { try await fixture.x("GET", target, as: .bot) }
            #expect(others == 25_000)
        }
    }

    @Test func billsFavoritesByThePriceOfFavorites() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/2/users/\(fixture.xID(.human))/liked_tweets?max_results=10"
            let liked = try await cost(fixture) { try await fixture.x("GET", target, as: .human) }
            #expect(liked == 10_000)
        }
    }

    @Test func billsWhatIsWritten() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let plain = try await cost(fixture) { try await fixture.xPublish("hello") }
            let linked = try await cost(fixture) { try await fixture.xPublish("see example.com") }
            let entry = try #require(
                fixture.sandbox.world.mentions.first { $0.mention.kind == .friend })
            fixture.clock.now = entry.date
            let mentions = try await fixture.x("GET", "/2/users/\(fixture.xID(.bot))/mentions")
            let id = try #require(mentions.xIDs.first)
            let reply = try await fixture.xPublish("indeed", replyTo: id)
            let own = try #require(reply.single["id"] as? String)
            let after = await fixture.sandbox.ledger.spentMicrodollars
            let deleted = try await cost(fixture) {
                try await fixture.x("DELETE", "/2/tweets/\(own)")
            }
            #expect(plain == 15_000)
            #expect(linked == 200_000)
            #expect(deleted == 10_000)
            #expect(after == 215_000 + 5_000 * mentions.data.count + 10_000)
        }
    }

    @Test func billsNoRefusal() async throws {
        try await SandboxFixture.run(world: Self.few) { (fixture) async throws in
            _ = try await fixture.xPublish(String(repeating: "a", count: 281))
            _ = try await fixture.x("GET", "/2/tweets/12")
            _ = try await fixture.x("GET", "/2/tweets?ids=12")
            let spent = await fixture.sandbox.ledger.spentMicrodollars
            #expect(spent == 0)
        }
    }
}
