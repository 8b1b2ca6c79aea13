import Blocking
package import Foundation
import Posts
package import Schedule

/// How well schedules that are learned from the first part of somebody's posts fit the rest.
package struct ScheduleReport: Encodable, Sendable {
    /// One author with the measures.
    package struct Row: Encodable, Sendable {
        package let author: String
        package let scores: ScheduleScores

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(author, forKey: .author)
            try scores.encode(to: encoder)
        }

        private enum CodingKeys: CodingKey { case author }
    }

    /// One author of whom nothing can be said.
    package struct LeftOut: Encodable, Equatable, Sendable {
        package let author: String
        package let posts: Int
        package let reason: String
    }

    package private(set) var schema = "mirror-bot/evaluate-scheduler/1"
    /// The zone in which the times were read; nil for the offset of each.
    package private(set) var timeZone: String?
    /// How often the held-out days were simulated.
    package private(set) var repetitions = ScheduleEvaluation.usualRepetitions
    package private(set) var authors: [Row] = []
    /// The median of each measure over the authors.
    package private(set) var median = ScheduleScores([:])
    package private(set) var leftOut: [LeftOut] = []

    /// Measures each author; computes for some milliseconds each, on a thread of its own.
    ///
    /// - Parameters:
    ///   - pasts: The authors.
    ///   - zone: The zone in which the times were read; nil for the offset of each.
    /// - Throws: `CancellationError`.
    package init(on pasts: [Past], zone: TimeZone?) async throws {
        let executor = ThreadExecutor(name: "evaluation")
        defer { executor.shutdown() }
        let (rows, leftOut) = try await executor.run { Self.measure(pasts, ScheduleEvaluation(zone: zone)) }
        timeZone = zone?.name
        authors = rows
        median = .median(of: rows.map(\.scores))
        self.leftOut = leftOut
    }

    private static func measure(_ pasts: [Past], _ evaluation: ScheduleEvaluation) -> ([Row], [LeftOut]) {
        var rows: [Row] = []
        var leftOut: [LeftOut] = []
        for past in pasts {
            do throws(TooFewPosts) {
                rows.append(Row(author: past.author, scores: try evaluation.scores(of: past.times, name: past.author)))
            } catch {
                leftOut.append(
                    LeftOut(author: past.author, posts: past.times.count, reason: error.description))
            }
        }
        return (rows, leftOut)
    }

    private enum CodingKeys: String, CodingKey {
        case schema
        case timeZone = "time_zone"
        case repetitions, authors, median
        case leftOut = "left_out"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(schema, forKey: .schema)
        try container.encode(timeZone, forKey: .timeZone)
        try container.encode(repetitions, forKey: .repetitions)
        try container.encode(authors, forKey: .authors)
        try container.encode(median, forKey: .median)
        try container.encode(leftOut, forKey: .leftOut)
    }
}
