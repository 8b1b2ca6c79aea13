import Foundation
package import Posts
import Schedule

/// How often a stranger who is shown one week of posts guesses correctly whether it is the human's
/// or the bot's.
///
/// A classifier learns four fifths of the weeks and is tested on the rest, until each week was
/// tested once. It learns all stretches of seven days, from any weekday on; none of them shares a
/// day with a tested week.
package struct WeekJudge: Equatable, Sendable {
    /// With fewer weeks every figure is chance.
    package static let fewestWeeks = 12
    private static let folds = 5
    private static let length = 7
    /// The number of samples of weeks for the interval.
    private static let samples = 1_000
    /// The share of the samples that the interval excludes at each end.
    private static let tail = 0.025

    /// The number of judged weeks of each of the two.
    package let weeks: Int
    /// The share of right guesses; 0.5 is a random guess.
    package let right: Double
    /// The 95 % confidence interval of the share, by bootstrap: weeks drawn with replacement.
    package let interval: ClosedRange<Double>
    /// The probability that, of a week of each, the bot's gets the higher score (area under the
    /// curve).
    package let area: Double

    /// Judges days in a row.
    ///
    /// - Parameters:
    ///   - human: The minutes of each of the human's days, ascending.
    ///   - bot: The same days of the bot.
    ///   - firstWeekday: The weekday of the first day, 1 for Monday.
    ///   - seed: The seed of the samples for the interval.
    /// - Returns: Nil if there are fewer than ``fewestWeeks``.
    package init?(human: [[MinuteOfDay]], bot: [[MinuteOfDay]], firstWeekday: Int, seed: UInt64) {
        let days = min(human.count, bot.count)
        let weeks = days / Self.length
        guard weeks >= Self.fewestWeeks else { return nil }
        let starts = 0...(days - Self.length)
        func looks(_ minutes: [[MinuteOfDay]]) -> [[Double]] {
            starts.map { start in
                WeekLook(minutes[start..<start + Self.length], firstWeekday: firstWeekday + start)
                    .features
            }
        }
        // The human's stretches come first, then the bot's.
        let rows = ClassedRows(looks(human) + looks(bot))
        let labels = starts.map { _ in false } + starts.map { _ in true }
        let scores = Self.scores(rows, labels, days: days, weeks: weeks)
        let shares = scores.map { Self.rightShare(human: $0.human, bot: $0.bot) }
        self.weeks = weeks
        right = Self.mean(shares)
        area = Ranking(scores.flatMap { [($0.human, false), ($0.bot, true)] }).rocAUC ?? 0.5
        interval = Self.interval(of: shares, seed: seed)
    }

    /// The log odds, for each week of the human and of the bot, that it is the bot's.
    private static func scores(
        _ rows: ClassedRows, _ labels: [Bool], days: Int, weeks: Int
    ) -> [(human: Double, bot: Double)] {
        let stretches = days - length + 1
        var scores: [(human: Double, bot: Double)] = []
        for fold in 0..<folds {
            let asked = (0..<weeks).filter { $0 * folds / weeks == fold }
            guard let first = asked.first, let last = asked.last else { continue }
            let held = first * length..<(last + 1) * length
            let learned = (0..<stretches).filter { !held.overlaps($0..<$0 + length) }
            let stumps = BoostedStumps(rows, learned + learned.map { $0 + stretches }, labels)
            scores += asked.map { week in
                let start = week * length
                return (
                    stumps.score(of: start, in: rows), stumps.score(of: start + stretches, in: rows)
                )
            }
        }
        return scores
    }

    /// The share of right guesses about the two weeks of the same days, 0 to 1; a score of 0 is a
    /// random guess.
    private static func rightShare(human: Double, bot: Double) -> Double {
        func half(_ margin: Double) -> Double {
            if margin == 0 { return 0.25 }
            return margin > 0 ? 0.5 : 0
        }
        return half(-human) + half(bot)
    }

    private static func mean(_ values: [Double]) -> Double {
        values.reduce(0, +) / Double(max(1, values.count))
    }

    private static func interval(of shares: [Double], seed: UInt64) -> ClosedRange<Double> {
        var generator = SplitMix64(seed: seed)
        let means = (0..<samples).map { _ in
            mean(
                shares.indices.map { _ in
                    shares[
                        min(Int(generator.nextUniform() * Double(shares.count)), shares.count - 1)]
                })
        }.sorted()
        let place = Int(tail * Double(samples))
        return means[place]...means[samples - 1 - place]
    }
}

extension WeekJudge: Encodable {
    private enum CodingKeys: String, CodingKey {
        case weeks, right, interval
        case area = "auc"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(weeks, forKey: .weeks)
        try container.encode(right, forKey: .right)
        try container.encode([interval.lowerBound, interval.upperBound], forKey: .interval)
        try container.encode(area, forKey: .area)
    }
}

/// The features of one week of posts.
private struct WeekLook {
    /// The longest gap, in minutes, between posts of one sitting.
    private static let sitting = 30

    private(set) var features: [Double] = []

    /// - Parameters:
    ///   - days: The minutes of seven days, ascending.
    ///   - firstWeekday: The weekday of the first day, 1 for Monday; numbers above 7 continue with
    ///     the next week.
    init(_ days: ArraySlice<[MinuteOfDay]>, firstWeekday: Int) {
        let minutes = days.map { $0.map(\.value) }
        let counts = minutes.map(\.count)
        let posts = counts.reduce(0, +)
        let active = minutes.filter { !$0.isEmpty }
        let gaps = minutes.flatMap { zip($0, $0.dropFirst()).map { $1 - $0 } }.sorted()
        let weekend = counts.indices.filter { (firstWeekday - 1 + $0) % 7 >= 5 }.reduce(0) {
            $0 + counts[$1]
        }
        let hours = Dictionary(minutes.joined().map { ($0 / 60, 1.0) }, uniquingKeysWith: +).values
            .sorted()
        features = [
            Double(posts), Double(active.count), Double(counts.max() ?? 0),
            Self.share(weekend, of: posts),
            Self.share(gaps.count { $0 == 0 }, of: gaps.count),
            Self.share(gaps.count { $0 <= Self.sitting }, of: gaps.count),
            Double(Self.middle(gaps)),
            Double(hours.count),
            hours.reduce(0) { $0 - $1 / Double(max(1, posts)) * log($1 / Double(max(1, posts))) },
            Self.mean(active.compactMap(\.first)), Self.mean(active.compactMap(\.last)),
            Self.spread(active.compactMap(\.first)), Self.spread(counts),
            Double(zip(counts, counts.dropFirst()).reduce(0) { $0 + abs($1.1 - $1.0) }),
        ]
    }

    private static func share(_ part: Int, of whole: Int) -> Double {
        whole == 0 ? 0 : Double(part) / Double(whole)
    }

    private static func middle(_ sorted: [Int]) -> Int {
        sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    private static func mean(_ values: [Int]) -> Double {
        values.isEmpty ? 0 : Double(values.reduce(0, +)) / Double(values.count)
    }

    private static func spread(_ values: [Int]) -> Double {
        let mean = mean(values)
        let squares = values.reduce(0.0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        return values.isEmpty ? 0 : (squares / Double(values.count)).squareRoot()
    }
}
