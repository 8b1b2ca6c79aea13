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

/// The scalars that nearly all posts consist of, whose compatibility composition and lower case are known.
///
/// Each of them becomes the same whatever stands beside it, as long as that is one of them too. A text of nothing else
/// needs no tables of Unicode, which cost more than cutting the text into words.
enum PlainScalars {
    /// The text in compatibility composition and lower case, with spaces for control characters.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: How many scalars are returned at most.
    /// - Returns: Nil if the text has other scalars, as far as it matters.
    static func unified(_ text: String, atMost limit: Int) -> [Unicode.Scalar]? {
        var text = text
        return text.withUTF8 { bytes in
            var isPlain = true
            // A scalar becomes at most as many as it has bytes.
            let scalars = [Unicode.Scalar](unsafeUninitializedCapacity: bytes.count) { result, count in
                var index = 0
                while index < bytes.count {
                    let scalar = scalar(in: bytes, at: &index)
                    guard let plain = plain(scalar) else {
                        isPlain = false
                        return
                    }
                    // The scalar behind the last one is looked at, since it might have been composed with it.
                    if count >= limit { break }
                    result[count] = plain
                    count += 1
                    if scalar == ellipsis {
                        result[count] = plain
                        result[count + 1] = plain
                        count += 2
                    }
                }
                count = min(count, limit)
            }
            return isPlain ? scalars : nil
        }
    }

    /// The one that becomes three.
    private static let ellipsis: UInt32 = 0x2026

    /// What becomes of a scalar, or of each of the three that it becomes; nil if that is not known here.
    @inline(__always)
    static func plain(_ scalar: UInt32) -> Unicode.Scalar? {
        switch scalar {
        case 0..<0x20, 0x7f, 0x3000: " "
        case 0x41...0x5a: Unicode.Scalar(scalar + 0x20)
        case 0x20...0x7e: Unicode.Scalar(scalar)
        // Kana with their long marks, usual kanji.
        case 0x3041...0x3096, 0x30A1...0x30FC, 0x4E00...0x9FEF: Unicode.Scalar(scalar)
        case 0x3001...0x3003, 0x3005...0x3011, 0x3014...0x301B: Unicode.Scalar(scalar)
        case ellipsis: "."
        // Wide forms of ASCII.
        case 0xFF21...0xFF3A: Unicode.Scalar(scalar - 0xFEE0 + 0x20)
        case 0xFF01...0xFF5E: Unicode.Scalar(scalar - 0xFEE0)
        // Dashes, quotation marks, arrows and faces, with what chooses their looks.
        case 0x2013...0x2014, 0x2018...0x201D, 0x2190...0x2193, 0x2600...0x27BF, 0xFE0F, 0x200D: Unicode.Scalar(scalar)
        case 0x1F300...0x1F6FF, 0x1F900...0x1F9FF: Unicode.Scalar(scalar)
        default: nil
        }
    }

    /// Reads one scalar of text that is known to be UTF-8.
    private static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at index: inout Int) -> UInt32 {
        let first = bytes[index]
        let size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard size > 1 else {
            index += 1
            return UInt32(first)
        }
        var scalar = UInt32(first & 0xFF >> UInt8(size + 1))
        for place in 1..<size { scalar = scalar << 6 | UInt32(bytes[index + place] & 0x3F) }
        index += size
        return scalar
    }
}
