import Foundation
import Localization

/// Makes text from outside safe to print: it cannot move the cursor, change colors or reverse the
/// line.
enum Printable {
    /// The text on one line: line breaks and tabs become spaces.
    static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isHarmless($0) ? $0 : " " }))
    }

    /// The text with its line breaks.
    static func lines(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0 == "\n" || isHarmless($0) ? $0 : " " }))
    }

    /// The text on one line, no wider than `columns`, with an ellipsis if it was cut.
    static func line(_ text: String, columns: Int) -> String {
        let safe = line(text)
        guard width(safe) > columns else { return safe }
        var keptText = ""
        var usedColumns = 0
        let ellipsis = ellipsis
        for character in safe {
            let characterWidth = width(character)
            guard usedColumns + characterWidth <= columns - ellipsis.count else { break }
            keptText.append(character)
            usedColumns += characterWidth
        }
        return keptText + ellipsis
    }

    /// Whether the terminal of this task supports more than ASCII.
    @TaskLocal static var hasUnicode = true

    /// The sign at the end of a shortened text.
    private static var ellipsis: String { hasUnicode ? "…" : "..." }

    /// The text on several lines, each no wider than `columns`; lines may end within words, so that
    /// nothing is lost.
    static func chunks(_ text: String, columns: Int) -> [String] {
        line(text).reduce(into: [""]) { chunks, character in
            if width(chunks[chunks.count - 1]) + width(character) > columns { chunks.append("") }
            chunks[chunks.count - 1].append(character)
        }
    }

    /// Lines no wider than `columns`, as far as the words allow.
    ///
    /// In Japanese, which has no spaces between words, a line may also end between two characters.
    static func wrapped(_ text: String, columns: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            let parts = Language.current == .japanese ? breakableParts(of: word) : [word]
            for (index, part) in parts.enumerated() {
                let gap = index == 0 ? " " : ""
                let partWidth = gap.count + width(String(part))
                if let last = lines.last, width(last) + partWidth <= columns {
                    lines[lines.count - 1] += gap + part
                } else {
                    lines.append(String(part))
                }
            }
        }
        return lines
    }

    /// The parts of a word between which a line may end: before and after each wide character, but
    /// not between a sign and the character to which it belongs.
    ///
    /// Source: JIS X 4051, the characters that do not begin or end a line.
    private static func breakableParts(of word: Substring) -> [Substring] {
        var parts: [Substring] = []
        var start = word.startIndex
        for (index, next) in zip(word.indices.dropFirst(), word.dropFirst()) {
            let previous = word[word.index(before: index)]
            let isBetweenWide = width(previous) > 1 || width(next) > 1
            guard isBetweenWide, !neverLast.contains(previous), !neverFirst.contains(next) else {
                continue
            }
            parts.append(word[start..<index])
            start = index
        }
        return parts + [word[start...]]
    }

    /// The characters with which no line begins.
    private static let neverFirst = Set(
        "、。，．・：；？！）」』】〉》］｝〜～…ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ,.:;?!)]}\"'")
    /// The characters with which no line ends.
    private static let neverLast = Set("（「『【〈《［｛([{\"'@#")

    /// A named value on one or several lines, with the name before the first line.
    ///
    /// - Parameters:
    ///   - name: The name of the value; empty for none.
    ///   - value: Shown on one line if it fits.
    ///   - indent: The column at which the value begins.
    ///   - columns: The greatest width of a line, as far as the words allow.
    static func rows(_ name: String, _ value: String, indent: Int, columns: Int) -> [String] {
        wrapped(line(value), columns: columns - indent).enumerated().map { index, line in
            padded(index == 0 ? name : "", to: indent) + line
        }
    }

    /// The text followed by spaces up to `columns`.
    static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }

    /// The width of the text in cells of a terminal.
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        // The variation selector U+FE0F requests the emoji form of the sign before it.
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") {
            return 2
        }
        return isWide(first) ? 2 : 1
    }

    /// Whether a scalar takes two cells: those of East Asian scripts and full-width forms do
    /// (Unicode Standard Annex #11, classes W and F, by block).
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x1F300...0x1FAFF,
            0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// Whether a scalar is safe to print: not a control character, nor one that changes the text
    /// direction.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: false
        default: scalar.properties.generalCategory != .control
        }
    }
}
