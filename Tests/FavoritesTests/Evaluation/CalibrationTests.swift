import Evaluation
import Favorites
import Testing

@Suite struct CalibrationTests {
    @Test func agreesWithWhatIsWorkedOutByHand() throws {
        // Bins: 0–10 % with .05 and .05 (one favorite), 20–30 % with .25, 90–100 % with 1 and .9.
        let calibration = Calibration([
            .saying(0.05, false), .saying(0.05, true), .saying(0.25, false), .saying(1, true),
            .saying(0.9, false),
        ])
        let squares: [Double] = [0.0025, 0.9025, 0.0625, 0, 0.81]
        let brier = try #require(calibration.brier)
        #expect(abs(brier - squares.reduce(0, +) / 5) < 1e-15)
        // |.10 − 1| + |.25 − 0| + |1.9 − 1|, in posts.
        let distances: [Double] = [0.9, 0.25, 0.9]
        let expectedError = try #require(calibration.expectedError)
        #expect(abs(expectedError - distances.reduce(0, +) / 5) < 1e-15)
        #expect(calibration.bins.map(\.posts) == [2, 0, 1, 0, 0, 0, 0, 0, 0, 2])
        #expect(calibration.bins.map(\.favorites) == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(calibration.bins[0].observed == 0.5)
        #expect(calibration.bins[0].predicted == 0.05)
        #expect(calibration.bins[1].observed == nil)
        #expect(calibration.bins[1].predicted == nil)
    }

    @Test func errorsOfOneBinCancelOut() {
        // Right on average, though never for a single post.
        let calibration = Calibration([
            .saying(0.5, true), .saying(0.5, false), .saying(0.5, true), .saying(0.5, false),
        ])
        #expect(calibration.expectedError == 0)
        #expect(calibration.brier == 0.25)
    }

    @Test(
        arguments: [
            (0, 0), (0.0999, 0), (0.1, 1), (0.5, 5), (0.8999, 8), (0.9, 9), (0.9999, 9), (1, 9),
        ]
            as [(Double, Int)])
    func binsAreATenthWide(_ probability: Double, _ bin: Int) {
        let bins = Calibration([.saying(probability, true)]).bins
        #expect(bins.map(\.posts).firstIndex(of: 1) == bin)
        #expect(bins.count == Calibration.binCount)
    }

    @Test(
        arguments: [(1, true, 0), (0, false, 0), (1, false, 1), (0, true, 1), (0.25, true, 0.75)]
            as [(Double, Bool, Double)])
    func onePostIsEnough(_ probability: Double, _ isFavorite: Bool, _ distance: Double) {
        let calibration = Calibration([.saying(probability, isFavorite)])
        #expect(calibration.brier == distance * distance)
        #expect(calibration.expectedError == distance)
    }

    @Test func nothingHasNoError() {
        let calibration = Calibration([])
        #expect(calibration.brier == nil)
        #expect(calibration.expectedError == nil)
    }

    @Test(arguments: [0.11, 0.5, 0.89]) func alwaysSayingTheShareCostsItsVariance(_ share: Double)
        throws
    {
        let favorites = Int(share * 100)
        let calibration = Calibration((0..<100).map { .saying(share, $0 < favorites) })
        let brier = try #require(calibration.brier)
        let error = try #require(calibration.expectedError)
        #expect(abs(brier - share * (1 - share)) < 1e-12)
        #expect(error < 1e-12)
    }
}
