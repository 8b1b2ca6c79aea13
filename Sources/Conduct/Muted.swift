import Foundation
package import Posts

/// The words, days of every year and spans of days that a person has muted.
package struct Muted: Equatable, Sendable {
    /// A muted item.
    package enum Entry: Hashable, Sendable {
        /// A word in the form of ``Muted/folded(_:)``.
        case word(String)
        /// A day of every year.
        case day(month: Int, day: Int)
        case span(ClosedRange<LocalDay>)
    }

    /// The maximum length of a word, in Unicode scalars.
    package static let longestWord = 200

    private let words: [[Unicode.Scalar]]
    private let days: Set<Entry>
    private let spans: [ClosedRange<LocalDay>]

    /// - Parameter entries: In any order.
    package init(_ entries: some Sequence<Entry> = []) {
        var words: [[Unicode.Scalar]] = []
        var days: Set<Entry> = []
        var spans: [ClosedRange<LocalDay>] = []
        for entry in entries {
            switch entry {
            case .word(let word): words.append(Array(word.unicodeScalars))
            case .day: days.insert(entry)
            case .span(let span): spans.append(span)
            }
        }
        self.words = words
        self.days = days
        self.spans = spans
    }

    package var isEmpty: Bool { words.isEmpty && days.isEmpty && spans.isEmpty }

    /// Why a text is not used; nil if nothing in it is muted.
    ///
    /// - Parameters:
    ///   - day: The day of the post, on the human's calendar.
    package func reason(against text: String, of day: LocalDay) -> Refusal.Reason? {
        if hasWord(text) { return .mutedWord }
        let (_, month, dayOfMonth) = day.components
        if days.contains(.day(month: month, day: dayOfMonth))
            || spans.contains(where: { $0.contains(day) })
        {
            return .mutedDay
        }
        return nil
    }

    /// Whether a text contains a muted word.
    ///
    /// Ignores case, width, accents and invisible characters. In scripts with spaces between words
    /// only a whole word matches.
    package func hasWord(_ text: String) -> Bool {
        guard !words.isEmpty else { return false }
        let scalars = Array(Self.folded(text).unicodeScalars)
        return words.contains { Self.occurs($0, in: scalars) }
    }

    /// Returns the form in which texts are compared: lower case, without variants of width, without
    /// accents, and with single spaces.
    package static func folded(_ text: String) -> String {
        // Upper case comes first, because some capitals have two lower-case forms.
        let lowercased = text.precomposedStringWithCompatibilityMapping.uppercased().lowercased()
        var scalars = String.UnicodeScalarView()
        for scalar in lowercased.decomposedStringWithCanonicalMapping.unicodeScalars
        where !scalar.isInvisible {
            // Only the accents of alphabets are removed: the marks of kana and the vowel signs of
            // other scripts make different words.
            if (0x300...0x36F).contains(scalar.value) { continue }
            if !scalar.properties.isWhitespace {
                scalars.append(scalar)
            } else if let last = scalars.last, last != " " {
                scalars.append(" ")
            }
        }
        if scalars.last == " " { scalars.removeLast() }
        return String(scalars).precomposedStringWithCanonicalMapping
    }

    private static func occurs(_ word: [Unicode.Scalar], in text: [Unicode.Scalar]) -> Bool {
        guard let first = word.first, let last = word.last, text.count >= word.count else {
            return false
        }
        for start in 0...(text.count - word.count) where text[start] == first {
            let end = start + word.count
            guard text[start..<end].elementsEqual(word) else { continue }
            let continuesBefore = start > 0 && first.isSpaced && text[start - 1].isSpaced
            let continuesAfter = end < text.count && last.isSpaced && text[end].isSpaced
            if !continuesBefore, !continuesAfter { return true }
        }
        return false
    }
}

extension Muted.Entry {
    /// A word, as a person types it.
    ///
    /// - Returns: Nil if the word has no visible character, or if it is too long.
    package init?(word: String) {
        let folded = Muted.folded(word)
        guard !folded.isEmpty, folded.unicodeScalars.count <= Muted.longestWord else { return nil }
        self = .word(folded)
    }

    /// A day of every year, as `12-24` or `02-29`; nil for any other text.
    package init?(day: String) {
        // 2000 is a leap year, so that every day is valid.
        guard let date = LocalDay("2000-\(day)") else { return nil }
        self = .day(month: date.components.month, day: date.components.day)
    }

    /// The stored form: the name of the kind, and the value.
    package var stored: (kind: String, value: String) {
        switch self {
        case .word(let word): ("word", word)
        case .day(let month, let day): ("day", Self.text(month: month, day: day))
        case .span(let span): ("span", "\(span.lowerBound)/\(span.upperBound)")
        }
    }

    /// Returns a day of every year as `12-24`.
    private static func text(month: Int, day: Int) -> String {
        let date = LocalDay(year: 2000, month: month, day: day) ?? .earliest
        return String(date.description.suffix(5))
    }

    /// Parses what ``stored`` returns; nil for any other text.
    package init?(kind: String, value: String) {
        let parts = value.split(separator: "/").compactMap { LocalDay($0) }
        switch kind {
        case "word": self.init(word: value)
        case "day": self.init(day: value)
        case "span" where parts.count == 2 && parts[0] <= parts[1]:
            self = .span(parts[0]...parts[1])
        default: return nil
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a letter or digit of a script that puts spaces between words.
    fileprivate var isSpaced: Bool { isWord && !isOfScriptWithoutSpaces }

    /// Thai, Lao, Tibetan, Burmese, Khmer, kana and Han; and Hangul, in which particles follow a
    /// word without a space.
    private var isOfScriptWithoutSpaces: Bool {
        switch value {
        case 0x0E00...0x0FFF, 0x1000...0x109F, 0x1100...0x11FF, 0x1780...0x17FF, 0x3000...0x318F,
            0x31F0...0x31FF,
            0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
            true
        default: false
        }
    }
}
