import Foundation

/// The length of a text on X.
///
/// Source: twitter-text, configuration 3. X knows all top-level domains and all emoji sequences; if
/// the weight depends on one that is unknown here, the larger weight counts, so a text that fits
/// here fits on X.
package enum XWeightedText {
    /// The weight of a link of any length.
    package static let linkWeight = 23

    /// The weight of a text: 1 for a character of Latin, Cyrillic, Arabic and the like and for
    /// common punctuation, 2 for one of any other script, 2 for an emoji however it is composed, 23
    /// for a link.
    ///
    /// - Parameter text: The text to be sent; it is counted in normalization form C.
    /// - Returns: The weight; X allows at most 280.
    package static func weight(of text: String) -> Int {
        let scalars = Array(text.precomposedStringWithCanonicalMapping.unicodeScalars)
        var weight = 0
        var position = 0
        while position < scalars.count {
            let (cost, end) = part(at: position, in: scalars)
            weight += cost
            position = max(end, position + 1)
        }
        return weight
    }

    /// The weight of the emoji, link or single code point at `position`.
    private static func part(at position: Int, in scalars: [Unicode.Scalar]) -> (
        cost: Int, end: Int
    ) {
        if let end = EmojiSequence.end(at: position, in: scalars) { return (2, end) }
        return XLink.cost(at: position, in: scalars) ?? (
            weight(of: scalars[position]), position + 1
        )
    }

    static func weight(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0...0x10FF, 0x2000...0x200D, 0x2010...0x201F, 0x2032...0x2037: 1
        default: 2
        }
    }
}

/// Emoji that consist of several code points.
enum EmojiSequence {
    /// The maximum number of emoji that a sequence joins: four people, or two with a heart and a
    /// kiss between them.
    private static let maximumJoined = 4

    /// The end of the emoji that starts at `position`; nil for none.
    static func end(at position: Int, in scalars: [Unicode.Scalar]) -> Int? {
        if let end = flagEnd(at: position, in: scalars) ?? keycapEnd(at: position, in: scalars) {
            return end
        }
        guard var end = elementEnd(at: position, in: scalars) else { return nil }
        for _ in 1..<maximumJoined where end < scalars.count && scalars[end] == "\u{200D}" {
            guard let next = elementEnd(at: end + 1, in: scalars) else { break }
            end = next
        }
        return end
    }

    /// The end of the two letters of a flag.
    private static func flagEnd(at position: Int, in scalars: [Unicode.Scalar]) -> Int? {
        let letters: ClosedRange<Unicode.Scalar> = "\u{1F1E6}"..."\u{1F1FF}"
        guard position + 1 < scalars.count, letters.contains(scalars[position]),
            letters.contains(scalars[position + 1])
        else { return nil }
        return position + 2
    }

    /// The end of a keycap emoji: a digit, `#` or `*` with the sign for a key.
    private static func keycapEnd(at position: Int, in scalars: [Unicode.Scalar]) -> Int? {
        let scalar = scalars[position]
        guard scalar == "#" || scalar == "*" || ("0"..."9").contains(scalar) else { return nil }
        let hasSelector = position + 1 < scalars.count && scalars[position + 1] == "\u{FE0F}"
        let key = position + (hasSelector ? 2 : 1)
        return key < scalars.count && scalars[key] == "\u{20E3}" ? key + 1 : nil
    }

    /// The end of one emoji with its skin tone, its selector or the tags of a region's flag.
    private static func elementEnd(at position: Int, in scalars: [Unicode.Scalar]) -> Int? {
        guard position < scalars.count, scalars[position].properties.isEmoji,
            !scalars[position].isASCII
        else {
            return nil
        }
        let scalar = scalars[position]
        var end = position + 1
        let next = end < scalars.count ? scalars[end] : nil
        if next == "\u{FE0F}"
            || next?.properties.isEmojiModifier == true && scalar.properties.isEmojiModifierBase
        {
            end += 1
        } else if scalar == "\u{1F3F4}" {
            // England, Scotland and Wales, spelled in tags on a black flag.
            let tags = scalars[end...].prefix(8).prefix { ("\u{E0020}"..."\u{E007F}").contains($0) }
            if tags.last == "\u{E007F}" { end += tags.count }
        } else if scalar.value < 0x10FF {
            // The signs for copyright and trade mark are emoji only with a variation selector.
            return nil
        }
        return end
    }
}
