/// A tag's name and the attributes that affect the text.
struct HTMLTag: Equatable {
    /// The name of the tag, in lower case.
    var name: String
    /// The values by attribute, with their entities decoded; the first of equal names is used.
    var attributes: [String: String] = [:]

    /// Whether the attribute `class` or `rel` lists `word`.
    func has(_ word: String, in attribute: String) -> Bool {
        guard let value = attributes[attribute] else { return false }
        return value.split(whereSeparator: \.isWhitespace).contains { $0.lowercased() == word }
    }
}

/// One token of an HTML fragment.
enum HTMLToken: Equatable {
    /// The range of a text; its entities are not decoded.
    case text(Range<Int>)
    case open(HTMLTag)
    case close(String)
}

/// Splits an HTML fragment into tags and text in one pass.
///
/// It accepts any input, as browsers do: text after a tag that never ends is dropped, and a `<`
/// that begins no tag is text. No byte is read more than a fixed number of times, so the time is
/// linear in the input.
struct HTMLTokenizer {
    /// The bytes of the fragment; text tokens are ranges of them.
    let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next token; nil at the end.
    mutating func next() -> HTMLToken? {
        while position < bytes.count {
            guard isMarkup(at: position) else { return .text(textRun()) }
            switch bytes[position + 1] {
            case UInt8(ascii: "!"), UInt8(ascii: "?"):
                skipDeclaration()
            case UInt8(ascii: "/"):
                position += 2
                return closeTag()
            default:
                position += 1
                return openTag()
            }
        }
        return nil
    }

    private func isMarkup(at index: Int) -> Bool {
        guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count else { return false }
        let next = bytes[index + 1]
        if next == UInt8(ascii: "/") {
            return index + 2 < bytes.count && bytes[index + 2].isASCIILetter
        }
        return next.isASCIILetter || next == UInt8(ascii: "!") || next == UInt8(ascii: "?")
    }

    private mutating func textRun() -> Range<Int> {
        let start = position
        position += 1
        while position < bytes.count, !isMarkup(at: position) { position += 1 }
        return start..<position
    }

    private mutating func skipDeclaration() {
        let isComment = bytes[position...].starts(with: "<!--".utf8)
        position += isComment ? 4 : 2
        while position < bytes.count {
            defer { position += 1 }
            guard bytes[position] == UInt8(ascii: ">") else { continue }
            if !isComment || bytes[..<position].suffix(2).elementsEqual("--".utf8) { return }
        }
    }

    private mutating func closeTag() -> HTMLToken? {
        let name = tagName()
        while position < bytes.count, bytes[position] != UInt8(ascii: ">") { position += 1 }
        guard position < bytes.count else { return nil }
        position += 1
        return .close(name)
    }

    private mutating func openTag() -> HTMLToken? {
        var tag = HTMLTag(name: tagName())
        while let attribute = attribute() {
            if tag.attributes[attribute.name] == nil {
                tag.attributes[attribute.name] = attribute.value
            }
        }
        guard position < bytes.count else { return nil }
        position += 1
        if tag.name == "script" || tag.name == "style" { skipRawText(until: tag.name) }
        return .open(tag)
    }

    /// Skips to the end tag of an element whose content is not text.
    private mutating func skipRawText(until name: String) {
        let end = Array("</\(name)".utf8)
        while position < bytes.count {
            if bytes[position] == end[0],
                bytes[position...].prefix(end.count).map(\.lowercaseASCII) == end
            {
                return
            }
            position += 1
        }
    }

    private mutating func tagName() -> String {
        let start = position
        while position < bytes.count, !bytes[position].isHTMLSpace,
            bytes[position] != UInt8(ascii: ">"),
            bytes[position] != UInt8(ascii: "/")
        {
            position += 1
        }
        return String(decoding: bytes[start..<position].map(\.lowercaseASCII), as: UTF8.self)
    }

    /// The next attribute of the tag; nil at the tag's `>`, at which `position` stays, or at the
    /// end.
    private mutating func attribute() -> (name: String, value: String)? {
        while position < bytes.count,
            bytes[position].isHTMLSpace || bytes[position] == UInt8(ascii: "/")
        {
            position += 1
        }
        guard position < bytes.count, bytes[position] != UInt8(ascii: ">") else { return nil }
        let start = position
        position += 1
        while position < bytes.count, !bytes[position].isHTMLSpace,
            bytes[position] != UInt8(ascii: "="),
            bytes[position] != UInt8(ascii: ">"), bytes[position] != UInt8(ascii: "/")
        {
            position += 1
        }
        let name = String(decoding: bytes[start..<position].map(\.lowercaseASCII), as: UTF8.self)
        skipSpaces()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
            return (name, "")
        }
        position += 1
        skipSpaces()
        return (name, attributeValue())
    }

    private mutating func attributeValue() -> String {
        guard position < bytes.count else { return "" }
        let quote = bytes[position]
        let isQuoted = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        if isQuoted { position += 1 }
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if isQuoted ? byte == quote : byte.isHTMLSpace || byte == UInt8(ascii: ">") { break }
            position += 1
        }
        let value = HTMLEntity.decoded(bytes[start..<position])
        if isQuoted, position < bytes.count { position += 1 }
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func skipSpaces() {
        while position < bytes.count, bytes[position].isHTMLSpace { position += 1 }
    }
}

