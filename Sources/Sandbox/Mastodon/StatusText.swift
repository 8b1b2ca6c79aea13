import Foundation

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
        return bytes.allSatisfy(isHostByte) && isUserByte(first) && isUserByte(last)
            && text.contains(".")
    }

    /// The number of characters that a server counts.
    ///
    /// On servers where every link counts the same, a mention counts without its host. On others
    /// the whole text counts, in code points; then `charactersPerLink` is nil.
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
        guard text.contains(anyOf: "@#/") else { return text.isEmpty ? [] : [.plain(text)] }
        var pieces: [Piece] = []
        var start = text.startIndex
        var searchStart = start
        while let index = text.utf8[searchStart...].firstIndex(where: Self.mayBegin) {
            let previous = text[..<index].last
            guard let (piece, end) = special(at: text[index...], after: previous) else {
                searchStart = text.utf8.index(after: index)
                continue
            }
            if start < index { pieces.append(.plain(String(text[start..<index]))) }
            pieces.append(piece)
            start = end
            searchStart = end
        }
        if start < text.endIndex { pieces.append(.plain(String(text[start...]))) }
        return pieces
    }

    private static func mayBegin(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "@") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "h")
    }

    /// Returns the mention, hashtag or link at the beginning of `remainder`; nil if there is none.
    private static func special(at remainder: Substring, after previous: Character?) -> (
        Piece, Substring.Index
    )? {
        guard let first = remainder.first, first == "@" || first == "#" || first == "h" else {
            return nil
        }
        if let previous, isWord(previous) || previous == "/" || previous == "=" { return nil }
        switch first {
        case "@": return mention(at: remainder)
        case "#": return hashtag(at: remainder)
        default: return link(at: remainder)
        }
    }

    private static func mention(at remainder: Substring) -> (Piece, Substring.Index)? {
        let user = remainder.dropFirst().prefix { $0.utf8.allSatisfy(isUserByte) }
        guard !user.isEmpty else { return nil }
        let tail = remainder[user.endIndex...]
        guard tail.first == "@" else {
            return (.mention(user: String(user), host: nil), user.endIndex)
        }
        var host = tail.dropFirst().prefix { $0.utf8.allSatisfy(isHostByte) }
        while let last = host.utf8.last, !isUserByte(last) { host = host.dropLast() }
        guard isHost(host) else { return (.mention(user: String(user), host: nil), user.endIndex) }
        return (.mention(user: String(user), host: String(host)), host.endIndex)
    }

    private static func hashtag(at remainder: Substring) -> (Piece, Substring.Index)? {
        let tag = remainder.dropFirst().prefix(while: isWord)
        guard tag.contains(where: { !$0.isNumber }) else { return nil }
        return (.hashtag(String(tag)), tag.endIndex)
    }

    private static func link(at remainder: Substring) -> (Piece, Substring.Index)? {
        guard remainder.hasPrefix("http://") || remainder.hasPrefix("https://") else { return nil }
        var link = remainder.prefix { $0.isASCII && !$0.isWhitespace && !"<>\"".contains($0) }
        while let last = link.last, ".,!?;:)'".contains(last) { link = link.dropLast() }
        guard let colon = link.firstIndex(of: ":"), link[colon...].count > 3 else { return nil }
        return (.link(String(link)), link.endIndex)
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    private static func isUserByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == 0x5F
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte == 0x2D || byte == 0x2E || (isUserByte(byte) && byte != 0x5F)
    }
}

/// The HTML that Mastodon makes from a plain text.
///
/// Paragraphs, line breaks, links with their invisible parts, mentions as h-cards without the host,
/// and hashtags as anchors; everything else is escaped.
struct StatusHTML {
    private(set) var html = ""
    /// The indices of the people mentioned, each once, in order.
    private(set) var mentions: [Int] = []
    /// The hashtags in lower case, each once, in order.
    private(set) var tags: [String] = []

    private static let visibleLinkCharacters = 30

    init(_ text: String, population: SandboxPopulation) {
        for piece in StatusText.pieces(of: text) {
            switch piece {
            case .plain(let text): html += Self.escaped(text)
            case .link(let link): html += Self.anchor(link)
            case .hashtag(let tag): append(tag: tag)
            case .mention(let user, let host):
                append(user: user, host: host, population: population)
            }
        }
        html = html.isEmpty ? "" : "<p>" + Self.broken(html) + "</p>"
    }

