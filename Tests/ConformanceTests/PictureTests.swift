import Expectations
import Foundation
import Networks
import Posts
import Sandbox
import Testing

/// Pictures go up before the post that they are in, and come down again.
@Suite struct PictureTests {
    static let png = PictureUpload(
        bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + Array("two dashes -- and a line\r\n--".utf8),
        format: .png, alt: "a \"hill\" in the rain, 山")

    private func reference(_ name: String, _ picture: Picture) -> PictureReference {
        PictureReference(name: name, picture: picture)
    }

    @Test(arguments: Terrain.all(changing: .pictures)) func aPostHasItsPicturesAndTheirDescriptions(
        terrain: Terrain
    )
        async throws
    {
        let ground = try await Ground(terrain)
        let start = ground.clock.now
        let first = try await ground.bot.upload(Self.png)
        var other = Self.png
        other.bytes = other.bytes + [0, 255, 10]
        other.alt = ""
        let second = try await ground.bot.upload(other)
        #expect(first.isReady)
        #expect(second.isReady)
        #expect(first.name != second.name)
        #expect(try await ground.bot.isReady(first.name))
        var draft = ground.draft("A walk in the hills.")
        draft.pictures = [
            reference(first.name, Picture(alt: Self.png.alt, width: 4, height: 3)),
            reference(second.name, Picture(alt: "")),
        ]
        let published = try await ground.bot.publish(draft)
        let ledger = await ground.sandbox.ledger
        #expect(ledger.uploads.map(\.size) == [Self.png.bytes.count, other.bytes.count])
        #expect(ledger.deliveries.first?.pictures.map(\.alt) == [Self.png.alt, ""])
        #expect(ledger.summary.errors == 0)
        ground.clock.advance(minutes: 2)
        let found = try await ground.bot.ownPosts(since: start).first { $0.post.id == published.id }
        #expect(found?.post.text == draft.text)
        // Where pictures are read back at all.
        if ground.network != .x, let found {
            #expect(found.post.hasMedia)
            #expect(found.post.pictures.map(\.alt) == [Self.png.alt, ""])
        }
        if let book = ground.books[.bot], ground.network == .x {
            #expect(book.spent.microdollars >= 15_000 + 2 * 15_000 + 5_000)
        }
    }

    @Test(arguments: Terrain.documented) func theSamePictureIsInOnePostAlone(terrain: Terrain)
        async throws
    {
        let ground = try await Ground(terrain)
        let name = try await ground.bot.upload(Self.png).name
        var draft = ground.draft("Once.")
        draft.pictures = [reference(name, Picture(alt: "x"))]
        _ = try await ground.bot.publish(draft)
        guard ground.network != .bluesky else { return }
        var another = ground.draft("Twice.", key: "key-2")
        another.pictures = draft.pictures
        let error = try await failure { _ = try await ground.bot.publish(another) }
        #expect(error.outcome == .refused)
        #expect(error.isPermanent)
        await expect(ground.sandbox.ledger.deliveries.count, equals: 1)
    }

    @Test(arguments: Terrain.documented) func whatIsNoUploadIsNotPublished(terrain: Terrain)
        async throws
    {
        let ground = try await Ground(terrain)
        for name in ["", "../1", "no such thing", "{}", "1 2"] {
            var draft = ground.draft("Nothing.", key: "key-3")
            draft.pictures = [reference(name, Picture(alt: "x"))]
            let error = try await failure { _ = try await ground.bot.publish(draft) }
            #expect(error.outcome != .unknown, "\(name)")
            #expect(error.isPermanent, "\(name)")
        }
        await expect(ground.sandbox.ledger.deliveries) { $0.isEmpty }
    }

    @Test func mastodonLooksThroughAPictureFirst() async throws {
        let ground = try await Ground(
            Terrain(.mastodon, "takes its time") { $0.mastodon.mediaTakes = 90 })
        let upload = try await ground.bot.upload(Self.png)
        #expect(!upload.isReady)
        #expect(try await !ground.bot.isReady(upload.name))
        var draft = ground.draft("Soon.")
        draft.pictures = [reference(upload.name, Picture(alt: "x"))]
        let error = try await failure { _ = try await ground.bot.publish(draft) }
        #expect(error.outcome == .refused)
        ground.clock.advance(minutes: 2)
        #expect(try await ground.bot.isReady(upload.name))
        _ = try await ground.bot.publish(draft)
        // In a post, it is no longer one that waits for one.
        let gone = try await failure { _ = try await ground.bot.isReady(upload.name) }
        #expect(gone.code == .notFound)
    }

    /// A lost answer to an upload is nothing that anybody has to look for.
    @Test(arguments: Terrain.documented) func anUploadIsTriedAgain(terrain: Terrain) async throws {
        let ground = try await Ground(terrain)
        _ = try await ground.bot.verifyAccount()
        ground.sandbox.faults.failNext(.dropAnswer, method: "POST")
        let error = try await failure { _ = try await ground.bot.upload(Self.png) }
        #expect(!error.isPermanent)
        #expect(!error.description.contains("looked up"))
        let name = try await ground.bot.upload(Self.png).name
        var draft = ground.draft("After all.")
        draft.pictures = [reference(name, Picture(alt: Self.png.alt))]
        _ = try await ground.bot.publish(draft)
        let ledger = await ground.sandbox.ledger
        #expect(ledger.deliveries.count == 1)
        #expect(ledger.uploads.count == 2)
    }

    @Test(arguments: Terrain.documented) func theHumansPicturesCanBeReadWhereTheyAreSaidToBe(
        terrain: Terrain
    )
        async throws
    {
        let ground = try await Ground(terrain)
        guard ground.network != .x else { return }
        let name = try await ground.bot.upload(Self.png).name
        var draft = ground.draft("A walk.")
        draft.pictures = [reference(name, Picture(alt: Self.png.alt))]
        let published = try await ground.bot.publish(draft)
        let seen = try #require(try await ground.bot.lookUp(published.address))
        let url = try #require(seen.post.pictures.first?.url)
        #expect(url.hasPrefix(ground.sandbox.url + "/"))
        try await expect(ground.read(url), equals: .found(Self.png.bytes))
    }
}
