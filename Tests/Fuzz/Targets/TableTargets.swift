import Foundation
import Posts

@testable import Import

/// Tables of events.
extension FuzzTarget {
    static let tables = [csvSplitter, eventTable]

    private static let csvSplitter = FuzzTarget(
        "csv-splitter",
        texts: [
            "a,b\n1,2\n", "\u{FEFF}\"a\",\"b \"\"c\"\"\"\r\n\"x\ny\",\r\r\n,z", "a,\"unclosed\nb",
            "a\"b,c", "\"a\"b",
            String(repeating: "long,", count: 300) + "\nx",
        ],
        words: ["\"\"", ",\"", "\",", "\r\n", "\r", "\n\n", "\u{FEFF}"]
    ) { text in
        func records(of size: Int) -> [String] {
            var records: [String] = []
            var splitter = CSVSplitter(maximumBytes: smallLimits.lineBytes)
            func take(_ record: CSVRecord) {
                records.append("\(record.line) \((0..<record.count).map { Array(record[$0]) })")
            }
            do {
                for chunk in Array(text.utf8).chunks(of: size) {
                    try chunk.withUnsafeBytes { try splitter.feed($0, take) }
                }
                try splitter.finish(take)
            } catch {
                records.append("\(error)")
            }
            return records
        }
        let whole = records(of: .max)
        for size in [1, 7] {
            try hold(records(of: size) == whole, "the pieces that records arrive in do not matter")
        }
        let breaks = text.utf8.count { $0 == 0x0A || $0 == 0x0D }
        try hold(whole.count <= breaks + 1, "a record ends at a line break")
    }

    private static let eventTable = FuzzTarget(
        "event-table",
        texts: [
            "author,timestamp\nada,2026-11-20T08:15:30+09:00\n\"b, c\",2026-11-19T23:15:30Z\n",
            "\u{FEFF}kind,TIMESTAMP,author\r\ncommit, 2005-04-12T08:04:17-07:00 ,G01\r\n",
            "timestamp,author\n9999-12-31T23:59:60-23:59,x", "author,timestamp,author\n",
        ],
        words: [
            "author", "timestamp", "author,timestamp\n", "2026-11-20T08:15:30+09:00", "T23:59:60",
            "-23:59", ",\"",
            "\"\"",
            "\r\n", "\u{FEFF}",
        ]
    ) { text in
        let file = try ScratchFile(Array(text.utf8))
        do {
            var count = 0
            try EventTableReader(path: file.path, limits: smallLimits).read { event in
                count += 1
                try holdEvent(event)
            }
            try hold(count > 0, "a table without events is refused")
        } catch let error as ImportError {
            try holdPrintable(error.reason, "a refusal", atMost: 300)
            try hold(!error.reason.isEmpty, "a refusal has a reason")
        }
    }

    private static func holdEvent(_ event: PostingEvent) throws {
        let bytes = event.author.utf8.count
        try hold(
            bytes > 0 && bytes <= EventTableReader.maximumAuthorBytes,
            "an author has a name of bounded length")
        let shown = Double(event.time.day.ordinal) * 86_400 + Double(event.time.minute.value) * 60
        let offset = shown - event.date.timeIntervalSince1970
        try hold(abs(offset) <= 86_400, "a clock is not more than a day away from UTC")
    }
}
