import Favorites
import Localization

/// Rates of favorites and reasons, as sentences.
enum FavoriteWords {
    /// Returns `Rate 5.1, more than your threshold of 2. Of six such posts they favorite five.`,
    /// where "they" is the human.
    static func sentence(_ rate: Double, threshold: Double?) -> String {
        let shownRate = Words.rate(rate)
        let chance = Words.chance(ofOdds: rate)
        guard let threshold else { return localized("Rate \(shownRate). \(chance)") }
        let limit = Words.rate(threshold)
        return FavoriteConfiguration.isAbove(rate: rate, threshold: threshold)
            ? localized("Rate \(shownRate), more than your threshold of \(limit). \(chance)")
            : localized("Rate \(shownRate), not more than your threshold of \(limit). \(chance)")
    }

    /// Returns a stored reason, which has no capital letter and no full stop, as a sentence.
    static func sentence(_ reason: String) -> String {
        let text = Words.capitalized(reason)
        let isEnded = text.isEmpty || [".", "?", "。", "？"].contains { text.hasSuffix($0) }
        return isEnded ? text : localized("\(text).")
    }
}
