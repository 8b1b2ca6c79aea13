import NetworkNames
import Posts

/// Converts the parts of Misskey's markup (MFM) that the bot meets to plain text: functions, tags,
/// bold text and links with words.
///
/// Its syntax is in `docs/syntax.md` of misskey-dev/mfm.js.
enum MisskeyMarkup {
    private static let tags: Set<String> = ["b", "i", "s", "small", "center", "plain"]
    /// The longest text, in bytes, that is converted; a longer one is left as it is.
    private static let maximumBytes = 100_000
    /// The deepest nesting that is converted.
    private static let maximumNesting = 20

    /// Removes the markup: `$[x2 words]` and `<b>words</b>` become `words`.
    ///
    /// A link `[words](address)` becomes the same text as a link with words on any other network.
    ///
    /// - Returns: The text, and its ``Post/linkWords``.
    static func read(_ text: String) -> (text: String, linkWords: [String]) {
        guard text.utf8.count <= maximumBytes, text.contains(where: { "$<[*".contains($0) }) else {
            return (PlainText.cleaned(text), [])
        }
        var reader = Reader(text: Array(text.unicodeScalars))
        let plain = reader.read()
        return PlainText.read(plain, facets: reader.links)
    }

    /// Reads a text once, from its start to its end.
    ///
    /// The lengths of names, words and addresses are limited, so that many unclosed brackets do not
    /// take quadratic time.
    private struct Reader {
        let text: [Unicode.Scalar]
        private var position = 0
        private var result = String.UnicodeScalarView()
        /// The length of the result in UTF-8.
        private var byteCount = 0
        /// The links with words, by their position in the result.
        private(set) var links: [TextFacet] = []
        /// For the position of each opening bracket, the position of its closing bracket.
        private var closings: [Int: Int] = [:]
        /// The positions at which the open functions end.
        private var functionEnds: [Int] = []

        init(text: [Unicode.Scalar]) {
            self.text = text
            var open: [Int] = []
            for (index, scalar) in text.enumerated() {
                if scalar == "[" { open.append(index) }
                if scalar == "]", let start = open.popLast() { closings[start] = index }
            }
        }

        mutating func read() -> String {
            while position < text.count {
                if functionEnds.last == position {
                    functionEnds.removeLast()
                    position += 1
                } else if !(readFunction() || readTag() || readLink() || readBold()) {
                    append(text[position...position])
                    position += 1
                }
            }
            return String(result)
        }

        private mutating func append(_ scalars: ArraySlice<Unicode.Scalar>) {
            result.append(contentsOf: scalars)
            byteCount += scalars.reduce(0) { $0 + Unicode.UTF8.width($1) }
        }

        private func starts(with word: String, at index: Int) -> Bool {
            text[index...].starts(with: word.unicodeScalars)
        }

        /// Opens a function, `$[name.argument=1 `.
        private mutating func readFunction() -> Bool {
            guard starts(with: "$[", at: position),
                functionEnds.count < MisskeyMarkup.maximumNesting,
                let end = closings[position + 1]
            else { return false }
            let name = text[(position + 2)..<end].prefix(100).prefix {
                $0 != " " && $0 != "\n" && $0 != "["
            }
            guard let first = name.first, ("a"..."z").contains(first), text[name.endIndex] == " "
            else { return false }
            functionEnds.append(end)
            position = name.endIndex + 1
            return true
        }

        /// Skips `<b>`, `</b>` and the like; from `<https://…>` the address is kept.
        private mutating func readTag() -> Bool {
            guard text[position] == "<" else { return false }
            let contents = text[(position + 1)...].prefix(2_050).prefix {
                $0 != ">" && $0 != "<" && $0 != "\n"
            }
            guard contents.endIndex < text.count, text[contents.endIndex] == ">" else {
                return false
            }
            let name = String(String.UnicodeScalarView(contents))
            let isAddress = name.hasPrefix("https://") || name.hasPrefix("http://")
            let tagName = name.hasPrefix("/") ? String(name.dropFirst()) : name
            guard isAddress || MisskeyMarkup.tags.contains(tagName) else { return false }
            if isAddress { append(contents) }
            position = contents.endIndex + 1
            return true
        }

        /// Keeps words and address of `[words](address)`, or of `?[words](address)`, a link without
        /// a preview.
        private mutating func readLink() -> Bool {
            let opening = starts(with: "?[", at: position) ? position + 1 : position
            guard text[opening] == "[" else { return false }
            let words = text[(opening + 1)...].prefix(1_000).prefix {
                !"[]\n".unicodeScalars.contains($0)
            }
            guard !words.isEmpty, starts(with: "](http", at: words.endIndex) else { return false }
            let address = text[(words.endIndex + 2)...].prefix(2_050).prefix {
                $0 != ")" && !$0.properties.isWhitespace
            }
            guard address.endIndex < text.count, text[address.endIndex] == ")" else { return false }
            let start = byteCount
            append(words)
            let link = String(String.UnicodeScalarView(address))
            links.append(TextFacet(byteStart: start, byteEnd: byteCount, link: link))
            position = address.endIndex + 1
            return true
        }

        /// Keeps the words of `**words**`.
        private mutating func readBold() -> Bool {
            guard starts(with: "**", at: position) else { return false }
            let words = text[(position + 2)...].prefix(1_000).prefix { $0 != "*" && $0 != "\n" }
            let outerScalars = [words.first, words.last].compactMap(\.self)
            guard !outerScalars.isEmpty, !outerScalars.contains(where: \.properties.isWhitespace),
                starts(with: "**", at: words.endIndex)
            else { return false }
            append(words)
            position = words.endIndex + 2
            return true
        }
    }
}

/// The people whom a Misskey text mentions, and the text with their full names.
///
/// An export has no list of mentioned people, and omits the host of people on the author's own
/// server.
struct MisskeyNames {
    private(set) var text = ""
    /// The mentioned people without repetitions, in the order of the text.
    private(set) var people: [AccountID] = []

    init(in text: String, on host: String) {
        guard text.contains("@") else {
            self.text = text
            return
        }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        bytes.withUnsafeBufferPointer { buffer in
            let grammar = TextGrammar(buffer)
            while position < bytes.count {
                guard bytes[position] == UInt8(ascii: "@"),
                    let mention = grammar.mention(at: position),
                    mention.isCertain, !mention.name.isEmpty
                else {
                    let end = grammar.link(at: position)?.range.upperBound ?? position + 1
                    result.append(contentsOf: bytes[position..<end])
                    position = end
                    continue
                }
                let writtenName = String(
                    decoding: bytes[mention.name.lowerBound..<mention.end], as: UTF8.self)
                let name =
                    mention.end > mention.name.upperBound ? writtenName : "\(writtenName)@\(host)"
                result.append(contentsOf: "@\(name)".utf8)
                let person = AccountID.mastodon(name, localHost: host)
                if !people.contains(person) { people.append(person) }
                position = mention.end
            }
        }
        self.text = String(decoding: result, as: UTF8.self)
    }
}