extension UInt8 {
    /// The white space of HTML: space, tab, line feed, form feed, carriage return.
    var isHTMLSpace: Bool {
        self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0C || self == 0x0D
    }
}

/// The characters that HTML writes as `&name;` or `&#number;`.
enum HTMLEntity {
    /// The longest name or number of an entity, in bytes.
    static let maximumLength = 10

    /// The character of an entity `&reference;`; nil for an unknown one.
    static func scalar(_ reference: some Collection<UInt8>) -> Unicode.Scalar? {
        guard let first = reference.first, reference.count <= maximumLength else { return nil }
        guard first == UInt8(ascii: "#") else {
            return namedCharacters[String(decoding: reference, as: UTF8.self)]
        }
        let numeral = reference.dropFirst()
        let isHexadecimal = numeral.first == UInt8(ascii: "x") || numeral.first == UInt8(ascii: "X")
        let digits = isHexadecimal ? numeral.dropFirst() : numeral
        guard let firstDigit = digits.first, firstDigit != UInt8(ascii: "+"),
            firstDigit != UInt8(ascii: "-"),
            let value = UInt32(
                String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10)
        else { return nil }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// `text` with its entities decoded once; unknown ones are unchanged.
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "&")) else { return Array(text) }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let window = text[index...].dropFirst().prefix(maximumLength + 1)
            if text[index] == UInt8(ascii: "&"), let end = window.firstIndex(of: UInt8(ascii: ";")),
                let scalar = scalar(window[..<end])
            {
                result.append(contentsOf: String(Character(scalar)).utf8)
                index = end + 1
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return result
    }

    /// The character of each name of HTML 4, and of `apos`; servers use no other names.
    private static let namedCharacters: [String: Unicode.Scalar] = {
        var table: [String: Unicode.Scalar] = [:]
        for (offset, name) in latin.split(whereSeparator: \.isWhitespace).enumerated() {
            table[String(name)] = Unicode.Scalar(UInt32(0xA0 + offset))
        }
        let namesAndCodes = furtherEntities.split(whereSeparator: \.isWhitespace)
        for index in stride(from: 0, to: namesAndCodes.count - 1, by: 2) {
            table[String(namesAndCodes[index])] = UInt32(namesAndCodes[index + 1], radix: 16)
                .flatMap(
                    Unicode.Scalar.init)
        }
        return table
    }()

    /// The names of U+00A0 through U+00FF, in this order.
    private static let latin = """
        nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute
        micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring
        AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml
        times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil
        egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash
        ugrave uacute ucirc uuml yacute thorn yuml
        """

    /// Each name followed by its code point in hexadecimal.
    private static let furtherEntities = """
        quot 22 amp 26 apos 27 lt 3c gt 3e OElig 152 oelig 153 Scaron 160 scaron 161 Yuml 178 fnof 192 circ 2c6
        tilde 2dc Alpha 391 Beta 392 Gamma 393 Delta 394 Epsilon 395 Zeta 396 Eta 397 Theta 398 Iota 399 Kappa 39a
        Lambda 39b Mu 39c Nu 39d Xi 39e Omicron 39f Pi 3a0 Rho 3a1 Sigma 3a3 Tau 3a4 Upsilon 3a5 Phi 3a6 Chi 3a7 Psi
        3a8 Omega 3a9 alpha 3b1 beta 3b2 gamma 3b3 delta 3b4 epsilon 3b5 zeta 3b6 eta 3b7 theta 3b8 iota 3b9 kappa
        3ba lambda 3bb mu 3bc nu 3bd xi 3be omicron 3bf pi 3c0 rho 3c1 sigmaf 3c2 sigma 3c3 tau 3c4 upsilon 3c5 phi
        3c6 chi 3c7 psi 3c8 omega 3c9 thetasym 3d1 upsih 3d2 piv 3d6 ensp 2002 emsp 2003 thinsp 2009 zwnj 200c zwj
        200d lrm 200e rlm 200f ndash 2013 mdash 2014 lsquo 2018 rsquo 2019 sbquo 201a ldquo 201c rdquo 201d bdquo
        201e dagger 2020 Dagger 2021 bull 2022 hellip 2026 permil 2030 prime 2032 Prime 2033 lsaquo 2039 rsaquo 203a
        oline 203e frasl 2044 euro 20ac image 2111 weierp 2118 real 211c trade 2122 alefsym 2135 larr 2190 uarr 2191
        rarr 2192 darr 2193 harr 2194 crarr 21b5 lArr 21d0 uArr 21d1 rArr 21d2 dArr 21d3 hArr 21d4 forall 2200 part
        2202 exist 2203 empty 2205 nabla 2207 isin 2208 notin 2209 ni 220b prod 220f sum 2211 minus 2212 lowast 2217
        radic 221a prop 221d infin 221e ang 2220 and 2227 or 2228 cap 2229 cup 222a int 222b there4 2234 sim 223c
        cong 2245 asymp 2248 ne 2260 equiv 2261 le 2264 ge 2265 sub 2282 sup 2283 nsub 2284 sube 2286 supe 2287
        oplus 2295 otimes 2297 perp 22a5 sdot 22c5 lceil 2308 rceil 2309 lfloor 230a rfloor 230b lang 2329 rang 232a
        loz 25ca spades 2660 clubs 2663 hearts 2665 diams 2666
        """
}
