import Control
import Evaluation
import Favorites
import Foundation
import Mirroring
import Schedule
import Settings

/// The output of `mirror-bot score`: each figure with its meaning.
enum ScoreView {
    static func lines(_ report: ScoreReport, terminal: Terminal) -> [String] {
        var lines = [
            terminal.bold("mirror \(report.mirror)")
                + "  on a part of its own past that it had not seen"
        ]
        let sentences = [
            favoritesInWords(report.classifier.scores), textsInWords(report.texts),
            repliesInWords(report.replies.scores), report.replies.scores.map(choicesInWords),
            report.scheduler.scores.map(ScheduleWords.sentence),
        ]
        lines +=
            sentences.compactMap(\.self)
            .flatMap {
                Printable.wrapped(Printable.line($0), columns: max(20, terminal.columns - 2))
            }
            .map { "  " + $0 } + [""]
        switch report.scheduler {
        case .measured(let scores): lines += schedule(scores, terminal)
        case .missing(let reason): lines += missing("posting times", reason, terminal)
        }
        lines.append("")
        switch report.classifier {
        case .measured(let scores):
            let trained = scores.training
            let tested = scores.testing
            lines.append(
                terminal.bold("favorites")
                    + "  learned from \(trained.posts) posts, \(trained.favorites) of them "
                    + "favorites; tested on \(tested.posts) later ones, \(tested.favorites) of them favorites"
            )
            if let weights = scores.weights { lines.append("  " + weights.inWords) }
            lines += FavoriteScoresView(scores: scores, terminal: terminal).lines
        case .missing(let reason): lines += missing("favorites", reason, terminal)
        }
        return lines + [
            "",
            terminal.dim(
                "mirror-bot rehearse --year YEAR shows a whole past year beside the bot's"),
        ]
    }

    // MARK: In plain words

    /// The share of the bot's favorites that are right, in everyday words; nil if it was not
    /// measured.
    ///
    /// The share is rounded to the closest common fraction. With few favorites, no share is named.
    static func favoritesInWords(_ scores: FavoriteScores?) -> String? {
        guard let scores else { return nil }
        if let waiting = scores.training.waiting, scores.decisions.fired == 0 {
            return "no favorite can be judged yet: too little was learned (\(waiting))"
        }
        let decisions = scores.decisions
        guard let share = decisions.precision, decisions.fired >= fewestFavorites else {
            guard decisions.fired > 0 else {
                return "no post was sure enough to be favorited, so none was right or wrong"
            }
            return
                "too few favorites to say how many are right: \(decisions.hits) of \(decisions.fired) were"
        }
        guard decisions.favorites > 0 else {
            return
                "the human favorited none of the tested posts, so nothing can be said of the bot's favorites"
        }
        guard share < 0.97 else { return "nearly all favorites are right" }
        guard share > 0.03 else { return "hardly any favorite is right" }
        let nearest = shares.min { abs($0.share - share) < abs($1.share - share) }
        return "about \(nearest?.words ?? "some") favorites are right"
    }

    /// Says on how many days a text would seem out of place, in everyday words, with the basis of
    /// that figure.
    static func textsInWords(_ part: ScoreReport.Part<TextScores>) -> String? {
        guard case .measured(let scores) = part, let share = scores.daysOutOfPlace else {
            return nil
        }
        if let plain = scores.plain, scores.usesPlainOnly {
            return
                "posts are chosen from \(plain) plain texts, of which about one in ten would look out of place"
        }
        if let plain = scores.plain, scores.outOfPlace == 0 {
            return
                "only \(plain) texts are plain, so all \(scores.texts) that stand for themselves are used, of which "
                + "about one in four would look out of place"
        }
        guard share > 0.000_5 else {
            return
                "no text that may be posted looks out of place to the rules, which miss some (docs/measures.md)"
        }
        guard share < 0.5 else {
            return
                "the texts of most days would look out of place: \(Setting.fitness.name)=plain keeps them out"
        }
        return "the texts of one day in \(Int((1 / share).rounded())) would look out of place"
    }

    /// Returns a summary of the available replies in plain words; `nil` if nothing was counted.
    static func repliesInWords(_ scores: ReplyScores?) -> String? {
        guard let scores else { return nil }
        let people = scores.people == 1 ? "1 person" : "\(scores.people) people"
        let share = Int((100 * Double(scores.plain) / Double(max(1, scores.replies))).rounded())
        let knownPercent = Int(
            (100 * Double(scores.answersKnown) / Double(max(1, scores.replies))).rounded())
        let summary =
            "\(people) can be answered, \(scores.peopleWithPlain) of them with a short reply that asks nothing and names "
            + "nobody (\(share) % of \(scores.replies) replies)"
        guard scores.answersKnown > 0 else { return summary }
        return summary + "; what they once answered is known of \(max(1, knownPercent)) %"
    }

