import Favorites
import Foundation
import Posts
import Schedule

/// How well a mirror learns which texts a person would not say, measured on texts with known
/// labels.
///
/// A simulated person labels some of the texts, sometimes wrongly. The learned model then judges
/// texts without a label: how many of the preferred ones are out of place. Model, weights and
/// thresholds are those of `TextTaste`.
package struct TextLearning: Encodable, Equatable, Sendable {
    /// The results for one number of labels, as means over the persons.
    package struct Row: Encodable, Equatable, Sendable {
        /// `all` for all texts, `mixed` for all texts in place and as many others as make the share
        /// ``outOfPlace``, `plain` for the texts that the rules prefer.
        package let texts: String
        /// The number of labels of each person.
        package let labels: Int
        /// The share of the preferred texts that are out of place.
        package let outOfPlace: Double
        /// The standard error of that mean; persons share their texts, so it is a lower bound.
        package let error: Double
        /// The share of the texts in place that are preferred.
        package let inPlaceFirst: Double
    }

    /// The numbers of labels that are tried.
    package static let steps = [0, 12, 20, 50, 100, 200]
    /// The rate of wrong labels.
    package static let noise = 0.1
    /// The share of texts that are held out for the test.
    package static let heldOut = 0.25
    /// The share of texts out of place in a mix like the one that bots had planned when strangers
    /// judged it.
    package static let outOfPlace = 0.22

    package let persons: Int
    package let rows: [Row]

    /// A text with the label that a careful reader gives it.
    struct Text {
        let example: Example
        let isOutOfPlace: Bool
        /// Whether the rules prefer it.
        let isPlain: Bool
    }

    /// - Parameter minimum: The number of labels of each kind from which on weights are learned.
    init(_ texts: [Text], _ extractor: FeatureExtractor, persons: Int, minimum: Int) {
        self.persons = persons
        var rows: [Row] = []
        let inPlace = texts.count { !$0.isOutOfPlace }
        let others = Int((Double(inPlace) * Self.outOfPlace / (1 - Self.outOfPlace)).rounded())
        for (name, texts, limit) in [
            ("all", texts, Int.max), ("mixed", texts, others),
            ("plain", texts.filter(\.isPlain), Int.max),
        ] {
            let count =
                texts.count { !$0.isOutOfPlace } + min(limit, texts.count { $0.isOutOfPlace })
            let features = Dictionary(
                texts.map { ($0.example.id, extractor.features(of: $0.example.stored)) },
                uniquingKeysWith: { $1 })
            for labels in Self.steps where Double(labels) <= Double(count) * (1 - Self.heldOut) {
                let found = (0..<persons).compactMap {
                    Self.trial(
                        of: $0, texts, limit, features, extractor.wordSelection, labels: labels,
                        minimum: minimum)
                }
                guard !found.isEmpty else { continue }
                let shares = found.map(\.outOfPlace)
                let mean = shares.reduce(0, +) / Double(shares.count)
                let spread =
                    shares.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
                    / Double(max(1, shares.count - 1))
                rows.append(
                    Row(
                        texts: name, labels: labels, outOfPlace: mean,
                        error: (spread / Double(shares.count)).squareRoot(),
                        inPlaceFirst: found.map(\.inPlaceFirst).reduce(0, +) / Double(found.count)))
            }
        }
        self.rows = rows
    }

    /// Simulates one person; nil if no preferred text is left.
    private static func trial(
        of person: Int, _ texts: [Text], _ limit: Int, _ features: [PostID: FeatureSet],
        _ words: FeatureWords,
        labels: Int, minimum: Int
    ) -> (outOfPlace: Double, inPlaceFirst: Double)? {
        var generator = SplitMix64(seed: StableHash.fnv1a("person/1 \(person)"))
        var order = texts.map {
            (place: generator.nextUniform(), isWrong: generator.nextUniform() < noise, text: $0)
        }
        .sorted { ($0.place, $0.text.example.id.value) < ($1.place, $1.text.example.id.value) }
        var others = 0
        order.removeAll { one in
            others += one.text.isOutOfPlace ? 1 : 0
            return one.text.isOutOfPlace && others > limit
        }
        if others > limit {
            // The remaining texts out of place are all at the beginning, so the order is drawn
            // again.
            order = order.map {
                (place: generator.nextUniform(), isWrong: $0.isWrong, text: $0.text)
            }
            .sorted { ($0.place, $0.text.example.id.value) < ($1.place, $1.text.example.id.value) }
        }
        let asked = order.prefix(Int((Double(order.count) * heldOut).rounded()))
        let labelled = order.dropFirst(asked.count).prefix(labels).map { one in
            (text: one.text, isAgainst: one.text.isOutOfPlace != one.isWrong)
        }
        var classifier = MemoryClassifier(words)
        func extract(_ example: Example) -> FeatureSet {
            features[example.id] ?? FeatureSet(words: [], author: nil)
        }
        classifier.learn(
            labelled.map { $0.isAgainst ? .favorited($0.text.example) : .seen($0.text.example) },
            extract)
        let against = labelled.count { $0.isAgainst }
        let isSilent =
            labelled.count < TextTaste.fewest || against == 0 || against == labelled.count
        if min(against, labelled.count - against) >= minimum { classifier.fitWeights(extract) }
        let first = asked.map(\.text).filter { text in
            isSilent || classifier.assess(extract(text.example)).byFeatures <= TextTaste.margin
        }
        guard !first.isEmpty else { return nil }
        let inPlace = asked.count { !$0.text.isOutOfPlace }
        let bad = first.count { $0.isOutOfPlace }
        return (
            Double(bad) / Double(first.count),
            inPlace == 0 ? 1 : Double(first.count - bad) / Double(inPlace)
        )
    }
}
