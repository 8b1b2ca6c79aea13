import Favorites

/// Rates of favorites and reasons, as sentences.
enum FavoriteWords {
    /// Returns `Rate 5.1, more than your threshold of 2. Of six such posts they favorite five.`,
    /// where "they" is the human.
    static func sentence(_ rate: Double, threshold: Double?) -> String {
        let comparison = threshold.map { threshold in
            let isAbove = FavoriteConfiguration.isAbove(rate: rate, threshold: threshold)
            return
                ", \(isAbove ? "more" : "not more") than your threshold of \(Words.rate(threshold))"
        }
        return "Rate \(Words.rate(rate))\(comparison ?? ""). \(Words.chance(ofOdds: rate))"
    }

    /// Returns a stored reason, which has no capital letter and no full stop, as a sentence.
    static func sentence(_ reason: String) -> String {
        let text = Words.capitalized(reason)
        return text.hasSuffix(".") || text.hasSuffix("?") || text.isEmpty ? text : text + "."
    }
}
