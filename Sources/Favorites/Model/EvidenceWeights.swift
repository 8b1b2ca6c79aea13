import Foundation

/// The evidence of a post for and against a favorite, by kind and in natural logarithms of odds,
/// before any weight.
package struct Evidence: Equatable, Sendable {
    /// The words' evidence for a favorite, divided by the square root of the number of all words;
    /// never below 0.
    package var wordsFor: Double
    /// The words' evidence against a favorite, divided by the same number; never above 0.
    package var wordsAgainst: Double
    /// The pairs' evidence for a favorite, divided by the square root of the number of all pairs;
    /// never below 0.
    package var pairsFor: Double
    /// The pairs' evidence against a favorite, divided by the same number; never above 0.
    package var pairsAgainst: Double
    /// The evidence of the runs of letters for a favorite, divided by the square root of the number
    /// of all runs; never below 0.
    package var spellingFor: Double
    /// The runs' evidence against a favorite, divided by the same number; never above 0.
    package var spellingAgainst: Double
    /// The evidence of the marks of form for a favorite, divided by the square root of the number
    /// of all marks; never below 0.
    package var formFor: Double
    /// The marks' evidence against a favorite, divided by the same number; never above 0.
    package var formAgainst: Double
    /// The evidence of the author; 0 for an author without learned posts.
    package var author: Double

    package init(
        wordsFor: Double, wordsAgainst: Double, pairsFor: Double = 0, pairsAgainst: Double = 0,
        spellingFor: Double = 0, spellingAgainst: Double = 0, formFor: Double = 0,
        formAgainst: Double = 0,
        author: Double
    ) {
        self.wordsFor = wordsFor
        self.wordsAgainst = wordsAgainst
        self.pairsFor = pairsFor
        self.pairsAgainst = pairsAgainst
        self.spellingFor = spellingFor
        self.spellingAgainst = spellingAgainst
        self.formFor = formFor
        self.formAgainst = formAgainst
        self.author = author
    }
}

