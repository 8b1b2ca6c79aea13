package import Posts

/// Profiles that the model is compared with: they know no age, no weekday and no other people's habits.
package enum PlainProfile {
    /// The standard deviation of the plain kernel in minutes.
    package static let sigma = 20.0
    /// The share of the plain kernel's mass that is spread evenly over the day.
    package static let floor = 0.02

    /// The bare histogram of the 1,440 minutes with one post more in each: (c + 1) / (n + 1440).
    package static func histogram(of times: [PostingTime]) -> [Double] {
        let total = Double(times.count + MinuteOfDay.count)
        return PostingHistory(times: times).minuteCounts().map { ($0 + 1) / total }
    }

    /// The histogram smoothed by a bell curve of 20 minutes, with 2 % spread evenly: the reference's baseline.
    package static func kernel(of times: [PostingTime]) -> [Double] {
        let smooth = CircularKernel.gaussian(sigma: sigma).smooth(PostingHistory(times: times).minuteCounts())
        let even = 1 / Double(MinuteOfDay.count)
        return smooth.map { times.isEmpty ? even : (1 - floor) * $0 / Double(times.count) + floor * even }
    }
}
