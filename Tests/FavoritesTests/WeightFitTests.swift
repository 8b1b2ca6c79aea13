import Foundation
import Testing

@testable import Favorites

/// The weights of the evidence as the reference has them, and as a second, plainer way to find them has them.
@Suite struct WeightFitTests {
    // MARK: The seven posts

    private static let words = [["猫", "写真"], ["猫"], ["写真", "旅行"], ["会議"], ["会議", "資料"], ["猫", "会議"], ["資料"]]
    private static let authors = ["@alice", "@alice", "@bob", "@carol", "@bob", "@carol", "@dave"]
    private static let counts = CategoryCounts(favorites: 3, normals: 4, seen: 7, seenFavorites: 3)

    private static let features = zip(words, authors).map { FeatureSet(words: $0, author: $1) }

    private static func count(_ feature: String) -> FeatureCount {
        let having = features.indices.filter { features[$0].all.contains(feature) }
        return FeatureCount(favorite: Int64(having.count { $0 < 3 }), normal: Int64(having.count { $0 >= 3 }))
    }

    private static let samples = features.indices.map {
        FavoriteModel(counts).sample(features[$0], $0 < 3, count: count)
    }

    @Test func everyPostIsJudgedByAllOthers() {
        let expected = [
            (0.562632, 0, 0.522189), (0.273493, 0, 0.522189), (0.369244, 0, -0.248697), (0, -0.447698, -0.248697),
            (0, -0.492425, 0.522189), (0.610581, -0.316570, -0.248697), (0, -0.248697, 0),
        ]
        for (sample, expected) in zip(Self.samples, expected) {
            #expect(abs(sample.evidence.wordsFor - expected.0) < 5e-7)
            #expect(abs(sample.evidence.wordsAgainst - expected.1) < 5e-7)
            #expect(abs(sample.evidence.author - expected.2) < 5e-7)
        }
        #expect(Self.samples.map(\.isFavorite) == [true, true, true, false, false, false, false])
    }

    @Test func givesTheWeightsOfTheReference() {
        let fit = WeightFit(Self.samples)
        #expect(isNear(fit.weights, 1.024632, 1.052936, 1.018742, -0.131523))
        #expect(abs(fit.plainSum - 3.564662) < 5e-7)
        #expect(abs(fit.weightedSum - 3.522557) < 5e-7)
        #expect(fit.plainLoss * 7 == fit.plainSum)
        let model = FavoriteModel(Self.counts, weights: fit.weights)
        let posts = [
            (FeatureSet(words: ["猫", "会議"], author: "@dave"), -1.135150, -1.283594),
            (FeatureSet(words: ["猫", "写真", "旅行", "未知"], author: "@bob"), 0.386428, 0.284669),
        ]
        for (post, plain, weighted) in posts {
            let assessment = model.assess(post, count: Self.count)
            #expect(abs(assessment.plainLogRate - plain) < 5e-7)
            #expect(abs(assessment.logRate - weighted) < 5e-7)
        }
    }

    @Test func whatLiesOutsideTheLimitsIsSetToThem() {
        let fit = WeightFit(Self.samples, ridge: 0.1, limits: 0.9...1.1)
        #expect(isNear(fit.weights, 1.1, 1.1, 1.1, -0.143985))
        #expect(fit.weights.wordsFor == 1.1)
        #expect(fit.weights.wordsAgainst == 1.1)
        #expect(fit.weights.author == 1.1)
    }

    private func isNear(
        _ weights: EvidenceWeights, _ wordsFor: Double, _ wordsAgainst: Double, _ author: Double, _ base: Double
    ) -> Bool {
        abs(weights.wordsFor - wordsFor) < 5e-7 && abs(weights.wordsAgainst - wordsAgainst) < 5e-7
            && abs(weights.author - author) < 5e-7 && abs(weights.base - base) < 5e-7
    }

    // MARK: Another way

    /// Finds the lowest place of the sum along one axis after the other, by halving, until nothing moves any more.
    private struct PlainSearch {
        let samples: [WeightFit.Sample]
        let ridge: Double

        private var center: Double {
            let favorites = Double(samples.count { $0.isFavorite })
            return log((favorites + 0.5) / (Double(samples.count) - favorites + 0.5))
        }

