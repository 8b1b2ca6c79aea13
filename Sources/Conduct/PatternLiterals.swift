/// Literals, at least one of which every match of a pattern contains.
///
/// A text that contains none of them has no match.
///
/// They are compared by their bytes, one, two and three at a time, as in Russ Cox, "Regular
/// Expression Matching with a Trigram Index" (2012). False positives are possible, false negatives
/// are not.
struct PatternLiterals: Sendable {
    /// For each literal, its grams, all of which a text that contains it has.
    private let pieces: [[Int]]

    /// - Parameter pattern: An ICU pattern; its case sensitivity does not matter.
    /// - Returns: Nil if no such literals can be found.
    init?(of pattern: String) {
        var parser = PatternParser(pattern)
        guard let literals = parser.alternatives(), parser.isUnderstood else { return nil }
        pieces = literals.map { literal in
            switch literal {
            case .digit: [TextGrams.digit]
            case .text(let text): TextGrams.grams(of: text)
            }
        }
    }

    /// Whether the pattern may match a text.
    func mayMatch(_ text: TextGrams) -> Bool { pieces.contains { $0.allSatisfy(text.contains) } }
}

/// The sequences of one to three bytes in a text, ignoring the case of letters.
struct TextGrams: Sendable {
    private static let bits = 1 << 15
    /// Stands for a decimal digit of any script.
    static let digit = bits

    private var bitWords = [UInt64](repeating: 0, count: bits / 64 + 1)

    init(_ text: String) {
        for gram in Self.grams(of: text) { bitWords[gram / 64] |= 1 << (gram % 64) }
        guard
            text.unicodeScalars.contains(where: { $0.properties.generalCategory == .decimalNumber })
        else { return }
        bitWords[Self.digit / 64] |= 1 << (Self.digit % 64)
    }

    func contains(_ gram: Int) -> Bool { bitWords[gram / 64] & (1 << (gram % 64)) != 0 }

    /// The numbers of all sequences of one to three bytes.
    static func grams(of text: String) -> [Int] {
        var grams: [Int] = []
        var last: UInt32?
        var lastButOne: UInt32?
        for byte in folded(text) {
            let byte = UInt32(byte)
            grams.append(place(byte))
            if let last {
                grams.append(place(1 << 24 | last << 8 | byte))
                if let lastButOne {
                    grams.append(place(2 << 24 | lastButOne << 16 | last << 8 | byte))
                }
            }
            lastButOne = last
            last = byte
        }
        return grams
    }

    /// The UTF-8 of a text, with letters of both cases made equal.
    private static func folded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "A"..."Z": bytes.append(UInt8(scalar.value) | 0x20)
            case "\0"..."\u{7F}": bytes.append(UInt8(scalar.value))
            case "ß", "ẞ": bytes += "ss".utf8
            case "ς": bytes += "σ".utf8
            default: bytes += scalar.properties.lowercaseMapping.utf8
            }
        }
        return bytes
    }

    /// The bit of a gram; several grams may share one.
    private static func place(_ gram: UInt32) -> Int { Int((gram &* 2_654_435_761) >> 17) }
}

/// Reads a pattern as far as is needed to find literals in its matches.
private struct PatternParser {
    /// A literal that a match contains.
    enum Literal {
        case text(String)
        case digit

        /// How selective the literal is, in bytes.
        var weight: Int { if case .text(let text) = self { text.utf8.count } else { 1 } }
    }

    /// A part of a pattern.
    private enum Part {
        case character(Unicode.Scalar)
        /// Every text that matches this part contains at least one of these literals.
        case anyOf([Literal])
        case unknown
    }

    private let scalars: [Unicode.Scalar]
    private var place = 0
    /// Whether a construct was read that this parser does not know.
    private var isFailed = false

    init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

    /// Whether the whole pattern was read without an unknown construct.
    var isUnderstood: Bool { !isFailed && place == scalars.count }

    private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

