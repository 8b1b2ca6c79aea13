import Foundation
package import Posts

extension TextRules {
    /// Returns the key shared by all texts that read the same.
    ///
    /// Compatible characters, case, white space and links make no difference.
    ///
    /// - Returns: 32 hexadecimal digits, the same on every machine.
    package static func textKey(_ text: String) -> String { textKey(text, ignoringHosts: false) }

    /// Returns a key that can ignore more differences than ``textKey(_:)``.
    ///
    /// - Parameters:
    ///   - ignoringHosts: Whether to ignore host names without `http://`, which some networks turn
    ///     into links, and punctuation that stands alone.
    /// - Returns: 32 hexadecimal digits, the same on every machine.
    package static func textKey(_ text: String, ignoringHosts: Bool) -> String {
        let folded = text.precomposedStringWithCompatibilityMapping
        var plain = String.UnicodeScalarView()
        for token in PlainTokens(folded).tokens {
            switch token {
            case .scalar(let scalar): plain.append(scalar)
            case .link: plain.append(" ")
            case .mention(let name): plain.append(contentsOf: "@".unicodeScalars + Array(name))
            }
        }
        // Foundation does not join the marks of half-width kana to the letters, and the hash
        // depends on the bytes.
        let composed = String(plain).lowercased().precomposedStringWithCanonicalMapping
        var words = (ignoringHosts ? TextShape.withoutHosts(composed) : composed).split(
            whereSeparator: \.isWhitespace)
        if ignoringHosts { words.removeAll { !$0.unicodeScalars.contains(where: \.isWord) } }
        return StableHash.digest(of: words.joined(separator: " ")).prefix(16).hexadecimal
    }

    /// Whether two copies of one post have the same text.
    ///
    /// The names at the beginning of a reply are ignored, because one of the copies may lack them.
    package static func readAlike(_ first: Post, _ second: Post) -> Bool {
        let isReply = first.isReply || second.isReply
        func key(_ post: Post) -> String {
            textKey(isReply ? TextCleaning.withoutLeadingMentions(post.text) : post.text)
        }
        return key(first) == key(second)
    }

    /// The letters and digits of a text that no server changes.
    ///
    /// Servers turn `*word*` and `_word_` into markup, `:-)` and `:cat:` into pictures, and
    /// addresses and mentions into links, and they change line breaks. The result has none of
    /// these, and no spaces and signs.
    ///
    /// - Parameter text: Any text, as it was sent or as a server returns it.
    /// - Returns: Lower-case letters and digits; empty if the text has only parts that a server may
    ///   rewrite.
    package static func stableLetters(of text: String) -> String {
        let folded = TextShape.withoutMarkup(text.precomposedStringWithCompatibilityMapping)
        var plain = String.UnicodeScalarView()
        for token in PlainTokens(folded).tokens {
            if case .scalar(let scalar) = token { plain.append(scalar) } else { plain.append(" ") }
        }
        let bare = TextShape.withoutSmileys(TextShape.withoutHosts(String(plain)))
        let letters = bare.unicodeScalars.filter { $0.isWord && $0 != "_" && !$0.isInvisible }
        return String(String.UnicodeScalarView(letters)).lowercased()
            .precomposedStringWithCanonicalMapping
    }
}

extension TextRules {
    /// The share of runs of three letters that two texts must have in common to count as forms of
    /// the same; texts of different meaning have about a tenth.
    private static let minimumLikeness = 0.5

    /// Whether one text may be a server's version of the other: most runs of three letters are the
    /// same.
    ///
    /// A text without letters counts as alike, because nothing can be compared.
    package static func areAlike(_ first: String, _ second: String) -> Bool {
        let first = stableLetters(of: first)
        let second = stableLetters(of: second)
        if first == second || first.isEmpty || second.isEmpty { return true }
        func runs(_ text: String) -> Set<String> {
            let letters = Array(text)
            return letters.count < 3
                ? [text] : Set(letters.indices.dropLast(2).map { String(letters[$0...$0 + 2]) })
        }
        let firstRuns = runs(first)
        let secondRuns = runs(second)
        let commonCount = firstRuns.intersection(secondRuns).count
        return Double(commonCount)
            >= minimumLikeness * Double(min(firstRuns.count, secondRuns.count))
    }
}

