/// How often the bot would have favorited a post, and how often rightly.
package struct DecisionCounts: Equatable, Sendable {
    /// Posts that were judged.
    package let posts: Int
    /// Those that the human favorited.
    package let favorites: Int
    /// Those that the bot would have favorited.
    package let fired: Int
    /// Those that both favorited.
    package let hits: Int

    package init(_ predictions: [Prediction]) {
        posts = predictions.count
        favorites = predictions.count { $0.isFavorite }
        fired = predictions.count { $0.isFired }
        hits = predictions.count { $0.isFired && $0.isFavorite }
    }

    /// The share of the bot's favorites that are the human's too; nil if the bot has none.
    package var precision: Double? { Self.ratio(hits, fired) }
    /// The share of the human's favorites that are the bot's too; nil if the human has none.
    package var recall: Double? { Self.ratio(hits, favorites) }
    /// The harmonic mean of precision and recall, 2 · hits / (fired + favorites); nil if neither has favorites.
    ///
    /// Written with counts it is 0, not undefined, where only one of the two has favorites.
    package var f1: Double? { Self.ratio(2 * hits, fired + favorites) }

    private static func ratio(_ part: Int, _ whole: Int) -> Double? { whole > 0 ? Double(part) / Double(whole) : nil }
}
