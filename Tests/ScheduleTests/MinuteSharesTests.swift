import Expectations
import Posts
import Schedule
import Testing

@Suite struct MinuteSharesTests {
    @Test func hoursSumTheirMinutes() throws {
        let shares = MinuteShares(of: try [0, 59, 60, 1_439].map(minute))
        #expect(shares.shares.count == 24)
        #expect(shares.shares[0] == 0.5 && shares.shares[1] == 0.25 && shares.shares[23] == 0.25)
    }

    @Test func halfHoursBeginOnTheHalfHour() throws {
        let shares = MinuteShares(of: try [29, 30].map(minute), binCount: 48)
        #expect(shares.shares[0] == 0.5 && shares.shares[1] == 0.5)
        #expect(shares.start(of: 1).description == "00:30")
        #expect(shares.start(of: 47).description == "23:30")
    }

    @Test(arguments: [0, -3, 7, 1_440, 100_000])
    func oddNumbersOfBinsKeepTheirSum(binCount: Int) throws {
        let shares = MinuteShares(of: try (0..<1_440).map(minute), binCount: binCount)
        #expect(agree(shares.shares.reduce(0, +), 1))
    }

    @Test func distributionKeepsItsShares() {
        let shares = MinuteShares(of: rawDistribution([60, 60, 720, 1_439]))
        #expect(shares.shares[1] == 0.5 && shares.shares[12] == 0.25 && shares.shares[23] == 0.25)
    }

    @Test func nothingHasNoShares() {
        expect(MinuteShares(of: []).shares) { $0.allSatisfy { $0 == 0 } }
    }
}
