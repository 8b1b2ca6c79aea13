import Foundation

/// Compares texts by their words.
///
/// Signs, marks and emoji do not count as words, so that two texts are not alike only because both
/// end with a question mark.
///
/// The likeness is the cosine of the texts' vectors. A word that occurs n times in a text has the
/// weight (1 + ln n)·ln((1 + N)/(1 + df)) there, where df of N known texts have the word: a word in
/// all of them has no weight, and one in none of them still has some. Sums run in the order of the
/// words, so that the result is bit-identical on every machine.
package struct WordLikeness: Sendable {
    /// How often each word occurs in a text.
    package typealias Words = [String: Int]

    /// A text as a vector.
    package struct Vector: Sendable {
        /// The words that have a weight, in alphabetical order.
        fileprivate let parts: [(word: String, weight: Double)]
        fileprivate let length: Double

        fileprivate init(_ parts: [(word: String, weight: Double)]) {
            self.parts = parts
            length = parts.reduce(0) { $0 + $1.weight * $1.weight }.squareRoot()
        }
    }

    private let textCount: Int
    /// For each word, the number of texts that have it.
    private let frequencies: [String: Int]

    /// - Parameter texts: The texts, as words, from which the weights of words are derived.
    package init(_ texts: some Collection<Words>) {
        textCount = texts.count
        var frequencies: [String: Int] = [:]
        for words in texts {
            for word in words.keys where Self.isWord(word) { frequencies[word, default: 0] += 1 }
        }
        self.frequencies = frequencies
    }

    package func vector(_ words: Words) -> Vector {
        Vector(
            words.filter { Self.isWord($0.key) }.sorted { $0.key < $1.key }.compactMap {
                word, count in
                let weight = (1 + log(Double(max(1, count)))) * inverseFrequency(of: word)
                return weight > 0 ? (word, weight) : nil
            })
    }

    /// Whether a word has a letter or a digit; marks that count as letters, such as "ー", are not
    /// enough.
    private static func isWord(_ word: String) -> Bool {
        word.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber,
                .letterNumber,
                .otherNumber:
                true
            default: false
            }
        }
    }

    private func inverseFrequency(of word: String) -> Double {
        log(Double(1 + textCount) / Double(1 + frequencies[word, default: 0]))
    }

    /// A sum of texts, with which others are compared in one step.
    package struct Sum: Sendable {
        private var weights: [String: Double] = [:]
        private var textCount = 0

        package init() {}

        package mutating func add(_ vector: Vector) {
            textCount += 1
            guard vector.length > 0 else { return }
            for (word, weight) in vector.parts {
                weights[word, default: 0] += weight / vector.length
            }
        }

        /// Returns the mean likeness of a text to the texts of the sum; 0 without any.
        ///
        /// - Parameter isIncluded: Whether the text is one of them; it is then left out of the
        ///   comparison.
        package func likeness(to vector: Vector, isIncluded: Bool) -> Double {
            let otherTexts = isIncluded ? textCount - 1 : textCount
            guard otherTexts > 0, vector.length > 0 else { return 0 }
            let dot =
                vector.parts.reduce(0) { $0 + $1.weight * weights[$1.word, default: 0] }
                / vector.length
            return max(0, isIncluded ? dot - 1 : dot) / Double(otherTexts)
        }
    }

    /// Compares two texts.
    ///
    /// - Returns: The likeness, from 0 for nothing in common to 1; and the common words, those that
    ///   contribute most first.
    package static func compare(_ first: Vector, _ second: Vector) -> (
        likeness: Double, common: [String]
    ) {
        var dot = 0.0
        var common = [(word: String, product: Double)]()
        var left = first.parts[...]
        var right = second.parts[...]
        while let leftPart = left.first, let rightPart = right.first {
            if leftPart.word == rightPart.word {
                dot += leftPart.weight * rightPart.weight
                common.append((leftPart.word, leftPart.weight * rightPart.weight))
            }
            if leftPart.word <= rightPart.word { left.removeFirst() }
            if rightPart.word <= leftPart.word { right.removeFirst() }
        }
        guard dot > 0 else { return (0, []) }
        let words = common.sorted { left, right in
            left.product == right.product ? left.word < right.word : left.product > right.product
        }.map(\.word)
        return (min(1, dot / (first.length * second.length)), words)
    }
}
