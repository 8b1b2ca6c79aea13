extension Unicode.Scalar {
    /// `@`, or a form of it that servers may read as one.
    var isAtSign: Bool { self == "@" || self == "\u{FF20}" || self == "\u{FE6B}" }

    /// `#`, or a form of it that networks read as one.
    var isHashSign: Bool { self == "#" || self == "\u{FF03}" || self == "\u{FE5F}" }

    var isASCIIAlphanumeric: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }

    /// A letter, digit, combining mark or underscore of any script.
    var isWord: Bool {
        if isASCII { return isASCIIAlphanumeric || self == "_" }
        return switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark, .connectorPunctuation:
            true
        default: false
        }
    }

    /// Stands on the letter before it.
    var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Shows nothing by itself: joiners, direction marks, variation selectors.
    var isInvisible: Bool { !isASCII && properties.isDefaultIgnorableCodePoint }

    /// A control character other than a line break, a byte order mark or no character at all, which no post needs and
    /// some servers refuse.
    var isUnwantedControl: Bool {
        value < 0x20 && self != "\n" && self != "\t" && self != "\r" || (0x7F...0x9F).contains(value)
            || value == 0xFEFF || properties.isNoncharacterCodePoint
    }

    /// May stand in a link as written in ASCII.
    var isLinkScalar: Bool {
        guard isASCII, value > 0x20, value < 0x7F else { return false }
        return switch self {
        case "<", ">", "\"", "\\", "^", "`", "{", "|", "}": false
        default: true
        }
    }

    var lowercaseASCII: Unicode.Scalar {
        ("A"..."Z").contains(self) ? Unicode.Scalar(UInt8(truncatingIfNeeded: value) + 32) : self
    }

    var uppercaseASCII: Unicode.Scalar {
        ("a"..."z").contains(self) ? Unicode.Scalar(UInt8(truncatingIfNeeded: value) - 32) : self
    }
}
