import Foundation
import Networks

/// Finds the parts of a text that are links and tags, because Bluesky shows unmarked text as plain
/// text.
///
/// Handles are never marked, because a marked mention notifies a person.
enum BlueskyFacets {
    /// A part of a text that is a link or a tag.
    struct Facet: Equatable {
        /// The position, in bytes of UTF-8.
        let bytes: Range<Int>
        var link: String?
        var tag: String?

        /// The facet as JSON, in the form that the server accepts.
        var json: JSONValue {
            let kind = link == nil ? "tag" : "link"
            let feature = JSONValue.object(leavingOutNil: [
                "$type": .text("app.bsky.richtext.facet#\(kind)"), "tag": tag.map(JSONValue.text),
                "uri": link.map(JSONValue.text),
            ])
            let index = ["byteStart": bytes.lowerBound, "byteEnd": bytes.upperBound]
                .mapValues { JSONValue.integer(Int64($0)) }
            return .object(["features": .list([feature]), "index": .object(index)])
        }
    }

    /// The longest tag that Bluesky accepts, in characters.
    private static let maximumTag = 64
    /// The longest tag that Bluesky accepts, in bytes.
    private static let maximumTagBytes = 640
    /// The characters that may stand between white space and a link.
    private static let openings: Set<Unicode.Scalar> = [
        "(", "[", "{", "\"", "'", "<", "“", "‘", "「", "『", "（", "【",
    ]
    /// The characters, besides white space, that end a link.
    private static let closings: Set<Unicode.Scalar> = [
        "\"", "<", ">", "”", "’", "」", "』", "）", "】", "、", "。", "，", "！", "？", "…",
    ]

    /// Turns words with an address in parentheses into links on the words, and finds the other
    /// links and tags.
    ///
    /// - Parameters:
    ///   - words: Words that may be followed by an address, as in `words (https://…)`; words
    ///     without one are ignored.
    /// - Returns: The text without those addresses, and its links and tags from left to right.
    static func linked(_ text: String, words: [String]) -> (text: String, facets: [Facet]) {
        var result = ""
        var links: [Facet] = []
        var remainingText = text[...]
        for words in words where !words.isEmpty {
            guard let wordsRange = remainingText.range(of: words + " (", options: .literal) else {
                continue
            }
            let textInParentheses = remainingText[wordsRange.upperBound...].prefix {
                !$0.isWhitespace
            }
            guard let address = link(in: Array(textInParentheses.unicodeScalars), at: 0)?.link,
                textInParentheses.hasPrefix(address + ")")
            else { continue }
            result += remainingText[..<wordsRange.lowerBound]
            let start = result.utf8.count
            result += words
            links.append(Facet(bytes: start..<result.utf8.count, link: address))
            // The address and the closing parenthesis after it.
            let removedCount = address.count + 1
            let end = textInParentheses.index(
                textInParentheses.startIndex, offsetBy: removedCount)
            remainingText = remainingText[end...]
        }
        result += remainingText
        let otherFacets = facets(in: result).filter { other in
            !links.contains { $0.bytes.overlaps(other.bytes) }
        }
        return (result, (links + otherFacets).sorted { $0.bytes.lowerBound < $1.bytes.lowerBound })
    }

    /// The links and tags of `text` from left to right.
    static func facets(in text: String) -> [Facet] {
        var facets: [Facet] = []
        let scalars = Array(text.unicodeScalars)
        var offset = 0
        var index = 0
        while index < scalars.count {
            let word = Array(scalars[index...].prefix { !$0.properties.isWhitespace })
            if let facet = link(in: word, at: offset) ?? tag(in: word, at: offset) {
                facets.append(facet)
            }
            // The word and the white space after it, which may be missing at the end.
            let end = min(index + word.count + 1, scalars.count)
            offset += length(of: scalars[index..<end])
            index = end
        }
        return facets
    }

    private static func link(in word: [Unicode.Scalar], at offset: Int) -> Facet? {
        let openingCount = word.prefix { openings.contains($0) }.count
        var link = Array(word[openingCount...].prefix { !closings.contains($0) })
        var brackets = Brackets(link)
        while let last = link.last,
            ".,;:!?'*_~".unicodeScalars.contains(last) || brackets.isUnpaired(last)
        {
            brackets.remove(last)
            link.removeLast()
        }
        let text = text(of: link)
        let lowercased = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix),
            let firstOfHost = lowercased.unicodeScalars.dropFirst(scheme.count).first,
            firstOfHost.properties.isAlphabetic || firstOfHost.properties.numericType != nil
                || firstOfHost == "["
        else { return nil }
        return Facet(
            bytes: range(of: link, at: offset + length(of: word[..<openingCount])), link: text)
    }

    /// The brackets in a link, which belong to it only in pairs, as in the addresses of
    /// encyclopedia articles.
    private struct Brackets {
        private static let openings: [Unicode.Scalar: Unicode.Scalar] = [
            ")": "(", "]": "[", "}": "{",
        ]

        /// For each kind of closing bracket, how many more of them there are than opening ones.
        private var surplus: [Unicode.Scalar: Int] = [:]

        init(_ link: [Unicode.Scalar]) {
            for scalar in link { changeSurplus(by: 1, for: scalar) }
        }

        func isUnpaired(_ scalar: Unicode.Scalar) -> Bool { surplus[scalar, default: 0] > 0 }

        mutating func remove(_ scalar: Unicode.Scalar) { changeSurplus(by: -1, for: scalar) }

        private mutating func changeSurplus(by number: Int, for scalar: Unicode.Scalar) {
            for (closing, opening) in Self.openings {
                if scalar == closing { surplus[closing, default: 0] += number }
                if scalar == opening { surplus[closing, default: 0] -= number }
            }
        }
    }

    private static func tag(in word: [Unicode.Scalar], at offset: Int) -> Facet? {
        guard let numberSign = word.first, numberSign == "#" || numberSign == "＃" else {
            return nil
        }
        var tag = Array(word.dropFirst().prefix { !isInvisible($0) })
        while let last = tag.last, isPunctuation(last) { tag.removeLast() }
        let text = text(of: tag)
        guard text.count <= maximumTag, text.utf8.count <= maximumTagBytes, tag.first != "#",
            // A number sign before U+FE0F is an emoji.
            tag.first != "\u{FE0F}",
            // `#1` is a number, not a tag.
            tag.contains(where: { $0.properties.numericType == nil && !isPunctuation($0) })
        else { return nil }
        return Facet(bytes: range(of: [numberSign] + tag, at: offset), tag: text)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{AD}" || scalar == "\u{2060}" || ("\u{200A}"..."\u{200D}").contains(scalar)
    }

    private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        default: false
        }
    }

    private static func range(of part: [Unicode.Scalar], at start: Int) -> Range<Int> {
        start..<start + length(of: part[...])
    }

    private static func length(of scalars: ArraySlice<Unicode.Scalar>) -> Int {
        scalars.reduce(0) { $0 + Unicode.UTF8.width($1) }
    }

    private static func text(of scalars: [Unicode.Scalar]) -> String {
        String(String.UnicodeScalarView(scalars))
    }
}
