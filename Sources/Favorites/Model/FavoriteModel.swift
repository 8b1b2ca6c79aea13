import Foundation

/// Naive Bayes over document counts, in natural logarithms.
///
/// Each feature's probability of a favorite is shrunk towards the share of favorites among all
/// learned posts with a weight of five posts (Segaran's weighted probability). One departure from
/// naive Bayes: the words of a post are correlated, so their summed evidence grows with the square
/// root of their number; the author counts in full. No term can be infinite: the weight keeps every
/// numerator and denominator above zero.
///
/// Pairs of neighbouring words, runs of letters and marks of form are counted like words, and each
/// kind is summed separately, divided by the square root of its own number.
///
/// The weight of each kind may be learned (``EvidenceWeights``); with plain weights words and
/// author count once.
package struct FavoriteModel: Sendable {
    /// The prior probability of a favorite.
    package static let assumedProbability = 0.1
    /// The weight of the prior, in posts.
    package static let priorWeight = 5.0

    /// The log odds of a favorite on the timeline.
    package let baseLogOdds: Double
    private let favoriteMass: Double
    private let normalMass: Double
    private let learnedLogOdds: Double
    private let weights: EvidenceWeights

    package init(_ counts: CategoryCounts, weights: EvidenceWeights = .plain) {
        self.weights = weights
        let assumedFavorites = Self.priorWeight * Self.assumedProbability
        let total = Self.priorWeight + Double(counts.favorites) + Double(counts.normals)
        // Both shares are computed from counts, not as 1 - p, which would lose digits near 1.
        let favoriteShare = (assumedFavorites + Double(counts.favorites)) / total
        let normalShare = (Self.priorWeight - assumedFavorites + Double(counts.normals)) / total
        favoriteMass = Self.priorWeight * favoriteShare
        normalMass = Self.priorWeight * normalShare
        learnedLogOdds = log(favoriteShare / normalShare)
        let unfavorited = Double(counts.seen) - Double(counts.seenFavorites)
        baseLogOdds = log(
            (assumedFavorites + Double(counts.seenFavorites))
                / (Self.priorWeight - assumedFavorites + unfavorited))
    }

    /// The amount by which a feature changes the log odds of a favorite; 0 for a feature that was
    /// never learned.
    package func evidence(_ count: FeatureCount) -> Double {
        guard count != FeatureCount() else { return 0 }
        return log((favoriteMass + Double(count.favorite)) / (normalMass + Double(count.normal)))
            - learnedLogOdds
    }

    /// The weighted amount by which a word or a pair changes the log odds of a favorite; 0 for a
    /// pair if pairs are not used.
    ///
    /// In a post with several words each counts less, see ``Assessment/contributions``.
    package func weightedEvidence(ofWord feature: String, _ count: FeatureCount) -> Double {
        let evidence = evidence(count)
        return evidence
            * (WordPair.isPair(feature)
                ? weights.factor(ofPair: evidence) : weights.factor(ofWord: evidence))
    }

    /// Weighs the features of one post.
    ///
    /// - Parameters:
    ///   - count: Returns the count of a feature.
    /// - Returns: The logarithm of the favorite rate P(favorite) / P(normal), and the contribution
    ///   of each feature.
    package func assess(_ features: FeatureSet, count: (String) -> FeatureCount) -> Assessment {
        let weighed = features.all.map { weigh($0, count($0)) }
        return assess(FeatureIndex.Places(of: features), of: weighed)
    }

    /// Returns the contribution of a feature by itself, without regard to the number of words in
    /// the post.
    func weigh(_ feature: String, _ count: FeatureCount) -> Contribution {
        Contribution(feature: feature, logOdds: evidence(count), count: count)
    }

    /// Weighs one post from contributions that were computed before.
    func assess(_ places: FeatureIndex.Places, of weighed: [Contribution]) -> Assessment {
        let scale = Assessment.scale(of: places.words)
        let author = places.author.map { weighed[$0].logOdds } ?? 0
        var wordEvidence = 0.0
        var wordsFor = 0.0
        var wordsAgainst = 0.0
        for place in places.words {
            let evidence = weighed[place].logOdds
            wordEvidence += evidence
            if evidence > 0 { wordsFor += evidence } else { wordsAgainst += evidence }
        }
        func sides(_ places: [Int]) -> (speakingFor: Double, speakingAgainst: Double) {
            let scale = Assessment.scale(of: places)
            var speakingFor = 0.0
            var speakingAgainst = 0.0
            for place in places {
                let evidence = weighed[place].logOdds
                if evidence > 0 { speakingFor += evidence } else { speakingAgainst += evidence }
            }
            return (scale * speakingFor, scale * speakingAgainst)
        }
        let pairs = sides(places.pairs)
        let spelling = sides(places.spelling)
        let form = sides(places.form)
        let evidence = Evidence(
            wordsFor: scale * wordsFor, wordsAgainst: scale * wordsAgainst,
            pairsFor: pairs.speakingFor,
            pairsAgainst: pairs.speakingAgainst, spellingFor: spelling.speakingFor,
            spellingAgainst: spelling.speakingAgainst, formFor: form.speakingFor,
            formAgainst: form.speakingAgainst,
            author: author)
        // The plain sum adds the words in another order than the weighted sum, so the two can
        // differ in the last digit.
        let plain =
            weights.isOfWordsAlone
            ? baseLogOdds + scale * wordEvidence + author
            : baseLogOdds + weights.plainCounterpart.logOdds(of: evidence)
        return Assessment(
            logRate: weights.isPlain ? plain : baseLogOdds + weights.logOdds(of: evidence),
            plainLogRate: plain,
            baseLogOdds: baseLogOdds + weights.base, evidence: evidence, weights: weights,
            places: places,
            weighed: weighed)
    }

    /// A learned post as a sample: its own part is subtracted from every count.
    ///
    /// A word or an author that no other post has gives no evidence. The share of favorites still
    /// includes the post.
    ///
    /// - Parameters:
    ///   - isFavorite: The category in which it is counted.
    ///   - count: Returns the count of a feature, that post included.
    func sample(_ features: FeatureSet, isFavorite: Bool, count: (String) -> FeatureCount)
        -> WeightFit.Sample
    {
        let withoutPost = assess(features) { count($0).withoutPost(isFavorite: isFavorite) }
        return WeightFit.Sample(withoutPost.evidence, isFavorite: isFavorite)
    }

    /// Makes the sample from counts that were read before.
    func sample(_ places: FeatureIndex.Places, isFavorite: Bool, of snapshot: CountSnapshot)
        -> WeightFit.Sample
    {
        let withoutPost = places.all.map {
            weigh(
                snapshot.requestedFeatures[$0],
                snapshot.counts[$0].withoutPost(isFavorite: isFavorite))
        }
        let assessment = assess(places.placesInAll, of: withoutPost)
        return WeightFit.Sample(assessment.evidence, isFavorite: isFavorite)
    }
}

