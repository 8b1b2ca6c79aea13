/// A text in X's form: people by their names there, links shortened, markup characters escaped.
struct XText: Sendable {
    struct Link: Sendable {
        var expanded: String
        var display: String
        /// The key of the picture that the link stands for.
        var mediaKey: String?
    }

    enum Kind: Sendable {
        case plain
        case link(Link)
        /// A mention of the person with that index.
        case mention(Int)
        case hashtag
    }

    /// A part of the text, not yet escaped.
    struct Piece: Sendable {
        var kind: Kind
        var text: String
    }

    private(set) var pieces: [Piece] = []

    init(_ text: String, directory: SandboxDirectory) {
        var start = text.startIndex
        for range in XLinks.ranges(in: text) {
            append(text[start..<range.lowerBound], directory)
            append(link: String(text[range]))
            start = range.upperBound
        }
        append(text[start...], directory)
    }

    private init(_ pieces: [Piece]) { self.pieces = pieces }

    /// The people whom the text names, each once.
    var mentions: [Int] {
        var people: [Int] = []
        for case .mention(let index) in pieces.map(\.kind) where !people.contains(index) {
            people.append(index)
        }
        return people
    }

    var hasLink: Bool {
        pieces.contains { if case .link = $0.kind { true } else { false } }
    }

    /// Whether the text is longer than an ordinary post may be.
    var isLong: Bool { pieces.reduce(0) { $0 + XWeight.weight(of: $1.text) } > XWeight.maximum }

    /// The text with an `@name` in front.
    func addressed(to person: Int, _ directory: SandboxDirectory) -> XText {
        XText(
            [
                Piece(kind: .mention(person), text: "@" + directory.handles[person]),
                Piece(kind: .plain, text: " "),
            ]
                + pieces)
    }

    /// The text in a repost.
    func reposted(from author: Int, _ directory: SandboxDirectory) -> XText {
        let head = [
            Piece(kind: .plain, text: "RT "),
            Piece(kind: .mention(author), text: "@" + directory.handles[author]),
            Piece(kind: .plain, text: ": "),
        ]
        return XText(head + pieces).cut(to: 140) { $0.unicodeScalars.count }
    }

    /// The text in the field for short texts.
    func shortened() -> XText { cut(to: XWeight.maximum, by: XWeight.weight(of:)) }

    mutating func attach(_ link: Link) {
        if !pieces.isEmpty { pieces.append(Piece(kind: .plain, text: " ")) }
        pieces.append(Piece(kind: .link(link), text: Self.short(link.expanded)))
    }

    /// Returns the beginning with an ellipsis, unless the whole text is short enough; links and
    /// names are not split.
    private func cut(to limit: Int, by measure: (String) -> Int) -> XText {
        guard pieces.reduce(0, { $0 + measure($1.text) }) > limit else { return self }
        var remainingSize = limit - measure("…")
        var keptPieces: [Piece] = []
        for piece in pieces {
            let size = measure(piece.text)
            if size <= remainingSize {
                keptPieces.append(piece)
                remainingSize -= size
                continue
            }
            if case .plain = piece.kind {
                let part = piece.text.prefix { character in
                    remainingSize -= measure(String(character))
                    return remainingSize >= 0
                }
                keptPieces.append(Piece(kind: .plain, text: String(part)))
            }
            break
        }
        return XText(keptPieces + [Piece(kind: .plain, text: "…")])
    }

    private mutating func append(_ text: Substring, _ directory: SandboxDirectory) {
        for piece in StatusText.pieces(of: String(text)) {
            switch piece {
            case .plain(let text), .link(let text): append(plain: text)
            case .hashtag(let tag): pieces.append(Piece(kind: .hashtag, text: "#" + tag))
            case .mention(let user, let host):
                if let person = directory.person(named: user, at: host) {
                    pieces.append(
                        Piece(kind: .mention(person), text: "@" + directory.handles[person]))
                } else {
                    append(plain: "@" + (host.map { "\(user)@\($0)" } ?? user))
                }
            }
        }
    }

