import Embedded
import Posts

/// The line below the first reply to a person.
///
/// It says that a bot repeats old words, whose words they are, and how to stop it.
///
/// The line is never part of the human's text: it is stored, measured and removed separately.
package struct FirstReplyNote: Sendable {
    /// The lines by language, one with a place for a name and one without.
    private static let lines: [String: (named: String, nameless: String)] =
        EmbeddedFiles.rows(of: "Conduct/first-reply.tsv", columns: 3)
        .reduce(into: [:]) { lines, cells in lines[cells[0]] = (cells[1], cells[2]) }
    private static let fallback = "en"
    private static let humanPlaceholder = "{human}"

    /// The languages in which there is a line.
    package static var languages: Set<String> { Set(lines.keys) }

    /// The short name of the human; nil if it is unknown or cannot be used in a text.
    private let human: String?

    /// - Parameter handle: The human's handle, without `@`; nil if it is not known.
    package init(human handle: String?) {
        // Neither a server's name nor a domain is used, because networks turn them into links.
        let name = handle?.split(whereSeparator: { "@.".contains($0) }).first.map(String.init)
        human = name.flatMap { name in
            let isPlain = name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.isASCIIAlphanumeric || $0 == "_" || $0 == "-"
            }
            return isPlain ? name : nil
        }
    }

    /// Returns the line in a language, or in English if there is none in that language.
    ///
    /// - Parameter language: The language of the mention, as a BCP 47 tag.
    package func line(in language: String?) -> String {
        let code =
            language?.split(whereSeparator: { "-_".contains($0) }).first?.lowercased()
            ?? Self.fallback
        guard let line = Self.lines[code] ?? Self.lines[Self.fallback] else {
            preconditionFailure("first-reply.tsv has no row \(Self.fallback)")
        }
        guard let human else { return line.nameless }
        return line.named.replacing(Self.humanPlaceholder, with: human)
    }
}

extension TextRules {
    /// Whether the text and the line together fit the limits of the bot's server.
    ///
    /// - Parameters:
    ///   - text: The text as it may be sent.
    ///   - warning: The warning that is sent with the text; nil for none.
    package func hasRoom(for line: String, below text: String, warning: String?) -> Bool {
        TextLength.refusal(
            of: text.noted(line), besides: length(ofWarning: warning), limits: limits) == nil
    }
}
