import Evaluation
import Favorites
import Foundation

/// The quality of the classifier: each figure with its meaning.
struct FavoriteScoresView {
    let scores: FavoriteScores
    let terminal: Terminal

    /// The figures in four groups.
    var lines: [String] {
        var lines = group("order of the posts", ranking)
        lines +=
            [""] + group("favorites above a rate of \(Self.short(scores.threshold))", decisions)
        lines += [""] + group("probabilities", probabilities) + bins
        return lines + [""] + group("speed", [speed])
    }

    private var ranking: [Figure] {
        let chance = scores.testing.share
        let pairs = scores.rocAUC.map {
            "a favorite ranks above another post in \(Self.percent($0, digits: 1)) of pairs"
        }
        let best = scores.bestF1Rate.map {
            "if every rate from \(Self.short($0)) up counted as a favorite"
        }
        return [
            Figure(
                "ROC AUC", scores.rocAUC,
                pairs.map { $0 + "; by chance 50%" } ?? "needs favorites and other posts"),
            Figure(
                "average precision", scores.averagePrecision,
                scores.averagePrecision == nil
                    ? "needs favorites"
                    : "precision from the top down; by chance \(Self.decimals(chance))"),
            Figure("best F1", scores.bestF1, best ?? "needs favorites"),
        ]
    }

    private var decisions: [Figure] {
        let counts = scores.decisions
        let waiting = scores.training.waiting.map { "; too little was learned: \($0)" } ?? ""
        return [
            Figure(
                "precision", counts.precision,
                counts.fired == 0
                    ? "the bot would favorite nothing\(waiting)"
                    : "\(counts.hits) of the bot's \(counts.fired) favorites are the human's too"),
            Figure(
                "recall", counts.recall,
                counts.favorites == 0
                    ? "the human favorited nothing"
                    : "\(counts.hits) of the human's \(counts.favorites) favorites are the bot's too"
            ),
            Figure("F1", counts.f1, "both in one figure, their harmonic mean"),
        ]
    }

    private var probabilities: [Figure] {
        let calibration = scores.calibration
        let share = scores.testing.share ?? 0
        // The Brier score of predicting the share of favorites for every post.
        let constant = Self.decimals(share * (1 - share))
        let meaning = calibration.expectedError.map {
            "they are \(Self.percent($0, digits: 1)) off on average; 0 is perfect"
        }
        return [
            Figure(
                "Brier score", calibration.brier,
                "their mean squared error; always saying \(Self.percent(share)) gives \(constant)"),
            Figure("calibration error", calibration.expectedError, meaning ?? "needs posts"),
        ]
    }

    /// A reliability diagram: for each tenth of the predicted probabilities, a bar shows the share
    /// of favorites among its posts.
    private var bins: [String] {
        let bins = scores.calibration.bins.enumerated().filter { _, bin in bin.posts > 0 }
        guard !bins.isEmpty else { return [] }
        return ["  " + terminal.dim("said      favorites")]
            + bins.map { index, bin in
                let observed = bin.observed ?? 0
                let cells = Int((observed * Double(Self.barWidth)).rounded())
                let bar =
                    String(repeating: "█", count: cells)
                    + String(repeating: "░", count: Self.barWidth - cells)
                let range = "\(index * 10)–\(index * 10 + 10)%"
                return "  " + Printable.padded(range, to: 10) + terminal.blue(bar) + " "
                    + FigureGroup.aligned(Self.percent(observed), to: 4)
                    + terminal.dim(" of \(bin.posts)")
            }
    }

    private var speed: Figure {
        Figure(
            "posts a second", scores.postsPerSecond, "one thread finds the words and the rate",
            digits: 0)
    }

    private static let barWidth = 20

    private func group(_ title: String, _ figures: [Figure]) -> [String] {
        FigureGroup(title, figures, terminal: terminal).lines
    }

    static func percent(_ share: Double, digits: Int = 0) -> String {
        String(format: "%.\(digits)f%%", 100 * share)
    }

    private static func decimals(_ value: Double?) -> String {
        value.map { String(format: "%.3f", $0) } ?? "-"
    }

    private static func short(_ value: Double) -> String { String(format: "%.3g", value) }
}
