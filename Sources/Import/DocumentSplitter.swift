import Formats
import Localization

/// Splits a sequence of JSON documents into the items that they contain.
///
/// An item is an entry of the list that a document holds under a certain key, an entry of a
/// document that is a list itself, or a document without a list. So a server's page, several pages,
/// a list of pages and one object on each line are all accepted. The splitter holds one item at a
/// time, however long the list is; the other parts of a document are skipped.
///
/// Items are not validated here: each is decoded separately. An item that is never closed ends at
/// the next line that begins with `{"`, which no JSON string can contain.
struct DocumentSplitter: ItemSplitter {
    private enum State {
        /// Before a document or an entry of a list.
        case between
        /// In a document or an entry.
        case inside
    }

    /// The progress in reading a key of an item's outermost object; the last two occur only after
    /// the key of a list.
    private enum KeyProgress { case none, expected, inKey, afterKey, afterColon }

    /// The progress in reading `{"` at the start of a line.
    private enum Line { case other, began, brace }

    private static let maximumKeyBytes = 32

    private let lists: [[UInt8]]
    private let acceptsListsOnly: Bool

    /// The key of the last list that was found.
    private(set) var list: String?

    private var state = State.between
    /// Whether the current item is an entry of a document's list.
    private var isInPage = false
    /// Whether the current document is a list itself.
    private var isInList = false
    /// Whether the current bytes belong to an item; false in the part of a document after its list.
    private var isItem = true
    /// The number of bytes of the file before the current chunk.
    private var consumed = 0
    private var item: ItemBuffer
    private var key = KeyProgress.none
    private var keyBytes: [UInt8] = []
    private var line = Line.other

    /// - Parameters:
    ///   - lists: The keys of the lists.
    ///   - isForListsAlone: Whether only the entries of these lists are items.
    init(lists: [String], isForListsAlone: Bool = false, limits: ImportLimits) {
        self.lists = lists.map { Array($0.utf8) }
        self.acceptsListsOnly = isForListsAlone
        item = ItemBuffer(limits: limits)
    }

    mutating func feed(_ chunk: UnsafeRawBufferPointer, _ body: (SplitElement) throws -> Void)
        throws
    {
        var position = 0
        while position < chunk.count {
            switch state {
            case .between: position = skipSeparators(chunk, from: position)
            case .inside: position = try scan(chunk, from: position, body)
            }
        }
        consumed += chunk.count
    }

    mutating func finish(_ body: (SplitElement) throws -> Void) throws -> ItemFault? {
        let isCutOff = isInPage || isInList || (state == .inside && !isItem)
        if state == .inside, isItem {
            let isWhole = item.depth == 0 && !item.inString
            if !isWhole { item.blame(localized("the file ends inside it")) }
            try emit(body)
        } else if item.index == 0, list == nil {
            return ItemFault(localized("holds no list"))
        }
        return isCutOff
            ? ItemFault(localized("the list is not closed; the file may have been cut off")) : nil
    }

    // MARK: Between items

