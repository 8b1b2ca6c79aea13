import Foundation

/// The length of a text on X: configuration 3 of twitter-text, in whole characters.
enum XWeight {
    /// The longest text of an account without a subscription.
    static let maximum = 280
    /// The weight of a link, however long it is.
    static let link = 23

    static func weight(of text: String) -> Int {
        let text = text.precomposedStringWithCanonicalMapping
        var sum = 0
        var start = text.startIndex
        for range in XLinks.ranges(in: text) {
            sum += plainWeight(text[start..<range.lowerBound]) + link
            start = range.upperBound
        }
        return sum + plainWeight(text[start...])
    }

    /// The reason why X would refuse the text; nil if it would not.
    static func objection(to text: String) -> String? {
        if text.allSatisfy(\.isWhitespace) { return "the text is empty" }
        if text.unicodeScalars.contains(where: { [0xFFFE, 0xFEFF, 0xFFFF].contains($0.value) }) {
            return "the text holds a character that is not allowed"
        }
        return weight(of: text) > maximum ? "the text is longer than \(maximum)" : nil
    }

    private static func plainWeight(_ text: Substring) -> Int {
        text.reduce(0) { sum, character in
            isEmoji(character)
                ? sum + 2 : character.unicodeScalars.reduce(sum) { $0 + weight(of: $1) }
        }
    }

    private static func weight(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0...4_351, 0x2000...0x200D, 0x2010...0x201F, 0x2032...0x2037: 1
        default: 2
        }
    }

    /// Whether a character is an emoji; a sequence with joiners, skin tones, flags or keycaps is
    /// one character.
    private static func isEmoji(_ character: Character) -> Bool {
        let scalars = character.unicodeScalars
        guard let first = scalars.first, first.properties.isEmoji else { return false }
        if first.properties.isEmojiPresentation { return true }
        return scalars.dropFirst().contains { next in
            next.value == 0xFE0F || next.value == 0x20E3 || next.value == 0x200D
                || next.properties.isEmojiModifier
        }
    }
}

/// The links that X finds in a text: an address with its scheme, or a bare domain with a known top
/// level.
enum XLinks {
    /// The places of the links, in order.
    static func ranges(in text: String) -> [Range<String.Index>] {
        let scalars = text.unicodeScalars
        // Without a full stop there is no domain; most texts need no further search.
        guard scalars.contains(".") else { return [] }
        var ranges: [Range<String.Index>] = []
        var index = scalars.startIndex
        var previous: Unicode.Scalar?
        while index < scalars.endIndex {
            if isHost(scalars[index]), mayPrecede(previous),
                let end = end(of: scalars[index...])
            {
                ranges.append(index..<end)
                index = end
                previous = scalars[scalars.index(before: end)]
            } else {
                previous = scalars[index]
                index = scalars.index(after: index)
            }
        }
        return ranges
    }

    /// Returns the end of the link that begins with `remainder`; nil if no link begins there.
    private static func end(of remainder: Substring.UnicodeScalarView) -> String.Index? {
        let beginning = String(String.UnicodeScalarView(remainder.prefix(8))).lowercased()
        let schemeLength =
            if beginning.hasPrefix("https://") {
                8
            } else if beginning.hasPrefix("http://") {
                7
            } else {
                0
            }
        let tail = remainder.dropFirst(schemeLength)
        guard let hostEndIndex = hostEnd(of: tail, isBare: schemeLength == 0) else { return nil }
        var end = hostEndIndex
        let port = remainder[end...].dropFirst().prefix { isDigit($0) }
        if remainder[end...].first == ":", (1...5).contains(port.count) { end = port.endIndex }
        if let separator = remainder[end...].first, separator == "/" || separator == "?" {
            var path = remainder[end...].prefix(while: isPath)
            while let last = path.last, endsNoPath(last) { path = path.dropLast() }
            end = path.endIndex
        }
        let hasPath = end > hostEndIndex
        if schemeLength == 0, !hasPath, isShortDomain(tail[..<hostEndIndex]) { return nil }
        return end
    }

    /// Returns the end of the longest domain at the beginning of `remainder`; its labels have at
    /// most 63 characters.
    private static func hostEnd(
        of remainder: Substring.UnicodeScalarView, isBare: Bool
    ) -> String.Index? {
        let run = remainder.prefix { isHost($0) || $0 == "." || $0 == "-" }
        var labels = run.split(separator: ".", omittingEmptySubsequences: false)
        if let empty = labels.firstIndex(where: \.isEmpty) { labels = Array(labels[..<empty]) }
        while labels.count >= 2, let last = labels.last {
            let topLevel = String(last).lowercased()
            let isTopLevelDomain =
                isBare
                ? topLevels.contains(topLevel) || countryDomains.contains(topLevel)
                : isWord(topLevel)
            if isTopLevelDomain,
                labels.allSatisfy({ $0.count <= 63 && $0.first != "-" && $0.last != "-" })
            {
                return last.endIndex
            }
            labels.removeLast()
        }
        return nil
    }

    /// Whether a host is a link only with a path or `www.`: `foo.jp` alone is no link, `foo.jp/bar`
    /// and `www.foo.jp` are.
    private static func isShortDomain(_ host: Substring.UnicodeScalarView) -> Bool {
        let labels = host.split(separator: ".")
        guard labels.count == 2, let last = labels.last else { return false }
        let topLevel = String(last).lowercased()
        return countryDomains.contains(topLevel) && topLevel != "co" && topLevel != "tv"
    }

    private static func isWord(_ topLevel: String) -> Bool {
        topLevel.utf8.count >= 2 && topLevel.utf8.allSatisfy { (0x61...0x7A).contains($0) }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func isHost(_ scalar: Unicode.Scalar) -> Bool {
        isDigit(scalar) || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            || scalar == "_"
    }

    private static func isPath(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0x20 && scalar.value < 0x7F && !"<>\"{}|\\^`".unicodeScalars.contains(scalar)
    }

    private static func endsNoPath(_ scalar: Unicode.Scalar) -> Bool {
        ".,!?;:)'".unicodeScalars.contains(scalar)
    }

    private static func mayPrecede(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar else { return true }
        return !isHost(scalar) && !"@＠$#＃-./".unicodeScalars.contains(scalar)
    }

    private static let topLevels: Set = [
        "com", "net", "org", "edu", "gov", "mil", "int", "info", "biz", "name", "app", "dev",
        "blog", "shop", "online",
        "site", "xyz", "club", "news", "live", "tech", "store", "cloud", "page", "art", "wiki",
        "link", "social",
        "world", "today", "life", "space", "website", "moe",
    ]

    private static let countryDomains: Set = [
        "jp", "uk", "de", "fr", "us", "ca", "au", "nz", "it", "es", "nl", "se", "no", "fi", "dk",
        "pl", "cz", "at",
        "ch", "be", "ru", "cn", "tw", "kr", "hk", "in", "id", "br", "mx", "ar", "cl", "za", "io",
        "me", "tv", "co",
        "ai", "eu", "gg", "fm", "to", "so", "ly", "ie", "pt", "gr", "tr", "il",
    ]
}
