import Archive
import Control
import Expectations
import Favorites
import Foundation
import Mirroring
import Posts
import TestSupport
import Testing

/// `mirror-bot people`.
@Suite(.timeLimit(.minutes(30))) struct PeopleCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func linkingLetsOldRepliesCrossNetworks() async throws {
        try await trainOnX()
        let listed = try await stage.run("people", "list")
        #expect(listed.status == 0)
        #expect(listed.output == "x:1000  @pal0, 15 replies\nx:1001  @pal1, 15 replies\n")

        let linked = try await stage.run(
            "people", "link", "x:1000", "@Pal@Social.Example", "--consented")
        #expect(linked.status == 0)
        #expect(linked.output == "one person: x:1000, pal@social.example\n")
        let posts = try await stage.withMirror { mirror in
            try await mirror.archive.replies(
                to: .mastodon("pal@social.example", localHost: "social.example")
            ).count
        }
        #expect(posts == 15)
        try await expect(stage.run("people", "list").output) {
            $0.contains("same as pal@social.example")
        }

        let unlinked = try await stage.run("people", "unlink", "pal@social.example")
        #expect(unlinked.output == "not linked any more: pal@social.example\n")
        let again = try await stage.run("people", "unlink", "pal@social.example")
        #expect(again.status == 0)
        #expect(again.output == "nothing to do: pal@social.example was not linked\n")
        let left = try await stage.withMirror { mirror in
            try await mirror.archive.replies(
                to: .mastodon("pal@social.example", localHost: "social.example")
            ).count
        }
        #expect(left == 0)
    }

    @Test(arguments: [("deny", "denied"), ("allow", "allowed")])
    func aStanceIsKept(word: String, said: String) async throws {
        let ending = try await stage.run("people", word, "did:plc:abc")
        #expect(ending.status == 0)
        expect(ending.output) { $0.hasPrefix("\(said): did:plc:abc\n") }
        // Who forbids something is told whether it is about anybody who was met.
        #expect(ending.output.contains("nobody known has this name") == (word == "deny"))
        let people = try await stage.withMirror { try await $0.people.all() }
        #expect(people.map(\.id.value) == ["did:plc:abc"])
        #expect(people.map(\.stance.rawValue) == [word])
    }

    /// What is known of a person after each change, for programs.
    @Test func changesAreToldToPrograms() async throws {
        struct Change: Decodable, Equatable {
            var schema = "mirror-bot/person-change/1"
            var account = "did:plc:abc"
            var stance: String?
            var sameAs: [String] = []
            var unlearned = 0
        }
        func change(_ words: String...) async throws -> Change {
            let ending = try await stage.run(words: ["people"] + words + ["--json"])
            #expect(ending.status == 0, "\(ending.error)")
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return try decoder.decode(Change.self, from: Data(ending.output.utf8))
        }
        try await expect(change("allow", "did:plc:abc"), equals: Change(stance: "allow"))
        let linked = try await change("link", "did:plc:abc", "pal@social.example")
        #expect(linked == Change(stance: "allow", sameAs: ["pal@social.example"]))
        try await expect(change("unlink", "did:plc:abc"), equals: Change(stance: "allow"))
        try await expect(change("unlink", "did:plc:abc"), equals: Change(stance: "allow"))
        try await expect(change("deny", "did:plc:abc"), equals: Change(stance: "deny"))
    }

    @Test func denyingUnlearns() async throws {
        let settings = ["TIME_ZONE": "UTC"]
        let trained = try await stage.run(
            "train", "classifier", "--from", "-", environment: settings, input: Fixture.examples(20)
        )
        try #require(trained.status == 0)
        let ending = try await stage.run(
            "people", "deny", "pal@home.example", environment: settings)
        #expect(ending.status == 0)
        #expect(
            ending.output == """
                denied: pal@home.example
                unlearned: 20 posts of theirs
                to take it back: mirror-bot people allow pal@home.example

                """)
        let status = try await stage.withMirror(settings) { try await $0.favorites().status() }
        #expect(status.seen == 0)
        #expect(status.favorites == 0)
        #expect(status.normals == 0)
    }

    @Test(arguments: ["@Ann@Far.Example:8443", "mastodon:ann@far.example:8443"])
    func aHostMayHaveAPort(name: String) async throws {
        try await expect(stage.run("people", "deny", name).status, equals: 0)
        let people = try await stage.withMirror { try await $0.people.all() }
        #expect(people.map(\.id.value) == ["ann@far.example:8443"])
    }

    @Test(arguments: [
        "", "nobody", "x:", "x:nobody", "a b@c.example", "mastodon:", "a@b.example:0",
        "a@b.example:x", "a:1@b.example",
    ])
    func whoCannotBeToldIsRefused(name: String) async throws {
        let ending = try await stage.run("people", "deny", name)
        #expect(ending.status == 64)
        #expect(try await stage.withMirror { try await $0.people.all() }.isEmpty)
    }

    // MARK: Servers

    @Test(arguments: ["*@home.example", "@*@HOME.Example.", "mastodon:*@home.example", "*@example"])
    func aServerIsDeniedAndLifted(name: String) async throws {
        let settings = ["TIME_ZONE": "UTC"]
        let trained = try await stage.run(
            "train", "classifier", "--from", "-", environment: settings, input: Fixture.examples(20)
        )
        try #require(trained.status == 0)
        let server = try #require(ServerName(reference: name)).reference
        let ending = try await stage.run("people", "deny", name, environment: settings)
        #expect(ending.status == 0)
        expect(ending.output) {
            $0.hasPrefix("denied: everybody on \(server)\n")
                && $0.contains("unlearned: 20 posts of theirs\n")
        }
        try await expect(
            stage.withMirror(settings) { try await $0.favorites().status().seen }, equals: 0)
        try await expect(stage.run("people", "deny", name).output) {
            $0.hasPrefix("denied already")
        }
        try await expect(stage.run("people", "list").output) {
            $0.contains("\(server)  everybody on it is denied")
        }
        try await expect(stage.run("people", "list", "--json").output) {
            $0.contains(#""server" : "\#(server)""#)
        }
        // Nothing is learned of them again.
        let again = try await stage.run(
            "train", "classifier", "--from", "-", environment: settings, input: Fixture.examples(20)
        )
        #expect(again.status == 0)
        try await expect(
            stage.withMirror(settings) { try await $0.favorites().status().seen }, equals: 0)
        try await expect(
            stage.run("people", "allow", name).output, equals: "no longer denied: \(server)\n")
        try await expect(
            stage.run("people", "allow", name).output,
            equals: "nothing to do: \(server) was not denied\n")
    }

    @Test func whoDeniesAServerIsToldWhomThatMeets() async throws {
        let nobody = try await stage.run("people", "deny", "*@social.example")
        #expect(nobody.output.contains("nobody known is on it"))
        #expect(!nobody.output.contains("known people"))
        for (word, name) in [
            ("allow", "pal@social.example"), ("deny", "foe@a.social.example"),
            ("deny", "ann@home.example"),
        ] {
            try await expect(stage.run("people", word, name).status, equals: 0)
        }
        let told = try await stage.run("people", "deny", "*@social.example")
        #expect(told.output.contains("known people on it: 2\n"))
        #expect(told.output.contains("not denied, because they are allowed: pal@social.example\n"))
        struct Change: Decodable, Equatable {
            var schema = "mirror-bot/server-change/1"
            var server = "*@a.social.example"
            var stance: String?
            var isNew = true
            var below = ["*@social.example"]
            var known = 1
            var allowed: [String] = []
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let denied = try await stage.run("people", "deny", "*@a.social.example", "--json")
        try expect(
            decoder.decode(Change.self, from: Data(denied.output.utf8)),
            equals: Change(stance: "deny"))
        let lifted = try await stage.run("people", "allow", "*@a.social.example", "--json")
        try expect(
            decoder.decode(Change.self, from: Data(lifted.output.utf8)),
            equals: Change(stance: "deny"))
        let person = try await stage.run("people", "allow", "new@a.social.example")
        #expect(person.output.contains("this overrides the denial of *@social.example"))
    }

    @Test(arguments: ["*", "*@*", "*.home.example", "a*@home.example", "*@"])
    func whatIsNoServerIsRefused(name: String) async throws {
        let ending = try await stage.run("people", "deny", name)
        #expect(ending.status == 64)
        #expect(ending.error.contains("is no server; expected *@host"))
        #expect(try await stage.withMirror { try await $0.people.deniedServers() }.isEmpty)
    }

    @Test(arguments: [
        ["link", "*@home.example", "x:1"], ["unlink", "*@home.example"],
        ["forget", "*@home.example", "--yes"],
        ["report", "*@home.example"],
    ])
    func onlyWhoIsDeniedMayBeAServer(words: [String]) async throws {
        try await stage.makeDatabase()
        let ending = try await stage.run(words: ["people"] + words)
        #expect(ending.status == 64)
        #expect(ending.error.contains("is a server"))
    }

    /// There a DID decides who somebody is, and a handle moves from domain to domain.
    @Test(arguments: ["*.home.example", "@*.home.example", "*@home.example", "*@bsky.social"])
    func noDomainIsDeniedOnBluesky(name: String) async throws {
        let settings = ["HUMAN_NETWORK": "bluesky", "BOT_NETWORK": "bluesky"]
        let ending = try await stage.run("people", "deny", name, environment: settings)
        #expect(ending.status == 64)
        #expect(ending.error.contains("no server or domain can be denied on Bluesky"))
        #expect(
            try await stage.withMirror(settings) { try await $0.people.deniedServers() }.isEmpty)
    }

    private func trainOnX() async throws {
        let path = try Fixture.xArchive(in: stage.folder)
        let ending = try await stage.run(
            "train", "scheduler", "--from", path,
            environment: ["HUMAN_NETWORK": "x", "TIME_ZONE": "UTC"])
        try #require(ending.status == 0)
    }
}