        /// How steeply the sum rises with the number `index` of words for, words against, author and base.
        func slope(_ at: [Double], _ index: Int) -> Double {
            let center = center
            var slope = index == 3 ? at[3] : ridge * (at[index] - 1)
            for sample in samples {
                let row = [sample.evidence.wordsFor, sample.evidence.wordsAgainst, sample.evidence.author, 1]
                let odds = center + at[0] * row[0] + at[1] * row[1] + at[2] * row[2] + at[3]
                slope += (1 / (1 + exp(-odds)) - (sample.isFavorite ? 1 : 0)) * row[index]
            }
            return slope
        }

        func lowest(within limits: ClosedRange<Double>) -> [Double] {
            var (place, fixed) = ([1.0, 1, 1, 0], Set<Int>())
            while true {
                for _ in 0..<400 {
                    for index in 0..<4 where !fixed.contains(index) { place[index] = lowest(along: index, from: place) }
                    if (0..<4).allSatisfy({ fixed.contains($0) || abs(slope(place, $0)) < 1e-10 }) { break }
                }
                let outside = (0..<3).filter { !fixed.contains($0) && !limits.contains(place[$0]) }
                if outside.isEmpty { return place }
                for index in outside {
                    place[index] = place[index] < limits.lowerBound ? limits.lowerBound : limits.upperBound
                }
                fixed.formUnion(outside)
            }
        }

        private func lowest(along index: Int, from place: [Double]) -> Double {
            var (low, high, place) = (-200.0, 200.0, place)
            for _ in 0..<60 {
                place[index] = (low + high) / 2
                if slope(place, index) < 0 { low = place[index] } else { high = place[index] }
            }
            return (low + high) / 2
        }
    }

    /// Evidence that is right more often than not, and more so for the one kind than for the other.
    private static func samples(seed: UInt64, strength: Double) -> [WeightFit.Sample] {
        var numbers = SeededNumbers(seed: seed)
        return (0..<24).map { _ in
            let isFavorite = Int.random(in: 0..<3, using: &numbers) == 0
            let sign = isFavorite ? 1.0 : -1
            let author = (Double.random(in: -1...1, using: &numbers) + sign * 0.4) * strength
            let words = (Double.random(in: -1...1, using: &numbers) + sign * 0.2) * strength
            return WeightFit.Sample(
                Evidence(
                    wordsFor: max(0, words), wordsAgainst: min(0, words - 0.1),
                    author: Int.random(in: 0..<4, using: &numbers) == 0 ? 0 : author), isFavorite: isFavorite)
        }
    }

    @Test(arguments: [(1, 1.0, 10.0), (2, 4, 10), (3, 12, 10), (4, 3, 0.3), (5, 0.2, 1)] as [(UInt64, Double, Double)])
    func agreesWithAPlainSearch(_ seed: UInt64, _ strength: Double, _ ridge: Double) {
        let samples = Self.samples(seed: seed, strength: strength)
        for limits in [-1_000...1_000.0, WeightFit.limits, 0.9...1.2] {
            let weights = WeightFit(samples, ridge: ridge, limits: limits).weights
            let found = PlainSearch(samples: samples, ridge: ridge).lowest(within: limits)
            for (one, other) in zip([weights.wordsFor, weights.wordsAgainst, weights.author, weights.base], found) {
                #expect(abs(one - other) < 1e-6, "\(limits): \(weights) and \(found)")
            }
        }
    }

    /// A whole step from where everything is told wrong for certain leads further away, and the next one even further.
    @Test func longStepsAreHalved() {
        let wrong = Evidence(wordsFor: 40, wordsAgainst: 0, author: 0)
        let right = Evidence(wordsFor: 0, wordsAgainst: 0, author: -1)
        let samples = (0..<60).map { WeightFit.Sample($0 < 50 ? wrong : right, isFavorite: $0 >= 47 && $0 < 55) }
        let fit = WeightFit(samples, ridge: 10, limits: -1_000...1_000)
        #expect(fit.weightedSum < fit.plainSum)
        let found = PlainSearch(samples: samples, ridge: 10).lowest(within: -1_000...1_000)
        #expect(abs(fit.weights.wordsFor - found[0]) < 1e-6)
        #expect(abs(fit.weights.author - found[2]) < 1e-6)
    }

