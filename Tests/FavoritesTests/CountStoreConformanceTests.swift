import Expectations
import Favorites
import Foundation
import MeCab
import Posts
import Storage
import TestSupport
import Testing

/// What every store of counts must do, on real servers.
@Suite struct CountStoreConformanceTests {
    private func logRate(_ favorites: Favorites, _ text: String, _ author: String) async throws
        -> Double
    {
        let post = Example(id: PostID(network: .x, value: "new"), author: author, text: text)
        return try #require(try await favorites.classify([post]).first).logRate
    }

    @Test(arguments: CountStoreKind.allCases) func tellsHowFarItGot(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let steps = Steps()
            let favorites = try fixture.favorites { steps.add($0) }
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            #expect(steps.all == [.examplesStored, .countsApplied])
            // Nothing new, nothing stored.
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            #expect(steps.all.count == 2)
        }
    }

    @Test func tellsNothingOfCountsThatCannotBeReached() async throws {
        let server = try await RedisServer.start()
        try await Fixture.with(.redis, redis: server.url) { fixture in
            await server.stop()
            let steps = Steps()
            let favorites = try fixture.favorites { steps.add($0) }
            let summary = try await favorites.learn(Corpus.events, at: Fixture.now)
            #expect(summary.countsError != nil)
            #expect(steps.all == [.examplesStored])
        }
    }

    @Test(arguments: CountStoreKind.allCases) func learnsTheReferenceCorpus(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            #expect(abs(try await logRate(favorites, "猫", "alice") + 2.197224577336) < 1e-11)
            let summary = try await favorites.learn(Corpus.events, at: Fixture.now)
            #expect(summary.learned == 7)
            #expect(summary.countsError == nil)
            try await expect(fixture.dump(), equals: Corpus.counts)
            #expect(abs(try await logRate(favorites, "猫", "Alice") - 0.590985271875) < 1e-11)
            #expect(abs(try await logRate(favorites, "会議", "carol") + 1.948595615590) < 1e-11)
            #expect(abs(try await logRate(favorites, "", "bob") + 0.613810438323) < 1e-11)
            #expect(abs(try await logRate(favorites, "猫 会議", "dave") + 1.135150322657) < 1e-11)
        }
    }

    @Test(arguments: CountStoreKind.allCases) func followsTheReferenceHistory(
        _ kind: CountStoreKind
    ) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            // V7: the same events change nothing.
            let again = try await favorites.learn(Corpus.events, at: Fixture.now)
            #expect(again.unchanged == Corpus.events.count)
            try await expect(fixture.dump(), equals: Corpus.counts)
            // V8: a favorite is taken back.
            let back = try await favorites.learn([.unfavorited(Corpus.id(3))], at: Fixture.now)
            #expect(back.relabelled == 1)
            var counts = Corpus.counts
            counts["= favorite"] = 2
            counts["= normal"] = 5
            counts["= seen:favorite"] = 2
            counts["favorite 写真"] = 1
            counts["favorite 旅行"] = nil
            counts["favorite @bob"] = nil
            counts["normal 写真"] = 1
            counts["normal 旅行"] = 1
            counts["normal @bob"] = 2
            try await expect(fixture.dump(), equals: counts)
            #expect(abs(try await logRate(favorites, "写真", "bob") + 1.296270933660) < 1e-11)
            // V9: a favorite that was never seen.
            _ = try await favorites.learn([.favorited(Corpus.unseen)], at: Fixture.now)
            #expect(abs(try await logRate(favorites, "旅行", "frank") + 0.465863115361) < 1e-11)
            // V10: then it is seen.
            _ = try await favorites.learn([.seen(Corpus.unseen)], at: Fixture.now)
            #expect(abs(try await logRate(favorites, "旅行", "frank") + 0.129390878740) < 1e-11)
            // V11: a post is gone.
            let gone = try await favorites.learn([.forgotten(Corpus.id(4))], at: Fixture.now)
            #expect(gone.unlearned == 1)
            let last = try await fixture.dump()
            #expect(
                [last["= favorite"], last["= normal"], last["= seen"], last["= seen:favorite"]] == [
                    3, 4, 7, 3,
                ])
            #expect(last["normal 会議"] == 2)
            #expect(last["normal @carol"] == 1)
        }
    }

    @Test(arguments: CountStoreKind.allCases) func orderAndRepetitionDoNotMatter(
        _ kind: CountStoreKind
    ) async throws {
        let events = Corpus.generated(120)
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            try await withThrowingTaskGroup { group in
                for task in 0..<8 {
                    var generator = SeededGenerator(seed: UInt64(task))
                    let mixed = (events + events).shuffled(using: &generator)
                    group.addTask {
                        for start in stride(from: 0, to: mixed.count, by: 17) {
                            let some = Array(mixed[start..<min(start + 17, mixed.count)])
                            let summary = try await favorites.learn(some, at: Fixture.now)
                            #expect(summary.countsError == nil)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let found = try await fixture.dump()
            try await expect(favorites.status()) { $0.counts == .current }
            try await Fixture.with(.sqlite) { reference in
                _ = try await reference.favorites().learn(events, at: Fixture.now)
                try await expect(found, equals: reference.dump())
            }
            try await fixture.rebuildCounts()
            try await expect(found, equals: fixture.dump())
        }
    }

    /// The features of later posts are found while earlier ones are stored, also of a post that
    /// comes again in between.
    @Test(arguments: [CountStoreKind.sqlite, .redis])
    func howManyAreLearnedAtOnceDoesNotMatter(_ kind: CountStoreKind) async throws {
        let first = Corpus.generated(2_600)
        // The same posts with other texts, and some that nobody has seen.
        let events =
            first + Corpus.generated(700, seed: 2) + Corpus.generated(2_700, seed: 3).suffix(200)
        try await Fixture.with(kind) { fixture in
            let whole = try await fixture.favorites().learn(events, at: Fixture.now)
            #expect(whole.learned >= 2_600)
            try await Fixture.with(.sqlite) { reference in
                let favorites = try reference.favorites()
                for start in stride(from: 0, to: events.count, by: 150) {
                    let some = Array(events[start..<min(start + 150, events.count)])
                    _ = try await favorites.learn(some, at: Fixture.now)
                }
                try await expect(fixture.dump(), equals: reference.dump())
            }
        }
    }

    @Test(arguments: CountStoreKind.allCases)
    func unlearningEverythingLeavesNothing(_ kind: CountStoreKind) async throws {
        let events = Corpus.generated(100)
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites(words: .content)
            _ = try await favorites.learn(events, at: Fixture.now)
            try await expect(fixture.dump()) { !$0.isEmpty }
            // In two steps, so that the last one meets counts that are not empty.
            let ids = Set(events.map(\.id))
            _ = try await favorites.learn(ids.prefix(50).map { .forgotten($0) }, at: Fixture.now)
            try await expect(favorites.status()) { $0.counts == .current }
            _ = try await favorites.learn(ids.map { .forgotten($0) }, at: Fixture.now)
            try await expect(fixture.dump()) { $0.isEmpty }
            try await expect(fixture.redisKeys()) { $0.isEmpty }
            try await expect(fixture.rows(), equals: 0)
            try await expect(favorites.status()) { $0.counts == .current }
            #expect(abs(try await logRate(favorites, "猫", "alice") + 2.197224577336) < 1e-11)
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            try await expect(favorites.status()) { $0.counts == .current }
        }
    }

    @Test(arguments: CountStoreKind.allCases)
    func unlearnsWhatWasLearnedThoughTheTextChanged(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(
                [.seen(Corpus.example(1, "猫 写真", "alice"))], at: Fixture.now)
            let edited = Corpus.example(1, "会議 資料 電車", "mallory")
            _ = try await favorites.learn([.favorited(edited)], at: Fixture.now)
            try await expect(fixture.dump()["favorite 猫"], equals: 1)
            _ = try await favorites.learn(
                [.unfavorited(edited.id), .forgotten(edited.id)], at: Fixture.now)
            try await expect(fixture.dump()) { $0.isEmpty }
            // Forgotten and seen again, it is learned as it is now.
            _ = try await favorites.learn([.seen(Corpus.posts[0])], at: Fixture.now)
            _ = try await favorites.learn([.forgotten(edited.id), .seen(edited)], at: Fixture.now)
            try await expect(fixture.dump()["normal 会議"], equals: 1)
            try await expect(fixture.dump()["normal 猫"], equals: nil)
        }
    }

    @Test(arguments: CountStoreKind.allCases) func prunesTheOldestExactly(_ kind: CountStoreKind)
        async throws
    {
        let events = Corpus.generated(60)
        let ids = Set(events.map(\.id.value)).sorted()
        let kept = Set(ids.suffix(20))
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites(limit: 20)
            var pruned = 0
            for (number, id) in ids.enumerated() {
                let some = events.filter { $0.id.value == id }
                pruned += try await favorites.learn(some, at: Fixture.now + Double(number)).pruned
            }
            #expect(pruned == 40)
            let found = try await fixture.dump()
            try await Fixture.with(.sqlite) { reference in
                let last = events.filter { kept.contains($0.id.value) }
                _ = try await reference.favorites().learn(last, at: Fixture.now)
                try await expect(found, equals: reference.dump())
            }
            try await expect(favorites.status()) { $0.counts == .current }
        }
    }

    @Test(arguments: CountStoreKind.allCases) func prunesWhatIsTooOld(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let day = 86_400.0
            try await expect(favorites.prune(now: Fixture.now + 179 * day).pruned, equals: 0)
            let later = [FavoriteEvent.favorited(Corpus.unseen)]
            let summary = try await favorites.learn(later, at: Fixture.now + 181 * day)
            #expect(summary.learned == 1)
            #expect(summary.pruned == 7)
            try await expect(
                fixture.dump(), equals: ["= favorite": 1, "favorite 旅行": 1, "favorite @frank": 1])
        }
    }

    @Test(arguments: CountStoreKind.allCases) func otherFeaturesMeanOtherCounts(
        _ kind: CountStoreKind
    ) async throws {
        try await Fixture.with(kind) { fixture in
            let post = Corpus.example(1, "猫を見た", "alice")
            _ = try await fixture.favorites(words: .nouns).learn([.seen(post)], at: Fixture.now)
            try await expect(fixture.dump()["normal 見る"], equals: nil)
            let content = try fixture.favorites(words: .content)
            try await expect(content.status()) { $0.counts != .current }
            _ = try await content.classify([post])
            try await expect(fixture.dump()["normal 見る"], equals: 1)
            try await expect(content.status()) { $0.counts == .current }
            // Learning notices it as well.
            let nouns = try fixture.favorites(words: .nouns)
            _ = try await nouns.learn([.favorited(post)], at: Fixture.now)
            try await expect(fixture.dump()["favorite 見る"], equals: nil)
            try await expect(nouns.status()) { $0.counts == .current }
        }
    }

    @Test(arguments: CountStoreKind.allCases) func clearingTouchesOnlyItsMirror(
        _ kind: CountStoreKind
    ) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            let neighbour = try fixture.favorites(mirror: fixture.mirror + "-neighbour")
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            _ = try await neighbour.learn(Corpus.events, at: Fixture.now)
            try await favorites.clear()
            try await expect(fixture.dump()) { $0.isEmpty }
            try await expect(fixture.redisKeys()) { $0.isEmpty }
            try await expect(fixture.rows(), equals: 0)
            try await expect(favorites.status().examples, equals: CategoryCounts())
            let status = try await neighbour.status()
            #expect(status.favorites == 3)
            #expect(status.features == 11)
            #expect(status.counts == .current)
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
    }

    @Test(arguments: CountStoreKind.allCases) func hostilePostsAreHarmless(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites(words: .content)
            let texts = [
                "", "\0", "猫\0犬", String(repeating: "a", count: 200_000),
                "'); DROP TABLE examples; --",
                "\u{FFFD}\u{FEFF}",
                "#\u{202E}x", "{1}:applied batch", "applied batch", "e\u{301} \u{e9} Å \u{212B}",
                "😀👩‍👩‍👧‍👦❤️",
            ]
            let examples = texts.enumerated().map { index, text in
                Example(
                    id: PostID(network: .mastodon, value: "id'\(index)"),
                    author: index.isMultiple(of: 2) ? text : nil,
                    text: text)
            }
            let ids = ["", "zero\0", String(repeating: "x", count: 5_000)]
            let broken = ids.map {
                Example(id: PostID(network: .x, value: $0), author: nil, text: "猫")
            }
            let summary = try await favorites.learn(
                (examples + broken).map { .seen($0) } + examples.map { .favorited($0) },
                at: Fixture.now)
            #expect(summary.learned == texts.count)
            #expect(summary.ignored == 3)
            #expect(summary.countsError == nil)
            try await expect(favorites.status()) { $0.counts == .current }
            let all = try await favorites.classify(examples + broken)
            #expect(all.count == texts.count + 3)
            expect(all) { $0.allSatisfy { $0.logRate.isFinite } }
            try await expect(fixture.states(of: examples.map(\.id)).count, equals: texts.count)
            _ = try await favorites.learn(examples.map { .forgotten($0.id) }, at: Fixture.now)
            try await expect(fixture.dump()) { $0.isEmpty }
            try await expect(fixture.rows(), equals: 0)
        }
    }

    @Test(arguments: CountStoreKind.allCases) func aSeedIsLearnedAtOnce(_ kind: CountStoreKind)
        async throws
    {
        let posts = Set(
            Corpus.generated(1_600, seed: 7).compactMap { event -> Example? in
                if case .seen(let example) = event { return example }
                if case .favorited(let example) = event { return example }
                return nil
            })
        let ordered = posts.sorted { $0.id.value < $1.id.value }
        let events =
            ordered.prefix(800).map { FavoriteEvent.favorited($0) }
            + ordered.suffix(800).map { FavoriteEvent.seen($0) }
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites(words: .content, minimum: 20)
            let summary = try await favorites.learn(events, at: Fixture.now)
            #expect(summary.learned == 1_600)
            let status = try await favorites.status()
            #expect(status.counts == .current)
            #expect((status.favorites, status.normals) == (800, 800))
            #expect(status.waiting == nil)
        }
    }
}

/// The steps of learning in their order.
private final class Steps: @unchecked Sendable {
    // Sendable because `steps` is only touched under `lock`.
    private let lock = NSLock()
    private var steps: [LearningStep] = []

    var all: [LearningStep] { lock.withLock { steps } }

    func add(_ step: LearningStep) { lock.withLock { steps.append(step) } }
}
