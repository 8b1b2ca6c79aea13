import Expectations
import Foundation
import MeCab
import Posts
import Storage
import TestSupport
import Testing

@testable import Favorites

/// Runs of letters and the form of a text as features: found, counted, unlearned, weighed and told.
@Suite(.timeLimit(.minutes(30))) struct SpellingTests {
    private static let choices = [FeatureWords.spelling, .full]

    private func features(_ text: String, _ words: FeatureWords = .spelling) throws -> FeatureSet {
        let example = Example(id: PostID(network: .mastodon, value: "1"), author: "ann", text: text)
        return try FeatureExtractor(tokenizer: Tokenizer(), words: words).features(of: example)
    }

    // MARK: Runs

    private func counters(_ runs: [String]) -> [String] {
        runs.map { Spelling.feature(Int(StableHash.fnv1a($0) % 32_768)) }
    }

    @Test(
        arguments: [
            ("Good day", ["good ", "ood d", "od da", "d day"]), ("hello", ["hello"]), ("four", []),
            ("", []), ("猫", []),
            // Links are no letters; blanks count as one, and not at the ends.
            (" see\t https://a.example/x \n it  ", ["see i", "ee it"]),
            // Mentions and hashtags are.
            ("hi @bob", ["hi @b", "i @bo", " @bob"]), ("#cats!", ["#cats", "cats!"]),
            ("ＨＥＬＬＯ", ["hello"]), ("caféś", ["caféś"]), ("책을읽었다", ["책을읽었다"]),
            // Each run counts once.
            ("ababababab", ["ababa", "babab"]), ("kkkkkkkkk", ["kkkkk"]),
            // Two signs where most are kana or kanji.
            ("今日は猫", ["今日", "日は", "は猫"]), ("ネコ！", ["ネコ", "コ!"]),
            ("ab猫の猫", ["ab", "b猫", "猫の", "の猫"]),
            ("abc猫の", ["abc猫の"]), ("ab猫の", []),
        ] as [(String, [String])])
    func runsAreFound(_ text: String, _ expected: [String]) throws {
        try expect(features(text).spelling, equals: counters(expected))
    }

    @Test func aRunIsOneOfAFixedNumberOfCounters() throws {
        // FNV-1a of "hello" is a430d84680aabd0b.
        #expect(StableHash.fnv1a("hello") == 0xa430_d846_80aa_bd0b)
        try expect(features("hello").spelling, equals: ["\u{1E}f8b"])
        #expect(Spelling.feature(0) == "\u{1E}000")
        #expect(Spelling.feature(Spelling.counters - 1) == "\u{1E}vvv")
        #expect(Set((0..<Spelling.counters).map(Spelling.feature)).count == 32_768)
    }

    @Test func runsThatShareACounterCountOnce() throws {
        var known: [UInt64: String] = [:]
        var pair: (String, String)?
        for number in 10_000..<99_999 where pair == nil {
            let run = "\(number)"
            if let other = known.updateValue(run, forKey: StableHash.fnv1a(run) % 32_768) {
                pair = (other, run)
            }
        }
        let (first, second) = try #require(pair)
        let text = first + "\u{2028}" + second
        let all = counters(
            (0...6).map {
                String(String.UnicodeScalarView(text.unicodeScalars.dropFirst($0).prefix(5)))
            })
        #expect(all.first == all.last)
        try expect(features(text).spelling, equals: Array(all.dropLast()))
    }

    // MARK: Form

    @Test(
        arguments: [
            ("", ["fewer than 20 characters", "no capitals", "no hashtag"]),
            (
                "Is it 3?",
                [
                    "fewer than 20 characters", "some capitals", "no hashtag", "ends with ?",
                    "digits",
                ]
            ),
            (
                "WOW Such!",
                ["fewer than 20 characters", "mostly capitals", "no hashtag", "ends with !"]
            ),
            ("so…", ["fewer than 20 characters", "no capitals", "no hashtag", "ends with …"]),
            (
                "「猫」と #cat",
                ["fewer than 20 characters", "no capitals", "one hashtag", "quotation marks"]
            ),
            (
                "#a #b #c 😀",
                ["fewer than 20 characters", "no capitals", "several hashtags", "an emoji"]
            ),
            (
                "❤️ hi @bob！",
                [
                    "fewer than 20 characters", "no capitals", "no hashtag", "a mention",
                    "ends with !", "an emoji",
                ]
            ),
            (
                "https://me:pw@A.Example:8080/x?y why? https://b.example http://a.example",
                [
                    "60 to 119 characters", "some capitals", "no hashtag", "a link",
                    "a link to a.example",
                    "a link to b.example", "ends with ?",
                ]
            ),
        ] as [(String, [String])])
    func marksAreFound(_ text: String, _ expected: [String]) throws {
        let found = try features(text).form
        #expect(found.map(FeatureGroup.displayName) == expected)
        expect(found) { $0.allSatisfy { FeatureGroup(of: $0) == .form && !$0.contains(" ") } }
    }

    @Test(arguments: [
        (0, "<20"), (19, "<20"), (20, "<60"), (59, "<60"), (60, "<120"), (119, "<120"),
        (120, "<200"), (199, "<200"),
        (200, ">=200"), (20_000, ">=200"),
    ])
    func lengthsHaveClasses(_ length: Int, _ name: String) throws {
        try expect(
            features(String(repeating: "a", count: length)).form.first,
            equals: "\u{1D}length" + name)
    }

    // MARK: Both

    @Test func wordsPairsAndAuthorStay() throws {
        for event in Corpus.generated(100) {
            guard let text = event.example?.text else { continue }
            let full = try features(text, .full)
            let pairs = try features(text, .pairs)
            let spelling = try features(text, .spelling)
            #expect(
                (full.words, full.pairs, full.author) == (pairs.words, pairs.pairs, pairs.author))
            #expect(
                (spelling.words, spelling.pairs, spelling.author) == (pairs.words, [], pairs.author)
            )
            #expect((full.spelling, full.form) == (spelling.spelling, spelling.form))
            #expect((pairs.spelling, pairs.form) == ([], []))
            #expect(Set(full.all).count == full.all.count)
        }
    }

    @Test func groupsAreToldByTheFeature() throws {
        let set = try features("@x The #Cat sleeps… http://a.example", .full)
        expect(set.words + set.pairs) { $0.allSatisfy { FeatureGroup(of: $0) == .words } }
        expect(set.spelling) { !$0.isEmpty && $0.allSatisfy { FeatureGroup(of: $0) == .spelling } }
        expect(set.form) { $0.allSatisfy { FeatureGroup(of: $0) == .form } }
        #expect(set.author.map(FeatureGroup.init) == .author)
        #expect(FeatureGroup(of: "@") == .words)
        #expect(FeatureGroup(of: "@!") == .words)
    }

    /// What is unlearned later is found in the stored text.
    @Test(arguments: FeatureExtractorTests.hostile.indices) func hostileTextIsBounded(_ index: Int)
        throws
    {
        let extractor = try FeatureExtractor(tokenizer: Tokenizer(), words: .full)
        let example = Example(
            id: PostID(network: .mastodon, value: "1"), author: nil,
            text: FeatureExtractorTests.hostile[index])
        let found = extractor.features(of: example)
        #expect(found == extractor.features(of: example.stored))
        #expect(found.spelling.count <= 5_000)
        #expect(found.form.count <= 2_000)
        expect(found.all) {
            $0.allSatisfy { $0.utf8.count <= 2 * FeatureExtractor.maximumBytes + 8 }
        }
    }

    // MARK: Counted

    private static let words = [
        "猫", "の写真", "Good", "morning", "!!", "#tag", "책을", "https://a.example/x", "“so”", "3", "?",
    ]

    @Test(arguments: CountStoreKind.allCases, choices)
    func anyHistoryIsUnlearnedExactly(_ kind: CountStoreKind, _ words: FeatureWords) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites(words: words)
            for batch in 0..<6 {
                let events = Corpus.history(40, of: Self.words, seed: UInt64(70 + batch))
                try await expect(favorites.learn(events, at: Fixture.now).countsError, equals: nil)
                try await expect(fixture.counted(), equals: fixture.tally(favorites))
            }
            try await expect(fixture.dump()) { $0.keys.contains { $0.contains("\u{1E}") } }
            try await expect(fixture.dump()) { $0.keys.contains { $0.contains("\u{1D}") } }
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
            let pairs = try fixture.favorites(words: .pairs)
            let full = try fixture.favorites(words: .full)
            _ = try await pairs.learn(Corpus.generated(120), at: Fixture.now)
            try await expect(fixture.dump()) {
                !$0.keys.contains { $0.contains("\u{1E}") || $0.contains("\u{1D}") }
            }
            try await expect(full.status().counts, equals: .outdated)
            let text = try #require(Corpus.generated(120).compactMap(\.example).first?.text)
            let post = Corpus.example(9_999, text, nil)
            let answer = try #require(try await full.classify([post]).first)
            expect(answer.contributions) {
                $0.contains {
                    FeatureGroup(of: $0.feature) == .spelling
                        && $0.favoriteCount + $0.normalCount > 0
                }
            }
            try await expect(fixture.counted(), equals: fixture.tally(full))
            try await expect(full.status().counts, equals: .current)
            // And unlearned by whoever counts pairs alone.
            _ = try await pairs.learn([.forgotten(Corpus.id(1_000))], at: Fixture.now)
            try await expect(fixture.counted(), equals: fixture.tally(pairs))
        }
    }

    // MARK: Weighed

    private static let learnable = (0..<300).flatMap { number -> [FavoriteEvent] in
        let isFavorite = number % 3 == 0
        // The words differ each time; how they end, and how the text does, tells.
        let text =
            isFavorite
            ? "re\(number)nation of na\(number)tion!" : "gar\(number)ble in gab\(number)ble."
        let post = Corpus.example(5_000 + number, text, "author\(number % 5)")
        return isFavorite ? [.seen(post), .favorited(post)] : [.seen(post)]
    }

    @Test(arguments: [CountStoreKind.sqlite, .postgres, .redis], choices)
    func weightsAreLearnedStoredAndBelieved(_ kind: CountStoreKind, _ words: FeatureWords)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites(words: words)
            _ = try await favorites.learn(Self.learnable, at: Fixture.now)
            let post = Corpus.example(9_999, "a carnation!", "author1")
            let before = try #require(try await favorites.classify([post]).first)
            #expect(before.assessment.weights == .plain(of: words))
            #expect(before.assessment.weights.spelling == .init(for: 0.3, against: 0.3))
            #expect(before.assessment.weights.form == .init(for: 0.3, against: 0.3))
            #expect((before.assessment.weights.pairs != nil) == (words == .full))
            let learned = try #require(try await favorites.fitWeights(at: Fixture.now))
            #expect(try #require(learned.weights.spelling).speakingFor > 0.3)
            #expect(learned.weightedLoss < learned.plainLoss)
            try await fixture.storage.transaction { try favorites.store(learned, on: $0) }
            try await expect(favorites.status().weights, equals: learned)
            let after = try #require(try await favorites.classify([post]).first)
            #expect(after.weights == learned)
            let sum = after.contributions.reduce(after.assessment.baseLogOdds) { $0 + $1.logOdds }
            #expect(abs(sum - after.logRate) < 1e-9)
            expect(learned.weights.inWords) {
                $0.contains(", spelling for ") && $0.contains(", form for ")
            }
            // Weights of these features are of no use without them, nor the other way round.
            let pairs = try fixture.favorites(words: .pairs)
            try await expect(pairs.status().weights, equals: nil)
            #expect(try await pairs.areWeightsDue())
        }
    }

    /// Each of them makes the row useless.
    @Test(arguments: [
        "spelling_for = NULL", "spelling_against = NULL", "form_for = NULL", "form_against = NULL",
        "form_for = -0.001",
        "spelling_against = 4.001",
    ])
    func weightsThatCannotBeUsedAreAsGoodAsNone(_ change: String) async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites(words: .spelling)
            _ = try await favorites.learn(Self.learnable, at: Fixture.now)
            let learned = try #require(try await favorites.fitWeights(at: Fixture.now))
            try await fixture.storage.transaction { try favorites.store(learned, on: $0) }
            try await fixture.storage.lenient.execute("UPDATE weights SET \(unsafe: change)")
            try await expect(favorites.status().weights, equals: nil)
        }
    }

    // MARK: Told

    @Test func peopleAreToldOfGroups() throws {
        let extractor = try FeatureExtractor(tokenizer: Tokenizer(), words: .full)
        var classifier = MemoryClassifier(.full)
        classifier.learn(Self.learnable, extractor.features)
        let post = Corpus.example(9_999, "the nation, the nation 3!", "author1")
        let set = extractor.features(of: post)
        let assessment = classifier.assess(set)
        let told = assessment.grouped()
        expect(told.strongest.map(\.feature)) {
            $0.contains("@author1")
                && $0.allSatisfy { !SmallFeatures.contains($0) && !$0.contains("\u{1E}") }
        }
        #expect(told.spelling.count == set.spelling.count)
        #expect(Set(told.form.map(\.feature)) == Set(set.form))
        #expect(told.strongest.count + told.rest.count == set.words.count + set.pairs.count + 1)
        let form = told.form.reduce(0) { $0 + $1.logOdds }
        let words = told.strongest.reduce(told.rest.logOdds) { $0 + $1.logOdds }
        #expect(
            abs(assessment.baseLogOdds + words + told.spelling.logOdds + form - assessment.logRate)
                < 1e-9)
        #expect(told.spelling.logOdds > 0)
    }
}
