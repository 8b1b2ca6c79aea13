/// Literals of which every match of a pattern contains at least one.
///
/// A text that contains none of them has no match.
///
/// They are compared by their sequences of one, two and three bytes, as in Russ Cox, "Regular
/// Expression Matching with a Trigram Index" (2012). False positives are possible, false negatives
/// are not.
struct PatternLiterals: Sendable {
    /// For each literal, its grams; a text that contains the literal has all of them.
    private let gramsOfLiterals: [[Int]]

    /// - Parameter pattern: An ICU pattern; its case sensitivity does not matter.
    /// - Returns: Nil if no such literals can be found.
    init?(of pattern: String) {
        var parser = PatternParser(pattern)
        guard let literals = parser.alternatives(), parser.isUnderstood else { return nil }
        gramsOfLiterals = literals.map { literal in
            switch literal {
            case .digit: [TextGrams.digit]
            case .text(let text): TextGrams.grams(of: text)
            }
        }
    }

    /// Whether the pattern may match a text.
    func mayMatch(_ text: TextGrams) -> Bool {
        gramsOfLiterals.contains { $0.allSatisfy(text.contains) }
    }
}

/// The sequences of one to three bytes in a text, ignoring the case of letters.
struct TextGrams: Sendable {
    private static let bits = 1 << 15
    /// The gram that stands for a decimal digit of any script.
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

    /// Returns the bits of all sequences of one to three bytes.
    static func grams(of text: String) -> [Int] {
        var grams: [Int] = []
        var lastByte: UInt32?
        var secondLastByte: UInt32?
        for byte in folded(text) {
            let byte = UInt32(byte)
            grams.append(bit(of: byte))
            if let lastByte {
                grams.append(bit(of: 1 << 24 | lastByte << 8 | byte))
                if let secondLastByte {
                    grams.append(bit(of: 2 << 24 | secondLastByte << 16 | lastByte << 8 | byte))
                }
            }
            secondLastByte = lastByte
            lastByte = byte
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
    private static func bit(of gram: UInt32) -> Int { Int((gram &* 2_654_435_761) >> 17) }
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
    private var position = 0
    /// Whether the pattern has a construct that this parser does not know.
    private var hasUnknownConstruct = false

    init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

    /// Whether the whole pattern was read without an unknown construct.
    var isUnderstood: Bool { !hasUnknownConstruct && position == scalars.count }

    private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    /// Reads up to the end of a group, or of the pattern.
    ///
    /// - Returns: Literals, one of which each match contains; nil if there are none.
    mutating func alternatives() -> [Literal]? {
        var allLiterals: [Literal]? = []
        while true {
            let literals = sequence()
            if let earlier = allLiterals, let literals {
                allLiterals = earlier + literals
            } else {
                allLiterals = nil
            }
            guard next == "|" else { return allLiterals }
            position += 1
        }
    }

    /// Reads one alternative.
    ///
    /// - Returns: The most selective literals of which each match contains one; nil for none.
    private mutating func sequence() -> [Literal]? {
        var best: [Literal]?
        var run = ""
        func isBetter(_ literals: [Literal]) -> Bool {
            guard let best else { return true }
            let weight = literals.map(\.weight).min() ?? 0
            let bestWeight = best.map(\.weight).min() ?? 0
            return weight > bestWeight || weight == bestWeight && literals.count < best.count
        }
        func endRun(_ run: inout String) {
            if !run.isEmpty, isBetter([.text(run)]) { best = [.text(run)] }
            run = ""
        }
        while let scalar = next, scalar != "|", scalar != ")" {
            let part = part()
            let (least, isOnce) = quantifier()
            switch part {
            case .character(let character) where least > 0:
                run.unicodeScalars.append(character)
                if !isOnce { endRun(&run) }
            case .anyOf(let literals) where least > 0:
                endRun(&run)
                if isBetter(literals) { best = literals }
            default: endRun(&run)
            }
        }
        endRun(&run)
        return best
    }

    /// Reads a quantifier: the least number of repetitions, and whether it is exactly one.
    private mutating func quantifier() -> (least: Int, isOnce: Bool) {
        let repetitions: (least: Int, isOnce: Bool)
        switch next {
        case "?", "*": repetitions = (0, false)
        case "+": repetitions = (1, false)
        case "{":
            let number = scalars[(position + 1)...].prefix { ("0"..."9").contains($0) }
            repetitions = (Int(String(String.UnicodeScalarView(number))) ?? 0, false)
            while position + 1 < scalars.count, next != "}" { position += 1 }
        default: return (1, true)
        }
        position += 1
        if next == "?" || next == "+" { position += 1 }
        return repetitions
    }

    private mutating func part() -> Part {
        let scalar = scalars[position]
        position += 1
        switch scalar {
        case "\\": return escaped()
        case "[": return characterClass()
        case "(": return group()
        case ".", "^", "$": return .unknown
        default: return .character(scalar)
        }
    }

    private mutating func escaped() -> Part {
        guard let scalar = next else { return .unknown }
        position += 1
        switch scalar {
        case "d": return .anyOf([.digit])
        case "D", "w", "W", "s", "S", "b", "B": return .unknown
        case "u":
            position = min(position + 4, scalars.count)
            return .unknown
        case "a"..."z", "A"..."Z", "0"..."9":
            hasUnknownConstruct = true
            return .unknown
        default: return .character(scalar)
        }
    }

    /// Reads a character class.
    private mutating func characterClass() -> Part {
        var members: [Literal]? = next == "^" ? nil : []
        var depth = 1
        while let scalar = next, depth > 0 {
            position += 1
            switch scalar {
            case "[": depth += 1; members = nil
            case "]": depth -= 1
            case "\\": position += 1; members = nil
            case "-", "^", "&": members = nil
            default: members?.append(.text(String(Character(scalar))))
            }
        }
        return members.map { .anyOf($0) } ?? .unknown
    }

    private mutating func group() -> Part {
        var consumesText = true
        if next == "?" {
            position += 1
            let options = scalars[position...].prefix { !":=!)".unicodeScalars.contains($0) }
            position += options.count
            if !options.allSatisfy({ "i-<".unicodeScalars.contains($0) }) {
                hasUnknownConstruct = true
            }
            switch next {
            // A group that sets options for the rest of the pattern.
            case ")": position += 1; return .unknown
            case ":": break
            // A lookahead or lookbehind.
            default: consumesText = false
            }
            position += 1
        }
        let literalsInside = alternatives()
        if next == ")" { position += 1 }
        guard consumesText, let literalsInside else { return .unknown }
        return .anyOf(literalsInside)
    }
}
