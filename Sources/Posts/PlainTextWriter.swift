/// Collects plain text and decides where spaces and line breaks stand.
struct PlainTextWriter {
    /// The most bytes of text that are kept.
    private let limit: Int
    private var output: [UInt8] = []
    /// Line breaks that are due before the next text.
    private var breaks = 0
    /// Spaces that are due before the next text of the same line.
    private var spaces: [UInt8] = []
    private var itemIsDue = false
    /// How many elements around the text keep white space as it is.
    var preformattedDepth = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether nothing more is taken.
    var isFull: Bool { output.count > limit }

    /// What was written, without control characters and without white space around it.
    var text: String {
        PlainText.cleaned(String(decoding: PlainText.head(of: output, limit), as: UTF8.self))
    }

    /// Begins a new line now.
    mutating func breakLine() {
        breaks += 1
        spaces.removeAll(keepingCapacity: true)
    }

    /// Makes the next text stand `count` lines below what is written already.
    mutating func separate(byLines count: Int) {
        guard !itemIsDue else { return }
        breaks = max(breaks, count)
        spaces.removeAll(keepingCapacity: true)
    }

    /// Begins an item of a list.
    mutating func beginItem() {
        separate(byLines: 1)
        itemIsDue = true
    }

    /// Ends an item of a list.
    mutating func endItem() {
        itemIsDue = false
        separate(byLines: 1)
    }

    /// Writes text whose entities are decoded.
    mutating func write(_ bytes: [UInt8]) {
        for byte in bytes {
            if isFull { return }
            if preformattedDepth > 0, byte == UInt8(ascii: "\n") {
                breakLine()
            } else if byte.isHTMLSpace {
                spaces.append(byte)
            } else {
                writeDue()
                output.append(byte)
            }
        }
    }

    private mutating func writeDue() {
        let isLineStart = output.isEmpty || breaks > 0
        if !output.isEmpty { output.append(contentsOf: repeatElement(UInt8(ascii: "\n"), count: min(breaks, limit))) }
        breaks = 0
        if itemIsDue {
            output.append(contentsOf: "- ".utf8)
            itemIsDue = false
        } else if spaces.contains(UInt8(ascii: "\n")) || spaces.contains(UInt8(ascii: "\r")) {
            // A line break of the source is layout, not text.
            if !isLineStart { output.append(UInt8(ascii: " ")) }
        } else {
            output.append(contentsOf: spaces)
        }
        spaces.removeAll(keepingCapacity: true)
    }
}
