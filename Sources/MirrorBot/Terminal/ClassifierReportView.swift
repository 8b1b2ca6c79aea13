import Evaluation
import Favorites
import Mirroring

/// The answer of `mirror-bot evaluate classifier`.
enum ClassifierReportView {
    static func lines(_ report: ClassifierReport, terminal: Terminal) -> [String] {
        let scores = report.scores
        return [
            terminal.bold("classifier") + "  \(scores.training.distinctFeatures) features of \(words(report.words))",
            row("learned", learned(report)),
            row("base rate", share(scores.training.baseRate, report.baseRateFile.map { "at the end of \($0)" })),
            row("predicted", share(scores.testing, order(report))), "",
        ] + FavoriteScoresView(scores: scores, terminal: terminal).lines
    }

    /// What a person should know before believing the figures.
    static func warnings(_ report: ClassifierReport) -> [String] {
        var lines: [String] = []
        for file in [report.training, report.testing].compactMap(\.self) where file.leftOut > 0 {
            let problems = file.summary.problems.prefix(3) + file.summary.leftOut.map { "\($1) \($0)" }.sorted()
            lines.append("\(file.leftOut) lines of \(file.path) are left out: \(problems.joined(separator: "; "))")
        }
        if report.repeated > 0 {
            lines.append("\(report.repeated) of the predicted posts were also learned, which makes them easy")
        }
        return lines.map(Printable.line)
    }

    private static func words(_ words: FeatureWords) -> String {
        switch words {
        case .nouns: "nouns and authors"
        case .content: "content words and authors"
        }
    }

    private static func learned(_ report: ClassifierReport) -> String {
        let training = report.scores.training
        let before = "\(training.posts) posts, \(training.favorites) of them favorites"
        return report.isPrequential ? before + ", and each post after its prediction" : before
    }

    private static func order(_ report: ClassifierReport) -> String? {
        guard report.isPrequential else { return nil }
        return report.isInTimeOrder ? "in the order of time" : "in the order of the file, which lacks times"
    }

    private static func share(_ rate: BaseRate, _ note: String?) -> String {
        let part = rate.share.map { " (\(FavoriteScoresView.percent($0, digits: 1)))" } ?? ""
        let text = "\(rate.favorites) favorites in \(rate.posts) posts\(part)"
        return note.map { "\(text), \(Printable.line($0))" } ?? text
    }

    private static func row(_ name: String, _ value: String) -> String { Printable.padded(name, to: 12) + value }
}
