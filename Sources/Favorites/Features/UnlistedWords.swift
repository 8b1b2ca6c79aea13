import MeCab
import Posts

/// The words of a text with letters that the tokenizer's dictionary does not list, and the rest of
/// the text.
///
/// MeCab treats such letters as symbols, so that a Korean or Arabic text would have no words. Words
/// are found by Unicode's default word boundaries (UAX #29), implemented here rather than by the
/// platform: Foundation's enumeration by words is missing on Linux, Swift's regular expressions
/// divide Korean at every syllable, and ICU's boundaries change with its version, so that another
/// version of the program could not unlearn a post that this one has learned.
///
/// The rules are tailored, as the annex allows: Korean makes separate words beside Latin letters
/// and digits, as in ICU; a full stop between letters ends a word, because many people omit the
/// space after it; an underscore ends one too, because it joins the words of a hashtag, which also
/// counts as a whole; an apostrophe after a Hebrew word is not part of it.
///
/// In scripts without any sign between words, such as Thai, each pair of neighbouring characters is
/// a word.
struct UnlistedWords {
    /// The words in the order of the text, repeats included, and the position in
    /// ``remainingText`` of the space that replaced each.
    private(set) var words: [(text: String, place: Int)] = []
    /// The text with a space in the place of each of them, and of each run of letters in scripts
    /// without signs between words.
    private(set) var remainingText: [UInt8] = []

    /// - Parameters:
    ///   - text: Valid UTF-8 in lower case.
    init(in text: UnsafeBufferPointer<UInt8>, besides dictionary: DictionaryProfile) {
        remainingText.reserveCapacity(text.count)
        let scanner = Scanner(grammar: TextGrammar(text), dictionary: dictionary)
        var position = 0
        while let (scalar, next) = scanner.grammar.decoded(at: position) {
            var end = next
            var isUnlisted = false
            switch Role(of: scalar) {
            case .letter, .digit: (end, isUnlisted) = scanner.word(at: position)
            case .ideograph: isUnlisted = !dictionary.lists(scalar)
            case .syllable:
                end = scanner.endOfSyllables(at: position)
                let run = Self.pairs(String(decoding: text[position..<end], as: UTF8.self))
                words += run.map { ($0, remainingText.count) }
            case .extender, .joiner, .other: break
            }
            if isUnlisted {
                words.append(
                    (String(decoding: text[position..<end], as: UTF8.self), remainingText.count))
            }
            if isUnlisted || Role(of: scalar) == .syllable {
                remainingText.append(UInt8(ascii: " "))
            } else {
                remainingText += text[position..<end]
            }
            position = end
        }
    }

    /// Whether a text may have such words; fast if it has none.
    static func occur(in text: UnsafeBufferPointer<UInt8>, besides dictionary: DictionaryProfile)
        -> Bool
    {
        let grammar = TextGrammar(text)
        var position = 0
        while position < text.count {
            if text[position] < 0x80 {
                position += 1
                continue
            }
            guard let (scalar, next) = grammar.decoded(at: position) else { return false }
            position = next
            if dictionary.lists(scalar) || scalar.properties.isVariationSelector { continue }
            if scalar.isWord { return true }
        }
        return false
    }

    /// Returns each pair of neighbouring characters; a single character as it is.
    private static func pairs(_ text: String) -> [String] {
        let characters = Array(text)
        guard characters.count > 1 else { return [text] }
        return characters.indices.dropLast().map { String(characters[$0...$0 + 1]) }
    }

    /// Finds the ends of words.
    private struct Scanner {
        let grammar: TextGrammar
        let dictionary: DictionaryProfile

        /// The end of the word that begins at a letter or digit, and whether the dictionary does
        /// not list one of its letters or marks.
        func word(at start: Int) -> (end: Int, isUnlisted: Bool) {
            var end = start
            var isUnlisted = false
            var previous: Unicode.Scalar?
            while let (scalar, next) = grammar.decoded(at: end) {
                switch Role(of: scalar) {
                case .letter, .digit:
                    if let previous, Self.isHangul(previous) != Self.isHangul(scalar) {
                        return (end, isUnlisted)
                    }
                    previous = scalar
                case .extender: break
                case .joiner:
                    guard let previous, let following = self.scalar(behindExtendersAt: next),
                        Self.isHangul(previous) == Self.isHangul(following),
                        Self.joins(scalar, previous, following)
                    else { return (end, isUnlisted) }
                case .syllable, .ideograph, .other: return (end, isUnlisted)
                }
                // Variation selectors do not matter.
                isUnlisted =
                    isUnlisted
                    || !scalar.properties.isVariationSelector && !dictionary.lists(scalar)
                end = next
            }
            return (end, isUnlisted)
        }

