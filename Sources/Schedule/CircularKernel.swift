import Foundation
import Posts

/// A symmetric weighting of neighbouring minutes, on the circle of the day.
package struct CircularKernel: Sendable {
    /// The weight at distance 0, 1, 2 … minutes; with both sides counted they sum to 1.
    private let halfTaps: [Double]

    /// - Parameter halfTaps: Relative weights at distance 0, 1, 2 … minutes, at most 720 of them.
    package init(halfTaps: [Double]) {
        let taps = Array(halfTaps.prefix(MinuteOfDay.count / 2))
        let sum = taps.dropFirst().reduce(taps.first ?? 0) { $0 + 2 * $1 }
        self.halfTaps = sum > 0 ? taps.map { $0 / sum } : [1]
    }

    /// Makes the bell curve, cut off at four standard deviations or at half a day.
    ///
    /// - Parameter sigma: The standard deviation in minutes.
    /// - Returns: The kernel.
    package static func gaussian(sigma: Double) -> CircularKernel {
        let reach = Int(min(719, max(0, 4 * sigma)))
        return CircularKernel(
            halfTaps: (0...reach).map { distance in
                distance == 0 ? 1 : exp(-Double(distance * distance) / (2 * sigma * sigma))
            })
    }

    /// Smooths values; the last minute neighbours the first.
    ///
    /// - Parameter values: One value for each minute of the day.
    /// - Returns: The smoothed values, with the same sum.
    package func smooth(_ values: [Double]) -> [Double] {
        guard values.count == MinuteOfDay.count else { return values }
        let reach = halfTaps.count - 1
        let padded = Array(values.suffix(reach)) + values + Array(values.prefix(reach))
        let taps = halfTaps.dropFirst().reversed() + halfTaps
        return padded.withUnsafeBufferPointer { padded in
            taps.withUnsafeBufferPointer { taps in
                (0..<MinuteOfDay.count).map { minute in
                    var sum = 0.0
                    for offset in 0..<taps.count { sum += taps[offset] * padded[minute + offset] }
                    return sum
                }
            }
        }
    }
}
