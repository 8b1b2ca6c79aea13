/// The grammar of links, mentions and hashtags in a plain text.
///
/// Publishing removes the elements that would notify a person, learning excludes names and
/// addresses from the words, and the comparison of texts ignores them. All three parse a text with
/// this grammar, so that they agree about the end of every element. A text is read in UTF-8. Each
/// function parses at one position and takes time in proportion to the element.
///
/// An element is recognised if any of the three networks recognises it; `isCertain` is true if all
/// of them do.
///
/// Sources: Mastodon 4.5, `USERNAME_RE` and `MENTION_RE` of `app/models/account.rb`,
/// `HASHTAG_NAME_PAT` of `app/models/tag.rb` and `config/initializers/twitter_regex.rb`;
/// twitter-text 3.1, `valid_mention_or_list`, `valid_url` and `valid_hashtag`; `@atproto/api`,
/// `MENTION_REGEX` and `URL_REGEX` of `src/rich-text/util.ts`. For emoji `SCAN_RE` of Mastodon's
/// `app/models/custom_emoji.rb`, and `emojiCode` of Misskey's `mfm-js`.
package struct TextGrammar {
    /// A `http://` or `https://` link.
    package struct Link: Equatable {
        /// The link without the punctuation at its end.
        package let range: Range<Int>
        /// Whether the link is at the start of the text or after white space or a round bracket,
        /// and its host is ASCII with a dot in it.
        package let isCertain: Bool
    }

    /// An `@` followed by a name, and perhaps a host.
    package struct Mention: Equatable {
        /// The name without `@` and host; empty if it has letters that no network allows in names.
        package let name: Range<Int>
        /// The end of name, host and port.
        package let end: Int
        /// The end of the longest name that a network could read; beyond `end` if several dots or
        /// hyphens are followed by more letters, as in `@ann...and so on`.
        package let furthestEnd: Int
        /// Whether the sign is `@`, the name follows directly, and no letter, digit, underscore or
        /// slash precedes the sign.
        package let isCertain: Bool
    }

    /// A hash sign followed by a word.
    package struct Hashtag: Equatable {
        /// The range of the sign and the word.
        package let range: Range<Int>
        /// Whether its word has a letter, and no `&` or `/` precedes the sign; otherwise only X
        /// recognizes it.
        package let isCertain: Bool
    }

    /// A custom picture of a server, written as `:name:`.
    package struct Emoji: Equatable {
        /// The range of the name with its colons.
        package let range: Range<Int>
        /// Whether no letter or digit of any script and no other colon is beside it: then every
        /// server that has the picture shows it.
        package let isCertain: Bool
    }

    private let text: UnsafeBufferPointer<UInt8>

    /// - Parameter text: Valid UTF-8, which must stay in memory as long as the grammar is in use.
    package init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

    // MARK: Links

    /// The link whose scheme begins at `position`; nil for none.
    ///
    /// As on X and Mastodon, letters of scripts with spaces between words belong to a link, and so
    /// does an en dash between two of them. Letters of Japanese and other scripts without
    /// spaces belong to its host; they belong to its path if a slash, `=` or `&` follows them, or
    /// if its last part consists of them, as in `/wiki/東京`. Elsewhere, and with hiragana or a
    /// Korean particle, they more often continue the sentence.
    package func link(at position: Int) -> Link? {
        guard let hostStart = schemeEnd(at: position), let first = scalar(at: hostStart),
            first.isWord
        else { return nil }
        let addressEnd = addressEnd(from: hostEnd(at: hostStart))
        let end = endWithoutClosings(of: position..<addressEnd)
        let previous = scalar(before: position)
        let beginsWord =
            previous == nil || previous == "(" || previous?.properties.isWhitespace == true
        return Link(
            range: position..<end, isCertain: beginsWord && hasOrdinaryHost(hostStart..<end))
    }

    private func schemeEnd(at position: Int) -> Int? {
        var end = position
        func skip(_ expected: StaticString) -> Bool {
            let length = expected.utf8CodeUnitCount
            guard end + length <= text.count else { return false }
            for offset in 0..<length
            where text[end + offset].lowercaseASCII != expected.utf8Start[offset] { return false }
            end += length
            return true
        }
        guard skip("http") else { return nil }
        _ = skip("s")
        return skip("://") ? end : nil
    }

    /// The end of port, path and query after a host.
    private func addressEnd(from hostEnd: Int) -> Int {
        var end = hostEnd
        var isInPath = false
        while end < text.count {
            if text[end] < 0x80 {
                guard Unicode.Scalar(text[end]).isLinkScalar else { break }
                isInPath = isInPath || Self.isOne(of: "/?#", text[end])
                end += 1
            } else {
                guard isInPath, let (scalar, next) = decoded(at: end) else { break }
                if scalar == "\u{2013}", self.scalar(at: next)?.isWord == true {
                    end = next
                    continue
                }
                guard scalar.isWord else { break }
                if scalar.isWrittenWithoutSpaces {
                    guard let segment = segmentEnd(from: end) ?? lastPartEnd(from: end) else {
                        break
                    }
                    end = segment
                } else {
                    end = next
                }
            }
        }
        return end
    }

    /// The end of a run of letters of any script that is followed by a slash, `=` or `&`; nil for
    /// any other run.
    private func segmentEnd(from start: Int) -> Int? {
        var end = start
        while let (scalar, next) = decoded(at: end) {
            if scalar.isASCII {
                if Self.isOne(of: "/=&", text[end]) { return end }
                guard scalar.isASCIIAlphanumeric || Self.isOne(of: "_-.~%+", text[end]) else {
                    return nil
                }
            } else {
                guard scalar.isWord else { return nil }
            }
            end = next
        }
        return nil
    }

    /// The end of a run of letters of scripts without spaces that is the whole last part of a path;
    /// nil if the letters more likely continue the sentence.
    private func lastPartEnd(from start: Int) -> Int? {
        guard start > 0, Self.isOne(of: "/=", text[start - 1]) else { return nil }
        var end = start
        var letters = 0
        while let (scalar, next) = decoded(at: end),
            scalar.isWord || Self.isOne(of: "_-", text[end])
        {
            guard !(0x3041...0x309F).contains(scalar.value) else { return nil }
            letters += 1
            end = next
        }
        let isAtEnd =
            if let follower = scalar(at: end) {
                follower.properties.isWhitespace || Self.closings.contains(follower)
            } else { true }
        let isParticle = Self.particles.contains(String(decoding: text[start..<end], as: UTF8.self))
        return isAtEnd && letters > 1 && !isParticle ? end : nil
    }

    /// Punctuation and brackets that are no part of an address at its end.
    private static let closings: Set<Unicode.Scalar> = [
        ")", "]", "、", "。", "，", "）", "」", "』", "】", "》",
    ]
    /// Korean particles, which follow a word or an address without a space.
    private static let particles: Set<String> = [
        "에서", "으로", "까지", "부터", "에게", "처럼", "보다", "입니다", "이다", "라는",
    ]

    /// The end of a link without the punctuation after it, and without closing brackets that it
    /// does not open.
    private func endWithoutClosings(of link: Range<Int>) -> Int {
        let hasParenthesis = text[link].contains(UInt8(ascii: "("))
        let hasBracket = text[link].contains(UInt8(ascii: "["))
        var end = link.upperBound
        // The loop removes no opening brackets, so both constants stay right.
        while end > link.lowerBound {
            switch text[end - 1] {
            case UInt8(ascii: ")"): if hasParenthesis { return end }
            case UInt8(ascii: "]"): if hasBracket { return end }
            case let byte: guard Self.isOne(of: ".,;:!?'*@|", byte) else { return end }
            }
            end -= 1
        }
        return end
    }

    private func hasOrdinaryHost(_ address: Range<Int>) -> Bool {
        let host = text[address].prefix {
            $0.isASCIIAlphanumeric || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
        }
        let isWholeHost =
            host.endIndex == address.upperBound || Self.isOne(of: "/?#:", text[host.endIndex])
        return isWholeHost && host.dropFirst().dropLast().contains(UInt8(ascii: "."))
    }

    // MARK: Hosts

    /// The end of the host that begins at `start`; `start` for none.
    ///
    /// A host consists of runs of letters, marks, digits and underscores of any script, separated
    /// by dots and hyphens. If letters of a script without spaces follow a label in ASCII, and no
    /// top-level domain comes after them, the host ends with that label: the host in
    /// `a.exampleです` is `a.example`.
    private func hostEnd(at start: Int) -> Int {
        var end = start
        var position = start
        var isLabelASCII = true
        var isLabelEmpty = true
        // The position at which a sentence may continue after the host.
        var sentenceStart: Int?
        while let (scalar, next) = decoded(at: position) {
            if scalar == "." {
                isLabelASCII = true
                isLabelEmpty = true
            } else if scalar.isWord {
                if isLabelASCII, !isLabelEmpty, scalar.isWrittenWithoutSpaces {
                    sentenceStart = sentenceStart ?? end
                }
                isLabelASCII = isLabelASCII && scalar.isASCII
                isLabelEmpty = false
                end = next
            } else if scalar != "-" {
                break
            }
            position = next
        }
        guard let sentenceStart, !endsInTopLevel(sentenceStart..<end) else { return end }
        return sentenceStart
    }

    /// Whether the last label of a host is more likely a top-level domain than the continuation of
    /// the sentence.
    private func endsInTopLevel(_ host: Range<Int>) -> Bool {
        guard let dot = text[host].lastIndex(of: UInt8(ascii: ".")) else { return false }
        let label = String(decoding: text[(dot + 1)..<host.upperBound], as: UTF8.self)
        let scalars = label.unicodeScalars
        guard let first = scalars.first, first.isLetter, scalars.count > 1 else { return false }
        return scalars.allSatisfy { !$0.isWrittenWithoutSpaces } || TopLevelDomains.isForeign(label)
    }

    // MARK: Mentions

    /// The mention whose sign is at `position`; nil for none.
    ///
    /// `＠` and `﹫` count as `@`, and every sign directly followed by a letter, digit or underscore
    /// begins a mention unless it is after an ASCII letter or digit, as in an e-mail address, which
    /// no network reads as a mention; `RT` before it is allowed. Invisible characters between sign
    /// and name are skipped, because servers may drop them.
    package func mention(at position: Int) -> Mention? {
        guard let (sign, afterSign) = decoded(at: position), sign.isAtSign else { return nil }
        let previous = scalar(before: position)
        if previous?.isASCIIAlphanumeric == true, !followsRepostMark(position) { return nil }
        var start = afterSign
        while let (scalar, next) = decoded(at: start), scalar.isInvisible { start = next }
        guard let first = scalar(at: start), first.isWord else { return nil }
        let isCertain =
            sign == "@" && start == afterSign && previous != "/" && previous?.isWord != true
        let furthest = nameEnd(at: start, allowsSeparatorRuns: true)
        let candidates = [furthest, foreignNameEnd(at: start)].compactMap(\.self)
        for nameEnd in candidates where nameEnd > start {
            guard let end = hostEnd(afterName: nameEnd) else { continue }
            return Mention(name: start..<nameEnd, end: end, furthestEnd: end, isCertain: isCertain)
        }
        let end = nameEnd(at: start, allowsSeparatorRuns: false)
        return Mention(name: start..<end, end: end, furthestEnd: furthest, isCertain: isCertain)
    }

    /// Whether `RT` alone precedes the sign at `position`, after which X reads a mention too.
    private func followsRepostMark(_ position: Int) -> Bool {
        guard position >= 2, text[position - 2].lowercaseASCII == UInt8(ascii: "r"),
            text[position - 1].lowercaseASCII == UInt8(ascii: "t")
        else { return false }
        guard position > 2 else { return true }
        return !text[position - 3].isASCIIAlphanumeric
            && !Self.isOne(of: "_+~.-", text[position - 3])
    }

    /// The end of a name: runs of ASCII letters, digits and underscores, separated by dots and
    /// hyphens.
    ///
    /// - Parameters:
    ///   - start: The start of the name.
    ///   - allowsSeparatorRuns: Whether several dots and hyphens may follow each other, as on
    ///     Mastodon; otherwise only single ones, because several are more often the end of a
    ///     sentence.
    /// - Returns: The end; `start` if there is no name.
    private func nameEnd(at start: Int, allowsSeparatorRuns: Bool) -> Int {
        func isNameByte(_ index: Int) -> Bool {
            index < text.count
                && (text[index].isASCIIAlphanumeric || text[index] == UInt8(ascii: "_"))
        }
        var end = start
        while isNameByte(end) {
            while isNameByte(end) { end += 1 }
            let separators = text[end...].prefix {
                $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
            }
            let isSingleSeparator =
                separators.count == 1 && isNameByte(end + 1) && text[end + 1] != UInt8(ascii: "_")
            let isSeparatorRun = !separators.isEmpty && isNameByte(separators.endIndex)
            guard allowsSeparatorRuns ? isSeparatorRun : isSingleSeparator else { break }
            end = separators.endIndex
        }
        return end
    }

    /// The end of a name with non-ASCII letters, which some servers allow; nil unless a host with a
    /// dot follows.
    private func foreignNameEnd(at start: Int) -> Int? {
        var end = start
        while let (scalar, next) = decoded(at: end), scalar.isWord {
            // In scripts without spaces the text up to the next mention is a sentence.
            if scalar.isWrittenWithoutSpaces { return nil }
            end = next
        }
        guard let hostEnd = self.hostEnd(afterName: end),
            text[end..<hostEnd].contains(UInt8(ascii: "."))
        else { return nil }
        return end
    }

    /// The end of `@`, host and port after a name; nil for none.
    private func hostEnd(afterName nameEnd: Int) -> Int? {
        guard let (sign, start) = decoded(at: nameEnd), sign.isAtSign,
            let first = scalar(at: start),
            first.isWord
        else {
            return nil
        }
        let hostEnd = hostEnd(at: start)
        guard hostEnd < text.count, text[hostEnd] == UInt8(ascii: ":") else { return hostEnd }
        let port = text[(hostEnd + 1)...].prefix(while: \.isASCIIDigit)
        return (1...5).contains(port.count) ? port.endIndex : hostEnd
    }

    // MARK: Hashtags

    /// The hashtag whose sign is at `position`; nil for none.
    ///
    /// Its word contains a letter or mark of any script, and may contain letters, marks, digits,
    /// underscores and the signs that Mastodon and X allow in words: `·`, `・` and the joiners of
    /// Persian and Indian scripts. It does not end with one of these signs.
    package func hashtag(at position: Int) -> Hashtag? {
        guard let (sign, start) = decoded(at: position), sign.isHashSign else { return nil }
        let previous = scalar(before: position)
        if let previous, previous.preventsHashtag { return nil }
        // The sign is part of a keycap emoji, such as `#️⃣`.
        if let first = scalar(at: start), first == "\u{FE0F}" || first == "\u{20E3}" { return nil }
        var end = start
        var run = start
        var hasLetter = false
        var hasMark = false
        while let (scalar, next) = decoded(at: run) {
            if scalar.isWord {
                hasLetter = hasLetter || scalar.isLetter
                hasMark = hasMark || !hasLetter && scalar.isMark
                end = next
            } else if !scalar.joinsHashtag {
                break
            }
            run = next
        }
        guard hasLetter || hasMark else { return nil }
        return Hashtag(
            range: position..<end, isCertain: hasLetter && previous != "&" && previous != "/")
    }

    // MARK: Emoji

    /// The custom emoji that begins at `position`, with those that follow it directly; empty for
    /// none.
    ///
    /// A name has two or more ASCII letters, digits, `_`, `+` or `-`, and not digits alone, as in a
    /// time of day. No ASCII letter or digit is beside the emoji, and no colon except the colons
    /// of further emoji.
    package func emoji(at position: Int) -> [Emoji] {
        func mayAdjoin(_ scalar: Unicode.Scalar?) -> Bool {
            guard let scalar else { return true }
            return !scalar.isASCIIAlphanumeric && scalar != ":"
        }
        let previous = scalar(before: position)
        guard mayAdjoin(previous) else { return [] }
        var ranges: [Range<Int>] = []
        var end = position
        while let next = emojiEnd(at: end) {
            ranges.append(end..<next)
            end = next
        }
        let next = scalar(at: end)
        guard !ranges.isEmpty, mayAdjoin(next) else { return [] }
        let isCertain =
            ranges.count == 1 && previous?.isWord != true && next?.isWord != true
        return ranges.map { Emoji(range: $0, isCertain: isCertain) }
    }

    private func emojiEnd(at start: Int) -> Int? {
        guard start < text.count, text[start] == UInt8(ascii: ":") else { return nil }
        let name = text[(start + 1)...].prefix {
            $0.isASCIIAlphanumeric || Self.isOne(of: "_+-", $0)
        }
        guard name.count > 1, name.endIndex < text.count, text[name.endIndex] == UInt8(ascii: ":"),
            !name.allSatisfy(\.isASCIIDigit)
        else { return nil }
        return name.endIndex + 1
    }

    // MARK: Scalars

    /// The scalar that begins at `position`, and the position after it; nil at the end.
    package func decoded(at position: Int) -> (scalar: Unicode.Scalar, next: Int)? {
        guard position < text.count else { return nil }
        let first = UInt32(text[position])
        func continuation(_ index: Int) -> UInt32 { UInt32(text[position + index] & 0x3F) }
        let (value, length): (UInt32, Int) =
            switch first {
            case 0..<0x80: (first, 1)
            case 0..<0xE0: ((first & 0x1F) << 6 | continuation(1), 2)
            case 0..<0xF0: ((first & 0x0F) << 12 | continuation(1) << 6 | continuation(2), 3)
            default:
                (
                    (first & 0x07) << 18 | continuation(1) << 12 | continuation(2) << 6
                        | continuation(3), 4
                )
            }
        return Unicode.Scalar(value).map { ($0, position + length) }
    }

    /// The scalar that begins at `position`; nil at the end.
    private func scalar(at position: Int) -> Unicode.Scalar? { decoded(at: position)?.scalar }

    /// The scalar that ends before `position`; nil at the beginning.
    private func scalar(before position: Int) -> Unicode.Scalar? {
        var start = position - 1
        // A byte 10xxxxxx continues a character of UTF-8.
        while start > 0, text[start] & 0xC0 == 0x80 { start -= 1 }
        return start < 0 ? nil : scalar(at: start)
    }

    private static func isOne(of signs: StaticString, _ byte: UInt8) -> Bool {
        UnsafeBufferPointer(start: signs.utf8Start, count: signs.utf8CodeUnitCount).contains(byte)
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is `@`, or a form of it that servers may treat as one.
    package var isAtSign: Bool { self == "@" || self == "\u{FF20}" || self == "\u{FE6B}" }

    /// Whether the scalar is `#`, or a form of it that networks treat as one.
    package var isHashSign: Bool { self == "#" || self == "\u{FF03}" || self == "\u{FE5F}" }

    /// Whether the scalar is a letter of any script.
    package var isLetter: Bool {
        if isASCII { return UInt8(truncatingIfNeeded: value).isASCIILetter }
        if isCommonJapanese { return true }
        return switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            true
        default: false
        }
    }

    /// Whether the scalar is a letter, digit, combining mark or underscore of any script.
    package var isWord: Bool {
        if isASCII { return isASCIIAlphanumeric || self == "_" }
        if isCommonJapanese { return true }
        return switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark,
            .connectorPunctuation:
            true
        default: false
        }
    }

    /// Whether the scalar combines with the letter before it.
    package var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether the scalar is invisible by itself: a joiner, direction mark or variation selector.
    package var isInvisible: Bool { !isASCII && properties.isDefaultIgnorableCodePoint }

    /// Whether the scalar is ASCII and may be in a link.
    package var isLinkScalar: Bool {
        guard isASCII, value > 0x20, value < 0x7F else { return false }
        return switch self {
        case "<", ">", "\"", "\\", "^", "`", "{", "}": false
        default: true
        }
    }

    /// Whether the scalar is a letter of a script without spaces between words, or between a name
    /// and its particles: Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese, Tibetan and their
    /// neighbours.
    package var isWrittenWithoutSpaces: Bool {
        switch value {
        case 0x0E00...0x109F, 0x1100...0x11FF, 0x1780...0x17FF, 0x1950...0x19FF, 0x1A20...0x1AAF,
            0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x302F, 0x3031...0x31FF, 0x3400...0x4DBF,
            0x4E00...0xA4CF,
            0xA960...0xA97F, 0xA9E0...0xA9FF,
            0xAA60...0xAADF, 0xAC00...0xD7FF, 0xF900...0xFAFF, 0xFF66...0xFFDC, 0x1_1700...0x1_174F,
            0x1_6FE0...0x1_8DFF, 0x1_AFF0...0x1_B2FF, 0x2_0000...0x3_FFFF:
            true
        default: false
        }
    }

    /// Whether the scalar is kana or a common kanji: a fast check that saves a look-up in the
    /// tables of Unicode.
    private var isCommonJapanese: Bool {
        switch value {
        case 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FEF: true
        default: false
        }
    }

    /// Whether X recognizes no hashtag directly after it: letters, marks and digits, but not
    /// variation selectors.
    fileprivate var preventsHashtag: Bool {
        if self == "\u{FE0E}" || self == "\u{FE0F}" { return false }
        if isASCII || isCommonJapanese { return isWord }
        return switch properties.generalCategory {
        case .letterNumber, .otherNumber, .connectorPunctuation: false
        default: isWord
        }
    }

    /// Whether the scalar may be between the letters of a hashtag without being a letter: `·`, `・`
    /// and joiners.
    fileprivate var joinsHashtag: Bool { [0xB7, 0x30FB, 0x200C, 0x200D].contains(value) }
}
