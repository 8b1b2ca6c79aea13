/// Sentences with slots, and the words that fill the slots.
///
/// A sentence names a slot in braces, as in `A {cat} slept on {place}.`; each
/// use is filled on its own, with a capital at the start of a sentence. Both
/// lists are written one entry a line.
package struct PhraseBook: Sendable {
    /// Sentences by theme.
    private let sentences: [String: [String]]
    private let words: [String: [String]]

    /// - Parameters:
    ///   - sentences: For each theme, its sentences, one a line.
    ///   - words: For each slot, its words, one a line.
    package init(sentences: [String: String], words: [String: String]) {
        self.sentences = sentences.mapValues(Self.lines)
        self.words = words.mapValues(Self.lines)
    }

    package var themes: [String] { sentences.keys.sorted() }

    /// The number of sentences of a theme.
    package func count(_ theme: String) -> Int { sentences[theme]?.count ?? 0 }

    /// A sentence of the theme with every slot filled; empty for an unknown theme.
    package func phrase(_ theme: String, generator: inout SampleGenerator) -> String {
        guard let sentence = generator.element(of: sentences[theme] ?? []) else { return "" }
        return filled(sentence, generator: &generator)
    }

    /// The slots that sentences name and the book has no words for; a slip of the author.
    package var missingSlots: Set<String> {
        Set(sentences.values.joined().flatMap(Self.slots)).subtracting(words.keys)
    }

    private func filled(_ sentence: String, generator: inout SampleGenerator) -> String {
        var result = ""
        var rest = Substring(sentence)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            result += rest[..<open]
            let slot = String(rest[rest.index(after: open)..<close])
            let word = generator.element(of: words[slot] ?? []) ?? slot
            result += Self.beginsSentence(after: result) ? word.prefix(1).uppercased() + word.dropFirst() : word
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    private static func beginsSentence(after text: String) -> Bool {
        text.isEmpty || [". ", "? ", "! "].contains { text.hasSuffix($0) }
    }

    private static func slots(of sentence: String) -> [String] {
        sentence.split(separator: "{").dropFirst().compactMap { part in
            part.firstIndex(of: "}").map { String(part[..<$0]) }
        }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            String(line.drop { $0 == " " })
        }.filter { !$0.isEmpty }
    }
}
