import Foundation
import Posts

/// Prepares a stranger's text for the tokenizer.
///
/// Unicode forms and case are unified, links and mentions are removed, and hashtags are extracted
/// as features, as `TextGrammar` recognizes them. Each step passes once over a bounded number of
/// bytes, whatever the text; a step whose sign (`:`, `#`, `@`) is missing costs next to nothing.
package struct TextCleaner {
    /// The most scalars that are read, before forms are unified (which may shorten the text).
    static let maximumInput = 10_000
    /// The most accents on one character; sorting more of them would take quadratic time.
    static let maximumMarks = 30
    /// The most scalars after forms and case are unified.
    static let maximumLength = 5_000
    /// The longest run of letters that is not divided, because MeCab's time grows with the square
    /// of an unbroken run.
    static let maximumRun = 1_000

    /// The text for the tokenizer, in UTF-8.
    let bytes: [UInt8]
    /// Whether the text has only the letters and signs of which nearly all posts consist.
    let isPlain: Bool
    /// The hashtags with their `#`, in order, repeats included.
    package let hashtags: [String]
    /// The text with its hashtags and mentions, and with a space in the place of each link.
    let withoutLinks: [UInt8]
    /// The hosts of the links in order, repeats included.
    let hosts: [String]
    let hasMention: Bool

    /// The text for the tokenizer.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package init(_ original: String) {
        var hashtags: [String] = []
        let plain = PlainScalars.unified(original, atMost: Self.maximumLength)
        var text = plain ?? Self.unifiedByTables(original)
        var hosts: [String] = []
        Self.rewrite(&text, Self.nextLink) { link, result in
            Self.host(of: link).map { hosts.append($0) }
            result.append(Self.space)
        }
        withoutLinks = text
        Self.rewrite(&text, Self.nextHashtag) { hashtag, result in
            hashtags.append(String(decoding: hashtag, as: UTF8.self))
            // The hashtag is surrounded by spaces, so that the words in it count too.
            result.append(Self.space)
            result += hashtag.dropFirst()
            result.append(Self.space)
        }
        var hasMention = false
        Self.rewrite(&text, Self.nextMention) { _, result in
            hasMention = true
            result.append(Self.space)
        }
        self.bytes = Self.dividingLongRuns(of: text)
        self.hashtags = hashtags
        self.hosts = hosts
        self.hasMention = hasMention
        isPlain = plain != nil
    }

    // MARK: Forms

    /// Returns a text in compatibility composition and lower case, with spaces for control
    /// characters, in UTF-8.
    static func unified(_ original: String) -> [UInt8] {
        PlainScalars.unified(original, atMost: maximumLength) ?? unifiedByTables(original)
    }

    /// Unifies scalars that need the Unicode tables.
    private static func unifiedByTables(_ original: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in normalized(bounded(original)).unicodeScalars.prefix(maximumLength) {
            // A lower-case sigma has another form at the end of a word.
            let scalar: Unicode.Scalar =
                if isControl(scalar) { " " } else if scalar == "ς" { "σ" } else { scalar }
            bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
        return bytes
    }

    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
    }

    private static func bounded(_ original: String) -> String {
        // A short text has too few accents to take long.
        if original.utf8.count < 1_000 { return original }
        var view = String.UnicodeScalarView()
        var marksInRow = 0
        for scalar in original.unicodeScalars.prefix(maximumInput) {
            let isMark =
                scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
            marksInRow = isMark ? marksInRow + 1 : 0
            if marksInRow <= maximumMarks { view.append(scalar) }
        }
        return String(view)
    }

    /// Returns a text in compatibility composition and lower case.
    ///
    /// Texts that Swift considers equal get the same bytes, so that a feature is equal in memory
    /// and in a database.
    static func normalized(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        return text.precomposedStringWithCompatibilityMapping.lowercased()
            .precomposedStringWithCanonicalMapping
    }

    // MARK: Rewriting

    /// Text in UTF-8, of whole scalars.
    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private static let space = UInt8(ascii: " ")

    /// Replaces each range that `next` finds, given a start.
    private static func rewrite(
        _ text: inout [UInt8], _ next: (Bytes, Int) -> Range<Int>?,
        _ replace: (Slice<Bytes>, inout [UInt8]) -> Void
    ) {
        let rewritten = text.withUnsafeBufferPointer { source -> [UInt8]? in
            guard var foundRange = next(source, 0) else { return nil }
            var result: [UInt8] = []
            result.reserveCapacity(source.count + 16)
            var index = 0
            while true {
                result += source[index..<foundRange.lowerBound]
                replace(source[foundRange], &result)
                index = foundRange.upperBound
                guard let following = next(source, index) else { return result + source[index...] }
                foundRange = following
            }
        }
        if let rewritten { text = rewritten }
    }

    /// The index of the next occurrence of an ASCII byte; nil if there is none.
    @inline(__always)
    private static func place(of byte: UInt8, in text: Bytes, from start: Int) -> Int? {
        guard let base = text.baseAddress, start < text.count else { return nil }
        let address = memchr(base + start, Int32(byte), text.count - start)
        return address.map { UnsafeRawPointer($0) - UnsafeRawPointer(base) }
    }

    /// Finds the next link, with the ASCII characters after it, which are not words.
    private static func nextLink(_ text: Bytes, from start: Int) -> Range<Int>? {
        var index = start
        while let colon = place(of: UInt8(ascii: ":"), in: text, from: index) {
            index = colon + 1
            guard text[colon...].starts(with: "://".utf8) else { continue }
            let textBeforeColon = text[start..<colon]
            let schemeLength =
                if textBeforeColon.suffix(5).elementsEqual("https".utf8) {
                    5
                } else if textBeforeColon.suffix(4).elementsEqual("http".utf8) {
                    4
                } else {
                    0
                }
            guard schemeLength > 0 else { continue }
            let link = TextGrammar(text).link(at: colon - schemeLength)
            let address = max(link?.range.upperBound ?? 0, colon + 3)
            let end = text[address...].firstIndex { !(0x21...0x7e).contains($0) } ?? text.count
            if end > colon + 3 { return (colon - schemeLength)..<end }
        }
        return nil
    }

    /// The host of a link without user and port; nil for an invalid one.
    private static func host(of link: Slice<Bytes>) -> String? {
        guard let slash = link.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        // The part after the two slashes.
        let address = link[link.index(slash, offsetBy: 2)...]
        let authority = address.prefix { !"/?#\\".utf8.contains($0) }
        let host =
            (authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority)
            .prefix { $0 != UInt8(ascii: ":") }
        guard !host.isEmpty, host.count <= FeatureExtractor.maximumBytes else { return nil }
        return String(decoding: host, as: UTF8.self)
    }

    /// Finds the next hashtag that contains a letter.
    private static func nextHashtag(_ text: Bytes, from start: Int) -> Range<Int>? {
        var index = start
        while let sign = place(of: UInt8(ascii: "#"), in: text, from: index) {
            index = sign + 1
            if let hashtag = TextGrammar(text).hashtag(at: sign), hashtag.isCertain {
                return hashtag.range
            }
        }
        return nil
    }

    /// Finds the next mention, with the dots and hyphens after it.
    ///
    /// An `@` right after a letter does not begin a mention. On X it does in scripts without
    /// spaces, but the classifier was measured without that rule.
    private static func nextMention(_ text: Bytes, from start: Int) -> Range<Int>? {
        var index = start
        while let sign = place(of: UInt8(ascii: "@"), in: text, from: index) {
            index = sign + 1
            guard let mention = TextGrammar(text).mention(at: sign), mention.isCertain,
                !mention.name.isEmpty
            else {
                continue
            }
            let following = text[mention.furthestEnd...]
            return
                sign..<(following.firstIndex { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "-") }
                ?? text.count)
        }
        return nil
    }

    /// The text with a space inserted in runs that are too long for the tokenizer.
    private static func dividingLongRuns(of text: [UInt8]) -> [UInt8] {
        guard text.count > maximumRun else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.count + text.count / maximumRun)
        var run = 0
        for byte in text {
            if byte == space {
                run = 0
            } else if byte & 0xC0 != 0x80 {
                run += 1
            }
            if run > maximumRun {
                result.append(space)
                run = 1
            }
            result.append(byte)
        }
        return result
    }
}

