/// Turns the pieces of a post's HTML into plain text.
///
/// Nesting is counted, never followed by recursion, and each piece costs time
/// in proportion to its own length.
struct HTMLFlattener {
    /// The link that is open now.
    private struct Link {
        var tag: HTMLTag
        /// The visible text as far as it decides what the link is.
        var shown: [UInt8] = []
    }

    /// An element whose content is left out.
    private struct Omission {
        var name: String
        var depth = 1
    }

    /// The most visible text of a link that is kept, in bytes; hashtags and mentions are shorter.
    private static let maximumShown = 512
    /// Elements around which a blank line stands, but not inside a list.
    private static let paragraphs: Set<String> = [
        "p", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "table", "figure", "dl",
    ]
    /// Elements that begin on their own line.
    private static let lines: Set<String> = [
        "div", "tr", "dt", "dd", "section", "article", "header", "footer", "details", "summary",
    ]
    private static let lists: Set<String> = ["ul", "ol"]

    /// From the address of a profile to the name that stands for it.
    private let mentions: [String: String]
    private var writer: PlainTextWriter
    private var link: Link?
    private var omission: Omission?
    private var listDepth = 0

    init(mentions: [String: String], limit: Int) {
        self.mentions = mentions
        self.writer = PlainTextWriter(limit: limit)
    }

    /// The plain text of `html`.
    mutating func flatten(_ html: [UInt8]) -> String {
        var tokenizer = HTMLTokenizer(html)
        while !writer.isFull, let token = tokenizer.next() {
            if isOmitted(token) { continue }
            switch token {
            case .text(let range): text(HTMLEntity.decoded(tokenizer.bytes[range]))
            case .open(let tag): open(tag)
            case .close(let name): close(name)
            }
        }
        endLink()
        return writer.text
    }

    private mutating func text(_ bytes: [UInt8]) {
        guard link != nil else { return writer.write(bytes) }
        let room = Self.maximumShown - (link?.shown.count ?? 0)
        link?.shown.append(contentsOf: bytes.prefix(room))
    }

    private mutating func open(_ tag: HTMLTag) {
        if Self.isBlock(tag.name) { endLink() }
        switch tag.name {
        case "a":
            endLink()
            if PlainText.isWebAddress(tag.attributes["href"]) { link = Link(tag: tag) }
        case "br":
            if link == nil { writer.breakLine() }
        case "li":
            writer.beginItem()
        case _ where Self.lists.contains(tag.name):
            writer.separate(byLines: listDepth == 0 ? 2 : 1)
            listDepth += 1
        case _ where Self.paragraphs.contains(tag.name):
            writer.separate(byLines: listDepth == 0 ? 2 : 1)
            if tag.name == "pre" { writer.preformattedDepth += 1 }
        case _ where Self.lines.contains(tag.name):
            writer.separate(byLines: 1)
        default:
            break
        }
    }

    private mutating func close(_ name: String) {
        if Self.isBlock(name) { endLink() }
        switch name {
        case "a":
            endLink()
        case "li":
            writer.endItem()
        case _ where Self.lists.contains(name):
            listDepth = max(0, listDepth - 1)
            writer.separate(byLines: listDepth == 0 ? 2 : 1)
        case _ where Self.paragraphs.contains(name):
            writer.separate(byLines: listDepth == 0 ? 2 : 1)
            if name == "pre" { writer.preformattedDepth = max(0, writer.preformattedDepth - 1) }
        case _ where Self.lines.contains(name):
            writer.separate(byLines: 1)
        default:
            break
        }
    }

    /// Writes what the open link stands for.
    ///
    /// The visible text of an ordinary link is shortened by servers, so its
    /// address is written; of a mention it lacks the host. Hashtags are links
    /// with the class of mentions, so they are recognised first.
    private mutating func endLink() {
        guard let ended = link, let address = ended.tag.attributes["href"] else { return }
        link = nil
        let shown = PlainText.trimmed(String(decoding: ended.shown, as: UTF8.self))
        let isMention = ended.tag.has("mention", in: "class")
        let isHashtag = ended.tag.has("hashtag", in: "class") || ended.tag.has("tag", in: "rel")
        if isHashtag || isMention, shown.hasPrefix("#") || shown.hasPrefix("＃") {
            writer.write(Array(shown.utf8))
        } else if let name = mentions[address], isMention || shown.hasPrefix("@") {
            writer.write(Array("@\(name)".utf8))
        } else if isMention, shown.hasPrefix("@") {
            writer.write(Array(shown.utf8))
        } else {
            writer.write(Array(PlainText.trimmed(address).utf8))
        }
    }

