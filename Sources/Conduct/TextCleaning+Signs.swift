import Posts

/// Taking from a text what a network would make more of than words.
extension TextCleaning {
    /// The text without mentions, and on X without hashtags and with one cashtag at most.
    ///
    /// The words stay; only the signs before them go.
    static func inert(_ text: String, on network: NetworkName) -> String {
        guard network == .x else { return withoutMentions(text) }
        var cleaned = text
        // Removing one sign can make another one count; nothing honest needs more than two rounds.
        for _ in 0..<4 {
            let before = cleaned
            cleaned = withoutMentions(withoutTags(withShortNames(cleaned)))
            if cleaned == before { return cleaned }
        }
        var scalars = cleaned.unicodeScalars
        scalars.removeAll { $0.isAtSign || $0.isHashSign || $0 == "$" }
        return trimmed(String(scalars))
    }

    /// The text in which mentions that are host names, which X would make links of, have their first part only.
    private static func withShortNames(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for token in PlainTokens(text).tokens {
            switch token {
            case .scalar(let scalar): result.append(scalar)
            case .link(let link, _): result.append(contentsOf: link)
            case .mention(let name):
                let rest = name.drop { $0 != "." }
                let isHost = !rest.isEmpty && rest.allSatisfy { $0.lowercaseASCII == $0 }
                if name.isEmpty { result.append("@") }
                result.append(contentsOf: isHost ? name.prefix { $0 != "." } : name)
            }
        }
        return String(result)
    }

    /// The text without the signs that make hashtags, and without those that make a second cashtag.
    private static func withoutTags(_ text: String) -> String {
        let tokens = PlainTokens(text).tokens
        var result = String.UnicodeScalarView()
        var hasCashtag = false
        for (index, token) in tokens.enumerated() {
            switch token {
            case .link(let link, _): result.append(contentsOf: link)
            case .mention(let name):
                result.append("@")
                result.append(contentsOf: name)
            case .scalar(let scalar):
                let last = result.last
                if scalar.isHashSign, !(last?.isWord ?? false), beginsTag(tokens[(index + 1)...]) { continue }
                if scalar == "$", !(last?.isASCIIAlphanumeric ?? false), beginsWithLetter(tokens[(index + 1)...]) {
                    if hasCashtag { continue }
                    hasCashtag = true
                }
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Whether what follows a hash sign is a word with something else than digits in it.
    private static func beginsTag(_ rest: ArraySlice<PlainTokens.Token>) -> Bool {
        for (index, token) in rest.enumerated() {
            guard case .scalar(let scalar) = token else { return true }
            // The sign on a key is an emoji.
            if index == 0, scalar == "\u{FE0F}" || scalar == "\u{20E3}" { return false }
            if scalar.isHashSign { return true }
            guard scalar.isWord else {
                if scalar.isInvisible { continue }
                return false
            }
            if scalar.properties.generalCategory != .decimalNumber { return true }
        }
        return false
    }

    private static func beginsWithLetter(_ rest: ArraySlice<PlainTokens.Token>) -> Bool {
        guard case .scalar(let scalar) = rest.first else { return false }
        return scalar.isASCIIAlphanumeric && !("0"..."9").contains(scalar)
    }
}