    private mutating func skipSeparators(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Int {
        for position in start..<chunk.count {
            let byte = chunk[position]
            switch byte {
            // Surplus brackets and braces are skipped too.
            case Byte.space, Byte.tab, Byte.lineFeed, Byte.carriageReturn, Byte.comma,
                Byte.closeBrace:
                continue
            // A byte order mark.
            case 0xEF, 0xBB, 0xBF: if consumed + position < 3 { continue }
            case Byte.closeBracket:
                if isInPage { return endList(at: position) }
                isInList = false
                continue
            case Byte.openBracket where !isInPage && !isInList:
                isInList = true
                continue
            default: break
            }
            begin(at: consumed + position)
            return position
        }
        return chunk.count
    }

    /// Continues with the part of a document after its list.
    private mutating func endList(at position: Int) -> Int {
        isInPage = false
        begin(at: consumed + position, depth: 1)
        isItem = false
        return position + 1
    }

    private mutating func begin(
        at offset: Int, with opening: [UInt8] = [], depth: Int = 0, inString: Bool = false
    ) {
        state = .inside
        item.begin(at: offset, with: opening, depth: depth, inString: inString)
        isItem = isInPage || !acceptsListsOnly
        key = .none
        line = .other
    }

    // MARK: Inside an item

    private mutating func scan(
        _ chunk: UnsafeRawBufferPointer, from start: Int, _ body: (SplitElement) throws -> Void
    ) throws -> Int {
        var position = start
        while position < chunk.count {
            position = skipPlain(chunk, from: position)
            guard position < chunk.count else { break }
            let byte = chunk[position]
            if advanceLine(byte), item.depth > 0 {
                item.blame(localized("is not closed before the next one begins"))
                try emit(body)
                beginDocument(quoteAt: consumed + position)
                return position + 1
            }
            switch step(byte) {
            case .inside: position += 1
            case .list:
                list = String(decoding: keyBytes, as: UTF8.self)
                isInPage = true
                state = .between
                return position + 1
            case .endsAfter:
                append(chunk, start..<position + 1)
                try emit(body)
                return position + 1
            case .endsBefore:
                append(chunk, start..<position)
                try emit(body)
                return position
            }
        }
        append(chunk, start..<chunk.count)
        return chunk.count
    }

    /// Skips bytes that change neither the item's structure nor the key or line being read.
    private func skipPlain(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard !item.escaped, item.depth > 0, key == .none || key == .expected, line == .other else {
            return start
        }
        return item.skipPlain(chunk, from: start)
    }

    /// Whether `byte` completes `{"` at the start of a line, where only a document can begin.
    private mutating func advanceLine(_ byte: UInt8) -> Bool {
        switch (byte, line) {
        case (Byte.lineFeed, _): line = .began
        case (Byte.openBrace, .began): line = .brace
        case (Byte.quote, .brace):
            line = .other
            return true
        default: line = .other
        }
        return false
    }

    /// Begins a document whose first brace and quote have just been read.
    private mutating func beginDocument(quoteAt position: Int) {
        isInPage = false
        begin(at: position - 1, with: [Byte.openBrace, Byte.quote], depth: 1, inString: true)
        beginKey()
    }

    /// The effect of a byte: the item goes on, a list begins, or the item ends after or before it.
    private enum Step { case inside, list, endsAfter, endsBefore }

    private mutating func step(_ byte: UInt8) -> Step {
        if item.inString {
            stepInString(byte)
            return item.depth == 0 && !item.inString ? .endsAfter : .inside
        }
        switch byte {
        case Byte.quote:
            item.beginString()
            if key == .expected { beginKey() } else { key = .none }
        case Byte.colon where key == .afterKey: key = .afterColon
        case Byte.openBracket where key == .afterColon: return .list
        case Byte.openBrace, Byte.openBracket:
            item.open()
            key = item.depth == 1 && byte == Byte.openBrace ? .expected : .none
        case Byte.closeBrace, Byte.closeBracket:
            if item.depth == 0 { return .endsBefore }
            item.close()
            key = .none
            if item.depth == 0 { return .endsAfter }
        case Byte.comma:
            if item.depth == 0 { return .endsBefore }
            if item.depth == 1 { key = .expected }
        default:
            if Byte.isWhitespace(byte) { return item.depth == 0 ? .endsBefore : .inside }
            if key != .expected { key = .none }
        }
        return .inside
    }

    private mutating func stepInString(_ byte: UInt8) {
        item.stepInString(byte)
        guard item.inString else {
            key =
                key == .inKey && byte == Byte.quote && lists.contains(keyBytes) ? .afterKey : .none
            return
        }
        if key == .inKey, keyBytes.count <= Self.maximumKeyBytes { keyBytes.append(byte) }
    }

    private mutating func beginKey() {
        key = .inKey
        keyBytes.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ chunk: UnsafeRawBufferPointer, _ range: Range<Int>) {
        if isItem { item.append(chunk, range) }
    }

    /// Ends an item, or the part of a document after its list.
    private mutating func emit(_ body: (SplitElement) throws -> Void) throws {
        state = .between
        guard isItem else { return }
        try body(item.take())
    }
}
