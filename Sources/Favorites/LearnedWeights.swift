package import Foundation
import Localization
import Posts
package import Storage

/// Weights that a mirror has learned, and the examples from which they were fitted.
package struct LearnedWeights: Equatable, Sendable {
    /// The version of the fitting method; weights of another method are not used.
    static let method: Int64 = 1

    package let weights: EvidenceWeights
    /// The kinds of features for which the weights were fitted.
    package let words: FeatureWords
    /// The number of the last batch of the examples.
    package let sequence: Int64
    /// The number of examples from which the weights were fitted.
    package let examples: Int
    /// The number of favorites among them.
    package let favorites: Int
    /// The mean log loss of the examples with plain weights, each judged by all others.
    package let plainLoss: Double
    /// The mean log loss with ``weights``.
    package let weightedLoss: Double
    /// The time when the weights were fitted.
    package let fitted: Date

    init(
        _ fit: WeightFit, of samples: [WeightFit.Sample], words: FeatureWords, sequence: Int64,
        at now: Date
    ) {
        weights = fit.weights
        self.words = words
        self.sequence = sequence
        examples = samples.count
        favorites = samples.count { $0.isFavorite }
        plainLoss = fit.plainLoss
        weightedLoss = fit.weightedLoss
        // The time is rounded to the precision of the database.
        fitted = Date(milliseconds: now.milliseconds)
    }

    /// Parses a row; nil for weights of another method or of other features, and for a missing row.
    fileprivate init?(_ row: SQLRow, of words: FeatureWords) throws {
        guard try row.optionalInteger("version") == Self.method,
            try row.text("features") == words.identity
        else {
            return nil
        }
        func sides(of name: String, isUsed: Bool) throws -> EvidenceWeights.Sides? {
            guard isUsed, let speakingFor = try row.optionalReal(name + "_for"),
                let speakingAgainst = try row.optionalReal(name + "_against")
            else { return nil }
            return EvidenceWeights.Sides(for: speakingFor, against: speakingAgainst)
        }
        weights = EvidenceWeights(
            wordsFor: try row.real("words_for"), wordsAgainst: try row.real("words_against"),
            pairs: try sides(of: "pairs", isUsed: words.hasPairs),
            spelling: try sides(of: "spelling", isUsed: words.hasSpelling),
            form: try sides(of: "form", isUsed: words.hasForm), author: try row.real("author"),
            base: try row.real("base"))
        guard weights.hasKinds(of: words), weights.isWithin(WeightFit.limits(of: words)) else {
            return nil
        }
        self.words = words
        sequence = try row.integer("sequence")
        examples = try row.int("examples")
        favorites = try row.int("favorites")
        plainLoss = try row.real("plain_loss")
        weightedLoss = try row.real("weighted_loss")
        fitted = try row.date("fitted_ms")
    }
}

/// The one row of a mirror that holds its weights.
struct WeightTable: Sendable {
    let storage: any StorageEngine
    let mirror: String
    /// The features; weights of other features are not used.
    let words: FeatureWords

    /// The query of the mirror's row.
    var query: SQL { "SELECT * FROM weights WHERE mirror = \(mirror)" }

    /// The mirror's weights; nil if none are stored, or if they cannot be used.
    func current(on connection: any StorageConnection) throws -> LearnedWeights? {
        try connection.query(query).first.flatMap(weights)
    }

    /// Parses a row, whose columns are null if the query found no weights; nil if there are none,
    /// or if they cannot be used.
    func weights(_ row: SQLRow) throws -> LearnedWeights? { try LearnedWeights(row, of: words) }

    /// Replaces the stored weights.
    func write(_ learned: LearnedWeights, on connection: any StorageConnection) throws {
        try delete(on: connection)
        let weights = learned.weights
        try connection.execute(
            """
            INSERT INTO weights (mirror, version, features, sequence, words_for, words_against, pairs_for,
                pairs_against, spelling_for, spelling_against, form_for, form_against, author, base, examples,
                favorites, plain_loss, weighted_loss, fitted_ms)
            VALUES (\(mirror), \(LearnedWeights.method), \(learned.words.identity), \(learned.sequence),
                \(weights.wordsFor), \(weights.wordsAgainst), \(weights.pairs?.speakingFor),
                \(weights.pairs?.speakingAgainst), \(weights.spelling?.speakingFor),
                \(weights.spelling?.speakingAgainst), \(weights.form?.speakingFor),
                \(weights.form?.speakingAgainst), \(weights.author), \(weights.base), \(learned.examples),
                \(learned.favorites), \(learned.plainLoss), \(learned.weightedLoss), \(learned.fitted))
            """)
    }

