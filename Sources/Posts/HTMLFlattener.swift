/// Converts the tokens of a post's HTML to plain text, according to ``HTMLDecision``.
///
/// Nesting is counted and not handled by recursion, and each token takes time in proportion to its
/// own length.
struct HTMLFlattener {
    /// An element whose content is left out.
    private struct Omission {
        let name: String
        /// Whether the element may contain blocks; otherwise the next block ends the omission.
        let mayContainBlocks: Bool
        var depth = 1
    }

    /// Elements without content and without an end tag.
    private static let voidElements: Set<String> = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
        "source", "track", "wbr",
    ]

    /// The mark on both sides of struck-out words, as people type it.
    private static let strikeMark = "~~"

    /// The names for links to people, by the address of the profile.
    private let names: [String: String]
    /// The addresses of hashtags, in lower case.
    private let hashtags: Set<String>
    private var writer: PlainTextWriter
    /// The link that has begun and not ended yet.
    private var link: HTMLTag?
    private var omission: Omission?
    private var formula: HTMLFormula?
    private var lists: [HTMLList] = []
    /// The lengths of the reversed lists, by their index among the numbered ones; nil until one is
    /// needed.
    private var reversedLengths: [Int: Int]?
    private var numberedCount = 0
    private var html: [UInt8] = []
    /// The open superscript (``HTMLDecision/raised``) or subscript, if there is one.
    private var openShift: HTMLDecision?
    /// The number of open inline quotations (`<q>`).
    private var inlineQuoteDepth = 0
    private var struckDepth = 0
    /// Whether this converter wrote the parenthesis around the open pronunciation of a word.
    private var ownsParenthesis = false
    /// Whether the content contains, or contained, another person's post.
    private(set) var hasOthersPost = false
    /// Whether the content contains a picture, video or other element that is no text.
    private(set) var hasMedia = false
    /// The words of links that are followed by their addresses.
    private(set) var linkWords: [String] = []

    init(names: [String: String], hashtags: Set<String>, limit: Int) {
        self.names = names
        self.hashtags = hashtags
        self.writer = PlainTextWriter(limit: limit)
    }

    /// The plain text of `html`.
    mutating func flatten(_ html: [UInt8]) -> String {
        self.html = html
        var tokenizer = HTMLTokenizer(html)
        while !writer.isFull, let token = tokenizer.next() {
            if isOmitted(token) { continue }
            switch token {
            case .text(let range): writeText(HTMLEntity.decoded(tokenizer.bytes[range]))
            case .open(let tag): open(tag)
            case .close(let name): close(name)
            }
        }
        endFormula()
        endLink()
        if struckDepth > 0 { write(Self.strikeMark) }
        return writer.text
    }

    private mutating func writeText(_ bytes: [UInt8]) {
        if formula != nil {
            formula?.add(bytes)
        } else {
            writer.write(openShift?.shift(bytes) ?? bytes)
        }
    }

    private mutating func write(_ text: String) { writer.write(Array(text.utf8)) }

    // MARK: Elements

    private mutating func open(_ tag: HTMLTag) {
        let decision = HTMLDecision.about(tag)
        if formula != nil {
            if decision == .annotation {
                formula?.beginAnnotation(encoding: tag.attributes["encoding"])
            }
            return
        }
        // A link may contain a block, but it ends at the next block after its words.
        if decision.isBlock, link == nil || !writer.link.shown.isEmpty { endLink() }
        switch decision {
        case .paragraph, .line, .quotation, .preformatted, .table, .row: beginBlock(decision)
        case .break: writer.breakLine()
        case .bullets, .numbers: beginList(tag, decision)
        case .item:
            writer.beginItem(
                lists.isEmpty
                    ? "- "
                    : lists[lists.count - 1].nextMarker(writtenNumber: tag.attributes["value"]))
        case .cell:
            writer.isInCell = true
            writer.space()
        case .link: beginLink(tag)
        case .speech:
            inlineQuoteDepth += 1
            write("“")
        case .struck:
            struckDepth += 1
            if struckDepth == 1 { write(Self.strikeMark) }
        case .reading: beginReading()
        case .raised, .lowered: openShift = decision
        case .formula:
            if tag.attributes["display"] == "block" { writer.separate(byLines: 1) }
            formula = HTMLFormula(
                alternative: tag.attributes["alttext"],
                isBlock: tag.attributes["display"] == "block")
        case .picture, .alternative: writePicture(tag, decision)
        case .media, .others, .leftOut: omit(tag, decision)
        case .inline, .annotation: break
        }
    }

    private mutating func close(_ name: String) {
        let decision = HTMLDecision.about(name)
        if formula != nil {
            if decision == .annotation { formula?.endAnnotation() }
            if decision == .formula { endFormula() }
            return
        }
        if decision.isBlock { endLink() }
        switch decision {
        case .paragraph, .line, .quotation, .preformatted, .table, .row: endBlock(decision)
        case .bullets, .numbers:
            _ = lists.popLast()
            writer.separate(byLines: lists.isEmpty ? 2 : 1)
        case .item: writer.endItem()
        case .cell: writer.isInCell = false
        case .link: endLink()
        case .speech where inlineQuoteDepth > 0:
            inlineQuoteDepth -= 1
            write("”")
        case .struck where struckDepth > 0:
            struckDepth -= 1
            if struckDepth == 0 { write(Self.strikeMark) }
        case .reading: endReading()
        case .inline where name == "ruby": endReading()
        case .raised, .lowered: openShift = nil
        default: break
        }
    }

    private mutating func beginBlock(_ decision: HTMLDecision) {
        separate(decision)
        if decision == .preformatted { writer.preformattedDepth += 1 }
        if decision == .quotation { writer.quotationDepth += 1 }
    }

    private mutating func endBlock(_ decision: HTMLDecision) {
        separate(decision)
        if decision == .preformatted {
            writer.preformattedDepth = max(0, writer.preformattedDepth - 1)
        }
        if decision == .quotation { writer.quotationDepth = max(0, writer.quotationDepth - 1) }
    }

    private mutating func separate(_ block: HTMLDecision) {
        // A cell that was never closed ends here.
        if block == .table || block == .row { writer.isInCell = false }
        let isLine = block == .line || block == .row
        writer.separate(byLines: isLine || !lists.isEmpty ? 1 : 2)
    }

    private mutating func beginList(_ tag: HTMLTag, _ decision: HTMLDecision) {
        writer.separate(byLines: lists.isEmpty ? 2 : 1)
        guard decision == .numbers else { return lists.append(HTMLList()) }
        if tag.attributes["reversed"] != nil, reversedLengths == nil {
            reversedLengths = HTMLList.lengthsOfReversed(in: html)
        }
        lists.append(HTMLList(numbered: tag, length: reversedLengths?[numberedCount] ?? 0))
        numberedCount += 1
    }

    private mutating func beginReading() {
        endReading()
        let openings = ["(", "（", "《", "["]
        // The longest of them has three bytes.
        let lastText = writer.ending(bytes: 4)
        guard !openings.contains(where: lastText.hasSuffix) else { return }
        ownsParenthesis = true
        write("(")
    }

    private mutating func endReading() {
        guard ownsParenthesis else { return }
        ownsParenthesis = false
        write(")")
    }

    private mutating func endFormula() {
        guard let ended = formula else { return }
        formula = nil
        writer.write(ended.text)
        if ended.isBlock { writer.separate(byLines: 1) }
    }

    private mutating func writePicture(_ tag: HTMLTag, _ decision: HTMLDecision) {
        let alternative = PlainText.trimmed(tag.attributes["alt"] ?? "")
        if decision == .alternative || alternative.isEmoji {
            write(alternative)
        } else {
            hasMedia = true
        }
    }

    // MARK: Links

    private mutating func beginLink(_ tag: HTMLTag) {
        endLink()
        guard PlainText.isWebAddress(tag.attributes["href"]) else { return }
        link = tag
        writer.beginLink()
    }

    /// Writes the text for the open link.
    ///
    /// The visible text of a mention lacks the host. Hashtags are links with the class of mentions,
    /// so they are checked first; some programs write the `#` or `@` before the link.
    private mutating func endLink() {
        guard let tag = link, let href = tag.attributes["href"] else { return }
        link = nil
        let (shown, precedingByte) = writer.link
        let address = PlainText.trimmed(href)
        let isMention = tag.has("mention", in: "class") || tag.has("mention", in: "rel")
        if isHashtag(tag, address: address, shown: shown, after: precedingByte) {
            return writer.endLink()
        }
        if tag.has("hashtag", in: "class"), LinkText.isHashtag("#" + shown) {
            return writer.endLink(replacedBy: "#" + shown)
        }
        if let name = names[href] ?? names[address.lowercased()],
            isMention || shown.hasPrefix("@") || precedingByte == UInt8(ascii: "@")
        {
            let hasSign = precedingByte == UInt8(ascii: "@")
            return writer.endLink(replacedBy: hasSign ? name : "@\(name)")
        }
        if isMention, !shown.isEmpty { return writer.endLink() }
        switch LinkText(shown: shown, address: address) {
        case .words: writer.endLink()
        case .both:
            linkWords.append(shown)
            writer.endLink(address: address)
        case .address:
            // A link that contains only a picture is treated as that picture.
            if shown.isEmpty, hasMedia { return writer.endLink() }
            writer.endLink(replacedBy: address, isAddress: true)
        }
    }

    /// Whether a link is a hashtag, in the form of any program.
    private func isHashtag(
        _ tag: HTMLTag, address: String, shown: String, after precedingByte: UInt8?
    )
        -> Bool
    {
        guard !shown.isEmpty else { return false }
        let hasSign = shown.hasPrefix("#") || shown.hasPrefix("＃")
        let isDeclared =
            tag.has("hashtag", in: "class") || tag.has("tag", in: "rel")
            || tag.has("mention", in: "class")
            || hashtags.contains(address.lowercased())
        return isDeclared && (hasSign || precedingByte == UInt8(ascii: "#"))
    }

    // MARK: Omitted elements

    private mutating func omit(_ tag: HTMLTag, _ decision: HTMLDecision) {
        if decision == .media { hasMedia = true }
        if decision == .others { hasOthersPost = true }
        guard !Self.voidElements.contains(tag.name) else { return }
        // A paragraph cannot contain other blocks: one that is never closed ends where the next
        // block begins.
        let mayContainBlocks = HTMLDecision.about(tag.name).isBlock && tag.name != "p"
        omission = Omission(name: tag.name, mayContainBlocks: mayContainBlocks)
    }

    /// Tracks an omitted element to its end; returns whether the token is omitted.
    private mutating func isOmitted(_ token: HTMLToken) -> Bool {
        guard let currentOmission = omission else { return false }
        switch token {
        case .text:
            return true
        case .open(let tag):
            if !currentOmission.mayContainBlocks, HTMLDecision.about(tag.name).isBlock {
                omission = nil
                return false
            }
            if tag.name == currentOmission.name { omission?.depth += 1 }
            return true
        case .close(let name):
            if name == currentOmission.name {
                omission?.depth -= 1
                if currentOmission.depth == 1 { omission = nil }
                return true
            }
            if !currentOmission.mayContainBlocks, currentOmission.name != "p",
                HTMLDecision.about(name).isBlock
            {
                omission = nil
                return false
            }
            return true
        }
    }
}

