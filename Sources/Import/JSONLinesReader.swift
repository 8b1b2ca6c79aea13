import Foundation
package import Posts

/// Reads JSON Lines, one object a line, from a file, a pipe or standard input.
///
/// `id`, `author`, `text` and `created_at` (RFC 3339) are the fields of every line; `favorite`, `reply_to_author`,
/// `reply_to_post`, `visibility` and `language` may follow. Unknown fields are passed over. For the classifier a line
/// without `author` or `created_at` is good enough.
package struct JSONLinesReader: Sendable {
    private let path: String
    private let purpose: ImportPurpose
    private let network: NetworkName
    private let localHost: String?
    private let limits: ImportLimits

    /// - Parameters:
    ///   - path: A path, or `-` for standard input.
    ///   - purpose: What the lines are read for.
    ///   - network: Where ids and names belong.
    ///   - localHost: Completes names without a host; without it such names are problems on Mastodon.
    ///   - limits: The length of a line and the number of problems.
    package init(
        path: String, purpose: ImportPurpose, network: NetworkName, localHost: String?,
        limits: ImportLimits = ImportLimits()
    ) {
        self.path = path
        self.purpose = purpose
        self.network = network
        self.localHost = localHost
        self.limits = limits
    }

    /// Reads to the end; blocks the thread while it waits for input.
    ///
    /// - Parameter body: Gets each item; an error that it throws ends the reading.
    /// - Returns: What was read and what was not.
    /// - Throws: ``ImportError`` if the input cannot be opened or read or holds no line that can be used.
    package func read(_ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        var summary = ImportSummary(format: "JSON Lines")
        var splitter = LineSplitter(maximumBytes: limits.lineBytes)
        var lines = 0
        let decoder = JSONDecoder()
        func take(_ line: SplitLine) throws {
            do {
                guard let bytes = try Self.json(of: line) else { return }
                try hand(over: try Self.decoded(bytes, decoder), to: body, &summary)
                lines += 1
            } catch let fault as ItemFault {
                let problem = ImportProblem(file: path, position: .line(line.number), reason: fault.reason)
                summary.report(problem, limit: limits.problems)
            }
        }
        try FileReader(path: path).forEachChunk { chunk in
            try splitter.feed(chunk, take)
            return true
        }
        try splitter.finish(take)
        guard lines > 0 else { throw nothing(summary) }
        return summary
    }

    private func nothing(_ summary: ImportSummary) -> ImportError {
        let reason = summary.problems.first.map { "no line of it can be read: \($0)" } ?? "it holds no lines"
        return ImportError(.nothingToRead, path: path, reason)
    }

    /// The bytes of a line that is not blank; a byte order mark may stand before the first.
    private static func json(of line: SplitLine) throws(ItemFault) -> [UInt8]? {
        var bytes = try line.content.get()
        if line.number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        return bytes.allSatisfy(Byte.isWhitespace) ? nil : bytes
    }

    private static func decoded(_ bytes: [UInt8], _ decoder: JSONDecoder) throws(ItemFault) -> JSONLine {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw ItemFault("not valid UTF-8") }
        do {
            let line = try decoder.decode(JSONLine.self, from: Data(bytes))
            if let key = JSONKeys.duplicate(in: bytes) {
                throw ItemFault("\(MemberName.shown(key)) is there twice")
            }
            return line
        } catch {
            throw ItemFault(error)
        }
    }

    private func hand(
        over line: JSONLine, to body: (ArchiveItem) throws -> Void, _ summary: inout ImportSummary
    ) throws {
        switch purpose {
        case .scheduler:
            try body(.post(try post(line)))
            summary.posts += 1
        case .classifier:
            guard let isFavorite = line.favorite else {
                summary.unlabelled += 1
                return
            }
            guard line.visibility.isOpen else {
                summary.notOpen += 1
                return
            }
            let text = line.spacedText
            guard !text.isEmpty else {
                summary.withoutText += 1
                return
            }
            let example = ImportedExample(
                id: PostID(network: network, value: line.id), author: try line.author.map { try account($0).value },
                text: text, createdAt: line.createdAt)
            try body(isFavorite ? .favorite(example) : .normal(example))
            if isFavorite { summary.favorites += 1 } else { summary.normals += 1 }
        }
    }

    private func post(_ line: JSONLine) throws(ItemFault) -> Post {
        guard let author = line.author else { throw ItemFault("author is missing") }
        guard let createdAt = line.createdAt else { throw ItemFault("created_at is missing") }
        let answered = line.replyToPost.map { PostID(network: network, value: $0) }
        let answeredAuthor = try line.replyToAuthor.map { name throws(ItemFault) in try account(name) }
        return Post(
            id: PostID(network: network, value: line.id), author: try account(author), text: line.text,
            createdAt: createdAt,
            replyTo: answered == nil && answeredAuthor == nil
                ? nil : ReplyTarget(author: answeredAuthor, post: answered),
            visibility: line.visibility, language: line.language)
    }

    private func account(_ name: String) throws(ItemFault) -> AccountID {
        let bare = name.drop { $0 == "@" }.lowercased()
        guard !bare.isEmpty else { throw ItemFault("the name of a person is empty") }
        // Without a host a name stays as it is. It equals nobody's on a server, so nobody is answered by mistake.
        guard network == .mastodon, let localHost else { return AccountID(network: network, value: bare) }
        return .mastodon(bare, localHost: localHost)
    }
}
