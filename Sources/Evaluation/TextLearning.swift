import Favorites
import Foundation
import Posts
import Schedule

/// A measure of how well a mirror learns which texts a person would not say, on texts with known
/// labels.
///
/// A simulated person labels some of the texts, sometimes wrongly. The learned model then judges
/// texts without a label. The measure is the share of texts out of place among those that the model
/// prefers. Model, weights and thresholds are those of `TextTaste`.
package struct TextLearning: Encodable, Equatable, Sendable {
    /// The results for one number of labels, as means over the persons.
    package struct Row: Encodable, Equatable, Sendable {
        /// The name of the group of tested texts: `all`, `mixed` or `plain`.
        ///
        /// The group `all` has all texts. The group `mixed` has all texts in place, and so many
        /// texts out of place that their share is ``TextLearning/outOfPlace``. The group `plain`
        /// has the texts that the rules prefer.
        package let texts: String
        /// The number of labels of each person.
        package let labels: Int
        /// The share of texts out of place among those that the learned model prefers, as a mean
        /// over the persons.
        package let outOfPlace: Double
        /// The standard error of ``outOfPlace``.
        ///
        /// It is a lower bound, because all persons label the same texts.
        package let error: Double
        /// The share of the texts in place that the learned model prefers.
        package let inPlaceFirst: Double
    }

    /// The numbers of labels for which a row is computed.
    package static let steps = [0, 12, 20, 50, 100, 200]
    /// The probability that a person's label is wrong.
    package static let noise = 0.1
    /// The share of texts that are held out for the test.
    package static let heldOut = 0.25
    /// The share of texts out of place in the mix `mixed`.
    ///
    /// It is the share that strangers found among texts that bots had planned.
    package static let outOfPlace = 0.22

    package let persons: Int
    package let rows: [Row]

    /// A text with the label that a careful reader gives it.
    struct Text {
        let example: Example
        let isOutOfPlace: Bool
        /// Whether the rules prefer the text.
        let isPlain: Bool
    }

    /// - Parameter minimum: The number of labels of each kind that weights need to be learned.
    init(_ texts: [Text], extractor: FeatureExtractor, persons: Int, minimum: Int) {
        self.persons = persons
        var rows: [Row] = []
        let inPlace = texts.count { !$0.isOutOfPlace }
        let outOfPlaceInMix = Int(
            (Double(inPlace) * Self.outOfPlace / (1 - Self.outOfPlace)).rounded())
        for (name, texts, maximumOutOfPlace) in [
            ("all", texts, Int.max), ("mixed", texts, outOfPlaceInMix),
            ("plain", texts.filter(\.isPlain), Int.max),
        ] {
            let count =
                texts.count { !$0.isOutOfPlace }
                + min(maximumOutOfPlace, texts.count { $0.isOutOfPlace })
            let features = Dictionary(
                texts.map { ($0.example.id, extractor.features(of: $0.example.stored)) },
                uniquingKeysWith: { _, newer in newer })
            for labels in Self.steps where Double(labels) <= Double(count) * (1 - Self.heldOut) {
                let trials = (0..<persons).compactMap { person in
                    Self.trial(
                        of: person, texts: texts, maximumOutOfPlace: maximumOutOfPlace,
                        features: features, words: extractor.wordSelection, labels: labels,
                        minimum: minimum)
                }
                guard !trials.isEmpty else { continue }
                let outOfPlaceShares = trials.map(\.outOfPlace)
                let mean = outOfPlaceShares.reduce(0, +) / Double(outOfPlaceShares.count)
                let variance =
                    outOfPlaceShares.reduce(0) { sum, share in
                        let deviation = share - mean
                        return sum + deviation * deviation
                    }
                    / Double(max(1, outOfPlaceShares.count - 1))
                rows.append(
                    Row(
                        texts: name, labels: labels, outOfPlace: mean,
                        error: (variance / Double(outOfPlaceShares.count)).squareRoot(),
                        inPlaceFirst: trials.map(\.inPlaceFirst).reduce(0, +) / Double(trials.count)
                    ))
            }
        }
        self.rows = rows
    }

    /// Simulates one person; nil if the learned model prefers no text.
    private static func trial(
        of person: Int, texts: [Text], maximumOutOfPlace: Int, features: [PostID: FeatureSet],
        words: FeatureWords, labels: Int, minimum: Int
    ) -> (outOfPlace: Double, inPlaceFirst: Double)? {
        var generator = SplitMix64(seed: StableHash.fnv1a("person/1 \(person)"))
        var order = texts.map {
            (position: generator.nextUniform(), isWrong: generator.nextUniform() < noise, text: $0)
        }
        .sorted {
            ($0.position, $0.text.example.id.value) < ($1.position, $1.text.example.id.value)
        }
        var outOfPlaceCount = 0
        order.removeAll { entry in
            if entry.text.isOutOfPlace { outOfPlaceCount += 1 }
            return entry.text.isOutOfPlace && outOfPlaceCount > maximumOutOfPlace
        }
        if outOfPlaceCount > maximumOutOfPlace {
            // The remaining texts out of place are all at the beginning, so the order is drawn
            // again.
            order = order.map {
                (position: generator.nextUniform(), isWrong: $0.isWrong, text: $0.text)
            }
            .sorted {
                ($0.position, $0.text.example.id.value) < ($1.position, $1.text.example.id.value)
            }
        }
        let testedTexts = order.prefix(Int((Double(order.count) * heldOut).rounded()))
        let labelled = order.dropFirst(testedTexts.count).prefix(labels).map { entry in
            (text: entry.text, isAgainst: entry.text.isOutOfPlace != entry.isWrong)
        }
        var classifier = MemoryClassifier(words)
        func extract(_ example: Example) -> FeatureSet {
            features[example.id] ?? FeatureSet(words: [], author: nil)
        }
        classifier.learn(
            labelled.map { $0.isAgainst ? .favorited($0.text.example) : .seen($0.text.example) },
            extract)
        // With few labels, or with labels of one kind only, the model prefers every text.
        let labelsAgainst = labelled.count { $0.isAgainst }
        let hasNoOpinion =
            labelled.count < TextTaste.fewestLabels || labelsAgainst == 0
            || labelsAgainst == labelled.count
        if min(labelsAgainst, labelled.count - labelsAgainst) >= minimum {
            classifier.fitWeights(extract)
        }
        let preferredTexts = testedTexts.map(\.text).filter { text in
            hasNoOpinion
                || classifier.assess(extract(text.example)).byFeatures <= TextTaste.demotionMargin
        }
        guard !preferredTexts.isEmpty else { return nil }
        let inPlaceCount = testedTexts.count { !$0.text.isOutOfPlace }
        let preferredOutOfPlace = preferredTexts.count { $0.isOutOfPlace }
        let preferredInPlace = preferredTexts.count - preferredOutOfPlace
        return (
            outOfPlace: Double(preferredOutOfPlace) / Double(preferredTexts.count),
            inPlaceFirst: inPlaceCount == 0 ? 1 : Double(preferredInPlace) / Double(inPlaceCount)
        )
    }
}