// MARK: -

/// An open list, and the number of its next item.
private struct HTMLList {
    private var isNumbered = false
    private var nextNumber = 1
    private var step = 1
    /// The style of the numbers: `1`, or one of `a`, `A`, `i`, `I`.
    private var style = "1"

    init() {}

    /// - Parameters:
    ///   - tag: The element that begins the list.
    ///   - length: The number of items, which is needed for a reversed list.
    init(numbered tag: HTMLTag, length: Int) {
        isNumbered = true
        style = tag.attributes["type"] ?? "1"
        if tag.attributes["reversed"] != nil {
            step = -1
            nextNumber = length
        }
        if let start = Self.number(tag.attributes["start"]) { nextNumber = start }
    }

    /// Returns the marker of the next item.
    ///
    /// - Parameter writtenNumber: The number that the item names; later items count from it.
    mutating func nextMarker(writtenNumber: String?) -> String {
        guard isNumbered else { return "- " }
        if let number = Self.number(writtenNumber) { nextNumber = number }
        defer { nextNumber += step }
        return "\(Self.numeral(nextNumber, style: style)). "
    }

    /// Parses the number of a list item; nil for another text or an implausibly large number.
    private static func number(_ text: String?) -> Int? {
        guard let text, let number = Int(PlainText.trimmed(text)), abs(number) <= 1_000_000 else {
            return nil
        }
        return number
    }

