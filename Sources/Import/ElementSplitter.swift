import Formats
import Localization

/// Splits a list such as `window.YTD.tweets.part0 = [ {…}, {…} ]` into its items, chunk by chunk.
///
/// It holds one item at a time, whatever the size of the file. Text before the list is skipped.
/// Items are not validated here: each is decoded separately, so that a broken one does not affect
/// others. An item that is never closed ends where the next one begins, which is recognized by the
/// wrapper key: the bytes `{"tweet":` cannot occur inside an item, because a string would contain
/// them as `{\"tweet\":`.
struct ElementSplitter: ItemSplitter {
    private enum State { case preface, between, inside, after }

    /// The progress in reading the start of an item: `{`, the wrapper key and `:`.
    private enum Match { case none, brace, key(Int), colon }

    /// The maximum length of the text before a list, in bytes; every real declaration is shorter.
    private static let maximumPreface = 4_096

    private let wrapper: [UInt8]

    private var state = State.preface
    /// Bytes of the file before the current chunk.
    private var consumed = 0
    private var item: ItemBuffer
    private var match = Match.none
    /// The position in the file of the brace with which the match began.
    private var matchOffset = 0

    /// - Parameters:
    ///   - wrapper: The key with which every item begins, such as `tweet`; empty for items without
    ///     one.
    ///   - limits: The size and nesting of an item.
    init(wrapper: String, limits: ImportLimits) {
        self.wrapper = wrapper.isEmpty ? [] : Array("\"\(wrapper)\"".utf8)
        item = ItemBuffer(limits: limits)
    }

    mutating func feed(_ chunk: UnsafeRawBufferPointer, _ body: (SplitElement) throws -> Void)
        throws
    {
        var position = 0
        while position < chunk.count {
            switch state {
            case .preface: position = skipPreface(chunk, from: position)
            case .between: position = skipSeparators(chunk, from: position)
            case .inside: position = try scanElement(chunk, from: position, body)
            case .after: position = skipRest(chunk, from: position)
            }
        }
        consumed += chunk.count
    }

    mutating func finish(_ body: (SplitElement) throws -> Void) throws -> ItemFault? {
        switch state {
        case .preface: return ItemFault(localized("holds no list"))
        case .between:
            return ItemFault(localized("the list is not closed; the file may have been cut off"))
        case .after: return nil
        case .inside:
            item.fault = ItemFault(localized("the file ends inside it"))
            try emit(body)
            return nil
        }
    }

    // MARK: Between items

    private mutating func skipPreface(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Int {
        for position in start..<chunk.count {
            guard consumed + position < Self.maximumPreface else { return chunk.count }
            if chunk[position] == Byte.openBracket {
                state = .between
                return position + 1
            }
        }
        return chunk.count
    }

    private mutating func skipSeparators(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Int {
        for position in start..<chunk.count {
            switch chunk[position] {
            case Byte.space, Byte.tab, Byte.lineFeed, Byte.carriageReturn, Byte.comma: continue
            case Byte.closeBracket:
                state = .after
                match = .none
                return position + 1
            default:
                begin(at: consumed + position)
                return position
            }
        }
        return chunk.count
    }

    /// Looks for another item after the list, because a stray bracket may have ended the list too
    /// early.
    private mutating func skipRest(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Int {
        for position in start..<chunk.count
        where advanceMatch(chunk[position], at: consumed + position) {
            beginMatched()
            return position + 1
        }
        return chunk.count
    }

    // MARK: Inside an item

    private mutating func begin(at offset: Int, with opening: [UInt8] = [], depth: Int = 0) {
        state = .inside
        item.begin(at: offset, with: opening, depth: depth)
        match = .none
    }

    /// Begins an item whose first brace, key and colon have just been read.
    private mutating func beginMatched() {
        begin(at: matchOffset, with: [Byte.openBrace] + wrapper + [Byte.colon], depth: 1)
    }

    private mutating func scanElement(
        _ chunk: UnsafeRawBufferPointer, from start: Int, _ body: (SplitElement) throws -> Void
    ) throws -> Int {
        var position = start
        while position < chunk.count {
            position = skipPlain(chunk, from: position)
            guard position < chunk.count else { break }
            let byte = chunk[position]
            if advanceMatch(byte, at: consumed + position), matchOffset != item.offset {
                item.blame(localized("is not closed before the next one begins"))
                try emit(body)
                beginMatched()
                return position + 1
            }
            switch step(byte) {
            case .inside: position += 1
            case .endsAfter:
                item.append(chunk, start..<position + 1)
                try emit(body)
                return position + 1
            case .endsBefore:
                item.append(chunk, start..<position)
                try emit(body)
                return position
            }
        }
        item.append(chunk, start..<chunk.count)
        return chunk.count
    }

    private func skipPlain(_ chunk: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard case .none = match, !item.escaped else { return start }
        return item.skipPlain(chunk, from: start)
    }

    /// The effect of a byte: the item goes on, or ends after or before the byte.
    private enum Step { case inside, endsAfter, endsBefore }

    private mutating func step(_ byte: UInt8) -> Step {
        if item.inString {
            item.stepInString(byte)
            return .inside
        }
        switch byte {
        case Byte.quote: item.beginString()
        case Byte.openBrace, Byte.openBracket: item.open()
        case Byte.closeBrace, Byte.closeBracket:
            if item.depth == 0 { return byte == Byte.closeBracket ? .endsBefore : .endsAfter }
            item.close()
            if item.depth == 0 { return .endsAfter }
        case Byte.comma where item.depth == 0: return .endsBefore
        default: break
        }
        return .inside
    }

    /// Whether `byte` completes the start of an item.
    private mutating func advanceMatch(_ byte: UInt8, at position: Int) -> Bool {
        if byte == Byte.openBrace, !wrapper.isEmpty {
            match = .brace
            matchOffset = position
            return false
        }
        switch match {
        case .none: return false
        case .brace where Byte.isWhitespace(byte), .colon where Byte.isWhitespace(byte):
            return false
        case .brace where byte == Byte.quote: match = .key(1)
        case .key(let count) where byte == wrapper[count]:
            match = count + 1 == wrapper.count ? .colon : .key(count + 1)
        case .colon where byte == Byte.colon:
            match = .none
            return true
        default: match = .none
        }
        return false
    }

    private mutating func emit(_ body: (SplitElement) throws -> Void) throws {
        state = .between
        try body(item.take())
    }
}
