/// A seeded source of numbers that gives the same sequence on every platform (SplitMix64).
///
/// The standard library's `randomElement(using:)` may use the numbers differently in another
/// version; the functions here never do.
package struct SampleGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a word of letters and digits, as in tokens and secrets of servers.
    mutating func word() -> String { String(next(), radix: 36) + String(next(), radix: 36) }

    /// A number of at least 0 and below 1.
    package mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A number from 0 to `limit` - 1; 0 when `limit` is not positive.
    package mutating func number(below limit: Int) -> Int {
        limit > 0 ? Int(next().multipliedFullWidth(by: UInt64(limit)).high) : 0
    }

    /// One of `elements`, each with the same probability; nil if there are none.
    package mutating func element<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[number(below: elements.count)]
    }

    /// True with the given probability.
    package mutating func chance(_ probability: Double) -> Bool { uniform() < probability }

    /// A draw from the normal distribution with mean 0 and deviation 1, as the sum of twelve
    /// uniform draws less six.
    ///
    /// It is computed by additions only, so that the result has the same bits on every platform.
    package mutating func normal() -> Double {
        var standardNormal = -6.0
        for _ in 0..<12 { standardNormal += uniform() }
        return standardNormal
    }
}
