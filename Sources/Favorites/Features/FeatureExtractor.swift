import Foundation
package import MeCab
import Posts

/// The kinds of features of a post that are counted (`FEATURES`).
package enum FeatureWords: String, Sendable, CaseIterable {
    /// The features of ``pairs`` and of ``spelling``.
    case full
    /// The words of ``content``, the text's runs of letters, and its form.
    case spelling
    /// The words of ``content``, and each pair of neighbouring words of any class.
    case pairs
    /// Nouns, verbs and adjectives by their base form, adverbs, interjections and adnominals.
    case content
    /// Nouns only.
    case nouns

    /// Whether pairs of neighbouring words are features too.
    package var hasPairs: Bool { self == .pairs || self == .full }

    /// Whether runs of letters are features too (``Spelling``).
    package var hasSpelling: Bool { self == .spelling || self == .full }

    /// Whether the form of the text is a feature too (``TextForm``).
    package var hasForm: Bool { hasSpelling }

    /// Whether the features are only single words and the author.
    package var isOfWordsAlone: Bool { !hasPairs && !hasSpelling }

    /// The selection of features and the version of the extractor, stored with fitted weights:
    /// weights of other features are useless.
    var identity: String { "\(rawValue)/\(FeatureExtractor.version)" }
}

/// The features of one post, each once, however often it occurs.
package struct FeatureSet: Equatable, Sendable {
    /// Distinct words and hashtags in the order in which they were found.
    package var words: [String]
    /// Distinct pairs of neighbouring words in the order of the text (``WordPair``); empty if they
    /// are not used as features.
    package var pairs: [String]
    /// The counters of the runs of letters in the order of the text (``Spelling``); empty if they
    /// are not used as features.
    package var spelling: [String]
    /// The marks of the text's form (``TextForm``); empty if they are not used as features.
    package var form: [String]
    /// The feature of the author: `@` and the lower-case handle.
    package var author: String?

    package init(
        words: [String], pairs: [String] = [], spelling: [String] = [], form: [String] = [],
        author: String?
    ) {
        self.words = words
        self.pairs = pairs
        self.author = author
        self.spelling = spelling
        self.form = form
    }

    /// The words, the pairs, the runs of letters, the marks of form, then the author.
    package var all: [String] { words + pairs + spelling + form + (author.map { [$0] } ?? []) }
}

/// The groups in which features are shown to people.
package enum FeatureGroup: String, Sendable, CaseIterable {
    /// Words, hashtags and pairs of words.
    case words
    case author
    /// Runs of letters.
    case spelling
    /// Marks of a text's form.
    case form

    /// Finds the group to which a feature belongs.
    package init(of feature: String) {
        switch feature.utf8.first {
        case Spelling.marker: self = .spelling
        case TextForm.marker: self = .form
        case UInt8(ascii: "@"): self = Self.isAuthor(feature) ? .author : .words
        default: self = .words
        }
    }

    /// Whether a feature is an author: no word begins with `@` and a letter.
    private static func isAuthor(_ feature: String) -> Bool {
        guard let next = feature.dropFirst().first else { return false }
        return next.isLetter || next.isNumber || next == "_"
    }

    /// A feature for people: a pair as its words side by side, a mark of form in English words,
    /// anything else as it is.
    package static func displayName(of feature: String) -> String {
        FeatureGroup(of: feature) == .form
            ? TextForm.displayName(of: feature) : WordPair.displayName(of: feature)
    }

    /// The display name of a mark of form in the language of the present task.
    package static func localizedName(ofForm displayName: String) -> String {
        TextForm.localizedName(displayName)
    }
}

/// Two neighbouring words as one feature: the words with U+001F between them.
///
/// Cleaned texts have no control character, so the separator marks pairs in every store: no word,
/// hashtag or author is equal to a pair.
package enum WordPair {
    /// The byte between the two words of a pair.
    static let separator = UInt8(0x1F)

    /// The words of a feature: two of a pair, else the feature itself.
    static func words(of feature: String) -> [Substring] {
        isPair(feature) ? feature.split(separator: "\u{1F}") : [feature[...]]
    }

    /// Whether a feature is a pair.
    package static func isPair(_ feature: String) -> Bool { feature.utf8.contains(separator) }

    /// A feature for people: a pair as its words side by side, anything else as it is.
    package static func displayName(of feature: String) -> String {
        words(of: feature).joined(separator: " ")
    }
}

