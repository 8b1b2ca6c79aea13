import Foundation
import Posts

/// The export of an account's notes that Misskey makes, and Sharkey, Firefish and other servers that descend from it.
///
/// `notes-2023-01-31-12-00-00.json` is one list, from the oldest note to the newest. It does not say whose the notes are
/// or at which server they were made: both must be known from elsewhere.
struct MisskeyNotes: ArchiveFormat {
    /// The name for a single file, whatever it is called.
    static let name = "notes-.json"

    private let request: ImportRequest
    private let parts: [String]

    static func isPart(_ name: String) -> Bool {
        !name.contains("/") && name.hasPrefix("notes-") && name.hasSuffix(".json")
    }

    static func recognizes(_ parts: [String]) -> Bool { parts.contains(where: isPart) }

    /// Whether `wire` is a note as an export writes it.
    static func isNote(_ wire: JSON) -> Bool {
        wire["createdAt"] != nil && wire["visibility"] != nil && wire["replyId"] != nil && wire["renoteId"] != nil
    }

    init(_ request: ImportRequest, parts: [String]) {
        self.request = request
        self.parts = parts
    }

    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        guard request.purpose == .scheduler else {
            throw nothing("it holds no favorites; train the classifier from the account")
        }
        guard let owner = try owner() else {
            throw ImportError(
                .unsupported, path: request.path,
                "notes of Misskey do not say at which server they were made; log the human in before "
                    + "(mirror-bot login mastodon --as human)")
        }
        // The sinks live only during this call, but the compiler cannot see that.
        return try withoutActuallyEscaping(body) { body in
            let run = MisskeyRun(request, owner: owner, body: body)
            try source.read { Self.isPart($0) ? run.sink($0) : nil }
            guard run.summary.items > 0 || run.seen > 0 else { throw nothing(run.summary.causeOfNothing) }
            return run.summary
        }
    }

    /// Who is taken for the author; nil if nothing tells the server.
    private func owner() throws -> AccountID? {
        if let owner = request.owner, owner.network == .mastodon { return owner }
        let host = request.localHost ?? (request.isLookedAt ? "unknown.invalid" : nil)
        return host.map { .mastodon("unknown", localHost: $0) }
    }

    private func nothing(_ reason: String) -> ImportError { ImportError(.nothingToRead, path: request.path, reason) }
}

/// The reading of one export, and the counts.
private final class MisskeyRun {
    private let request: ImportRequest
    private let body: (ArchiveItem) throws -> Void
    private var converter: MisskeyNoteConverter
    private(set) var summary = ImportSummary(format: "Misskey notes")
    /// Notes that were read, whether or not they were handed over.
    private(set) var seen = 0

    init(_ request: ImportRequest, owner: AccountID, body: @escaping (ArchiveItem) throws -> Void) {
        self.request = request
        self.body = body
        converter = MisskeyNoteConverter(owner: owner, maximumOwnPosts: request.limits.ownPosts, now: request.now)
        if request.owner == owner { (summary.owner, summary.ownerName) = (owner, owner.value) }
    }

    func sink(_ name: String) -> any MemberSink {
        ListSink(
            file: MemberName.shown(name), splitter: DocumentSplitter(lists: [], limits: request.limits),
            report: { [self] in summary.report($0, limit: request.limits.problems) },
            body: { [self] wire in try take(try wire.object()) })
    }

    private func take(_ wire: JSON) throws {
        guard !MisskeyNoteConverter.isRepost(wire) else {
            seen += 1
            summary.reposts += 1
            return
        }
        let post = try converter.post(wire)
        seen += 1
        guard let post else {
            summary.notOpen += 1
            return
        }
        summary.posts += 1
        try body(.post(post))
    }
}

/// Makes posts of notes.
///
/// The fields are those that `ExportNotesProcessorService` of Misskey writes. Nearly every field may be missing; one of
/// another kind counts as missing.
struct MisskeyNoteConverter {
    let owner: AccountID
    /// How many of the owner's notes are remembered, to know an answer to one of them.
    let maximumOwnPosts: Int
    private let now: Date
    private let host: String
    private var ownPosts: Set<Int> = []

