package import Foundation
import Localization
package import Posts

/// The author and time of a post, from one line of a table of events.
package struct PostingEvent: Equatable, Sendable {
    /// The author's name in the spelling of the table.
    package var author: String
    /// The time of the post, as an instant.
    package var date: Date
    /// The local time at the offset of the timestamp.
    package var time: LocalTime
}

/// Reads tables of events: comma-separated values with the columns `author` and `timestamp`.
///
/// The first line names the columns, in any order and case; other columns are skipped. Timestamps
/// follow RFC 3339, with an offset. A line that cannot be read ends the reading, because results
/// from the rest would be wrong. The memory use does not depend on the size of the table.
package struct EventTableReader: Sendable {
    /// The longest name of an author in bytes.
    package static let maximumAuthorBytes = 1_000

    private let path: String
    private let limits: ImportLimits

    /// - Parameters:
    ///   - path: The file, or `-` for standard input.
    ///   - limits: The length of a line.
    package init(path: String, limits: ImportLimits = ImportLimits()) {
        self.path = path
        self.limits = limits
    }

    /// The tables at a path: the file itself, or the files of a folder that end in `.csv`, by name.
    ///
    /// - Throws: ``ImportError`` if there is none.
    package static func tables(at path: String) throws -> [String] {
        guard case .folder = try FileReader.kind(of: path) else { return [path] }
        let folder = URL(fileURLWithPath: path)
        // Every failure means that the folder cannot be opened.
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw ImportError(.unreadable, path: path, "the folder cannot be opened")
        }
        let names = entries.filter { $0.lowercased().hasSuffix(".csv") }.sorted()
        guard !names.isEmpty else {
            throw ImportError(
                .nothingToRead, path: path, "no file in it has a name that ends in .csv")
        }
        return names.map { folder.appendingPathComponent($0).path }
    }

    /// Reads the table to its end, in the order of the lines; blocks the thread while it waits for
    /// input.
    ///
    /// - Parameter body: Called with each event; an error that it throws ends the reading.
    /// - Throws: ``ImportError`` with the line at fault, or what `body` throws.
    package func read(_ body: (PostingEvent) throws -> Void) throws {
        var splitter = CSVSplitter(maximumBytes: limits.lineBytes)
        var columns: EventColumns?
        var events = 0
        func take(_ record: CSVRecord) throws {
            guard let eventColumns = columns else {
                columns = try EventColumns(header: record)
                return
            }
            try body(try eventColumns.event(in: record))
            events += 1
        }
        do {
            let (stream, head) = try FileReader.text(at: path, expecting: "a table (CSV)")
            try stream.forEachChunk(after: head) { chunk in
                try splitter.feed(chunk, take)
                return true
            }
            try splitter.finish(take)
        } catch let fault as CSVFault {
            throw ImportError(.malformed, path: path, "line \(fault.line): \(fault.reason)")
        }
        guard columns != nil else { throw ImportError(.nothingToRead, path: path, "it is empty") }
        guard events > 0 else {
            throw ImportError(
                .nothingToRead, path: path, "it names its columns but holds no events")
        }
    }
}

extension ImportError.Code {
    /// A table with a line that cannot be read.
    package static let malformed = Self(rawValue: "malformed")
}

/// The positions of the table's columns.
private struct EventColumns {
    private let count: Int
    private let authorIndex: Int
    private let timestampIndex: Int

    /// - Throws: ``CSVFault`` unless each of the two columns is named exactly once.
    init(header: CSVRecord) throws(CSVFault) {
        let line = header.line
        var names: [String] = []
        for index in 0..<header.count {
            guard let name = Self.text(of: header[index]) else {
                throw CSVFault(line: line, reason: "it is not valid UTF-8; save the table as UTF-8")
            }
            names.append(name.lowercased())
        }
        count = names.count
        authorIndex = try Self.index(of: "author", in: names, line: line)
        timestampIndex = try Self.index(of: "timestamp", in: names, line: line)
    }

    private static func index(of name: String, in names: [String], line: Int) throws(CSVFault)
        -> Int
    {
        guard let index = names.firstIndex(of: name) else {
            throw CSVFault(
                line: line,
                reason:
                    "there is no column \(name); the first line names the columns, as author,timestamp does"
            )
        }
        guard names.lastIndex(of: name) == index else {
            throw CSVFault(line: line, reason: "there are two columns \(name)")
        }
        return index
    }

    func event(in record: CSVRecord) throws(CSVFault) -> PostingEvent {
        func fault(_ reason: String) -> CSVFault { CSVFault(line: record.line, reason: reason) }
        guard record.count == count else {
            throw fault(
                "the number of its fields is \(record.count), that of the first line \(count)")
        }
        guard let author = Self.text(of: record[authorIndex]) else {
            throw fault("author is not valid UTF-8")
        }
        guard !author.isEmpty else { throw fault("author is empty") }
        guard author.utf8.count <= EventTableReader.maximumAuthorBytes else {
            throw fault("author is longer than \(EventTableReader.maximumAuthorBytes) bytes")
        }
        guard let text = Self.text(of: record[timestampIndex]), let date = Date(rfc3339: text),
            let time = Self.time(asWrittenIn: text)
        else {
            throw fault(
                "timestamp is no date from 1970 to 9999 as in RFC 3339 with an offset; "
                    + "expected one such as 2026-11-20T08:15:30+09:00")
        }
        return PostingEvent(author: author, date: date, time: time)
    }

