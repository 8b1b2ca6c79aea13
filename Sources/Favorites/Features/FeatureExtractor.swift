import Foundation
package import MeCab
import Posts

/// Which words of a post are features.
package enum FeatureWords: String, Sendable, CaseIterable {
    /// Nouns, verbs and adjectives by their base form, adverbs, interjections and adnominals.
    case content
    /// Nouns only.
    case nouns

    /// The choice together with the version of the extractor: what was fitted on other features is of no use.
    var identity: String { "\(rawValue)/\(FeatureExtractor.version)" }
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

    /// Changes whenever the same text would give other features.
    ///
    /// Counts made under another value are rebuilt from the examples before anything is read of them or unlearned, and
    /// weights fitted under another value are fitted anew.
    fileprivate static let version = 2

    package let words: FeatureWords
    private let tokenizer: Tokenizer

    /// A number that two extractors share exactly if they give the same features.
    ///
    /// FNV-1a over the version, the choice of words and the dictionary.
    package let fingerprint: Int64

    package init(tokenizer: Tokenizer, words: FeatureWords = .content) {
        self.tokenizer = tokenizer
        self.words = words
        let text = "\(Self.version)/\(words.rawValue)/\(tokenizer.dictionaryIdentity)"
        // 53 bits, so that the number also survives where it is kept as a double.
        fingerprint = Int64(StableHash.fnv1a(text) >> 11)
    }

    /// The features of a post.
    ///
    /// Takes microseconds for a usual post and some milliseconds for the worst.
    package func features(of example: Example) -> FeatureSet {
        let cleaned = TextCleaner(example.text)
        var found = DistinctWords()
        cleaned.bytes.withUnsafeBufferPointer { text in
            if cleaned.isPlain || !UnlistedWords.occur(in: text, besides: tokenizer.profile) {
                return collectWords(of: text, in: &found)
            }
            let unlisted = UnlistedWords(in: text, besides: tokenizer.profile)
            unlisted.rest.withUnsafeBufferPointer { collectWords(of: $0, in: &found) }
            for word in unlisted.words where word.utf8.count <= Self.maximumBytes { found.insert(word) }
        }
        for hashtag in cleaned.hashtags where hashtag.utf8.count <= Self.maximumBytes { found.insert(hashtag) }
        return FeatureSet(words: found.words, author: example.author.flatMap(Self.authorFeature))
    }

    /// Collects the words that the dictionary finds in a text.
    private func collectWords(of text: UnsafeBufferPointer<UInt8>, in found: inout DistinctWords) {
        // A text that MeCab cannot cut has no words; the author still counts.
        try? tokenizer.forEachWord(in: text) { word, wordClass in
            switch (wordClass, words) {
            case (.noun, _), (.adverb, .content), (.interjection, .content), (.adnominal, .content):
                Self.collect(word.surface, in: &found)
            case (.verb, .content), (.adjective, .content):
                Self.collect(tokenizer.baseFormBytes(of: word), in: &found)
            case (.other, _), (_, .nouns):
                break
            }
        }
    }

    /// The feature of an author, nil where the handle is none.
    static func authorFeature(_ handle: String) -> String? {
        normalizedHandle(handle).map { "@" + $0 }
    }

    /// A handle as it is stored and compared: lower case, without `@`; nil where it is none.
    static func normalizedHandle(_ handle: String) -> String? {
        guard handle.utf8.count <= 2 * maximumBytes else { return nil }
        if isNormalized(handle.utf8) { return handle }
        let name = TextCleaner.normalized(handle).drop { $0 == "@" }
        return !name.isEmpty && name.unicodeScalars.allSatisfy { !isBlank($0) } ? String(name) : nil
    }

    /// Whether a handle is of visible ASCII in lower case and has no `@` before it, as most have once they are stored.
    private static func isNormalized(_ handle: String.UTF8View) -> Bool {
        guard let first = handle.first, first != UInt8(ascii: "@") else { return false }
        return handle.allSatisfy { (0x21...0x7e).contains($0) && !(0x41...0x5a).contains($0) }
    }

    /// Keeps a word that says anything: joiners and variation selectors alone do not.
    private static func collect(_ bytes: UnsafeBufferPointer<UInt8>, in found: inout DistinctWords) {
        guard bytes.count <= maximumBytes else { return }
        if isCommon(bytes) {
            found.insert(bytes, isValid: true)
        } else if isWord(String(decoding: bytes, as: UTF8.self).unicodeScalars) {
            found.insert(bytes)
        }
    }

    static func isWord(_ scalars: String.UnicodeScalarView) -> Bool {
        !scalars.contains(where: isBlank)
            && scalars.contains { isCommon($0.value) || isMeaningful($0.properties.generalCategory) }
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
        !isCommon(scalar.value) && (scalar.properties.isWhitespace || TextCleaner.isControl(scalar))
    }

    /// Whether there is nothing but common scalars, and at least one; such bytes are UTF-8.
    private static func isCommon(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let first = UInt32(bytes[index])
            if first < 0x80 {
                guard isCommon(first) else { return false }
                index += 1
            } else {
                // All others have three bytes.
                guard first & 0xF0 == 0xE0, index + 2 < bytes.count else { return false }
                let (second, third) = (UInt32(bytes[index + 1]), UInt32(bytes[index + 2]))
                guard second & 0xC0 == 0x80, third & 0xC0 == 0x80,
                    isCommon((first & 0xF) << 12 | (second & 0x3F) << 6 | third & 0x3F)
                else { return false }
                index += 3
            }
        }
        return index > 0
    }

    /// Visible ASCII, kana and usual kanji: spares most words the tables of Unicode.
    private static func isCommon(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x21...0x7e, 0x3041...0x3096, 0x30A1...0x30FC, 0x4E00...0x9FEF: true
        default: false
        }
    }
}

/// Collects the words of one post, each once, in the order in which they come.
///
/// Words are told apart by their bytes: cleaned texts are in one Unicode form. A post has few words, so looking through
/// the hashes of those before costs less than a table.
struct DistinctWords {
    private(set) var words: [String] = []
    private var hashes: [UInt64] = []
    /// A bit for some of each hash: most new words are seen to be new without a search.
    private var filter: UInt64 = 0

    init() {
        words.reserveCapacity(32)
        hashes.reserveCapacity(32)
    }

    /// Adds a word unless it is there.
    mutating func insert(_ word: String) {
        var word = word
        word.withUTF8 { insert($0, isValid: true) }
    }

    /// Adds a word, given by its bytes, unless it is there.
    ///
    /// - Parameters:
    ///   - bytes: The word.
    ///   - isValid: Whether it is known to be UTF-8; otherwise what is not is repaired.
    mutating func insert(_ bytes: UnsafeBufferPointer<UInt8>, isValid: Bool = false) {
        let hash = StableHash.fnv1a(bytes)
        let bit: UInt64 = 1 << (hash >> 58)
        if filter & bit != 0 {
            for index in hashes.indices where hashes[index] == hash && Self.isEqual(words[index], bytes) { return }
        }
        filter |= bit
        hashes.append(hash)
        words.append(isValid ? String(validUTF8: bytes) : String(decoding: bytes, as: UTF8.self))
    }

    private static func isEqual(_ word: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var word = word
        return word.withUTF8 { $0.count == bytes.count && $0.elementsEqual(bytes) }
    }
}
