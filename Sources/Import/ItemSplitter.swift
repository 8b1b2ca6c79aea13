import Formats
import Localization

/// One item of a JSON list, or the reason why it cannot be used.
struct SplitElement {
    var index: Int
    /// The item's position in the file, in bytes.
    var offset: Int
    var content: Result<[UInt8], ItemFault>
}

/// Splits a file into its items, chunk by chunk.
protocol ItemSplitter {
    /// Reads the next bytes of the file and passes on the items that end in them.
    mutating func feed(_ chunk: UnsafeRawBufferPointer, _ body: (SplitElement) throws -> Void)
        throws

    /// Ends the file; an unfinished item is passed to `body` as a fault.
    ///
    /// The returned fault concerns the file as a whole.
    mutating func finish(_ body: (SplitElement) throws -> Void) throws -> ItemFault?
}

/// The current item of a splitter: its bytes, the nesting depth, and its first fault.
///
/// It parses just enough JSON to find the end of a value; the splitter finds where an item begins.
struct ItemBuffer {
    private let maximumBytes: Int
    private let maximumNesting: Int

    /// The number of items passed on.
    private(set) var index = 0
    /// The item's position in the file, in bytes.
    private(set) var offset = 0
    /// The item's first fault.
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
    ///   - offset: The item's position in the file.
    ///   - opening: The first bytes of the item, which were read before.
    ///   - depth: The number of brackets and braces that are open after `opening`.
    ///   - inString: Whether a string is open after `opening`.
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
        if depth > maximumNesting { blame(localized("is nested too deeply")) }
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
            // A string in JSON cannot span lines, so there is a missing or a surplus quote.
            blame(localized("a string is not closed"))
            inString = false
        }
    }

    /// Notes a fault, unless there was one before.
    mutating func blame(_ reason: String) { fault = fault ?? ItemFault(reason) }

    /// Keeps bytes of the item, unless it has a fault.
    mutating func append(_ chunk: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard fault == nil else { return bytes.removeAll(keepingCapacity: true) }
        guard bytes.count + range.count <= maximumBytes else {
            fault = ItemFault(localized("is larger than \(maximumBytes) bytes"))
            return bytes.removeAll(keepingCapacity: true)
        }
        bytes.append(contentsOf: chunk[range])
    }

    /// Returns the finished item and counts it.
    mutating func take() -> SplitElement {
        defer { index += 1 }
        return SplitElement(
            index: index, offset: offset, content: fault.map { .failure($0) } ?? .success(bytes))
    }

    /// Skips bytes that do not affect the structure, which are most of them.
    func skipPlain(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position < chunk.count, isPlain[Int(chunk[position])] { position += 1 }
        return position
    }

    /// For each byte, whether it leaves the structure unchanged.
    ///
    /// It is an instance property, because the initialization of a static one is checked at each
    /// use, which takes time.
    private let isPlain: [Bool] = (0...UInt8.max).map { byte in
        ![
            Byte.quote, Byte.backslash, Byte.lineFeed, Byte.comma, Byte.openBrace, Byte.closeBrace,
            Byte.openBracket, Byte.closeBracket,
        ].contains(byte)
    }
}
