import Foundation
import Testing

@testable import Favorites

/// The weights of the evidence as the reference has them, and as a second, plainer way to find them
/// has them.
@Suite struct WeightFitTests {
    // MARK: The seven posts

    private static let words = [
        ["猫", "写真"], ["猫"], ["写真", "旅行"], ["会議"], ["会議", "資料"], ["猫", "会議"], ["資料"],
    ]
    private static let authors = ["@alice", "@alice", "@bob", "@carol", "@bob", "@carol", "@dave"]
    private static let counts = CategoryCounts(favorites: 3, normals: 4, seen: 7, seenFavorites: 3)

    private static let features = zip(words, authors).map { FeatureSet(words: $0, author: $1) }

    private static func count(_ feature: String) -> FeatureCount {
        let having = features.indices.filter { features[$0].all.contains(feature) }
        return FeatureCount(
            favorite: Int64(having.count { $0 < 3 }), normal: Int64(having.count { $0 >= 3 }))
    }

    private static let samples = features.indices.map {
        FavoriteModel(counts).sample(features[$0], isFavorite: $0 < 3, count: count)
    }

    @Test func everyPostIsJudgedByAllOthers() {
        let expected = [
            (0.562632, 0, 0.522189), (0.273493, 0, 0.522189), (0.369244, 0, -0.248697),
            (0, -0.447698, -0.248697),
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
        let fit = WeightFit(Self.samples, of: .content)
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
        let fit = WeightFit(Self.samples, of: .content, ridge: 0.1, limits: 0.9...1.1)
        #expect(isNear(fit.weights, 1.1, 1.1, 1.1, -0.143985))
        #expect(fit.weights.wordsFor == 1.1)
        #expect(fit.weights.wordsAgainst == 1.1)
        #expect(fit.weights.author == 1.1)
    }

    private func isNear(
        _ weights: EvidenceWeights, _ wordsFor: Double, _ wordsAgainst: Double, _ author: Double,
        _ base: Double
    ) -> Bool {
        abs(weights.wordsFor - wordsFor) < 5e-7 && abs(weights.wordsAgainst - wordsAgainst) < 5e-7
            && abs(weights.author - author) < 5e-7 && abs(weights.base - base) < 5e-7
    }

    // MARK: Another way

    /// Finds the lowest place of the sum along one axis after the other, by halving, until nothing
    /// moves any more.
    private struct PlainSearch {
        /// Words for and against, the same of pairs, spelling and form where they are features, the
        /// author, and 1 for the base.
        let rows: [[Double]]
        let isFavorite: [Bool]
        /// Where the search begins, and what each weight is held to.
        let start: [Double]
        let ridge: Double

        init(_ samples: [WeightFit.Sample], of words: FeatureWords = .content, ridge: Double) {
            rows = samples.map(\.evidence).map { evidence in
                var row = [evidence.wordsFor, evidence.wordsAgainst]
                if words == .pairs || words == .full {
                    row += [evidence.pairsFor, evidence.pairsAgainst]
                }
                if words == .spelling || words == .full {
                    row += [
                        evidence.spellingFor, evidence.spellingAgainst, evidence.formFor,
                        evidence.formAgainst,
                    ]
                }
                return row + [evidence.author, 1]
            }
            isFavorite = samples.map(\.isFavorite)
            start =
                switch words {
                case .full: [1, 1, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3, 1, 0]
                case .spelling: [1, 1, 0.3, 0.3, 0.3, 0.3, 1, 0]
                case .pairs: [1, 1, 0.5, 0.5, 1, 0]
                case .content, .nouns: [1, 1, 1, 0]
                }
            self.ridge = ridge
        }

        private var base: Int { start.count - 1 }

        private var center: Double {
            let favorites = Double(isFavorite.count { $0 })
            return log((favorites + 0.5) / (Double(rows.count) - favorites + 0.5))
        }

        /// How steeply the sum rises with one of the numbers.
        func slope(_ at: [Double], _ index: Int) -> Double {
            let center = center
            var slope = index == base ? at[base] : ridge * (at[index] - start[index])
            for number in rows.indices {
                let row = rows[number]
                var odds = center
                for place in row.indices { odds += at[place] * row[place] }
                slope += (1 / (1 + exp(-odds)) - (isFavorite[number] ? 1 : 0)) * row[index]
            }
            return slope
        }

        func lowest(within limits: ClosedRange<Double>) -> [Double] {
            var place = start
            var fixed = Set<Int>()
            while true {
                for _ in 0..<400 {
                    for index in start.indices where !fixed.contains(index) {
                        place[index] = lowest(along: index, from: place)
                    }
                    if start.indices.allSatisfy({
                        fixed.contains($0) || abs(slope(place, $0)) < 1e-10
                    }) {
                        break
                    }
                }
                let outside = (0..<base).filter {
                    !fixed.contains($0) && !limits.contains(place[$0])
                }
                if outside.isEmpty { return place }
                for index in outside {
                    place[index] =
                        place[index] < limits.lowerBound ? limits.lowerBound : limits.upperBound
                }
                fixed.formUnion(outside)
            }
        }

        private func lowest(along index: Int, from place: [Double]) -> Double {
            var low = -200.0
            var high = 200.0
            var place = place
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
        var others = SeededNumbers(seed: seed + 1_000)
        return (0..<24).map { _ in
            let isFavorite = Int.random(in: 0..<3, using: &numbers) == 0
            let sign = isFavorite ? 1.0 : -1
            let author = (Double.random(in: -1...1, using: &numbers) + sign * 0.4) * strength
            let words = (Double.random(in: -1...1, using: &numbers) + sign * 0.2) * strength
            let pairs = (Double.random(in: -1...1, using: &others) + sign * 0.1) * strength
            let runs = (Double.random(in: -1...1, using: &others) + sign * 0.3) * strength
            let marks = (Double.random(in: -1...1, using: &others) + sign * 0.1) * strength
            return WeightFit.Sample(
                Evidence(
                    wordsFor: max(0, words), wordsAgainst: min(0, words - 0.1),
                    pairsFor: max(0, pairs),
                    pairsAgainst: min(0, pairs - 0.2), spellingFor: max(0, runs),
                    spellingAgainst: min(0, runs - 0.1),
                    formFor: max(0, marks), formAgainst: min(0, marks),
                    author: Int.random(in: 0..<4, using: &numbers) == 0 ? 0 : author),
                isFavorite: isFavorite)
        }
    }

    @Test(
        arguments: [
            (1, 1.0, 10.0, .content), (2, 4, 10, .content), (3, 12, 10, .content),
            (4, 3, 0.3, .content),
            (5, 0.2, 1, .content), (1, 1.0, 10.0, .pairs), (2, 4, 10, .pairs), (3, 12, 10, .pairs),
            (1, 1.0, 10.0, .spelling), (2, 4, 10, .spelling), (1, 1.0, 10.0, .full),
            (2, 4, 10, .full),
        ] as [(UInt64, Double, Double, FeatureWords)])
    func agreesWithAPlainSearch(
        _ seed: UInt64, _ strength: Double, _ ridge: Double, _ words: FeatureWords
    ) {
        let samples = Self.samples(seed: seed, strength: strength)
        // The fit ends where the sum can fall by 10⁻¹² a post at most, which is some 10⁻⁶ away
        // where five weights are loose.
        let accuracy = words == .content ? 1e-6 : 3e-6
        for limits in [-1_000...1_000.0, WeightFit.limits(of: words), 0.9...1.2] {
            let weights = WeightFit(samples, of: words, ridge: ridge, limits: limits).weights
            let found = PlainSearch(samples, of: words, ridge: ridge).lowest(within: limits)
            let others = [weights.pairs, weights.spelling, weights.form].compactMap(\.self)
                .flatMap { [$0.speakingFor, $0.speakingAgainst] }
            let fitted =
                [weights.wordsFor, weights.wordsAgainst] + others + [weights.author, weights.base]
            #expect(fitted.count == found.count)
            for (one, other) in zip(fitted, found) {
                #expect(abs(one - other) < accuracy, "\(words), \(limits): \(weights) and \(found)")
            }
        }
    }

    @Test func pairsThatSayNothingChangeNothing() {
        let alone = WeightFit(Self.samples, of: .content).weights
        let beside = WeightFit(Self.samples, of: .pairs).weights
        #expect(alone.pairs == nil)
        #expect(beside.pairs == .init(for: 0.5, against: 0.5))
        #expect(abs(alone.wordsFor - beside.wordsFor) < 1e-9)
        #expect(abs(alone.base - beside.base) < 1e-9)
        for sample in Self.samples {
            let plain = EvidenceWeights.plain.logOdds(of: sample.evidence)
            #expect(EvidenceWeights.plainWithPairs.logOdds(of: sample.evidence) == plain)
        }
    }

    /// A whole step from where everything is told wrong for certain leads further away, and the
    /// next one even further.
    @Test func longStepsAreHalved() {
        let wrong = Evidence(wordsFor: 40, wordsAgainst: 0, author: 0)
        let right = Evidence(wordsFor: 0, wordsAgainst: 0, author: -1)
        let samples = (0..<60).map {
            WeightFit.Sample($0 < 50 ? wrong : right, isFavorite: $0 >= 47 && $0 < 55)
        }
        let fit = WeightFit(samples, of: .content, ridge: 10, limits: -1_000...1_000)
        #expect(fit.weightedSum < fit.plainSum)
        let found = PlainSearch(samples, ridge: 10).lowest(within: -1_000...1_000)
        #expect(abs(fit.weights.wordsFor - found[0]) < 1e-6)
        #expect(abs(fit.weights.author - found[2]) < 1e-6)
    }

    @Test func nothingToFitOnLeavesPlainWeights() {
        #expect(WeightFit([], of: .content).weights == .plain)
        let silent = (0..<30).map {
            WeightFit.Sample(Evidence(wordsFor: 0, wordsAgainst: 0, author: 0), isFavorite: $0 < 9)
        }
        let fit = WeightFit(silent, of: .content)
        #expect((fit.weights.wordsFor, fit.weights.wordsAgainst, fit.weights.author) == (1, 1, 1))
        // The odds are those of half a post more of each.
        #expect(abs(fit.weights.base) < 0.05)
        #expect(WeightFit([], of: .content).plainLoss == 0)
    }

    // MARK: The model

    private static func hostileModel(_ weights: EvidenceWeights) -> FavoriteModel {
        FavoriteModel(
            CategoryCounts(
                favorites: 1_000_000, normals: 10_000_000, seen: 11_000_000,
                seenFavorites: 1_000_000),
            weights: weights)
    }

    private static func anyCount(_ feature: String) -> FeatureCount {
        let hash = feature.utf8.reduce(UInt64(7)) { ($0 &* 31) &+ UInt64($1) }
        return FeatureCount(
            favorite: Int64(hash % 9), normal: hash % 3 == 0 ? 0 : Int64(hash % 100_000))
    }

    private static let posts = (0..<120).map { number in
        FeatureSet(
            words: (0..<(number * 3 % 400)).map { "w\(number * 7 + $0)" },
            author: number % 4 == 0 ? nil : "@a\(number)"
        )
    }

    /// The same with pairs, more of them than words.
    private static let postsWithPairs = posts.enumerated().map { number, post in
        var post = post
        post.pairs = (0..<(number * 5 % 300)).map { "w\(number * 3 + $0)\u{1F}w\($0)" }
        return post
    }

    @Test(arguments: [
        EvidenceWeights(
            wordsFor: 2.995891, wordsAgainst: 1.434624, author: 1.476095, base: -0.122795),
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

    @Test(arguments: [
        EvidenceWeights(
            wordsFor: 0.720686, wordsAgainst: 0.775921,
            pairs: .init(for: 1.068566, against: 0.340355),
            author: 0.909288, base: -0.453663),
        EvidenceWeights(
            wordsFor: 0, wordsAgainst: 4, pairs: .init(for: 4, against: 0), author: 1, base: 3),
        .plainWithPairs,
    ])
    func whatIsShownOfPairsAddsUpToTheRate(_ weights: EvidenceWeights) {
        for post in Self.postsWithPairs {
            let model = Self.hostileModel(weights)
            let assessment = model.assess(post, count: Self.anyCount)
            let sum = assessment.contributions.reduce(assessment.baseLogOdds) { $0 + $1.logOdds }
            #expect(abs(sum - assessment.logRate) < 1e-9)
            #expect(assessment.contributions.count == post.all.count)
            let told = assessment.grouped(atMost: 7)
            let shown = told.strongest.reduce(assessment.baseLogOdds + told.rest.logOdds) {
                $0 + $1.logOdds
            }
            #expect(abs(shown - assessment.logRate) < 1e-9)
            let evidence = post.pairs.map { model.evidence(Self.anyCount($0)) }
            let scale = post.pairs.isEmpty ? 0 : 1 / Double(post.pairs.count).squareRoot()
            #expect(
                abs(assessment.evidence.pairsFor - scale * evidence.map { max($0, 0) }.reduce(0, +))
                    < 1e-9)
            #expect(
                abs(
                    assessment.evidence.pairsAgainst - scale
                        * evidence.map { min($0, 0) }.reduce(0, +)) < 1e-9)
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
            #expect(
                assessment.logRate.bitPattern
                    == (model.baseLogOdds + scale * words + author).bitPattern)
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
        let weights = EvidenceWeights(
            wordsFor: 2.995891, wordsAgainst: 1.434624, author: 1.476095, base: -0.122795)
        #expect(weights.inWords == "words for count 3.0 times, words against 1.4, the author 1.5")
        let five = EvidenceWeights(
            wordsFor: 1.464221, wordsAgainst: 1.054366,
            pairs: .init(for: 0.874152, against: 0.628955),
            author: 0.992073, base: -2.636988)
        #expect(
            five.inWords
                == "words for count 1.5 times, words against 1.1, pairs for 0.9, against 0.6, "
                + "the author 1.0")
    }
}
