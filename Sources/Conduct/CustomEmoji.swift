import Posts

/// Pictures of a fediverse server's own, which it shows in the place of `:name:`.
package enum CustomEmoji {
    /// Whether a text names any.
    package static func occur(in text: String) -> Bool {
        var isFound = false
        forEachPart(of: text) { part in
            if case .emoji = part { isFound = true }
        }
        return isFound
    }

    /// The text without the emoji that its server lacks, and with no gap where they stood.
    ///
    /// What is left becomes no mention and no hashtag by standing together, or the text stays as it is.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - kept: The names of those that the server has, without colons.
    /// - Returns: The text; empty if there is nothing else in it.
    package static func leftOut(of text: String, but kept: Set<String> = []) -> String {
        guard occur(in: text) else { return text }
        var remains = TextCleaning.Remains()
        var spaced = String.UnicodeScalarView()
        forEachPart(of: text) { part in
            switch part {
            case .emoji(let name, let isCertain) where !(isCertain && kept.contains(name)):
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
        remains.endLine()
        let signs = PlainTokens(text).signs
        // Where nothing else is safe, the name stays.
        let left = [remains.scalars, spaced].map { TextCleaning.trimmed(String($0)) }
        return left.first { PlainTokens($0).signs == signs } ?? text
    }

    private enum Part {
        /// The name without colons, and whether every server that has it shows it here.
        case emoji(String, isCertain: Bool)
        /// Everything else; links and mentions whole.
        case text(String)
    }

    private static func forEachPart(of text: String, _ body: (Part) -> Void) {
        var text = text
        text.withUTF8 { bytes in
            func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
            let grammar = TextGrammar(bytes)
            var (start, position) = (0, 0)
            while let (_, next) = grammar.decoded(at: position) {
                if let end = grammar.link(at: position)?.range.upperBound ?? grammar.mention(at: position)?.end {
                    position = end
                    continue
                }
                let emoji = grammar.emoji(at: position)
                guard let last = emoji.last else {
                    position = next
                    continue
                }
                if start < position { body(.text(string(start..<position))) }
                for one in emoji {
                    let name = one.range.lowerBound + 1..<one.range.upperBound - 1
                    body(.emoji(string(name), isCertain: one.isCertain))
                }
                position = last.range.upperBound
                start = position
            }
            if start < position { body(.text(string(start..<position))) }
        }
    }
}

extension PlainTokens {
    /// Whom the text mentions, and a sign for each hashtag.
    fileprivate var signs: [String] {
        let names = tokens.compactMap { if case .mention(let name) = $0 { name } else { nil } }
        return names.map { String(String.UnicodeScalarView($0)) } + hashSigns.map { _ in "#" }
    }
}
