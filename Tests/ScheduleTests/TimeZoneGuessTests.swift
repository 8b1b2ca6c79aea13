import Expectations
import Foundation
import Posts
import Schedule
import Testing

@Suite struct TimeZoneGuessTests {
    @Test(arguments: Array(-11...12))
    func averagePersonIsFoundInEveryZone(hours: Int) throws {
        let guess = try #require(TimeZoneGuess(minuteCounts: Self.averagePerson(hours: hours)))
        let best = try #require(guess.candidates.first)
        #expect(best.hours == hours)
        #expect(best.loss == 0)
        #expect(guess.candidates.count == 24)
        expect(zip(guess.candidates, guess.candidates.dropFirst())) {
            $0.allSatisfy { $0.loss <= $1.loss }
        }
        #expect(
            abs(guess.candidates[1].hours - hours) == 1
                || abs(guess.candidates[1].hours - hours) == 23)
    }

    @Test func examplesLieWhereTheySay() throws {
        let winter = Date(timeIntervalSince1970: 1_767_600_000)
        let summer = Date(timeIntervalSince1970: 1_783_000_000)
        let guess = try #require(TimeZoneGuess(minuteCounts: Self.averagePerson(hours: 0)))
        for candidate in guess.candidates {
            let zone = try zone(candidate.example)
            let offsets = [zone.secondsFromGMT(for: winter), zone.secondsFromGMT(for: summer)]
            #expect(offsets.min() == candidate.hours * 3_600, "\(candidate.example)")
        }
    }

    @Test func namesReadLikeOffsets() throws {
        let names = try #require(TimeZoneGuess(minuteCounts: Self.averagePerson(hours: 9)))
            .candidates.map(\.name)
        #expect(names.first == "UTC+9")
        #expect(names.contains("UTC-5"))
        #expect(names.contains("UTC+0"))
    }

    @Test func tooLittleOrOddInputIsNoGuess() {
        #expect(TimeZoneGuess(minuteCounts: Array(repeating: 0, count: 1_440)) == nil)
        #expect(TimeZoneGuess(minuteCounts: [49] + Array(repeating: 0, count: 1_439)) == nil)
        #expect(TimeZoneGuess(minuteCounts: [50] + Array(repeating: 0, count: 1_439)) != nil)
        #expect(TimeZoneGuess(minuteCounts: [500]) == nil)
        #expect(TimeZoneGuess(minuteCounts: Array(repeating: .max, count: 1_440)) != nil)
        #expect(TimeZoneGuess(minuteCounts: Array(repeating: -5, count: 1_440)) == nil)
    }

    private static func averagePerson(hours: Int) -> [Int] {
        (0..<1_440).map {
            Int(PriorProfile.probabilities[($0 + hours * 60 + 1_440) % 1_440] * 100_000)
        }
    }
}