    /// Says how often the chosen reply is the human's own, in everyday words.
    static func choicesInWords(_ scores: ReplyScores) -> String {
        scores.choices?.inWords
            ?? "too few answers have a known mention to say how well replies are chosen"
    }

    /// The least number of favorites for which a share is stated.
    private static let fewestFavorites = 10

    private static let shares: [(share: Double, words: String)] = [
        (0.1, "one of ten"), (0.2, "one of five"), (0.25, "one of four"), (1.0 / 3, "one of three"),
        (0.5, "half of the"), (2.0 / 3, "two of three"), (0.75, "three of four"),
        (0.8, "four of five"),
        (0.9, "nine of ten"),
    ]

    // MARK: In figures

    private static func missing(_ title: String, _ reason: String, _ terminal: Terminal) -> [String]
    {
        [
            terminal.bold(title),
            "  " + terminal.yellow("!") + " nothing to say: " + Printable.line(reason),
        ]
    }

    private static func schedule(_ scores: ScheduleScores, _ terminal: Terminal) -> [String] {
        func posts(_ measure: ScheduleMeasure) -> String {
            scores[measure].map { String(format: "%.0f", $0) } ?? "0"
        }
        let title =
            terminal.bold("posting times")
            + "  learned from \(posts(.trainingPosts)) posts, tested on the \(posts(.testedPosts)) after them"
        let chances = [
            Figure(
                "log-likelihood", value(scores[.logLikelihood]),
                "ln of the chance that the minutes of the later posts had; nearer to 0 is better, and "
                    + "-7.272 would be to know nothing"),
            Figure(
                "over the kernel", value(scores[.kernelGain], isSigned: true),
                "what age, weekday and the habits of others add to a plain kernel of 20 minutes: "
                    + chance(scores[.kernelGain])),
            Figure(
                "over the histogram", value(scores[.histogramGain], isSigned: true),
                "what all of it adds to counting minutes: \(chance(scores[.histogramGain]))"),
        ]
        return [title] + FigureGroup("when posts come", chances, terminal: terminal).lines + [""]
            + FigureGroup(
                "how days of the bot differ from days of the human", days(scores),
                terminal: terminal
            ).lines
            + [""] + FigureGroup("bot or human", toldApart(scores), terminal: terminal).lines
    }

    private static func toldApart(_ scores: ScheduleScores) -> [Figure] {
        [
            (
                ScheduleMeasure.toldApart, "all days",
                "how often a day of the bot's and one of the human's are told apart"
            ),
            (.severalToldApart, "several posts", "the same of days of at least two posts"),
            (.shapeToldApart, "their shape", "the same of those by gaps and hours alone"),
        ].map { measure, name, meaning in
            guard let area = scores[measure] else {
                return Figure(
                    name, nil,
                    "there are fewer than \(BotOrHuman.fewestDays) such days to tell apart")
            }
            return Figure(name, area, "\(meaning): 0.5 is guessing, 1 is always")
        }
    }

    private static func days(_ scores: ScheduleScores) -> [Figure] {
        [
            (
                ScheduleMeasure.dailyCounts, ScheduleMeasure.humanDailyCounts, "posts a day",
                "in the number of posts"
            ),
            (.gaps, .humanGaps, "gaps", "in the minutes from a post to the day's next"),
            (.firstPost, .humanFirstPost, "first post", "in the time of the day's first post"),
            (.hours, .humanHours, "hours", "in the hours of the posts"),
            (.weekTotals, .humanWeekTotals, "7-day totals", "in the sums of seven days in a row"),
        ].map { measure, humanMeasure, name, comparedPart in
            guard let distance = scores[measure] else {
                return Figure(name, nil, "there is nothing to compare \(comparedPart)")
            }
            let human = scores[humanMeasure].map {
                "; the human's own days before differ by \(String(format: "%.3f", $0))"
            }
            return Figure(
                name, distance, "\(comparedPart), from 0 for none to 1 for everything\(human ?? "")"
            )
        }
    }

    private static func value(_ value: Double?, isSigned: Bool = false) -> String {
        guard let value else { return "-" }
        guard value.isFinite else { return "-∞" }
        return String(format: isSigned ? "%+.3f" : "%.3f", value)
    }

    /// Returns a gain in nats as the percentage by which the probability changes.
    private static func chance(_ gain: Double?) -> String {
        guard let gain, gain.isFinite else { return "some of them had no chance at all" }
        let percent = 100 * (exp(abs(gain)) - 1)
        return "\(String(format: "%.0f", percent)) % \(gain < 0 ? "less" : "more") chance for each"
    }
}