    /// The number as letters (`a` to `z`, then `aa`), as a Roman numeral, or in digits.
    private static func numeral(_ number: Int, style: String) -> String {
        switch style {
        case "a", "A":
            guard number > 0 else { return String(number) }
            var remaining = number
            var letters = ""
            while remaining > 0 {
                let digit = UInt8((remaining - 1) % 26)
                let letter = Character(Unicode.Scalar(UInt8(ascii: "a") + digit))
                letters = String(letter) + letters
                remaining = (remaining - 1) / 26
            }
            return style == "a" ? letters : letters.uppercased()
        case "i", "I":
            guard (1...3_999).contains(number) else { return String(number) }
            var remaining = number
            var letters = ""
            for (value, sign) in roman {
                while remaining >= value {
                    remaining = remaining - value
                    letters = letters + sign
                }
            }
            return style == "i" ? letters : letters.uppercased()
        default: return String(number)
        }
    }

    private static let roman = [
        (1_000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
        (40, "xl"), (10, "x"),
        (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    ]

    /// The lengths of the reversed lists, by their index among all numbered lists.
    static func lengthsOfReversed(in html: [UInt8]) -> [Int: Int] {
        var lengths: [Int: Int] = [:]
        // For each open list its index if it is reversed, else nil.
        var openLists: [Int?] = []
        var numberedCount = 0
        var tokenizer = HTMLTokenizer(html)
        while let token = tokenizer.next() {
            switch token {
            case .open(let tag):
                switch HTMLDecision.about(tag.name) {
                case .bullets: openLists.append(nil)
                case .numbers:
                    openLists.append(tag.attributes["reversed"] == nil ? nil : numberedCount)
                    numberedCount += 1
                case .item:
                    if let listIndex = openLists.last.flatMap(\.self) {
                        lengths[listIndex, default: 0] += 1
                    }
                default: break
                }
            case .close(let name):
                if [.bullets, .numbers].contains(HTMLDecision.about(name)) {
                    _ = openLists.popLast()
                }
            case .text: break
            }
        }
        return lengths
    }
}

/// A MathML formula, which may contain its source text (such as TeX) beside its presentation.
private struct HTMLFormula {
    private var presentation: [UInt8] = []
    /// The best source text until now, and its rank: 3 for TeX, 2 for plain text, 1 for the
    /// attribute `alttext`, 0 for none.
    private var source: (rank: Int, text: [UInt8])
    private enum Annotation { case kept, dropped }
    /// The open annotation, if there is one.
    private var annotation: Annotation?
    let isBlock: Bool

    init(alternative: String?, isBlock: Bool) {
        source =
            if let alternative { (rank: 1, text: Array(alternative.utf8)) } else {
                (rank: 0, text: [])
            }
        self.isBlock = isBlock
    }

    mutating func beginAnnotation(encoding: String?) {
        let rank =
            switch encoding?.lowercased() {
            case "application/x-tex", "application/x-latex", "text/x-tex", "text/x-latex": 3
            case "text/plain": 2
            default: 0
            }
        annotation = rank > source.rank ? .kept : .dropped
        if annotation == .kept { source = (rank: rank, text: []) }
    }

    mutating func endAnnotation() { annotation = nil }

    mutating func add(_ bytes: [UInt8]) {
        switch annotation {
        case nil: presentation += bytes
        case .kept: source.text += bytes
        case .dropped: break
        }
    }

    /// The source if the formula has one, else the presentation.
    var text: [UInt8] {
        let source = PlainText.trimmed(String(decoding: source.text, as: UTF8.self))
        return source.isEmpty ? presentation : Array(source.utf8)
    }
}

extension HTMLDecision {
    /// The text in superscript or subscript, if it consists of digits and signs.
    fileprivate func shift(_ bytes: [UInt8]) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        let shiftedCharacters = self == .raised ? Self.superscripts : Self.subscripts
        let shifted = text.compactMap { shiftedCharacters[$0] }
        return shifted.count == text.count ? Array(String(shifted).utf8) : bytes
    }

    private static let superscripts = Dictionary(
        uniqueKeysWithValues: zip("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ"))
    private static let subscripts = Dictionary(
        uniqueKeysWithValues: zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎"))
}

extension String {
    /// Whether the text is an emoji, or a code of one such as `:blobcat:`.
    fileprivate var isEmoji: Bool {
        guard !isEmpty, utf8.count <= 64 else { return false }
        if count > 2, hasPrefix(":"), hasSuffix(":") {
            return dropFirst().dropLast().utf8.allSatisfy {
                $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_")
            }
        }
        return allSatisfy { character in
            guard let first = character.unicodeScalars.first, first.properties.isEmoji else {
                return false
            }
            // A digit is an emoji only with the following code points.
            return first.value > 0xFF || character.unicodeScalars.count > 1
        }
    }
}

/// The plain text of a post's HTML, and facts about its other content.
package struct HTMLText: Equatable, Sendable {
    /// Text without white space around it.
    package let text: String
    /// Whether the post quotes or shares another person's post.
    ///
    /// The text contains that post only if a sign of the server's program, and not an element,
    /// marks its beginning.
    package let quotesPost: Bool
    /// Whether a picture, video or sound is inside.
    package let hasMedia: Bool
    /// The words of links that are followed by their addresses in parentheses in the text.
    package let linkWords: [String]

    /// Reads HTML as ``PlainText/fromHTML(_:mentions:)`` does.
    ///
    /// - Parameters:
    ///   - html: The fragment; at most 1 MiB of it is read, and the text is limited to 100,000
    ///     bytes.
    ///   - names: The names of people without `@`, by the address of the profile. A key is the
    ///     address as it stands in links, or in lower case.
    ///   - hashtags: The addresses of hashtags, in lower case.
    package init(_ html: String, names: [String: String] = [:], hashtags: Set<String> = []) {
        var flattener = HTMLFlattener(
            names: names, hashtags: hashtags, limit: PlainText.maximumOutput)
        let bytes = PlainText.head(
            of: Array(html.utf8.prefix(PlainText.maximumInput + 1)), atMost: PlainText.maximumInput)
        text = flattener.flatten(bytes)
        quotesPost = flattener.hasOthersPost || Self.sharesPost(text)
        hasMedia = flattener.hasMedia
        linkWords = flattener.linkWords
    }

    /// Whether a line of the text begins a post that Friendica shares (`♲ bob@other.example:`), or
    /// the first or last line consists of the address of a quoted post (`RE: https://…`).
    private static func sharesPost(_ text: String) -> Bool {
        let lines = text.split(separator: "\n")
        if text.contains("♲"),
            lines.contains(where: {
                $0.hasPrefix("♲") && ($0.contains("@") || $0.contains("://") || $0.last == ":")
            })
        {
            return true
        }
        return [lines.first, lines.last].compactMap(\.self).contains { line in
            guard let prefix = ["RE: ", "QT: ", "RT: "].first(where: line.hasPrefix) else {
                return false
            }
            let address = line.dropFirst(prefix.count).drop { $0 == "[" }
            return PlainText.isWebAddress(
                String(address.last == "]" ? address.dropLast() : address))
        }
    }
}