/// The contribution of one feature to the log of the favorite rate.
package struct Contribution: Equatable, Sendable {
    /// A word, a pair of words (``WordPair``), a `#hashtag`, the `@author`, a run of letters
    /// (``Spelling``) or a mark of form (``TextForm``).
    package let feature: String
    /// The amount that the feature adds to the log odds: positive for a favorite, negative against
    /// it.
    ///
    /// It is weighted, and for all features but the author divided by the square root of the number
    /// of features of the kind.
    package private(set) var logOdds: Double
    /// The number of learned favorites with the feature.
    package let favoriteCount: Int64
    /// The number of learned normal posts with the feature.
    package let normalCount: Int64

    init(feature: String, logOdds: Double, count: FeatureCount) {
        self.feature = feature
        self.logOdds = logOdds
        self.favoriteCount = count.favorite
        self.normalCount = count.normal
    }

    fileprivate func scaled(by factor: Double) -> Contribution {
        var scaled = self
        scaled.logOdds *= factor
        return scaled
    }
}

/// The favorite rate of one post and the contributions to it.
package struct Assessment: Equatable, Sendable {
    /// ln(P(favorite) / P(normal)); always finite.
    package let logRate: Double
    /// The log rate with plain weights.
    package let plainLogRate: Double
    /// The part of ``logRate`` that is the same for every post: the base rate, and the weights'
    /// constant.
    package let baseLogOdds: Double
    /// The log odds of each kind of feature, before they are weighted.
    package let evidence: Evidence
    /// The weight of each kind of feature.
    package let weights: EvidenceWeights
    fileprivate let places: FeatureIndex.Places
    fileprivate let weighed: [Contribution]

    /// The part of ``logRate`` that each feature contributes, the strongest first; computed on each
    /// access.
    package var contributions: [Contribution] {
        func scaled(_ places: [Int], _ factor: (Double) -> Double) -> [Contribution] {
            let scale = Self.scale(of: places)
            return places.map { weighed[$0].scaled(by: scale * factor(weighed[$0].logOdds)) }
        }
        let author = places.author.map { [weighed[$0].scaled(by: weights.author)] } ?? []
        let unsorted =
            scaled(places.words, weights.factor(ofWord:))
            + scaled(places.pairs, weights.factor(ofPair:))
            + scaled(places.spelling, weights.factor(ofRun:))
            + scaled(places.form, weights.factor(ofMark:)) + author
        return unsorted.sorted { abs($0.logOdds) > abs($1.logOdds) }
    }

    /// The factor of each feature of a kind, before it is weighted: 1 / √number.
    fileprivate static func scale(of places: [Int]) -> Double {
        places.isEmpty ? 0 : 1 / Double(places.count).squareRoot()
    }

    /// The ``contributions``, grouped for people.
    package struct Groups: Sendable {
        /// The sum of some contributions, and their number.
        package struct Sum: Equatable, Sendable {
            package let count: Int
            package let logOdds: Double

            package init(_ contributions: [Contribution]) {
                count = contributions.count
                logOdds = contributions.reduce(0) { $0 + $1.logOdds }
            }
        }

        /// The strongest meaningful words, pairs and author, the strongest first.
        package let strongest: [Contribution]
        /// The sum of the words, pairs and author that are not among the strongest.
        package let rest: Sum
        /// The part of ``rest`` from single words.
        package let restOfWords: Sum
        /// The part of ``rest`` from pairs of words.
        package let restOfPairs: Sum
        /// The sum of all runs of letters.
        package let spelling: Sum
        /// The marks of form, the strongest first.
        package let form: [Contribution]
    }

    /// Groups the contributions for people: signs, function words and runs of letters appear only
    /// as sums.
    ///
    /// - Parameter number: The most words and authors that are listed one by one.
    /// - Returns: Groups with the same total as ``contributions``.
    package func grouped(atMost number: Int = .max) -> Groups {
        let groupedContributions = contributions.map {
            (group: FeatureGroup(of: $0.feature), contribution: $0)
        }
        func members(of groups: FeatureGroup...) -> [Contribution] {
            groupedContributions.filter { groups.contains($0.group) }.map(\.contribution)
        }
        let listable = members(of: .words, .author)
        let strongest = Array(
            listable.filter { !SmallFeatures.contains($0.feature) }.prefix(number))
        let listedFeatures = Set(strongest.map(\.feature))
        let unlisted = listable.filter { !listedFeatures.contains($0.feature) }
        return Groups(
            strongest: strongest, rest: .init(unlisted),
            restOfWords: .init(unlisted.filter { !WordPair.isPair($0.feature) }),
            restOfPairs: .init(unlisted.filter { WordPair.isPair($0.feature) }),
            spelling: .init(members(of: .spelling)), form: members(of: .form))
    }

    /// Two assessments are equal if they have the same values for the same features, whatever the
    /// positions.
    package static func == (left: Assessment, right: Assessment) -> Bool {
        left.logRate == right.logRate && left.baseLogOdds == right.baseLogOdds
            && left.weights == right.weights
            && left.contributions == right.contributions
    }

    /// P(favorite) / P(normal), for display; comparisons are made with ``logRate``.
    package var rate: Double { exp(logRate) }
    /// P(favorite), from 0 to 1.
    package var probability: Double { Self.probability(ofLogRate: logRate) }

    /// P(favorite) where ln(P(favorite) / P(normal)) is `logRate`.
    package static func probability(ofLogRate logRate: Double) -> Double {
        logRate >= 0 ? 1 / (1 + exp(-logRate)) : exp(logRate) / (1 + exp(logRate))
    }
}
