import Expectations
import Foundation
import Posts
import Redis
import Storage
import TestSupport
import Testing

@testable import Favorites

/// What a mirror learns about its own evidence: fitted, stored, believed, and found again by
/// anybody else.
@Suite(.timeLimit(.minutes(30))) struct LearnedWeightsTests {
    private static let events = Corpus.generated(900)

    private func store(_ learned: LearnedWeights, in favorites: Favorites, _ fixture: Fixture)
        async throws
    {
        try await fixture.storage.transaction { try favorites.store(learned, on: $0) }
    }

    private func fitted(_ favorites: Favorites) async throws -> LearnedWeights {
        try #require(try await favorites.fitWeights(at: Fixture.now))
    }

    /// Posts with an author who tells the most, so that the weights are not plain.
    private static func learnable(_ numbers: Range<Int>) -> [FavoriteEvent] {
        numbers.flatMap { number -> [FavoriteEvent] in
            let isFavorite = number % 3 == 0
            let author =
                if number % 10 == 7 {
                    "anybody"
                } else if isFavorite {
                    "friend\(number % 4)"
                } else {
                    "other\(number % 9)"
                }
            let post = Corpus.example(5_000 + number, "猫\(number % 17)、会議\(number % 23)", author)
            return isFavorite ? [.seen(post), .favorited(post)] : [.seen(post)]
        }
    }

    // MARK: Fitted

    /// The same as the model and the fit, put together here by hand from the examples.
    @Test(arguments: CountStoreKind.allCases)
    func areThoseOfTheExamplesWhereverCountsAre(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Self.events, at: Fixture.now)
            let learned = try await fitted(favorites)
            let (categories, counts) = try await favorites.tally()
            let rows = try await fixture.storage.query(
                "SELECT post_id, author, text, state, sequence FROM examples WHERE mirror = \(fixture.mirror)"
            )
            let posts = try rows.map { row in
                (
                    sequence: try row.integer("sequence"), id: try row.text("post_id"),
                    example: Example(
                        id: Corpus.id(0), author: try row.optionalText("author"),
                        text: try row.text("text")),
                    isFavorite: try row.text("state") != "seen"
                )
            }.sorted { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
            let model = FavoriteModel(categories)
            let samples = posts.map { post in
                model.sample(
                    favorites.examples.extractor.features(of: post.example),
                    isFavorite: post.isFavorite
                ) {
                    counts[$0] ?? FeatureCount()
                }
            }
            #expect(learned.weights == WeightFit(samples, of: .nouns).weights)
            #expect(learned.weights != .plain)
            #expect(learned.examples == posts.count)
            #expect(learned.favorites == posts.count { $0.isFavorite })
            #expect(learned.sequence == posts.map(\.sequence).max())
            #expect(learned.weightedLoss < learned.plainLoss)
            #expect(learned.words == .nouns)
            #expect(learned.fitted == Fixture.now)
        }
    }

    @Test(arguments: [CountStoreKind.sqlite, .redisAndPostgres])
    func aRestartARebuildAndASecondWorkerFindTheSame(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let first = try fixture.favorites()
            _ = try await first.learn(Self.events, at: Fixture.now)
            let learned = try await fitted(first)
            try await store(learned, in: first, fixture)
            let second = try fixture.favorites()
            try await expect(fitted(second), equals: learned)
            try await expect(second.status().weights, equals: learned)
            try await fixture.rebuildCounts()
            try await expect(fitted(second), equals: learned)
            if let redis = fixture.redis {
                for key in try await fixture.redisKeys() {
                    _ = try await redis.command(RedisCommand("DEL", key))
                }
                try await expect(fitted(first), equals: learned)
            }
        }
    }

    @Test(arguments: [CountStoreKind.sqlite, .postgres])
    func onlyTheNewestExamplesCount(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            for numbers in [[5, 3, 9], [1, 10], [2], [7, 4, 8]] {
                let events = numbers.map {
                    FavoriteEvent.seen(Corpus.example($0, "猫 \($0)", "alice"))
                }
                _ = try await favorites.learn(events, at: Fixture.now)
            }
            // Known later as a favorite, and so newer.
            _ = try await favorites.learn(
                [.favorited(Corpus.example(3, "猫 3", "alice"))], at: Fixture.now)
            func newest(_ number: Int) async throws -> [PostID] {
                try await fixture.storage.read { [table = favorites.examples] in
                    try table.newest(number, on: $0)
                }
            }
            let all = [5, 9, 1, 10, 2, 4, 7, 8, 3].map(Corpus.id)
            try await expect(newest(100), equals: all)
            for number in 1...9 {
                try await expect(newest(number), equals: Array(all.suffix(number)))
            }
            func hasNewer(_ number: Int, _ sequence: Int64) async throws -> Bool {
                try await fixture.storage.read { [table = favorites.examples] in
                    try table.hasNewer(number, than: sequence, on: $0)
                }
            }
            let sequences = try await fixture.storage.query(
                "SELECT DISTINCT sequence FROM examples WHERE mirror = \(fixture.mirror) ORDER BY sequence"
            ).map { try $0.integer("sequence") }
            #expect(try await hasNewer(4, sequences[2]))
            #expect(try await !hasNewer(5, sequences[2]))
            #expect(try await !hasNewer(1, try #require(sequences.last)))
        }
    }

    @Test func theyAreNotFittedBeforeEnoughWasLearned() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites(FavoriteConfiguration())
            _ = try await favorites.learn(Self.learnable(0..<57), at: Fixture.now)
            try await expect(favorites.status().waiting?.description, equals: "19 of 20 favorites")
            #expect(try await !favorites.areWeightsDue())
            try await expect(favorites.fitWeights(at: Fixture.now), equals: nil)
            _ = try await favorites.learn(Self.learnable(57..<58), at: Fixture.now)
            #expect(try await favorites.areWeightsDue())
            try await expect(favorites.fitWeights(at: Fixture.now)?.favorites, equals: 20)
        }
    }

    @Test func theyAreDueWhenTwoHundredExamplesAreNewer() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites(FavoriteConfiguration())
            _ = try await favorites.learn(Self.learnable(0..<100), at: Fixture.now)
            #expect(try await favorites.areWeightsDue())
            try await store(try await fitted(favorites), in: favorites, fixture)
            #expect(try await !favorites.areWeightsDue())
            _ = try await favorites.learn(Self.learnable(100..<299), at: Fixture.now)
            #expect(try await !favorites.areWeightsDue())
            // A post that is known already and turns out to be a favorite is newer as well.
            let known = Corpus.example(5_001, "猫1、会議1", "other1")
            _ = try await favorites.learn([.favorited(known)], at: Fixture.now)
            #expect(try await favorites.areWeightsDue())
            let plain = try fixture.favorites(FavoriteConfiguration(weighting: .plain))
            #expect(try await !plain.areWeightsDue())
            try await expect(plain.fitWeights(at: Fixture.now), equals: nil)
        }
    }

    // MARK: Believed

    @Test(arguments: [CountStoreKind.sqlite, .postgres, .redis])
    func postsAreJudgedWithTheStoredWeights(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Self.learnable(0..<300), at: Fixture.now)
            let post = Corpus.example(9_999, "猫3、会議2 未知", "friend1")
            let before = try #require(try await favorites.classify([post]).first)
            #expect(before.weights == nil)
            #expect(before.assessment.weights == .plain)
            let learned = try await fitted(favorites)
            try await store(learned, in: favorites, fixture)
            let after = try #require(try await favorites.classify([post]).first)
            #expect(after.weights == learned)
            #expect(after.assessment.plainLogRate.bitPattern == before.logRate.bitPattern)
            let weights = learned.weights
            let evidence = after.assessment.evidence
            let words =
                weights.wordsFor * evidence.wordsFor + weights.wordsAgainst * evidence.wordsAgainst
            let expected =
                before.assessment.baseLogOdds + weights.base + words + weights.author
                * evidence.author
            #expect(abs(after.logRate - expected) < 1e-12)
            #expect(abs(after.logRate - before.logRate) > 0.01)
            let sum = after.contributions.reduce(after.assessment.baseLogOdds) { $0 + $1.logOdds }
            #expect(abs(sum - after.logRate) < 1e-9)
            let plain = try fixture.favorites(
                FavoriteConfiguration(minimumPerCategory: 0, weighting: .plain))
            let unweighted = try #require(try await plain.classify([post]).first)
            #expect(unweighted.logRate.bitPattern == before.logRate.bitPattern)
            #expect(unweighted.weights == nil)
            try await expect(plain.status().weights, equals: nil)
        }
    }

    @Test func oneSessionKeepsTheWeightsThatItFound() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Self.learnable(0..<200), at: Fixture.now)
            let session = favorites.session()
            try await expect(session.classify(Corpus.posts)) { $0.allSatisfy { $0.weights == nil } }
            let learned = try await fitted(favorites)
            try await store(learned, in: favorites, fixture)
            try await expect(session.classify(Corpus.posts)) { $0.allSatisfy { $0.weights == nil } }
            try await expect(favorites.session().classify(Corpus.posts)) {
                $0.allSatisfy { $0.weights == learned }
            }
        }
    }

    /// Each of them makes the row useless, and nothing else.
    @Test(arguments: [
        "version = 2", "features = 'content'", "words_for = 0.2499", "words_against = 4.001",
        "author = -1",
        "base = 1e999",
    ])
    func weightsThatCannotBeUsedAreAsGoodAsNone(_ change: String) async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Self.learnable(0..<200), at: Fixture.now)
            try await store(try await fitted(favorites), in: favorites, fixture)
            try await expect(favorites.status().weights) { $0 != nil }
            try await fixture.storage.lenient.execute("UPDATE weights SET \(unsafe: change)")
            try await expect(favorites.status().weights, equals: nil)
            let answer = try #require(try await favorites.classify([Corpus.posts[0]]).first)
            #expect(answer.weights == nil)
            #expect(answer.logRate == answer.assessment.plainLogRate)
            #expect(try await favorites.areWeightsDue())
        }
    }

    @Test func whatIsUnlearnedUntilTooLittleIsLeftCountsPlainAgain() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites(FavoriteConfiguration())
            let events = Self.learnable(0..<61)
            _ = try await favorites.learn(events, at: Fixture.now)
            try await store(try await fitted(favorites), in: favorites, fixture)
            try await expect(favorites.classify([Corpus.posts[0]]).first?.weights) { $0 != nil }
            let liked = events.filter { if case .favorited = $0 { true } else { false } }
            _ = try await favorites.learn(
                liked.prefix(2).map { .forgotten($0.id) }, at: Fixture.now)
            try await expect(favorites.classify([Corpus.posts[0]]).first?.weights, equals: nil)
            try await expect(favorites.status().weights, equals: nil)
        }
    }

    @Test func clearingRemovesThemAndNoOthers() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let other = fixture.mirror + "-neighbour"
            for mirror in [fixture.mirror, other] {
                let favorites = try fixture.favorites(mirror: mirror)
                _ = try await favorites.learn(Self.learnable(0..<200), at: Fixture.now)
                try await store(try await fitted(favorites), in: favorites, fixture)
            }
            try await fixture.favorites().clear()
            let left = try await fixture.storage.lenient.query("SELECT mirror FROM weights")
            try expect(left.map { try $0.text("mirror") }, equals: [other])
        }
    }

    // MARK: Evaluated

    /// A mirror that learned posts one by one has the weights of the classifier in memory, which
    /// evaluations use.
    @Test func theClassifierInMemoryFitsAlike() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites()
            var memory = MemoryClassifier(.nouns)
            for number in 0..<120 {
                let events = Self.learnable(number..<number + 1)
                _ = try await favorites.learn(events, at: Fixture.now)
                memory.learn(events, favorites.examples.extractor.features)
            }
            memory.fitWeights(favorites.examples.extractor.features)
            let learned = try await fitted(favorites)
            #expect(memory.weights == learned.weights)
        }
    }
}
