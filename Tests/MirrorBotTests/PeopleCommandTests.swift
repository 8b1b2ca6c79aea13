import Archive
import Daemon
import Foundation
import Posts
import TestSupport
import Testing

/// `mirror-bot people`.
@Suite(.timeLimit(.minutes(2))) struct PeopleCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func linkingLetsOldRepliesCrossNetworks() async throws {
        try await trainOnX()
        let listed = try await stage.run("people", "list")
        #expect(listed.status == 0)
        #expect(listed.output.contains("x:1000") && listed.output.contains("15 replies"))

        let linked = try await stage.run("people", "link", "x:1000", "@Pal@Social.Example")
        #expect(linked.status == 0)
        #expect(linked.output == "one person: x:1000, pal@social.example\n")
        let posts = try await stage.withStores { stores in
            try await stores.archive.replies(to: .mastodon("pal@social.example", localHost: "social.example")).count
        }
        #expect(posts == 15)
        #expect(try await stage.run("people", "list").output.contains("same as pal@social.example"))

        #expect(try await stage.run("people", "unlink", "pal@social.example").status == 0)
        let left = try await stage.withStores { stores in
            try await stores.archive.replies(to: .mastodon("pal@social.example", localHost: "social.example")).count
        }
        #expect(left == 0)
    }

    @Test(arguments: [("deny", "left alone from now on"), ("allow", "allowed")])
    func aStanceIsKept(word: String, said: String) async throws {
        let ending = try await stage.run("people", word, "did:plc:abc")
        #expect(ending.status == 0)
        #expect(ending.output == "\(said): did:plc:abc\n")
        let people = try await stage.withStores { try await $0.people.all() }
        #expect(people.map(\.id.value) == ["did:plc:abc"])
        #expect(people.map(\.stance.rawValue) == [word])
    }

    @Test(arguments: ["", "nobody", "x:", "x:nobody", "a b@c.example", "mastodon:"])
    func whoCannotBeToldIsRefused(name: String) async throws {
        let ending = try await stage.run("people", "deny", name)
        #expect(ending.status == 64)
        #expect(try await stage.withStores { try await $0.people.all() }.isEmpty)
    }

    private func trainOnX() async throws {
        let path = try Fixture.xArchive(in: stage.folder)
        let ending = try await stage.run(
            "train", "scheduler", "--from", path, environment: ["HUMAN_NETWORK": "x", "TIME_ZONE": "UTC"])
        try #require(ending.status == 0)
    }
}
