/// Conversion of networks' texts to plain text.
package enum PlainText {
    /// The maximum number of bytes of HTML that are read.
    static let maximumInput = 1 << 20
    /// The maximum number of bytes of text that are returned.
    static let maximumOutput = 100_000
    /// The longest address, in bytes, that is treated as a link.
    private static let maximumAddress = 2_048

    /// The plain text of a post or profile in HTML from a Mastodon-compatible server.
    ///
    /// Paragraphs are separated by a blank line, `<br>` is a line break, and items of lists begin
    /// with `- ` or their numbers; docs/html.md lists the treatment of every element. A link
    /// becomes its words, followed by its address in parentheses; if the words are a beginning of
    /// the address, it becomes the address alone. A hashtag is unchanged; a mention becomes `@` and
    /// the name from `mentions`. Entities are decoded once. Tags that are never closed, nesting of
    /// any depth and other invalid input are accepted; the time is linear.
    ///
    /// - Parameters:
    ///   - html: The fragment; at most 1 MiB of it is read, and the text is limited to 100,000
    ///     bytes.
    ///   - mentions: The names of people without `@`, by the address of the profile as in links.
    /// - Returns: The text without surrounding white space.
    package static func fromHTML(_ html: String, mentions: [String: String] = [:]) -> String {
        HTMLText(html, names: mentions).text
    }

    /// The plain text of a post from X or its archives.
    ///
    /// `&lt;`, `&gt;` and `&amp;` are decoded once, so `&amp;lt;` becomes `&lt;`. Shortened
    /// addresses are replaced, and followed by a space if text follows directly.
    ///
    /// - Parameters:
    ///   - text: The text with `https://t.co/…` addresses.
    ///   - links: For each shortened address, its full address; an empty text removes the shortened
    ///     address.
    /// - Returns: The text without surrounding white space.
    package static func fromX(_ text: String, links: [String: String] = [:]) -> String {
        var result: [UInt8] = []
        let bytes = head(of: Array(text.utf8.prefix(maximumInput + 1)), atMost: maximumInput)
        var index = 0
        while index < bytes.count, result.count <= maximumOutput {
            let byte = bytes[index]
            if byte == UInt8(ascii: "h"), let link = shortLink(in: bytes, at: index) {
                index += link.utf8.count
                write(links[link] ?? link, before: bytes[index...], to: &result)
            } else if byte == UInt8(ascii: "&"),
                let entity = entitiesOfX.first(where: { bytes[index...].starts(with: $0.name) })
            {
                result.append(entity.byte)
                index += entity.name.count
            } else {
                result.append(byte)
                index += 1
            }
        }
        return cleaned(String(decoding: head(of: result, atMost: maximumOutput), as: UTF8.self))
    }

    /// Characters that end a link on every network if only white space follows.
    private static let closings = Set(".,;:!?'\")]}>".utf8)

    /// Writes the address of a link, with a space after it if other networks would read the
    /// following text as part of it.
    private static func write(
        _ address: String, before following: ArraySlice<UInt8>, to result: inout [UInt8]
    ) {
        result.append(contentsOf: address.utf8)
        if !address.isEmpty, continuesAddress(following) { result.append(UInt8(ascii: " ")) }
    }

    /// Whether other networks would read a text that begins like this as a continuation of the
    /// address before it.
    static func continuesAddress(_ following: ArraySlice<UInt8>) -> Bool {
        let next = String(
            decoding: following.prefix(64).drop(while: closings.contains).prefix(4), as: UTF8.self)
        guard let first = next.unicodeScalars.first else { return false }
        return !first.properties.isWhitespace
    }

    private static let entitiesOfX: [(name: [UInt8], byte: UInt8)] = [
        (Array("&lt;".utf8), UInt8(ascii: "<")),
        (Array("&gt;".utf8), UInt8(ascii: ">")),
        (Array("&amp;".utf8), UInt8(ascii: "&")),
    ]

    private static let shortLinkPrefixes = ["https://t.co/", "http://t.co/"].map { Array($0.utf8) }

    private static func shortLink(in bytes: [UInt8], at index: Int) -> String? {
        guard let prefix = shortLinkPrefixes.first(where: { bytes[index...].starts(with: $0) })
        else { return nil }
        // Names of short links have about ten characters.
        let name = bytes[(index + prefix.count)...].prefix(64).prefix(while: \.isASCIIAlphanumeric)
        return name.isEmpty ? nil : String(decoding: prefix + name, as: UTF8.self)
    }

    /// `text` without control characters and surrounding white space.
    ///
    /// Line breaks and tabs stay; line separators of Unicode become line breaks.
    package static func cleaned(_ text: String) -> String {
        // Most texts need no change, and checking is much cheaper than copying.
        guard text.unicodeScalars.contains(where: isUnwanted) else { return trimmed(text) }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if !isUnwanted(scalar) {
                scalars.append(scalar)
            } else if !isControl(scalar) {
                scalars.append("\n")
            }
        }
        return trimmed(String(scalars))
    }

    /// Whether `scalar` is removed or becomes a line break.
    private static func isUnwanted(_ scalar: Unicode.Scalar) -> Bool {
        isControl(scalar) || scalar == "\u{2028}" || scalar == "\u{2029}"
    }

    /// The control characters of Unicode (general category Cc), except line breaks and tabs.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0x00...0x1F, 0x7F...0x9F: true
        default: false
        }
    }

    /// Whether `address` is a web address, ignoring surrounding white space.
    package static func isWebAddress(_ address: String?) -> Bool {
        guard let address, address.utf8.count <= maximumAddress else { return false }
        let trimmed = trimmed(address)
        guard !trimmed.contains(where: \.isWhitespace) else { return false }
        let scheme = trimmed.prefix { $0 != ":" }.lowercased()
        return (scheme == "https" || scheme == "http")
            && trimmed.dropFirst(scheme.count).hasPrefix("://")
    }

    /// Returns the beginning of `text`, at most `count` bytes long, without dividing a character.
    static func head(of text: [UInt8], atMost count: Int) -> [UInt8] {
        guard text.count > count else { return text }
        var end = count
        // A byte 10xxxxxx continues a character of UTF-8.
        while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(text[..<end])
    }

    /// `text` without surrounding white space.
    static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }
}

