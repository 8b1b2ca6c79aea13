import Formats
package import Foundation
import Localization
package import Posts

/// Reads JSON Lines, one object on each line, from a file, a pipe or standard input.
///
/// `id`, `author`, `text` and `created_at` (RFC 3339) are the fields of every line; `favorite`,
/// `reply_to_author`, `reply_to_post`, `visibility`, `language` and `source` may follow. Unknown
/// fields are ignored. The classifier and the examination of texts also accept lines without
/// `author` or `created_at`.
package struct JSONLinesReader: Sendable {
    private let path: String
    private let purpose: ImportPurpose
    private let network: NetworkName
    private let localHost: String?
    private let limits: ImportLimits
    private let now: Date

    /// - Parameters:
    ///   - path: A path, or `-` for standard input.
    ///   - network: The network of ids and names.
    ///   - localHost: The host of names without one; if it is nil, such names are problems on
    ///     Mastodon.
    ///   - limits: The length of a line and the number of problems.
    ///   - now: The present, the latest possible time of a post.
    package init(
        path: String, purpose: ImportPurpose, network: NetworkName, localHost: String?,
        limits: ImportLimits = ImportLimits(), now: Date = Date()
    ) {
        self.path = path
        self.purpose = purpose
        self.network = network
        self.localHost = localHost
        self.limits = limits
        self.now = now
    }

    /// Reads the input to its end; blocks the thread while it waits for more.
    ///
    /// - Parameter body: Called with each item; an error that it throws ends the reading.
    /// - Throws: ``ImportError`` if the input cannot be opened or read, or has no usable line.
    package func read(_ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        try read { line, summary in try passOn(try JSONLine(line), to: body, counting: &summary) }
    }

    /// Reads labels of texts: `id`, `fit` (true or false) and `reason`, the name of a rule.
    ///
    /// - Throws: As ``read(_:)``.
    package func readLabels(_ body: (TextLabel) -> Void) throws -> ImportSummary {
        try read { line, summary in
            let fields = try line.object()
            guard let isFit = try fields.optional("fit", \.truth) else {
                throw ItemFault(localized("fit is missing"))
            }
            body(
                TextLabel(
                    id: try fields.required("id"), isFit: isFit,
                    reason: try fields.optional("reason", \.text)))
            summary.posts += 1
        }
    }

    /// Reads a stream whose first bytes were read already.
    func read(
        _ stream: FileReader, after head: [UInt8], _ body: (ArchiveItem) throws -> Void
    ) throws -> ImportSummary {
        try read(stream, after: head) { line, summary in
            try passOn(try JSONLine(line), to: body, counting: &summary)
        }
    }

    private func read(_ take: (JSON, inout ImportSummary) throws -> Void) throws -> ImportSummary {
        let (stream, head) = try FileReader.text(at: path, expecting: "JSON Lines")
        return try read(stream, after: head, take)
    }

    private func read(
        _ stream: FileReader, after head: [UInt8],
        _ take: (JSON, inout ImportSummary) throws -> Void
    ) throws -> ImportSummary {
        var summary = ImportSummary(format: ImportSummary.lines)
        var splitter = LineSplitter(maximumBytes: limits.lineBytes)
        var lines = 0
        func use(_ line: SplitLine) throws {
            do {
                guard let bytes = try Self.json(of: line) else { return }
                try take(try JSON(bytes), &summary)
                lines += 1
            } catch let fault as ItemFault {
                let problem = ImportProblem(
                    file: path, position: .line(line.number), reason: fault.reason)
                summary.report(problem, limit: limits.problems)
            }
        }
        try stream.forEachChunk(after: head) { chunk in
            try splitter.feed(chunk, use)
            return true
        }
        try splitter.finish(use)
        guard lines > 0 else { throw nothingToRead(summary) }
        return summary
    }

    private func nothingToRead(_ summary: ImportSummary) -> ImportError {
        let reason =
            summary.problems.first.map {
                localized("no line of it can be read: \($0)")
            } ?? localized("it holds no lines")
        return ImportError(.nothingToRead, path: path, reason)
    }

    /// The bytes of a line, without a byte order mark before the first line; nil for a blank line.
    private static func json(of line: SplitLine) throws(ItemFault) -> [UInt8]? {
        var bytes = try line.content.get()
        if line.number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        return bytes.allSatisfy(Byte.isWhitespace) ? nil : bytes
    }

    private func passOn(
        _ line: JSONLine, to body: (ArchiveItem) throws -> Void,
        counting summary: inout ImportSummary
    ) throws {
        switch purpose {
        case .scheduler, .texts:
            try body(.post(try post(line)))
            summary.posts += 1
        case .classifier:
            guard let isFavorite = line.favorite else {
                summary.unlabelled += 1
                return
            }
            guard line.audience.isOpen else {
                summary.notOpen += 1
                return
            }
            let text = line.spacedText
            guard !text.isEmpty else {
                summary.withoutText += 1
                return
            }
            let example = ImportedExample(
                id: PostID(network: network, value: line.id),
                author: try line.author.map { try account($0).value },
                text: text, createdAt: line.createdAt)
            try body(isFavorite ? .favorite(example) : .normal(example))
            if isFavorite { summary.favorites += 1 } else { summary.normals += 1 }
        }
    }

    private func post(_ line: JSONLine) throws(ItemFault) -> Post {
        let examinesOnly = purpose == .texts
        guard let author = line.author ?? (examinesOnly ? "somebody" : nil) else {
            throw ItemFault(localized("author is missing"))
        }
        guard line.createdAt != nil || line.isTimeUnknown || examinesOnly else {
            throw ItemFault(localized("created_at is missing"))
        }
        let time = PostTime(line.createdAt, noticedAt: now)
        let answered = line.replyToPost.map { PostID(network: network, value: $0) }
        let answeredAuthor = try line.replyToAuthor.map { name throws(ItemFault) in
            try account(name)
        }
        var post = Post(
            id: PostID(network: network, value: line.id), author: try account(author),
            text: line.text,
            createdAt: time.date, isTimeTrusted: time.isTrusted,
            replyTo: answered == nil && answeredAuthor == nil
                ? nil : ReplyTarget(author: answeredAuthor, post: answered),
            visibility: line.audience.visibility, language: line.language, client: line.source,
            utcOffset: line.utcOffset)
        post.isTimeLimited = line.audience.isTimeLimited
        return post
    }

    private func account(_ name: String) throws(ItemFault) -> AccountID {
        let withoutSign = name.drop { $0 == "@" }.lowercased()
        guard !withoutSign.isEmpty else {
            throw ItemFault(localized("the name of a person is empty"))
        }
        // A name stays without a host if the host is unknown. It is then different from the name of
        // every account, so nobody is answered by mistake.
        guard network.traits.namesAreIdentities, let localHost else {
            return AccountID(network: network, value: withoutSign)
        }
        return AccountID(name: withoutSign, localHost: localHost, on: network)
    }
}

