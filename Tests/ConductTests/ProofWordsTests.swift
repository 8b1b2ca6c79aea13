import Foundation
import Testing

@testable import Conduct

/// The words that show whose account says them.
@Suite struct ProofWordsTests {
    private static func bytes(_ bits: UInt64) -> [UInt8] {
        (0..<5).reversed().map { UInt8(bits >> (8 * $0) & 0xFF) }
    }

    @Test func theListHasSoManyDifferentWords() {
        let words = (0..<UInt64(ProofWords.listSize)).map { number in
            String("\(ProofWords(bits: Self.bytes(number)))".prefix(4))
        }
        #expect(Set(words).count == 2_048)
        #expect(words.allSatisfy { $0.wholeMatch(of: #/[b-z][aeio][b-v][aeio]/#) != nil })
    }

    /// Each of 33 bits changes the words, and no other does.
    @Test func theWordsHave33Bits() {
        let all = (0..<40).map { ProofWords(bits: Self.bytes(1 << $0)) }
        #expect(Set(all.prefix(33)).count == 33)
        #expect(all.suffix(7).allSatisfy { $0 == ProofWords(bits: Self.bytes(0)) })
    }

    @Test func theyAreFoundHoweverTheyAreWritten() {
        let words = ProofWords(bits: [1, 0x23, 0x45, 0x67, 0x89])
        let parts = "\(words)".split(separator: " ").map(String.init)
        let texts = [
            "\(words)", "@mika_mirror \(words)", "\(words) @mika_mirror@bots.example",
            "\(words)".uppercased(),
            "@mirror.example \(parts.joined(separator: ", "))!", parts.joined(separator: "\n"),
            "@bot it is me: \"\(words)\", thanks", "\(parts[0]) @bot \(parts[1])   \(parts[2]).",
            "@bot " + "\(words)".applyingTransform(.fullwidthToHalfwidth, reverse: true)!,
            "#\(parts[0]) \(parts[1]) \(parts[2])",
        ]
        for text in texts { #expect(ProofWords.candidates(in: text).contains(words), "\(text)") }
    }

    @Test func theyAreNotFoundElsewhere() {
        let words = ProofWords(bits: [1, 0x23, 0x45, 0x67, 0x89])
        let parts = "\(words)".split(separator: " ").map(String.init)
        let texts = [
            "", "@bot", parts[0], "\(parts[0]) \(parts[1])", parts.joined(),
            "\(parts[0]) and \(parts[1]) \(parts[2])",
            "\(parts[0])s \(parts[1]) \(parts[2])", parts.reversed().joined(separator: " "),
            "https://a.example/\(parts[0]) \(parts[1]) \(parts[2])", "hello there, how are you",
        ]
        for text in texts { #expect(!ProofWords.candidates(in: text).contains(words), "\(text)") }
        // A text of a thousand words asks no thousand questions.
        let many = Array(repeating: "\(words)", count: 100).joined(separator: " ")
        #expect(ProofWords.candidates(in: many).count == 8)
        let long = "\(words) " + String(repeating: "x", count: 100_000)
        #expect(ProofWords.candidates(in: long).isEmpty)
    }
}