    @Test func nothingToFitOnLeavesPlainWeights() {
        #expect(WeightFit([]).weights == .plain)
        let silent = (0..<30).map {
            WeightFit.Sample(Evidence(wordsFor: 0, wordsAgainst: 0, author: 0), isFavorite: $0 < 9)
        }
        let fit = WeightFit(silent)
        #expect((fit.weights.wordsFor, fit.weights.wordsAgainst, fit.weights.author) == (1, 1, 1))
        // The odds are those of half a post more of each.
        #expect(abs(fit.weights.base) < 0.05)
        #expect(WeightFit([]).plainLoss == 0)
    }

    // MARK: The model

    private static func hostileModel(_ weights: EvidenceWeights) -> FavoriteModel {
        FavoriteModel(
            CategoryCounts(favorites: 1_000_000, normals: 10_000_000, seen: 11_000_000, seenFavorites: 1_000_000),
            weights: weights)
    }

    private static func anyCount(_ feature: String) -> FeatureCount {
        let hash = feature.utf8.reduce(UInt64(7)) { ($0 &* 31) &+ UInt64($1) }
        return FeatureCount(favorite: Int64(hash % 9), normal: hash % 3 == 0 ? 0 : Int64(hash % 100_000))
    }

    private static let posts = (0..<120).map { number in
        FeatureSet(
            words: (0..<(number * 3 % 400)).map { "w\(number * 7 + $0)" }, author: number % 4 == 0 ? nil : "@a\(number)"
        )
    }

    @Test(arguments: [
        EvidenceWeights(wordsFor: 2.995891, wordsAgainst: 1.434624, author: 1.476095, base: -0.122795),
        EvidenceWeights(wordsFor: 0.25, wordsAgainst: 4, author: 0.25, base: 3), .plain,
    ])
    func whatIsShownAddsUpToTheRate(_ weights: EvidenceWeights) {
        for post in Self.posts {
            let assessment = Self.hostileModel(weights).assess(post, count: Self.anyCount)
            let sum = assessment.contributions.reduce(assessment.baseLogOdds) { $0 + $1.logOdds }
            #expect(abs(sum - assessment.logRate) < 1e-9)
            #expect(assessment.contributions.count == post.all.count)
        }
    }

    @Test func plainWeightsChangeNotOneBit() {
        for post in Self.posts {
            let model = Self.hostileModel(.plain)
            let assessment = model.assess(post, count: Self.anyCount)
            // The sum as it was before there were weights.
            let scale = post.words.isEmpty ? 0 : 1 / Double(post.words.count).squareRoot()
            let words = post.words.map { model.evidence(Self.anyCount($0)) }.reduce(0, +)
            let author = post.author.map { model.evidence(Self.anyCount($0)) } ?? 0
            #expect(assessment.logRate.bitPattern == (model.baseLogOdds + scale * words + author).bitPattern)
            #expect(assessment.plainLogRate.bitPattern == assessment.logRate.bitPattern)
            for contribution in assessment.contributions {
                let evidence = model.evidence(Self.anyCount(contribution.feature))
                let shown = contribution.feature.hasPrefix("@") ? evidence : evidence * scale
                #expect(contribution.logOdds.bitPattern == shown.bitPattern)
            }
        }
    }

    @Test func aWordThatTurnsMakesNoJump() {
        // As many favorites of all posts as of those with the word: one more or less turns it.
        let model = FavoriteModel(
            CategoryCounts(favorites: 100_000, normals: 900_000, seen: 1, seenFavorites: 0),
            weights: EvidenceWeights(wordsFor: 4, wordsAgainst: 0.25, author: 1, base: 0))
        let rates = (-2...2).map { shift in
            model.assess(FeatureSet(words: ["turn"], author: nil)) { _ in
                FeatureCount(favorite: 100_000 + Int64(shift), normal: 900_000)
            }.logRate
        }
        for (one, next) in zip(rates, rates.dropFirst()) {
            #expect(next > one)
            #expect(next - one < 1e-4)
        }
    }

    @Test func weightsAreSaidInWords() {
        let weights = EvidenceWeights(wordsFor: 2.995891, wordsAgainst: 1.434624, author: 1.476095, base: -0.122795)
        #expect(weights.inWords == "words for count 3.0 times, words against 1.4, the author 1.5")
    }
}