    private mutating func append(plain text: String) {
        if let last = pieces.last, case .plain = last.kind {
            pieces[pieces.count - 1].text += text
        } else {
            pieces.append(Piece(kind: .plain, text: text))
        }
    }

    private mutating func append(link text: String) {
        let hasScheme =
            text.lowercased().hasPrefix("http://") || text.lowercased().hasPrefix("https://")
        let expanded = hasScheme ? text : "http://" + text
        let addressWithoutScheme = expanded.drop { $0 != "/" }.dropFirst(2)
        let display =
            addressWithoutScheme.count > 26
            ? addressWithoutScheme.prefix(26) + "…" : addressWithoutScheme
        pieces.append(
            Piece(
                kind: .link(Link(expanded: expanded, display: String(display))),
                text: Self.short(expanded)))
    }

    /// The short address that X substitutes for a link.
    private static func short(_ address: String) -> String {
        var remainingHash = SandboxIdentity.hash(address)
        let code = (0..<10).map { _ in
            defer { remainingHash /= 62 }
            return letters[Int(remainingHash % 62)]
        }
        return "https://t.co/" + String(code)
    }

    private static let letters = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
}

/// A text in answers.
extension XText {
    /// The text with `&`, `<` and `>` escaped.
    var delivered: String { pieces.map { Self.escaped($0.text) }.joined() }

    /// The positions of names, links and hashtags, in code points of the text as sent; nil if there
    /// are none.
    func entities(_ directory: SandboxDirectory) -> WireJSON? {
        var links: [WireJSON] = []
        var people: [WireJSON] = []
        var tags: [WireJSON] = []
        var start = 0
        for piece in pieces {
            let end = start + Self.escaped(piece.text).unicodeScalars.count
            let range: WireJSON = ["start": .integer(start), "end": .integer(end)]
            switch piece.kind {
            case .plain: break
            case .hashtag:
                tags.append(range.adding(("tag", .string(String(piece.text.dropFirst())))))
            case .mention(let person):
                people.append(
                    range.adding(
                        ("username", .string(directory.handles[person])),
                        ("id", .string(directory.ids[person]))))
            case .link(let link):
                links.append(
                    range.adding(("url", .string(piece.text))).adding(Self.members(of: link)))
            }
            start = end
        }
        let members = [("urls", links), ("mentions", people), ("hashtags", tags)]
            .filter { !$0.1.isEmpty }.map { ($0.0, WireJSON.array($0.1)) }
        return members.isEmpty ? nil : .object(members)
    }

    /// The displayed range: from after the names at the beginning of an answer to before the link
    /// of a picture.
    func displayRange(isReply: Bool) -> WireJSON {
        let lengths = pieces.map { Self.escaped($0.text).unicodeScalars.count }
        var start = 0
        if isReply {
            for (piece, length) in zip(pieces, lengths) {
                let isSpace = piece.text.allSatisfy { $0 == " " }
                if case .mention = piece.kind {
                    start += length
                } else if isSpace {
                    start += length
                } else {
                    if piece.text.first == " " { start += 1 }
                    break
                }
            }
        }
        var end = lengths.reduce(0, +)
        // A short address has 23 characters, and a space precedes it.
        if case .link(let link) = pieces.last?.kind, link.mediaKey != nil { end -= 24 }
        return [.integer(min(start, max(end, 0))), .integer(max(end, 0))]
    }

    private static func members(of link: Link) -> WireJSON {
        let members: WireJSON = [
            "expanded_url": .string(link.expanded), "display_url": .string(link.display),
        ]
        return link.mediaKey.map { members.adding(("media_key", .string($0))) } ?? members
    }

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x26 || $0 == 0x3C || $0 == 0x3E }) else {
            return text
        }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension WireJSON {
    /// The members of both objects.
    func adding(_ other: WireJSON) -> WireJSON {
        guard case .object(let members) = self, case .object(let newMembers) = other else {
            return self
        }
        return .object(members + newMembers)
    }
}