    private mutating func append(tag: String) {
        let lower = tag.lowercased()
        if !tags.contains(lower) { tags.append(lower) }
        let address = "https://\(SamplePeople.host)/tags/\(Self.escaped(lower))"
        html +=
            "<a href=\"\(address)\" class=\"mention hashtag\" rel=\"tag\">#<span>\(Self.escaped(tag))</span></a>"
    }

    private mutating func append(user: String, host: String?, population: SandboxPopulation) {
        let name = host.map { "\(user)@\($0)" } ?? user
        guard let index = population.index(of: name) else {
            html += Self.escaped("@" + name)
            return
        }
        if !mentions.contains(index) { mentions.append(index) }
        let person = population.people[index]
        html += "<span class=\"h-card\" translate=\"no\"><a href=\"\(person.profileAddress)\""
        html += " class=\"u-url mention\">@<span>\(person.userName)</span></a></span>"
    }

    private static func anchor(_ link: String) -> String {
        let scheme = link.hasPrefix("https://") ? "https://" : "http://"
        let remainder = link.dropFirst(scheme.count)
        let shownAddress = remainder.prefix(visibleLinkCharacters)
        let hidden = remainder.dropFirst(visibleLinkCharacters)
        return
            "<a href=\"\(escaped(link))\" target=\"_blank\" rel=\"nofollow noopener noreferrer\" translate=\"no\">"
            + "<span class=\"invisible\">\(scheme)</span>"
            + "<span class=\"\(hidden.isEmpty ? "" : "ellipsis")\">\(escaped(String(shownAddress)))</span>"
            + "<span class=\"invisible\">\(escaped(String(hidden)))</span></a>"
    }

    /// Empty lines end a paragraph; other line ends are breaks.
    private static func broken(_ html: String) -> String {
        guard html.contains(anyOf: "\n") else { return html }
        let lines = html.split(separator: "\n", omittingEmptySubsequences: false)
        var result = ""
        var isFirst = true
        for paragraph in lines.split(whereSeparator: \.isEmpty) {
            if !isFirst { result += "</p><p>" }
            result += paragraph.joined(separator: "<br />")
            isFirst = false
        }
        return result
    }

    static func escaped(_ text: String) -> String {
        guard text.contains(anyOf: "&<>\"'") else { return text }
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

extension String {
    /// Whether one of these ASCII signs occurs, by itself or within a larger character.
    ///
    /// Most texts contain none of the signs, and `memchr` is much faster than reading each
    /// character.
    fileprivate func contains(anyOf signs: StaticString) -> Bool {
        var text = self
        return text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return false }
            return (0..<signs.utf8CodeUnitCount).contains { place in
                memchr(start, Int32(signs.utf8Start[place]), bytes.count) != nil
            }
        }
    }
}

extension SandboxPerson {
    /// The address of the profile page.
    var profileAddress: String { "https://\(host)/@\(userName)" }

    /// The ActivityPub identity.
    var uri: String { "https://\(host)/users/\(userName)" }
}

/// The markup that a program converts in the texts of its own people.
package enum TextDialect: Sendable {
    /// snac's own kind of Markdown, with pictures for smileys.
    case snac
    /// Markdown Extra, without HTML elements.
    case markdown
    /// Blocks of paragraphs; the first of several lines is the title. Names and hashtags are words.
    case blocks
}

/// The HTML that snac, Friendica and, if its people choose that, GoToSocial make from a text as
/// Markdown.
///
/// `*word*`, `_word_`, backticks and the like become markup, on snac smileys become pictures,
/// addresses become links in full, and lines end in `<br>`. The signs of the markup are lost.
struct RewrittenHTML {
    private(set) var html = ""

    /// The signs around a piece of markup, longer signs first, with their elements.
    private static let marks: [(sign: String, element: String)] = [
        ("**", "b"), ("*", "i"), ("__", "u"), ("_", "i"), ("~~", "s"), ("`", "code"),
    ]
    private static let smileys: [(sign: String, picture: String)] = [
        (">:-(", "😠"), (":-)", "🙂"), (":-D", "😀"), ("X-D", "😆"), (";-)", "😉"), ("B-)", "😎"),
        (":-(", "😞"),
        (":-*", "😘"), (":-/", "😕"), ("8-o", "😲"), (":-|", "😐"), ("<3", "💓"), (":shrug:", "🤷"),
        (":beer:", "🍺"),
    ]
    private static let pictures = [".png", ".jpg", ".jpeg", ".gif", ".webp"]

    private let population: SandboxPopulation
    private let dialect: TextDialect

