import Foundation
import Posts

/// Changes a text so that sending it notifies nobody.
///
/// A run of mentions at the start is removed; any other mention loses its `@` and its host but
/// keeps its name, so that the sentence stays readable. An `@` inside a link is written as `%40` if
/// a server might not recognize the link; a host with non-ASCII letters is converted to its ASCII
/// form first, so that every server recognizes it.
struct TextCleaning {
    /// The text without control characters, with `\n` as the only line break.
    static func normalized(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var followsReturn = false
        for scalar in text.unicodeScalars {
            defer { followsReturn = scalar == "\r" }
            switch scalar {
            case "\r", "\u{85}", "\u{2028}", "\u{2029}": result.append("\n")
            case "\n": if !followsReturn { result.append("\n") }
            case "\t": result.append(" ")
            default: if !scalar.isUnwantedControl { result.append(scalar) }
            }
        }
        return trimmed(String(result))
    }

    /// The text without white space at its ends, and without combining marks at its start.
    static func trimmed(_ text: String) -> String {
        let trimmedScalars = text.trimmingCharacters(in: .whitespacesAndNewlines).unicodeScalars
        let content = trimmedScalars.drop {
            $0.properties.isWhitespace || $0.isInvisible || $0.isMark
        }
        return String(String.UnicodeScalarView(content))
    }

    /// The text without the mentions at its start.
    ///
    /// Keeps beginnings such as `.@` and `RT`, and a name that is part of the first sentence.
    static func withoutLeadingMentions(_ text: String) -> String {
        let tokens = PlainTokens(text).tokens
        var index = 0
        var end = 0
        scan: while index < tokens.count {
            switch tokens[index] {
            case .mention(let name)
            where !name.isEmpty && isAddress(before: tokens[(index + 1)...]): end = index + 1
            case .scalar(let scalar) where scalar.isInvisible || endsAddress(scalar):
                if end > 0 { end = index + 1 }
            default: break scan
            }
            index += 1
        }
        return trimmed(joined(tokens[end...]))
    }

    /// Whether a mention before these tokens is an address, as in `@name, …`, and not part of a
    /// sentence, as in `@name's …`.
    private static func isAddress(before following: ArraySlice<PlainTokens.Token>) -> Bool {
        for token in following {
            switch token {
            case .scalar(let scalar) where scalar.isInvisible: continue
            case .scalar(let scalar): return endsAddress(scalar)
            case .mention: return true
            case .link: return false
            }
        }
        return true
    }

    private static func endsAddress(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || [",", ":", "、", "，", "："].contains(scalar)
    }

    /// The text without any mention: each is replaced by its name.
    static func withoutMentions(_ text: String) -> String {
        var cleaned = text
        // Removing one sign can create another mention, so the result is examined again. An
        // ordinary text needs at most two rounds.
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
            case .link(let link, let isCertain):
                result.append(contentsOf: withoutRiskySigns(link, isCertain: isCertain))
            case .mention(let name): result.append(contentsOf: name)
            }
        }
        return String(result)
    }

    /// The link with every `@` encoded that a server could take for the start of a mention.
    private static func withoutRiskySigns(
        _ link: ArraySlice<Unicode.Scalar>, isCertain: Bool
    ) -> [Unicode.Scalar] {
        let risky = Set(PlainTokens.riskySigns(in: link, isCertain: isCertain))
        if !risky.isEmpty, let asciiLink = withASCIIHost(link) { return asciiLink }
        return link.indices.flatMap { risky.contains($0) ? ["%", "4", "0"] : [link[$0]] }
    }

    /// The link with its host in the ASCII form (`xn--`); nil if the host is ASCII already, or
    /// is not valid.
    private static func withASCIIHost(_ link: ArraySlice<Unicode.Scalar>) -> [Unicode.Scalar]? {
        let address = link.drop { $0 != "/" }.dropFirst(2)
        let host = address.prefix { !"/?#:".unicodeScalars.contains($0) }
        guard !host.allSatisfy(\.isASCII),
            let encoded = URLComponents(
                string: "https://\(String(String.UnicodeScalarView(host)))")?.encodedHost,
            encoded.unicodeScalars.allSatisfy({ $0.isASCIIAlphanumeric || $0 == "." || $0 == "-" })
        else { return nil }
        return Array(link[..<address.startIndex]) + encoded.unicodeScalars + link[host.endIndex...]
    }
}

extension PlainTokens {
    /// Whether cleaning would change the text.
    var needsCleaning: Bool {
        tokens.contains { token in
            switch token {
            case .scalar: false
            case .mention: true
            case .link(let link, let isCertain):
                !Self.riskySigns(in: link, isCertain: isCertain).isEmpty
            }
        }
    }

    /// The positions in a link of each `@` that some server might read as a mention.
    ///
    /// An `@` after a letter or digit is safe. So is an `@` after a slash or equals sign within the
    /// beginning of a link that every server recognises.
    static func riskySigns(in link: ArraySlice<Unicode.Scalar>, isCertain: Bool) -> [Int] {
        let certainEnd =
            isCertain
            ? link.firstIndex { $0 == "(" || !$0.isASCII } ?? link.endIndex : link.startIndex
        return link.indices.dropFirst().filter { index in
            guard link[index] == "@" else { return false }
            let previous = link[index - 1]
            return !previous.isASCIIAlphanumeric
                && (index >= certainEnd || previous != "/" && previous != "=")
        }
    }
}

