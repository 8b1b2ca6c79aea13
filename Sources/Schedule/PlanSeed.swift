import Crypto
package import Posts

/// Where the seeds of a mirror's draws come from.
///
/// The same mirror and day always give the same seed, on every machine, so
/// that a plan can be previewed, explained and drawn again in a test.
package enum PlanSeed {
    /// Derives the seed for a day's posting times.
    ///
    /// - Parameters:
    ///   - mirror: The mirror's name.
    ///   - day: The day that is planned.
    ///   - seed: What an operator adds to get other draws; nil is not the same as empty.
    /// - Returns: The seed for ``SplitMix64``.
    package static func plan(mirror: String, day: LocalDay, seed: String? = nil) -> UInt64 {
        digest(["plan/1", mirror, day.description] + (seed.map { [$0] } ?? []))
    }

    /// The seed for the text of the slot at `minute` of `day`.
    package static func text(
        mirror: String, day: LocalDay, minute: MinuteOfDay, seed: String? = nil
    ) -> UInt64 {
        digest(["text/1", mirror, day.description, minute.description] + (seed.map { [$0] } ?? []))
    }

    /// The first eight bytes, big endian, of SHA-256 over the parts with a NUL between them.
    private static func digest(_ parts: [String]) -> UInt64 {
        let message = Array(parts.map { Array($0.utf8) }.joined(separator: [0]))
        return SHA256.hash(data: message).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