    /// Reads up to the end of a group, or of the pattern.
    ///
    /// - Returns: Literals, one of which each match contains; nil if there are none.
    mutating func alternatives() -> [Literal]? {
        var all: [Literal]? = []
        while true {
            let literals = sequence()
            if let earlier = all, let literals { all = earlier + literals } else { all = nil }
            guard next == "|" else { return all }
            place += 1
        }
    }

    private mutating func sequence() -> [Literal]? {
        var best: [Literal]?
        var run = ""
        func better(_ literals: [Literal]) -> Bool {
            guard let best else { return true }
            let weight = literals.map(\.weight).min() ?? 0
            let bestWeight = best.map(\.weight).min() ?? 0
            return weight > bestWeight || weight == bestWeight && literals.count < best.count
        }
        func end(_ run: inout String) {
            if !run.isEmpty, better([.text(run)]) { best = [.text(run)] }
            run = ""
        }
        while let scalar = next, scalar != "|", scalar != ")" {
            let part = part()
            let (least, isOnce) = quantifier()
            switch part {
            case .character(let character) where least > 0:
                run.unicodeScalars.append(character)
                if !isOnce { end(&run) }
            case .anyOf(let literals) where least > 0:
                end(&run)
                if better(literals) { best = literals }
            default: end(&run)
            }
        }
        end(&run)
        return best
    }

    /// Reads a quantifier: the least number of repetitions, and whether it is exactly one.
    private mutating func quantifier() -> (least: Int, isOnce: Bool) {
        let found: (Int, Bool)
        switch next {
        case "?", "*": found = (0, false)
        case "+": found = (1, false)
        case "{":
            let number = scalars[(place + 1)...].prefix { ("0"..."9").contains($0) }
            found = (Int(String(String.UnicodeScalarView(number))) ?? 0, false)
            while place + 1 < scalars.count, next != "}" { place += 1 }
        default: return (1, true)
        }
        place += 1
        if next == "?" || next == "+" { place += 1 }
        return found
    }

    private mutating func part() -> Part {
        let scalar = scalars[place]
        place += 1
        switch scalar {
        case "\\": return escaped()
        case "[": return set()
        case "(": return group()
        case ".", "^", "$": return .unknown
        default: return .character(scalar)
        }
    }

    private mutating func escaped() -> Part {
        guard let scalar = next else { return .unknown }
        place += 1
        switch scalar {
        case "d": return .anyOf([.digit])
        case "D", "w", "W", "s", "S", "b", "B": return .unknown
        case "u":
            place = min(place + 4, scalars.count)
            return .unknown
        case "a"..."z", "A"..."Z", "0"..."9":
            isFailed = true
            return .unknown
        default: return .character(scalar)
        }
    }

    /// Reads a character class.
    private mutating func set() -> Part {
        var members: [Literal]? = next == "^" ? nil : []
        var depth = 1
        while let scalar = next, depth > 0 {
            place += 1
            switch scalar {
            case "[": depth += 1; members = nil
            case "]": depth -= 1
            case "\\": place += 1; members = nil
            case "-", "^", "&": members = nil
            default: members?.append(.text(String(Character(scalar))))
            }
        }
        return members.map { .anyOf($0) } ?? .unknown
    }

    private mutating func group() -> Part {
        var consumesText = true
        if next == "?" {
            place += 1
            let kind = scalars[place...].prefix { !":=!)".unicodeScalars.contains($0) }
            place += kind.count
            if !kind.allSatisfy({ "i-<".unicodeScalars.contains($0) }) { isFailed = true }
            switch next {
            // A group that sets options for the rest of the pattern.
            case ")": place += 1; return .unknown
            case ":": break
            // A lookahead or lookbehind.
            default: consumesText = false
            }
            place += 1
        }
        let inside = alternatives()
        if next == ")" { place += 1 }
        guard consumesText, let inside else { return .unknown }
        return .anyOf(inside)
    }
}
