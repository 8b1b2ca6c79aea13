import Expectations
import Schedule
import Testing

@Suite struct SplitMix64Tests {
    @Test func givesThePublishedNumbers() {
        var generator = SplitMix64(seed: 0)
        #expect(generator.next() == 0xe220_a839_7b1d_cdaf)
        #expect(generator.next() == 0x6e78_9e6a_a1b9_65f4)
        #expect(generator.next() == 0x06c4_5d18_8009_454f)
    }

    @Test func uniformNumbersAreTheTopBits() {
        var generator = SplitMix64(seed: 0)
        for expected in [0.883310808, 0.431527997, 0.026433772] {
            #expect(abs(generator.nextUniform() - expected) < 5e-10)
        }
    }

    @Test func uniformNumbersStayBelowOne() {
        var generator = SplitMix64(seed: 7)
        expect((0..<20_000)) { $0.allSatisfy { _ in (0..<1).contains(generator.nextUniform()) } }
    }
}