    /// - Parameter now: The present: nothing was made later.
    init(owner: AccountID, maximumOwnPosts: Int, now: Date) {
        self.owner = owner
        self.now = now
        self.maximumOwnPosts = maximumOwnPosts
        host = String(owner.value.drop { $0 != "@" }.dropFirst())
    }

    /// Whether the human repeated a note and said nothing about it.
    static func isRepost(_ wire: JSON) -> Bool {
        wire["renoteId"]?.name != nil && wire["text"]?.name == nil && wire["cw"]?.name == nil
            && wire["poll"]?.isObject != true && (wire["fileIds"]?.list ?? []).isEmpty
    }

    /// The post; nil for one that not everybody may read.
    ///
    /// - Throws: ``ItemFault`` for what is no note.
    mutating func post(_ wire: JSON) throws(ItemFault) -> Post? {
        guard let id = wire["id"]?.name, id.utf8.allSatisfy(\.isASCIIAlphanumeric) else {
            throw ItemFault("id is missing or not one word")
        }
        if ownPosts.count < maximumOwnPosts { ownPosts.insert(id.hashValue) }
        let audience = PostAudience(status: wire)
        guard audience.isOpen else { return nil }
        let time = PostTime(wire["createdAt"]?.name, keyed: PostTime.keyed(misskey: id), noticedAt: now)
        let text = PlainText.cleaned(MisskeyMarkup.plain(wire["text"]?.text ?? ""))
        let warning = PlainText.cleaned(wire["cw"]?.text ?? "")
        let files = wire["files"]?.list ?? []
        // A text is about what it quotes, as about a picture.
        let hasOther = wire["poll"]?.isObject == true || wire["renoteId"]?.name != nil
        let isUnknown = (wire["fileIds"]?.list ?? []).count > files.count
        return Post(
            id: address(of: id), author: owner, text: text, createdAt: time.date, isTimeTrusted: time.isTrusted,
            replyTo: replyTarget(wire, text), visibility: audience.visibility,
            hasMedia: hasOther || isUnknown || !files.isEmpty,
            isSensitive: !warning.isEmpty || files.contains { $0["isSensitive"]?.truth == true },
            warning: warning.isEmpty ? nil : warning,
            pictures: Picture.all(files.map(Self.picture), besides: hasOther || isUnknown))
    }

    /// The address by which other servers know a note.
    private func address(of id: String) -> PostID { PostID(network: .mastodon, value: "https://\(host)/notes/\(id)") }

    /// Only its id is told of an answered note; the name that the answer begins with is its author's.
    private func replyTarget(_ wire: JSON, _ text: String) -> ReplyTarget? {
        guard let answered = wire["replyId"]?.name else { return nil }
        if ownPosts.contains(answered.hashValue) { return ReplyTarget(author: owner, post: address(of: answered)) }
        guard text.hasPrefix("@") else { return ReplyTarget(author: nil) }
        let word = text.prefix { !$0.isWhitespace }
        return ReplyTarget(
            author: ActorAddress.name(String(word)).map { .mastodon($0.user, localHost: $0.host ?? host) })
    }

    private static func picture(_ wire: JSON) -> Picture? {
        guard ["image/jpeg", "image/png", "image/webp"].contains(wire["type"]?.text ?? "") else { return nil }
        let size = wire["properties"]
        let picture = Picture(
            url: wire["url"]?.name, alt: wire["comment"]?.text ?? "", width: size?["width"]?.integer,
            height: size?["height"]?.integer
        ).cleaned
        return picture.url == nil ? nil : picture
    }
}

/// The markup of Misskey, MFM, as far as a plain text must do without it: functions, tags and links with words.
///
/// Its syntax is in `docs/syntax.md` of misskey-dev/mfm.js.
enum MisskeyMarkup {
    private static let tags: Set<String> = ["b", "i", "s", "small", "center", "plain"]
    /// A longer text is left as it is, in bytes.
    private static let maximumBytes = 100_000
    /// Deeper nesting is left as it is.
    private static let maximumNesting = 20

