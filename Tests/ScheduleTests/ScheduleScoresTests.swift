import Evaluation
import Foundation
import Schedule
import Testing

@Suite struct ScheduleScoresTests {
    @Test func theMedianIsTheMiddleOfThoseThatHaveAValue() {
        let scores = [
            ScheduleScores([.gaps: 0.5, .logLikelihood: -7, .kernelGain: 1]),
            ScheduleScores([.gaps: 0.1, .logLikelihood: -6, .kernelGain: nil]),
            ScheduleScores([.gaps: 0.2, .logLikelihood: -.infinity]),
            ScheduleScores([.gaps: nil, .logLikelihood: -.infinity]),
        ]
        let median = ScheduleScores.median(of: scores)
        #expect(median[.gaps] == 0.2)
        #expect(median[.kernelGain] == 1)
        #expect(median[.logLikelihood] == -.infinity)
        #expect(median[.firstPost] == nil)
        #expect(ScheduleScores.median(of: Array(scores.prefix(2)))[.gaps] == 0.3)
        #expect(ScheduleScores.median(of: Array(scores.prefix(2)))[.logLikelihood] == -6.5)
        #expect(ScheduleScores.median(of: Array(scores.suffix(2)))[.logLikelihood] == -.infinity)
        #expect(ScheduleScores.median(of: []) == ScheduleScores([:]))
    }

    @Test func everyKeyIsThereAndWhatHasNoValueIsNull() throws {
        let scores = ScheduleScores([.trainingPosts: 829, .gaps: 0.25, .logLikelihood: -.infinity])
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(scores))
        let values = try #require(object as? [String: Any])
        #expect(
            Set(values.keys) == [
                "n_train", "n_test", "log_likelihood", "log_likelihood_histogram",
                "log_likelihood_kernel20",
                "tv_daily_counts", "ks_gaps", "ks_first_post", "human_log_likelihood",
                "human_tv_daily_counts",
                "human_ks_gaps", "human_ks_first_post", "gain_over_histogram", "gain_over_kernel20",
                "autocorrelation", "human_autocorrelation", "ks_week_totals",
                "human_ks_week_totals",
                "day_ahead_nats", "day_ahead_nats_plain", "day_ahead_crps", "day_ahead_crps_plain",
                "tv_hours",
                "human_tv_hours", "auc", "auc_several", "auc_shape",
            ])
        #expect(values["n_train"] as? Int == 829)
        #expect(values["ks_gaps"] as? Double == 0.25)
        #expect(values["log_likelihood"] is NSNull)
        #expect(values["ks_first_post"] is NSNull)
    }
}