/// The weight of each kind of evidence.
///
/// Naive Bayes gives all evidence the weight 1. The best weights differ by human: one favorites by
/// author, another by a few words. No weight is below zero, so that a weight never changes the sign
/// of a word's evidence.
package struct EvidenceWeights: Equatable, Sendable {
    /// The two weights of one kind of feature.
    package struct Sides: Equatable, Sendable {
        package var speakingFor: Double
        package var speakingAgainst: Double

        package init(for speakingFor: Double, against speakingAgainst: Double) {
            self.speakingFor = speakingFor
            self.speakingAgainst = speakingAgainst
        }

        /// The weight of a feature with this evidence.
        fileprivate func factor(of evidence: Double) -> Double {
            evidence > 0 ? speakingFor : speakingAgainst
        }

        fileprivate var vector: [Double] { [speakingFor, speakingAgainst] }
    }

    package var wordsFor: Double
    package var wordsAgainst: Double
    /// Nil if pairs are not used as features.
    package var pairs: Sides?
    /// Nil if runs of letters are not used as features.
    package var spelling: Sides?
    /// Nil if the form of a text is not used as a feature.
    package var form: Sides?
    package var author: Double
    /// The constant that is added for every post.
    package var base: Double

    package init(
        wordsFor: Double, wordsAgainst: Double, pairs: Sides? = nil, spelling: Sides? = nil,
        form: Sides? = nil,
        author: Double, base: Double
    ) {
        self.wordsFor = wordsFor
        self.wordsAgainst = wordsAgainst
        self.pairs = pairs
        self.spelling = spelling
        self.form = form
        self.author = author
        self.base = base
    }

    /// The model without weights: all weights are 1, and nothing is added.
    package static let plain = EvidenceWeights(wordsFor: 1, wordsAgainst: 1, author: 1, base: 0)
    /// The plain weights if pairs are features: pairs count half, because they repeat the evidence
    /// of their words.
    package static let plainWithPairs = plain(of: .pairs)
    private static let plainPairs = Sides(for: 0.5, against: 0.5)
    /// The plain weights of runs of letters, which repeat the evidence of words more often than
    /// pairs do.
    private static let plainRuns = Sides(for: 0.3, against: 0.3)

    /// The weights that are used while none were learned for such features.
    package static func plain(of words: FeatureWords) -> EvidenceWeights {
        EvidenceWeights(
            wordsFor: 1, wordsAgainst: 1, pairs: words.hasPairs ? plainPairs : nil,
            spelling: words.hasSpelling ? plainRuns : nil, form: words.hasForm ? plainRuns : nil,
            author: 1, base: 0)
    }

    /// The plain weights for the same kinds of features.
    var plainCounterpart: EvidenceWeights {
        EvidenceWeights(
            wordsFor: 1, wordsAgainst: 1, pairs: pairs.map { _ in Self.plainPairs },
            spelling: spelling.map { _ in Self.plainRuns }, form: form.map { _ in Self.plainRuns },
            author: 1, base: 0)
    }

    /// Whether words and the author are the only kinds of features.
    var isOfWordsAlone: Bool { pairs == nil && spelling == nil && form == nil }

    /// Whether these weights are for exactly the kinds of features of a choice.
    func hasKinds(of words: FeatureWords) -> Bool {
        (pairs != nil) == words.hasPairs && (spelling != nil) == words.hasSpelling
            && (form != nil) == words.hasForm
    }

    /// Whether these weights are the plain ones.
    package var isPlain: Bool { self == plainCounterpart }

    /// The weight of a word with this evidence.
    func factor(ofWord evidence: Double) -> Double { evidence > 0 ? wordsFor : wordsAgainst }

    /// The weight of a pair with this evidence.
    func factor(ofPair evidence: Double) -> Double { pairs?.factor(of: evidence) ?? 0 }

    /// The weight of a run of letters with this evidence.
    func factor(ofRun evidence: Double) -> Double { spelling?.factor(of: evidence) ?? 0 }

    /// The weight of a mark of form with this evidence.
    func factor(ofMark evidence: Double) -> Double { form?.factor(of: evidence) ?? 0 }

    /// Returns the amount that a post's evidence adds to the log odds of the base rate.
    package func logOdds(of evidence: Evidence) -> Double {
        var logOdds =
            base + wordsFor * evidence.wordsFor + wordsAgainst * evidence.wordsAgainst + author
            * evidence.author
        if let pairs {
            logOdds =
                logOdds + pairs.speakingFor * evidence.pairsFor + pairs.speakingAgainst
                * evidence.pairsAgainst
        }
        if let spelling {
            logOdds +=
                spelling.speakingFor * evidence.spellingFor + spelling.speakingAgainst
                * evidence.spellingAgainst
        }
        if let form {
            logOdds +=
                form.speakingFor * evidence.formFor + form.speakingAgainst * evidence.formAgainst
        }
        return logOdds
    }

    /// The weights in words for people, such as `words for count 3.0 times, words against 1.4, the
    /// author 1.5`, with pairs, spelling and form before the author.
    package var inWords: String {
        func formatted(_ weight: Double) -> String { String(format: "%.1f", weight) }
        let optionalParts = [("pairs", pairs), ("spelling", spelling), ("form", form)].map {
            name, sides in
            sides.map {
                "\(name) for \(formatted($0.speakingFor)), against \(formatted($0.speakingAgainst)), "
            } ?? ""
        }
        return
            "words for count \(formatted(wordsFor)) times, words against \(formatted(wordsAgainst)), "
            + optionalParts.joined() + "the author \(formatted(author))"
    }

    /// The weights as a vector in the order of the fit: words for, words against, the same of
    /// pairs, spelling and form if they are features, author, base.
    fileprivate var vector: [Double] {
        [wordsFor, wordsAgainst] + [pairs, spelling, form].compactMap { $0?.vector }.flatMap { $0 }
            + [author, base]
    }

    /// Whether every weight lies in a range; the base need only be a number.
    func isWithin(_ limits: ClosedRange<Double>) -> Bool {
        vector.dropLast().allSatisfy(limits.contains) && base.isFinite
    }

    /// The inverse of ``vector`` for such features.
    fileprivate init(_ vector: [Double], of words: FeatureWords) {
        var remaining = vector.dropFirst(2)
        func sides(_ isFeature: Bool) -> Sides? {
            guard isFeature else { return nil }
            let sides = Sides(
                for: remaining[remaining.startIndex], against: remaining[remaining.startIndex + 1])
            remaining = remaining.dropFirst(2)
            return sides
        }
        let pairs = sides(words.hasPairs)
        let spelling = sides(words.hasSpelling)
        let form = sides(words.hasForm)
        self.init(
            wordsFor: vector[0], wordsAgainst: vector[1], pairs: pairs, spelling: spelling,
            form: form,
            author: vector[vector.count - 2], base: vector[vector.count - 1])
    }
}

extension Evidence {
    /// The evidence as a vector in the order of ``EvidenceWeights/vector``, with 1 for the base.
    fileprivate func vector(of words: FeatureWords) -> [Double] {
        var vector = [wordsFor, wordsAgainst]
        if words.hasPairs { vector += [pairsFor, pairsAgainst] }
        if words.hasSpelling { vector += [spellingFor, spellingAgainst] }
        if words.hasForm { vector += [formFor, formAgainst] }
        return vector + [author, 1]
    }
}