        /// The first scalar from a position on that is not an extender of the previous one.
        private func scalar(behindExtendersAt start: Int) -> Unicode.Scalar? {
            var position = start
            while let (scalar, next) = grammar.decoded(at: position) {
                if Role(of: scalar) != .extender { return scalar }
                position = next
            }
            return nil
        }

        /// Whether a scalar is a Korean letter or syllable.
        private static func isHangul(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 0x1100...0x11FF, 0x3131...0x318E, 0xA960...0xA97F, 0xAC00...0xD7FF: true
            default: false
            }
        }

        /// Whether a sign between two letters or digits joins them to one word.
        private static func joins(
            _ sign: Unicode.Scalar, _ left: Unicode.Scalar, _ right: Unicode.Scalar
        ) -> Bool {
            func isHebrew(_ scalar: Unicode.Scalar) -> Bool {
                (0x5D0...0x5EA).contains(scalar.value)
            }
            switch (Role(of: left), Role(of: right)) {
            case (.letter, .letter):
                return sign == "\""
                    ? isHebrew(left) && isHebrew(right) : Role.letterJoiners.contains(sign)
            case (.digit, .digit): return Role.numberJoiners.contains(sign)
            default: return false
            }
        }

        /// The end of a run of letters in a script without signs between words.
        func endOfSyllables(at start: Int) -> Int {
            var end = start
            while let (scalar, next) = grammar.decoded(at: end),
                [.syllable, .extender].contains(Role(of: scalar))
            {
                end = next
            }
            return end
        }
    }

    /// The word-break class of a scalar, as far as the rules of UAX #29 tell classes apart here.
    private enum Role {
        case letter
        case digit
        /// A letter of a script without signs between words (`Line_Break=SA`).
        case syllable
        /// A scalar that is a word by itself.
        case ideograph
        /// A scalar that extends the one before it.
        case extender
        /// A sign that may be in a word between two letters or two digits.
        case joiner
        case other

        static let letterJoiners: Set<Unicode.Scalar> = [
            "'", "\u{2018}", "\u{2019}", "·", "\u{55F}", "\u{5F4}", "\u{2027}",
        ]
        static let numberJoiners: Set<Unicode.Scalar> = [
            "'", "\u{2018}", "\u{2019}", ".", ",", ";", "\u{60C}", "\u{66B}", "\u{66C}",
        ]

        init(of scalar: Unicode.Scalar) {
            switch scalar.value {
            case 0x30...0x39: self = .digit
            case 0x61...0x7A, 0x41...0x5A: self = .letter
            case 0x4E00...0x9FFF: self = .ideograph
            // Kana are left to the dictionary.
            case 0x3005, 0x3031...0x3035, 0x3041...0x30FF, 0x31F0...0x31FF: self = .other
            // Emphasis, exclamation and question marks of Armenian stand on a vowel.
            case 0x55A...0x55C, 0x55E: self = .extender
            case 0x200B: self = .other
            default: self = Self.byProperties(of: scalar)
            }
        }

        private static func byProperties(of scalar: Unicode.Scalar) -> Role {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                .otherLetter, .letterNumber:
                if scalar.properties.isIdeographic { return .ideograph }
                return isSyllable(scalar.value) ? .syllable : .letter
            case .decimalNumber: return .digit
            case .nonspacingMark, .spacingMark, .enclosingMark, .format: return .extender
            case .otherPunctuation, .initialPunctuation, .finalPunctuation:
                let isJoiner =
                    scalar == "\"" || letterJoiners.contains(scalar)
                    || numberJoiners.contains(scalar)
                return isJoiner ? .joiner : .other
            default: return .other
            }
        }

        /// Whether a scalar is Thai, Lao, Burmese, Khmer, Tai or Ahom.
        private static func isSyllable(_ value: UInt32) -> Bool {
            switch value {
            case 0xE00...0xEFF, 0x1000...0x109F, 0x1780...0x17FF, 0x1950...0x19DF, 0x1A20...0x1AAF,
                0xA9E0...0xA9FF,
                0xAA60...0xAADF, 0x1_1700...0x1_174F:
                true
            default: false
            }
        }
    }
}
