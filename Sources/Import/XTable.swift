import Formats
import Foundation
import Localization
import NetworkNames
import Posts

/// The table of posts in archives of X from 2013 to 2018: `tweets.csv`.
///
/// Its columns are `tweet_id`, `in_reply_to_status_id`, `in_reply_to_user_id`, `timestamp`,
/// `source`, `text`, `retweeted_status_id`, `retweeted_status_user_id`,
/// `retweeted_status_timestamp` and `expanded_urls`. The same archives contain the same posts as
/// JSON with more fields, so the table is read only if that JSON is missing.
enum XTable {
    static let name = "tweets.csv"
    private static let required = ["tweet_id", "timestamp", "text"]

    /// Whether the first line of a file has the column names of such a table.
    static func begins(_ head: ArraySlice<UInt8>) -> Bool {
        let line = head.prefix(1_000).prefix { $0 != Byte.lineFeed && $0 != Byte.carriageReturn }
        let names = line.split(separator: Byte.comma).map { field in
            String(decoding: field.filter { $0 != Byte.quote && $0 != Byte.space }, as: UTF8.self)
                .lowercased()
        }
        return required.allSatisfy(names.contains)
    }

    /// One line of the table.
    struct Row {
        fileprivate let columns: [String: Int]
        fileprivate let record: CSVRecord

        /// A field that is not empty; nil for an empty field, and for one that is not valid UTF-8.
        subscript(column: String) -> String? {
            guard let index = columns[column], index < record.count else { return nil }
            let text = String(validating: record[index], as: UTF8.self)
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// Reads the lines of a table one by one.
    final class Sink: MemberSink {
        private let file: String
        private let report: (ImportProblem) -> Void
        private let body: (Row) throws -> Void
        private var splitter: CSVSplitter
        private var columns: [String: Int]?
        private var isBroken = false

        /// - Parameters:
        ///   - file: The file's name in reported problems.
        ///   - limits: The length of a line.
        ///   - report: Called with each problem.
        ///   - body: Called with each line. An ``ItemFault`` that it throws becomes a problem, any
        ///     other error ends the reading.
        init(
            file: String, limits: ImportLimits, report: @escaping (ImportProblem) -> Void,
            body: @escaping (Row) throws -> Void
        ) {
            self.file = file
            self.report = report
            self.body = body
            splitter = CSVSplitter(maximumBytes: limits.lineBytes)
        }

        func feed(_ chunk: UnsafeRawBufferPointer) throws {
            try readUnlessBroken { try splitter.feed(chunk, take) }
        }

        func finish() throws { try readUnlessBroken { try splitter.finish(take) } }

        /// Reads a part of the table; reports the first broken line and ignores all that follows.
        private func readUnlessBroken(_ read: () throws -> Void) throws {
            guard !isBroken else { return }
            do {
                try read()
            } catch let fault as CSVFault {
                isBroken = true
                let reason = localized("\(fault.reason); nothing behind it was read")
                report(ImportProblem(file: file, position: .line(fault.line), reason: reason))
            }
        }

        private func take(_ record: CSVRecord) throws {
            guard let columns else { return try readColumns(record) }
            do {
                guard record.count == columns.count else {
                    throw ItemFault(
                        localized(
                            "the number of its fields is \(record.count), that of the first line \(columns.count)"
                        )
                    )
                }
                try body(Row(columns: columns, record: record))
            } catch let fault as ItemFault {
                report(
                    ImportProblem(file: file, position: .line(record.line), reason: fault.reason))
            }
        }

        private func readColumns(_ header: CSVRecord) throws {
            let names = (0..<header.count).map { index in
                String(decoding: header[index], as: UTF8.self).trimmingCharacters(in: .whitespaces)
                    .lowercased()
            }
            let columns = Dictionary(zip(names, names.indices)) { first, _ in first }
            guard columns.count == names.count else {
                throw CSVFault(line: header.line, reason: localized("a column is named twice"))
            }
            if let missing = XTable.required.first(where: { columns[$0] == nil }) {
                throw CSVFault(
                    line: header.line, reason: localized("there is no column \(missing)"))
            }
            self.columns = columns
        }
    }
}

extension XPostConverter {
    /// Converts a line of the table to a post.
    ///
    /// - Throws: ``ItemFault`` if it is no post.
    func post(_ row: XTable.Row) throws(ItemFault) -> Post {
        let id = try Self.id(row["tweet_id"], field: "tweet_id")
        guard let text = row["text"] else { throw ItemFault(localized("text is missing")) }
        let time = try Self.time(id: id, written: row["timestamp"], field: "timestamp")
        let isRepost = row["retweeted_status_id"] != nil || Self.isRepost(text)
        let addresses = (row["expanded_urls"] ?? "").split(separator: ",").map(String.init)
        let links = Self.links(in: text, to: addresses)
        let quoted = Self.quoted(by: text, links: links, of: id)
        let replacements = XLinkEntity.replacements(
            of: links, quoting: Set([quoted].compactMap(\.self)))
        let replyTo = isRepost ? nil : Self.replyTarget(row, text: text)
        return Post(
            id: PostID(network: .x, value: String(id)), author: owner,
            text: PlainText.fromX(text, links: replacements), createdAt: time.date,
            isTimeTrusted: time.isTrusted, replyTo: replyTo, isRepost: isRepost,
            hasMedia: addresses.contains(where: XLinkEntity.leadsToMedia), address: String(id),
            client: Self.client(row["source"]), isQuote: quoted != nil)
    }

    private static func replyTarget(_ row: XTable.Row, text: String) -> ReplyTarget? {
        func id(_ column: String) -> String? {
            row[column].flatMap { $0.utf8.allSatisfy(\.isASCIIDigit) ? $0 : nil }
        }
        let post = id("in_reply_to_status_id").map { PostID(network: .x, value: $0) }
        let author = id("in_reply_to_user_id").map { AccountID(network: .x, value: $0) }
        // The fields are empty if the answered post or account is gone; the leading name still
        // shows that it is a reply.
        let isReply = author != nil || post != nil || beginsWithName(text)
        return isReply ? ReplyTarget(author: author, post: post) : nil
    }

    /// The links of a text: its shortened addresses with the full addresses in the same order; none
    /// if the numbers differ.
    private static func links(in text: String, to addresses: [String]) -> [XLinkEntity] {
        var distinct: Set<String> = []
        let fullAddresses = addresses.filter { distinct.insert($0).inserted }
        let shortAddresses = text.split(whereSeparator: \.isWhitespace).flatMap { word in
            ["https://t.co/", "http://t.co/"].compactMap { start in
                word.range(of: start).map { range in
                    start
                        + word[range.upperBound...].prefix {
                            $0.isASCII && ($0.isLetter || $0.isNumber)
                        }
                }
            }
        }
        guard shortAddresses.count == fullAddresses.count else { return [] }
        return zip(shortAddresses, fullAddresses).map { short, full in
            XLinkEntity(short: short, expanded: full)
        }
    }
}
