import Crypto
import Foundation
import Posts

extension TextRules {
    /// What texts that read the same have in common.
    ///
    /// Compatible characters, case, white space and links make no difference.
    ///
    /// - Parameter text: Any text.
    /// - Returns: 32 hexadecimal digits, the same on every machine.
    package static func textKey(_ text: String) -> String { textKey(text, ignoringHosts: false) }

    /// What texts have in common that read the same apart from more than ``textKey(_:)`` leaves out.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - ignoringHosts: Whether host names without `http://`, which some networks turn into links, make no
    ///     difference either, nor does punctuation that stands alone.
    /// - Returns: 32 hexadecimal digits, the same on every machine.
    package static func textKey(_ text: String, ignoringHosts: Bool) -> String {
        let folded = text.precomposedStringWithCompatibilityMapping
        var plain = String.UnicodeScalarView()
        for token in PlainTokens(folded).tokens {
            switch token {
            case .scalar(let scalar): plain.append(scalar)
            case .link: plain.append(" ")
            case .mention(let name): plain.append(contentsOf: "@".unicodeScalars + Array(name))
            }
        }
        // Foundation leaves the marks of half-width kana apart, and the hash is over bytes.
        let composed = String(plain).lowercased().precomposedStringWithCanonicalMapping
        var words = (ignoringHosts ? TextShape.withoutHosts(composed) : composed).split(whereSeparator: \.isWhitespace)
        if ignoringHosts { words.removeAll { !$0.unicodeScalars.contains(where: \.isWord) } }
        return SHA256.hash(data: Array(words.joined(separator: " ").utf8)).prefix(16).hexadecimal
    }

    /// The letters and digits of a text, which stay whatever a server makes of it.
    ///
    /// Servers make markup of `*word*` and `_word_`, pictures of `:-)` and `:cat:`, links of addresses and people of
    /// mentions, and break lines elsewhere. None of these is in the result, nor are spaces and signs.
    ///
    /// - Parameter text: Any text, as it was sent or as a server shows it.
    /// - Returns: Lower-case letters and digits; empty if the text has no others than what may be rewritten.
    package static func lettersKept(of text: String) -> String {
        let folded = TextShape.withoutMarkup(text.precomposedStringWithCompatibilityMapping)
        var plain = String.UnicodeScalarView()
        for token in PlainTokens(folded).tokens {
            if case .scalar(let scalar) = token { plain.append(scalar) } else { plain.append(" ") }
        }
        let bare = TextShape.withoutSmileys(TextShape.withoutHosts(String(plain)))
        let letters = bare.unicodeScalars.filter { $0.isWord && $0 != "_" && !$0.isInvisible }
        return String(String.UnicodeScalarView(letters)).lowercased().precomposedStringWithCanonicalMapping
    }
}
