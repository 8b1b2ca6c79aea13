/// One line of a file without its line break, or the reason why it is not given.
struct SplitLine {
    /// From 1.
    var number: Int
    var content: Result<[UInt8], ItemFault>
}

/// Cuts a stream of bytes into lines that end in LF or CR LF; holds one line at a time.
struct LineSplitter {
    private let maximumBytes: Int
    private var line: [UInt8] = []
    private var number = 1
    private var isTooLong = false

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Takes the next bytes and hands over the lines that end in them.
    mutating func feed(_ chunk: UnsafeRawBufferPointer, _ body: (SplitLine) throws -> Void) rethrows {
        var start = 0
        while let end = chunk[start...].firstIndex(of: Byte.lineFeed) {
            append(chunk[start..<end])
            try emit(body)
            start = end + 1
        }
        append(chunk[start...])
    }

    /// Hands over what follows the last line break.
    mutating func finish(_ body: (SplitLine) throws -> Void) rethrows {
        if !line.isEmpty || isTooLong { try emit(body) }
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) {
        // One byte more for a CR that does not count.
        if line.count + bytes.count > maximumBytes + 1 { isTooLong = true }
        if isTooLong { line.removeAll(keepingCapacity: true) } else { line.append(contentsOf: bytes) }
    }

    private mutating func emit(_ body: (SplitLine) throws -> Void) rethrows {
        if line.last == Byte.carriageReturn { line.removeLast() }
        let isTooLong = isTooLong || line.count > maximumBytes
        let content: Result<[UInt8], ItemFault> =
            isTooLong ? .failure(ItemFault("is longer than \(maximumBytes) bytes")) : .success(line)
        defer {
            line.removeAll(keepingCapacity: true)
            self.isTooLong = false
            number += 1
        }
        try body(SplitLine(number: number, content: content))
    }
}