/// The scalars of which nearly all posts consist, with known compatibility composition and lower
/// case.
///
/// Their unified form does not depend on their neighbours, as long as these are such scalars too. A
/// text of these scalars needs no Unicode tables, which would take more time than the tokenizer.
enum PlainScalars {
    /// The text in compatibility composition and lower case, with spaces for control characters, in
    /// UTF-8.
    ///
    /// - Parameters:
    ///   - limit: The most scalars to return.
    /// - Returns: Nil if the text has other scalars within the limit.
    static func unified(_ text: String, atMost limit: Int) -> [UInt8]? {
        var text = text
        return text.withUTF8 { bytes in
            var isPlain = true
            // No scalar becomes longer in UTF-8. The ellipsis becomes three scalars of one byte
            // each, and had three bytes.
            let unified = [UInt8](unsafeUninitializedCapacity: bytes.count) { result, count in
                if let written = unify(bytes, into: result, atMost: limit) {
                    count = written
                } else {
                    isPlain = false
                }
            }
            return isPlain ? unified : nil
        }
    }

    /// Returns the number of bytes written; nil for a text with other scalars.
    private static func unify(
        _ bytes: UnsafeBufferPointer<UInt8>, into result: UnsafeMutableBufferPointer<UInt8>,
        atMost limit: Int
    ) -> Int? {
        var index = 0
        var count = 0
        var scalars = 0
        while index < bytes.count {
            let start = index
            let first = bytes[index]
            // The scalar after the last one is checked, because the two might combine. If the last
            // one was an ellipsis, the full stops beyond the limit are left out.
            if scalars >= limit {
                return plain(scalar(in: bytes, at: &index)).map { _ in count - (scalars - limit) }
            }
            scalars &+= 1
            if first < 0x80 {
                result[count] = plainASCII(first)
                index = index &+ 1
                count = count &+ 1
                continue
            }
            let scalar = scalar(in: bytes, at: &index)
            if isCommonKanaOrKanji(scalar) {
                for place in 0..<3 { result[count &+ place] = bytes[start &+ place] }
                count &+= 3
            } else if let plain = plain(scalar) {
                for _ in 0..<(scalar == ellipsis ? 3 : 1) {
                    count += encode(plain, result, at: count)
                }
                if scalar == ellipsis { scalars += 2 }
            } else {
                return nil
            }
        }
        return count - max(0, scalars - limit)
    }

