import Posts

/// Checks of a text's form alone.
enum TextShape {
    /// Whether the text begins by addressing an account, as `@name` or `.@name`.
    static func beginsWithMention(_ text: String) -> Bool {
        for token in PlainTokens(text).tokens {
            switch token {
            case .mention: return true
            case .scalar(let scalar) where scalar == "." || scalar.isInvisible: continue
            default: return false
            }
        }
        return false
    }

    /// Whether the text is a manual repost, such as `RT @name …`, `MT @name …` or `"@name: …"`.
    static func isManualRepost(_ text: String) -> Bool {
        let tokens = PlainTokens(text).tokens
        return tokens.indices.contains { index in
            guard case .mention = tokens[index] else { return false }
            let before = scalars(before: index, in: tokens)
            if let quote = before.first, ["\"", "“", "「"].contains(quote),
                index + 1 < tokens.count, case .scalar(":") = tokens[index + 1]
            {
                return true
            }
            let word = before.drop { $0.properties.isWhitespace || $0 == ":" || $0 == "：" }
            // The scalars are in reverse order: "RT" is read as "TR".
            let isRepostMark = ["TR", "TM", "TQ"].contains {
                word.starts(with: $0.unicodeScalars) { $0.uppercaseASCII == $1 }
            }
            return isRepostMark && !(word.dropFirst(2).first?.isWord ?? false)
        }
    }

    /// Whether the text was truncated: it ends in `…`, or in `…` and the link to X's full version.
    static func isTruncated(_ text: String) -> Bool {
        for token in PlainTokens(text).tokens.reversed() {
            switch token {
            case .scalar("…"): return true
            case .scalar(let scalar) where scalar.properties.isWhitespace || scalar.isInvisible:
                continue
            case .link(let link, _) where leadsToFullText(link): continue
            default: return false
            }
        }
        return false
    }

    /// Whether the text has anything that a network could turn into a link, with or without
    /// `http://`.
    static func hasLink(_ text: String) -> Bool {
        if PlainTokens(text).hasLink || hasScheme(text) { return true }
        return text.unicodeScalars.split { !isHostScalar($0) }.contains(where: isHost)
    }

    /// Whether the text has the beginning of a link, without regard to the rest.
    static func hasScheme(_ text: String) -> Bool {
        let lowered = text.lowercased()
        return lowered.contains("http://") || lowered.contains("https://")
    }

    /// The text with everything that looks like a host name, and the path after it, replaced by a
    /// space.
    static func withoutHosts(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var result = String.UnicodeScalarView()
        var start = 0
        while start < scalars.count {
            let run = scalars[start...].prefix(while: isHostScalar)
            if run.isEmpty {
                result.append(scalars[start])
            } else if isHost(run) {
                result.append(" ")
                if run.endIndex < scalars.count, scalars[run.endIndex] == "/" {
                    start += scalars[run.endIndex...].prefix { $0.isLinkScalar && $0 != ")" }.count
                }
            } else {
                result.append(contentsOf: run)
            }
            start += max(run.count, 1)
        }
        return String(result)
    }

    private static func isHostScalar(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCIIAlphanumeric || scalar == "." || scalar == "-"
    }

    /// Whether a run of host characters ends like a host.
    private static func isHost(_ word: some BidirectionalCollection<Unicode.Scalar>) -> Bool {
        let dots = word.reversed().prefix { $0 == "." }.count
        let labels = word.dropLast(dots).split(separator: ".", omittingEmptySubsequences: false)
            .suffix(2)
        guard labels.count == 2, let name = labels.first, let topLevel = labels.last else {
            return false
        }
        return !name.isEmpty && topLevel.count > 1
            && topLevel.allSatisfy { $0.properties.isAlphabetic }
    }

    /// The number of letters and digits in the text outside links and mentions.
    static func wordCharacters(in text: String) -> Int {
        PlainTokens(text).tokens.reduce(0) { count, token in
            guard case .scalar(let scalar) = token else { return count }
            return count
                + (scalar.properties.isAlphabetic || scalar.properties.numericType != nil ? 1 : 0)
        }
    }

    /// Returns the last few scalars before a token, the nearest first; a link or mention ends them.
    private static func scalars(before index: Int, in tokens: [PlainTokens.Token]) -> [Unicode
        .Scalar]
    {
        var scalars: [Unicode.Scalar] = []
        for token in tokens[..<index].suffix(8).reversed() {
            guard case .scalar(let scalar) = token else { break }
            scalars.append(scalar)
        }
        return scalars
    }

    /// Whether a link may lead to the full text of a post on X.
    private static func leadsToFullText(_ link: ArraySlice<Unicode.Scalar>) -> Bool {
        let address = String(String.UnicodeScalarView(link)).lowercased()
        let withoutScheme = address.drop { $0 != "/" }.dropFirst(2)
        return withoutScheme.hasPrefix("t.co/")
            || withoutScheme.hasPrefix("twitter.com/i/web/status/")
            || withoutScheme.hasPrefix("x.com/i/web/status/")
    }
}
