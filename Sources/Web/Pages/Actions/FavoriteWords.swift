import Foundation

/// Rates of favorites and reasons, as sentences.
enum FavoriteWords {
    /// Returns a sentence such as `Rate 5.1, more than your threshold of 2: of six such posts the human favorites five`.
    static func sentence(_ rate: Double, threshold: Double?) -> String {
        let comparison = threshold.map { ", \(rate > $0 ? "more" : "not more") than your threshold of \(number($0))" }
        return "Rate \(number(rate))\(comparison ?? ""): \(share(rate))."
    }

    /// Returns a part of a sentence such as `of six such posts the human favorites five`: a rate of r is r of r + 1.
    static func share(_ rate: Double) -> String {
        guard rate.isFinite, rate >= 0 else { return "of such posts the human favorites all" }
        let chance = rate / (rate + 1)
        let all = (2...10).min { error(chance, $0) < error(chance, $1) } ?? 10
        let some = Int((chance * Double(all)).rounded())
        if some > 0, some < all, error(chance, all) < 0.03 {
            return "of \(numerals[all]) such posts the human favorites \(numerals[some])"
        }
        let percent = Int((chance * 100).rounded())
        if percent < 1 { return "of a hundred such posts the human favorites none" }
        return "of a hundred such posts the human favorites \(min(99, percent))"
    }

    private static func error(_ chance: Double, _ all: Int) -> Double {
        let some = (chance * Double(all)).rounded()
        // Of several that fit, the smallest number is read most easily.
        return abs(some / Double(all) - chance) + Double(all) / 1_000
    }

    private static let numerals = [
        "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ]

    /// `5.1`, `2`, `120`.
    static func number(_ number: Double) -> String {
        guard number.isFinite else { return "–" }
        let text = String(format: abs(number) < 100 ? "%.1f" : "%.0f", number)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// A reason that is stored without a capital and a full stop, as a sentence.
    static func sentence(_ reason: String) -> String {
        let text = Words.capitalized(reason)
        return text.hasSuffix(".") || text.hasSuffix("?") || text.isEmpty ? text : text + "."
    }
}
