import Archive
import Conduct
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// The human's pictures on their way to the bot's account, on every network.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct PictureTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    /// A mirror in the middle of the first day, and the one post that it is to publish.
    private func start(
        on network: NetworkName, alt: String = "a hill", isKept: Bool = true, url: String? = nil,
        variables: [String: String] = [:]
    ) async throws -> (MirrorFixture, Action) {
        let fixture = try await MirrorFixture.start(
            from: 12, bot: network,
            variables: ["MEDIA": "own", "MIN_AGE_DAYS": "0", "MAX_PER_DAY": "0"].merging(variables)
            { $1 })
        let archive = fixture.mirror.archive
        var post = try #require(
            try await archive.standalonePosts().first {
                !$0.hasMedia && $0.text.count < 100 && !$0.isSensitive
            })
        // Of nobody whom the server could be asked about.
        post.id = PostID(network: .mastodon, value: "https://elsewhere.example/pictured")
        post.address = nil
        post.text = "A walk in the hills."
        post.hasMedia = true
        post.pictures = [Picture(url: url, alt: alt)]
        _ = try await archive.store([post], timeZone: Sample.zone, limit: nil)
        if isKept { #expect(try await archive.keepPicture(Self.png, at: 0, of: post.id)) }
        let desk = Desk(fixture.mirror, zone: Sample.zone)
        return (fixture, try await desk.slot(after: PublishPost(post: post.id.value)))
    }

    private func ending(of action: Action, _ fixture: MirrorFixture) async throws -> Action {
        try #require(try await fixture.slots().first { $0.id == action.id })
    }

    @Test(arguments: NetworkName.allCases) func aPostGoesOutWithItsPicture(network: NetworkName)
        async throws
    {
        let (fixture, action) = try await start(on: network)
        #expect(action.wording?.pictures.map(\.alt) == ["a hill"])
        let before = try await PlanReporter(mirror: fixture.mirror, zone: Sample.zone)
            .report(on: Sample.day, now: fixture.clock.now)
        #expect(before?.slots.first { $0.id == action.id }?.pictures == 1)
        try await fixture.live(until: 13)
        let ended = try await ending(of: action, fixture)
        #expect(ended.state == .done)
        let ledger = await fixture.sandbox.ledger
        #expect(
            ledger.deliveries.filter { $0.text == action.text }.map { $0.pictures.map(\.alt) } == [
                ["a hill"]
            ])
        #expect(ledger.uploads.map(\.size) == [Self.png.count])
        #expect(ledger.summary.errors == 0)
        let explained = try await ExplainReporter(mirror: fixture.mirror).report(
            on: action.id, now: fixture.clock.now)
        #expect(explained.pictures == [.init(alt: "a hill", isUploaded: true)])
        let status = try await StatusReporter(mirror: fixture.mirror).report(now: fixture.clock.now)
        #expect(status.archive.pictures?.files == 1)
    }

    /// The post, and not the picture, is looked for; what is sent again has the same picture.
    @Test(arguments: NetworkName.allCases, [true, false])
    func aLostAnswerNeitherLosesNorDoublesThePost(network: NetworkName, hasActed: Bool) async throws
    {
        let (fixture, action) = try await start(on: network)
        let path =
            switch network {
            case .mastodon: "/api/v1/statuses"
            case .x: "/2/tweets"
            default: "/xrpc/com.atproto.repo.putRecord"
            }
        fixture.sandbox.faults.failNext(
            hasActed ? .dropAnswer : .dropRequest, method: "POST", path: path)
        try await fixture.live(until: 13)
        let ended = try await ending(of: action, fixture)
        let sent = await fixture.sandbox.ledger.deliveries.filter { $0.text == action.text }
        // X is never sent a text again of which nobody knows what became.
        let isThere = hasActed || network != .x
        #expect(ended.state == (isThere ? .done : .failed))
        #expect(sent.map { $0.pictures.map(\.alt) } == (isThere ? [["a hill"]] : []))
        await expect(fixture.sandbox.ledger.uploads.count, equals: 1)
    }

    @Test(arguments: NetworkName.allCases) func aLostUploadLeavesAtMostAPictureBehind(
        network: NetworkName
    ) async throws {
        let (fixture, action) = try await start(on: network)
        let path =
            switch network {
            case .mastodon: "/api/v2/media"
            case .x: "/2/media/upload"
            default: "/xrpc/com.atproto.repo.uploadBlob"
            }
        fixture.sandbox.faults.failNext(.dropAnswer, method: "POST", path: path)
        try await fixture.live(until: 13)
        try await expect(ending(of: action, fixture).state, equals: .done)
        let ledger = await fixture.sandbox.ledger
        #expect(
            ledger.deliveries.filter { $0.text == action.text }.map { $0.pictures.count } == [1])
        #expect(ledger.uploads.count == 2)
    }

    @Test func aServerThatLooksThroughThePictureIsWaitedFor() async throws {
        let (fixture, action) = try await start(on: .mastodon)
        fixture.sandbox.faults.mastodon.mediaTakes = 40
        try await fixture.live(until: 13)
        try await expect(ending(of: action, fixture).state, equals: .done)
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.uploads.count == 1)
        #expect(ledger.summary.errors == 0)
    }

    @Test func aServerThatNeverEndsToLookIsWaitedForUntilThePostIsLate() async throws {
        let (fixture, action) = try await start(on: .mastodon)
        fixture.sandbox.faults.mastodon.mediaTakes = 100_000
        try await fixture.live(until: 15)
        let ended = try await ending(of: action, fixture)
        #expect(ended.state == .expired)
        await expect(fixture.sandbox.ledger.deliveries) { $0.allSatisfy { $0.text != action.text } }
    }

    @Test(
        arguments: [
            (nil, .outbox(.pictureGone)),
            ("https://127.0.0.1:1/a.png", .outbox(.pictureUnasked)),
        ] as [(String?, ReasonCode)])
    func aPictureThatIsGoneLeavesThePostOutForGood(_ url: String?, _ reason: ReasonCode)
        async throws
    {
        let (fixture, action) = try await start(on: .mastodon, isKept: false, url: url)
        try await fixture.live(until: 13)
        let ended = try await ending(of: action, fixture)
        #expect(ended.state == .skipped)
        #expect(ended.reason == reason)
        let id = try #require(action.wording?.source)
        // One that nobody asked for may be had another time.
        let isGivenUp = reason == .outbox(.pictureGone)
        try await expect(fixture.mirror.archive.post(id)?.pictures.isEmpty, equals: isGivenUp)
        await expect(fixture.sandbox.ledger.uploads) { $0.isEmpty }
    }

    @Test func whatIsTooLargeForTheNetworkIsLeftOut() async throws {
        let (fixture, action) = try await start(on: .bluesky)
        let id = try #require(action.wording?.source)
        _ = try await fixture.mirror.archive.keepPicture(
            Self.png + [UInt8](repeating: 0, count: 1_000_000), at: 0, of: id)
        try await fixture.live(until: 13)
        let ended = try await ending(of: action, fixture)
        #expect(ended.state == .skipped)
        #expect(ended.reason == .outbox(.pictureTooLarge))
        await expect(fixture.sandbox.ledger.uploads) { $0.isEmpty }
    }

    /// The setting counts when the post leaves, not only when it was planned.
    @Test func whoSwitchesPicturesOffIsObeyedAtOnce() async throws {
        let (fixture, action) = try await start(on: .mastodon)
        let mirror = try await fixture.reopened(changing: ["MEDIA": "off"])
        try await fixture.worker(on: mirror).run(until: Sample.hour(13))
        let ended = try await ending(of: action, fixture)
        #expect(ended.state == .skipped)
        #expect(ended.reason == "has-media")
        await expect(fixture.sandbox.ledger.uploads) { $0.isEmpty }
    }

    @Test func aSensitivePictureIsSentAsOne() async throws {
        let (fixture, first) = try await start(
            on: .mastodon, variables: ["CONTENT_WARNINGS": "carry"])
        let id = try #require(first.wording?.source)
        try await fixture.mirror.storage.lenient.execute(
            "UPDATE posts SET sensitive = TRUE WHERE post_id = \(id.value)")
        let desk = Desk(fixture.mirror, zone: Sample.zone)
        _ = try await desk.perform(SkipSlot(slot: first.subject))
        let action = try await desk.slot(after: PublishPost(post: id.value))
        try await fixture.live(until: 13)
        try await expect(ending(of: action, fixture).state, equals: .done)
        let sent = await fixture.sandbox.ledger.deliveries.filter { $0.text == action.text }
        #expect(sent.map(\.isSensitive) == [true])
        #expect(sent.map(\.pictures.count) == [1])
    }

    @Test func takingBackIsAsItWas() async throws {
        let (fixture, action) = try await start(on: .bluesky)
        try await fixture.live(until: 13)
        _ = try await fixture.mirror.outbox(lease: nil).askUndos(
            [action.id], reason: .byPerson, now: fixture.clock.now)
        try await fixture.live(until: 14)
        try await expect(ending(of: action, fixture).state, equals: .undone)
        await expect(fixture.sandbox.ledger.removals.count, equals: 1)
    }

    /// What a network tells of an account's own pictures is enough to send them.
    @Test(arguments: [NetworkName.mastodon, .bluesky])
    func picturesAreReadFromTheAccountThatIsMirrored(network: NetworkName) async throws {
        let fixture = try await MirrorFixture.start(
            from: 12, isTrained: false, human: network, bot: network,
            variables: ["MEDIA": "own", "MIN_AGE_DAYS": "0", "MAX_PER_DAY": "0"])
        // The human's login on Mastodon may only read.
        let account = try await fixture.mirror.requiredNetwork(
            of: network == .mastodon ? .bot : .human)
        let name = try await account.upload(
            PictureUpload(bytes: Self.png, format: .png, alt: "a hill")
        ).name
        let text = "A walk in the hills."
        _ = try await account.publish(
            Draft(
                text: text,
                pictures: [PictureReference(name: name, picture: Picture(alt: "a hill"))],
                key: "first",
                createdAt: fixture.clock.now))
        let trainer = SchedulerTrainer(mirror: fixture.mirror, zone: Sample.zone) { _ in }
        _ = try await trainer.train(from: account)
        // A day's minutes come from a past.
        try await trainer.mirror.feeds.reset([FeedName.humanPosts])
        _ = try await trainer.train(from: try await fixture.mirror.requiredNetwork(of: .human))
        let posts = try await fixture.mirror.archive.standalonePosts()
        let post = try #require(posts.first { $0.text == text })
        #expect(post.pictures.map(\.alt) == ["a hill"])
        expect(post.pictures.first?.url) { $0?.hasPrefix(fixture.sandbox.url) == true }
        let desk = Desk(fixture.mirror, zone: Sample.zone)
        let action = try await desk.slot(after: PublishPost(post: post.id.value))
        try await fixture.live(until: 13)
        let ended = try await ending(of: action, fixture)
        #expect(ended.state == .done, "\(ended.reason ?? "") \(ended.explanation?.outcome ?? "")")
        let sent = await fixture.sandbox.ledger.deliveries.filter { $0.text == text }
        #expect(sent.last?.pictures.map(\.alt) == ["a hill"])
        #expect(sent.last?.idempotencyKey != nil)
        #expect(sent.count == (network == .mastodon ? 2 : 1))
    }
}
