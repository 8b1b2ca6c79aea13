import Foundation

/// How long a text is for X: configuration 3 of twitter-text, in whole characters.
enum XWeight {
    /// The longest text of an account without a subscription.
    static let maximum = 280
    /// What a link counts, however long it is.
    static let link = 23

    static func weight(of text: String) -> Int {
        let text = text.precomposedStringWithCanonicalMapping
        var sum = 0
        var start = text.startIndex
        for range in XLinks.ranges(in: text) {
            sum += plainWeight(text[start..<range.lowerBound]) + link
            start = range.upperBound
        }
        return sum + plainWeight(text[start...])
    }

    /// Why X would not take the text; nil when it would.
    static func objection(to text: String) -> String? {
        if text.allSatisfy(\.isWhitespace) { return "the text is empty" }
        if text.unicodeScalars.contains(where: { [0xFFFE, 0xFEFF, 0xFFFF].contains($0.value) }) {
            return "the text holds a character that is not allowed"
        }
        return weight(of: text) > maximum ? "the text is longer than \(maximum)" : nil
    }

    private static func plainWeight(_ text: Substring) -> Int {
        text.reduce(0) { sum, character in
            isEmoji(character) ? sum + 2 : character.unicodeScalars.reduce(sum) { $0 + weight(of: $1) }
        }
    }

    private static func weight(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0...4_351, 0x2000...0x200D, 0x2010...0x201F, 0x2032...0x2037: 1
        default: 2
        }
    }

    /// A whole sequence is one emoji: joined ones, skin tones, flags, keycaps.
    private static func isEmoji(_ character: Character) -> Bool {
        let scalars = character.unicodeScalars
        guard let first = scalars.first, first.properties.isEmoji else { return false }
        if first.properties.isEmojiPresentation { return true }
        return scalars.dropFirst().contains { next in
            next.value == 0xFE0F || next.value == 0x20E3 || next.value == 0x200D || next.properties.isEmojiModifier
        }
    }
}
