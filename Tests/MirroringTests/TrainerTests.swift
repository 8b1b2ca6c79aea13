import Archive
import Expectations
import Favorites
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

/// Learning the human's past from the network and from files.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct TrainerTests {
    private func scheduler(
        _ fixture: MirrorFixture, progress: Recorder<TrainingProgress> = Recorder()
    ) -> SchedulerTrainer {
        SchedulerTrainer(mirror: fixture.mirror, zone: Sample.zone) { progress.add($0) }
    }

    private func human(_ fixture: MirrorFixture) async throws -> any SocialNetwork {
        try await fixture.mirror.requiredNetwork(of: .human)
    }

    private var own: Set<AccountID> { [Sample.person("haruka"), Sample.person("mirror")] }

    @Test func readsAllPostsFirstAndThenOnlyNewOnes() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let network = try await human(fixture)
        let progress = Recorder<TrainingProgress>()
        let first = try await scheduler(fixture, progress: progress).train(from: network)
        let hidden = Sample.served.count { !$0.visibility.isOpen }
        #expect(first.read == Sample.served.count)
        #expect(first.learned == Sample.served.count - hidden)
        #expect(first.known == 0)
        #expect(first.leftOut["not public"] == hidden)
        try await expect(fixture.mirror.archive.count(), equals: first.learned)
        #expect(
            progress.values.last == TrainingProgress(step: .posts, done: first.read, total: 3_200))
        #expect(progress.values.map(\.done) == progress.values.map(\.done).sorted())
        // Nothing new.
        let second = try await scheduler(fixture).train(from: network)
        #expect(second.read == 0)
        // A day later the day's posts are new.
        try await fixture.wait(until: Sample.hour(23))
        let third = try await scheduler(fixture).train(from: network)
        #expect(third.learned > 0)
        #expect(third.learned < 30)
        #expect(third.known == 0)
    }

    @Test func startsOverWithoutForgettingWhatTheBotDid() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 12.5)
        let actions = try await fixture.actions()
        #expect(!actions.isEmpty)
        let network = try await human(fixture)
        let trainer = scheduler(fixture)
        let summary = try await trainer.train(from: network, again: true)
        #expect(summary.read >= Sample.served.count)
        try await expect(fixture.mirror.archive.count(), equals: summary.learned)
        // What is still to come is drawn anew from what is known now.
        let ended = actions.filter { $0.state != .planned }
        try await expect(fixture.actions()) { now in ended.allSatisfy(now.contains) }
        try await expect(fixture.mirror.table.record().activated, equals: Sample.hour(9))
    }

    @Test func importsAFileOnce() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let folder = try TemporaryDirectory()
        let path = try folder.write(Data(Sample.postLines.utf8), to: "posts.jsonl")
        let hidden = Sample.posts.count { !$0.visibility.isOpen }
        let first = try await scheduler(fixture).train(fromArchive: path, localHost: nil)
        #expect(first.learned == Sample.posts.count - hidden)
        let second = try await scheduler(fixture).train(fromArchive: path, localHost: nil)
        #expect(second.learned == 0)
        #expect(second.known == first.learned)
        try await expect(fixture.mirror.archive.count(), equals: first.learned)
        // The same posts on the network fill in their addresses and are not new.
        let third = try await scheduler(fixture).train(from: try await human(fixture))
        #expect(third.learned == 0)
        try await expect(fixture.mirror.archive.standalonePosts().last?.address) { $0 != nil }
    }

    @Test func archivesNothingPrivateAndNothingOfOthers() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        _ = try await scheduler(fixture).train(from: try await human(fixture))
        try await fixture.wait(until: Sample.hour(23))
        _ = try await scheduler(fixture).train(from: try await human(fixture))
        let posts = try await fixture.mirror.archive.standalonePosts()
        expect(posts) { $0.allSatisfy { $0.visibility.isOpen && !$0.isRepost } }
        expect(posts) { $0.allSatisfy { $0.author == Sample.person("haruka") } }
    }

    @Test func keepsNoMoreThanItsLimit() async throws {
        let fixture = try await MirrorFixture.start(
            isTrained: false, variables: ["ARCHIVE_LIMIT": "100"])
        let folder = try TemporaryDirectory()
        let path = try folder.write(Data(Sample.postLines.utf8), to: "posts.jsonl")
        let summary = try await scheduler(fixture).train(fromArchive: path, localHost: nil)
        let kept = try await fixture.mirror.archive.span()
        try await expect(fixture.mirror.archive.count(), equals: 100)
        #expect((summary.leftOut["older than the archive's limit"] ?? 0) > 300)
        try expect(
            #require(kept).newest,
            equals: Sample.posts.last { $0.visibility != .private }?.createdAt)
    }

    @Test func readsFavoritesAndTheTimelineTheyWereChosenFrom() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let network = try await human(fixture)
        let favorites = try fixture.mirror.favorites()
        let progress = Recorder<TrainingProgress>()
        let trainer = ClassifierTrainer(mirror: fixture.mirror, favorites: favorites) {
            progress.add($0)
        }
        let first = try await trainer.train(from: network, own: own, limit: 100)
        let learned = try await favorites.status()
        #expect(first.read == 200)
        #expect((60...100).contains(learned.favorites))
        #expect(learned.normals > 20)
        #expect(learned.counts == .current)
        #expect(progress.values.contains(TrainingProgress(step: .favorites, done: 100, total: 100)))
        #expect(progress.values.last == TrainingProgress(step: .home, done: 100, total: 100))
        let leftOut = try #require(first.leftOut["own posts, reposts and people who opted out"])
        #expect(leftOut > 0)
        #expect(first.learned + leftOut == first.read)
        // Again: nothing is new and nothing counts twice.
        let second = try await trainer.train(from: network, own: own, limit: 100)
        #expect(second.read == 0)
        try await expect(favorites.status(), equals: learned)
        // Later only what came since.
        try await fixture.wait(until: Sample.hour(22))
        let third = try await trainer.train(from: network, own: own, limit: 100)
        #expect(third.learned > 0)
        #expect(third.known == 0)
        // From the beginning.
        let fourth = try await trainer.train(from: network, own: own, limit: 40, again: true)
        #expect(fourth.read == 80)
        try await expect(favorites.status().seen) { $0 <= 40 }
        try await expect(favorites.status().favorites) { $0 > 20 }
    }

    /// A line may not name its author; that it was seen and favorited is known all the same.
    @Test func aLabelledLineCountsAsSeenWhoeverWroteIt() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let lines = (0..<50).map {
            #"{"id":"\#($0)","text":"tea number \#($0)","favorite":\#($0 < 10)}"#
        }
        let folder = try TemporaryDirectory()
        let path = try folder.write(Data(lines.joined(separator: "\n").utf8), to: "likes.jsonl")
        let favorites = try fixture.mirror.favorites()
        let trainer = ClassifierTrainer(mirror: fixture.mirror, favorites: favorites) { _ in }
        _ = try await trainer.train(fromArchive: path, localHost: nil, limit: nil)
        let status = try await favorites.status()
        #expect((status.seen, status.seenFavorites, status.favorites) == (50, 10, 10))
    }

    @Test func learnsNobodyWhoWantsToBeLeftAlone() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let aoi = Sample.person("aoi")
        try await fixture.mirror.people.set(.deny, for: aoi, at: fixture.clock.now)
        let trainer = ClassifierTrainer(
            mirror: fixture.mirror, favorites: try fixture.mirror.favorites()
        ) { _ in }
        _ = try await trainer.train(from: try await human(fixture), own: own, limit: 1_000)
        let rows = try await fixture.mirror.storage.lenient.query(
            "SELECT DISTINCT author FROM examples")
        let authors = try rows.map { try $0.text("author") }
        #expect(authors.count > 5)
        #expect(
            Set(authors).isDisjoint(with: [
                aoi.value, "shizuka@sandbox.example", "haruka@sandbox.example",
            ]))
    }

    @Test func importsLabelledLinesWithinTheLimit() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let folder = try TemporaryDirectory()
        let path = try folder.write(Data(Sample.exampleLines.utf8), to: "examples.jsonl")
        let favorites = try fixture.mirror.favorites()
        let trainer = ClassifierTrainer(mirror: fixture.mirror, favorites: favorites) { _ in }
        _ = try await trainer.train(fromArchive: path, localHost: nil, limit: 30)
        let some = try await favorites.status()
        #expect(some.favorites == 30)
        #expect(some.normals == 30)
        #expect(some.seen == 60)
        _ = try await trainer.train(fromArchive: path, localHost: nil, limit: nil)
        let all = try await favorites.status()
        #expect(all.favorites == Int64(Sample.exampleCount))
        #expect(all.normals == Int64(Sample.exampleCount))
        _ = try await trainer.train(fromArchive: path, localHost: nil, limit: nil)
        try await expect(favorites.status(), equals: all)
    }

    @Test func resetsOneMirrorAndNoOther() async throws {
        let fixture = try await MirrorFixture.start()
        #expect(try await fixture.worker().runOnce())
        let other = try await fixture.reopened(changing: ["MIRROR": "other"])
        try await TrainedDatabase.train(other)
        let before = try await TableContents(of: fixture.mirror.storage)
        try await fixture.mirror.forgetTraining()
        try await expect(fixture.mirror.archive.count(), equals: 0)
        try await expect(fixture.mirror.favorites().status().seen, equals: 0)
        for name in [FeedName.humanPosts, FeedName.humanFavorites, FeedName.seen] {
            try await expect(fixture.mirror.feeds.progress(of: name).position, equals: nil)
        }
        // What the bot did, whom it met and where it reads on stay.
        let after = try await TableContents(of: fixture.mirror.storage)
        for table in ["actions", "plans", "people", "leases"] {
            #expect(after.tables[table] == before.tables[table])
        }
        try await expect(fixture.mirror.table.record().past, equals: nil)
        try await expect(other.table.record().past, equals: .whole)
        try await expect(fixture.mirror.feeds.progress(of: FeedName.botHome).position) { $0 != nil }
        try await expect(other.archive.count()) { $0 > 0 }
        try await expect(other.favorites().status().favorites, equals: Int64(Sample.exampleCount))
    }
}
