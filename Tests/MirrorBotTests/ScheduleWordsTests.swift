import Evaluation
import Expectations
import Testing

@testable import MirrorBot

/// What the measures of a schedule say in a sentence.
@Suite struct ScheduleWordsTests {
    /// A schedule that is as good as the human's own past.
    private func scores(_ changes: [ScheduleMeasure: Double?] = [:]) -> ScheduleScores {
        let usual: [ScheduleMeasure: Double?] = [
            .testedPosts: 400, .dailyCounts: 0.11, .humanDailyCounts: 0.1, .autocorrelation: 0.21,
            .humanAutocorrelation: 0.27, .logLikelihood: -6.8, .toldApart: 0.53,
            .severalToldApart: 0.52,
        ]
        return ScheduleScores(usual.merging(changes) { $1 })
    }

    @Test func aGoodScheduleIsLikeTheHuman() {
        #expect(
            ScheduleWords.sentence(scores())
                == "its days are as busy as the human's, with busy and quiet spells like theirs; "
                + "its times of day are the human's 1.6 times as often as by chance; "
                + "its days of several posts cannot be told from the human's better than by guessing"
        )
    }

    @Test func whatIsNotAlikeIsSaid() {
        #expect(
            ScheduleWords.sentence(scores([.dailyCounts: 0.15])).hasPrefix(
                "its days are nearly as busy"))
        #expect(
            ScheduleWords.sentence(scores([.dailyCounts: 0.4])).hasPrefix(
                "its days are busier or quieter"))
        #expect(
            ScheduleWords.sentence(scores([.autocorrelation: 0.0])).contains(
                "spells are shorter than theirs;"))
        #expect(
            ScheduleWords.sentence(scores([.severalToldApart: 0.634]))
                .hasSuffix(
                    "its days of several posts can be told from the human's in 63 of 100 tries, where guessing tells 50"
                ))
        #expect(
            ScheduleWords.sentence(scores([.severalToldApart: nil, .toldApart: 0.7]))
                .hasSuffix(
                    "; its days can be told from the human's in 70 of 100 tries, where guessing tells 50"
                ))
        #expect(
            ScheduleWords.sentence(scores([.logLikelihood: -7.27])).contains(
                "cannot be told from chance;"))
        #expect(
            ScheduleWords.sentence(scores([.logLikelihood: -.infinity])).contains(
                "would never choose;"))
    }

    @Test func whatCannotBeToldIsNotClaimed() {
        #expect(
            ScheduleWords.sentence(scores([.testedPosts: 12]))
                == "how much its days are like the human's cannot be told from 12 later posts yet")
        #expect(ScheduleWords.sentence(ScheduleScores([:])).contains("0 later posts"))
        // A human without spells, and nothing to compare with.
        #expect(!ScheduleWords.sentence(scores([.humanAutocorrelation: 0.02])).contains("spells"))
        expect(ScheduleWords.sentence(scores([.severalToldApart: nil, .toldApart: nil]))) {
            $0.hasSuffix("by chance")
        }
        expect(ScheduleWords.sentence(scores([.humanDailyCounts: nil]))) {
            $0.hasPrefix("with busy") == false
        }
    }
}
