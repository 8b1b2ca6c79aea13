/// One record of a table: its fields without their quotes.
struct CSVRecord {
    /// The line on which it begins, from 1.
    let line: Int
    fileprivate let bytes: [UInt8]
    fileprivate let ends: [Int]

    /// The number of fields, at least 1.
    var count: Int { ends.count }

    /// The bytes of a field.
    subscript(index: Int) -> ArraySlice<UInt8> { bytes[(index > 0 ? ends[index - 1] : 0)..<ends[index]] }
}

/// Why a table cannot be read any further.
struct CSVFault: Error, Equatable {
    /// The line on which the record begins, from 1.
    var line: Int
    var reason: String
}

/// Cuts a stream of bytes into records of comma-separated values as RFC 4180 describes them; holds one at a time.
///
/// Lines end in LF, CR LF or CR; empty ones are passed over. A byte order mark
/// may stand at the start.
struct CSVSplitter {
    private enum State { case fieldStart, plain, quoted, afterQuote }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let maximumBytes: Int
    private var state = State.fieldStart
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var size = 0
    private var line = 1
    private var recordLine = 1
    private var isAfterCarriageReturn = false
    /// How much of a byte order mark was seen; nil once it is clear that there is one or none.
    private var markLength: Int? = 0

    /// - Parameter maximumBytes: The longest record.
    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Takes the next bytes and hands over the records that end in them.
    ///
    /// - Throws: ``CSVFault``, or what `body` throws; then nothing more can be fed.
    mutating func feed(_ chunk: UnsafeRawBufferPointer, _ body: (CSVRecord) throws -> Void) throws {
        for byte in chunk {
            guard let length = markLength else {
                try take(byte, body)
                continue
            }
            if byte == Self.mark[length] {
                markLength = length + 1 < Self.mark.count ? length + 1 : nil
            } else {
                markLength = nil
                for byte in Self.mark[..<length] + [byte] { try take(byte, body) }
            }
        }
    }

    /// Hands over what follows the last line break.
    ///
    /// - Throws: ``CSVFault``, or what `body` throws.
    mutating func finish(_ body: (CSVRecord) throws -> Void) throws {
        if state == .quoted { throw fault("a quote is not closed") }
        if size > 0 { try endRecord(body) }
    }

    private mutating func take(_ byte: UInt8, _ body: (CSVRecord) throws -> Void) throws {
        let isSecondOfBreak = isAfterCarriageReturn && byte == Byte.lineFeed
        isAfterCarriageReturn = byte == Byte.carriageReturn
        if !isSecondOfBreak, byte == Byte.lineFeed || byte == Byte.carriageReturn { line += 1 }
        if state != .quoted, byte == Byte.lineFeed || byte == Byte.carriageReturn {
            if !isSecondOfBreak { try endRecord(body) }
            return
        }
        size += 1
        guard size <= maximumBytes else { throw fault("it is longer than \(maximumBytes) bytes") }
        switch (state, byte) {
        case (.quoted, Byte.quote): state = .afterQuote
        case (.quoted, _): bytes.append(byte)
        case (_, Byte.comma): endField()
        case (.fieldStart, Byte.quote): state = .quoted
        case (.afterQuote, Byte.quote):
            bytes.append(byte)
            state = .quoted
        case (.afterQuote, _): throw fault("something other than a comma follows a closing quote")
        case (.plain, Byte.quote): throw fault("a quote stands inside a field that does not begin with one")
        case (_, _):
            bytes.append(byte)
            state = .plain
        }
    }

    private mutating func endField() {
        ends.append(bytes.count)
        state = .fieldStart
    }

    private mutating func endRecord(_ body: (CSVRecord) throws -> Void) throws {
        defer {
            bytes.removeAll(keepingCapacity: true)
            ends.removeAll(keepingCapacity: true)
            size = 0
            recordLine = line
        }
        guard size > 0 else { return }
        endField()
        try body(CSVRecord(line: recordLine, bytes: bytes, ends: ends))
    }

    private func fault(_ reason: String) -> CSVFault { CSVFault(line: recordLine, reason: reason) }
}
