/// HTML or SVG in which all text from outside is escaped.
///
/// ```swift
/// let cell: Markup = "<td>\(text)</td>"
/// ```
///
/// An interpolated text is escaped, for elements and for attributes in double quotes; interpolated
/// markup is inserted unchanged. The result is well-formed XML if the literals are.
package struct Markup: ExpressibleByStringInterpolation, Equatable, Sendable {
    package private(set) var text: String

    package init(stringLiteral value: String) { text = value }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Creates markup from a rendered template.
    init(rendered text: String) { self.text = text }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(2 * literalCapacity)
        }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        /// Appends a text of any origin, which is escaped.
        package mutating func appendInterpolation(_ text: String) {
            self.text += Markup.escaped(text)
        }

        /// Appends a sentence of the program, with the commands and settings in it as code.
        package mutating func appendInterpolation(sentence: String) {
            text += CommandMarks(sentence).markup.text
        }

        package mutating func appendInterpolation(_ number: Int) { text += String(number) }

        /// Appends a number of a drawing, with two decimals at most.
        package mutating func appendInterpolation(_ number: Double) {
            let hundredths = (number * 100).rounded() / 100
            text +=
                hundredths == hundredths.rounded() ? String(Int(hundredths)) : String(hundredths)
        }

        package mutating func appendInterpolation(_ markup: Markup) { text += markup.text }

        /// Appends the parts, with nothing between them.
        package mutating func appendInterpolation(_ parts: [Markup]) {
            for part in parts { text += part.text }
        }
    }

    /// Returns the text escaped for markup, so that it cannot end an element or an attribute, and
    /// cannot change the text direction of its line.
    ///
    /// Characters that XML does not allow become U+FFFD. Control characters other than line breaks,
    /// and characters that change the text direction, become spaces.
    package static func escaped(_ text: String) -> String {
        // Most texts of a page are plain words and numbers, which need no change.
        if text.utf8.allSatisfy(isPlain) { return text }
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            case "\n": escaped.append(scalar)
            case "\u{FFFE}", "\u{FFFF}": escaped.append("\u{FFFD}")
            default: escaped.append(isHarmless(scalar) ? scalar : " ")
            }
        }
        return String(escaped)
    }

    /// The escaped name of an account, with a possible line break before the `@` of its server.
    static func account(_ name: String) -> Markup {
        guard let server = name.dropFirst().lastIndex(of: "@") else { return "\(name)" }
        return "\(String(name[..<server]))<wbr>\(String(name[server...]))"
    }

    /// Whether a byte is an ASCII character that ``escaped(_:)`` does not change.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
            UInt8(ascii: "'"):
            false
        default: (0x20...0x7E).contains(byte)
        }
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: false
        default: true
        }
    }
}
