import Foundation
import Posts

/// A guess of a person's time zone from the hours in which they post.
///
/// The person's numbers of posts by UTC minute are shifted by each whole hour. The shift with the
/// highest likelihood under the general profile (`PriorProfile`) fits best. Of 50 people with known
/// zones the best fit was right within one hour for 42 to 60 %, within two hours for 80 to 88 % and
/// within three for 92 to 98 %, so this is only a suggestion. Summer time makes it less exact.
package struct TimeZoneGuess: Equatable, Sendable {
    /// A UTC offset, and how well it fits.
    package struct Candidate: Equatable, Sendable {
        /// The UTC offset in hours, -11 through 12.
        ///
        /// UTC+13 and UTC+14 cannot be distinguished from UTC-11 and UTC-10.
        package let hours: Int
        /// The best fit's mean log-likelihood minus this one's, in nats per post: 0 for the best.
        package let loss: Double
        /// A well-known IANA zone with this offset in winter, as an example.
        package let example: String

        /// The offset as `UTC+9` or `UTC-5`.
        package var name: String { hours < 0 ? "UTC\(hours)" : "UTC+\(hours)" }
    }

    /// The least number of posts for a guess.
    package static let minimumPosts = 50
    /// The error of the best candidate, in hours, that is not exceeded in four of five cases.
    package static let uncertaintyHours = 2

    /// The candidates in the order of their fit, the best first; at least three.
    package let candidates: [Candidate]
    /// The number of posts behind the guess.
    package let postCount: Int

    /// Makes a guess; nil with fewer than ``minimumPosts`` posts.
    ///
    /// - Parameter minuteCounts: The number of posts in each of the 1,440 minutes of the UTC day.
    package init?(minuteCounts: [Int]) {
        let counts = minuteCounts.map { max(0, $0) }
        let total = counts.reduce(0.0) { $0 + Double($1) }
        guard counts.count == MinuteOfDay.count, total >= Double(Self.minimumPosts) else {
            return nil
        }
        let logProbabilities = PriorProfile.probabilities.map { Foundation.log($0) }
        let fits = Self.examples.keys.sorted().map { hours in
            var fit = 0.0
            for minute in counts.indices where counts[minute] > 0 {
                let localMinute = (minute + hours * 60 + MinuteOfDay.count) % MinuteOfDay.count
                fit += Double(counts[minute]) * logProbabilities[localMinute]
            }
            return (hours: hours, fit: fit / total)
        }
        let bestFit = fits.map(\.fit).max() ?? 0
        let ranked = fits.map {
            Candidate(
                hours: $0.hours, loss: bestFit - $0.fit, example: Self.examples[$0.hours] ?? "UTC")
        }
        candidates = ranked.sorted { ($0.loss, $0.hours) < ($1.loss, $1.hours) }
        postCount = Int(min(total, 1e15))
    }

    private static let examples = [
        -11: "Pacific/Pago_Pago", -10: "Pacific/Honolulu", -9: "America/Anchorage",
        -8: "America/Los_Angeles",
        -7: "America/Denver", -6: "America/Chicago", -5: "America/New_York", -4: "America/Halifax",
        -3: "America/Sao_Paulo", -2: "America/Noronha", -1: "Atlantic/Azores", 0: "Europe/London",
        1: "Europe/Berlin", 2: "Europe/Kyiv", 3: "Europe/Istanbul", 4: "Asia/Dubai",
        5: "Asia/Karachi",
        6: "Asia/Dhaka", 7: "Asia/Bangkok", 8: "Asia/Shanghai", 9: "Asia/Tokyo",
        10: "Australia/Sydney",
        11: "Pacific/Noumea", 12: "Pacific/Auckland",
    ]
}
