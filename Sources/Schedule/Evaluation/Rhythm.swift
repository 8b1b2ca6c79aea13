package import Posts

/// What some days of posts look like, apart from which minutes they prefer.
package struct Rhythm: Equatable, Sendable {
    /// The number of posts of each day, days without posts included.
    package let dailyCounts: Frequencies
    /// The minutes between each post and the next of the same day, at least 1 each.
    ///
    /// As in the list of gaps that ``BurstModel`` learns: a plan has no two slots in one minute, so posts that share a
    /// minute count as neighbours in both, the human's days and the bot's.
    package let gaps: Frequencies
    /// The minute of the first post of each day that has one.
    package let firstMinutes: Frequencies

    /// - Parameter days: The minutes of each day's posts, ascending; an empty list for a day without posts.
    package init(days: [[MinuteOfDay]]) {
        dailyCounts = Frequencies(days.lazy.map(\.count))
        gaps = Frequencies(
            days.lazy.flatMap { minutes in zip(minutes, minutes.dropFirst()).map { max(1, $1.value - $0.value) } })
        firstMinutes = Frequencies(days.lazy.compactMap { $0.first?.value })
    }

    /// - Parameters:
    ///   - times: Posting times in any order; those of other days are left out.
    ///   - days: The days to look at, each once.
    package init(of times: [PostingTime], on days: some Sequence<LocalDay>) {
        let minutes = Dictionary(grouping: times, by: \.day)
        self.init(days: days.map { day in minutes[day, default: []].map(\.minute).sorted() })
    }

    /// How far apart two rhythms are, each part from 0, the same, to 1; nil where one of them has nothing to compare.
    package struct Distance: Equatable, Sendable {
        /// Total variation of the number of posts of a day.
        package var dailyCounts: Double?
        /// Kolmogorov–Smirnov distance of the gaps.
        package var gaps: Double?
        /// Kolmogorov–Smirnov distance of the minute of the day's first post.
        package var firstMinutes: Double?

        package init(dailyCounts: Double? = nil, gaps: Double? = nil, firstMinutes: Double? = nil) {
            self.dailyCounts = dailyCounts
            self.gaps = gaps
            self.firstMinutes = firstMinutes
        }

        /// The mean of some distances, each part over those that have it.
        package static func mean(of distances: [Distance]) -> Distance {
            func mean(_ part: (Distance) -> Double?) -> Double? {
                let values = distances.compactMap(part)
                return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
            }
            return Distance(
                dailyCounts: mean(\.dailyCounts), gaps: mean(\.gaps), firstMinutes: mean(\.firstMinutes))
        }
    }

    /// The distance of the two rhythms, the same in both directions.
    package func distance(to other: Rhythm) -> Distance {
        Distance(
            dailyCounts: dailyCounts.totalVariation(to: other.dailyCounts),
            gaps: gaps.kolmogorovSmirnovDistance(to: other.gaps),
            firstMinutes: firstMinutes.kolmogorovSmirnovDistance(to: other.firstMinutes))
    }
}