/// Turns posts into features.
///
/// A word never begins with `@` or `#` and a letter, so words, hashtags and authors cannot be
/// confused. No feature contains white space, and no word in a feature is longer than
/// ``maximumBytes``.
package struct FeatureExtractor: Sendable {
    /// The longest word that is a feature; strangers control the length.
    package static let maximumBytes = 128

    /// The version of the extractor, which is increased when the same text would have other
    /// features.
    ///
    /// Counts made by another version are rebuilt from the examples before they are read or
    /// changed, and weights fitted by another version are fitted again.
    fileprivate static let version = 2

    package let wordSelection: FeatureWords
    private let tokenizer: Tokenizer

    /// A number that is equal for two extractors exactly if they extract the same features.
    ///
    /// FNV-1a over the version, the choice of words and the dictionary.
    package let fingerprint: Int64

    package init(tokenizer: Tokenizer, words: FeatureWords = .content) {
        self.tokenizer = tokenizer
        self.wordSelection = words
        let text = "\(Self.version)/\(words.rawValue)/\(tokenizer.dictionaryIdentity)"
        // Only 53 bits are used, so that a store that converts the number to a double keeps it
        // exactly.
        fingerprint = Int64(StableHash.fnv1a(text) >> 11)
    }

    /// Finds the features of a post.
    ///
    /// Takes microseconds for a typical post and some milliseconds for the worst.
    package func features(of example: Example) -> FeatureSet {
        let cleaned = TextCleaner(example.text)
        var found = FoundWords(wordSelection)
        cleaned.bytes.withUnsafeBufferPointer { text in
            if cleaned.isPlain || !UnlistedWords.occur(in: text, besides: tokenizer.profile) {
                return collectWords(of: text, in: &found)
            }
            let unlisted = UnlistedWords(in: text, besides: tokenizer.profile)
            unlisted.remainingText.withUnsafeBufferPointer { remainder in
                guard wordSelection.hasPairs else { return collectWords(of: remainder, in: &found) }
                collectWords(of: remainder, among: unlisted, in: &found)
            }
            for word in unlisted.words { found.addWord(word.text) }
        }
        for hashtag in cleaned.hashtags { found.addWord(hashtag) }
        return FeatureSet(
            words: found.words, pairs: found.pairs,
            spelling: wordSelection.hasSpelling ? Spelling.features(of: cleaned.withoutLinks) : [],
            form: wordSelection.hasForm ? TextForm.features(of: example.text, cleaned) : [],
            author: example.author.flatMap(Self.authorFeature))
    }

    /// Collects the words that the dictionary finds in a text, and the pairs of them.
    private func collectWords(of text: UnsafeBufferPointer<UInt8>, in found: inout FoundWords) {
        // A text that MeCab cannot analyse has no words; the author still counts.
        try? tokenizer.forEachWord(in: text) { word, wordClass in
            switch wordClass {
            case .noun:
                found.add(word.surface, isWord: true)
            case .adverb, .interjection, .adnominal:
                if wordSelection != .nouns { found.add(word.surface, isWord: true) }
            case .verb, .adjective:
                if wordSelection != .nouns {
                    found.add(tokenizer.baseFormBytes(of: word), isWord: true)
                }
            case .other:
                if wordSelection.hasPairs { found.add(word.surface, isWord: false) }
            }
        }
    }

    /// Collects words from a text whose unlisted words were taken out, with the pairs that they
    /// form with the others.
    private func collectWords(
        of remaining: UnsafeBufferPointer<UInt8>, among unlisted: UnlistedWords,
        in found: inout FoundWords
    ) {
        var position = 0
        var unlistedWordsLeft = unlisted.words[...]
        func skipSpaces() {
            while position < remaining.count, remaining[position] == UInt8(ascii: " ") {
                while let word = unlistedWordsLeft.first, word.place <= position {
                    found.addNeighbour(word.text)
                    unlistedWordsLeft.removeFirst()
                }
                position += 1
            }
        }
        // A text that MeCab cannot analyse has no words.
        try? tokenizer.forEachWord(in: remaining) { word, wordClass in
            // MeCab skips only spaces.
            skipSpaces()
            position += word.surface.count
            let bytes = wordClass.isInflected ? tokenizer.baseFormBytes(of: word) : word.surface
            found.add(bytes, isWord: wordClass != .other)
        }
        skipSpaces()
    }

    /// The feature of an author; nil for an invalid handle.
    static func authorFeature(_ handle: String) -> String? {
        normalizedHandle(handle).map { "@" + $0 }
    }

    /// A handle in its stored form: lower case, without `@`; nil for an invalid one.
    static func normalizedHandle(_ handle: String) -> String? {
        guard handle.utf8.count <= 2 * maximumBytes else { return nil }
        if isNormalized(handle.utf8) { return handle }
        let name = TextCleaner.normalized(handle).drop { $0 == "@" }
        return !name.isEmpty && name.unicodeScalars.allSatisfy { !isBlank($0) } ? String(name) : nil
    }

    /// Whether a handle is visible ASCII in lower case without `@`, as most stored ones are.
    private static func isNormalized(_ handle: String.UTF8View) -> Bool {
        guard let first = handle.first, first != UInt8(ascii: "@") else { return false }
        return handle.allSatisfy { (0x21...0x7e).contains($0) && !(0x41...0x5a).contains($0) }
    }

    /// Whether a word has a visible character: joiners and variation selectors alone do not count.
    static func isWord(_ scalars: String.UnicodeScalarView) -> Bool {
        !scalars.contains(where: isBlank)
            && scalars.contains {
                isCommon($0.value) || isMeaningful($0.properties.generalCategory)
            }
    }

    private static func isMeaningful(_ category: Unicode.GeneralCategory) -> Bool {
        switch category {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format, .control, .surrogate,
            .privateUse, .unassigned,
            .spaceSeparator, .lineSeparator, .paragraphSeparator:
            false
        default: true
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        !isCommon(scalar.value) && (scalar.properties.isWhitespace || TextCleaner.isControl(scalar))
    }

    /// Whether the bytes are one or more common scalars; such bytes are valid UTF-8.
    fileprivate static func isCommon(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let first = UInt32(bytes[index])
            if first < 0x80 {
                guard isCommon(first) else { return false }
                index += 1
            } else {
                // All other common scalars have three bytes.
                guard first & 0xF0 == 0xE0, index + 2 < bytes.count else { return false }
                let second = UInt32(bytes[index + 1])
                let third = UInt32(bytes[index + 2])
                guard second & 0xC0 == 0x80, third & 0xC0 == 0x80,
                    isCommon((first & 0xF) << 12 | (second & 0x3F) << 6 | third & 0x3F)
                else { return false }
                index += 3
            }
        }
        return index > 0
    }

    /// Whether a scalar is visible ASCII, kana or a usual kanji; for most words this saves looking
    /// into the tables of Unicode.
    private static func isCommon(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x21...0x7e, 0x3041...0x3096, 0x30A1...0x30FC, 0x4E00...0x9FEF: true
        default: false
        }
    }
}

