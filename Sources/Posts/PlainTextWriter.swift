/// Collects plain text and decides where spaces and line breaks stand.
struct PlainTextWriter {
    /// Quotations inside of more quotations are marked as if they were in this many.
    private static let deepestQuotation = 3

    /// The most bytes of text that are kept.
    private let limit: Int
    private var output: [UInt8] = []
    /// Line breaks that are due before the next text.
    private var breaks = 0
    /// Spaces that are due before the next text of the same line.
    private var spaces: [UInt8] = []
    /// The marker of a list item that has no text yet.
    private var marker: String?
    /// Whether an address was written last, which other programs would read on into what follows.
    private var isBehindAddress = false
    /// Where the text of the link begins that is open; nil while none is, or it has no text.
    private var linkStart: Int?
    private var isLinkOpen = false
    /// How many elements around the text keep white space as it is.
    var preformattedDepth = 0
    /// How many quotations are around the text.
    var quotationDepth = 0
    /// Whether the text is in a cell of a table, which is one line.
    var isInCell = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether nothing more is taken.
    var isFull: Bool { output.count > limit }

    /// The written text, without control characters and surrounding white space.
    var text: String {
        PlainText.cleaned(String(decoding: PlainText.head(of: output, limit), as: UTF8.self))
    }

    /// The character written last, if it is ASCII and the next text follows it without white space.
    var last: UInt8? { breaks == 0 && spaces.isEmpty && marker == nil ? output.last : nil }

    /// The last `count` bytes that were written, as far as they are whole characters.
    func end(_ count: Int) -> String { String(decoding: output.suffix(count), as: UTF8.self) }

    // MARK: Lines

    /// Begins a new line now.
    mutating func breakLine() {
        if isInCell || isLinkOpen { return space() }
        breaks += 1
        spaces.removeAll(keepingCapacity: true)
    }

    /// Makes the next text stand `count` lines below what is written already.
    mutating func separate(byLines count: Int) {
        guard marker == nil else { return }
        if isInCell { return space() }
        breaks = max(breaks, count)
        spaces.removeAll(keepingCapacity: true)
    }

    /// Makes a space stand before the next text, unless that begins a line.
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

    /// Begins a link, whose text may be replaced when it ends.
    mutating func beginLink() {
        isLinkOpen = true
        linkStart = nil
    }

    /// The text of the open link, and the character before it if that is ASCII and no white space.
    var link: (shown: String, before: UInt8?) {
        guard let linkStart else { return ("", last) }
        let before =
            linkStart > 0 && !output[linkStart - 1].isHTMLSpace ? output[linkStart - 1] : nil
        return (PlainText.trimmed(String(decoding: output[linkStart...], as: UTF8.self)), before)
    }

    /// Ends the open link.
    ///
    /// - Parameters:
    ///   - replacement: What stands in place of its text; nil to keep that.
    ///   - isAddress: Whether the replacement is an address.
    ///   - address: What follows in parentheses; nil for nothing.
    mutating func endLink(
        replacedBy replacement: String? = nil, isAddress: Bool = false, address: String? = nil
    ) {
        let start = linkStart
        isLinkOpen = false
        linkStart = nil
        if let replacement {
            if let start { output.removeSubrange(start...) } else { writeDue() }
            output.append(contentsOf: replacement.utf8)
        }
        if let address { output.append(contentsOf: " (\(address))".utf8) }
        isBehindAddress = address != nil || isAddress
    }

    // MARK: Text

    /// Writes text whose entities are decoded.
    mutating func write(_ bytes: [UInt8]) {
        if isBehindAddress { separateFromAddress(bytes) }
        for byte in bytes {
            if isFull { return }
            if preformattedDepth > 0, byte == UInt8(ascii: "\n") {
                breakLine()
            } else if byte.isHTMLSpace {
                spaces.append(byte)
            } else {
                writeDue()
                if isLinkOpen, linkStart == nil { linkStart = output.count }
                output.append(byte)
            }
        }
    }

    /// Puts a space behind an address if the text goes on at once.
    private mutating func separateFromAddress(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        isBehindAddress = false
        guard breaks == 0, spaces.isEmpty else { return }
        if PlainText.goesOn(bytes[...]) { space() }
    }

    private mutating func writeDue() {
        // Before most letters there is nothing.
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
