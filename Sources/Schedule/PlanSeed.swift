package import Posts

/// Derives the seeds of a mirror's random draws.
///
/// The same mirror and day always give the same seed, on every machine, so
/// that a plan can be previewed, explained and drawn again in a test.
package enum PlanSeed {
    /// Derives the seed for a day's posting times.
    ///
    /// - Parameters:
    ///   - seed: An operator's extra seed, to get other draws; nil and an empty seed give different
    ///     draws.
    package static func plan(mirror: String, day: LocalDay, seed: String? = nil) -> UInt64 {
        StableHash.seed(of: ["plan/1", mirror, day.description] + (seed.map { [$0] } ?? []))
    }

    /// The seed for the text of the slot at `minute` of `day`.
    package static func text(
        mirror: String, day: LocalDay, minute: MinuteOfDay, seed: String? = nil
    ) -> UInt64 {
        StableHash.seed(
            of: ["text/1", mirror, day.description, minute.description] + (seed.map { [$0] } ?? []))
    }
}

/// A small seeded random generator with the same numbers on every machine.
///
/// This is Sebastiano Vigna's SplitMix64. It is good enough to draw a plan, but not for secrets.
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
