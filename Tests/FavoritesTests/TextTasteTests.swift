import Expectations
import Foundation
import MeCab
import Posts
import Redis
import Storage
import TestSupport
import Testing

@testable import Favorites

/// What is learned of the human's texts from a person's decisions.
@Suite struct TextTasteTests {
    private static func id(_ number: Int) -> PostID {
        PostID(network: .mastodon, value: "https://home.example/\(number)")
    }

    /// Six texts of each kind, under numbers from 0 on.
    private static let labels: [(text: String, label: PersonLabel)] =
        [PersonLabel.never, .skipped, .declined, .takenBack, .never, .skipped].map { ("猫", $0) }
        + [PersonLabel.kept, .posted, .kept, .posted, .kept, .posted].map { ("会議", $0) }

    /// What 猫 adds to the log odds after ``labels``: ln((5p + 6)/5q) - ln(p/q) with p = 6.5/17 and
    /// q = 10.5/17.
    private static let rate = 1.420324109706202
    private static let unseen = (id: id(100), text: "猫")

    // MARK: The model

    @Test(arguments: CountStoreKind.allCases) func theModelIsThatOfFavorites(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            try await fixture.label(Self.labels)
            let session = try #require(try await fixture.taste().session())
            let opinions = try await session.opinions(on: [Self.unseen, (Self.id(101), "会議")])
            let rates = opinions.map(\.assessment.byFeatures)
            #expect(abs(rates[0] - Self.rate) < 1e-12, "\(rates)")
            #expect(opinions.map(\.isDemoted) == [true, false])
            #expect(opinions[0].assessment.contributions.map(\.feature) == ["猫"])
            #expect(
                opinions[0].sentence
                    == "it comes after others, for it reads like the 6 texts that were left out, by its words (猫)"
            )
            // Nothing is left of a text that is taken back: the counts are those of the others.
            let before = try await fixture.countedTexts()
            try await fixture.label([("写真", .skipped)], from: 50)
            _ = try await fixture.taste().session()?.opinions(on: [Self.unseen])
            try await expect(fixture.countedTexts()) { $0 != before }
            try await fixture.change { try $0.takeBack(.skipped, of: Self.id(50), on: $1) }
            let again = try #require(
                try await fixture.taste().session()?.opinions(on: [Self.unseen]).first)
            #expect(again.assessment.byFeatures == rates[0])
            try await expect(fixture.countedTexts(), equals: before)
        }
    }

    @Test func fewLabelsAndThoseOfOneKindSayNothing() async throws {
        try await Fixture.with(.sqlite) { fixture in
            try await fixture.label(Array(Self.labels.prefix(11)))
            try await expect(fixture.taste().session() == nil, equals: true)
            try await fixture.label([("猫", .skipped)], from: 11)
            try await expect(fixture.taste().session() != nil, equals: true)
        }
        try await Fixture.with(.sqlite) { fixture in
            try await fixture.label((0..<20).map { ("word \($0)", .skipped) })
            try await expect(fixture.taste().session() == nil, equals: true)
        }
    }

    /// What a person kept is never demoted, nor what reads the same.
    @Test func aKeptTextComesFirst() async throws {
        try await Fixture.with(.sqlite) { fixture in
            try await fixture.label(Self.labels + [("猫", .kept)])
            let session = try #require(try await fixture.taste().session())
            let opinions = try await session.opinions(
                on: [(Self.id(12), "猫"), (Self.id(99), "猫"), (Self.id(98), "猫 写真")])
            #expect(opinions.map(\.isDemoted) == [false, false, true])
        }
        try await Fixture.with(.sqlite) { fixture in
            try await fixture.label(Self.labels + [("猫 写真", .kept)])
            let session = try #require(try await fixture.taste().session())
            let texts = [(id: Self.id(12), text: "猫 写真"), (id: Self.id(99), text: "猫 写真")]
            try await expect(session.opinions(on: texts).map(\.isDemoted), equals: [false, false])
        }
    }

    /// With enough labels of each kind weights are learned, the same as for favorites.
    @Test func weightsAreThoseOfFavorites() async throws {
        let subjects = ["猫", "犬", "写真", "旅行", "会議", "資料", "電車", "珈琲"]
        let labels = (0..<60).map { number in
            (
                text: [number % 8, number * 3 % 7, number * 5 % 6].map { subjects[$0] }.joined(
                    separator: " "),
                label: number % 3 == 0 || number % 8 < 2 ? PersonLabel.skipped : .kept
            )
        }
        try await Fixture.with(.sqlite) { fixture in
            try await fixture.label(labels)
            let extractor = FeatureExtractor(tokenizer: try Tokenizer(), words: .nouns)
            var memory = MemoryClassifier(.nouns)
            let events = labels.enumerated().flatMap { number, label -> [FavoriteEvent] in
                let example = Example(
                    id: Self.id(number), author: nil, authorID: nil, text: label.text)
                return label.label.isAgainst
                    ? [.seen(example), .favorited(example)] : [.seen(example)]
            }
            memory.learn(events) { extractor.features(of: $0) }
            memory.fitWeights { extractor.features(of: $0) }
            let session = try #require(try await fixture.taste().session())
            let opinion = try #require(
                try await session.opinions(on: [(Self.id(500), "猫 会議")]).first)
            let expected = memory.assess(
                extractor.features(of: Example(id: Self.id(500), author: nil, text: "猫 会議")))
            #expect(!memory.weights.isPlain)
            #expect(abs(opinion.assessment.logRate - expected.logRate) < 1e-6)
            #expect(
                opinion.assessment.contributions.map(\.feature)
                    == expected.contributions.map(\.feature))
        }
    }

    // MARK: The counts

    /// A store has both kinds of counts of a mirror, and neither touches the other.
    @Test(arguments: CountStoreKind.allCases) func countsOfTextsAreApart(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let before = try await favorites.classify([Corpus.unseen])
            try await fixture.label(Self.labels)
            let taste = try fixture.taste()
            let opinion = try await taste.session()?.opinions(on: [Self.unseen]).first
            try await expect(favorites.classify([Corpus.unseen]), equals: before)
            let size = try await fixture.counts.size()
            try await fixture.textCounts().clear()
            try await expect(fixture.counts.size(), equals: size)
            try await expect(favorites.classify([Corpus.unseen]), equals: before)
            try await favorites.clear()
            // What was lost is made anew from the labels.
            let again = try await taste.session()?.opinions(on: [Self.unseen]).first
            #expect(again == opinion)
            #expect(opinion != nil)
            // Two categories of one word each, as digests.
            try await expect(fixture.textCounts().size(), equals: 2)
            try await expect(fixture.counts.size(), equals: 0)
        }
    }

    /// A text that was edited is learned as it reads now, and one that left the archive not at all.
    @Test func theTextIsThatOfTheArchive() async throws {
        try await Fixture.with(.redis) { fixture in
            try await fixture.label(Self.labels + [("会議", .kept)])
            func rate() async throws -> Double? {
                try await fixture.taste().session()?.opinions(on: [Self.unseen]).first?.assessment
                    .logRate
            }
            let before = try #require(try await rate())
            try await fixture.storage.execute(
                "UPDATE posts SET text = '写真' WHERE mirror = \(fixture.mirror) AND post_id = \(Self.id(0).value)"
            )
            let edited = try #require(try await rate())
            #expect(edited < before)
            try await fixture.storage.execute(
                "DELETE FROM posts WHERE mirror = \(fixture.mirror) AND text = '写真'")
            try await expect(rate()) { $0 != edited }
        }
    }

    // MARK: The labels

    @Test(arguments: [CountStoreKind.sqlite, .postgres])
    func whatWasSaidOfTheTextItselfStays(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            func label() async throws -> PersonLabel? {
                try await fixture.labels.labels()[Self.id(0)]
            }
            for (noted, expected) in [
                (PersonLabel.skipped, PersonLabel.skipped), (.posted, .posted),
                (.takenBack, .takenBack),
                (.kept, .kept),
                (.skipped, .kept), (.declined, .kept), (.never, .never), (.posted, .never),
                (.kept, .kept),
            ] {
                try await fixture.change {
                    try $0.note(noted, of: Self.id(0), now: Fixture.now, on: $1)
                }
                try await expect(label(), equals: expected, "\(noted)")
            }
            try await fixture.change { try $0.takeBack(.skipped, of: Self.id(0), on: $1) }
            try await expect(label(), equals: .kept)
            try await fixture.change { try $0.takeBack(.kept, of: Self.id(0), on: $1) }
            try await expect(label(), equals: nil)
        }
    }

    /// Of a deleted post no word and no id is kept, and yet it teaches what its text would.
    @Test(arguments: CountStoreKind.allCases) func aDeletedPostIsKeptAsDigests(
        _ kind: CountStoreKind
    ) async throws {
        try await Fixture.with(kind) { fixture in
            let deleted = PostID(network: .mastodon, value: "https://home.example/secret")
            try await fixture.label(Array(Self.labels.dropFirst()))
            let taste = try fixture.taste()
            let digests = taste.digests(of: "猫", of: deleted)
            try await fixture.change {
                try $0.noteDeletion(of: deleted, digests, now: Fixture.now, on: $1)
            }
            let opinion = try #require(try await taste.session()?.opinions(on: [Self.unseen]).first)
            #expect(abs(opinion.assessment.byFeatures - Self.rate) < 1e-12)
            let rows = try await fixture.storage.query(
                "SELECT post_id, features FROM text_labels WHERE mirror = \(fixture.mirror) AND label = 'deleted'"
            )
            let kept = try rows.map { "\(try $0.text("post_id")) \(try $0.text("features"))" }
            #expect(kept.count == 1)
            expect(kept) { $0.allSatisfy { !$0.contains("猫") && !$0.contains("secret") } }
            #expect(FeatureDigests(stored: digests.stored) == digests)
            // Another extractor finds other features: then nothing can be learned from it.
            let other = try fixture.taste(words: .content)
            try await expect(other.session() == nil, equals: true)
        }
    }

    /// Who empties an account says nothing of single texts.
    @Test func ofManyDeletionsAFewCount() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let digests = try fixture.taste().digests(of: "猫", of: Self.id(0))
            for number in 0..<50 {
                try await fixture.change {
                    try $0.noteDeletion(
                        of: Self.id(number), digests, now: Fixture.now + Double(number), on: $1)
                }
            }
            func count() async throws -> Int? {
                try await fixture.storage.query(
                    "SELECT COUNT(*) AS number FROM text_labels WHERE mirror = \(fixture.mirror)"
                ).first?.int("number")
            }
            try await expect(count(), equals: 10)
            try await fixture.change {
                try $0.noteDeletion(of: Self.id(60), digests, now: Fixture.now + 3_700, on: $1)
            }
            try await expect(count(), equals: 11)
        }
    }
}

