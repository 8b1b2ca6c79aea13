import Evaluation
import Foundation

/// Summarizes the measures of a schedule in one plain sentence.
enum ScheduleWords {
    /// The number of later posts below which every figure is mostly chance.
    private static let fewestPosts = 50
    /// The logarithm of the probability of a minute if all minutes are equally probable.
    private static let ignorance = -log(1_440.0)

    /// A sentence about how similar the days and minutes of bot and human are, without missing
    /// measures.
    static func sentence(_ scores: ScheduleScores) -> String {
        let tested = Int(scores[.testedPosts] ?? 0)
        guard tested >= fewestPosts else {
            return "how much its days are like the human's cannot be told from "
                + (tested == 1 ? "1 later post" : "\(tested) later posts") + " yet"
        }
        let days = busyness(scores).map {
            [$0, spells(scores)].compactMap(\.self).joined(separator: ", ")
        }
        return [days, minutes(scores), toldApart(scores)].compactMap(\.self).joined(separator: "; ")
    }

    /// The number of posts of a day, compared with the variation of the human's own days.
    private static func busyness(_ scores: ScheduleScores) -> String? {
        guard let bot = scores[.dailyCounts], let human = scores[.humanDailyCounts] else {
            return nil
        }
        // Both are total variation distances from the human's later days: of the bot's days, and of
        // the human's own earlier days.
        switch bot - human {
        case ..<0.03: return "its days are as busy as the human's"
        case ..<0.1: return "its days are nearly as busy as the human's"
        default: return "its days are busier or quieter than the human's lately were"
        }
    }

    /// Says whether the bot's busy and quiet days come in spells like the human's; nil if the human
    /// has no such spells.
    private static func spells(_ scores: ScheduleScores) -> String? {
        guard let bot = scores[.autocorrelation], let human = scores[.humanAutocorrelation],
            human >= 0.1
        else {
            return nil
        }
        return bot >= human / 2
            ? "with busy and quiet spells like theirs"
            : "but busy and quiet spells are shorter than theirs"
    }

    /// Says how often a day of the bot can be distinguished from one of the human.
    private static func toldApart(_ scores: ScheduleScores) -> String? {
        // The area under the curve of a test that tells the two apart (AUC); .5 is chance.
        let area: Double
        let days: String
        if let areaOfSeveral = scores[.severalToldApart] {
            area = areaOfSeveral
            days = "its days of several posts"
        } else if let areaOfAll = scores[.toldApart] {
            area = areaOfAll
            days = "its days"
        } else {
            return nil
        }
        guard area >= 0.55 else {
            return "\(days) cannot be told from the human's better than by guessing"
        }
        let hits = Int((100 * area).rounded())
        return
            "\(days) can be told from the human's in \(hits) of 100 tries, where guessing tells 50"
    }

    private static func minutes(_ scores: ScheduleScores) -> String? {
        guard let likelihood = scores[.logLikelihood] else { return nil }
        guard likelihood.isFinite else {
            return "some of the human's times of day it would never choose"
        }
        // The geometric mean of the probabilities of the later posts' minutes, as a multiple of
        // chance.
        let ratio = exp(likelihood - ignorance)
        guard ratio >= 1.05 else { return "the human's times of day cannot be told from chance" }
        return
            "its times of day are the human's \(String(format: "%.1f", ratio)) times as often as by chance"
    }
}
