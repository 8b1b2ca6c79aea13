import Foundation
import Posts

/// Three words that an account sends to the bot to prove who owns it.
///
/// The list has 2,048 words, so that three of them are 33 bits. Each word is two syllables of a
/// consonant and a vowel: 16 consonants, 4 vowels, 8 consonants and 4 vowels, which are 2,048
/// combinations. Letters that are easily mistaken for others (`c`, `q`, `u`, `x`) and those that
/// would make known insults are left out.
package struct ProofWords: Hashable, Sendable {
    /// The number of words of a proof.
    package static let count = 3
    /// The number of words in the list.
    package static let listSize = 2_048
    /// The number of bytes from which ``init(bits:)`` takes its 33 bits.
    package static let byteCount = 5
    /// The maximum length of a mention that is searched, in bytes of UTF-8.
    private static let longestText = 2_000
    /// The maximum number of candidates that are taken from one mention.
    private static let candidateLimit = 8

    private static let firstConsonants = Array("bdfgjklmnrstvwyz".utf8)
    private static let secondConsonants = Array("bflmnrsv".utf8)
    private static let vowels = Array("aeio".utf8)

    /// The indexes of the words in the list.
    private let numbers: [Int]

    /// - Parameter bytes: ``byteCount`` random bytes.
    package init(bits bytes: some Collection<UInt8>) {
        precondition(bytes.count == Self.byteCount)
        let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        numbers = (0..<Self.count).map { Int(bits >> (11 * UInt64($0))) & (Self.listSize - 1) }
    }

    private init(numbers: [Int]) { self.numbers = numbers }

    /// Returns the places in a text where three words of the list follow each other, 8 at most.
    ///
    /// Ignores case, full-width forms, punctuation and mentions; other words may surround them.
    ///
    /// - Parameter text: The text of a mention.
    package static func candidates(in text: String) -> [ProofWords] {
        guard text.utf8.count <= longestText else { return [] }
        var words: [Int?] = []
        var word: String = ""
        func endWord() {
            guard !word.isEmpty else { return }
            words.append(number(of: word))
            word = ""
        }
        for token in PlainTokens(text.precomposedStringWithCompatibilityMapping.lowercased()).tokens
        {
            if case .scalar(let scalar) = token, scalar.isWord {
                word.unicodeScalars.append(scalar)
            } else {
                endWord()
            }
        }
        endWord()
        guard words.count >= count else { return [] }
        let candidates = (0...words.count - count).lazy.compactMap { start -> ProofWords? in
            let numbers = words[start..<start + count].compactMap(\.self)
            return numbers.count == count ? ProofWords(numbers: numbers) : nil
        }
        return Array(candidates.prefix(candidateLimit))
    }

    /// Returns the word at an index of the list.
    private static func word(_ number: Int) -> String {
        let letters = [
            firstConsonants[number >> 7], vowels[number >> 5 & 3],
            secondConsonants[number >> 2 & 7],
            vowels[number & 3],
        ]
        return String(decoding: letters, as: UTF8.self)
    }

    /// Returns the index of a word in the list; nil for another word.
    private static func number(of word: String) -> Int? {
        let letters = Array(word.utf8)
        guard letters.count == 4, let first = firstConsonants.firstIndex(of: letters[0]),
            let second = vowels.firstIndex(of: letters[1]),
            let third = secondConsonants.firstIndex(of: letters[2]),
            let fourth = vowels.firstIndex(of: letters[3])
        else { return nil }
        // The letters stand for 4, 2, 3 and 2 bits.
        return first << 7 | second << 5 | third << 2 | fourth
    }
}

extension ProofWords: CustomStringConvertible {
    /// The words, separated by spaces.
    package var description: String { numbers.map(Self.word).joined(separator: " ") }
}