    /// The ellipsis, which becomes three full stops.
    private static let ellipsis: UInt32 = 0x2026

    /// Returns the unified form of a scalar; for the ellipsis, one of its three full stops; `nil`
    /// for a scalar that is not plain.
    @inline(__always)
    static func plain(_ scalar: UInt32) -> UInt32? {
        switch scalar {
        case 0..<0x80: UInt32(plainASCII(UInt8(scalar)))
        case _ where isCommonKanaOrKanji(scalar): scalar
        case 0x3000: 0x20
        case ellipsis: 0x2E
        // Wide forms of ASCII, narrow ones of kana.
        case 0xFF21...0xFF3A: scalar - 0xFEE0 + 0x20
        case 0xFF01...0xFF5E: scalar - 0xFEE0
        case 0xFF66...0xFF9D: narrowKana[Int(scalar - 0xFF66)]
        // Letters of western Europe.
        case 0xC0...0xD6, 0xD8...0xDE: scalar + 0x20
        case 0xDF...0xF6, 0xF8...0xFF: scalar
        // Dashes, quotation marks, arrows, shapes and emoji, with variation selectors.
        case 0x2013...0x2014, 0x2018...0x201D, 0x2190...0x2193, 0x25A0...0x27BF, 0xFE0F, 0x200D:
            scalar
        case 0x1F300...0x1F6FF, 0x1F900...0x1F9FF: scalar
        case 0x3005...0x3011, 0x3014...0x301C: scalar
        // Numbers in circles.
        case 0x2460...0x2468: scalar - 0x2460 + 0x31
        default: nil
        }
    }

    /// Returns an ASCII byte in lower case; a space for a control character.
    @inline(__always)
    private static func plainASCII(_ byte: UInt8) -> UInt8 {
        if byte < 0x20 || byte == 0x7f { return 0x20 }
        return byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether a scalar is kana, a long mark of kana, a usual kanji or a full stop of theirs: three
    /// bytes each, which stay unchanged.
    @inline(__always)
    private static func isCommonKanaOrKanji(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x3041...0x3096, 0x30A1...0x30FC, 0x4E00...0x9FEF, 0x3001...0x3003: true
        default: false
        }
    }

    /// The wide forms of the narrow kana from U+FF66 on.
    private static let narrowKana = "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
        .unicodeScalars
        .map(\.value)

    /// Writes a scalar in UTF-8.
    ///
    /// - Returns: The number of bytes written.
    @inline(__always)
    private static func encode(
        _ scalar: UInt32, _ bytes: UnsafeMutableBufferPointer<UInt8>, at place: Int
    ) -> Int {
        func tail(_ shift: UInt32) -> UInt8 {
            UInt8(truncatingIfNeeded: 0x80 | (scalar >> shift & 0x3F))
        }
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

    /// Reads one scalar of text that is known to be UTF-8.
    @inline(__always)
    static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at index: inout Int) -> UInt32 {
        let first = UInt32(bytes[index])
        func continuation(_ place: Int) -> UInt32 { UInt32(bytes[index &+ place] & 0x3F) }
        switch first {
        case 0..<0x80:
            index &+= 1
            return first
        case 0..<0xE0:
            defer { index &+= 2 }
            return (first & 0x1F) << 6 | continuation(1)
        case 0..<0xF0:
            defer { index &+= 3 }
            return (first & 0x0F) << 12 | continuation(1) << 6 | continuation(2)
        default:
            defer { index &+= 4 }
            return (first & 0x07) << 18 | continuation(1) << 12 | continuation(2) << 6
                | continuation(3)
        }
    }
}
