import Foundation

/// Prepares a text that strangers wrote for the tokenizer.
///
/// Unicode forms and case are unified, links and mentions are removed, and
/// hashtags are taken out as features. Each step passes once over a bounded
/// number of scalars, whatever the text holds.
package struct TextCleaner {
    /// The number of scalars that is read of a text, before forms are unified (which may shorten it).
    static let maximumInput = 10_000
    /// The number of accents on one character that are read; sorting more of them would take quadratic time.
    static let maximumMarks = 30
    /// The number of scalars that is kept after forms and case are unified.
    static let maximumLength = 5_000
    /// MeCab's time grows with the square of an unbroken run of letters, so such runs are cut at this length.
    static let maximumRun = 1_000

    /// The text for the tokenizer.
    package let text: String
    /// The hashtags with their `#`, in order, repeats included.
    package let hashtags: [String]

    package init(_ original: String) {
        var hashtags: [String] = []
        var scalars = Self.unified(original)
        scalars = Self.withoutLinks(scalars)
        scalars = Self.withoutHashtags(scalars) { hashtags.append($0) }
        scalars = Self.withoutMentions(scalars)
        self.text = Self.broken(scalars)
        self.hashtags = hashtags
    }

    /// Compatibility composition, lower case, and spaces for control characters.
    static func unified(_ original: String) -> [Unicode.Scalar] {
        if let unified = PlainScalars.unified(original, atMost: maximumLength) { return unified }
        let unified = normalized(bounded(original))
        return unified.unicodeScalars.prefix(maximumLength).map {
            isControl($0) ? " " : $0
        }
    }

    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
    }

    private static func bounded(_ original: String) -> String {
        // Few accents are sorted quickly, however many of them are on one character.
        if original.utf8.count < 1_000 { return original }
        var view = String.UnicodeScalarView()
        var marks = 0
        for scalar in original.unicodeScalars.prefix(maximumInput) {
            let isMark = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
            marks = isMark ? marks + 1 : 0
            if marks <= maximumMarks { view.append(scalar) }
        }
        return String(view)
    }

    /// Compatibility composition and lower case.
    ///
    /// Texts that Swift considers equal become the same bytes, so that a
    /// feature in memory and in a database is one and the same.
    static func normalized(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        return text.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCanonicalMapping
    }

    /// Puts a space in the place of each `http://` or `https://` and the ASCII characters that follow.
    ///
    /// Only ASCII belongs to a link: Japanese text is often written right behind it.
    private static func withoutLinks(_ source: [Unicode.Scalar]) -> [Unicode.Scalar] {
        guard var next = nextLink(source, from: 0) else { return source }
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(source.count)
        var index = 0
        while true {
            result += source[index..<next.lowerBound]
            result.append(" ")
            index = next.upperBound
            guard let following = nextLink(source, from: index) else { break }
            next = following
        }
        return result + source[index...]
    }

    private static func nextLink(_ source: [Unicode.Scalar], from start: Int) -> Range<Int>? {
        // The shortest link is a head and one character.
        for index in start..<max(start, source.count - shortHead.count) where source[index] == "h" {
            let rest = source[index...]
            guard rest.starts(with: shortHead) || rest.starts(with: longHead) else { continue }
            let head = source[index + 4] == "s" ? longHead.count : shortHead.count
            let end = source[(index + head)...].firstIndex { !("!"..."~").contains($0) } ?? source.count
            if end > index + head { return index..<end }
        }
        return nil
    }

    private static let shortHead = Array("http://".unicodeScalars)
    private static let longHead = Array("https://".unicodeScalars)

    /// Replaces each hashtag by its word between spaces, so that the words within it count too.
    private static func withoutHashtags(
        _ source: [Unicode.Scalar], _ found: (String) -> Void
    ) -> [Unicode.Scalar] {
        guard source.contains("#") else { return source }
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            let scalar = source[index]
            if scalar == "#", index == 0 || !isTagBarrier(source[index - 1]) {
                let run = source[(index + 1)...].prefix(while: isTagCharacter)
                if run.contains(where: isLetter) {
                    found("#" + text(of: run))
                    result.append(" ")
                    result.append(contentsOf: run)
                    result.append(" ")
                    index = run.endIndex
                    continue
                }
            }
            result.append(scalar)
            index += 1
        }
        return result
    }

    /// Puts a space in the place of each `@name` and `@name@host`.
    private static func withoutMentions(_ source: [Unicode.Scalar]) -> [Unicode.Scalar] {
        guard source.contains("@") else { return source }
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            if source[index] == "@", index == 0 || !isMentionBarrier(source[index - 1]),
                let end = mentionEnd(source, from: index + 1)
            {
                result.append(" ")
                index = end
            } else {
                result.append(source[index])
                index += 1
            }
        }
        return result
    }

    private static func mentionEnd(_ source: [Unicode.Scalar], from start: Int) -> Int? {
        guard start < source.count, isNameStart(source[start]) else { return nil }
        let name = source[start...].prefix { isNameStart($0) || $0 == "." || $0 == "-" }
        guard name.endIndex < source.count, source[name.endIndex] == "@" else { return name.endIndex }
        let host = source[(name.endIndex + 1)...].prefix { $0 != "_" && (isNameStart($0) || $0 == "." || $0 == "-") }
        return host.isEmpty ? name.endIndex : host.endIndex
    }

    /// Joins the scalars, with a space wherever a run without one is too long for the tokenizer.
    private static func broken(_ source: [Unicode.Scalar]) -> String {
        guard source.count > maximumRun else { return text(of: source[...]) }
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(source.count + source.count / maximumRun)
        var run = 0
        for scalar in source {
            run = scalar == " " || scalar == "\u{3000}" ? 0 : run + 1
            if run > maximumRun {
                result.append(" ")
                run = 1
            }
            result.append(scalar)
        }
        return text(of: result[...])
    }

    private static func text(of scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(unsafeUninitializedCapacity: 4 * scalars.count) { bytes in
            var count = 0
            for scalar in scalars {
                count += encode(scalar.value, bytes, at: count)
            }
            return count
        }
    }

    /// Writes a scalar in UTF-8.
    ///
    /// - Returns: The number of bytes it has taken.
    @inline(__always)
    private static func encode(_ scalar: UInt32, _ bytes: UnsafeMutableBufferPointer<UInt8>, at place: Int) -> Int {
        func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | (scalar >> shift & 0x3F)) }
        switch scalar {
        case 0..<0x80:
            bytes[place] = UInt8(truncatingIfNeeded: scalar)
            return 1
        case 0x80..<0x800:
            bytes[place] = UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
            bytes[place + 1] = tail(0)
            return 2
        case 0x800..<0x1_0000:
            bytes[place] = UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
            bytes[place + 1] = tail(6)
            bytes[place + 2] = tail(0)
            return 3
        default:
            bytes[place] = UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
            bytes[place + 1] = tail(12)
            bytes[place + 2] = tail(6)
            bytes[place + 3] = tail(0)
            return 4
        }
    }

    private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_"
    }

    private static func isTagBarrier(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "&" || scalar == "/" || isTagCharacter(scalar)
    }

    private static func isMentionBarrier(_ scalar: Unicode.Scalar) -> Bool { scalar == "/" || isTagCharacter(scalar) }

    private static func isTagCharacter(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || isLetter(scalar) || isNumber(scalar)
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        // Most by far; spares them the tables of Unicode.
        switch scalar.value {
        case 0x61...0x7a, 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FEF: return true
        case 0x20...0x40: return false
        default: break
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return true
        default: return false
        }
    }

    private static func isNumber(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return ("0"..."9").contains(scalar) }
        switch scalar.properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber: return true
        default: return false
        }
    }
}