    /// The text of a field without spaces around it; nil if it is not valid UTF-8.
    private static func text(of field: ArraySlice<UInt8>) -> String? {
        func isBlank(_ byte: UInt8) -> Bool { byte == Byte.space || byte == Byte.tab }
        let start = field.firstIndex { !isBlank($0) } ?? field.endIndex
        let end = field.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        return String(validating: field[start..<end], as: UTF8.self)
    }

    /// The local date and time of a valid timestamp, without applying its offset.
    private static func time(asWrittenIn text: String) -> LocalTime? {
        let dateAndTime = Array(text.utf8.prefix(16))
        guard dateAndTime.count == 16, let day = LocalDay(text.prefix(10)),
            let hour = Int(String(decoding: dateAndTime[11..<13], as: UTF8.self)),
            let minute = Int(String(decoding: dateAndTime[14..<16], as: UTF8.self))
        else { return nil }
        return LocalTime(day: day, minute: MinuteOfDay(hour: hour, minute: minute))
    }
}

/// One record of a table: its fields without their quotes.
struct CSVRecord {
    /// The line on which the record begins, from 1.
    let line: Int
    fileprivate let bytes: [UInt8]
    /// The end of each field in ``bytes``.
    fileprivate let ends: [Int]

    /// The number of fields, at least 1.
    var count: Int { ends.count }

    /// The bytes of a field.
    subscript(index: Int) -> ArraySlice<UInt8> {
        bytes[(index > 0 ? ends[index - 1] : 0)..<ends[index]]
    }
}

/// The reason why a table cannot be read any further.
struct CSVFault: Error, Equatable {
    /// The line on which the record begins, from 1.
    var line: Int
    var reason: String
}

/// Splits a stream of bytes into records of comma-separated values (RFC 4180); holds one record at
/// a time.
///
/// Lines end in LF, CR LF or CR; empty ones are skipped. The first line may begin with a byte order
/// mark.
struct CSVSplitter {
    private enum State { case fieldStart, plain, quoted, afterQuote }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let maximumBytes: Int
    private var state = State.fieldStart
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var size = 0
    private var line = 1
    private var recordLine = 1
    private var isAfterCarriageReturn = false
    /// The number of bytes of a byte order mark read so far; nil after the mark, or if there is
    /// none.
    private var markLength: Int? = 0

    /// - Parameter maximumBytes: The longest record.
    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Reads the next bytes and passes on the records that end in them.
    ///
    /// - Throws: ``CSVFault``, or what `body` throws; then no more bytes can be fed.
    mutating func feed(_ chunk: UnsafeRawBufferPointer, _ body: (CSVRecord) throws -> Void) throws {
        for byte in chunk {
            guard let length = markLength else {
                try take(byte, body)
                continue
            }
            if byte == Self.byteOrderMark[length] {
                markLength = length + 1 < Self.byteOrderMark.count ? length + 1 : nil
            } else {
                markLength = nil
                for byte in Self.byteOrderMark[..<length] + [byte] { try take(byte, body) }
            }
        }
    }

    /// Passes on the last record, if no line break follows it.
    ///
    /// - Throws: ``CSVFault``, or what `body` throws.
    mutating func finish(_ body: (CSVRecord) throws -> Void) throws {
        if state == .quoted { throw fault(localized("a quote is not closed")) }
        if size > 0 { try endRecord(body) }
    }

    private mutating func take(_ byte: UInt8, _ body: (CSVRecord) throws -> Void) throws {
        let isSecondByteOfBreak = isAfterCarriageReturn && byte == Byte.lineFeed
        isAfterCarriageReturn = byte == Byte.carriageReturn
        if !isSecondByteOfBreak, byte == Byte.lineFeed || byte == Byte.carriageReturn { line += 1 }
        if state != .quoted, byte == Byte.lineFeed || byte == Byte.carriageReturn {
            if !isSecondByteOfBreak { try endRecord(body) }
            return
        }
        size += 1
        guard size <= maximumBytes else {
            throw fault(localized("it is longer than \(maximumBytes) bytes"))
        }
        switch (state, byte) {
        case (.quoted, Byte.quote): state = .afterQuote
        case (.quoted, _): bytes.append(byte)
        case (_, Byte.comma): endField()
        case (.fieldStart, Byte.quote): state = .quoted
        case (.afterQuote, Byte.quote):
            bytes.append(byte)
            state = .quoted
        case (.afterQuote, _):
            throw fault(localized("something other than a comma follows a closing quote"))
        case (.plain, Byte.quote):
            throw fault(localized("a quote stands inside a field that does not begin with one"))
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
