import Formats

/// One item of a JSON list, or the reason why there is none.
struct SplitElement {
    var index: Int
    /// Where the item begins, in bytes from the start of the file.
    var offset: Int
    var content: Result<[UInt8], ItemFault>
}

/// Cuts a file into its items, chunk by chunk.
protocol ItemSplitter {
    /// Takes the next bytes of the file and hands over the items that end in them.
    mutating func feed(_ chunk: UnsafeRawBufferPointer, _ body: (SplitElement) throws -> Void)
        throws

    /// Tells that the file has ended; an item that it ended in goes to `body` as a fault.
    ///
    /// The returned fault concerns the file as a whole.
    mutating func finish(_ body: (SplitElement) throws -> Void) throws -> ItemFault?
}

/// The item that is being cut out of a file: its bytes, how deep its end is, and what is wrong with
/// it.
///
/// Knows as much of JSON as it takes to find the end of a value; where an item begins, and what
/// stands between two of them, is the splitter's business.
struct ItemBuffer {
    private let maximumBytes: Int
    private let maximumNesting: Int

    /// How many items were handed over.
    private(set) var index = 0
    /// Where the item begins, in bytes from the start of the file.
    private(set) var offset = 0
    /// The first thing that is wrong with the item.
    var fault: ItemFault?
    private(set) var depth = 0
    private(set) var inString = false
    private(set) var escaped = false
    private var bytes: [UInt8] = []

    /// - Parameter limits: The size and nesting of an item.
    init(limits: ImportLimits) {
        maximumBytes = limits.elementBytes
        maximumNesting = limits.nesting
    }

    /// Begins an item.
    ///
    /// - Parameters:
    ///   - offset: Where it stands in the file.
    ///   - opening: What of it has been seen already.
    ///   - depth: How many brackets and braces are open behind that.
    ///   - inString: Whether a string is open behind that.
    mutating func begin(
        at offset: Int, with opening: [UInt8] = [], depth: Int = 0, inString: Bool = false
    ) {
        self.offset = offset
        self.depth = depth
        self.inString = inString
        escaped = false
        fault = nil
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: opening)
    }

    mutating func open() {
        depth += 1
        if depth > maximumNesting { blame("is nested too deeply") }
    }

    mutating func close() { depth -= 1 }

    mutating func beginString() { inString = true }

    mutating func stepInString(_ byte: UInt8) {
        if escaped {
            escaped = false
        } else if byte == Byte.backslash {
            escaped = true
        } else if byte == Byte.quote {
            inString = false
        } else if byte == Byte.lineFeed {
            // No string of JSON spans lines: a quote is missing or too many.
            blame("a string is not closed")
            inString = false
        }
    }

    /// Notes what is wrong, unless something else was before.
    mutating func blame(_ reason: String) { fault = fault ?? ItemFault(reason) }

    /// Keeps bytes of the item; one with a fault needs none.
    mutating func append(_ chunk: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard fault == nil else { return bytes.removeAll(keepingCapacity: true) }
        guard bytes.count + range.count <= maximumBytes else {
            fault = ItemFault("is larger than \(maximumBytes) bytes")
            return bytes.removeAll(keepingCapacity: true)
        }
        bytes.append(contentsOf: chunk[range])
    }

    /// The item as it is now, which counts as handed over.
    mutating func take() -> SplitElement {
        defer { index += 1 }
        return SplitElement(
            index: index, offset: offset, content: fault.map { .failure($0) } ?? .success(bytes))
    }

    /// Passes over bytes that change nothing, which are most of them.
    func skipPlain(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position < chunk.count, isPlain[Int(chunk[position])] { position += 1 }
        return position
    }

    /// For each byte, whether it changes nothing; not static, which would cost a check at each use.
    private let isPlain: [Bool] = (0...UInt8.max).map { byte in
        ![
            Byte.quote, Byte.backslash, Byte.lineFeed, Byte.comma, Byte.openBrace, Byte.closeBrace,
            Byte.openBracket, Byte.closeBracket,
        ].contains(byte)
    }
}
