import Expectations
import Foundation
import MeCab
import Posts
import Redis
import Storage
import TestSupport
import Testing

@testable import Favorites

/// Pairs of neighbouring words as features: found, counted, unlearned and shown.
@Suite(.timeLimit(.minutes(30))) struct WordPairTests {
    // MARK: Found

    private func features(_ text: String, _ words: FeatureWords = .pairs) throws -> FeatureSet {
        let example = Example(id: PostID(network: .mastodon, value: "1"), author: "ann", text: text)
        return try FeatureExtractor(tokenizer: Tokenizer(), words: words).features(of: example)
    }

    @Test(arguments: [
        ("今日は猫の写真を撮った", ["今日 は", "は 猫", "猫 の", "の 写真", "写真 を", "を 撮る", "撮る た"]),
        ("I love it!!! :)", ["i love", "love it", "it !!!", "!!! :)"]),
        // Each pair counts once, in the order of the text.
        ("猫猫猫、猫猫", ["猫 猫", "猫 、", "、 猫"]),
        ("to be or not to be", ["to be", "be or", "or not", "not to"]),
        // What is cut out leaves neighbours.
        ("see https://a.example/x the @bob cat", ["see the", "the cat"]),
        // The words of a hashtag are neighbours; the hashtag as a whole has none.
        ("my #cat sleeps", ["my cat", "cat sleeps"]),
        // What cannot be seen stands between no words.
        ("cat \u{200D} \u{FE0F} dog", ["cat dog"]), ("", []), ("cat", []), ("😀", []),
        ("猫😀", ["猫 😀"]),
    ])
    func neighboursAreFound(_ text: String, _ expected: [String]) throws {
        try expect(features(text).pairs.map(WordPair.displayName), equals: expected)
    }

    @Test func scriptsThatTheDictionaryDoesNotListHaveNeighboursToo() throws {
        let korean = try features("오늘은 비가 swift 와서 책을").pairs.map(WordPair.displayName)
        let folded = ["오늘은 비가", "비가 swift", "swift 와서", "와서 책을"].map { TextCleaner($0).text }
        #expect(korean == folded)
        try expect(
            features("猫 البحر، cat").pairs.map(WordPair.displayName),
            equals: ["猫 البحر", "البحر ،", "، cat"])
        try expect(features("ไทย").pairs.map(WordPair.displayName), equals: ["ไท ทย"])
    }

    @Test func aWordThatIsTooLongHasNoNeighbours() throws {
        // Half as many bytes as scalars: no dictionary groups more than 25 of them, UAX #29 as many
        // as there are.
        let long = String(repeating: "책", count: 60)
        try expect(
            features("cat \(long) dog cat").pairs.map(WordPair.displayName), equals: ["dog cat"])
    }

    @Test func wordsAndAuthorAreThoseOfContentWords() throws {
        for event in Corpus.generated(200) {
            guard let example = event.example else { continue }
            let pairs = try features(example.text)
            let content = try features(example.text, .content)
            #expect(pairs.words == content.words)
            #expect(pairs.author == content.author)
            #expect(content.pairs == [])
            #expect(pairs.pairs.count == Set(pairs.pairs).count)
            for pair in pairs.pairs { #expect(pair.utf8.count { $0 == WordPair.separator } == 1) }
        }
    }

    @Test func noWordIsAPair() throws {
        let text = "a\u{1F}b a b\u{1F}c"
        let found = try features(text)
        #expect(Set(found.words) == ["a", "b", "c"])
        #expect(found.pairs == ["a\u{1F}b", "b\u{1F}a", "b\u{1F}c"])
        #expect(WordPair.displayName(of: "b\u{1F}c") == "b c")
        #expect(WordPair.displayName(of: "@ann") == "@ann")
    }

    // MARK: Counted

    private static let words = [
        "猫", "写真", "の", "は", "good", "morning", "!!", "#tag", "책을", "읽었다", "撮った",
    ]

    @Test(arguments: CountStoreKind.allCases)
    func anyHistoryIsUnlearnedExactly(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites(words: .pairs)
            for seed in 1...4 {
                for batch in 0..<4 {
                    let events = Corpus.history(40, of: Self.words, seed: UInt64(seed * 10 + batch))
                    try await expect(
                        favorites.learn(events, at: Fixture.now).countsError, equals: nil)
                    try await expect(fixture.counted(), equals: fixture.tally(favorites))
                }
            }
            try await expect(fixture.dump()) { $0.keys.contains { $0.contains("\u{1F}") } }
            let all = (0..<30).map { FavoriteEvent.forgotten(Corpus.id($0)) }
            _ = try await favorites.learn(all, at: Fixture.now)
            try await expect(fixture.dump(), equals: [:])
            try await expect(fixture.rows(), equals: 0)
            try await expect(fixture.redisKeys(), equals: [])
        }
    }

    /// What an update or a change of `FEATURES` does: nobody needs to do anything.
    @Test(arguments: CountStoreKind.allCases)
    func anotherChoiceCountsTheExamplesAnew(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let words = try fixture.favorites(words: .content)
            let pairs = try fixture.favorites(words: .pairs)
            _ = try await words.learn(Corpus.generated(120), at: Fixture.now)
            let before = try await fixture.dump()
            #expect(!before.keys.contains { $0.contains("\u{1F}") })
            try await expect(pairs.status().counts, equals: .outdated)
            // Judged at once with counts of pairs.
            let post = Corpus.example(1_001, "猫1、犬2", nil)
            let answer = try #require(try await pairs.classify([post]).first)
            #expect(answer.contributions.contains { $0.feature == "猫\u{1F}1" })
            try await expect(fixture.counted(), equals: fixture.tally(pairs))
            try await expect(pairs.status().counts, equals: .current)
            // And unlearned by whoever counts words alone.
            _ = try await words.learn([.forgotten(Corpus.id(1_000))], at: Fixture.now)
            try await expect(fixture.counted(), equals: fixture.tally(words))
            try await expect(fixture.dump()) { !$0.keys.contains { $0.contains("\u{1F}") } }
            _ = try await pairs.learn([.forgotten(Corpus.id(1_001))], at: Fixture.now)
            try await expect(fixture.counted(), equals: fixture.tally(pairs))
        }
    }

    // MARK: Weighed

    private static let learnable = (0..<300).flatMap { number -> [FavoriteEvent] in
        let isFavorite = number % 3 == 0
        // The words are the same; which of them are neighbours is not.
        let text =
            isFavorite
            ? "good morning dear cat \(number % 7)" : "dear morning good cat \(number % 7)"
        let post = Corpus.example(5_000 + number, text, "author\(number % 5)")
        return isFavorite ? [.seen(post), .favorited(post)] : [.seen(post)]
    }

    @Test(arguments: [CountStoreKind.sqlite, .postgres, .redis])
    func fiveWeightsAreLearnedStoredAndBelieved(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites(words: .pairs)
            _ = try await favorites.learn(Self.learnable, at: Fixture.now)
            let post = Corpus.example(9_999, "good morning, cat", "author1")
            let before = try #require(try await favorites.classify([post]).first)
            #expect(before.assessment.weights == .plainWithPairs)
            let learned = try #require(try await favorites.fitWeights(at: Fixture.now))
            let pairs = try #require(learned.weights.pairs)
            #expect(pairs.speakingFor > 0.5)
            #expect(learned.weightedLoss < learned.plainLoss)
            try await fixture.storage.transaction { try favorites.store(learned, on: $0) }
            try await expect(favorites.status().weights, equals: learned)
            let after = try #require(try await favorites.classify([post]).first)
            #expect(after.weights == learned)
            #expect(after.logRate > before.logRate)
            let sum = after.contributions.reduce(after.assessment.baseLogOdds) { $0 + $1.logOdds }
            #expect(abs(sum - after.logRate) < 1e-9)
            #expect(
                after.assessment.grouped().strongest.map { WordPair.displayName(of: $0.feature) }
                    .contains(
                        "good morning"))
            // Weights of pairs are of no use without pairs, nor the other way round.
            let words = try fixture.favorites(words: .content)
            try await expect(words.classify([post]).first?.weights, equals: nil)
            #expect(try await words.areWeightsDue())
            let three = try #require(try await words.fitWeights(at: Fixture.now))
            #expect(three.weights.pairs == nil)
            try await fixture.storage.transaction { try words.store(three, on: $0) }
            try await expect(words.status().weights, equals: three)
            try await expect(favorites.status().weights, equals: nil)
            #expect(try await favorites.areWeightsDue())
        }
    }

    /// Each of them makes the row useless.
    @Test(arguments: [
        "pairs_for = NULL", "pairs_against = NULL", "pairs_for = -0.001", "pairs_against = 4.001",
    ])
    func weightsOfPairsThatCannotBeUsedAreAsGoodAsNone(_ change: String) async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites(words: .pairs)
            _ = try await favorites.learn(Self.learnable, at: Fixture.now)
            let learned = try #require(try await favorites.fitWeights(at: Fixture.now))
            try await fixture.storage.transaction { try favorites.store(learned, on: $0) }
            try await fixture.storage.lenient.execute("UPDATE weights SET \(unsafe: change)")
            try await expect(favorites.status().weights, equals: nil)
            let answer = try #require(try await favorites.classify([Corpus.posts[0]]).first)
            #expect(answer.assessment.weights == .plainWithPairs)
        }
    }
}