extension Fixture {
    var labels: LabelTable { LabelTable(storage: storage, mirror: mirror) }

    fileprivate func textCounts() -> any CountStore {
        redis.map { RedisCountStore(client: $0, mirror: mirror, .texts) }
            ?? SQLCountStore(storage: storage, mirror: mirror, .texts)
    }

    fileprivate func taste(words: FeatureWords = .nouns) throws -> TextTaste {
        TextTaste(
            labels, counts: textCounts(),
            extractor: FeatureExtractor(tokenizer: try Tokenizer(), words: words),
            configuration: try FavoriteConfiguration(minimumPerCategory: 20))
    }

    /// All counts of texts, and how many texts of each kind there are.
    fileprivate func countedTexts() async throws -> [Int64] {
        let asked = ["猫", "会議", "写真"].map(FeatureDigests.digest)
        let snapshot = try #require(try await textCounts().counts(of: asked))
        return [
            snapshot.categories.favorites, snapshot.categories.normals, snapshot.categories.seen,
        ]
            + snapshot.counts.flatMap { [$0.favorite, $0.normal] }
    }

    fileprivate func change<Value: Sendable>(
        _ body: @escaping @Sendable (LabelTable, any StorageConnection) throws -> Value
    ) async throws {
        _ = try await storage.transaction { [labels] in try body(labels, $0) }
    }

    /// Puts posts into the archive, with labels.
    fileprivate func label(_ texts: [(text: String, label: PersonLabel)], from first: Int = 0)
        async throws
    {
        let mirror = mirror
        try await storage.transaction { [labels] connection in
            for (number, (text, label)) in texts.enumerated() {
                let id = PostID(network: .mastodon, value: "https://home.example/\(first + number)")
                try connection.execute(
                    """
                    INSERT INTO posts (mirror, network, post_id, text, created_ms, minute, local_day, is_reply, visibility,
                        has_media, mentions, sensitive, time_trusted)
                    VALUES (\(mirror), 'mastodon', \(id.value), \(text), 0, 0, '1970-01-01', FALSE, 'public', FALSE, '',
                        FALSE, TRUE)
                    """)
                try labels.note(
                    label, of: id, now: Fixture.now + Double(first + number), on: connection)
            }
        }
    }
}