    /// Follows elements of the class `quote-inline`, which repeat a quoted post's address for old software.
    private mutating func isOmitted(_ token: HTMLToken) -> Bool {
        guard let current = omission else {
            guard case .open(let tag) = token, tag.has("quote-inline", in: "class") else { return false }
            omission = Omission(name: tag.name)
            return true
        }
        switch token {
        case .text:
            return true
        case .open(let tag):
            if Self.isBlock(tag.name), current.name == "p" || !Self.isBlock(current.name) {
                omission = nil
                return false
            }
            if tag.name == current.name { omission?.depth += 1 }
            return true
        case .close(let name):
            if name == current.name {
                omission = current.depth > 1 ? Omission(name: name, depth: current.depth - 1) : nil
                return true
            }
            if Self.isBlock(name), !Self.isBlock(current.name) {
                omission = nil
                return false
            }
            return true
        }
    }

    private static func isBlock(_ name: String) -> Bool {
        name == "li" || paragraphs.contains(name) || lines.contains(name) || lists.contains(name)
    }
}

/// Collects plain text and decides where spaces and line breaks stand.
struct PlainTextWriter {
    /// The most bytes of text that are kept.
    private let limit: Int
    private var output: [UInt8] = []
    /// Line breaks that are due before the next text.
    private var breaks = 0
    /// Spaces that are due before the next text of the same line.
    private var spaces: [UInt8] = []
    private var itemIsDue = false
    /// How many elements around the text keep white space as it is.
    var preformattedDepth = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether nothing more is taken.
    var isFull: Bool { output.count > limit }

    /// What was written, without control characters and without white space around it.
    var text: String {
        PlainText.cleaned(String(decoding: PlainText.head(of: output, limit), as: UTF8.self))
    }

    /// Begins a new line now.
    mutating func breakLine() {
        breaks += 1
        spaces.removeAll(keepingCapacity: true)
    }

    /// Makes the next text stand `count` lines below what is written already.
    mutating func separate(byLines count: Int) {
        guard !itemIsDue else { return }
        breaks = max(breaks, count)
        spaces.removeAll(keepingCapacity: true)
    }

    /// Begins an item of a list.
    mutating func beginItem() {
        separate(byLines: 1)
        itemIsDue = true
    }

    /// Ends an item of a list.
    mutating func endItem() {
        itemIsDue = false
        separate(byLines: 1)
    }

    /// Writes text whose entities are decoded.
    mutating func write(_ bytes: [UInt8]) {
        for byte in bytes {
            if isFull { return }
            if preformattedDepth > 0, byte == UInt8(ascii: "\n") {
                breakLine()
            } else if byte.isHTMLSpace {
                spaces.append(byte)
            } else {
                writeDue()
                output.append(byte)
            }
        }
    }

    private mutating func writeDue() {
        // Before most letters there is nothing.
        guard breaks > 0 || itemIsDue || !spaces.isEmpty else { return }
        let isLineStart = output.isEmpty || breaks > 0
        if !output.isEmpty { output.append(contentsOf: repeatElement(UInt8(ascii: "\n"), count: min(breaks, limit))) }
        breaks = 0
        if itemIsDue {
            output.append(contentsOf: "- ".utf8)
            itemIsDue = false
        } else if spaces.contains(UInt8(ascii: "\n")) || spaces.contains(UInt8(ascii: "\r")) {
            // A line break of the source is layout, not text.
            if !isLineStart { output.append(UInt8(ascii: " ")) }
        } else {
            output.append(contentsOf: spaces)
        }
        spaces.removeAll(keepingCapacity: true)
    }
}
