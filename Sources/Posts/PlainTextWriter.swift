/// Collects plain text and inserts spaces and line breaks.
struct PlainTextWriter {
    /// The deepest level of quotations that is marked.
    private static let deepestQuotation = 3

    /// The maximum number of bytes of text that are written.
    private let limit: Int
    private var output: [UInt8] = []
    /// Line breaks to write before the next text.
    private var breaks = 0
    /// Spaces to write before the next text of the same line.
    private var spaces: [UInt8] = []
    /// The marker of a list item that has no text yet.
    private var marker: String?
    /// Whether the last text was an address: other programs would read text that follows directly
    /// as a part of it.
    private var followsAddress = false
    /// The start of the open link's text; nil if no link is open, or it has no text.
    private var linkStart: Int?
    private var isLinkOpen = false
    /// The number of enclosing elements that preserve white space.
    var preformattedDepth = 0
    /// The number of enclosing quotations.
    var quotationDepth = 0
    /// Whether the text is in a table cell, which is a single line.
    var isInCell = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether the limit is reached.
    var isFull: Bool { output.count > limit }

    /// The written text, without control characters and surrounding white space.
    var text: String {
        PlainText.cleaned(
            String(decoding: PlainText.head(of: output, atMost: limit), as: UTF8.self))
    }

    /// The last byte, unless a line break, a space or the marker of a list item is pending.
    var last: UInt8? { breaks == 0 && spaces.isEmpty && marker == nil ? output.last : nil }

    /// The text of the last `count` bytes.
    func ending(bytes count: Int) -> String {
        String(decoding: output.suffix(count), as: UTF8.self)
    }

    // MARK: Lines

    /// Begins a new line now.
    mutating func breakLine() {
        if isInCell || isLinkOpen { return space() }
        breaks += 1
        spaces.removeAll(keepingCapacity: true)
    }

    /// Begins the next text `count` lines below the present one.
    mutating func separate(byLines count: Int) {
        guard marker == nil else { return }
        if isInCell { return space() }
        breaks = max(breaks, count)
        spaces.removeAll(keepingCapacity: true)
    }

    /// Writes a space before the next text, unless that begins a line.
    mutating func space() {
        if breaks == 0, spaces.isEmpty, !output.isEmpty { spaces.append(UInt8(ascii: " ")) }
    }

    /// Begins an item of a list.
    mutating func beginItem(_ marker: String) {
        separate(byLines: 1)
        self.marker = marker
    }

    /// Ends an item of a list.
    mutating func endItem() {
        marker = nil
        separate(byLines: 1)
    }

    // MARK: Links

    /// Begins a link, whose text may be replaced at its end.
    mutating func beginLink() {
        isLinkOpen = true
        // The first letter of the link sets its start.
        linkStart = nil
    }

    /// The text of the open link, and the byte before it unless that is white space.
    var link: (shown: String, precedingByte: UInt8?) {
        guard let linkStart else { return ("", last) }
        let precedingByte =
            linkStart > 0 && !output[linkStart - 1].isHTMLSpace ? output[linkStart - 1] : nil
        return (
            PlainText.trimmed(String(decoding: output[linkStart...], as: UTF8.self)), precedingByte
        )
    }

    /// Ends the open link.
    ///
    /// - Parameters:
    ///   - replacement: The text to write instead; nil to keep the link's own.
    ///   - isAddress: Whether the replacement is an address.
    ///   - address: The address to add in parentheses; nil for none.
    mutating func endLink(
        replacedBy replacement: String? = nil, isAddress: Bool = false, address: String? = nil
    ) {
        let start = linkStart
        isLinkOpen = false
        linkStart = nil
        if let replacement {
            if let start { output.removeSubrange(start...) } else { writePending() }
            output.append(contentsOf: replacement.utf8)
        }
        if let address { output.append(contentsOf: " (\(address))".utf8) }
        followsAddress = address != nil || isAddress
    }

    // MARK: Text

    /// Writes text with decoded entities.
    mutating func write(_ bytes: [UInt8]) {
        if followsAddress { separateFromAddress(bytes) }
        for byte in bytes {
            if isFull { return }
            if preformattedDepth > 0, byte == UInt8(ascii: "\n") {
                breakLine()
            } else if byte.isHTMLSpace {
                spaces.append(byte)
            } else {
                writePending()
                if isLinkOpen, linkStart == nil { linkStart = output.count }
                output.append(byte)
            }
        }
    }

    /// Writes a space after an address if text follows directly.
    private mutating func separateFromAddress(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        followsAddress = false
        guard breaks == 0, spaces.isEmpty else { return }
        if PlainText.continuesAddress(bytes[...]) { space() }
    }

    /// Writes the pending line breaks, the marker of a list item, or the pending spaces.
    private mutating func writePending() {
        // Before most letters nothing is pending.
        guard breaks > 0 || marker != nil || !spaces.isEmpty || output.isEmpty else { return }
        let isLineStart = output.isEmpty || breaks > 0
        if !output.isEmpty {
            output.append(contentsOf: repeatElement(UInt8(ascii: "\n"), count: min(breaks, limit)))
        }
        breaks = 0
        if isLineStart {
            for _ in 0..<min(quotationDepth, Self.deepestQuotation) {
                output.append(contentsOf: "> ".utf8)
            }
        }
        if let marker {
            output.append(contentsOf: marker.utf8)
            self.marker = nil
        } else if spaces.contains(UInt8(ascii: "\n")) || spaces.contains(UInt8(ascii: "\r")) {
            // A line break of the source is layout, not text.
            if !isLineStart { output.append(UInt8(ascii: " ")) }
        } else {
            output.append(contentsOf: spaces)
        }
        spaces.removeAll(keepingCapacity: true)
    }
}
