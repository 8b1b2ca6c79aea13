import Posts
import Schedule
import Testing

@Suite struct PlanSeedTests {
    @Test func planSeedIsTheHashOfVersionMirrorAndDate() throws {
        let seed = PlanSeed.plan(mirror: "mirror-1", day: try day("2026-03-08"))
        #expect(seed == 0xce0a_2136_a363_e81a)
        var generator = SplitMix64(seed: seed)
        for expected in [0.987591537, 0.273378816, 0.493908677] {
            #expect(abs(generator.nextUniform() - expected) < 5e-10)
        }
    }

    @Test func everyPartOfTheSeedMatters() throws {
        let first = try day("2026-03-08")
        let second = try day("2026-03-09")
        let morning = try minute(480)
        let seeds = [
            PlanSeed.plan(mirror: "a", day: first), PlanSeed.plan(mirror: "b", day: first),
            PlanSeed.plan(mirror: "a", day: second),
            PlanSeed.plan(mirror: "a", day: first, seed: "x"),
            PlanSeed.plan(mirror: "a", day: first, seed: ""),
            PlanSeed.plan(mirror: "a", day: first, seed: "y"),
            PlanSeed.text(mirror: "a", day: first, minute: morning),
            PlanSeed.text(mirror: "a", day: first, minute: try minute(481)),
            PlanSeed.text(mirror: "a", day: first, minute: morning, seed: "x"),
        ]
        #expect(Set(seeds).count == seeds.count)
    }
}