/// Removal of markup and emoticons, which servers that rewrite texts replace.
extension TextShape {
    private static let markup: Set<Unicode.Scalar> = ["*", "_", "`", "~"]
    /// Characters that stand for the eyes, nose and mouth of an emoticon; letters are in lower
    /// case.
    private static let eyes = Set(":;=%|8bx".unicodeScalars)
    private static let noses = Set("-^'o".unicodeScalars)
    private static let mouths = Set(")(]['{}<>/\\|&#$@3dpoxs0".unicodeScalars)

    /// The text without the signs of markup, and without links that have a title, because a server
    /// may remove both.
    static func withoutMarkup(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var result = String.UnicodeScalarView()
        var position = 0
        while position < scalars.count {
            if scalars[position] == "[", let end = titledLinkEnd(at: position, in: scalars) {
                position = end
            } else {
                if !markup.contains(scalars[position]) { result.append(scalars[position]) }
                position += 1
            }
        }
        return String(result)
    }

    /// The end of a `[title](address)` that begins at `start`; nil for none.
    private static func titledLinkEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int? {
        let title = scalars[(start + 1)...].prefix(500).prefix { $0 != "]" && $0 != "[" }
        guard title.endIndex + 1 < scalars.count, scalars[title.endIndex] == "]",
            scalars[title.endIndex + 1] == "("
        else { return nil }
        let address = scalars[(title.endIndex + 2)...].prefix(2_000).prefix {
            $0 != ")" && $0 != " "
        }
        guard address.endIndex < scalars.count, scalars[address.endIndex] == ")" else { return nil }
        return address.endIndex + 1
    }

    /// The text with everything that may be shown as a picture, such as `:-)`, `xD`, `<3` and
    /// `:cat:`, replaced by a space.
    static func withoutSmileys(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var result = String.UnicodeScalarView()
        var position = 0
        while position < scalars.count {
            let end =
                smileyEnd(at: position, in: scalars) ?? shortcodeEnd(at: position, in: scalars)
            result.append(end == nil ? scalars[position] : " ")
            position = end ?? position + 1
        }
        return String(result)
    }

    /// The end of the smiley at `start`; nil for none.
    ///
    /// A smiley must not touch a word, unless it has the nose `-` and no letter for eyes.
    private static func smileyEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int? {
        func scalar(_ position: Int) -> Unicode.Scalar? {
            position < scalars.count ? scalars[position].lowercaseASCII : nil
        }
        func touchesNoWord(_ end: Int) -> Bool {
            !(start > 0 && scalars[start - 1].isWord) && !(scalar(end)?.isWord ?? false)
        }
        guard let first = scalar(start) else { return nil }
        if first == "<", scalar(start + 1) == "3" {
            return touchesNoWord(start + 2) ? start + 2 : nil
        }
        guard eyes.contains(first), let second = scalar(start + 1) else { return nil }
        if noses.contains(second), let third = scalar(start + 2), mouths.contains(third) {
            let isCertain = second == "-" && !first.isWord
            if isCertain || touchesNoWord(start + 3) { return start + 3 }
        }
        return mouths.contains(second) && touchesNoWord(start + 2) ? start + 2 : nil
    }

    /// The end of a `:name:` that begins at `start`; nil for none.
    private static func shortcodeEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int? {
        guard scalars[start] == ":" else { return nil }
        let name = scalars[(start + 1)...].prefix(65).prefix {
            $0.isASCIIAlphanumeric || $0 == "+" || $0 == "-"
        }
        guard name.count > 1, name.contains(where: { !("0"..."9").contains($0) }),
            name.endIndex < scalars.count,
            scalars[name.endIndex] == ":"
        else { return nil }
        return name.endIndex + 1
    }
}
