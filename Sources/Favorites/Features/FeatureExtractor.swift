import Foundation
package import MeCab

/// Which words of a post are features.
package enum FeatureWords: String, Sendable, CaseIterable {
    /// Nouns, verbs and adjectives by their base form, adverbs, interjections and adnominals.
    case content
    /// Nouns only.
    case nouns
}

/// What the classifier counts of one post; each feature once, however often it occurs.
package struct FeatureSet: Equatable, Sendable {
    /// Distinct words and hashtags in the order in which they were found.
    package var words: [String]
    /// `@` and the lower-case handle.
    package var author: String?

    package init(words: [String], author: String?) {
        self.words = words
        self.author = author
    }

    /// The words, then the author.
    package var all: [String] { words + (author.map { [$0] } ?? []) }
}

/// Turns posts into features.
///
/// A word never begins with `@` or `#` and a letter, so words, hashtags and
/// authors cannot be mistaken for each other. No feature contains white space
/// or is longer than ``maximumBytes``.
package struct FeatureExtractor: Sendable {
    /// Longer features are left out: strangers choose them.
    package static let maximumBytes = 128

    /// Changes whenever the same text would give other features; counts made under another value are rebuilt.
    private static let version = 1

    package let words: FeatureWords
    private let tokenizer: Tokenizer

    package init(tokenizer: Tokenizer, words: FeatureWords = .content) {
        self.tokenizer = tokenizer
        self.words = words
    }

    /// A number that two extractors share exactly if they give the same features.
    ///
    /// FNV-1a over the version, the choice of words and the dictionary.
    package var fingerprint: Int64 {
        let text = "\(Self.version)/\(words.rawValue)/\(tokenizer.dictionaryIdentity)"
        let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        // 53 bits, so that the number also survives where it is kept as a double.
        return Int64(hash >> 11)
    }

    /// The features of a post.
    ///
    /// Takes microseconds for a usual post and some milliseconds for the worst.
    package func features(of example: Example) -> FeatureSet {
        let cleaned = TextCleaner(example.text)
        var found: [String] = []
        // A text that MeCab cannot cut has no words; the author still counts.
        try? tokenizer.forEachWord(in: cleaned.text) { word, wordClass in
            switch (wordClass, words) {
            case (.noun, _), (.adverb, .content), (.interjection, .content), (.adnominal, .content):
                found.append(word.text)
            case (.verb, .content), (.adjective, .content):
                found.append(tokenizer.baseForm(of: word))
            case (.other, _), (_, .nouns):
                break
            }
        }
        found = found.filter(Self.isWord) + cleaned.hashtags.filter { $0.utf8.count <= Self.maximumBytes }
        var known: Set<String> = []
        return FeatureSet(
            words: found.filter { known.insert($0).inserted }, author: example.author.flatMap(Self.authorFeature))
    }

    /// The feature of an author, nil where the handle is none.
    static func authorFeature(_ handle: String) -> String? {
        normalizedHandle(handle).map { "@" + $0 }
    }

    /// A handle as it is stored and compared: lower case, without `@`; nil where it is none.
    static func normalizedHandle(_ handle: String) -> String? {
        guard handle.utf8.count <= 2 * maximumBytes else { return nil }
        let name = TextCleaner.normalized(handle).drop { $0 == "@" }
        return !name.isEmpty && name.unicodeScalars.allSatisfy { !isBlank($0) } ? String(name) : nil
    }

    /// Whether a word says anything: joiners and variation selectors alone do not.
    private static func isWord(_ word: String) -> Bool {
        guard word.utf8.count <= maximumBytes, !word.unicodeScalars.contains(where: isBlank) else { return false }
        return word.unicodeScalars.contains { isCommon($0) || isMeaningful($0.properties.generalCategory) }
    }

    private static func isMeaningful(_ category: Unicode.GeneralCategory) -> Bool {
        switch category {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format, .control, .surrogate, .privateUse, .unassigned,
            .spaceSeparator, .lineSeparator, .paragraphSeparator:
            false
        default: true
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        !isCommon(scalar) && (scalar.properties.isWhitespace || TextCleaner.isControl(scalar))
    }

    /// Visible ASCII, kana and usual kanji: spares most words the tables of Unicode.
    private static func isCommon(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x21...0x7e, 0x3041...0x3096, 0x30A1...0x30FC, 0x4E00...0x9FEF: true
        default: false
        }
    }
}
