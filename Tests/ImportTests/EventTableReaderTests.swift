import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Import

/// Tables of events, as other tools write them and as nobody should.
@Suite struct EventTableReaderTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func events(_ text: String, limits: ImportLimits = ImportLimits()) throws
        -> [PostingEvent]
    {
        try events(bytes: Array(text.utf8), limits: limits)
    }

    private func events(bytes: [UInt8], limits: ImportLimits = ImportLimits()) throws
        -> [PostingEvent]
    {
        let path = try directory.write(Data(bytes), to: "events.csv")
        var events: [PostingEvent] = []
        try EventTableReader(path: path, limits: limits).read { events.append($0) }
        return events
    }

    /// What the reader says of a table, without the path.
    private func refusal(_ text: String, limits: ImportLimits = ImportLimits()) -> String {
        refusal(bytes: Array(text.utf8), limits: limits)
    }

    private func refusal(bytes: [UInt8], limits: ImportLimits = ImportLimits()) -> String {
        do {
            return "read \(try events(bytes: bytes, limits: limits).count) events"
        } catch let error as ImportError {
            #expect(error.path == directory.path("events.csv"))
            let isOther = error.reason.hasPrefix("it is written as")
            let ofNoLine = isOther ? ImportError.Code.notAnArchive : .nothingToRead
            #expect(error.code == (error.reason.hasPrefix("line ") ? .malformed : ofNoLine))
            return error.reason
        } catch {
            return "another error: \(error)"
        }
    }

    @Test func readsAuthorsInstantsAndWhatTheirClocksShowed() throws {
        let events = try events(
            """
            author,timestamp
            ada,2026-11-20T08:15:30+09:00
            bob,2026-11-19T23:15:30Z
            """)
        #expect(events.map(\.author) == ["ada", "bob"])
        #expect(events[0].date == events[1].date)
        #expect(events[0].date == Date(rfc3339: "2026-11-19T23:15:30Z"))
        #expect(events.map(\.time.day.description) == ["2026-11-20", "2026-11-19"])
        #expect(events.map(\.time.minute.description) == ["08:15", "23:15"])
    }

    @Test(arguments: [
        ("2026-11-20T00:00:00-11:30", "2026-11-20 00:00"),
        ("2026-11-20T23:59:60+14:00", "2026-11-20 23:59"),
        ("2026-02-28t23:59:59.999999z", "2026-02-28 23:59"),
        ("2026-11-20 12:34:56-00:00", "2026-11-20 12:34"),
        ("9999-12-31T23:59:59-12:00", "9999-12-31 23:59"),
        ("1970-01-01T00:00:00+14:00", "1970-01-01 00:00"),
    ])
    func timesAreTakenAtTheirOwnOffset(_ timestamp: String, _ shown: String) throws {
        let event = try #require(try events("author,timestamp\nada,\(timestamp)").first)
        #expect("\(event.time.day) \(event.time.minute)" == shown)
    }

    @Test func columnsAreFoundByName() throws {
        let events = try events(
            "kind,TimeStamp , split,Author\ncommit,2026-11-20T08:15:30Z,train,ada\n,2026-11-21T08:15:30Z,,bob\n"
        )
        #expect(events.map(\.author) == ["ada", "bob"])
        #expect(events.map(\.time.day.description) == ["2026-11-20", "2026-11-21"])
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func lineBreaksOfEverySystemAreFine(_ end: String) throws {
        let lines = [
            "", "author,timestamp", "ada,2026-11-20T08:15:30Z", "", "bob,2026-11-20T08:15:30Z", "",
            "",
        ]
        try expect(events(lines.joined(separator: end)).map(\.author), equals: ["ada", "bob"])
        try expect(events(lines.prefix(3).joined(separator: end)).map(\.author), equals: ["ada"])
        #expect(
            refusal((lines + ["x"]).joined(separator: end))
                == "line 8: the number of its fields is 1, that of the first line 2")
    }

    @Test func quotedFieldsHoldWhatTheyLike() throws {
        let events = try events(
            "\u{FEFF}\"author\",\"timestamp\"\r\n\"a, \"\"b\"\"\r\nc\",2026-11-20T08:15:30Z\r\n\"\u{1B}[2J日本\","
                + "\"2026-11-20T08:15:30Z\"")
        #expect(events.map(\.author) == ["a, \"b\"\r\nc", "\u{1B}[2J日本"])
    }

    @Test func spacesAroundFieldsDoNotCount() throws {
        try expect(
            events("author , timestamp\n ada\t,  2026-11-20T08:15:30Z ").map(\.author),
            equals: ["ada"])
    }

    @Test(arguments: [
        ("", "it is empty"), ("\n\r\n\n", "it is empty"), ("\u{FEFF}", "it is empty"),
        ("author,timestamp\n", "it names its columns but holds no events"),
        ("name,timestamp\n", "line 1: there is no column author; "),
        ("author,time\n", "line 1: there is no column timestamp; "),
        ("author;timestamp\n", "line 1: there is no column author; "),
        ("ada,2026-11-20T08:15:30Z\n", "line 1: there is no column author; "),
        ("author,timestamp,author\n", "line 1: there are two columns author"),
        (
            "author,timestamp\nada\n",
            "line 2: the number of its fields is 1, that of the first line 2"
        ),
        (
            "author,timestamp\n\nada,2026-11-20T08:15:30Z,x\n",
            "line 3: the number of its fields is 3, that of the first line 2"
        ),
        ("author,timestamp\n,2026-11-20T08:15:30Z\n", "line 2: author is empty"),
        ("author,timestamp\n\"  \",2026-11-20T08:15:30Z\n", "line 2: author is empty"),
        ("author,timestamp\n\"ada,2026-11-20T08:15:30Z\nbob", "line 2: a quote is not closed"),
        (
            "author,timestamp\n\"ada\"x,1\n",
            "line 2: something other than a comma follows a closing quote"
        ),
        (
            "author,timestamp\na\"da,1\n",
            "line 2: a quote stands inside a field that does not begin with one"
        ),
    ])
    func saysWhereAndWhyATableCannotBeRead(_ text: String, _ reason: String) {
        #expect(refusal(text).hasPrefix(reason))
    }

    @Test(arguments: [
        "", "yesterday", "2026-11-20", "2026-11-20T08:15:30", "2026-02-30T08:15:30Z",
        "2026-11-20T24:00:00Z", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
        "10000-01-01T00:00:00Z",
        "-2026-11-20T08:15:30Z", "2026-11-20T08:15:30+9:00", "２０２６-11-20T08:15:30Z",
        "2026-11-20T08:15:30Z" + String(repeating: " x", count: 1_000),
    ])
    func aDateThatIsNoneEndsTheReading(_ timestamp: String) {
        let found = refusal(
            "author,timestamp\nada,2026-11-20T08:15:30Z\n\"two\nlines\",\(timestamp)\n")
        #expect(found.hasPrefix("line 3: timestamp is no date from 1970 to 9999"))
        #expect(!found.contains("x x"), "the field is quoted")
    }

    @Test func bytesThatAreNoTextAreNamed() {
        let header = Array("author,timestamp\n".utf8)
        let time = Array(",2026-11-20T08:15:30Z\n".utf8)
        #expect(
            refusal(bytes: header + [0xFF, 0xFE] + time) == "line 2: author is not valid UTF-8")
        // As some spreadsheets save it.
        let wide: [UInt8] =
            [0xFF, 0xFE] + "author,timestamp\n".utf8.flatMap { byte -> [UInt8] in [byte, 0] }
        #expect(refusal(bytes: wide) == "it is written as UTF-16; save it as UTF-8")
    }

    @Test func longLinesAndNamesAreRefused() throws {
        var limits = ImportLimits()
        limits.lineBytes = 64
        let line = "ada,2026-11-20T08:15:30Z"
        let fitting =
            "author,timestamp\n" + line + String(repeating: " ", count: 64 - line.utf8.count) + "\n"
        try expect(events(fitting, limits: limits).count, equals: 1)
        let long = fitting.dropLast() + " \n"
        #expect(refusal(String(long), limits: limits) == "line 2: it is longer than 64 bytes")
        #expect(
            refusal("author,timestamp\n\"" + String(repeating: "\n", count: 70), limits: limits)
                == "line 2: it is longer than 64 bytes")
        let name = String(repeating: "é", count: 500)
        try expect(
            events("author,timestamp\n\(name),2026-11-20T08:15:30Z").first?.author, equals: name)
        #expect(
            refusal("author,timestamp\n\(name)x,2026-11-20T08:15:30Z")
                == "line 2: author is longer than 1000 bytes")
    }

    @Test func whatIsReadDoesNotDependOnHowItArrives() throws {
        let text = Array("\u{FEFF}a,\"b\"\"\r\n\"\r\n\r\n,\n\"\",x\rlast".utf8)
        func records(of size: Int) throws -> [String] {
            var records: [String] = []
            var splitter = CSVSplitter(maximumBytes: 100)
            func take(_ record: CSVRecord) {
                let fields = (0..<record.count).map {
                    String(decoding: record[$0], as: UTF8.self).debugDescription
                }
                records.append("\(record.line): \(fields.joined(separator: "|"))")
            }
            for start in stride(from: 0, to: text.count, by: size) {
                try text[start..<min(start + size, text.count)].withUnsafeBytes {
                    try splitter.feed($0, take)
                }
            }
            try splitter.finish(take)
            return records
        }
        let whole = try records(of: text.count)
        #expect(whole == [#"1: "a"|"b\"\r\n""#, #"4: ""|"""#, #"5: ""|"x""#, #"6: "last""#])
        for size in 1..<8 { try expect(records(of: size), equals: whole) }
    }

    @Test func aPartOfAByteOrderMarkIsText() throws {
        var found: [[UInt8]] = []
        var splitter = CSVSplitter(maximumBytes: 100)
        let bytes: [UInt8] = [0xEF, 0xBB, 0x41, 0x0A, 0xEF, 0xBB, 0xBF]
        try bytes.withUnsafeBytes { try splitter.feed($0) { found.append(Array($0[0])) } }
        try splitter.finish { found.append(Array($0[0])) }
        #expect(found == [[0xEF, 0xBB, 0x41], [0xEF, 0xBB, 0xBF]])
    }

    @Test func aFolderStandsForItsTables() throws {
        for name in ["b.csv", "a.CSV", "notes.txt"] { try directory.write(Data(), to: name) }
        let tables = try EventTableReader.tables(at: directory.path)
        #expect(tables == [directory.path("a.CSV"), directory.path("b.csv")])
        try expect(
            EventTableReader.tables(at: directory.path("notes.txt")),
            equals: [directory.path("notes.txt")])
        try expect(EventTableReader.tables(at: "-"), equals: ["-"])
    }

    @Test func whatIsNotThereIsNamed() throws {
        let missing = directory.path("missing.csv")
        let error = #expect(throws: ImportError.self) {
            _ = try EventTableReader.tables(at: missing)
        }
        #expect(error?.code == .notFound)
        #expect(error?.path == missing)
        let empty = directory.path("empty")
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
        let none = #expect(throws: ImportError.self) { _ = try EventTableReader.tables(at: empty) }
        #expect(none?.reason == "no file in it has a name that ends in .csv")
        let folder = #expect(throws: ImportError.self) {
            try EventTableReader(path: empty).read { _ in }
        }
        #expect(folder?.code == .unreadable)
    }
}
