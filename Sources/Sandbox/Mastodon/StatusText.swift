/// The pieces of a plain text that Mastodon treats differently.
enum StatusText {
    enum Piece: Equatable, Sendable {
        case plain(String)
        /// An `http://` or `https://` address.
        case link(String)
        /// `@user` or `@user@host`, without the leading `@`.
        case mention(user: String, host: String?)
        /// `#tag`, without the `#`.
        case hashtag(String)
    }

    static func isUserName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isUserByte)
    }

    static func isHost(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, let last = bytes.last else { return false }
        return bytes.allSatisfy(isHostByte) && isUserByte(first) && isUserByte(last) && text.contains(".")
    }

    /// The number of characters that a server counts.
    ///
    /// Where every link counts the same, however long it is, a mention counts without its host. Elsewhere everything
    /// counts as it stands, in code points; then `charactersPerLink` is nil.
    static func length(of text: String, perLink charactersPerLink: Int?) -> Int {
        guard let charactersPerLink else { return text.unicodeScalars.count }
        return pieces(of: text).reduce(0) { sum, piece in
            switch piece {
            case .plain(let text): sum + text.count
            case .link: sum + charactersPerLink
            case .mention(let user, _): sum + 1 + user.count
            case .hashtag(let tag): sum + 1 + tag.count
            }
        }
    }

    static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var plain = ""
        var rest = Substring(text)
        var previous: Character?
        while let character = rest.first {
            if let (piece, end) = special(at: rest, after: previous) {
                if !plain.isEmpty { pieces.append(.plain(plain)) }
                plain = ""
                pieces.append(piece)
                previous = rest[..<end].last
                rest = rest[end...]
            } else {
                plain.append(character)
                previous = character
                rest = rest.dropFirst()
            }
        }
        if !plain.isEmpty { pieces.append(.plain(plain)) }
        return pieces
    }

    private static func special(at rest: Substring, after previous: Character?) -> (Piece, Substring.Index)? {
        guard let first = rest.first, first == "@" || first == "#" || first == "h" else { return nil }
        if let previous, isWord(previous) || previous == "/" || previous == "=" { return nil }
        switch first {
        case "@": return mention(at: rest)
        case "#": return hashtag(at: rest)
        default: return link(at: rest)
        }
    }

    private static func mention(at rest: Substring) -> (Piece, Substring.Index)? {
        let user = rest.dropFirst().prefix { $0.utf8.allSatisfy(isUserByte) }
        guard !user.isEmpty else { return nil }
        let tail = rest[user.endIndex...]
        guard tail.first == "@" else { return (.mention(user: String(user), host: nil), user.endIndex) }
        var host = tail.dropFirst().prefix { $0.utf8.allSatisfy(isHostByte) }
        while let last = host.utf8.last, !isUserByte(last) { host = host.dropLast() }
        guard isHost(host) else { return (.mention(user: String(user), host: nil), user.endIndex) }
        return (.mention(user: String(user), host: String(host)), host.endIndex)
    }

    private static func hashtag(at rest: Substring) -> (Piece, Substring.Index)? {
        let tag = rest.dropFirst().prefix(while: isWord)
        guard tag.contains(where: { !$0.isNumber }) else { return nil }
        return (.hashtag(String(tag)), tag.endIndex)
    }

    private static func link(at rest: Substring) -> (Piece, Substring.Index)? {
        guard rest.hasPrefix("http://") || rest.hasPrefix("https://") else { return nil }
        var link = rest.prefix { $0.isASCII && !$0.isWhitespace && !"<>\"".contains($0) }
        while let last = link.last, ".,!?;:)'".contains(last) { link = link.dropLast() }
        guard let colon = link.firstIndex(of: ":"), link[colon...].count > 3 else { return nil }
        return (.link(String(link)), link.endIndex)
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    private static func isUserByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte == 0x2D || byte == 0x2E || (isUserByte(byte) && byte != 0x5F)
    }
}