/// A person's label of a text: whether the text can be understood by itself, and if not, why.
package struct TextLabel: Equatable, Sendable {
    package let id: String
    package let isFit: Bool
    package let reason: String?
}

/// A validated line of JSON Lines.
private struct JSONLine {
    /// The longest text of a post, in bytes; a longer text is an error.
    private static let maximumTextBytes = 100_000

    let id: String
    let author: String?
    /// The text in the file, including control characters.
    private let original: String
    let createdAt: Date?
    /// Whether the line says that the time is unknown.
    let isTimeUnknown: Bool
    let utcOffset: Int?
    let favorite: Bool?
    let replyToAuthor: String?
    let replyToPost: String?
    let audience: PostAudience
    let language: String?
    let source: String?

    init(_ line: JSON) throws(ItemFault) {
        let fields = try line.object()
        id = try Self.checked(try fields.required("id"), field: "id")
        author = try Self.oneWord(of: "author", in: fields)
        original = try fields.required("text")
        guard original.utf8.count <= Self.maximumTextBytes else {
            throw ItemFault(localized("text is longer than \(Self.maximumTextBytes) bytes"))
        }
        let time = try fields.optional("created_at", \.text)
        let date = time.flatMap { Date(rfc3339: $0) }
        // Some programs write these values for an unknown time.
        let isUnknown = time?.isEmpty == true || time?.hasPrefix("0001-") == true
        createdAt = date
        isTimeUnknown = isUnknown
        utcOffset = time.flatMap { Date.utcOffset(rfc3339: $0) }
        guard time == nil || isUnknown || date != nil else {
            throw ItemFault(localized("created_at is not a time such as 2026-11-20T08:15:30+09:00"))
        }
        favorite = try fields.optional("favorite", \.truth)
        replyToAuthor = try Self.oneWord(of: "reply_to_author", in: fields)
        replyToPost = try Self.oneWord(of: "reply_to_post", in: fields)
        _ = try fields.optional("visibility", \.text)
        var audience = PostAudience(note: fields)
        // A line that names no audience is public.
        audience.narrow(to: .public)
        self.audience = audience
        language = try fields.optional("language", \.text).flatMap(LanguageTag.naming)
        source = try fields.optional("source", \.text).map { String($0.prefix(200)) }
        var keys: Set<String> = []
        for (key, _) in fields.members where !keys.insert(key).inserted {
            throw ItemFault(localized("\(MemberName.shown(key)) is there twice"))
        }
    }