    func delete(on connection: any StorageConnection) throws {
        try connection.execute("DELETE FROM weights WHERE mirror = \(mirror)")
    }
}

extension Favorites {
    /// The number of newer examples after which weights are fitted again.
    private static let newExamplesUntilRefit = 200
    /// The number of posts that are processed at once.
    private static let portion = 400
    /// The number of attempts while other processes change the examples.
    private static let attempts = 5

    /// Whether weights are to be learned now: there is enough to learn from, and they are missing
    /// or old.
    ///
    /// Queries the database once; loads no examples.
    package func areWeightsDue() async throws -> Bool {
        guard configuration.weighting == .learned else { return false }
        return try await storage.read { [examples, weights, configuration] connection in
            let learned = try examples.categories(on: connection)
            guard WaitReason(learned, needed: configuration.minimumPerCategory) == nil else {
                return false
            }
            guard let current = try weights.current(on: connection) else { return true }
            return try examples.hasNewer(
                Self.newExamplesUntilRefit, than: current.sequence, on: connection)
        }
    }

    /// Fits weights on the newest examples, with the counts of the same batch; stores nothing.
    ///
    /// The weights depend on the examples alone: another process, or rebuilt counts, give the same
    /// weights. Takes about a tenth of a second, and memory for the features of some hundred posts.
    ///
    /// - Returns: The weights; nil if plain ones are configured, or too little was learned.
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable` or `.countsUnstable`,
    ///   `StorageError` or `CancellationError`.
    package func fitWeights(at now: Date) async throws -> LearnedWeights? {
        guard configuration.weighting == .learned else { return nil }
        for _ in 0..<Self.attempts {
            let (stamp, learned, ids) = try await storage.read { [examples] connection in
                (
                    try examples.stamp(on: connection), try examples.categories(on: connection),
                    try examples.newest(WeightFit.mostExamples, on: connection)
                )
            }
            guard WaitReason(learned, needed: configuration.minimumPerCategory) == nil else {
                return nil
            }
            guard let samples = try await samples(of: ids, at: stamp) else { continue }
            return LearnedWeights(
                WeightFit(samples, of: examples.extractor.wordSelection), of: samples,
                words: examples.extractor.wordSelection,
                sequence: stamp.sequence, at: now)
        }
        throw FavoritesError(
            .countsUnstable,
            localized(
                "could not fit the weights: other processes keep changing the examples; try again"))
    }

    /// Stores weights in a transaction of the caller, who checks that it holds the mirror.
    ///
    /// - Throws: `StorageError`.
    package func store(_ learned: LearnedWeights, on connection: any StorageConnection) throws {
        try weights.write(learned, on: connection)
    }

    /// The evidence of each example by the counts of all others, in the order of `ids`; nil if
    /// posts were learned meanwhile.
    private func samples(of ids: [PostID], at stamp: CountStamp) async throws -> [WeightFit.Sample]?
    {
        var samples: [WeightFit.Sample] = []
        for start in stride(from: 0, to: ids.count, by: Self.portion) {
            let portionIDs = Array(ids[start..<min(start + Self.portion, ids.count)])
            let (currentStamp, rows) = try await storage.read { [examples] connection in
                (
                    try examples.stamp(on: connection),
                    try examples.rows(of: portionIDs, on: connection)
                )
            }
            guard currentStamp == stamp else { return nil }
            var index = FeatureIndex(posts: portionIDs.count)
            let posts = portionIDs.compactMap { rows[$0] }.map { row in
                let features = examples.extractor.features(of: row.example)
                return (
                    places: index.places(of: features), isFavorite: row.state.category == .favorite
                )
            }
            let snapshot = try await reader.counts(of: index.features, confirmed: stamp)
            guard snapshot.stamp == stamp else { return nil }
            let model = FavoriteModel(snapshot.categories)
            samples += posts.map {
                model.sample($0.places, isFavorite: $0.isFavorite, of: snapshot)
            }
        }
        return samples
    }
}
