import Foundation

/// Makes a text safe to send: nobody is notified by it.
///
/// A run of mentions at the start is removed; any other mention loses its `@`
/// and its host and keeps its name, so that the sentence still reads. A sign
/// that only looks like a mention inside a link is written as `%40` where a
/// server might not see the link.
struct TextCleaning {
    /// The text without control characters, with `\n` as the only line break.
    static func normalized(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var afterReturn = false
        for scalar in text.unicodeScalars {
            defer { afterReturn = scalar == "\r" }
            switch scalar {
            case "\r", "\u{85}", "\u{2028}", "\u{2029}": result.append("\n")
            case "\n": if !afterReturn { result.append("\n") }
            case "\t": result.append(" ")
            default: if !scalar.isUnwantedControl { result.append(scalar) }
            }
        }
        return trimmed(String(result))
    }

    /// The text without white space at its ends, and without marks at its start that have nothing to stand on.
    static func trimmed(_ text: String) -> String {
        let spaces = text.trimmingCharacters(in: .whitespacesAndNewlines).unicodeScalars
        let rest = spaces.drop { $0.properties.isWhitespace || $0.isInvisible || $0.isMark }
        return String(String.UnicodeScalarView(rest))
    }

    /// The text with the mentions at its start removed, with `.@` and `RT`-like remains left alone.
    static func withoutLeadingMentions(_ text: String) -> String {
        let tokens = PlainTokens(text).tokens
        var index = 0
        var end = 0
        scan: while index < tokens.count {
            switch tokens[index] {
            case .mention(let name) where !name.isEmpty: end = index + 1
            case .scalar(let scalar) where scalar.properties.isWhitespace || scalar.isInvisible || scalar == ",": break
            default: break scan
            }
            index += 1
        }
        return trimmed(joined(tokens[end...]))
    }

    /// The text without any mention: each keeps only its name.
    static func withoutMentions(_ text: String) -> String {
        var cleaned = text
        // Removing one sign can make a mention of the rest, so the result is
        // looked at again. Nothing honest needs more than two rounds.
        for _ in 0..<4 where PlainTokens(cleaned).needsCleaning {
            cleaned = joined(PlainTokens(cleaned).tokens[...])
        }
        guard PlainTokens(cleaned).needsCleaning else { return trimmed(cleaned) }
        var scalars = cleaned.unicodeScalars
        scalars.removeAll(where: \.isAtSign)
        return trimmed(String(scalars))
    }

    private static func joined(_ tokens: ArraySlice<PlainTokens.Token>) -> String {
        var result = String.UnicodeScalarView()
        for token in tokens {
            switch token {
            case .scalar(let scalar): result.append(scalar)
            case .link(let link, let isCertain): result.append(contentsOf: guarded(link, isCertain: isCertain))
            case .mention(let name): result.append(contentsOf: name)
            }
        }
        return String(result)
    }

    /// The link with every `@` encoded that a server could take for the start of a mention.
    private static func guarded(_ link: ArraySlice<Unicode.Scalar>, isCertain: Bool) -> [Unicode.Scalar] {
        let risky = Set(PlainTokens.riskySigns(in: link, isCertain: isCertain))
        return link.indices.flatMap { risky.contains($0) ? ["%", "4", "0"] : [link[$0]] }
    }
}

extension PlainTokens {
    /// Whether cleaning would change the text.
    var needsCleaning: Bool {
        tokens.contains { token in
            switch token {
            case .scalar: false
            case .mention: true
            case .link(let link, let isCertain): !Self.riskySigns(in: link, isCertain: isCertain).isEmpty
            }
        }
    }

    /// Where a link has an `@` that some server might read as a mention.
    ///
    /// None does after a letter or digit, nor after a slash or equals sign in
    /// a link that every server recognises up to there.
    static func riskySigns(in link: ArraySlice<Unicode.Scalar>, isCertain: Bool) -> [Int] {
        let certainEnd = isCertain ? link.firstIndex(of: "(") ?? link.endIndex : link.startIndex
        return link.indices.dropFirst().filter { index in
            guard link[index] == "@" else { return false }
            let previous = link[index - 1]
            return !previous.isASCIIAlphanumeric
                && (index >= certainEnd || previous != "/" && previous != "=")
        }
    }
}
