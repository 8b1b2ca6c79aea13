import Evaluation
import Expectations
import Posts
import Schedule
import Testing

@Suite struct PlainProfileTests {
    @Test func histogramHasOnePostMoreInEachMinute() throws {
        let profile = PlainProfile.histogram(
            of: try [posting("2026-01-01", 60), posting("2026-05-01", 60)])
        #expect(profile[60] == 3.0 / 1_442)
        #expect(profile[61] == 1.0 / 1_442)
        #expect(agree(profile.reduce(0, +), 1))
    }

    @Test func kernelIsTheReferencesBaseline() throws {
        let profile = PlainProfile.kernel(of: [try posting("2026-01-01", 0)])
        #expect(agree(profile[0], 0.98 * 0.019948249 + 0.02 / 1_440))
        #expect(agree(profile[20], 0.98 * 0.012099224 + 0.02 / 1_440))
        #expect(profile[20] == profile[1_420])
        #expect(agree(profile[720], 0.02 / 1_440))
        #expect(agree(profile.reduce(0, +), 1))
    }

    @Test func theKernelKnowsNeitherAgeNorWeekday() throws {
        let old = try [posting("2020-01-01", 500), posting("2026-01-01", 900)]
        let new = try [posting("2026-01-04", 500), posting("2026-01-01", 900)]
        #expect(PlainProfile.kernel(of: old) == PlainProfile.kernel(of: new))
    }

    @Test func nothingKnownIsEven() {
        expect(PlainProfile.kernel(of: [])) { $0.allSatisfy { $0 == 1 / 1_440.0 } }
        expect(PlainProfile.histogram(of: [])) { $0.allSatisfy { $0 == 1 / 1_440.0 } }
    }
}
