import Evaluation
import Foundation

/// The output of `mirror-bot rehearse`: similarities and differences in plain words.
enum RehearsalView {
    /// - Parameters:
    ///   - report: The year.
    ///   - terminal: The terminal of the output.
    ///   - page: The file of the page; nil for none.
    static func lines(_ report: RehearsedYear, terminal: Terminal, page: String?) -> [String] {
        let span =
            report.days.count >= 365
            ? "\(report.year)" : "the first \(report.days.count) days of \(report.year)"
        let title =
            terminal.bold("mirror \(report.mirror)") + "  \(span) as the human and the bot lived it"
        let columns = max(20, terminal.columns - 4)
        let sentences = RehearsalWords.sentences(report).flatMap { sentence in
            Printable.wrapped(Printable.line(sentence), columns: columns).enumerated().map {
                index, line in
                (index == 0 ? "  " : "    ") + line
            }
        }
        let pageNote =
            page.map { "both years are drawn in \(Printable.line($0))" }
            ?? "--html FILE draws both years"
        return [title] + sentences + ["", terminal.dim(pageNote)]
    }
}

/// Sums up a rehearsed year in plain words.
enum RehearsalWords {
    /// The least number of the bot's favorites for which a share is stated.
    private static let fewestFavorites = 10

    /// A sentence for each part, in lower case and without a full stop.
    static func sentences(_ report: RehearsedYear) -> [String] {
        [posts(report), alike(report), judge(report), replies(report), favorites(report)]
            .compactMap(\.self)
    }

    private static func posts(_ report: RehearsedYear) -> String {
        var sentence =
            "the human posted \(times(report.human.posts)) on \(report.human.daysWithPosts) of \(report.days.count) days; "
            + "the bot, which had learned from \(report.postsBefore) posts before, would have posted "
            + "\(times(report.bot.posts)) on \(report.bot.daysWithPosts)"
        if report.withoutText > 0 {
            sentence += " (and had no text for \(times(report.withoutText)) more)"
        }
        return sentence
    }

    private static func times(_ number: Int) -> String { number == 1 ? "once" : "\(number) times" }

    /// The similarity of hours and days, compared with the human's own days before the year.
    private static func alike(_ report: RehearsedYear) -> String? {
        let similarities: [(name: String, bot: Double?, human: Double?)] = [
            ("hours", report.likeness.hours, report.ownLikeness.hours),
            ("posts a day", report.likeness.postsPerDay, report.ownLikeness.postsPerDay),
            ("first posts of a day", report.likeness.firstPost, report.ownLikeness.firstPost),
        ]
        let sentences = similarities.compactMap { name, bot, human in
            bot.map { bot in
                "\(name) \(percent(bot))" + (human.map { " (\(percent($0)))" } ?? "")
            }
        }
        guard !sentences.isEmpty else { return nil }
        return "alike are " + sentences.joined(separator: ", ")
            + "; in brackets the human's own days just before the year, which differ as people do"
    }

    private static func percent(_ share: Double) -> String { "\(Int((100 * share).rounded())) %" }

    private static func judge(_ report: RehearsedYear) -> String {
        guard let judge = report.judge else {
            return "a stranger cannot judge so few weeks; \(WeekJudge.fewestWeeks) are needed"
        }
        return
            "a stranger who sees a week guesses right \(ofTen(judge.right)) times in 10 whose it is (95 % certain: "
            + "\(ofTen(judge.interval.lowerBound)) to \(ofTen(judge.interval.upperBound)); 5 is guessing)"
    }

    /// A share as a number out of ten, with one decimal if needed.
    static func ofTen(_ share: Double) -> String {
        let tenths = Int((100 * share).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private static func replies(_ report: RehearsedYear) -> String {
        let replies: RehearsedReplies
        switch report.replies {
        case .missing(let reason): return "nothing is said of replies: \(reason)"
        case .measured(let measured): replies = measured
        }
        var sentence =
            "of \(replies.simulated.count) mentions that the human answered, the bot would have answered \(replies.answered), "
            + "\(replies.same) of them with the human's own words"
        if replies.kindKnown > 0 {
            sentence +=
                " and \(replies.sameKind) of \(replies.kindKnown) with a reply of the same kind"
        }
        if replies.doubtful > 0 {
            sentence += "; to \(replies.doubtful) the best old reply hardly fitted"
        }
        return sentence
    }

    private static func favorites(_ report: RehearsedYear) -> String {
        let favorites: RehearsedFavorites
        switch report.favorites {
        case .missing(let reason): return "nothing is said of favorites: \(reason)"
        case .measured(let measured): favorites = measured
        }
        let decisions = favorites.scores.decisions
        let count =
            "of \(decisions.posts) posts of the home timeline the human favorited \(decisions.favorites) and the bot would "
            + "have favorited \(decisions.fired)"
        let share: String =
            if let precision = decisions.precision, decisions.fired >= fewestFavorites {
                "; of ten of the bot's, \(ofTen(precision)) were the human's too"
            } else {
                "; \(decisions.hits) of the bot's were the human's too"
            }
        let ranking = favorites.scores.averagePrecision.map { precision in
            let chance =
                favorites.scores.testing.share.map { ", by chance \(Self.short($0))" } ?? ""
            return " (average precision \(Self.short(precision))\(chance))"
        }
        return count + share + (ranking ?? "")
    }

    private static func short(_ figure: Double) -> String { String(format: "%.2f", figure) }
}
