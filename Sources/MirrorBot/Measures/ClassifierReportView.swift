import Control
import Evaluation
import Favorites
import Foundation
import Mirroring

/// The answer of `mirror-bot evaluate classifier`.
enum ClassifierReportView {
    static func lines(_ report: ClassifierReport, terminal: Terminal) -> [String] {
        let scores = report.scores
        return [
            terminal.bold("classifier")
                + "  \(scores.training.distinctFeatures) features of \(words(report.words))",
            row("learned", learned(report)),
            row(
                "base rate",
                share(scores.training.baseRate, report.baseRateFile.map { "at the end of \($0)" })),
            row("predicted", share(scores.testing, order(report))), "",
        ] + FavoriteScoresView(scores: scores, terminal: terminal).lines
            + comparison(report, terminal)
    }

    /// A table that compares plain and learned weights; if there are other features than words, it
    /// also has learned weights for words alone.
    ///
    /// Empty if too little was learned.
    private static func comparison(_ report: ClassifierReport, _ terminal: Terminal) -> [String] {
        let comparison = report.comparison
        guard let weights = comparison.weights else { return [] }
        let figures: [(String, KeyPath<WeightComparison.Side, Double?>)] = [
            ("average precision", \.averagePrecision), ("ROC AUC", \.rocAUC),
            ("log loss", \.logLoss),
            ("calibration error", \.calibrationError), ("precision", \.precision),
            ("recall", \.recall),
        ]
        let wordsAlone = report.wordsAlone.map { [$0.weighted] } ?? []
        let sides = [comparison.plain, comparison.weighted] + wordsAlone
        let rows = figures.map { name, figure in
            "  " + Printable.padded(name, to: 19)
                + sides.map { column($0[keyPath: figure]) }.joined()
        }
        let fired = sides.map { column("\($0.fired)") }.joined()
        let names =
            ["plain", "learned"]
            + wordsAlone.map { _ in report.words == .pairs ? "no pairs" : "words" }
        return [
            "",
            terminal.bold("weights") + Printable.padded("", to: 14)
                + names.map { column($0) }.joined(),
        ]
            + rows + [
                "  " + Printable.padded("favorites given", to: 19) + fired, "  \(weights.inWords)",
            ]
            + equalRateLines(report).map { "  " + $0 }
    }

    private static func column(_ value: Double?) -> String {
        column(value.map { String(format: "%.3f", $0) } ?? "-")
    }

    private static func column(_ text: String) -> String { FigureGroup.aligned(text, to: 9) }

    /// A line with the threshold at which the learned weights would favorite as many posts as the
    /// plain weights do at the threshold in use.
    ///
    /// Empty if there is no such threshold.
    private static func equalRateLines(_ report: ClassifierReport) -> [String] {
        guard let rate = report.comparison.equalThreshold else { return [] }
        return [
            "above a rate of \(String(format: "%.3g", rate)) the learned ones favorite \(report.comparison.plain.fired) "
                + "posts, as the plain ones do above \(String(format: "%.3g", report.scores.threshold))"
        ]
    }

    /// Returns warnings about the reliability of the figures.
    static func warnings(_ report: ClassifierReport) -> [String] {
        var lines: [String] = []
        for file in [report.training, report.testing].compactMap(\.self) where file.leftOut > 0 {
            let problems =
                file.summary.problems.prefix(3)
                + file.summary.leftOut.map { reason, count in "\(count) \(reason)" }.sorted()
            lines.append(
                "\(file.leftOut) lines of \(file.path) are left out: \(problems.joined(separator: "; "))"
            )
        }
        if report.repeated > 0 {
            lines.append(
                "\(report.repeated) of the predicted posts were also learned, which makes them easy"
            )
        }
        return lines.map(Printable.line)
    }

    private static func words(_ words: FeatureWords) -> String {
        switch words {
        case .nouns: "nouns and authors"
        case .content: "content words and authors"
        case .pairs: "content words, pairs of neighbouring words and authors"
        case .spelling: "content words, runs of letters, form and authors"
        case .full: "content words, pairs of neighbouring words, runs of letters, form and authors"
        }
    }

    private static func learned(_ report: ClassifierReport) -> String {
        let training = report.scores.training
        let trainingSummary = "\(training.posts) posts, \(training.favorites) of them favorites"
        return report.isPrequential
            ? trainingSummary + ", and each post after its prediction" : trainingSummary
    }

    private static func order(_ report: ClassifierReport) -> String? {
        guard report.isPrequential else { return nil }
        return report.isInTimeOrder
            ? "in the order of time" : "in the order of the file, which lacks times"
    }

    private static func share(_ rate: BaseRate, _ note: String?) -> String {
        let shareText = rate.share.map { " (\(FavoriteScoresView.percent($0, digits: 1)))" } ?? ""
        let text = "\(rate.favorites) favorites in \(rate.posts) posts\(shareText)"
        return note.map { "\(text), \(Printable.line($0))" } ?? text
    }

    private static func row(_ name: String, _ value: String) -> String {
        Printable.padded(name, to: 12) + value
    }
}
