import Posts

/// When people post, before anything is known about this one.
///
/// The average local profile of 46 to 49 people's archives by hour of the
/// day, made smooth. It matters for archives of fewer than some 300 posts.
package enum PriorProfile {
    /// The share of each minute of the day; they sum to 1.
    package static let probabilities: [Double] = {
        let hours: [Double] = [
            27, 16, 10, 6, 5, 8, 14, 26, 42, 53, 60, 61, 58, 57, 57, 54, 55, 55, 57, 63, 67, 57, 50, 40,
        ]
        let minutes = hours.flatMap { Array(repeating: $0 / 60, count: 60) }
        let smooth = CircularKernel.gaussian(sigma: 30).smooth(minutes)
        let sum = smooth.reduce(0, +)
        return smooth.map { $0 / sum }
    }()
}
