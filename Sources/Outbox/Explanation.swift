import Foundation

/// What led to a decision, for people: stored with the action as JSON, shown by `status` and the demo.
package struct Explanation: Codable, Equatable, Sendable {
    /// One plain sentence.
    package var summary: String
    /// How many archived texts were to choose from.
    package var pool: Int?
    /// Half the width of the time-of-day window in minutes.
    package var windowMinutes: Int?
    /// P(favorite)/P(normal).
    package var favoriteRate: Double?
    /// What spoke most for or against a favorite, the strongest first.
    package var features: [Feature]?
    /// What the network said, where that ended the action.
    package var outcome: String?

    /// One feature's part in a favorite.
    package struct Feature: Codable, Equatable, Sendable {
        /// The word, the hashtag, or the author with `@`.
        package var name: String
        /// What the feature adds to the logarithm of the favorite rate.
        package var logOdds: Double

        package init(name: String, logOdds: Double) { (self.name, self.logOdds) = (name, logOdds) }
    }

    package init(
        _ summary: String, pool: Int? = nil, windowMinutes: Int? = nil, favoriteRate: Double? = nil,
        features: [Feature]? = nil
    ) {
        self.summary = summary
        self.pool = pool
        self.windowMinutes = windowMinutes
        self.favoriteRate = favoriteRate
        self.features = features
    }

    /// The explanation, with what the network said; without one before, that is also the summary.
    init(adding outcome: String, to explanation: Explanation?) {
        self = explanation ?? Explanation(outcome)
        self.outcome = outcome
    }

    /// Reads what is stored; nil for nothing, or for what was not stored by this type.
    init?(json: String?) {
        guard let json, let stored = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = stored
    }

    /// The explanation as it is stored; nil if one of its numbers is none.
    var json: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
}