    /// The text without markup: `$[x2 words]` and `<b>words</b>` become `words`, `[words](address)` both.
    static func plain(_ text: String) -> String {
        guard text.utf8.count <= maximumBytes, text.contains(where: { "$<[*".contains($0) }) else { return text }
        var reader = Reader(text: Array(text.unicodeScalars))
        return reader.read()
    }

    private struct Reader {
        let text: [Unicode.Scalar]
        private var position = 0
        private var result = String.UnicodeScalarView()
        /// From each bracket to the one that closes it.
        private var closings: [Int: Int] = [:]
        /// Where the functions end that are open.
        private var ends: [Int] = []

        init(text: [Unicode.Scalar]) {
            self.text = text
            var open: [Int] = []
            for (place, scalar) in text.enumerated() {
                if scalar == "[" { open.append(place) }
                if scalar == "]", let start = open.popLast() { closings[start] = place }
            }
        }

        mutating func read() -> String {
            while position < text.count {
                if ends.last == position {
                    ends.removeLast()
                    position += 1
                } else if !(function() || tag() || link() || bold()) {
                    result.append(text[position])
                    position += 1
                }
            }
            return String(result)
        }

        private func starts(with word: String, at place: Int) -> Bool {
            text[place...].starts(with: word.unicodeScalars)
        }

        /// Opens a function, `$[name.argument=1 `.
        private mutating func function() -> Bool {
            guard starts(with: "$[", at: position), ends.count < MisskeyMarkup.maximumNesting,
                let end = closings[position + 1]
            else { return false }
            let name = text[(position + 2)..<end].prefix(100).prefix { $0 != " " && $0 != "\n" && $0 != "[" }
            guard let first = name.first, ("a"..."z").contains(first), text[name.endIndex] == " " else { return false }
            ends.append(end)
            position = name.endIndex + 1
            return true
        }

        /// Passes over `<b>`, `</b>` and the like; of `<https://…>` the address is kept.
        private mutating func tag() -> Bool {
            guard text[position] == "<" else { return false }
            let inside = text[(position + 1)...].prefix(2_050).prefix { $0 != ">" && $0 != "<" && $0 != "\n" }
            guard inside.endIndex < text.count, text[inside.endIndex] == ">" else { return false }
            let name = String(String.UnicodeScalarView(inside))
            let isAddress = name.hasPrefix("https://") || name.hasPrefix("http://")
            guard isAddress || MisskeyMarkup.tags.contains(name.hasPrefix("/") ? String(name.dropFirst()) : name)
            else { return false }
            if isAddress { result.append(contentsOf: inside) }
            position = inside.endIndex + 1
            return true
        }

        /// Keeps words and address of `[words](address)`, or `?[words](address)` for one without a preview.
        private mutating func link() -> Bool {
            var start = position
            if starts(with: "?[", at: start) { start += 1 }
            guard text[start] == "[" else { return false }
            let words = text[(start + 1)...].prefix(1_000).prefix { !"[]\n".unicodeScalars.contains($0) }
            guard !words.isEmpty, starts(with: "](http", at: words.endIndex) else { return false }
            let address = text[(words.endIndex + 2)...].prefix(2_050).prefix {
                $0 != ")" && !$0.properties.isWhitespace
            }
            guard address.endIndex < text.count, text[address.endIndex] == ")" else { return false }
            result.append(contentsOf: words)
            if !words.elementsEqual(address) {
                result.append(" ")
                result.append(contentsOf: address)
            }
            position = address.endIndex + 1
            return true
        }

        /// Keeps the words of `**words**`.
        private mutating func bold() -> Bool {
            guard starts(with: "**", at: position) else { return false }
            let words = text[(position + 2)...].prefix(1_000).prefix { $0 != "*" && $0 != "\n" }
            let ends = [words.first, words.last].compactMap(\.self)
            guard !ends.isEmpty, !ends.contains(where: \.properties.isWhitespace),
                starts(with: "**", at: words.endIndex)
            else { return false }
            result.append(contentsOf: words)
            position = words.endIndex + 2
            return true
        }
    }
}
