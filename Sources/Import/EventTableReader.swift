package import Foundation
package import Posts

/// When somebody posted, as a table of events tells it.
package struct PostingEvent: Equatable, Sendable {
    /// The name in the table, as it is written there.
    package var author: String
    /// The instant.
    package var date: Date
    /// What a clock showed at the offset that is written with the instant.
    package var time: PostingTime

    package init(author: String, date: Date, time: PostingTime) {
        self.author = author
        self.date = date
        self.time = time
    }
}

/// Reads tables of events: comma-separated values with the columns `author` and `timestamp`.
///
/// The first line names the columns, in any order and case; other columns are
/// passed over. A timestamp is one of RFC 3339 with an offset. One line that
/// cannot be read ends the reading, for figures about the rest would be false.
/// Memory stays flat however large the table is.
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
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw ImportError(.unreadable, path: path, "the folder cannot be opened")
        }
        let names = entries.filter { $0.lowercased().hasSuffix(".csv") }.sorted()
        guard !names.isEmpty else {
            throw ImportError(.nothingToRead, path: path, "no file in it has a name that ends in .csv")
        }
        return names.map { folder.appendingPathComponent($0).path }
    }

    /// Reads to the end, in the order of the file; blocks the thread while it waits for input.
    ///
    /// - Parameter body: Gets each event; an error that it throws ends the reading.
    /// - Throws: ``ImportError`` with the line at fault, or what `body` throws.
    package func read(_ body: (PostingEvent) throws -> Void) throws {
        var splitter = CSVSplitter(maximumBytes: limits.lineBytes)
        var columns: EventColumns?
        var events = 0
        func take(_ record: CSVRecord) throws {
            guard let known = columns else {
                columns = try EventColumns(header: record)
                return
            }
            try body(try known.event(in: record))
            events += 1
        }
        do {
            try FileReader(path: path).forEachChunk { chunk in
                try splitter.feed(chunk, take)
                return true
            }
            try splitter.finish(take)
        } catch let fault as CSVFault {
            throw ImportError(.malformed, path: path, "line \(fault.line): \(fault.reason)")
        }
        guard columns != nil else { throw ImportError(.nothingToRead, path: path, "it is empty") }
        guard events > 0 else {
            throw ImportError(.nothingToRead, path: path, "it names its columns but holds no events")
        }
    }
}

extension ImportError.Code {
    /// A table with a line that cannot be read.
    package static let malformed = Self(rawValue: "malformed")
}

/// Where the columns of a table stand.
private struct EventColumns {
    private let count: Int
    private let author: Int
    private let timestamp: Int

    /// - Throws: ``CSVFault`` unless both columns are named once.
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
        author = try Self.index(of: "author", in: names, line: line)
        timestamp = try Self.index(of: "timestamp", in: names, line: line)
    }

    private static func index(of name: String, in names: [String], line: Int) throws(CSVFault) -> Int {
        guard let index = names.firstIndex(of: name) else {
            throw CSVFault(
                line: line,
                reason: "there is no column \(name); the first line names the columns, as author,timestamp does")
        }
        guard names.lastIndex(of: name) == index else {
            throw CSVFault(line: line, reason: "there are two columns \(name)")
        }
        return index
    }

    func event(in record: CSVRecord) throws(CSVFault) -> PostingEvent {
        func fault(_ reason: String) -> CSVFault { CSVFault(line: record.line, reason: reason) }
        guard record.count == count else {
            throw fault("the number of its fields is \(record.count), that of the first line \(count)")
        }
        guard let author = Self.text(of: record[author]) else { throw fault("author is not valid UTF-8") }
        guard !author.isEmpty else { throw fault("author is empty") }
        guard author.utf8.count <= EventTableReader.maximumAuthorBytes else {
            throw fault("author is longer than \(EventTableReader.maximumAuthorBytes) bytes")
        }
        guard let text = Self.text(of: record[timestamp]), let date = Date(rfc3339: text),
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

    /// Date and time as they are written in a timestamp that is known to be one: its offset needs not be added.
    private static func time(asWrittenIn text: String) -> PostingTime? {
        let digits = Array(text.utf8.prefix(16))
        guard digits.count == 16, let day = LocalDay(text.prefix(10)),
            let hour = Int(String(decoding: digits[11..<13], as: UTF8.self)),
            let minute = Int(String(decoding: digits[14..<16], as: UTF8.self))
        else { return nil }
        return PostingTime(day: day, minute: MinuteOfDay(hour: hour, minute: minute))
    }
}