/// Collects the words of one post and the pairs of neighbours among them, in one pass over the
/// text.
private struct FoundWords {
    private var distinct = DistinctWords()
    /// The pairs, each once; nil if pairs are not used as features.
    private var distinctPairs: DistinctWords?
    /// The previous word and the separator after it; empty if the next word has no previous
    /// neighbour.
    private var previousWord: [UInt8] = []

    init(_ choice: FeatureWords) {
        guard choice.hasPairs else { return }
        distinctPairs = DistinctWords()
        previousWord.reserveCapacity(2 * FeatureExtractor.maximumBytes + 1)
    }

    var words: [String] { distinct.words }
    var pairs: [String] { distinctPairs?.words ?? [] }

    /// Adds the next word of a text, if it has a visible character.
    ///
    /// - Parameters:
    ///   - isWord: Whether it is a feature by itself; others only form pairs.
    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>, isWord: Bool) {
        guard bytes.count <= FeatureExtractor.maximumBytes else {
            previousWord.removeAll(keepingCapacity: true)
            return
        }
        if FeatureExtractor.isCommon(bytes) {
            if isWord { distinct.insert(bytes, isValid: true) }
            addNeighbour(bytes)
        } else {
            // Invalid UTF-8 is repaired.
            var text = String(decoding: bytes, as: UTF8.self)
            guard FeatureExtractor.isWord(text.unicodeScalars) else { return }
            text.withUTF8 { bytes in
                if isWord { distinct.insert(bytes, isValid: true) }
                addNeighbour(bytes)
            }
        }
    }

    /// Adds a word or hashtag without neighbours.
    mutating func addWord(_ word: String) {
        if word.utf8.count <= FeatureExtractor.maximumBytes { distinct.insert(word) }
    }

    /// Adds the pair of a word and the previous one.
    mutating func addNeighbour(_ word: String) {
        var word = word
        word.withUTF8 { bytes in
            if bytes.count <= FeatureExtractor.maximumBytes {
                addNeighbour(bytes)
            } else {
                previousWord.removeAll(keepingCapacity: true)
            }
        }
    }

    private mutating func addNeighbour(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard distinctPairs != nil else { return }
        let length = previousWord.count
        previousWord += bytes
        if length > 0 {
            previousWord.withUnsafeBufferPointer { distinctPairs?.insert($0, isValid: true) }
        }
        previousWord.removeFirst(length)
        previousWord.append(WordPair.separator)
    }
}

/// Collects the words of one post, each once, in the order in which they come.
///
/// Words are compared by their bytes: cleaned texts are in one Unicode form. A post has few words,
/// so searching the hashes of the previous ones is faster than a table.
struct DistinctWords {
    private(set) var words: [String] = []
    private var hashes: [UInt64] = []
    /// A bit set of the hashes, which shows for most new words that no search is needed.
    private var filter: UInt64 = 0

    init() {
        words.reserveCapacity(32)
        hashes.reserveCapacity(32)
    }

    /// Adds a word unless it is present.
    mutating func insert(_ word: String) {
        var word = word
        word.withUTF8 { insert($0, isValid: true) }
    }

    /// Adds a word, given by its bytes, unless it is present.
    ///
    /// - Parameters:
    ///   - isValid: Whether it is known to be valid UTF-8; otherwise invalid bytes are repaired.
    mutating func insert(_ bytes: UnsafeBufferPointer<UInt8>, isValid: Bool = false) {
        let hash = StableHash.fnv1a(bytes)
        let bit: UInt64 = 1 << (hash >> 58)
        if filter & bit != 0 {
            for index in hashes.indices
            where hashes[index] == hash && Self.isEqual(words[index], bytes) { return }
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