/// Removal of signs that a network would interpret.
extension TextCleaning {
    /// The text without mentions; on networks where hashtags are unwelcome, also without hashtags
    /// and with one cashtag at most.
    ///
    /// The words stay, and only their signs are removed, except for hashtags at the end that are
    /// not part of the text.
    static func inert(_ text: String, on network: NetworkName) -> String {
        guard network.traits.resentsTags else { return withoutMentions(text) }
        var cleaned = withoutClosingTags(text)
        // Removing one sign can make another one a mention or tag; an ordinary text needs at most
        // two rounds.
        for _ in 0..<4 {
            let before = cleaned
            cleaned = withoutMentions(withoutTags(withShortNames(cleaned)))
            if cleaned == before { return cleaned }
        }
        var scalars = cleaned.unicodeScalars
        scalars.removeAll { $0.isAtSign || $0.isHashSign || $0 == "$" }
        return trimmed(String(scalars))
    }

    /// The text with mentions that are host names, which X would turn into links, shortened to the
    /// first part.
    private static func withShortNames(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for token in PlainTokens(text).tokens {
            switch token {
            case .scalar(let scalar): result.append(scalar)
            case .link(let link, _): result.append(contentsOf: link)
            case .mention(let name):
                let domain = name.drop { $0 != "." }
                let isHost = !domain.isEmpty && domain.allSatisfy { $0.lowercaseASCII == $0 }
                if name.isEmpty { result.append("@") }
                result.append(contentsOf: isHost ? name.prefix { $0 != "." } : name)
            }
        }
        return String(result)
    }

    /// The text without the signs of hashtags, and with the sign of one cashtag at most.
    private static func withoutTags(_ text: String) -> String {
        let plain = PlainTokens(text)
        let tokens = plain.tokens
        let hashSigns = plain.hashSigns
        var result = String.UnicodeScalarView()
        var hasCashtag = false
        for (index, token) in tokens.enumerated() {
            switch token {
            case .link(let link, _): result.append(contentsOf: link)
            case .mention(let name):
                result.append("@")
                result.append(contentsOf: name)
            case .scalar(let scalar):
                if hashSigns.contains(index) { continue }
                if scalar == "$", !(result.last?.isASCIIAlphanumeric ?? false),
                    beginsWithLetter(tokens[(index + 1)...])
                {
                    if hasCashtag { continue }
                    hasCashtag = true
                }
                result.append(scalar)
            }
        }
        return String(result)
    }

    private static func beginsWithLetter(_ tokens: ArraySlice<PlainTokens.Token>) -> Bool {
        guard case .scalar(let scalar) = tokens.first else { return false }
        return scalar.isASCIIAlphanumeric && !("0"..."9").contains(scalar)
    }
}

/// Removal of hashtags that only categorize a text.
extension TextCleaning {
    /// The separators between a text and its hashtags, and between hashtags.
    private static let dividers: Set<Unicode.Scalar> = [
        "/", "|", "-", "–", "—", "·", "•", "~", "(", ")", "[", "]", "（", "）", "【", "】", "／", "｜",
        "→", ",", "、",
    ]
    private static let sentenceEndings: Set<Unicode.Scalar> = [
        ".", "!", "?", "…", "。", "！", "？", "\"", "”", "」", "』", ":", "：",
    ]
    /// Tags that tell other programs to copy a post.
    private static let programTags: Set<String> = ["fb", "in", "li", "yam"]

    /// The text without the hashtags at its end that are not part of its last sentence: two or
    /// more, one after a divider or after the sentence's end, or one for programs.
    private static func withoutClosingTags(_ text: String) -> String {
        let plain = PlainTokens(text)
        func scalar(_ index: Int) -> Unicode.Scalar? {
            if case .scalar(let scalar) = plain.tokens[index] { scalar } else { nil }
        }
        func isDivider(_ index: Int) -> Bool {
            scalar(index).map {
                $0.properties.isWhitespace || $0.isInvisible || dividers.contains($0)
            } ?? false
        }
        var end = plain.tokens.count
        var count = 0
        var hasProgramTag = false
        for tag in plain.hashtags.reversed() {
            // A sign within a hashtag may begin another one.
            guard tag.upperBound >= end || (tag.upperBound..<end).allSatisfy(isDivider) else {
                break
            }
            end = tag.lowerBound
            count += 1
            let name = String(String.UnicodeScalarView(tag.dropFirst().compactMap(scalar)))
            hasProgramTag = hasProgramTag || programTags.contains(name.lowercased())
        }
        guard count > 0 else { return text }
        var followsDivider = false
        while end > 0, isDivider(end - 1) {
            end -= 1
            if let divider = scalar(end), divider == "\n" || dividers.contains(divider) {
                followsDivider = true
            }
        }
        // A link or mention before the tags ends the sentence too.
        let endsSentence = end > 0 && (scalar(end - 1).map(sentenceEndings.contains) ?? true)
        let areSeparate = count > 1 || hasProgramTag || followsDivider || endsSentence
        return areSeparate ? unchanged(plain.tokens[..<end]) : text
    }

    /// The tokens as they were in the text, except for the hosts of mentions.
    private static func unchanged(_ tokens: ArraySlice<PlainTokens.Token>) -> String {
        var result = String.UnicodeScalarView()
        for token in tokens {
            switch token {
            case .scalar(let scalar): result.append(scalar)
            case .link(let link, _): result.append(contentsOf: link)
            case .mention(let name):
                result.append("@")
                result.append(contentsOf: name)
            }
        }
        return String(result)
    }
}
