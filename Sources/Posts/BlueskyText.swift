/// A part of a Bluesky post's text that is more than text: a link, a mention or a tag.
package struct BlueskyFacet: Sendable, Equatable {
    /// Where the part begins, in bytes of UTF-8.
    package var byteStart: Int
    /// The byte behind the part.
    package var byteEnd: Int
    /// The address that a link leads to; nil for mentions, tags and kinds that we do not know.
    package var link: String?

    package init(byteStart: Int, byteEnd: Int, link: String? = nil) {
        self.byteStart = byteStart
        self.byteEnd = byteEnd
        self.link = link
    }
}

extension PlainText {
    /// The plain text of a post as a Bluesky record holds it.
    ///
    /// A link gives its address, not the shortened text that is shown. Parts that lie outside the text, are empty or
    /// begin or end inside a character are passed over; of two that overlap the one that begins first counts, as in
    /// Bluesky's own apps. A link that leads to no web page stays as it is shown. The time is linear in the text, and
    /// that of sorting in the parts.
    ///
    /// - Parameters:
    ///   - text: The record's text; what exceeds 1 MiB is not read, and text beyond 100,000 bytes is left out.
    ///   - facets: The record's parts, in any order.
    /// - Returns: The text without control characters and without white space around it.
    package static func fromBluesky(_ text: String, facets: [BlueskyFacet]) -> String {
        let bytes = head(of: Array(text.utf8.prefix(maximumInput + 1)), maximumInput)
        var result: [UInt8] = []
        var position = 0
        for facet in usable(facets, in: bytes) {
            // One that begins inside the part before it.
            guard facet.byteStart >= position else { continue }
            guard result.count <= maximumOutput else { break }
            result.append(contentsOf: bytes[position..<facet.byteStart])
            if let link = facet.link, isWebAddress(link) {
                result.append(contentsOf: trimmed(link).utf8)
            } else {
                result.append(contentsOf: bytes[facet.byteStart..<facet.byteEnd])
            }
            position = facet.byteEnd
        }
        result.append(contentsOf: bytes[position...])
        return cleaned(String(decoding: head(of: result, maximumOutput), as: UTF8.self))
    }

    /// The parts that name whole characters of the text, in the order of the text.
    private static func usable(_ facets: [BlueskyFacet], in bytes: [UInt8]) -> [BlueskyFacet] {
        func isBoundary(_ index: Int) -> Bool { index == bytes.count || bytes[index] & 0xC0 != 0x80 }
        return facets.enumerated()
            .filter { _, facet in
                facet.byteStart >= 0 && facet.byteStart < facet.byteEnd && facet.byteEnd <= bytes.count
                    && isBoundary(facet.byteStart) && isBoundary(facet.byteEnd)
            }
            .sorted { ($0.element.byteStart, $0.offset) < ($1.element.byteStart, $1.offset) }
            .map(\.element)
    }
}