/// A fit of the weights that separate learned posts best, each judged by all others.
///
/// It is a logistic regression on words for and against and the author, and on two sides more for
/// each of pairs, spelling and form, with a penalty for the distance from the plain weights that is
/// as strong as a few posts. The minimised sum is strictly convex, so that any exact method of
/// minimising it gives the same weights.
package struct WeightFit: Sendable {
    /// A learned post with its evidence by the counts of all others.
    package struct Sample: Equatable, Sendable {
        package let evidence: Evidence
        package let isFavorite: Bool

        package init(_ evidence: Evidence, isFavorite: Bool) {
            self.evidence = evidence
            self.isFavorite = isFavorite
        }
    }

    /// The number of examples that are used: the newest ones.
    package static let mostExamples = 4_000
    /// The penalty for each weight's distance from the plain one; the penalty for the base's
    /// distance from 0 is 1.
    package static let ridge = 10.0
    /// The range of each weight.
    package static let limits = 0.25...4.0
    /// The range with pairs, spelling or form: the fit may ignore words in favor of these, or these
    /// in favor of words.
    package static let limitsWithPairs = 0.0...4.0
    private static let mostSteps = 50
    /// The fit ends if the sum can fall by no more than this for each example.
    private static let precision = 1e-12
    /// A step is kept if the sum falls by at least this part of the fall that its slope predicts
    /// (Armijo's condition); otherwise the step is halved.
    private static let leastDescent = 1e-4

    package let weights: EvidenceWeights
    /// The minimised sum at the plain weights.
    package let plainSum: Double
    /// The minimised sum at ``weights``, which is never above it.
    package let weightedSum: Double
    /// The mean log loss of the samples at the plain weights.
    package let plainLoss: Double
    /// The mean loss at ``weights``.
    package let weightedLoss: Double

    /// - Parameters:
    ///   - samples: The posts; an empty list gives the plain weights.
    ///   - ridge: The penalty for each weight's distance from the plain one.
    ///   - limits: The range of each weight; nil for the default range. A weight outside is set to
    ///     the bound, and the other weights are fitted again.
    package init(
        _ samples: [Sample], of words: FeatureWords, ridge: Double = Self.ridge,
        limits: ClosedRange<Double>? = nil
    ) {
        let limits = limits ?? Self.limits(of: words)
        let plain = EvidenceWeights.plain(of: words).vector
        let penalizedLoss = PenalizedLoss(samples, of: words, around: plain, ridge: ridge)
        var vector = plain
        var freeIndices = Array(plain.indices)
        // The last variable is the base, which has no limits.
        let base = plain.count - 1
        while true {
            vector = Self.minimum(of: penalizedLoss, from: vector, free: freeIndices)
            let indicesOutside = freeIndices.filter { $0 != base && !limits.contains(vector[$0]) }
            if indicesOutside.isEmpty { break }
            for index in indicesOutside {
                vector[index] = min(max(vector[index], limits.lowerBound), limits.upperBound)
            }
            freeIndices.removeAll(where: indicesOutside.contains)
        }
        weights = EvidenceWeights(vector, of: words)
        plainSum = penalizedLoss.value(at: plain)
        weightedSum = penalizedLoss.value(at: vector)
        plainLoss = penalizedLoss.meanLoss(at: plain)
        weightedLoss = penalizedLoss.meanLoss(at: vector)
    }

    /// The range of each weight for such features.
    static func limits(of words: FeatureWords) -> ClosedRange<Double> {
        words.hasPairs || words.hasSpelling || words.hasForm ? limitsWithPairs : limits
    }

    /// Newton's method with step halving over the free variables.
    private static func minimum(
        of loss: PenalizedLoss, from start: [Double], free freeIndices: [Int]
    )
        -> [Double]
    {
        var vector = start
        var value = loss.value(at: vector)
        for _ in 0..<mostSteps {
            let (gradient, curvature) = loss.derivatives(at: vector, free: freeIndices)
            let step = curvature.solved(for: gradient)
            let predictedDescent = zip(gradient, step).reduce(0) { $0 + $1.0 * $1.1 }
            guard predictedDescent >= precision * Double(loss.count) else { break }
            // Without halving, steps may lead ever further away from the minimum.
            var length = 1.0
            var candidate = vector
            repeat {
                candidate = vector
                for (index, component) in zip(freeIndices, step) {
                    candidate[index] -= length * component
                }
                let newValue = loss.value(at: candidate)
                if newValue <= value - leastDescent * length * predictedDescent {
                    value = newValue
                    break
                }
                length /= 2
            } while length > .ulpOfOne
            // If no step is short enough, the floating-point precision of the sum is exhausted.
            guard length > .ulpOfOne else { break }
            vector = candidate
        }
        return vector
    }
}

