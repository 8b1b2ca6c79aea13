/// A text as X shows it: people by their names there, links shortened, markup characters escaped.
struct XText: Sendable {
    struct Link: Sendable {
        var expanded: String
        var display: String
        /// Names the picture that the link stands for.
        var mediaKey: String?
    }

    enum Kind: Sendable {
        case plain
        case link(Link)
        /// The index of the person.
        case mention(Int)
        case hashtag
    }

    /// A part of the text, not yet escaped.
    struct Piece: Sendable {
        var kind: Kind
        var text: String
    }

    private(set) var pieces: [Piece] = []

    init(_ text: String, directory: XDirectory) {
        var start = text.startIndex
        for range in XLinks.ranges(in: text) {
            append(text[start..<range.lowerBound], directory)
            append(link: String(text[range]))
            start = range.upperBound
        }
        append(text[start...], directory)
    }

    private init(_ pieces: [Piece]) { self.pieces = pieces }

    /// Whom the text names, each once.
    var mentions: [Int] {
        var people: [Int] = []
        for case .mention(let index) in pieces.map(\.kind) where !people.contains(index) { people.append(index) }
        return people
    }

    var hasLink: Bool {
        pieces.contains { if case .link = $0.kind { true } else { false } }
    }

    /// Whether the text needs more room than an ordinary post has.
    var isLong: Bool { pieces.reduce(0) { $0 + XWeight.weight(of: $1.text) } > XWeight.maximum }

    /// The text with an `@name` in front.
    func addressed(to person: Int, _ directory: XDirectory) -> XText {
        XText(
            [Piece(kind: .mention(person), text: "@" + directory.handles[person]), Piece(kind: .plain, text: " ")]
                + pieces)
    }

    /// The text as a repost shows it.
    func reposted(from author: Int, _ directory: XDirectory) -> XText {
        let head = [
            Piece(kind: .plain, text: "RT "), Piece(kind: .mention(author), text: "@" + directory.handles[author]),
            Piece(kind: .plain, text: ": "),
        ]
        return XText(head + pieces).cut(to: 140) { $0.unicodeScalars.count }
    }

    /// The text as it stands where a long one has no place.
    func shortened() -> XText { cut(to: XWeight.maximum, by: XWeight.weight(of:)) }

    mutating func attach(_ link: Link) {
        if !pieces.isEmpty { pieces.append(Piece(kind: .plain, text: " ")) }
        pieces.append(Piece(kind: .link(link), text: Self.short(link.expanded)))
    }

    /// The beginning with an ellipsis, unless the whole is short enough; links and names are not cut in two.
    private func cut(to limit: Int, by measure: (String) -> Int) -> XText {
        guard pieces.reduce(0, { $0 + measure($1.text) }) > limit else { return self }
        var room = limit - measure("…")
        var kept: [Piece] = []
        for piece in pieces {
            let size = measure(piece.text)
            if size <= room {
                kept.append(piece)
                room -= size
                continue
            }
            if case .plain = piece.kind {
                let part = piece.text.prefix { character in
                    room -= measure(String(character))
                    return room >= 0
                }
                kept.append(Piece(kind: .plain, text: String(part)))
            }
            break
        }
        return XText(kept + [Piece(kind: .plain, text: "…")])
    }

    private mutating func append(_ text: Substring, _ directory: XDirectory) {
        for piece in StatusText.pieces(of: String(text)) {
            switch piece {
            case .plain(let text), .link(let text): append(plain: text)
            case .hashtag(let tag): pieces.append(Piece(kind: .hashtag, text: "#" + tag))
            case .mention(let user, let host):
                if let person = directory.person(named: user, at: host) {
                    pieces.append(Piece(kind: .mention(person), text: "@" + directory.handles[person]))
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
        let hasScheme = text.lowercased().hasPrefix("http://") || text.lowercased().hasPrefix("https://")
        let expanded = hasScheme ? text : "http://" + text
        let shown = expanded.drop { $0 != "/" }.dropFirst(2)
        let display = shown.count > 26 ? shown.prefix(26) + "…" : shown
        pieces.append(
            Piece(kind: .link(Link(expanded: expanded, display: String(display))), text: Self.short(expanded)))
    }

    /// The short address that X puts in place of a link.
    private static func short(_ address: String) -> String {
        var rest = SandboxIdentity.hash(address)
        let code = (0..<10).map { _ in
            defer { rest /= 62 }
            return letters[Int(rest % 62)]
        }
        return "https://t.co/" + String(code)
    }

    private static let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
}