    /// The text for posting, without control characters.
    var text: String { PlainText.cleaned(original) }

    /// The text for the classifier, with control characters treated as spaces.
    ///
    /// Some wrong conversions replace apostrophes by control characters; removing these would join
    /// `it` and `s` to one word.
    var spacedText: String {
        var scalars = String.UnicodeScalarView()
        for scalar in original.unicodeScalars {
            let isKept =
                scalar == "\n" || scalar == "\t" || scalar.properties.generalCategory != .control
            scalars.append(isKept ? scalar : " ")
        }
        return PlainText.cleaned(String(scalars))
    }

    /// The value of a key, which must be one word; nil if it is missing.
    private static func oneWord(
        of key: StaticString, in fields: JSON
    ) throws(ItemFault) -> String? {
        guard let text = try fields.optional(key, \.text) else { return nil }
        return try checked(text, field: key)
    }

    /// Checks an id, an address or a person's name, which must be one word.
    private static func checked(
        _ text: String, field: StaticString
    ) throws(ItemFault) -> String {
        guard ActorAddress.isOneWord(text) else {
            throw ItemFault(localized("\(field) is empty, too long or not one word"))
        }
        return text
    }
}

/// One line of a file without its line break, or the reason why it cannot be used.
struct SplitLine {
    /// The number of the line, from 1.
    var number: Int
    var content: Result<[UInt8], ItemFault>
}

/// Splits a stream of bytes into lines that end in LF or CR LF; holds one line at a time.
struct LineSplitter {
    private let maximumBytes: Int
    private var line: [UInt8] = []
    private var number = 1
    private var isTooLong = false

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Reads the next bytes and passes on the lines that end in them.
    mutating func feed(_ chunk: UnsafeRawBufferPointer, _ body: (SplitLine) throws -> Void) rethrows
    {
        var start = 0
        while let end = chunk[start...].firstIndex(of: Byte.lineFeed) {
            append(chunk[start..<end])
            try emit(body)
            start = end + 1
        }
        append(chunk[start...])
    }

    /// Passes on the last line, if no line break follows it.
    mutating func finish(_ body: (SplitLine) throws -> Void) rethrows {
        if !line.isEmpty || isTooLong { try emit(body) }
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) {
        // A CR at the end does not count, so one more byte is allowed here.
        if line.count + bytes.count > maximumBytes + 1 { isTooLong = true }
        if isTooLong {
            line.removeAll(keepingCapacity: true)
        } else {
            line.append(contentsOf: bytes)
        }
    }

    private mutating func emit(_ body: (SplitLine) throws -> Void) rethrows {
        if line.last == Byte.carriageReturn { line.removeLast() }
        let isTooLong = isTooLong || line.count > maximumBytes
        let content: Result<[UInt8], ItemFault> =
            isTooLong
            ? .failure(ItemFault(localized("is longer than \(maximumBytes) bytes")))
            : .success(line)
        defer {
            line.removeAll(keepingCapacity: true)
            self.isTooLong = false
            number += 1
        }
        try body(SplitLine(number: number, content: content))
    }
}
