package import MeCab

/// Counts the words of a text: those that the classifier finds with `FEATURES=content`, hashtags
/// among them.
package struct WordCounter: Sendable {
    private let tokenizer: Tokenizer

    package init(tokenizer: Tokenizer) { self.tokenizer = tokenizer }

    /// The number of occurrences of each word in a text, without links and mentions.
    ///
    /// Words are in lower case and in one Unicode form, verbs and adjectives by their base form. A
    /// text that MeCab cannot analyse has none.
    package func words(of text: String) -> [String: Int] {
        let cleaned = TextCleaner(text)
        var counts: [String: Int] = [:]
        func count(_ word: String) {
            guard word.utf8.count <= FeatureExtractor.maximumBytes,
                FeatureExtractor.isWord(word.unicodeScalars)
            else {
                return
            }
            counts[word, default: 0] += 1
        }
        cleaned.bytes.withUnsafeBufferPointer { text in
            guard !cleaned.isPlain, UnlistedWords.occur(in: text, besides: tokenizer.profile) else {
                return forEachListedWord(of: text, count)
            }
            let unlisted = UnlistedWords(in: text, besides: tokenizer.profile)
            unlisted.remainingText.withUnsafeBufferPointer { forEachListedWord(of: $0, count) }
            unlisted.words.forEach { count($0.text) }
        }
        cleaned.hashtags.forEach(count)
        return counts
    }

    private func forEachListedWord(of text: UnsafeBufferPointer<UInt8>, _ body: (String) -> Void) {
        // A text that MeCab cannot analyse has no words.
        try? tokenizer.forEachWord(in: text) { word, wordClass in
            switch wordClass {
            case .noun, .adverb, .interjection, .adnominal: body(word.text)
            case .verb, .adjective: body(tokenizer.baseForm(of: word))
            case .other: break
            }
        }
    }
}
