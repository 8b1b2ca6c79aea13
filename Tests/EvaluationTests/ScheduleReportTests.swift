import Expectations
import Foundation
import Posts
import Testing

@testable import Evaluation

@Suite struct ScheduleReportTests {
    /// A post every day around a time of the day, with a second one now and then.
    private static func past(_ author: String, days: Int, hour: Int) throws -> Past {
        let start = try #require(LocalDay("2026-01-01"))
        var times: [LocalTime] = []
        for number in 0..<days {
            for minute in number % 3 == 0
                ? [hour * 60 + number % 17, hour * 60 + 30 + number % 7] : [hour * 60]
            {
                times.append(
                    LocalTime(
                        day: start.advanced(by: number), minute: try #require(MinuteOfDay(minute))))
            }
        }
        return Past(author: author, times: times)
    }

    @Test func hasARowForEachAuthorAndTheMedians() async throws {
        let pasts = try [
            Self.past("early", days: 120, hour: 7), Self.past("few", days: 9, hour: 9),
            Self.past("late", days: 150, hour: 22), Self.past("noon", days: 100, hour: 12),
        ]
        let report = try await ScheduleReport(on: pasts, zone: nil)
        #expect(report.authors.map(\.author) == ["early", "late", "noon"])
        let likelihoods = report.authors.compactMap { $0.scores[.logLikelihood] }
        #expect(likelihoods.count == 3)
        #expect(report.median[.logLikelihood] == likelihoods.sorted()[1])
        #expect(report.median[.testedPosts] == report.authors[0].scores[.testedPosts])
        #expect(
            report.leftOut == [
                .init(
                    author: "few", posts: 12, reason: "there are 12 posts; at least 20 are needed")
            ])
        // The same as measured alone.
        let alone = try ScheduleEvaluation().scores(of: pasts[2].times, name: "late")
        #expect(report.authors[1].scores == alone)
    }

    @Test func isOneObjectForPrograms() async throws {
        let zone = try #require(TimeZone(identifier: "Asia/Tokyo"))
        let pasts = try [
            Self.past("ada \u{1B}[2J", days: 60, hour: 7), Self.past("few", days: 1, hour: 9),
        ]
        let report = try await ScheduleReport(on: pasts, zone: zone)
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report))
        let json = try #require(object as? [String: Any])
        #expect(
            Set(json.keys) == [
                "schema", "model", "schedule_model", "time_zone", "repetitions", "authors",
                "median", "bot_or_human",
                "left_out",
            ])
        #expect(json["schedule_model"] as? String == "days")
        let told = try #require(json["bot_or_human"] as? [String: Any])
        #expect(Set(told.keys) == ["people", "days", "auc", "auc_several", "auc_shape"])
        #expect(told["people"] as? Int == 1)
        #expect(json["schema"] as? String == "mirror-bot/evaluate-scheduler/1")
        #expect(json["time_zone"] as? String == "Asia/Tokyo")
        #expect(json["repetitions"] as? Int == 20)
        let rows = try #require(json["authors"] as? [[String: Any]])
        let median = try #require(json["median"] as? [String: Any])
        #expect(rows.count == 1)
        #expect(rows[0]["author"] as? String == "ada \u{1B}[2J")
        #expect(Set(rows[0].keys) == Set(median.keys).union(["author"]))
        #expect(Set(median.keys) == Set(ScheduleMeasure.allCases.map(\.rawValue)))
        let likelihood = try #require(rows[0]["log_likelihood"] as? Double)
        #expect(abs(likelihood - (report.authors[0].scores[.logLikelihood] ?? 0)) < 1e-12)
        #expect(
            rows[0]["n_train"] as? Int == report.authors[0].scores[.trainingPosts].map { Int($0) })
        let leftOut = try #require(json["left_out"] as? [[String: Any]])
        #expect(leftOut.count == 1)
        #expect(leftOut[0]["author"] as? String == "few" && leftOut[0]["posts"] as? Int == 2)
        let withoutZone = try await ScheduleReport(on: pasts, zone: nil)
        let text = String(decoding: try JSONEncoder().encode(withoutZone), as: UTF8.self)
        #expect(text.contains(#""time_zone":null"#))
    }

    @Test func nobodyIsMeasuredWhereNobodyHasEnough() async throws {
        let report = try await ScheduleReport(
            on: [try Self.past("few", days: 1, hour: 9)], zone: nil)
        #expect(report.authors.isEmpty)
        #expect(report.leftOut.count == 1)
        #expect(report.median == ScheduleScores([:]))
        try await expect(ScheduleReport(on: [], zone: nil).authors) { $0.isEmpty }
    }
}
