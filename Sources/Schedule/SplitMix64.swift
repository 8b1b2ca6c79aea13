/// A small seeded generator that gives the same numbers on every machine.
///
/// Sebastiano Vigna's SplitMix64. Good for drawing a plan, not for secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { self.state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0, included, to 1, excluded: one of 2^53 evenly spaced values.
    package mutating func nextUniform() -> Double { Double(next() >> 11) * 0x1p-53 }
}