/// The log loss of samples under weights, with the penalty for the weights' distance from plain
/// ones.
private struct PenalizedLoss {
    /// The evidence of a sample, and 1 for the base.
    private let rows: [[Double]]
    /// The sign of each sample: 1 for a favorite, else -1.
    private let signs: [Double]
    /// ln of the odds of a favorite among the samples, because training sets are balanced, unlike
    /// the timeline.
    private let center: Double
    private let plain: [Double]
    private let penalties: [Double]

    init(
        _ samples: [WeightFit.Sample], of words: FeatureWords, around plain: [Double], ridge: Double
    ) {
        let base = plain.count - 1
        rows = samples.map { $0.evidence.vector(of: words) }
        signs = samples.map { $0.isFavorite ? 1 : -1 }
        let favorites = Double(samples.count { $0.isFavorite })
        center = log((favorites + 0.5) / (Double(samples.count) - favorites + 0.5))
        self.plain = plain
        penalties = plain.indices.map { $0 == base ? 1 : ridge }
    }

    var count: Int { rows.count }

    func value(at vector: [Double]) -> Double {
        var penalty = 0.0
        for index in vector.indices {
            let distance = vector[index] - plain[index]
            penalty += penalties[index] * distance * distance
        }
        return loss(at: vector) + penalty / 2
    }

    func meanLoss(at vector: [Double]) -> Double {
        count == 0 ? 0 : loss(at: vector) / Double(count)
    }

    private func loss(at vector: [Double]) -> Double {
        var total = 0.0
        for index in rows.indices {
            total += LogLoss.loss(of: signs[index] * logOdds(rows[index], vector))
        }
        return total
    }

    private func logOdds(_ row: [Double], _ vector: [Double]) -> Double {
        let base = vector.count - 1
        var weightedSum = vector[0] * row[0]
        for index in 1..<base { weightedSum += vector[index] * row[index] }
        return center + vector[base] + weightedSum
    }

    /// The gradient and the second derivatives in the free variables.
    func derivatives(at vector: [Double], free: [Int]) -> (
        gradient: [Double], curvature: SymmetricMatrix
    ) {
        var gradient = free.map { penalties[$0] * (vector[$0] - plain[$0]) }
        var curvature = SymmetricMatrix(diagonal: free.map { penalties[$0] })
        for index in rows.indices {
            let row = rows[index]
            let probability = 1 / (1 + exp(-logOdds(row, vector)))
            let residual = probability - (signs[index] > 0 ? 1 : 0)
            let curvatureFactor = probability * (1 - probability)
            for (line, first) in free.enumerated() {
                gradient[line] += residual * row[first]
                for (column, second) in free.enumerated().prefix(line + 1) {
                    curvature[line, column] += curvatureFactor * row[first] * row[second]
                }
            }
        }
        return (gradient, curvature)
    }
}

/// The log loss of a probability.
package enum LogLoss {
    /// ln(1 + exp(-z)), where z is the log odds of the outcome; accurate for any z.
    package static func loss(of logOdds: Double) -> Double {
        max(-logOdds, 0) + log1p(exp(-abs(logOdds)))
    }
}

/// A small positive definite matrix, of which the lower half is stored.
private struct SymmetricMatrix {
    private var rows: [[Double]]

    init(diagonal: [Double]) {
        rows = diagonal.indices.map { line in
            diagonal.indices.map { $0 == line ? diagonal[line] : 0 }
        }
    }

    subscript(_ line: Int, _ column: Int) -> Double {
        get { rows[line][column] }
        set { rows[line][column] = newValue }
    }

    /// The solution x of the equation `self` · x = `right`, by Cholesky decomposition.
    func solved(for right: [Double]) -> [Double] {
        var root = rows
        var solution = right
        for line in rows.indices {
            for column in 0...line {
                let solved = (0..<column).reduce(0) { $0 + root[line][$1] * root[column][$1] }
                let reduced = rows[line][column] - solved
                root[line][column] =
                    line == column ? reduced.squareRoot() : reduced / root[column][column]
            }
        }
        for line in rows.indices {
            let solved = (0..<line).reduce(0) { $0 + root[line][$1] * solution[$1] }
            solution[line] = (solution[line] - solved) / root[line][line]
        }
        for line in rows.indices.reversed() {
            let solved = (line + 1..<rows.count).reduce(0) { $0 + root[$1][line] * solution[$1] }
            solution[line] = (solution[line] - solved) / root[line][line]
        }
        return solution
    }
}