    init(_ text: String, as dialect: TextDialect, population: SandboxPopulation) {
        self.population = population
        self.dialect = dialect
        let text = dialect == .markdown ? Self.withoutElements(text) : text
        var isPreformatted = false
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```" {
                isPreformatted.toggle()
                lines.append(isPreformatted ? "<pre>" : "</pre>")
            } else if isPreformatted {
                lines.append(StatusHTML.escaped(String(line)))
            } else if line.hasPrefix(">") {
                lines.append(
                    "<blockquote>\(rewritten(line.dropFirst().drop { $0 == " " }))</blockquote>")
            } else if line.hasPrefix("# ") {
                lines.append("<h2>\(rewritten(line.dropFirst(2)))</h2>")
            } else {
                lines.append(rewritten(line))
            }
        }
        if isPreformatted { lines.append("</pre>") }
        html = "<p>" + lines.joined(separator: "<br>") + "</p>"
    }

    private func rewritten(_ line: Substring) -> String {
        var html = ""
        var plain = ""
        var remainder = line
        while let first = remainder.first {
            if let (markup, end) = markup(at: remainder) {
                html += inline(plain) + markup
                plain = ""
                remainder = remainder[end...]
            } else {
                plain.append(first)
                remainder = remainder.dropFirst()
            }
        }
        return html + inline(plain)
    }

    private func markup(at remainder: Substring) -> (html: String, end: Substring.Index)? {
        if remainder.hasPrefix("http://") || remainder.hasPrefix("https://") {
            return link(at: remainder)
        }
        for (sign, element) in Self.marks
        where remainder.hasPrefix(sign) && (dialect == .snac || sign != "~~") {
            let content = remainder.dropFirst(sign.count).prefix { $0 != sign.last }
            guard !content.isEmpty, remainder[content.endIndex...].hasPrefix(sign) else { continue }
            let end = remainder.index(content.endIndex, offsetBy: sign.count)
            return ("<\(element)>\(inline(String(content)))</\(element)>", end)
        }
        return nil
    }

    /// A link to a picture becomes an attachment, which the text no longer shows.
    private func link(at remainder: Substring) -> (html: String, end: Substring.Index) {
        var link = remainder.prefix { $0 != " " }
        while let last = link.last, ".,)?".contains(last) { link = link.dropLast() }
        if dialect == .snac, Self.pictures.contains(where: link.lowercased().hasSuffix) {
            return ("", link.endIndex)
        }
        let address = StatusHTML.escaped(String(link))
        return ("<a href=\"\(address)\" target=\"_blank\">\(address)</a>", link.endIndex)
    }

    /// Converts mentions and hashtags as Mastodon does, and smileys to pictures.
    private func inline(_ text: String) -> String {
        var pictured = text
        if dialect == .snac {
            for (sign, picture) in Self.smileys {
                pictured = pictured.replacing(sign, with: picture)
            }
        }
        return String(
            StatusHTML(pictured, population: population).html.dropFirst("<p>".count).dropLast(
                "</p>".count))
    }
}

extension RewrittenHTML {
    /// The text without parts that look like HTML elements.
    fileprivate static func withoutElements(_ text: String) -> String {
        text.replacing(/<\/?[A-Za-z][^<>]*>/, with: "")
    }
}

/// The HTML that Enable Mastodon Apps makes from a post: blocks of paragraphs, and the first of
/// several lines as a title in bold.
struct BlockHTML {
    let html: String

    init(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let title = lines.count > 1 ? lines.removeFirst() : ""
        let blocks = lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .map { line in
                "<!-- wp:paragraph -->\n<p>\(Self.inline(line))</p>\n<!-- /wp:paragraph -->"
            }
        let heading = title.isEmpty ? [] : ["<strong>\(StatusHTML.escaped(title))</strong>"]
        html = (heading + [blocks.joined(separator: "\n\n")]).joined(separator: "\n")
    }

    /// Addresses become links; names and hashtags stay words.
    private static func inline(_ line: String) -> String {
        StatusText.pieces(of: line).map { piece in
            switch piece {
            case .plain(let text): StatusHTML.escaped(text)
            case .mention(let user, let host):
                StatusHTML.escaped("@" + user + (host.map { "@" + $0 } ?? ""))
            case .hashtag(let tag): StatusHTML.escaped("#" + tag)
            case .link(let link):
                "<a href=\"\(StatusHTML.escaped(link))\" rel=\"nofollow\">\(StatusHTML.escaped(link))</a>"
            }
        }.joined()
    }
}
