import Posts

/// A fediverse server's own pictures, which the server shows in place of `:name:`.
package enum CustomEmoji {
    /// Whether a text contains the name of a custom emoji.
    package static func occur(in text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: ":")) else { return false }
        var isFound = false
        forEachPart(of: text) { part in
            if case .emoji = part { isFound = true }
        }
        return isFound
    }

    /// Returns the text without custom emoji, except those to keep; the gaps are closed.
    ///
    /// The result has the same mentions and hashtags as the text; if removing an emoji would change
    /// these, the text is returned unchanged.
    ///
    /// - Parameters:
    ///   - keptNames: The names of the emoji to keep, without colons.
    /// - Returns: The text; empty if it consists of emoji only.
    package static func removed(from text: String, except keptNames: Set<String> = []) -> String {
        guard occur(in: text) else { return text }
        var remains = Remains()
        // The text with a space in place of each removed emoji.
        var spaced = String.UnicodeScalarView()
        forEachPart(of: text) { part in
            switch part {
            case .emoji(let name, let isCertain) where !(isCertain && keptNames.contains(name)):
                remains.leaveOut()
                spaced.append(" ")
            case .emoji(let name, _): add(":\(name):")
            case .text(let text): add(text)
            }
        }
        func add(_ text: String) {
            for scalar in text.unicodeScalars { remains.add(scalar) }
            spaced.append(contentsOf: text.unicodeScalars)
        }
        let mentionsAndTags = PlainTokens(text).mentionsAndTags
        // If neither form keeps the mentions and hashtags, the text stays as it is.
        let forms = [remains.scalars, spaced].map { TextCleaning.trimmed(String($0)) }
        return forms.first { PlainTokens($0).mentionsAndTags == mentionsAndTags } ?? text
    }

    /// Builds a text without emoji: closes the gaps that they leave, and drops brackets that
    /// contained only emoji.
    private struct Remains {
        private static let brackets: [Unicode.Scalar: Unicode.Scalar] = [
            "(": ")", "[": "]", "<": ">", "（": "）", "「": "」", "【": "】", "《": "》", "〈": "〉",
            "“": "”",
        ]
        private static let endings: Set<Unicode.Scalar> = [
            ".", ",", "!", "?", ";", "。", "、", "！", "？", "，", "．",
        ]
        /// Some programs write it beside emoji in place of a visible space.
        private static let zeroWidthSpace: Unicode.Scalar = "\u{200B}"

        private(set) var scalars = String.UnicodeScalarView()
        /// Whether an emoji was left out since the last scalar.
        private var isGap = false
        /// Whether white space stood beside the emoji that was left out.
        private var hadSpace = false

        mutating func leaveOut() {
            isGap = true
            dropSpaces()
        }

        mutating func add(_ scalar: Unicode.Scalar) {
            guard isGap else { return scalars.append(scalar) }
            if scalar == "\n" {
                isGap = false
                hadSpace = false
                // A line that contained only emoji is dropped.
                if let last = scalars.last, last != "\n" { scalars.append("\n") }
                return
            }
            if scalar == Self.zeroWidthSpace { return }
            if scalar.properties.isWhitespace {
                hadSpace = true
                return
            }
            if let last = scalars.last, Self.brackets[last] == scalar {
                scalars.removeLast()
                return dropSpaces()
            }
            if hadSpace, !Self.endings.contains(scalar), let last = scalars.last, last != "\n" {
                scalars.append(" ")
            }
            scalars.append(scalar)
            isGap = false
            hadSpace = false
        }

        private mutating func dropSpaces() {
            while let last = scalars.last, last != "\n",
                last.properties.isWhitespace || last == Self.zeroWidthSpace
            {
                scalars.removeLast()
                if last != Self.zeroWidthSpace { hadSpace = true }
            }
        }
    }

    private enum Part {
        /// The name without colons, and whether every server that has the emoji shows it here.
        case emoji(String, isCertain: Bool)
        /// Everything else; links and mentions undivided.
        case text(String)
    }

    private static func forEachPart(of text: String, _ body: (Part) -> Void) {
        var text = text
        text.withUTF8 { bytes in
            func string(_ range: Range<Int>) -> String {
                String(decoding: bytes[range], as: UTF8.self)
            }
            let grammar = TextGrammar(bytes)
            var start = 0
            var position = 0
            while let (_, next) = grammar.decoded(at: position) {
                if let end = grammar.link(at: position)?.range.upperBound
                    ?? grammar.mention(at: position)?.end
                {
                    position = end
                    continue
                }
                let emojiRun = grammar.emoji(at: position)
                guard let last = emojiRun.last else {
                    position = next
                    continue
                }
                if start < position { body(.text(string(start..<position))) }
                for emoji in emojiRun {
                    let name = emoji.range.lowerBound + 1..<emoji.range.upperBound - 1
                    body(.emoji(string(name), isCertain: emoji.isCertain))
                }
                position = last.range.upperBound
                start = position
            }
            if start < position { body(.text(string(start..<position))) }
        }
    }
}

extension PlainTokens {
    /// The names of mentions in the text, and a `#` for each hashtag.
    fileprivate var mentionsAndTags: [String] {
        let names = tokens.compactMap { if case .mention(let name) = $0 { name } else { nil } }
        return names.map { String(String.UnicodeScalarView($0)) } + hashtags.map { _ in "#" }
    }
}