/// A marked part of a text: a link, a mention or a tag.
package struct TextFacet: Sendable, Equatable {
    /// The start of the part, in bytes of UTF-8.
    package var byteStart: Int
    /// The end of the part, excluded.
    package var byteEnd: Int
    /// The address of a link; nil for mentions, tags and unknown kinds.
    package var link: String?

    package init(byteStart: Int, byteEnd: Int, link: String? = nil) {
        self.byteStart = byteStart
        self.byteEnd = byteEnd
        self.link = link
    }
}

extension PlainText {
    /// The plain text of a Bluesky record's post, or of any other text with separate links.
    ///
    /// A link becomes its words, followed by its address in parentheses; if the words are a
    /// beginning of the address, it becomes the address alone. An address is followed by a space if
    /// text follows directly. Parts that are outside the text, empty, or begin or end inside a
    /// character are skipped; of two that overlap, the one that begins first is used, as in
    /// Bluesky's own apps. A link without a web address is unchanged. The time is linear in the
    /// length of the text, plus the time for sorting the parts.
    ///
    /// - Parameters:
    ///   - text: The record's text; at most 1 MiB of it is read, and the result is limited to
    ///     100,000 bytes.
    ///   - facets: The record's parts, in any order.
    /// - Returns: The text without control characters and surrounding white space, and its
    ///   ``Post/linkWords``: the words of links that are followed by their addresses.
    package static func read(_ text: String, facets: [TextFacet]) -> (
        text: String, linkWords: [String]
    ) {
        var linkWords: [String] = []
        let bytes = head(of: Array(text.utf8.prefix(maximumInput + 1)), atMost: maximumInput)
        var result: [UInt8] = []
        var position = 0
        for facet in usable(facets, in: bytes) {
            // A part that begins inside the previous one is skipped.
            guard facet.byteStart >= position else { continue }
            guard result.count <= maximumOutput else { break }
            result.append(contentsOf: bytes[position..<facet.byteStart])
            let shown = bytes[facet.byteStart..<facet.byteEnd]
            if let link = facet.link, isWebAddress(link) {
                if write(
                    shown, leadingTo: trimmed(link), before: bytes[facet.byteEnd...], to: &result)
                {
                    linkWords.append(cleaned(String(decoding: shown, as: UTF8.self)))
                }
            } else {
                result.append(contentsOf: shown)
            }
            position = facet.byteEnd
        }
        result.append(contentsOf: bytes[position...])
        return (
            cleaned(String(decoding: head(of: result, atMost: maximumOutput), as: UTF8.self)),
            linkWords
        )
    }

    /// Writes a link; returns whether it has its words followed by the address.
    private static func write(
        _ shown: ArraySlice<UInt8>, leadingTo address: String, before following: ArraySlice<UInt8>,
        to result: inout [UInt8]
    ) -> Bool {
        let kind = LinkText(
            shown: trimmed(String(decoding: shown, as: UTF8.self)), address: address)
        if kind == .address {
            write(address, before: following, to: &result)
            return false
        }
        result.append(contentsOf: shown)
        guard kind == .both else { return false }
        if result.last?.isHTMLSpace == false { result.append(UInt8(ascii: " ")) }
        write("(\(address))", before: following, to: &result)
        return true
    }

    /// The parts that consist of whole characters, in the order of the text.
    private static func usable(_ facets: [TextFacet], in bytes: [UInt8]) -> [TextFacet] {
        func isBoundary(_ index: Int) -> Bool {
            index == bytes.count || bytes[index] & 0xC0 != 0x80
        }
        return facets.enumerated()
            .filter { _, facet in
                facet.byteStart >= 0 && facet.byteStart < facet.byteEnd
                    && facet.byteEnd <= bytes.count
                    && isBoundary(facet.byteStart) && isBoundary(facet.byteEnd)
            }
            .sorted { ($0.element.byteStart, $0.offset) < ($1.element.byteStart, $1.offset) }
            .map(\.element)
    }
}
