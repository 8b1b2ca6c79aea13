package import Favorites
package import Foundation
package import Outbox

/// The weights of the evidence for and against a favorite, as they appear in reports.
package struct ReportedWeights: Codable, Equatable, Sendable {
    /// The weight of the words that speak for a favorite.
    package var wordsFor: Double
    /// The weight of the words that speak against it.
    package var wordsAgainst: Double
    /// The weight of the word pairs that speak for a favorite; nil if pairs are no features.
    package var pairsFor: Double?
    /// The weight of the word pairs that speak against it.
    package var pairsAgainst: Double?
    /// The weight of the runs of letters that speak for a favorite; nil if they are no features.
    package var spellingFor: Double?
    /// The weight of the runs that speak against it.
    package var spellingAgainst: Double?
    /// The weight of the features of a text's form that speak for a favorite; nil if form is no
    /// feature.
    package var formFor: Double?
    /// The weight of those that speak against it.
    package var formAgainst: Double?
    /// The weight of the author.
    package var author: Double
    /// The term that is added to the logarithm of every rate.
    package var base: Double
    /// The number of the last batch of examples that the weights were fitted on; nil for those of a
    /// trial.
    package var sequence: Int64?
    /// The weights for people, such as `words for count 3.0 times, words against 1.4, the author
    /// 1.5`.
    package var text: String

    /// - Parameters:
    ///   - weights: The weight of each kind of evidence.
    ///   - sequence: The number of the last batch of examples that they were fitted on.
    package init(_ weights: EvidenceWeights, sequence: Int64? = nil) {
        wordsFor = weights.wordsFor
        wordsAgainst = weights.wordsAgainst
        pairsFor = weights.pairs?.speakingFor
        pairsAgainst = weights.pairs?.speakingAgainst
        spellingFor = weights.spelling?.speakingFor
        spellingAgainst = weights.spelling?.speakingAgainst
        formFor = weights.form?.speakingFor
        formAgainst = weights.form?.speakingAgainst
        author = weights.author
        base = weights.base
        self.sequence = sequence
        text = weights.inWords
    }

    package init(_ learned: LearnedWeights) {
        self.init(learned.weights, sequence: learned.sequence)
    }

    package init(_ stored: Explanation.Weights) {
        func sides(_ speakingFor: Double?, _ speakingAgainst: Double?) -> EvidenceWeights.Sides? {
            guard let speakingFor, let speakingAgainst else { return nil }
            return EvidenceWeights.Sides(for: speakingFor, against: speakingAgainst)
        }
        self.init(
            EvidenceWeights(
                wordsFor: stored.wordsFor, wordsAgainst: stored.wordsAgainst,
                pairs: sides(stored.pairsFor, stored.pairsAgainst),
                spelling: sides(stored.spellingFor, stored.spellingAgainst),
                form: sides(stored.formFor, stored.formAgainst), author: stored.author,
                base: stored.base),
            sequence: stored.sequence)
    }
}

extension Explanation.Weights {
    /// Creates the weights that are stored with a favorite.
    init(_ learned: LearnedWeights) {
        let weights = learned.weights
        self.init(
            sequence: learned.sequence, wordsFor: weights.wordsFor,
            wordsAgainst: weights.wordsAgainst,
            pairsFor: weights.pairs?.speakingFor, pairsAgainst: weights.pairs?.speakingAgainst,
            spellingFor: weights.spelling?.speakingFor,
            spellingAgainst: weights.spelling?.speakingAgainst,
            formFor: weights.form?.speakingFor, formAgainst: weights.form?.speakingAgainst,
            author: weights.author, base: weights.base)
    }
}

/// Fits a mirror's weights when due, and stores them as long as the caller holds the mirror.
package struct WeightKeeper: Sendable {
    let favorites: Favorites
    let store: OutboxStore

    /// - Parameters:
    ///   - favorites: The classifier.
    ///   - store: Has the mirror's lease.
    package init(_ favorites: Favorites, store: OutboxStore) {
        self.favorites = favorites
        self.store = store
    }

    /// Fits the weights anew if there are none, or if enough was learned since the last fit.
    ///
    /// - Parameter now: The present time.
    /// - Returns: The new weights; nil if they are not due.
    /// - Throws: `FavoritesError` if the counts cannot be read; `OutboxError` if the lease is lost;
    ///   the store's error.
    @discardableResult
    package func keepUp(at now: Date) async throws -> LearnedWeights? {
        try await favorites.areWeightsDue() ? try await fit(at: now) : nil
    }

    /// Fits the weights anew.
    ///
    /// - Parameter now: The present time.
    /// - Returns: The new weights; nil if the settings want plain ones, or too little was learned.
    /// - Throws: As ``keepUp(at:)``.
    @discardableResult
    package func fit(at now: Date) async throws -> LearnedWeights? {
        guard let learned = try await favorites.fitWeights(at: now) else { return nil }
        try await store.write { [favorites] in try favorites.store(learned, on: $0) }
        return learned
    }
}
